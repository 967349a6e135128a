"""PyTorch's elementwise functions: what the core has under another name, and what is a formula of that."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import special
from adjoint.arrays.standard import finfo
from adjoint.dtypes import default_dtype
from adjoint.graph import Node
from adjoint.primitives import elementwise
from adjoint.primitives.core import cast, ops
from adjoint.tensors import functions as core
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import at_user

from ._names import FUNCTIONS, METHODS, function, make_in_place, numbers_between, pair_type, recorded_at_user
from ._operators import FLOATING, aligned, as_floating, beside_number, binary_node, divide, one_dtype, power_, subtract
from ._operators import add as add_nodes
from ._tensor import Core, Tensor, node_of
from ._view_tensors import following

# Functions of one tensor: PyTorch's names, and the core's function of tensors ---------------------------------------------


def _frac(x: Any) -> Any:
    return x - core.trunc(x)


def _rsqrt(x: Any) -> Any:
    return 1 / core.sqrt(x)


def _sgn(x: Any) -> Any:
    if x.dtype.kind == "b":
        return made(x.node)
    return core.where(core.isnan(x), 0.0, core.sign(x)) if x.dtype.kind == "f" else core.sign(x)


def _isposinf(x: Any) -> Any:
    return x == math.inf


def _isneginf(x: Any) -> Any:
    return x == -math.inf


def _isreal(x: Any) -> Any:
    return core.imag(x) == 0 if x.dtype.kind == "c" else core.ones_like(x, dtype="bool")


def _angle(x: Any) -> Any:
    if x.dtype.kind == "c":
        return core.atan2(core.imag(x), core.real(x))
    y = core.astype(x, default_dtype()) if not x.dtype.inexact else x
    return core.where(core.isnan(y), y, core.where(y < 0, math.pi, 0.0 * core.ones_like(y)))


def _abs(x: Any) -> Any:
    return made(x.node) if x.dtype.kind in "bu" else core.abs(x)


def _negative(x: Any) -> Any:
    if x.dtype.kind == "b":
        raise RuntimeError(f"neg: a bool has no negative; use ~ or logical_not(){at_user()}")
    return core.negative(x)


def _positive(x: Any) -> Any:
    if x.dtype.kind == "b":
        raise RuntimeError(f"positive: a bool has no sign{at_user()}")
    return x


def _real_only(f: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    def checked(x: Any) -> Any:
        if x.dtype.kind == "c":
            raise RuntimeError(f"{name}: complex tensors have none{at_user()}")
        return f(x)

    return checked


def _square(x: Any) -> Any:
    return core.logical_and(x, x).astype("int64") if x.dtype.kind == "b" else core.square(x)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + core.exp(-x)) if x.dtype.kind == "c" else core.sigmoid(x)


def _rounding(f: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    return _real_only(lambda x: made(x.node) if x.dtype.kind in "iu" else f(x), name)


def _lgamma(x: Any) -> Any:
    return special.gammaln(x)


def _erfinv(x: Any) -> Any:
    return special.erfinv(x)


def _sinc(x: Any) -> Any:
    if x.dtype.kind != "c":
        return special.sinc(x)
    safe = core.where(x == 0, 1.0, x * math.pi)
    return core.where(x == 0, 1.0, core.sin(safe) / safe)


def _deg2rad(x: Any) -> Any:
    return x * (math.pi / 180)


def _rad2deg(x: Any) -> Any:
    return x * (180 / math.pi)


def _floating(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Integers and bools become the default floating dtype first."""
    return lambda x: f(x if x.dtype.inexact else core.astype(x, default_dtype()))


