"""The affine layer."""

from __future__ import annotations

import math
from typing import Any

from adjoint import random
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, variable
from adjoint.tensors.located import at_user

from . import functional
from .module import Module, whole

__all__ = ["Linear"]


class Linear(Module):
    """`x @ weight.T + bias`: (..., in_features) to (..., out_features).

    `weight` (out_features, in_features) and `bias` (out_features,) start uniform within ±1/√in_features, drawn from
    the default generator (`ad.random.seed`), as PyTorch's do. Raises ValueError when the input's last axis differs.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: Any = None) -> None:
        whole("Linear", in_features=in_features, out_features=out_features)
        if in_features < 1 or out_features < 0:
            raise ValueError(f"Linear: can't map {in_features} features to {out_features}{at_user()}")
        self.in_features = in_features
        self.out_features = out_features
        bound = 1 / math.sqrt(in_features)
        self.weight = variable(random.uniform((out_features, in_features), -bound, bound, dtype=dtype))
        self.bias = variable(random.uniform((out_features,), -bound, bound, dtype=dtype)) if bias else None

    def forward(self, x: Any) -> Tensor:
        """The output (..., out_features) for `x` (..., in_features)."""
        if not isinstance(x, Tensor):
            x = asarray(x)
        shape = x.node.type.shape
        if not shape or (
            shape[-1] != self.in_features and shape[-1] != self.weight.shape[-1]
        ):  # which may have been cut
            raise ValueError(
                f"{self!r}: the input's last axis must be {self.in_features} long; its shape is {shape}{at_user()}"
            )
        return functional.linear(x, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Its sizes, as PyTorch shows them."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
