"""What native code is told of the tensors here, to record calls that were met before (see `graph.calls`)."""

from __future__ import annotations

from adjoint.tensors.calls import surface_of

from ._aliasing import Memory
from ._tensor import Parameter, Tensor
from ._view_tensors import View

__all__ = ["SURFACE"]

SURFACE = surface_of(Tensor, Parameter, View, Memory)
