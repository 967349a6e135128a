// Making elements: text only ever goes in as text.

const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(tag, attributes = {}, text = null) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  return made;
}

const p = (text, kind = "") => element("p", { class: kind }, text);
const button = (id, text, label, action) =>
  element("button", { id, type: "button", title: label, "aria-label": label, onclick: action }, text);
const table = (id, heads, rows) =>
  element("table", { id }, element("tr", {}, ...heads.map((text) => element("th", {}, text))), ...rows);
const row = (cells, red) => element("tr", {}, ...cells.map((text, i) =>
  element("td", { class: [red(i) && "red", red(i) && text.length < 12 && "short"].filter(Boolean).join(" ") || null }, text)));

function set(node, name, value) { if (node.getAttribute(name) !== value) node.setAttribute(name, value); }
function write(node, text) { if (node.textContent !== text) node.textContent = text; }
const shorten = (text, limit) => (text.length > limit ? text.slice(0, limit - 1).replace(/[ …]+$/, "") + "…" : text);
