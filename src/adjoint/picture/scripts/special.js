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

// ψ and its derivatives: up by the recurrence, then the asymptotic series (M. Abramowitz and I. Stegun, 6.3.18 and 6.4.11).
const BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330];
function polygamma(n, x) {
  if (x <= 0 && Number.isInteger(x)) return n % 2 ? Infinity : NaN;
  if (n === 0 && x < 0) return polygamma(0, 1 - x) - Math.PI / Math.tan(Math.PI * (x % 1));
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

Object.assign(UNARY, {
  gammaln, gamma, digamma: (x) => polygamma(0, x), erfcx, ndtr: normalDistribution, cbrt: Math.cbrt, exp2: (x) => Math.pow(2, x),
  sinc: (x) => { const t = Math.PI * (x === 0 ? 1e-20 : x); return Math.sin(t) / t; },
  entr: (x) => (x > 0 ? -x * Math.log(x) : x === 0 ? 0 : x < 0 ? -Infinity : x),
  i0: (x) => besselI(0, x), i1: (x) => besselI(1, x), i0e: (x) => scaledBesselI(0, x), i1e: (x) => scaledBesselI(1, x),
});
Object.assign(BINARY, {
  xlogy: (x, y) => productWithLog(x, y, Math.log), xlog1py: (x, y) => productWithLog(x, y, Math.log1p), rel_entr: relativeEntropy,
  betaln, beta,
});
