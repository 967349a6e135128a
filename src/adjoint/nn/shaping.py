"""Modules that only move elements about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.tensors import Tensor
from adjoint.tensors.functions import reshape
from adjoint.tensors.located import at_user

from .module import Module

__all__ = ["Flatten", "Identity", "Unflatten"]


class Flatten(Module):
    """Join the axes from `start_dim` to `end_dim` into one: (N, 28, 28) to (N, 784) by default."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        given: tuple[Any, ...] = (start_dim, end_dim)
        for axis in given:
            if isinstance(axis, Tensor):
                raise TypeError(f"Flatten: a layer is made first and called then: Flatten()(x){at_user()}")
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, x: Tensor) -> Tensor:
        """The input with those axes joined. Raises IndexError when it has no such axes."""
        first, last = (axis + x.ndim if axis < 0 else axis for axis in (self.start_dim, self.end_dim))
        if not 0 <= first <= last < x.ndim:
            raise IndexError(f"{self!r}: the input's shape {x.shape} has no such axes{at_user()}")
        joined = 1
        for size in x.shape[first : last + 1]:
            joined *= size
        return reshape(x, (*x.shape[:first], joined, *x.shape[last + 1 :]))

    def extra_repr(self) -> str:
        """Its axes."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split the axis `dim` into axes of the sizes `unflattened_size`, one of which may be -1: (N, 784) to (N, 28, 28)."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        self.dim = dim
        self.unflattened_size = tuple(unflattened_size)

    def forward(self, x: Tensor) -> Tensor:
        """The input with that axis split. Raises IndexError where there is no such axis, ValueError where sizes don't fit."""
        axis = self.dim + x.ndim if self.dim < 0 else self.dim
        if not 0 <= axis < x.ndim:
            raise IndexError(f"{self!r}: the input's shape {x.shape} has no axis {self.dim}{at_user()}")
        known = 1
        for size in self.unflattened_size:
            known *= size if size != -1 else 1
        sizes = [x.shape[axis] // max(known, 1) if size == -1 else size for size in self.unflattened_size]
        return reshape(x, (*x.shape[:axis], *sizes, *x.shape[axis + 1 :]))

    def extra_repr(self) -> str:
        """Its axis and the sizes."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class Identity(Module):
    """What comes in goes out. It takes any arguments, so that it can stand for any layer that is left out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def forward(self, x: Any) -> Any:
        """The input itself."""
        return x
