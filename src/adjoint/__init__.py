"""adjoint: an automatic differentiation engine that you can see through.

Write ordinary formulas on tensors; they become a graph, which is evaluated lazily, differentiated to any order in either
mode, and run again with other values. `import adjoint as ad`.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType as _Module
from typing import TYPE_CHECKING, Any

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "adjoint needs Python's global lock, without which this free-threaded Python runs: start it with -X gil=1 or PYTHON_GIL=1"
    )

# What is public is imported under its own name, or with a star: so type checkers know it, and `__all__` below is made of it.
from adjoint import dtypes as _dtypes
from adjoint import random as random, tree as tree
from adjoint.transforms.vmap import vmap as vmap
from adjoint.transforms.checkpoint import checkpoint as checkpoint
from adjoint.transforms.custom import (
    Context as Context, Function as Function, custom_jvp as custom_jvp, custom_vjp as custom_vjp,
)  # fmt: skip
from adjoint.transforms.host_calls import host_call as host_call
from adjoint.transforms.evaluate import evaluate as evaluate, function as function
from adjoint.transforms.modes import (
    enable_grad as enable_grad, is_deterministic as is_deterministic, is_grad_enabled as is_grad_enabled, no_grad as no_grad,
    set_deterministic as set_deterministic,
)  # fmt: skip
from adjoint.transforms.grad import *
from adjoint.runtime.threads import get_num_threads as get_num_threads, set_num_threads as set_num_threads
from adjoint.dtypes import (
    DType as DType,
    get_default_dtype as get_default_dtype,
    set_default_dtype as set_default_dtype,
)
from adjoint.hints import attribute_error as _attribute_error
from adjoint.tensors import Tensor as Tensor
from adjoint.tensors.located import PrecisionWarning as PrecisionWarning
from adjoint.tensors.elsewhere import install as _install_hints
from adjoint.tensors.tensor import _f_namespace as _methods
from adjoint.tensors.functions import *

if TYPE_CHECKING:  # what is loaded when it is first named: the same names are in the tables below
    from adjoint.arrays.calculus import *
    from adjoint.arrays.joining import *
    from adjoint.arrays.mapping import *
    from adjoint.arrays.matrices import *
    from adjoint.arrays.order_statistics import *
    from adjoint.arrays.polynomials import *
    from adjoint.arrays.running import *
    from adjoint.arrays.scattering import *
    from adjoint.arrays.selecting import *
    from adjoint.arrays.sets import *
    from adjoint.arrays.standard import *
    from adjoint.arrays.statistics import *
    from adjoint.display.pictures import *
    from adjoint.series.jets import *
    from adjoint.solvers.minima import *
    from adjoint.solvers.roots import *
    from adjoint.tracer.jit import *
    from adjoint.transforms.check_grads import *
    from adjoint.transforms.jacobians import *
    from adjoint.transforms.loops import *
    from adjoint.transforms.ravel import *
    from adjoint.debug import explain as explain, explain_nan as explain_nan, gradient_flow as gradient_flow
    from adjoint.interop import load as load, save as save
    from adjoint.solvers.implicit import implicit as implicit
    from adjoint.solvers.least_squares import curve_fit as curve_fit, least_squares as least_squares
    from adjoint.solvers.ode import odeint as odeint
    from adjoint.sparse.derivatives import sparse_hessian as sparse_hessian, sparse_jacobian as sparse_jacobian
    from adjoint import (
        cli as cli, data as data, debug as debug, distributed as distributed, estimators as estimators, fft as fft,
        interop as interop, linalg as linalg, nn as nn, numpy as numpy, optim as optim, plot as plot, sample as sample,
        scipy as scipy, special as special, stats as stats, train as train,
    )  # fmt: skip

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


if not TYPE_CHECKING:  # made of what is imported and of the tables: nobody keeps one more list
    _used_here = {name for name, value in globals().items() if type(value) is _Module} - {"random", "tree"}
    _used_here |= {"Any", "TYPE_CHECKING", "annotations"}
    __all__ = sorted(
        {name for name in globals() if name[0] != "_"} - _used_here | _LAZY_MODULES - {"torch"} | _LAZY_NAMES.keys()
    )
    __all__.append("__array_api_version__")
