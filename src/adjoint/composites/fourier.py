"""Fourier transforms on nodes: arguments checked, lengths adjusted, and what is composed of the transforms."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.composites import products, shaping
from adjoint.dtypes import bool_, complex_of
from adjoint.graph import Node, array_type
from adjoint.primitives import fourier
from adjoint.primitives.core import cast, conjugate, inexact, ops, same_type
from adjoint.shapes import Shape, broadcast_shapes, normalize_axis, size_of

NORMS = ("backward", "ortho", "forward")


def _norm(name: str, norm: Any) -> str:
    if norm is None:
        return "backward"
    if norm not in NORMS:
        raise ValueError(f"{name}: norm is 'backward', 'ortho' or 'forward', got {norm!r}")
    return str(norm)


def _axes(name: str, x: Node, s: Any, axes: Any) -> tuple[tuple[int, ...], list[int | None]]:
    """The axes counted from the end, and the length asked for along each."""
    lengths = None if s is None else [None if n is None else operator.index(n) for n in s]
    if axes is None:
        count = x.ndim if lengths is None else len(lengths)
        axes = range(-count, 0)
    found = tuple(normalize_axis(a, x.ndim, name) - x.ndim for a in axes)
    if len(set(found)) != len(found):
        raise ValueError(f"{name}: axes {tuple(axes)} name an axis twice")
    if lengths is not None and len(lengths) != len(found):
        raise ValueError(f"{name}: {len(lengths)} lengths for {len(found)} axes")
    if lengths is None:
        return found, [None] * len(found)
    # -1 is the axis's own length even where another would be the default, as of irfft
    return found, [x.shape[a] if n == -1 else n for a, n in zip(found, lengths, strict=True)]


def resized(name: str, x: Node, axes: Sequence[int], lengths: Sequence[int | None]) -> Node:
    """x cut or filled with zeros to lengths along axes. Raises ValueError for a length below one."""
    shape = list(x.shape)
    for axis, n in zip(axes, lengths, strict=True):
        wanted = shape[axis] if n is None else n
        if wanted < 1:
            raise ValueError(f"{name}: a transform needs at least one element along axis {axis} of shape {x.shape}")
        shape[axis] = wanted
    kept = tuple((0, min(n, m), 1) for n, m in zip(x.shape, shape, strict=True))
    return ops.embed(ops.slice_(x, kept), tuple(shape), kept)


def along_one(f: Callable[..., Node], name: str, x: Node, n: Any, axis: int, *others: Any) -> Node:
    """f along one axis with n elements (None: its own length). Raises ValueError for n below one: -1 is an axis's own length
    among the lengths of several axes alone, in NumPy and in SciPy."""
    if n is not None and operator.index(n) < 1:
        raise ValueError(f"{name}: a transform needs at least one element, got n={n}")
    return f(name, x, [n], (axis,), *others)


def fft(name: str, x: Node, s: Any, axes: Any, norm: Any, inverse: bool) -> Node:
    x, norm = inexact(x), _norm(name, norm)
    places, lengths = _axes(name, x, s, axes)
    if not places:
        return cast(x, complex_of(x.dtype))
    return ops.fft(resized(name, x, places, lengths), places, inverse, norm)


def rfft(name: str, x: Node, s: Any, axes: Any, norm: Any) -> Node:
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, got {x.dtype.name}; use {name.replace('r', '', 1)}")
    x, norm = inexact(x), _norm(name, norm)
    places, lengths = _axes(name, x, s, axes)
    if not places:
        raise ValueError(f"{name}: at least one axis is needed, got shape {x.shape}")
    return ops.rfft(resized(name, x, places, lengths), places, norm)


def irfft(name: str, x: Node, s: Any, axes: Any, norm: Any) -> Node:
    x, norm = inexact(x), _norm(name, norm)
    x = cast(x, complex_of(x.dtype))
    places, lengths = _axes(name, x, s, axes)
    if not places:
        raise ValueError(f"{name}: at least one axis is needed, got shape {x.shape}")
    last = lengths[-1]
    n = 2 * (x.shape[places[-1]] - 1) if last is None else last
    if n < 1:
        raise ValueError(
            f"{name}: a result of {n} elements along axis {places[-1]} of shape {x.shape}; give its length"
        )
    return ops.irfft(resized(name, x, places, [*lengths[:-1], n // 2 + 1]), places, n, norm)


def hfft(name: str, x: Node, s: Any, axes: Any, norm: Any) -> Node:
    return irfft(name, conjugate(x), s, axes, fourier.OTHER[_norm(name, norm)])


def ihfft(name: str, x: Node, s: Any, axes: Any, norm: Any) -> Node:
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, got {x.dtype.name}")
    return conjugate(rfft(name, x, s, axes, fourier.OTHER[_norm(name, norm)]))


# Cosine and sine transforms -------------------------------------------------------------------------------------------


def trigonometric(
    name: str, x: Node, s: Any, axes: Any, norm: Any, kind: str, number: Any, orthogonalize: Any, inverse: bool
) -> Node:
    """SciPy's dctn, dstn and their inverses. The inverse of a type is another, with the scale in the other direction."""
    if number not in (1, 2, 3, 4):
        raise ValueError(f"{name}: type is 1, 2, 3 or 4, got {number!r}")
    x, norm = inexact(x), _norm(name, norm)
    places, lengths = _axes(name, x, s, axes)
    x = resized(name, x, places, lengths)
    orthogonal = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
    if inverse:
        number = {2: 3, 3: 2}.get(number, number)
    if kind == "c" and number == 1 and any(x.shape[a] < 2 for a in places):
        raise ValueError(f"{name}: type 1 needs at least two elements, got shape {x.shape}")
    if not places or not x.type.size:
        return x
    root = math.sqrt(0.5)
    if orthogonal:
        for axis in places:
            x = _weighed_before(x, kind, number, axis, 1 / root)
    x = ops.trigonometric(x, kind, number, places)
    if orthogonal:
        for axis in places:
            x = _weighed_after(x, kind, number, axis, root)
    shift = 0 if number != 1 else -1 if kind == "c" else 1
    total = math.prod(2.0 * (x.shape[a] + shift) for a in places)
    scale = 1 / math.sqrt(total) if norm == "ortho" else 1 / total if (norm == "forward") != inverse else 1.0
    return x if scale == 1.0 else ops.multiply(x, scale)


