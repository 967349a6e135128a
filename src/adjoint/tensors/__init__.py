"""Tensors and the public functions of them."""

from adjoint.tensors import functions, operators, protocols
from adjoint.tensors.tensor import Tensor

__all__ = ["Tensor", "functions", "operators", "protocols"]
