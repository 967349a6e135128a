"""What a tensor has to do with derivatives: whether it is tracked, its `.grad`, and `backward()`."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import TYPE_CHECKING, Any, Self

from adjoint import tracing
from adjoint.composites.rows import gathered, rows_of
from adjoint.derive import one_cotangent, pullback, reverse
from adjoint.dtypes import DType
from adjoint.graph import Node, Search, Variable, mode, topological
from adjoint.primitives import elementwise
from adjoint.primitives.core import FULL, IDENTITY, LEAF, PLACEHOLDER, VERSION, cast, leaf, marker, stop_gradient
from adjoint.primitives.custom import CLOSED, CUSTOM, HOST_CALL
from adjoint.tensors.conversion import as_node, traced_leaf
from adjoint.tensors.hooks import HookHandle, add_accumulated, add_hook, hooked
from adjoint.tensors.located import at_user, called_at_user
from adjoint.tensors.named import Named, own, recorded, variable_of, wrap
from adjoint.tensors.pending import force_array, settle

if TYPE_CHECKING:
    from adjoint.tensors.tensor import Tensor

__all__ = ["MET", "Gradients", "check_differentiable", "with_hooks"]


class Gradients(Named):
    """The part of a tensor that derivatives concern."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """Whether derivatives are tracked through this tensor."""
        return self.node.tracked

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self.requires_grad_(flag)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Make a leaf a variable, or data again, whose `.grad` stays; returns it. Raises TypeError for integers and bools."""
        node = self.node
        if requires_grad == node.tracked:
            return self
        if not requires_grad and not self.is_leaf:
            raise RuntimeError(f"requires_grad_(False): only a leaf can stop being tracked; use detach(){at_user()}")
        if requires_grad:
            check_differentiable(self.dtype, "requires_grad")
        variable = variable_of(node)
        tracer = tracing.active()
        if tracer is not None:
            tracer.refuse_change(self, "requires_grad of a tensor")
        if variable is not None:
            variable.tracked = requires_grad  # with it goes the gradient, and what was computed from it
        elif requires_grad:
            variable = Variable(None)
        if tracer is None:
            self.node = leaf(force_array(node), node.type, variable)
        else:
            self.node = traced_leaf(node, node.dtype, variable)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        return self.node.op in (LEAF, VERSION, FULL, PLACEHOLDER) or not self.node.tracked

    @property
    def grad(self) -> Tensor | None:
        """The gradient that `backward()` added up here; None before."""
        variable = variable_of(self.node)
        return None if variable is None else variable.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        variable = variable_of(self.node)
        if value is None:
            if variable is not None:
                variable.grad = None
            return
        if variable is None or (not variable.tracked and variable.grad is None):  # what was frozen may have one
            raise RuntimeError(
                "grad: this tensor owns no gradient; make it a variable, or call retain_grad()" + at_user()
            )
        value = wrap(cast(as_node(value), self.dtype))
        if value.shape != self.shape:
            raise ValueError(f"grad: shape {value.shape} given for a tensor of shape {self.shape}{at_user()}")
        variable.grad = value

    def zero_grad(self) -> None:
        """Forget the gradient."""
        self.grad = None

    def retain_grad(self) -> None:
        """Let `backward()` store the gradient of this inner tensor in its `.grad` too."""
        if not self.requires_grad:
            raise RuntimeError("retain_grad: this tensor is not tracked" + at_user())
        variable = variable_of(self.node)
        if variable is None:
            own(self.node, Variable(None))
        else:
            variable.tracked = True

    def register_hook(self, hook: Callable[[Tensor], Any]) -> HookHandle:
        """Call `hook(gradient)` when a reverse pass has the gradient of this tensor; what it returns, unless None, replaces it.

        The gradient is a tensor of this tensor's shape. That of a variable is what `backward()` found, before it is added to
        `.grad`; `retain_grad()` stores what the hooks leave. Several hooks are called in the order in which they came. Each call
        of a hook is part of what it is called in: in a compiled function it is traced once, under `create_graph` it is
        differentiated. Forward mode calls none. `remove()` of the handle that this gives takes the hook out again.

        Raises RuntimeError for a tensor that isn't tracked; when the hook is called, ValueError for a gradient of another shape.

        >>> import adjoint as ad
        >>> x = ad.variable([3.0, 4.0])
        >>> y = x * 2.0
        >>> handle = y.register_hook(lambda gradient: gradient / 10.0)
        >>> (y * y).sum().backward()
        >>> x.grad
        Tensor([2.4, 3.2])
        """
        return add_hook(self, hook)  # type: ignore[arg-type]

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], object]) -> HookHandle:
        """Call `hook(tensor)` after `backward()` has added to the `.grad` of this variable; what it returns is passed over.

        So each parameter can be updated, and its gradient forgotten, at once. Raises RuntimeError for what is no variable.

        >>> import adjoint as ad
        >>> w = ad.variable(3.0)
        >>> def descend(w):
        ...     w.data -= 0.1 * w.grad
        ...     w.grad = None
        >>> handle = w.register_post_accumulate_grad_hook(descend)
        >>> (w * w).backward()
        >>> w, w.grad
        (Tensor(2.4, requires_grad=True), None)
        """
        return add_accumulated(self, hook)  # type: ignore[arg-type]

    def detach(self) -> Tensor:
        """The same value, untracked: a constant to every derivative."""
        return recorded(stop_gradient(self.node), _getframe(1))

    def clone(self) -> Tensor:
        """The same value as a tensor of its own, differentiated through."""
        return recorded(marker(self.node), _getframe(1))

    def backward(self, gradient: Any = None, create_graph: bool = False) -> None:
        """Add the derivative of this tensor to the `.grad` of every variable it depends on.

        gradient: the cotangent, of this tensor's shape; needed unless the tensor has one element.
        create_graph: whether the gradients are themselves differentiable.

        Raises RuntimeError if nothing is tracked, ValueError if a cotangent is missing or its shape is wrong.

        >>> import adjoint as ad
        >>> x = ad.variable(3.0)
        >>> (x**2).backward()
        >>> x.grad
        Tensor(6.)
        """
        backward(self.node, gradient, create_graph)


