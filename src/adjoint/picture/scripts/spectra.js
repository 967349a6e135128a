// QR, eigenvalues, singular values and functions of real matrices. Of a vector that is settled but for its sign, and of the
// directions that complete a basis, the page shows the ones closest to those before the move; at first, to Python's.

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const columnsOf = (a, m, n) => Array.from({ length: n }, (_, j) => Float64Array.from({ length: m }, (_, i) => a[i * n + j]));
const isFiniteMatrix = (a) => a.every(Number.isFinite);

function writeColumns(to, columns, count) { // into rows of `count` numbers
  columns.forEach((column, j) => column.forEach((x, i) => { to[i * count + j] = x; }));
}

// Q (m, k) and R (k, n) by A. S. Householder's reflections, with the signs that LAPACK's give: none where a column is reduced already.
function reflected(a, m, n, k) {
  const r = Float64Array.from(a), q = Float64Array.from({ length: m * k }, (_, i) => (Math.floor(i / k) === i % k ? 1 : 0)), vectors = [];
  const reflect = (x, columns, from, [v, factor], first) => {
    for (let j = from; j < columns; j++) {
      let sum = 0;
      for (let i = first; i < m; i++) sum += v[i] * x[i * columns + j];
      for (let i = first; i < m; i++) x[i * columns + j] -= factor * sum * v[i];
    }
  };
  for (let j = 0; j < n; j++) {
    const v = new Float64Array(m), alpha = r[j * n + j];
    let rest = 0;
    for (let i = j + 1; i < m; i++) rest = Math.hypot(rest, r[i * n + j]);
    const length = Math.hypot(alpha, rest), beta = alpha < 0 ? length : -length;
    for (let i = j + 1; i < m; i++) v[i] = r[i * n + j] / (alpha - beta);
    v[j] = 1;
    vectors.push([v, rest === 0 ? 0 : (beta - alpha) / beta]);
    reflect(r, n, j, vectors[j], j);
    for (let i = j + 1; i < m; i++) r[i * n + j] = 0;
  }
  for (let j = n - 1; j >= 0; j--) reflect(q, k, 0, vectors[j], j);
  return [q, r];
}

// Eigenvalues, ascending, and unit eigenvectors of a symmetric matrix of which one triangle is read, by C. G. J. Jacobi's
// rotations (G. Golub and C. Van Loan, "Matrix Computations", section 8.5).
function symmetricEigen(given, n, upper) {
  const a = new Float64Array(n * n), v = unitMatrix(n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) a[i * n + j] = given[(upper ? i < j : i > j) ? i * n + j : j * n + i];
  if (!isFiniteMatrix(a)) return [new Float64Array(n).fill(NaN), columnsOf(v.fill(NaN), n, n)];
  for (let sweep = 0, turned = true; turned && sweep < 60; sweep++) {
    turned = false;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
      const off = a[p * n + q], size = Math.sqrt(Math.abs(a[p * n + p] * a[q * n + q]));
      if (off === 0 || (sweep > 4 && Math.abs(off) <= 1e-17 * size) || Math.abs(off) < 1e-300) continue;
      turned = true;
      const theta = (a[q * n + q] - a[p * n + p]) / (2 * off), t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
      const c = 1 / Math.hypot(t, 1), s = t * c;
      a[p * n + p] -= t * off;
      a[q * n + q] += t * off;
      a[p * n + q] = a[q * n + p] = 0;
      for (let i = 0; i < n; i++) {
        if (i !== p && i !== q) {
          const x = a[i * n + p], y = a[i * n + q];
          a[i * n + p] = a[p * n + i] = c * x - s * y;
          a[i * n + q] = a[q * n + i] = s * x + c * y;
        }
        const x = v[i * n + p], y = v[i * n + q];
        v[i * n + p] = c * x - s * y;
        v[i * n + q] = s * x + c * y;
      }
    }
  }
  const columns = columnsOf(v, n, n), order = columns.map((_, i) => i).sort((i, j) => a[i * n + i] - a[j * n + j]);
  return [Float64Array.from(order, (i) => a[i * n + i]), order.map((i) => columns[i])];
}

// The part of `wanted` that is orthogonal to unit vectors, of length one; where nothing is left, a unit vector's. Twice, for rounding.
function orthogonal(wanted, others) {
  const size = wanted.length, starts = [wanted, ...Array.from({ length: size }, (_, i) => Float64Array.from({ length: size }, (_, k) => (i === k ? 1 : 0)))];
  for (const start of starts) {
    const x = Float64Array.from(start), before = Math.sqrt(dot(x, x));
    for (let turn = 0; turn < 2; turn++) for (const v of others) { const amount = dot(x, v); x.forEach((_, i) => { x[i] -= amount * v[i]; }); }
    const length = Math.sqrt(dot(x, x));
    if (length > 0.5 / Math.sqrt(size) * before && length > 0) return x.map((y) => y / length);
  }
  return new Float64Array(size).fill(NaN);
}

