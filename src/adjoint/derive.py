"""Derivatives, as graphs made from graphs.

`reverse` applies each primitive's rule once, in reverse topological order, and adds up what meets. Forward mode is its
transpose: the reverse graph is linear in the cotangents it starts from, so reversing it once more, with the tangents as
cotangents and with respect to a dummy cotangent, gives the tangent of the output; the dummy itself drops out.
(Found independently several times; see e.g. A. Radul et al., "You only linearize once", POPL 2023, for its converse.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from adjoint.graph import MODE, Kept, Mode, Node, Primitive, get_mode, mode, record, substitute, topological
from adjoint.graph.collector import without_collector
from adjoint.primitives import callees
from adjoint.primitives.callees import CALL
from adjoint.primitives.core import SELECT, no_kernel, ops, placeholder, select, zeros
from adjoint.primitives.custom import CUSTOM, HOST_CALL, first_inputs, hooks_of, unhooked
from adjoint.primitives.structural import CONCAT, INDEX

__all__ = ["PULLBACK", "checkpoint", "expand", "forward", "pullback", "reverse"]

Nodes = Sequence[Node]
Rules = Mapping[Primitive, Callable[..., Any]]

OF_ELEMENTS = INDEX.vjp  # `put_back`, which adds to what is there as well


def reverse(
    outputs: Nodes, cotangents: Sequence[Node | None], wrt: Nodes, *, stop: bool = False, linear: bool = False,
    release: bool = False,
) -> list[Node | None]:  # fmt: skip
    """The cotangents of `wrt`: None where the outputs don't depend on it (or depend on it through integers alone).

    With `stop`, no node of `wrt` depends on another, and the walk ends at them. `linear` asks for a graph that
    will be transposed: no value in it may depend on the cotangents. The cotangent of a node with hooks is what they leave.
    `release` says that nothing will be differentiated again for the sake of `wrt`: where these alone make nodes tracked and the
    rules are plain ones, the graph of the cotangents is recorded untracked, and that of the outputs is from then on.
    """
    return _reverse(outputs, cotangents, wrt, stop, set(), _LINEAR if linear else _PLAIN, release)[0]


def _reverse(
    outputs: Nodes, cotangents: Sequence[Node | None], wrt: Nodes, stop: bool, passive: set[Node], instead: Rules,
    release: bool = False,
) -> tuple[list[Node | None], list[Node], set[Node]]:  # fmt: skip
    """The cotangents, and the differentiated nodes in topological order and as a set.

    `passive` are nodes known not to depend on `wrt`; it is added to. `instead` are rules that replace those of primitives.
    """
    below = [x if x.op is not CUSTOM or hooks_of(x) is None else x.inputs[0] for x in wrt]
    order, active = without_collector(_active, outputs, set(below), stop, passive)
    if release and without_collector(_are_alone, order, below, passive):
        with mode(grad=False):
            found = without_collector(_accumulate, outputs, cotangents, order, active, instead, stop)
        for node in (*order, *below):
            node.tracked = False
    else:
        found = without_collector(_accumulate, outputs, cotangents, order, active, instead, stop)
    return [found.get(x) for x in below], order, active


def _are_alone(order: list[Node], wrt: Nodes, passive: set[Node]) -> bool:
    """Whether nothing but `wrt` makes the differentiated nodes tracked, by rules that only record what they give: others may
    look at whether gradients are on, or differentiate themselves."""
    if any([x.tracked for node in wrt for x in node.inputs]) or any([x.tracked for x in passive]):
        return False
    return all([type(op.vjp) is tuple or op is CONCAT for op in {node.op for node in order}])


def _accumulate(
    outputs: Nodes, cotangents: Sequence[Node | None], order: list[Node], active: set[Node], instead: Rules, ends: bool
) -> dict[Node, Node]:
    """The cotangents of all differentiated nodes: each rule applied once, in reverse topological order. With `ends`, only of
    those that aren't in the order."""
    cotangent: dict[Node, Node] = {}
    get = cotangent.get
    taken: Any = cotangent.pop if ends else get
    several: dict[Node, list[Node | None]] = {}
    add, put_back = ops.add, ops.put_back
    for y, u in zip(outputs, cotangents, strict=True):
        if u is not None and y in active:
            cotangent[y] = add(cotangent[y], u) if y in cotangent else u
    outer = get_mode()
    inner = Mode(outer.grad, None, 0, outer.outer)
    try:  # from before the mode is set: a signal's handler may come right after
        MODE.set(inner)
        for node in reversed(order):
            u = taken(node, None)
            if u is None and node not in several:
                continue
            inputs = node.inputs
            inner.site, inner.offset = node.site, node.offset
            op = node.op
            rules = op.vjp
            if rules is OF_ELEMENTS:  # what loops in Python record most
                x = inputs[0]
                cotangent[x] = put_back(get(x), u, node)
            elif type(rules) is tuple:
                for x, rule in zip(inputs, rules):  # noqa: B905 - as long as each other by construction, and the hot loop
                    if rule is not None and x in active:
                        v = rule(u, node, *inputs)
                        if v is not None:
                            old = get(x)
                            cotangent[x] = v if old is None else add(old, v)
            elif op is SELECT:
                (x,) = inputs
                if x.op is PULLBACK:
                    x = written_out(node)
                    old = get(x)
                    if x in active and u is not None:
                        cotangent[x] = u if old is None else add(old, u)
                elif x in active:
                    slots = several.setdefault(x, [None] * len(x.type))
                    old = slots[node.attributes]
                    slots[node.attributes] = u if old is None or u is None else add(old, u)
            elif callable(rules):
                wants = [x in active for x in inputs]
                several_inputs: Callable[..., Any] = instead.get(op, rules)
                for x, want, v in zip(inputs, wants, several_inputs(several.get(node, u), node, wants), strict=True):
                    if want and v is not None:
                        old = get(x)
                        cotangent[x] = v if old is None else add(old, v)
    finally:
        MODE.set(outer)
    return cotangent


