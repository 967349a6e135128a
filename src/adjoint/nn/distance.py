"""Distances, similarities, and the bilinear map."""

from __future__ import annotations

import math
from typing import Any

from adjoint import random
from adjoint.tensors import Tensor
from adjoint.tensors.functions import variable
from adjoint.tensors.located import at_user

from . import functional
from .module import Module, whole

__all__ = ["Bilinear", "CosineSimilarity", "PairwiseDistance"]


class Bilinear(Module):
    """`x1ᵀ weight[o] x2 + bias[o]`: (..., in1_features) and (..., in2_features) to (..., out_features).

    `weight` (out_features, in1_features, in2_features) and `bias` (out_features,) start uniform within ±1/√in1_features,
    drawn from the default generator, as PyTorch's do.
    """

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, dtype: Any = None
    ) -> None:
        whole("Bilinear", in1_features=in1_features, in2_features=in2_features, out_features=out_features)
        if in1_features < 1:
            raise ValueError(f"Bilinear: in1_features must be positive, not {in1_features}{at_user()}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        bound = 1 / math.sqrt(in1_features)
        self.weight = variable(random.uniform((out_features, in1_features, in2_features), -bound, bound, dtype=dtype))
        self.bias = variable(random.uniform((out_features,), -bound, bound, dtype=dtype)) if bias else None

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The output (..., out_features)."""
        return functional.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Its sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class CosineSimilarity(Module):
    """The cosine of the angle between two tensors along the axis `dim`; see `functional.cosine_similarity`."""

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The cosines, without that axis."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The distance of order p between two tensors over the last axis; see `functional.pairwise_distance`."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The distances."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