UNARY: dict[str, Callable[[Any], Any]] = {
    **{
        name: _floating(getattr(core, name))
        for name in ("acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan "
                     "tanh erf erfc reciprocal").split()
    },
    **{"arc" + name[1:]: _floating(getattr(core, name)) for name in "acos acosh asin asinh atan atanh".split()},
    "abs": _abs, "absolute": _abs, "neg": _negative, "negative": _negative, "square": _square, "sigmoid": _floating(_sigmoid),
    "relu": core.relu, "ceil": _rounding(core.ceil, "ceil"), "floor": _rounding(core.floor, "floor"),
    "trunc": _rounding(core.trunc, "trunc"), "fix": _rounding(core.trunc, "fix"), "sign": _real_only(_sgn, "sign"),
    "sgn": _sgn, "frac": _real_only(_frac, "frac"), "rsqrt": _floating(_rsqrt), "logical_not": core.logical_not,
    "bitwise_not": core.bitwise_invert, "conj_physical": lambda x: core.conj(x) if x.dtype.kind == "c" else x,
    "resolve_conj": lambda x: x, "resolve_neg": lambda x: x,
    "isfinite": core.isfinite, "isinf": core.isinf, "isnan": core.isnan, "isposinf": _isposinf, "isneginf": _isneginf,
    "isreal": _isreal, "signbit": lambda x: x < 0 if x.dtype.kind in "iu" else core.signbit(x), "angle": _angle,
    "positive": _positive, "deg2rad": _floating(_deg2rad), "rad2deg": _floating(_rad2deg),
    "exp2": _floating(lambda x: special.exp2(x) if x.dtype.kind == "f" else core.exp(x * math.log(2.0))),
    "erfinv": _floating(_erfinv), "sinc": _floating(_sinc), "i0": _floating(lambda x: special.i0(x)),
    **dict.fromkeys(("digamma", "psi"), _floating(lambda x: special.digamma(x))),
    **dict.fromkeys(("lgamma", "gammaln"), _floating(_lgamma)),
}  # fmt: skip
NOT_IN_PLACE = {"isfinite", "isinf", "isnan", "isposinf", "isneginf", "isreal", "signbit", "angle", "positive",
                "resolve_conj", "resolve_neg"}  # fmt: skip


def _of_one(name: str, f: Callable[[Any], Any]) -> Callable[..., Any]:
    def called(input: Any) -> Any:
        if not isinstance(input, Core):
            raise TypeError(f"{name}: expected a tensor, got {type(input).__name__}{at_user()}")
        return f(input)

    called.__name__ = name
    called.__doc__ = f"PyTorch's `{name}`, elementwise."
    return recorded_at_user(called)


for _name, _f in UNARY.items():
    _called = _of_one(_name, _f)
    FUNCTIONS[_name] = METHODS[_name] = following(_called)
    if _name not in NOT_IN_PLACE:
        make_in_place(_name, _called)


# Formulas -------------------------------------------------------------------------------------------------------------------


def made(node: Node) -> Tensor:
    """A tensor of a node."""
    found = object.__new__(Tensor)
    found.node = node
    return found


@function(in_place=True, follows=True)
@numbers_between("alpha")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Input plus alpha times other."""
    return made(binary_node("add", add_nodes, input, _times(other, alpha)))


@function("subtract", in_place=True, follows=True)
@numbers_between("alpha")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Input minus alpha times other."""
    return made(binary_node("sub", subtract, input, _times(other, alpha)))


@function(follows=True)
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """Other minus alpha times input."""
    if not isinstance(input, Core):
        raise TypeError(f"rsub: expected a tensor, got {type(input).__name__}{at_user()}")
    return made(binary_node("rsub", subtract, other, _times(input, alpha)))


def _times(x: Any, factor: Any) -> Any:
    if type(factor) is int and factor == 1:
        return x
    if isinstance(x, Core):
        if x.dtype.kind == "b" and type(factor) is not bool:
            raise RuntimeError(f"alpha: bool tensors take none but True, got {factor}{at_user()}")
        if x.dtype.kind in "iu" and isinstance(factor, float):
            raise RuntimeError(f"alpha: integer tensors take an integer one, got {factor}{at_user()}")
    return x * factor


