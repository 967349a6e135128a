"""Loops and branches that are said: `scan`, `while_loop`, `fori_loop`, `cond`, `switch`, `map`, `associative_scan`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from adjoint import tree
from adjoint.composites.shaping import flip, stack
from adjoint.control.body import stand_in
from adjoint.control.branch import record_switch
from adjoint.control.repeat import record_while
from adjoint.control.scan import record_loop
from adjoint.control.template import Template, present
from adjoint.dtypes import int64
from adjoint.execution.tiers import tiers
from adjoint.graph import ArrayType, Node, array_type, get_mode, mode
from adjoint.graph.node import place_of
from adjoint.primitives.core import cast, is_scalar, ops, placeholder
from adjoint.primitives.random import EXAMPLES
from adjoint.tensors.conversion import a, as_node
from adjoint.tensors.located import at_user, enter_scope, leave_scope, recorded_inside, recording_at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import _is_array, standing_for

__all__ = ["associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"]


# Stand-ins for Python's numbers that a loop started with and whose dtype may still give way: in loops within its body too.
_weak: ContextVar[frozenset[Node]] = ContextVar("adjoint_weak_carries", default=frozenset())


class _Tree:
    """A tree of arrays: its nodes, its structure, and which leaves are Python's numbers, whose dtype may give way."""

    def __init__(self, operation: str, what: str, value: Any) -> None:
        leaves, self.structure = tree.flatten(value)
        self.leaves = leaves
        for leaf, path in zip(leaves, tree.paths(value), strict=True):
            if not _is_array(leaf):
                raise TypeError(f"{operation}: {what}{path} is {a(leaf)}, not a tensor or a number{at_user()}")
        self.nodes = [as_node(leaf) for leaf in leaves]
        weak = _weak.get()
        self.weak = [leaf.node in weak if isinstance(leaf, Tensor) else is_scalar(leaf) for leaf in leaves]
        self.names = [f"{what}{path}" for path in tree.paths(value)]

    def of(self, nodes: Sequence[Node]) -> Any:
        """The tree with other nodes."""
        return self.structure.unflatten([wrap(x) for x in nodes])

    def arguments(self, nodes: Sequence[Node]) -> Any:
        """The tree to call a function with, of nodes that stand for the leaves or for elements of them."""
        return self.structure.unflatten([standing_for(x, y) for x, y in zip(self.leaves, nodes, strict=True)])

    def giving(self, stand_ins: Sequence[Node], promoted: bool) -> list[Node]:
        """The stand-ins whose dtype may still give way."""
        return [] if promoted else [x for x, weak in zip(stand_ins, self.weak, strict=True) if weak]


def _stand_ins(nodes: Sequence[Node], label: str) -> list[Node]:
    return [stand_in(x, label) for x in nodes]


class _Traced:
    """What a function recorded when it was called on stand-ins: its results, and the scope that they were recorded in."""

    def __init__(
        self, name: str, f: Callable[..., Any], args: Sequence[Any], step: Node | None = None, weak: Sequence[Node] = ()
    ) -> None:
        token = enter_scope(name, 3, user=True)
        self.scope = get_mode().site
        around, weak_around = EXAMPLES.get(), _weak.get()
        try:  # from before it is set: a signal's handler may come right after
            _weak.set(weak_around.union(weak))
            if step is not None:
                EXAMPLES.set((*around, step))
            with mode(grad=True):
                self.result = f(*args)
        finally:
            EXAMPLES.set(around)
            _weak.set(weak_around)
            leave_scope(token)

    def inside(self, node: Node) -> bool:
        """Whether a node was recorded by the function."""
        return recorded_inside(node, self.scope)


