"""Branches that cost less than choosing among them: all of them are computed, and what the index says is selected.

A branch is a program of its own, which Python starts: that takes 20 µs, in which native code computes tens of thousands of
elements. So where all branches together take less, and nothing in them can fail or be noticed, they become steps of the plan
around, are fused with their neighbours, and leave a loop's body native as a whole. Derivatives are taken before, of the branch:
what isn't selected poisons nothing.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from adjoint.compiler.fuse.kinds import fills_regions, is_movement
from adjoint.compiler.loops.formulas import is_lowered, reduces
from adjoint.compiler.targets.llvm import ITEMSIZE
from adjoint.dtypes import bool_
from adjoint.graph import array_type
from adjoint.plan.plan import Plan, Step
from adjoint.plan.simplify import made

MOST = 1 << 17  # work in all branches: operations on elements, costly ones ten times


def branches_as_selections(plan: Plan) -> Plan:
    """The plan with such branches written out; itself where there are none. The given plan stays as it is."""
    asked = {slot for _, _, slot, _ in plan.outputs}
    cheap = {
        step.output
        for step in plan.steps
        if step.op.graphs is not None and step.output not in asked and _is_cheap(plan, step)
    }
    if not cheap:
        return plan
    result = copy.copy(plan)
    result.types, result.constants, result.sites, result.steps = (
        list(plan.types),
        dict(plan.constants),
        dict(plan.sites),
        [],
    )
    found: dict[int, list[int]] = {}  # the slots of a branch's results
    same: dict[int, int] = {}
    for step in plan.steps:
        inputs = tuple([same.get(i, i) for i in step.inputs])
        if step.output in cheap:
            found[step.output] = _selected(result, step._replace(inputs=inputs))
        elif inputs and inputs[0] in found:
            same[step.output] = found[inputs[0]][step.attributes]
        else:
            result.steps.append(step._replace(inputs=inputs))
    result.outputs = [(number, index, same.get(slot, slot), kept) for number, index, slot, kept in plan.outputs]
    result.same = {**plan.same, **same}
    return result


def _is_cheap(plan: Plan, step: Step) -> bool:
    """Whether a step chooses among graphs that cost less than choosing."""
    inner = step.op.graphs(step.attributes) if step.op.graphs is not None else ()
    if not inner or inner[0].carries is not None or plan.types[step.inputs[0]].dtype.kind not in "iu":
        return False
    work = 0
    for one in inner:
        own = one.body.alone().plan
        if own.number_types:
            return False
        for s in own.steps:
            cost = _work(own, s)
            if cost is None:
                return False
            work += cost
    return work <= MOST


def _work(plan: Plan, step: Step) -> int | None:
    """The work of a step that native code computes, where it can't fail; else None."""
    op, t = step.op, step.type
    if type(t) is tuple or op.opaque or op.waits or not step.inputs:
        return None
    given = [plan.types[i] for i in step.inputs]
    if any([type(x) is tuple or x.dtype.name not in ITEMSIZE for x in (t, *given)]):
        return None
    if is_movement(step):
        return 0
    dtypes = [x.dtype.name for x in given]
    if op.elementwise and is_lowered(op.name, step.attributes, t.dtype.name, dtypes):
        return int(t.size) * (1 if op.light else 10)
    if step.attributes and reduces(op.name, t.dtype.name, dtypes[0]):
        return int(given[0].size)
    return int(t.size) if fills_regions(step) else None


def _selected(plan: Plan, step: Step) -> list[int]:
    """Write out the branches of a step; the slots of what is selected."""
    assert step.op.graphs is not None
    index, *operands = step.inputs
    branches = [_written_out(plan, one.body, operands) for one in step.op.graphs(step.attributes)]
    results = branches[-1]
    for k in range(len(branches) - 2, -1, -1):
        number = _slot(plan, plan.types[index])
        plan.constants[number] = np.asarray(k, plan.types[index].dtype.dtype)
        below = _add(plan, "less_equal", (index, number), array_type((), bool_))
        pairs = zip(branches[k], results, step.type, strict=True)
        results = [_add(plan, "where", (below, x, y), t) for x, y, t in pairs]
    return results


def _written_out(plan: Plan, body: Any, operands: list[int]) -> list[int]:
    """Add the steps of a body to a plan; the slots of its outputs."""
    own, order, picks = body.alone()
    slots = {leaf: operands[k] for leaf, k in enumerate(order)}
    for slot, array in own.constants.items():
        slots[slot] = _slot(plan, own.types[slot])
        plan.constants[slots[slot]] = array
    for s in own.steps:
        inputs = tuple([slots[i] for i in s.inputs])
        slots[s.output] = _slot(plan, s.type)
        if s.output in own.sites:
            plan.sites[slots[s.output]] = own.sites[s.output]
        plan.steps.append(s._replace(inputs=inputs, output=slots[s.output]))
    return [slots[own.outputs[place][2]] for place in picks]


def _slot(plan: Plan, type: Any) -> int:
    plan.types.append(type)
    return len(plan.types) - 1


def _add(plan: Plan, name: str, inputs: tuple[int, ...], type: Any) -> int:
    slot = _slot(plan, type)
    plan.steps.append(made(name, None, inputs, slot, type))
    return slot