@function("divide", in_place=True, follows=True)
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Input over other: exact, or rounded ("trunc" towards zero, "floor" down)."""
    if rounding_mode is None:
        return made(binary_node("div", divide, input, other))
    if rounding_mode == "floor":
        return made(binary_node("div", elementwise.floor_divide, input, other))
    if rounding_mode != "trunc":
        raise RuntimeError(f"div: rounding_mode is None, 'trunc' or 'floor', got {rounding_mode!r}{at_user()}")

    def truncated(a: Any, b: Any) -> Node:
        kind = elementwise.multiply(a, b).dtype
        if kind.inexact:
            return elementwise.trunc(divide(a, b))
        remainder = FUNCTIONS["fmod"](*[x if not isinstance(x, Node) else made(x) for x in (a, b)])
        return elementwise.floor_divide(elementwise.subtract(a, remainder.node), b)

    return made(binary_node("div", truncated, input, other))


@function(in_place=True, follows=True)
def float_power(input: Any, exponent: Any) -> Any:
    """Input to the power exponent in float64."""
    wide = [_wide(x) for x in (input, exponent)]
    return made(binary_node("float_power", power_, *wide))


def _wide(x: Any) -> Any:
    if isinstance(x, Core):
        return core.astype(x, "complex128" if x.dtype.kind == "c" else "float64")
    return x


@function(in_place=True, follows=True)
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """The input limited to [min, max], either of which may be left out. A gradient passes at the bounds."""
    if min is None and max is None:
        raise RuntimeError(f"clamp: give min, max or both{at_user()}")
    if isinstance(min, Core) or isinstance(max, Core):
        out = input
        if min is not None:
            out = _selected(elementwise.less, out, min)
        return out if max is None else _selected(elementwise.greater, out, max)
    if input.dtype.kind in "biu" and any(isinstance(v, float) for v in (min, max)):
        input = core.astype(input, default_dtype())
    return core.clip(input, min, max)


def _selected(outside: Any, x: Any, bound: Any) -> Any:
    """The bound where x is beyond it, else x."""
    a, b = aligned(node_of(x), node_of(bound))
    shape = np.broadcast_shapes(a.shape, b.shape)
    a, b = ops.broadcast_to(a, shape), ops.broadcast_to(b, shape)
    if a.dtype is not b.dtype:
        chosen = core.result_type(made(a), made(b))
        a, b = cast(a, chosen), cast(b, chosen)
    beyond = elementwise.logical_or(outside(a, b), elementwise.not_equal(b, b)) if b.dtype.inexact else outside(a, b)
    return made(elementwise.where(beyond, b, a))


FUNCTIONS["clip"] = METHODS["clip"] = FUNCTIONS["clamp"]
make_in_place("clip", FUNCTIONS["clamp"])


@function(in_place=True, follows=True)
def clamp_min(input: Any, min: Any) -> Any:
    """The input, but at least min."""
    return clamp(input, min=min)


@function(in_place=True, follows=True)
def clamp_max(input: Any, max: Any) -> Any:
    """The input, but at most max."""
    return clamp(input, max=max)


@function(in_place=True, follows=True)
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """Input + weight * (end - input)."""
    one_dtype("lerp", input, end, weight if isinstance(weight, Core) and weight.ndim else None)
    return input + weight * (end - input)


def _like_the_sum(input: Any, tensor1: Any, tensor2: Any) -> list[Any]:
    """The factors in the dtype of the result, in which PyTorch computes."""
    if not isinstance(input, Core) or input.dtype is tensor1.dtype is tensor2.dtype:
        return [tensor1, tensor2]
    kind = (input + tensor1 * tensor2).dtype
    return [core.astype(x, kind) for x in (tensor1, tensor2)]


@function(in_place=True, follows=True)
@numbers_between("value")
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Input + value * tensor1 * tensor2."""
    tensor1, tensor2 = _like_the_sum(input, tensor1, tensor2)
    product = tensor1 * tensor2
    return input + (product if value == 1 else product * value)


@function(in_place=True, follows=True)
@numbers_between("value")
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """Input + value * tensor1 / tensor2."""
    if not any(x.dtype.inexact for x in (tensor1, tensor2)):
        raise RuntimeError(f"addcdiv: integer division isn't supported; cast to float{at_user()}")
    tensor1, tensor2 = _like_the_sum(input, tensor1, tensor2)
    quotient = tensor1 / tensor2
    return input + (quotient if value == 1 else quotient * value)