def _carry_on(operation: str, given: _Tree, result: Any, promoted: bool) -> tuple[list[Node], list[Node] | None]:
    """The carry that a body returned, as nodes of the types of `given`; or anew what to start with, where Python's numbers
    give way to another dtype."""
    leaves, structure = tree.flatten(result)
    if structure != given.structure:
        want = given.structure.unflatten(["*"] * given.structure.count)
        got = structure.unflatten(["*"] * structure.count)
        raise TypeError(f"{operation}: the body returns the carry {got}, but it started as {want}{at_user()}")
    nodes, start, again = [], list(given.nodes), False
    for i, (leaf, x) in enumerate(zip(leaves, given.nodes, strict=True)):
        if not _is_array(leaf):
            raise TypeError(f"{operation}: the body returns {a(leaf)} as {given.names[i]}{at_user()}")
        y = as_node(leaf, x.dtype)
        if y.type is not x.type and y.shape == x.shape and given.weak[i] and not promoted:
            start[i], again = cast(x, y.dtype), True
        elif y.type != x.type and (y.shape != x.shape or y.dtype is not x.dtype):
            raise TypeError(
                f"{operation}: the body returns {given.names[i]} as {y.type!r}, but it came as {x.type!r}; a carry keeps its "
                f"shape and dtype{at_user()}"
            )
        nodes.append(y)
    return nodes, start if again else None


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    memory: int | None = None,
) -> tuple[Any, Any]:
    """Repeat `carry, y = f(carry, x)` over the leading axis of `xs`: the last carry and all ys, stacked.

    init, xs and what f returns are trees of tensors and numbers; `xs` may be None, then `length` says how often. The carry
    keeps its shapes and dtypes. With `reverse` the slices are gone through from the last to the first, and ys lie where
    their xs do. f is called once, on tensors without values: the loop is one node, however long it is. Tensors that f reads
    from outside are found and differentiated by. Random numbers drawn inside differ from step to step. `unroll` steps
    are recorded as one (True: all of them).

    The reverse pass reads what every step computed; with `memory=n` it remembers n carries at a time and computes the
    rest again, by the schedule of Griewank and Walther (ACM TOMS 26, 2000): 10⁴ steps with 100 carries are computed at most
    three more times. Derivatives of every order, both modes, under `vmap`, `jit` and `checkpoint`.

    Raises TypeError for a carry that changes its type, ValueError where leading axes differ.

    >>> import adjoint as ad
    >>> ad.scan(lambda total, x: (total + x, total * x), 0.0, ad.tensor([1.0, 2.0, 3.0]))
    (Tensor(6.), Tensor([0., 2., 9.]))
    >>> ad.grad(lambda r: ad.scan(lambda x, _: (r * x * (1 - x), None), 0.5, length=3)[0])(2.0)
    Tensor(0.25)
    """
    with recording_at_user():
        start, given = _Tree("scan", "carry", init), _Tree("scan", "xs", xs)
        count = _length("scan", given, length)
        if memory is not None and (not isinstance(memory, int) or memory < 1):
            raise ValueError(f"scan: memory is a number of carries from 1 on, got {memory!r}{at_user()}")
        if unroll is True or (isinstance(unroll, int) and unroll >= count > 1):
            return _unrolled(f, start, given, count, reverse)
        if not isinstance(unroll, int) or unroll < 1:
            raise ValueError(f"scan: unroll is a number of steps from 1 on, got {unroll!r}{at_user()}")
        if unroll > 1:
            return _by_blocks(f, init, xs, given, count, reverse, int(unroll), memory)
        return _scan("scan", f, start, given, count, reverse, memory)


def _scan(
    name: str, f: Callable[..., Any], start: _Tree, given: _Tree, count: int, reverse: bool, memory: int | None
) -> tuple[Any, Any]:
    template, ys = _recorded_step(name, f, start, given)
    numbers = ops.iota(count)
    made = record_loop(template, {}, start.nodes, [numbers, *given.nodes], count, reverse, memory)
    results = [x for x in made if x is not None]
    return start.of(results[: len(start.nodes)]), ys.of(results[len(start.nodes) :])


def _recorded_step(name: str, f: Callable[..., Any], start: _Tree, given: _Tree) -> tuple[Template, _Tree]:
    """The loop of a function's step, and the tree of its ys. What the loop starts with gets the dtypes that it carries."""
    step = placeholder(array_type((), int64), "the number of a step", False)
    slices = [placeholder(array_type(x.shape[1:], x.dtype), f"a slice of {n}", x.dtype.inexact)
              for x, n in zip(given.nodes, given.names, strict=True)]  # fmt: skip
    for promoted in (False, True):
        carries = _stand_ins(start.nodes, f"the carry of {name}")
        traced = _Traced(
            name, f, (start.arguments(carries), given.arguments(slices)), step, start.giving(carries, promoted)
        )
        out = traced.result
        if not isinstance(out, tuple) or len(out) != 2:
            raise TypeError(f"{name}: the function returns (carry, y), it returned {a(out)}{at_user()}")
        moved, again = _carry_on(name, start, out[0], promoted)
        if again is None:
            break
        start.nodes = again
    ys = _Tree(name, "y", out[1])
    return Template.of([*carries], [step, *slices], moved, ys.nodes), ys


