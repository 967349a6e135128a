"""Methods of Tensor that are public functions too, and NumPy's functions on tensors."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from adjoint import tree
from adjoint.graph import PRIMITIVES
from adjoint.tensors import functions as f
from adjoint.tensors.composing import value_of
from adjoint.tensors.tensor import ARRAY_FUNCTIONS, Tensor, UFUNCS, _f_namespace

# Every elementwise function of one tensor is a method, and these are:
METHODS = """
    sum prod max min mean var std any all argmax argmin logsumexp norm softmax log_softmax count_nonzero
    cumulative_sum cumulative_prod sort argsort square reciprocal clip maximum minimum flatten squeeze expand_dims
    broadcast_to moveaxis swapaxes repeat tile flip roll take take_along_axis matmul dot outer split unstack
    nonzero tril triu
""".split()
METHODS += [
    name
    for name, op in PRIMITIVES.items()
    if op.elementwise and len(op.vjp) == 1 and hasattr(f, name) and not hasattr(Tensor, name)  # type: ignore[arg-type]
]

for _name in METHODS:
    setattr(Tensor, _name, getattr(f, _name))
_f_namespace.update({"reshape": f.reshape, "permute_dims": f.permute_dims})

# methods of NumPy's arrays whose functions load when first called, by the module that has them
LAZY_METHODS = {
    "adjoint.arrays.running": "cumsum cumprod",
    "adjoint.arrays.joining": "ravel",
    "adjoint.arrays.sets": "searchsorted",
    "adjoint.numpy.methods": "choose compress copy diagonal fill partition argpartition put trace",
}


class LazyMethod:
    """In place of a method: looked up, it loads the function and makes that the method."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        function = getattr(importlib.import_module(self.module), self.name)
        setattr(Tensor, self.name, function)
        return function if owner is None else function.__get__(owner)


for _module, _names in LAZY_METHODS.items():
    for _name in _names.split():
        setattr(Tensor, _name, LazyMethod(_module, _name))
ALIASES = {"conjugate": "conj"}
for _name, _function in ALIASES.items():
    setattr(Tensor, _name, getattr(f, _function))

# A primitive whose kernel is NumPy's own function is what that gives of tensors; these are made otherwise.
_ELEMENTWISE: dict[Any, Any] = {
    np.power: f.power, np.positive: f.positive, np.square: f.square, np.reciprocal: f.reciprocal, np.maximum: f.maximum,
    np.minimum: f.minimum, np.matmul: f.matmul, np.vecdot: f.vecdot,
}  # fmt: skip
for _op in PRIMITIVES.values():
    if _op.elementwise and hasattr(f, _op.name) and isinstance(_ufunc := _op.kernel(None, None), np.ufunc):
        _ELEMENTWISE[_ufunc] = getattr(f, _op.name)
del _ELEMENTWISE[np.rint]  # which makes floating numbers of integers: see numpy.ufuncs
UFUNCS.update({(ufunc, "__call__"): function for ufunc, function in _ELEMENTWISE.items()})


def _reading(function: Any) -> Any:
    """A function of NumPy's that compares or prints: it gets bare values, and no derivative depends on what it gives."""
    return lambda *args, **keywords: function(*tree.map(value_of, args), **tree.map(value_of, keywords))


ARRAY_FUNCTIONS.update(
    {
        function: _reading(function)
        for function in (
            np.allclose, np.isclose, np.array_equal, np.array_equiv, np.array2string, np.array_repr, np.array_str, np.save,
            np.savetxt, np.savez, np.savez_compressed, np.iscomplexobj, np.isrealobj, np.shares_memory, np.may_share_memory,
        )
    }
)  # fmt: skip
