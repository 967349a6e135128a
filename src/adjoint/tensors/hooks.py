"""Hooks on tensors: functions that are called with a gradient when a reverse pass has it.

A hook of a variable is called with what `backward()` found, before that is added to `.grad`, and belongs to all of the
variable's versions. One of a computed tensor is a rule on the way of its cotangent: the tensor's node becomes one that
passes the cotangent through the hooks to what the node was.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from adjoint._tuples import NamedTuple

from adjoint import tracing
from adjoint.execution import evaluation_lock
from adjoint.graph import Node, Variable
from adjoint.primitives.core import LEAF, PLACEHOLDER, VERSION, cast
from adjoint.primitives.custom import hook, hooks_of
from adjoint.tensors.conversion import as_node
from adjoint.tensors.leaving import closed_by, custom_code
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap

if TYPE_CHECKING:
    from adjoint.tensors.tensor import Tensor

__all__ = [
    "Accumulated",
    "HookHandle",
    "VariableHooks",
    "add_accumulated",
    "add_hook",
    "add_together",
    "hooked",
    "inherit_hooks",
]

Hook = Callable[..., Any]

_numbers = itertools.count()
_having: weakref.WeakValueDictionary[int, HookHandle] = (
    weakref.WeakValueDictionary()
)  # of variables, by the hook's number


class HookHandle:
    """What takes a hook out again: by `remove()`, or at the end of a `with` block."""

    def __init__(self, take_out: Callable[[], object]) -> None:
        self._take_out: Callable[[], object] | None = take_out
        self.having: list[Variable] = []  # whose hook it is

    def remove(self) -> None:
        """Take the hook out; nothing happens the second time."""
        if self._take_out is not None:
            self._take_out()
            self._take_out = None

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class Accumulated(NamedTuple):
    """A hook that is called with a tensor once its `.grad` is there."""

    hook: Hook
    tensor: weakref.ref[Tensor]


class VariableHooks(NamedTuple):
    """The hooks of a variable by number, in the order of their calls. Other hooks are another object."""

    gradient: dict[int, Hook]
    accumulated: dict[int, Accumulated]
    together: dict[int, Accumulated]  # called once for all variables that share the hook

    def without(self, number: int) -> VariableHooks | None:
        """These but the one of a number; None without any."""
        kinds = [{k: x for k, x in kind.items() if k != number} for kind in self]
        return VariableHooks(*kinds) if any(kinds) else None


def add_hook(tensor: Tensor, function: Hook) -> HookHandle:
    """What `Tensor.register_hook` does."""
    node = tensor.node
    if not node.tracked:
        raise RuntimeError(f"register_hook: this tensor is not tracked, so it never has a gradient{at_user()}")
    if not callable(function):
        raise TypeError(
            f"register_hook: a hook is called with the gradient; a {type(function).__name__} can't be{at_user()}"
        )
    if node.op in (LEAF, VERSION) and node.attributes is not None:
        return _add(node.attributes, 0, function)
    hooks = hooks_of(node)
    if hooks is None:
        hooks = {}
        if node.op in (LEAF, PLACEHOLDER):
            tensor.node = hook(node, _rule(hooks), hooks)  # what stands for an argument must go on doing so
        else:
            _put_below(node, hooks)
    number = next(_numbers)
    hooks[number] = function
    return HookHandle(lambda: hooks.pop(number, None))


def _put_below(node: Node, hooks: dict[int, Hook]) -> None:
    """Let a node pass its cotangent through hooks. All who refer to the node go on to do so; what it was is below it."""
    with evaluation_lock():
        inner = Node(node.op, node.inputs, node.attributes, node.type, node.site, node.offset, node.tracked, node.value)
        outer = hook(inner, _rule(hooks), hooks)
        node.op, node.inputs, node.attributes = outer.op, outer.inputs, outer.attributes


def _rule(hooks: dict[int, Hook]) -> Callable[[list[Node | None], Node], list[Node | None]]:
    def rule(cotangents: list[Node | None], node: Node) -> list[Node | None]:
        (u,) = cotangents
        return [None if u is None else hooked(u, list(hooks.values()))]

    return rule


def hooked(gradient: Node, hooks: Iterable[Hook]) -> Node:
    """A gradient after these hooks. Raises TypeError or ValueError for what one returned that is no such gradient."""
    for function in hooks:
        with custom_code() as code:
            found = function(wrap(gradient))
        if found is None:
            continue
        name = getattr(function, "__name__", type(function).__name__)
        try:
            node = as_node(found, gradient.dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(f"the hook {name} returns a gradient or None, not a {type(found).__name__}") from error
        if node.shape != gradient.shape:
            raise ValueError(
                f"the hook {name} got a gradient of shape {gradient.shape} and returned shape {node.shape}"
            )
        gradient = closed_by(f"the hook {name}", cast(node, gradient.dtype), code.left)
    return gradient


def add_accumulated(tensor: Tensor, function: Hook) -> HookHandle:
    """What `Tensor.register_post_accumulate_grad_hook` does."""
    node = tensor.node
    if not node.tracked or node.op not in (LEAF, VERSION) or node.attributes is None:
        raise RuntimeError(
            f"register_post_accumulate_grad_hook: only a variable has a gradient that is added up{at_user()}"
        )
    if not callable(function):
        raise TypeError(f"register_post_accumulate_grad_hook: a {type(function).__name__} can't be called{at_user()}")
    return _add(node.attributes, 1, Accumulated(function, weakref.ref(tensor)))


def add_together(tensor: Tensor, function: Hook) -> HookHandle:
    """Have a function called once at the end of every `backward()`, with the list of those of the tensors it was added to that
    have got a gradient, in the order of their first uses."""
    return _add(tensor.node.attributes, 2, Accumulated(function, weakref.ref(tensor)))


def _add(variable: Variable, kind: int, entry: Any) -> HookHandle:
    """Give a variable one more hook, of the kind that is the field of `VariableHooks` with this number."""
    number = next(_numbers)
    _change(variable, _with(variable.hooks, kind, number, entry))
    having = [variable]

    def take_out() -> None:
        for one in having:
            _change(one, one.hooks and one.hooks.without(number))

    _having[number] = handle = HookHandle(take_out)
    handle.having = having
    return handle


def inherit_hooks(variable: Variable, old: Variable) -> None:
    """Give a variable the hooks of the one that it takes the place of; their handles take them out of both."""
    variable.hooks = old.hooks
    for number in [number for kind in old.hooks or () for number in kind]:
        handle = _having.get(number)
        if handle is not None:
            handle.having.append(variable)


def _with(hooks: VariableHooks | None, kind: int, number: int, entry: Any) -> VariableHooks:
    kinds: list[dict[int, Any]] = [dict(one) for one in hooks or ({}, {}, {})]
    kinds[kind][number] = entry
    return VariableHooks(*kinds)


def _change(variable: Variable, hooks: VariableHooks | None) -> None:
    tracing.refuse(variable, "the hooks of a tensor")
    variable.hooks = hooks
    tracing.changed()
