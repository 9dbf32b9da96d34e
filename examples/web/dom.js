// Elements made without HTML: text is always text, whatever is in it.

// element("td", {class: "number", onclick: f}, "text", child, ...); svg("rect", {x: 1}) likewise.
// Attributes and children that are null, undefined or false are left out.
function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child != null && child !== false) node.append(child);
  }
  return node;
}

function element(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// Replaces what is inside `node`.
function fill(node, ...children) {
  node.replaceChildren();
  return build(node, {}, children);
}

// A number as the programs print it: at most `digits` significant ones, no trailing zeros.
function numberText(value, digits = 4) {
  if (value === null || value === undefined) return "nan";
  if (typeof value === "string") return value;  // "inf", "-inf", "nan"
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) {
    return value.toExponential(digits - 1).replace(/\.?0+e/, "e");
  }
  return String(Number(value.toPrecision(digits)));
}
