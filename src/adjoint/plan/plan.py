"""Plans: a numbered graph turned into one list of steps, once for each structure.

Building expands pending pullbacks into the graphs they stand for, merges common subexpressions, lets elementwise steps
broadcast by themselves, decides what to keep for a later reverse pass, and notes when each array is last read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from adjoint._tuples import Lasting, NamedTuple
from adjoint.derive import derive_pullback, reverse
from adjoint.graph import PRIMITIVES, ArrayType, Node, Primitive, StandIn, Variable, mode, topological
from adjoint.graph.node import Site
from adjoint.plan.canonical import Canonical, value_array
from adjoint.plan.donation import forgotten_leaves
from adjoint.plan.inlining import written_out
from adjoint.plan.masks import Masking, masking_of
from adjoint.plan.order import ordered
from adjoint.plan.text import plan_text, step_text
from adjoint.primitives.callees import CALL, Callee
from adjoint.primitives.contraction import MATMUL
from adjoint.primitives.convolution import CONVOLUTION, CONVOLUTION_INPUT_GRADIENT, CONVOLUTION_WEIGHT_GRADIENT
from adjoint.primitives.core import DETACH, FULL, PLACEHOLDER, SELECT, conform, placeholder, select
from adjoint.primitives.custom import CLOSED, CUSTOM, HOST_CALL, hooks_of
from adjoint.primitives.random import RANDOM_BITS
from adjoint.primitives.structural import APART, BROADCAST, PUT_ONTO, written_apart
from adjoint.shapes import following

ADD = PRIMITIVES["add"]
NEVER_MERGED = frozenset({HOST_CALL, RANDOM_BITS})
PRODUCTS = frozenset({MATMUL, CONVOLUTION, CONVOLUTION_INPUT_GRADIENT, CONVOLUTION_WEIGHT_GRADIENT})  # through BLAS


def is_algebra(op: Primitive) -> bool:
    """Whether an operation may be BLAS's or LAPACK's. To see how many threads these have takes as long as hundreds of small
    operations."""
    return not (op.elementwise or op.moves or op.combines)


class Step(NamedTuple):
    """One primitive applied to slots. `masked` is the kernel to use when a zero met an infinity."""

    op: Primitive
    attributes: Any
    kernel: Callable[..., Any]
    masked: Callable[..., Any]
    inputs: tuple[int, ...]
    output: int
    type: Any

    def __str__(self) -> str:
        return step_text(self)


def step_of(op: Primitive | StandIn, attributes: Any, inputs: tuple[int, ...], output: int, type: Any) -> Step:
    """A step of an operation, with its kernels."""
    kernel = op.kernel(attributes, type)
    return _new_tuple(Step, (op, attributes, kernel, op.masked or kernel, inputs, output, type))


class _Description(NamedTuple):
    leaf_types: Sequence[Any]
    number_types: Sequence[ArrayType]
    types: Sequence[Any]
    constants: Mapping[int, Any]
    placed: Sequence[Step]
    outputs: Sequence[tuple[int, int | None, int, bool]]
    has_products: bool = False
    has_algebra: bool = False
    forgotten: tuple[tuple[int, int], ...] = ()
    ordered: bool = True
    in_order: bool = False
    alone: bool = False
    sites: Mapping[int, tuple[Site, int]] = {}
    names: Mapping[int, str] = {}
    same: Mapping[int, int] = {}
    repeats: tuple[Sequence[Plan], int] | None = None


class Plan(Lasting, _Description):
    """Steps over numbered slots. The first slots are the leaves, then the free numbers; `constants` fill others, and `types` has
    the type of each. A plan never changes: a pass gives another one. What becomes of it is in an `Executable`.

    placed     the steps in any order in which they can run, calls among them; `in_order` where it is the one in which they do
    outputs    (canonical number, index, slot, kept): whose value to store, which of its values if it has several (else
               None), and whether it is for the reverse pass only
    forgotten  leaves that may be written over: see `donation`
    ordered    whether every sum keeps its order: see `together`
    alone      whether it is a short step of a loop, with which no other thread helps
    sites      where steps were recorded, by slot, and `names` of leaves: only for plans that somebody may want to read
    same       slots that stand for another since the plan was simplified
    repeats    of a short graph that stands for a long one: the plans of one and of two times more, and how many times more it
               stands for: see `repeated`
    """

    def __str__(self) -> str:
        return plan_text(self)

    def with_steps(self, steps: Sequence[Step], **changes: Any) -> Plan:
        """The plan of these steps one by one, in this order, with other changes."""
        found = self._replace(placed=steps, in_order=True, **changes)
        vars(found).update(steps=steps, length=len(steps))
        return found

    @cached_property
    def joined(self) -> Sequence[Step]:
        """The steps in their order, which is found when somebody asks, calls among them."""
        if self.in_order:
            return self.placed
        return ordered(self.placed, [slot for _, _, slot, _ in self.outputs], self.types, len(self.leaf_types))

    @cached_property
    def steps(self) -> Sequence[Step]:
        """The steps in their order one by one."""
        joined = self.joined
        if self.length == len(joined):
            return joined
        return [one for step in joined for one in (written_out(step) if step.op is CALL else (step,))]

    @cached_property
    def length(self) -> int:
        """How many steps there are, one by one."""
        slots: list[Any] = [step.output for step in self.placed if step.op is CALL]
        return len(self.placed) + sum([len(own) - 1 for own in slots])

    @cached_property
    def masking(self) -> Masking:
        """When its masked kernels run: what native code computes needs no answer."""
        return masking_of(self, self.placed)

    def sizes(self) -> list[int]:
        """The elements of each array that a step computes."""
        types = [x.type for x in self.placed if x.op is not CALL]
        calls = [x.attributes[0] for x in self.placed if x.op is CALL]
        types += chain.from_iterable([callee.every_type for callee in calls])
        return [t.size for t in types if t.__class__ is not tuple]


class Compared:
    """A table of merged steps whose attributes are compared one by one: numbers that follow from extents have no hash."""

    def __init__(self) -> None:
        self.known: dict[Any, list[tuple[Any, int]]] = {}

    def setdefault(self, key: Any, slot: int) -> int:
        """The slot that an equal key has, or else this one from now on."""
        op, attributes, *rest = key
        alike = self.known.setdefault((op, *rest), [])
        for one, found in alike:
            if one == attributes:
                return found
        alike.append((attributes, slot))
        return slot


class Builder:
    """Turns nodes into steps. `slot_of` holds the slots of nodes with a value or already placed."""

    def __init__(self, types: list[Any], slot_of: dict[Node, int], replaced: dict[Node, Node]) -> None:
        self.types = types
        self.steps: list[Step] = []
        self.constants: dict[int, Any] = {}
        self.slot_of = slot_of
        self.replaced = replaced
        self.scalars: set[int] = set()  # slots of constants: one number, whatever the shape
        self.numbers: dict[Any, Any] = {}  # their arrays
        self.merged: Any = Compared() if following[0] else {}
        self.called: dict[Node, list[int]] = {}  # the slots of what calls are given and of their steps
        self.parted = False  # whether a node is several steps

    def constant(self, array: Any, type: Any) -> int:
        slot = len(self.types)
        self.types.append(type)
        self.constants[slot] = array
        return slot

    def add(self, op: Primitive, attributes: Any, inputs: tuple[int, ...], type: Any) -> int:
        """The slot of a step: an equal earlier one, or a new one."""
        types = self.types
        slot = len(types)
        if op not in NEVER_MERGED:
            code = type.code if type.__class__ is ArrayType else tuple([t.code for t in type])
            key = (op, None if attributes is None or op.key is not None else attributes, inputs, code)
            found: int = self.merged.setdefault(key, slot)
            if found != slot:
                return found
        types.append(type)
        if op.key is not None:  # the rest isn't for evaluation: a plan lasts, and a rule holds what the user gave it
            attributes = op.key(attributes)
        kernel = op.kernel(attributes, type)
        self.steps.append(_new_tuple(Step, (op, attributes, kernel, op.masked or kernel, inputs, slot, type)))
        return slot

    def place(self, targets: list[Node]) -> None:
        """Add the steps that the targets need, inputs first."""
        slot_of, replaced, called, scalars = self.slot_of, self.replaced, self.called, self.scalars
        get, add = slot_of.get, self.add
        stack = targets[::-1]
        pop, push = stack.pop, stack.append
        while stack:
            node = pop()
            if node in slot_of:
                continue
            while True:  # down to a node whose inputs have slots
                op, type = node.op, node.type
                inputs: Sequence[Node] = node.inputs
                if node.value is not None or (not inputs and op is not HOST_CALL):
                    slot_of[node] = self.given(node)
                    break
                selected = op is SELECT and node in replaced
                if selected:
                    inputs = (replaced[node],)
                elif op is SELECT:
                    if inputs[0] in called:
                        slot_of[node] = called[inputs[0]][inputs[0].attributes.outputs[node.attributes]]
                        break
                elif op.elementwise:
                    for x in inputs:
                        if x.op is BROADCAST:
                            inputs = self.broadcasting(inputs, type)
                            break
                elif op is PUT_ONTO:
                    inputs = (_bare(inputs[0]), inputs[1])  # NumPy broadcasts to the shape of what is put
                elif op.reads is not None:
                    inputs = inputs[: op.reads(type)]
                count = len(inputs)
                slots: tuple[Any, ...]
                if count == 2:  # one or two inputs are by far the most common
                    x, y = inputs
                    slots = i, j = get(x), get(y)
                    if i is None or j is None:
                        push(node)
                        if i is not None:
                            node = y
                            continue
                        if j is None:
                            push(y)
                        node = x
                        continue
                    wide = i not in scalars and j not in scalars
                elif count == 1:
                    (x,) = inputs
                    i = get(x)
                    if i is None:
                        push(node)
                        node = x
                        continue
                    slots = (i,)
                    wide = i not in scalars
                else:
                    slots = tuple([get(x) for x in inputs])
                    if None in slots:
                        push(node)
                        waiting = [x for x in inputs if x not in slot_of]
                        stack += waiting[:0:-1]
                        node = waiting[0]
                        continue
                    wide = scalars.isdisjoint(slots)
                if selected:
                    slot_of[node] = slots[0]
                elif op in APART:
                    slot_of[node] = self.apart(node, inputs, slots)
                elif op is CALL:
                    called[node] = self.call(node.attributes, slots)
                    slot_of[node] = called[node][-1]
                else:
                    if not wide:
                        slots = self.widened(op, inputs, slots, type)
                    slot_of[node] = add(op, node.attributes, slots, type)
                break

    def apart(self, node: Node, inputs: Sequence[Node], slots: tuple[int, ...]) -> int:
        """The slot of the last of the steps that a node stands for."""
        self.parted = True
        *onto, source = slots
        if source in self.scalars:
            source = self.whole(inputs[-1])
        for part in written_apart(node):
            source = self.add(part.op, part.attributes, (source,), part.type)
        return self.add(ADD, None, (*onto, source), node.type) if onto else source

    def call(self, callee: Callee, slots: tuple[int, ...]) -> list[int]:
        """The slots of what a call is given and of its steps. No others are equal to these."""
        types, alone = self.types, self.scalars.issuperset
        spread = {k: self.spread(slots[places[0]]) for k, places in callee.alone if alone([slots[x] for x in places])}
        first = len(types)
        types += callee.every_type
        made: Any = range(first, len(types))
        read = (*slots, *spread.values())
        self.steps.append(Step(CALL, (callee, tuple(spread)), callee, callee, read, made, callee.types))
        return [*slots, *made]

    def given(self, node: Node) -> int:
        """The slot of a node that has a value or is a constant."""
        if node.op is FULL:
            value, dtype = node.attributes, node.dtype
            array = self.numbers.get((value, dtype)) if value.__class__ is float else None
            if array is None:
                array = np.full((), value, dtype.dtype)
                if value.__class__ is float and value:  # -0 isn't 0
                    self.numbers[value, dtype] = array
            slot = self.constant(array, node.type)
            self.scalars.add(slot)
            return slot
        if node.value is None:
            raise RuntimeError(f"{node.op.name}: a value is needed that this graph does not have")
        return self.constant(value_array(node), node.type)

    def broadcasting(self, inputs: Sequence[Node], type: ArrayType) -> Sequence[Node]:
        """The inputs of an elementwise step without broadcasts that NumPy does by itself."""
        sources = []
        full_shape = False
        for x in inputs:
            x = _bare(x)
            full_shape = full_shape or x.type.shape == type.shape
            sources.append(x)
        if not full_shape:
            sources[0] = inputs[0]
        return sources

    def widened(
        self, op: Primitive, sources: Sequence[Node], slots: tuple[int, ...], type: ArrayType
    ) -> tuple[int, ...]:
        """The slots with constants at their full shape, where the step needs that: all of them, or for an elementwise
        step one, if no other input has its shape."""
        scalars = self.scalars
        if not op.elementwise:
            return tuple([self.whole(x) if i in scalars else i for x, i in zip(sources, slots, strict=True)])
        if type.shape == ():
            return slots
        for x, i in zip(sources, slots, strict=True):
            if i not in scalars and (x.type is type or x.type.shape == type.shape):
                return slots
        for k, x in enumerate(sources):
            if x.type.shape == type.shape:
                return (*slots[:k], self.whole(x), *slots[k + 1 :])
        raise AssertionError("an elementwise step without an input of its shape")

    def whole(self, x: Node) -> int:
        """The slot of a node at its full shape: constants are held as single numbers and broadcast here."""
        return self.spread(self.slot_of[x])

    def spread(self, slot: int) -> int:
        """The slot of a constant at its full shape; of anything else that itself."""
        type = self.types[slot]
        if slot in self.scalars and type.shape != ():
            return self.add(BROADCAST, type.shape, (slot,), type)
        return slot


def _bare(x: Node) -> Node:
    """A node without pending broadcasts."""
    while x.op is BROADCAST and x.value is None:
        x = x.inputs[0]
    return x


_new_tuple = tuple.__new__


def narrowed_attributes(
    steps: Sequence[tuple[Any, Primitive, Any, Sequence[Any]]], whole: Iterable[Any] = ()
) -> dict[Any, Any]:
    """Attributes for the steps (result, operation, attributes, inputs) of which only some outputs are read, by result. What is
    in `whole` is read as it is."""
    made = {result: (op.narrowed, attributes) for result, op, attributes, _ in steps if op.narrowed is not None}
    if not made:
        return {}
    used: dict[Any, set[int] | None] = {result: set() for result in made}
    used.update(dict.fromkeys([x for x in whole if x in made]))
    for _, op, index, inputs in steps:
        for x in inputs:
            if x in made:
                places = used[x]
                if op is not SELECT:
                    used[x] = None
                elif places is not None:
                    places.add(index)
    return {
        result: narrowed(attributes, frozenset(places))
        for result, (narrowed, attributes) in made.items()
        if (places := used[result]) is not None
    }


def _narrowed(steps: list[Step], outputs: Iterable[int]) -> list[Step]:
    """Steps of which those with several outputs compute what is read."""
    if all([step.op.narrowed is None for step in steps]):
        return steps
    given = [(step.output, step.op, step.attributes, step.inputs) for step in steps]
    found = narrowed_attributes(given, outputs)
    narrowed = []
    for step in steps:
        attributes = found.get(step.output)
        if attributes is not None:
            kernel = step.op.kernel(attributes, step.type)
            step = step._replace(attributes=attributes, kernel=kernel, masked=step.op.masked or kernel)
        narrowed.append(step)
    return narrowed


# What to compute: the number of a node in the canonical order, which of its values if it has several, the node that stands
# for it, and whether the value is for the reverse pass only.
Target = tuple[int, int | None, Node, bool]


def find_targets(c: Canonical, wanted: Sequence[int], keep: bool) -> tuple[list[Target], dict[Node, Node]]:
    """What to compute for the nodes numbered `wanted`, with `keep` also what a later reverse pass will read; and what the
    outputs of pending pullbacks are replaced by."""
    order = c.order
    replaced: dict[Node, Node] = {}
    derived = _expand_pullbacks(c, replaced) if c.pullbacks else {}
    kept = _residuals(c, [order[i] for i in wanted]) if keep else []
    targets: list[Target] = []
    for i in wanted:
        if order[i] in derived:
            targets += [(i, k, x, False) for k, x in enumerate(derived[order[i]])]
        elif order[i].op is CALL and order[i].value is None:
            targets += [(i, k, select(order[i], k), False) for k in range(len(order[i].type))]
        else:
            targets.append((i, None, replaced.get(order[i], order[i]), False))
    asked = set(wanted)
    targets += [(c.number[x], None, x, True) for x in kept if c.number[x] not in asked]
    return targets, replaced


def build(c: Canonical, wanted: Sequence[int], keep: bool, noted: bool = False, ordered: bool = True) -> Plan:
    """The plan that computes the nodes numbered `wanted`; with `keep`, also what a later reverse pass will read. If it is
    `noted`, it knows the user's lines and names; unless it is `ordered`, passes may put sums in another order."""
    plan, builder = built(c, wanted, keep, ordered)
    return with_sites(plan, builder) if noted else plan


