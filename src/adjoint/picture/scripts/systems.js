// Factorizations, systems, determinants and cosine transforms of real matrices, one after the other. Where Python raises an
// error, of a singular matrix say, the page shows nan.

function eachMatrix(shapes, step) { // step(offsets of the matrices with these shapes), for every matrix of a batch
  const sizes = shapes.map((shape) => countOf(shape.slice(-2))), batches = countOf(shapes[0].slice(0, -2));
  return () => { for (let i = 0; i < batches; i++) step(...sizes.map((size) => i * size)); };
}

function choleskyInto(to, n, from, at) {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      let sum = j > i ? 0 : from[at + i * n + j];
      if (j <= i) for (let k = 0; k < j; k++) sum -= to[at + i * n + k] * to[at + j * n + k];
      to[at + i * n + j] = j > i ? 0 : i === j ? Math.sqrt(sum) : sum / to[at + j * n + j];
    }
  }
}

// Rows exchanged by partial pivoting, L and U in one array (m, n); gives back the sign of the exchanges.
function eliminate(a, m, n, pivots) {
  let sign = 1;
  for (let k = 0; k < Math.min(m, n); k++) {
    let best = k;
    for (let i = k + 1; i < m; i++) if (Math.abs(a[i * n + k]) > Math.abs(a[best * n + k])) best = i;
    pivots[k] = best;
    if (best !== k) {
      sign = -sign;
      for (let j = 0; j < n; j++) [a[k * n + j], a[best * n + j]] = [a[best * n + j], a[k * n + j]];
    }
    for (let i = k + 1; i < m; i++) {
      const factor = a[k * n + k] === 0 ? 0 : a[i * n + k] / a[k * n + k];
      a[i * n + k] = factor;
      for (let j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return sign;
}

// X with A X = B, or Aᵀ X = B, in place: one triangle of a (n, n) is read; b has k columns.
function substituteTriangle(a, b, n, k, lower, turned, unit) {
  const forwards = lower !== turned, entry = (i, j) => (turned ? a[j * n + i] : a[i * n + j]);
  for (let step_ = 0; step_ < n; step_++) {
    const i = forwards ? step_ : n - 1 - step_;
    for (let c = 0; c < k; c++) {
      let sum = b[i * k + c];
      for (let j = forwards ? 0 : i + 1; j < (forwards ? i : n); j++) sum -= entry(i, j) * b[j * k + c];
      b[i * k + c] = unit ? sum : entry(i, i) === 0 ? NaN : sum / entry(i, i);
    }
  }
}

function exchange(b, rows, k, pivots, back) {
  const order = Array.from(pivots, (to, i) => [i, to]);
  for (const [i, j] of back ? order.reverse() : order) {
    if (i !== j) for (let c = 0; c < k; c++) [b[i * k + c], b[j * k + c]] = [b[j * k + c], b[i * k + c]];
  }
}

function solveFactored(packed, pivots, b, n, k, turned) {
  if (!turned) exchange(b, n, k, pivots, false);
  substituteTriangle(packed, b, n, k, !turned, turned, !turned);
  substituteTriangle(packed, b, n, k, turned, turned, turned);
  if (turned) exchange(b, n, k, pivots, true);
}

function solved(a, n, b, k) { // a copy of both is taken
  const packed = Float64Array.from(a), x = Float64Array.from(b), pivots = new Int32Array(n);
  eliminate(packed, n, n, pivots);
  solveFactored(packed, pivots, x, n, k, false);
  return x;
}

const unitMatrix = (n) => Float64Array.from({ length: n * n }, (_, i) => (i % (n + 1) ? 0 : 1));

function determinant(a, n) { // [sign, logarithm of the size, the determinant itself]
  const packed = Float64Array.from(a);
  let product = eliminate(packed, n, n, new Int32Array(n)), sign = Math.sign(product), size = 0;
  for (let i = 0; i < n; i++) {
    const d = packed[i * (n + 1)];
    product *= d;
    sign *= Math.sign(d);
    size += Math.log(Math.abs(d));
  }
  return [sign, size, product];
}

function minors(a, n, to, at) { // each element's cofactor, by the determinant without its row and column
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const rest = [];
      for (let r = 0; r < n; r++) for (let c = 0; c < n; c++) if (r !== i && c !== j) rest.push(a[r * n + c]);
      to[at + i * n + j] = ((i + j) % 2 ? -1 : 1) * determinant(rest, n - 1)[2];
    }
  }
}

function minorsAlong(a, e, n, to, at) { // how these change along e: a row of it at a time in place of that of a
  const found = new Float64Array(n * n);
  to.fill(0, at, at + n * n);
  for (let k = 0; k < n; k++) {
    const moved = Array.from(a);
    for (let c = 0; c < n; c++) moved[k * n + c] = e[k * n + c];
    minors(moved, n, found, 0);
    for (let i = 0; i < n; i++) if (i !== k) for (let j = 0; j < n; j++) to[at + i * n + j] += found[i * n + j];
  }
}

// The cotangent of A = L Lᵀ from L and that of L: herm(L⁻ᵀ Φ(Lᵀ u) L⁻¹), Φ the lower triangle with half the diagonal
// (I. Murray, "Differentiation of the Cholesky decomposition", 2016).
function choleskyBack(factor, u, n, to, at) {
  const phi = new Float64Array(n * n), inverse = unitMatrix(n), half = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) {
    for (let k = i; k < n; k++) phi[i * n + j] += factor[at + k * n + i] * (k >= j ? u[at + k * n + j] : 0);
    if (i === j) phi[i * n + j] /= 2;
  }
  substituteTriangle(factor.subarray(at, at + n * n), inverse, n, n, true, false, false);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) for (let k = 0; k < n; k++) half[i * n + j] += phi[i * n + k] * inverse[k * n + j];
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += inverse[k * n + i] * half[k * n + j] + inverse[k * n + j] * half[k * n + i];
    to[at + i * n + j] = sum / 2;
  }
}

