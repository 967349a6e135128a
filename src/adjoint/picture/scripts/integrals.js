// Special functions that are integrals: Bessel functions, incomplete beta function, integrals of sines and Gaussians. Formulas by
// their numbers in the DLMF, the Digital Library of Mathematical Functions of NIST; integrals by the rule of C. F. Gauss of twenty
// points on each of many pieces.

const GAUSS = Array.from({ length: 20 }, (_, i) => { // zeros of Legendre's polynomial by Newton's method, and their weights (3.5.22)
  let x = Math.cos((Math.PI * (i + 0.75)) / 20.5), slope = 1;
  for (let turn = 0; turn < 8; turn++) {
    let before = 1, now = x;
    for (let k = 2; k <= 20; k++) [before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
    slope = (20 * (before - x * now)) / (1 - x * x);
    x -= now / slope;
  }
  return [x, 2 / ((1 - x * x) * slope * slope)];
});
function integral(f, from, to, pieces) {
  const half = (to - from) / pieces / 2;
  let sum = 0;
  for (let i = 0; i < pieces; i++) {
    const middle = from + (2 * i + 1) * half;
    for (const [x, weight] of GAUSS) sum += weight * f(middle + half * x);
  }
  return sum * half;
}

const sineOfPi = (v) => (Number.isInteger(v) ? 0 : Math.sin(Math.PI * (v % 2))), cosineOfPi = (v) => (Number.isInteger(v - 0.5) ? 0 : Math.cos(Math.PI * (v % 2)));
const negated = (order, value) => (Number.isInteger(order) ? (order % 2 ? -value : value) : NaN); // at −x, of whole orders

// Σ of the terms of J (sign −1) or I (sign 1) by 10.2.2 and 10.25.2, for orders above −1; times exp(−scaled).
function besselSeries(v, x, sign, scaled = 0) {
  let term = v < 100 && !scaled ? Math.pow(x / 2, v) / gamma(v + 1) : Math.exp(v * Math.log(x / 2) - gammaln(v + 1) - scaled), sum = term;
  for (let k = 1; k < 1e4 && Math.abs(term) > 1e-18 * Math.abs(sum); k++) { term *= (sign * x * x) / 4 / (k * (k + v)); sum += term; }
  return sum;
}

// J and Y, second: by 10.9.6 and 10.9.7, from far on by H. Hankel's expansion 10.17.3.
function besselWave(v, x, second) {
  if (v !== v || x !== x) return NaN;
  if (x < 0) return second ? NaN : negated(v, besselWave(v, -x, false));
  if (x === 0) return second ? -Infinity : v === 0 ? 1 : v > 0 || Number.isInteger(v) ? 0 : Infinity;
  if (x === Infinity) return 0;
  if (!second && v > -1 && x * x < 4 * (v + 1)) return besselSeries(v, x, -1);
  if (x > 25 + (v * v) / 2) {
    const angle = x - (v / 2 + 0.25) * Math.PI;
    let even = 0, odd = 0, term = 1;
    for (let k = 0; k < 60 && Math.abs(term) > 1e-18; k++) {
      if (k % 2) odd += k % 4 === 1 ? term : -term; else even += k % 4 ? -term : term;
      const next = (term * (4 * v * v - (2 * k + 1) ** 2)) / (8 * (k + 1) * x);
      if (Math.abs(next) > Math.abs(term) && k > Math.abs(v)) break;
      term = next;
    }
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return Math.sqrt(2 / (Math.PI * x)) * (second ? even * s + odd * c : even * c - odd * s);
  }
  const pieces = 4 + Math.ceil((Math.abs(v) + x) / 4), wave = second ? (t) => Math.sin(x * Math.sin(t) - v * t) : (t) => Math.cos(v * t - x * Math.sin(t));
  const first = integral(wave, 0, Math.PI, pieces) / Math.PI, sine = sineOfPi(v), cosine = cosineOfPi(v);
  if (!second && sine === 0) return first;
  let end = 1;
  while (x * Math.sinh(end) - Math.abs(v) * end < 745) end += 0.5;
  const falling = (t, by) => Math.exp(by * t - x * Math.sinh(t)), tail = second ? (t) => falling(t, v) + cosine * falling(t, -v) : (t) => sine * falling(t, -v);
  return first - integral(tail, 0, end, 40 + Math.ceil(Math.abs(v))) / Math.PI;
}

function besselK(v, x, scaled) { // 10.32.9
  if (!(x >= 0) || v !== v) return NaN;
  if (x === 0 || x === Infinity) return x === 0 ? Infinity : 0;
  const order = Math.abs(v), depth = (t) => 2 * x * Math.sinh(t / 2) ** 2 - order * t;
  let end = Math.min(1, 40 / Math.sqrt(x));
  while (depth(end) < 745) end *= 1.1;
  const whole = integral((t) => (Math.exp(-depth(t)) * (1 + Math.exp(-2 * order * t))) / 2, 0, end, 50 + Math.ceil(order));
  return scaled ? whole : whole * Math.exp(-x);
}

function besselGrowing(v, x, scaled) { // I, by its series, from far on by 10.40.1
  if (v !== v || x !== x) return NaN;
  if (x < 0) return negated(v, besselGrowing(v, -x, scaled));
  if (v < 0 && Number.isInteger(v)) return besselGrowing(-v, x, scaled);
  if (v <= -1) return besselGrowing(-v, x, scaled) - (2 / Math.PI) * sineOfPi(v) * besselK(v, x, false) * (scaled ? Math.exp(-x) : 1); // 10.27.2
  if (x === 0) return v === 0 ? 1 : v > 0 ? 0 : scaled ? NaN : Infinity;
  if (x === Infinity) return scaled ? 0 : x;
  if (x <= Math.max(30, v * v)) return x < 30 ? besselSeries(v, x, 1) * (scaled ? Math.exp(-x) : 1) : besselSeries(v, x, 1, x) * (scaled ? 1 : Math.exp(x));
  let term = 1, sum = 1;
  for (let k = 1; k < 200 && Math.abs(term) > 1e-18; k++) { term *= ((2 * k - 1) ** 2 - 4 * v * v) / (8 * k * x); sum += term; }
  return (scaled ? 1 : Math.exp(x)) * (sum / Math.sqrt(2 * Math.PI * x));
}

function betainc(a, b, x) { // 8.17.22
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return NaN;
  if (x === 0 || x === 1) return x;
  if (x > (a + 1) / (a + b + 2)) return 1 - betainc(b, a, 1 - x);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - betaln(a, b)) / a;
  let c = 1, d = 1 / (1 - ((a + b) * x) / (a + 1)), fraction = d;
  for (let m = 1; m < 1e4; m++) { // W. Lentz's method
    for (const factor of [(m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)), (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / (1 + factor * d);
      c = 1 + factor / c;
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return front * fraction;
}

function owensT(h, a) { // D. Owen, "Tables for computing bivariate normal probabilities", Ann. Math. Statist. 27 (1956)
  if (h !== h || a !== a) return NaN;
  if (a < 0) return -owensT(h, -a);
  if (h < 0) return owensT(-h, a);
  if (h === 0) return Math.atan(a) / (2 * Math.PI);
  if (a > 1) {
    const one = normalDistribution(-h), other = normalDistribution(-a * h);
    return (one + other) / 2 - one * other - (a === Infinity ? 0 : owensT(a * h, 1 / a));
  }
  return integral((x) => Math.exp((-h * h * (1 + x * x)) / 2) / (1 + x * x), 0, Math.min(a, 40 / h), 12) / (2 * Math.PI);
}

function dawson(x) { // 7.2.5, as the integral of exp(−u (2x − u))
  if (!(Math.abs(x) < Infinity)) return x === x ? 0 : x;
  return x < 0 ? -dawson(-x) : x === 0 ? x : integral((u) => Math.exp(-u * (2 * x - u)), 0, Math.min(x, 45 / x), 16);
}

// An asymptotic series whose signs alternate, from the factor of each term, up to the least term (6.12.3, 7.12.2).
function alternating(factor) {
  let term = 1, sum = 1;
  for (let k = 1; k < 60; k++) { const next = -term * factor(k); if (Math.abs(next) > Math.abs(term) || Math.abs(next) < 1e-18) break; sum += term = next; }
  return sum;
}

function fresnel(x, cosine) {
  if (x < 0) return -fresnel(-x, cosine);
  if (!(x < Infinity)) return x === x ? 0.5 : x;
  const wave = cosine ? Math.cos : Math.sin, quarter = (t) => (Math.PI / 2) * t * t;
  if (x <= 6) return integral((t) => wave(quarter(t)), 0, x, 2 + Math.ceil(x * x));
  const z = Math.PI * x * x, f = alternating((k) => ((4 * k - 1) * (4 * k - 3)) / (z * z)) / (Math.PI * x), g = alternating((k) => ((4 * k + 1) * (4 * k - 1)) / (z * z)) / (Math.PI * x * z);
  const angle = (Math.PI / 2) * ((x * x) % 4), [c, s] = [Math.cos(angle), Math.sin(angle)];
  return cosine ? 0.5 + f * s - g * c : 0.5 - f * c - g * s;
}

function sineIntegral(x, cosine) { // Si and Ci
  if (x < 0) return cosine ? sineIntegral(-x, true) : -sineIntegral(-x, false); // of Ci and Chi the real part
  if (x === 0 || x === Infinity) return cosine ? (x ? 0 : -Infinity) : x ? Math.PI / 2 : x;
  if (x <= 40) return cosine ? EULER + Math.log(x) - integral((t) => (2 * Math.sin(t / 2) ** 2) / t, 0, x, 2 + Math.ceil(x)) : integral((t) => Math.sin(t) / t, 0, x, 2 + Math.ceil(x));
  const f = alternating((k) => (2 * k * (2 * k - 1)) / (x * x)) / x, g = alternating((k) => (2 * k * (2 * k + 1)) / (x * x)) / (x * x);
  return cosine ? f * Math.sin(x) - g * Math.cos(x) : Math.PI / 2 - f * Math.cos(x) - g * Math.sin(x);
}

function hyperbolicIntegral(x, cosine) { // Shi and Chi, by 6.6.5 and 6.6.6 with all signs positive
  if (x < 0) return cosine ? hyperbolicIntegral(-x, true) : -hyperbolicIntegral(-x, false);
  if (x === 0) return cosine ? -Infinity : x;
  let power_ = cosine ? 1 : x, sum = cosine ? EULER + Math.log(x) : x;
  for (let k = cosine ? 2 : 3; k < 4000 && sum < Infinity; k += 2) {
    power_ *= (x / k) * (x / (k - 1));
    sum += power_ / k;
    if (k > x && power_ < 1e-18 * Math.abs(sum)) break;
  }
  return sum;
}

function lambertw(branch, x) { // the real w with w exp(w) = x, 4.13.1, by E. Halley's method
  if (!(x >= -1 / Math.E) || (branch && x > 0)) return NaN;
  if (x === 0 || x === Infinity) return branch ? -Infinity : x;
  const root = Math.sqrt(Math.max(0, 2 * (Math.E * x + 1)));
  let w = branch ? (x > -0.2 ? Math.log(-x) - Math.log(-Math.log(-x)) : -1 - root) : x < 0 ? root - 1 : x < 3 ? Math.log1p(x) * 0.8 : Math.log(x) - Math.log(Math.log(x));
  for (let i = 0; i < 30; i++) {
    const miss = w - x * Math.exp(-w), slope = w + 1, step = miss / (slope - ((w + 2) * miss) / (2 * slope));
    if (!(Math.abs(step) > 0)) break;
    w -= step;
    if (Math.abs(step) < 1e-16 * Math.abs(w)) break;
  }
  return w;
}

function poch(z, m) { // Γ(z + m) / Γ(z)
  if (m >= 0 && m <= 30 && Number.isInteger(m)) { let product = 1; for (let i = 0; i < m; i++) product *= z + i; return product; }
  if (z > 0 && z + m > 0 && Math.max(z, z + m) > 150) return Math.exp(gammaln(z + m) - gammaln(z));
  const pole = (x) => x <= 0 && Number.isInteger(x);
  return pole(z + m) && !pole(z) ? Infinity : gamma(z + m) / gamma(z);
}

function binom(n, k) {
  if (k >= 0 && k <= 30 && Number.isInteger(k)) { let product = 1; for (let i = 1; i <= k; i++) product *= (n - k + i) / i; return product; }
  if (n - k + 1 > 0 && k + 1 > 0 && n > 100) return Math.exp(-betaln(n - k + 1, k + 1)) / (n + 1);
  return gamma(n + 1) * UNARY.rgamma(k + 1) * UNARY.rgamma(n - k + 1);
}

Object.assign(UNARY, {
  dawsn: dawson, fresnel_sine: (x) => fresnel(x, false), fresnel_cosine: (x) => fresnel(x, true),
  sine_integral: (x) => sineIntegral(x, false), cosine_integral: (x) => sineIntegral(x, true),
  hyperbolic_sine_integral: (x) => hyperbolicIntegral(x, false), hyperbolic_cosine_integral: (x) => hyperbolicIntegral(x, true),
  j0: (x) => besselWave(0, x, false), j1: (x) => besselWave(1, x, false), y0: (x) => besselWave(0, x, true), y1: (x) => besselWave(1, x, true),
  k0: (x) => besselK(0, x, false), k1: (x) => besselK(1, x, false), k0e: (x) => besselK(0, x, true), k1e: (x) => besselK(1, x, true),
});
Object.assign(BINARY, {
  jv: (v, x) => besselWave(v, x, false), yv: (v, x) => besselWave(v, x, true), kv: (v, x) => besselK(v, x, false), kve: (v, x) => besselK(v, x, true),
  iv: (v, x) => besselGrowing(v, x, false), ive: (v, x) => besselGrowing(v, x, true), owens_t: owensT, poch, binom,
});
TERNARY.betainc = betainc;
OF_ATTRIBUTES.lambertw = (branch) => (x) => lambertw(branch, x);
