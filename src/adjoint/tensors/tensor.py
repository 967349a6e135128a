"""Tensor: a name for a node. Operators record, and numbers appear when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import tree
from adjoint.composites import shaping
from adjoint.execution import ValueNeededError
from adjoint.graph import Node, Primitive, Variable
from adjoint.hints import hint
from adjoint.primitives import elementwise
from adjoint.primitives.core import FULL, LEAF, PLACEHOLDER, VERSION, cast, conjugate, leaf, ops, stop_gradient
from adjoint.primitives.custom import CUSTOM
from adjoint.shapes import normalize_axis
from adjoint.tensors.elsewhere import is_elsewhere
from adjoint.tensors.assignment import Assignment, rebind
from adjoint.tensors.conversion import array_node, as_node
from adjoint.tensors.gradients import Gradients
from adjoint.tensors.leaving import leave
from adjoint.tensors.located import at_user, recording_at_user
from adjoint.tensors.namespaces import namespaced, special_ufunc
from adjoint.tensors.named import new, recorded, tensors_are, variable_of, wrap
from adjoint.tensors.outside import bare, computes_on_arrays
from adjoint.tensors.text import describe, made_by
from adjoint.tensors.values import Values

if TYPE_CHECKING:
    from adjoint.tensors import functions as _f
    from adjoint.tensors.methods import Methods
else:
    Methods = object  # they are put onto the class: see `protocols`


class Tensor(Values, Gradients, Assignment, Methods):
    """An array that remembers how it was computed.

    Made by `ad.tensor`, `ad.variable`, the other constructors and every operation on tensors. Operations record a graph
    at once (shapes, dtypes and errors are known then); values are computed when something asks for them.
    """

    __slots__ = ()

    # above those of data frames and labelled arrays: what is computed with a tensor is a tensor
    __array_priority__ = 10_000.0
    __pandas_priority__ = 10_000

    def __init__(self, *data: Any, **options: Any) -> None:
        raise TypeError(f"make tensors with ad.tensor(data), ad.variable(value) or ad.zeros(shape), ...{at_user()}")

    @property
    def T(self) -> Tensor:
        """The axes reversed."""
        return recorded(ops.permute_dims(self.node, tuple(range(self.ndim))[::-1]), _getframe(1))

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged. Raises ValueError for fewer than two."""
        if self.ndim < 2:
            raise ValueError(f"mT: expected at least two axes, got shape {self.shape}{at_user()}")
        return recorded(ops.matrix_transpose(self.node), _getframe(1))

    @property
    def H(self) -> Tensor:
        """The last two axes exchanged, of the complex conjugate. Raises ValueError for fewer than two."""
        if self.ndim < 2:
            raise ValueError(f"H: expected at least two axes, got shape {self.shape}{at_user()}")
        return recorded(conjugate(ops.matrix_transpose(self.node)), _getframe(1))

    @property
    def real(self) -> Tensor:
        """The real part; the tensor itself if it is real."""
        return self if self.dtype.kind != "c" else recorded(elementwise.real(self.node), _getframe(1))

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""
        node = self.node
        return recorded(elementwise.imag(node) if self.dtype.kind == "c" else ops.zeros(node.type), _getframe(1))

    @property
    def creator(self) -> Primitive | None:
        """The operation that made this tensor; None for data and variables."""
        node = made_by(self.node)
        return None if node.op in (LEAF, VERSION, FULL, PLACEHOLDER) else node.op

    @property
    def parents(self) -> tuple[Tensor, ...]:
        """The tensors that the operation was applied to. An untracked tensor forgets them once it has its value."""
        node = made_by(self.node)
        if node.op is VERSION:
            return ()
        inputs = node.inputs
        if node.op is CUSTOM:
            inputs = inputs[node.attributes[0] :]
        return tuple([wrap(x) for x in inputs])

    def __repr__(self) -> str:
        return describe(self)

    def __copy__(self) -> Tensor:
        return self.__deepcopy__({}) if self.is_leaf else wrap(self.node)

    def __deepcopy__(self, memo: Any) -> Tensor:
        if self.node.tracked:
            leave(self.node, "deepcopy()")
        variable = variable_of(self.node)
        fresh = None if variable is None else Variable(variable.name, variable.tracked)
        try:
            return wrap(leaf(self._array(), self.node.type, fresh))
        except ValueNeededError:  # in a traced function: what a name is bound to never changes
            if fresh is not None:
                raise
            return wrap(self.node)

    def __reduce__(self) -> Any:
        if self.node.tracked:
            leave(self.node, "pickling")
        return _rebuild, (np.array(self._array()), self.is_leaf and self.requires_grad, self.name)

    def draw(self, path: Any = None, **options: Any) -> Any:
        """The picture of how this tensor was computed: `ad.draw(t, path, ...)`."""
        return _f_namespace["draw"](self, path, **options)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """What a notebook shows: a picture if that was asked for with `ad.show_pictures()`, else just the text."""
        picture = _f_namespace.get("notebook_picture")
        shown = None if picture is None else picture(self)
        return {"text/plain": repr(self)} if shown is None else shown  # marimo takes no None

    @property
    def data(self) -> Tensor:
        """An untracked alias that writes through: `w.data -= lr * w.grad` and `w.data[0] = 1` give w a new value."""
        alias = new(DataAlias)
        alias.node = stop_gradient(self.node) if self.node.tracked else self.node
        alias.owner = self
        return alias

    @data.setter
    def data(self, value: Any) -> None:
        if not self.is_leaf:
            raise RuntimeError(
                "data: this tensor was computed from what requires a gradient, which another value would cut off; assign to its "
                f"name, or to a detach(){at_user()}"
            )
        self._put_data(value)

    def _put_data(self, value: Any) -> None:
        own = self.node.type
        node = as_node(value, own.dtype)
        if node.type is not own:
            if node.type.shape != own.shape:
                raise ValueError(f"data: shape {node.type.shape} given for a tensor of shape {own.shape}{at_user()}")
            node = cast(node, own.dtype)
        rebind(self, node)

    # NumPy's protocols ------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if computes_on_arrays(_getframe(1)):
            return getattr(ufunc, method)(*[bare(x) for x in inputs], **{k: bare(x) for k, x in keywords.items()})
        handler = UFUNCS.get((ufunc, method)) or (special_ufunc(ufunc) if method == "__call__" else None)
        if handler is not None and not keywords:
            with recording_at_user():
                return handler(*inputs)
        if not _another_answers([type(x) for x in inputs], "__array_ufunc__"):
            with recording_at_user():
                found = importlib.import_module("adjoint.numpy.ufuncs").apply(ufunc, method, inputs, keywords)
            if found is NotImplemented:
                raise missing(ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}", [])
            return found
        return NotImplemented

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        if computes_on_arrays(_getframe(1)):
            return function(*tree.map(bare, args), **tree.map(bare, keywords))
        handler = ARRAY_FUNCTIONS.get(function) or namespaced(function)
        if handler is None:
            if _another_answers(types, "__array_function__"):
                return NotImplemented
            raise missing(f"{function.__module__}.{function.__name__}", [])
        with recording_at_user():
            return handler(*args, **keywords)

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if not is_elsewhere(type(self), name)]

    # What `operators` and `protocols` set, declared for type checkers ------------------------------------------------------

    if TYPE_CHECKING:
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _f._operator
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _f._operator
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lshift__ = __rlshift__ = _f._operator
        __rshift__ = __rrshift__ = __lt__ = __le__ = __gt__ = __ge__ = _f._operator
        __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _f._operator
        __imatmul__ = __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _f._operator

        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...

    def reshape(self, *shape: Any) -> Tensor:
        """The same elements in another shape, given as ints or one tuple; one -1 is filled in."""
        return _f_namespace["reshape"](self, shape[0] if len(shape) == 1 else shape)  # type: ignore[no-any-return]

    def permute_dims(self, *axes: Any) -> Tensor:
        """The axes in another order, given as ints or one tuple."""
        chosen = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return _f_namespace["permute_dims"](self, chosen)  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> Tensor:
        """The axes in another order, given as ints or one tuple; without arguments, reversed; two ints exchange two axes.

        Raises ValueError for two ints that name the axes of a matrix in their order: to NumPy that is the matrix as it is,
        to PyTorch its transpose.
        """
        if len(axes) != 2:
            return self.permute_dims(*axes) if axes else self.permute_dims(tuple(range(self.ndim))[::-1])
        first, second = (normalize_axis(a, self.ndim, "transpose") for a in axes)
        if first == second or (self.ndim == 2 and first < second):
            reason = "names an axis twice" if first == second else (
                "of a matrix is ambiguous: NumPy leaves it as it is, PyTorch transposes it; write x.mT for the transpose"
            )  # fmt: skip
            raise ValueError(f"transpose: {axes} {reason}; the shape is {self.shape}{at_user()}")
        return recorded(shaping.swapaxes(self.node, first, second), _getframe(1))


