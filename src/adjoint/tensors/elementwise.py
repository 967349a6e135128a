"""The public elementwise functions. Each takes tensors, NumPy arrays and Python numbers and records one operation.

Arguments of different dtypes are promoted and shapes are broadcast as the Array API standard says; TypeError where there
is no common dtype or the function isn't defined for it, ValueError where shapes don't broadcast.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import TYPE_CHECKING, Any, Never, overload

from adjoint.composites import reductions
from adjoint.graph import Node
from adjoint.primitives import elementwise
from adjoint.primitives.core import is_scalar, ops
from adjoint.tensors.composing import Operand, composite, functions_of, refuse
from adjoint.tensors.located import MISTAKES, at_user, explained
from adjoint.tensors.named import recorded
from adjoint.tensors.conversion import as_node, as_nodes
from adjoint.tensors.indexing import nonzero
from adjoint.tensors.operators import power as _power
from adjoint.tensors.tensor import Tensor


def _unary(function: Callable[[Node], Node], x: Any) -> Tensor:
    try:
        node = function(x.node if type(x) is Tensor else as_node(x))
    except MISTAKES as error:
        raise explained(error, _getframe(1).f_code.co_name, x) from None
    return recorded(node, _getframe(2))


def _binary(function: Callable[[Any, Any], Node], x: Any, y: Any) -> Tensor:
    a = x.node if type(x) is Tensor else x if is_scalar(x) and not is_scalar(y) else as_node(x)
    b = y.node if type(y) is Tensor else y if is_scalar(y) else as_node(y)
    try:
        node = function(a, b)
    except MISTAKES as error:
        raise explained(error, _getframe(1).f_code.co_name, a, b) from None
    return recorded(node, _getframe(2))


def positive(x: Operand, /) -> Tensor:
    """x itself, as a tensor."""
    return _unary(lambda node: node, x)


def square(x: Operand, /) -> Tensor:
    """x times x, elementwise."""
    return _unary(lambda node: elementwise.power_constant(node, 2), x)


def reciprocal(x: Operand, /) -> Tensor:
    """1 / x, elementwise. Integers become the default floating dtype."""
    return _unary(lambda node: elementwise.divide(1, node), x)


def power(x: Operand, y: Operand, /) -> Tensor:
    """x to the power y, elementwise with broadcasting.

    A Python number as exponent is right for negative and zero bases: its derivative is y * x**(y-1), and 0 for y = 0. An
    exponent that is a tensor is differentiated too, with derivative x**y * log(x): 0 where x**y is 0, NaN for x < 0.
    Raises TypeError or OverflowError as the operators do.
    """
    return _binary(_power, x, y)


pow = power  # the standard's name


def nextafter(x: Operand, y: Operand, /) -> Tensor:
    """The number next to x towards y in their dtype, elementwise with broadcasting. Its derivative is x's. Real x and y."""
    return _binary(elementwise.nextafter, x, y)


def conj(x: Operand, /) -> Tensor:
    """The complex conjugate, elementwise; x itself if real."""
    return _unary(lambda node: elementwise.conj(node) if node.dtype.kind == "c" else node, x)


def negative(x: Operand, /) -> Tensor:
    """-x, elementwise. Any numeric dtype."""
    return _unary(elementwise.negative, x)


def abs(x: Operand, /) -> Tensor:
    """The absolute value, elementwise; its derivative at 0 is 0. Complex input gives the real modulus."""
    return _unary(elementwise.absolute, x)


def sign(x: Operand, /) -> Tensor:
    """-1, 0 or 1 by the sign of x (x/|x| for complex x), elementwise; its derivative is 0."""
    return _unary(elementwise.sign, x)


def exp(x: Operand, /) -> Tensor:
    """e to the power x, elementwise. Integers become the default floating dtype."""
    return _unary(elementwise.exp, x)


def expm1(x: Operand, /) -> Tensor:
    """exp(x) - 1 without cancellation near 0, elementwise."""
    return _unary(elementwise.expm1, x)


def log(x: Operand, /) -> Tensor:
    """The natural logarithm, elementwise: -inf at 0, NaN below."""
    return _unary(elementwise.log, x)


def log1p(x: Operand, /) -> Tensor:
    """log(1 + x) without cancellation near 0, elementwise."""
    return _unary(elementwise.log1p, x)


