// What is wrong with how an opened page is laid out: returns a list of sentences, empty when nothing is.
const faults = [];
const root = document.documentElement, width = root.clientWidth, height = innerHeight;
const visible = (e) => {
  if (e.closest("[hidden], noscript, script, style, title, [aria-hidden=true]")) return false;
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  return style.visibility !== "hidden" && style.display !== "none" && box.width > 0 && box.height > 0;
};
const told = (e) => `${e.tagName.toLowerCase()}${e.id ? "#" + e.id : ""} “${(e.textContent || e.value || e.getAttribute("aria-label") || "").trim().slice(0, 50)}”`;
const over = (a, b, by = 1) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > by && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > by;
const inside = (e, selector) => e.closest(selector);

// The page scrolls neither sideways nor, where it is one window, down; nothing of it sticks out.
if (root.scrollWidth > width + 1) faults.push(`the page is ${root.scrollWidth} wide in a window of ${width}`);
const html = [...document.body.querySelectorAll("*")].filter((e) => !e.closest("svg") && visible(e));
const scrolls = (e) => /auto|scroll/.test(getComputedStyle(e).overflowX);
const closed = [...document.querySelectorAll(".sidebar-drawer, .toc-drawer")].filter((e) => { // the theme's, out of sight until they are opened
  const { left, right } = e.getBoundingClientRect();
  return right <= 0 || left >= width;
});
for (const e of html) {
  if (closed.some((drawer) => drawer.contains(e))) continue;
  const { left, right } = e.getBoundingClientRect();
  if (right <= width + 1 && left >= -1) continue;
  let above = e.parentElement;
  while (above && !scrolls(above) && getComputedStyle(above).overflowX === "visible") above = above.parentElement;
  if (!above || !scrolls(above)) faults.push(`sticks out of the window: ${told(e)}`);
}

// Text isn't cut off: by an ellipsis, by a box that hides what is too long, or in a field or a list.
for (const e of html) {
  const style = getComputedStyle(e), own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  const hides = style.overflowX === "hidden" || style.overflowX === "clip";
  if (own && e.matches("label, button, th") && e.getBoundingClientRect().width < 24 && e.textContent.length > 2) faults.push(`broken into letters: ${told(e)}`);
  if (own && hides && style.clipPath === "none" && e.scrollWidth > e.clientWidth + 1 && !e.title) faults.push(`cut off: ${told(e)}`);
  if (own && style.overflowY === "hidden" && style.clipPath === "none" && e.scrollHeight > e.clientHeight + 2) faults.push(`cut off below: ${told(e)}`);
  if (e.matches("button") && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 2)) faults.push(`its text is larger than the button: ${told(e)}`);
  if (e.matches("select")) {
    const pen = (told.pen = told.pen || document.createElement("canvas").getContext("2d")), text = e.selectedOptions[0] ? e.selectedOptions[0].textContent : "";
    pen.font = style.font;
    const room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 16; // its arrow
    if (text.length < 40 && pen.measureText(text).width > room) faults.push(`cut off in a list: ${text}`);
  }
  if (e.matches("input:not([type=range]):not([type=radio]):not([type=checkbox])")) {
    const pen = (told.pen = told.pen || document.createElement("canvas").getContext("2d"));
    pen.font = style.font;
    const room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const text = e.value || e.placeholder, needs = pen.measureText(text).width;
    if (needs > room + 1) faults.push(`${Math.round(needs)} pixels of text in a field of ${Math.round(room)}: ${text.slice(0, 40)} (${e.getAttribute("aria-label") || e.id})`);
  }
}

// What one presses doesn't overlap, and is large enough.
const pressed = html.filter((e) => e.matches("button, select, input, textarea, a.button") && (!inside(e, "article, nav, .sidebar-drawer, footer, header.mobile-header") || inside(e, "body.playground")));
const clipped = (e) => { // what is seen of an element in parts of the page that scroll
  let { left, right, top, bottom } = e.getBoundingClientRect();
  for (let above = e.parentElement; above; above = above.parentElement) {
    if (getComputedStyle(above).overflowY === "visible") continue;
    const r = above.getBoundingClientRect();
    [left, right, top, bottom] = [Math.max(left, r.left), Math.min(right, r.right), Math.max(top, r.top), Math.min(bottom, r.bottom)];
  }
  return { left, right, top, bottom };
};
pressed.forEach((a, i) => {
  const A = a.getBoundingClientRect();
  for (const b of pressed.slice(0, i)) if (!a.contains(b) && !b.contains(a) && over(clipped(a), clipped(b))) faults.push(`${told(a)} is over ${told(b)}`);
  if (A.width < 12 || A.height < 12) faults.push(`too small to press: ${told(a)}`);
});

