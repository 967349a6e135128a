"""Calls of single layers that record what an earlier call did: from the layer's tensors straight to the nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.composites import normalization, products
from adjoint.tensors.named import new
from adjoint.tensors.repeating import recorded_as_before
from adjoint.tracing import active

from .._tensor import Core, Tensor

__all__ = ["SINGLE", "called_at_once"]

Single = Callable[[dict[str, Any], Any], Any]  # of a layer's attributes and its input; two frames below the call

FRAMES = 5  # from `scope_for` to who called the layer


def _affine(state: dict[str, Any], x: Any) -> Any:
    weight, bias = state["weight"], state["bias"]
    node, by = x.node, weight.node
    shape = node.type.shape
    if node.type.dtype is not by.type.dtype or not shape or shape[-1] != state["in_features"]:
        return None
    return recorded_as_before("Linear", products.linear, (node, by, None if bias is None else bias.node), FRAMES)


def _normalized(state: dict[str, Any], x: Any) -> Any:
    weight, bias = state["weight"], state["bias"]
    node, by = x.node, None if weight is None else weight.node
    if by is not None and node.type.dtype is not by.type.dtype:
        return None
    given = (node, state["normalized_shape"], by, None if bias is None else bias.node, state["eps"])
    return recorded_as_before("LayerNorm", normalization.layer_norm, given, FRAMES, "layer_norm")


def _dropped(state: dict[str, Any], x: Any) -> Any:
    if state["training"] or not isinstance(x, Tensor) or active() is not None or not 0 <= state["p"] <= 1:
        return None
    return x


SINGLE: dict[type, tuple[Any, Single]] = {}  # by class: its `forward`, and what does the same where all is as it was


def register(kinds: dict[str, type]) -> None:
    """Note the layers among these, by name, that are called at once."""
    for name, single in (("Linear", _affine), ("LayerNorm", _normalized), ("Dropout", _dropped)):
        SINGLE[kinds[name]] = kinds[name].forward, single  # type: ignore[attr-defined]


def called_at_once(layer: Any, forward: Any, single: Single, x: Any) -> Any:
    """What a layer without hooks gives for one input; None where all has to be looked at."""
    state = layer.__dict__
    if type(layer).forward is not forward or "forward" in state or not isinstance(x, Core):
        return None
    try:
        found = single(state, x)
    except KeyError:  # a weight that is computed from others
        return None
    if found is None or found is x:
        return found
    tensor = new(Tensor)
    tensor.node = found
    return tensor
