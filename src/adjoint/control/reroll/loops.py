"""The loops of a listed graph: what their steps read and what becomes of it, as far as the list alone says."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.control.rules import HAVING_RULES
from adjoint.graph import PRIMITIVES, Node
from adjoint.plan.listing import NOTHING, Listing
from adjoint.plan.matching import Loop
from adjoint.primitives.contraction import MATMUL
from adjoint.primitives.core import FULL, VERSION
from adjoint.primitives.structural import EMBED, INDEX, PERMUTE, PUT, PUT_ONTO, SLICE

__all__ = ["INPUTS", "LEAST", "Loops", "Put", "Read", "Rolled", "Unfit", "slices_of"]

Array = np.ndarray[Any, Any]

INPUTS = 8  # of a node in a loop, at most
LEAST = 12  # times
FARTHEST = 64  # steps back that a carry is read
SMALL = 64  # elements of what costs less to compute again than to stack and read
WORTH_A_STEP = 64  # elements that aren't carried on, for each node of a step more that is written out
MOVING = frozenset({INDEX, SLICE})  # parts at places that may advance
PUTTING = frozenset({PUT, EMBED})
ADD = PRIMITIVES["add"]
NEVER = frozenset({*HAVING_RULES, VERSION})  # in a loop


class Unfit(Exception):
    """A loop isn't one that a scan can say."""


def slices_of(op: Any, attributes: Any) -> Any:
    """The slices in the attributes of what takes or puts parts; None for all else."""
    if op is SLICE:
        return attributes
    if op is INDEX:
        return attributes[0]
    return attributes[1] if op in PUTTING or op is PUT_ONTO else None


Read = tuple[int, int]  # what an entry reads: its place in the first step, and the stride


class Moving(NamedTuple):
    """Places that advance: along this axis, by so many elements a step, from `first` on; the slices of the first step."""

    axis: int
    first: int
    stride: int
    slices: Any


class Put(NamedTuple):
    """A term of a sum in which each step adds a part at another place: what is added, and where; of several slices along the axis
    that moves, which one it is."""

    value: Read
    shape: tuple[int, ...]
    moving: Moving
    number: int

    @property
    def first(self) -> int:
        """Where it goes in the first step."""
        _, _, step = self.moving.slices[self.moving.axis]
        found: int = self.moving.first + self.number * step
        return found


class Factor(NamedTuple):
    """A factor of the products that are summed up, and whether it is the transpose of what is stacked."""

    value: Read
    turned: bool


class Products(NamedTuple):
    """A sum of products over the steps, and whether it is the transposes of the products that are summed up."""

    left: Factor
    right: Factor
    turned: bool


class Rolled:
    """A loop on its way to a scan. Entries are numbered from its start on.

    carried   how many steps back each entry is read at most
    slices    what the entries read of outside, by (first place, stride), with the type
    remade    what the entries read of outside and is computed again in the step, by what it is made of
    moving    the entries that take a part of an array outside, at places that advance
    numbers   the entries that are numbers which differ
    sums      the entry of a sum of parts at other places each step, and its terms in order; dropped ones are what lies between
    products  the entries of sums of products
    stacked   the entries that are read from outside, of more than the last step; `last`, of the last step alone
    """

    __slots__ = (
        "backward", "carried", "dropped", "finals", "last", "loop", "moving", "numbers", "products", "remade", "slices",
        "stacked", "stacks", "sums",
    )  # fmt: skip

    def __init__(self, loop: Loop) -> None:
        self.loop, self.backward = loop, False
        self.carried: dict[int, int] = {}
        self.slices: dict[Read, Any] = {}
        self.remade: dict[Read, Read] = {}
        self.moving: dict[int, Moving] = {}
        self.numbers: list[int] = []
        self.sums: dict[int, list[Put]] = {}
        self.dropped: set[int] = set()
        self.products: dict[int, Products] = {}
        self.stacked: set[int] = set()
        self.last: set[int] = set()
        self.stacks: dict[int, Node] = {}  # made: by entry, a row for each step in the order of the scan
        self.finals: dict[int, Node] = {}