// Singular values, descending, and their vectors, of (m, n) with m >= n: by one-sided rotations, M. R. Hestenes, "Inversion of
// matrices by biorthogonalization and related results", J. SIAM 6 (1958). The left vector of a zero is null.
function singular(given, m, n) {
  if (!isFiniteMatrix(given)) return [columnsOf(new Float64Array(m * n).fill(NaN), m, n), new Float64Array(n).fill(NaN), columnsOf(new Float64Array(n * n).fill(NaN), n, n)];
  const u = columnsOf(given, m, n), v = columnsOf(unitMatrix(n), n, n);
  for (let sweep = 0, turned = true; turned && sweep < 60; sweep++) {
    turned = false;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
      const a = dot(u[p], u[p]), b = dot(u[q], u[q]), off = dot(u[p], u[q]);
      if (Math.abs(off) <= 1e-16 * Math.sqrt(a * b) || off === 0) continue;
      turned = true;
      const theta = (b - a) / (2 * off), t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1)), c = 1 / Math.hypot(t, 1), s = t * c;
      for (const [x, y] of [[u[p], u[q]], [v[p], v[q]]]) x.forEach((xi, i) => { [x[i], y[i]] = [c * xi - s * y[i], s * xi + c * y[i]]; });
    }
  }
  const sizes = u.map((x) => Math.sqrt(dot(x, x))), order = sizes.map((_, i) => i).sort((i, j) => sizes[j] - sizes[i]), largest = Math.max(0, ...sizes);
  return [order.map((i) => (sizes[i] > 1e-300 && sizes[i] > 1e-17 * largest ? u[i].map((x) => x / sizes[i]) : null)), Float64Array.from(order, (i) => sizes[i]), order.map((i) => v[i])];
}

function singularOf(a, m, n) { // of any shape
  if (m >= n) return singular(a, m, n);
  const [right, s, left] = singular(Float64Array.from({ length: m * n }, (_, i) => a[(i % m) * n + Math.floor(i / m)]), n, m);
  return [left, s, right];
}

// The sign that keeps a vector where it was: beside the closest of those before.
function signBeside(vector, before) {
  let best = 0;
  for (const other of before) { const near = dot(vector, other); if (Math.abs(near) > Math.abs(best)) best = near; }
  return best < 0 ? -1 : 1;
}

const signedBy = (vector, sign) => (sign < 0 ? vector.map((x) => -x) : vector);
const completed = (columns, before) => { // null, and what lacks, by the closest that is orthogonal to all others
  const found = columns.filter((x) => x !== null);
  return before.map((wanted, j) => {
    if (columns[j]) return columns[j];
    found.push(orthogonal(wanted, found));
    return found[found.length - 1];
  });
};

function remembered(payload, shape) { // the columns of each matrix as they were last
  const data = new Float64Array(countOf(shape)), [m, n] = shape.slice(-2);
  fill(data, payload);
  return Array.from({ length: countOf(shape.slice(0, -2)) }, (_, i) => columnsOf(data.subarray(i * m * n, (i + 1) * m * n), m, n));
}

function eighStep([upper, payload], { parts: [w, v] }, [a]) {
  const n = a.shape[a.shape.length - 1], before = remembered(payload, v.shape);
  return eachOf(a.shape, 2, (which) => {
    const [values, vectors] = symmetricEigen(ownPart(a, which, 2), n, upper);
    const now = vectors.map((x) => signedBy(x, signBeside(x, before[which])));
    if (values.every(Number.isFinite)) before[which] = now;
    ownPart(w, which, 1).set(values);
    writeColumns(ownPart(v, which, 2), now, n);
  });
}

function svdStep([, leftPayload, rightPayload], { parts: [u, s, vh] }, [a]) {
  const [m, n] = a.shape.slice(-2), left = remembered(leftPayload, u.shape), rightRows = vh.shape[vh.shape.length - 2];
  const right = remembered(rightPayload, [...vh.shape.slice(0, -2), n, rightRows]);
  return eachOf(a.shape, 2, (which) => {
    let [us, values, vs] = singularOf(ownPart(a, which, 2), m, n);
    const signs = vs.map((x, j) => (x ? signBeside(x, right[which]) : signBeside(us[j], left[which])));
    us = completed(us.map((x, j) => x && signedBy(x, signs[j])), left[which]);
    vs = completed(vs.map((x, j) => x && signedBy(x, signs[j])), right[which]);
    if (values.every(Number.isFinite)) [left[which], right[which]] = [us, vs];
    ownPart(s, which, 1).set(values);
    writeColumns(ownPart(u, which, 2), us, us.length);
    ownPart(vh, which, 2).set(vs.flatMap((x) => Array.from(x)));
  });
}

