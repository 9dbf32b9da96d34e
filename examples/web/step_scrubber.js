// Going from step to step. Defines scrubber; needs dom.js, step_data.js.
//
//   scrubber(show) -> {node, go(index), start()}
//
// Buttons, a slider, keys (left and right or p and n, space to play and pause, Home, End, b and f
// for the next backward and forward part) and the fragment of the address, #step=12, all end in
// show(index). Where the reader stays becomes an entry of the browser's history, so Back leads
// there again.
function scrubber(show) {
  const EVERY = 1000;  // milliseconds from step to step while playing
  const REST = 300;    // staying this long is worth an entry; browsers refuse too many in a row
  const last = walk.steps.length - 1;
  let index = 0, playing = null, resting = null;

  const button = (label, title, onclick) =>
    element("button", { title, "aria-label": title, onclick }, label);
  const first = button("|◀", "first step (Home)", () => go(0));
  const previous = button("◀", "one step back (left arrow)", () => go(index - 1));
  const play = button("▶ Play", "play (space)", () => toggle());
  const next = button("▶", "one step on (right arrow)", () => go(index + 1));
  const end = button("▶|", "last step (End)", () => go(last));
  const backward = button("Backward part", "the next backward part (b)",
    () => go(part("backward")));
  const range = element("input", { type: "range", min: 1, max: last + 1, value: 1,
    "aria-label": "step", oninput: () => go(Number(range.value) - 1) });
  const text = element("div", { class: "where", role: "status" });

  // The kinds of steps below the slider, as long as they are; a click goes to where one begins.
  function parts() {
    const out = [];
    walk.steps.forEach(({ kind }, i) => {
      if (out.length && out.at(-1).kind === kind) out.at(-1).count += 1;
      else out.push({ kind, count: 1, begin: i });
    });
    return element("div", { class: "parts", "aria-hidden": "true" },
      out.map(({ kind, count, begin }) =>
        element("span", { class: kind, title: `${kind}, from step ${begin + 1}`,
          style: `flex-grow: ${count}`, onclick: () => go(begin) },
        count > walk.steps.length / 10 ? kind : "")));
  }

  // Where the next part of a kind begins, or the first one after the last.
  function part(kind) {
    const starts = [...walk.steps.keys()].filter((i) =>
      walk.steps[i].kind === kind && (walk.steps[i - 1] || {}).kind !== kind);
    return starts.find((i) => i > index) ?? starts[0] ?? index;
  }

  function describe(step) {
    const what = step.node === undefined ? step.title
      : `${walk.opOf(step.node).name} ${walk.nodes[step.node].label}`;
    const kind = step.kind === "note" ? "" : `${step.kind}: `;
    return `step ${index + 1} of ${last + 1} · ${kind}${what}`;
  }

  function put(to) {
    index = Math.min(last, Math.max(0, to));
    range.value = index + 1;
    fill(text, describe(walk.steps[index]));
    range.setAttribute("aria-valuetext", text.textContent);
    first.disabled = previous.disabled = index === 0;
    next.disabled = end.disabled = index === last;
    if (index === last) stop();
    show(index);
  }

  function go(to) {
    put(to);
    clearTimeout(resting);
    resting = setTimeout(() => {
      const fragment = `#step=${index + 1}`;
      if (location.hash === fragment) return;
      if (playing !== null) history.replaceState(null, "", fragment);
      else history.pushState(null, "", fragment);
    }, REST);
  }

  function stop() {
    clearInterval(playing);
    playing = null;
    fill(play, "▶ Play");
    play.setAttribute("aria-label", "play (space)");
    play.title = "play (space)";
  }

  function toggle() {
    if (playing !== null) return stop();
    if (index === last) put(0);
    playing = setInterval(() => go(index + 1), EVERY);
    fill(play, "‖ Pause");
    play.setAttribute("aria-label", "pause (space)");
    play.title = "pause (space)";
    return undefined;
  }

  function readFragment() {
    const found = /^#step=(\d+)$/.exec(location.hash);
    return found ? Number(found[1]) - 1 : 0;
  }

  // Keys that the focused element needs itself stay its own.
  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const { target, key } = event;
    const ownKey = target === range && /^(Arrow|Home|End|Page)/.test(key);
    if (target.matches("select") || ownKey) return;
    if (key === " " && target.closest("button, summary, a, [role=button]")) return;
    const act = { ArrowLeft: () => go(index - 1), ArrowRight: () => go(index + 1),
      p: () => go(index - 1), n: () => go(index + 1),
      Home: () => go(0), End: () => go(last), b: () => go(part("backward")),
      f: () => go(part("forward")), " ": toggle }[key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  function start() {
    document.addEventListener("keydown", onKey);
    // A button that was clicked does not take the focus, or space would be its key from then on.
    document.addEventListener("mousedown", (event) => {
      if (event.target.closest("button, summary, [role=button]")) event.preventDefault();
    });
    window.addEventListener("hashchange", () => {
      clearTimeout(resting);
      stop();
      put(readFragment());
    });
    put(readFragment());
  }

  backward.disabled = !walk.steps.some((step) => step.kind === "backward");
  const node = element("div", { class: "scrubber" },
    element("div", { class: "buttons" }, first, previous, play, next, end, backward, text),
    range, parts());
  return { node, go, start };
}
