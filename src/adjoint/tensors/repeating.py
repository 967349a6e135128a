"""What calls record of which others of their kind have left a recipe (see `composites.recipes`)."""

from __future__ import annotations

from types import FrameType
from typing import Any

from adjoint.composites.recipes import Recipe
from adjoint.graph import Node, Scope, get_mode
from adjoint.tensors.located import scope_for
from adjoint.tensors.pending import count_pending

__all__ = ["recorded_as_before", "recorded_by"]


def recorded_as_before(
    name: str, function: Any, args: tuple[Any, ...], frame: FrameType | int, inside: str = ""
) -> Any:
    """What a function of nodes records in a scope of this name, or in one `inside` that, by the recipe that calls before have
    left; None where there is none. `frame` is as in `scope_for`."""
    ready = getattr(function, "ready", None)
    if ready is None:
        return None
    outer = get_mode()
    found = ready(args, outer.grad)
    if found is None:
        return None
    recipe, nodes = found
    scope = scope_for(outer, name, frame)
    return recorded_by(recipe, nodes, Scope(inside, None, 0, scope, False) if inside else scope)


def recorded_by(recipe: Recipe, nodes: list[Node], scope: Scope) -> Any:
    """What a recipe records of these nodes in a scope, counted among what is pending."""
    found = recipe.record(nodes, scope, 0)
    for node in found if isinstance(found, list) else (found,):
        if not node.tracked:
            count_pending(node)
    return found
