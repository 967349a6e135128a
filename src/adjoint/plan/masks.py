"""When the kernels run that make zero times infinity zero: plain ones run first, and where something went wrong in them, the
masked ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from adjoint._tuples import NamedTuple
from adjoint.graph import Primitive
from adjoint.plan.inlining import results_of, written_out
from adjoint.primitives.callees import CALL
from adjoint.primitives.custom import HOST_CALL
from adjoint.primitives.elementwise import WHERE

if TYPE_CHECKING:
    from adjoint.plan.plan import Plan, Step


class Masking(NamedTuple):
    """Whether the masked kernels of a plan must run from the start; whether it has some; the positions of outputs that are wrong
    if not finite, unless the masked kernels computed them."""

    always: bool
    some: bool
    checked: list[int]


def masking_of(plan: Plan, steps: Sequence[Step]) -> Masking:
    """When the masked kernels of a plan of these steps run."""
    after: set[int] = set()
    always = must_mask(_looked_at(steps), after)
    doubtful = [place for place, (_, _, slot, _) in enumerate(plan.outputs) if slot in after]
    types = [plan.types[plan.outputs[place][2]] for place in doubtful]
    always = always or tuple in map(type, types)  # several arrays, which nobody looks at
    checked = [place for place, t in zip(doubtful, types, strict=True) if type(t) is not tuple and t.inexact]
    return Masking(always, bool(after), checked)


def must_mask(steps: Iterable[tuple[Any, Primitive, Sequence[Any]]], after: set[Any] | None = None) -> bool:
    """Whether the masked kernels must run from the start: because something that depends on a masked step could hide a NaN
    from the results, or because host code is called, which may act on the world and so must not run a second time.

    The steps are (result, operation, inputs) in order. `after` collects the results that depend on a masked step.
    """
    after = set() if after is None else after
    needed = False
    add, apart = after.add, after.isdisjoint
    for result, op, inputs in steps:
        if op.masked is not None:
            add(result)
        elif not apart(inputs):
            add(result)
            if op.swallows and (op is not WHERE or inputs[0] in after):
                needed = True  # of `where`, only the condition decides without passing on
        elif op is HOST_CALL:
            needed = True
    return needed


def _looked_at(steps: Sequence[Step]) -> Iterator[tuple[int, Primitive, Sequence[int]]]:
    """Steps as `must_mask` takes them."""
    for step in steps:
        op, _, _, _, inputs, slot, _ = step
        if op is not CALL:
            yield slot, op, inputs
        elif step.attributes[0].masks:
            yield from [(one.output, one.op, one.inputs) for one in written_out(step)]
        else:
            yield from [(slot, CALL, inputs) for slot in results_of(step)]
