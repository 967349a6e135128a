"""Methods of NumPy's arrays that no function of ours has the name of. Those that NumPy does in place rebind the tensor's name."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint import linalg
from adjoint.composites.shaping import moveaxis
from adjoint.numpy.ufuncs import written
from adjoint.primitives.core import marker
from adjoint.tensors.composing import as_tensor, as_tensors, scoped
from adjoint.tensors.conversion import as_node
from adjoint.tensors.functions import argsort, broadcast_to, full_like, reshape, sort, stack, take, take_along_axis
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import force_selection
from adjoint.tensors.tensor import Tensor

__all__ = ["argpartition", "choose", "compress", "copy", "diagonal", "fill", "partition", "put", "trace"]


def _last_two(x: Any, axis1: int, axis2: int) -> Tensor:
    return wrap(moveaxis(as_node(x), (axis1, axis2), (-2, -1)))


@scoped
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal between two axes, as the last axis."""
    return linalg.diagonal(_last_two(a, axis1, axis2), offset=offset)


@scoped
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """The sum of the diagonal between two axes."""
    return written("trace", linalg.trace(_last_two(a, axis1, axis2), offset=offset, dtype=dtype), out)


def copy(a: Any, order: str = "K") -> Tensor:
    """The same value under another name: writing to one doesn't change the other."""
    return wrap(marker(as_node(a)))


def fill(a: Tensor, value: Any) -> None:
    """Give the tensor this value everywhere."""
    new = full_like(a, value)
    a._assign(new.node, "fill")


def within(name: str, places: Tensor, n: int, mode: str) -> Tensor:
    """Positions along n elements, by NumPy's mode for those out of bounds."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"{name}: mode is 'raise', 'wrap' or 'clip', got {mode!r}{at_user()}")
    return places % n if mode == "wrap" else places.clip(0, n - 1) if mode == "clip" else places


def put(a: Tensor, ind: Any, v: Any, mode: str = "raise") -> None:
    """Replace elements at positions of the flattened tensor by values, over and over where there are fewer."""
    places = as_tensor(ind).flatten()
    new = wrap(as_node(v, a.dtype)).flatten()
    places = within("put", places, a.size, mode)
    flat = copy(reshape(a, (a.size,)))
    flat[places] = take(new, np.arange(places.size) % new.size, axis=0) if new.size else new
    a._assign(reshape(flat, a.shape).node, "put")


@scoped
def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Tensor:
    """For each element of the integers a, the element there of that choice."""
    if out is not None:
        raise TypeError(f"choose: out= isn't here; the result is x = choose(...){at_user()}")
    number = as_tensor(a)
    listed = list(choices) if not isinstance(choices, (list, tuple)) else choices
    n = len(listed)
    number = within("choose", number, n, mode)
    shape = np.broadcast_shapes(number.shape, *(as_tensor(c).shape for c in listed))
    together = stack([broadcast_to(c, shape) for c in as_tensors(*listed)])
    return take_along_axis(together, broadcast_to(number, shape)[None], axis=0)[0]


@scoped
def compress(a: Any, condition: Any, axis: int | None = None, out: None = None) -> Tensor:
    """The slices along an axis (None: of the flattened a) where the condition holds."""
    if out is not None:
        raise TypeError(f"compress: out= isn't here; the result is x = compress(...){at_user()}")
    t = as_tensor(a)
    held = np.flatnonzero(force_selection(as_tensor(condition).node))
    return take(t.flatten(), held, axis=0) if axis is None else take(t, held, axis=operator.index(axis))


def partition(a: Any, kth: Any, axis: int = -1) -> Tensor:
    """The elements with the kth where sorting puts it, smaller ones before: sorted altogether, as a new tensor."""
    return sort(a, axis=axis)


def argpartition(a: Any, kth: Any, axis: int = -1) -> Tensor:
    """The indices that put the kth element where sorting does: those that sort altogether."""
    return argsort(a, axis=axis)
