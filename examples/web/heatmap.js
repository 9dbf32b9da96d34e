// A matrix as coloured cells. Defines heatmap, heatLegend and heatRange; needs dom.js, heatmap.css.
//
//   heatmap([[0.5, -1], [null, "nan"]], {label: "weights", rows: ["a", "b"], columns: ["c", "d"]})
//
// A cell is a number, null (masked: drawn as masked, not as zero) or a word ("nan", "inf", "-inf").
// Options, all of them optional:
//   label       what a screen reader says it is
//   rows        labels of the rows, columns those of the columns
//   scale       "diverging" (blue below zero, red above) or "sequential" (one colour, the more the
//               larger); diverging unless said
//   range       [low, high], what the colours span; heatRange(matrix, scale) unless given
//   numbers     whether they stand in the cells; unless said, in small matrices
//   width       how many pixels the cells may take together, 320 unless said; cell: the side of one
//   onpoint     called with [row, column] when a cell is pointed at, and with null when none is any
//               more. The map can then be focused, and arrow keys move from cell to cell
// The <svg> it returns has outline(cells): draws a line around each [row, column] of a list.
//
// A number is one colour over that of zero, more or less opaque: what is below decides, so a page
// that turns from light to dark needs no new drawing.
const { heatmap, heatLegend, heatRange } = (() => {
  const MOST_RECTANGLES = 1024;  // more cells than these are one picture
  const MOST_NUMBERS = 64, MOST_NUMBER_COLUMNS = 10;
  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  function heatRange(matrix, scale) {
    let low = Infinity, high = -Infinity;
    for (const row of matrix) {
      for (const value of row) {
        if (!Number.isFinite(value)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    }
    if (low > high) return scale === "sequential" ? [0, 1] : [-1, 1];
    if (scale === "sequential") return [low, high];
    const limit = Math.max(-low, high) || 1;
    return [-limit, limit];
  }

  // The name of a colour and how opaque it is.
  function shade(value, scale, [low, high]) {
    if (value === null) return ["--masked", 0.55];
    if (!Number.isFinite(value)) return ["--odd", 1];
    const part = (number, whole) => Math.min(1, Math.max(0, whole > 0 ? number / whole : 1));
    if (scale === "sequential") return ["--accent", part(value - low, high - low)];
    return value < 0 ? ["--negative", part(-value, -low)] : ["--positive", part(value, high)];
  }

  function shortened(text, most = 14) {
    const letters = [...String(text)];
    return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
  }

  const cellText = (value) => value === null ? "" : numberText(value, 3);

  // Where everything stands, in pixels.
  function measure(matrix, options) {
    const rows = matrix.length, columns = Math.max(0, ...matrix.map((row) => row.length));
    const numbers = options.numbers ??
      (rows * columns <= MOST_NUMBERS && columns <= MOST_NUMBER_COLUMNS);
    const side = options.cell ??
      Math.min(22, Math.max(2, Math.floor((options.width ?? 320) / Math.max(columns, 1))));
    const longest = (texts = []) => Math.max(0, ...texts.map((text) => shortened(text).length));
    const width = !numbers ? side
      : Math.max(54, 7 * longest(matrix.flat().map(cellText)) + 8, options.cell ?? 0);
    const height = numbers ? Math.max(26, options.cell ?? 0)
      : rows === 1 ? Math.max(18, side) : side;
    const wide = longest(options.columns) * 8, turned = wide > width && wide > 3 * 8;
    const left = options.rows ? longest(options.rows) * 8 + 8 : 1;
    const top = !options.columns ? 1 : turned ? longest(options.columns) * 6.5 + 12 : 20;
    // Turned labels lean over the right edge.
    const right = turned ? Math.max(1, longest(options.columns) * 4.5 + 4 - width / 2) : 1;
    return { rows, columns, numbers, width, height, turned, left, top, room: turned ? 14 : wide + 4,
      fullWidth: left + columns * width + right, fullHeight: top + rows * height + 1 };
  }

  function labels(options, at) {
    const { rows = [], columns = [] } = options;
    const shown = (i, size, room) => i % Math.ceil(room / size) === 0;
    return [
      rows.map((label, r) => shown(r, at.height, 14) && svg("text", {
        x: at.left - 6, y: at.top + (r + 0.5) * at.height, class: "heat-label heat-row",
      }, svg("title", {}, label), shortened(label))),
      columns.map((label, c) => {
        if (!shown(c, at.width, at.room)) return null;
        const x = at.left + (c + 0.5) * at.width, y = at.top - 7;
        return svg("text", {
          x, y, class: at.turned ? "heat-label heat-turned" : "heat-label heat-column",
          transform: at.turned ? `rotate(-55 ${x} ${y})` : null,
        }, svg("title", {}, label), shortened(label));
      }),
    ].flat().filter(Boolean);
  }

  function rectangles(matrix, scale, range, at) {
    const out = [];
    matrix.forEach((row, r) => row.forEach((value, c) => {
      const [colour, opacity] = shade(value, scale, range);
      const x = at.left + c * at.width, y = at.top + r * at.height;
      out.push(svg("rect", { x, y, width: at.width, height: at.height, fill: `var(${colour})`,
        "fill-opacity": opacity.toFixed(3), class: "heat-cell" }));
      if (value === null) {
        const stroke = `M${x} ${y + at.height}l${at.width} ${-at.height}`;
        out.push(svg("path", { d: stroke, class: "heat-masked" }));
      } else if (at.numbers) {
        out.push(svg("text", { x: x + at.width / 2, y: y + at.height / 2,
          class: colour === "--odd" ? "heat-number heat-on-odd"
            : opacity > 0.55 ? "heat-number heat-on-colour" : "heat-number",
        }, cellText(value)));
      }
    }));
    return out;
  }

  function picture(matrix, scale, range, at) {
    const canvas = element("canvas", { width: at.columns, height: at.rows });
    const context = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    matrix.forEach((row, r) => row.forEach((value, c) => {
      const [colour, opacity] = shade(value, scale, range);
      context.fillStyle = style.getPropertyValue(colour).trim();
      context.globalAlpha = opacity;
      context.fillRect(c, r, 1, 1);
    }));
    return svg("image", { x: at.left, y: at.top, width: at.columns * at.width,
      height: at.rows * at.height, href: canvas.toDataURL(), preserveAspectRatio: "none",
      class: "heat-picture" });
  }

  // Pointing with mouse, finger and keys: `onpoint` hears of every change.
  function makePointable(drawing, frame, at, onpoint) {
    let current = null, last = [0, 0];
    const select = (cell) => {
      if (String(cell) === String(current)) return;
      current = cell;
      last = cell ?? last;
      fill(frame, cell && outlineOf(cell, at, "heat-cursor"));
      onpoint(cell);
    };
    const cellAt = (event) => {
      const box = drawing.getBoundingClientRect();
      const x = (event.clientX - box.left) * at.fullWidth / box.width - at.left;
      const y = (event.clientY - box.top) * at.fullHeight / box.height - at.top;
      const cell = [Math.floor(y / at.height), Math.floor(x / at.width)];
      return inside(cell) ? cell : null;
    };
    const inside = ([row, column]) =>
      row >= 0 && row < at.rows && column >= 0 && column < at.columns;
    drawing.addEventListener("pointermove", (event) => select(cellAt(event)));
    drawing.addEventListener("pointerdown", (event) => select(cellAt(event)));
    drawing.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch") select(null);  // a lifted finger leaves the cell chosen
    });
    drawing.addEventListener("focus", () => {
      if (drawing.matches(":focus-visible") && inside(last)) select(last);
    });
    drawing.addEventListener("blur", () => select(null));
    drawing.addEventListener("keydown", (event) => {
      const move = ARROWS[event.key];
      if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();  // pages have a use for arrow keys too
      const cell = current === null ? last : [last[0] + move[0], last[1] + move[1]];
      if (inside(cell)) select(cell);
    });
  }

  function outlineOf([row, column], at, kind) {
    return svg("rect", { x: at.left + column * at.width + 1, y: at.top + row * at.height + 1,
      width: Math.max(1, at.width - 2), height: Math.max(1, at.height - 2), class: kind,
      "data-row": row, "data-column": column });
  }

  function heatmap(matrix, options = {}) {
    const scale = options.scale ?? "diverging", range = options.range ?? heatRange(matrix, scale);
    const at = measure(matrix, options);
    const many = at.rows * at.columns > MOST_RECTANGLES && !at.numbers;
    const outlines = svg("g"), frame = svg("g");
    const drawing = svg("svg", { class: "heatmap", width: at.fullWidth, height: at.fullHeight,
      viewBox: `0 0 ${at.fullWidth} ${at.fullHeight}`, "aria-label": options.label,
      role: options.onpoint ? "application" : "img", tabindex: options.onpoint ? 0 : null },
      svg("rect", { x: at.left, y: at.top, width: at.columns * at.width,
        height: at.rows * at.height, class: "heat-ground" }),
      many ? picture(matrix, scale, range, at) : rectangles(matrix, scale, range, at),
      labels(options, at), outlines, frame);
    if (options.onpoint) makePointable(drawing, frame, at, options.onpoint);
    drawing.outline = (cells) =>
      fill(outlines, cells.map((cell) => outlineOf(cell, at, "heat-outline")));
    return drawing;
  }

  // The colours from one end of `range` to the other, with numbers below.
  function heatLegend({ scale = "diverging", range }) {
    const steps = 21, width = 168, [low, high] = range;
    const values = [...Array(steps).keys()].map((i) => low + (high - low) * i / (steps - 1));
    const middle = (low + high) / 2;
    const text = (value, x, anchor) =>
      svg("text", { x, y: 25, "text-anchor": anchor, class: "heat-tick" }, numberText(value, 3));
    const label = `colours from ${numberText(low, 3)} to ${numberText(high, 3)}`;
    return svg("svg", { class: "heat-legend", width: width + 2, height: 30,
      viewBox: `-1 0 ${width + 2} 30`, role: "img", "aria-label": label },
      svg("rect", { x: 0, y: 1, width, height: 11, class: "heat-ground" }),
      values.map((value, i) => {
        const [colour, opacity] = shade(value, scale, range);
        return svg("rect", { x: i * width / steps, y: 1, width: width / steps, height: 11,
          fill: `var(${colour})`, "fill-opacity": opacity.toFixed(3) });
      }),
      text(low, 0, "start"), text(middle, width / 2, "middle"), text(high, width, "end"));
  }

  return { heatmap, heatLegend, heatRange };
})();
