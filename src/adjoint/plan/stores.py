"""Store-to-load forwarding: what is read of an array that was filled part by part is what was written there.

A loop that fills an array (`y[t] = f(y[t - 1])`) records a new version of it for each step, and its reverse pass a version of its
cotangent; each would be a copy of the whole. Here writes to single places along the same axes, one after the other, are a chain.
What is read at one place is the part that was written there last, plus what was added since, or a part of what the chain began
with; and the array itself, where it is read as a whole, is those parts joined. The same numbers are added in the same order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from adjoint._tuples import NamedTuple
from adjoint.derive import PULLBACK, expand
from adjoint.graph import PRIMITIVES, Node, mode, moved, topological
from adjoint.primitives.core import ops, zeros
from adjoint.primitives.structural import EMBED, INDEX, PUT, PUT_ONTO, SLICE, UPDATE, Slices, sliced_shape
from adjoint.shapes import Shape, size_of

__all__ = ["forwarded"]

FEWEST = 8  # writes: fewer are left as they are
WHOLE = 4  # versions of a chain that are joined, at most
ADD = PRIMITIVES["add"]

Place = tuple[int, ...]


class Region(NamedTuple):
    """Where a part goes: at a place along some axes, and at slices along the others."""

    axes: tuple[int, ...]
    place: Place
    rest: Slices


class Store(NamedTuple):
    """A write: the number of the version that it makes, the part, and whether that is added to what was there."""

    version: int
    part: Node
    adds: bool


class Chain:
    """Versions of an array that differ from one to the next in a part of the same form, the first one from `base`."""

    def __init__(self, base: Node, axes: tuple[int, ...], rest: Slices) -> None:
        self.base = base
        self.axes = axes
        self.rest = rest
        self.count = 0
        self.joined = 0  # of its versions
        self.stores: dict[Place, list[Store]] = {}
        self.additions: list[int] = []  # the versions that came by adding

    def write(self, place: Place, part: Node, adds: bool) -> int:
        """The number of the version that a write makes."""
        self.count += 1
        self.stores.setdefault(place, []).append(Store(self.count, part, adds))
        if adds:
            self.additions.append(self.count)
        return self.count

    @property
    def whole(self) -> bool:
        """Whether parts are all that there is along the other axes."""
        shape = [n for axis, n in enumerate(self.base.shape) if axis not in self.axes]
        return all([slices == (0, n, 1) for slices, n in zip(self.rest, shape, strict=True)])

    def slices(self, place: Place) -> Slices:
        """The slices of a part."""
        at, others = iter(place), iter(self.rest)
        return tuple([(next(at), 1, 1) if k in self.axes else next(others) for k in range(self.base.ndim)])


def forwarded(roots: Sequence[Node]) -> tuple[list[Node] | None, int]:
    """Nodes with the values of the roots, in which no version of an array is made to be read at single places; None where few
    are. And how many nodes were below the roots."""
    writes, count = _counted(roots)
    if writes < FEWEST:
        return None, count
    order = topological(roots, lambda x: x.value is None)
    if any([node.op is PULLBACK for node in order]):  # what they stand for is derived from the graph as it was recorded
        roots = expand(roots)
        order = topological(roots, lambda x: x.value is None)
    with mode(grad=False):
        return _Forwarding().run(order, roots), count


def _counted(roots: Sequence[Node]) -> tuple[int, int]:
    """How many nodes below the roots write a part of an array, and how many there are. They are met in no particular order, which
    takes half as long as inputs first."""
    found = 0
    below = list(dict.fromkeys(roots))
    seen = set(below)
    for node in below:  # which grows on the way
        if node.value is None:
            if node.op is UPDATE:
                found += 1
            for x in node.inputs:
                if x not in seen:
                    seen.add(x)
                    below.append(x)
    return found, len(below)


class _Forwarding:
    def __init__(self) -> None:
        self.new: dict[Node, Node] = {}
        self.versions: dict[Node, tuple[Chain, int]] = {}
        self.joint: dict[Node, Node] = {}  # versions as they are read as a whole

    def run(self, order: Sequence[Node], roots: Sequence[Node]) -> list[Node]:
        new, versions = self.new, self.versions
        for node in order:
            if node.value is None and (node.op is UPDATE or any([x in new or x in versions for x in node.inputs])):
                with mode(site=node.site, offset=node.offset):
                    made = self.made(node)
                if made is not node:
                    new[node] = made
        return [self.whole(self.new.get(x, x)) for x in roots]

    def made(self, node: Node) -> Node:
        """What becomes of a node whose inputs are made."""
        op = node.op
        inputs = tuple([self.new.get(x, x) for x in node.inputs])
        if (op is SLICE or op is INDEX) and inputs[0] in self.versions:
            slices = node.attributes if op is SLICE else node.attributes[0]
            part = self.part(inputs[0], slices)
            if part is not None:
                return part if op is SLICE else ops.reshape(part, node.shape)
        store = self.store(node, inputs)
        inputs = tuple([x if store is not None and x is store[0] else self.whole(x) for x in inputs])
        new = {x: y for x, y in zip(node.inputs, inputs, strict=True) if x is not y}
        made = moved(node, new, new) if new else node
        if store is not None:
            self.note(made, *store)
        return made

    def store(self, node: Node, inputs: tuple[Node, ...]) -> tuple[Node, Region, Node, bool] | None:
        """What a node that makes a version writes: what to, where, the part, and whether it is added."""
        found: tuple[Node, Slices, Node, bool] | None = None
        if node.op is UPDATE:
            found = inputs[0], node.attributes, inputs[1], False
        elif node.op is PUT_ONTO and inputs[0] in self.versions:
            found = inputs[0], node.attributes[1], inputs[1], True
        elif node.op is ADD:
            for source, part in (inputs, inputs[::-1]):
                if (
                    source in self.versions
                    and part.op in (PUT, EMBED)
                    and part.value is None
                    and part.type is node.type
                ):
                    found = source, part.attributes[1], part.inputs[0], True
                    break
        region = None if found is None else _region(found[1], node.shape)
        if found is None or region is None:
            return None
        source, slices, part, adds = found
        chain, version = self.versions.get(source, (None, 0))
        if chain is None or chain.count != version or (chain.axes, chain.rest) != (region.axes, region.rest):
            source = self.whole(source)
        return source, region, ops.reshape(part, sliced_shape(slices)), adds

    def whole(self, x: Node) -> Node:
        """A version as its parts side by side; itself where it is better made, and all else."""
        if x not in self.versions:
            return x
        if x not in self.joint:
            chain, version = self.versions[x]
            chain.joined += 1
            found = self.joined(chain, version) if chain.joined <= WHOLE else None
            self.joint[x] = x if found is None else found
        return self.joint[x]

    def note(self, node: Node, source: Node, region: Region, part: Node, adds: bool) -> None:
        """Remember a version, and what it is made of."""
        chain, version = self.versions.get(source, (None, 0))
        if chain is None or chain.count != version or (chain.axes, chain.rest) != (region.axes, region.rest):
            chain = Chain(source, region.axes, region.rest)
        self.versions[node] = chain, chain.write(region.place, part, adds)

    def part(self, x: Node, slices: Slices) -> Node | None:
        """The part of a version at some slices; None where it isn't one of a single write, or of none."""
        chain, version = self.versions[x]
        place = tuple([slices[k][0] for k in chain.axes])
        if any([slices[k][1] != 1 for k in chain.axes]):
            return None
        rest = tuple([one for k, one in enumerate(slices) if k not in chain.axes])
        if rest == chain.rest:
            return self.value(chain, version, place)
        if not chain.whole:
            return None
        own = tuple([(0, 1, 1) if k in chain.axes else one for k, one in enumerate(slices)])
        return ops.slice_(self.value(chain, version, place), own)

    def value(self, chain: Chain, version: int, place: Place) -> Node:
        """What lies at a place in a version."""
        stores = [store for store in chain.stores.get(place, ()) if store.version <= version]
        last = next((k for k in reversed(range(len(stores))) if not stores[k].adds), None)
        if last is None:
            found, since = self.begun(chain, place), 0
        else:
            found, since = stores[last].part, stores[last].version
        added = stores if last is None else stores[last + 1 :]
        between = bisect_right(chain.additions, version) - bisect_right(chain.additions, since)
        if between > len(added):  # zeros were added here
            found = ops.add(found, zeros(found.type))
        for store in added:
            found = ops.add(found, store.part)
        return found

    def begun(self, chain: Chain, place: Place) -> Node:
        """What lies at a place in what a chain began with."""
        slices = chain.slices(place)
        found = self.part(chain.base, slices) if chain.base in self.versions else None
        made: Node = ops.slice_(chain.base, slices) if found is None else found
        return made

    def joined(self, chain: Chain, version: int) -> Node | None:
        """A version as its parts side by side; None where they lie otherwise, or are few."""
        places = sorted([place for place, stores in chain.stores.items() if stores[0].version <= version])
        k = len(chain.axes)
        if version < FEWEST or not chain.whole or (k > 1 and chain.axes != tuple(range(k))):
            return None
        base = chain.base
        if k == 1:
            (axis,) = chain.axes
            return ops.concat(self.pieces(chain, version, base, axis, [at for (at,) in places], places, None), axis)
        leading, shape = base.shape[:k], base.shape[k:]
        flat = ops.reshape(base, (size_of(leading), *shape))
        starts = [_number(place, leading) for place in places]
        rows = self.pieces(chain, version, flat, 0, starts, places, (1, *shape))
        return ops.reshape(ops.concat(rows, 0), base.shape)

    def pieces(
        self, chain: Chain, version: int, base: Node, axis: int, starts: Sequence[int], places: Sequence[Place],
        shape: Shape | None,
    ) -> list[Node]:  # fmt: skip
        """The parts along an axis, and what lies between them."""
        found: list[Node] = []
        at = 0
        added = bisect_right(chain.additions, version) > 0
        for start, place in zip([*starts, base.shape[axis]], [*places, None], strict=True):
            if start > at:
                slices = tuple([(at, start - at, 1) if i == axis else (0, n, 1) for i, n in enumerate(base.shape)])
                rest = ops.slice_(base, slices)
                found.append(ops.add(rest, zeros(rest.type)) if added else rest)
            if place is not None:
                part = self.value(chain, version, place)
                found.append(part if shape is None else ops.reshape(part, shape))
            at = start + 1
        return found


def _region(slices: Slices, shape: Shape) -> Region | None:
    """The region of slices; None where they don't select a single place along any axis."""
    axes = tuple([k for k, (_, size, _) in enumerate(slices) if size == 1 and shape[k] != 1])
    if not axes or any([type(slices[k][0]) is not int for k in axes]):
        return None
    place = tuple([slices[k][0] for k in axes])
    return Region(axes, place, tuple([one for k, one in enumerate(slices) if k not in axes]))


def _number(place: Place, shape: Shape) -> int:
    """The number of a place in an array of a shape, row by row."""
    found = 0
    for at, n in zip(place, shape, strict=True):
        found = found * n + at
    return found
