"""The operators of tensors: `+`, `@`, `<`, `+=` and the others, each recorded with the line that it stands in."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from adjoint.composites import products
from adjoint.graph import Calls, Node, Surface
from adjoint.primitives import elementwise
from adjoint.primitives.sparse import SparseMatrix
from adjoint.primitives.core import is_scalar, ops
from adjoint.tensors.assignment import mapped
from adjoint.tensors.conversion import a, as_node
from adjoint.tensors.located import MISTAKES, at_user, explained
from adjoint.tensors.named import recorded
from adjoint.tensors.surfaces import surface_of
from adjoint.tensors.tensor import Number, Tensor
from adjoint.unknown import Unknown

__all__ = ["power", "unary"]

SURFACE = surface_of(Tensor, Number)
FREE = frozenset({"add", "sub", "mul", "truediv"})  # which make a constant of a floating number, whatever it is

OTHERS = frozenset(
    {"cupy", "jax", "jaxlib", "mlx", "tensorflow", "torch"}
)  # whose arrays have derivatives or places of their own


def _binary_operator(name: str, function: Callable[[Any, Any], Node], reflected: bool) -> Any:
    calls = Calls(SURFACE, name in FREE)

    def method(self: Tensor, other: Any) -> Any:
        again = calls.again
        if again is not None:
            known = again(self, other)
            if known is not None:
                return known
        if type(other) is Tensor:
            b: Any = other.node
        elif type(other) is float or type(other) is int or is_scalar(other):
            b = other
        elif isinstance(other, (Tensor, np.ndarray, np.generic)):
            b = as_node(other)
        elif isinstance(other, (list, tuple)):
            b = as_node(other, self.node.type.dtype)
        elif hasattr(other, "tocsr"):
            if name == "mul" and self.node.type.shape and _is_sparse_matrix(other):
                return other @ self if reflected else self @ other
            b = _sparse_operand(name, other, self.node.type.shape)
            if b is None:
                return NotImplemented
        elif other is None or isinstance(other, (str, bytes, dict, set)):
            raise TypeError(f"{name}: a Tensor and {a(other)} do not go together{at_user()}")
        elif type(other).__module__.partition(".")[0] in OTHERS:
            package = type(other).__module__.partition(".")[0]
            raise TypeError(
                f"{name}: a Tensor and an array of {package} do not go together; ad.tensor(a) copies it here as a constant, "
                f"t.numpy() gives this one there{at_user()}"
            )
        elif hasattr(other, "magnitude") and hasattr(other, "dimensionality"):
            return NotImplemented  # a quantity of pint's, which keeps its units
        elif getattr(other, "__array_ufunc__", False) is not None and hasattr(type(other), "__array__"):
            b = as_node(other)  # a column of a table, a labelled array: they would compute with bare values
        else:
            return NotImplemented
        try:
            node = function(b, self.node) if reflected else function(self.node, b)
        except MISTAKES as error:
            raise explained(error, name, self.node, b) from None
        frame = _getframe(1)
        result = recorded(node, frame)
        return result if again is None else calls.learn((self, other), result, frame)

    return method


def _is_sparse_matrix(x: Any) -> bool:
    """Whether it is one of SciPy's older kind, whose `*` is a product."""
    return any([c.__name__ == "spmatrix" for c in type(x).__mro__])


def _sparse_operand(name: str, other: Any, shape: tuple[int, ...]) -> Any:
    """A sparse matrix of SciPy's beside a tensor: as such in a product, as an array where the result is as large as the tensor.
    None: SciPy decides, whose result is sparse."""
    if name == "matmul":
        return SparseMatrix(other)
    if not shape or name not in ("add", "sub", "mul", "truediv") or len(shape) < len(other.shape):
        return None
    if any([m not in (1, n) for m, n in zip(other.shape[::-1], shape[::-1], strict=False)]):
        return None
    return as_node(other.toarray())


def _in_place_operator(function: Callable[[Any, Any], Node], symbol: str) -> Any:
    compute = _binary_operator(symbol, function, reflected=False)

    def method(self: Tensor, other: Any) -> Any:
        result = compute(self, other)
        if result is NotImplemented:
            return NotImplemented
        self._assign(result.node, symbol)
        return self

    return method


def _unary_operator(name: str, function: Callable[[Node], Node]) -> Any:
    return unary(lambda node: mapped(name, function, node), SURFACE)


def unary(compute: Callable[[Node], Node], surface: Surface) -> Callable[[Any], Any]:
    """The special method of an operator of one tensor, of an interface with its own class of results."""
    calls = Calls(surface)

    def method(self: Tensor) -> Tensor:
        again = calls.again
        if again is not None:
            known: Tensor | None = again(self)
            if known is not None:
                return known
        frame = _getframe(1)
        result: Tensor = recorded(compute(self.node), frame, surface.tensor)
        return result if again is None else calls.learn((self,), result, frame)

    return method


def power(x: Any, y: Any) -> Node:
    """x to the power y: a Python number as exponent has a rule of its own."""
    if is_scalar(y) and isinstance(x, Node) and not isinstance(y, (complex, Unknown)):
        return elementwise.power_constant(x, y if isinstance(y, float) and not float(y).is_integer() else int(y)
                                          if not isinstance(y, float) or x.dtype.inexact else float(y))  # fmt: skip
    return elementwise.power(x, y)


def _matmul(a: Any, b: Any) -> Node:
    if isinstance(a, SparseMatrix):
        return ops.sparse_product(a, b)
    if isinstance(b, SparseMatrix):  # x S is (Sᵀ xᵀ)ᵀ
        if a.ndim == 1:
            return ops.sparse_product(b.T, a)
        return ops.matrix_transpose(ops.sparse_product(b.T, ops.matrix_transpose(a)))
    if type(a) is not Node or type(b) is not Node:
        raise ValueError("matmul: operands need at least one axis; use * for scalars")
    return products.matmul(a, b)


_BINARY = {
    "add": elementwise.add, "sub": elementwise.subtract, "mul": elementwise.multiply, "truediv": elementwise.divide,
    "floordiv": elementwise.floor_divide, "mod": elementwise.remainder, "pow": power, "matmul": _matmul,
    "and": elementwise.bitwise_and, "or": elementwise.bitwise_or, "xor": elementwise.bitwise_xor,
    "lshift": elementwise.bitwise_left_shift, "rshift": elementwise.bitwise_right_shift,
}  # fmt: skip


def _define(name: str, method: Any, kind: type = Tensor) -> None:
    """Let a method be a class's, under whose name Python's own messages speak of it."""
    method.__name__, method.__qualname__ = name, f"{kind.__name__}.{name}"
    setattr(kind, name, method)


for _name, _function in _BINARY.items():
    _define(f"__{_name}__", _binary_operator(_name, _function, reflected=False))
    _define(f"__r{_name}__", _binary_operator(_name, _function, reflected=True))
    _define(f"__i{_name}__", _in_place_operator(_function, f"in-place {_name}"))
    _define(f"__i{_name}__", _binary_operator(_name, _function, reflected=False), Number)
for _name, _function in {
    "lt": elementwise.less, "le": elementwise.less_equal, "gt": elementwise.greater, "ge": elementwise.greater_equal,
    "eq": elementwise.equal, "ne": elementwise.not_equal,
}.items():  # fmt: skip
    _define(f"__{_name}__", _binary_operator(_name, _function, reflected=False))
for _name, _unary in {
    "neg": elementwise.negative, "pos": lambda x: x, "abs": elementwise.absolute, "invert": elementwise.bitwise_invert,
}.items():  # fmt: skip
    _define(f"__{_name}__", _unary_operator(_name, _unary))
