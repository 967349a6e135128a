"""Dropout."""

from __future__ import annotations

from adjoint.tensors import Tensor

from . import functional
from .functional.attention import check_probability
from .module import Module

__all__ = ["Dropout"]


class Dropout(Module):
    """In training mode each element becomes 0 with probability p, or else x / (1 - p); see `functional.dropout`.

    `inplace` is taken for PyTorch's sake and changes nothing: tensors are values.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        check_probability("Dropout", p)
        self.p = p
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        """The input with elements dropped in training mode, itself in evaluation mode."""
        return functional.dropout(x, self.p, self.training)

    def extra_repr(self) -> str:
        """Its options."""
        return f"p={self.p}, inplace={self.inplace}"
