// Numbers as text, written as Python writes them in pictures; and the quantities that the page computes anew.

const MAX_ELEMENTS = 64; // of an array whose elements are looked at one by one

function general(x, digits) { // C's %g
  if (x === 0) return Object.is(x, -0) ? "-0" : "0";
  if (!Number.isFinite(x)) return x !== x ? "nan" : x > 0 ? "inf" : "-inf";
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  const power = Number(exponent), bare = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power >= -4 && power < digits) return bare(x.toFixed(digits - 1 - power));
  return `${bare(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function show(x) {
  if (typeof x !== "number") return String(x);
  return Number.isInteger(x) && Math.abs(x) < 1e9 ? String(x === 0 ? 0 : x) : general(x, 5);
}

// A complex number of a picture, written as Python writes it.
class Complex {
  constructor(re, im) { this.re = re; this.im = im; }
  toString() {
    const im = general(this.im, 5);
    return `${general(this.re, 5)}${im.startsWith("-") ? "" : "+"}${im}j`;
  }
}
const complexOf = (data) => Array.from({ length: data.length / 2 }, (_, i) => new Complex(data[2 * i], data[2 * i + 1]));

const signed = (x) => (typeof x === "number" && (x < 0 || x !== x) ? (x < 0 ? "−" + show(-x) : show(x)) : "+" + show(x));
const isNumber = (q) => q !== null && q !== undefined && q.shape.length === 0 && typeof q.numbers === "number";
const nested = (x) => (Array.isArray(x) ? "[" + x.map(nested).join(", ") + "]" : typeof x !== "number" ? String(x)
  : Number.isInteger(x) && Math.abs(x) < 1e4 ? String(x === 0 ? 0 : x) : general(x, 4));

function plus(a, b) {
  if (Array.isArray(a) && Array.isArray(b)) return a.map((x, i) => plus(x, b[i]));
  if (a instanceof Complex && b instanceof Complex) return new Complex(a.re + b.re, a.im + b.im);
  return typeof a === "number" && typeof b === "number" ? a + b : null;
}

function arrayText(data, shape, dtype) {
  if (isComplex({ dtype })) data = complexOf(data);
  if (dtype === "bool") data = Array.from(data, (x) => (x ? "True" : "False"));
  if (!shape.length) return show(data[0]);
  if (!data.length) return "[]";
  if (data.length <= 4 || (shape.length === 2 && data.length <= 9)) return nested(nestedList(data, shape));
  if (dtype === "bool") { // as Python orders them
    const trues = data.filter((x) => x === "True").length;
    return trues === data.length ? "all True" : trues ? "False … True" : "all False";
  }
  if (isComplex({ dtype })) return `|·| up to ${show(data.reduce((most, { re, im }) => larger(Math.hypot(re, im), most), 0))}`;
  let low = Infinity, high = -Infinity;
  for (const x of data) { low = smaller(x, low); high = larger(x, high); }
  return low === high ? `all ${show(low)}` : `${show(low)} … ${show(high)}`;
}

// The numbers of a picture that its page computes: read from the program when they are looked at, once after each move.
function attach(quantity, running, stamp) {
  const { slot } = quantity;
  if (slot === null || slot === undefined || !running.slots[slot].data) return;
  let at = -1, numbers, text;
  const look = () => {
    if (at === stamp()) return;
    at = stamp();
    const { data, shape, dtype } = running.slots[slot];
    const own = dtype === "bool" ? Array.from(data, Boolean) : isComplex({ dtype }) ? complexOf(data) : data;
    numbers = own.length <= MAX_ELEMENTS ? nestedList(own, shape) : null;
    text = arrayText(data, shape, dtype);
  };
  Object.defineProperty(quantity, "numbers", { get() { look(); return numbers; } });
  Object.defineProperty(quantity, "text", { get() { look(); return text; } });
}

function total(quantities) {
  if (quantities.length === 1) return quantities[0];
  if (!quantities.length || quantities.some((q) => q.numbers === null || q.shape.join() !== quantities[0].shape.join())) return null;
  const numbers = quantities.map((q) => q.numbers).reduce(plus);
  const text = Array.isArray(numbers) ? shorten(nested(numbers), 60) : show(numbers);
  return { text, numbers, shape: quantities[0].shape, dtype: quantities[0].dtype };
}

// A quantity's text in so many letters: with fewer digits, if that is enough, else cut off.
function brief(text, room) {
  const fewer = (digits) => text.replace(/\d[\d.]*(e[-+]?\d+)?/g, (x) => (x.length > digits ? general(Number(x), digits) : x));
  return [text, ...[4, 3, 2].map(fewer)].find((one) => one.length <= room) || shorten(text, room);
}

const added = (terms) => terms.map((term, i) => (i ? " " + term[0] + " " : term[0] === "+" ? "" : term[0]) + term.slice(1)).join("");

function amountOf(edge) {
  const sum = total(edge.carried);
  if (sum === null) return edge.carried.length ? `${edge.carried.length} flows` : "";
  return isNumber(sum) ? signed(sum.numbers) : sum.text;
}

const nameOf = (box) => box.name || box.called || (box.kind === "constant" && box.value ? box.value.text : box.symbol);
