// The page of a walk, put together: scrubber, graph, card and norms. Needs all step_*.js.
(() => {
  const card = element("div", { class: "place", "aria-live": "off" });
  const norms = normsView();
  let current = 0;

  // Shows a value: its step when it has one, else a card of its own.
  const look = (node) => {
    const step = stepFor(node, current);
    if (step !== undefined) steps.go(step);
    else fill(card, nodeCard(node, look));
  };
  const go = (index) => steps.go(index);
  const map = walk.geometries.length > 0 ? graphView({ go, look }) : listView({ go, look });
  const steps = scrubber((index) => {
    current = index;
    fill(card, stepCard(walk.steps[index], look));
    map.show(index);
    norms.show(index);
  });

  map.node.hidden = walk.graphs.length === 0;
  fill(document.getElementById("page"),
    element("header", {}, element("h1", {}, walk.title), steps.node),
    element("div", { class: "columns" },
      element("div", { class: "left" }, map.node, norms.node), card));
  steps.start();
})();
