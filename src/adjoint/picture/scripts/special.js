// Special functions: the gamma function and its derivatives, entropies, the scaled error function.

// ln Γ and Γ by C. Lanczos's approximation, "A precision approximation of the gamma function", SIAM J. Numer. Anal. 1 (1964),
// with g = 607/128 and the coefficients of P. Godfrey, good to about 1e-15.
const LANCZOS = [0.99999999999999709182, 57.156235665862923517, -59.597960355475491248, 14.136097974741747174, -0.49191381609762019978,
  0.33994649984811888699e-4, 0.46523628927048575665e-4, -0.98374475304879564677e-4, 0.15808870322491248884e-3, -0.21026444172410488319e-3,
  0.21743961811521264320e-3, -0.16431810653676389022e-3, 0.84418223983852743293e-4, -0.26190838401581408670e-4, 0.36899182659531622704e-5];
const LANCZOS_G = 607 / 128, HALF_LOG_2PI = 0.91893853320467274178;

function lanczosSum(x) { // for x > 0
  let sum = 0;
  for (let i = LANCZOS.length - 1; i > 0; i--) sum += LANCZOS[i] / (x - 1 + i);
  return sum + LANCZOS[0];
}

// ln Γ(2 + e) near its zero: the Taylor series, whose coefficients are ζ(k) − 1 (M. Abramowitz and I. Stegun, 6.1.33).
const ONE_LESS_EULER = 0.42278433509846713939;
const ZETA_LESS_ONE = [0.64493406684822644, 0.20205690315959429, 0.082323233711138192, 0.036927755143369926, 0.01734306198444914,
  0.0083492773819228268, 0.0040773561979443394, 0.0020083928260822144, 0.00099457512781808534, 0.00049418860411946456,
  0.0002460865533080483, 0.00012271334757848915, 6.1248135058704829e-5, 3.0588236307020494e-5, 1.5282259408651872e-5,
  7.6371976378997623e-6, 3.8172932649998399e-6, 1.9082127165539389e-6, 9.5396203387279611e-7, 4.7693298678780646e-7,
  2.3845050272773299e-7, 1.1921992596531107e-7, 5.960818905125948e-8, 2.980350351465228e-8, 1.4901554828365041e-8,
  7.4507117898354295e-9, 3.7253340247884571e-9, 1.862659723513049e-9, 9.3132743241966818e-10];
function gammalnBeyondTwo(e) {
  let sum = 0;
  for (let i = ZETA_LESS_ONE.length - 1; i >= 0; i--) sum = (ZETA_LESS_ONE[i] / (i + 2) - sum) * e;
  return e * (ONE_LESS_EULER + sum);
}

function gammaln(x) {
  if (x !== x || x === -Infinity) return x !== x ? NaN : Infinity;
  if (x <= 0 && Number.isInteger(x)) return Infinity;
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * (x % 2)))) - gammaln(1 - x);
  if (x === Infinity) return x;
  if (Math.abs(x - 1) < 0.3) return gammalnBeyondTwo(x - 1) - Math.log1p(x - 1);
  if (Math.abs(x - 2) < 0.3) return gammalnBeyondTwo(x - 2);
  const t = x + LANCZOS_G - 0.5;
  return HALF_LOG_2PI + Math.log(lanczosSum(x)) + (x - 0.5) * Math.log(t) - t;
}

function gamma(x) {
  if (x <= 0 && Number.isInteger(x)) return x === 0 ? 1 / x : NaN;
  if (x < 0.5) return Math.PI / (Math.sin(Math.PI * (x % 2)) * gamma(1 - x));
  if (x > 171.7) return Infinity;
  if (Number.isInteger(x) && x < 24) { let product = 1; for (let i = 2; i < x; i++) product *= i; return product; }
  const t = x + LANCZOS_G - 0.5, half = Math.pow(t, (x - 0.5) / 2);
  return Math.sqrt(2 * Math.PI) * lanczosSum(x) * half * Math.exp(-t) * half;
}

