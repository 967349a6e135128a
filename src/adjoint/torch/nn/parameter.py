"""torch.nn.parameter."""

from typing import Any

from adjoint.tensors.waiting import Waiting, waiting_class

from .._tensor import Parameter as Parameter
from .._tensor import Tensor

__all__ = ["Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]

UninitializedParameter: Any = waiting_class(Parameter)  # what lazy layers have before their first input
UninitializedBuffer: Any = waiting_class(Tensor)


def is_lazy(param: Any) -> bool:
    """Whether it is a parameter, or buffer, of a lazy layer that has seen no input."""
    return isinstance(param, Waiting)
