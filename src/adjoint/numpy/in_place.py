"""What writes into an array: the tensor's name gets a new value, with NumPy's own arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.arrays import (
    joining,
    matrices,
    scattering,
    standard,
)
from adjoint.numpy import methods
from adjoint.numpy.table import stands_for
from adjoint.primitives.core import is_scalar
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor, as_tensors
from adjoint.tensors.located import MISTAKES, at_user, explained
from adjoint.tensors.pending import force_selection
from adjoint.tensors.tensor import Tensor

__all__: list[str] = []


def _target(name: str, a: Any) -> Tensor:
    if not isinstance(a, Tensor):
        raise TypeError(
            f"{name}: it writes into NumPy's array, in which a tensor has no derivative; make it a tensor before: a = "
            f"ad.tensor(a){at_user()}"
        )
    return a


KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}


def _new(name: str, t: Tensor, values: Any, casting: str, numbers: str) -> Tensor:
    """Values to write into a tensor, in its dtype. Raises TypeError where NumPy's rule doesn't cast them to that: one for arrays,
    one for single numbers."""
    try:
        new = as_tensors(t, values)[1]
    except MISTAKES as error:
        raise explained(error, name, t) from None
    number = is_scalar(values)
    rule = numbers if number else casting
    if not number:
        fits = standard.casts(new, t.dtype, rule)
    elif rule == "unsafe":
        fits = new.dtype.kind != "c" or t.dtype.kind in "bc"
    else:
        fits = KINDS[np.asarray(values).dtype.kind] <= KINDS[t.dtype.kind]
    if not fits:
        raise TypeError(
            f"{name}: {new.dtype.name} isn't cast to {t.dtype.name} by the rule {rule!r}; where the values are to be cut, say "
            f"values.astype({t.dtype.name!r}){at_user()}"
        )
    return new.astype(t.dtype)


@stands_for(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    t = _target("fill_diagonal", a)
    t._assign(matrices.fill_diagonal(t, val, wrap=wrap).node, "fill_diagonal")


@stands_for(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    t = _target("copyto", dst)
    new = f.broadcast_to(_new("copyto", t, src, casting, casting), t.shape)
    t._assign((new if where is True else f.where(where, new, t)).node, "copyto")


@stands_for(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    t = _target("putmask", a)
    new = f.flatten(joining.atleast_1d(_new("putmask", t, values, "same_kind", "unsafe")))
    spread = f.reshape(f.take(new, np.arange(t.size) % new.size), t.shape)
    t._assign(f.where(mask, spread, t).node, "putmask")


@stands_for(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    t = _target("place", arr)
    places = np.flatnonzero(force_selection(as_tensor(mask).node))
    methods.put(t, places, _new("place", t, vals, "same_kind", "unsafe"))


@stands_for(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    methods.put(_target("put", a), ind, v, mode)


@stands_for(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any = -1) -> None:
    t = _target("put_along_axis", arr)
    flat = t if axis is not None else f.reshape(t, (t.size,))
    put = scattering.put_along_axis(flat, indices, values, axis=0 if axis is None else axis)
    t._assign(f.reshape(put, t.shape).node, "put_along_axis")
