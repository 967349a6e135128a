"""A finished trace: when it fits a call, how it runs, and what it leaves behind."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from itertools import chain, starmap
from typing import Any

from adjoint._tuples import NamedTuple

import numpy as np

from adjoint import execution, tracing, tree
from adjoint.composites.rows import Rows, rows_of
from adjoint.control.reroll import reroll
from adjoint.graph import Node, Variable, get_mode, substitute, topological
from adjoint.primitives.core import DETACH, FULL, LEAF, VERSION, WATCHED, full, leaf, version
from adjoint.tensors.conversion import array_node
from adjoint.tensors.located import at_user
from adjoint.tensors.named import owner_of, variable_of, wrap
from adjoint.tensors.pending import force, force_array
from adjoint.tensors.tensor import Tensor
from adjoint.tensors.waiting import Waiting
from adjoint.tracer.arguments import Call
from adjoint.tracer.capture import GRAD, NODE, Cell, Gradient, Trace
from adjoint.tracer.write_results import are_many
from adjoint.tracer.write_step import Step, write_step
from adjoint.unknown import Unknown

__all__ = ["Compiled", "RowPlaces"]

# A function that reads and rebinds more names than these is written out at a later call, for what comes in every shape is called
# a few times in each: where each name has lines of its own in proportion, where they are gone through in lists at the fourth one
# (12 µs for a name, of which each call saves one).
NAMES_A_CALL, CALLS_OF_MANY = 48, 4
MUTABLE = (np.ndarray, set, bytearray, deque, array)  # what a function makes of these, each call gives anew
CLASH = "an argument, or a gradient, is or shares memory with something else that the function changes"

_exhaust: Callable[[Iterable[Any]], Any] = partial(deque, maxlen=0)  # takes all that an iterator gives, in C


class RowPlaces(NamedTuple):
    """Where the rows of a gradient are among the results, and its indices; its type."""

    rows: int
    indices: int
    type: Any

    def whole(self, results: Sequence[Node]) -> Node:
        """The gradient, which gets its value when somebody asks for it."""
        return Rows(results[self.rows], results[self.indices]).whole(self.type)


class Compiled:
    """A finished trace: where the inputs of its graph come from, and where its results go."""

    def __init__(self, trace: Trace, result: Any, plan: bool = True) -> None:
        self.function = trace.function
        self.attributes = trace.attributes
        self.guards = trace.reach.guards
        self.ledger = trace.ledger
        self.cells = [(cell, cell.owner is trace.arguments) for cell in trace.cells.values()]
        self.roots: dict[Node, int] = {}
        self.wanted: list[Any] = []
        self._note_outputs(trace, result)
        self._note_changes(trace)
        self._note_conditions(trace)
        self._note_inputs(trace)
        trace.end()  # now, for planning takes memory
        self.replay: execution.Replay | None = None
        unknown = []
        if self.inlined:
            self.unknowns = [x for x in self._own_nodes() if x.op is FULL and type(x.attributes) is Unknown]
            unknown = [x.attributes for x in self.unknowns]
        elif self.roots and plan:
            self.replay = execution.Replay(list(self.roots), self.given, reroll)
            unknown = self.replay.unknowns
        self.types = [x.type for x in self.roots]
        self.graph = list(self.roots) if self.inlined or not plan else []
        self.known = len(self.wanted)
        self.numbers = trace.ledger.function([*self.wanted, *unknown])
        del self.roots, self.wanted
        self.step: tuple[Step, Any] | None = None  # see `stepping`
        self.asked = False  # whether it was written, if it can be
        self.calls = 0  # that asked for it

    # What is noted --------------------------------------------------------------------------------------------------

    def _root(self, node: Node) -> int:
        return self.roots.setdefault(node, len(self.roots))

    def _gradient_place(self, trace: Trace, g: Gradient) -> int | RowPlaces | None:
        """Where a gradient is among the results. Of one that is known by its rows these are, and it is made when asked for."""
        if g.current is None:
            return None
        node = trace.named_last(g.current)
        known = rows_of(node) if g.variable.sparse else None
        return (
            self._root(node)
            if known is None
            else RowPlaces(self._root(known.rows), self._root(known.indices), node.type)
        )

    def _want(self, number: Any) -> int:
        self.wanted.append(number)
        return len(self.wanted) - 1

    def _note_outputs(self, trace: Trace, result: Any) -> None:
        self.outputs: list[tuple[str, Any]] = []
        # a module that the function made, of gradients for instance, is made anew of its parameters in each call
        leaves, self.structure = tree.flatten(result, opaque=lambda x: not trace.owns(x))
        self.tracked = False
        for x in leaves:
            if not isinstance(x, Tensor):
                own = isinstance(x, MUTABLE) and id(x) not in trace.reach.seen
                kind = "number" if type(x) is Unknown else "copy" if own else "constant"
                self.outputs.append((kind, self._want(x) if type(x) is Unknown else copy(x) if own else x))
                continue
            name = None if x._base is not None else trace.name_of(x)
            if name is None or name.is_array:
                node = trace.named_last(x) if name is None else name.node
                self.tracked = self.tracked or node.tracked
                self.outputs.append(("value", self._root(node)))
            else:
                self.outputs.append(("constant", x) if name.position is None else ("argument", name.position))

    def _note_changes(self, trace: Trace) -> None:
        # (tensor or None, position or None, variable, place among the results)
        self.rebound: list[tuple[Tensor, int | None, Variable | None, int]] = []
        for name in trace.names.values():
            if name.rebound and not name.is_array:
                name.check(self.function)
                self.rebound.append((name.tensor, name.position, name.variable, self._root(name.node)))
        # (variable, position or None, place or None for no gradient), of the tensors that were there and of new ones
        self.changed: list[tuple[Variable, int | None, int]] = []
        self.gradients: list[tuple[Variable, int | None, int | RowPlaces | None]] = []
        for g in trace.gradients.values():
            if g.changed is not None:
                self.changed.append((g.variable, g.position, self._root(g.changed)))
            if g.replaced:
                self.gradients.append((g.variable, g.position, self._gradient_place(trace, g)))
        self.written: list[tuple[Cell, int]] = []
        self.drawn: list[tuple[Cell, int, int]] = []  # which the call has before it computes; also where each was read
        for position, cell in enumerate(trace.cells.values()):
            if cell.changed and isinstance(cell.owner, tracing.Drawn):
                self.drawn.append((cell, self._want(cell.current), position))
            elif cell.changed:
                self.written.append((cell, self._want(cell.current)))
        differentiates = bool(self.changed) or any(g.assigned for g in trace.gradients.values())
        changes_variables = differentiates or any(v is not None and v.tracked for _, _, v, _ in self.rebound)
        self.inlined = self.tracked and not changes_variables

    def _note_conditions(self, trace: Trace) -> None:
        outside = [name for name in trace.names.values() if name.position is None]
        self.names = [(n.tensor, n.type, n.tracked, n.variable) for n in outside]
        self.looked = [
            (g.variable, g.position, None if g.given is None else g.given.type)
            for g in trace.gradients.values()
            if g.looked
        ]
        # Where names change, two of them mustn't be the same: the function was traced with different ones.
        changing = bool(self.rebound or self.gradients or self.changed)
        self.captured = {id(n.tensor) for n in outside} if changing else set()
        self.variables = {id(n.variable) for n in outside if n.variable is not None} if changing else set()
        self.changing = changing

    def _note_inputs(self, trace: Trace) -> None:
        # (the stand-in, the tensor or the variable whose gradient it is, position or None)
        inputs: list[tuple[Node, Tensor | Variable, int | None]] = [
            (n.given, n.tensor, n.position) for n in trace.names.values()
        ]
        inputs += [(g.given, g.variable, g.position) for g in trace.gradients.values() if g.given is not None]
        self.given = [node for node, _, _ in inputs]
        self.sources = [(source, position) for _, source, position in inputs]

    def leaf_names(self, names: Mapping[str, Tensor], arguments: Mapping[int, str]) -> list[str | None]:
        """What the leaves are called: by the names of tensors around the function, gradients with `.grad`, and of arguments."""
        known: dict[int, str] = {}
        for name, x in names.items():
            known.setdefault(id(x), name)
            variable = None if isinstance(x, Waiting) else variable_of(x.node)
            if variable is not None:
                known.setdefault(id(variable), f"{name}.grad")
        return [
            known.get(id(source))
            if position is None
            else f"{arguments[position]}{'.grad' * isinstance(source, Variable)}"
            if position in arguments
            else None
            for source, position in self.sources
        ]

    def _own_nodes(self) -> list[Node]:
        given = set(self.given)
        return topological(self.roots, lambda node: node not in given)

    # Whether it fits ------------------------------------------------------------------------------------------------

    def is_stale(self) -> bool:
        """Whether what it was traced with is gone, so that it won't fit any call again."""
        return not (self.guards.may_return() and self.attributes.hold())

    def ready(self, call: Call) -> list[Any] | str:
        """The numbers of a call or, if the trace doesn't fit it, why: in words, or `CLASH`."""
        if not self.guards.hold():
            broken = self.guards.first_broken()
            return "what changes in another thread" if broken is None else broken.about
        if not self.attributes.are_same():
            return self.attributes.first_changed() or "what changes in another thread"
        for tensor, type_, tracked, variable in self.names:
            node = tensor.node
            if node.type is not type_ or node.tracked is not tracked:
                return f"the type of {_named(tensor)}: {node.type!r}, it was {type_!r}, or whether it has a gradient"
            if variable is not None and node.attributes is not variable:
                return f"which variable {_named(tensor)} is"
        leaves = call.leaves
        for owner, position, expected in self.looked:
            variable = owner if position is None else leaves[position].node.attributes
            found = variable.grad
            if found is not None and found._base is not None:
                return CLASH
            if (found is None) is not (expected is None) or (found is not None and found.node.type is not expected):
                return f"whether {variable.name or 'a variable'} has a gradient"
        if self.changing and call.tensors and not self._distinct(call):
            return CLASH
        values = []
        for cell, is_argument in self.cells:
            try:
                value = leaves[cell.name] if is_argument else cell.read()
            except (AttributeError, LookupError):
                return f"{cell} is gone"
            if type(value) is not cell.kind:
                return f"the type of {cell}"
            values.append(value)
        numbers: list[Any] | None = None
        with suppress(ArithmeticError, TypeError):  # raised again, at the user's line, when the function is traced anew
            numbers = self.numbers(values)
        if numbers is None:
            return f"what Python has read of {self.ledger.broken(values, [str(cell) for cell, _ in self.cells])}"
        for cell, k, position in self.drawn:
            owner, before = cell.owner, values[position]
            share = (owner, cell.name, before, numbers[k])
            call.taken.append(share)
            # No call stands between looking and storing: neither another thread nor a signal's handler comes there.
            if owner.__dict__[cell.name] is not before:
                call.taken.remove(share)
                call.give_back()
                return self.ready(call)
            owner.__dict__[cell.name] = share[3]
        return numbers

    def _distinct(self, call: Call) -> bool:
        tensors = [call.leaves[k] for k in call.tensors.values()]
        if not self.captured.isdisjoint(call.tensors):
            return False
        below = {id(owner_of(x)) for x in tensors if x._base is not None}
        if below:
            rebound = [x if position is None else call.leaves[position] for x, position, _, _ in self.rebound]
            if not below.isdisjoint([id(owner_of(x)) for x in rebound]):
                return False
        variables = [id(x.node.attributes) for x in tensors if x.node.tracked and x.node.op in (LEAF, VERSION)]
        return len(set(variables)) == len(variables) and self.variables.isdisjoint(variables)

    # Running --------------------------------------------------------------------------------------------------------

    def written_for(self, call: Call) -> Step | None:
        """The function written out for calls like this one."""
        self.calls += 1
        names = len(self.names) + len(self.rebound)
        if self.calls < (CALLS_OF_MANY if are_many(self) else names / NAMES_A_CALL):
            return None
        if not self.asked or (self.step is not None and self.step[1].is_outdated):
            self.step = write_step(self, call.leaves, call.first, call.structure, get_mode().grad)
            self.asked = True
        return None if self.step is None else self.step[0]

    def held(self, leaves: list[Any]) -> list[Any]:
        """What the graph starts from: nodes of tensors, and arrays that are arguments."""
        held: list[Any] = []
        for source, position in self.sources:
            if type(source) is Variable:
                tensor = (source if position is None else leaves[position].node.attributes).grad
            else:
                tensor = source if position is None else leaves[position]
            held.append(tensor.node if isinstance(tensor, Tensor) else tensor)
        return held

    def results(self, leaves: list[Any], numbers: list[Any]) -> list[Node]:
        """The nodes that the graph ends at: with values, or where they can be differentiated, as graph."""
        held = self.held(leaves)
        if self.inlined:
            return self._inlined(held, numbers)
        if self.replay is None:
            return []
        arrays = self.arrays(held)
        values = self.replay.run(arrays, numbers[self.known :])
        foreign = [x for x in held if type(x) is not Node]
        if foreign:  # the caller's memory
            values = execution.own(values, foreign)
        return [Node(LEAF, (), None, t, None, 0, False, x) for x, t in zip(values, self.types, strict=True)]

    def arrays(self, held: list[Any]) -> list[Any]:
        """The values of what is held. Pending constants that the call replaces, as the moments of an optimizer in its first step,
        get none: one array stands for all that are equal, and is gone after the call."""
        pending = [k for k, x in enumerate(held) if type(x) is Node and type(x.value) is not np.ndarray]
        shared: dict[int, Any] = {}
        if pending:
            replaced = {id(tensor) for tensor, position, _, _ in self.rebound if position is None}
            made: dict[Any, Any] = {}
            for k in pending:
                node, (source, position) = held[k], self.sources[k]
                value = node.attributes
                if node.op is FULL and position is None and id(source) in replaced and type(value) is not Unknown:
                    key = (node.type, type(value), value or repr(value))  # -0 isn't 0
                    shared[k] = made[key] if key in made else made.setdefault(key, FULL.kernel(value, node.type)())
            force([held[k] for k in pending if k not in shared])
        return [shared[k] if k in shared else x.value if type(x) is Node else x for k, x in enumerate(held)]

    def _inlined(self, held: list[Any], numbers: list[Any]) -> list[Node]:
        # what the last call made of a running statistic, if nobody has asked for it: it mustn't pile up from call to call
        late = [tensor.node for tensor, position, _, _ in self.rebound if position is None]
        force([node for node in late if node.value is None and not node.tracked])
        nodes = [x if type(x) is Node else array_node(x, None, None) for x in held]
        replaced = dict(zip(self.given, nodes, strict=True))
        for x, value in zip(self.unknowns, numbers[self.known :], strict=True):
            replaced[x] = full(value, x.type)
        return substitute(self.graph, replaced)

    def checked(self, call: Call, numbers: list[Any], f: Callable[[], Any]) -> Any:
        """Compute without consequences, let f do what it does, and compare."""
        call.give_back()
        leaves = call.leaves
        nodes = self.results(leaves, numbers)
        with tracing.paused():
            expected = [wrap(x).numpy() for x in nodes]
        quiet = [(t, t.node) for t, _, _, _ in self.names if not any(t is r[0] for r in self.rebound)]
        out = f()
        found: list[tuple[str, Any, Any]] = []
        known = {id(x) for kind, x in self.outputs if kind == "constant"}
        flat, structure = tree.flatten(out, opaque=lambda x: id(x) in known)
        if structure != self.structure:
            self._differs("the structure of the result", structure, self.structure)
        for k, (x, (kind, place)) in enumerate(zip(flat, self.outputs, strict=True)):
            if kind == "value":
                found.append((f"result {k}", x, expected[place]))
            elif kind == "number":
                found.append((f"result {k}", x, numbers[place]))
        for tensor, position, _, place in self.rebound:
            held = tensor if position is None else leaves[position]
            found.append((f"the tensor {tensor.name or tensor.shape}", held, expected[place]))
        for owner, position, place in [*self.changed, *self.gradients]:
            variable = owner if position is None else leaves[position].node.attributes
            if (variable.grad is None) is not (place is None):
                self._differs(f"whether {variable.name or 'a variable'} has a gradient", variable.grad, place)
            if place is not None:
                other = wrap(place.whole(nodes)) if isinstance(place, RowPlaces) else expected[place]
                found.append((f"the gradient of {variable.name or 'a variable'}", variable.grad, other))
        for cell, k in [*self.written, *[(cell, k) for cell, k, _ in self.drawn]]:
            found.append((f"{type(cell.owner).__name__}[{cell.name!r}]", cell.read(), numbers[k]))
        for tensor, node in quiet:
            if tensor.node is not node:
                self._differs("a tensor that it only read when it was traced", tensor, wrap(node))
        for what, x, y in found:
            if not _agree(x, y):
                self._differs(what, x, y)
        return out

    def _differs(self, what: str, recorded: Any, replayed: Any) -> None:
        raise RuntimeError(
            f"{self.function}: {what} differs between the function and its compiled graph: {recorded} and {replayed}. It "
            f"depends on something that was computed in Python when the function was traced{at_user()}"
        )

    def commit(self, call: Call, results: list[Node], numbers: list[Any]) -> Any:
        """Give names, gradients and numbers their new values; the function's result.

        All of them or, where a signal's handler raises, none: handlers run between lines of Python, and what changes
        anything is one call of code in C. Old values are held until after it, for their finalizers are Python again, where
        what a handler raises is lost.
        """
        leaves = call.leaves
        nodes: list[tuple[Tensor, Node]] = []
        for tensor, position, variable, place in self.rebound:
            if position is not None:
                tensor = leaves[position]
                variable = tensor.node.attributes if variable is not None else None
            node = results[place]
            if variable is not None:
                node = version(node, variable) if node.value is None else leaf(node.value, node.type, variable)
            nodes.append((tensor, node))
        cut = [results[place] for _, _, _, place in self.rebound] if self.inlined else []
        watched = [x for x in cut if x.op is DETACH and x.inputs and x.inputs[0].tracked]  # as when it is recorded
        for owner, position, place in self.changed:
            nodes.append(((owner if position is None else leaves[position].node.attributes).grad, results[place]))
        gradients = [
            (
                owner if position is None else leaves[position].node.attributes,
                None if new is None else wrap(new.whole(results) if isinstance(new, RowPlaces) else results[new]),
            )
            for owner, position, new in self.gradients
        ]
        entries = [(c.owner, c.name, numbers[k]) for c, k in self.written if isinstance(c.owner, dict)]
        attributes = [(c.owner, c.name, numbers[k]) for c, k in self.written if not isinstance(c.owner, dict)]
        made: list[Any] = []
        for kind, x in self.outputs:
            if kind == "value":
                made.append(wrap(results[x]))
            elif kind == "argument":
                made.append(leaves[x])
            else:
                made.append(numbers[x] if kind == "number" else copy(x) if kind == "copy" else x)
        result = made[0] if self.structure.kind is None and made else self.structure.unflatten(made)
        WATCHED.extend(watched)
        _old = [NODE.__get__(tensor) for tensor, _ in nodes], [GRAD.__get__(variable) for variable, _ in gradients]
        _exhaust(
            chain(
                starmap(NODE.__set__, nodes),
                starmap(GRAD.__set__, gradients),
                starmap(dict.__setitem__, entries),
                starmap(setattr, attributes),
                starmap(list.clear, [(call.taken,)]),  # it has happened: nothing is given back
            )
        )
        return result


def _named(tensor: Tensor) -> str:
    return f"the tensor {tensor.name!r}" if tensor.name else f"a tensor of shape {tensor.shape}"


def _agree(x: Any, y: Any) -> bool:
    """Whether two values are the same up to rounding, which differs between one way of computing and another."""
    a, b = (force_array(v.node) if isinstance(v, Tensor) else np.asarray(v) for v in (x, y))
    if a.shape != b.shape or a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    with np.errstate(all="ignore"):
        size = np.max(np.abs(a), initial=0.0, where=np.isfinite(a))
        return bool(np.allclose(a, b, 0.0, float(np.finfo(a.dtype).eps) ** 0.6 * (1 + size), equal_nan=True))
