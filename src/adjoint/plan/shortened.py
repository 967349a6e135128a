"""A plan of many equal layers as one of a few, from whose units those of the whole follow (see `execution.native.layers`).

The steps of a plan, and what is given at its first reading, are a list of entries in which `matching` finds what repeats: the
layers of a deep network, forward and back, with the update of their weights. The same number of times is left out in the midst
of each loop, and what follows reads what it would read had the network been that much shallower.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.plan.inlining import results_of
from adjoint.plan.listing import NOTHING
from adjoint.plan.matching import Loop, find_loops
from adjoint.plan.plan import Plan, Step
from adjoint.plan.repeated import left_out
from adjoint.primitives.callees import CALL

__all__ = ["Shortened", "shortened", "sums_of"]

Array = np.ndarray[Any, Any]

WORTH = 4000  # steps: shorter plans are as quickly planned as they are
VARIED = 16  # steps of each kind, on average: with fewer, little repeats
INPUTS = 16  # of a step in a loop, at most
LEFT = 6  # times that are left of each loop, at least,
LEFT_STEPS = 100  # and entries
SHORTEST = 16  # entries of a loop in all
WINDOWS = (4, 32, 512)  # entries that are compared at once
SAVED = 0.5  # of the entries must be left out
FACTOR = 0x1E3779B97F4A7C15  # an odd number whose powers have nothing in common


class Entries(NamedTuple):
    """What the steps of a plan give, a call several arrays, and before each what it is the first to read of what is given.

    slots      of each entry
    steps      which step it is; `NOTHING` for what is given
    case       of what kind it is
    operands   the entries that it reads; `NOTHING` where it reads fewer, or too many to be in a loop
    """

    slots: Array
    steps: Array
    case: Array
    operands: Array


class Shortened(NamedTuple):
    """A plan without `times` of each of its loops behind their first `kept`. `places` are the entries that are left."""

    plan: Plan
    entries: Entries
    loops: list[Loop]
    kept: int
    times: int
    places: Array


def shortened(plan: Plan) -> Shortened | None:
    """A shorter plan of fewer equal layers; None where most of a plan doesn't repeat often."""
    if plan.length < WORTH:
        return None
    columns: Any = Step._make(zip(*plan.placed, strict=True))
    if len(set(zip(columns.op, columns.type, strict=True))) * VARIED > plan.length:
        return None
    entries = _entries(plan, columns)
    sums = sums_of(entries.operands)
    loops = find_loops(entries.case, sums, shortest=SHORTEST, rest=0.0, windows=WINDOWS)
    loops = [_whole_steps(entries, loop) for loop in loops if _advances(entries.operands, loop)]
    saved, times, left = max([_saving(loops, loop.times) for loop in loops], default=(0, 0, 0))
    if saved < SAVED * len(entries.slots):
        return None
    loops = [loop for loop in loops if loop.times >= times + left]
    kept = left // 2
    found = left_out(entries.operands, loops, kept, times)
    if found is None:
        return None
    short = _rebuilt(plan, entries, *found[1:])
    return None if short is None else Shortened(short, entries, loops, kept, times, found[1])


def sums_of(names: Array) -> Array:
    """One sum of all names in each row, each times a number of its own, as a column: it advances by a fixed stride where all of
    them do, and nearly never elsewhere."""
    found: Array = names @ np.cumprod(np.full(names.shape[1], FACTOR))
    return found[:, None]


def _advances(operands: Array, loop: Loop) -> bool:
    """Whether each operand of a loop has a stride."""
    stride = np.diff(operands[loop.start : loop.stop].reshape(loop.times, -1), axis=0)
    return bool((stride == stride[0]).all())