def _active(outputs: Nodes, wanted: set[Node], stop: bool, passive: set[Node]) -> tuple[list[Node], set[Node]]:
    """The nodes on a differentiable path from `wanted` to the outputs, in topological order, and as a set."""
    order: list[Node] = []
    active: set[Node] = set()
    stack = list(outputs)
    pop, push = stack.pop, stack.append
    while stack:
        node = stack[-1]
        if node in active or node in passive:
            pop()
            continue
        if node in wanted:
            if stop or not node.tracked:
                active.add(node)
                pop()
                continue
            on_path = True
        elif not node.tracked:
            passive.add(node)
            pop()
            continue
        else:
            on_path = False
        ready = True
        inputs = node.inputs
        if node.op is SELECT and inputs[0].op is PULLBACK:
            inputs = (written_out(node),)
        for x in inputs:
            if x in active:
                on_path = True
            elif x not in passive:
                if x.tracked or x in wanted:
                    push(x)
                    ready = False
                else:
                    passive.add(x)
        if ready:
            pop()
            if on_path and (type(node.type) is tuple or node.type.inexact):
                active.add(node)
                order.append(node)
            else:
                passive.add(node)
    return order, active


def forward(outputs: Nodes, wrt: Nodes, tangents: Sequence[Node | None]) -> list[Node | None]:
    """The tangents of the outputs: None where one doesn't depend on `wrt`. Raises RuntimeError for a custom rule that
    is not linear in its cotangent."""
    pairs = [(x, t) for x, t in zip(wrt, tangents, strict=True) if t is not None]
    sources = [x for x, _ in pairs]
    with mode(grad=True):
        dummies = [placeholder(y.type, "dummy cotangent") if y.type.inexact else None for y in outputs]
        primal: set[Node] = set()
        first, order, active = _reverse(outputs, dummies, sources, stop=True, passive=primal, instead=_LINEAR)
        primal |= active
        linear = [(g, t) for g, (_, t) in zip(first, pairs, strict=True) if g is not None]
        real_dummies = [d for d in dummies if d is not None]
        found, _, _ = _reverse(
            [g for g, _ in linear], [t for _, t in linear], real_dummies, stop=True, passive=set(primal), instead=_PLAIN
        )
    custom = [node for node in order if node.op is CUSTOM or node.op is HOST_CALL]
    if custom:
        found = _without_dummies(found, set(real_dummies), primal, custom)
    result = iter(found)
    return [None if d is None else next(result) for d in dummies]