def built(c: Canonical, wanted: Sequence[int], keep: bool, ordered: bool = True) -> tuple[Plan, Builder]:
    """The plan, and what knows the slot of each node in it."""
    leaf_types, number_types = [x.type for x in c.leaves], [x.type for _, x in c.numbers]
    leaves, types = len(leaf_types), [*leaf_types, *number_types]
    slot_of: dict[Node, int] = {x: i for i, x in enumerate(c.leaves)}
    for i, (_, x) in enumerate(c.numbers):
        slot_of[x] = leaves + i
    for x, i in c.alike:
        slot_of[x] = leaves + i
    targets, replaced = find_targets(c, wanted, keep)
    builder = Builder(types, slot_of, replaced)
    builder.scalars.update(range(leaves, len(types)))
    builder.place([x for _, _, x, _ in targets])
    outputs = [(i, k, builder.whole(x), is_kept) for i, k, x, is_kept in targets]
    steps = _narrowed(builder.steps, [slot for _, _, slot, _ in outputs])
    ops = {step.op for step in steps}
    products, algebra = not PRODUCTS.isdisjoint(ops), any(map(is_algebra, ops))
    return Plan(
        leaf_types, number_types, types, builder.constants, steps, outputs, products, algebra, forgotten_leaves(c), ordered
    ), builder  # fmt: skip


