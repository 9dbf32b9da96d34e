// The graph as a nested list, for pages made where there was no Graphviz. Defines listView, which
// does what graphView of step_graph.js does; needs dom.js, step_data.js, step_places.js.
function listView({ go, look }) {
  const title = element("nav", { class: "crumbs" });
  const stage = element("div", { class: "stage" });
  const opened = new Set();  // scopes that the reader opened
  let graph = 0, index = 0;

  function activate(item) {
    const step = stepFor(item.node, index);
    if (step === undefined) look(item.node);
    else go(step);
  }

  // The values that a box gets, as "from w, %3".
  function inputsOf(drawing, position) {
    const from = drawing.edges.filter((edge) => edge[1] === position)
      .map((edge) => drawing.items[edge[0]])
      .map((item) => item.kind === "module" ? item.title : walk.nodes[item.node].label);
    return from.length ? `from ${from.join(", ")}` : "";
  }

  function moduleEntry(item, mark, text) {
    const inside = placeOf(index).scopeIn(item.scopes);
    // Of folded repeats one is shown: the one the step is in, or the one that was opened.
    const shown = inside ?? item.scopes.find((scope) => opened.has(scope)) ?? item.scopes[0];
    const isOpen = inside !== undefined || opened.has(shown);
    const toggle = () => {
      if (isOpen) item.scopes.forEach((scope) => opened.delete(scope));
      else opened.add(shown);
      draw();
      stage.querySelector(`[data-scopes="${item.scopes.join(" ")}"]`).focus();
    };
    const choice = item.scopes.length > 1 && isOpen && element("select", {
      "aria-label": `which ${walk.scopes[shown].name}`, onchange: (event) => {
        item.scopes.forEach((scope) => opened.delete(scope));
        opened.add(Number(event.target.value));
        draw();
      } }, item.scopes.map((scope, i) =>
      element("option", { value: scope, selected: scope === shown },
        `${i + 1} of ${item.scopes.length}`)));
    return element("li", {},
      element("button", { class: `box module ${mark}`, "aria-expanded": String(isOpen),
        onclick: toggle, "data-scopes": item.scopes.join(" ") },
      isOpen ? "▾ " : "▸ ", item.title, " ",
        element("span", { class: "faint small" }, text)),
      choice, isOpen && entries(walk.drawing(graph, shown)));
  }

  function entries(drawing) {
    const place = placeOf(index), seen = new Set();  // a leaf of many users has several boxes
    return element("ul", {}, drawing.items.map((item, i) => {
      const mark = place.mark(item), text = inputsOf(drawing, i);
      if (item.kind === "module") return moduleEntry(item, mark, text);
      if (item.kind !== "value" || seen.has(item.node)) return null;
      seen.add(item.node);
      return element("li", {}, element("button", {
        class: `box value ${walk.nodes[item.node].kind} ${mark}`, "data-node": item.node,
        "aria-current": mark.includes("here") ? "step" : null, onclick: () => activate(item) },
      item.title, " ", element("span", { class: "faint small" }, `${item.detail} ${text}`)));
    }));
  }

  function draw() {
    fill(title, walk.graphs[graph].title || "graph");
    fill(stage, entries(walk.drawing(graph, -1)));
    const here = [...stage.querySelectorAll(".here")].at(-1);
    if (here) stage.scrollTop += here.getBoundingClientRect().top -
      stage.getBoundingClientRect().top - stage.clientHeight / 2;
  }

  function show(step) {
    index = step;
    graph = graphAt(step);
    if (walk.graphs.length > 0) draw();
  }

  const node = element("section", { class: "panel map", "aria-label": "graph" }, title, stage);
  return { node, show };
}
