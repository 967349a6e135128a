"""What a traced function reads and rebinds: the names, not the values behind them.

A tensor is a name for a node and a variable's `.grad` is a name for a gradient. While a function is traced these names are
watched: reading one that was there before gives a node without a value, the same for all readings, and what the
function binds it to is noted and not done. So the graph that is recorded starts from names, whatever they hold now,
and ends at names. The watching is done by exchanging `Tensor.node` and `Variable.grad` for the time of the trace: code
that isn't traced pays nothing for it. The attributes of modules and optimizers are watched in the same way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from sys import getprofile, setprofile
from types import CodeType
from typing import Any

from adjoint import tracing
from adjoint.graph import Node, Variable
from adjoint.primitives.core import LEAF, VERSION, WATCHED, placeholder
from adjoint.tensors.located import at_user
from adjoint.tensors.named import Named, wrap
from adjoint.tensors.tensor import Number, Tensor
from adjoint.tracer.attributes import Attributes
from adjoint.tracer.guards import Guard, restore
from adjoint.tracer.mentions import lines_that_store
from adjoint.tracer.observing import Observer
from adjoint.tracer.reach import Reach
from adjoint.unknown import Ledger, Unknown

NODE: Any = Named.__dict__["node"]
named_node, name_it = NODE.__get__, NODE.__set__
GRAD: Any = Variable.__dict__["grad"]
ATTRIBUTE: Any = object.__getattribute__


class Name:
    """A tensor that the function reads or rebinds: the caller's `position`-th argument, or one that it found by itself."""

    __slots__ = ("given", "is_array", "node", "position", "tensor", "tracked", "type", "variable")

    def __init__(
        self, tensor: Tensor, position: int | None, given: Node, variable: Variable | None, is_array: bool = False
    ) -> None:
        self.tensor = tensor
        self.is_array = is_array  # an argument that the function gets as a tensor of its own, which it may well change
        self.position = position
        self.given = given
        self.node = given
        self.type = given.type
        self.variable = variable
        self.tracked = given.tracked

    @property
    def rebound(self) -> bool:
        """Whether the function gives it another value."""
        return self.node is not self.given

    def check(self, function: str) -> None:
        """Raise RuntimeError unless what the function binds it to is another value of the same kind."""
        node = self.node
        if node.type is not self.type and (node.shape, node.dtype) != (self.type.shape, self.type.dtype):
            raise RuntimeError(f"{function}: a tensor changes from {self.type!r} to {node.type!r} while it is traced")
        variable = node.attributes if node.op in (LEAF, VERSION) else None
        if self.variable is not None and self.variable.tracked and variable is not self.variable:
            raise RuntimeError(f"{function}: requires_grad changes while it is traced; change it outside")
        if node.tracked and variable is None:
            raise RuntimeError(
                f"{function}: a tensor from outside is given a value with a history, which would be lost after the call; "
                "return the new value, or write a copy of the tensor"
            )
        if node.tracked and (self.variable is None or not self.variable.tracked):
            raise RuntimeError(f"{function}: requires_grad changes while it is traced; change it outside")


class Gradient:
    """The `.grad` of a variable. `found` is the tensor that stands for the one it has, if the function looked and it did."""

    __slots__ = ("assigned", "current", "found", "given", "looked", "position", "variable")

    def __init__(self, variable: Variable, position: int | None) -> None:
        self.variable = variable
        self.position = position
        self.looked = False  # whether the function depends on there being one
        self.assigned = False
        self.found: Tensor | None = None
        self.given: Node | None = None
        self.current: Tensor | None = None

    @property
    def changed(self) -> Node | None:
        """What the tensor that it was is in the end, if that is something else: `w.grad *= 0.5`."""
        node = None if self.found is None else NODE.__get__(self.found)
        return None if node is self.given else node

    @property
    def replaced(self) -> bool:
        """Whether there is another tensor, or none, in the end: where nobody looked there may have been one before."""
        return self.assigned and (not self.looked or self.current is not self.found)


class Cell:
    """A Python number that an object holds: in a dictionary, in a tuple in one, or as an attribute."""

    __slots__ = ("changed", "current", "kind", "name", "owner")

    def __init__(self, owner: Any, name: Any, value: Any, unknown: Unknown) -> None:
        self.owner = owner
        self.name = name
        self.kind = type(value)
        self.current: Any = unknown
        self.changed = False

    def __str__(self) -> str:
        if isinstance(self.owner, Arguments):
            return f"argument {self.name}"
        return f"{type(self.owner).__name__}{[self.name]}"

    def read(self) -> Any:
        """The number now."""
        if isinstance(self.owner, dict):
            if type(self.name) is tuple:
                name, index = self.name
                return dict.__getitem__(self.owner, name)[index]
            return dict.__getitem__(self.owner, self.name)
        return getattr(self.owner, self.name)


