"""Where the results of a written call lie, what holds them, and what gets new values (see `write_step`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, compress, repeat, starmap
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import execution
from adjoint._references import COUNTED_IN_LIST, reference_counts
from adjoint.graph import Node, Variable
from adjoint.primitives.core import LEAF
from adjoint.primitives.indexing import SCATTER_ADD
from adjoint.runtime.memory import LEASED_FROM, new_array
from adjoint.shapes import size_of
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.capture import GRAD, NODE
from adjoint.tracer.python_source import Writer

if TYPE_CHECKING:
    from adjoint.tracer.compiled import Compiled

MOST_HELD = 1 << 22  # bytes of its last results that a function may hold, so as not to make arrays for them anew
# Nodes of results that are made without their constructor, which takes Python half as long to run and three times as long to
# compile.
WRITTEN_OUT = 8
# The references of a node that its tensor and a local name hold, and of an array that the node and a name hold, asked in a list.
SOLE = COUNTED_IN_LIST + 2
# Names that a function reads and rebinds, of which more are gone through in lists: lines for each of them take Python 0.1 ms to
# compile, and as long to run.
MANY = 96


def are_many(compiled: Compiled) -> bool:
    """Whether a function's names are gone through in lists."""
    return len(compiled.names) + len(compiled.rebound) > MANY


