"""Functions of trees as what SciPy calls: functions of vectors of float64, compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

import adjoint.tensors.functions as f
from adjoint import _optional, tree
from adjoint.plan.canonical import ValueNeededError
from adjoint.tensors.conversion import array_node
from adjoint.tensors.leaving import custom_code
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.jit import jit
from adjoint.transforms.grad import stop_gradient
from adjoint.transforms.ravel import ravel_tree

__all__ = ["Unknowns", "WithGradient", "arrays", "compiled", "module", "sparse_derivative", "told", "with_values"]

P = ParamSpec("P")
R = TypeVar("R")

Array = np.ndarray[Any, Any]


def module(name: str, what: str) -> Any:
    """A module of SciPy. Raises ImportError that names the extra."""
    return _optional.load(f"scipy.{name}", purpose=f"scipy.{what}", extra="science")


def arrays(x0: Any) -> Any:
    """A starting point as it is, but a list of numbers, as SciPy takes it, as one array."""
    return f.asarray(x0, dtype="float64") if _lists(x0) else x0


def _lists(x: Any) -> bool:
    """Whether it is a list or tuple of numbers, or of such."""
    return (
        type(x) in (list, tuple)
        and len(x) > 0
        and all([_lists(e) or isinstance(e, (int, float, np.number)) for e in x])
    )


class Unknowns:
    """A starting point, a tree, as a vector of float64, and functions of such trees as functions of the vector."""

    def __init__(self, x0: Any, args: tuple[Any, ...]) -> None:
        self.whole = tree.map(lambda x: f.asarray(x).astype("float64"), stop_gradient(arrays(x0)))
        vector, self.unravel = ravel_tree(self.whole)
        self.start: Array = np.array(vector.astype("float64"))
        self.args = args

    def flat(self, function: Callable[..., Any], args: Any = None) -> Callable[[Tensor], Tensor]:
        """The function of a vector, as a vector."""
        given = self.args if args is None else tuple(args)
        return lambda v: ravel_tree(function(self.unravel(v), *given))[0]

    def single(self, function: Callable[..., Any]) -> Callable[[Tensor], Any]:
        """The function of a vector whose value is one number."""

        def objective(v: Tensor) -> Tensor:
            value = f.asarray(function(self.unravel(v), *self.args))
            if value.size != 1:
                raise ValueError(f"minimize: the function returns shape {value.shape}, not one number{at_user()}")
            return value if value.shape == () else f.reshape(value, ())

        return objective


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays that gives one array or a tuple of them, computed from one compiled graph; tensors that it reads are
    constants at what they are."""
    whole = jit(lambda *vectors: stop_gradient(function(*vectors)))
    inside = custom_code()  # once: making it takes as long as a small function

    def called(*vectors: Any) -> Any:
        with inside:
            found = whole(*[np.asarray(v, np.float64) for v in vectors])
            if type(found) is tuple:
                return tuple([x._array().copy() for x in found])
            return found._array().copy()

    return called


class WithGradient:
    """A function's value, and the gradient that was computed with it, for which SciPy asks next. SciPy's own way, `jac=True`,
    takes longer to see that it is the same point than many functions take to compute both."""

    def __init__(self, evaluated: Callable[..., Any]) -> None:
        self.evaluated = evaluated
        self.point = b""

    def value(self, v: Any) -> float:
        """The function's value."""
        value, self.found = self.evaluated(v)
        self.point = v.tobytes()
        return value.item()  # type: ignore[no-any-return]

    def gradient(self, v: Any) -> Any:
        """Its gradient, of this point or of one that is equal to the bit."""
        if v.tobytes() != self.point:
            self.value(v)
        return self.found


def sparse_derivative(derivative: Callable[..., Any]) -> Callable[..., Any]:
    """A sparse derivative as a function of arrays."""

    def called(*vectors: Any) -> Any:
        with custom_code():
            return derivative(*[wrap(array_node(np.array(v, np.float64), None, False)) for v in vectors])

    return called


def with_values(instead: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Says, where a value is missing, what does the same under transformations."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **keywords: P.kwargs) -> R:
            try:
                return function(*args, **keywords)
            except ValueNeededError as error:
                raise ValueNeededError(
                    f"{error}; scipy.{function.__name__} runs SciPy's code on numbers: under jit, vmap or in a loop "
                    f"{instead} does the same{at_user()}"
                ) from None

        return called

    return decorated


def told(result: Any, **values: Any) -> Any:
    """SciPy's result with some entries replaced."""
    for name, value in values.items():
        result[name] = value
    return result