def log2(x: Operand, /) -> Tensor:
    """The logarithm to base 2, elementwise."""
    return _unary(elementwise.log2, x)


def log10(x: Operand, /) -> Tensor:
    """The logarithm to base 10, elementwise."""
    return _unary(elementwise.log10, x)


def sqrt(x: Operand, /) -> Tensor:
    """The square root, elementwise: NaN below 0; its derivative at 0 is infinite."""
    return _unary(elementwise.sqrt, x)


def sin(x: Operand, /) -> Tensor:
    """The sine of x in radians, elementwise."""
    return _unary(elementwise.sin, x)


def cos(x: Operand, /) -> Tensor:
    """The cosine of x in radians, elementwise."""
    return _unary(elementwise.cos, x)


def tan(x: Operand, /) -> Tensor:
    """The tangent of x in radians, elementwise."""
    return _unary(elementwise.tan, x)


def asin(x: Operand, /) -> Tensor:
    """The inverse sine in [-pi/2, pi/2], elementwise: NaN outside [-1, 1]."""
    return _unary(elementwise.asin, x)


def acos(x: Operand, /) -> Tensor:
    """The inverse cosine in [0, pi], elementwise: NaN outside [-1, 1]."""
    return _unary(elementwise.acos, x)


def atan(x: Operand, /) -> Tensor:
    """The inverse tangent in (-pi/2, pi/2), elementwise."""
    return _unary(elementwise.atan, x)


def sinh(x: Operand, /) -> Tensor:
    """The hyperbolic sine, elementwise."""
    return _unary(elementwise.sinh, x)


def cosh(x: Operand, /) -> Tensor:
    """The hyperbolic cosine, elementwise."""
    return _unary(elementwise.cosh, x)


def tanh(x: Operand, /) -> Tensor:
    """The hyperbolic tangent, elementwise."""
    return _unary(elementwise.tanh, x)


def asinh(x: Operand, /) -> Tensor:
    """The inverse hyperbolic sine, elementwise."""
    return _unary(elementwise.asinh, x)


def acosh(x: Operand, /) -> Tensor:
    """The inverse hyperbolic cosine, elementwise: NaN below 1."""
    return _unary(elementwise.acosh, x)


def atanh(x: Operand, /) -> Tensor:
    """The inverse hyperbolic tangent, elementwise: infinite at -1 and 1, NaN beyond."""
    return _unary(elementwise.atanh, x)


def erf(x: Operand, /) -> Tensor:
    """The error function, elementwise (W. J. Cody, Mathematics of Computation 23, 1969). Real x."""
    return _unary(elementwise.erf, x)


def erfc(x: Operand, /) -> Tensor:
    """1 - erf(x) without cancellation for large x, elementwise. Real x."""
    return _unary(elementwise.erfc, x)


def sigmoid(x: Operand, /) -> Tensor:
    """1 / (1 + exp(-x)), elementwise. Real x."""
    return _unary(elementwise.sigmoid, x)


def softplus(x: Operand, /) -> Tensor:
    """log(1 + exp(x)) without overflow, elementwise. Real x."""
    return _unary(elementwise.softplus, x)


def relu(x: Operand, /) -> Tensor:
    """max(x, 0), elementwise; its derivative at 0 is 0. Real x."""
    return _unary(elementwise.relu, x)


def floor(x: Operand, /) -> Tensor:
    """The largest integer not above x, in x's dtype, elementwise; its derivative is 0. Real x."""
    return _unary(elementwise.floor, x)


def ceil(x: Operand, /) -> Tensor:
    """The smallest integer not below x, in x's dtype, elementwise; its derivative is 0. Real x."""
    return _unary(elementwise.ceil, x)


def round(x: Operand, /) -> Tensor:
    """The nearest integer, halves to even, in x's dtype, elementwise; of complex x, of both its parts. Its derivative is 0."""
    return _unary(elementwise.rint, x)


def trunc(x: Operand, /) -> Tensor:
    """x without its fraction, in x's dtype, elementwise; its derivative is 0. Real x."""
    return _unary(elementwise.trunc, x)


def logical_not(x: Operand, /) -> Tensor:
    """Whether x is zero or False, elementwise, as bool."""
    return _unary(elementwise.logical_not, x)


def bitwise_invert(x: Operand, /) -> Tensor:
    """The bits of x inverted, elementwise. Integer or bool x."""
    return _unary(elementwise.bitwise_invert, x)


