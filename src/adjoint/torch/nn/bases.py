"""The classes that PyTorch's layers of a kind have in common: to ask what a layer is, and as bases of losses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from adjoint.tensors.located import at_user

from . import modules
from .modules import LAYERS, Module
from .signatures import LOSSES

__all__ = ["BASES", "TUPLES"]

CONVOLUTIONS = tuple(f"Conv{k}{n}d" for k in ("", "Transpose") for n in (1, 2, 3))
BATCHES, INSTANCES = (tuple(f"{kind}Norm{n}d" for n in (1, 2, 3)) for kind in ("Batch", "Instance"))
# By file: a class and the layers that are of it.
KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "conv": {"_ConvNd": CONVOLUTIONS, "_ConvTransposeNd": CONVOLUTIONS[3:]},
    "batchnorm": {
        "_BatchNorm": (*BATCHES, "SyncBatchNorm"),
        "_NormBase": (*BATCHES, "SyncBatchNorm", *INSTANCES),
    },
    "instancenorm": {"_InstanceNorm": INSTANCES},
    "dropout": {
        "_DropoutNd": ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
    },
    "rnn": {"RNNBase": ("RNN", "LSTM", "GRU"), "RNNCellBase": ("RNNCell", "LSTMCell", "GRUCell")},
    "loss": {
        "_Loss": tuple(sorted({*LOSSES, "CTCLoss", "GaussianNLLLoss", "HuberLoss", "TripletMarginWithDistanceLoss"})),
        "_WeightedLoss": (
            "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss",
        ),
    },
}  # fmt: skip


class _Kind(type(Module)):  # type: ignore[misc]
    """The class of such a class: layers of these names, and what is made of them, are instances."""

    _layers: tuple[str, ...] = ()

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass: type) -> bool:
        known = tuple(LAYERS[name] for name in cls.__dict__.get("_layers", ()) if name in LAYERS)
        return super().__subclasscheck__(subclass) or issubclass(subclass, known)


def _of(name: str, layers: tuple[str, ...]) -> type:
    def __init__(self: Any, *args: Any, **keywords: Any) -> None:
        Module.__init__(self)
        if args or keywords:
            raise TypeError(
                f"{name}: only what asks for a layer's class is served by this one; derive from nn.{layers[0]} or nn.Module"
                f"{at_user()}"
            )

    body = {
        "__init__": __init__,
        "_layers": layers,
        "__doc__": f"What {', '.join(layers)} are.",
        "__module__": __name__,
    }
    return _Kind(name, (Module,), body)


def _of_losses(name: str, layers: tuple[str, ...], base: type, weighted: bool) -> type:
    def __init__(
        self: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        Module.__init__(self)
        if weighted:
            self.register_buffer("weight", weight)
        for given, which in ((reduce, "none"), (size_average, "sum")):  # as PyTorch reads its older arguments
            if given is not None and not given:
                reduction = which
                break
        self.reduction = reduction

    def plain(self: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        __init__(self, None, size_average, reduce, reduction)

    body = {
        "__init__": __init__ if weighted else plain, "_layers": layers, "__doc__": "Base of losses: how they are reduced.",
        "__module__": __name__,
    }  # fmt: skip
    return _Kind(name, (base,), body)


_loss = _of_losses("_Loss", KINDS["loss"]["_Loss"], Module, weighted=False)
BASES: dict[str, dict[str, Any]] = {
    **{file: {name: _of(name, layers) for name, layers in classes.items()} for file, classes in KINDS.items()},
    "loss": {
        "_Loss": _loss,
        "_WeightedLoss": _of_losses("_WeightedLoss", KINDS["loss"]["_WeightedLoss"], _loss, weighted=True),
    },
}


def _repeated(n: int) -> Callable[[Any], tuple[Any, ...]]:
    """A number n times; what is iterable as a tuple."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    return parse


def _reverse_repeat_tuple(t: Any, n: int) -> tuple[Any, ...]:
    """The elements from the last to the first, each n times."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: Any) -> Any:
    """Sizes with None replaced by the last defaults."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}{at_user()}")
    return [d if v is None else v for v, d in zip(out_size, defaults[-len(out_size) :], strict=True)]


def _consume_prefix(state_dict: Any, prefix: str) -> None:
    """Names of a state lose the prefix that wrappers of modules gave them, in place."""
    for name in list(state_dict):
        if name.startswith(prefix):
            state_dict[name.removeprefix(prefix)] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", None)
    for name in list(metadata or ()):
        if metadata is not None and name.startswith(prefix):
            metadata[name.removeprefix(prefix)] = metadata.pop(name)


TUPLES: dict[str, Any] = {
    "consume_prefix_in_state_dict_if_present": _consume_prefix,
    "_ntuple": lambda n, name="parse": _repeated(n), "_single": _repeated(1), "_pair": _repeated(2), "_triple": _repeated(3),
    "_quadruple": _repeated(4), "_reverse_repeat_tuple": _reverse_repeat_tuple, "_list_with_default": _list_with_default,
}  # fmt: skip
for _file, _classes in {**BASES, "utils": TUPLES}.items():
    sys.modules[f"{modules.__name__}.{_file}"].__dict__.update(_classes)
