"""How the indices of single elements are gone through: as they lie, or one for each row or column of what is made of them. Those
of the axes that `take_along_axis` matches one to one are such, and needn't be written down for each element."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.compiler.fuse.kinds import View
from adjoint.plan.plan import Step
from adjoint.shapes import contiguous

__all__ = ["stays", "way_of", "ways_of"]


def way_of(view: View) -> str:
    """How a view goes through an array that it begins with: element by element ("each"), one for each "row" or one for each
    "column" of the view; empty for another way."""
    outer, n = view.shape[:-1], view.shape[-1:]
    ways = {"each": contiguous(view.shape), "row": (*contiguous(outer), 0), "column": (*(0,) * len(outer), 1)}
    found = [way for way, strides in ways.items() if n and view.offset == 0 and view.strides == strides]
    return found[0] if found else ""


def stays(step: Step, k: int, views: Sequence[View]) -> bool:
    """Whether the input number k of a step is an index that needn't lie in order; `views` are those of the inputs."""
    first = step.op.indices_from
    single = step.op.name == "gather" and len(views[0].shape) == len(views) - first
    return single and k >= first and way_of(views[k]) != ""


def ways_of(indices: Sequence[View]) -> tuple[tuple[str, ...], int]:
    """How indices are gone through, and how long a row of them is, if not all lie as they are used."""
    ways = tuple([way_of(view) or "each" for view in indices])
    return ways, 0 if set(ways) == {"each"} else indices[0].shape[-1]
