"""The affine map."""

from __future__ import annotations

from adjoint.tensors import Tensor

__all__ = ["linear"]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x @ weight.T + bias`: x (..., in), weight (out, in), bias (out,), to (..., out)."""
    product = x @ weight.T
    return product if bias is None else product + bias
