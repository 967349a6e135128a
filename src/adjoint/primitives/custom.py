"""Operations that users define: a derivative of their own for what they recorded, and deferred calls to host code."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from adjoint._references import COUNTED_IN_LIST, reference_counts
from adjoint.graph import ArrayType, Node, Primitive, get_mode, record, substitute

# A custom derivative: the identity on the recorded outputs, with a rule of its own towards the original inputs --------

CustomRule = Callable[[list[Node | None], Node], Sequence[Node | None]]


def first_inputs(count: int, type: Any) -> Any:
    """The kernel that gives the first inputs and leaves the others to the derivative rule."""
    return (lambda *arrays: arrays[:count]) if isinstance(type, tuple) else (lambda *arrays: arrays[0])


def _custom_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    count, rule = out.attributes
    cotangents = u if isinstance(out.type, tuple) else [u]
    return [None] * count + list(rule(cotangents, out))


CUSTOM = Primitive(
    "custom",
    lambda attributes, type: first_inputs(attributes[0], type),
    _custom_vjp,
    view=True,
    passes_on=True,
    opaque=True,
    key=lambda attributes: attributes[:1],
)


def custom(
    outputs: Sequence[Node],
    inputs: Sequence[Node],
    rule: CustomRule,
    name: str,
    single: bool,
    transposed: CustomRule | None = None,
    direct: Callable[[Node], Node] | None = None,
) -> Node:
    """The outputs, with `rule(cotangents, node) -> input cotangents` in place of the derivatives of how they were made.

    Gradients reach the inputs through the rule alone; what the rule saved and reads is differentiated as usual. Forward
    mode uses `transposed`, where it is given: the transpose of the forward rule, called like `rule`. Taylor mode goes through
    `direct(node)`, where it is given: a single output as ordinary graph of the inputs.
    """
    named = _Named(rule, name, transposed, direct)
    node = record(CUSTOM, (*outputs, *inputs), (len(outputs), named), outputs[0].type if single
                  else tuple(x.type for x in outputs))  # fmt: skip
    node.tracked = get_mode().grad and any(x.tracked for x in inputs)
    return node


class _Named:
    """A rule with the name that pictures and reprs show, and what forward mode uses instead. Equal only to itself."""

    __slots__ = ("direct", "name", "rule", "transposed")

    def __init__(
        self,
        rule: CustomRule,
        name: str,
        transposed: CustomRule | None = None,
        direct: Callable[[Node], Node] | None = None,
    ) -> None:
        self.rule = rule
        self.name = name
        self.transposed = transposed
        self.direct = direct

    def replaced(self, change: Callable[[CustomRule], CustomRule]) -> _Named:
        """The same name on changed rules."""
        return _Named(change(self.rule), self.name, None if self.transposed is None else change(self.transposed))

    def copied(self, change: Callable[[CustomRule], CustomRule]) -> _Named:
        """The same on changed rules, among other nodes. What goes without a rule reads the node that it gets."""
        made = self.replaced(change)
        made.direct = self.direct
        return made

    def linear(self, u: Any, node: Node) -> list[Node | None]:
        """The cotangents of a node's inputs in forward mode."""
        cotangents = u if isinstance(node.type, tuple) else [u]
        return [None] * node.attributes[0] + list((self.transposed or self.rule)(cotangents, node))

    def __call__(self, cotangents: list[Node | None], node: Node) -> Sequence[Node | None]:
        return self.rule(cotangents, node)


def named_rule(rule: CustomRule, name: str) -> _Named:
    """A rule with a name, as a custom node's attributes have it."""
    return _Named(rule, name)


def direct_of(node: Node) -> Callable[[Node], Node] | None:
    """What gives the output of a custom node as ordinary graph, if it has such."""
    return node.attributes[1].direct if node.op is CUSTOM else None


def _passed(cotangents: list[Node | None], node: Node) -> list[Node | None]:
    return cotangents


