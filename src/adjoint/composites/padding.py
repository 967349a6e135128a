"""Padding under PyTorch's names of modes, along the last axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.composites.shaping import pad as filled
from adjoint.graph import Node
from adjoint.primitives.core import ops


def _reflected(n: int, before: int, after: int) -> Any:
    """The positions of a mirror whose edges are the first and the last element."""
    if max(before, after) >= n:
        raise ValueError(f"pad: reflecting {(before, after)} elements needs more than there are, {n}")
    return np.pad(np.arange(n), (before, after), "reflect")


def _circular(n: int, before: int, after: int) -> Any:
    if max(before, after) > n:
        raise ValueError(f"pad: going around {(before, after)} elements needs as many as there are, {n}")
    return np.pad(np.arange(n), (before, after), "wrap")


def _replicated(n: int, before: int, after: int) -> Any:
    if not n:
        raise ValueError("pad: there is no element to replicate")
    return np.pad(np.arange(n), (before, after), "edge")


POSITIONS: dict[str, Callable[[int, int, int], Any]] = {
    "reflect": _reflected, "circular": _circular, "replicate": _replicated
}  # fmt: skip


def pad(x: Node, widths: list[tuple[int, int]], mode: str, value: complex) -> Node:
    """x with (before, after) elements more along each axis; negative widths leave elements out."""
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


def _gathered(x: Node, axis: int, positions: Any, before: int, after: int) -> Node:
    """x between the elements at the first and the last of the positions along an axis."""
    parts = [ops.take(x, ops.data(positions[:before]), axis)] if before else []
    parts.append(x)
    if after:
        parts.append(ops.take(x, ops.data(positions[len(positions) - after :]), axis))
    return ops.concat(parts, axis)