// The n-th derivative of cot πx: a polynomial in cot πx, since that of cot πx is −π (1 + cot² πx).
function cotangents(n, x) {
  const part = x % 1, c = Math.abs(part) === 0.5 ? 0 : 1 / Math.tan(Math.PI * part);
  let polynomial = [0, 1];
  for (let i = 0; i < n; i++) {
    const next = new Array(polynomial.length + 1).fill(0);
    polynomial.forEach((a, k) => { if (k) { next[k - 1] -= Math.PI * k * a; next[k + 1] -= Math.PI * k * a; } });
    polynomial = next;
  }
  return polynomial.reduceRight((sum, a) => sum * c + a, 0);
}

// ψ and its derivatives, by reflection (5.15.6 of the DLMF) far below 0: up by the recurrence, then the asymptotic series (M. Abramowitz and I. Stegun, 6.3.18 and 6.4.11).
const BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330];
const REFLECTED = -30; // numbers below which the recurrence takes longer than the reflection
function polygamma(n, x) {
  if (x !== x || x === -Infinity) return NaN;
  if (x === Infinity) return n ? 0 : x;
  if (x <= 0 && Number.isInteger(x)) return n ? (n % 2 ? Infinity : -Infinity) : x === 0 ? -1 / x : NaN; // as SciPy has them
  if (n === 0 && x < 0) return polygamma(0, 1 - x) - Math.PI * cotangents(0, x);
  if (x < REFLECTED) return (n % 2 ? -1 : 1) * polygamma(n, 1 - x) - Math.PI * cotangents(n, x);
  const sign = n % 2 ? 1 : -1, factorial = gamma(n + 1);
  let sum = 0, z = x;
  for (; z < 16 + n; z++) sum += n ? factorial * Math.pow(z, -n - 1) : -1 / z;
  let tail, power_ = Math.pow(z, -n), factor = gamma(n + 2);
  if (n === 0) tail = Math.log(z) - 0.5 / z;
  else tail = gamma(n) * power_ + (factorial * power_) / (2 * z);
  BERNOULLI.forEach((b, i) => { // B_2k (2k + n − 1)! / ((2k)! z^(2k+n))
    const k2 = 2 * i + 2;
    power_ /= z * z;
    const term = (b * factor * power_) / gamma(k2 + 1);
    tail += n === 0 ? -term : term;
    factor *= (k2 + n) * (k2 + n + 1);
  });
  return n === 0 ? sum + tail : sign * (sum + tail);
}

function erfcx(x) { // exp(x²) erfc(x)
  if (x !== x) return NaN;
  if (x < 0.46875) return Math.exp(x * x) * erfc(x);
  return erfcOfLarge(x, 1, 1e300);
}

const productWithLog = (x, y, log) => (x === 0 && y === y ? 0 : x * log(y));
const relativeEntropy = (x, y) => (x !== x || y !== y ? NaN : x > 0 && y > 0 ? x * Math.log(x / y) : x === 0 && y >= 0 ? 0 : Infinity);

// ln B as the sum of what is left when the logarithms of large gamma functions cancel (A. DiDonato and A. Morris, "Algorithm 708",
// ACM Trans. Math. Softw. 18 (1992)).
function stirlingsRest(x) { // ln Γ(x) − (x − ½) ln x + x − ½ ln 2π, for x from 10 on
  let sum = 0;
  for (let i = BERNOULLI.length - 1; i >= 0; i--) sum = sum / (x * x) + BERNOULLI[i] / ((2 * i + 2) * (2 * i + 1));
  return sum / x;
}