def _store(owner: Any, name: Any, value: Any) -> None:
    if isinstance(owner, dict):
        dict.__setitem__(owner, name, value)
    else:
        setattr(owner, name, value)


class Arguments:
    """Stands for the call as the owner of the numbers that are arguments."""


class Trace:
    """One call of a function with stand-ins for everything that it reads."""

    def __init__(self, function: str, code: CodeType | None) -> None:
        self.function = function
        self.reach = Reach(self, code)
        self.attributes = Attributes(self.reach)
        self.observer = Observer(self.reach, function)
        self.ledger = Ledger()
        self.names: dict[int, Name] = {}
        self.gradients: dict[int, Gradient] = {}
        self.cells: dict[tuple[int, Any], Cell] = {}
        self.arguments = Arguments()
        self.argument_variables: dict[int, tuple[int, Variable]] = {}
        self._own: dict[int, Any] = {}  # what the function makes, held so that no address comes twice, but for
        # tensors: these may go, and others come to their addresses, which don't name the same nodes
        self._made: dict[int, Node] = {}

    # Tensors ----------------------------------------------------------------------------------------------------------

    def argument(self, tensor: Tensor | None, type: Any, position: int) -> Tensor:
        """The tensor to call the function with in place of its argument."""
        label = f"argument {position} of {self.function}"
        if tensor is None or not tensor.node.tracked or tensor.node.op not in (LEAF, VERSION):
            given = placeholder(type, label, tensor is not None and tensor.node.tracked)
            stand_in = wrap(given, isinstance(tensor, Number))
            self.names[id(stand_in)] = Name(stand_in, position, given, None, tensor is None)
            return stand_in
        variable = tensor.node.attributes
        fresh = Variable(variable.name, variable.tracked)
        given = Node(LEAF, (), fresh, type, None, 0, True)
        stand_in = wrap(given)
        self.names[id(stand_in)] = Name(stand_in, position, given, fresh)
        self.argument_variables[id(fresh)] = (position, variable)
        return stand_in

    def name_of(self, tensor: Tensor) -> Name | None:
        """The name that a tensor is; None if the function made it."""
        found = self.names.get(id(tensor))
        if found is None:
            node = named_node(tensor)
            if self._made.get(id(tensor)) is node:
                return None
            variable = node.attributes if node.op in (LEAF, VERSION) else None
            if variable is not None:
                given = Node(LEAF, (), variable, node.type, None, 0, node.tracked)
            else:
                given = placeholder(node.type, f"a tensor that {self.function} reads", node.tracked)
            found = self.names[id(tensor)] = Name(tensor, None, given, variable)
        return found

    def read(self, tensor: Tensor) -> Node:
        """What the tensor names at this point of the function."""
        name = self.name_of(tensor)
        node: Node = named_node(tensor) if name is None else name.node
        return node

    def named_last(self, tensor: Tensor) -> Node:
        """What a tensor that is no name of this trace's names when the function has returned."""
        node: Node = named_node(tensor) if tensor._base is None else self._watched(lambda: tensor.node)
        return node

    def bind(self, tensor: Tensor, node: Node) -> None:
        """Let the tensor name a node from this point of the function on."""
        before = getattr(tensor, "bare_node", None)  # None: it names nothing yet, and the function makes it
        if before is not None and self._made.get(id(tensor)) is not before:
            name = self.names.get(id(tensor)) or self.name_of(tensor)
            if name is not None:
                name.node = node
                return
        self._made[id(tensor)] = node
        name_it(tensor, node)

    # Gradients --------------------------------------------------------------------------------------------------------

    def _gradient(self, variable: Variable) -> Gradient | None:
        found = self.gradients.get(id(variable))
        if found is None and id(variable) not in self._own:
            position, _ = self.argument_variables.get(id(variable), (None, None))
            found = self.gradients[id(variable)] = Gradient(variable, position)
        return found

    def read_gradient(self, variable: Variable) -> Tensor | None:
        """The `.grad` of a variable at this point of the function."""
        entry = self._gradient(variable)
        if entry is None:
            own: Tensor | None = GRAD.__get__(variable)
            return own
        if not entry.looked and not entry.assigned:
            entry.looked = True
            _, real = self.argument_variables.get(id(variable), (None, variable))
            tensor = GRAD.__get__(real)
            if tensor is not None:
                entry.given = placeholder(tensor.node.type, f"a gradient that {self.function} reads", False)
                entry.found = entry.current = wrap(entry.given)
                kinds: Any = type(tensor).__mro__
                entry.found.__class__ = next(k for k in kinds if k._base is None)  # the kind that a view is of
        return entry.current

    def bind_gradient(self, variable: Variable, value: Tensor | None) -> None:
        """Give a variable another `.grad`."""
        if id(variable) not in self._own and _is_unset(GRAD, variable):
            self._own[id(variable)] = variable
        entry = self._gradient(variable)
        if entry is None:
            GRAD.__set__(variable, value)
            return
        entry.assigned = True
        entry.current = value

    # Numbers, and what can't be traced: see `tracing` -------------------------------------------------------------------

    def number(self, owner: Any, name: Any, value: Any) -> Any:
        """See `tracing.Tracer`."""
        if id(owner) in self._own:
            return value
        if isinstance(value, tuple) and value and all(tracing.is_number(x) for x in value):
            return tuple([self.number(owner, (name, k), x) for k, x in enumerate(value)])
        return self._cell(owner, name, value).current if tracing.is_number(value) else value

    def set_number(self, owner: Any, name: str, value: Any) -> None:
        """See `tracing.Tracer`."""
        if not (type(value) is Unknown or tracing.is_number(value)):
            self.refuse_change(owner, f"{type(owner).__name__}[{name!r}]")
        if id(owner) in self._own:
            _store(owner, name, value)
            return
        key = (id(owner), name)
        cell = self.cells.get(key) or self._cell(owner, name, value.value if type(value) is Unknown else value)
        cell.current = value
        cell.changed = True

    def alike(self, owners: Sequence[Any], name: str) -> None:
        """See `tracing.Tracer`. Integers alone, of which the function has read none before."""
        values = [dict.__getitem__(owner, name) for owner in owners]
        known = any([id(owner) in self._own or (id(owner), name) in self.cells for owner in owners])
        if known or len(values) < 2 or {type(x) for x in values} != {int} or len(set(values)) > 1:
            return
        shared = self.ledger.new_inputs(values)
        for owner, value in zip(owners, values, strict=True):
            self.cells[id(owner), name] = Cell(owner, name, value, shared)

    def _cell(self, owner: Any, name: Any, value: Any) -> Cell:
        found = self.cells.get((id(owner), name))
        if found is None:
            found = self.cells[id(owner), name] = Cell(owner, name, value, self.ledger.new_input(value))
        return found

    def refuse_change(self, owner: object, what: str, where: str | None = None, instead: str | None = None) -> None:
        """See `tracing.Tracer`. `where` is the user's line, if it isn't the one that runs."""
        if not self.owns(owner):
            way = instead or "Keep what changes in a tensor (`m.register_buffer('steps', 0)`, then `m.steps += 1`)"
            raise RuntimeError(
                f"{self.function}: {what} changes while the function is traced; that would happen once and not in every "
                f"call. {way}, or change it outside of the function{at_user() if where is None else where}"
            )

    def hooks(self, variable: Variable) -> None:
        """See `tracing.Tracer`."""
        _, real = self.argument_variables.get(id(variable), (None, variable))
        if real is not variable and real.hooks is not None:
            raise RuntimeError(
                f"{self.function}: an argument has hooks, which a compiled function calls for the variables that it finds by "
                f"itself alone; let it find this one as a global or in a closure{at_user()}"
            )
        if id(variable) not in self._own:
            self.attributes.note_hooks(real)

    def made(self, owner: object) -> None:
        """See `tracing.Tracer`."""
        self.attributes.forget(owner)
        self._own[id(owner)] = owner

    def owns(self, owner: object) -> bool:
        """Whether the function made an object."""
        if isinstance(owner, Named):
            return id(owner) in self._made and self._made[id(owner)] is named_node(owner)
        return self.made_it(owner)

    def made_it(self, owner: object) -> bool:
        """The same of what is no tensor: `isinstance` would ask a module for its class, which counts as reading it."""
        return id(owner) in self._own

    # The trace itself ---------------------------------------------------------------------------------------------------

    def run(self, function: Callable[[], Any], roots: Sequence[Any]) -> Any:
        """Call the function, watched. Raises RuntimeError where it has changed what it would find changed in the next call.

        `roots` are the function and what it is given besides tensors and numbers.
        """
        try:
            for root in roots:
                self.reach.visit(root, getattr(root, "__name__", type(root).__name__))
            result = self._watched(lambda: self.observer.watch(function))
            self.reach.finish()
            self._refuse_changes()
        except BaseException:
            self.reach.guards.release()
            raise
        return result

    def end(self) -> None:
        """Let go of what the function has made: the trace has been looked at, and only its guards are still asked."""
        self.reach.end()
        for kept in (self.names, self.gradients, self.cells, self._own, self._made):
            kept.clear()

    def _refuse_changes(self) -> None:
        """Raise RuntimeError if the function has changed what it has read of plain state."""
        reach = self.reach
        broken = None if reach.guards.hold() else reach.guards.first_broken(lambda guard: not guard.watched)
        if broken is not None:
            where = self.observer.changes.get(id(broken.objects[0]))
            kind = "contents" if broken.stored is None else "attribute" if "." in broken.about else "name"
            found = [
                (code.co_filename, line)
                for code in reach.executed.values()
                for line in lines_that_store(code, kind, broken.stored)
            ]
            found = found if where is None else [where]
            if found or self.observer.opaque or threading.active_count() == 1:
                self._undo()
                self.refuse_change(reach, broken.about, f" ({found[0][0]}:{found[0][1]})" if found else at_user())
            # else no code that ran can have changed it, but another thread: this trace fits no call
        drawn = reach.drawn_from()
        if drawn is not None:
            raise RuntimeError(
                f"{self.function}: {drawn} is drawn or read from while the function is traced; that would happen once and not in "
                f"every call. Draw random numbers from `ad.random`, or do it outside of the function{at_user()}"
            )

    def _undo(self) -> None:
        """Undo what the function has changed: it may hold tensors without values."""
        tried: dict[int, Guard] = {}
        while True:
            broken = self.reach.guards.first_broken(lambda guard: not guard.watched and id(guard) not in tried)
            if broken is None:
                return
            restore(broken)
            tried[id(broken)] = broken

    def _watched(self, function: Callable[[], Any]) -> Any:
        global _watching
        watched_before = set(map(id, WATCHED))
        around = tracing.active()
        try:
            # No call stands between these lines, nor between those below: neither another thread nor a signal's handler
            # comes between counting and exchanging.
            _watching += 1
            _tensors.node = WATCHED_NODE
            _variables.grad = WATCHED_GRADIENT
            _objects.__getattribute__ = _watched_attribute
            tracing.ACTIVE.set(self)
            return function()
        finally:
            _watching -= 1
            if not _watching:
                _tensors.node = NODE
                _variables.grad = GRAD
                del _objects.__getattribute__
            tracing.ACTIVE.set(around)
            # what was cut from the traced graph never gets a value with it
            WATCHED[:] = [x for x in WATCHED if id(x) in watched_before]