def _copied(node: Node, replacements: dict[Node, Node], same_values: bool) -> Any:
    """The attributes of a custom node's copy. What the rule has saved refers to the graph that it was recorded in, so what it
    finds is moved like the node: a jitted function's stand-ins and a branch's operands have no other value."""
    count, named = node.attributes

    def change(one: CustomRule) -> CustomRule:
        def moved(cotangents: list[Node | None], copy: Node) -> Sequence[Node | None]:
            found = one(cotangents, node)
            theirs = {u: u for u in cotangents if u is not None}  # they are of the copy's graph already
            there = iter(substitute([g for g in found if g is not None], {**replacements, node: copy, **theirs},
                                    same_values=same_values))  # fmt: skip
            return [None if g is None else next(there) for g in found]

        return moved

    return count, named.copied(change)


CUSTOM.copied = _copied


class _Hooked(_Named):
    """The rule of a node whose cotangent is shown to hooks on its way; `hooks` are None in what batching made of one."""

    __slots__ = ("hooks",)

    def __init__(self, rule: CustomRule, hooks: Any) -> None:
        super().__init__(rule, "hook", _passed)
        self.hooks = hooks

    def replaced(self, change: Callable[[CustomRule], CustomRule]) -> _Hooked:
        return _Hooked(change(self.rule), None)

    def copied(self, change: Callable[[CustomRule], CustomRule]) -> _Hooked:
        return self  # it has saved nothing, and its hooks stay


def hook(node: Node, rule: CustomRule, hooks: Any) -> Node:
    """The node, with `rule([cotangent], node) -> [cotangent]` on the way of its cotangent; what is below it is `node`.

    Forward mode passes through, and so does a reverse pass that began before the node was hooked.
    """
    return Node(CUSTOM, (node, node), (1, _Hooked(rule, hooks)), node.type, node.site, node.offset, True, node.value)


def hooks_of(node: Node) -> Any:
    """What `hook` was given as hooks; None for another node."""
    return node.attributes[1].hooks if node.op is CUSTOM and type(node.attributes[1]) is _Hooked else None


