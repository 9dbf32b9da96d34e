// The norm of each layer's gradient, as bars. Defines normsView; needs dom.js, step_data.js,
// step_places.js.
//
// show(index) fills a bar once the walk has come to the step that completes it.
function normsView() {
  const body = element("div", { class: "bars" });
  const node = element("section", { class: "panel norms" },
    element("h2", {}, "Gradient norm per layer"), body);

  function show(index) {
    const layers = (walk.graphs[graphAt(index)] || { layers: [] }).layers;
    node.hidden = layers.length === 0;
    const most = Math.max(...layers.map(([, norm]) => Number(norm)).filter(Number.isFinite), 0);
    fill(body, layers.map(([name, norm, complete]) => {
      const known = index >= complete;
      const share = most > 0 && Number.isFinite(norm) ? norm / most : 0;
      return element("div", { class: known ? "bar" : "bar open", "data-layer": name },
        element("span", { class: "bar-name", title: name }, name),
        element("span", { class: "bar-room" },
          element("span", { class: "bar-fill", style: `width: ${(100 * share).toFixed(2)}%` })),
        element("span", { class: "number" }, known ? numberText(norm) : "not yet"));
    }));
  }

  return { node, show };
}
