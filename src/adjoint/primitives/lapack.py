"""What NumPy's linear algebra lacks: triangular systems, LU and Schur factors, for stacks of matrices.

Each works in two ways: through OpenBLAS where its wheel is there and the matrices are large enough for a call each, else
with NumPy alone, all matrices of a stack at once. Matrices are the last two axes, row by row.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from adjoint import _openblas
from adjoint.errors import LinAlgError

Array = np.ndarray[Any, Any]

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
SCALARS = {"s": ctypes.c_float, "d": ctypes.c_double}
ROW_MAJOR, LEFT, UPPER, LOWER, PLAIN, ADJOINT, DIVIDE, UNIT = 101, 141, 121, 122, 111, 113, 131, 132
LARGE = 24  # rows from which a call of LAPACK for each matrix beats NumPy's steps over all of them
FEW = 4  # matrices for which such calls are always the better way


def _function(name: str, a: Array) -> Any:
    """A function of OpenBLAS for a's dtype, where it is there and worth a call for each of a's matrices; else None."""
    if a.shape[-1] < LARGE and a.size > FEW * a.shape[-1] * a.shape[-2]:
        return None
    library = _openblas.library()
    return None if library is None else getattr(library, name.replace("?", LETTERS[a.dtype.name]), None)


def _pointer(a: Array) -> Any:
    return ctypes.c_void_p(a.ctypes.data)


def conjugate_transpose(a: Array) -> Array:
    """The conjugate transpose of each matrix; of real ones a view."""
    swapped = a.swapaxes(-1, -2)
    return np.conj(swapped) if a.dtype.kind == "c" else swapped


def stacked(a: Array) -> Array:
    """The matrices of any batch along one axis."""
    return a.reshape((-1, *a.shape[-2:])) if a.size else a.reshape((0, *a.shape[-2:]))


# Triangular systems ---------------------------------------------------------------------------------------------------


def solve_triangular(a: Array, b: Array, lower: bool, adjoint: bool, unit: bool, out: Array | None = None) -> Array:
    """X with A X = B, or Aᴴ X = B, reading one triangle of A (..., n, n) alone; B (..., n, k). `out` is row-major."""
    x: Array = np.empty(b.shape, b.dtype) if out is None else out
    np.copyto(x, b)
    if b.size == 0:
        return x
    function = _function("scipy_cblas_?trsm", a)
    if function is None:
        if adjoint:
            a, lower = conjugate_transpose(a), not lower
        _substitute(a, x, lower, unit)
        return x
    n, k = x.shape[-2], x.shape[-1]
    letter = LETTERS[a.dtype.name]
    unity = np.ones(1, a.dtype)
    one = SCALARS[letter](1.0) if letter in SCALARS else _pointer(unity)
    modes = (ROW_MAJOR, LEFT, LOWER if lower else UPPER, ADJOINT if adjoint else PLAIN, UNIT if unit else DIVIDE)
    for matrix, columns in zip(stacked(np.ascontiguousarray(a)), stacked(x), strict=True):
        function(*modes, n, k, one, _pointer(matrix), n, _pointer(columns), k)
    return x


def _substitute(a: Array, x: Array, lower: bool, unit: bool) -> None:
    """Solve in place, halving: the first half of the rows, what it takes from the others by one product, the rest."""
    n = a.shape[-1]
    if n == 1:
        if not unit:
            np.divide(x, a, out=x)
        return
    half = n // 2
    first, rest = (slice(0, half), slice(half, n)) if lower else (slice(half, n), slice(0, half))
    _substitute(a[..., first, first], x[..., first, :], lower, unit)
    x[..., rest, :] -= a[..., rest, first] @ x[..., first, :]
    _substitute(a[..., rest, rest], x[..., rest, :], lower, unit)


# LU factors -----------------------------------------------------------------------------------------------------------


def lu(a: Array) -> tuple[Array, Array]:
    """LU by partial pivoting: L and U in one array (..., m, n), and for each step the row that was exchanged (int32). Of a matrix
    that isn't finite L and U are NaN, and no row is exchanged."""
    packed = np.array(a, order="C")
    m, n = packed.shape[-2:]
    pivots = np.zeros((*packed.shape[:-2], min(m, n)), np.int32)
    if not packed.size:
        return packed, pivots
    function = _function("scipy_LAPACKE_?getrf", packed)
    matrices, swaps = stacked(packed), pivots.reshape((-1, pivots.shape[-1]))
    unsound = ~np.isfinite(matrices).all(axis=(-2, -1))
    if function is None:
        _eliminate(matrices, swaps)
    else:
        for matrix, rows in zip(matrices, swaps, strict=True):
            function(ROW_MAJOR, m, n, _pointer(matrix), n, _pointer(rows))
        pivots -= 1
    if unsound.any():
        matrices[unsound], swaps[unsound] = np.nan, np.arange(min(m, n))
    return packed, pivots