def _saving(loops: Sequence[Loop], least: int) -> tuple[int, int, int]:
    """How many entries, and times, can be left out of the loops of so many times at least; and how many are left of these."""
    periods = [loop.period for loop in loops if loop.times >= least]
    left = max(LEFT, 1 + LEFT_STEPS // sum(periods))
    return (least - left) * sum(periods), least - left, left


def _whole_steps(entries: Entries, loop: Loop) -> Loop:
    """A loop from the first entry on with which a step begins."""
    start, steps = loop.start, entries.steps
    while start < loop.stop and steps[start] != NOTHING and steps[start] == steps[start - 1]:
        start += 1
    return Loop(start, loop.period, (loop.stop - start) // loop.period)


def _entries(plan: Plan, columns: Any) -> Entries:
    rows, made = _results(plan, columns)
    inputs, count = columns.inputs, len(rows)
    several = np.fromiter(map(len, inputs), np.intp, len(inputs))
    read = np.fromiter(chain.from_iterable(inputs), np.intp, several.sum())
    reader = np.repeat(np.arange(len(inputs)), several)
    is_made = np.zeros(len(plan.types), bool)
    is_made[made] = True
    given = np.flatnonzero(~is_made[read])
    own, first = np.unique(read[given], return_index=True)
    order = np.argsort(first)
    own, first = own[order], reader[given[first[order]]]  # what is given, and the step that reads it first
    at = np.full(len(plan.types), NOTHING, np.int32)
    at[made] = places = np.arange(count) + np.searchsorted(first, rows, side="right")
    at[own] = own_places = np.searchsorted(rows, first) + np.arange(len(own))
    size = count + len(own)
    steps, slots, case = np.full(size, NOTHING), np.empty(size, np.intp), np.empty(size, np.intp)
    steps[places], slots[places], slots[own_places] = rows, made, own
    case[places], case[own_places] = _kinds(plan, columns, rows, own.tolist())
    fits = several[reader] <= INPUTS
    column = np.arange(len(read)) - np.repeat(np.cumsum(several) - several, several)
    operands = np.full((len(inputs), min(INPUTS, several.max())), NOTHING, np.int32)
    operands[reader[fits], column[fits]] = at[read[fits]]
    every = np.full((size, operands.shape[1]), NOTHING, np.int32)
    every[places] = operands[rows]
    return Entries(slots, steps, case, every)


def _results(plan: Plan, columns: Any) -> tuple[Array, Array]:
    """The number of the step that gives each slot, and these slots, in order."""
    calls = [k for k, op in enumerate(columns.op) if op is CALL]
    if not calls:
        return np.arange(len(columns.op)), np.array(columns.output)
    given = [results_of(plan.placed[k]) for k in calls]
    made, several = list(columns.output), np.ones(len(columns.op), np.intp)
    for k, slots in zip(calls, given, strict=True):
        made[k], several[k] = slots[0], len(slots)
    rows = np.repeat(np.arange(len(several)), several)
    found = np.array(made)[rows]
    found[np.isin(rows, calls)] = list(chain.from_iterable(given))
    return rows, found


def _kinds(plan: Plan, columns: Any, rows: Array, given: list[int]) -> tuple[Array, list[int]]:
    """Of what kind the result of each row is, and what is given."""
    known: dict[Any, int] = {}
    number = known.setdefault
    leaves = len(plan.leaf_types)
    numbers = leaves + len(plan.number_types)
    counts = list(map(len, columns.inputs))
    met: dict[tuple[int, ...], int] = {}  # by identities: layers share most attributes
    made: list[int] = []
    own = [map(id, column) for column in (columns.op, columns.attributes, columns.type)]
    for k, same in enumerate(zip(*own, counts, strict=True)):
        case = met.get(same)
        if case is None:
            op, x = columns.op[k], columns.attributes[k]
            exact = None if x is None else x if op is CALL else _exact(op.key, x)
            case = met[same] = number((op, exact, columns.type[k], counts[k]), len(known))
        made.append(case)
    for k, count in enumerate(counts):
        if count > INPUTS:  # like no other
            made[k] = number(columns.output[k], len(known))
    there = []
    for slot in given:
        key: Any = slot
        if slot < numbers:
            key = (slot < leaves, plan.types[slot])
        elif (constant := plan.constants[slot]).ndim == 0:
            key = (constant.dtype, constant.tobytes(), plan.types[slot])
        there.append(number(key, len(known)))
    which = np.arange(len(rows)) - np.searchsorted(rows, rows)  # of the results of a step
    return np.array(made)[rows] + which * len(known), there


def _exact(key: Any, attributes: Any) -> Any:
    """Something equal for equal attributes alone: 0.0 isn't -0.0, and 1 isn't True."""
    if key is not None:
        attributes = key(attributes)
    try:
        return attributes, marshal.dumps(attributes, 2)
    except ValueError:  # of a class of ours
        return attributes, repr(attributes)


def _rebuilt(plan: Plan, entries: Entries, places: Array, expected: Array) -> Plan | None:
    """The plan of the entries that are left, each with the operands that are expected of it."""
    slots = entries.slots[places]
    there = set(slots.tolist())
    numbers = entries.steps[places]
    read = entries.operands[places]
    changed = ((slots[expected] != entries.slots[read]) & (read != NOTHING)).any(axis=1)
    made = numbers != NOTHING
    begins = made & (numbers != np.roll(numbers, 1))
    steps = [plan.placed[k] for k in numbers[begins].tolist()]
    if not all([there.issuperset(step.inputs) for step in steps if len(step.inputs) > INPUTS]):
        return None
    which = (np.cumsum(begins) - 1)[changed]
    for k, inputs in zip(which.tolist(), slots[expected[changed]].tolist(), strict=True):
        steps[k] = steps[k]._replace(inputs=tuple(inputs[: len(steps[k].inputs)]))
    gone = set(entries.slots.tolist()) - there
    outputs = [one for one in plan.outputs if one[2] not in gone]
    return plan._replace(placed=steps, in_order=False, outputs=outputs)