class StepOnce:
    """A function of nodes that a scan repeats, recorded once for the types of what it works on and the user's line.

    `make(constants)` gives the function `(carry, row) -> carry`, all tuples of nodes but the row; it reads nothing from
    outside but the constants, None among them, and draws no numbers. The first part of a carry is the step's result.
    """

    MOST = 64  # recorded steps that are kept

    def __init__(self, make: Callable[[Any], Callable[[Any, Any], Any]]) -> None:
        self.make = make
        self.templates: dict[Any, tuple[Template, list[Node]]] = {}

    def scan(
        self, constants: Sequence[Node | None], init: Sequence[Node], rows: Node, reverse: bool
    ) -> tuple[list[Node], Node]:
        """The last carry, and the results of all steps, stacked."""
        given = [x for x in constants if x is not None]
        with recording_at_user():
            here = get_mode()
            types = [None if x is None else x.type for x in constants]
            key = (*types, *[x.type for x in init], rows.type, tiers.deterministic, place_of(here.site, here.offset))
            found = self.templates.get(key)
            if found is None:
                while len(self.templates) >= self.MOST:
                    self.templates.pop(next(iter(self.templates)), None)
                found = self.templates[key] = self._recorded(constants, init, rows)
            template, stand_ins = found
            count = rows.shape[0]
            known = dict(zip(stand_ins, given, strict=True))
            made = record_loop(template, known, init, [ops.iota(count), rows], count, reverse)
        results = [present(x) for x in made]
        return results[: len(init)], results[len(init)]

    def _recorded(
        self, constants: Sequence[Node | None], init: Sequence[Node], rows: Node
    ) -> tuple[Template, list[Node]]:
        inside = [None if x is None else stand_in(x, "a constant") for x in constants]
        step = self.make(inside)

        def body(state: tuple[Tensor, ...], row: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
            new = tuple([wrap(y) for y in step(tuple([y.node for y in state]), row.node)])
            return new, new[0]

        start = _Tree("scan", "carry", tuple([wrap(y) for y in init]))
        template, _ = _recorded_step("scan", body, start, _Tree("scan", "xs", wrap(rows)))
        return template, [x for x in inside if x is not None]


def _length(operation: str, given: _Tree, length: int | None) -> int:
    """How many steps there are."""
    found = length
    for x, name in zip(given.nodes, given.names, strict=True):
        if x.ndim == 0:
            raise ValueError(f"{operation}: {name} has no axis to go along; its shape is (){at_user()}")
        if found is not None and x.shape[0] != found:
            raise ValueError(f"{operation}: {name} has {x.shape[0]} slices where {found} are needed{at_user()}")
        found = x.shape[0]
    if found is None:
        raise ValueError(f"{operation}: give xs or length{at_user()}")
    if not isinstance(found, int) or found < 0:
        raise ValueError(f"{operation}: length is a number from 0 on, got {length!r}{at_user()}")
    return found


def _unrolled(f: Callable[..., Any], start: _Tree, given: _Tree, count: int, reverse: bool) -> tuple[Any, Any]:
    carry, found = start.of(start.nodes), []
    for t in range(count - 1, -1, -1) if reverse else range(count):
        here = _Tree("scan", "carry", carry)
        state = here.structure.unflatten(  # what was a number is one in each step
            [
                standing_for(x, y.node) if isinstance(y, Tensor) else y
                for x, y in zip(start.leaves, here.leaves, strict=True)
            ]
        )
        carry, y = f(state, given.arguments([ops.reshape(_cut(x, 0, t, t + 1), x.shape[1:]) for x in given.nodes]))
        _carry_on("scan", here, carry, promoted=False)
        found.append(_Tree("scan", "y", y))
    if reverse:
        found.reverse()
    stacked = [stack(list(nodes), 0) for nodes in zip(*[y.nodes for y in found], strict=True)]
    return carry, found[0].of(stacked) if found else None


def _by_blocks(
    f: Callable[..., Any], init: Any, xs: Any, given: _Tree, count: int, reverse: bool, block: int, memory: int | None
) -> tuple[Any, Any]:
    """A scan over blocks of steps, and one over what is left."""
    whole, rest = divmod(count, block)

    def several(carry: Any, parts: Any) -> tuple[Any, Any]:
        inner = _Tree("scan", "xs", parts)
        return _unrolled(f, _Tree("scan", "carry", carry), inner, block, reverse)

    first = (rest, count) if reverse else (0, whole * block)
    last = (0, rest) if reverse else (whole * block, count)
    blocks = [ops.reshape(_cut(x, 0, *first), (whole, block, *x.shape[1:])) for x in given.nodes]
    start = _Tree("scan", "carry", init)
    carry, ys = _scan("scan", several, start, _with(given, blocks), whole, reverse, memory)
    flat = _Tree("scan", "y", ys)
    parts = [ops.reshape(y, (whole * block, *y.shape[2:])) for y in flat.nodes]
    if rest:
        left = _with(given, [_cut(x, 0, *last) for x in given.nodes])
        further = _Tree("scan", "carry", carry)
        further.leaves = start.leaves  # what was a number is one still
        carry, more = _scan("scan", f, further, left, rest, reverse, memory)
        others = _Tree("scan", "y", more).nodes
        order = [(b, p) if reverse else (p, b) for p, b in zip(parts, others, strict=True)]
        parts = [ops.concat(list(pair), 0) for pair in order]
    return carry, flat.of(parts)


def _cut(x: Node, axis: int, start: int, stop: int, step: int = 1) -> Node:
    """Part of x along one axis."""
    count = len(range(start, stop, step))
    return ops.slice_(x, tuple([(start, count, step) if k == axis else (0, n, 1) for k, n in enumerate(x.shape)]))


def _with(given: _Tree, nodes: list[Node]) -> _Tree:
    other = object.__new__(_Tree)
    other.structure, other.weak, other.names, other.nodes = given.structure, given.weak, given.names, nodes
    other.leaves = given.leaves
    return other


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """f of every slice of `xs` along its leading axis, one after the other, stacked: `vmap` in little memory.

    >>> import adjoint as ad
    >>> ad.map(lambda x: x * x.sum(), ad.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([[ 3.,  6.],
            [21., 28.]])
    """
    with recording_at_user():
        given = _Tree("map", "xs", xs)
        count = _length("map", given, None)
        _, ys = _scan(
            "map", lambda _, x: (None, f(x)), _Tree("map", "carry", None), given, count, reverse=False, memory=None
        )
    return ys


def while_loop(cond: Callable[[Any], Any], body: Callable[[Any], Any], init: Any, *, memory: int | None = None) -> Any:
    """Repeat `carry = body(carry)` while `cond(carry)` is true.

    The carry, a tree of tensors and numbers, keeps its shapes and dtypes; `cond` returns one bool. Both are called once, on
    tensors without values. Differentiates in both modes, to any order: how often the loop runs is known once it has run, so
    the reverse pass runs it again, remembers the carries, and goes back along them. With `memory=n` it remembers at most n
    carries and computes the others again. Under `vmap` the loop goes on until no example goes on.

    >>> import adjoint as ad
    >>> halved = lambda x: ad.while_loop(lambda x: x > 1, lambda x: x / 2, x)
    >>> halved(20.0), ad.grad(halved)(20.0)
    (Tensor(0.625), Tensor(0.0312))
    """
    with recording_at_user():
        start = _Tree("while_loop", "carry", init)
        if memory is not None and (not isinstance(memory, int) or memory < 1):
            raise ValueError(f"while_loop: memory is a number of carries from 1 on, got {memory!r}{at_user()}")
        step = placeholder(array_type((), int64), "the number of a step", False)
        for promoted in (False, True):
            carries = _stand_ins(start.nodes, "the carry of while_loop")
            traced = _Traced("while_loop", body, (start.arguments(carries),), step, start.giving(carries, promoted))
            moved, again = _carry_on("while_loop", start, traced.result, promoted)
            if again is None:
                break
            start.nodes = again
        asked = _Traced("while_loop", cond, (start.arguments(carries),), step).result
        condition = _one_bool("while_loop", asked)
        one = ops.add(step, ops.full(1, step.type))
        made = record_while(
            [*carries, step], condition, [*moved, one], [*start.nodes, ops.full(0, step.type)], None, memory
        )
    return start.of(made[: len(carries)])


def _one_bool(operation: str, value: Any) -> Node:
    if not _is_array(value):
        raise TypeError(f"{operation}: the condition returned {a(value)}, not a bool{at_user()}")
    node = as_node(value)
    if node.shape != ():
        raise TypeError(
            f"{operation}: the condition has shape {node.shape}; it is one bool: use .any() or .all(){at_user()}"
        )
    return node if node.dtype.kind == "b" else ops.not_equal(node, 0)


def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], init: Any, *, memory: int | None = None) -> Any:
    """Repeat `carry = body(i, carry)` for i from `lower` up to, and without, `upper`.

    Bounds that are Python's or NumPy's integers make a `scan`, bounds that are tensors a `while_loop`. See there. Raises
    TypeError for bounds that aren't single integers.

    >>> import adjoint as ad
    >>> ad.fori_loop(0, 4, lambda i, x: x + i, 10)
    Tensor(16)
    """
    if isinstance(lower, int | np.integer) and isinstance(upper, int | np.integer):
        lower, count = int(lower), max(int(upper) - int(lower), 0)
        with recording_at_user():
            numbers = _Tree("fori_loop", "i", wrap(ops.add(ops.iota(count), lower)))
            start = _Tree("fori_loop", "carry", init)
            return _scan(
                "fori_loop",
                lambda c, i: (body(wrap(i.node, number=True), c), None),
                start,
                numbers,
                count,
                reverse=False,
                memory=memory,
            )[0]
    with recording_at_user():
        first, last = _bound("lower", lower), _bound("upper", upper)
    out = while_loop(
        lambda c: c[0] < wrap(last),
        lambda c: (c[0] + 1, body(wrap(c[0].node, number=True), c[1])),
        (wrap(first), init),
        memory=memory,
    )
    return out[1]


