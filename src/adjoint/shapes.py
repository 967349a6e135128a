"""Shape arithmetic that several layers share. A shape is a tuple of non-negative ints."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

Shape = tuple[int, ...]


def broadcast_shapes(operation: str, *shapes: Shape) -> Shape:
    """NumPy's broadcast of the shapes. Raises ValueError naming the operation and the shapes."""
    rank = max(map(len, shapes), default=0)
    result = []
    for sizes in zip(*((1,) * (rank - len(s)) + s for s in shapes), strict=True):
        wide = {n for n in sizes if n != 1}
        if len(wide) > 1:
            listed = " and ".join(map(str, shapes))
            raise ValueError(f"{operation}: shapes {listed} do not broadcast together")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def broadcasts_to(shape: Shape, target: Shape) -> bool:
    """Whether an array of the shape can be repeated to the target."""
    tail = target[len(target) - len(shape) :]
    return len(shape) <= len(target) and all(n in (1, m) for n, m in zip(shape, tail, strict=True))


def as_shape(shape: Any, operation: str = "shape") -> Shape:
    """A tuple of ints from an int or a sequence of ints. Raises TypeError or ValueError."""
    try:
        sizes = (operator.index(shape),) if not isinstance(shape, Iterable) else tuple(map(operator.index, shape))
    except TypeError:
        raise TypeError(f"{operation}: a shape is an int or a sequence of ints, got {shape!r}") from None
    if any(n < 0 for n in sizes):
        raise ValueError(f"{operation}: negative size in shape {sizes}")
    return sizes


def normalize_axis(axis: Any, rank: int, operation: str) -> int:
    """A non-negative axis. Raises IndexError when out of bounds."""
    try:
        index = operator.index(axis)
    except TypeError:
        raise TypeError(f"{operation}: an axis is an int, got {axis!r}") from None
    if not -rank <= index < rank:
        raise IndexError(f"{operation}: axis {index} is out of bounds for an array with {rank} axes")
    return index % rank


def normalize_axes(axis: Any, rank: int, operation: str) -> tuple[int, ...]:
    """Sorted distinct non-negative axes; None means all. Raises IndexError, or ValueError for a repeated axis."""
    if axis is None:
        return tuple(range(rank))
    items: Sequence[Any] = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = sorted(normalize_axis(a, rank, operation) for a in items)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{operation}: axis {axis} names an axis twice")
    return tuple(axes)


def resolve_reshape(shape: Any, size: int, operation: str = "reshape") -> Shape:
    """The shape with its one -1 filled in. Raises ValueError when the sizes don't match."""
    asked: tuple[int, ...]
    known = type(shape) is tuple or isinstance(shape, Iterable)  # the first is what shapes are, and is asked fast
    asked = tuple(map(operator.index, shape)) if known else (operator.index(shape),)
    if math.prod(asked) == size and min(asked, default=0) >= 0:
        return asked
    unknown = asked.count(-1)
    if unknown == 1 and min(asked) == -1:
        rest = math.prod(n for n in asked if n != -1)
        if rest and size % rest == 0:
            return tuple([size // rest if n == -1 else n for n in asked])
    more = "; one extent can be -1, which is worked out, and none another negative number"
    raise ValueError(
        f"{operation}: {size} elements do not fit shape {asked}{more * (unknown > 1 or min(asked, default=0) < -1)}"
    )


def drop_axes(shape: Shape, axes: tuple[int, ...]) -> Shape:
    """The shape without the axes."""
    return tuple(n for i, n in enumerate(shape) if i not in axes)


def keep_axes(shape: Shape, axes: tuple[int, ...]) -> Shape:
    """The shape with the axes reduced to size one."""
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def size_of(shape: Shape) -> int:
    """The number of elements."""
    return math.prod(shape)


def reshaped_strides(shape: Shape, strides: tuple[int, ...], other: Shape) -> tuple[int, ...] | None:
    """The strides at which the elements of a strided array are found in another shape of as many; None where there are none.
    Axes are taken in the shortest groups of as many elements; those of a group must run on into each other."""
    left = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    wanted = [n for n in other if n != 1]
    found: list[int] = []
    while left:
        (size, step), *left = left
        group, sizes = [(size, step)], [wanted[len(found)]]
        while size != size_of(tuple(sizes)):
            if size < size_of(tuple(sizes)):
                (n, step), *left = left
                if group[-1][1] != n * step:
                    return None
                group.append((n, step))
                size *= n
            else:
                sizes.append(wanted[len(found) + len(sizes)])
        found += [step * c for c in contiguous(tuple(sizes))]
    steps = iter(found)
    return tuple([0 if n == 1 else next(steps) for n in other])


following = [0]  # how many functions are being followed in what they do with extents, whose strides aren't remembered


def contiguous(shape: Shape) -> tuple[int, ...]:
    """The strides of a row-major array, in elements."""
    return _strides(shape) if following[0] else _known_strides(shape)


def _strides(shape: Shape) -> tuple[int, ...]:
    strides = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


_known_strides = functools.lru_cache(1 << 12)(_strides)
