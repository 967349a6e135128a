"""The shortest way through a compiled function: one Python function written for it, around one native call.

What a call has to do besides computing is known once its function is traced: check that the arguments, names and numbers
are of the kinds that it was traced with, point the native program to their arrays, and give names their new values.
Written out for the function at hand, with nothing to loop over or look up, that takes a few microseconds. Where anything
isn't as usual the written function says so, having changed nothing, and `jit` takes the general way.

A call happens as a whole or not at all, whatever a signal's handler raises (Ctrl-C, a time limit). CPython runs handlers
after calls, at the start of functions and at jumps backwards. So all that is called comes before the native function, which
itself is run by unpacking a `map`, no call of the bytecode; what follows it, up to the last new value, only assigns. Old
values are held meanwhile: a finalizer would be the first Python to run, and what a handler raises in one is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from copy import copy
from inspect import getattr_static
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import execution, tracing
from adjoint.dtypes import default_dtype, float64
from adjoint.graph import Node, Variable, array_type, get_mode
from adjoint.primitives.core import LEAF, leaf
from adjoint.primitives.indexing import SCATTER_ADD
from adjoint.primitives.random import EXAMPLES
from adjoint.runtime.memory import LEASED_FROM, new_array
from adjoint.shapes import size_of
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.python_source import Writer, closed, open_containers
from adjoint.tree import Structure

if TYPE_CHECKING:
    from adjoint.tracer.compiled import Compiled

MOST_HELD = 1 << 22  # bytes of its last results that a function may hold, so as not to make arrays for them anew
UNUSUAL = object()  # what a written function gives where the general way is to be taken

NODE = getattr_static(Tensor, "node")
UNREADABLE = (ArithmeticError, AttributeError, LookupError)  # what numbers that changed in kind, or are gone, raise

Step = Callable[..., Any]


def write_step(
    compiled: Compiled, arguments: Sequence[Any], first: Mapping[int, int], structure: Structure | None, grad: bool
) -> tuple[Step, Any] | None:
    """The function for calls like this one, with positional arguments, and the native program's station that it uses; None
    where the general way is needed. `arguments` are the leaves, of containers if there is a `structure`; `first` says which
    are tensors that have come before, and where."""
    if compiled.replay is None or compiled.changed or any(p is not None for _, p, _, _ in compiled.rebound):
        return None
    if any(p is not None for _, p, _ in compiled.gradients) or any(p is not None for _, p, _ in compiled.looked):
        return None
    partners = {}
    for tensor, _, _, place in compiled.rebound:
        for k, (source, position) in enumerate(compiled.sources):
            if source is tensor and position is None:
                partners[place] = k
    if len({place for _, _, _, place in compiled.rebound}) < len(compiled.rebound):
        return None
    station = compiled.replay.station(partners)
    if station is None:
        return None
    w = Writer()
    w.objects.update(
        UNUSUAL=UNUSUAL, active=tracing.active, examples=EXAMPLES.get, tracing=tracing, get_mode=get_mode, Node=Node,
        default_dtype=default_dtype, Tensor=Tensor, ndarray=np.ndarray, new=object.__new__, LEAF=LEAF, leaf=leaf,
        empty=np.empty, new_array=new_array, run=station.function, arguments=station.arguments, **station.names,
        failure=station.failure, status=station.status, forget=station.forget_failure, fail=station.fail,
        lock=station.lock, locked=station.lock.locked, getrefcount=getrefcount,
        is_ours=execution.is_ours, dget=dict.__getitem__, put=dict.__setitem__,
    )  # fmt: skip
    _check_surroundings(w, compiled, grad)
    if station.launches:
        w.unless(f"not {w.name(station)}.is_outdated")
    parameters = [f"a{k}" for k in range(len(arguments))] if structure is None else open_containers(w, structure)
    arrays = _arrays(compiled)
    seen = {array for k, array in arrays.items() if station.leaf(k) is not None} if station.sees else set()
    if parameters is None or not _read_arguments(w, compiled, arguments, first, seen):
        return None
    _read_names(w, compiled, seen)
    _read_gradients(w, compiled, seen)
    w.add("f = None")  # the flags of an array hold it
    _read_numbers(w, compiled, station)
    w.unless("not locked()")  # nor wait for it: the holder may be this very thread, interrupted by a finalizer
    w.add("with lock:")
    body = Writer()
    body.objects, body._names = w.objects, w._names
    objects = _point(body, compiled, station, arrays)
    foreign = [f"v{k}" for k, x in enumerate(arguments) if isinstance(x, np.ndarray)]
    stores = _make_results(body, compiled, station, arrays, objects, foreign)
    looked = {id(variable) for variable, _, _ in compiled.looked}
    for k, (owner, _, _) in enumerate(compiled.gradients):
        if id(owner) not in looked:
            body.add(f"b{k} = {w.name(owner)}.grad")
    body.add(*station.named(objects))
    if station.function is not None:
        body.add("_, = map(run, arguments)", "if failure[0] or status.value:")
        body.add(*(["    fail()"] if station.hosts else _give_up(w, compiled)))
    body.add(*stores)
    lines = body.lines
    if compiled.drawn:
        draw, undo = _drawn(w, compiled), _undrawn(w, compiled)
        lines = [*draw, "    try:", *["    " + line for line in lines], "    except BaseException:"]
        lines += [*["        " + line for line in undo], "        raise"]
    w.lines += ["    " + line for line in lines]
    _give(w, compiled)
    return w.function(parameters), station


def _check_surroundings(w: Writer, compiled: Compiled, grad: bool) -> None:
    attributes = w.name(compiled.attributes)
    w.unless(
        f"active() is None and not examples() and (tracing.epoch == {attributes}.epoch or {attributes}.are_same())"
    )
    w.unless(f"get_mode().grad is {grad} and default_dtype() is {w.name(default_dtype())}")
    compiled.guards.write(w, "UNUSUAL")


def _arrays(compiled: Compiled) -> dict[int, str]:
    """The names of the arrays that the program takes, by its leaves: v0 ... of arguments, w0 ... names, x0 ... gradients."""
    assert compiled.replay is not None
    names = {id(tensor): k for k, (tensor, _, _, _) in enumerate(compiled.names)}
    gradients = {id(variable): k for k, (variable, _, _) in enumerate(compiled.looked)}
    arrays = {}
    for place, k in compiled.replay.places:
        source, position = compiled.sources[k]
        if isinstance(source, Variable):
            arrays[place] = f"x{gradients[id(source)]}"
        else:
            arrays[place] = f"w{names[id(source)]}" if position is None else f"v{position}"
    return arrays


def _read_arguments(
    w: Writer, compiled: Compiled, arguments: Sequence[Any], first: Mapping[int, int], seen: Container[str]
) -> bool:
    """Check the leaves a0, a1, ... and name their arrays v0, v1, ...; False where one is of a kind that needs more. At those that
    are `seen` the program looks."""
    for k, x in enumerate(arguments):
        if k in first:
            w.unless(f"a{k} is a{first[k]}")
        elif isinstance(x, float):
            w.unless(f"type(a{k}) is float")
        elif isinstance(x, Tensor):
            if x.node.tracked or getattr_static(type(x), "node") is not NODE:  # a view computes its own
                return False
            w.unless(f"type(a{k}) is {w.name(type(x))}")
            w.add(f"n = a{k}.node")
            w.unless(f"n.type is {w.name(x.node.type)} and not n.tracked")
            w.add(f"v{k} = n.value")
            if compiled.changing:
                w.unless(f"id(a{k}) not in {w.name(compiled.captured)}")
            _in_order(w, f"v{k}", seen)
        elif isinstance(x, np.ndarray):
            w.unless(f"type(a{k}) is ndarray and a{k}.dtype is {w.name(x.dtype)} and a{k}.shape == {w.name(x.shape)}")
            w.add(f"v{k} = a{k}")
            _in_order(w, f"v{k}", seen)
        elif type(x) in (int, bool, str):
            w.unless(f"type(a{k}) is {type(x).__name__} and a{k} == {x!r}")
        else:
            return False
    return True


def _in_order(w: Writer, array: str, seen: Container[str]) -> None:
    """Take the general way, which copies, unless it is an array whose elements are in order."""
    if array in seen:
        return
    w.unless(f"type({array}) is ndarray")
    w.add(f"f = {array}.flags")
    w.unless("f.c_contiguous and f.aligned")


def _read_names(w: Writer, compiled: Compiled, seen: Container[str]) -> None:
    for k, (tensor, type_, tracked, variable) in enumerate(compiled.names):
        w.add(f"n{k} = {w.name(tensor)}.node")
        conditions = [f"n{k}.type is {w.name(type_)}", f"n{k}.tracked is {tracked}"]
        if variable is not None:
            conditions.append(f"n{k}.attributes is {w.name(variable)}")
        w.unless(" and ".join(conditions))
        w.add(f"w{k} = n{k}.value")
        _in_order(w, f"w{k}", seen)


def _read_gradients(w: Writer, compiled: Compiled, seen: Container[str]) -> None:
    for k, (variable, _, expected) in enumerate(compiled.looked):
        if expected is None:
            w.unless(f"{w.name(variable)}.grad is None")
            continue
        w.add(f"g = {w.name(variable)}.grad")
        w.unless("g is not None")
        w.unless(f"g.node.type is {w.name(expected)}")
        w.add(f"x{k} = g.node.value")
        _in_order(w, f"x{k}", seen)


def _read_numbers(w: Writer, compiled: Compiled, station: Any) -> None:
    if not compiled.cells:
        numbers = compiled.numbers([])
        assert numbers is not None
        w.objects["numbers"] = numbers
        for block, members in station.blocks:
            block[:] = [numbers[compiled.known + k] for k in members]
        return
    w.objects["compute"] = compiled.numbers
    w.add("try:")
    for k, (cell, is_argument) in enumerate(compiled.cells):
        if is_argument:
            w.add(f"    c{k} = a{cell.name}")
        elif not isinstance(cell.owner, dict):
            w.add(f"    c{k} = {w.name(cell.owner)}.{cell.name}")
        elif type(cell.name) is tuple:
            w.add(f"    c{k} = dget({w.name(cell.owner)}, {cell.name[0]!r})[{cell.name[1]}]")
        else:
            w.add(f"    c{k} = dget({w.name(cell.owner)}, {cell.name!r})")
        w.add(f"    if type(c{k}) is not {w.name(cell.kind)}: return UNUSUAL")
    w.add(
        f"    numbers = compute([{', '.join([f'c{k}' for k in range(len(compiled.cells))])}])",
        f"except {w.name(UNREADABLE)}: return UNUSUAL",
    )
    w.unless("numbers is not None")


def _drawn(w: Writer, compiled: Compiled) -> list[str]:
    """Lines that take the call's share of what is drawn, unless another thread has drawn since the numbers were read. No
    call stands among them."""
    looks = [f"{w.name(cell.owner)}.{cell.name} is not c{at}" for cell, _, at in compiled.drawn]
    lines = [f"    if {' or '.join(looks)}: return UNUSUAL"]
    return lines + [f"    {w.name(cell.owner)}.{cell.name} = numbers[{k}]" for cell, k, _ in compiled.drawn]


def _undrawn(w: Writer, compiled: Compiled) -> list[str]:
    """Lines that give it back where the call doesn't happen and nobody has drawn since."""
    found = []
    for cell, k, at in compiled.drawn:
        name = f"{w.name(cell.owner)}.{cell.name}"
        found.append(f"if {name} is numbers[{k}]: {name} = c{at}")
    return found