MOST_NOTED = 1 << 17  # steps of a plan that is remembered to be read


def with_sites(plan: Plan, builder: Builder) -> Plan:
    """A plan that knows where each of its steps was recorded, and what its leaves are called."""
    if plan.length > MOST_NOTED:
        return plan
    sites: dict[int, tuple[Site, int]] = {}
    names: dict[int, str] = {}
    producer = {step.output: step for step in plan.placed} if builder.parted else {}
    for node, found in builder.called.items():
        callee = node.attributes
        sites.update(zip(found[callee.given :], callee.sites, strict=True))
    for node, slot in builder.slot_of.items():
        if node.inputs:
            if slot not in sites:  # the first of those that were merged
                sites[slot] = (node.site, node.offset)
            if producer and node.op in APART and slot in producer:
                within = producer[slot].inputs[-1]
                sites.setdefault(within, (node.site, node.offset))
                if node.op is PUT_ONTO and within in producer:
                    sites.setdefault(producer[within].inputs[0], (node.site, node.offset))
        elif slot < len(plan.leaf_types):
            name = node.attributes.name if isinstance(node.attributes, Variable) else None
            if node.op is PLACEHOLDER and type(node.attributes) is str:
                kind, _, rest = node.attributes.partition(" ")
                name = rest if kind == "input" else f"argument{rest.split()[0]}" if kind == "argument" else None
            if name:
                names[slot] = name
    return plan._replace(sites=sites, names=names)


