"""Calls of single layers that record what an earlier call did: from the layer's tensors straight to the nodes."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

from adjoint.composites import normalization, products
from adjoint.graph import Calls
from adjoint.tensors.named import new
from adjoint.tensors.repeating import recorded_as_before
from adjoint.tracing import active

from .._surface import SURFACE
from .._tensor import Core, Tensor

__all__ = ["SINGLE", "called_at_once"]

Single = Callable[[dict[str, Any], Any], Any]  # of a layer's attributes and its input; two frames below the call

FRAMES = 6  # from `scope_for` to who called the layer
LEVEL = 4  # from what asks native code to there

LINEAR, LAYER_NORM = Calls(SURFACE, level=LEVEL, looks=True), Calls(SURFACE, level=LEVEL, looks=True)


def _recorded(calls: Calls, given: tuple[Any, ...], name: str, function: Any, inside: str = "") -> Any:
    """The tensor that a function of nodes gives in a scope of a layer, if a call of this kind was met before."""
    again = calls.again
    if again is not None:
        known = again(*given)
        if known is not None:
            return known
    nodes = tuple([x.node if isinstance(x, Core) else x for x in given])
    node = recorded_as_before(name, function, nodes, FRAMES, inside)
    if node is None:
        return None
    tensor = new(Tensor)
    tensor.node = node
    return tensor if again is None else calls.learn(given, tensor, _getframe(LEVEL))


def _affine(state: dict[str, Any], x: Any) -> Any:
    weight = state["weight"]
    kind = x.node.type
    shape = kind.shape
    if kind.dtype is not weight.node.type.dtype or not shape or shape[-1] != state["in_features"]:
        return None
    return _recorded(LINEAR, (x, weight, state["bias"]), "Linear", products.linear)


def _normalized(state: dict[str, Any], x: Any) -> Any:
    weight = state["weight"]
    if weight is not None and x.node.type.dtype is not weight.node.type.dtype:
        return None
    given = (x, state["normalized_shape"], weight, state["bias"], state["eps"])
    return _recorded(LAYER_NORM, given, "LayerNorm", normalization.layer_norm, "layer_norm")


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
        return single(state, x)
    except KeyError:  # a weight that is computed from others
        return None