class Results:
    """Writes all that will hold the results of a call. `arrays` are the names of the arrays that the program takes, by its
    leaves; `objects` those of what it reads and writes, by their numbers; `foreign` those of arrays of the caller's."""

    def __init__(
        self, w: Writer, compiled: Compiled, station: Any, arrays: Mapping[int, str], objects: dict[int, str],
        foreign: Sequence[str],
    ) -> None:  # fmt: skip
        self.w, self.compiled, self.station = w, compiled, station
        self.arrays, self.objects, self.foreign = arrays, objects, foreign
        self.many = are_many(compiled)
        self.sizes = [size_of(x.shape) * x.dtype.dtype.itemsize for x in compiled.types]
        names = {id(tensor): k for k, (tensor, _, _, _) in enumerate(compiled.names)}
        # results that may take the memory of a name's old value: the number of that name
        self.shared = {
            r: names[id(tensor)] for tensor, _, _, r in compiled.rebound if station.shares[r] and id(tensor) in names
        }

    def write(self) -> list[str]:
        """Find memory for the results, which become objects of the program, run what comes before the last host step, and make
        all that will hold the results; the lines that give names, gradients and numbers their new values, none of which is a
        call."""
        self._find_memory()
        if self.station.hosts:
            for r, k in self.shared.items():
                self._becomes(r, f"w{k}")
            self.w.add(*self.station.named(self.objects))
            self.objects.clear()
            self._run_hosts()
        self._hold()
        return [*self._stores(), *self._numbers()]

    def give_up(self) -> list[str]:
        """Lines that take the general way after native code has failed, before anything else has happened."""
        return ["    forget()", *["    " + line for line in undrawn(self.w, self.compiled)], "    return UNUSUAL"]

    def _memory(self, r: int) -> str:
        type_ = self.compiled.types[r]
        made = f"{self.w.name(type_.shape)}, {self.w.name(type_.dtype.dtype)}"
        return f"empty({made})" if self.sizes[r] < LEASED_FROM else f"new_array({made}, {self.sizes[r]})"

    def _new(self, some: Sequence[int]) -> None:
        """Make memory for results."""
        w, types, sizes = self.w, self.compiled.types, self.sizes
        small = [r for r in some if sizes[r] < LEASED_FROM]
        for maker, made in (("empty", small), ("new_array", [r for r in some if sizes[r] >= LEASED_FROM])):
            if not self.many:
                w.add(*[f"r{r} = {self._memory(r)}" for r in made])
            elif made:
                columns = [types[r].shape for r in made], [types[r].dtype.dtype for r in made], [sizes[r] for r in made]
                given = ", ".join(map(w.name, columns[: 2 if made is small else 3]))
                w.unpack([f"r{r}" for r in made], f"map({maker}, {given})")

    def _becomes(self, r: int, array: str) -> None:
        number = self.station.result(r)
        if number is not None:
            self.objects[number] = array

    def _find_memory(self) -> None:
        """Memory for results that take no old value's. A large result that was the last call's, and that nobody else holds any
        more, is written over."""
        w, room, new = self.w, MOST_HELD, list[int]()
        rebound = {r for _, _, _, r in self.compiled.rebound}
        for r, nbytes in enumerate(self.sizes):
            if r in self.shared or self.station.fresh[r] is None:
                continue
            if r not in rebound and LEASED_FROM <= nbytes <= room:
                room -= nbytes
                held = w.name([None])
                w.add(f"c, = map(getrefcount, {held})", f"r{r} = {held}[0]")
                w.add(f"if c != {COUNTED_IN_LIST}: r{r} = {held}[0] = {self._memory(r)}")
            else:
                new.append(r)
            self._becomes(r, f"r{r}")
        self._new(new)

    def _run_hosts(self) -> None:
        """Run what comes before the last host step, and take the results that host steps make, apart from arrays of the caller's.
        Which old values may be written over is seen afterwards, for host code may get hold of them; nothing is written there
        before."""
        w, hosts = self.w, self.station.hosts
        results = {place: r for r, place in enumerate(self.station.fresh)}
        given = [*[self.arrays[k] for k in hosts.leaves], *[f"r{results[k]}" for k in hosts.fresh]]
        w.objects.update(begin=hosts.run, apart=execution.apart)
        w.add(f"h = begin(({''.join([f'{name}, ' for name in given])}))", "if h is None:", *self.give_up())
        for r, place in enumerate(hosts.made):
            if place is not None:
                foreign = ", ".join(self.foreign)
                w.add(f"r{r} = apart(h[{place}], ({foreign},))" if foreign else f"r{r} = h[{place}]")

    def _hold(self) -> None:
        """Nodes and tensors around the results; and which old values are written over."""
        w, holders = self.w, list[tuple[str, int]]()
        for k, (_, _, place) in enumerate(self.compiled.gradients):
            if isinstance(place, int):
                holders.append((f"g{k}", place))
            elif place is not None:  # known by its rows: nobody makes it whole unasked
                inputs = f"({self._node(place.rows)}, {self._node(place.indices)})"
                made = f"{inputs}, {w.name(place.type.shape)}, {w.name(place.type)}, None, 0, False"
                w.add(f"g{k} = new(Tensor)", f"g{k}.node = Node({w.name(SCATTER_ADD)}, {made})")
        holders += [(f"t{k}", x) for k, (kind, x) in enumerate(self.compiled.outputs) if kind == "value"]
        self._tensors([(holder, place) for holder, place in holders if place not in self.shared])
        old = [*self.shared.values()]
        owned = self.station.owned(len(old), 0 if self.many else SOLE - 1) if old else None
        values, nodes = ["".join([f"{letter}{k}, " for k in old]) for letter in "wn"]
        held = values if self.many else values + nodes
        if old:
            # nobody else holds the node or its value: that it becomes another one can't be seen
            w.add("sole = False" if owned is None else f"sole = {w.name(owned)}(({held}))")
        if self.many:
            self._share_many(owned is not None)
        elif old:
            w.add(f"counts = None if sole else [*map(getrefcount, ({held}))]")
        for i, (r, k) in enumerate(self.shared.items()):
            if not self.many:
                counted = f"counts[{i}] == counts[{i + len(old)}] == {SOLE}"
                w.add(f"sole{r} = sole or {counted} and (sole is None or is_ours(w{k}))")
                w.add(f"r{r} = w{k} if sole{r} else {self._memory(r)}")
            self._becomes(r, f"r{r}")
        self._tensors([(holder, place) for holder, place in holders if place in self.shared])

    def _share_many(self, looked: bool) -> None:
        """The same in lists; `sole` says whether all arrays are ours, where it was `looked` at. No loop stands in the written
        function: Python 3.13 takes its jump back, where handlers run, to be outside of a `try` around it."""
        w, types, sizes = self.w, self.compiled.types, self.sizes
        w.add(f"sole = soles(nodes, values, {'sole' if looked else False})")
        made = [
            (k, np.empty, (types[r].shape, types[r].dtype.dtype))
            if sizes[r] < LEASED_FROM
            else (k, new_array, (types[r].shape, types[r].dtype.dtype, sizes[r]))
            for r, k in self.shared.items()
        ]
        old = f"[*map(values.__getitem__, {w.name([*self.shared.values()])})]"
        w.unpack([f"r{r}" for r in self.shared], f"{old} if sole is None else memory_of({w.name(made)}, values, sole)")

    def _tensors(self, holders: Sequence[tuple[str, int]]) -> None:
        """Tensors around results."""
        w = self.w
        if self.many and holders:
            types = w.name([self.compiled.types[r] for _, r in holders])
            given = ["LEAF", "()", "None", None, "None", "0", "False"]
            columns = ", ".join([types if x is None else f"repeat({x})" for x in given])
            arrays = "".join([f"r{r}, " for _, r in holders])
            w.unpack([holder for holder, _ in holders], f"map(wrap, map(Node, {columns}, ({arrays})))")
            return
        written_out = len(holders) <= WRITTEN_OUT
        for holder, r in holders:
            self._tensor(holder, r, written_out)

    def _tensor(self, holder: str, r: int, written_out: bool) -> None:
        """A tensor around a result."""
        self.w.add(f"{holder} = new(Tensor)")
        if not written_out:
            self.w.add(f"{holder}.node = {self._node(r)}")
            return
        type_ = self.w.name(self.compiled.types[r])
        self.w.add(
            f"{holder}.node = n = new(Node)", "n.op = LEAF", "n.inputs = ()", "n.attributes = n.site = None",
            f"n.type = {type_}", "n.offset = n.number = 0", "n.tracked = False", f"n.value = r{r}",
        )  # fmt: skip

    def _node(self, r: int, variable: Variable | None = None) -> str:
        """An expression that makes the node of a result."""
        type_ = self.w.name(self.compiled.types[r])
        if variable is None:
            return f"Node(LEAF, (), None, {type_}, None, 0, False, r{r})"
        return f"Node(LEAF, (), {self.w.name(variable)}, {type_}, None, 0, {variable.tracked}, r{r})"

    def _stores(self) -> list[str]:
        """Lines that give gradients and names their new values."""
        w, compiled = self.w, self.compiled
        if self.many:
            return self._store_many()
        stores = [
            f"{w.name(owner)}.grad = {'None' if place is None else f'g{k}'}"
            for k, (owner, _, place) in enumerate(compiled.gradients)
        ]
        for tensor, _, variable, r in compiled.rebound:
            node = self._node(r, variable)
            if r in self.shared:
                w.add(f"m{r} = None if sole{r} else {node}")
                stores.append(f"if not sole{r}: {w.name(tensor)}.node = m{r}")
            else:
                w.add(f"m{r} = {node}")
                stores.append(f"{w.name(tensor)}.node = m{r}")
        return stores

    def _store_many(self) -> list[str]:
        """The same in lists. To take an iterator apart is no call of the bytecode."""
        w, compiled = self.w, self.compiled
        rebound = [
            (at, self.shared.get(r, -1), tensor, variable, compiled.types[r], variable is not None and variable.tracked)
            for at, (tensor, _, variable, r) in enumerate(compiled.rebound)
        ]
        new = w.name([x for x in rebound if x[1] < 0])
        arrays = "".join([f"r{r}, " for _, _, _, r in compiled.rebound])
        w.add(f"named = renamed({new} if sole is None else {w.name(rebound)}, ({arrays}), sole)")
        owners = [owner for owner, _, _ in compiled.gradients]
        new = "".join(["None, " if place is None else f"g{k}, " for k, (_, _, place) in enumerate(compiled.gradients)])
        w.add(f"stored = chain(starmap(set_node, named), map(set_grad, {w.name(owners)}, ({new})))")
        return ["*_, = stored"]

    def _numbers(self) -> list[str]:
        """Lines that give numbers their new values."""
        w = self.w
        entries = [(cell, k) for cell, k in self.compiled.written if isinstance(cell.owner, dict)]
        stores = [
            f"{w.name(cell.owner)}.{cell.name} = numbers[{k}]"
            for cell, k in self.compiled.written
            if not isinstance(cell.owner, dict)
        ]
        if entries:
            # the dictionary's own, also where a subclass has another; taking a `map` apart is no call of the bytecode
            owners, keys = tuple([cell.owner for cell, _ in entries]), tuple([cell.name for cell, _ in entries])
            new = "".join([f"numbers[{k}], " for _, k in entries])
            w.add(f"changes = map(put, {w.name(owners)}, {w.name(keys)}, ({new}))")
            stores.append(f"{'_, ' * len(entries)}= changes")
        return stores