// The cosine or sine transform of one line, unscaled, by its definition.
const TRANSFORMS = {
  c1: (x, n, k) => x(0) + (k % 2 ? -1 : 1) * x(n - 1) + 2 * total_(1, n - 1, (j) => x(j) * Math.cos((Math.PI * ((k * j) % (2 * n - 2))) / (n - 1))),
  c2: (x, n, k) => 2 * total_(0, n, (j) => x(j) * Math.cos((Math.PI * ((k * (2 * j + 1)) % (4 * n))) / (2 * n))),
  c3: (x, n, k) => x(0) + 2 * total_(1, n, (j) => x(j) * Math.cos((Math.PI * (((2 * k + 1) * j) % (4 * n))) / (2 * n))),
  c4: (x, n, k) => 2 * total_(0, n, (j) => x(j) * Math.cos((Math.PI * (((2 * k + 1) * (2 * j + 1)) % (8 * n))) / (4 * n))),
  s1: (x, n, k) => 2 * total_(0, n, (j) => x(j) * Math.sin((Math.PI * (((k + 1) * (j + 1)) % (2 * n + 2))) / (n + 1))),
  s2: (x, n, k) => 2 * total_(0, n, (j) => x(j) * Math.sin((Math.PI * (((k + 1) * (2 * j + 1)) % (4 * n))) / (2 * n))),
  s3: (x, n, k) => (k % 2 ? -1 : 1) * x(n - 1) + 2 * total_(0, n - 1, (j) => x(j) * Math.sin((Math.PI * (((2 * k + 1) * (j + 1)) % (4 * n))) / (2 * n))),
  s4: (x, n, k) => 2 * total_(0, n, (j) => x(j) * Math.sin((Math.PI * (((2 * k + 1) * (2 * j + 1)) % (8 * n))) / (4 * n))),
};
function total_(from, to, term) {
  let sum = 0;
  for (let j = from; j < to; j++) sum += term(j);
  return sum;
}