def _bound(name: str, value: Any) -> Node:
    if not _is_array(value):
        raise TypeError(f"fori_loop: {name} is {a(value)}, not an integer{at_user()}")
    node = as_node(value)
    if node.shape != () or node.dtype.kind not in "iu":
        raise TypeError(
            f"fori_loop: {name} is {node.type}; it is one integer: round it, or use ad.while_loop{at_user()}"
        )
    return cast(node, int64)


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """`true_fun(*operands)` if `pred`, one bool, is true, else `false_fun(*operands)`: only that one is computed.

    Both are called once, on tensors without values, and return trees of equal structure, shapes and dtypes. The branch that
    isn't taken has no part in the derivatives. Under `vmap` with a batched `pred` both are computed, and one is selected.

    >>> import adjoint as ad
    >>> f = lambda x: ad.cond(x > 0, lambda x: ad.sqrt(x), lambda x: 0 * x, x)
    >>> ad.grad(f)(4.0), ad.grad(f)(-4.0)
    (Tensor(0.25), Tensor(0.))
    """
    with recording_at_user():
        chosen = _one_bool("cond", pred)
        return _switch("cond", cast(chosen, int64), (false_fun, true_fun), operands)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """`branches[index](*operands)`: only that branch is computed. An index out of bounds takes the nearest branch.

    See `cond`. Raises TypeError for an index that isn't one integer, ValueError for no branches.

    >>> import adjoint as ad
    >>> ad.switch(1, [lambda x: x, lambda x: x**2, lambda x: x**3], ad.tensor(3.0))
    Tensor(9.)
    """
    with recording_at_user():
        if not branches:
            raise ValueError(f"switch: there are no branches{at_user()}")
        node = as_node(index)
        if node.shape != () or node.dtype.kind not in "iu":
            raise TypeError(f"switch: the index is one integer, got {node.type!r}{at_user()}")
        return _switch("switch", cast(node, int64), branches, operands)