function pseudoinverse(a, m, n, rtol) {
  const [u, s, v] = singularOf(a, m, n), found = new Float64Array(m * n), cut = rtol * Math.max(0, ...s);
  if (s.some((x) => x !== x)) return found.fill(NaN);
  s.forEach((size, k) => {
    if (size > cut && u[k] && v[k]) for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) found[i * m + j] += (v[k][i] * u[k][j]) / size;
  });
  return found;
}

function polarFactor(a, m, n) {
  const [u, s, v] = singularOf(a, m, n), found = new Float64Array(m * n), cut = Math.max(m, n) * 2 ** -52 * Math.max(0, ...s);
  if (s.some((x) => x !== x)) return found.fill(NaN);
  s.forEach((size, k) => {
    if (size > cut && u[k] && v[k]) for (let i = 0; i < m; i++) for (let j = 0; j < n; j++) found[i * n + j] += u[k][i] * v[k][j];
  });
  return found;
}

function inverseGaps(w, to, sums) {
  const n = w.length, cut = 4 * n * 2 ** -52 * w.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
    const gap = w[j] + (sums ? w[i] : -w[i]);
    to[i * n + j] = Math.abs(gap) <= cut ? 0 : 1 / gap;
  }
}

// Functions of matrices ---------------------------------------------------------------------------------------------------

function timesMatrix(a, b, n) {
  const found = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let k = 0; k < n; k++) { const x = a[i * n + k]; for (let j = 0; j < n; j++) found[i * n + j] += x * b[k * n + j]; }
  return found;
}
const combined = (terms) => terms[0][1].map((_, i) => terms.reduce((sum, [factor, x]) => sum + factor * x[i], 0));
const oneNorm = (a, n) => Math.max(0, ...Array.from({ length: n }, (_, j) => total_(0, n, (i) => Math.abs(a[i * n + j]))));

// Scaling and squaring with the [13/13] Padé approximant (A. Al-Mohy and N. Higham, SIAM J. Matrix Anal. Appl. 30, 2009).
const PADE = [64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
  670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1];
function exponentialOf(a, n) {
  const size = oneNorm(a, n), squarings = Math.max(0, Math.ceil(Math.log2(size / 4.25)));
  const x = a.map((y) => y * 2 ** -squarings), powers = [unitMatrix(n)];
  for (let k = 1; k < 4; k++) powers.push(timesMatrix(powers[k - 1], k === 1 ? timesMatrix(x, x, n) : powers[1], n));
  const half = (first) => {
    const c = PADE.filter((_, i) => i % 2 === first), high = combined([1, 2, 3].map((k) => [c[k + 3], powers[k]]));
    return combined([[1, timesMatrix(powers[3], high, n)], ...[0, 1, 2, 3].map((k) => [c[k], powers[k]])]);
  };
  const u = timesMatrix(x, half(1), n), v = half(0);
  let found = solved(combined([[1, v], [-1, u]]), n, combined([[1, v], [1, u]]), n);
  for (let k = 0; k < squarings; k++) found = timesMatrix(found, found, n);
  return found;
}

// The principal square root by the product form of the iteration of E. Denman and A. Beavers (N. Higham, "Functions of Matrices",
// 6.29), with its determinant scaled to one while it is far; a singular matrix that is symmetric has it by its eigenvalues. NaN where
// neither finds one, as of matrices with a negative eigenvalue.
function rootOf(a, n) { const found = iteratedRoot(a, n); return found[0] === found[0] ? found : symmetricRoot(a, n); }

function symmetricRoot(a, n) {
  const [w, v] = symmetricEigen(a, n, false), rounding = 2 ** -52 * n * Math.max(0, ...w), found = new Float64Array(n * n);
  if (w.some((x) => x < -rounding) || a.some((x, i) => x !== a[(i % n) * n + Math.floor(i / n)])) return found.fill(NaN);
  w.forEach((x, k) => { for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) found[i * n + j] += Math.sqrt(Math.max(0, x)) * v[k][i] * v[k][j]; });
  return found;
}

