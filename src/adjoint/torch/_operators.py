"""Arithmetic under PyTorch's rules: its promotion of dtypes, its operators, and functions of two tensors.

PyTorch looks at tensors with axes first, then at tensors without, then at Python's numbers: those that come later count
only where their kind (bool, integer, floating, complex) is a higher one.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from adjoint.composites import products
from adjoint.dtypes import AUTOCAST, DType, complex_of, default_dtype, promote
from adjoint.graph import NARROW, Calls, Node
from adjoint.primitives import elementwise
from adjoint.primitives.core import cast, is_scalar, ops
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import MISTAKES, at_user, explained
from adjoint.tensors.named import recorded
from adjoint.tensors.operators import power, unary
from adjoint.unknown import Unknown

from ._errors import as_pytorchs
from ._names import FUNCTIONS, METHODS, make_in_place, recorded_at_user
from ._now import changed_now
from ._tensor import Core, Tensor
from ._view_tensors import SURFACE, following

__all__ = ["aligned", "binary_node", "combined", "operand"]

ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def combined(higher: DType, lower: DType) -> DType:
    """The dtype of two operands of which the first has precedence."""
    if ORDER[lower.kind] <= ORDER[higher.kind]:
        return higher
    if higher.kind == "f":
        return complex_of(higher)
    return lower


def aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, nodes or Python's numbers, such that the core promotes them as PyTorch does."""
    if type(a) is Node and type(b) is Node:
        if a.type.dtype is b.type.dtype:
            return a, b
        if (a.type.ndim == 0) != (b.type.ndim == 0):
            first, second = (a, b) if b.type.ndim == 0 else (b, a)
            chosen = combined(first.dtype, second.dtype)
        else:
            chosen = promoted(a.dtype, b.dtype)
        return cast(a, chosen), cast(b, chosen)
    return a, b


