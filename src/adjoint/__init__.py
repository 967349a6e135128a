"""adjoint: an automatic differentiation engine that you can see through.

Write ordinary formulas on tensors; they become a graph, which is evaluated lazily, differentiated to any order in either
mode, and run again with other values. `import adjoint as ad`.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from adjoint import dtypes as _dtypes
from adjoint import random, tree
from adjoint.api.batching import vmap
from adjoint.api.checkpoints import checkpoint
from adjoint.api.custom import Context, Function, custom_jvp, custom_vjp, host_call
from adjoint.api.evaluation import evaluate, function
from adjoint.api.modes import enable_grad, is_deterministic, is_grad_enabled, no_grad, set_deterministic
from adjoint.api.transforms import grad, gradients, jvp, stop_gradient, value_and_grad, vjp
from adjoint.execution.threads import get_num_threads, set_num_threads
from adjoint.dtypes import DType, get_default_dtype, set_default_dtype
from adjoint.hints import attribute_error as _attribute_error, install as _install_hints
from adjoint.tensors import Tensor
from adjoint.tensors.located import PrecisionWarning
from adjoint.tensors.tensor import _f_namespace as _methods
from adjoint.tensors.functions import (
    abs, acos, acosh, add, all, any, arange, argmax, argmin, argsort, asarray, asin, asinh, astype, atan, atan2, atanh,
    bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, broadcast_arrays,
    broadcast_to, ceil, clip, concat, conj, copysign, cos, cosh, count_nonzero, cumulative_prod, cumulative_sum, diff,
    divide, dot, einsum, empty, equal, erf, erfc, exp, expand_dims, expm1, eye, flatten, flip, floor, floor_divide, fold,
    full, full_like, gelu, greater, greater_equal, hypot, imag, isfinite, isinf, isnan, less, less_equal, linspace, log,
    log10, log1p, log2, log_softmax, logaddexp, logical_and, logical_not, logical_or, logical_xor, logsumexp, matmul,
    matrix_transpose, max, maximum, mean, meshgrid, min, minimum, moveaxis, multiply, negative, nonzero, norm, not_equal,
    one_hot, ones, ones_like, outer, pad, permute_dims, positive, power, prod, real, reciprocal, relu, remainder, repeat,
    reshape, result_type, roll, round, scatter_add, sigmoid, sign, signbit, silu, sin, sinh, softmax, softplus, sort,
    split, sqrt, square, squeeze, stack, std, subtract, sum, swapaxes, take, take_along_axis, tan, tanh, tensor, tensordot,
    tile, tril, triu, trunc, unfold, unstack, var, variable, vecdot, where, zeros, zeros_like,
)  # fmt: skip

if TYPE_CHECKING:
    from adjoint.api.checks import check_grads
    from adjoint.api.jacobians import hessian, hvp, jacfwd, jacobian, jacrev, linearize
    from adjoint.api.jit import jit
    from adjoint.api.loops import associative_scan, cond, fori_loop, map, scan, switch, while_loop
    from adjoint.api.pictures import Drawing, Exploration, draw, explore, playground, show_pictures
    from adjoint.api.ravel import ravel_tree
    from adjoint.solvers.implicit import implicit
    from adjoint.solvers.minima import minimize
    from adjoint.solvers.ode import odeint
    from adjoint.solvers.roots import fixed_point, root
    from adjoint.series.jets import jet, taylor
    from adjoint.sparse.derivatives import sparse_hessian, sparse_jacobian
    from adjoint import cli, data, debug, fft, interop, linalg, nn, optim, plot, scipy, special, stats, train
    from adjoint.debug import explain, explain_nan, gradient_flow
    from adjoint.interop import load, save

__version__ = "0.1.0"

bool = _dtypes.bool_
int8, int16, int32, int64 = _dtypes.int8, _dtypes.int16, _dtypes.int32, _dtypes.int64
uint8, uint16, uint32, uint64 = _dtypes.uint8, _dtypes.uint16, _dtypes.uint32, _dtypes.uint64
float32, float64 = _dtypes.float32, _dtypes.float64
complex64, complex128 = _dtypes.complex64, _dtypes.complex128
pi, e, inf, nan, newaxis = 3.141592653589793, 2.718281828459045, float("inf"), float("nan"), None

# Subpackages and names that are imported when first used, so that `import adjoint` stays fast.
_LAZY_MODULES = frozenset(
    {"cli", "data", "debug", "fft", "interop", "linalg", "nn", "optim", "plot", "scipy", "special", "stats", "train"}
)
_LAZY_NAMES = {
    **dict.fromkeys(("associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"), "adjoint.api.loops"),
    "sparse_hessian": "adjoint.sparse.derivatives", "sparse_jacobian": "adjoint.sparse.derivatives",
    "jet": "adjoint.series.jets", "taylor": "adjoint.series.jets",
    "implicit": "adjoint.solvers.implicit", "minimize": "adjoint.solvers.minima",
    **dict.fromkeys(("fixed_point", "root"), "adjoint.solvers.roots"), "odeint": "adjoint.solvers.ode",
    "ravel_tree": "adjoint.api.ravel", "jit": "adjoint.api.jit", "check_grads": "adjoint.api.checks",
    **dict.fromkeys(("hessian", "hvp", "jacfwd", "jacobian", "jacrev", "linearize"), "adjoint.api.jacobians"),
    "save": "adjoint.interop", "load": "adjoint.interop",
    "explain": "adjoint.debug", "explain_nan": "adjoint.debug", "gradient_flow": "adjoint.debug",
    "draw": "adjoint.api.pictures", "explore": "adjoint.api.pictures", "show_pictures": "adjoint.api.pictures",
    "playground": "adjoint.api.pictures",
    "Drawing": "adjoint.api.pictures", "Exploration": "adjoint.api.pictures",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return importlib.import_module(f"adjoint.{name}")
    if name in _LAZY_NAMES:
        return getattr(importlib.import_module(_LAZY_NAMES[name]), name)
    raise _attribute_error("adjoint", sys.modules[__name__], name)


_install_hints(Tensor)

# `t.draw()` loads the pictures as `ad.draw` does
_methods["draw"] = lambda *args, **options: __getattr__("draw")(*args, **options)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY_MODULES, *_LAZY_NAMES})


__all__ = [
    "Context", "DType", "Drawing", "Exploration", "Function", "PrecisionWarning", "Tensor", "abs", "acos", "acosh",
    "add", "all", "any", "arange", "argmax", "argmin", "argsort", "asarray", "asin", "asinh", "associative_scan",
    "astype", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays", "broadcast_to", "ceil", "check_grads",
    "checkpoint", "cli", "clip", "complex128", "complex64", "concat", "cond", "conj", "copysign", "cos", "cosh",
    "count_nonzero", "cumulative_prod", "cumulative_sum", "custom_jvp", "custom_vjp", "data", "debug", "diff", "divide",
    "dot", "draw", "e", "einsum", "empty", "enable_grad", "equal", "erf", "erfc", "evaluate", "exp", "expand_dims",
    "explain", "explain_nan", "explore", "expm1", "eye", "fft", "fixed_point", "flatten", "flip", "float32", "float64",
    "floor", "floor_divide", "fold", "fori_loop", "full", "full_like", "function", "gelu", "get_default_dtype",
    "get_num_threads", "grad", "gradient_flow", "gradients", "greater", "greater_equal", "hessian", "host_call", "hvp",
    "hypot", "imag", "implicit", "inf", "int16", "int32", "int64", "int8", "interop", "is_deterministic",
    "is_grad_enabled", "isfinite", "isinf", "isnan", "jacfwd", "jacobian", "jacrev", "jet", "jit", "jvp", "less",
    "less_equal", "linalg", "linearize", "linspace", "load", "log", "log10", "log1p", "log2", "log_softmax",
    "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "map", "matmul",
    "matrix_transpose", "max", "maximum", "mean", "meshgrid", "min", "minimize", "minimum", "moveaxis", "multiply",
    "nan", "negative", "newaxis", "nn", "no_grad", "nonzero", "norm", "not_equal", "odeint", "one_hot", "ones",
    "ones_like", "optim", "outer", "pad", "permute_dims", "pi", "playground", "plot", "positive", "power", "prod",
    "random", "ravel_tree", "real", "reciprocal", "relu", "remainder", "repeat", "reshape", "result_type", "roll",
    "root", "round", "save", "scan", "scatter_add", "scipy", "set_default_dtype", "set_deterministic",
    "set_num_threads", "show_pictures", "sigmoid", "sign", "signbit", "silu", "sin", "sinh", "softmax", "softplus",
    "sort", "sparse_hessian", "sparse_jacobian", "special", "split", "sqrt", "square", "squeeze", "stack", "stats",
    "std", "stop_gradient", "subtract", "sum", "swapaxes", "switch", "take", "take_along_axis", "tan", "tanh", "taylor",
    "tensor", "tensordot", "tile", "train", "tree", "tril", "triu", "trunc", "uint16", "uint32", "uint64", "uint8",
    "unfold", "unstack", "value_and_grad", "var", "variable", "vecdot", "vjp", "vmap", "where", "while_loop", "zeros",
    "zeros_like",
]  # fmt: skip
