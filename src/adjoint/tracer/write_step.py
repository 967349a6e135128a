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

import struct
from collections.abc import Callable, Container, Mapping, Sequence
from copy import copy
from inspect import getattr_static
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import execution, tracing
from adjoint.dtypes import AUTOCAST, default_dtype
from adjoint.graph import Node, Variable, get_mode
from adjoint.primitives.core import LEAF
from adjoint.primitives.random import EXAMPLES
from adjoint.runtime.memory import new_array
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.python_source import Writer, closed, open_containers
from adjoint.tracer.write_results import OF_MANY, Results, are_many, undrawn
from adjoint.tree import Structure

if TYPE_CHECKING:
    from adjoint.tracer.compiled import Compiled

UNUSUAL = object()  # what a written function gives where the general way is to be taken

NODE = getattr_static(Tensor, "node")
UNPACKABLE = (OverflowError, TypeError, struct.error)  # what numbers raise that aren't of their dtype
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
    captured = {id(source): k for k, (source, position) in enumerate(compiled.sources) if position is None}
    partners = {place: captured[id(tensor)] for tensor, _, _, place in compiled.rebound if id(tensor) in captured}
    if len({place for _, _, _, place in compiled.rebound}) < len(compiled.rebound):
        return None
    station = compiled.replay.station(partners)
    if station is None:
        return None
    station.prepare(bool(compiled.cells))
    w = Writer()
    w.objects.update(
        UNUSUAL=UNUSUAL, active=tracing.active, examples=EXAMPLES.get, tracing=tracing, get_mode=get_mode, Node=Node,
        autocast=AUTOCAST.get,
        default_dtype=default_dtype, Tensor=Tensor, ndarray=np.ndarray, new=object.__new__, LEAF=LEAF,
        empty=np.empty, new_array=new_array, run=station.function, arguments=station.arguments, enter=station.enter,
        **station.names, failure=station.failure, status=station.status, forget=station.forget_failure, fail=station.fail,
        lock=station.lock, locked=station.lock.locked, getrefcount=getrefcount,
        is_ours=execution.is_ours, dget=dict.__getitem__, put=dict.__setitem__, **OF_MANY,
    )  # fmt: skip
    _check_surroundings(w, compiled, grad, station)
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
    # a program that sees for itself whether it is free needs no lock, unless numbers are written down for it
    locks = station.enter is None or (bool(compiled.cells) and len(station.packs) < len(station.blocks))
    if locks:
        w.unless("not locked()")  # nor wait for it: the holder may be this very thread, interrupted by a finalizer
        w.add("with lock:")
    body = Writer()
    body.objects, body._names = w.objects, w._names
    objects = _point(body, compiled, station, arrays)
    foreign = [f"v{k}" for k, x in enumerate(arguments) if isinstance(x, np.ndarray)]
    results = Results(body, compiled, station, arrays, objects, foreign)
    stores = results.write()
    looked = {id(variable) for variable, _, _ in compiled.looked}
    held = [owner for owner, _, _ in compiled.gradients if id(owner) not in looked]
    if are_many(compiled):
        body.add(f"held = [*map(grad_of, {w.name(held)})]")
    else:
        body.add(*[f"b{k} = {w.name(owner)}.grad" for k, owner in enumerate(held)])
    body.add(*station.named(objects, [f"q{k}" for k in range(len(station.packs))]))
    _run(body, station, bool(stores or compiled.drawn), results.give_up())
    body.add(*stores)
    lines = body.lines
    if compiled.drawn:
        draw, undo = _drawn(w, compiled), undrawn(w, compiled)
        lines = [*draw, "    try:", *["    " + line for line in lines], "    except BaseException:"]
        lines += [*["        " + line for line in undo], "        raise"]
    w.lines += ["    " + line for line in lines] if locks else lines
    _give(w, compiled)
    return w.function(parameters), station


def _check_surroundings(w: Writer, compiled: Compiled, grad: bool, station: Any) -> None:
    attributes = w.name(compiled.attributes)
    w.unless(
        f"active() is None and not examples() and (tracing.epoch == {attributes}.epoch or {attributes}.are_same())"
    )
    w.unless(
        f"get_mode().grad is {grad} and default_dtype() is {w.name(default_dtype())} and autocast() is {w.name(AUTOCAST.get())}"
    )
    compiled.guards.write(w, "UNUSUAL", station.holding)


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
    if are_many(compiled):
        _read_many(w, compiled)
        for k in range(len(compiled.names)):
            _in_order(w, f"w{k}", seen)
        return
    for k, (tensor, type_, tracked, variable) in enumerate(compiled.names):
        w.add(f"n{k} = {w.name(tensor)}.node")
        conditions = [f"n{k}.type is {w.name(type_)}", f"n{k}.tracked is {tracked}"]
        if variable is not None:
            conditions.append(f"n{k}.attributes is {w.name(variable)}")
        w.unless(" and ".join(conditions))
        w.add(f"w{k} = n{k}.value")
        _in_order(w, f"w{k}", seen)


