// A tensor as heat maps. Defines tensorView and tensorText; needs dom.js, heatmap.js.
//
//   tensorView(tensor, {label, onpoint, legend})
//
// gives {node, outline(cells)}: a map for each matrix of the last two axes, with a legend when
// there is more than one number. Cells are positions in the flat tensor; `onpoint` is told the one
// pointed at, or null.
const { tensorView, tensorText } = (() => {
  const MOST_MATRICES = 12;

  const tensorText = ({ dtype, shape }) => `${dtype} [${shape.join(", ")}]`;

  // [{name, first, rows}]: matrices with the position of their first cell.
  function matricesOf({ shape, values, corner }) {
    const [rows, columns] = corner ?? [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
    const size = rows * columns, out = [];
    if (size === 0) return out;
    for (let first = 0; first < values.length; first += size) {
      const matrix = [...Array(rows).keys()].map((r) =>
        values.slice(first + r * columns, first + (r + 1) * columns));
      const name = shape.length > 2 && !corner ? walk.place(shape.slice(0, -2), first / size) : "";
      out.push({ name, first, matrix });
    }
    return out;
  }

  function notes(tensor, hidden) {
    const out = [];
    if (tensor.statistics) {
      const [low, mean, high, others] = tensor.statistics;
      out.push(`min ${numberText(low)}, mean ${numberText(mean)}, max ${numberText(high)}` +
        (others > 0 ? `, ${others} not finite` : ""));
      out.push(`Shown are the first ${tensor.corner.join(" × ")} numbers.`);
    }
    if (hidden > 0) out.push(`${hidden} more matrices are not shown.`);
    return out.map((text) => element("div", { class: "faint small" }, text));
  }

  function tensorView(tensor, { label = "", onpoint = null, legend = true } = {}) {
    const all = matricesOf(tensor), shown = all.slice(0, MOST_MATRICES);
    const whole = !tensor.corner, range = heatRange(tensor.values.map((value) => [value]));
    const count = tensor.values.length;
    const maps = shown.map(({ name, first, matrix }) => {
      const columns = matrix[0].length;
      const map = heatmap(matrix, {
        range, label: `${label} ${name}`.trim(), width: shown.length > 1 ? 160 : 320,
        numbers: shown.length > 4 || count > 64 ? false : undefined,
        onpoint: onpoint && whole
          ? (cell) => onpoint(cell && first + cell[0] * columns + cell[1]) : null,
      });
      return { name, first, size: matrix.length * columns, columns, map };
    });
    const node = element("div", { class: "tensor" },
      element("div", { class: "maps" }, maps.map(({ name, map }) =>
        element("figure", {}, name && element("figcaption", { class: "faint small" }, name), map))),
      count === 0 && element("div", { class: "faint small" }, "no elements"),
      notes(tensor, all.length - shown.length),
      legend && count > 1 && heatLegend({ range }));
    const outline = (cells) => {
      for (const { first, size, columns, map } of maps) {
        const inside = cells.filter((cell) => cell >= first && cell < first + size);
        map.outline(whole ? inside.map((cell) =>
          [Math.floor((cell - first) / columns), (cell - first) % columns]) : []);
      }
    };
    return { node, outline };
  }

  return { tensorView, tensorText };
})();
