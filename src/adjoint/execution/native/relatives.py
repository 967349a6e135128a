"""Plans that differ in extents alone: the program of one of them tells what the others' would be.

The second plan of a structure goes through the compiler's stages with the numbers that differ from the first one's as sizes
(see `compiler.extents`). What becomes of them is a pattern: decisions, each with its condition, and numbers, each with a formula.
For a third plan the conditions are asked and the formulas computed, and no stage runs. Where a condition doesn't hold, the
plan goes through the stages itself, and is the next pattern.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from adjoint import _forks
from adjoint._tuples import NamedTuple
from adjoint.compiler.extents import Sheet, Unfollowed, Values, holds_sizes, plain
from adjoint.compiler.families import Followed, Kindred, Symbols, follows, structure_of
from adjoint.compiler.fuse.kinds import Host, View
from adjoint.compiler.linking import Kernel, Linker, Request, find_requested, finish, introduce, keys_of, settings
from adjoint.compiler.pipeline import lowered
from adjoint.compiler.tables import Start
from adjoint.dtypes import DType
from adjoint.execution.native.layers import compile_layers
from adjoint.execution.native.program import Native, Outline, compile_nests, machine_for
from adjoint.execution.native.remembered import Remembered
from adjoint.graph import ArrayType, Node, array_type
from adjoint.machine.machine import NumberMachine
from adjoint.machine.tape import Tape
from adjoint.plan.hashed import Hashed
from adjoint.plan.plan import Plan, Step

MOST_PATTERNS = 32  # of one structure: with more, most of its plans seem to be unlike
WORTH = 16  # steps: shorter plans are as quickly compiled as stamped
MOST_STEPS = 1 << 17  # of structures that are remembered, of about 300 bytes each
PATTERN_STEPS = 5  # of these that one of a pattern weighs
SHAPE, DTYPE_NAME = attrgetter("shape"), attrgetter("dtype.name")


class Description(NamedTuple):
    """What a plan is without the numbers that may follow from extents, and these."""

    structure: Any
    numbers: Values


def describe(plan: Plan) -> Description | None:
    """The description of a plan; None where it has something of which that can't be told."""
    numbers: list[int] = []
    types, steps = plan.types, plan.steps
    if not {ArrayType}.issuperset(map(type, types)) or any([array.ndim for array in plan.constants.values()]):
        return None
    shapes = list(map(SHAPE, types))
    ops, own, _, _, inputs, slots, _ = zip(*steps, strict=True)
    try:
        attributes = [None if x is None else taken(attributes_of(steps[k]), numbers) for k, x in enumerate(own)]
    except Unfollowed:
        return None
    structure = (
        len(plan.leaf_types),
        len(plan.number_types),
        plan.ordered,
        tuple(plan.outputs),
        tuple(map(DTYPE_NAME, types)),
        tuple(map(len, shapes)),
        tuple([(slot, array.dtype.str, array.tobytes()) for slot, array in plan.constants.items()]),
        ops,
        inputs,
        slots,
        tuple(attributes),
    )
    return Description(structure, (*chain.from_iterable(shapes), *numbers))


def attributes_of(x: Step | Node) -> Any:
    """The attributes that say what a step or node computes: of what a name was and whose it is, none."""
    return x.attributes if x.op.key is None else x.op.key(x.attributes)


def taken(x: Any, numbers: list[int]) -> Any:
    """Attributes without their whole numbers, which are added to `numbers`."""
    kind = type(x)
    if kind is int:
        numbers.append(x)
        return "#"
    if isinstance(x, tuple):
        if all([type(one) is int for one in x]):
            numbers += x
            return (kind, len(x))
        return (kind, *[taken(one, numbers) for one in x])
    if x is None or kind is bool or kind is str or kind is DType:
        return (kind, x)
    if kind is float:
        return (kind, x.hex())
    raise Unfollowed(f"attributes of type {kind.__name__}")


class Types:
    """Types with other extents, sizes among them, which are taken from what is left of some numbers. Those that are equal are
    one, as ever."""

    def __init__(self, sheet: Sheet, left: Iterator[Any]) -> None:
        self.known = sheet.types
        self.left = left
        self.seen: dict[int, ArrayType] = {}  # types without sizes

    def __call__(self, t: ArrayType) -> ArrayType:
        shape = tuple([next(self.left) for _ in t.shape])
        if holds_sizes(shape):
            return array_type(shape, t.dtype)
        found = self.seen.get(t.code)
        if found is None:
            known = self.known.setdefault((t.dtype, t.ndim), [])
            found = self.seen[t.code] = next((one for one in known if one.shape == shape), t)
            known.append(found)
        return found


