"""The arguments of torch.nn's layers, in PyTorch's order and with its defaults."""

from __future__ import annotations

import inspect
from typing import Any

from adjoint.nn.lazy import Lazy

from .._creation import given_dtype, on_cpu
from . import functional

__all__ = ["DEFAULTS", "LOSSES", "options", "signature_of"]

LOSSES = {
    "BCELoss": "weight", "BCEWithLogitsLoss": "weight", "CosineEmbeddingLoss": "margin", "CrossEntropyLoss": "weight",
    "HingeEmbeddingLoss": "margin", "KLDivLoss": "", "L1Loss": "", "MSELoss": "", "MarginRankingLoss": "margin",
    "MultiLabelMarginLoss": "", "MultiLabelSoftMarginLoss": "weight", "MultiMarginLoss": "p margin weight", "NLLLoss": "weight",
    "PoissonNLLLoss": "log_input full", "SmoothL1Loss": "", "SoftMarginLoss": "", "TripletMarginLoss": "margin p eps swap",
}  # fmt: skip
AFTER = {  # what comes after size_average, where PyTorch has more than reduce and reduction there
    "CrossEntropyLoss": "size_average ignore_index reduce reduction", "NLLLoss": "size_average ignore_index reduce reduction",
    "PoissonNLLLoss": "size_average eps reduce reduction",
}  # fmt: skip
# defaults that aren't the core's
DEFAULTS: dict[str, dict[str, Any]] = {
    "Softmax": {"dim": None}, "LogSoftmax": {"dim": None}, "Softmin": {"dim": None},
}  # fmt: skip


def options(given: dict[str, Any]) -> dict[str, Any]:
    """Constructor arguments as the core's layer takes them."""
    device, dtype = given.pop("device", None), given_dtype(given.pop("dtype", None))
    on_cpu(device)
    if dtype is not None:
        given["dtype"] = dtype
    old = given.pop("size_average", None), given.pop("reduce", None)
    if old != (None, None):
        given["reduction"] = functional.legacy_reduction(*old)
    return given


def signature_of(name: str, core: type) -> inspect.Signature:
    """The arguments of a layer: the core's, in PyTorch's order where that differs, with `device` and `dtype`."""
    if issubclass(core, Lazy):
        given = core.becomes if core.__init__ is Lazy.__init__ else core  # with defaults of their own
        sized = [p for p in inspect.signature(given.__init__).parameters.values() if p.name != core.sized_by]
    else:
        sized = list(inspect.signature(core.__init__).parameters.values())
    if name != "Identity":  # which takes all and looks at none; the others without a constructor take nothing
        sized = [p for p in sized if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    own = {p.name: p for p in sized}
    for key, value in DEFAULTS.get(name, {}).items():
        own[key] = own[key].replace(default=value)
    if name in LOSSES:
        order = ["self", *LOSSES[name].split(), *AFTER.get(name, "size_average reduce reduction").split()]
        missing = inspect.Parameter("_", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        first = [own.pop(n, missing).replace(name=n, kind=missing.kind) for n in order]
        own = {p.name: p for p in [*first, *own.values()]}
    elif "dtype" in own:
        place = list(own).index("dtype")
        dtype = own.pop("dtype")
        rest = list(own.values())
        added = [dtype.replace(name="device", default=None), dtype]
        if name == "Embedding":
            added.insert(0, dtype.replace(name="_freeze", default=False))
        own = {p.name: p for p in [*rest[:place], *added, *rest[place:]]}
    return inspect.Signature(sorted(own.values(), key=lambda p: p.kind))
