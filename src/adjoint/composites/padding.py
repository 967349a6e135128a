"""Padding: under PyTorch's names of modes, and under NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.composites.shaping import at, span, spread, widths_of
from adjoint.composites.shaping import pad as filled
from adjoint.dtypes import real_of
from adjoint.graph import Node
from adjoint.primitives.core import cast, inexact, ops


def _reflected(n: int, before: int, after: int) -> Any:
    """The positions of a mirror whose edges are the first and the last element."""
    if max(before, after) >= n:
        raise ValueError(f"pad: reflecting {(before, after)} elements needs more than there are, {n}")
    return np.pad(np.arange(n), (before, after), "reflect")


def _circular(n: int, before: int, after: int) -> Any:
    if max(before, after) > n:
        raise ValueError(f"pad: going around {(before, after)} elements needs as many as there are, {n}")
    return np.pad(np.arange(n), (before, after), "wrap")


POSITIONS: dict[str, Callable[[int, int, int], Any]] = {"reflect": _reflected, "circular": _circular}


def pad(x: Node, widths: list[tuple[int, int]], mode: str, value: complex) -> Node:
    """x with (before, after) elements more along each axis; negative widths leave elements out."""
    if mode == "replicate":
        return _clamped(x, widths)
    kept = [n + min(before, 0) + min(after, 0) for n, (before, after) in zip(x.shape, widths, strict=True)]
    if min(kept, default=0) < 0:
        raise ValueError(f"pad: widths {widths} leave less than nothing of shape {x.shape}")
    x = ops.slice_(x, tuple([(max(-w[0], 0), n, 1) for n, w in zip(kept, widths, strict=True)]))
    grown = [(max(before, 0), max(after, 0)) for before, after in widths]
    if mode == "constant":
        return filled(x, grown, value)
    for axis, (before, after) in enumerate(grown):
        if before or after:
            positions = POSITIONS[mode](x.shape[axis], before, after)
            x = _gathered(x, axis, positions, before, after)
    return x


def _clamped(x: Node, widths: list[tuple[int, int]]) -> Node:
    """x with its first and last elements repeated; what negative widths leave out is there to be repeated."""
    for axis, (before, after) in enumerate(widths):
        n = x.shape[axis]
        if before or after:
            if n + before + after < 0:
                raise ValueError(f"pad: widths {widths} leave less than nothing of shape {x.shape}")
            if not n and before + after:
                raise ValueError("pad: there is no element to replicate")
            start, stop = min(max(-before, 0), n), max(min(n, n + after), 0)
            grown = max(before, 0), max(after, 0)
            if start < stop:
                x = ops.slice_(
                    x, tuple([(start, stop - start, 1) if i == axis else (0, m, 1) for i, m in enumerate(x.shape)])
                )
                positions = np.clip(np.arange(-grown[0], stop - start + grown[1]), 0, stop - start - 1)
                x = _gathered(x, axis, positions, *grown)
            else:
                x = ops.take(x, ops.data(np.clip(np.arange(-before, n + after), 0, n - 1)), axis)
    return x


def _gathered(x: Node, axis: int, positions: Any, before: int, after: int) -> Node:
    """x between the elements at the first and the last of the positions along an axis."""
    parts = [at(x, axis, positions[:before])] if before else []
    parts.append(x)
    if after:
        parts.append(at(x, axis, positions[len(positions) - after :]))
    return ops.concat(parts, axis)


# NumPy's modes --------------------------------------------------------------------------------------------------------

MIRRORS = ("edge", "reflect", "symmetric", "wrap")
STATISTICS = ("maximum", "mean", "median", "minimum")


def in_mode(x: Node, widths: Any, mode: str, *, even: bool, length: Any, ends: Any) -> Node:
    """x padded axis after axis, each by what lies in it and what was put around the axes before: modes as NumPy has them."""
    pairs = widths_of(x, widths)
    lengths = None if length is None else np.broadcast_to(np.asarray(length), (x.ndim, 2)).tolist()
    values = np.broadcast_to(np.asarray(ends), (x.ndim, 2)).tolist() if x.ndim else []
    for axis, (before, after) in enumerate(pairs):
        n = x.shape[axis]
        if not before and not after:
            continue
        if not n:
            raise ValueError(f"pad: axis {axis} of shape {x.shape} has no elements to pad with, mode {mode!r}")
        if mode in MIRRORS:
            positions = np.pad(np.arange(n), (before, after), mode)  # type: ignore[call-overload]
            middle = x
            x = _gathered(x, axis, positions, before, after)
            if not even and mode in ("reflect", "symmetric"):
                x = _odd(x, middle, axis, before, after, mode)
        elif mode == "linear_ramp":
            sides = [
                _ramp(x, axis, w, v, i == 0) for i, (w, v) in enumerate(zip((before, after), values[axis], strict=True))
            ]
            x = ops.concat([sides[0], x, sides[1]], axis)
        else:
            counts = [n, n] if lengths is None else [max(min(c, n), 1) for c in lengths[axis]]
            parts = [
                _statistic(x, axis, mode, 0 if i == 0 else n - c, c, w)
                for i, (c, w) in enumerate(zip(counts, (before, after), strict=True))
            ]
            x = ops.concat([parts[0], x, parts[1]], axis)
    return x


def _odd(x: Node, middle: Node, axis: int, before: int, after: int, mode: str) -> Node:
    """Mirrored about the edge's value too: twice the edge less what the mirror shows. One mirror's length at most."""
    n = middle.shape[axis]
    if max(before, after) > (n - 1 if mode == "reflect" else n):
        raise ValueError(f"pad: reflect_type 'odd' by {(before, after)} needs more elements than axis {axis} has, {n}")
    pieces = []
    for start, size, edge in ((0, before, 0), (before, n, None), (before + n, after, n - 1)):
        piece = span(x, axis, start, size)
        if edge is not None:
            twice = ops.multiply(span(middle, axis, edge, 1), 2)
            piece = ops.subtract(spread(twice, axis, size), piece)
        pieces.append(piece)
    return ops.concat(pieces, axis)


def _ramp(x: Node, axis: int, width: int, end: Any, first: bool) -> Node:
    """From an end value straight to the edge, which isn't repeated."""
    edge = spread(span(x, axis, 0 if first else x.shape[axis] - 1, 1), axis, width)
    shares = np.linspace(0.0, 1.0, width, endpoint=False) if width else np.zeros(0)
    shares = (shares if first else shares[::-1]).reshape(-1, *(1,) * (x.ndim - axis - 1))
    exact = inexact(edge)
    rise = ops.multiply(ops.subtract(exact, end), ops.data(shares, real_of(exact.dtype)))
    ramp = ops.add(rise, end)
    return edge if not width else cast(ops.floor(ramp) if edge.dtype.kind in "iu" else ramp, edge.dtype)


def _statistic(x: Node, axis: int, mode: str, start: int, count: int, width: int) -> Node:
    part = span(x, axis, start, count)
    if mode in ("maximum", "minimum"):
        found = getattr(ops, mode[:3])(part, (axis,))
    elif mode == "mean":
        found = ops.divide(ops.sum(inexact(part), (axis,)), float(count))
    else:
        ordered = ops.sort(part, axis, descending=False)
        two = [span(inexact(ordered), axis, i, 1) for i in ((count - 1) // 2, count // 2)]
        found, last = ops.multiply(ops.add(*two), 0.5), span(ordered, axis, count - 1, 1)
        if part.dtype.kind == "f":  # NaN comes last, and is the median of what has one
            found = ops.where(ops.isnan(last), last, found)
    one = ops.reshape(found, tuple([1 if i == axis else n for i, n in enumerate(x.shape)]))
    if x.dtype.kind in "iu" and one.dtype.kind == "f":
        one = ops.round(one)
    return spread(cast(one, x.dtype), axis, width)