def _expand_pullbacks(c: Canonical, replaced: dict[Node, Node]) -> dict[Node, list[Node]]:
    derived: dict[Node, list[Node]] = {}
    for node in c.pullbacks:
        if node.value is None:
            derived[node] = [conform(g, t) for g, t in zip(derive_pullback(node), node.type, strict=True)]
    for node in c.order:
        if node.op is SELECT and node.inputs and node.inputs[0] in derived:
            replaced[node] = derived[node.inputs[0]][node.attributes]
    return derived


def is_differentiated(node: Node) -> bool:
    """Whether a reverse pass may follow the evaluation of a node: it is tracked, or a constant cut from what is."""
    return node.tracked or (node.op is DETACH and bool(node.inputs) and node.inputs[0].tracked)


def is_worth_keeping(c: Canonical) -> bool:
    """Whether the arrays are large enough for a graph that may never come back: finding out what its reverse pass will read
    takes longer than computing small arrays again."""
    sizes = [x.type.size for x in c.order if x.value is None and type(x.type) is not tuple]
    return bool(sum(sizes) >= 256 * len(sizes))


def _residuals(c: Canonical, roots: list[Node]) -> list[Node]:
    """What the reverse pass of the tracked roots will read of the nodes computed now, cheap ones recomputed instead."""
    computed = {x for x in c.order if x.value is None and x.inputs}
    sources = [x.inputs[0] if x.op is DETACH and x.inputs else x for x in roots]
    tracked = [x for x in sources if x.tracked and x in computed and type(x.type) is not tuple and x.type.inexact]
    boundary = [x for x in c.order if x.tracked and x not in computed and type(x.type) is not tuple]
    if any(x.op is CUSTOM or x.op is HOST_CALL or x.op is CLOSED for x in computed) or any(
        x.op is CUSTOM and hooks_of(x) is not None for x in boundary
    ):
        # a custom rule or a hook runs the user's code, so it isn't asked ahead of time what it will read; a closed one would
        # raise
        reads = {x for x in computed if x.tracked}
    else:
        with mode(grad=False):
            found = reverse(tracked, [placeholder(x.type, "cotangent", False) for x in tracked], boundary, stop=True)
        reads = set()
        for node in topological([g for g in found if g is not None], lambda node: node not in computed):
            if node not in computed:
                reads.update(x for x in node.inputs if x in computed)
    kept: list[Node] = []
    seen: set[Node] = set()
    stack = list(reads)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op.cheap:
            stack.extend(x for x in node.inputs if x in computed)
        elif type(node.type) is not tuple:
            kept.append(node)
    return sorted(kept, key=c.number.__getitem__)
