// Attention as lines between two columns of tokens: on the left those that look, on the right what
// they look at; the larger the weight, the stronger the line. Defines attentionLines; needs dom.js
// and attention_words.js.
//
//   attentionLines([{matrix, colour}], queries, keys)
//
// One colour for each head, cells as heatmap.js has them (null: masked). The <svg> it returns has
// show(query): only the lines of that query (null: of all). Pointing at a token does the same.
const { attentionLines } = (() => {
  const FAINTEST = 0.02;  // weights below it have no line
  const WIDTH = 360, SIDE = 110;  // of the whole, and of a column of tokens

  function rowHeight(count) {
    return Math.max(13, Math.min(24, Math.floor(560 / Math.max(count, 1))));
  }

  function shortened(text, most = 13) {
    const letters = [...text];
    return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
  }

  function column(tokens, kind, height, onpoint) {
    return tokens.map((token, i) => svg("text", {
      x: kind === "query" ? SIDE - 6 : WIDTH - SIDE + 6, y: (i + 0.5) * height,
      class: `attention-token attention-${kind}`, "data-place": i,
      onpointerenter: () => onpoint(kind, i), onpointerleave: () => onpoint(kind, null),
    }, svg("title", {}, shownToken(token)), shortened(shownToken(token))));
  }

  function attentionLines(heads, queries, keys) {
    const height = rowHeight(Math.max(queries.length, keys.length));
    const lines = [];
    for (const { matrix, colour } of heads) {
      matrix.forEach((row, query) => row.forEach((weight, key) => {
        if (weight === null || weight < FAINTEST) return;
        lines.push({ query, key, line: svg("line", {
          x1: SIDE, y1: (query + 0.5) * height, x2: WIDTH - SIDE, y2: (key + 0.5) * height,
          stroke: colour, "stroke-opacity": weight.toFixed(3), "data-query": query, "data-key": key,
          "stroke-width": (0.5 + 2.5 * weight).toFixed(2), class: "attention-line",
        }) });
      }));
    }
    const show = (kind, place) => {
      for (const entry of lines) {
        const hidden = place !== null && entry[kind] !== place;
        entry.line.setAttribute("visibility", hidden ? "hidden" : "visible");
      }
    };
    const full = Math.max(queries.length, keys.length) * height;
    const drawing = svg("svg", { class: "attention-lines", width: WIDTH, height: full,
      viewBox: `0 0 ${WIDTH} ${full}`, role: "img",
      "aria-label": "lines from each token to those it looks at" },
      lines.map((entry) => entry.line),
      column(queries, "query", height, show), column(keys, "key", height, show));
    drawing.show = (query) => show("query", query);
    return drawing;
  }

  return { attentionLines };
})();
