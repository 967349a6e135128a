"""The place of the first extreme of a row, from the extreme itself: for loops have no function that gives places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjoint.dtypes import bool_
from adjoint.graph import array_type
from adjoint.plan.plan import Step

if TYPE_CHECKING:
    from adjoint.plan.simplify import Simplifier

LONGEST = 1 << 12  # elements of a row, of which each has its number in a constant


def first_extreme(s: Simplifier, step: Step) -> int | None:
    """The place of the largest or smallest element along an axis is the least of the places that hold it, or hold NaN: the
    extreme is NaN then, and equal to nothing. NumPy goes along another axis than the last element by element."""
    (x,) = step.inputs
    type_ = s.types[x]
    axis, shape = step.attributes, type_.shape
    if x in s.single or type_.dtype.kind not in "fiu" or not all([type(n) is int for n in shape]):
        return None
    n, last = shape[axis], axis == len(shape) - 1
    if (last and n > LONGEST) or (type_.dtype.kind == "f" and type_.dtype.name not in ("float32", "float64")):
        return None
    truth, places = array_type(shape, bool_), array_type(shape, step.type.dtype)
    kept = array_type((*shape[:axis], 1, *shape[axis + 1 :]), type_.dtype)
    extreme = s.emit(step.op.name[3:], (axis,), (x,), array_type(step.type.shape, type_.dtype))
    extreme = s.emit("broadcast_to", shape, (s.emit("reshape", kept.shape, (extreme,), kept),), type_)
    held = s.emit("equal", None, (x, extreme), truth)
    if type_.dtype.kind == "f":
        held = s.emit("bitwise_or", None, (held, s.emit("not_equal", None, (x, x), truth)), truth)
    along = (n, *(1,) * (len(shape) - 1 - axis))
    numbers = s.slot(array_type(along, step.type.dtype))
    s.constants[numbers] = np.arange(n).reshape(along)
    place = s.emit(
        "where", None, (held, s.emit("broadcast_to", shape, (numbers,), places), s.constant(n, places)), places
    )
    return s.emit("min", (axis,), (place,), step.type)