def check_differentiable(dtype: DType, operation: str) -> None:
    """Raise TypeError for a dtype without derivatives."""
    if not dtype.inexact:
        raise TypeError(
            f"{operation}: only floating and complex tensors have derivatives, not {dtype.name}; give 2.0 instead of 2, or "
            f"astype(ad.float32){at_user()}"
        )


# The reverse pass -----------------------------------------------------------------------------------------------------


def backward(node: Node, gradient: Any, create_graph: bool) -> None:
    """What `Tensor.backward` does."""
    if not node.tracked:
        raise RuntimeError(
            "backward: this tensor depends on no variable; make the inputs to differentiate by with ad.variable(...) or "
            f"ad.tensor(..., requires_grad=True){at_user()}"
        )
    if gradient is None:
        if node.type.size != 1:
            raise ValueError(
                f"backward: a tensor of shape {node.shape} needs a cotangent of that shape: backward(gradient), or sum it "
                f"first: t.sum().backward(){at_user()}"
            )
        u = one_cotangent(node)
    else:
        u = as_node(gradient, node.dtype)
        if u.shape != node.shape:
            raise ValueError(f"backward: cotangent of shape {u.shape} for a tensor of shape {node.shape}{at_user()}")
        u = cast(u, node.dtype)
    tracer = tracing.active()
    if tracer is None:
        leaves, at_once = _variables(node)
        called_at_user(_add_up, node, u, leaves, create_graph, at_once)
        return
    with tracing.unobserved():
        leaves, at_once = _variables(node)
        for x in leaves:
            tracer.hooks(x.attributes)
    if create_graph or at_once or any([x.attributes.hooks is not None for x in leaves]):
        called_at_user(_add_up, node, u, leaves, create_graph, at_once)
    else:  # rules and hooks of the user's are nowhere on the way
        with tracing.unobserved():
            called_at_user(_add_up, node, u, leaves, False, False)


