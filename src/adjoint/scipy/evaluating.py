"""Functions of trees as what SciPy calls: functions of vectors of float64, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import _optional, tree
from adjoint.tensors.conversion import array_node
from adjoint.tensors.leaving import custom_code
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.jit import jit
from adjoint.transforms.grad import stop_gradient
from adjoint.transforms.ravel import ravel_tree

__all__ = ["Unknowns", "compiled", "module", "told"]

Array = np.ndarray[Any, Any]


def module(name: str, what: str) -> Any:
    """A module of SciPy. Raises ImportError that names the extra."""
    return _optional.load(f"scipy.{name}", purpose=f"scipy.{what}", extra="science")


class Unknowns:
    """A starting point, a tree, as a vector of float64, and functions of such trees as functions of the vector."""

    def __init__(self, x0: Any, args: tuple[Any, ...]) -> None:
        whole = tree.map(lambda x: f.asarray(x).astype("float64"), stop_gradient(x0))
        vector, self.unravel = ravel_tree(whole)
        self.start: Array = np.array(vector.astype("float64"))
        self.args = args

    def flat(self, function: Callable[..., Any]) -> Callable[[Tensor], Tensor]:
        """The function of a vector, as a vector."""
        return lambda v: ravel_tree(function(self.unravel(v), *self.args))[0]

    def single(self, function: Callable[..., Any]) -> Callable[[Tensor], Any]:
        """The function of a vector whose value is one number."""
        return lambda v: function(self.unravel(v), *self.args)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that gives one array or a tuple of them, computed from one compiled graph; tensors that it reads are
    constants at what they are."""
    whole = jit(lambda *vectors: stop_gradient(function(*vectors)))

    def called(*vectors: Any) -> Any:
        with custom_code():
            found = whole(*[wrap(array_node(np.array(v, np.float64), None, False)) for v in vectors])
            if type(found) is tuple:
                return tuple([x.numpy().copy() for x in found])
            return found.numpy().copy()

    return called


def told(result: Any, **values: Any) -> Any:
    """SciPy's result with some entries replaced."""
    for name, value in values.items():
        result[name] = value
    return result
