"""Element types: casts, and what types promote to."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.dtypes import promote
from adjoint.primitives.core import cast
from adjoint.tensors.composing import DTypeLike, Operand
from adjoint.tensors.conversion import as_node, dtype_of
from adjoint.tensors.elementwise import _unary
from adjoint.tensors.tensor import Tensor

__all__ = ["astype", "result_type"]


def astype(x: Operand, dtype: DTypeLike, /) -> Tensor:
    """x as another dtype. Complex to real keeps the real part; floating to integer cuts the fraction."""
    return _unary(lambda node: cast(node, dtype_of(dtype)), x)


def result_type(*arrays: Any) -> Any:
    """The dtype that the arguments promote to."""
    dtypes = [as_node(x).dtype if isinstance(x, (Tensor, np.ndarray)) else dtype_of(x) for x in arrays]
    common = dtypes[0]
    for d in dtypes[1:]:
        common = promote(common, d)
    return common
