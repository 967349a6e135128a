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
from .surgery import Buffer

globals().update(LAYERS)
SELDOM = {
    **bases.BASES["rnn"],
    **{f"Uninitialized{kind}": getattr(parameter, f"Uninitialized{kind}") for kind in ("Buffer", "Parameter")},
}

__all__ = [
    "AdaptiveLogSoftmaxWithLoss", "Buffer", "DataParallel", "parallel",
    "Module", "ModuleDict", "ModuleList", "Parameter", "ParameterDict", "ParameterList", "Sequential", "functional", "init",
    "modules", "parameter", "utils", *LAYERS,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in SELDOM:
        return SELDOM[name]
    raise missing("torch.nn", name, __all__)
