"""What PyTorch computes in one dtype alone: operands of several are refused, where the core would promote them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from adjoint.dtypes import AUTOCAST
from adjoint.nn.utils.rnn import PackedSequence
from adjoint.tensors.located import at_user

from .._operators import one_dtype, promoted
from .._tensor import Core, cast_tensor
from .replaying import FOLLOWING, replayed

__all__ = [
    "FUNCTIONS_OF_ONE",
    "LAYERS_OF_ONE",
    "PROMOTING",
    "check_padding",
    "of_one_dtype",
    "promoting",
    "refuse_mixed",
]

FUNCTIONS_OF_ONE = {  # and the operands that share a dtype
    "layer_norm": "input weight bias", "group_norm": "input weight bias", "batch_norm": "input running_mean weight bias",
    "instance_norm": "input weight bias", "prelu": "input weight", "scaled_dot_product_attention": "query key value",
    "binary_cross_entropy": "input target", "nll_loss": "input weight", "cross_entropy": "input weight",
    "grid_sample": "input grid", "embedding_bag": "weight per_sample_weights",
}  # fmt: skip
PROMOTING = {  # and the operands that promote, where the core gives a target the dtype of what is to be like it
    "cross_entropy": "input target", "gaussian_nll_loss": "input target var", "kl_div": "input target",
    "poisson_nll_loss": "input target",
}  # fmt: skip
NORMS = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "GroupNorm", "LayerNorm",
         "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d")  # fmt: skip
LAYERS_OF_ONE = {  # and the tensors of a layer, of which the first that is there has the dtype of its input
    **dict.fromkeys(["Linear", "PReLU", *(f"Conv{k}{n}d" for k in ("", "Transpose") for n in (1, 2, 3))], ("weight",)),
    **dict.fromkeys(NORMS, ("weight", "running_mean")),
    **dict.fromkeys(["RNN", "LSTM", "GRU"], ("weight_ih_l0",)),
    **dict.fromkeys(["RNNCell", "LSTMCell", "GRUCell"], ("weight_ih",)),
}


def of_one_dtype(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `nn.functional` that raises RuntimeError for operands of several dtypes."""
    places = {n: i for i, n in enumerate(inspect.signature(f).parameters)}
    shared = [(n, places[n]) for n in FUNCTIONS_OF_ONE[name].split()]

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        return replayed(name, f, args, keywords, checked) if name in FOLLOWING else checked(f, args, keywords)

    def checked(f: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        first, count = None, len(args)
        for n, i in shared:
            x = args[i] if i < count else keywords.get(n)
            if isinstance(x, Core):
                kind = x.node.type.dtype
                if first is None:
                    first, own = x, kind
                elif kind is not own:
                    given = [args[i] if i < count else keywords.get(n) for n, i in shared]
                    one_dtype(name, *[y for y in given if isinstance(y, Core)])
        return f(*args, **keywords)

    return called


def promoting(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `nn.functional` whose floating operands of several dtypes are promoted."""
    shared = PROMOTING[name].split()

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        given = [args[i] if i < len(args) else keywords.get(n) for i, n in enumerate(shared)]
        kinds = [x.node.type.dtype for x in given if isinstance(x, Core)]
        if len(kinds) < 2 or kinds.count(kinds[0]) == len(kinds) or not all([kind.kind == "f" for kind in kinds]):
            return f(*args, **keywords)
        common = functools.reduce(promoted, kinds)
        wide: list[Any] = [cast_tensor(x, common) if isinstance(x, Core) else x for x in given]  # type: ignore[arg-type]
        rest = {n: x for n, x in zip(shared[len(args) :], wide[len(args) :], strict=True) if n in keywords}
        return f(*wide[: len(args)], *args[len(shared) :], **{**keywords, **rest})

    return called


def refuse_mixed(layer: Any, name: str, given: tuple[Any, ...]) -> None:
    """Raise ValueError where the inputs of a layer, or a recurrent layer's states, have another dtype than its parameters."""
    if AUTOCAST.get() is not None:
        return
    own = layer.__dict__
    weight = next((own[n] for n in LAYERS_OF_ONE[name] if own.get(n) is not None), None)
    if weight is None:  # or computed from others
        return
    dtype = weight.dtype
    for x in given:
        parts = (x.data,) if isinstance(x, PackedSequence) else x if isinstance(x, (tuple, list)) else (x,)
        for part in parts:  # an LSTM has two states
            if not isinstance(part, Core) or part.dtype is dtype:
                continue
            raise ValueError(  # as PyTorch does for recurrent layers; layers raise it as RuntimeError, too
                f"{name}: the input is {part.dtype.name} and the layer {dtype.name}; cast the input by "
                f".to(torch.{dtype.name}), or the layer by .to(torch.{part.dtype.name}){at_user()}"
            )


def check_padding(ndim: int, pairs: int, mode: str) -> None:
    """Raise NotImplementedError where PyTorch has no padding by other values than a constant."""
    if mode != "constant" and not (1 <= pairs <= 3 and ndim - pairs in (1, 2)):
        raise NotImplementedError(
            f"pad: mode {mode!r} pads the last {pairs} axes of tensors with {pairs + 1} or {pairs + 2} axes, those of channels "
            f"and images before them, not of one with {ndim}; use x.unsqueeze(0){at_user()}"
        )
