"""Element types: casts, and what types promote to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.dtypes import DType, promote, scalar_dtype
from adjoint.primitives.core import cast, is_scalar
from adjoint.tensors.composing import DTypeLike, Operand, functions_of, on_cpu
from adjoint.tensors.conversion import as_node, dtype_of
from adjoint.tensors.elementwise import _unary
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor


def astype(x: Operand, dtype: DTypeLike, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """x as another dtype. Complex to real keeps the real part; floating to integer cuts the fraction. A tensor is a value, so
    `copy` is for the standard's sake."""
    on_cpu("astype", device)
    if isinstance(x, Tensor) and x.dtype is dtype_of(dtype):
        return wrap(x.node)  # which isn't recorded here
    return _unary(lambda node: cast(node, dtype_of(dtype)), x)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that arrays, dtypes and Python numbers promote to. Numbers adapt to the rest; alone they take their defaults.

    Raises TypeError where there is no common dtype, ValueError without arguments.

    >>> import adjoint as ad
    >>> ad.result_type(ad.int32, ad.float32, 2.0)
    adjoint.float32
    """
    if not arrays_and_dtypes:
        raise ValueError(f"result_type: at least one array, dtype or number is needed{at_user()}")
    common: DType | None = None
    numbers = [x for x in arrays_and_dtypes if is_scalar(x)]
    for x in arrays_and_dtypes:
        if not is_scalar(x):
            dtype = as_node(x).dtype if isinstance(x, (Tensor, np.ndarray)) else dtype_of(x)
            common = dtype if common is None else promote(common, dtype)
    for number in numbers:
        dtype = scalar_dtype(number, common)
        common = dtype if common is None else promote(common, dtype)
    assert common is not None
    return common


if not TYPE_CHECKING:
    __all__ = functions_of(globals())