function betaln(a, b) {
  const [small, large] = a < b ? [a, b] : [b, a], all = a + b;
  if (large === Infinity && small > 0) return -Infinity;
  if (!(small > 0 && large >= 10 && large < Infinity)) return gammaln(a) + gammaln(b) - gammaln(all);
  const rest = stirlingsRest(large) - stirlingsRest(all);
  if (small < 10) return gammaln(small) + rest + small - small * Math.log(all) + (large - 0.5) * Math.log1p(-small / all);
  return HALF_LOG_2PI - 0.5 * Math.log(large) + stirlingsRest(small) + rest + (small - 0.5) * Math.log(small / all) + large * Math.log1p(-small / all);
}

const beta = (a, b) => (a > 0 && b > 0 && a + b > 100 ? Math.exp(betaln(a, b)) : (gamma(a) * gamma(b)) / gamma(a + b));

// exp(−|x|) I₀(x) and I₁(x): by the power series, all of whose terms have one sign, or by the asymptotic one (9.7.1).
function scaledBesselI(order, x) {
  const size = Math.abs(x);
  if (!(size > 30)) return Math.exp(-size) * besselI(order, x);
  if (size === Infinity) return 0;
  let term = 1, sum = 1;
  for (let k = 1; Math.abs(term) > 1e-18; k++) { term *= ((2 * k - 1) ** 2 - 4 * order) / (8 * k * size); sum += term; }
  return (order && x < 0 ? -sum : sum) / Math.sqrt(2 * Math.PI * size);
}

function besselI(order, x) {
  if (Math.abs(x) > 30) return Math.exp(Math.abs(x)) * scaledBesselI(order, x);
  const quarter = (x * x) / 4;
  let term = order ? x / 2 : 1, sum = term;
  for (let k = 1; Math.abs(term) > 1e-18 * Math.abs(sum); k++) { term *= quarter / (k * (k + order)); sum += term; }
  return sum;
}

// The inverses of the error functions and of the normal distribution: a first guess (M. Abramowitz and I. Stegun, 26.2.22), then
// Halley's method on the function itself, near 0 on erf and in the tails on erfc, which keep their digits there.
function ndtri(p) {
  if (!(p > 0 && p < 1)) return p === 0 ? -Infinity : p === 1 ? Infinity : NaN;
  if (p > 0.5) return -ndtri(1 - p);
  if (p > 0.25) return Math.SQRT2 * erfinv(2 * p - 1);
  const t = Math.sqrt(-2 * Math.log(p));
  let x = (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t)) - t;
  for (let i = 0; i < 5; i++) {
    const step = (normalDistribution(x) - p) * Math.sqrt(2 * Math.PI) * Math.exp((x * x) / 2);
    x -= step / (1 + (x * step) / 2);
  }
  return x;
}

function erfinv(y) {
  if (!(Math.abs(y) <= 0.5)) return Math.abs(y) <= 1 ? (Math.sign(y) * -ndtri((1 - Math.abs(y)) / 2)) / Math.SQRT2 : NaN;
  let x = (y * Math.sqrt(Math.PI)) / 2;
  for (let i = 0; i < 5; i++) {
    const step = ((erf(x) - y) * Math.sqrt(Math.PI) * Math.exp(x * x)) / 2;
    x -= step / (1 + x * step);
  }
  return x;
}

function logNdtr(x) {
  if (x > 0) return Math.log1p(-normalDistribution(-x));
  return x > -1 ? Math.log(normalDistribution(x)) : Math.log(erfcx(-x / Math.SQRT2) / 2) - (x * x) / 2;
}

