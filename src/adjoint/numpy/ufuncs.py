"""NumPy's universal functions with all that they take: `out=`, `where=`, `dtype=`, and the methods `reduce`, `accumulate`,
`outer`, `at` and `reduceat`, for tensors handed to them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import special
from adjoint.arrays import running, scattering, selecting, standard, statistics
from adjoint.primitives.core import inexact
from adjoint.shapes import drop_axes, normalize_axes
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.namespaces import special_ufunc
from adjoint.tensors.tensor import UFUNCS, Tensor, missing

__all__ = ["Ufunc", "apply", "function_of", "keepdims_of", "masked", "written"]


def _fmod(x: Any, y: Any) -> Tensor:
    a, b = selecting.beside(x, y)
    kind = f.result_type(a, b)
    a, b = a.astype(kind), b.astype(kind)
    if not kind.inexact:  # sizes would overflow
        rest = f.remainder(a, b)
        return f.where((rest != 0) & ((rest < 0) != (a < 0)), rest - b, rest)
    # of the sizes, since a - trunc(a / b) * b would lose all digits where a is large beside b
    size = f.abs(b)
    return f.where(f.signbit(a), -f.remainder(-a, size), f.remainder(a, size))


def _floating(x: Any) -> Tensor:
    return wrap(inexact(as_tensor(x).node))


def _real(name: str, x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: not defined for complex numbers{at_user()}")
    return x


def _matvec(x: Any, y: Any) -> Tensor:
    return f.matmul(x, as_tensor(y)[..., None])[..., 0]


def _vecmat(x: Any, y: Any) -> Tensor:
    return f.matmul(f.conj(as_tensor(x))[..., None, :], y)[..., 0, :]


def _modf(x: Any) -> tuple[Tensor, Tensor]:
    t = _floating(x)
    whole = f.trunc(t)
    return f.where(f.isinf(t), f.copysign(0.0, t), t - whole), whole


def _ldexp(x: Any, n: Any) -> Any:
    significand, exponent = _floating(x), as_tensor(n)
    if exponent.dtype.inexact:
        raise TypeError(f"ldexp: exponents are integers, got {exponent.dtype.name}{at_user()}")
    return significand * f.astype(special.exp2(exponent), significand.dtype)


def _times(name: str, factor: float) -> Callable[[Any], Tensor]:
    return lambda x: _real(name, as_tensor(x)) * factor


MORE: dict[Any, Callable[..., Any]] = {
    np.degrees: _times("degrees", 180 / math.pi), np.rad2deg: _times("rad2deg", 180 / math.pi),
    np.radians: _times("radians", math.pi / 180), np.deg2rad: _times("deg2rad", math.pi / 180),
    np.fmax: selecting.fmax, np.fmin: selecting.fmin, np.heaviside: selecting.heaviside, np.fmod: _fmod,
    np.divmod: lambda x, y: (f.floor_divide(x, y), f.remainder(x, y)), np.modf: _modf,
    np.ldexp: _ldexp,
    np.float_power: lambda x, y: f.power(_floating(x), _floating(y)),
    np.fabs: lambda x: f.abs(_real("fabs", _floating(x))), np.rint: lambda x: f.round(_floating(x)),
    np.logaddexp2: lambda x, y: f.logaddexp(as_tensor(x) * math.log(2), as_tensor(y) * math.log(2)) / math.log(2),
    np.matvec: _matvec, np.vecmat: _vecmat,
}  # fmt: skip

REDUCTIONS: dict[Any, Callable[..., Tensor]] = {
    np.add: f.sum, np.multiply: f.prod, np.maximum: f.max, np.minimum: f.min, np.logical_and: f.all, np.logical_or: f.any,
    np.logaddexp: f.logsumexp, np.fmax: statistics.nanmax, np.fmin: statistics.nanmin,
}  # fmt: skip
SCANS: dict[Any, Callable[..., Tensor]] = {
    np.add: running.cumsum, np.multiply: running.cumprod, np.maximum: running.cummax, np.minimum: running.cummin,
    np.logaddexp: running.logcumsumexp,
}  # fmt: skip
AT = {np.add: "sum", np.subtract: "sum", np.multiply: "prod", np.maximum: "max", np.minimum: "min"}
NEUTRAL: dict[Any, Any] = {
    np.add: 0, np.multiply: 1, np.logical_and: True, np.logical_or: False, np.logaddexp: -math.inf
}  # fmt: skip
# what NumPy takes with every call, and what changes nothing here
IDLE = ("casting", "order", "subok")
UNTAKEN = ("signature", "sig", "axes")


def function_of(ufunc: Any) -> Callable[..., Any] | None:
    """What computes a universal function on tensors; None if nothing does."""
    return MORE.get(ufunc) or UFUNCS.get((ufunc, "__call__")) or special_ufunc(ufunc)


def keepdims_of(keepdims: Any) -> bool:
    """NumPy's keepdims, which may be left out by a word of its own."""
    return keepdims is not np._NoValue and bool(keepdims)


