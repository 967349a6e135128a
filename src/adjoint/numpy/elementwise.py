"""What acts element by element, with NumPy's own arguments."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from adjoint.arrays import (
    selecting,
)
from adjoint.composites.special import of_parts
from adjoint.numpy.table import NONE, stands_for
from adjoint.numpy.ufuncs import written
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor, scoped
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import force_selection
from adjoint.tensors.values import to_tens

__all__: list[str] = []


@stands_for(np.clip)
def clip(
    a: Any, a_min: Any = NONE, a_max: Any = NONE, out: Any = None, *, min: Any = NONE, max: Any = NONE, **idle: Any
) -> Any:
    low, high = (x if y is NONE else y for x, y in ((a_min, min), (a_max, max)))
    low, high = (None if x is NONE else x for x in (low, high))
    return written("clip", f.clip(a, low, high), out)


@stands_for(np.round, np.around)
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    t, places = as_tensor(a), operator.index(decimals)
    if t.dtype.kind == "c" and places:  # by parts: a quotient has NaN in both where one is NaN
        found = wrap(of_parts(round(f.real(t), places).node, round(f.imag(t), places).node))
    elif t.dtype.inexact and places:
        factor = 10.0 ** abs(places)  # a power of ten of a negative exponent isn't exact
        found = f.round(t * factor) / factor if places > 0 else f.round(t / factor) * factor
    else:
        found = to_tens(t, 10**-places) if places < 0 and t.dtype.kind in "iu" else f.round(t)
    return written("round", found, out)


@stands_for(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    return written("fix", f.trunc(x), out)


@stands_for(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return selecting.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@stands_for(np.where)
def where(condition: Any, /, *choices: Any) -> Any:
    return f.where(condition, *choices) if choices else f.nonzero(condition)


@stands_for(np.angle)
@scoped
def angle(z: Any, deg: bool = False) -> Any:
    t = as_tensor(z)
    found = f.atan2(f.imag(t), f.real(t)) if t.dtype.kind != "b" else t * 0.0
    return found * (180 / math.pi) if deg else found


@stands_for(np.unwrap)
@scoped
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Any:
    t = as_tensor(p)
    steps = f.diff(t, axis=axis)
    limit = period / 2 if discont is None else max(discont, period / 2)
    wrapped = (steps + period / 2) % period - period / 2
    wrapped = f.where(f.logical_and(wrapped == -period / 2, steps > 0), period / 2, wrapped)
    fixes = f.where(f.abs(steps) < limit, 0.0, wrapped - steps)
    return t + f.moveaxis(
        f.cumulative_sum(f.pad(f.moveaxis(fixes, axis, -1), ((0, 0),) * (t.ndim - 1) + ((1, 0),)), -1), -1, axis
    )


@stands_for(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    t = as_tensor(a)
    if t.dtype.kind != "c":
        return t
    limit = tol * float(np.finfo(t.dtype.dtype).eps) if tol > 1 else tol
    return t.real if bool(np.all(np.abs(force_selection(t.imag.node)) < limit)) else t


@stands_for(np.iscomplex)
def iscomplex(x: Any) -> Any:
    return f.imag(x) != 0


@stands_for(np.isreal)
def isreal(x: Any) -> Any:
    return f.imag(x) == 0


@stands_for(np.isposinf)
def isposinf(x: Any, out: Any = None) -> Any:
    return written("isposinf", as_tensor(x) == math.inf, out)


@stands_for(np.isneginf)
def isneginf(x: Any, out: Any = None) -> Any:
    return written("isneginf", as_tensor(x) == -math.inf, out)


@stands_for(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    return selecting.select(condlist, choicelist, default)


@stands_for(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    return selecting.piecewise(x, condlist, funclist, *args, **kw)