function transforming(out, x, [kind, number, axes]) {
  const to = out.data, one = TRANSFORMS[kind + number];
  const passes = axes.map((axis) => {
    const at = axis < 0 ? axis + x.shape.length : axis, n = x.shape[at];
    return alongAxis(x.shape, at, (start, step) => {
      const line = Array.from({ length: n }, (_, i) => to[start + i * step]);
      for (let k = 0; k < n; k++) to[start + k * step] = one((j) => line[j], n, k);
    });
  });
  return () => { to.set(x.data); for (const pass of passes) pass(); };
}

const part = (slot, at, size) => slot.data.subarray(at, at + size);

Object.assign(ARRAY_STEPS, {
  cholesky: (_, out, [a]) => { const n = a.shape[a.shape.length - 1]; return eachMatrix([a.shape], (at) => choleskyInto(out.data, n, a.data, at)); },
  cholesky_adjoint: (_, out, [factor, u]) => { const n = u.shape[u.shape.length - 1]; return eachMatrix([u.shape], (at) => choleskyBack(factor.data, u.data, n, out.data, at)); },
  solve_triangular: ([lower, turned, unit], out, [a, b]) => {
    const [n, k] = b.shape.slice(-2);
    return eachMatrix([a.shape, b.shape], (p, q) => {
      out.data.set(part(b, q, n * k), q);
      substituteTriangle(part(a, p, n * n), part(out, q, n * k), n, k, lower, turned, unit);
    });
  },
  solve: (_, out, [a, b]) => { const [n, k] = b.shape.slice(-2); return eachMatrix([a.shape, b.shape], (p, q) => out.data.set(solved(part(a, p, n * n), n, part(b, q, n * k), k), q)); },
  solve_factored: ([turned], out, [, packed, pivots, b]) => {
    const [n, k] = b.shape.slice(-2);
    return eachMatrix([packed.shape, b.shape], (p, q) => {
      out.data.set(part(b, q, n * k), q);
      solveFactored(part(packed, p, n * n), part(pivots, p / n, n), part(out, q, n * k), n, k, turned);
    });
  },
  inv: (_, out, [a]) => { const n = a.shape[a.shape.length - 1]; return eachMatrix([a.shape], (at) => out.data.set(solved(part(a, at, n * n), n, unitMatrix(n), n), at)); },
  lu: (_, { parts: [packed, pivots] }, [a]) => {
    const [m, n] = a.shape.slice(-2), few = Math.min(m, n);
    return eachMatrix([a.shape], (at) => {
      packed.data.set(part(a, at, m * n), at);
      eliminate(part(packed, at, m * n), m, n, part(pivots, (at / (m * n)) * few, few));
    });
  },
  permute_rows: ([back], out, [b, pivots]) => {
    const [m, k] = b.shape.slice(-2), few = pivots.shape[pivots.shape.length - 1];
    return eachMatrix([b.shape], (at) => {
      out.data.set(part(b, at, m * k), at);
      exchange(part(out, at, m * k), m, k, part(pivots, (at / (m * k)) * few, few), back);
    });
  },
  slogdet: (_, { parts: [sign, size] }, [a]) => {
    const n = a.shape[a.shape.length - 1];
    return eachMatrix([a.shape], (at) => { [sign.data[at / (n * n)], size.data[at / (n * n)]] = determinant(part(a, at, n * n), n); });
  },
  det: (_, out, [a]) => { const n = a.shape[a.shape.length - 1]; return eachMatrix([a.shape], (at) => { out.data[at / (n * n)] = determinant(part(a, at, n * n), n)[2]; }); },
  cofactors: (_, out, [a]) => { const n = a.shape[a.shape.length - 1]; return eachMatrix([a.shape], (at) => minors(part(a, at, n * n), n, out.data, at)); },
  cofactors_along: (_, out, [a, e]) => { const n = a.shape[a.shape.length - 1]; return eachMatrix([a.shape], (at) => minorsAlong(part(a, at, n * n), part(e, at, n * n), n, out.data, at)); },
  conditioned: (_, out, [a]) => () => out.data.set(a.data),
  trigonometric_transform: (attributes, out, [x]) => transforming(out, x, attributes),
});
