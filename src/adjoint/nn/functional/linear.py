"""The affine map."""

from __future__ import annotations

from sys import _getframe

from adjoint.composites import products
from adjoint.tensors import Tensor
from adjoint.tensors.located import MISTAKES, called_at_user, explained, give_site

from .recording import node_of, optional, tensor_of

__all__ = ["linear"]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x @ weight.T + bias`: x (..., in), weight (out, in), bias (out,), to (..., out)."""
    given = node_of(x), node_of(weight), optional(bias)
    try:
        node = called_at_user(products.linear, *given)
    except MISTAKES as error:
        raise explained(error, "linear", *given) from None
    give_site(node, _getframe(1))
    return tensor_of(node)