def _read_many(w: Writer, compiled: Compiled) -> None:
    """The nodes of all names in a list, and their values in another one and as w0, w1, ..."""
    tensors, types, tracked, variables = zip(*compiled.names, strict=True)
    owned, own = [x is not None for x in variables], [x for x in variables if x is not None]
    w.add(f"nodes = [*map(node_of, {w.name(tensors)})]")
    w.unless(f"[*map(kind_of, nodes)] == {w.name([*zip(types, tracked, strict=True)])}")
    w.unless(f"all(map(is_, map(attributes_of, compress(nodes, {w.name(owned)})), {w.name(own)}))")
    w.add("values = [*map(value_of, nodes)]")
    w.unpack([f"w{k}" for k in range(len(tensors))], "values")


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
    listed = {
        k: cell
        for k, (cell, is_argument) in enumerate(compiled.cells)
        if are_many(compiled) and not is_argument and isinstance(cell.owner, dict) and type(cell.name) is not tuple
    }
    if listed:
        columns = [[getattr(cell, column) for cell in listed.values()] for column in ("owner", "name", "kind")]
        owners, keys, kinds = map(w.name, columns)
        w.add(f"    {', '.join([f'c{k}' for k in listed])}, = entries = [*map(dget, {owners}, {keys})]")
        w.add(f"    if not all(map(is_, map(type, entries), {kinds})): return UNUSUAL")
    for k, (cell, is_argument) in enumerate(compiled.cells):
        if k in listed:
            continue
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
    if station.packs:
        w.add("try:")
        for k, (pack, members) in enumerate(station.packs):
            w.add(f"    q{k} = {w.name(pack)}({_listed(compiled, members)})")
        w.add(f"except {w.name(UNPACKABLE)}: return UNUSUAL")


def _drawn(w: Writer, compiled: Compiled) -> list[str]:
    """Lines that take the call's share of what is drawn, unless another thread has drawn since the numbers were read. No
    call stands among them."""
    looks = [f"{w.name(cell.owner)}.{cell.name} is not c{at}" for cell, _, at in compiled.drawn]
    lines = [f"    if {' or '.join(looks)}: return UNUSUAL"]
    return lines + [f"    {w.name(cell.owner)}.{cell.name} = numbers[{k}]" for cell, k, _ in compiled.drawn]


def _run(w: Writer, station: Any, changes: bool, give_up: Sequence[str]) -> None:
    """Run the program. Where the call `changes` anything, none of the bytecode's calls does: see above."""
    if station.enter is not None:
        w.add("x, = map(enter, (given,))" if changes else "x = enter(given)", "if x is not None:")
        w.add(*[f"    if x: {line.strip()}" if "forget" in line else line for line in give_up])
    elif station.function is not None:
        w.add("_, = map(run, arguments)", "if failure[0] or status.value:")
        w.add(*(["    fail()"] if station.hosts else give_up))


def _listed(compiled: Compiled, members: Sequence[int]) -> str:
    """Numbers of the program's, one behind the other."""
    first, last = compiled.known + members[0], compiled.known + members[-1]
    if len(members) > 1 and last - first == len(members) - 1 and list(members) == sorted(members):
        return f"*numbers[{first}:{last + 1}]"
    return ", ".join([f"numbers[{compiled.known + k}]" for k in members])


def _point(w: Writer, compiled: Compiled, station: Any, arrays: Mapping[int, str]) -> dict[int, str]:
    """Write the numbers where the program reads them, unless it is given them; the names of the objects that it reads, by their
    numbers."""
    if compiled.cells and len(station.packs) < len(station.blocks):
        w.objects["last"] = [None]
        w.add("if numbers != last[0] or 0 in numbers:", "    last[0] = None")  # 0 equals -0
        for block, members in station.blocks:
            w.add(f"    {w.name(block)}[:] = [{_listed(compiled, members)}]")
        w.add("    last[0] = numbers")
    return {k: array for leaf, array in arrays.items() if (k := station.leaf(leaf)) is not None}


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
