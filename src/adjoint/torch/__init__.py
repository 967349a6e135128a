"""PyTorch's interface on adjoint's engine: a PyTorch program for the CPU runs by changing its imports.

>>> import adjoint.torch as torch
>>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
>>> x.view(-1).pow(2).sum().backward()
>>> x.grad
tensor([[2., 4.],
        [6., 8.]])

Where a name of PyTorch's isn't here, or an argument has no meaning here, that is an error which names the nearest thing.
"""

from __future__ import annotations

import gc as _gc
import math as _math
import sys as _sys
from importlib import import_module as _import_module
from typing import Any

from adjoint import dtypes as _dtypes
from adjoint.dtypes import DType as dtype
from adjoint.graph.collector import settle as _settle
from adjoint.transforms.modes import is_grad_enabled

_collected = _gc.isenabled()
try:  # so many modules make hundreds of thousands of objects, through which the collector would look again and again
    _gc.disable()
    from . import (
        _attributes,
        _calculus,
        _casting,
        _complex,
        _compressed,
        _counting,
        _creation,
        _einops,
        _elementwise,
        _elsewhere,
        _foreach,
        _indexing,
        _matrices,
        _names,
        _natives,
        _operators,
        _random,
        _reductions,
        _settings,
        _shapes,
        _shared,
        _signals,
        _sorting,
        _storages,
        _views,
        autograd,
        distributed,
        fft,
        func,
        linalg,
        nn,
        optim,
        serialization,
        signal,
        sparse,
        special,
        testing,
        utils,
    )  # fmt: skip
    from ._creation import Generator, bfloat16, default_generator, device, float16, layout, memory_format, strided
    from ._files import add_files as _add_files
    from ._methods import install as _install
    from ._missing import missing as _missing
    from ._tensor import Size, Tensor
    from .func import vmap
    from .serialization import load, save
finally:
    if _collected:
        _settle()
        _gc.enable()

__version__ = "2.13.0"

float32 = float = _dtypes.float32
float64 = double = _dtypes.float64
half = float16
complex64 = cfloat = _dtypes.complex64
complex128 = cdouble = _dtypes.complex128
int8, int16, int32, int64 = _dtypes.int8, _dtypes.int16, _dtypes.int32, _dtypes.int64
uint8, uint16, uint32, uint64 = _dtypes.uint8, _dtypes.uint16, _dtypes.uint32, _dtypes.uint64
short, int, long = int16, int32, int64
bool = _dtypes.bool_
pi, e, inf, nan, newaxis = _math.pi, _math.e, _math.inf, _math.nan, None

globals().update({name: f for name, f in _names.FUNCTIONS.items() if "." not in name})
globals().update(_names.IN_PLACE)
for _name, _f in _natives.NATIVES.items():
    globals().setdefault(_name, _f)
globals().update(_settings.SETTINGS)
globals().update(_foreach.FOREACH)
for _name, _part in _elsewhere.PARTS.items():
    _place, _, _last = _name.rpartition(".")
    setattr(_import_module(f"{__name__}.{_place}") if _place else _sys.modules[__name__], _last, _part)
globals().update(_creation.MEMORY_FORMATS)
sparse_coo, sparse_csr = _compressed.sparse_coo, _compressed.sparse_csr
_install(Tensor)
_attributes.install()
for _package, _names_of_files in {
    "optim": "optimizer adadelta adagrad adam adamax adamw asgd lbfgs nadam radam rmsprop rprop sgd",
    "utils.data": "sampler",
    "autograd": "function grad_mode variable",
    "nn.utils": "clip_grad spectral_norm weight_norm",
}.items():
    _add_files(f"{__name__}.{_package}", _names_of_files)
_einops.register()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "distributions":  # loads when it is first named
        return _import_module("adjoint.torch.distributions")
    if name == "GradScaler":
        return _settings.GradScaler
    if name == "einops":  # as einops' layers do
        return _import_module("adjoint.torch.einops")
    raise _missing("torch", name, vars(_sys.modules[__name__]))