def as_floating(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands of a function of floating numbers: integers become floating before they are aligned, so that none wraps."""
    if type(a) is Node and type(b) is Node and not a.dtype.inexact and not b.dtype.inexact:
        return cast(a, default_dtype()), cast(b, default_dtype())
    return a, b


def promoted(a: DType, b: DType) -> DType:
    """The dtype of two operands of equal precedence. uint64 with a signed integer is float64 to NumPy, an error to both others."""  # noqa: E501
    if {a.kind, b.kind} == {"f", "c"}:
        real = a if a.kind == "f" else b
        other = b if a.kind == "f" else a
        return promote(complex_of(real), other)
    return promote(a, b)


def operand(x: Any, beside: Any = None) -> Any:
    """A node, or a Python number as it is."""
    if isinstance(x, Core):
        return x.node
    if type(x) in (float, int, bool, complex) or type(x) is Unknown:
        return x
    if is_scalar(x):
        return x.item() if isinstance(x, np.generic) else x
    if isinstance(x, np.ndarray):
        return as_node(x)
    raise TypeError(f"expected a tensor or a number, got {type(x).__name__}{at_user()}")


# where numbers aren't taken beside a tensor
TENSORS = set("atan2 arctan2 fmax fmin gcd heaviside hypot igamma igammac lcm logaddexp logaddexp2 logical_and logical_or "
              "logical_xor maximum minimum nextafter".split())  # fmt: skip


NUMBERS = ("add", "sub", "mul", "div")  # where both operands may be numbers


def binary_node(name: str, f: Callable[[Any, Any], Node], x: Any, y: Any) -> Node:
    """A function of two operands under PyTorch's promotion."""
    a, b = operand(x), operand(y)
    if type(a) is not Node and type(b) is not Node and name in NUMBERS:
        a = as_node(a)
    if type(a) is not Node and type(b) is not Node:
        raise TypeError(f"{name}: one operand must be a tensor{at_user()}")
    if name in TENSORS and not (type(a) is Node and type(b) is Node):
        raise TypeError(f"{name}: both operands must be tensors{at_user()}")
    if f in FLOATING:
        a, b = as_floating(a, b)
    if f is not matmul:
        a, b = aligned(a, b)
    try:
        return f(a, b)
    except OverflowError:  # of a Python integer, which wraps
        return f(*_wrapped(a, b))
    except MISTAKES as error:
        raise as_pytorchs(explained(error, name, a, b)) from None


def _wrapped(a: Any, b: Any) -> tuple[Any, Any]:
    """A tensor of integers and a Python integer, in either order, which becomes one of those."""
    kind = (a if type(a) is Node else b).dtype.dtype
    return tuple(x if type(x) is Node else np.asarray(x % 2**64, np.uint64).astype(kind).item() for x in (a, b))  # type: ignore[return-value]


def _both_bool(a: Any, b: Any) -> bool:
    return all(x.dtype.kind == "b" if type(x) is Node else type(x) is bool for x in (a, b))


def _are_floating(a: Any, b: Any) -> bool:
    """Whether operands are floating, or one is beside a Python number, so that all rules of arithmetic are the core's."""
    if type(a) is Node and a.type.inexact:
        return b.type.inexact if type(b) is Node else type(b) is float or type(b) is int
    return (type(a) is float or type(a) is int) and type(b) is Node and b.type.inexact


def add(a: Any, b: Any) -> Node:
    """a + b; of bools, whether either holds."""
    if _are_floating(a, b):
        return elementwise.add(a, b)
    return elementwise.logical_or(a, b) if _both_bool(a, b) else elementwise.add(*_numbers(a, b))


def multiply(a: Any, b: Any) -> Node:
    """a * b; of bools, whether both hold."""
    if _are_floating(a, b):
        return elementwise.multiply(a, b)
    return elementwise.logical_and(a, b) if _both_bool(a, b) else elementwise.multiply(*_numbers(a, b))


def subtract(a: Any, b: Any) -> Node:
    """a - b. Raises for bools."""
    if _are_floating(a, b):
        return elementwise.subtract(a, b)
    if any(x.dtype.kind == "b" if type(x) is Node else type(x) is bool for x in (a, b)):
        raise TypeError("a bool can't be subtracted; use ^ or ~ on masks")
    return elementwise.subtract(a, b)


def _numbers(a: Any, b: Any) -> tuple[Any, Any]:
    """Python's bools beside numbers are 0 and 1; numbers beside bool tensors make those integers."""
    if type(a) is bool:
        a = int(a)
    if type(b) is bool:
        b = int(b)
    for x, y in ((a, b), (b, a)):
        if type(x) is Node and x.dtype.kind == "b" and type(y) is int:
            wide = cast(x, INT64)
            return (wide, y) if x is a else (y, wide)
    return a, b


INT64 = promote.__globals__["int64"]


def divide(a: Any, b: Any) -> Node:
    """a / b as floating numbers."""
    return elementwise.divide(_to_float(a), _to_float(b))


def _to_float(x: Any) -> Any:
    if type(x) is Node:
        return cast(x, default_dtype()) if not x.dtype.inexact else x
    return x


FLOATING: set[Any] = {divide}  # functions of floating numbers alone
# What they are of floating tensors of one type, and of one beside a floating number.
PLAIN: dict[Any, Callable[[Any, Any], Node]] = {
    add: elementwise.add, subtract: elementwise.subtract, multiply: elementwise.multiply, divide: elementwise.divide,
}  # fmt: skip


def power_(a: Any, b: Any) -> Node:
    """a to the power b. Raises for integers to negative ones."""
    if type(b) is int and type(a) is Node and a.type.inexact:  # as mostly
        return elementwise.power_constant(a, b)
    if type(a) is Node and a.dtype.kind in "iu" and type(b) is int and b < 0:
        raise ValueError("integers to negative integer powers are not allowed")
    if type(a) is Node and a.dtype.kind == "b":
        if type(b) is bool:
            return elementwise.logical_or(a, not b)
        a, b = _numbers(a, b)
    if type(b) is Node and b.dtype.kind in "biu":
        if type(a) is float:
            return power(a, cast(b, default_dtype()))
        if b.dtype.kind == "i" and (type(a) is int or (type(a) is Node and a.dtype.kind in "biu")):
            return _integer_power(a, b)
    return power(a, b)


def _integer_power(a: Any, b: Node) -> Node:
    """An integer to an integer power. Negative ones give whole numbers, as in PyTorch: 0 but for 1 and -1."""
    whole = power(a, elementwise.maximum(b, 0))
    base = a if type(a) is Node else as_node(a, whole.dtype)
    odd = elementwise.not_equal(elementwise.remainder(b, 2), 0)
    sign = elementwise.where(elementwise.logical_and(elementwise.equal(base, -1), odd), -1, 1)
    inverse = elementwise.where(elementwise.equal(elementwise.absolute(base), 1), sign, 0)
    return cast(elementwise.where(elementwise.less(b, 0), inverse, whole), whole.dtype)


def one_dtype(name: str, *operands: Any) -> None:
    """Raise RuntimeError where operands of a product differ in dtype, which isn't promoted there."""
    kinds = list(dict.fromkeys(x.dtype.name for x in operands if isinstance(x, Core)))
    if len(kinds) > 1 and AUTOCAST.get() is None:
        raise RuntimeError(
            f"{name}: the operands need one dtype, got {' and '.join(kinds)}; cast by .to(dtype){at_user()}"
        )


def matmul(a: Any, b: Any) -> Node:
    """The product of matrices or vectors, of one dtype."""
    if type(a) is not Node or type(b) is not Node:
        raise TypeError("both operands are tensors; use * for numbers")
    if a.dtype is not b.dtype:
        raise TypeError(
            f"expected matrices of one dtype, got {a.dtype.name} and {b.dtype.name}; cast one by .to(dtype)"
        )
    return products.matmul(a, b)


def _compared(f: Callable[[Any, Any], Node]) -> Callable[[Any, Any], Node]:
    def compare(a: Any, b: Any) -> Node:
        for x, y in ((a, b), (b, a)):
            if type(x) is Node and x.dtype.kind in "biu" and type(y) is float:
                wide = cast(x, default_dtype())
                return f(wide, y) if x is a else f(y, wide)
            if type(x) is Node and x.dtype.kind == "b" and type(y) is int:
                wide = cast(x, INT64)
                return f(wide, y) if x is a else f(y, wide)
        return f(a, b)

    return compare


def _bits(f: Callable[[Any, Any], Node]) -> Callable[[Any, Any], Node]:
    def on_bits(a: Any, b: Any) -> Node:
        if type(a) is Node and a.dtype.kind == "b" and type(b) is int:
            return f(cast(a, INT64), b)
        return f(a, b)

    return on_bits


def operator(name: str, f: Callable[[Any, Any], Node], reflected: bool, level: int = 1) -> Callable[[Any, Any], Any]:
    """The special method of an operator, which the user calls, or what he calls does, so many frames up."""
    plain = PLAIN.get(f)
    calls = Calls(SURFACE, plain is not None, level)

    def special(self: Tensor, other: Any) -> Any:
        again = calls.again
        if again is not None:
            known = again(self, other)
            if known is not None:
                return known
        node = computed(self.node, other)
        if node is NotImplemented:
            return node
        frame = _getframe(level)
        result = recorded(node, frame, Tensor)
        return result if again is None else calls.learn((self, other), result, frame)

    def computed(a: Any, other: Any) -> Any:
        if isinstance(other, Core):
            b: Any = other.node
            if f is matmul and NARROW and (kind := AUTOCAST.get()) is not None:
                a, b = [cast(x, kind) if x.dtype.kind == "f" and x.dtype.itemsize < 8 else x for x in (a, b)]
            if a.type is b.type and a.type.computes and plain is not None:
                return plain(b, a) if reflected else plain(a, b)
            if a.type.dtype is not b.type.dtype:
                if f is divide:
                    a, b = as_floating(a, b)
                if f is not matmul:
                    a, b = aligned(a, b)
        elif type(other) is float or type(other) is int:
            b = other
            if type(other) is float and a.type.computes and plain is not None:
                return plain(b, a) if reflected else plain(a, b)
        elif isinstance(other, np.ndarray) or is_scalar(other) or type(other) is Unknown:
            a, b = aligned(a, operand(other))
        else:
            return NotImplemented
        try:
            return f(b, a) if reflected else f(a, b)
        except OverflowError:  # of a Python integer, which wraps
            a, b = _wrapped(a, b)
            return computed(*((a, b) if type(a) is Node else (b, a)))
        except MISTAKES as error:
            raise as_pytorchs(explained(error, name, a, b)) from None

    return special


def in_place_operator(name: str, f: Callable[[Any, Any], Node]) -> Callable[[Any, Any], Any]:
    """The special method of an operator with `=`."""
    compute = operator(name, f, reflected=False, level=2)

    def special(self: Tensor, other: Any) -> Any:
        if self._base is not None and changed_now(self, name, other):
            return self
        result = compute(self, other)
        if result is NotImplemented:
            return NotImplemented
        try:
            self._assign(result.node, name)
        except (ValueError, TypeError) as error:
            raise as_pytorchs(error) from None
        return self

    return special


def _whole(f: Callable[[Any, Any], Node]) -> Callable[[Any, Any], Node]:
    """Division of integers, which raises for a Python zero. Where the divisor is a tensor its values aren't looked at."""

    def divided(a: Any, b: Any) -> Node:
        if type(b) is int and b == 0 and a.dtype.kind in "biu":
            raise RuntimeError(f"ZeroDivisionError: an integer tensor is divided by zero{at_user()}")
        return f(a, b)

    return divided


OPERATORS: dict[str, Callable[[Any, Any], Node]] = {
    "add": add, "sub": subtract, "mul": multiply, "truediv": divide, "floordiv": _whole(elementwise.floor_divide),
    "mod": _whole(elementwise.remainder), "pow": power_, "matmul": matmul, "and": _bits(elementwise.bitwise_and),
    "or": _bits(elementwise.bitwise_or), "xor": _bits(elementwise.bitwise_xor),
    "lshift": elementwise.bitwise_left_shift, "rshift": elementwise.bitwise_right_shift,
}  # fmt: skip
Tensor.__rdiv__ = operator("div", divide, reflected=True)  # type: ignore[attr-defined]
for _name, _f in OPERATORS.items():
    setattr(Tensor, f"__{_name}__", operator(_name, _f, reflected=False))
    setattr(Tensor, f"__r{_name}__", operator(_name, _f, reflected=True))
    setattr(Tensor, f"__i{_name}__", in_place_operator(f"in-place {_name}", _f))

COMPARISONS = {
    "lt": _compared(elementwise.less), "le": _compared(elementwise.less_equal), "gt": _compared(elementwise.greater),
    "ge": _compared(elementwise.greater_equal), "eq": _compared(elementwise.equal), "ne": _compared(elementwise.not_equal),
}  # fmt: skip
for _name, _f in COMPARISONS.items():
    setattr(Tensor, f"__{_name}__", operator(_name, _f, reflected=False))
Tensor.__hash__ = object.__hash__  # type: ignore[method-assign,assignment]


def _unary(name: str, f: Callable[[Node], Node]) -> Callable[[Any], Tensor]:
    def compute(node: Node) -> Node:
        try:
            return f(node)
        except MISTAKES as error:
            raise as_pytorchs(explained(error, name, node)) from None

    return unary(compute, SURFACE)


for _name, _g in {
    "neg": elementwise.negative, "abs": elementwise.absolute, "invert": elementwise.bitwise_invert,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_name}__", _unary(_name, _g))
Tensor.__pos__ = lambda self: self  # type: ignore[method-assign]


# Functions of two tensors ------------------------------------------------------------------------------------------------


def _fmod(a: Any, b: Any) -> Node:
    quotient = elementwise.divide(*[_to_float(x) for x in (a, b)])
    if not quotient.dtype.inexact:
        return elementwise.remainder(a, b)
    a, b = (cast(x, INT64) if type(x) is Node and x.dtype.kind == "b" else x for x in _numbers(a, b))
    both = [x for x in (a, b) if type(x) is Node]
    kind = both[0].dtype if len(both) == 1 else promoted(both[0].dtype, both[1].dtype)
    if not kind.inexact:  # exact for every integer that fits
        remainder = elementwise.remainder(a, b)
        wrong = elementwise.logical_and(
            elementwise.not_equal(remainder, 0), elementwise.less(elementwise.multiply(elementwise.sign(_node(a)), elementwise.sign(_node(b))), 0)  # noqa: E501
        )  # fmt: skip
        return elementwise.where(wrong, elementwise.subtract(remainder, b), remainder)
    size = elementwise.absolute(b) if type(b) is Node else abs(b)
    a = a if type(a) is Node else elementwise.add(elementwise.multiply(b, 0), a)
    return elementwise.where(
        elementwise.signbit(a),
        elementwise.negative(elementwise.remainder(elementwise.negative(a), size)),
        elementwise.remainder(a, size),
    )


def _node(x: Any) -> Node:
    return x if type(x) is Node else as_node(x)


def beside_number(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, a Python number beside a floating tensor in the tensor's dtype."""
    if type(a) is Node and type(b) in (bool, int, float) and a.dtype.inexact:
        return a, as_node(b, a.dtype)
    if type(b) is Node and type(a) in (bool, int, float) and b.dtype.inexact:
        return as_node(a, b.dtype), b
    return a, b


def _nan_aware(f: Callable[[Any, Any], Node]) -> Callable[[Any, Any], Node]:
    def chosen(a: Any, b: Any) -> Node:
        a, b = _node(a), _node(b)
        if not a.dtype.inexact:
            return f(a, b)
        a, b = _broadcast(a, b)
        return elementwise.where(elementwise.isnan(a), b, elementwise.where(elementwise.isnan(b), a, f(a, b)))

    return chosen


def _broadcast(a: Node, b: Node) -> tuple[Node, Node]:
    shape = np.broadcast_shapes(a.shape, b.shape)
    return ops.broadcast_to(a, shape), ops.broadcast_to(b, shape)


def _floating(f: Callable[[Any, Any], Node]) -> Callable[[Any, Any], Node]:
    def computed(a: Any, b: Any) -> Node:
        a, b = beside_number(a, b)
        return f(_to_float(_node(a)), _to_float(_node(b)))

    FLOATING.add(computed)
    return computed


def _extreme(f: Callable[[Any, Any], Node]) -> Callable[[Any, Any], Node]:
    def chosen(a: Any, b: Any) -> Node:
        if all(type(x) is Node and x.dtype.kind == "b" for x in (a, b)):
            return elementwise.logical_or(a, b) if f is elementwise.maximum else elementwise.logical_and(a, b)
        return f(a, b)

    return chosen


def _logaddexp(a: Any, b: Any) -> Node:
    a, b = _node(a), _node(b)
    if "c" not in a.dtype.kind + b.dtype.kind:
        return elementwise.logaddexp(a, b)
    first = elementwise.greater_equal(ops.real(a), ops.real(b))
    above, below = elementwise.where(first, a, b), elementwise.where(first, b, a)
    ratio = elementwise.exp(elementwise.subtract(below, above))
    return elementwise.add(elementwise.log(elementwise.add(ratio, 1)), above)


def _logaddexp2(a: Any, b: Any) -> Node:
    ln2 = float(np.log(2.0))
    return elementwise.multiply(
        elementwise.logaddexp(elementwise.multiply(a, ln2), elementwise.multiply(b, ln2)), 1 / ln2
    )


def _logical(f: Callable[[Any, Any], Node]) -> Callable[[Any, Any], Node]:
    return lambda a, b: f(_truth(a), _truth(b))


def _truth(x: Any) -> Node:
    node = _node(x)
    return node if node.dtype.kind == "b" else elementwise.not_equal(node, 0)


TWO: dict[str, Callable[[Any, Any], Node]] = {
    **dict.fromkeys(("mul", "multiply"), multiply), **dict.fromkeys(("true_divide",), divide),
    "floor_divide": OPERATORS["floordiv"], "remainder": OPERATORS["mod"], "fmod": _fmod, "pow": power_,
    "maximum": _extreme(elementwise.maximum), "minimum": _extreme(elementwise.minimum),
    "fmax": _nan_aware(elementwise.maximum), "fmin": _nan_aware(elementwise.minimum),
    **dict.fromkeys(("atan2", "arctan2"), _floating(elementwise.atan2)), "hypot": elementwise.hypot,
    "logaddexp": _logaddexp, "logaddexp2": _logaddexp2, "copysign": _floating(elementwise.copysign),
    **COMPARISONS, "less": COMPARISONS["lt"], "less_equal": COMPARISONS["le"], "greater": COMPARISONS["gt"],
    "greater_equal": COMPARISONS["ge"], "not_equal": COMPARISONS["ne"],
    "logical_and": _logical(elementwise.logical_and), "logical_or": _logical(elementwise.logical_or),
    "logical_xor": _logical(elementwise.logical_xor), "bitwise_and": OPERATORS["and"], "bitwise_or": OPERATORS["or"],
    "bitwise_xor": OPERATORS["xor"], "bitwise_left_shift": OPERATORS["lshift"], "bitwise_right_shift": OPERATORS["rshift"],
}  # fmt: skip


def _function_of_two(name: str, f: Callable[[Any, Any], Node]) -> Callable[..., Any]:
    def called(input: Any, other: Any) -> Any:
        return _of(binary_node(name, f, input, other))

    called.__name__ = name
    called.__doc__ = f"PyTorch's `{name}`: elementwise, with broadcasting."
    return recorded_at_user(called)


def _of(node: Node) -> Tensor:
    return recorded(node, _getframe(1), Tensor)


for _name, _f in TWO.items():
    _called = _function_of_two(_name, _f)
    FUNCTIONS[_name] = METHODS[_name] = following(_called)
    make_in_place(_name, _called)


def _pow(input: Any, exponent: Any) -> Any:
    return _of(binary_node("pow", power_, input, exponent))


_pow.__name__ = _pow.__qualname__ = "pow"
_pow.__doc__ = "The input to the power of the exponent."
_called = recorded_at_user(_pow)
FUNCTIONS["pow"] = METHODS["pow"] = following(_called)
make_in_place("pow", _called)