def _weighed_before(x: Node, kind: str, number: int, axis: int, factor: float) -> Node:
    if number == 1 and kind == "c":
        return fourier.ends_weighed(x, axis, (factor, factor), 1.0)
    return fourier.one_end(x, kind, axis, factor) if number == 3 else x


def _weighed_after(x: Node, kind: str, number: int, axis: int, factor: float) -> Node:
    if number == 1 and kind == "c":
        return fourier.ends_weighed(x, axis, (factor, factor), 1.0)
    return fourier.one_end(x, kind, axis, factor) if number == 2 else x


# Shifts ---------------------------------------------------------------------------------------------------------------


def shift(name: str, x: Node, axes: Any, inverse: bool) -> Node:
    """Zero frequency moved to the middle, or back."""
    if axes is None:
        places = list(range(x.ndim))
    else:
        places = [normalize_axis(a, x.ndim, name) for a in (axes if isinstance(axes, (tuple, list)) else (axes,))]
    return shaping.roll(x, [-(x.shape[a] // 2) if inverse else x.shape[a] // 2 for a in places], tuple(places))


def next_fast_len(target: int, real: bool) -> int:
    """The next length whose prime factors are at most 5 (real transforms) or 11."""
    target = operator.index(target)
    if target < 1:
        raise ValueError(f"next_fast_len: a length is positive, got {target}")
    primes = (2, 3, 5) if real else (2, 3, 5, 7, 11)
    n = target
    while True:
        rest = n
        for p in primes:
            while rest % p == 0:
                rest //= p
        if rest == 1:
            return n
        n += 1


# Convolution ----------------------------------------------------------------------------------------------------------

DIRECT = 32  # elements of the shorter operand up to which products are added up one by one
FEW, SHORT = 8, 1 << 12  # elements of the shorter and the longer operand up to which that is no product of matrices


def convolve(name: str, a: Node, b: Node, mode: str, method: str, axes: Any = None) -> Node:
    """SciPy's convolve over all axes (or some; the others broadcast)."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode is 'full', 'same' or 'valid', got {mode!r}")
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"{name}: method is 'auto', 'direct' or 'fft', got {method!r}")
    if a.ndim != b.ndim:
        raise ValueError(f"{name}: operands have equally many axes, got shapes {a.shape} and {b.shape}")
    a, b = same_type(name, [a, b])
    places = tuple(range(a.ndim)) if axes is None else tuple(
        normalize_axis(i, a.ndim, name) for i in (axes if isinstance(axes, (tuple, list)) else (axes,)))  # fmt: skip
    first, second = [a.shape[i] for i in places], [b.shape[i] for i in places]
    if not all(first) or not all(second) or not a.type.size or not b.type.size:
        raise ValueError(f"{name}: operands of shapes {a.shape} and {b.shape} have no elements")
    if not places:
        return ops.multiply(a, b)
    if mode == "valid" and not all(m >= n for m, n in zip(first, second, strict=True)):
        if not all(n >= m for m, n in zip(first, second, strict=True)):
            raise ValueError(f"{name}: for mode 'valid' one shape is at least the other along every axis, got {a.shape} "
                             f"and {b.shape}")  # fmt: skip
        a, b, first, second = b, a, second, first
    short = min(size_of(tuple(first)), size_of(tuple(second)))
    if method == "direct" or not a.dtype.inexact or (method == "auto" and short <= DIRECT and axes is None):
        if axes is not None:
            raise ValueError(f"{name}: axes are for floating numbers, got {a.dtype.name}")
        full = _added_up(a, b) if size_of(tuple(first)) >= size_of(tuple(second)) else _added_up(b, a)
    else:
        full = _by_transform(name, a, b, places, first, second)
    whole = [m + n - 1 for m, n in zip(first, second, strict=True)]
    sizes = {"full": whole, "same": first, "valid": [m - n + 1 for m, n in zip(first, second, strict=True)]}[mode]
    cut = [(0, n, 1) for n in full.shape]
    for i, n, m in zip(places, whole, sizes, strict=True):
        cut[i] = ((n - m) // 2, m, 1)
    return ops.slice_(full, tuple(cut))


def _by_transform(name: str, a: Node, b: Node, places: Shape, first: list[int], second: list[int]) -> Node:
    real = a.dtype.kind != "c"
    rest = [
        (1 if i in places else m, 1 if i in places else n)
        for i, (m, n) in enumerate(zip(a.shape, b.shape, strict=True))
    ]
    broadcast_shapes(name, tuple(m for m, _ in rest), tuple(n for _, n in rest))
    whole = [m + n - 1 for m, n in zip(first, second, strict=True)]
    lengths = [next_fast_len(n, real) for n in whole]
    if real:
        product = ops.multiply(rfft(name, a, lengths, places, None), rfft(name, b, lengths, places, None))
        full = irfft(name, product, lengths, places, None)
    else:
        product = ops.multiply(
            fft(name, a, lengths, places, None, inverse=False), fft(name, b, lengths, places, None, inverse=False)
        )
        full = fft(name, product, None, places, None, inverse=True)
    cut = [(0, n, 1) for n in full.shape]
    for i, n in zip(places, whole, strict=True):
        cut[i] = (0, n, 1)
    return ops.slice_(full, tuple(cut))


def _added_up(a: Node, b: Node) -> Node:
    """The whole convolution as sums of products; b is the shorter operand. Where it reaches beyond a, only what meets is
    multiplied: a zero there would make NaN of what isn't finite."""
    k = b.type.size
    if k <= FEW or (k <= DIRECT and (a.ndim > 1 or a.type.size <= SHORT)):
        return _shifted(a, b)
    if a.ndim > 1:
        return _masked(a, b, [(n - 1, n - 1) for n in b.shape])
    front = ops.slice_(a, ((0, k - 1, 1),))
    back = ops.slice_(a, ((a.shape[0] - k + 1, k - 1, 1),))
    return ops.concat([_masked(front, b, [(k - 1, 0)]), _within(a, b), _masked(back, b, [(0, k - 1)])], 0)


def _shifted(a: Node, b: Node) -> Node:
    """The sum of a's copies, each moved to an element of b and multiplied by it."""
    total = None
    for place in np.ndindex(b.shape):
        element = ops.reshape(ops.slice_(b, tuple((i, 1, 1) for i in place)), (1,) * a.ndim)
        product = ops.multiply(a, ops.broadcast_to(element, a.shape))
        copy = shaping.pad(product, [(i, n - 1 - i) for i, n in zip(place, b.shape, strict=True)], 0)
        total = copy if total is None else ops.add(total, copy)
    assert total is not None
    return total


def _windows(a: Node, sizes: Shape) -> tuple[Node, Shape]:
    """The windows of a as a matrix: a row for each element of a window. And how often one fits along each axis."""
    ones = (1,) * a.ndim
    windows = ops.windows(a, (sizes, ones, ones, a.shape))
    counts = windows.shape[a.ndim :]
    return ops.reshape(windows, (size_of(sizes), size_of(counts))), counts


def _within(a: Node, b: Node) -> Node:
    """Where b lies within a."""
    windows, counts = _windows(a, b.shape)
    turned = ops.reshape(shaping.flip(b, None), (1, b.type.size))
    return ops.reshape(products.matmul(turned, windows), counts)


def _masked(a: Node, b: Node, pads: list[tuple[int, int]]) -> Node:
    """The sums of products around a that begin and end beyond it."""
    windows, counts = _windows(shaping.pad(a, pads, 0), b.shape)
    there, _ = _windows(shaping.pad(ops.full(value=True, type=array_type(a.shape, bool_)), pads, value=False), b.shape)
    turned = ops.reshape(shaping.flip(b, None), (b.type.size, 1))
    products = ops.multiply(windows, ops.broadcast_to(turned, windows.shape))
    return ops.reshape(cast(ops.sum(ops.where(there, products, ops.zeros(products.type)), (0,)), a.dtype), counts)


def correlate(name: str, a: Node, b: Node, mode: str, method: str) -> Node:
    """SciPy's correlate: element k is the sum of a[n + k] conj(b[n])."""
    swapped = mode == "valid" and a.ndim == b.ndim and any(m < n for m, n in zip(a.shape, b.shape, strict=True))
    if swapped:
        return conjugate(shaping.flip(correlate(name, b, a, mode, method), None))
    return convolve(name, a, conjugate(shaping.flip(b, None)), mode, method)


def frequencies(n: Any, d: float, real: bool, name: str) -> Any:
    """The frequencies of a transform of n elements d apart, in float64."""
    count = operator.index(n)
    if count < 1:
        raise ValueError(f"{name}: a transform has at least one element, got {count}")
    return (np.fft.rfftfreq if real else np.fft.fftfreq)(count, d)
