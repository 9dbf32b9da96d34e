// Tables beside the maps of attention. Defines attentionSteps and attentionStatistics; needs dom.js
// and attention_words.js.
//
//   attentionSteps(steps, map, matrix)    of each step the token, what the row of `matrix` looks at
//                                         and the likeliest tokens
//   attentionStatistics(maps, chosen)     of each head the numbers that the program computed
const { attentionSteps, attentionStatistics } = (() => {
  const MOST_CHIPS = 48;  // keys of a row; of more those with the largest weights

  function percent(probability) {
    if (probability > 0.999 && probability < 1) return ">99.9 %";
    if (probability > 0 && probability < 0.001) return "<0.1 %";
    return `${(100 * probability).toFixed(1)} %`;
  }

  function chip(token, weight) {
    const label = weight === null ? "masked" : numberText(weight);
    const kind = weight === null ? "attention-masked" : weight > 0.55 ? "attention-strong" : "";
    return element("span", {
      class: `attention-chip ${kind}`,
      style: `--weight: ${weight === null ? 0 : Math.round(100 * weight)}%`,
      title: `${shownToken(token)}: ${label}`,
    }, shownToken(token));
  }

  // A row of the map: every key, coloured by its weight.
  function chips(row, keys) {
    let places = row.map((_, i) => i);
    if (places.length > MOST_CHIPS) {
      places = places.filter((i) => row[i] !== null).sort((a, b) => row[b] - row[a])
        .slice(0, MOST_CHIPS).sort((a, b) => a - b);
    }
    return places.map((i) => chip(keys[i], row[i]));
  }

  function likeliest(step) {
    return element("ol", { class: "attention-top" }, step.top.map((choice) =>
      element("li", { class: choice.token === step.token ? "attention-chosen" : null },
        element("span", { class: "attention-bar",
          style: `width: ${(100 * choice.probability).toFixed(1)}%` }),
        element("code", {}, shownToken(choice.token)), " ",
        element("span", { class: "number" }, percent(choice.probability)))));
  }

  function attentionSteps(steps, map, matrix) {
    const first = map.first_step;
    const looks = first !== null && matrix !== null;
    return element("table", { class: "attention-steps" },
      element("thead", {}, element("tr", {},
        element("th", { scope: "col" }, "step"), element("th", { scope: "col" }, "writes"),
        looks ? element("th", { scope: "col" }, "looks at") : null,
        element("th", { scope: "col" }, "likeliest tokens"))),
      element("tbody", {}, steps.map((step, t) => element("tr", {},
        element("td", {}, String(t + 1)),
        element("td", {}, element("code", {}, shownToken(step.token)), element("br"),
          element("span", { class: "faint number" }, percent(step.probability))),
        looks ? element("td", {}, element("div", { class: "attention-row" },
          chips(matrix[first + t] ?? [], map.keys))) : null,
        element("td", {}, likeliest(step))))));
  }

  function share(value) {
    return value === null ? "none" : value.toFixed(2);
  }

  function attentionStatistics(maps, chosen) {
    const columns = ["head", "entropy", "diagonal", "anti-diagonal", "previous"];
    return element("table", { class: "attention-statistics" },
      element("thead", {}, element("tr", {},
        columns.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, maps.map((map) => {
        const s = map.statistics;
        return element("tr", { class: map === chosen ? "attention-chosen" : null },
          element("td", { title: headName(map) }, `${map.layer + 1}.${map.head + 1}`),
          element("td", {}, s.entropy.toFixed(2),
            element("span", { class: "faint" }, ` of ${s.most_entropy.toFixed(2)}`)),
          [s.diagonal, s.anti_diagonal, s.previous].map((v) => element("td", {}, share(v))));
      })));
  }

  return { attentionSteps, attentionStatistics };
})();