function iteratedRoot(a, n) {
  let x = Float64Array.from(a), m = Float64Array.from(a), before = Infinity;
  const one = unitMatrix(n), none = new Float64Array(n * n).fill(NaN);
  for (let turn = 0; turn < 60; turn++) {
    const scale = before > 0.1 ? Math.exp(-determinant(m, n)[1] / (2 * n)) : 1, inverse = solved(m, n, one, n);
    x = combined([[scale / 2, x], [1 / scale / 2, timesMatrix(x, inverse, n)]]);
    m = combined([[0.5, one], [(scale * scale) / 4, m], [1 / (scale * scale) / 4, inverse]]);
    const rest = oneNorm(combined([[1, m], [-1, one]]), n);
    if (!(rest < Infinity)) return none;
    if (rest < 1e-15 * n || (rest < 1e-10 && rest >= before / 2)) break;
    before = rest;
  }
  const size = oneNorm(x, n);
  return oneNorm(combined([[1, timesMatrix(x, x, n)], [-1, a]]), n) <= 1e-13 * n * size * size ? x : none;
}

// Roots until it is close to 1, then 2 atanh of (A − 1) / (A + 1) by its series.
function logarithmOf(a, n) {
  const one = unitMatrix(n);
  let x = a, roots = 0;
  while (oneNorm(combined([[1, x], [-1, one]]), n) > 0.25 && roots < 60) { x = rootOf(x, n); roots++; }
  const ratio = solved(combined([[1, x], [1, one]]), n, combined([[1, x], [-1, one]]), n), square = timesMatrix(ratio, ratio, n);
  let term = ratio, sum = ratio;
  for (let k = 3; k < 30; k += 2) { term = timesMatrix(term, square, n); sum = combined([[1, sum], [1 / k, term]]); }
  return sum.map((y) => y * 2 ** (roots + 1));
}

const MATRIX_FUNCTIONS = { expm: exponentialOf, sqrtm: rootOf, logm: logarithmOf };

function matrixFunction(name, a, n) {
  return n && isFiniteMatrix(a) ? MATRIX_FUNCTIONS[name](a, n) : new Float64Array(n * n).fill(NaN);
}

// The derivative at A in the direction E: the corner of the function of [[A, E], [0, A]], E as large as A.
function matrixDerivative(name, a, e, n) {
  const found = new Float64Array(n * n), size = oneNorm(e, n), scale = size > 0 ? (oneNorm(a, n) || 1) / size : 1, block = new Float64Array(4 * n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
    block[i * 2 * n + j] = block[(n + i) * 2 * n + n + j] = a[i * n + j];
    block[i * 2 * n + n + j] = e[i * n + j] * scale;
  }
  const whole = matrixFunction(name, block, 2 * n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) found[i * n + j] = whole[i * 2 * n + n + j] / scale;
  return found;
}

// The table ---------------------------------------------------------------------------------------------------------------

// step(elements of each matrix, rows, columns, which): what fills the matrix or the number of that place in the result.
const ofEach = (rank, step) => (attributes, out, inputs) => {
  const [m, n] = inputs[0].shape.slice(-2);
  return eachOf(inputs[0].shape, 2, (which) => ownPart(out, which, rank).set(step(inputs.map((x) => ownPart(x, which, 2)), m, n, which, attributes)));
};

Object.assign(ARRAY_STEPS, {
  qr: (_, { parts: [q, r] }, [a]) => {
    const [m, n] = a.shape.slice(-2), k = q.shape[q.shape.length - 1];
    return eachOf(a.shape, 2, (which) => {
      const [left, right] = reflected(ownPart(a, which, 2), m, n, k);
      ownPart(q, which, 2).set(left);
      ownPart(r, which, 2).set(right.subarray(0, k * n));
    });
  },
  eigh: eighStep,
  eigvalsh: ofEach(1, ([a], n, _, __, [upper]) => symmetricEigen(a, n, upper)[0]),
  svd: svdStep,
  svdvals: ofEach(1, ([a], m, n) => singularOf(a, m, n)[1]),
  nuclear_norm: ofEach(0, ([a], m, n) => [dot(singularOf(a, m, n)[1], new Float64Array(Math.min(m, n)).fill(1))]),
  polar: ofEach(2, ([a], m, n) => polarFactor(a, m, n)),
  pinv: ofEach(2, ([a], m, n, which, [rtol]) => pseudoinverse(a, m, n, decoded(Array.isArray(rtol) ? rtol.flat(Infinity)[which] : rtol))),
  inverse_gaps: ([sums], out, [w]) => eachOf(w.shape, 1, (which) => inverseGaps(ownPart(w, which, 1), ownPart(out, which, 2), sums)),
  matrix_function: ofEach(2, ([a], n, _, __, name) => matrixFunction(name, a, n)),
  matrix_function_derivative: ofEach(2, ([a, e], n, _, __, name) => matrixDerivative(name, a, e, n)),
});