def _switch(name: str, index: Node, branches: Sequence[Callable[..., Any]], operands: Sequence[Any]) -> Any:
    given = _Tree(name, "operand", tuple(operands))
    inputs = _stand_ins(given.nodes, f"an operand of {name}")
    traces = [_Traced(name, f, given.arguments(inputs)) for f in branches]
    found = [_Tree(name, "result", traced.result) for traced in traces]
    first = found[0]
    for other in found[1:]:
        if other.structure != first.structure:
            raise TypeError(f"{name}: the branches return different structures{at_user()}")
    columns = []
    for k, nodes in enumerate(zip(*[t.nodes for t in found], strict=True)):
        columns.append(_alike(name, first.names[k], nodes, [t.weak[k] for t in found]))
    outputs = [list(nodes) for nodes in zip(*columns, strict=True)] or [[] for _ in found]
    if not columns:
        return first.of([])
    known = dict(zip(inputs, given.nodes, strict=True))
    made = record_switch(index, outputs, lambda x: any([t.inside(x) for t in traces]), known)
    return first.of(made)


def _alike(name: str, what: str, nodes: Sequence[Node], weak: Sequence[bool]) -> list[Node]:
    """One result of all branches. Python's numbers take the dtype of the others."""
    strong = [x for x, w in zip(nodes, weak, strict=True) if not w] or list(nodes)
    types: list[ArrayType] = [x.type for x in strong]
    if any([t.shape != types[0].shape or t.dtype is not types[0].dtype for t in types]):
        kinds = " and ".join(dict.fromkeys([repr(t) for t in types]))
        raise TypeError(f"{name}: the branches return {what} as {kinds}; make shapes and dtypes the same{at_user()}")
    return [
        cast(ops.broadcast_to(x, types[0].shape) if w else x, types[0].dtype) for x, w in zip(nodes, weak, strict=True)
    ]