def written(name: str, result: Any, out: Any) -> Any:
    """The result, in `out` where that is given: a tensor, whose name is bound to it."""
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if out is None:
        return result
    if isinstance(out, tuple):
        return tuple([written(name, y, o) for y, o in zip(result, out, strict=True)])
    if not isinstance(out, Tensor):
        raise TypeError(
            f"{name}: out= is NumPy's array, in which a tensor has no derivative; make it a tensor before, a = ad.tensor(a), or "
            f"write x = ... without out= and in-place operators{at_user()}"
        )
    out._assign(as_tensor(result).node, name)
    return out


def masked(x: Any, where: Any, neutral: Any) -> Tensor:
    """x with what `where` leaves out replaced by what doesn't count."""
    t = as_tensor(x)
    if where is True or where is np._NoValue:
        return t
    if neutral is None:
        raise ValueError(f"where= leaves out elements: give initial=, which counts where none is left{at_user()}")
    return f.where(where, t, neutral)


def _of_dtype(ufunc: Any, function: Any, inputs: tuple[Any, ...], dtype: Any, casting: str) -> Any:
    """A function in a dtype that was asked for, to which the inputs are cast; of one that says yes or no it is the result's."""
    chosen = dtype_of(dtype)
    if chosen.kind == "b":
        result = function(*inputs)
        if isinstance(result, Tensor) and result.dtype == chosen:
            return result
    for x in [x for x in inputs if isinstance(x, (Tensor, np.ndarray, np.generic))]:
        if not standard.casts(as_tensor(x).dtype, chosen, casting):
            raise TypeError(
                f"{ufunc.__name__}: {as_tensor(x).dtype.name} isn't cast to dtype={chosen.name} by casting={casting!r}; write "
                f"x.astype({chosen.name!r}){at_user()}"
            )
    result = function(*[f.astype(x, chosen) for x in inputs])
    for y in result if isinstance(result, tuple) else (result,):
        if y.dtype != chosen:
            raise TypeError(f"{ufunc.__name__}: gives {y.dtype.name}, not dtype={chosen.name}{at_user()}")
    return result


def _called(
    ufunc: Any, function: Any, inputs: tuple[Any, ...], out: Any, where: Any, dtype: Any, casting: str = "same_kind"
) -> Any:
    result = function(*inputs) if dtype is None else _of_dtype(ufunc, function, inputs, dtype, casting)
    if where is True:
        return written(ufunc.__name__, result, out)
    target = out[0] if isinstance(out, tuple) else out
    if target is None:
        raise TypeError(
            f"{ufunc.__name__}: where= without out= leaves elements undefined; ad.where(mask, x, y) says what they are{at_user()}"
        )
    return written(ufunc.__name__, f.where(where, result, as_tensor(target)), out)


def _reduced(
    ufunc: Any, function: Any, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = np._NoValue, where: Any = True,
) -> Any:  # fmt: skip
    start = None if initial is np._NoValue or initial is None else initial
    reduction = REDUCTIONS.get(ufunc)
    if reduction is not None:
        t = masked(x, where, NEUTRAL.get(ufunc, start))
        t = t if dtype is None else f.astype(t, dtype_of(dtype))
        found = reduction(t, axis=axis, keepdims=keepdims_of(keepdims))
        found = found if start is None else function(found, start)
    else:
        t = as_tensor(x) if dtype is None else f.astype(x, dtype_of(dtype))
        found = _folded(ufunc, function, t, axis, start, where)
        found = f.expand_dims(found, axis=axis) if keepdims_of(keepdims) else found
    return written(f"{ufunc.__name__}.reduce", found if dtype is None else f.astype(found, dtype_of(dtype)), out)


def _kind_of_fold(ufunc: Any, function: Any, given: Any, way: str) -> Any:
    """The dtype in which elements of one are combined one after the other: that of two of them combined."""
    one = f.ones((), dtype=given)
    kind = function(one, one).dtype
    if kind.kind == "b" and given.kind != "b" and ufunc is not np.logical_xor:
        raise TypeError(f"{ufunc.__name__}.{way}: not for {given.name} numbers{at_user()}")
    return kind


def _folded(ufunc: Any, function: Any, t: Tensor, axis: Any, start: Any, where: Any) -> Tensor:
    """The elements along an axis combined from the first on, those left out by where= passed over."""
    if axis is None or isinstance(axis, tuple):
        raise TypeError(f"{ufunc.__name__}.reduce: one axis at a time, got {axis}{at_user()}")
    start = ufunc.identity if start is None else start
    everything = where is True or where is np._NoValue
    if start is None and not (everything and t.shape[axis]):
        raise ValueError(f"{ufunc.__name__}.reduce: of no element, or with where=, needs initial={at_user()}")
    counted = f.broadcast_to(True if everything else where, t.shape)
    kind = _kind_of_fold(ufunc, function, t.dtype, "reduce")
    found = (
        None if start is None else f.full(drop_axes(t.shape, normalize_axes(axis, t.ndim, "reduce")), start, dtype=kind)
    )
    for row, kept in zip(f.unstack(t, axis=axis), f.unstack(counted, axis=axis), strict=True):
        together = row.astype(kind) if found is None else function(found, row)
        found = together if found is None or everything else f.where(kept, together, found)
    return as_tensor(found)