def _give_up(w: Writer, compiled: Compiled) -> list[str]:
    """Lines that take the general way after native code has failed, before anything else has happened."""
    return ["    forget()", *["    " + line for line in _undrawn(w, compiled)], "    return UNUSUAL"]


def _point(w: Writer, compiled: Compiled, station: Any, arrays: Mapping[int, str]) -> dict[int, str]:
    """Write the numbers where the program reads them; the names of the objects that it reads, by their numbers."""
    if compiled.cells and station.blocks:
        w.objects["last"] = [None]
        w.add("if numbers != last[0] or 0 in numbers:", "    last[0] = None")  # 0 equals -0
        for block, members in station.blocks:
            values = ", ".join([f"numbers[{compiled.known + k}]" for k in members])
            w.add(f"    {w.name(block)}[:] = [{values}]")
        w.add("    last[0] = numbers")
    return {k: array for leaf, array in arrays.items() if (k := station.leaf(leaf)) is not None}


def _make_results(
    w: Writer,
    compiled: Compiled,
    station: Any,
    arrays: Mapping[int, str],
    objects: dict[int, str],
    foreign: Sequence[str],
) -> list[str]:
    """Find memory for the results, which become objects of the program, run what comes before the last host step, and make all
    that will hold the results; the lines that give names, gradients and numbers their new values, none of which is a call. A
    large result that was the last call's, and that nobody else holds any more, is written over."""

    def node(r: int, variable: Variable | None) -> str:
        owner = (
            "None, {}, None, 0, False" if variable is None else f"{w.name(variable)}, {{}}, None, 0, {variable.tracked}"
        )
        return f"Node(LEAF, (), {owner.format(w.name(compiled.types[r]))}, r{r})"

    sizes = [size_of(x.shape) * x.dtype.dtype.itemsize for x in compiled.types]

    def memory(r: int) -> str:
        type_ = compiled.types[r]
        made = f"{w.name(type_.shape)}, {w.name(type_.dtype.dtype)}"
        return f"empty({made})" if sizes[r] < LEASED_FROM else f"new_array({made}, {sizes[r]})"

    def becomes(r: int, array: str) -> None:
        number = station.result(r)
        if number is not None:
            objects[number] = array

    names = {id(tensor): k for k, (tensor, _, _, _) in enumerate(compiled.names)}
    rebound = {r for _, _, _, r in compiled.rebound}
    shared = {r: names[id(t)] for t, _, _, r in compiled.rebound if station.shares[r] and id(t) in names}
    room = MOST_HELD
    for r, nbytes in enumerate(sizes):
        if r in shared or station.fresh[r] is None:
            continue
        if r not in rebound and LEASED_FROM <= nbytes <= room:
            room -= nbytes
            held = w.name([None])
            w.add(f"r{r} = {held}[0]", f"if getrefcount(r{r}) != {SOLE[2]}: r{r} = {held}[0] = {memory(r)}")
        else:
            w.add(f"r{r} = {memory(r)}")
        becomes(r, f"r{r}")
    if station.hosts:
        for r, k in shared.items():
            becomes(r, f"w{k}")
        w.add(*station.named(objects))
        objects.clear()
        _run_hosts(w, compiled, station, arrays, foreign)
    holders: list[tuple[str, int]] = []
    for k, (_, _, place) in enumerate(compiled.gradients):
        if isinstance(place, int):
            holders.append((f"g{k}", place))
        elif place is not None:  # known by its rows: nobody makes it whole unasked
            rows, indices, type_ = place
            made = (
                f"({node(rows, None)}, {node(indices, None)}), {w.name(type_.shape)}, {w.name(type_)}, None, 0, False"
            )
            w.add(f"g{k} = new(Tensor)", f"g{k}.node = Node({w.name(SCATTER_ADD)}, {made})")
    holders += [(f"t{k}", x) for k, (kind, x) in enumerate(compiled.outputs) if kind == "value"]
    holders.sort(key=lambda holder: holder[1] in shared)  # those of shared memory last: see below
    own = sum(place not in shared for _, place in holders)
    for holder, place in holders[:own]:
        w.add(f"{holder} = new(Tensor)", f"{holder}.node = {node(place, None)}")
    for r, k in shared.items():
        # nobody else holds the node or its value: that it becomes another one can't be seen
        w.add(f"sole{r} = getrefcount(n{k}) == {SOLE[0]} and getrefcount(w{k}) == {SOLE[1]} and is_ours(w{k})")
        w.add(f"r{r} = w{k} if sole{r} else {memory(r)}")
        becomes(r, f"r{r}")
    for holder, place in holders[own:]:
        w.add(f"{holder} = new(Tensor)", f"{holder}.node = {node(place, None)}")
    stores = [
        f"{w.name(owner)}.grad = {'None' if place is None else f'g{k}'}"
        for k, (owner, _, place) in enumerate(compiled.gradients)
    ]
    for tensor, _, variable, r in compiled.rebound:
        w.add(f"m{r} = None if sole{r} else {node(r, variable)}" if r in shared else f"m{r} = {node(r, variable)}")
        stores.append(f"{f'if not sole{r}: ' if r in shared else ''}{w.name(tensor)}.node = m{r}")
    entries = [(cell, k) for cell, k in compiled.written if isinstance(cell.owner, dict)]
    stores += [
        f"{w.name(cell.owner)}.{cell.name} = numbers[{k}]"
        for cell, k in compiled.written
        if not isinstance(cell.owner, dict)
    ]
    if entries:
        # the dictionary's own, also where a subclass has another; taking a `map` apart is no call of the bytecode
        owners, keys = tuple([cell.owner for cell, _ in entries]), tuple([cell.name for cell, _ in entries])
        new = "".join([f"numbers[{k}], " for _, k in entries])
        w.add(f"changes = map(put, {w.name(owners)}, {w.name(keys)}, ({new}))")
        stores.append(f"{'_, ' * len(entries)}= changes")
    return stores


