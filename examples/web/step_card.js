// What a step does, as a card. Defines stepCard and nodeCard; needs dom.js, step_data.js,
// step_tensor.js.
//
//   stepCard(step, show), nodeCard(node, show)
//
// give elements; show(node) is called when the reader wants to see another value.
const { stepCard, nodeCard } = (() => {
  function heading(kind, name, node) {
    const path = walk.path(node);
    return [
      element("h2", {}, element("span", { class: `badge ${kind}` }, kind), " ", name, " ",
        element("span", { class: "faint" }, walk.nodes[node].label)),
      path && element("div", { class: "faint path" }, path),
    ];
  }

  const rule = (text, which) =>
    text && element("pre", { class: `rule ${which}` }, text.split("; ").join("\n"));

  function nodeButton(node, show) {
    return element("button", { class: "link", onclick: () => show(node) }, walk.nodes[node].label);
  }

  // A titled tensor: {node, outline}.
  function shownTensor(title, tensor, options = {}) {
    const view = tensorView(tensor, options);
    return { outline: view.outline,
      node: element("section", { class: "shown", "data-shows": options.shows },
        element("h3", {}, title, " ",
          element("span", { class: "faint small" }, tensorText(tensor))),
        view.node) };
  }

  // The differences of a gradient: what backward says beside what nudging the value says.
  function check(node) {
    const { differences, label, gradient } = walk.nodes[node];
    if (!differences) return null;
    const shape = walk.tensor(gradient).shape;
    const right = differences.every((d) => d[4]);
    const worst = numberText(
      Math.max(0, ...differences.map((d) => d[3]).filter((error) => error !== "-")), 2);
    const heads = ["cell", "backward", "difference", "rel. error"];
    return element("section", { class: "check", "data-node": node },
      element("h3", {}, "Check of the gradient of ", label),
      element("div", { class: right ? "good" : "bad" },
        right ? `✓ agrees with central differences, largest relative error ${worst}`
          : `✗ differs from central differences, relative error ${worst}`),
      element("div", { class: "scroll" }, element("table", { class: "number" },
        element("tr", {}, heads.map((head) => element("th", {}, head))),
        differences.map(([cell, analytic, numeric, relative, fine]) => element("tr", {},
          element("td", {}, walk.place(shape, cell) || "the number"),
          element("td", {}, numberText(analytic, 6)), element("td", {}, numberText(numeric, 6)),
          element("td", { class: fine ? "" : "bad" }, numberText(relative, 2)))))));
  }

  // Reads out the cell pointed at, and outlines in each of `targets` ([{input, name, outline}]) the
  // cells that y was made from, or that dy flows to: they are the same.
  function pointer(node, name, tensor, targets) {
    const what = name === "y" ? "what it was made from" : "where it flows to";
    const readout = element("div", { class: "readout faint small", role: "status" },
      walk.hasSources(node) ? `Point at a cell of ${name} to see ${what}.` : "");
    const onpoint = (cell) => {
      const found = targets.map((target) =>
        cell === null ? [] : walk.sourcesOf(node, target.input, cell));
      targets.forEach((target, i) => target.outline(found[i]));
      if (cell === null) return;
      const from = targets.map((target, i) => `${found[i].length} of ${target.name}`);
      const number = numberText(tensor.values[cell], 6);
      fill(readout, `${name}${walk.place(tensor.shape, cell)} = ${number}`,
        walk.hasSources(node) ? `, ${name === "y" ? "from" : "to"} ${from.join(" and ")}` : "");
    };
    return { readout, onpoint };
  }

  function inputViews(node, show) {
    const { inputs } = walk.nodes[node], names = walk.opOf(node).arguments;
    const views = [];
    inputs.forEach((input, k) => {
      const value = input < 0 ? null : walk.tensor(walk.nodes[input].value);
      if (!value) return;
      const title = [element("span", { class: "name" }, names[k]), " = ", nodeButton(input, show)];
      views.push({ input: k, name: names[k],
        ...shownTensor(title, value, { label: names[k], legend: false, shows: `input ${k}` }) });
    });
    return views;
  }

  // More to unfold; what a reader has unfolded stays so at the next step.
  const unfolded = new Set();
  function more(summary, ...children) {
    return element("details", { open: unfolded.has(summary), ontoggle: (event) => {
      if (event.target.open) unfolded.add(summary);
      else unfolded.delete(summary);
    } }, element("summary", {}, summary), children);
  }

  function forwardCard({ node }, show) {
    const op = walk.opOf(node), value = walk.tensor(walk.nodes[node].value);
    const gradient = walk.tensor(walk.nodes[node].gradient);
    const views = inputViews(node, show);
    const { readout, onpoint } = pointer(node, "y", value, views);
    return [
      heading("forward", op.name, node), rule(op.forward, "forward"),
      element("div", { class: "row" }, views.map((view) => view.node)),
      shownTensor(["y = ", walk.nodes[node].label], value,
        { label: "y, the result", onpoint, shows: "value" }).node,
      readout,
      gradient && more("Its gradient, as the backward part will find it",
        shownTensor("dy", gradient, { label: "dy", shows: "gradient" }).node),
    ];
  }

  // What one use adds: alone, or between what was there and what is there now. Of single numbers
  // the text says it all.
  function useView(node, use, show) {
    const name = walk.opOf(node).arguments[use.input];
    const [before, added, after] = [use.before, use.added, use.after].map(walk.tensor);
    const single = added.values.length === 1 && !added.corner;
    const was = before ? `was ${numberText(before.values[0])}` : "was nothing";
    const text = `use ${use.use} of ${use.uses}` +
      (single ? `, ${was}, now ${numberText(after.values[0])}` : "");
    const around = (label, tensor) => use.uses > 1 && !single && tensor &&
      shownTensor(label, tensor, { label, legend: false, shows: `${label} ${use.input}` }).node;
    const view = shownTensor("added", added, { label: `d${name}`, shows: `added ${use.input}` });
    return { input: use.input, name: `d${name}`, outline: view.outline,
      node: element("section", { class: "use", "data-input": use.input },
        element("h3", {}, element("span", { class: "name" }, `d${name}`),
          ", for the gradient of ", nodeButton(use.node, show)),
        element("div", { class: "use-text" }, text),
        element("div", { class: "row" },
          around("was", before), view.node, around("now", after))) };
  }

  function backwardCard(step, show) {
    const { node } = step, op = walk.opOf(node);
    const value = walk.tensor(walk.nodes[node].value);
    const gradient = walk.tensor(walk.nodes[node].gradient);
    const uses = (step.uses || []).map((use) => useView(node, use, show));
    const { readout, onpoint } = pointer(node, "dy", gradient, uses);
    return [
      heading("backward", op.name, node),
      rule(op.backward, "backward"),
      op.forward &&
        element("div", { class: "faint small" }, "of ", element("code", {}, op.forward)),
      element("div", { class: "row" },
        shownTensor(["y = ", walk.nodes[node].label], value, { label: "y", shows: "value" }).node,
        gradient && shownTensor("dy, its gradient", gradient,
          { label: "dy, the gradient of the result", onpoint, shows: "gradient" }).node),
      readout,
      element("div", { class: "row" }, uses.map((use) => use.node)),
      element("div", { class: "row" }, walk.completed(step).map(check)),
      more("Values of the inputs",
        element("div", { class: "row" }, inputViews(node, show).map((view) => view.node))),
    ];
  }

  const paragraphs = (text = "") => text.split(/\n\s*\n/).filter((part) => part.trim())
    .map((part) => element("p", {}, part.replace(/\n/g, " ")));

  function table({ heads, rows }) {
    if (!heads && !rows) return null;
    return element("div", { class: "scroll" }, element("table", { class: "number" },
      heads && element("tr", {}, heads.map((head) => element("th", {}, head))),
      (rows || []).map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell))))));
  }

  function updateCard(step) {
    return [
      element("h2", {}, element("span", { class: "badge update" }, "update"), " ", step.title),
      paragraphs(step.text),
      element("div", { class: "row" }, (step.changes || []).map((change) => element("section",
        { class: "use" },
        element("h3", {}, change.name),
        element("div", { class: "row" },
          ["before", "gradient", "after"].map((which) => {
            const tensor = walk.tensor(change[which]), label = `${change.name} ${which}`;
            return tensor && shownTensor(which, tensor, { label, shows: which }).node;
          }))))),
      table(step),
    ];
  }

  function noteCard(step) {
    return [element("h2", {}, element("span", { class: "badge note" }, "read"), " ", step.title),
      paragraphs(step.text), table(step)];
  }

  function stepCard(step, show) {
    const make = { note: noteCard, update: updateCard, forward: forwardCard,
      backward: backwardCard };
    return element("article", { class: `panel card ${step.kind}` }, make[step.kind](step, show));
  }

  // A value that no step computes: a leaf or a constant.
  function nodeCard(node, show) {
    const { kind } = walk.nodes[node];
    const value = walk.tensor(walk.nodes[node].value);
    const gradient = walk.tensor(walk.nodes[node].gradient);
    return element("article", { class: "panel card" }, heading(kind, "", node),
      value && shownTensor("value", value, { label: "value", shows: "value" }).node,
      gradient && shownTensor("gradient, complete", gradient,
        { label: "gradient", shows: "gradient" }).node,
      check(node));
  }

  return { stepCard, nodeCard };
})();
