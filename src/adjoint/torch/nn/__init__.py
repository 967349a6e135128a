"""torch.nn: networks."""

from __future__ import annotations

from typing import Any

from .._missing import missing
from .._tensor import Parameter
from . import bases as bases
from . import functional, init, modules, parallel, parameter, utils
from .adaptive import AdaptiveLogSoftmaxWithLoss
from .modules import LAYERS, Module, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .parallel import DataParallel

globals().update(LAYERS)

__all__ = [
    "AdaptiveLogSoftmaxWithLoss", "DataParallel", "parallel",
    "Module", "ModuleDict", "ModuleList", "Parameter", "ParameterDict", "ParameterList", "Sequential", "functional", "init",
    "modules", "parameter", "utils", *LAYERS,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise missing("torch.nn", name, __all__)