def unhooked(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    """The rule of a custom node in a reverse pass that began before its hooks, if it has such."""
    named = node.attributes[1]
    return named.linear(u, node) if type(named) is _Hooked else _custom_vjp(u, node, wanted)


def _closed_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    if any(wanted[1:]):
        raise RuntimeError(out.attributes)
    return [u, *[None] * (len(out.inputs) - 1)]


# The first input. The others are what its value was computed from by means that no derivative is known of.
CLOSED = Primitive(
    "closed", lambda message, type: lambda x, *others: x, _closed_vjp, view=True, opaque=True, key=lambda message: None
)  # fmt: skip


def closed(x: Node, sources: Sequence[Node], message: str) -> Node:
    """x, whose derivative by what the sources depend on raises RuntimeError(message)."""
    return record(CLOSED, (x, *sources), message, x.type)


# Host calls -----------------------------------------------------------------------------------------------------------


class HostFunction:
    """A function of NumPy arrays, with its derivative rule and its batching rule, if it has them.

    `adapter(rule, cotangent, node)` calls the user's rule, which works on tensors, from nodes. One that is `exact` is called as
    often as the program says, never again to find out what failed, and neither changes nor keeps its arrays, so that it gets
    those that the program works on.
    """

    __slots__ = ("adapter", "batch", "call", "exact", "name", "rule", "serials")

    def __init__(self, call: Callable[..., Any], rule: Any, batch: Any, adapter: Any, exact: bool = False) -> None:
        self.call = call
        self.exact = exact
        self.rule = rule
        self.batch = batch
        self.adapter = adapter
        self.serials = (_serial(call), _serial(rule), _serial(batch))
        self.name = getattr(call, "__name__", "host_call")

    def __eq__(self, other: object) -> bool:
        # the very same functions: that two callables are equal says nothing about what they do
        return isinstance(other, HostFunction) and self.serials == other.serials

    def __hash__(self) -> int:
        return hash(self.serials)


_serials: dict[tuple[int, int], tuple[Any, int]] = {}
_next_serial = itertools.count()


def _serial(function: Any) -> int:
    """A number that no other function ever gets, unlike an address. A bound method has that of its object and function."""
    owner = getattr(function, "__self__", None)
    key = (id(owner), id(getattr(function, "__func__", function)))
    found = _serials.get(key)
    if found is None:
        try:
            serials = _serials  # globals are gone before the last functions are
            held: Any = weakref.ref(function if owner is None else owner, lambda _: serials.pop(key, None))
        except TypeError:  # a built-in: it stays anyway
            held = function
        found = _serials[key] = (held, next(_next_serial))
    return found[1]


def _host_kernel(attributes: tuple[HostFunction, Any], type: Any) -> Any:
    function = attributes[0]
    types = type if isinstance(type, tuple) else (type,)
    dtype, shape = (None, None) if isinstance(type, tuple) else (type.dtype.dtype, type.shape)

    def kernel(*arrays: Any) -> Any:
        views: Sequence[Any] = arrays
        if not function.exact:
            views = [np.asarray(x).view() for x in arrays]
            for view in views:
                view.flags.writeable = False
        try:
            result = function.call(*views)
        except Exception as error:
            with suppress(AttributeError):
                error.host_function = function  # type: ignore[attr-defined]  # who is to blame: see `execution.evaluate`
            raise
        if (
            result.__class__ is np.ndarray and reference_counts([result])[0] == COUNTED_IN_LIST + 1  # this name's
            and result.dtype == dtype and result.shape == shape
            and (result.base is None or getattr(result.base, "lent_once", False)) and result.flags.writeable
        ):  # fmt: skip
            return result  # nobody else has it or will change it
        results = result if isinstance(type, tuple) else (result,)
        if not isinstance(results, (tuple, list)) or len(results) != len(types):
            count = len(results) if isinstance(results, (tuple, list)) else 1
            raise ValueError(f"host_call: {function.name} returned {count} results, but {len(types)} were declared")
        checked = [_checked(function.name, value, expected) for value, expected in zip(results, types, strict=True)]
        return tuple(checked) if isinstance(type, tuple) else checked[0]

    return kernel


def _checked(name: str, value: Any, expected: ArrayType) -> Any:
    """What a host function returned, as a fresh array of the type that was declared. Rounding and widening are no errors, but
    what would be another number in silence is: a part that is dropped, an integer that wraps, the NaN that None becomes."""
    found, wanted = np.asarray(value), expected.dtype
    kind = found.dtype.kind
    said = f"but dtype={wanted.name!r} was declared"
    if kind in "SUmM" or (kind == "O" and any([x is None for x in found.flat])):
        raise ValueError(f"host_call: {name} returned {value!r}, {said}")
    if kind == "c" and not wanted.is_complex:
        raise ValueError(f"host_call: {name} returned {found.dtype.name} numbers, {said}")
    with np.errstate(invalid="ignore"):  # a NaN as an integer, which is refused below
        array = np.array(found, wanted.dtype)
    if array.shape != expected.shape:
        raise ValueError(f"host_call: {name} returned shape {array.shape}, but shape={expected.shape} was declared")
    if not wanted.inexact and found.dtype != array.dtype and not np.array_equal(found, array):
        raise ValueError(
            f"host_call: {name} returned {found.dtype.name} numbers that {wanted.name} doesn't hold, {said}"
        )
    return array


def _host_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    function = out.attributes[0]
    if function.rule is None:
        raise RuntimeError(f"host_call: {function.name} has no derivative; give it one with host_call(..., vjp=)")
    return list(function.adapter(function.rule, u, out))


HOST_CALL = Primitive("host_call", _host_kernel, _host_vjp, swallows=True, moves=True, opaque=True)


def host_call(function: HostFunction, inputs: Sequence[Node], type: ArrayType | tuple[ArrayType, ...]) -> Node:
    """Host code run when the value is asked for."""
    codes = tuple(t.code for t in type) if isinstance(type, tuple) else type.code
    return record(HOST_CALL, tuple(inputs), (function, codes), type)
