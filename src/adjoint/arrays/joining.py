"""Arrays put side by side, taken apart, with parts put in or left out, under NumPy's names."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint.shapes import normalize_axis
from adjoint.tensors.composing import Operand, as_tensor, as_tensors, scoped, value_of
from adjoint.tensors.functions import (
    broadcast_to,
    concat,
    expand_dims,
    flatten,
    flip,
    moveaxis,
    permute_dims,
    reshape,
    take,
)  # fmt: skip
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor

__all__ = [
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block", "column_stack", "delete", "dsplit", "dstack",
    "fliplr", "flipud", "hsplit", "hstack", "insert", "ravel", "rot90", "vsplit", "vstack",
]  # fmt: skip


def _at_least(ndim: int, x: Any) -> Tensor:
    t = as_tensor(x)
    if t.ndim >= ndim:
        return t
    if ndim == 3:
        return reshape(t, {0: (1, 1, 1), 1: (1, *t.shape, 1), 2: (*t.shape, 1)}[t.ndim])
    return reshape(t, (1,) * (ndim - t.ndim) + t.shape)


def _each(ndim: int, arrays: Sequence[Any]) -> Any:
    found = tuple([_at_least(ndim, x) for x in arrays])
    return found[0] if len(found) == 1 else found


@scoped
def atleast_1d(*arrays: Operand) -> Any:
    """Arrays with at least one axis: one array, or a tuple of them.

    >>> import adjoint as ad
    >>> ad.atleast_1d(2.0)
    Tensor([2.])
    """
    return _each(1, arrays)


@scoped
def atleast_2d(*arrays: Operand) -> Any:
    """Arrays with at least two axes, new ones in front: one array, or a tuple of them.

    >>> import adjoint as ad
    >>> ad.atleast_2d(ad.ones(2))
    Tensor([[1., 1.]])
    """
    return _each(2, arrays)


@scoped
def atleast_3d(*arrays: Operand) -> Any:
    """Arrays with at least three axes: (n,) becomes (1, n, 1) and (m, n) becomes (m, n, 1). One array, or a tuple of them.

    >>> import adjoint as ad
    >>> ad.atleast_3d(ad.ones(2)).shape
    (1, 2, 1)
    """
    return _each(3, arrays)


@scoped
def hstack(arrays: Sequence[Operand], /) -> Tensor:
    """Arrays joined along their second axis, those with one along it.

    >>> import adjoint as ad
    >>> ad.hstack([ad.zeros(1), ad.ones(2)])
    Tensor([0., 1., 1.])
    """
    found = [_at_least(1, x) for x in as_tensors(*arrays)]
    return concat(found, axis=0 if found and found[0].ndim == 1 else 1)


@scoped
def vstack(arrays: Sequence[Operand], /) -> Tensor:
    """Arrays joined along their first axis; those with one axis are rows.

    >>> import adjoint as ad
    >>> ad.vstack([ad.zeros(2), ad.ones(2)])
    Tensor([[0., 0.],
            [1., 1.]])
    """
    return concat([_at_least(2, x) for x in as_tensors(*arrays)], axis=0)


@scoped
def dstack(arrays: Sequence[Operand], /) -> Tensor:
    """Arrays joined along their third axis, after `atleast_3d`.

    >>> import adjoint as ad
    >>> ad.dstack([ad.zeros(2), ad.ones(2)]).shape
    (1, 2, 2)
    """
    return concat([_at_least(3, x) for x in as_tensors(*arrays)], axis=2)


@scoped
def column_stack(arrays: Sequence[Operand], /) -> Tensor:
    """Arrays with one axis as the columns of a matrix, matrices side by side.

    >>> import adjoint as ad
    >>> ad.column_stack([ad.zeros(2), ad.ones(2)])
    Tensor([[0., 1.],
            [0., 1.]])
    """
    found = as_tensors(*arrays)
    return concat([expand_dims(_at_least(1, x), axis=1) if x.ndim < 2 else x for x in found], axis=1)


@scoped
def block(arrays: Any, /) -> Tensor:
    """An array put together of nested lists of blocks: the innermost lists along the last axis, the next along the one before.

    >>> import adjoint as ad
    >>> ad.block([[ad.eye(2), ad.zeros((2, 1))], [ad.zeros((1, 2)), ad.ones((1, 1))]]).shape
    (3, 3)
    """
    depth = _depth(arrays)
    blocks = iter(as_tensors(*_blocks(arrays)))
    arrays = _filled(arrays, blocks)
    return _block(arrays, depth, max(depth, _rank(arrays)))


def _depth(x: Any) -> int:
    if not isinstance(x, list):
        return 0
    if not x:
        raise ValueError(f"block: an empty list has no blocks{at_user()}")
    depths = {_depth(y) for y in x}
    if len(depths) > 1:
        raise ValueError(f"block: lists are nested to different depths{at_user()}")
    return 1 + depths.pop()


def _blocks(x: Any) -> list[Any]:
    """What nested lists hold."""
    return [block for y in x for block in _blocks(y)] if isinstance(x, list) else [x]


def _filled(x: Any, blocks: Iterator[Tensor]) -> Any:
    """Nested lists with other blocks, one after the other."""
    return [_filled(y, blocks) for y in x] if isinstance(x, list) else next(blocks)


def _rank(x: Any) -> int:
    return max(map(_rank, x)) if isinstance(x, list) else as_tensor(x).ndim


def _block(x: Any, depth: int, rank: int) -> Tensor:
    if not isinstance(x, list):
        return _with_rank(as_tensor(x), rank)
    return concat([_block(y, depth - 1, rank) for y in x], axis=-depth)


def _with_rank(t: Tensor, rank: int) -> Tensor:
    return reshape(t, (1,) * (rank - t.ndim) + t.shape)


@scoped
def append(x: Operand, values: Operand, /, axis: int | None = None) -> Tensor:
    """x with values behind it along an axis (None: both flattened).

    >>> import adjoint as ad
    >>> ad.append(ad.ones(2), 3.0)
    Tensor([1., 1., 3.])
    """
    both = as_tensors(x, values)
    return concat([flatten(_at_least(1, t)) for t in both] if axis is None else both, axis=0 if axis is None else axis)


def _places(x: Tensor, axis: int | None, name: str) -> tuple[Tensor, int]:
    """The array whose axis is meant: flattened where none is."""
    if axis is None:
        return flatten(_at_least(1, x)), 0
    return x, normalize_axis(axis, x.ndim, name)


@scoped
def delete(x: Operand, index: Any, /, axis: int | None = None) -> Tensor:
    """x without the slices at an int, a slice, integers or a mask along an axis (None: of the flattened x).

    >>> import adjoint as ad
    >>> ad.delete(ad.arange(5.0), [1, 3])
    Tensor([0., 2., 4.])
    """
    t, place = _places(as_tensor(x), axis, "delete")
    return take(t, np.delete(np.arange(t.shape[place]), value_of(index)), axis=place)


@scoped
def insert(x: Operand, index: Any, values: Operand, /, axis: int | None = None) -> Tensor:
    """x with values put in before the positions of an int, a slice or integers along an axis (None: of the flattened x).

    >>> import adjoint as ad
    >>> ad.insert(ad.arange(3.0), 1, 9.0)
    Tensor([0., 9., 1., 2.])
    """
    own, new = as_tensors(x, values)
    t, place = _places(own, axis, "insert")
    new = _with_rank(new, max(t.ndim, new.ndim))
    chosen = value_of(index)
    if np.ndim(chosen) == 0 and not isinstance(chosen, slice):
        new = moveaxis(new, 0, place)
        count = new.shape[place]
    else:
        count = len(range(*chosen.indices(t.shape[place]))) if isinstance(chosen, slice) else np.size(chosen)
    new = broadcast_to(new, (*t.shape[:place], count, *t.shape[place + 1 :])).astype(t.dtype)
    n = t.shape[place]
    order = np.insert(np.arange(n), chosen, np.arange(n, n + count))
    return take(concat([t, new], axis=place), order, axis=place)


@scoped
def array_split(x: Operand, sections: Any, /, axis: int = 0) -> list[Tensor]:
    """Parts along an axis: a number of parts, the first ones larger by one where it doesn't divide evenly, or where parts begin.

    >>> import adjoint as ad
    >>> [part.size for part in ad.array_split(ad.arange(5.0), 2)]
    [3, 2]
    """
    t = as_tensor(x)
    place = normalize_axis(axis, t.ndim, "array_split")
    n = t.shape[place]
    if np.ndim(sections):
        edges = [0, *(operator.index(i) for i in sections), n]
    else:
        count = operator.index(sections)
        if count <= 0:
            raise ValueError(f"array_split: the number of parts is {count}{at_user()}")
        edges = [0, *itertools.accumulate(n // count + (i < n % count) for i in range(count))]
    front = (slice(None),) * place
    return [t[(*front, slice(a, b))] for a, b in itertools.pairwise(edges)]


def _split(name: str, x: Any, sections: Any, axis: int, least: int) -> list[Tensor]:
    t = as_tensor(x)
    if t.ndim < least:
        raise ValueError(f"{name}: expected at least {least} axes, got shape {t.shape}{at_user()}")
    if not np.ndim(sections) and t.shape[axis] % operator.index(sections):
        raise ValueError(f"{name}: axis {axis} of size {t.shape[axis]} doesn't divide into {sections} parts{at_user()}")
    return array_split(t, sections, axis)


@scoped
def hsplit(x: Operand, sections: Any, /) -> list[Tensor]:
    """Equal parts along the second axis, of an array with one axis along it: a number, or where parts begin.

    >>> import adjoint as ad
    >>> ad.hsplit(ad.arange(4.0), 2)
    [Tensor([0., 1.]), Tensor([2., 3.])]
    """
    return _split("hsplit", x, sections, min(as_tensor(x).ndim - 1, 1), 1)


@scoped
def vsplit(x: Operand, sections: Any, /) -> list[Tensor]:
    """Equal parts along the first axis of at least two: a number, or where parts begin.

    >>> import adjoint as ad
    >>> ad.vsplit(ad.ones((4, 2)), 2)[0].shape
    (2, 2)
    """
    return _split("vsplit", x, sections, 0, 2)


@scoped
def dsplit(x: Operand, sections: Any, /) -> list[Tensor]:
    """Equal parts along the third axis: a number, or where parts begin.

    >>> import adjoint as ad
    >>> ad.dsplit(ad.ones((1, 2, 4)), 2)[0].shape
    (1, 2, 2)
    """
    return _split("dsplit", x, sections, 2, 3)


@scoped
def ravel(x: Operand, /, order: str = "C") -> Tensor:
    """All elements along one axis: row by row, or with order "F" column by column.

    >>> import adjoint as ad
    >>> ad.ravel(ad.tensor([[1.0, 2.0], [3.0, 4.0]]), "F")
    Tensor([1., 3., 2., 4.])
    """
    t = as_tensor(x)
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"ravel: order is 'C' or 'F', got {order!r}{at_user()}")
    return reshape(permute_dims(t, tuple(range(t.ndim))[::-1]) if order == "F" else t, (-1,) if t.size else (0,))


@scoped
def rot90(x: Operand, /, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Tensor:
    """x turned by k quarter turns, from the first of two axes towards the second.

    >>> import adjoint as ad
    >>> ad.rot90(ad.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([[2., 4.],
            [1., 3.]])
    """
    t = as_tensor(x)
    if len(axes) != 2:
        raise ValueError(f"rot90: axes are two, got {axes}{at_user()}")
    first, second = (normalize_axis(a, t.ndim, "rot90") for a in axes)
    if first == second:
        raise ValueError(f"rot90: axes {axes} are one axis{at_user()}")
    turned = list(range(t.ndim))
    turned[first], turned[second] = second, first
    match operator.index(k) % 4:
        case 1:
            return permute_dims(flip(t, axis=second), turned)
        case 2:
            return flip(flip(t, axis=first), axis=second)
        case 3:
            return flip(permute_dims(t, turned), axis=second)
    return t


@scoped
def fliplr(x: Operand, /) -> Tensor:
    """The second axis in reverse order.

    >>> import adjoint as ad
    >>> ad.fliplr(ad.tensor([[1.0, 2.0]]))
    Tensor([[2., 1.]])
    """
    return flip(x, axis=1)


@scoped
def flipud(x: Operand, /) -> Tensor:
    """The first axis in reverse order.

    >>> import adjoint as ad
    >>> ad.flipud(ad.tensor([1.0, 2.0]))
    Tensor([2., 1.])
    """
    return flip(x, axis=0)
