// Operations on complex arrays. What moves elements and adds them takes the arrays as real ones with one more axis, of two.

const PAIR = [0, 2, 1]; // the slice of that axis
const cut = ([shape, slices]) => [[...shape, 2], [...slices, PAIR]];
const alike = (attributes) => attributes;
const AS_REAL = { // the attributes of these operations where there is one more axis
  permute_dims: (axes) => [...axes, axes.length], broadcast_to: alike, concat: alike, gather: alike, scatter_add: alike, scatter: alike,
  slice: (slices) => [...slices, PAIR], update_slice: (slices) => [...slices, PAIR], index: ([slices]) => [[...slices, PAIR]],
  embed: cut, put: cut, put_onto: cut, sum: alike, cumulative_sum: alike, add: alike, subtract: alike, negative: alike,
};

// Single numbers, as [real part, imaginary part] -----------------------------------------------------------------------------

const timesOf = ([a, b], [c, d]) => [a * c - b * d, a * d + b * c];
const isZero = ([a, b]) => a === 0 && b === 0;
const isFinitePair = ([a, b]) => Number.isFinite(a) && Number.isFinite(b);

function quotientOf([a, b], [c, d]) { // R. Smith, "Algorithm 116: complex division" (1962)
  if (c === 0 && d === 0) return [a / Math.abs(c), b / Math.abs(c)];
  if (Math.abs(c) >= Math.abs(d)) {
    const ratio = d / c, size = c + d * ratio;
    return [(a + b * ratio) / size, (b - a * ratio) / size];
  }
  const ratio = c / d, size = c * ratio + d;
  return [(a * ratio + b) / size, (b * ratio - a) / size];
}

const expOf = ([a, b]) => { const size = Math.exp(a); return b === 0 ? [size, b] : [size * Math.cos(b), size * Math.sin(b)]; };
const logOf = ([a, b]) => {
  const size = Math.hypot(a, b), [large, small] = Math.abs(a) > Math.abs(b) ? [Math.abs(a), Math.abs(b)] : [Math.abs(b), Math.abs(a)];
  return [size > 0.5 && size < 2 ? Math.log1p((large - 1) * (large + 1) + small * small) / 2 : Math.log(size), Math.atan2(b, a)]; // close to 1
};
function rootOfPair([a, b]) { // the root with a real part that isn't negative
  if (a === 0 && b === 0) return [0, b];
  const half = Math.sqrt((Math.abs(a) + Math.hypot(a, b)) / 2);
  return a >= 0 ? [half, b / (2 * half)] : [Math.abs(b) / (2 * half), isNegative(b) ? -half : half];
}

function powerOf(z, [c, d]) {
  if (d === 0 && Number.isInteger(c) && Math.abs(c) <= 64) {
    let found = [1, 0], square = z;
    for (let n = Math.abs(c); n; n = Math.floor(n / 2), square = timesOf(square, square)) if (n % 2) found = timesOf(found, square);
    return c < 0 ? quotientOf([1, 0], found) : found;
  }
  return isZero(z) ? (c > 0 ? [0, 0] : [NaN, NaN]) : expOf(timesOf([c, d], logOf(z)));
}

const sinOf = ([a, b]) => [Math.sin(a) * Math.cosh(b), Math.cos(a) * Math.sinh(b)];
const cosOf = ([a, b]) => [Math.cos(a) * Math.cosh(b), -Math.sin(a) * Math.sinh(b)];
const sinhOf = ([a, b]) => [Math.sinh(a) * Math.cos(b), Math.cosh(a) * Math.sin(b)];
const coshOf = ([a, b]) => [Math.cosh(a) * Math.cos(b), Math.sinh(a) * Math.sin(b)];
function tanhOf([a, b]) {
  if (Math.abs(a) > 20) return [Math.sign(a), 4 * Math.sin(b) * Math.cos(b) * Math.exp(-2 * Math.abs(a))];
  const s = Math.sinh(a), c = Math.cos(b), size = s * s + c * c;
  return [(s * Math.cosh(a)) / size, (Math.sin(b) * c) / size];
}

