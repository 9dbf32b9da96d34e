// What the heads of models look at while they write answers. Defines attentionView; needs dom.js,
// heatmap.js, attention_words.js, attention_lines.js, attention_steps.js and attention.css.
//
//   document.body.append(attentionView(answers))
//
// `answers` is a list of what attention_json (examples/common/attention_view.h) makes, one for each
// model; several stand side by side. Each has the maps of all heads in small, one of them (or the
// mean of those that are on) enlarged, the same as lines, the steps of the answer, and statistics.
const { attentionView } = (() => {
  const PARTS = ["source", "answer", "answer_to_source", "sequence"];  // as they are computed
  const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

  // Weights with null where they are masked.
  function cellsOf(map) {
    if (map.masked === null) return map.weights;
    return map.weights.map((row, q) => row.map((w, k) => (map.masked[q][k] ? null : w)));
  }

  // The mean of matrices with the same cells masked; null when there are none.
  function meanOf(matrices) {
    if (matrices.length === 0) return null;
    return matrices[0].map((row, q) => row.map((cell, k) => (cell === null ? null :
      matrices.reduce((sum, matrix) => sum + matrix[q][k], 0) / matrices.length)));
  }

  function sharpest(heads) {
    return heads.reduce((best, head) =>
      (head.map.statistics.entropy < best.map.statistics.entropy ? head : best));
  }

  function counted(heads) {
    return `${heads.length} head${heads.length === 1 ? "" : "s"}`;
  }

  // One model: what there is, what is chosen, and the elements that show it.
  class Panel {
    constructor(answer) {
      this.answer = answer;
      this.heads = answer.attention.map((map) => ({ map, matrix: cellsOf(map), on: true }));
      for (const head of this.heads) {
        const own = this.headsOf(head.map.part);
        head.colour = headColour(own.indexOf(head), own.length);
      }
      const crossing = this.headsOf("answer_to_source");
      this.chosen = sharpest(crossing.length > 0 ? crossing : this.heads);
      this.mean = false;
      this.title = element("h3");
      const button = (mean, text) =>
        element("button", { type: "button", onclick: () => this.showMean(mean) }, text);
      this.one = button(false, "this head");
      this.all = button(true, "mean of those on");
      this.enlarged = element("div", { class: "attention-enlarged" });
      this.lines = element("div", { class: "attention-between" });
      this.steps = element("div", { class: "attention-written scroll" });
      this.statistics = element("div", { class: "attention-numbers scroll" });
      this.element = this.build();
      this.update();
    }

    headsOf(part) {
      return this.heads.filter((head) => head.map.part === part);
    }

    // The heads of the chosen part that are on.
    on() {
      return this.headsOf(this.chosen.map.part).filter((head) => head.on);
    }

    // What is enlarged.
    matrix() {
      return this.mean ? meanOf(this.on().map((head) => head.matrix)) : this.chosen.matrix;
    }

    build() {
      const { model, source, unknown, answer } = this.answer;
      const probability = 100 * Math.exp(answer.log_prob);
      return element("section", { class: "attention-panel", onkeydown: (e) => this.key(e) },
        element("h2", {}, model),
        element("p", { class: "attention-answer" },
          element("code", {}, source), " → ", element("code", {}, answer.text),
          answer.finished ? null : " …",
          element("span", { class: "faint" }, ` with probability ${numberText(probability, 3)} %`),
          unknown.length === 0 ? null : element("span", { class: "faint" },
            "; not in the vocabulary, so read as <unk>: ",
            unknown.map((token) => [element("code", {}, shownToken(token)), " "]))),
        element("div", { class: "attention-all" }, PARTS.map((part) => this.partElement(part))),
        element("div", { class: "attention-closer" }, this.title,
          element("p", { class: "attention-choice" }, this.one, " ", this.all), this.enlarged),
        this.lines, this.statistics, this.steps);
    }

    // A grid of small maps: a row for each layer, a column for each head.
    partElement(part) {
      const heads = this.headsOf(part);
      if (heads.length === 0) return null;
      const columns = 1 + Math.max(...heads.map((head) => head.map.head));
      const [name, about] = partTitle(part).split(": ");
      return element("div", { class: "attention-part" },
        element("h3", {}, name, element("span", { class: "faint attention-about" }, about)),
        element("div", { class: "scroll" },
          element("div", { class: "attention-heads", role: "group", "aria-label": partTitle(part),
            style: `grid-template-columns: repeat(${columns}, max-content)` },
            heads.map((head) => this.headElement(head)))));
    }

    headElement(head) {
      const { map, matrix } = head;
      const name = headName(map);
      const side = Math.max(1, Math.min(8, 64 / Math.max(map.queries.length, map.keys.length)));
      head.button = element("button", { type: "button", class: "attention-head",
        title: name, "aria-label": name, "data-part": map.part, "data-layer": map.layer,
        "data-head": map.head, onclick: () => this.choose(head) },
        heatmap(matrix, { scale: "sequential", range: [0, 1], numbers: false, cell: side }));
      head.box = element("input", { type: "checkbox", checked: true, "aria-label": `${name} is on`,
        onchange: () => this.toggle([head], head.box.checked) });
      return element("div", { class: "attention-small" }, head.button,
        element("label", { style: `--head: ${head.colour}` }, head.box,
          `${map.layer + 1}.${map.head + 1}`));
    }

    choose(head) {
      this.chosen = head;
      this.mean = false;
      this.update();
    }

    toggle(heads, on) {
      for (const head of heads) {
        head.on = on;
        head.box.checked = on;
      }
      this.update();
    }

    // The head one step away in its part, or the nearest of the part before or after.
    neighbour([down, right]) {
      const { part, layer, head } = this.chosen.map;
      const own = this.headsOf(part);
      const next = own.find(({ map }) => map.layer === layer + down && map.head === head + right);
      if (next || right !== 0) return next;
      const parts = PARTS.filter((name) => this.headsOf(name).length > 0);
      const others = this.headsOf(parts[parts.indexOf(part) + down]);
      const edge = down > 0 ? 0 : Math.max(...others.map(({ map }) => map.layer));
      const row = others.filter(({ map }) => map.layer === edge);
      return row[Math.min(head, row.length - 1)];
    }

    key(event) {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const move = ARROWS[event.key];
      const own = this.headsOf(this.chosen.map.part);
      if (move) {
        const next = this.neighbour(move);
        if (next) {
          this.choose(next);
          next.button.focus();
        }
      } else if (event.key === "x") {
        this.toggle([this.chosen], !this.chosen.on);
      } else if (event.key === "a") {
        this.toggle(own, !own.every((head) => head.on));
      } else if (event.key === "m") {
        this.showMean(!this.mean);
      } else {
        return;
      }
      event.preventDefault();
    }

    showMean(mean) {
      this.mean = mean;
      this.update();
    }

    update() {
      for (const head of this.heads) {
        const chosen = head === this.chosen && !this.mean;
        head.button.setAttribute("aria-pressed", chosen);
        head.button.tabIndex = head === this.chosen ? 0 : -1;
        head.button.parentNode.classList.toggle("attention-off", !head.on);
      }
      const { map } = this.chosen, matrix = this.matrix();
      this.fillLines(map);
      this.fillEnlarged(map, matrix);
      fill(this.steps, element("h3", {}, "Step by step"), map.first_step === null ?
        element("p", { class: "faint" },
          "While the encoder reads, nothing is written: rows of the other maps belong to steps.") :
        null,
        attentionSteps(this.answer.steps, map, matrix));
      fill(this.statistics, element("h3", {}, "Heads in numbers"),
        attentionStatistics(this.headsOf(map.part).map((h) => h.map), map),
        element("p", { class: "faint attention-about" }, "Entropy in nats, of at most that of ",
          "equal weights; and the mean weight on the diagonals and on the previous token."));
    }

    fillEnlarged(map, matrix) {
      const readout = element("p", { class: "attention-cell number", "aria-live": "polite" });
      const say = (cell) => {
        this.drawnLines.show(cell && cell[0]);
        fill(readout, cell ? this.cellText(map, matrix, cell) :
          "Point at a cell, or move there with the arrow keys.");
      };
      say(null);
      fill(this.title, this.mean ? `Mean of ${counted(this.on())} of this part` : headName(map));
      this.one.setAttribute("aria-pressed", !this.mean);
      this.all.setAttribute("aria-pressed", this.mean);
      const focused = this.enlarged.contains(document.activeElement);
      const drawing = matrix === null ? element("p", {}, "No head of this part is on.") :
        heatmap(matrix.map((row) => row.map((cell) => cell && Math.round(1000 * cell) / 1000)), {
          label: `${partTitle(map.part)}, ${this.mean ? "mean" : headName(map)}`,
          rows: map.queries.map(shownToken), columns: map.keys.map(shownToken),
          scale: "sequential", range: [0, 1], onpoint: say,
          cell: Math.max(6, Math.min(34, Math.floor(380 / map.keys.length))) });
      fill(this.enlarged, element("div", { class: "scroll" }, drawing), readout);
      if (focused) drawing.focus();
    }

    cellText(map, matrix, [query, key]) {
      const value = matrix[query][key];
      return `${shownToken(map.queries[query])} (row ${query + 1}) looks at ` +
        `${shownToken(map.keys[key])} (column ${key + 1}): ` +
        (value === null ? "masked" : numberText(value, 6));
    }

    fillLines(map) {
      const on = this.on();
      this.drawnLines = attentionLines(on, map.queries, map.keys);
      fill(this.lines, element("h3", {}, `Lines of the ${counted(on)} on`),
        this.drawnLines);
    }
  }

  function attentionView(answers) {
    const help = element("p", { class: "faint attention-help" },
      "Keys: arrows choose a head, x switches it on or off, a all of its part, m shows the mean ",
      "of those that are on. In the large map arrows move from cell to cell.");
    return element("div", { class: "attention" }, help, answers.map((answer) =>
      (answer.attention.length > 0 ? new Panel(answer).element :
        element("p", {}, `${answer.model} has no attention.`))));
  }

  return { attentionView };
})();
