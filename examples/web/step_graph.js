// The graph as a drawing of one module at a time. Defines graphView; needs dom.js, step_data.js,
// step_places.js.
//
//   graphView({go, look}) -> {node, show(index)}
//
// go(step) moves to a step, look(node) shows a value that no step computes. show() draws the module
// the step is in and marks its box; until the next step a reader may open other modules.
function graphView({ go, look }) {
  const crumbs = element("nav", { class: "crumbs", "aria-label": "module" });
  const stage = element("div", { class: "stage", tabindex: -1 });
  const LONGEST = 34;
  let graph = 0, scope = -1, index = 0;

  const shortened = (text) => {
    const letters = [...text];
    return letters.length > LONGEST ? letters.slice(0, LONGEST - 1).join("") + "…" : text;
  };

  function line(points) {
    if (points.length < 2) return "";
    return `M${points[0]} ${points[1]}C${points.slice(2).join(" ")}`;
  }

  function box(item, [x, y, width, height], mark) {
    const act = () => open(item), kind = item.node === undefined ? "" : walk.nodes[item.node].kind;
    return svg("g", {
      class: `box ${item.kind} ${kind} ${mark}`,
      role: "button", tabindex: -1, "aria-label": `${item.title}, ${item.detail}`, onclick: act,
      "data-node": item.node, "data-scopes": item.scopes && item.scopes.join(" "),
      "aria-current": mark.includes("here") ? "step" : null,
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        act();
      },
    },
    svg("title", {}, `${item.node === undefined || kind === "op" ? item.title
      : walk.nodes[item.node].label}\n${item.detail}`),
    // Folded repeats lie on top of each other.
    (item.scopes || []).length > 1 && svg("rect", { x: x - width / 2 + 4, y: y - height / 2 + 4,
      width, height, rx: 6 }),
    svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: item.kind === "from" ||
      item.kind === "to" ? height / 2 : 6 }),
    svg("text", { x, y: y - 5, class: "title" }, shortened(item.title)),
    svg("text", { x, y: y + 12, class: "detail" }, shortened(item.detail)));
  }

  function open(item) {
    if (item.kind === "module") {
      enter(placeOf(index).scopeIn(item.scopes) ?? item.scopes[0], true);
    } else if (item.kind === "to") {
      enter(walk.scopes[scope].parent, true);
    } else {
      const step = stepFor(item.node, index);
      if (step === undefined) look(item.node);
      else go(step);
    }
  }

  function draw() {
    const drawing = walk.drawing(graph, scope), place = placeOf(index);
    const { width, height, boxes, lines } = walk.geometries[drawing.geometry];
    const drawn = drawing.items.map((item, i) => box(item, boxes[i], place.mark(item)));
    const picture = svg("svg", { class: "graph", width: width + 12, height: height + 12,
      viewBox: `-6 -6 ${width + 12} ${height + 12}` },
      svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4,
        markerWidth: 7, markerHeight: 7, orient: "auto" },
        svg("path", { d: "M0 0L8 4L0 8z" }))),
      lines.map((points) =>
        svg("path", { class: "edge", d: line(points), "marker-end": "url(#arrow)" })),
      drawn);
    const focused = stage.contains(document.activeElement);
    fill(stage, picture);
    const here = Math.max(0, drawing.items.findIndex((item) => /here/.test(place.mark(item))));
    makeReachable(drawn, here, focused);
    scrollTo(boxes[here]);
  }

  // One box can be reached by Tab, the others from it by the arrow keys up and down.
  function makeReachable(drawn, first, focused) {
    if (drawn.length === 0) return;
    drawn[first].setAttribute("tabindex", 0);
    if (focused) drawn[first].focus({ preventScroll: true });
    drawn.forEach((each, i) => each.addEventListener("keydown", (event) => {
      const next = { ArrowUp: drawn[i - 1], ArrowDown: drawn[i + 1] }[event.key];
      if (!next) return;
      event.preventDefault();
      next.focus();
    }));
  }

  function scrollTo([x, y]) {
    const picture = stage.firstChild;
    stage.scrollTop = y + 6 - stage.clientHeight / 2;
    stage.scrollLeft = Math.max(0, x + 6 - stage.clientWidth / 2) *
      (picture.getBoundingClientRect().width > stage.clientWidth ? 1 : 0);
  }

  function enter(to, focus) {
    scope = to;
    fill(crumbs, crumbsOf(graph, scope, (other) => enter(other, false)));
    draw();
    const box = focus && stage.querySelector("[tabindex='0']");
    if (box) box.focus({ preventScroll: true });
  }

  function show(step) {
    index = step;
    graph = graphAt(step);
    if (walk.graphs.length > 0) enter(placeOf(step).scope, false);
  }

  const node = element("section", { class: "panel map", "aria-label": "graph" }, crumbs, stage);
  return { node, show };
}
