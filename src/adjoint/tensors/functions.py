"""The public functions of tensors that load with the package, in one namespace.

Each records the primitives that it is composed of under its own name as a scope.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from adjoint.tensors.creation import *  # noqa: F403
from adjoint.tensors.data_types import *  # noqa: F403
from adjoint.tensors.elementwise import *  # noqa: F403
from adjoint.tensors.indexing import *  # noqa: F403
from adjoint.tensors.ordering import *  # noqa: F403
from adjoint.tensors.products import *  # noqa: F403
from adjoint.tensors.reductions import *  # noqa: F403
from adjoint.tensors.shaping import *  # noqa: F403
from adjoint.tensors.tensor import Tensor

_operator: Callable[[Tensor, Any], Tensor]  # what the operators are to type checkers

if not TYPE_CHECKING:
    __all__ = [name for name, value in globals().items() if type(value) is FunctionType]