def associative_scan(f: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """All partial results f(f(x0, x1), x2), … along an axis, for an associative f of two trees of slices.

    f is called on many slices at once, so it works elementwise along that axis, as `vmap` makes any function do. About
    2 log₂ n calls of f are recorded, over arrays. (G. Blelloch, "Prefix sums and their applications", 1990.)

    >>> import adjoint as ad
    >>> ad.associative_scan(ad.maximum, ad.tensor([1.0, 3.0, 2.0, 5.0, 4.0]))
    Tensor([1., 3., 3., 5., 5.])
    """
    with recording_at_user():
        given = _Tree("associative_scan", "elems", elems)
        axes = [axis + x.ndim if axis < 0 else axis for x in given.nodes]
        for x, k, name in zip(given.nodes, axes, given.names, strict=True):
            if not 0 <= k < x.ndim:
                raise ValueError(f"associative_scan: {name} of shape {x.shape} has no axis {axis}{at_user()}")
        counts = {x.shape[k] for x, k in zip(given.nodes, axes, strict=True)}
        if len(counts) != 1:
            raise ValueError(f"associative_scan: elems have {sorted(counts)} slices along axis {axis}{at_user()}")
        return _Prefixes(f, given, axes, reverse).of_all()


class _Prefixes:
    def __init__(self, f: Callable[[Any, Any], Any], given: _Tree, axes: list[int], reverse: bool) -> None:
        self.f, self.given, self.axes, self.reverse = f, given, axes, reverse

    def of_all(self) -> Any:
        nodes = self.flipped(self.given.nodes)
        return self.given.of(self.flipped(self.prefixes(nodes)))

    def flipped(self, nodes: list[Node]) -> list[Node]:
        return [flip(x, (k,)) for x, k in zip(nodes, self.axes, strict=True)] if self.reverse else nodes

    def cut(self, nodes: list[Node], start: int, stop: int, step: int = 1) -> list[Node]:
        return [_cut(x, k, start, stop, step) for x, k in zip(nodes, self.axes, strict=True)]

    def together(self, left: list[Node], right: list[Node]) -> list[Node]:
        made = _Tree("associative_scan", "result", self.f(self.given.of(left), self.given.of(right)))
        if made.structure != self.given.structure:
            raise TypeError(f"associative_scan: the function returns another structure than its arguments{at_user()}")
        return made.nodes

    def prefixes(self, nodes: list[Node]) -> list[Node]:
        """Of pairs first; then what stands between them."""
        count = nodes[0].shape[self.axes[0]]
        if count < 2:
            return nodes
        odd = self.prefixes(self.together(self.cut(nodes, 0, count - 1, 2), self.cut(nodes, 1, count, 2)))
        before = self.cut(odd, 0, count // 2 - 1) if count % 2 == 0 else odd
        later = self.cut(nodes, 2, count, 2)
        even = self.together(before, later) if count > 2 else []
        first = self.cut(nodes, 0, 1)
        if even:
            first = [ops.concat([x, y], k) for x, y, k in zip(first, even, self.axes, strict=True)]
        return [self.interleaved(x, y, k, count) for x, y, k in zip(first, odd, self.axes, strict=True)]

    def interleaved(self, even: Node, odd: Node, axis: int, count: int) -> Node:
        shape = (*odd.shape[:axis], count, *odd.shape[axis + 1 :])

        def spread(x: Node, start: int) -> Node:
            slices = tuple([(start, x.shape[axis], 2) if k == axis else (0, n, 1) for k, n in enumerate(x.shape)])
            return ops.embed(x, shape, slices)

        if even.dtype.kind == "b":
            return ops.logical_or(spread(even, 0), spread(odd, 1))
        return ops.add(spread(even, 0), spread(odd, 1))
