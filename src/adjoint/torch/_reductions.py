"""PyTorch's reductions, running totals, and norms."""

from __future__ import annotations

import builtins
import math
from typing import Any

from adjoint.arrays import running
from adjoint.dtypes import default_dtype
from adjoint.tensors import functions as core
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import at_user

from ._elementwise import made
from ._names import FUNCTIONS, METHODS, function, make_in_place, pair_type, recorded_at_user, with_positions, written
from ._operators import TWO, binary_node
from ._tensor import Core
from ._view_tensors import following

Dim = Any


def axes_of(dim: Dim) -> Any:
    """The axes that `dim` names; None for all of them."""
    if dim is None:
        return None
    if isinstance(dim, (list, tuple)):
        return tuple(int(d) for d in dim) if len(dim) else None
    return int(dim)


def count_of(x: Any, dim: Dim) -> int:
    """How many elements are reduced into one."""
    axes = axes_of(dim)
    axes = range(x.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    return math.prod(x.node.type.shape[a] for a in axes)


def is_zero_d(x: Any) -> bool:
    """Whether a tensor has no axes; PyTorch then takes 0 and -1 as one."""
    return x.node.type.ndim == 0


def lifted(x: Any, dim: Dim) -> tuple[Any, bool]:
    """A tensor with one axis where it had none and an axis is named."""
    if is_zero_d(x) and dim is not None:
        check_axis(dim, 0)
        return core.reshape(x, (1,)), True
    return x, False


def check_axis(dim: Dim, ndim: int) -> None:
    """Raise IndexError for an axis that isn't there."""
    high = builtins.max(ndim, 1)
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        if not -high <= d < high:
            raise IndexError(f"dimension out of range: {d} for a tensor with {ndim} axes{at_user()}")


def cast_first(x: Any, dtype: Any) -> Any:
    """A tensor as the dtype to compute in; integers and bools as int64 where none is said."""
    if dtype is not None:
        return core.astype(x, dtype_of(dtype))
    return core.astype(x, "int64") if x.dtype.kind in "biu" else x


@function(follows=True)
def sum(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over some axes, or all. Integers and bools become int64."""
    x, _ = lifted(cast_first(input, dtype), dim)
    out = core.sum(x, axis=axes_of(dim), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


@function(follows=True)
def nansum(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum with NaN counted as 0."""
    x = cast_first(input, dtype)
    return sum(core.where(core.isnan(x), 0, x) if x.dtype.inexact else x, dim, keepdim)


def _floating(name: str, x: Any, dtype: Any = None) -> Any:
    if dtype is not None and dtype_of(dtype).inexact:
        return core.astype(x, dtype_of(dtype))
    if dtype is not None:
        raise RuntimeError(f"{name}: dtype={dtype_of(dtype).name} can't hold it; give a floating dtype{at_user()}")
    if not x.dtype.inexact:
        raise RuntimeError(
            f"{name}: needs floating or complex numbers, got {x.dtype.name}; x.float() makes them{at_user()}"
        )
    return x


@function(follows=True)
def mean(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean over some axes, or all. Raises for integers."""
    x, _ = lifted(_floating("mean", input, dtype), dim)
    if count_of(x, dim) == 0:
        return core.sum(x, axis=axes_of(dim), keepdims=keepdim) / 0.0
    out = core.mean(x, axis=axes_of(dim), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


@function(follows=True)
def nanmean(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of what isn't NaN."""
    x = _floating("nanmean", input, dtype)
    there = core.logical_not(core.isnan(x))
    return nansum(x, dim, keepdim) / core.astype(sum(there, dim, keepdim), x.dtype)


@function(follows=True)
def prod(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product over one axis, or all."""
    x, _ = lifted(cast_first(input, dtype), dim)
    out = core.prod(x, axis=axes_of(dim), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


def _correction(unbiased: Any, correction: Any) -> Any:
    if unbiased is not None and correction is not None:
        raise TypeError(f"give unbiased or correction, not both{at_user()}")
    if correction is not None:
        return correction
    return 1 if unbiased is None or unbiased else 0


def _spread(name: str, x: Any, dim: Dim, unbiased: Any, keepdim: bool, correction: Any) -> tuple[Any, Any, Any]:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    x, _ = lifted(_floating(name, x), dim)
    return x, axes_of(dim), _correction(unbiased, correction)


@function(follows=True)
def var(input: Any, dim: Dim = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    """The variance: the sum of squared deviations over N - 1 (or N - correction)."""
    x, axes, c = _spread("var", input, dim, unbiased, keepdim, correction)
    n = count_of(x, dim if not isinstance(dim, bool) else None)
    if n - c <= 0:
        deviations = (
            core.var(x, axis=axes, correction=0.0, keepdims=keepdim)
            if n
            else core.sum(core.real(x), axis=axes, keepdims=keepdim)
        )
        out = deviations * (math.nan if n <= 1 else math.inf)
        return core.reshape(out, ()) if is_zero_d(input) else out
    out = core.var(x, axis=axes, correction=float(c), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


@function(follows=True)
def std(input: Any, dim: Dim = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    """The standard deviation: the root of `var`."""
    x, axes, c = _spread("std", input, dim, unbiased, keepdim, correction)
    if count_of(x, dim if not isinstance(dim, bool) else None) - c <= 0:
        return core.sqrt(var(input, dim, unbiased, keepdim, correction=correction))
    out = core.std(x, axis=axes, correction=float(c), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


@function(methods=False)
def var_mean(
    input: Any, dim: Dim = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The variance and the mean."""
    chosen = None if isinstance(dim, bool) else dim
    return var(input, dim, unbiased, keepdim, correction=correction), mean(input, chosen, keepdim)


@function(methods=False)
def std_mean(
    input: Any, dim: Dim = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The standard deviation and the mean."""
    chosen = None if isinstance(dim, bool) else dim
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, chosen, keepdim)


def _arg_extreme(x: Any, dim: int, largest: bool) -> Any:
    """Positions of the extremes along an axis, with the axis kept; the first among equals."""
    y = core.astype(x, "uint8") if x.dtype.kind == "b" else x
    return (core.argmax if largest else core.argmin)(y.detach(), axis=dim, keepdims=True)


def _extreme_along(x: Any, dim: int, keepdim: bool, largest: bool) -> Any:
    full, was_zero_d = lifted(x, dim)
    check_axis(dim, full.ndim)
    at = _arg_extreme(full, dim, largest)
    values = core.take_along_axis(full, at, axis=dim)
    if not keepdim or was_zero_d:
        values, at = core.squeeze(values, axis=dim), core.squeeze(at, axis=dim)
    return values, at


def _extreme(name: str, largest: bool) -> Any:
    whole = core.max if largest else core.min

    def of_axis(x: Any, dim: int, keepdim: bool) -> Any:
        return _extreme_along(x, dim, keepdim, largest)

    of_axis.__name__ = name
    along = with_positions(of_axis)

    def called(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        other = dim if isinstance(dim, Core) else other
        if other is not None:
            return made(binary_node(name, TWO["maximum" if largest else "minimum"], input, other))
        if dim is None:
            x = core.astype(input, "uint8") if input.dtype.kind == "b" else input
            return core.astype(whole(x), input.dtype)
        return along(input, dim, keepdim)

    called.__name__ = name
    called.__doc__ = f"The {name} of all elements; of an axis, with its positions; or of two tensors, elementwise."
    return following(recorded_at_user(called))


for _name, _largest in (("max", True), ("min", False)):
    FUNCTIONS[_name] = METHODS[_name] = _extreme(_name, _largest)


def _amount(name: str, f: Any) -> None:
    def called(input: Any, dim: Dim = (), keepdim: bool = False) -> Any:
        x, _ = lifted(input, dim if dim != () else None)
        y = core.astype(x, "uint8") if x.dtype.kind == "b" else x
        out = core.astype(f(y, axis=axes_of(dim), keepdims=keepdim), x.dtype)
        return core.reshape(out, ()) if is_zero_d(input) else out

    called.__name__ = name
    called.__doc__ = f"The {name[1:]} over some axes, or all; a gradient is shared among equals."
    FUNCTIONS[name] = METHODS[name] = following(recorded_at_user(called))


_amount("amax", core.max)
_amount("amin", core.min)


@function()
def aminmax(input: Any, *, dim: Dim = None, keepdim: bool = False) -> Any:
    """The smallest and the largest."""
    return pair_type("aminmax", "min", "max")(
        FUNCTIONS["amin"](input, () if dim is None else dim, keepdim), FUNCTIONS["amax"](input, () if dim is None else dim, keepdim)  # noqa: E501
    )  # fmt: skip


def _position(name: str, f: Any) -> None:
    def called(input: Any, dim: Dim = None, keepdim: bool = False) -> Any:
        if input.dtype.kind == "b":
            raise RuntimeError(f"{name}: bools have none; x.int() makes numbers of them{at_user()}")
        x, was_zero_d = lifted(input, dim)
        if not (input.size if dim is None else x.shape[dim]):
            raise IndexError(f"{name}: of no elements (shape {tuple(input.shape)}) none has a position{at_user()}")
        if dim is None:
            out = f(core.flatten(x))
            return core.reshape(out, (1,) * input.ndim) if keepdim else out
        out = f(x, axis=dim, keepdims=keepdim)
        return core.reshape(out, ()) if was_zero_d else out

    called.__name__ = name
    called.__doc__ = f"The position of the {name[3:]} along an axis, or in all elements."
    FUNCTIONS[name] = METHODS[name] = following(recorded_at_user(called))


_position("argmax", core.argmax)
_position("argmin", core.argmin)


def _truth(name: str, f: Any) -> None:
    def called(input: Any, dim: Dim = None, keepdim: bool = False) -> Any:
        x, was_zero_d = lifted(input, dim)
        none = isinstance(dim, (tuple, list)) and not len(dim)  # for these two that means no axis
        out = core.not_equal(x, 0) if none else f(x, axis=axes_of(dim), keepdims=keepdim)
        out = core.astype(out, "uint8") if x.dtype == "uint8" else out
        return core.reshape(out, ()) if was_zero_d else out

    called.__name__ = name
    called.__doc__ = f"Whether {name} elements are nonzero."
    FUNCTIONS[name] = METHODS[name] = following(recorded_at_user(called))


_truth("all", core.all)
_truth("any", core.any)


@function(follows=True)
def count_nonzero(input: Any, dim: Dim = None) -> Any:
    """How many elements are nonzero."""
    x, _ = lifted(input, dim)
    out = core.count_nonzero(x, axis=axes_of(dim))
    return core.reshape(out, ()) if is_zero_d(input) else out


@function(follows=True)
def logsumexp(input: Any, dim: Dim, keepdim: bool = False) -> Any:
    """log(sum(exp(x))) without overflow."""
    x = input if input.dtype.inexact else core.astype(input, default_dtype())
    y, _ = lifted(x, dim)
    if y.dtype.kind == "c":
        out = _complex_logsumexp(y, axes_of(dim), keepdim)
    else:
        out = core.logsumexp(y, axis=axes_of(dim), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


def _complex_logsumexp(x: Any, axes: Any, keepdim: bool) -> Any:
    re = core.real(x).detach()
    top = core.max(re, axis=axes, keepdims=True) if x.shape and 0 not in x.shape else core.zeros((), dtype=re.dtype)
    top = core.where(core.isfinite(top), top, 0.0)
    found = core.log(core.sum(core.exp(x - top), axis=axes, keepdims=True)) + top
    return found if keepdim else core.reshape(found, core.sum(re, axis=axes).shape)


@function(follows=True)
def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """exp(x) over its sum along an axis."""
    x = input if dtype is None else core.astype(input, dtype_of(dtype))
    y, was_zero_d = lifted(x, dim)
    out = core.softmax(y, axis=dim)
    return core.reshape(out, ()) if was_zero_d else out


@function(follows=True)
def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """The logarithm of softmax."""
    x = input if dtype is None else core.astype(input, dtype_of(dtype))
    y, was_zero_d = lifted(x, dim)
    out = core.log_softmax(y, axis=dim)
    return core.reshape(out, ()) if was_zero_d else out


def _running(name: str, f: Any) -> None:
    def called(input: Any, dim: int, *, dtype: Any = None) -> Any:
        x, was_zero_d = lifted(cast_first(input, dtype), dim)
        check_axis(dim, x.ndim)
        out = f(x, axis=dim)
        return core.reshape(out, ()) if was_zero_d else out

    called.__name__ = name
    called.__doc__ = f"The running {name[3:]} along an axis."
    plain = recorded_at_user(called)
    FUNCTIONS[name] = METHODS[name] = following(plain)
    make_in_place(name, plain)


_running("cumsum", core.cumulative_sum)
_running("cumprod", core.cumulative_prod)


@function(follows=True)
def logcumsumexp(input: Any, dim: int) -> Any:
    """The running logsumexp along an axis."""
    x, was_zero_d = lifted(input, dim)
    out = running.logcumsumexp(x, axis=dim)
    return core.reshape(out, ()) if was_zero_d else out


def _running_extreme(name: str, largest: bool) -> None:
    best_of = running.cummax if largest else running.cummin

    def of_axis(input: Any, dim: int) -> Any:
        x, was_zero_d = lifted(input, dim)
        check_axis(dim, x.ndim)
        y = core.astype(x.detach(), "uint8") if x.dtype.kind == "b" else x.detach()
        reached = core.equal(y, best_of(y, axis=dim))
        if y.dtype.inexact:
            reached = core.logical_or(reached, core.isnan(y))
        shape = [1] * x.ndim
        shape[dim] = -1
        numbers = core.reshape(core.arange(x.shape[dim]), tuple(shape))
        places = running.cummax(core.where(reached, numbers, 0), axis=dim)  # the last of equal ones, as PyTorch says
        out = core.take_along_axis(x, places, axis=dim)
        if was_zero_d:
            out, places = core.reshape(out, ()), core.reshape(places, ())
        return out, places

    of_axis.__name__ = name
    along = with_positions(of_axis)

    def called(input: Any, dim: int) -> Any:
        return along(input, dim)

    called.__name__ = name
    called.__doc__ = f"The running {name[3:]} along an axis, with its positions."
    FUNCTIONS[name] = METHODS[name] = recorded_at_user(called)


_running_extreme("cummax", largest=True)
_running_extreme("cummin", largest=False)


# Norms ------------------------------------------------------------------------------------------------------------------------


def vector_norm(x: Any, order: Any, dim: Dim, keepdim: bool, dtype: Any = None) -> Any:
    """The vector norm of some order over axes, or all."""
    y = _floating("norm", x, dtype)
    y, _ = lifted(y, dim)
    axes = axes_of(dim)
    if order == math.inf or order == -math.inf:
        moduli = core.abs(y)
        out = (core.max if order > 0 else core.min)(moduli, axis=axes, keepdims=keepdim)
    elif order == 0:
        kind = "float64" if y.dtype.name in ("float64", "complex128") else "float32"
        out = core.astype(core.count_nonzero(y, axis=axes, keepdims=keepdim), kind)
    elif order == 1:
        out = core.sum(core.abs(y), axis=axes, keepdims=keepdim)
    elif order == 2:
        out = core.norm(y, 2, axis=axes, keepdims=keepdim)
    else:
        powered = core.sum(core.power(core.abs(y), float(order)), axis=axes, keepdims=keepdim)
        out = core.where(powered == 0, 0.0, core.power(core.where(powered == 0, 1.0, powered), 1 / float(order))) if order > 0 \
            else core.power(powered, 1 / float(order))  # fmt: skip
    return core.reshape(out, ()) if is_zero_d(x) else out


@function(follows=True)
def norm(input: Any, p: Any = "fro", dim: Dim = None, keepdim: bool = False, out: Any = None, dtype: Any = None) -> Any:
    """The norm of all elements or over axes: p a number, "fro" or "nuc"."""
    if out is not None:
        return written(out, norm(input, p, dim, keepdim, dtype=dtype))
    if p == "nuc":
        return FUNCTIONS["linalg.matrix_norm"](input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if p is None or p == "fro":
        p = 2
    found = vector_norm(input, float(p), dim, keepdim, dtype)
    return core.astype(found, input.dtype) if dtype is None and input.dtype.narrow else found


METHODS["norm"] = recorded_at_user(
    lambda self, p="fro", dim=None, keepdim=False, dtype=None: norm(self, p, dim, keepdim, dtype=dtype)
)


@function(follows=True)
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The norm of the difference."""
    return vector_norm(input - other, float(p), None, keepdim=False)


@function(in_place=True, follows=True)
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """The input with each slice along an axis scaled down to a norm of at most maxnorm."""
    if input.ndim < 2:
        raise RuntimeError(f"renorm: expected at least two axes, got shape {tuple(input.shape)}{at_user()}")
    axes = tuple(i for i in range(input.ndim) if i != dim % input.ndim)
    size = vector_norm(input, float(p), axes, keepdim=True)
    return input * core.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)


@function(follows=True)
def trace(input: Any) -> Any:
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, got shape {tuple(input.shape)}{at_user()}")
    return sum(FUNCTIONS["diagonal"](input))
