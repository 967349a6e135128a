"""`jit`: a function traced once for each kind of call, then run from its graph."""

from __future__ import annotations

import builtins
import copy
import dis
import functools
import inspect
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from operator import is_
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from adjoint import execution, tracing, tree
from adjoint.api.capture import NODE, Trace
from adjoint.api.stepping import UNUSUAL, Step, write_step
from adjoint.dtypes import BY_NUMPY, get_default_dtype
from adjoint.graph import Node, Variable, array_type, get_mode, substitute, topological
from adjoint.primitives.core import DETACH, FULL, LEAF, VERSION, WATCHED, full, leaf
from adjoint.primitives.random import EXAMPLES
from adjoint.tensors.located import at_user
from adjoint.tensors.pending import force
from adjoint.tensors.tensor import Tensor, array_node, wrap
from adjoint.unknown import Unknown

__all__ = ["jit"]

MAX_TRACES = 64  # of one jitted function, the least recently used forgotten first
PLAIN = (Tensor, np.ndarray, float)  # arguments that need no looking into
LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
VALUES = (int, bool, str, bytes, type(None))  # static arguments that are compared by value


def jit(f: Callable[..., Any] | None = None, *, static_argnums: int | Sequence[int] = (), check: bool = False) -> Any:
    """A function like f that runs f's Python once for each kind of call, and from then on its compiled graph.

    f may read and change whatever a training step does: modules, optimizers, random generators and other tensors that it
    finds by itself. Their names are captured and not their values, so each call reads what they hold then and gives them
    new values. Arguments are tensors, arrays (which f receives as tensors), floats (which may differ in each call), nested
    containers of these, and anything else, which is static: another value means another trace. So do other shapes and
    dtypes. `static_argnums`: positional arguments that are static though they are floats, arrays or containers of these,
    which are then compared by content.

    Inside, tensors have shapes and no values: where Python needs one (`if`, `.item()`, printing) that is a RuntimeError.
    Plain Python state must not change (`self.steps += 1` on an attribute that is no tensor: RuntimeError); what Python
    computes from other things than arguments, tensors and hyperparameters is computed once. Hyperparameters (`optimizer.lr
    *= 0.1`), replaced layers and `model.eval()` take effect in the next call, and so does rebinding a global name that f
    itself uses, or an attribute of an argument (such as `self`) that its own code mentions. Dataclasses are containers: f
    gets a copy of one.

    A function that changes no parameter and no gradient can be differentiated from outside, to any order: its graph is then
    part of the graph around it. One that does (a training step) gives untracked results. Inside vmap and other traced
    functions f itself is called.

    check: in each call, run the compiled graph and f as well, and raise RuntimeError that says where they differ.

    >>> import adjoint as ad
    >>> w = ad.variable(1.0)
    >>> @ad.jit
    ... def step(x, lr):
    ...     loss = (w * x - 6.0) ** 2
    ...     loss.backward()
    ...     w.data -= lr * w.grad
    ...     w.grad = None
    ...     return loss
    >>> step(ad.tensor(2.0), 0.1), step(ad.tensor(2.0), 0.1)
    (Tensor(16.), Tensor(0.64))
    >>> w
    Tensor(2.92, requires_grad=True)
    """
    if f is None:
        return functools.partial(jit, static_argnums=static_argnums, check=check)
    if not callable(f):
        raise TypeError(f"jit: expected a function, got a {type(f).__name__}{at_user()}")
    static = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums)
    code = getattr(f, "__code__", None)
    if code is not None and code.co_flags & LATER:
        raise TypeError(
            f"jit: {f.__name__} is a generator or a coroutine, whose code runs after the call; return a list{at_user()}"
        )
    last = code.co_argcount if code is not None and not code.co_flags & inspect.CO_VARARGS else sys.maxsize
    if not all(type(k) is int and 0 <= k < last for k in static):
        raise ValueError(
            f"jit: static_argnums are positions of arguments, from 0 on; given {static_argnums!r}{at_user()}"
        )
    return functools.wraps(f, updated=())(Jitted(f, static, check))


