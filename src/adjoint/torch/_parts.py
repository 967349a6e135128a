"""What a tensor of PyTorch's kind has: its size, what made it, and how it lies in memory."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from adjoint.graph import Node
from adjoint.shapes import reshaped_strides
from adjoint.tensors.named import Count
from adjoint.tensors.text import made_by, operation_name

__all__ = ["RANKS", "Extent", "GradFn", "Size", "comes_from", "in_order", "memory", "offset_of", "relaid"]

RANKS = {
    "b": 0,
    "u": 1,
    "i": 1,
    "f": 2,
    "c": 3,
}  # of dtypes' kinds: numbers fit into one of the same, or of a higher one


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple with the number of elements."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of such a tensor."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        return Size(tuple(self) + tuple(other))


class Extent(Count):
    """What `x.size` is: the number of elements to the core; called, the shape or one of its numbers."""

    shape: Size

    def __call__(self, dim: int | None = None) -> Any:
        """The shape, or the size of one axis."""
        return self.shape if dim is None else self.shape[dim]


# what PyTorch calls the operations that have other names here
OPERATIONS = {
    "Multiply": "Mul", "Subtract": "Sub", "Divide": "Div", "Negative": "Neg", "Power": "Pow", "PowerConstant": "Pow",
    "Concat": "Cat", "Matmul": "Mm", "Reshape": "View", "BroadcastTo": "Expand", "PermuteDims": "Permute", "Marker": "Clone",
    "Absolute": "Abs", "Cast": "ToCopy", "Maximum": "Maximum", "Minimum": "Minimum",
}  # fmt: skip


class GradFn:
    """What made a tensor, and what made its inputs."""

    __slots__ = ("_node",)

    def __init__(self, node: Node) -> None:
        self._node = node

    def name(self) -> str:
        """PyTorch's name of the operation where it has one, else the core's."""
        own = operation_name(self._node)
        return f"{OPERATIONS.get(own, own)}Backward0"

    @property
    def next_functions(self) -> tuple[tuple[GradFn | None, int], ...]:
        """What made the inputs, each with the number of its output; None for constants."""
        inputs = [made_by(x) for x in self._node.inputs]
        return tuple([(GradFn(x) if x.tracked else None, 0) for x in inputs])

    def __repr__(self) -> str:
        return f"<{self.name()}>"


def in_order(a: Any) -> bool:
    """Whether elements lie together, in the order of their indices."""
    expected = 1
    for n, stride in zip(a.shape[::-1], a.strides[::-1], strict=True):
        if n != 1 and stride != expected:
            return False
        expected *= n
    return True


@functools.lru_cache(256)
def memory(shape: tuple[int, ...]) -> Any:
    """An array of a shape whose strides count elements. It is never read: it stands for where they lie."""
    strides, step = [], 1
    for n in shape[::-1]:
        strides.append(step)
        step *= max(n, 1)
    return np.lib.stride_tricks.as_strided(_BYTE, shape, strides[::-1], writeable=False)


_BYTE = np.zeros(1, np.int8)


def offset_of(a: Any) -> int:
    """How many elements lie before the first one of a part of such memory."""
    return int(a.__array_interface__["data"][0] - _BYTE.__array_interface__["data"][0])


def relaid(a: Any, shape: tuple[int, ...]) -> Any:
    """The memory of a reshaped tensor, if its elements lie so that strides can say where; else None."""
    if not a.size or in_order(a):
        at = memory(shape)
        return np.lib.stride_tricks.as_strided(a, shape, at.strides, writeable=False) if offset_of(a) else at
    found = reshaped_strides(a.shape, a.strides, shape)
    if found is None:
        return None
    strides, step = list(found), 1
    for i in reversed(range(len(shape))):
        if shape[i] == 1:
            strides[i] = step
        step = shape[i] * strides[i]
    return np.lib.stride_tricks.as_strided(a, shape, strides, writeable=False)


def comes_from(nodes: list[Node], sources: set[Node], tracked: bool = False) -> bool:
    """Whether one of some nodes was computed from one of others; with `tracked`, by operations that are differentiated."""
    seen, stack = set(nodes), list(nodes)
    while stack:
        x = stack.pop()
        if x in sources:
            return True
        for y in x.inputs:
            if y not in seen and (y.tracked or not tracked):
                seen.add(y)
                stack.append(y)
    return False