def undrawn(w: Writer, compiled: Compiled) -> list[str]:
    """Lines that give back a call's share of what is drawn where it doesn't happen and nobody has drawn since."""
    found = []
    for cell, k, at in compiled.drawn:
        name = f"{w.name(cell.owner)}.{cell.name}"
        found.append(f"if {name} is numbers[{k}]: {name} = c{at}")
    return found


# What a written function calls that goes through names in lists -------------------------------------------------------


def soles(nodes: list[Node], values: list[Any], ours: bool) -> list[bool] | None:
    """Of each name whether nobody else holds its node or its value, and behind them no; None where that holds of all names.
    `ours`: whether all arrays are."""
    of_nodes, of_values = reference_counts(nodes), reference_counts(values)
    if ours and of_nodes.count(SOLE - 1) == of_values.count(SOLE) == len(nodes):  # nodes have no local name
        return None
    found = zip(of_nodes, of_values, values, strict=True)
    return [*[a == SOLE - 1 and b == SOLE and (ours or execution.is_ours(x)) for a, b, x in found], False]


def memory_of(made: Sequence[tuple[int, Any, Any]], values: list[Any], sole: list[bool]) -> list[Any]:
    """Memory for results: that of the old values of names with these numbers, or new one."""
    return [values[k] if sole[k] else make(*how) for k, make, how in made]


def renamed(rebound: Sequence[Any], arrays: Sequence[Any], sole: list[bool] | None) -> list[tuple[Tensor, Node]]:
    """The tensors that get other nodes, with these: all whose memory is new."""
    return [
        (tensor, Node(LEAF, (), variable, kind, None, 0, tracked, arrays[at]))
        for at, k, tensor, variable, kind, tracked in rebound
        if sole is None or not sole[k]
    ]


OF_MANY: dict[str, Any] = {
    "node_of": attrgetter("node"), "kind_of": attrgetter("type", "tracked"), "attributes_of": attrgetter("attributes"),
    "value_of": attrgetter("value"), "grad_of": attrgetter("grad"), "is_": is_, "compress": compress, "chain": chain,
    "repeat": repeat, "starmap": starmap, "wrap": wrap, "set_node": NODE.__set__, "set_grad": GRAD.__set__,
    "soles": soles, "memory_of": memory_of, "renamed": renamed,
}  # fmt: skip