// In the graph no label covers another or a box's edge, and no text leaves its box.
const canvas = document.getElementById("canvas");
if (canvas) {
  const area = canvas.getBoundingClientRect(), rectOf = (e) => e.getBoundingClientRect();
  const seen = (r) => r.right > area.left && r.left < area.right && r.bottom > area.top && r.top < area.bottom;
  const texts = (selector) => [...canvas.querySelectorAll(selector)].filter((e) => e.textContent && getComputedStyle(e).display !== "none").map((e) => [e, rectOf(e)]).filter(([, r]) => r.width && seen(r));
  const labels = texts(".edge text"), frames = texts(".frame text"), boxes = [...canvas.querySelectorAll(".box > rect")].map((e) => [e.parentNode, rectOf(e)]).filter(([, r]) => seen(r));
  const name = (e) => `“${(e.textContent || "").slice(0, 40)}”`;
  labels.forEach(([a, A], i) => {
    for (const [b, B] of [...labels.slice(0, i), ...frames]) if (over(A, B, 1.5)) faults.push(`label ${name(a)} is over label ${name(b)}`);
    for (const [b, B] of boxes) if (over(A, B, 1.5)) faults.push(`label ${name(a)} is over box ${name(b.querySelector("text"))}`);
  });
  frames.forEach(([a, A], i) => {
    for (const [b, B] of frames.slice(0, i)) if (over(A, B, 1.5)) faults.push(`frame ${name(a)} is over frame ${name(b)}`);
    for (const [b, B] of boxes) if (over(A, B, 1.5)) faults.push(`frame ${name(a)} is over box ${name(b.querySelector("text"))}`);
  });
  const notes = document.getElementById("note");
  if (canvas.dataset.whole && notes && notes.textContent) for (const [b, B] of boxes) if (over(notes.getBoundingClientRect(), B)) faults.push(`the note is over box ${name(b.querySelector("text"))}`);
  boxes.forEach(([a, A], i) => { for (const [b, B] of boxes.slice(0, i)) if (over(A, B)) faults.push(`box ${name(a.querySelector("text"))} is over box ${name(b.querySelector("text"))}`); });
  if (canvas.dataset.whole) for (const [a, A] of labels) if (A.left < area.left || A.right > area.right) faults.push(`label ${name(a)} leaves the window`);
  for (const [box] of boxes) {
    const own = [...box.querySelectorAll("text, .heat .around")].filter((e) => (e.textContent || e.matches("rect")) && getComputedStyle(e).display !== "none").map((e) => [e, rectOf(e)]);
    own.forEach(([a, A], i) => { for (const [b, B] of own.slice(0, i)) if (over(A, B, 3)) faults.push(`in a box ${name(a)} is over ${name(b)}`); });
  }
  for (const [box, R] of boxes) for (const text of box.querySelectorAll("text")) {
    const r = rectOf(text);
    if (text.textContent && getComputedStyle(text).display !== "none" && (r.left < R.left - 1 || r.right > R.right + 1 || r.top < R.top - 1 || r.bottom > R.bottom + 1)) faults.push(`text leaves its box: ${name(text)}`);
  }
}

// Small figures: no text outside, none over another.
for (const figure of document.querySelectorAll("svg.figure")) {
  const R = figure.getBoundingClientRect(), texts = [...figure.querySelectorAll("text")].map((e) => [e, e.getBoundingClientRect()]);
  texts.forEach(([a, A], i) => {
    if (A.left < R.left - 1 || A.right > R.right + 1 || A.bottom > R.bottom + 1 || A.top < R.top - 1) faults.push(`leaves its figure: “${a.textContent}”`);
    for (const [b, B] of texts.slice(0, i)) if (over(A, B)) faults.push(`in a figure “${a.textContent}” is over “${b.textContent}”`);
  });
}
return [...new Set(faults)];