def isfinite(x: Operand, /) -> Tensor:
    """Whether x is neither infinite nor NaN, elementwise, as bool."""
    return _unary(elementwise.isfinite, x)


def isinf(x: Operand, /) -> Tensor:
    """Whether x is infinite, elementwise, as bool."""
    return _unary(elementwise.isinf, x)


def isnan(x: Operand, /) -> Tensor:
    """Whether x is NaN, elementwise, as bool."""
    return _unary(elementwise.isnan, x)


def signbit(x: Operand, /) -> Tensor:
    """Whether x has its sign bit set (true for -0.0), elementwise, as bool. Real x."""
    return _unary(elementwise.signbit, x)


def add(x: Operand, y: Operand, /) -> Tensor:
    """x + y, elementwise with broadcasting."""
    return _binary(elementwise.add, x, y)


def subtract(x: Operand, y: Operand, /) -> Tensor:
    """x - y, elementwise with broadcasting. Raises TypeError for bools."""
    return _binary(elementwise.subtract, x, y)


def multiply(x: Operand, y: Operand, /) -> Tensor:
    """x * y, elementwise with broadcasting."""
    return _binary(elementwise.multiply, x, y)


def divide(x: Operand, y: Operand, /) -> Tensor:
    """x / y, elementwise with broadcasting. Integers become the default floating dtype."""
    return _binary(elementwise.divide, x, y)


def maximum(x: Operand, y: Operand, /) -> Tensor:
    """The larger of x and y, elementwise with broadcasting. NaN wins; at a tie each gets half the gradient."""
    return _binary(elementwise.maximum, x, y)


def minimum(x: Operand, y: Operand, /) -> Tensor:
    """The smaller of x and y, elementwise with broadcasting. NaN wins; at a tie each gets half the gradient."""
    return _binary(elementwise.minimum, x, y)


def remainder(x: Operand, y: Operand, /) -> Tensor:
    """x - floor(x / y) * y, with the sign of y, elementwise with broadcasting. Real x and y."""
    return _binary(elementwise.remainder, x, y)


def floor_divide(x: Operand, y: Operand, /) -> Tensor:
    """floor(x / y), elementwise with broadcasting; its derivative is 0. Real x and y."""
    return _binary(elementwise.floor_divide, x, y)


def atan2(y: Operand, x: Operand, /) -> Tensor:
    """The angle of the point (y, x) in [-pi, pi], elementwise with broadcasting. Real arguments: atan2(y, x)."""
    return _binary(elementwise.atan2, y, x)


def hypot(x: Operand, y: Operand, /) -> Tensor:
    """sqrt(x**2 + y**2) without overflow, elementwise with broadcasting; its derivative at (0, 0) is 0. Real x and y."""
    return _binary(elementwise.hypot, x, y)


def logaddexp(x: Operand, y: Operand, /) -> Tensor:
    """log(exp(x) + exp(y)) without overflow, elementwise with broadcasting. Real x and y."""
    return _binary(elementwise.logaddexp, x, y)


def copysign(x: Operand, y: Operand, /) -> Tensor:
    """|x| with the sign of y, elementwise with broadcasting. Real x and y."""
    return _binary(elementwise.copysign, x, y)


def equal(x: Operand, y: Operand, /) -> Tensor:
    """x == y, elementwise with broadcasting, as bool."""
    return _binary(elementwise.equal, x, y)


def not_equal(x: Operand, y: Operand, /) -> Tensor:
    """x != y, elementwise with broadcasting, as bool."""
    return _binary(elementwise.not_equal, x, y)


def less(x: Operand, y: Operand, /) -> Tensor:
    """x < y, elementwise with broadcasting, as bool. Real x and y."""
    return _binary(elementwise.less, x, y)


def less_equal(x: Operand, y: Operand, /) -> Tensor:
    """x <= y, elementwise with broadcasting, as bool. Real x and y."""
    return _binary(elementwise.less_equal, x, y)


def greater(x: Operand, y: Operand, /) -> Tensor:
    """x > y, elementwise with broadcasting, as bool. Real x and y."""
    return _binary(elementwise.greater, x, y)


def greater_equal(x: Operand, y: Operand, /) -> Tensor:
    """x >= y, elementwise with broadcasting, as bool. Real x and y."""
    return _binary(elementwise.greater_equal, x, y)


