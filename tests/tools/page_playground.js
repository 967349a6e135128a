// Derives formulas as the playground does, without a page: node page_playground.js SCRIPTS.js QUESTIONS.json.
const fs = require("fs");
const [scripts, questions] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));
const asked = JSON.parse(questions);
const { parse, pictured, Program, FormulaError, GALLERY } = new Function("rules",
  `${scripts}; RULES = rules; return { parse, pictured, Program, FormulaError, GALLERY };`)(asked.rules);
const told = (x) => (Number.isFinite(x) ? x : { Infinity: "inf", "-Infinity": "-inf", NaN: "nan" }[x]);

function answer(text) {
  let parsed;
  try { parsed = parse(text); } catch (error) {
    if (!(error instanceof FormulaError)) throw error;
    return { error: error.message, at: error.at, length: error.length };
  }
  const graph = pictured(parsed), program = new Program(graph.program), root = graph.boxes.find((box) => box.key === graph.root);
  const numbers = (q) => (q ? Array.from(program.slots[q.slot].data, told) : null);
  const leaves = Object.fromEntries(graph.boxes.filter((box) => box.kind === "variable").map((box) => [box.name, numbers(box.gradient)]));
  return { value: numbers(root.value), leaves, boxes: graph.boxes.length, notes: graph.notes };
}
process.stdout.write(JSON.stringify({ answers: asked.formulas.map(answer), gallery: GALLERY.map((one) => one.text) }));
