"""Functions along axes, polynomials, products, and what is made anew, with NumPy's own arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.arrays import (
    calculus,
    joining,
    mapping,
    matrices,
    polynomials,
    sets,
    standard,
    statistics,
)
from adjoint.numpy import methods
from adjoint.numpy.table import FUNCTIONS, stands_for
from adjoint.numpy.ufuncs import written
from adjoint.primitives.core import is_scalar
from adjoint.shapes import normalize_axis
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor

__all__: list[str] = []


@stands_for(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    return mapping.apply_along_axis(func1d, axis, arr, *args, **kwargs)


@stands_for(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    t = as_tensor(a)
    for axis in [axes] if is_scalar(axes) else axes:
        found = as_tensor(func(t, axis))
        t = found if found.ndim == t.ndim else f.expand_dims(found, axis)
    return t


@stands_for(np.polyfit)
def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: bool = False) -> Any:
    if full or cov:
        raise TypeError(f"polyfit: full= and cov= aren't here; ad.linalg.lstsq gives residuals and rank{at_user()}")
    return polynomials.polyfit(x, y, deg, rcond, w=w)


@stands_for(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    return polynomials.polyint(p, m, k)


@stands_for(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    return calculus.interp(x, xp, fp, left, right, period)


@stands_for(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    return calculus.gradient(f, *varargs, axis=axis, edge_order=edge_order)


@stands_for(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    return calculus.trapezoid(y, x, dx, axis)


@stands_for(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    return written("dot", f.dot(a, b), out)


@stands_for(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    return written("outer", f.outer(a, b), out)


@stands_for(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return f.tensordot(a, b, axes=axes)


@stands_for(np.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **idle: Any) -> Any:
    return written("einsum", f.einsum(*operands), out)


@stands_for(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    return joining.insert(arr, obj, values, axis)


@stands_for(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return f.astype(x, dtype, device=device)


def _like(function: Callable[..., Tensor]) -> Callable[..., Any]:
    def call(
        a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
    ) -> Any:
        found = function(a, dtype=dtype)
        return found if shape is None else f.full(shape, 1 if function is f.ones_like else 0, dtype=found.dtype)

    call.__name__ = function.__name__
    return call


@stands_for(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    t = as_tensor(a)
    return (
        f.full_like(t, fill_value, dtype=dtype) if shape is None else f.full(shape, fill_value, dtype=dtype or t.dtype)
    )


@stands_for(np.sort_complex)
def sort_complex(a: Any) -> Any:
    t = as_tensor(a)
    order = f.argsort(f.imag(t), axis=-1)
    order = f.take_along_axis(order, f.argsort(f.take_along_axis(f.real(t), order, axis=-1), axis=-1), axis=-1)
    found = f.take_along_axis(t, order, axis=-1)
    return found if found.dtype.kind == "c" else found + 0j


def _size(a: Any, axis: Any = None) -> int:
    t = as_tensor(a)
    places = range(t.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod([t.shape[normalize_axis(i, t.ndim, "size")] for i in places])


def _indices(function: Any) -> Callable[..., Any]:
    """Positions in the triangle of a matrix: they follow from its shape, and NumPy says which shapes have one."""
    return lambda arr, k=0: function(np.broadcast_to(np.bool_(0), as_tensor(arr).shape), k)


def _poly(seq_of_zeros: Any) -> Any:
    found = polynomials.poly(seq_of_zeros)
    return found if found.size > 1 else found[0]  # of no roots NumPy gives a number


FUNCTIONS.update({
    np.zeros_like: _like(f.zeros_like), np.ones_like: _like(f.ones_like), np.empty_like: _like(f.zeros_like),
    np.copy: lambda a, order="K", subok=False: methods.copy(a), np.diagonal: methods.diagonal, np.trace: methods.trace,
    np.choose: methods.choose,
    np.compress: lambda condition, a, axis=None, out=None: methods.compress(a, condition, axis, out),
    np.ravel: joining.ravel, np.moveaxis: lambda a, source, destination: f.moveaxis(a, source, destination),
    np.swapaxes: lambda a, axis1, axis2: f.swapaxes(a, axis1, axis2),
    np.matrix_transpose: lambda x, /: f.matrix_transpose(x), np.nonzero: lambda a: f.nonzero(a),
    np.tile: lambda A, reps: f.tile(A, reps), np.real: lambda val: f.real(val), np.imag: lambda val: f.imag(val),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
    np.size: _size,
    np.split: lambda ary, indices_or_sections, axis=0: f.split(ary, indices_or_sections, axis),
    np.array_split: lambda ary, indices_or_sections, axis=0: joining.array_split(ary, indices_or_sections, axis),
    np.hsplit: lambda ary, indices_or_sections: joining.hsplit(ary, indices_or_sections),
    np.vsplit: lambda ary, indices_or_sections: joining.vsplit(ary, indices_or_sections),
    np.dsplit: lambda ary, indices_or_sections: joining.dsplit(ary, indices_or_sections),
    np.unstack: lambda x, /, *, axis=0: f.unstack(x, axis=axis),
    np.atleast_1d: joining.atleast_1d, np.atleast_2d: joining.atleast_2d, np.atleast_3d: joining.atleast_3d,
    np.block: lambda arrays: joining.block(arrays),
    np.append: lambda arr, values, axis=None: joining.append(arr, values, axis),
    np.delete: lambda arr, obj, axis=None: joining.delete(arr, obj, axis),
    np.rot90: lambda m, k=1, axes=(0, 1): joining.rot90(m, k, axes), np.fliplr: lambda m: joining.fliplr(m),
    np.flipud: lambda m: joining.flipud(m),
    np.diag: lambda v, k=0: matrices.diag(v, k), np.diagflat: lambda v, k=0: matrices.diagflat(v, k),
    np.inner: lambda a, b, /: matrices.inner(a, b), np.vdot: lambda a, b, /: matrices.vdot(a, b),
    np.bincount: lambda x, /, weights=None, minlength=0: statistics.bincount(x, weights, minlength),
    np.digitize: lambda x, bins, right=False: statistics.digitize(x, bins, right),
    np.poly: _poly, np.roots: lambda p: polynomials.roots(p),
    np.polyadd: lambda a1, a2: polynomials.polyadd(a1, a2), np.polysub: lambda a1, a2: polynomials.polysub(a1, a2),
    np.polymul: lambda a1, a2: polynomials.polymul(a1, a2), np.polydiv: lambda u, v: polynomials.polydiv(u, v),
    np.polyder: lambda p, m=1: polynomials.polyder(p, m), np.polyval: lambda p, x: polynomials.polyval(p, x),
    np.unique_all: lambda x: sets.unique_all(x), np.unique_counts: lambda x: sets.unique_counts(x),
    np.unique_inverse: lambda x: sets.unique_inverse(x), np.unique_values: lambda x: sets.unique_values(x),
    np.result_type: lambda *args: f.result_type(*args).dtype,
    np.can_cast: lambda from_, to, casting="safe": standard.casts(from_, to, casting),
    np.diag_indices_from: lambda arr: np.diag_indices_from(np.broadcast_to(np.bool_(0), as_tensor(arr).shape)),
    np.tril_indices_from: _indices(np.tril_indices_from), np.triu_indices_from: _indices(np.triu_indices_from),
})  # fmt: skip
