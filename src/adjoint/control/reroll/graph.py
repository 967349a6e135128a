"""The graph that a list of nodes with loops becomes: each loop a scan, or arrays of all its steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint.batch import Batch
from adjoint.control.reroll.loops import INPUTS, LEAST, Loops, Put, Rolled, Unfit
from adjoint.control.reroll.step import Step, everything
from adjoint.control.running import PATIENCE
from adjoint.control.scan import record_loop
from adjoint.control.template import Template, present
from adjoint.control.transposed import summed_product
from adjoint.execution.tiers import tiers
from adjoint.graph import Node, mode, moved
from adjoint.plan.listing import NOTHING, Listing
from adjoint.plan.matching import Loop
from adjoint.primitives.core import ops
from adjoint.primitives.structural import CONCAT

__all__ = ["Graph"]

Array = np.ndarray[Any, Any]

MOST = 0.75  # of the steps read one stack: the others are better written out
AT_ONCE = 1 << 22  # elements of all that is computed for all steps at once
ROUNDS = 8  # in which steps are left out
PIECES = 256  # of what isn't regular, in a slice


class Graph(Loops):
    """A list of nodes, its loops, and the graph that is made of them."""

    def __init__(self, listing: Listing, places: dict[Node, int]) -> None:
        super().__init__(listing)
        self.places = places
        self.rolled: list[Rolled] = []
        self.starts = self.stops = self.periods = np.empty(0, np.int64)
        self.made: dict[int, Node] = {}

    # Which loops are taken ----------------------------------------------------------------------------------------

    def take(self, loops: list[Loop], roots: Sequence[Node]) -> bool:
        """Settle which loops become scans. Those that don't fit stay written out; whether any are left."""
        rolled = []
        for loop in loops:
            try:
                rolled.append(self.looked_at(loop))
            except Unfit:
                continue
        rounds = 0
        while rolled:
            self.rolled = rolled
            self.starts = np.array([x.loop.start for x in rolled])
            self.stops = np.array([x.loop.stop for x in rolled])
            self.periods = np.array([x.loop.period for x in rolled])
            shorter = [self.shortened(x) for x in rolled] if rounds < ROUNDS else []
            if any([loop is not x.loop for loop, x in zip(shorter, rolled, strict=False)]):
                rolled = [
                    x if loop is x.loop else self.looked_at(loop, rotates=False)
                    for loop, x in zip(shorter, rolled, strict=True)
                ]
                rounds += 1
                continue
            unfit = self.settle(roots)
            if not unfit:
                return sum([x.loop.stop - x.loop.start for x in rolled]) * 2 > len(self.order)
            rolled = [self.looked_at(x.loop, rotates=False) for x in rolled if id(x) not in unfit]
        return False

    def shortened(self, x: Rolled) -> Loop:
        """The loop without its first and last steps where these read something else of outside than the rows of one stack."""
        start, period, times = x.loop
        first, stop = 0, times
        for b, stride in x.slices:
            at = 0
            for _, count, _ in self.runs(b + stride * np.arange(times)):
                if count >= MOST * times:
                    first, stop = max(first, at), min(stop, at + count)
                at += count
        if stop - first == times or stop - first < max(LEAST, MOST * times):
            return x.loop
        return Loop(start + first * period, period, stop - first)

    def settle(self, roots: Sequence[Node]) -> set[int]:
        """Note what is read of each loop from outside. The ids of those of which something is read that they don't have."""
        outside = [np.array([self.places[x] for x in roots], np.int64)]
        straight = np.ones(len(self.order), bool)
        for x in self.rolled:
            straight[x.loop.start : x.loop.stop] = False
        lone = np.flatnonzero(straight)
        outside.append(self.operands[lone].ravel())
        wide = [self.places[x] for p in lone.tolist() if len(self.order[p].inputs) > INPUTS and self.order[p].value is None
                for x in self.order[p].inputs]  # fmt: skip
        outside.append(np.array(wide, np.int64))
        for x in self.rolled:
            outside += [np.array(places, np.int64) for places in self.reads(x)]
        places = np.unique(np.concatenate(outside))
        unfit: set[int] = set()
        for x in self.rolled:
            start, period, times = x.loop
            for b, stride in x.slices:
                if len(self.runs(b + stride * np.arange(times))) > PIECES:
                    unfit.add(id(x))
            own = places[(places >= start) & (places < x.loop.stop)] - start
            x.stacked = set(np.unique(own[own < (times - 1) * period] % period).tolist())
            x.last = set((own[own >= (times - 1) * period] % period).tolist()) - x.stacked
            for e in x.stacked | x.last:
                if self.order[start + e].type.__class__ is tuple:
                    unfit.add(id(x))
            if x.stacked & (x.dropped | x.sums.keys()) or x.last & (x.dropped - x.sums.keys()):
                unfit.add(id(x))
            elif not tiers.deterministic:
                self.find_products(x)
        return unfit

    def reads(self, x: Rolled) -> Iterator[Sequence[int]]:
        """The places outside that a loop reads: of each constant, slice and first carry."""
        start, period, times = x.loop
        for e in range(period):
            for k, b in enumerate(self.operands[start + e].tolist()):
                if b == NOTHING:
                    break
                if self.read(x, e, k)[1] == 0:
                    yield (b,)
        for b, stride in x.slices:
            yield range(b, b + stride * times, stride)
        for e, steps in x.carried.items():
            yield range(start + e - steps * period, start + e, period)
        for e in x.sums:
            yield (start + e - period,)

    # What is made of them -----------------------------------------------------------------------------------------

    def rebuilt(self, roots: Sequence[Node]) -> list[Node]:
        """The roots in the graph in which loops are scans."""
        at = 0
        for x in self.rolled:
            self.straight(at, x.loop.start)
            self.scanned(x)
            at = x.loop.stop
        self.straight(at, len(self.order))
        return [self.value(self.places[root]) for root in roots]

    def straight(self, start: int, stop: int) -> None:
        """Nodes outside of loops."""
        for p in range(start, stop):
            node = self.order[p]
            if node.value is None and node.inputs:
                if node.op is CONCAT and len(node.inputs) > INPUTS:
                    self.made[p] = self.joined(node)
                    continue
                if len(node.inputs) > INPUTS:
                    inputs = [self.value(self.places[x]) for x in node.inputs]
                else:
                    inputs = [self.value(q) for q in self.operands[p, : len(node.inputs)].tolist()]
                new = {x: y for x, y in zip(node.inputs, inputs, strict=True) if x is not y}
                if new:
                    node = moved(node, new, new)
            self.made[p] = node

    def loop_at(self, place: int) -> Rolled | None:
        """The loop that a place is in."""
        k = int(np.searchsorted(self.starts, place, "right")) - 1
        return self.rolled[k] if k >= 0 and place < self.rolled[k].loop.stop else None

    def value(self, place: int) -> Node:
        """What a node became."""
        x = self.loop_at(place)
        if x is None:
            return self.made[place]
        start, period, times = x.loop
        t, e = divmod(place - start, period)
        if e in x.finals:
            return x.finals[e]
        row = times - 1 - t if x.backward else t
        stack = x.stacks[e]
        return ops.index(stack, ((row, 1, 1), *everything(stack.shape[1:])), stack.shape[1:])

    def runs(self, places: Array) -> list[tuple[int, int, int]]:
        """Places as runs (first place, places, steps of a loop between two): of one node each, or of the rows of one stack."""
        which = np.searchsorted(self.starts, places, "right") - 1
        inside = (which >= 0) & (places < self.stops[which])
        rows, entries = np.divmod(places - self.starts[which], self.periods[which])
        found: list[tuple[int, int, int]] = []
        k, count = 0, len(places)
        same = inside[1:] & inside[:-1] & (which[1:] == which[:-1]) & (entries[1:] == entries[:-1])
        steps = np.where(same, np.diff(rows), 0)
        edges = [*(np.flatnonzero(np.diff(steps)) + 1).tolist(), count - 1]
        for edge in edges:  # steps[k : edge] are equal
            if k >= count:
                break
            step = int(steps[k]) if k < count - 1 else 0
            if step and edge > k:
                found.append((int(places[k]), edge + 1 - k, step))
                k = edge + 1
            else:
                while k <= min(edge, count - 1) and (k == count - 1 or not steps[k]):
                    found.append((int(places[k]), 1, 0))
                    k += 1
        return found

    def rows(self, places: Array) -> list[Node]:
        """What nodes of one type became, as arrays of a row for each, in this order."""
        pieces = []
        for place, count, step in self.runs(places):
            x = self.loop_at(place)
            if x is None or count == 1:
                node = self.value(place)
                pieces.append(ops.reshape(node, (1, *node.shape)))
                continue
            t, e = divmod(place - x.loop.start, x.loop.period)
            stack = x.stacks[e]
            first, along = (x.loop.times - 1 - t, -step) if x.backward else (t, step)
            pieces.append(ops.slice_(stack, ((first, count, along), *everything(stack.shape[1:]))))
        return pieces

    def joined(self, node: Node) -> Node:
        """A concatenation, of stacks where its inputs are rows of them."""
        axis = node.attributes
        places = np.array([self.places[x] for x in node.inputs], np.int64)
        if any([x.type is not node.inputs[0].type for x in node.inputs]):
            return ops.concat([self.value(p) for p in places.tolist()], axis)
        parts = []
        for rows in self.rows(places):
            shape = rows.shape[1:]
            order = (*range(1, axis + 1), 0, *range(axis + 1, len(shape) + 1))
            parts.append(
                ops.reshape(
                    ops.permute_dims(rows, order), (*shape[:axis], rows.shape[0] * shape[axis], *shape[axis + 1 :])
                )
            )
        return ops.concat(parts, axis)

    def scanned(self, x: Rolled) -> None:
        """A loop as a scan, or as arrays of all its steps."""
        x.backward = self.goes_backward(x)
        node = self.order[x.loop.start + x.loop.period - 1]
        with mode(site=node.site, offset=node.offset):
            self.record(x, Step(self, x))

    def goes_backward(self, x: Rolled) -> bool:
        """Whether more of what a loop reads lies in the other order than its steps: reading stacks backwards costs a copy."""
        votes = sum([np.sign(moving.stride) for moving in x.moving.values()])
        for b, stride in x.slices:
            for place, count, step in self.runs(b + stride * np.arange(x.loop.times)):
                source = self.loop_at(place)
                if source is not None and 2 * count > x.loop.times:
                    votes += np.sign(step) * (-1 if source.backward else 1)
        return bool(votes < 0)

    def record(self, x: Rolled, step: Step) -> None:
        """The stacks and finals of a loop, by a step of it."""
        start, period, times = x.loop
        kept = sorted(x.stacked)
        sums = [term for terms in x.sums.values() for term in terms]
        factors = [factor for y in x.products.values() for factor in (y.left, y.right)]
        reads = list(dict.fromkeys([*[term.value for term in sums], *[factor.value for factor in factors]]))
        ys = [step.inside(start + e, period) for e in kept] + [step.inside(*read) for read in reads]
        carry_in, init, carry_out, wanted = step.carries()
        xs = dict(step.rows.values())
        if carry_in or not ys or tiers.deterministic or times * step.elements > AT_ONCE:
            template = Template.of(carry_in, list(xs), carry_out, ys, wanted)
            template.body.steps += PATIENCE  # a replay comes back: the body is compiled when it first runs
            made = record_loop(template, {}, init, list(xs.values()), times, x.backward)
        else:
            made = list(Batch(times, xs).expand(ys))
        finals, stacks = made[: len(carry_in)], made[len(carry_in) :]
        for k, (e, back) in enumerate(step.formal):
            if back == 1 and e in x.last:
                x.finals[e] = present(finals[k])
        x.stacks = {e: present(stack) for e, stack in zip(kept, stacks, strict=False)}
        rows = {read: present(stack) for read, stack in zip(reads, stacks[len(kept) :], strict=True)}
        for e, terms in x.sums.items():
            total = self.value(start + e - period)
            for term in terms:
                total = ops.add(total, _put_rows(term, rows[term.value], times, x.backward))
            x.finals[e] = total
        for e, (left, right, turned) in x.products.items():
            product = summed_product(rows[left.value], rows[right.value], left.turned, right.turned)
            product = ops.permute_dims(product, (1, 0)) if turned else product
            x.finals[e] = ops.add(self.value(start + e - period), product)


def _put_rows(term: Put, rows: Node, times: int, backward: bool) -> Node:
    """Zeros with each step's part where it goes."""
    axis, _, stride, slices = term.moving
    shape = [n for _, n, _ in slices]
    rows = ops.reshape(rows, (times, *shape))
    own = [(term.number, 1, 1) if i == axis else (0, n, 1) for i, n in enumerate(shape)]
    rows = ops.slice_(rows, ((0, times, 1), *own))
    del shape[axis]
    rows = ops.permute_dims(
        ops.reshape(rows, (times, *shape)), (*range(1, axis + 1), 0, *range(axis + 1, len(shape) + 1))
    )
    first, step = (term.first + (times - 1) * stride, -stride) if backward else (term.first, stride)
    made: Node = ops.embed(rows, term.shape, (*slices[:axis], (first, times, step), *slices[axis + 1 :]))
    return made