def _is_unset(slot: Any, owner: Any) -> bool:
    try:
        slot.__get__(owner)
    except AttributeError:
        return True
    return False


# Watching -------------------------------------------------------------------------------------------------------------


class _WatchedNode:
    """In place of `Tensor.node` while a function is traced."""

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        trace = tracing.active()
        node = tensor.bare_node
        if type(trace) is not Trace or trace._made.get(id(tensor)) is node:
            return node
        name = trace.names.get(id(tensor))
        return trace.read(tensor) if name is None else name.node

    def __set__(self, tensor: Any, node: Any) -> None:
        trace = tracing.active()
        if type(trace) is Trace:
            trace.bind(tensor, node)
        else:
            name_it(tensor, node)


class _WatchedGradient:
    """In place of `Variable.grad` while a function is traced."""

    def __get__(self, variable: Any, owner: Any = None) -> Any:
        if variable is None:
            return self
        trace = tracing.active()
        return trace.read_gradient(variable) if isinstance(trace, Trace) else GRAD.__get__(variable)

    def __set__(self, variable: Any, value: Any) -> None:
        trace = tracing.active()
        if isinstance(trace, Trace):
            trace.bind_gradient(variable, value)
        else:
            GRAD.__set__(variable, value)


def _watched_attribute(owner: Any, name: str) -> Any:
    """In place of `tracing.Watched.__getattribute__` while a function is traced. It calls little, since the listener hears each
    call."""
    trace = tracing.active()
    if trace.__class__ is Trace:
        key, read = id(owner), trace.attributes.read
        if (key not in read or name not in read[key][1]) and key not in trace._own:
            listener = getprofile()
            if listener is trace.observer.hear:  # nobody's function looks at what the walk looks at
                setprofile(None)
            try:
                trace.attributes.note(owner, name)
            finally:
                if listener is trace.observer.hear:
                    setprofile(listener)
    return ATTRIBUTE(owner, name)


WATCHED_NODE, WATCHED_GRADIENT = _WatchedNode(), _WatchedGradient()
_tensors: Any = Named
_variables: Any = Variable
_objects: Any = tracing.Watched
_watching = 0  # how many functions are being traced, in all threads