def _run_hosts(
    w: Writer,
    compiled: Compiled,
    station: Any,
    arrays: Mapping[int, str],
    foreign: Sequence[str],
) -> None:
    """Run what comes before the last host step, and take the results that host steps make, apart from arrays of the caller's
    (`foreign`). Which old values may be written over is seen afterwards, for host code may get hold of them; nothing is written
    there before."""
    hosts = station.hosts
    results = {place: r for r, place in enumerate(station.fresh)}
    given = [*[arrays[k] for k in hosts.leaves], *[f"r{results[k]}" for k in hosts.fresh]]
    w.objects.update(begin=hosts.run, apart=execution.apart)
    w.add(f"h = begin(({''.join([f'{name}, ' for name in given])}))", "if h is None:", *_give_up(w, compiled))
    for r, place in enumerate(hosts.made):
        if place is not None:
            w.add(f"r{r} = apart(h[{place}], ({', '.join(foreign)},))" if foreign else f"r{r} = h[{place}]")


def _give(w: Writer, compiled: Compiled) -> None:
    """The function's result."""
    made = []
    for k, (kind, x) in enumerate(compiled.outputs):
        if kind == "value":
            made.append(f"t{k}")
        else:
            made.append(_given_back(w, kind, x))
    w.add(f"return {closed(w, compiled.structure, iter(made))}")


def _given_back(w: Writer, kind: str, x: Any) -> str:
    if kind == "copy":
        return f"{w.name(copy)}({w.name(x)})"
    return f"a{x}" if kind == "argument" else f"numbers[{x}]" if kind == "number" else w.name(x)


def _counts_when_sole() -> tuple[int, int, int]:
    """The reference counts that a written function finds: of a node and its value when only a tensor holds them, and of a
    result that it alone holds."""
    w = Writer()
    tensor = object.__new__(Tensor)
    tensor.node = leaf(np.zeros(3), array_type((3,), float64))
    w.objects.update(getrefcount=getrefcount)
    w.add(f"n0 = {w.name(tensor)}.node", "w0 = n0.value", f"r0 = {w.name([np.zeros(3)])}[0]")
    w.add("return getrefcount(n0), getrefcount(w0), getrefcount(r0)")
    found: tuple[int, int, int] = w.function([])()
    return found


SOLE = _counts_when_sole()