def _accumulated(ufunc: Any, function: Any, x: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    t = as_tensor(x) if dtype is None else f.astype(x, dtype_of(dtype))
    scan = SCANS.get(ufunc)
    if scan is not None:
        return written(f"{ufunc.__name__}.accumulate", scan(t, axis=axis), out)
    kind = _kind_of_fold(ufunc, function, t.dtype, "accumulate")
    rows: list[Any] = []
    for row in f.unstack(t, axis=axis):
        rows.append(function(rows[-1], row) if rows else row.astype(kind))
    return written(f"{ufunc.__name__}.accumulate", f.stack(rows, axis=axis) if rows else t.astype(kind), out)


def _outer(ufunc: Any, function: Any, x: Any, y: Any, dtype: Any = None, out: Any = None) -> Any:
    a, b = as_tensor(x), as_tensor(y)
    wide = f.reshape(a, (*a.shape, *(1,) * b.ndim))
    return _called(ufunc, function, (wide, b), out, True, dtype)


def _at(ufunc: Any, function: Any, x: Any, index: Any, *values: Any) -> None:
    name = f"{ufunc.__name__}.at"
    if not isinstance(x, Tensor):
        raise TypeError(
            f"{name}: it writes into NumPy's array, in which a tensor has no derivative; make it a tensor before, a = "
            f"ad.tensor(a), or take the result of ad.index_add(a, index, values){at_user()}"
        )
    if not values:
        x[index] = function(x[index])
        return
    if ufunc not in AT:
        raise TypeError(f"{name}: not for tensors; ad.index_add takes sums, products and extremes{at_user()}")
    updates = -as_tensor(values[0]) if ufunc is np.subtract else values[0]
    x._assign(scattering.index_add(x, index, updates, reduce=AT[ufunc]).node, name)


def _reduced_at(
    ufunc: Any, function: Any, x: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
) -> Any:
    t = as_tensor(x)
    places = [int(i) for i in np.asarray(indices)]
    rows = f.moveaxis(t, axis, 0)
    pieces = []
    for start, stop in zip(places, [*places[1:], t.shape[axis]], strict=True):
        part = rows[start:stop] if start < stop else rows[start : start + 1]
        pieces.append(_reduced(ufunc, function, part, 0, dtype))
    return written(f"{ufunc.__name__}.reduceat", f.moveaxis(f.stack(pieces), 0, axis), out)


WAYS: dict[str, Callable[..., Any]] = {
    "reduce": _reduced, "accumulate": _accumulated, "outer": _outer, "at": _at, "reduceat": _reduced_at
}  # fmt: skip


def apply(ufunc: Any, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A universal function, or one of its methods, on tensors. NotImplemented if it isn't here."""
    function = function_of(ufunc)
    given = {k: v for k, v in keywords.items() if k not in IDLE}
    if function is None:
        return NotImplemented
    for name in UNTAKEN:
        if given.pop(name, None) is not None:
            raise TypeError(f"{ufunc.__name__}: {name}= isn't taken for tensors{at_user()}")
    if method == "__call__":
        out, where, dtype = given.pop("out", None), given.pop("where", True), given.pop("dtype", None)
        if given:  # axis= and keepdims= of generalized ones
            function = functools.partial(function, **given)
        return _called(ufunc, function, inputs, out, where, dtype, keywords.get("casting", "same_kind"))
    return WAYS[method](ufunc, function, *inputs, **given)


class Ufunc:
    """A universal function of NumPy's that takes tensors, arrays, lists and numbers: `np.add(x, y)`, `np.add.at(...)`."""

    def __init__(self, ufunc: Any) -> None:
        self.ufunc = ufunc
        self.__name__ = ufunc.__name__
        self.__doc__ = ufunc.__doc__

    def _apply(self, method: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        found = apply(self.ufunc, method, inputs, keywords)
        if found is NotImplemented:
            raise missing(self.__name__ if method == "__call__" else f"{self.__name__}.{method}", [])
        return found

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        """The function of each element."""
        return self._apply("__call__", inputs, keywords)

    def reduce(self, *inputs: Any, **keywords: Any) -> Any:
        """The elements along an axis combined, the first by default."""
        return self._apply("reduce", inputs, keywords)

    def accumulate(self, *inputs: Any, **keywords: Any) -> Any:
        """What `reduce` gives up to each element."""
        return self._apply("accumulate", inputs, keywords)

    def outer(self, *inputs: Any, **keywords: Any) -> Any:
        """The function of every pair of elements."""
        return self._apply("outer", inputs, keywords)

    def at(self, *inputs: Any) -> None:
        """Combine values into a tensor at an index, which gets a new value."""
        self._apply("at", inputs, {})

    def reduceat(self, *inputs: Any, **keywords: Any) -> Any:
        """The elements of the stretches that begin at indices combined."""
        return self._apply("reduceat", inputs, keywords)

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r} of tensors>"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ufunc, name)
