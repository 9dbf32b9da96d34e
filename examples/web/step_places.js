// Where a step is in the graph. Defines placeOf, graphAt, stepFor and crumbsOf; needs dom.js,
// step_data.js.

// {graph, scope, mark(item), scopeIn(scopes)} of a step; graph is null of one that is a text.
// mark(): how a box is drawn: "here" for the op itself and for the module it is in, "input" for
// what it reads (forward) or sends gradients to (backward), "past" for what has been computed.
function placeOf(index) {
  const step = walk.steps[index];
  if (step.node === undefined) {
    return { graph: null, scope: -1, mark: () => "", scopeIn: () => undefined };
  }
  const node = walk.nodes[step.node], around = walk.ancestors(node.scope);
  const read = step.kind === "forward" ? node.inputs : (step.uses || []).map((use) => use.node);
  const scopeIn = (scopes) => scopes.find((scope) => around.includes(scope));
  const mark = (item) => {
    const isHere = item.kind === "module" ? scopeIn(item.scopes) !== undefined
      : item.kind === "value" && item.node === step.node;
    if (isHere) return `here ${step.kind}`;
    if (item.kind === "module") return "";
    if (read.includes(item.node) && item.kind !== "to") return `input ${step.kind}`;
    const at = walk.findStep(step.kind, item.node);
    return at !== undefined && at < index ? "past" : "";
  };
  return { graph: node.graph, scope: node.scope, mark, scopeIn };
}

// The graph to show at a step: of a text the one that comes next, and after the last the last.
function graphAt(index) {
  const { steps, nodes } = walk, has = (step) => step && step.node !== undefined;
  let i = index;
  const way = steps[index].kind === "note" && steps.slice(index).some(has) ? 1 : -1;
  while (i > 0 && i < steps.length && !has(steps[i])) i += way;
  return has(steps[i]) ? nodes[steps[i].node].graph : 0;
}

// The step of a node in the direction the reader is walking in; undefined for leaves.
function stepFor(node, index) {
  const same = walk.findStep(walk.steps[index].kind, node);
  return same ?? walk.findStep("forward", node);
}

// The way from the whole graph to a module: buttons, and a choice where repeats are folded.
function crumbsOf(graph, scope, enter) {
  const name = (s) => walk.scopes[s].name;
  const part = (s, last) => {
    const repeats = walk.repeats(graph, s);
    if (repeats.length > 1) {
      return element("select", { "aria-label": `which ${name(s)}`,
        onchange: (event) => enter(Number(event.target.value)) },
        repeats.map((each, i) => element("option", { value: each, selected: each === s },
          `${name(each)} (${i + 1} of ${repeats.length})`)));
    }
    return element("button", { class: "link", disabled: last, onclick: () => enter(s) }, name(s));
  };
  const whole = element("button",
    { class: "link", disabled: scope === -1, onclick: () => enter(-1) },
    walk.graphs[graph].title || "graph");
  return [whole, walk.ancestors(scope).map((s) => [" › ", part(s, s === scope)])];
}