// w(z) = exp(-z²) erfc(-iz) in the first quadrant by the trapezoidal and midpoint rules with their poles' residues (M. Al Azah and
// S. Chandler-Wilde, SIAM J. Numer. Anal. 59 (2021), 2346-2367), elsewhere by its symmetries.
const NODES = 11, SPACING = Math.sqrt(Math.PI / (NODES + 1));
function faddeeva([x, y]) {
  if (y < 0) {
    const whole_ = expOf(timesOf([-x, -y], [x, y])), found = faddeeva([-x, -y]);
    return [2 * whole_[0] - found[0], 2 * whole_[1] - found[1]];
  }
  if (x < 0) { const [re, im] = faddeeva([-x, y]); return [re, -im]; }
  if (!(x < 1e150 && y < 1e150)) return x !== x || y !== y ? [NaN, NaN] : [0, 0];
  const z = [x, y], square = timesOf(z, z), share = x / SPACING - Math.floor(x / SPACING), atNodes = y < Math.max(x, Math.PI / SPACING) && share >= 0.25 && share <= 0.75;
  let sum = [0, 0];
  for (let k = 0; k <= NODES; k++) {
    const t = atNodes ? (k + 1) * SPACING : (k + 0.5) * SPACING, [re, im] = quotientOf([Math.exp(-t * t), 0], [square[0] - t * t, square[1]]);
    sum = [sum[0] + re, sum[1] + im];
  }
  let found = timesOf([0, (2 * SPACING) / Math.PI], timesOf(z, sum));
  if (atNodes) { const [re, im] = quotientOf([0, SPACING / Math.PI], z); found = [found[0] + re, found[1] + im]; }
  const rise = (2 * Math.PI * y) / SPACING;
  if (y >= Math.max(x, Math.PI / SPACING) || rise > 700) return found;
  const turn = expOf([rise, (-2 * Math.PI * x) / SPACING]), sign = atNodes ? -1 : 1;
  const rest = quotientOf(expOf([-square[0], -square[1]]), [1 + sign * turn[0], sign * turn[1]]);
  return [found[0] + 2 * rest[0], found[1] + 2 * rest[1]];
}

const ofPairs = { // from pairs, or from numbers where an input is real
  real: ([a]) => a, imag: ([, b]) => b, conj: ([a, b]) => [a, -b], abs: ([a, b]) => Math.hypot(a, b), multiply: timesOf, divide: quotientOf,
  scale: (a, b) => { const found = timesOf(a, b); return !isFinitePair(found) && (isZero(a) || isZero(b)) ? [0, 0] : found; },
  safe_divide: (u, b) => { const found = quotientOf(u, b); return !isFinitePair(found) && isZero(u) ? [0, 0] : found; },
  sign: (z) => { const size = Math.hypot(...z); return size === 0 ? [0, 0] : size === Infinity ? [NaN, NaN] : [z[0] / size, z[1] / size]; },
  exp: expOf, log: logOf, sqrt: rootOfPair, power: powerOf, sin: sinOf, cos: cosOf, sinh: sinhOf, cosh: coshOf, tanh: tanhOf,
  tan: ([a, b]) => { const [re, im] = tanhOf([-b, a]); return [im, -re]; },
  equal: ([a, b], [c, d]) => a === c && b === d, not_equal: ([a, b], [c, d]) => a !== c || b !== d,
  wofz: faddeeva, where: (chosen, a, b) => (chosen ? a : b), isfinite: isFinitePair, isnan: ([a, b]) => a !== a || b !== b,
};

function pairwise(out, inputs, one) {
  const reads = inputs.map((x) => (isComplex(x) ? (i) => [x.data[2 * i], x.data[2 * i + 1]] : (i) => x.data[i]));
  const write = isComplex(out) ? (i, [a, b]) => { out.data[2 * i] = a; out.data[2 * i + 1] = b; } : (i, x) => { out.data[i] = x; };
  const n = countOf(out.shape);
  return () => { for (let i = 0; i < n; i++) write(i, one(...reads.map((read) => read(i)))); };
}

function converting(out, x) { // to complex numbers, or to the real part
  if (!isComplex(x)) return pairwise(out, [x], (a) => [a, 0]);
  if (isComplex(out)) return pairwise(out, [x], (z) => z);
  return pairwise(out, [x], out.dtype === "bool" ? (z) => !isZero(z) : ([a]) => conversion(out.dtype)(a));
}

function multiplyingPairs(out, a, b) {
  const [n, k] = a.shape.slice(-2), m = b.shape[b.shape.length - 1], batches = countOf(a.shape.slice(0, -2)), [left, right, to] = [a.data, b.data, out.data];
  return () => {
    for (let batch = 0; batch < batches; batch++) for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) {
      let re = 0, im = 0;
      for (let l = 0; l < k; l++) {
        const p = 2 * ((batch * n + i) * k + l), q = 2 * ((batch * k + l) * m + j);
        re += left[p] * right[q] - left[p + 1] * right[q + 1];
        im += left[p] * right[q + 1] + left[p + 1] * right[q];
      }
      to[2 * ((batch * n + i) * m + j)] = re;
      to[2 * ((batch * n + i) * m + j) + 1] = im;
    }
  };
}

