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
from adjoint.transforms.vmap import vmap
from adjoint.transforms.checkpoint import checkpoint
from adjoint.transforms.custom import Context, Function, custom_jvp, custom_vjp, host_call
from adjoint.transforms.evaluate import evaluate, function
from adjoint.transforms.modes import enable_grad, is_deterministic, is_grad_enabled, no_grad, set_deterministic
from adjoint.transforms.grad import grad, gradients, jvp, stop_gradient, value_and_grad, vjp
from adjoint.runtime.threads import get_num_threads, set_num_threads
from adjoint.dtypes import DType, get_default_dtype, set_default_dtype
from adjoint.hints import attribute_error as _attribute_error
from adjoint.tensors import Tensor
from adjoint.tensors.located import PrecisionWarning
from adjoint.tensors.elsewhere import install as _install_hints
from adjoint.tensors.tensor import _f_namespace as _methods
from adjoint.tensors.functions import (
    abs, acos, acosh, add, all, any, arange, argmax, argmin, argsort, asarray, asin, asinh, astype, atan, atan2, atanh,
    bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, broadcast_arrays,
    broadcast_to, ceil, clip, concat, conj, copysign, cos, cosh, count_nonzero, cumulative_prod, cumulative_sum, diff,
    divide, dot, einsum, empty, empty_like, equal, erf, erfc, exp, expand_dims, expm1, eye, flatten, flip, floor,
    floor_divide, fold, from_dlpack,
    full, full_like, gelu, greater, greater_equal, hypot, imag, isfinite, isinf, isnan, less, less_equal, linspace, log,
    log10, log1p, log2, log_softmax, logaddexp, logical_and, logical_not, logical_or, logical_xor, logsumexp, matmul,
    matrix_transpose, max, maximum, mean, meshgrid, min, minimum, moveaxis, multiply, negative, nextafter, nonzero, norm,
    not_equal, one_hot, ones, ones_like, outer, pad, permute_dims, positive, pow, power, prod, real, reciprocal, relu, remainder,
    repeat, reshape, result_type, roll, round, scatter_add, sigmoid, sign, signbit, silu, sin, sinh, softmax, softplus, sort,
    split, sqrt, square, squeeze, stack, std, subtract, sum, swapaxes, take, take_along_axis, tan, tanh, tensor, tensordot,
    tile, tril, triu, trunc, unfold, unstack, var, variable, vecdot, where, zeros, zeros_like,
)  # fmt: skip

if TYPE_CHECKING:
    from adjoint.transforms.check_grads import check_grads
    from adjoint.arrays.calculus import (
        cumulative_trapezoid, gradient, interp, trapezoid,
    )  # fmt: skip
    from adjoint.arrays.joining import (
        append, array_split, atleast_1d, atleast_2d, atleast_3d, block, column_stack, delete, dsplit, dstack,
        fliplr, flipud, hsplit, hstack, insert, ravel, rot90, vsplit, vstack,
    )  # fmt: skip
    from adjoint.arrays.mapping import (
        apply_along_axis, vectorize,
    )  # fmt: skip
    from adjoint.arrays.matrices import (
        cdist, diag, diag_embed, diagflat, fill_diagonal, inner, tri, vdot,
    )  # fmt: skip
    from adjoint.arrays.polynomials import (
        poly, polyadd, polyder, polydiv, polyfit, polyint, polymul, polysub, polyval, roots, vander,
    )  # fmt: skip
    from adjoint.arrays.running import (
        cummax, cummin, cumprod, cumsum, logcumsumexp,
    )  # fmt: skip
    from adjoint.arrays.scattering import (
        index_add, put_along_axis, scatter, scatter_reduce, segment_max, segment_mean, segment_min,
        segment_prod, segment_sum,
    )  # fmt: skip
    from adjoint.arrays.selecting import (
        allclose, array_equal, fmax, fmin, heaviside, isclose, lerp, masked_fill, nan_to_num, piecewise, rsqrt,
        select,
    )  # fmt: skip
    from adjoint.arrays.sets import (
        UniqueAllResult, UniqueCountsResult, UniqueInverseResult, isin, searchsorted, unique_all, unique_counts,
        unique_inverse, unique_values,
    )  # fmt: skip
    from adjoint.arrays.standard import (
        FloatInfo, IntegerInfo, NamespaceInfo, __array_namespace_info__, broadcast_shapes, can_cast, finfo,
        iinfo, isdtype,
    )  # fmt: skip
    from adjoint.arrays.order_statistics import (
        kthvalue, median, nanmedian, nanpercentile, nanquantile, percentile, quantile, topk,
    )  # fmt: skip
    from adjoint.arrays.statistics import (
        average, bincount, corrcoef, cov, digitize, histogram, nanargmax, nanargmin, nancumprod, nancumsum, nanmax, nanmean,
        nanmin, nanprod, nanstd, nansum, nanvar, ptp,
    )  # fmt: skip
    from adjoint.transforms.jacobians import hessian, hvp, jacfwd, jacobian, jacrev, linearize
    from adjoint.tracer.jit import jit
    from adjoint.transforms.loops import associative_scan, cond, fori_loop, map, scan, switch, while_loop
    from adjoint.display.pictures import Drawing, Exploration, draw, explore, playground, show_pictures
    from adjoint.transforms.ravel import ravel_tree
    from adjoint.solvers.implicit import implicit
    from adjoint.solvers.least_squares import curve_fit, least_squares
    from adjoint.solvers.minima import minimize
    from adjoint.solvers.ode import odeint
    from adjoint.solvers.roots import fixed_point, root
    from adjoint.series.jets import jet, taylor
    from adjoint.sparse.derivatives import sparse_hessian, sparse_jacobian
    from adjoint import (
        cli,
        data,
        debug,
        fft,
        interop,
        linalg,
        nn,
        numpy,
        optim,
        plot,
        sample,
        scipy,
        special,
        stats,
        train,
    )
    from adjoint.debug import explain, explain_nan, gradient_flow
    from adjoint.interop import load, save

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

