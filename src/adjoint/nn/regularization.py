"""Dropout of elements and of channels.

`inplace` is taken for PyTorch's sake and changes nothing: tensors are values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from adjoint.tensors import Tensor

from . import functional
from .functional.ranges import check_probability
from .module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _Dropout(Module):
    """What they share: a probability, and a function that does it."""

    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        check_probability(type(self).__name__, p)
        self.p = p
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        """The input with some of it dropped in training mode, itself in evaluation mode."""
        return type(self).function(x, self.p, self.training)

    def extra_repr(self) -> str:
        """Its options."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training mode each element becomes 0 with probability p, or else x / (1 - p); see `functional.dropout`."""

    function = staticmethod(functional.dropout)


class Dropout1d(_Dropout):
    """Dropout of whole channels of signals (N, C, L); see `functional.dropout1d`."""

    function = staticmethod(functional.dropout1d)


class Dropout2d(_Dropout):
    """Dropout of whole channels of images (N, C, H, W); see `functional.dropout2d`."""

    function = staticmethod(functional.dropout2d)


class Dropout3d(_Dropout):
    """Dropout of whole channels of volumes (N, C, D, H, W); see `functional.dropout3d`."""

    function = staticmethod(functional.dropout3d)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance, for SELU; see `functional.alpha_dropout`."""

    function = staticmethod(functional.alpha_dropout)


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels of (N, C, ...)."""

    function = staticmethod(functional.feature_alpha_dropout)
