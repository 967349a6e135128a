// Runs the engine of a page without a page: node page_engine.js ENGINE.js QUESTIONS.json, answers on standard output.
const fs = require("fs");
const [engine, questions] = process.argv.slice(2).map((path) => fs.readFileSync(path, "utf8"));
const { Program, OPERATIONS, COMPLEX_STEPS, decoded, arrayText } = new Function(`${engine}; return { Program, OPERATIONS, COMPLEX_STEPS, decoded, arrayText };`)();
const numbers = (data) => Array.from(data, (x) => (Number.isFinite(x) ? x : { Infinity: "inf", "-Infinity": "-inf", NaN: "nan" }[x]));
const asked = JSON.parse(questions);
const texts = asked.texts.map(([data, shape, dtype]) => arrayText(data.flat().map(decoded), shape, dtype));
const answers = asked.programs.map(({ program, moves, read }) => {
  const running = new Program(program);
  return moves.map(({ slot, numbers: to }) => {
    running.set(slot, to.map(decoded));
    return read.map((i) => numbers(running.slots[i].data));
  });
});
process.stdout.write(JSON.stringify({ answers, texts, operations: [...OPERATIONS], ofComplex: Object.keys(COMPLEX_STEPS) }));