def with_sizes(plan: Plan, sheet: Sheet, numbers: Sequence[Any]) -> Plan:
    """A plan with other numbers, sizes among them, in the order in which `describe` finds them."""
    left = iter(numbers)
    types_of = Types(sheet, left)
    types = [types_of(t) for t in plan.types]
    leaves = len(plan.leaf_types)
    numbered = leaves + len(plan.number_types)
    steps = []
    for step in plan.steps:
        attributes = None if step.attributes is None else put(attributes_of(step), left)
        result = types[step.output]
        kernel = step.op.kernel(attributes, result)
        steps.append(Step(step.op, attributes, kernel, step.op.masked or kernel, step.inputs, step.output, result))
    return plan.with_steps(steps, types=types, leaf_types=types[:leaves], number_types=types[leaves:numbered])


def put(x: Any, left: Iterator[int]) -> Any:
    if type(x) is int:
        return next(left)
    if not isinstance(x, tuple):
        return x
    inner = [put(one, left) for one in x]
    return tuple(inner) if type(x) is tuple else type(x)(*inner)


class Pattern:
    """The units of a plan whose extents are sizes, and the formula of the numbers that others of its kind have."""

    def __init__(self, plan: Plan, symbols: Symbols, sheet: Sheet) -> None:
        """Of a plan with sizes, those of the symbols."""
        fusion = lowered(plan, lambda name, state: None)
        if isinstance(fusion, str):
            raise Unfollowed(fusion)
        hosts = [unit.step for unit in fusion.units if isinstance(unit, Host)]
        if any([holds_sizes((step.type.shape, taken(attributes_of(step), []), step.attributes)) for step in hosts]):
            raise Unfollowed("NumPy runs a step that depends on an extent")
        self.fusion = fusion
        with sheet.hashing():
            self.outline = Outline(fusion)
            keyed = keys_of(fusion)
            self.units = list(keyed)
            if not all([follows(key) or not holds_sizes(key) for key, _ in keyed.values()]):
                raise Unfollowed("the code of a unit is written for each extent")
            parts = [structure_of(key) for key, _ in keyed.values()]
            if any([holds_sizes(structure) for structure, _ in parts]):
                raise Unfollowed("the structure of a unit depends on an extent")
            wanted = dict.fromkeys(parts)
            order = {part: k for k, part in enumerate(wanted)}
            self.kernels = [order[part] for part in parts]  # of each unit, which one
            keys: dict[int, Any] = {}  # the first of those that are equal, which `wanted` has: another may have sizes
            for part, (key, _) in zip(parts, keyed.values(), strict=True):
                keys.setdefault(order[part], key)
        self.asked = [
            (keys[k], structure if holds_sizes(numbers) else None) for k, (structure, numbers) in enumerate(wanted)
        ]
        self.starts = [starts for _, starts in keyed.values()]
        self.moving = [k for k, starts in enumerate(self.starts) if any([holds_sizes(start) for start in starts])]
        self.tell_apart()
        self.roots = list(fusion.shapes)
        read = (*fusion.results, *chain.from_iterable([step.inputs for step in hosts]))
        self.slots = list(dict.fromkeys([s for s in read if s not in fusion.objects]))
        results = (
            [numbers for _, numbers in wanted],
            [tuple([start.offset for start in self.starts[k]]) for k in self.moving],
            [fusion.shapes[root] for root in self.roots],
            [(view.offset, view.shape, view.strides) for view in [fusion.views[s] for s in self.slots]],
        )
        self.results = plain(results)
        self.last: Callable[[], Native | None] = lambda: None  # the latest program, if it is still in use
        self.followed = Followed(symbols.numbers, symbols.places, sheet.formula(results))

    def introduce(self, numbers: Values) -> None:
        """Tell the kernels' families of a plan with these numbers, which wasn't compiled."""
        results = self.followed.results(numbers)
        for (_, structure), own in zip(self.asked, () if results is None else results[0], strict=results is not None):
            if structure is not None:
                introduce(structure, own)

    def tell_apart(self) -> None:
        """Ask which places are one: of an array in which a place follows from extents, all."""
        roots = {start.root for k in self.moving for start in self.starts[k] if holds_sizes(start)}
        known: dict[int, list[Any]] = {root: [] for root in roots}
        for start in chain.from_iterable(self.starts):
            if start.root in roots and not any([start.offset == n for n in known[start.root]]):
                known[start.root].append(start.offset)

    def stamped(self, plan: Plan, results: Any) -> Native:
        """The program of a plan of this structure, with these numbers."""
        numbers, offsets, shapes, views = results
        own, before = self.fusion.plan, self.fusion.views
        fusion = self.fusion._replace(
            shapes=dict(zip(self.roots, shapes, strict=True)),
            views={slot: View(before[slot].root, *view) for slot, view in zip(self.slots, views, strict=True)},
            plan=own.with_steps((), leaf_types=plan.leaf_types, number_types=plan.number_types, sites=plan.sites,
                                names=plan.names),
        )  # fmt: skip
        starts = self.starts
        if self.moving:
            starts = starts.copy()
            for k, places in zip(self.moving, offsets, strict=True):
                starts[k] = [Start(start.root, n) for start, n in zip(starts[k], places, strict=True)]
        like = self.last()
        found = self.found(numbers, like)
        if like is not None:  # more of them keep coming
            finish([kernel.code for kernel in found])
        linked = {index: (found[k], own) for index, k, own in zip(self.units, self.kernels, starts, strict=True)}
        again = None
        if like is not None and all([a.places is b.places for a, b in zip(found, like.followed[1], strict=True)]):
            again = like.linked.again(linked, self.moving)
        if like is None or again is None:
            made = Native(fusion, linker=Linker(fusion.units, linked, timed=False), outline=self.outline)
        else:
            made = like.again(fusion, again)
        made.stamped, made.followed = True, (numbers, found)
        self.last = weakref.ref(made)
        return made

    def found(self, numbers: Sequence[Values], like: Native | None) -> list[Kernel]:
        """The kernels that serve these numbers."""
        before, kernels = like.followed if like is not None else ([None] * len(numbers), [None] * len(numbers))
        wanted = [k for k, one in enumerate(numbers) if one != before[k]]
        asked = find_requested([Request(*self.asked[k], numbers[k]) for k in wanted])
        new = dict(zip(wanted, asked, strict=True))
        return [new.get(k, kernel) for k, kernel in enumerate(kernels)]