def logical_and(x: Operand, y: Operand, /) -> Tensor:
    """Whether x and y are both nonzero, elementwise with broadcasting, as bool."""
    return _binary(elementwise.logical_and, x, y)


def logical_or(x: Operand, y: Operand, /) -> Tensor:
    """Whether x or y is nonzero, elementwise with broadcasting, as bool."""
    return _binary(elementwise.logical_or, x, y)


def logical_xor(x: Operand, y: Operand, /) -> Tensor:
    """Whether exactly one of x and y is nonzero, elementwise with broadcasting, as bool."""
    return _binary(elementwise.logical_xor, x, y)


def bitwise_and(x: Operand, y: Operand, /) -> Tensor:
    """The bits set in both, elementwise with broadcasting. Integers or bools."""
    return _binary(elementwise.bitwise_and, x, y)


def bitwise_or(x: Operand, y: Operand, /) -> Tensor:
    """The bits set in either, elementwise with broadcasting. Integers or bools."""
    return _binary(elementwise.bitwise_or, x, y)


def bitwise_xor(x: Operand, y: Operand, /) -> Tensor:
    """The bits set in exactly one, elementwise with broadcasting. Integers or bools."""
    return _binary(elementwise.bitwise_xor, x, y)


def bitwise_left_shift(x: Operand, y: Operand, /) -> Tensor:
    """The bits of x moved up by y places, elementwise with broadcasting. Integers."""
    return _binary(elementwise.bitwise_left_shift, x, y)


def bitwise_right_shift(x: Operand, y: Operand, /) -> Tensor:
    """The bits of x moved down by y places, elementwise with broadcasting. Integers."""
    return _binary(elementwise.bitwise_right_shift, x, y)


# With more arguments --------------------------------------------------------------------------------------------------


@overload
def where(condition: Operand, /) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Operand, x: Operand, y: Operand, /) -> Tensor: ...
def where(condition: Operand, x: Any = None, y: Any = None, /) -> Any:
    """x where the condition holds, else y, elementwise with broadcasting. With the condition alone, its `nonzero`, as in NumPy.

    A selection, never a product with a mask: what isn't selected has no influence on value or gradient, NaN included.

    >>> import adjoint as ad
    >>> x = ad.variable([-1.0, 4.0])
    >>> ad.where(x > 0, ad.sqrt(x), 0.0).sum().backward()
    >>> x.grad
    Tensor([0.  , 0.25])
    """
    if y is None and x is None:
        return nonzero(condition)
    if y is None or x is None:
        raise TypeError(
            f"where: it takes the condition alone, or also what to take where it holds and where it doesn't: "
            f"ad.where(mask, x, 0){at_user()}"
        )
    if type(x) is list or type(y) is list:
        x, y = as_nodes((x, y))
    a = x if is_scalar(x) else as_node(x)
    b = y if is_scalar(y) else as_node(y)
    return _unary(lambda c: elementwise.where(c, a, b), condition)


def clip(x: Operand, /, min: Any = None, max: Any = None, **others: Never) -> Tensor:
    """x limited to [min, max], either of which may be left out. The derivative is 1 at the bounds, 0 outside."""
    if others:
        refuse("clip", others)
    low, high = (v if v is None or is_scalar(v) else as_nodes((x, v))[1] for v in (min, max))
    return _unary(lambda node: reductions.bounded(node, low, high), x)


def real(x: Operand, /) -> Tensor:
    """The real part."""
    return _unary(lambda node: elementwise.real(node) if node.dtype.kind == "c" else node, x)


def imag(x: Operand, /) -> Tensor:
    """The imaginary part; zeros if x is real."""
    return _unary(lambda node: elementwise.imag(node) if node.dtype.kind == "c" else ops.zeros(node.type), x)


def gelu(x: Operand, /, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function of x (Hendrycks and Gimpel, 2016). approximate: "none" or "tanh"."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is 'none' or 'tanh', got {approximate!r}{at_user()}")
    return _unary(elementwise.gelu, x) if approximate == "none" else composite("gelu", reductions.gelu_tanh, as_node(x))


def silu(x: Operand, /) -> Tensor:
    """x times sigmoid(x)."""
    return _unary(elementwise.silu, x)


if not TYPE_CHECKING:
    __all__ = functions_of(globals())
