// The report of a training run or a comparison, drawn into #report; defines nothing.
(() => {
  function section(title, ...content) {
    return element("section", {}, element("h2", {}, title), content);
  }

  function table(heads, rows, attributes) {
    const cells = heads.map((head) => element("th", {scope: "col"}, head));
    return element("div", {class: "scroll"}, element("table", attributes,
      element("thead", {}, element("tr", {}, cells)), element("tbody", {}, rows)));
  }

  function results({heads, rows}) {
    const lines = rows.map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell))));
    return table(heads, lines, {class: "results"});
  }

  // A cell that says on a narrow screen which column it is of.
  function cell(label, parts) {
    const text = parts.map(([part, right]) => (right ? part : element("mark", {}, part)));
    const empty = parts.every(([part]) => part === "");
    return element("td", {"data-label": label},
      empty ? element("span", {class: "faint"}, "(nothing)") : element("code", {}, text));
  }

  function verdict(right) {
    if (right === null) return element("td");
    return element("td", {class: right ? "good" : "bad"}, right ? "✓ right" : "✗ wrong");
  }

  function samples(about, list) {
    const models = list.some((sample) => sample.model !== "");
    const lines = list.map((sample) => element("tr", {},
      models ? element("td", {"data-label": "model"}, sample.model) : null,
      cell("source", [[sample.source, true]]), cell("wanted", [[sample.wanted, true]]),
      cell("answer", sample.answer),
      verdict(sample.right)));
    const heads = [...(models ? ["model"] : []), "source", "wanted", "answer", ""];
    return [element("p", {class: "faint"}, about), table(heads, lines, {class: "samples"})];
  }

  function settings(list) {
    return element("dl", {class: "settings"}, list.map(([name, value]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, element("code", {}, value)))));
  }

  function charts(list) {
    return element("div", {class: "charts"}, list.map((chart) => lineChart(chart)));
  }

  // Each model in a part that opens, drawn when it is first opened.
  function attention({answers, left_out: leftOut}) {
    const parts = answers.map((answer, i) => {
      const part = element("details", {ontoggle: () => {
        if (part.open && part.children.length === 1) part.append(attentionView([answer]));
      }}, element("summary", {}, answer.model));
      part.open = i === 0;
      return part;
    });
    const missing = leftOut.length === 0 ? null : element("p", {class: "faint"},
      `Too large for this page: ${leftOut.join(", ")}.`);
    return [element("p", {class: "faint"}, "What each head looks at while the model answers a " +
      "held-out source."), parts, missing];
  }

  fill(document.getElementById("report"),
    element("p", {}, DATA.summary),
    DATA.results.rows.length > 0 ? section("Results", results(DATA.results)) : null,
    DATA.charts.length > 0 ? section("Curves", charts(DATA.charts)) : null,
    DATA.samples.length > 0 ? section("Samples", samples(DATA.samples_about, DATA.samples)) : null,
    DATA.attention.answers.length + DATA.attention.left_out.length > 0
      ? section("Attention", attention(DATA.attention)) : null,
    section("Settings", settings(DATA.settings)));
})();
