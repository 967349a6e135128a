"""Padding layers: elements added around the last one, two or three axes."""

from __future__ import annotations

from typing import ClassVar

from adjoint.tensors import Tensor
from adjoint.tensors.located import at_user

from . import functional
from .module import Module

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d",
    "ZeroPad3d",
]  # fmt: skip


class _Padding(Module):
    """What they share: how many elements go before and after each axis, the last axis first."""

    rank: ClassVar[int]
    mode: ClassVar[str]

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        widths = (padding,) * (2 * self.rank) if isinstance(padding, int) else tuple(padding)
        if len(widths) != 2 * self.rank:
            raise ValueError(
                f"{type(self).__name__}: padding is an int, or {2 * self.rank} of them, not {padding}{at_user()}"
            )
        self.padding = widths

    def forward(self, x: Tensor) -> Tensor:
        """The input with elements around."""
        return functional.pad(x, self.padding, self.mode)

    def extra_repr(self) -> str:
        """How many elements there are before and after each axis, the last one first."""
        return f"{self.padding}"


class _ConstantPad(_Padding):
    """One number around."""

    mode = "constant"

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, x: Tensor) -> Tensor:
        """The input with elements around."""
        return functional.pad(x, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The elements before and after each axis, the last one first, and their value."""
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_Padding):
    """Zeros around."""

    mode = "constant"


class _ReflectionPad(_Padding):
    """A mirror around."""

    mode = "reflect"


class _ReplicationPad(_Padding):
    """The last elements around."""

    mode = "replicate"


class _CircularPad(_Padding):
    """The other end around."""

    mode = "circular"


class ConstantPad1d(_ConstantPad):
    """`value` put around the last axis: `padding` on each side, or (before, after)."""

    rank = 1


class ConstantPad2d(_ConstantPad):
    """`value` put around the last two axes: `padding` on each side, or (left, right, top, bottom)."""

    rank = 2


class ConstantPad3d(_ConstantPad):
    """`value` put around the last three axes: `padding` on each side, or (left, right, top, bottom,
    front, back)."""

    rank = 3


class ZeroPad1d(_ZeroPad):
    """Zeros put around the last axis: `padding` on each side, or (before, after)."""

    rank = 1


class ZeroPad2d(_ZeroPad):
    """Zeros put around the last two axes: `padding` on each side, or (left, right, top, bottom)."""

    rank = 2


class ZeroPad3d(_ZeroPad):
    """Zeros put around the last three axes: `padding` on each side, or (left, right, top, bottom,
    front, back)."""

    rank = 3


class ReflectionPad1d(_ReflectionPad):
    """The last axis mirrored at the last element: `padding` on each side, or (before, after)."""

    rank = 1


class ReflectionPad2d(_ReflectionPad):
    """The last two axes mirrored at the last element: `padding` on each side, or (left, right, top, bottom)."""

    rank = 2


class ReflectionPad3d(_ReflectionPad):
    """The last three axes mirrored at the last element: `padding` on each side, or (left, right, top, bottom,
    front, back)."""

    rank = 3


class ReplicationPad1d(_ReplicationPad):
    """The last axis continued by the last element: `padding` on each side, or (before, after)."""

    rank = 1


class ReplicationPad2d(_ReplicationPad):
    """The last two axes continued by the last element: `padding` on each side, or (left, right, top, bottom)."""

    rank = 2


class ReplicationPad3d(_ReplicationPad):
    """The last three axes continued by the last element: `padding` on each side, or (left, right, top, bottom,
    front, back)."""

    rank = 3


class CircularPad1d(_CircularPad):
    """The last axis continued from the other end: `padding` on each side, or (before, after)."""

    rank = 1


class CircularPad2d(_CircularPad):
    """The last two axes continued from the other end: `padding` on each side, or (left, right, top, bottom)."""

    rank = 2


class CircularPad3d(_CircularPad):
    """The last three axes continued from the other end: `padding` on each side, or (left, right, top, bottom,
    front, back)."""

    rank = 3