@function(in_place=True, follows=True)
def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest integer, halves to even; or the nearest number of so many decimals."""
    if input.dtype.kind in "iu":
        if decimals:
            raise RuntimeError(f"round: integers have no decimals{at_user()}")
        return made(input.node)
    if input.dtype.kind == "c":
        raise RuntimeError(f"round: complex tensors can't be rounded{at_user()}")
    if not decimals:
        return core.round(input)
    factor = 10.0 ** abs(decimals)
    return core.round(input * factor) / factor if decimals > 0 else core.round(input / factor) * factor


@function(in_place=True, follows=True)
def nan_to_num(input: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """NaN and infinities replaced: by 0 and the dtype's largest numbers unless said."""
    if not input.dtype.inexact:
        return made(input.node)
    if input.dtype.kind == "c":
        real, imag = [nan_to_num(part, nan, posinf, neginf) for part in (core.real(input), core.imag(input))]
        return FUNCTIONS["complex"](real, imag)
    limits = finfo(input.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    out = core.where(core.isnan(input), 0.0 if nan is None else nan, input)
    out = core.where(out == math.inf, high, out)
    return core.where(out == -math.inf, low, out)


@function(in_place=True, follows=True)
def logit(input: Any, eps: float | None = None) -> Any:
    """log(x / (1 - x)), of x limited to [eps, 1 - eps]."""
    x = input if input.dtype.inexact else core.astype(input, default_dtype())
    if eps is not None:
        x = core.clip(x, eps, 1 - eps)
    return special.logit(x)


@function(in_place=True, follows=True)
def xlogy(input: Any, other: Any) -> Any:
    """Input * log(other), 0 where the input is 0."""
    return made(binary_node("xlogy", _xlogy, input, other))


def _xlogy(a: Any, b: Any) -> Node:
    a, b = beside_number(a, b)
    return special.xlogy(_tensor_of(a), _tensor_of(b)).node


FLOATING.add(_xlogy)


def _tensor_of(x: Any) -> Any:
    node = x if isinstance(x, Node) else as_node(x)
    return made(node if node.dtype.inexact else cast(node, default_dtype()))


@function(in_place=True)
def ldexp(input: Any, other: Any) -> Any:
    """Input times 2 to the power other."""
    x, exponent = (_tensor_of(node) for node in aligned(*as_floating(input.node, other.node)))
    return x * (core.exp(exponent * math.log(2)) if exponent.dtype.kind == "c" else special.exp2(exponent))


@function(in_place=True, follows=True)
def heaviside(input: Any, values: Any) -> Any:
    """0 below 0, 1 above it, `values` at it."""
    if input.dtype is not values.dtype:
        raise RuntimeError(f"heaviside: both tensors need one dtype{at_user()}")
    return core.where(input == 0, values, core.astype(input > 0, values.dtype))


@function(in_place=True)
def gcd(input: Any, other: Any) -> Any:
    """The greatest common divisor."""
    tensors_alone("gcd", input, other)
    return _host(np.gcd, *(made(node) for node in aligned(input.node, other.node)))


@function(in_place=True)
def lcm(input: Any, other: Any) -> Any:
    """The least common multiple."""
    tensors_alone("lcm", input, other)
    return _host(np.lcm, *(made(node) for node in aligned(input.node, other.node)))


@function(in_place=True)
def nextafter(input: Any, other: Any) -> Any:
    """The next floating number after the input towards other."""
    tensors_alone("nextafter", input, other)
    a, b = (made(node) for node in aligned(input.node, other.node))
    found = _host(np.nextafter, a, b)
    finite = core.logical_and(core.isfinite(found), core.isfinite(a))
    return core.where(finite, a + core.where(finite, found - a.detach(), 0.0), found)


def tensors_alone(name: str, *given: Any) -> None:
    """Raise for operands that are no tensors."""
    if not all(isinstance(x, Core) for x in given):
        raise TypeError(f"{name}: both operands must be tensors{at_user()}")


def _host(f: Callable[..., Any], *args: Any) -> Any:
    """A function of integers by NumPy, which has no derivative."""
    arrays = [x.detach().numpy() if isinstance(x, Core) else x for x in args]
    return core.tensor(np.asarray(f(*arrays)))


@function()
def frexp(input: Any) -> Any:
    """Mantissa in ±[0.5, 1) and exponent: input = mantissa * 2**exponent."""
    exponent = np.frexp(input.detach().numpy())[1]
    scale = core.tensor(np.ldexp(np.ones((), input.dtype.dtype), -exponent))
    return pair_type("frexp", "mantissa", "exponent")(input * scale, core.tensor(exponent))


@function()
def isclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether |input - other| <= atol + rtol * |other|, elementwise."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"isclose: {input.dtype.name} and {other.dtype.name} differ{at_user()}")
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"isclose: tolerances must not be negative{at_user()}")
    a, b = input.detach(), other.detach()
    near = a == b
    if a.dtype.kind == "b":
        return near
    difference = core.abs(a - b)
    near = near | (core.isfinite(difference) & (difference <= atol + core.abs(b * rtol)))
    return near | (core.isnan(a) & core.isnan(b)) if equal_nan else near