// The incomplete gamma functions: below the mean by the series 8.11.4, above it by the continued fraction 8.9.2 of the DLMF.
function incompleteGamma(a, x, upper) {
  if (!(a >= 0 && x >= 0)) return NaN;
  if (a === 0 || x === 0) return a === 0 && x === 0 ? NaN : (x === 0) === upper ? 1 : 0;
  if (a === Infinity || x === Infinity) return a === x ? NaN : (x === Infinity) === upper ? 0 : 1;
  const away = (x - a) / a;
  const front = a < 10 ? Math.exp(a * Math.log(x) - x - gammaln(a))
    : Math.sqrt(a / (2 * Math.PI)) * Math.exp(-stirlingsRest(a) - a * (away - Math.log1p(away)));
  if (x < a + 1) {
    let term = 1 / a, sum = term;
    for (let n = 1; term > 1e-17 * sum; n++) { term *= x / (a + n); sum += term; }
    return upper ? 1 - front * sum : front * sum;
  }
  let b = x + 1 - a, c = 1e300, d = 1 / b, fraction = d;
  for (let n = 1; n < 1e5; n++) { // W. Lentz's method
    const factor = n * (a - n);
    b += 2;
    d = 1 / (factor * d + b);
    c = b + factor / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return upper ? front * fraction : 1 - front * fraction;
}

// Σ (q + k)^−s by the Euler–Maclaurin formula (DLMF 25.11.28).
function zeta(s, q) {
  if (s === 1) return Infinity;
  if (!(s > 1)) return NaN;
  if (q <= 0 && Number.isInteger(q)) return Infinity;
  if (q <= 0 && !Number.isInteger(s)) return NaN;
  if (q !== q || s === Infinity || Math.abs(q) === Infinity) return q === Infinity ? 0 : q > 1 ? 0 : q === 1 ? 1 : q > 0 ? Infinity : NaN;
  if (q < REFLECTED && s <= 100) return (s % 2 ? -1 : 1) * (polygamma(s - 1, q) / gamma(s));
  let sum = 0, z = q < REFLECTED ? REFLECTED + (q % 1) : q; // for larger s what lies farther below is nothing beside the terms near 0
  for (; z < 16 + Math.min(s, 500); z++) sum += Math.pow(z, -s);
  const last = Math.pow(z, -s);
  sum += (last * z) / (s - 1) + last / 2;
  let factor = (last * s) / z / 2;
  BERNOULLI.forEach((b, i) => {
    sum += b * factor;
    const k = 2 * i + 2;
    factor *= ((s + k - 1) * (s + k)) / ((k + 1) * (k + 2) * z * z);
  });
  return sum;
}

// The exponential integrals: by the series 6.6.2 and 8.19.8 of the DLMF near 0, by the continued fraction 8.19.17 or the asymptotic
// series 6.12.2 beyond.
const EULER = 0.57721566490153286061;
function expn(n, x) {
  if (!(x >= 0)) return x < 0 && n ? Infinity : x < 0 ? Math.exp(-x) / x : NaN;
  if (n === 0) return Math.exp(-x) / x;
  if (x === 0) return n > 1 ? 1 / (n - 1) : Infinity;
  if (x > 1) {
    let b = x + n, c = 1e300, d = 1 / b, fraction = d;
    for (let i = 1; i < 1e4; i++) {
      const factor = -i * (n - 1 + i);
      b += 2;
      d = 1 / (factor * d + b);
      c = b + factor / c;
      fraction *= c * d;
      if (Math.abs(c * d - 1) < 1e-16) break;
    }
    return fraction * Math.exp(-x);
  }
  let term = 1, sum = n > 1 ? 1 / (n - 1) : -Math.log(x) - EULER;
  for (let i = 1; i < 200; i++) {
    term *= -x / i;
    let harmonic = -EULER;
    for (let k = 1; k < n; k++) harmonic += 1 / k;
    const more = i === n - 1 ? term * (harmonic - Math.log(x)) : -term / (i - n + 1);
    sum += more;
    if (i >= n && Math.abs(more) < 1e-17 * Math.abs(sum)) break;
  }
  return sum;
}

function expi(x) {
  if (!(x > 0)) return x === 0 ? -Infinity : x < 0 ? -expn(1, -x) : NaN;
  let term = 1, sum = 0;
  if (x > 40) {
    for (let k = 1; k < x && term > 1e-17; k++) { sum += term; term *= k / x; }
    return (Math.exp(x) / x) * sum;
  }
  for (let k = 1; k < 200; k++) { term *= x / k; sum += term / k; }
  return EULER + Math.log(x) + sum;
}

function spence(z) { // Li₂(1 − z), by the series in the logarithm (L. Lewin, Polylogarithms and Associated Functions, 1981)
  if (!(z >= 0)) return NaN;
  if (z === 0) return (Math.PI * Math.PI) / 6;
  if (z < 0.5) return (Math.PI * Math.PI) / 6 - Math.log(z) * Math.log1p(-z) - spence(1 - z);
  if (z > 1.5) return -spence(1 / z) - Math.log(z) ** 2 / 2;
  const u = -Math.log1p(z - 1);
  let power_ = u, sum = u - (u * u) / 4;
  BERNOULLI.forEach((b, i) => {
    power_ *= (u * u) / ((2 * i + 2) * (2 * i + 3));
    sum += b * power_;
  });
  return sum;
}

// The complete elliptic integrals, by the arithmetic-geometric mean (M. Abramowitz and I. Stegun, 17.6).
function elliptic(m, second) {
  if (!(m <= 1)) return NaN;
  if (m === 1) return second ? 1 : Infinity;
  if (m === -Infinity) return second ? Infinity : 0;
  let a = 1, b = Math.sqrt(1 - m), rest = m / 2;
  for (let power_ = 1; Math.abs(a - b) > 1e-16 * a && power_ < 1e6; power_ *= 2) {
    const c = (a - b) / 2;
    [a, b] = [(a + b) / 2, Math.sqrt(a * b)];
    rest += power_ * c * c;
  }
  return (Math.PI / (2 * a)) * (second ? 1 - rest : 1);
}

const signOfGamma = (x) => (x < 0 && Number.isInteger(x) ? NaN : x > 0 || Object.is(x, 0) ? 1 : x !== x ? NaN : Object.is(x, -0) || Math.floor(x) % 2 ? -1 : 1);

Object.assign(OF_ATTRIBUTES, {
  polygamma: (n) => (x) => polygamma(n, x), expn: (n) => (x) => expn(n, x),
});
Object.assign(UNARY, {
  gammaln, gamma, digamma: (x) => polygamma(0, x), erfcx, ndtr: normalDistribution, cbrt: Math.cbrt, exp2: (x) => Math.pow(2, x),
  sinc: (x) => { const t = Math.PI * (x === 0 ? 1e-20 : x); return Math.sin(t) / t; },
  entr: (x) => (x > 0 ? -x * Math.log(x) : x === 0 ? 0 : x < 0 ? -Infinity : x),
  erfinv, ndtri, log_ndtr: logNdtr, expi, spence, ellipk: (m) => elliptic(m, false), ellipe: (m) => elliptic(m, true), gammasgn: signOfGamma,
  erfcinv: (y) => (y > 0.5 && y < 1.5 ? erfinv(1 - y) : -ndtri(y / 2) / Math.SQRT2), rgamma: (x) => (x <= 0 && Number.isInteger(x) ? 0 : 1 / gamma(x)),
  i0: (x) => besselI(0, x), i1: (x) => besselI(1, x), i0e: (x) => scaledBesselI(0, x), i1e: (x) => scaledBesselI(1, x),
});
Object.assign(BINARY, {
  xlogy: (x, y) => productWithLog(x, y, Math.log), xlog1py: (x, y) => productWithLog(x, y, Math.log1p), rel_entr: relativeEntropy,
  betaln, beta, zeta, gammainc: (a, x) => incompleteGamma(a, x, false), gammaincc: (a, x) => incompleteGamma(a, x, true),
  kl_div: (x, y) => (x > 0 && y > 0 ? x * Math.log(x / y) - x + y : x === 0 && y >= 0 ? y : x !== x || y !== y ? NaN : Infinity),
  pseudo_huber: (delta, r) => (delta < 0 ? Infinity : delta === 0 || r === 0 ? 0 : delta * delta * ((r / delta) ** 2 / (Math.hypot(1, r / delta) + 1))),
});