bool = _dtypes.bool_
int8, int16, int32, int64 = _dtypes.int8, _dtypes.int16, _dtypes.int32, _dtypes.int64
uint8, uint16, uint32, uint64 = _dtypes.uint8, _dtypes.uint16, _dtypes.uint32, _dtypes.uint64
bfloat16, float16, float32, float64 = _dtypes.bfloat16, _dtypes.float16, _dtypes.float32, _dtypes.float64
complex64, complex128 = _dtypes.complex64, _dtypes.complex128
pi, e, inf, nan, newaxis = 3.141592653589793, 2.718281828459045, float("inf"), float("nan"), None

# Subpackages and names that are imported when first used, so that `import adjoint` stays fast.
_LAZY_MODULES = frozenset(
    "cli data debug distributed estimators fft interop linalg nn numpy optim plot sample scipy special stats torch train".split()
)
# The functions of `adjoint.arrays`, by the module that has them.
_ARRAYS = {
    "calculus": "cumulative_trapezoid gradient interp trapezoid",
    "joining": (
        "append array_split atleast_1d atleast_2d atleast_3d block column_stack delete dsplit dstack fliplr "
        "flipud hsplit hstack insert ravel rot90 vsplit vstack"
    ),
    "mapping": "apply_along_axis vectorize",
    "matrices": "cdist diag diag_embed diagflat fill_diagonal inner tri vdot",
    "polynomials": "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots vander",
    "running": "cummax cummin cumprod cumsum logcumsumexp",
    "scattering": (
        "index_add put_along_axis scatter scatter_reduce segment_max segment_mean segment_min segment_prod "
        "segment_sum"
    ),
    "selecting": "allclose array_equal fmax fmin heaviside isclose lerp masked_fill nan_to_num piecewise rsqrt select",
    "sets": (
        "UniqueAllResult UniqueCountsResult UniqueInverseResult isin searchsorted unique_all unique_counts "
        "unique_inverse unique_values"
    ),
    "standard": (
        "FloatInfo IntegerInfo NamespaceInfo __array_namespace_info__ broadcast_shapes can_cast finfo iinfo "
        "isdtype"
    ),
    "order_statistics": "kthvalue median nanmedian nanpercentile nanquantile percentile quantile topk",
    "statistics": (
        "average bincount corrcoef cov digitize histogram nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod "
        "nanstd nansum nanvar ptp"
    ),
}  # fmt: skip
_LAZY_NAMES = {
    **dict.fromkeys(("associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"), "adjoint.transforms.loops"),
    "sparse_hessian": "adjoint.sparse.derivatives", "sparse_jacobian": "adjoint.sparse.derivatives",
    "jet": "adjoint.series.jets", "taylor": "adjoint.series.jets",
    "implicit": "adjoint.solvers.implicit", "minimize": "adjoint.solvers.minima",
    **dict.fromkeys(("curve_fit", "least_squares"), "adjoint.solvers.least_squares"),
    **dict.fromkeys(("fixed_point", "root"), "adjoint.solvers.roots"), "odeint": "adjoint.solvers.ode",
    "ravel_tree": "adjoint.transforms.ravel", "jit": "adjoint.tracer.jit", "check_grads": "adjoint.transforms.check_grads",
    **dict.fromkeys(("hessian", "hvp", "jacfwd", "jacobian", "jacrev", "linearize"), "adjoint.transforms.jacobians"),
    "save": "adjoint.interop", "load": "adjoint.interop",
    "explain": "adjoint.debug", "explain_nan": "adjoint.debug", "gradient_flow": "adjoint.debug",
    "draw": "adjoint.display.pictures", "explore": "adjoint.display.pictures", "show_pictures": "adjoint.display.pictures",
    "playground": "adjoint.display.pictures",
    **{name: f"adjoint.arrays.{module}" for module, names in _ARRAYS.items() for name in names.split()},
    "Drawing": "adjoint.display.pictures", "Exploration": "adjoint.display.pictures",
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
    "Context", "DType", "Drawing", "Exploration", "FloatInfo", "Function", "IntegerInfo", "NamespaceInfo",
    "PrecisionWarning", "Tensor", "UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult",
    "__array_api_version__", "__array_namespace_info__", "abs", "acos", "acosh", "add", "all", "allclose", "any",
    "append", "apply_along_axis", "arange", "argmax", "argmin", "argsort", "array_equal", "array_split", "asarray",
    "asin", "asinh", "associative_scan", "astype", "atan", "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d",
    "average", "bfloat16", "bincount", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "block", "bool", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "can_cast", "cdist", "ceil",
    "check_grads", "checkpoint", "cli", "clip", "column_stack", "complex128", "complex64", "concat", "cond", "conj",
    "copysign", "corrcoef", "cos", "cosh", "count_nonzero", "cov", "cummax", "cummin", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "cumulative_trapezoid", "curve_fit", "custom_jvp", "custom_vjp", "data", "debug",
    "delete",
    "diag", "diag_embed", "diagflat", "diff", "digitize", "distributed", "divide", "dot", "draw", "dsplit", "dstack", "e",
    "einsum",
    "empty", "empty_like", "enable_grad", "equal", "erf", "erfc", "estimators", "evaluate", "exp", "expand_dims", "explain",
    "explain_nan", "explore", "expm1", "eye", "fft", "fill_diagonal", "finfo", "fixed_point", "flatten", "flip",
    "fliplr", "flipud", "float16", "float32", "float64", "floor", "floor_divide", "fmax", "fmin", "fold", "fori_loop",
    "from_dlpack", "full", "full_like", "function", "gelu", "get_default_dtype", "get_num_threads", "grad", "gradient",
    "gradient_flow", "gradients", "greater", "greater_equal", "heaviside", "hessian", "histogram", "host_call",
    "hsplit", "hstack", "hvp", "hypot", "iinfo", "imag", "implicit", "index_add", "inf", "inner", "insert", "int16",
    "int32", "int64", "int8", "interop", "interp", "is_deterministic", "is_grad_enabled", "isclose", "isdtype",
    "isfinite", "isin", "isinf", "isnan", "jacfwd", "jacobian", "jacrev", "jet", "jit", "jvp", "kthvalue", "lerp",
    "least_squares", "less", "less_equal", "linalg", "linearize", "linspace", "load", "log", "log10", "log1p", "log2",
    "log_softmax", "logaddexp", "logcumsumexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "map",
    "masked_fill", "matmul", "matrix_transpose", "max", "maximum", "mean", "median", "meshgrid", "min", "minimize",
    "minimum", "moveaxis", "multiply", "nan", "nan_to_num", "nanargmax", "nanargmin", "nancumprod", "nancumsum",
    "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar",
    "negative", "newaxis", "nextafter", "nn", "no_grad", "nonzero", "norm", "not_equal", "numpy", "odeint", "one_hot",
    "ones", "ones_like", "optim", "outer", "pad", "percentile", "permute_dims", "pi", "piecewise", "playground", "plot",
    "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "positive", "pow",
    "power", "prod", "ptp", "put_along_axis", "quantile", "random", "ravel", "ravel_tree", "real", "reciprocal", "relu",
    "remainder", "repeat", "reshape", "result_type", "roll", "root", "roots", "rot90", "round", "rsqrt", "sample", "save", "scan",
    "scatter", "scatter_add", "scatter_reduce", "scipy", "searchsorted", "segment_max", "segment_mean", "segment_min",
    "segment_prod", "segment_sum", "select", "set_default_dtype", "set_deterministic", "set_num_threads",
    "show_pictures", "sigmoid", "sign", "signbit", "silu", "sin", "sinh", "softmax", "softplus", "sort",
    "sparse_hessian", "sparse_jacobian", "special", "split", "sqrt", "square", "squeeze", "stack", "stats", "std",
    "stop_gradient", "subtract", "sum", "swapaxes", "switch", "take", "take_along_axis", "tan", "tanh", "taylor",
    "tensor", "tensordot", "tile", "topk", "train", "trapezoid", "tree", "tri", "tril", "triu", "trunc", "uint16",
    "uint32", "uint64", "uint8", "unfold", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unstack",
    "value_and_grad", "vander", "var", "variable", "vdot", "vecdot", "vectorize", "vjp", "vmap", "vsplit", "vstack",
    "where", "while_loop", "zeros", "zeros_like",
]  # fmt: skip
