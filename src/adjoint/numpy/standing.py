"""What stands for a function of NumPy's: ours where a tensor is given, else NumPy's own with tensors as results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from adjoint.numpy.functions import FUNCTIONS
from adjoint.numpy.ufuncs import Ufunc
from adjoint.tensors import functions as f
from adjoint.tensors.named import Named
from adjoint.tensors.namespaces import namespaced


def holds_tensor(x: Any) -> bool:
    """Whether x is a tensor, or a nesting of lists and tuples that holds one."""
    return isinstance(x, Named) or (isinstance(x, (list, tuple)) and any(map(holds_tensor, x)))


def standing_for(value: Any) -> Any:
    """What stands for a name of NumPy's: a function of tensors, or where it isn't about arrays' values itself."""
    if isinstance(value, numpy.ufunc):
        return _Function(value)
    if callable(value) and hasattr(value, "__name__") and not isinstance(value, type):
        found = FUNCTIONS.get(value) or namespaced(value)
        if found is not None:
            return _either(value, found)
    return value


class _Function(Ufunc):
    """A universal function: NumPy's own where no tensor is given, as a tensor."""

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        """The function of each element."""
        return _either(self.ufunc, super().__call__)(*inputs, **keywords)


def _either(numpys: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **keywords: Any) -> Any:
        if any(map(holds_tensor, (*args, *keywords.values()))):
            return function(*args, **keywords)
        return _as_tensors(numpys(*args, **keywords))

    call.__name__, call.__doc__ = numpys.__name__, numpys.__doc__
    return call


def _as_tensors(x: Any) -> Any:
    """NumPy's results as tensors."""
    if isinstance(x, (numpy.ndarray, numpy.generic)) and x.dtype.kind in "biufc":
        return f.asarray(x)
    if isinstance(x, (tuple, list)):
        parts = [_as_tensors(y) for y in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return x