def _add_up(node: Node, u: Node, leaves: list[Node], create_graph: bool, at_once: bool) -> None:
    """Add the derivatives by the leaves to the gradients of their variables."""
    if create_graph or at_once:
        with mode(grad=create_graph):
            found = reverse([node], [u], leaves)
        pairs = [(x, g) for x, g in zip(leaves, found, strict=True) if g is not None]
    else:
        pairs = list(zip(leaves, pullback(node, u, leaves), strict=True))
    busy = [y for x, _ in pairs if x.attributes.grad is not None for y in _to_settle(x.attributes)]
    if busy and not create_graph:
        settle(busy)
    for x, g in pairs:
        variable = x.attributes
        if variable.hooks is not None:
            with mode(grad=create_graph):
                g = with_hooks(x, g)
        if variable.grad is None and not variable.sparse:
            variable.grad = wrap(g)
        else:
            with mode(grad=create_graph):
                before = variable.grad
                total = g if before is None else elementwise.add(before.node, g)
                total = gathered(total) if variable.sparse else total
            if before is None or create_graph or not before._added_to or x.op is IDENTITY:  # which is no leaf
                variable.grad = wrap(total)
            else:
                before.node = total
        if variable.hooks is not None:
            _accumulated(variable)
    hooked_leaves = [x for x, _ in pairs if x.attributes.hooks is not None]
    if hooked_leaves:
        _together(node, hooked_leaves)


def _to_settle(variable: Variable) -> tuple[Node, ...]:
    """What of a gradient gets its value before another one is added to it: of rows, the rows."""
    node: Node = variable.grad.node
    rows = rows_of(node) if variable.sparse and node.value is None else None
    return (node,) if rows is None else rows


def with_hooks(x: Node, gradient: Node) -> Node:
    """The gradient of a leaf after the hooks of its variable."""
    variable = x.attributes if x.op in (LEAF, VERSION) else None
    return (
        gradient if variable is None or variable.hooks is None else hooked(gradient, variable.hooks.gradient.values())
    )


def _accumulated(variable: Variable) -> None:
    """Call the hooks of a variable that wait for its gradient."""
    for hook, tensor in list(variable.hooks.accumulated.values()):
        alive = tensor()
        if alive is not None:
            hook(alive)


def _together(root: Node, leaves: list[Node]) -> None:
    """Call the hooks that wait for the gradients of several variables, these in the order of their first uses: a reverse pass has
    the gradient of the last of them first."""
    found: dict[Any, dict[Node, Tensor]] = {}
    for x in leaves:
        for hook, tensor in x.attributes.hooks.together.values():
            alive = tensor()
            if alive is not None:
                found.setdefault(hook, {})[x] = alive
    if not found:
        return
    away = {root: 0}  # the longest way from the root: so far has a reverse pass come when it has the cotangent
    for node in reversed(topological([root], lambda node: node.tracked)):
        for x in node.inputs:
            if away.get(x, 0) <= away[node]:
                away[x] = away[node] + 1
    for hook, tensors in found.items():
        hook([tensors[x] for x in sorted(tensors, key=away.__getitem__, reverse=True)])


# Whose gradient it is, or what a reverse pass has to look at.
MET = Search((LEAF, VERSION, IDENTITY, CUSTOM, HOST_CALL, CLOSED, PLACEHOLDER), VERSION)


def _variables(root: Node) -> tuple[list[Node], bool]:
    """The leaves and markers below a node that own a gradient; whether the reverse pass is to be written down at once, since a
    custom rule is on the way or a gradient is to stay rows."""
    leaves: list[Node] = []
    at_once = False
    for node in MET.below(root):
        op = node.op
        if op is CUSTOM or op is HOST_CALL or op is CLOSED:
            at_once = True
        elif op is PLACEHOLDER:
            raise RuntimeError(
                f"backward: {node.attributes} was computed from variables outside of the traced function, where "
                f"their gradients can't be added up; use ad.grad, or compute it inside{at_user()}"
            )
        else:
            variable = node.attributes
            if variable is not None and variable.tracked:
                leaves.append(node)
                at_once = at_once or variable.sparse
    return leaves, at_once
