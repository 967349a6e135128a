"""What convolution and pooling take from users: sizes given once or for each axis, with a batch or without.

Signals are computed as images of one row, which native code knows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adjoint.graph import Node
from adjoint.primitives.core import ops
from adjoint.shapes import Shape

AXES = {1: "L", 2: "H, W", 3: "D, H, W"}
THINGS = {1: "signals", 2: "images", 3: "volumes"}
GROUPS = {1: "an int", 2: "an int or a pair of ints", 3: "an int or three ints"}


def sizes_of(name: str, what: str, value: Any, rank: int, least: int = 1) -> Shape:
    """So many ints, from one for all axes, which may be in a sequence, or from one for each. Raises TypeError for anything else,
    ValueError for one that is too small."""
    items = tuple(value) if isinstance(value, tuple | list) else (value,)
    items *= rank if len(items) == 1 else 1
    try:
        found = tuple([operator.index(item) for item in items])
    except TypeError:
        found = ()
    if len(found) != rank:
        raise TypeError(f"{name}: {what} is {GROUPS[rank]}, not {value!r}")
    if min(found) < least:
        raise ValueError(f"{name}: {what} must be at least {least}, not {value!r}")
    return found


def check_rank(name: str, x: Node, rank: int) -> None:
    """Raise ValueError unless x is a batch (N, C, ...) of things with so many axes, or one of them (C, ...)."""
    if x.ndim not in (rank + 1, rank + 2):
        raise ValueError(
            f"{name}: expected {THINGS[rank]} of shape (N, C, {AXES[rank]}) or (C, {AXES[rank]}), got shape {x.shape}"
        )


def of_batch(name: str, x: Node, rank: int, function: Callable[[Node], Node]) -> Node:
    """A function of batches (N, C, ...), on one of them (C, ...) too. Raises ValueError for other shapes."""
    check_rank(name, x, rank)
    if x.ndim == rank + 2:
        return function(x)
    found = function(ops.reshape(x, (1, *x.shape)))
    return ops.reshape(found, found.shape[1:])


def as_image(x: Node) -> Node:
    """A signal (..., L) as an image of one row (..., 1, L)."""
    return ops.reshape(x, (*x.shape[:-1], 1, x.shape[-1]))


def as_signal(y: Node) -> Node:
    """The inverse of `as_image`."""
    return ops.reshape(y, (*y.shape[:-2], y.shape[-1]))