// X with A X = B for pairs in rows, by elimination with partial pivoting; NaN of a singular matrix.
function solvedPairs(a, b, n, k) {
  const left = a.slice(), right = b.slice(), size = ([x, y]) => Math.hypot(x, y), less = (x, factor, y) => { const [c, d] = timesOf(factor, y); return [x[0] - c, x[1] - d]; };
  for (let p = 0; p < n; p++) {
    let best = p;
    for (let i = p + 1; i < n; i++) if (size(left[i * n + p]) > size(left[best * n + p])) best = i;
    for (const [rows, count] of [[left, n], [right, k]]) for (let j = 0; j < count; j++) [rows[p * count + j], rows[best * count + j]] = [rows[best * count + j], rows[p * count + j]];
    for (let i = p + 1; i < n; i++) {
      const factor = isZero(left[i * n + p]) ? [0, 0] : quotientOf(left[i * n + p], left[p * n + p]);
      for (let j = p; j < n; j++) left[i * n + j] = less(left[i * n + j], factor, left[p * n + j]);
      for (let j = 0; j < k; j++) right[i * k + j] = less(right[i * k + j], factor, right[p * k + j]);
    }
  }
  for (let i = n - 1; i >= 0; i--) for (let c = 0; c < k; c++) {
    let sum = right[i * k + c];
    for (let j = i + 1; j < n; j++) sum = less(sum, left[i * n + j], right[j * k + c]);
    right[i * k + c] = isZero(left[i * n + i]) ? [NaN, NaN] : quotientOf(sum, left[i * n + i]);
  }
  return right;
}

const pairsOf = (data) => Array.from({ length: data.length / 2 }, (_, i) => [data[2 * i], data[2 * i + 1]]);

function solvingPairs(out, a, b) {
  const [n, k] = b.shape.slice(-2);
  return eachOf(a.shape, 2, (which) => ownPart(withPairs(out), which, 3).set(solvedPairs(pairsOf(ownPart(withPairs(a), which, 3)), pairsOf(ownPart(withPairs(b), which, 3)), n, k).flat()));
}

// Fourier transforms ----------------------------------------------------------------------------------------------------------

const rootsOfOne = new Map(); // by how many: exp(-2πi j/n), j = 0 … n - 1
function roots(n) {
  if (!rootsOfOne.has(n)) rootsOfOne.set(n, Float64Array.from({ length: 2 * n }, (_, i) => (i % 2 ? -Math.sin((Math.PI * (i - 1)) / n) : Math.cos((Math.PI * i) / n))));
  return rootsOfOne.get(n);
}

// By the smallest prime factor p: p transforms of every p-th number, joined (J. Cooley and J. Tukey, 1965).
function fourier(x, inverse) {
  const n = x.length / 2, found = new Float64Array(2 * n), w = roots(n), sign = inverse ? -1 : 1;
  let p = 2;
  while (p * p <= n && n % p) p++;
  if (n % p) p = n;
  if (n < 2) return x.slice();
  const m = n / p;
  const parts = Array.from({ length: p }, (_, r) => {
    const part = new Float64Array(2 * m);
    for (let j = 0; j < m; j++) { part[2 * j] = x[2 * (j * p + r)]; part[2 * j + 1] = x[2 * (j * p + r) + 1]; }
    return m > 1 ? fourier(part, inverse) : part;
  });
  for (let k = 0; k < n; k++) {
    let re = 0, im = 0;
    for (let r = 0; r < p; r++) {
      const turn = 2 * ((r * k) % n), a = w[turn], b = sign * w[turn + 1], c = parts[r][2 * (k % m)], d = parts[r][2 * (k % m) + 1];
      re += a * c - b * d;
      im += a * d + b * c;
    }
    found[2 * k] = re;
    found[2 * k + 1] = im;
  }
  return found;
}

