// The playground: a formula is typed, drawn while one types, dragged, and stepped through.

const editor = element("textarea", { id: "formula", spellcheck: "false", autocapitalize: "off", autocomplete: "off", rows: "4", "aria-label": "the formula, one line for each name", "aria-describedby": "formula-error" });
const errorLine = element("p", { id: "formula-error", role: "status" });
const gallery = element("select", { id: "gallery", "aria-label": "starting points" }, ...GALLERY.map(({ name }, i) => element("option", { value: String(i) }, name)), element("option", { value: "", hidden: "" }, "a formula of your own"));
const work = element("section", { id: "editor", "aria-label": "formula" }, editor, errorLine);
let literals = new Map();

function playground(data) {
  RULES = data.rules;
  document.body.classList.add("playground");
  heading.after(gallery);
  area.before(work);
  editor.addEventListener("input", () => { draw(); own(); });
  editor.addEventListener("keydown", (event) => event.stopPropagation());
  gallery.addEventListener("change", () => { if (gallery.value) start(Number(gallery.value)); });
  document.getElementById("theme").before(button("share", "link", "put the formula into the address", () => { location.hash = encodeURIComponent(editor.value); }));
  followers.add(rewritten);
  const shared = sharedFormula() ?? data.formula;
  if (shared === null) start(0);
  else {
    editor.value = shared;
    gallery.value = "";
    asked = { text: shared, from: "" };
    ask(shared === data.formula ? data.questions : []);
    draw(true);
  }
}

// Questions are about the formula that came with them, whatever its numbers: they go while another stands there.
let asked = { text: "", from: "" };
const withoutNumbers = (text) => text.replace(/(?<![\w.])-?[\d.]+(e[+-]?\d+)?/gi, "0").replace(/\s+/g, "");
function own() {
  const other = withoutNumbers(editor.value) !== withoutNumbers(asked.text);
  questions.hidden = other;
  gallery.value = other ? "" : asked.from;
}

function sharedFormula() {
  try { return location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)).slice(0, MAX_LENGTH) : null; } catch { return null; }
}

function start(i) {
  editor.value = GALLERY[i].text;
  asked = { text: GALLERY[i].text, from: String(i) };
  questions.hidden = false;
  ask(GALLERY[i].questions);
  draw(true);
}

function draw(afresh = false) {
  let parsed, picture;
  try { parsed = parse(editor.value); picture = pictured(parsed); } catch (error) {
    if (!(error instanceof FormulaError || error instanceof TooLarge)) throw error;
    tell({ at: 0, length: 1, message: error.message, ...error }); // what the reverse pass makes too large stands nowhere in the text
    return;
  }
  resting.clear(); // another formula stands there
  errorLine.replaceChildren();
  editor.removeAttribute("aria-invalid");
  literals = parsed.literals;
  const atEnd = !afresh && view && step === view.steps.length - 1, chosen = selected && byKey.get(selected);
  editor.rows = Math.min(12, Math.max(3, editor.value.split("\n").length));
  open(picture);
  heading.textContent = "Playground";
  const again = chosen && chosen.name && graph.boxes.find((box) => box.name === chosen.name);
  if (again) selected = again.key;
  go(atEnd || !afresh ? view.steps.length - 1 : 0);
  update();
}

// The line with the error, a mark under the character, and what is wrong.
function tell({ message, at, length }) {
  const before = editor.value.slice(0, at), number = before.split("\n").length, start_ = before.lastIndexOf("\n") + 1;
  const line = editor.value.slice(start_).split("\n")[0], column = at - start_;
  const before_ = column > 60 ? "…" + line.slice(column - 59, column) : line.slice(0, column); // of a long line what is around it
  editor.setAttribute("aria-invalid", "true");
  errorLine.replaceChildren(element("code", {}, before_, element("mark", {}, shorten(line.slice(column, column + Math.max(1, length)), 60) || " "), shorten(line.slice(column + Math.max(1, length)), 60)),
    ` line ${number}, character ${column + 1}: ${message}`);
}

// A leaf that was dragged is written back into the formula, where its number stands: into a long one when the leaf has come to rest,
// since a browser lays the whole text out anew.
const LONG = 2000, REST = 150; // characters, and milliseconds
const resting = new Set();
let waiting = null;
function rewritten(slot) {
  resting.add(slot);
  clearTimeout(waiting);
  if (editor.value.length <= LONG) writeAll();
  else waiting = setTimeout(writeAll, REST);
}
function writeAll() {
  for (const slot of resting) writeBack(slot);
  resting.clear();
}

function writeBack(slot) {
  for (const [name, literal] of literals) {
    const box = graph.boxes.find((b) => b.name === name && b.kind === "variable");
    if (!box || box.value.slot !== slot) continue;
    const { data } = running.slots[slot], text = JSON.stringify(nestedList(Array.from(data, (x) => Number(x.toPrecision(5))), literal.shape)).replaceAll(",", ", ");
    editor.value = editor.value.slice(0, literal.at) + text + editor.value.slice(literal.at + literal.length);
    const grown = text.length - literal.length;
    for (const other of literals.values()) if (other.at > literal.at) other.at += grown;
    literal.length = text.length;
  }
}

const given = JSON.parse(document.getElementById("graph").textContent);
playground(given);