class Loops:
    """A list of nodes with loops in it."""

    def __init__(self, listing: Listing) -> None:
        self.order = listing.order
        self.case = listing.case
        self.operands = listing.operands

    def looked_at(self, loop: Loop, rotates: bool = True) -> Rolled:
        """What a loop reads. Steps that read what the first one alone computed begin after that one."""
        by = self.rotation(Rolled(loop)) if rotates else 0
        if by:
            loop = Loop(loop.start + by, loop.period, loop.times - 1)
        first = loop.times
        while loop.times >= max(LEAST, first - FARTHEST):
            found = self.attempted(loop)
            if found is not None:
                return found
            loop = Loop(loop.start + loop.period, loop.period, loop.times - 1)
        raise Unfit

    def rotation(self, found: Rolled) -> int:
        """The entry that a step best begins with, so that the fewest elements are carried on: a list cuts the steps anywhere."""
        start, period, times = found.loop
        reads: list[tuple[int, int, int]] = []  # reader, what it reads, how many steps back
        for e in range(period):
            for k, b in enumerate(self.operands[start + e].tolist()):
                if b == NOTHING:
                    break
                stride = self.read(found, e, k)[1]
                if stride == period and b + stride * (times - 1) >= start:
                    own = (b - start) % period
                    reads.append((e, own, (start + own - b) // period))
        sums = {e for e, own, back in reads if e == own and back == 1 and self.order[start + e].op is ADD}
        reads = [read for read in reads if read[1] not in sums or read[0] != read[1]]
        readers, sources, steps = np.array(reads, np.int64).reshape(-1, 3).T
        types = [self.order[start + e].type for e in range(period)]
        sizes = np.array([np.inf if t.__class__ is tuple else t.size + 1 for t in types])
        costs = []
        for by in range(period):
            farthest = np.zeros(period, np.int64)
            np.maximum.at(farthest, sources, steps + (sources < by) - (readers < by))
            costs.append(float(sizes[farthest > 0] @ farthest[farthest > 0]))
        best = int(np.argmin(costs))
        return best if (costs[0] - costs[best]) * times > WORTH_A_STEP * period else 0

    def attempted(self, loop: Loop) -> Rolled | None:
        """What a loop reads; None if a step more must come before it."""
        start, period, times = loop
        first = self.operands[start : start + period].tolist()
        second = self.operands[start + period : start + 2 * period].tolist()
        found = Rolled(loop)
        for e in range(period):
            node = self.order[start + e]
            if node.op in NEVER:
                raise Unfit
            for b, later in zip(first[e], second[e], strict=True):
                if b == NOTHING:
                    break
                stride = later - b
                if (b, stride) in found.slices or (b, stride) in found.remade:
                    continue
                end = b + (times - 1) * stride
                if stride == 0:
                    if b >= start:
                        return None
                elif max(b, end) < start:
                    self.look_outside(found, (b, stride))
                elif stride == period:
                    own = (b - start) % period
                    steps = (start + own - b) // period
                    if steps:
                        type = self.order[start + own].type
                        if steps > FARTHEST or type.__class__ is tuple:
                            raise Unfit
                        if any([self.order[start + own - k * period].type is not type for k in range(1, steps + 1)]):
                            return None
                        found.carried[own] = max(found.carried.get(own, 0), steps)
                else:
                    raise Unfit
        self.look_at_attributes(found)
        return found

    def look_outside(self, found: Rolled, read: Read) -> None:
        """Note what lies outside, a row for each step. What is cheap is computed again from what it is made of."""
        if read in found.slices or read in found.remade:
            return
        b, stride = read
        places = b + stride * np.arange(found.loop.times)
        node = self.order[b]
        if node.inputs and node.value is None and len(node.inputs) <= 1 and (node.op.cheap or _is_light(node)):
            (row,) = self.operands[places, : len(node.inputs)].T
            own = int(row[1] - row[0])
            if own and (np.diff(row) == own).all() and (self.case[places] == self.case[b]).all():
                found.remade[read] = int(row[0]), own
                self.look_outside(found, found.remade[read])
                return
        type = node.type
        if type.__class__ is tuple or any([self.order[p].type is not type for p in places.tolist()]):
            raise Unfit
        found.slices[read] = type

    def look_at_attributes(self, found: Rolled) -> None:
        """What differs from step to step besides what is read."""
        start, period, times = found.loop
        putting: dict[int, Moving] = {}
        for e in range(period):
            node = self.order[start + e]
            if node.op is FULL:
                values = {repr(self.order[start + e + t * period].attributes) for t in range(times)}
                if len(values) > 1:
                    found.numbers.append(e)
                continue
            if slices_of(node.op, node.attributes) is None:
                continue
            moving = self.moving_of(found, e)
            if moving is None:
                continue
            if node.op in MOVING:
                b, stride = self.read(found, e, 0)
                if stride or b >= start:
                    raise Unfit
                found.moving[e] = moving
            else:
                putting[e] = moving
        if putting:
            self.sum_up(found, putting)

    def moving_of(self, found: Rolled, e: int) -> Moving | None:
        """How the places of an entry advance; None if they stay."""
        start, period, times = found.loop
        nodes = [self.order[start + e + t * period] for t in range(times)]
        all_slices = [slices_of(x.op, x.attributes) for x in nodes]
        slices = all_slices[0]
        starts = np.array([[first for first, _, _ in x] for x in all_slices])
        moves = np.flatnonzero((starts != starts[0]).any(axis=0))
        if not len(moves):
            return None
        axis = int(moves[0])
        stride = int(starts[1, axis] - starts[0, axis])
        if len(moves) > 1 or not stride or (np.diff(starts[:, axis]) != stride).any():
            raise Unfit
        size = slices[axis][1]
        if size > 1 and (abs(stride) > FARTHEST or size > FARTHEST):
            raise Unfit
        return Moving(axis, int(starts[0, axis]), stride, slices)

    def read(self, found: Rolled, e: int, k: int) -> tuple[int, int]:
        """Where an entry's input lies in the first step, and its stride."""
        a = int(self.operands[found.loop.start + e, k])
        return a, int(self.operands[found.loop.start + found.loop.period + e, k]) - a

    def readers(self, found: Rolled, e: int) -> list[tuple[int, int]]:
        """The entries that read one of this loop, in any step, and how many steps back."""
        start, period, _ = found.loop
        block = self.operands[start + period : start + 2 * period]  # nothing lies before a first step there
        result = []
        for reader, k in np.argwhere((block - (start + e)) % period == 0).tolist():
            b, stride = self.read(found, reader, k)
            own = b != NOTHING and stride == period and b + stride * (found.loop.times - 1) >= start
            if own and (b - start - e) % period == 0:
                result.append((reader, (start + e - b) // period))
        return result

    def sum_up(self, found: Rolled, putting: dict[int, Moving]) -> None:
        """Recognise sums in which each step adds parts at other places: nothing else may read what is put, nor the sums on
        the way."""
        start, period, _ = found.loop
        links: dict[
            int, tuple[int, int, int]
        ] = {}  # by the entry of a sum: where it goes on, the steps back, and what is put
        for e in putting:
            node = self.order[start + e]
            if node.op is PUT_ONTO:
                term, into, other = e, e, 0
            else:
                readers = self.readers(found, e)
                if len(readers) != 1 or readers[0][1] or self.order[start + readers[0][0]].op is not ADD:
                    raise Unfit
                term, into = e, readers[0][0]
                other = 0 if self.read(found, into, 1)[0] == start + e else 1
                found.dropped.add(e)
            b, stride = self.read(found, into, other)
            if into in links or stride != period:
                raise Unfit
            source = (b - start) % period
            links[into] = source, (start + source - b) // period, term
        for top in [e for e in links if found.carried.get(e)]:
            chain: list[int] = []
            at, steps = top, 0
            while not steps:
                readers = self.readers(found, at)
                if at not in links or len(readers) != 1 or (chain and readers != [(chain[-1], 0)]):
                    raise Unfit
                chain.append(at)
                at, steps, _ = links[at]
            if at != top or steps != 1:
                raise Unfit
            terms = []
            for e in chain[::-1]:
                term = links[e][2]
                node = self.order[start + term]
                value = self.read(found, term, 1 if node.op is PUT_ONTO else 0)
                if not value[1]:
                    raise Unfit
                terms.append(Put(value, node.shape, putting[term], 0))
            found.sums[top] = _in_order(terms)
            found.dropped.update(chain)
            del found.carried[top]
            for e in chain:
                del links[e]
        if links:
            raise Unfit

    def find_products(self, x: Rolled) -> None:
        """The carries that are sums of products of matrices."""
        start, period, _ = x.loop
        for e in [e for e, steps in x.carried.items() if steps == 1 and e in x.last]:
            node = self.order[start + e]
            if node.op is not ADD or node.ndim != 2 or not node.dtype.inexact or self.readers(x, e) != [(e, 1)]:
                continue
            terms = [b - start for b, _ in (self.read(x, e, 0), self.read(x, e, 1)) if b != start + e - period]
            if len(terms) != 1 or not 0 <= terms[0] < period:
                continue
            (m,) = terms
            above = e
            turned = self.order[start + m].op is PERMUTE
            if turned:
                if self.readers(x, m) != [(e, 0)] or m in x.stacked | x.last:
                    continue
                above, (b, stride) = m, self.read(x, m, 0)
                if b < start or stride != period:
                    continue
                m = b - start
            product = self.order[start + m]
            if product.op is not MATMUL or self.readers(x, m) != [(above, 0)] or m in x.stacked | x.last:
                continue
            factors = [self.factor(x, m, k) for k in (0, 1)]
            if all(
                [stride == period or (b, stride) in x.slices or (b, stride) in x.remade for (b, stride), _ in factors]
            ):
                x.products[e] = Products(factors[0], factors[1], turned)
                del x.carried[e]

    def factor(self, x: Rolled, m: int, k: int) -> Factor:
        """A factor of a product: what it is the transpose of, if it is."""
        start, period, _ = x.loop
        b, stride = self.read(x, m, k)
        if start <= b < start + period and stride == period and self.order[b].op is PERMUTE:
            return Factor(self.read(x, b - start, 0), turned=True)
        return Factor((b, stride), turned=False)


def _is_light(node: Node) -> bool:
    """Whether to compute a small array again costs less than to stack and read it."""
    return node.op.light and node.type.__class__ is not tuple and node.type.size <= SMALL


def _in_order(terms: list[Put]) -> list[Put]:
    """The terms of a sum one after the other, so that each element gets its parts in the order of the steps. Of several slices,
    each is a term of its own. Raises Unfit where the order can't be kept."""
    apart = [term._replace(number=k) for term in terms for k in range(term.moving.slices[term.moving.axis][1])]
    if len({(term.moving.axis, term.moving.stride) for term in apart}) > 1:
        raise Unfit
    return sorted(apart, key=lambda term: -term.first / term.moving.stride)