def _without_dummies(
    results: list[Node | None], dummies: set[Node], primal: set[Node], custom: Iterable[Node]
) -> list[Node | None]:
    """The results, which read no dummy cotangent. A checkpoint that a rule differentiates no longer waits for one.
    Raises RuntimeError where one is left, of a rule that isn't linear."""
    order = topological([x for x in results if x is not None], lambda node: node not in primal)
    if dummies.isdisjoint(order):
        return results
    at_once: dict[Node, Node] = {}
    for node in order:
        if node.op is AFTER and node not in primal:
            (at_once[node],) = substitute(node.inputs[:1], at_once)
    found = iter(substitute([x for x in results if x is not None], at_once))
    results = [None if x is None else next(found) for x in results]
    order = topological([x for x in results if x is not None], lambda node: node not in primal)
    if not dummies.isdisjoint(order):
        rules = [n.attributes[-1] for n in custom if n.op is CUSTOM]
        names = sorted({str(rule.name) for rule in rules if rule.transposed is None})
        raise RuntimeError(
            f"jvp: the backward rule of {', '.join(names) or 'a host call'} is not linear in its cotangent, so "
            "forward mode cannot be derived from it; give the forward rule with def_jvp"
        )
    return results


# Checkpoints: outputs whose reverse pass computes them anew from the inputs -------------------------------------------


