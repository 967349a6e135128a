"""Calls as steps of a plan: a step whose attributes are the callee, and which of its steps need numbers at their full shape.

It reads what the call is given, and behind that these numbers; its output are the slots of all the steps that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjoint.primitives.callees import Callee

__all__ = ["results_of", "written_out"]


def written_out(call: Any) -> Iterator[Any]:
    """The steps that a call stands for."""
    callee, wide = call.attributes
    found = [*call.inputs[: callee.given], *call.output]
    spread = dict(zip(wide, call.inputs[callee.given :], strict=True))
    for k, (op, attributes, _, type, _, _) in enumerate(callee.steps):
        inputs, kernel = callee.takes[k](found), callee.kernels[k]
        if k in spread:
            inputs = (spread[k], *inputs[1:])
        yield call._make((op, attributes, kernel, kernel, inputs, found[callee.given + k], type))


def results_of(call: Any) -> list[int]:
    """The slots of what a call gives."""
    callee: Callee = call.attributes[0]
    return [call.output[k - callee.given] for k in callee.outputs]
