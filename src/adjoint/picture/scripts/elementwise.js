// The engine's elementwise operations on numbers, with NumPy's treatment of NaN, infinities and signed zeros.

const isNegative = (x) => x < 0 || Object.is(x, -0);
const larger = (a, b) => (a > b || a !== a ? a : b);
const smaller = (a, b) => (a < b || a !== a ? a : b);
const roundedHalfEven = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

function logaddexp(a, b) {
  if (a === b) return a + Math.LN2;
  const d = a - b;
  return d > 0 ? a + Math.log1p(Math.exp(-d)) : d <= 0 ? b + Math.log1p(Math.exp(d)) : NaN;
}

function power(x, y) { // C's pow, which knows 1 to the NaN and ±1 to the infinity
  if (x === 1 || ((y === Infinity || y === -Infinity) && x === -1)) return 1;
  return Math.pow(x, y);
}

function remainder(a, b) { // with the divisor's sign
  const rest = a % b;
  if (rest) return isNegative(b) !== isNegative(rest) ? rest + b : rest;
  return rest !== rest ? NaN : isNegative(b) ? -0 : 0;
}

function floorDivide(a, b) {
  if (b === 0) return a / b;
  const rest = a % b;
  let quotient = (a - rest) / b;
  if (rest && isNegative(b) !== isNegative(rest)) quotient -= 1;
  if (!quotient) return quotient !== quotient ? NaN : isNegative(a / b) ? -0 : 0;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

// erf and erfc by the rational approximations of W. J. Cody, "Rational Chebyshev approximation for the error function",
// Mathematics of Computation 23 (1969), 631-637, as the engine computes them.
const CODY = {
  smallP: [1.85777706184603153e-1, 3.1611237438705656, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3],
  smallQ: [1, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3],
  middleP: [2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594, 6.61191906371416295e1, 2.98635138197400131e2,
    8.8195222124176909e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3],
  middleQ: [1, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
    3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3],
  largeP: [1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
    1.60837851487422766e-2, 6.58749161529837803e-4],
  largeQ: [1, 2.56852019228982242, 1.87295284992346725, 5.27905102951428412e-1, 6.05183413124413191e-2,
    2.33520497626869185e-3],
};
const polynomial = (coefficients, x) => coefficients.reduce((sum, c) => sum * x + c);

function gaussian(x, share = 1) { // exp(-share x²), x split at a sixteenth so that the square is exact
  const coarse = Math.trunc(x * 16) / 16;
  return Math.exp(-share * coarse * coarse) * Math.exp(-share * (x - coarse) * (x + coarse));
}

function erfcOfLarge(x, bell = gaussian(Math.min(x, 30)), most = 30) { // x > 0.46875; bell: exp(-x²), where it is known better than x
  if (x < 4) return bell * (polynomial(CODY.middleP, x) / polynomial(CODY.middleQ, x));
  const bounded = Math.min(x, most), inverse = 1 / (bounded * bounded);
  const tail = 0.56418958354775628695 - (inverse * polynomial(CODY.largeP, inverse)) / polynomial(CODY.largeQ, inverse);
  return (bell * tail) / bounded;
}

const bellOf = (x) => gaussian(Math.max(-60, Math.min(60, x)), 0.5);

function normalDistribution(x) {
  if (x !== x) return NaN;
  const scaled = x * Math.sqrt(0.5);
  if (Math.abs(scaled) <= 0.46875) return 0.5 + 0.5 * erfOfSmall(scaled);
  const tail = 0.5 * erfcOfLarge(Math.abs(scaled), bellOf(x));
  return x < 0 ? tail : 1 - tail;
}

const geluDerivative = (x) => normalDistribution(x) + (Math.max(-60, Math.min(60, x)) * bellOf(x)) / Math.sqrt(2 * Math.PI);

function siluDerivative(x) {
  const size = Math.min(Math.abs(x), 800), small = Math.exp(-size), share = 1 / (1 + small);
  return x < 0 ? small * share * (1 - size * share) : share * (1 + size * small * share);
}

const erfOfSmall = (x) => (x * polynomial(CODY.smallP, x * x)) / polynomial(CODY.smallQ, x * x);

function erf(x) {
  if (x !== x) return NaN;
  if (Math.abs(x) <= 0.46875) return erfOfSmall(x);
  const size = 1 - erfcOfLarge(Math.abs(x));
  return x < 0 ? -size : size;
}

function erfc(x) {
  if (x !== x) return NaN;
  if (Math.abs(x) <= 0.46875) return 1 - erfOfSmall(x);
  return x < 0 ? 2 - erfcOfLarge(-x) : erfcOfLarge(x);
}

const UNARY = {
  negative: (x) => -x, abs: Math.abs, sign: Math.sign, signbit: isNegative, exp: Math.exp, expm1: Math.expm1, log: Math.log,
  log1p: Math.log1p, log2: Math.log2, log10: Math.log10, sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos, tan: Math.tan,
  asin: Math.asin, acos: Math.acos, atan: Math.atan, sinh: Math.sinh, cosh: Math.cosh, tanh: Math.tanh, asinh: Math.asinh,
  acosh: Math.acosh, atanh: Math.atanh, sigmoid, softplus: (x) => logaddexp(x, 0), relu: (x) => larger(x, 0), erf, erfc, gaussian: bellOf,
  gelu: (x) => x * normalDistribution(x), gelu_derivative: geluDerivative, silu: (x) => x * sigmoid(x),
  silu_derivative: siluDerivative,
  floor: Math.floor, ceil: Math.ceil, trunc: Math.trunc, round: roundedHalfEven, logical_not: (x) => x === 0,
  isfinite: Number.isFinite, isinf: (x) => x === Infinity || x === -Infinity, isnan: (x) => x !== x,
};

function huber(x, limit) {
  const near = smaller(larger(x, -limit), limit);
  return near * (x - near / 2);
}

// Zero times infinity in a chain rule is zero: `scale` and `safe_divide` are the two products of a chain rule.
const BINARY = {
  add: (a, b) => a + b, subtract: (a, b) => a - b, multiply: (a, b) => a * b, divide: (a, b) => a / b,
  scale: (a, b) => (a === 0 || b === 0 ? 0 : a * b), safe_divide: (u, b) => (u === 0 ? 0 : u / b),
  remainder, floor_divide: floorDivide, power, atan2: Math.atan2, hypot: (a, b) => Math.hypot(a, b), logaddexp,
  maximum: larger, minimum: smaller, huber, copysign: (a, b) => (isNegative(b) ? -Math.abs(a) : Math.abs(a)),
  equal: (a, b) => a === b, not_equal: (a, b) => a !== b, less: (a, b) => a < b, less_equal: (a, b) => a <= b,
  greater: (a, b) => a > b, greater_equal: (a, b) => a >= b, logical_and: (a, b) => a !== 0 && b !== 0,
  logical_or: (a, b) => a !== 0 || b !== 0, logical_xor: (a, b) => (a !== 0) !== (b !== 0),
};

const TERNARY = {
  where: (c, a, b) => (c ? a : b),
  clip: (x, low, high) => smaller(larger(x, low), high),
};

function toPower(exponent) {
  if (exponent === 2) return (x) => x * x;
  if (exponent === 3) return (x) => x * x * x;
  return exponent === -1 ? (x) => 1 / x : (x) => power(x, exponent);
}

function conversion(dtype) { // a cast; typed arrays round and wrap by themselves
  if (dtype === "bool") return (x) => x !== 0;
  return dtype === "int64" || dtype === "uint64" ? Math.trunc : (x) => x;
}

const OF_ATTRIBUTES = { // functions of one number that the attributes, or the result's type, choose
  power_constant: (n) => toPower(decoded(n)), astype: (_, out) => conversion(out.dtype),
};

// The step that computes an elementwise operation into `out`; null if the operation is of another kind.
function elementwiseStep(op, attributes, out, inputs) {
  const to = out.data, n = to.length;
  const one = OF_ATTRIBUTES[op] ? OF_ATTRIBUTES[op](attributes, out) : UNARY[op];
  if (one) {
    const a = inputs[0].data;
    return () => { for (let i = 0; i < n; i++) to[i] = one(a[i]); };
  }
  if (BINARY[op]) {
    const a = inputs[0].data, b = inputs[1].data, two = BINARY[op];
    return () => { for (let i = 0; i < n; i++) to[i] = two(a[i], b[i]); };
  }
  if (TERNARY[op]) {
    const [a, b, c] = inputs.map((input) => input.data), three = TERNARY[op];
    return () => { for (let i = 0; i < n; i++) to[i] = three(a[i], b[i], c[i]); };
  }
  return null;
}
