"""What writes into an array: the tensor's name gets a new value, with NumPy's own arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.arrays import (
    joining,
    matrices,
    scattering,
)
from adjoint.numpy import methods
from adjoint.numpy.table import stands_for
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor, as_tensors
from adjoint.tensors.located import at_user
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


@stands_for(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    t = _target("fill_diagonal", a)
    t._assign(matrices.fill_diagonal(t, val, wrap=wrap).node, "fill_diagonal")


@stands_for(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    t = _target("copyto", dst)
    new = f.broadcast_to(as_tensors(t, src)[1], t.shape).astype(t.dtype)
    t._assign((new if where is True else f.where(where, new, t)).node, "copyto")


@stands_for(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    t = _target("putmask", a)
    new = f.flatten(joining.atleast_1d(as_tensors(t, values)[1]))
    spread = f.reshape(f.take(new, np.arange(t.size) % new.size), t.shape).astype(t.dtype)
    t._assign(f.where(mask, spread, t).node, "putmask")


@stands_for(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    t = _target("place", arr)
    places = np.flatnonzero(force_selection(as_tensor(mask).node))
    methods.put(t, places, vals)


@stands_for(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    methods.put(_target("put", a), ind, v, mode)


@stands_for(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any = -1) -> None:
    t = _target("put_along_axis", arr)
    t._assign(scattering.put_along_axis(t, indices, values, axis=axis).node, "put_along_axis")