def _recompute(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    count = node.attributes
    cotangents = u if isinstance(node.type, tuple) else [u]
    outputs, inputs = node.inputs[:count], node.inputs[count:]
    given = tuple([v for v in cotangents if v is not None])
    fresh = []
    for x in inputs:
        anew = record(AFTER, (x, *given), None, x.type)
        anew.tracked = x.tracked
        fresh.append(anew)
    copies = substitute(outputs, dict(zip(inputs, fresh, strict=True)))
    return [None] * count + reverse(copies, cotangents, fresh, stop=True)


# The same value, read only once the other inputs are there. What follows from it is computed anew and at that time: its
# inputs differ, so nothing merges with what was computed before.
AFTER = Primitive(
    "after", lambda attributes, type: lambda x, *others: x,
    lambda u, out, wanted: [u, *[None] * (len(out.inputs) - 1)], view=True,
    passes_on=True, waits=True, linear=True,
)  # fmt: skip
CHECKPOINT = Primitive("checkpoint", first_inputs, _recompute, view=True, passes_on=True)


def checkpoint(outputs: Nodes, inputs: Nodes) -> list[Node]:
    """The outputs, with nothing remembered between them and the inputs: all tracked nodes that they depend on."""
    single = len(outputs) == 1
    node = record(CHECKPOINT, (*outputs, *inputs), len(outputs), outputs[0].type if single else
                  tuple([x.type for x in outputs]))  # fmt: skip
    return [node] if single else [select(node, i) for i in range(len(outputs))]


def _straight_through(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    # forward mode remembers nothing anyway: it goes through the operations themselves
    cotangents = u if isinstance(node.type, tuple) else [u]
    return [*cotangents, *[None] * (len(node.inputs) - node.attributes)]


def _custom_linear(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    return node.attributes[1].linear(u, node)  # type: ignore[no-any-return]


_PLAIN: Rules = {}
_LINEAR: dict[Primitive, Callable[..., Any]] = {CUSTOM: _custom_linear, CHECKPOINT: _straight_through}
_BEGUN: Rules = {CUSTOM: unhooked}  # a pullback is recorded where no custom rule is on the way: hooks came later


def transposes(op: Primitive, rule: Any) -> None:
    """Let an operation have another rule, called like its `vjp`, in the graph that forward mode transposes."""
    _LINEAR[op] = rule


def differentiable(outputs: Nodes, sources: Iterable[Node]) -> set[Node]:
    """The nodes below the outputs that depend on the sources by a differentiable path, the sources that they meet included."""
    return _active(outputs, set(sources), stop=True, passive=set())[1]


# The reverse pass as one lazy node ------------------------------------------------------------------------------------


class Deferred:
    """The reverse pass that a pullback stands for. `stop` says that no cotangent is asked of what another one depends on,
    `again` that there may be another reverse pass of the same graph; `found` holds the cotangents as graph, once somebody has
    needed them."""

    __slots__ = ("again", "found", "stop")

    def __init__(self, stop: bool, again: bool) -> None:
        self.stop = stop
        self.again = again
        self.found: dict[None, list[Node]] = {}


def pullback(
    output: Node, cotangent: Node, wrt: Nodes, *, stop: bool = False, tracked: bool = False, again: bool = False
) -> list[Node]:
    """The cotangents of `wrt` as outputs of one node. Evaluation looks up the plan of a structure seen before and derives the
    reverse graph only for a new one. With `stop`, no node of `wrt` depends on another. What is `tracked` is written out as
    ordinary graph where it is differentiated again. What the reverse pass has read is kept if it may come `again`."""
    mode = get_mode()
    site, offset, types = mode.site, mode.offset, tuple([x.type for x in wrt])
    node = Node(PULLBACK, (output, cotangent, *wrt), Deferred(stop, again), types, site, offset, tracked)
    return [Node(SELECT, (node,), i, type, site, offset, tracked) for i, type in enumerate(types)]


def derive_pullback(node: Node) -> list[Node]:
    """What a pullback stands for: the cotangents as graph, tracked where it is."""
    output, cotangent, *wrt = node.inputs
    with mode(grad=node.tracked):
        found = _reverse([output], [cotangent], wrt, node.attributes.stop, set(), _BEGUN)[0]
        return [zeros(x.type) if g is None else g for g, x in zip(found, wrt, strict=True)]


def written_out(node: Node) -> Node:
    """An output of a pullback as ordinary graph, the same whenever it is asked for; any other node is that itself."""
    if node.op is not SELECT or not node.inputs or node.inputs[0].op is not PULLBACK:
        return node
    deferred = node.inputs[0].attributes
    found = deferred.found.get(None) or deferred.found.setdefault(None, derive_pullback(node.inputs[0]))
    return found[node.attributes]  # type: ignore[no-any-return]


PULLBACK = Primitive("pullback", no_kernel, key=lambda deferred: None)
PULLBACK.stands_for = written_out


def expand(roots: Nodes) -> list[Node]:
    """The roots with every pullback below them written out that is pending or tracked, and every call that is pending."""
    order = topological(roots)
    if not any((n.op is PULLBACK or n.op is CALL) and (n.value is None or n.tracked) for n in order):
        return list(roots)
    new: dict[Node, Node] = {}
    outputs: dict[Node, list[Node]] = {}
    for node in order:
        inputs = tuple([new.get(x, x) for x in node.inputs])
        if node.op is PULLBACK and (node.value is None or node.tracked):
            stop = node.attributes if inputs == node.inputs else Deferred(node.attributes.stop, again=True)
            changed = Node(PULLBACK, inputs, stop, node.type, node.site, node.offset, node.tracked)
            outputs[node] = [written_out(select(changed, i)) for i in range(len(node.type))]
        elif node.op is CALL and node.value is None:
            outputs[node] = callees.written_out(node.attributes, inputs)
        elif node.op is SELECT and node.inputs and node.inputs[0] in outputs:
            new[node] = outputs[node.inputs[0]][node.attributes]
        elif inputs != node.inputs:
            new[node] = Node(
                node.op, inputs, node.attributes, node.type, node.site, node.offset, node.tracked, node.value
            )
    return [new.get(root, root) for root in roots]


def value_of(node: Node) -> object:
    """The value a node holds, kept or not; None while it is pending."""
    value = node.value
    return value.array if type(value) is Kept else value


def one_cotangent(node: Node) -> Node:
    """The cotangent 1 of a single-element node."""
    kind = node.type
    return ops.full(1.0 if kind.real_inexact else 1 + 0j, kind)
