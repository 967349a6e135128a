// The hypergeometric functions of E. Kummer and C. F. Gauss, formulas by their numbers in the DLMF: by their series in whole
// numbers, of as many bits as it takes, for terms far larger than their sum cancel.

function asRatio(x) { // [n, shift] with x = n / 2^shift, exactly
  let shift = 0;
  for (; !Number.isInteger(x); shift += 52) x *= 2 ** 52;
  return [BigInt(x), BigInt(shift)];
}

function fromRatio(n, bits) { // n / 2^bits
  const more = Math.max(0, n.toString(16).length * 4 - 68);
  return Number(n >> BigInt(more)) * 2 ** (more - bits);
}

// Σ (p)ₖ … / (q)ₖ … xᵏ / k!, of upper parameters p and lower ones q, in numbers of so many bits behind the point.
function summedIn(bits, upper, lower, x, enough) {
  const over = upper.map(asRatio), under = lower.map(asRatio), [numerator, shift] = asRatio(x), sum_ = (terms) => terms.reduce((s, [, by]) => s + by, 0n);
  const down = shift + sum_(over), up = sum_(under);
  let term = 1n << BigInt(bits), sum = term;
  for (let k = 0; k < 100_000; k++) {
    const count = BigInt(k);
    let above = (term * numerator) << up, below = (count + 1n) << down;
    for (const [n, by] of over) above *= n + (count << by);
    for (const [n, by] of under) below *= n + (count << by);
    if (above === 0n) return fromRatio(sum, bits);
    term = above / below;
    sum += term;
    if (k > enough && term < 2n && term > -2n) return fromRatio(sum, bits);
  }
  return NaN;
}

function hypergeometricSeries(upper, lower, x) { // with twice the bits until that changes nothing
  const enough = Math.abs(x) + [...upper, ...lower].reduce((most, p) => Math.max(most, Math.abs(p)), 0);
  for (let bits = 128, before = NaN; bits < 40_000; bits *= 2) {
    const found = summedIn(bits, upper, lower, x, enough);
    if (found !== found || Math.abs(found - before) <= 2 ** -52 * Math.abs(found)) return found;
    before = found;
  }
  return NaN;
}

const isPole = (x) => x <= 0 && Number.isInteger(x);

function hyp1f1(a, b, x) {
  if (a !== a || b !== b || x !== x) return NaN;
  if (isPole(b) && !(isPole(a) && a > b)) return Infinity;
  if (isPole(a)) return Number.isFinite(x) ? hypergeometricSeries([a], [b], x) : a === 0 ? 1 : NaN;
  if (x > 60 || isPole(b - a)) return x < -745 || x === Infinity ? (x < 0 ? 0 : (gamma(b) * UNARY.rgamma(a)) * Infinity) : Math.exp(x) * hyp1f1(b - a, b, -x); // 13.2.39
  if (x < -60) { // 13.7.2
    let term = 1, sum = 1;
    for (let k = 0; k < 200; k++) {
      const next = (term * (a + k) * (a - b + 1 + k)) / (k + 1) / -x;
      if (Math.abs(next) > Math.abs(term) && k > Math.abs(a) + Math.abs(b)) break;
      sum += term = next;
      if (Math.abs(term) < 1e-18 * Math.abs(sum)) return gamma(b) * UNARY.rgamma(b - a) * Math.pow(-x, -a) * sum;
    }
  }
  return x > -1e4 ? hypergeometricSeries([a], [b], x) : NaN;
}

// From 3/4 on by Taylor's series of the equation 15.10.1, each of half the distance to 1, where it is singular.
function towardsOne(a, b, c, x) {
  let at = 0.75, value = hypergeometricSeries([a, b], [c], at), slope = ((a * b) / c) * hypergeometricSeries([a + 1, b + 1], [c + 1], at);
  while (at < x) {
    const step_ = Math.min((1 - at) / 2, x - at), end = x - at === step_ ? x : at + step_;
    let [older, newer] = [value, slope * step_], sum = value + newer, tilt = newer;
    for (let n = 0; n < 400; n++) {
      const next = ((n + a) * (n + b) * older * step_ * step_ - ((1 - 2 * at) * n + c - (a + b + 1) * at) * (n + 1) * newer * step_) / (at * (1 - at) * (n + 2) * (n + 1));
      [older, newer] = [newer, next];
      sum += next;
      tilt += (n + 2) * next;
      if (n > 20 && Math.abs(next) + Math.abs(older) < 1e-18 * Math.abs(sum) && (n + 2) * (Math.abs(next) + Math.abs(older)) < 1e-18 * Math.abs(tilt)) break;
    }
    [value, slope, at] = [sum, tilt / step_, end];
  }
  return value;
}

function hyp2f1(a, b, c, x) {
  if (a !== a || b !== b || c !== c || x !== x) return NaN;
  const ends = (p) => isPole(p) && (!isPole(c) || p > c), rest = c - a - b;
  if (isPole(c) && !ends(a) && !ends(b)) return Infinity;
  if (ends(a) || ends(b)) return Number.isFinite(x) ? hypergeometricSeries([a, b], [c], x) : NaN;
  if (x >= 1) return x > 1 || rest <= 0 ? Infinity : gamma(c) * gamma(rest) * UNARY.rgamma(c - a) * UNARY.rgamma(c - b); // 15.4.20
  if (x < -0.5) return x === -Infinity ? NaN : Math.pow(1 - x, -a) * hyp2f1(a, c - b, c, x / (x - 1)); // 15.8.1
  if (x > 0.8) return towardsOne(a, b, c, x);
  return hypergeometricSeries([a, b], [c], x);
}

TERNARY.hyp1f1 = hyp1f1;
ARRAY_STEPS.hyp2f1 = (_, out, [a, b, c, x]) => () => { for (let i = 0; i < out.data.length; i++) out.data[i] = hyp2f1(a.data[i], b.data[i], c.data[i], x.data[i]); };