@function()
def allclose(input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close: see `isclose`."""
    return bool(core.all(isclose(input, other, rtol, atol, equal_nan)).item())


@function()
def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have one shape and equal elements."""
    return tuple(input.shape) == tuple(other.shape) and bool(
        np.array_equal(input.detach().numpy(), other.detach().numpy())
    )


@function(methods=False)
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Whether each element is one of the others."""
    given = [np.asarray(x.detach().numpy() if isinstance(x, Core) else x) for x in (elements, test_elements)]
    return core.tensor(np.isin(*given, assume_unique=assume_unique, invert=invert))  # type: ignore[arg-type,misc]


@function(in_place=True)
def polygamma(n: Any, input: Any) -> Any:
    """The n-th derivative of digamma."""
    if isinstance(n, Core):
        n, input = input, n
    x = input if input.dtype.inexact else core.astype(input, default_dtype())
    return special.polygamma(n, x) if n else special.digamma(x)


@function("special_multigammaln", in_place=True)
def mvlgamma(input: Any, p: int) -> Any:
    """The multivariate log-gamma function of dimension p."""
    x = input if input.dtype.inexact else core.astype(input, default_dtype())
    return special.multigammaln(x, p)


@function("gammainc", in_place=True)
def igamma(input: Any, other: Any) -> Any:
    """The regularized lower incomplete gamma function."""
    tensors_alone("igamma", input, other)
    return special.gammainc(input, other)


@function("gammaincc", in_place=True)
def igammac(input: Any, other: Any) -> Any:
    """The regularized upper incomplete gamma function."""
    tensors_alone("igammac", input, other)
    return special.gammaincc(input, other)


@function(in_place=True, follows=True)
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """The value where the mask holds, else the input."""
    if mask.dtype.kind != "b":
        raise RuntimeError(f"masked_fill: the mask is bool, got {mask.dtype.name}{at_user()}")
    if isinstance(value, Core):
        if value.ndim:
            raise RuntimeError(f"masked_fill: the value is a number or a tensor without axes{at_user()}")
        value = core.astype(value, input.dtype) if _fits(value.dtype.kind, input) else _refused(value, input)
    elif np.iscomplexobj(value) and input.dtype.kind != "c":
        _refused(value, input)
    elif input.dtype.kind in "iu" and isinstance(value, float):
        value = int(value) if value == int(value) else _refused(value, input)
    elif input.dtype.kind == "b":
        value = bool(value)
    return core.astype(core.where(mask, value, input), input.dtype)


def _fits(kind: str, x: Any) -> bool:
    return kind != "c" or x.dtype.kind == "c"


def _refused(value: Any, x: Any) -> Any:
    raise RuntimeError(f"masked_fill: {value} doesn't fit a {x.dtype.name} tensor{at_user()}")


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Input where the condition holds, else other; with a condition alone, the indices where it holds."""
    if input is None and other is None:
        return tuple(core.nonzero(condition))
    if isinstance(condition, Core) and condition.dtype.kind not in "bu":
        raise RuntimeError(f"where: the condition is bool, got {condition.dtype.name}{at_user()}")
    if condition.dtype.kind == "u":
        condition = condition != 0
    a, b = (x.node if isinstance(x, Core) else x for x in (input, other))
    if not isinstance(a, Node) and not isinstance(b, Node):
        a = as_node(a)
    a, b = aligned(a, b)
    return core.where(condition, *(made(x) if isinstance(x, Node) else x for x in (a, b)))


FUNCTIONS["where"] = recorded_at_user(where)
METHODS["where"] = recorded_at_user(lambda self, condition, other: where(condition, self, other))
