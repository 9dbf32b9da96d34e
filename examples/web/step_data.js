// The walk that a step page shows, and questions about it. Defines walk; needs DATA:
//
//   title, scopes [{name, parent}], ops [{name, arguments, forward, backward}],
//   graphs [{title, first, output, layers [[name, norm, step that completes it]]}],
//   nodes [{kind, graph, label, scope, op, inputs, value, gradient, sources, differences
//     [[cell, analytic, numeric, relative error or "-", 1 when right]]}],
//   steps [{kind, node, uses [{input, node, use, uses, before, added, after}], title, text, heads,
//     rows, changes [{name, before, gradient, after}]}],
//   tensors [{dtype, shape, values}], of a large one with statistics [min, mean, max, not finite]
//     and corner [rows, columns], which is what values holds then,
//   sources [{lists of cells, which list is each output cell's}],
//   drawings [{graph, scope, items [{kind, node or scopes, title, detail}], edges, geometry}],
//   geometries [{width, height, boxes [x, y, width, height], lines}]: none without Graphviz.
//
// Where something stands in another list its position does; -1 is none.
const walk = (() => {
  const { nodes, scopes, steps, graphs, drawings } = DATA;
  const stepOf = new Map(), drawingOf = new Map(), repeatsOf = new Map();
  steps.forEach((step, i) => {
    if (step.node !== undefined) stepOf.set(`${step.kind} ${step.node}`, i);
  });
  for (const drawing of drawings) {
    drawingOf.set(`${drawing.graph} ${drawing.scope}`, drawing);
    for (const { scopes: folded } of drawing.items) {
      for (const scope of folded || []) repeatsOf.set(`${drawing.graph} ${scope}`, folded);
    }
  }

  const tensor = (index) => index === undefined || index < 0 ? null : DATA.tensors[index];
  const opOf = (node) => DATA.ops[nodes[node].op];
  // The step at which a node is computed ("forward") or sends its gradient on ("backward").
  const findStep = (kind, node) => stepOf.get(`${kind} ${node}`);
  // [outermost, ..., scope]
  function ancestors(scope) {
    const out = [];
    for (let s = scope; s >= 0; s = scopes[s].parent) out.unshift(s);
    return out;
  }
  const path = (node) => ancestors(nodes[node].scope).map((s) => scopes[s].name).join(" / ");
  const drawing = (graph, scope) => drawingOf.get(`${graph} ${scope}`);
  // The scopes drawn as one box with this one, itself among them.
  const repeats = (graph, scope) => repeatsOf.get(`${graph} ${scope}`) || [scope];
  // Where in a flat tensor: "[1, 2]", "" of a single number.
  function place(shape, cell) {
    const index = [];
    for (const extent of [...shape].reverse()) {
      index.unshift(cell % extent);
      cell = Math.floor(cell / extent);
    }
    return index.length ? `[${index.join(", ")}]` : "";
  }
  // The cells of its k-th input that a cell of a node's value was made from.
  function sourcesOf(node, k, cell) {
    const index = (nodes[node].sources || [])[k] ?? -1;
    return index < 0 ? [] : DATA.sources[index].lists[DATA.sources[index].which[cell]] || [];
  }
  const hasSources = (node) => (nodes[node].sources || []).some((index) => index >= 0);
  // The nodes whose gradient a backward step completes.
  const completed = (step) =>
    [...new Set((step.uses || []).filter((u) => u.use === u.uses).map((u) => u.node))];

  return { title: DATA.title, nodes, scopes, steps, graphs, drawings, geometries: DATA.geometries,
    tensor, opOf, findStep, ancestors, path, drawing, repeats, place, sourcesOf, hasSources,
    completed };
})();