class Jitted:
    """A function with its traces."""

    def __init__(self, f: Callable[..., Any], static: set[int], check: bool) -> None:
        self.f = f
        self.static = static
        self.check = check
        self.traces: OrderedDict[Any, list[Compiled]] = OrderedDict()
        self.name = getattr(f, "__name__", type(f).__name__)
        self._surroundings = Surroundings(f)
        self._way: tuple[Step, int] | None = None  # the way of the last call, written out, and its number of arguments
        self._lock = threading.Lock()  # of `traces`

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __deepcopy__(self, memo: Any) -> Any:
        return self._remade(copy.deepcopy(self.f, memo))

    def __reduce__(self) -> Any:
        name: str = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(self.__module__)
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (self._remade, (self.f,))

    @property
    def _remade(self) -> Any:
        """What makes such a function of another one; it has traced nothing yet."""
        return functools.partial(jit, static_argnums=tuple(self.static), check=self.check)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        way = self._way
        if way is not None and len(args) == way[1] and not keywords:
            try:
                out = way[0](*args)
            except (
                ArithmeticError,
                IndexError,
                RuntimeError,
            ):  # nothing has changed: the general way says where it comes from
                out = UNUSUAL
            if out is not UNUSUAL:
                return out
        if tracing.active() is not None or EXAMPLES.get():
            return self._plainly(args, keywords)
        call = Call(self, args, keywords)
        with self._lock:
            found = self.traces.get(call.key, [])
            if found:
                self.traces.move_to_end(call.key)
        for compiled in tuple(found):
            numbers = compiled.ready(call)
            if numbers is not None:
                return self._run(compiled, call, numbers)
        compiled = self._trace(call)
        numbers = compiled.ready(call)
        if numbers is None:  # an argument is also something that f finds by itself: which is meant, f knows
            return self._plainly(args, keywords)
        with self._lock:
            self.traces[call.key] = [*[x for x in self.traces.get(call.key, ()) if not x.is_stale()], compiled]
            while sum(map(len, self.traces.values())) > MAX_TRACES:
                self.traces.popitem(last=False)
        return self._run(compiled, call, numbers)

    def _trace(self, call: Call) -> Compiled:
        trace = Trace(self.name)
        args, keywords = call.stand_ins(trace)
        before = self._surroundings()
        states = [(x, dict(vars(x))) for x in call.objects]
        result = trace.run(lambda: self.f(*args, **keywords))
        for x, state in states:
            for name in state.keys() | vars(x).keys():
                if state.get(name, UNUSUAL) is not vars(x).get(name, UNUSUAL):
                    trace.refuse_change(x, f"{type(x).__name__}.{name}")
        for name, was, now in zip(self._surroundings.labels, before, self._surroundings(), strict=True):
            if was is not now:
                trace.refuse_change(self, f"what the name {name!r} refers to")
        return Compiled(trace, result, self._surroundings, call.objects)

    def _plainly(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What f gives, called with tensors in place of arrays, as when it is traced."""
        marked = [Static(x) if k in self.static else x for k, x in enumerate(args)]
        leaves, structure = tree.flatten((marked, keywords), opaque=True)
        if any(map(_is_array, leaves)):
            made = [wrap(array_node(x, None, None)) if _is_array(x) else x for x in leaves]
            marked, keywords = structure.unflatten(made)
            args = tuple([_unmarked(x) for x in marked])
        return self.f(*args, **keywords)

    def _run(self, compiled: Compiled, call: Call, numbers: list[Any]) -> Any:
        if self.check:
            return compiled.checked(call, numbers, lambda: self._plainly(call.args, call.keywords))
        if call.structure is None:
            step = compiled.written_for(call)
            self._way = None if step is None else (step, len(call.leaves))
        try:
            results = compiled.results(call.leaves, numbers)
        except (IndexError, RuntimeError, ValueError) as error:
            raise self._located(call, error) from None
        return compiled.commit(call.leaves, results, numbers)

    def _located(self, call: Call, error: Exception) -> Exception:
        """The error with the line of f that recorded what failed."""
        trace = Trace(self.name)
        args, keywords = call.stand_ins(trace)
        compiled = Compiled(trace, trace.run(lambda: self.f(*args, **keywords)), self._surroundings, (), False)
        held = [x.value if type(x) is Node else x for x in compiled.held(call.leaves)]
        return execution.located_anew(error, compiled.graph, dict(zip(compiled.given, held, strict=True)))


class Surroundings:
    """What a function's own code refers to from outside: its closure and the globals that it names.

    places      (owner, how to get it from the owner), as Python
    labels      their names, in the order of the places
    attributes  the names of attributes that the code mentions
    empty       whether a name in the closure has no value yet
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        code, names = getattr(f, "__code__", None), getattr(f, "__globals__", {})
        self.names = names
        used = () if code is None else _named(code, "LOAD_GLOBAL", "STORE_GLOBAL")
        self.used = [x for x in used if x in names or not hasattr(builtins, x)]
        self.attributes = () if code is None else tuple(_named(code, "LOAD_ATTR", "LOAD_METHOD"))
        self.cells = getattr(f, "__closure__", None) or ()
        self.labels = [*self.used, *(() if code is None else code.co_freevars)]
        self.places: list[tuple[Any, str]] = [(names, f".get({name!r})") for name in self.used]
        self.places += [(cell, ".cell_contents") for cell in self.cells]
        self.empty = False

    def __call__(self) -> list[Any]:
        """What they hold now."""
        found = [self.names.get(name) for name in self.used]
        for cell in self.cells:
            try:
                found.append(cell.cell_contents)
            except ValueError:
                self.empty = True
                found.append(None)
        return found


def _named(code: CodeType, *operations: str) -> dict[str, None]:
    """The names that these bytecodes have in code, functions and comprehensions inside it included."""
    found = {x.argval: None for x in dis.get_instructions(code) if x.opname in operations}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _named(inner, *operations)
    return found


# Calls ----------------------------------------------------------------------------------------------------------------


class Call:
    """The arguments of one call: their leaves, and the key of the traces that fit them."""

    __slots__ = ("args", "key", "keywords", "leaves", "objects", "structure", "tensors")

    def __init__(self, jitted: Jitted, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.args = args
        self.keywords = keywords
        self.structure: Any = None
        self.leaves: list[Any] = list(args)
        if keywords or jitted.static or not all([type(x) in PLAIN for x in args]):
            marked = [Static(x) if k in jitted.static else x for k, x in enumerate(args)]
            self.leaves, self.structure = tree.flatten((marked, keywords), opaque=True)
        for k, x in enumerate(self.leaves):
            if _is_array(x):
                self.leaves[k] = array_node(x, None, False).value  # raises, naming the dtype, for what has none
        self.key = (self.structure, get_mode().grad, get_default_dtype(), *[_kind(x) for x in self.leaves])
        # static arguments with attributes, such as the `self` of a method
        self.objects = [] if self.structure is None else [x for x in map(_unmarked, self.leaves) if _has_state(x)]
        self.tensors = {id(x) for x in self.leaves if isinstance(x, Tensor)}

    def stand_ins(self, trace: Trace) -> tuple[Sequence[Any], dict[str, Any]]:
        """The arguments to trace with."""
        made: list[Any] = []
        for k, x in enumerate(self.leaves):
            if isinstance(x, Tensor):
                made.append(trace.argument(x, x.node.type, k))
            elif isinstance(x, np.ndarray):
                made.append(trace.argument(None, array_type(x.shape, BY_NUMPY[x.dtype]), k))
            elif isinstance(x, float):
                made.append(trace.number(trace.arguments, k, x))
            else:
                made.append(_unmarked(x))
        if self.structure is None:
            return made, {}
        args, keywords = self.structure.unflatten(made)
        return args, keywords


class Static:
    """A static argument."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _unmarked(x: Any) -> Any:
    return x.value if type(x) is Static else x


def _has_state(x: Any) -> bool:
    return hasattr(x, "__dict__") and not isinstance(x, type | ModuleType) and not callable(getattr(x, "__get__", None))


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic) and not isinstance(x, float)


def _kind(x: Any) -> Any:
    """What of an argument decides which trace fits."""
    if isinstance(x, Tensor):
        node = x.node
        return (node.type, node.op is LEAF or node.op is VERSION) if node.tracked else node.type
    if isinstance(x, np.ndarray):
        return ("array", x.dtype, x.shape)
    if isinstance(x, float):
        return float
    if type(x) is Static:
        leaves, structure = tree.flatten(x.value, opaque=True)
        return (Static, structure, *[_static_kind(value) for value in leaves])
    if isinstance(x, dict | list | set | bytearray):
        raise TypeError(
            f"jit: an argument is a {type(x).__name__}, whose contents can change without being noticed; pass a dict, a list "
            f"or a tuple{at_user()}"
        )
    return (type(x), x) if type(x) in VALUES else _Identity(x)


def _static_kind(x: Any) -> Any:
    """How one leaf of a static argument is compared: by value where it has one."""
    if isinstance(x, np.ndarray):
        return (x.dtype, x.shape, x.tobytes())
    return (type(x), repr(x) if isinstance(x, float) else x) if isinstance(x, (*VALUES, float)) else _Identity(x)


class _Identity:
    """A static argument that is itself alone."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value  # held: no other object gets its address

    def __eq__(self, other: object) -> bool:
        return type(other) is _Identity and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


# Traces that run ------------------------------------------------------------------------------------------------------


class Compiled:
    """A finished trace: where the inputs of its graph come from, and where its results go."""

    def __init__(
        self, trace: Trace, result: Any, surroundings: Surroundings, objects: Sequence[Any], plan: bool = True
    ) -> None:
        self.function = trace.function
        self.epoch = tracing.epoch
        self.around = surroundings()
        # (the attributes of a static argument, one that f mentions, what it is)
        self.states = [(vars(x), name, vars(x).get(name)) for x in objects for name in surroundings.attributes]
        self.surroundings = surroundings
        self.cells = [(cell, cell.owner is trace.arguments) for cell in trace.cells.values()]
        self.roots: dict[Node, int] = {}
        self.wanted: list[Any] = []
        self._note_outputs(trace, result)
        self._note_changes(trace)
        self._note_conditions(trace)
        self._note_inputs(trace)
        self.replay: execution.Replay | None = None
        unknown = []
        if self.inlined:
            self.unknowns = [x for x in self._own_nodes() if x.op is FULL and type(x.attributes) is Unknown]
            unknown = [x.attributes for x in self.unknowns]
        elif self.roots and plan:
            self.replay = execution.Replay(list(self.roots), self.given)
            unknown = self.replay.unknowns
        self.types = [x.type for x in self.roots]
        self.graph = list(self.roots) if self.inlined or not plan else []
        self.known = len(self.wanted)
        self.numbers = trace.ledger.function([*self.wanted, *unknown])
        del self.roots, self.wanted
        self.step: tuple[Step, Any] | None = None  # see `stepping`
        self.asked = False  # whether it was written, if it can be

    # What is noted --------------------------------------------------------------------------------------------------

    def _root(self, node: Node) -> int:
        return self.roots.setdefault(node, len(self.roots))

    def _want(self, number: Any) -> int:
        self.wanted.append(number)
        return len(self.wanted) - 1

    def _note_outputs(self, trace: Trace, result: Any) -> None:
        self.outputs: list[tuple[str, Any]] = []
        leaves, self.structure = tree.flatten(result, opaque=True)
        self.tracked = False
        for x in leaves:
            if not isinstance(x, Tensor):
                self.outputs.append(("number", self._want(x)) if type(x) is Unknown else ("constant", x))
                continue
            name = trace.name_of(x)
            if name is None:
                node = NODE.__get__(x)
                self.tracked = self.tracked or node.tracked
                self.outputs.append(("value", self._root(node)))
            else:
                self.outputs.append(("constant", x) if name.position is None else ("argument", name.position))

    def _note_changes(self, trace: Trace) -> None:
        # (tensor or None, position or None, variable, place among the results)
        self.rebound: list[tuple[Tensor, int | None, Variable | None, int]] = []
        for name in trace.names.values():
            if name.rebound:
                name.check(self.function)
                self.rebound.append((name.tensor, name.position, name.variable, self._root(name.node)))
        # (variable, position or None, place or None for no gradient), of the tensors that were there and of new ones
        self.changed: list[tuple[Variable, int | None, int]] = []
        self.gradients: list[tuple[Variable, int | None, int | None]] = []
        for g in trace.gradients.values():
            if g.changed is not None:
                self.changed.append((g.variable, g.position, self._root(g.changed)))
            if g.replaced:
                place = None if g.current is None else self._root(NODE.__get__(g.current))
                self.gradients.append((g.variable, g.position, place))
        self.written = [(cell, self._want(cell.current)) for cell in trace.cells.values() if cell.changed]
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

    def _own_nodes(self) -> list[Node]:
        given = set(self.given)
        return topological(self.roots, lambda node: node not in given)

    # Whether it fits ------------------------------------------------------------------------------------------------

    def is_stale(self) -> bool:
        """Whether Python state changed since, so that it won't fit any call again."""
        return self.epoch != tracing.epoch or not self._same_surroundings()

    def _same_surroundings(self) -> bool:
        return all(map(is_, self.around, self.surroundings()))

    def ready(self, call: Call) -> list[Any] | None:
        """The numbers of a call; None if the trace doesn't fit it."""
        if self.epoch != tracing.epoch or not self._same_surroundings():
            return None
        for tensor, type_, tracked, variable in self.names:
            node = tensor.node
            if node.type is not type_ or node.tracked is not tracked:
                return None
            if variable is not None and node.attributes is not variable:
                return None
        for state, attribute, value in self.states:
            if state.get(attribute) is not value:
                return None
        leaves = call.leaves
        for owner, position, expected in self.looked:
            variable = owner if position is None else leaves[position].node.attributes
            found = variable.grad
            if (found is None) is not (expected is None) or (found is not None and found.node.type is not expected):
                return None
        if self.changing and call.tensors and not self._distinct(call):
            return None
        values = []
        for cell, is_argument in self.cells:
            value = leaves[cell.name] if is_argument else cell.read()
            if type(value) is not cell.kind:
                return None
            values.append(value)
        try:
            return self.numbers(values)
        except (ArithmeticError, TypeError):  # raised again, at the user's line, when the function is traced anew
            return None

    def _distinct(self, call: Call) -> bool:
        tensors = [x for x in call.leaves if isinstance(x, Tensor)]
        if len(call.tensors) < len(tensors) or not self.captured.isdisjoint(call.tensors):
            return False
        variables = [id(x.node.attributes) for x in tensors if x.node.tracked and x.node.op in (LEAF, VERSION)]
        return len(set(variables)) == len(variables) and self.variables.isdisjoint(variables)

    # Running --------------------------------------------------------------------------------------------------------

    def written_for(self, call: Call) -> Step | None:
        """The function written out for calls like this one."""
        if not self.asked or (self.step is not None and self.step[1].is_outdated):
            self.step, self.asked = write_step(self, call.leaves, get_mode().grad), True
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
        pending = [x for x in held if type(x) is Node and type(x.value) is not np.ndarray]
        if pending:
            force(pending)
        arrays = [x.value if type(x) is Node else x for x in held]
        values = self.replay.run(arrays, numbers[self.known :])
        foreign = [x for x in held if type(x) is not Node]
        if foreign:  # the caller's memory
            values = [execution.own(x, foreign) for x in values]
        return [Node(LEAF, (), None, t, None, 0, False, x) for x, t in zip(values, self.types, strict=True)]

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
        leaves = call.leaves
        results = [wrap(x) for x in self.results(leaves, numbers)]
        with tracing.paused():
            expected = [x.numpy() for x in results]
        quiet = [(t, t.node) for t, _, _, _ in self.names if not any(t is r[0] for r in self.rebound)]
        out = f()
        found: list[tuple[str, Any, Any]] = []
        flat, structure = tree.flatten(out, opaque=True)
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
                found.append((f"the gradient of {variable.name or 'a variable'}", variable.grad, expected[place]))
        for cell, k in self.written:
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

    def commit(self, leaves: list[Any], results: list[Node], numbers: list[Any]) -> Any:
        """Give names, gradients and numbers their new values; the function's result."""
        for tensor, position, variable, place in self.rebound:
            if position is not None:
                tensor = leaves[position]
                variable = tensor.node.attributes if variable is not None else None
            node = results[place]
            if variable is not None:
                node = leaf(node.value, node.type, variable)
            elif node.op is DETACH and node.inputs and node.inputs[0].tracked:
                WATCHED.append(node)  # as when it is recorded
            tensor.node = node
        for owner, position, place in self.changed:
            (owner if position is None else leaves[position].node.attributes).grad.node = results[place]
        for owner, position, new in self.gradients:
            held = owner if position is None else leaves[position].node.attributes
            held.grad = None if new is None else wrap(results[new])
        for cell, k in self.written:
            cell.write(numbers[k])
        made: list[Any] = []
        for kind, x in self.outputs:
            if kind == "value":
                made.append(wrap(results[x]))
            elif kind == "argument":
                made.append(leaves[x])
            else:
                made.append(numbers[x] if kind == "number" else x)
        return made[0] if self.structure.kind is None and made else self.structure.unflatten(made)


def _agree(x: Any, y: Any) -> bool:
    """Whether two values are the same up to rounding, which differs between one way of computing and another."""
    a, b = np.asarray(x), np.asarray(y)
    if a.shape != b.shape or a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    with np.errstate(all="ignore"):
        size = np.max(np.abs(a), initial=0.0, where=np.isfinite(a))
        return bool(np.allclose(a, b, 0.0, float(np.finfo(a.dtype).eps) ** 0.6 * (1 + size), equal_nan=True))