def _eliminate(a: Array, pivots: Array) -> None:
    """Gaussian elimination in place, step by step, for all matrices at once."""
    every = np.arange(len(a))
    for k in range(pivots.shape[-1]):
        column = a[:, k:, k]
        size = np.abs(column) if a.dtype.kind == "f" else np.abs(column.real) + np.abs(column.imag)  # LAPACK's measure
        best = k + np.argmax(size, axis=-1)
        pivots[:, k] = best
        rows = a[every, best]
        a[every, best] = a[:, k]
        a[:, k] = rows
        pivot = rows[:, k, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(pivot == 0, 0, a[:, k + 1 :, k] / pivot)
        a[:, k + 1 :, k] = factors
        a[:, k + 1 :, k + 1 :] -= factors[:, :, None] * rows[:, None, k + 1 :]


def permutation(pivots: Array, rows: int) -> Array:
    """The order of rows (..., rows) that a sequence of exchanges leaves."""
    lead = pivots.shape[:-1]
    swaps = pivots.reshape((math.prod(lead), pivots.shape[-1]))
    order = np.tile(np.arange(rows), (len(swaps), 1))
    every = np.arange(len(swaps))
    for k in range(swaps.shape[-1]):
        other = swaps[:, k]
        moved = order[every, other]
        order[every, other] = order[:, k]
        order[:, k] = moved
    return order.reshape((*lead, rows))


def permute_rows(b: Array, pivots: Array, inverse: bool) -> Array:
    """The rows of each matrix exchanged as elimination did, or put back."""
    order = permutation(pivots, b.shape[-2])
    if inverse:
        order = np.argsort(order, axis=-1)
    return np.take_along_axis(b, order[..., None], axis=-2)


def lu_solve(packed: Array, pivots: Array, b: Array, adjoint: bool) -> Array:
    """X with A X = B, or Aᴴ X = B, from the factors of A."""
    if adjoint:
        y = solve_triangular(packed, b, lower=False, adjoint=True, unit=False)
        return permute_rows(solve_triangular(packed, y, lower=True, adjoint=True, unit=True), pivots, inverse=True)
    y = solve_triangular(packed, permute_rows(b, pivots, inverse=False), lower=True, adjoint=False, unit=True)
    return solve_triangular(packed, y, lower=False, adjoint=False, unit=False)


# Eigenvectors and singular vectors ------------------------------------------------------------------------------------

# Their signs are whatever LAPACK makes them: native programs and these get them of the same library, with the same memory.

PANEL = 64  # columns that LAPACK treats together, at most


def eigh_work(n: int, complex: bool, vectors: bool) -> tuple[int, int, int]:
    """Numbers, real numbers (of complex matrices alone) and integers that ?syevd and ?heevd work in."""
    real = 1 + 6 * n + 2 * n * n if vectors else 2 * n + 1
    return (n * n + (2 + PANEL) * n, real + n, 3 + 5 * n) if complex else (real + PANEL * n, 0, 3 + 5 * n)


def svd_work(m: int, n: int, complex: bool) -> tuple[int, int, int]:
    """Numbers, real numbers (of complex matrices alone) and integers that ?gesdd works in."""
    k, most = min(m, n), max(m, n)
    real = max(5 * k * k + 7 * k, 2 * most * k + 2 * k * k + k)
    return 4 * k * k + 7 * k + PANEL * (m + n), real if complex else 0, 8 * k


def _lapack(name: str, a: Array) -> Any:
    """A function of LAPACK for a's dtype; None where the library isn't there or nothing is to be done."""
    library = _openblas.library() if a.size and a.dtype.name in LETTERS else None
    return None if library is None else getattr(library, name.replace("?", LETTERS[a.dtype.name]), None)


def _by_columns(a: Array) -> Array:
    """The matrices in memory as LAPACK takes them, transposed as NumPy sees it."""
    return np.array(stacked(a).swapaxes(-1, -2), order="C")


def _numbers(*given: int) -> list[Any]:
    return [ctypes.byref(ctypes.c_int(x)) for x in given]


def _for_each(function: Any, arguments: list[Any], arrays: dict[int, Array], letters: int) -> None:
    """Call a function for each matrix: at the places of `arrays` the addresses of its parts of these. Raises LinAlgError where
    one fails."""
    pointers = {k: ctypes.c_void_p(x.ctypes.data) for k, x in arrays.items()}
    info = ctypes.c_int(0)
    given = (
        [pointers.get(k, x) for k, x in enumerate(arguments)] + [ctypes.byref(info)] + [ctypes.c_size_t(1)] * letters
    )
    for _ in range(len(next(iter(arrays.values())))):
        function(*given)
        if info.value > 0:
            raise LinAlgError(f"{info.value}")
        for k, pointer in pointers.items():
            pointer.value = (pointer.value or 0) + arrays[k].strides[0]


def eigh(a: Array, upper: bool) -> tuple[Array, Array] | None:
    """Eigenvalues and eigenvectors of Hermitian matrices; None where NumPy is to be asked."""
    is_complex, n = a.dtype.kind == "c", a.shape[-1]
    function = _lapack("scipy_?heevd_" if is_complex else "scipy_?syevd_", a)
    if function is None:
        return None
    vectors = _by_columns(a)
    values = np.empty((len(vectors), n), a.real.dtype)
    sizes = eigh_work(n, is_complex, vectors=True)
    order, *lengths = _numbers(n, *sizes)
    work = [np.empty(size, dtype) for size, dtype in zip(sizes, (a.dtype, a.real.dtype, np.int32), strict=True)]
    rooms = [x for pair in zip(map(_pointer, work), lengths, strict=True) for x in pair]
    given = [ctypes.c_char_p(b"V"), ctypes.c_char_p(b"U" if upper else b"L"), order, None, order, None, *rooms[:2],
             *(rooms[2:4] if is_complex else ()), *rooms[4:]]  # fmt: skip
    _for_each(function, given, {3: vectors, 5: values}, 2)
    return values.reshape(a.shape[:-1]), np.array(vectors.swapaxes(-1, -2), order="C").reshape(a.shape)


def svd(a: Array, full: bool) -> tuple[Array, Array, Array] | None:
    """U, singular values and Vᴴ; None where NumPy is to be asked."""
    function = _lapack("scipy_?gesdd_", a)
    if function is None:
        return None
    *lead, m, n = a.shape
    k = min(m, n)
    wide, high = (m, n) if full else (k, k)
    is_complex, matrices = a.dtype.kind == "c", _by_columns(a)
    count = len(matrices)
    u, vh = np.empty((count, wide, m), a.dtype), np.empty((count, n, high), a.dtype)
    values = np.empty((count, k), a.real.dtype)
    sizes = svd_work(m, n, is_complex)
    rows, columns, tall, length = _numbers(m, n, high, sizes[0])
    work = [np.empty(size, dtype) for size, dtype in zip(sizes, (a.dtype, a.real.dtype, np.int32), strict=True)]
    room, real, whole = map(_pointer, work)
    given = [ctypes.c_char_p(b"A" if full else b"S"), rows, columns, None, rows, None, None, rows, None, tall, room, length,
             *((real,) if is_complex else ()), whole]  # fmt: skip
    _for_each(function, given, {3: matrices, 5: values, 6: u, 8: vh}, 1)
    rights, lefts = [np.array(x.swapaxes(-1, -2), order="C") for x in (vh, u)]
    return lefts.reshape((*lead, m, wide)), values.reshape((*lead, k)), rights.reshape((*lead, high, n))


# Schur form -----------------------------------------------------------------------------------------------------------


def schur(a: Array) -> tuple[Array, Array]:
    """The complex Schur form of one matrix (n, n): T upper triangular and Z unitary with A = Z T Zᴴ."""
    t = np.array(a, np.complex64 if a.dtype.itemsize // (1 + (a.dtype.kind == "c")) == 4 else np.complex128, order="C")
    n = len(t)
    z = np.eye(n, dtype=t.dtype)
    library = _openblas.library()
    function = None if library is None else getattr(library, f"scipy_LAPACKE_{LETTERS[t.dtype.name]}gees", None)
    if n < 2:
        return t, z
    if function is None:
        return _shifted_qr(t, z)
    found, values = ctypes.c_int(0), np.empty(n, t.dtype)
    vectors, unsorted = ctypes.c_char(b"V"), ctypes.c_char(b"N")
    function(
        ROW_MAJOR, vectors, unsorted, None, n, _pointer(t), n, ctypes.byref(found), _pointer(values), _pointer(z), n
    )
    return t, z


def _shifted_qr(t: Array, z: Array) -> tuple[Array, Array]:
    """The QR algorithm with Wilkinson's shift, one eigenvalue after another from the end."""
    size, precision = np.linalg.norm(t), np.finfo(t.dtype).eps
    last, steps = len(t), 0
    while last > 1:
        if np.linalg.norm(t[last - 1, : last - 1]) <= precision * size:
            t[last - 1, : last - 1] = 0
            last, steps = last - 1, 0
            continue
        steps += 1
        if steps > 300:
            raise LinAlgError("the Schur form did not converge")
        corner = t[last - 2 : last, last - 2 : last]
        values = np.linalg.eigvals(corner)
        shift = values[np.argmin(np.abs(values - corner[1, 1]))]
        if steps % 10 == 0:  # a shift out of line breaks a cycle
            shift = shift + np.abs(t[last - 1, last - 2])
        unit = shift * np.eye(last, dtype=t.dtype)
        q, r = np.linalg.qr(t[:last, :last] - unit)
        t[:last, :last] = r @ q + unit
        t[:last, last:] = conjugate_transpose(q) @ t[:last, last:]
        z[:, :last] = z[:, :last] @ q
    return np.triu(t), z
