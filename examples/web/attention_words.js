// What the views of attention call things: tokens, heads, parts. Defines shownToken, headName,
// partTitle and headColour.

// A token as it can be seen: blanks and line ends have signs, other control characters have one.
function shownToken(token) {
  if (token === "") return "''";
  const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  return token.replace(/ /g, "␣").replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(unseen, "\ufffd");
}

function headName(map) {
  return `layer ${map.layer + 1}, head ${map.head + 1}`;
}

function partTitle(part) {
  return {
    source: "Encoder self-attention: the source looks at itself",
    answer: "Decoder self-attention: the answer looks at itself",
    answer_to_source: "Cross attention: the answer looks at the source",
    sequence: "Self-attention: source and answer look at themselves",
  }[part] ?? part;
}

// The colour of the lines of head number `i` of `count`.
function headColour(i, count) {
  return `hsl(${Math.round(360 * i / Math.max(count, 1) + 212) % 360} 70% 50%)`;
}
