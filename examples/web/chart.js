// Defines lineChart: curves in one picture with axes, a legend that switches them on and off, the
// values under the pointer or at the place the arrow keys went to, and a logarithmic scale.
const lineChart = (() => {
  const HEIGHT = 260, LEFT = 58, RIGHT = 14, TOP = 12, BOTTOM = 42;
  const COLORS = 8;  // --line-0 to --line-7 in chart.css; then they come again, dashed
  const FEW = 40;    // points that are drawn as dots too

  // 1, 2 or 5 times a power of ten: about `count` steps of it cover the span.
  function niceStep(span, count) {
    const rough = span / count, power = 10 ** Math.floor(Math.log10(rough));
    return power * ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) || 10);
  }

  function linearTicks(low, high, count) {
    const step = niceStep(high - low, count), ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) {
      ticks.push(Number((i * step).toPrecision(12)));
    }
    return ticks;
  }

  // Powers of ten, with 2 and 5 times them where these are few.
  function logTicks(low, high) {
    const ticks = [], factors = high / low < 1000 ? [1, 2, 5] : [1];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
      for (const factor of factors) {
        const tick = Number((factor * 10 ** power).toPrecision(12));
        if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
      }
    }
    return ticks.length >= 2 ? ticks : linearTicks(low, high, 4).filter((tick) => tick > 0);
  }

  // From values to [0, 1], with the ticks of the axis.
  function scaleOf(values, logarithmic, count) {
    let low = Infinity, high = -Infinity;
    for (const value of values) {
      if (value === null || (logarithmic && value <= 0)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (low > high) [low, high] = logarithmic ? [0.1, 1] : [0, 1];
    if (low === high) {
      const room = Math.abs(low) / 10 || 1;
      [low, high] = logarithmic ? [low / 2, high * 2] : [low - room, high + room];
    }
    const place = logarithmic
      ? (value) => Math.log(value / low) / Math.log(high / low)
      : (value) => (value - low) / (high - low);
    return {
      low, high, place, ticks: logarithmic ? logTicks(low, high) : linearTicks(low, high, count),
      has: (value) => value !== null && (!logarithmic || value > 0),
    };
  }

  // The place in a rising list that is nearest to x.
  function nearest(list, x) {
    let from = 0, to = list.length - 1;
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if (list[middle] <= x) from = middle;
      else to = middle;
    }
    return x - list[from] <= list[to] - x ? from : to;
  }

  function pathOf(line, across, down, scale) {
    let path = "", pen = "M";
    line.x.forEach((x, i) => {
      if (!scale.has(line.y[i])) {
        pen = "M";
        return;
      }
      path += `${pen}${across(x).toFixed(1)} ${down(line.y[i]).toFixed(1)}`;
      pen = "L";
    });
    return path;
  }

  // What is at x: of a line that has no point there its nearest one, with its place.
  function readout(lines, at, axis) {
    const parts = lines.map((line) => {
      const i = nearest(line.x, at);
      const place = line.x[i] === at ? "" : ` (at ${line.x[i]})`;
      return `${line.name} ${numberText(line.y[i], 5)}${place}`;
    });
    return `${axis} ${at}: ${parts.join(", ")}`;
  }

  // chart: {title, unit, logarithmic: has it the switch?, lines: [{name, x: [...], y: [...]}]}, x
  // rising, null in y a gap; axis: what x is.
  function lineChart(chart, axis = "step") {
    const lines = chart.lines.map((line, i) => ({
      ...line, shown: true, color: `var(--line-${i % COLORS})`,
      dash: i < COLORS ? null : `${3 * Math.floor(i / COLORS)} 3`,
    }));
    let logarithmic = false, at = null, places = [], across, down, ends;
    const picture = svg("svg", {
      class: "chart", tabindex: 0, role: "img", height: HEIGHT,
      "aria-label": `${chart.title}; the arrow keys go along the curves`,
    });
    const cursor = svg("g", {class: "chart-cursor"});
    const words = element("p", {class: "chart-readout", "aria-live": "polite"});
    const visible = () => lines.filter((line) => line.shown);

    function axes(x, y, width) {
      const bottom = HEIGHT - BOTTOM;
      return [
        y.ticks.map((tick) => [
          svg("line", {
            class: "chart-grid", x1: LEFT, x2: width - RIGHT, y1: down(tick), y2: down(tick),
          }),
          svg("text", {class: "chart-y", x: LEFT - 6, y: down(tick) + 4, "text-anchor": "end"},
            numberText(tick, 6)),
        ]),
        x.ticks.map((tick) => [
          svg("line", {
            class: "chart-grid", x1: across(tick), x2: across(tick), y1: bottom, y2: bottom + 4,
          }),
          svg("text", {
            class: "chart-x", x: across(tick), y: bottom + 18, "text-anchor": "middle",
          }, numberText(tick, 6)),
        ]),
        svg("text", {x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle"}, axis),
      ];
    }

    function curve(line, y) {
      const style = `stroke: ${line.color}`;
      const fills = `fill: ${line.color}`;
      const dots = line.x.length > FEW ? [] : line.x.flatMap((x, i) => y.has(line.y[i])
        ? [svg("circle", {cx: across(x), cy: down(line.y[i]), r: 2.5, style: fills})] : []);
      return [svg("path", {
        class: "chart-line", d: pathOf(line, across, down, y), style, "stroke-dasharray": line.dash,
      }), dots];
    }

    function drawCursor() {
      if (at === null || places.length === 0) {
        fill(cursor);
        words.textContent = chart.unit;
        return;
      }
      const marks = visible().flatMap((line) => {
        const i = nearest(line.x, at);
        if (!ends.has(line.y[i])) return [];
        return [svg("circle", {
          cx: across(line.x[i]), cy: down(line.y[i]), r: 4, style: `fill: ${line.color}`,
        })];
      });
      fill(cursor, svg("line", {
        x1: across(at), x2: across(at), y1: TOP, y2: HEIGHT - BOTTOM,
      }), marks);
      words.textContent = readout(visible(), at, axis);
    }

    function draw() {
      const width = Math.max(picture.parentNode.clientWidth, 240);
      places = [...new Set(visible().flatMap((line) => line.x))].sort((a, b) => a - b);
      const x = scaleOf(places, false, width < 500 ? 4 : 8);
      ends = scaleOf(visible().flatMap((line) => line.y), logarithmic, 5);
      across = (value) => LEFT + x.place(value) * (width - LEFT - RIGHT);
      down = (value) => TOP + (1 - ends.place(value)) * (HEIGHT - TOP - BOTTOM);
      picture.setAttribute("width", width);
      if (at !== null && places.length > 0) at = places[nearest(places, at)];
      fill(picture, axes(x, ends, width), visible().map((line) => curve(line, ends)), cursor);
      drawCursor();
    }

    function go(place) {
      if (places.length === 0) return;
      at = places[Math.max(0, Math.min(places.length - 1, place))];
      drawCursor();
    }

    picture.addEventListener("pointermove", (event) => {
      const left = picture.getBoundingClientRect().left;
      const part = (event.clientX - left - across(places[0])) /
        (across(places[places.length - 1]) - across(places[0]) || 1);
      go(nearest(places, places[0] + part * (places[places.length - 1] - places[0])));
    });
    picture.addEventListener("pointerleave", () => {
      if (document.activeElement === picture) return;
      at = null;
      drawCursor();
    });
    picture.addEventListener("keydown", (event) => {
      const now = at === null ? -1 : nearest(places, at), leap = Math.ceil(places.length / 20);
      const target = {
        ArrowRight: now + 1, ArrowLeft: at === null ? places.length - 1 : now - 1,
        PageUp: now + leap, PageDown: now - leap, Home: 0, End: places.length - 1,
      }[event.key];
      if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      go(target);
    });

    function legendButton(line) {
      const swatch = svg("svg", {width: 22, height: 10, "aria-hidden": "true"}, svg("line", {
        x1: 0, x2: 22, y1: 5, y2: 5, class: "chart-line", style: `stroke: ${line.color}`,
        "stroke-dasharray": line.dash,
      }));
      const button = element("button", {
        type: "button", "aria-pressed": "true", onclick: () => {
          line.shown = !line.shown;
          button.setAttribute("aria-pressed", String(line.shown));
          draw();
        },
      }, swatch, " ", line.name);
      return button;
    }

    function logButton() {
      const button = element("button", {
        type: "button", class: "chart-log", "aria-pressed": "false", onclick: () => {
          logarithmic = !logarithmic;
          button.setAttribute("aria-pressed", String(logarithmic));
          draw();
        },
      }, "log scale");
      return button;
    }

    const legend = lines.length > 1 ? lines.map(legendButton) : [];
    const figure = element("figure", {class: "chart-figure"},
      element("h3", {}, chart.title),
      element("div", {class: "chart-legend"}, legend, chart.logarithmic ? logButton() : null),
      element("div", {class: "chart-space"}, picture), words);
    new ResizeObserver(draw).observe(picture.parentNode);
    return figure;
  }

  return lineChart;
})();
