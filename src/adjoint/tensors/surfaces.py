"""What native code is told of tensors, to record calls that were met before (see `graph.known_calls`)."""

from __future__ import annotations

from typing import Any

from adjoint.graph import Surface
from adjoint.primitives.core import DETACH, FULL, watch
from adjoint.primitives.random import RANDOM_BITS, VARIATES
from adjoint.tensors.located import PACKAGE, located
from adjoint.tensors.pending import LOOK_AFTER, count_pending, recorded_since

__all__ = ["surface_of"]

REFUSED = frozenset({RANDOM_BITS, VARIATES})  # where more is done than making a node


def surface_of(
    tensor: type,
    also: type,
    view: type | None = None,
    memory: type | None = None,
    memories: Any = None,
    turned: Any = None,
) -> Surface:
    """An interface with these classes: see `Surface`."""
    own, axes = {} if memories is None else memories, {} if turned is None else turned
    return Surface(
        tensor, also, view, memory, own, axes, FULL, DETACH, watch, REFUSED, recorded_since, count_pending, LOOK_AFTER,
        located, PACKAGE,
    )  # fmt: skip
