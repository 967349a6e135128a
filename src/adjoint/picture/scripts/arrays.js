// Arrays: a slot is a typed array with a shape and a dtype, its elements in row-major order.

const STORES = {
  float64: Float64Array, float32: Float32Array, bool: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, complex128: Float64Array, complex64: Float32Array,
  int64: Float64Array, uint64: Float64Array, // whole numbers up to 2⁵³, all that counting and choosing needs
};

const countOf = (shape) => shape.reduce((count, n) => count * n, 1);

// Complex arrays: of each number the real and the imaginary part, one after the other.
const isComplex = ({ dtype }) => dtype !== undefined && dtype.startsWith("complex");
const withPairs = (slot) => (isComplex(slot) ? { dtype: slot.dtype, shape: [...slot.shape, 2], data: slot.data } : slot);

function slotOf(dtype, shape) {
  return { dtype, shape, data: new STORES[dtype](countOf(shape) * (isComplex({ dtype }) ? 2 : 1)) };
}

function stridesOf(shape) {
  const strides = new Array(shape.length);
  let step = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

// For each element of a shape, in order, the place offset + Σ index · stride: every view and its adjoint is such a table.
function places(shape, strides, offset = 0) {
  const found = new Int32Array(countOf(shape));
  const index = new Array(shape.length).fill(0);
  let at = offset;
  for (let i = 0; i < found.length; i++) {
    found[i] = at;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at += strides[axis];
      if (++index[axis] < shape[axis]) break;
      at -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return found;
}

// The strides with which a small shape is read as if it were broadcast to a larger one.
function broadcastStrides(small, large) {
  const strides = stridesOf(small), extra = large.length - small.length;
  return large.map((n, i) => (i < extra || (small[i - extra] === 1 && n !== 1) ? 0 : strides[i - extra]));
}

function eachOf(shape, rank, step) { // step(which), for each of the arrays that lie along the last `rank` axes
  const count = countOf(shape.slice(0, shape.length - rank));
  return () => { for (let i = 0; i < count; i++) step(i); };
}
const ownPart = (slot, which, rank) => { const size = countOf(slot.shape.slice(slot.shape.length - rank)); return slot.data.subarray(which * size, (which + 1) * size); };

// A shape as (elements before an axis, along it, after it).
function around(shape, axis) {
  return [countOf(shape.slice(0, axis)), shape[axis], countOf(shape.slice(axis + 1))];
}

// Numbers as JSON carries them: what is not finite is text.
const SPECIAL = { inf: Infinity, "-inf": -Infinity, nan: NaN };
const decoded = (x) => (typeof x === "string" ? SPECIAL[x] : Number(x));

// An array's elements as JSON carries them: one number for all, a list, or the bytes of many.
function fill(data, payload) {
  if (Array.isArray(payload)) data.set(payload.map(decoded));
  else if (payload !== null && typeof payload === "object") {
    const bytes = Uint8Array.from(atob(payload.bytes), (character) => character.charCodeAt(0));
    data.set(new data.constructor(bytes.buffer));
  } else data.fill(decoded(payload));
}

function fillAlike(data, x) { // with one number, or with one pair of a complex number's parts
  if (Array.isArray(x)) for (let i = 0; i < data.length; i++) data[i] = decoded(x[i % 2]);
  else data.fill(decoded(x));
}

function nestedList(data, shape, start = 0) {
  if (!shape.length) return data[start];
  const inner = shape.slice(1), size = countOf(inner);
  return Array.from({ length: shape[0] }, (_, i) => nestedList(data, inner, start + i * size));
}