class Number(Tensor):
    """What stands for a number of Python's or NumPy's, which nobody else holds and nothing changes: `x += y` gives the name x a
    new value (`operators` says so), and other names of the number keep theirs."""

    __slots__ = ()


tensors_are(Tensor, Number)

_f_namespace: dict[str, Callable[..., Any]] = {}  # the public functions, by name: filled by `functions`
UFUNCS: dict[tuple[Any, str], Callable[..., Any]] = {}
ARRAY_FUNCTIONS: dict[Any, Callable[..., Any]] = {}


LABELLED = ("pandas", "xarray")  # they would compute with a tensor's bare values


def _another_answers(types: Iterable[type], protocol: str) -> bool:
    """Whether an operand of a foreign type may know what to do with a tensor."""
    return any(
        hasattr(t, protocol)
        and not issubclass(t, (Tensor, np.ndarray, np.generic))
        and t.__module__.partition(".")[0] not in LABELLED
        for t in types
    )


def missing(name: str, keywords: list[str]) -> TypeError:
    """The error for a function of NumPy's, or arguments of one, that tensors don't have: it says what to write."""
    lacking = (
        f"{', '.join(keywords)}= of NumPy's function isn't here"
        if keywords
        else "NumPy's function doesn't take tensors"
    )
    short = name.rpartition(".")[2]
    listed = short in importlib.import_module("adjoint").__all__
    here = f"; here it is ad.{short}" if listed else hint("adjoint", short)
    return TypeError(
        f"{name}: {lacking}{here}. {'Else write' if here else 'Write'} it with adjoint's own functions, wrap it in ad.host_call, "
        f"which can be given a derivative, or where a constant is meant call it on t.detach().numpy(){at_user()}"
    )


class DataAlias(Tensor):
    """What `t.data` gives: its own in-place operations change the owner too."""

    __slots__ = ("owner",)

    owner: Tensor

    def _assign(self, node: Node, operation: str) -> None:
        if not self.owner.is_leaf:
            raise RuntimeError(
                f"{operation}: what is written to .data of a computed tensor would cut it from what it was computed from; write "
                f"to the tensor itself, or to a detach(){at_user()}"
            )
        super()._assign(node, operation)
        rebind(self.owner, self.node)


def _rebuild(array: Any, tracked: bool, name: str | None) -> Tensor:
    return wrap(array_node(array, None, False, Variable(name, tracked) if tracked or name else None))


__all__ = ["Number", "Tensor", "missing"]