class Relatives(Kindred[Pattern]):
    """The plans of one structure."""

    def __init__(self, numbers: Values, steps: int) -> None:
        super().__init__(numbers)
        self.steps = steps
        self.reason = ""  # why they can't be followed

    @property
    def weight(self) -> int:
        """What remembering them costs, in steps."""
        return self.steps * (1 + PATTERN_STEPS * len(self.known))

    def stamped(self, plan: Plan, numbers: Values) -> Native | None:
        """The program of one of them, if a pattern serves it."""
        found = self.serving(numbers)
        return None if found is None else found[0].stamped(plan, found[1])

    def followed(self, plan: Plan, numbers: Values) -> Native | None:
        """The program of one of them, from which a pattern is made."""
        self.met(numbers)
        if self.reason or not self.varying or len(self.known) >= MOST_PATTERNS:
            return None
        try:
            with Sheet() as sheet:
                symbols = Symbols(sheet, self.first, numbers, self.varying)
                pattern = Pattern(with_sizes(plan, sheet, symbols.given), symbols, sheet)
        except Exception as error:  # whatever it is, the plan is compiled by itself
            self.reason = f"{type(error).__name__}: {error}"
            return None
        self.known.insert(0, (pattern.followed, pattern))
        found = pattern.stamped(plan, pattern.results)
        found.patterned = True
        return found


_known: Remembered[Relatives] = Remembered(MOST_STEPS)
# The first plan of so many steps, outputs and so on: described once a second comes.
_first: Remembered[list[Plan]] = Remembered(MOST_STEPS)
_lock = _forks.rlock()


def compile_plan(plan: Plan, for_good: bool = False) -> Native | NumberMachine | Tape | None:
    """The plan's program; None where nothing of it can be compiled. One that is compiled `for_good` may take its time."""
    machine = machine_for(plan, for_good)
    if machine is not None or plan.repeats is not None:
        return machine
    if plan.length >= WORTH and "ADJOINT_SHOW" not in os.environ:
        with _lock:
            found = _followed(plan)
        if found is not None:
            if for_good:
                finish(found.linked.drafts)
            return found
    return compile_layers(plan) or compile_nests(plan, not for_good)


def _followed(plan: Plan) -> Native | None:
    """The program of a plan that follows from those of its structure that were met, if it does."""
    count = plan.length
    kind = (count, len(plan.types), len(plan.leaf_types), len(plan.outputs), settings())
    first = _first.get(kind)
    if first is None:
        if not any([array.ndim for array in plan.constants.values()]):
            _first.put(kind, [plan], count)
        return None
    for one in first:
        described = describe(one)
        if described is not None:
            key = Hashed((described.structure, kind))
            _known.put(key, Relatives(described.numbers, count), count)
    _first.put(kind, [], 1)
    described = describe(plan)
    if described is None:
        return None
    key, numbers = Hashed((described.structure, kind)), described.numbers
    relatives = _known.get(key)
    if relatives is None:
        relatives = Relatives(numbers, count)
        found = None
    else:
        found = relatives.stamped(plan, numbers)
        if found is not None:
            return found
        found = relatives.followed(plan, numbers)
    _known.put(key, relatives, relatives.weight)
    return found