// Every line of an array of pairs along an axis, through a function of such lines; the new array's axis is as long as these are.
function throughLines(data, shape, axis, length, change) {
  const [before, n, after] = around(shape, axis), to = new Float64Array(2 * before * length * after), line = new Float64Array(2 * n);
  for (let i = 0; i < before; i++) for (let k = 0; k < after; k++) {
    for (let j = 0; j < n; j++) { const at = 2 * ((i * n + j) * after + k); line[2 * j] = data[at]; line[2 * j + 1] = data[at + 1]; }
    const found = change(line);
    for (let j = 0; j < length; j++) { const at = 2 * ((i * length + j) * after + k); to[at] = found[2 * j]; to[at + 1] = found[2 * j + 1]; }
  }
  return to;
}

function whole(half, n) { // a line and the conjugate twins that it leaves out
  const line = new Float64Array(2 * n);
  for (let k = 0; k < n; k++) {
    const twin = (n - k) % n, own = 2 * k < n || twin === k, at = own ? k : twin;
    line[2 * k] = half[2 * at];
    line[2 * k + 1] = k === twin ? 0 : own ? half[2 * at + 1] : -half[2 * at + 1];
  }
  return line;
}

const asPairs = (x) => (isComplex(x) ? x.data : Float64Array.from({ length: 2 * x.data.length }, (_, i) => (i % 2 ? 0 : x.data[i / 2])));

function transformedBy(norm, inverse, size) {
  return norm === "ortho" ? 1 / Math.sqrt(size) : inverse === (norm === "backward") ? 1 / size : 1;
}

function fourierStep(out, x, axes, inverse, norm, half) { // half: of the last axis the first n // 2 + 1 are kept
  const places_ = axes.map((axis) => axis + x.shape.length), by = transformedBy(norm, inverse, places_.reduce((size, axis) => size * x.shape[axis], 1));
  return () => {
    const shape = x.shape.slice();
    let data = asPairs(x);
    for (const axis of places_.slice().reverse()) {
      const length = half && axis === places_[places_.length - 1] ? out.shape[axis] : shape[axis];
      data = throughLines(data, shape, axis, length, (line) => fourier(line, inverse));
      shape[axis] = length;
    }
    for (let i = 0; i < data.length; i++) out.data[i] = by * data[i];
  };
}

function backFromHalf(out, x, axes, n, norm) {
  const places_ = axes.map((axis) => axis + x.shape.length), last = places_.pop(), by = transformedBy(norm, true, [...places_, last].reduce((size, axis) => size * out.shape[axis], 1));
  return () => {
    let { data } = x;
    for (const axis of places_) data = throughLines(data, x.shape, axis, x.shape[axis], (line) => fourier(line, true));
    data = throughLines(data, x.shape, last, n, (line) => fourier(whole(line, n), true));
    for (let i = 0; i < out.data.length; i++) out.data[i] = by * data[2 * i];
  };
}

// The tables ------------------------------------------------------------------------------------------------------------------

// Operations that only complex arrays have; the others, where an input or the result is complex.
Object.assign(ARRAY_STEPS, {
  fft: ([axes, inverse, norm], out, [x]) => fourierStep(out, x, axes, inverse, norm, false),
  rfft: ([axes, norm], out, [x]) => fourierStep(out, x, axes, false, norm, true),
  irfft: ([axes, n, norm], out, [x]) => backFromHalf(out, x, axes, n, norm),
  real: (_, out, [x]) => pairwise(out, [x], ofPairs.real),
  imag: (_, out, [x]) => pairwise(out, [x], ofPairs.imag),
  conj: (_, out, [x]) => pairwise(out, [x], ofPairs.conj),
  wofz: (_, out, [x]) => pairwise(out, [x], faddeeva),
});

const COMPLEX_STEPS = {
  ...Object.fromEntries(["fft", "rfft", "irfft"].map((op) => [op, ARRAY_STEPS[op]])),
  ...Object.fromEntries(Object.entries(AS_REAL).map(([op, more]) => [op, (attributes, out, inputs) => {
    const to = withPairs(out), from = inputs.map(withPairs);
    return elementwiseStep(op, attributes, to, from) || ARRAY_STEPS[op](more(attributes), to, from);
  }])),
  ...Object.fromEntries(Object.entries(ofPairs).map(([op, one]) => [op, (_, out, inputs) => pairwise(out, inputs, one)])),
  power_constant: (n, out, [x]) => { const exponent = Array.isArray(n) ? n : [decoded(n), 0]; return pairwise(out, [x], (z) => powerOf(z, exponent)); },
  astype: (_, out, [x]) => converting(out, x),
  matmul: (_, out, [a, b]) => multiplyingPairs(out, a, b),
  solve: (_, out, [a, b]) => solvingPairs(out, a, b),
};
