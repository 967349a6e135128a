"""NumPy's names with NumPy's own arguments, for tensors: `import adjoint.numpy as np` in place of `import numpy as np`.

What computes gives tensors, of arrays, lists and numbers too; a Python float is float64, as it is to NumPy. What isn't about
arrays' values (dtypes, constants, `errstate`, `printoptions`, `random`) is NumPy's own. Functions that aren't here raise a
TypeError with your line that says what is.

>>> import adjoint as ad
>>> import adjoint.numpy as np
>>> def tanh(x):
...     y = np.exp(-2.0 * x)
...     return (1.0 - y) / (1.0 + y)
>>> ad.grad(tanh)(np.array(1.0))
Tensor(0.41997434, dtype=float64)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy

from adjoint.numpy import fft, linalg, random
from adjoint.numpy.concatenators import Concatenator
from adjoint.numpy.functions import FUNCTIONS
from adjoint.numpy.standing import holds_tensor, standing_for
from adjoint.tensors import functions as f
from adjoint.tensors.conversion import stacked
from adjoint.tensors.named import Named, wrap
from adjoint.tensors.tensor import Tensor

__all__ = ["fft", "linalg", "random"]


def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0
) -> Tensor:
    """A tensor of data, in NumPy's dtype for it; a list that holds tensors is a stack of them."""
    if isinstance(object, (list, tuple)) and holds_tensor(object):
        found = wrap(stacked(object))
    else:
        found = f.asarray(object if isinstance(object, Named) else numpy.asarray(object))
    found = found if dtype is None else f.astype(found, dtype)
    return found if found.ndim >= ndmin else f.reshape(found, (1,) * (ndmin - found.ndim) + found.shape)


def asarray(a: Any, dtype: Any = None, order: Any = None, **others: Any) -> Tensor:
    """A tensor of data, or the tensor itself."""
    return array(a, dtype)


def _numpys_dtype(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A constructor whose floating numbers are float64 unless said."""

    @functools.wraps(function)
    def call(*args: Any, dtype: Any = None, order: str = "C", device: Any = None, **others: Any) -> Tensor:
        return function(*args, dtype="float64" if dtype is None else dtype, **others)

    return call


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **others: Any) -> Tensor:
    value = fill_value if holds_tensor(fill_value) else numpy.asarray(fill_value)
    return f.full(shape, value, dtype=dtype)


def _arange(*bounds: Any, dtype: Any = None, **others: Any) -> Tensor:
    if any(map(holds_tensor, bounds)):
        return f.arange(*bounds, dtype=dtype)
    return f.asarray(numpy.arange(*bounds, dtype=dtype))


def _eye(N: int, M: Any = None, k: int = 0, dtype: Any = float, **others: Any) -> Tensor:
    return f.asarray(numpy.eye(N, M, k, dtype="float64" if dtype is float else dtype))


OWN: dict[str, Any] = {
    "array": array, "asarray": asarray, "asanyarray": asarray, "ascontiguousarray": asarray, "asfortranarray": asarray,
    "zeros": _numpys_dtype(f.zeros), "ones": _numpys_dtype(f.ones), "empty": _numpys_dtype(f.zeros), "full": _full,
    "arange": _arange,
    "eye": _eye, "identity": lambda n, dtype=float: _eye(n, dtype=dtype), "ndarray": Tensor,
    "concat": FUNCTIONS[numpy.concatenate],
    "permute_dims": FUNCTIONS[numpy.transpose], "r_": Concatenator(0, 1, -1), "c_": Concatenator(-1, 2, 0),
    "tri": lambda N, M=None, k=0, dtype=float: f.asarray(numpy.tri(N, M, k, "float64" if dtype is float else dtype)),
}  # fmt: skip


@functools.cache
def _found(name: str) -> Any:
    """What a name stands for. It isn't kept as a global of this module, where `any` and `sum` are Python's."""
    if name in OWN:
        return OWN[name]
    return standing_for(getattr(numpy, name))


def __getattr__(name: str) -> Any:
    return _found(name)


def __dir__() -> list[str]:
    return sorted({*OWN, *(name for name in dir(numpy) if not name.startswith("_"))})
