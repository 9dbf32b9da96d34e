// The page of sinusoidal positions, drawn into #positions; defines nothing.
(() => {
  const { d_model: width, length, encoding, products } = DATA;
  const numbers = (count) => [...Array(count).keys()].map(String);

  // A heat map with its legend, and the cell that is pointed at in words.
  function map(matrix, {name, label, columns, words, scale, range}) {
    const reading = element("p", {class: "reading", "aria-live": "polite"});
    const show = (cell) => {
      reading.textContent = cell === null
        ? "Point at a cell, or go there with the arrow keys."
        : `${words(cell)}: ${numberText(matrix[cell[0]][cell[1]], 5)}`;
    };
    const drawing = heatmap(matrix, {
      label, rows: numbers(length), columns, scale, range, numbers: false, width: 560,
      onpoint: show,
    });
    show(null);
    return element("figure", {class: name}, element("div", {class: "scroll"}, drawing),
      heatLegend({scale, range}), reading);
  }

  function section(title, text, picture) {
    return element("section", {}, element("h2", {}, title), element("p", {}, text), picture);
  }

  function formula() {
    const power = () => element("sup", {}, `2i / ${width}`);
    return element("p", {class: "formula"},
      element("code", {}, "P[p, 2i] = sin(p / 10000", power(), ")"), element("br"),
      element("code", {}, "P[p, 2i + 1] = cos(p / 10000", power(), ")"));
  }

  // Positions that a pair of dimensions takes for a whole turn.
  const turn = (pair) => numberText(2 * Math.PI * 10000 ** (2 * pair / width), 3);
  const pairs = Math.ceil(width / 2);

  const introduction = `Attention alone does not know where a token stands. So a Transformer adds
    to the token at position p a vector of sines and cosines (Vaswani et al. 2017, "Attention Is
    All You Need", section 3.5):`;

  const aboutEncoding = `A row for each of ${length} positions, a column for each of ${width}
    dimensions. Two neighbouring columns are the sine and the cosine of one angle, a hand that
    turns as p grows. The first turns once in ${turn(0)} positions` + (pairs === 1 ? "." : `, the
    last once in ${turn(pairs - 1)}: the left tells near positions apart, the right far ones, as
    the digits of a number do.`);

  const aboutProducts = `Each cell is the dot product of two rows of the encoding. Since
    sin a sin b + cos a cos b = cos(a − b), ` + (width % 2 === 0
    ? `it depends on the distance of the positions only, not on where they are: the stripes are
      straight. On the diagonal it is d / 2 = ${width / 2}.`
    : `each pair of columns adds what depends on the distance only; the last column, a sine
      without its cosine, bends the stripes a little.`);

  const aboutDistance = `The dot product of position 0 and the position at a distance. Near
    positions are alike, far ones are not: it falls, and waves. For a fixed distance, one turns
    into the other by the same rotation everywhere, so a head can learn to look a fixed number of
    tokens back.`;

  fill(document.getElementById("positions"),
    element("p", {}, introduction), formula(),
    element("div", {class: "maps"},
      section("The encoding", aboutEncoding, map(encoding, {
        name: "encoding", label: "the encoding", columns: numbers(width),
        scale: "diverging", range: [-1, 1],
        words: ([row, column]) => `position ${row}, dimension ${column}`,
      })),
      section("Dot products", aboutProducts, map(products, {
        name: "products", label: "dot products", columns: numbers(length),
        scale: "sequential", range: heatRange(products, "sequential"),
        words: ([row, column]) => `positions ${row} and ${column}`,
      }))),
    section("Over the distance", aboutDistance, lineChart({
      title: "Dot product with position 0", unit: "", logarithmic: false,
      lines: [{name: "dot product", x: products[0].map((_, i) => i), y: products[0]}],
    }, "distance")));
})();
