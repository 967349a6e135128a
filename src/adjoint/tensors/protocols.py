"""Methods of Tensor that are public functions too, and NumPy's functions on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import tree
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor
from adjoint.tensors.pending import force_array
from adjoint.tensors.tensor import ARRAY_FUNCTIONS, Tensor, UFUNCS, _f_namespace

METHODS = """
    sum prod max min mean var std any all argmax argmin logsumexp norm softmax log_softmax count_nonzero
    cumulative_sum cumulative_prod sort argsort abs sign exp expm1 log log1p log2 log10 sqrt square reciprocal
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf relu sigmoid softplus gelu silu
    floor ceil round trunc conj isfinite isinf isnan clip maximum minimum astype flatten squeeze expand_dims
    broadcast_to moveaxis swapaxes repeat tile flip roll take take_along_axis matmul dot outer split unstack
    nonzero tril triu
""".split()

for _name in METHODS:
    setattr(Tensor, _name, getattr(f, _name))
_f_namespace.update({"reshape": f.reshape, "permute_dims": f.permute_dims})

_ELEMENTWISE: dict[Any, Any] = {
    np.add: f.add, np.subtract: f.subtract, np.multiply: f.multiply, np.divide: f.divide, np.power: f.power,
    np.float_power: f.power, np.negative: f.negative, np.positive: f.positive, np.absolute: f.abs, np.fabs: f.abs,
    np.sign: f.sign, np.exp: f.exp, np.expm1: f.expm1, np.log: f.log, np.log1p: f.log1p, np.log2: f.log2,
    np.log10: f.log10, np.sqrt: f.sqrt, np.square: f.square, np.reciprocal: f.reciprocal, np.sin: f.sin, np.cos: f.cos,
    np.tan: f.tan, np.arcsin: f.asin, np.arccos: f.acos, np.arctan: f.atan, np.sinh: f.sinh, np.cosh: f.cosh,
    np.tanh: f.tanh, np.arcsinh: f.asinh, np.arccosh: f.acosh, np.arctanh: f.atanh, np.floor: f.floor, np.ceil: f.ceil,
    np.rint: f.round, np.trunc: f.trunc, np.maximum: f.maximum, np.minimum: f.minimum, np.remainder: f.remainder,
    np.floor_divide: f.floor_divide, np.arctan2: f.atan2, np.hypot: f.hypot, np.logaddexp: f.logaddexp,
    np.copysign: f.copysign, np.equal: f.equal, np.not_equal: f.not_equal, np.less: f.less,
    np.less_equal: f.less_equal, np.greater: f.greater, np.greater_equal: f.greater_equal,
    np.logical_and: f.logical_and, np.logical_or: f.logical_or, np.logical_xor: f.logical_xor,
    np.logical_not: f.logical_not, np.bitwise_and: f.bitwise_and, np.bitwise_or: f.bitwise_or,
    np.bitwise_xor: f.bitwise_xor, np.invert: f.bitwise_invert, np.left_shift: f.bitwise_left_shift,
    np.right_shift: f.bitwise_right_shift, np.isfinite: f.isfinite, np.isinf: f.isinf, np.isnan: f.isnan,
    np.signbit: f.signbit, np.conjugate: f.conj, np.matmul: f.matmul, np.vecdot: f.vecdot,
}  # fmt: skip
UFUNCS.update({(ufunc, "__call__"): function for ufunc, function in _ELEMENTWISE.items()})


def _reducing(function: Any, default: Any = None) -> Any:
    def handler(x: Any, axis: Any = default, dtype: Any = None, keepdims: Any = False, **others: Any) -> Any:
        if others:
            raise TypeError(
                f"{function.__name__}: {', '.join(others)} of NumPy's function isn't here; axis, dtype and keepdims are"
            )
        keepdims = bool(keepdims) and keepdims is not np._NoValue
        if dtype is None:
            return function(x, axis=axis, keepdims=keepdims)
        if function in (f.sum, f.prod):
            return function(x, axis=axis, keepdims=keepdims, dtype=dtype)
        return f.astype(function(f.astype(x, dtype), axis=axis, keepdims=keepdims), dtype)

    return handler


def _spread(function: Any) -> Any:
    """NumPy's `var` and `std`."""

    def handler(x: Any, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        source = x if dtype is None else f.astype(x, dtype)
        return function(source, axis=axis, correction=ddof, keepdims=keepdims)

    return handler


UFUNCS.update(
    {
        (np.add, "reduce"): _reducing(f.sum, 0),
        (np.multiply, "reduce"): _reducing(f.prod, 0),
        (np.maximum, "reduce"): _reducing(f.max, 0),
        (np.minimum, "reduce"): _reducing(f.min, 0),
        (np.logical_and, "reduce"): _reducing(f.all, 0),
        (np.logical_or, "reduce"): _reducing(f.any, 0),
        (np.add, "accumulate"): lambda x, axis=0, dtype=None: f.cumulative_sum(x, axis=axis, dtype=dtype),
        (np.multiply, "outer"): f.outer,
    }
)


def _scanning(function: Any) -> Any:
    def handler(x: Any, axis: Any = None, dtype: Any = None) -> Any:
        return function(f.flatten(x), axis=0, dtype=dtype) if axis is None else function(x, axis=axis, dtype=dtype)

    return handler


def _at_least(ndim: int) -> Any:
    """NumPy's `atleast_1d` and `atleast_2d`, which SciPy's optimizers call on gradients and Hessians: axes in front."""

    def handler(*arrays: Any) -> Any:
        found = [
            x if x.ndim >= ndim else f.reshape(x, (1,) * (ndim - x.ndim) + x.shape) for x in map(as_tensor, arrays)
        ]
        return found[0] if len(found) == 1 else tuple(found)

    return handler


def _broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    """NumPy's `broadcast_arrays`, which takes what is no number too: Matplotlib's `bar` hands it a None."""
    shape = np.broadcast_shapes(*[np.shape(x) for x in arrays])
    return tuple([f.broadcast_to(x, shape) if isinstance(x, Tensor) else np.broadcast_to(x, shape) for x in arrays])


def _with_axis(function: Any) -> Any:
    return lambda x, axis=None: function(x, axis=axis)


def _reading(function: Any) -> Any:
    """A function of NumPy's that compares or prints: it gets bare values, and no derivative depends on what it gives."""
    return lambda *args, **keywords: function(*tree.map(_value, args), **tree.map(_value, keywords))


def _value(x: Any) -> Any:
    return force_array(x.node) if isinstance(x, Tensor) else x


ARRAY_FUNCTIONS.update(
    {
        function: _reading(function)
        for function in (
            np.allclose, np.isclose, np.array_equal, np.array_equiv, np.array2string, np.array_repr, np.array_str, np.save,
            np.savetxt, np.savez, np.savez_compressed, np.iscomplexobj, np.isrealobj, np.shares_memory, np.may_share_memory,
        )
    }
)  # fmt: skip
ARRAY_FUNCTIONS.update(
    {
        np.copy: f.positive,
        np.sum: _reducing(f.sum), np.prod: _reducing(f.prod), np.max: _reducing(f.max), np.min: _reducing(f.min),
        np.amax: _reducing(f.max), np.amin: _reducing(f.min), np.mean: _reducing(f.mean),
        np.any: _reducing(f.any), np.all: _reducing(f.all), np.argmax: _reducing(f.argmax), np.argmin: _reducing(f.argmin),
        np.count_nonzero: _reducing(f.count_nonzero),
        np.var: _spread(f.var), np.std: _spread(f.std),
        np.cumsum: _scanning(f.cumulative_sum),
        np.cumprod: _scanning(f.cumulative_prod),
        np.where: f.where, np.clip: lambda x, a_min=None, a_max=None: f.clip(x, a_min, a_max), np.round: f.round,
        np.reshape: lambda x, shape: f.reshape(x, shape), np.ravel: f.flatten,
        np.transpose: lambda x, axes=None: f.permute_dims(x, tuple(range(x.ndim))[::-1] if axes is None else axes),
        np.moveaxis: f.moveaxis, np.swapaxes: f.swapaxes, np.squeeze: _with_axis(f.squeeze),
        np.expand_dims: lambda x, axis: f.expand_dims(x, axis=axis),
        np.broadcast_to: lambda x, shape: f.broadcast_to(x, shape),
        np.broadcast_arrays: _broadcast_arrays,
        np.concatenate: lambda xs, axis=0: f.concat(list(xs), axis=axis),
        np.stack: lambda xs, axis=0: f.stack(list(xs), axis=axis),
        np.split: f.split, np.tile: f.tile, np.repeat: lambda x, repeats, axis=None: f.repeat(x, repeats, axis=axis),
        np.flip: _with_axis(f.flip), np.roll: lambda x, shift, axis=None: f.roll(x, shift, axis=axis),
        np.take: lambda x, indices, axis=None: f.take(f.flatten(x) if axis is None else x, indices, axis=axis),
        np.take_along_axis: lambda x, indices, axis=-1: f.take_along_axis(x, indices, axis=axis),
        np.sort: lambda x, axis=-1: f.sort(x, axis=axis), np.argsort: lambda x, axis=-1: f.argsort(x, axis=axis),
        np.diff: lambda x, n=1, axis=-1: f.diff(x, n=n, axis=axis),
        np.dot: f.dot, np.outer: f.outer, np.tensordot: lambda x, y, axes=2: f.tensordot(x, y, axes=axes), np.einsum: f.einsum,
        np.tril: lambda x, k=0: f.tril(x, k=k), np.triu: lambda x, k=0: f.triu(x, k=k), np.nonzero: f.nonzero,
        np.real: f.real, np.imag: f.imag, np.shape: lambda x: x.shape, np.ndim: lambda x: x.ndim, np.size: lambda x: x.size,
        np.zeros_like: lambda x, dtype=None: f.zeros_like(x, dtype=dtype),
        np.ones_like: lambda x, dtype=None: f.ones_like(x, dtype=dtype),
        np.full_like: lambda x, fill_value, dtype=None: f.full_like(x, fill_value, dtype=dtype),
        np.atleast_1d: _at_least(1), np.atleast_2d: _at_least(2),
    }
)  # fmt: skip
