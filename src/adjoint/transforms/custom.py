"""Operations with a derivative of the user's own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from adjoint import tree
from adjoint.derive import reverse
from adjoint.execution import ValueNeededError
from adjoint.graph import Node, get_mode, mode, topological
from adjoint.hints import attribute_error
from adjoint.primitives import custom as primitive
from adjoint.primitives.core import LEAF, VERSION, cast, ops, placeholder, select
from adjoint.tensors.conversion import a, as_node
from adjoint.tensors.leaving import closed_by, custom_code
from adjoint.tensors.located import at_user, user_frame
from adjoint.tensors.named import recorded, wrap
from adjoint.tensors.tensor import Tensor

__all__ = [
    "Context",
    "Function",
    "checked_cotangent",
    "closed_cotangents",
    "custom_jvp",
    "custom_vjp",
    "filled_cotangents",
    "passing",
]


class Context:
    """What `forward` leaves for `backward`: saved tensors, and any attributes set on it.

    `needs_input_grad` says for each argument whether it is tracked.
    """

    materialize = True  # whether zeros stand for cotangents that are missing

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] = ()

    def save_for_backward(self, *values: Any) -> None:
        """Keep tensors or arrays for `backward`. Inputs and outputs stay connected, so the derivative can be taken again."""
        self._saved = values

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, as tensors."""
        return tuple(x if isinstance(x, Tensor) or x is None else wrap(_as_computed(x)) for x in self._saved)

    def _with_output(self, node: Node) -> Context:
        """As the backward rule is given it: with the output where that was saved."""
        kept = vars(self)
        if not any([x is OUTPUT for x in (*kept.values(), *self._saved)]):
            return self
        made = object.__new__(Context)
        vars(made).update({name: _seen(x, node) for name, x in kept.items()})
        made._saved = tuple(_seen(x, node) for x in self._saved)
        return made

    def _take_from(self, other: Context, before: dict[str, Any]) -> None:
        """What a backward rule has set on the one that it was given, which had `before`."""
        vars(self).update({name: x for name, x in vars(other).items() if x is not before.get(name, OUTPUT)})


class Function:
    """An operation of your own: subclass it, write `forward` and `backward`, and call `apply`.

    forward(ctx, *args) runs at once. What it records on tensors is graph; what it computes in NumPy asks for values (an error
    under vmap and jit). It returns a tensor or array, or a tuple of them. backward(ctx, *gradients) gets one cotangent for each
    output and returns one for each argument of forward (None where there is none); written on tensors, it can be differentiated
    again.

    >>> import adjoint as ad
    >>> class Cube(ad.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x.numpy() ** 3
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensors
    ...         return gradient * 3 * x**2
    >>> ad.grad(Cube.apply)(2.0)
    Tensor(12.)
    """

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        """Not for use: an operation has no instances. Raises TypeError."""
        raise TypeError(f"{cls.__name__}: call {cls.__name__}.apply(...)")

    @staticmethod
    def forward(ctx: Context, *args: Any) -> Any:
        """Compute the output. To be written by the subclass."""
        raise TypeError("Function: the subclass must define forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Context, *gradients: Any) -> Any:
        """Give the cotangents of the inputs. To be written by the subclass."""
        raise TypeError("Function: the subclass must define backward(ctx, ...)")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run the operation on tensors and whatever else `forward` takes."""
        inputs = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        if any(tree.is_container(x) for x in args if not isinstance(x, PLAIN)):
            others = [x for x in args if not isinstance(x, Tensor)]
            _refuse_tracked(
                f"{cls.__name__}.apply", others, "an argument", "an argument of its own", [args[i] for i in inputs]
            )
        ctx = Context(tuple(isinstance(x, Tensor) and x.requires_grad for x in args))
        nodes = [args[i].node for i in inputs]  # forward may give the arguments other ones, in place
        with custom_code() as forward:
            out = cls.forward(ctx, *args)
        several = isinstance(out, (tuple, list))
        outputs, count = (
            list(out) if several else [out],
            len(args),
        )  # the rule holds no arguments: forward may give them back

        def rule(cotangents: list[Node | None], node: Node) -> list[Node | None]:
            given = (
                filled_cotangents(cotangents, node)
                if ctx.materialize
                else [None if u is None else wrap(u) for u in cotangents]
            )
            seen = ctx._with_output(node)
            before = dict(vars(seen))
            with custom_code() as backward:
                result = cls.backward(seen, *given)
            if seen is not ctx:
                ctx._take_from(seen, before)
            results = list(result) if isinstance(result, (tuple, list)) else [result]
            if len(results) != count:
                raise ValueError(
                    f"{cls.__name__}.backward: {len(results)} gradients returned for {count} arguments of forward"
                )
            checked = [
                checked_cotangent(f"{cls.__name__}.backward", results[i], x) for i, x in zip(inputs, nodes, strict=True)
            ]
            _check_answered(f"{cls.__name__}.backward", checked, standing)
            return closed_cotangents(cls.__name__, checked, [*unknown, *backward.left])

        made = _record(cls.__name__, outputs, nodes, rule, several)
        standing = _check_closed(cls.__name__, made, nodes, forward.left)
        stand_ins = made if several else [OUTPUT]
        ctx._saved = tuple(_connected(x, outputs, stand_ins) for x in ctx._saved)
        kept = vars(ctx)
        if len(kept) > 2:  # the user's own attributes
            kept.update({name: _connected(value, outputs, stand_ins) for name, value in kept.items()})
        unknown = forward.left if forward.left and _computed_outside(vars(ctx), args, made) else ()
        return tuple(made) if several else made[0]


PLAIN = (Tensor, int, float, str, np.ndarray)


def _refuse_tracked(name: str, values: Any, where: str, instead: str, given: Sequence[Tensor] = ()) -> None:
    """Raise TypeError for a tracked tensor in a place that a rule gives no cotangent for, unless it is given elsewhere, too."""
    known = {id(x) for x in given}
    leaves = tree.flatten(values)[0]
    if get_mode().grad and any(isinstance(x, Tensor) and x.requires_grad and id(x) not in known for x in leaves):
        raise TypeError(
            f"{name}: {where} holds a tracked tensor, which would have no derivative; give it as {instead}, or t.detach() where "
            f"a constant is meant{at_user()}"
        )


def _check_closed(name: str, made: Sequence[Tensor], inputs: Sequence[Node], left: Iterable[Node]) -> list[list[int]]:
    """Raise RuntimeError where the outputs were computed from a tracked tensor that is no argument: the rule, which replaces
    their derivatives, has none for it.

    It has where an argument that nothing was computed with was made of that tensor: the parameters of a network as one vector,
    say, whose cotangent the adjoint method of a differential equation gives. For each such tensor the places of these arguments
    are returned: see `_check_answered`.
    """
    if not made or not get_mode().grad:
        return []
    node = made[0].node
    whole = node if node.op is primitive.CUSTOM else node.inputs[0]
    given, used, outside = set(inputs), set[Node](), list[Node]()
    seen = set[Node]()
    stack = [*left, *whole.inputs[: whole.attributes[0]]]
    while stack:
        node = stack.pop()
        if node in given:
            used.add(node)
        elif node not in seen and node.tracked:
            seen.add(node)
            before = [x for x in node.inputs if x.tracked] if node.op is not VERSION else []
            if not before:
                outside.append(node)
            stack += before
    if not outside:
        return []
    made_of = {i: _tracked_below(x) for i, x in enumerate(inputs) if x not in used}
    standing = [[i for i, below in made_of.items() if not below.isdisjoint(_selves(node))] for node in outside]
    if not all(standing):
        node = outside[standing.index([])]
        raise RuntimeError(
            f"{name}: it computes with a tracked tensor of shape {node.type.shape} that is none of its arguments, so that "
            f"would have no derivative. Make it an argument, or t.detach() where a constant is meant{at_user()}"
        )
    return standing


def _selves(node: Node) -> list[Any]:
    """A node, and the variable of which it is the value, which may have another one by now."""
    return [node, node.attributes] if node.op in (LEAF, VERSION) else [node]


def _tracked_below(node: Node) -> set[Any]:
    """What a node was made of."""
    return {x for below in topological([node], lambda x: x.tracked) for x in _selves(below)}


def _check_answered(name: str, found: Sequence[Node | None], standing: list[list[int]]) -> None:
    """Raise RuntimeError where a rule gives no cotangent to any argument that stands for a tensor with which was computed."""
    if any(all(found[i] is None for i in places) for places in standing):
        raise RuntimeError(
            f"{name}: it computes with a tracked tensor of which an argument was made that it doesn't read, and its rule returns "
            f"None for that argument, so that would have no derivative{at_user()}"
        )


def _as_computed(x: Any) -> Node:
    """The node of what host code computed: NumPy's reductions to one number give scalars, which keep their dtype here."""
    return as_node(np.asarray(x) if isinstance(x, np.generic) else x)


def filled_cotangents(cotangents: list[Node | None], node: Node) -> list[Tensor]:
    """The cotangents of a node's outputs, with zeros for those that are missing."""
    types = node.type if isinstance(node.type, tuple) else (node.type,)
    return [wrap(ops.zeros(t) if u is None else u) for u, t in zip(cotangents, types, strict=True)]


def checked_cotangent(name: str, value: Any, like: Node) -> Node | None:
    """What a rule has returned for an input, in its dtype. Raises TypeError and ValueError for what isn't of its shape."""
    if value is None or not like.dtype.inexact:
        return None
    try:
        node = as_node(value, like.dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected a tensor, got {type(value).__name__}") from error
    if node.shape != like.shape:
        raise ValueError(f"{name}: gradient of shape {node.shape} for an input of shape {like.shape}")
    return cast(node, like.dtype)


def _record(
    name: str, outputs: Sequence[Any], inputs: list[Node], rule: Any, several: bool, transposed: Any = None
) -> list[Tensor]:
    nodes = [_as_computed(x) for x in outputs]
    made = primitive.custom(nodes, inputs, rule, name, not several, transposed)
    frame = user_frame(2)
    if frame is not None:
        recorded(made, frame)
    return [wrap(select(made, i)) for i in range(len(nodes))] if several else [wrap(made)]


# Stands for an operation's only output in what its rule has kept. The output itself holds the rule, so it would hold itself, and
# be freed by the collector alone.
OUTPUT = object()


def _connected(saved: Any, outputs: list[Any], made: Sequence[Any]) -> Any:
    """A saved output is the operation's output, or what stands for it: its own derivative goes through the custom rule."""
    for out, tensor in zip(outputs, made, strict=True):
        if saved is out and type(out) not in (bool, int, float, complex):  # two equal numbers may be one object
            return tensor
    return saved


def _seen(kept: Any, node: Node) -> Any:
    """What a rule is given of what it has kept: the output where that was meant."""
    return wrap(node) if kept is OUTPUT else kept


def _computed_outside(saved: Any, args: Any, made: Sequence[Tensor]) -> bool:
    """Whether anything saved for the backward rule holds numbers that are no argument, no output and no graph: a forward rule
    that has read its arguments' values may have computed them from those."""
    known = {id(x) for x in (*tree.flatten(args)[0], *made)}
    return any(id(x) not in known and x is not OUTPUT and not _is_constant(x) for x in tree.flatten(saved)[0])


def _is_constant(x: Any) -> bool:
    if isinstance(x, (Tensor, np.ndarray, np.generic)):
        return x.dtype.kind not in "fcO" or (isinstance(x, Tensor) and x.requires_grad)
    return isinstance(x, (bool, int, str, bytes)) or callable(x)


def closed_cotangents(name: str, found: list[Node | None], sources: Sequence[Node]) -> list[Node | None]:
    """The cotangents that a rule has given, once more differentiable by everything but what it has read as plain values."""
    return [None if x is None else closed_by(f"{name}: its derivative rule", x, sources) for x in found]


def _check_made_of(name: str, outs: Sequence[Node], tangents: Sequence[Node]) -> None:
    """Raise RuntimeError for a forward rule whose result isn't zero though none of the tangents is in it."""
    sources = set(tangents)
    for out in outs:
        if any(x in sources for x in topological([out], lambda x: x.value is None)):
            continue
        try:
            value = wrap(out).detach().numpy()
        except ValueNeededError:  # the function is traced
            continue
        if value.any():
            raise RuntimeError(
                f"{name}: the tangent that its forward rule returns isn't made of the given tangents; it is linear in them: "
                f"the derivative times tangents[0], say{at_user()}"
            )


def _transposed(name: str, args: tuple[Any, ...], rule: Callable[..., Any], out_structure: tree.Structure) -> Any:
    """The transpose of a forward rule, to be called like a backward rule: with cotangents and the node.

    The forward rule is traced on stand-ins for the tangents and the graph that it records, which is linear in them, is
    reversed.
    """
    leaves, structure = tree.flatten(args)
    inputs = [x.node for x in leaves if isinstance(x, Tensor)]

    def transposed(cotangents: list[Node | None], node: Node) -> list[Node | None]:
        stand_ins = [placeholder(x.type, f"a tangent of {name}") if x.dtype.inexact else None for x in inputs]
        remaining = iter(stand_ins)
        tangents: list[Any] = []
        for leaf in leaves:
            t = next(remaining) if isinstance(leaf, Tensor) else None
            tangents.append(None if t is None else wrap(t))
        with custom_code() as code, mode(grad=True):
            result = rule(args, structure.unflatten(tangents))
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise ValueError(f"{name}: the forward rule must return a pair (output, tangent of the output)")
        types = node.type if isinstance(node.type, tuple) else (node.type,)
        given = [None] * len(types) if result[1] is None else _leaves_of(name, result[1], out_structure)
        if len(given) != len(types):
            raise ValueError(f"{name}: the forward rule returned a tangent unlike the output")
        outs: list[Node] = []
        for tangent, type in zip(given, types, strict=True):
            out = None if tangent is None else as_node(tangent, type.dtype)
            if out is not None and out.shape != type.shape:
                raise ValueError(f"{name}: tangent of shape {out.shape} for an output of shape {type.shape}")
            outs.append(ops.zeros(type) if out is None else cast(out, type.dtype))
        real = [t for t in stand_ins if t is not None]
        _check_made_of(name, outs, real)
        found = iter(reverse(outs, cotangents, real, stop=True, linear=True))
        results = [None if t is None else next(found) for t in stand_ins]
        known = set(real)
        if any(x in known for x in topological([g for g in results if g is not None])):
            raise RuntimeError(f"{name}: the tangent that its forward rule returns is not linear in the given tangents")
        return closed_cotangents(name, results, list(code.left))

    return transposed


class _Custom:
    """A function with a rule of its own."""

    def __new__(cls, function: Callable[..., Any] | None = None, nondiff_argnums: int | Sequence[int] = ()) -> Any:
        """Without a function, what makes such a one of a function."""
        if function is None:
            return functools.partial(cls, nondiff_argnums=nondiff_argnums)
        return super().__new__(cls)

    def __init__(self, function: Callable[..., Any], nondiff_argnums: int | Sequence[int] = ()) -> None:
        self.function = function
        fixed = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        if not all(type(k) is int and k >= 0 for k in fixed):
            raise ValueError(
                f"{type(self).__name__}: nondiff_argnums are positions of arguments, from 0 on; given "
                f"{nondiff_argnums!r}{at_user()}"
            )
        self.fixed = tuple(sorted(set(fixed)))
        wrapped: Any = self
        functools.update_wrapper(wrapped, function)

    def __getattr__(self, name: str) -> Any:
        raise attribute_error(type(self).__name__, self, name)

    def _placed(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, with those by name at their positions where some positions have no derivative."""
        if not self.fixed:
            return args, keywords
        bound = inspect.signature(self.function).bind(*args, **keywords)
        bound.apply_defaults()
        if self.fixed[-1] >= len(bound.args):
            raise TypeError(
                f"{_name_of(self)}: nondiff_argnums {self.fixed} of {len(bound.args)} positional arguments{at_user()}"
            )
        return bound.args, bound.kwargs

    def _split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The arguments that the rule gives derivatives by, and those that it is given first."""
        if not self.fixed:
            return args, ()
        fixed = tuple([args[k] for k in self.fixed])
        _refuse_tracked(_name_of(self), fixed, "an argument of nondiff_argnums", "another argument")
        return tuple([x for k, x in enumerate(args) if k not in self.fixed]), fixed


def _name_of(custom: _Custom) -> str:
    return getattr(custom.function, "__name__", type(custom).__name__)


class custom_jvp(_Custom):
    """A function of tensors with a forward rule of its own: decorate it, then give the rule with `def_jvp`.

    rule(primals, tangents) gets two tuples with an entry for each positional argument and returns (output, tangent of
    the output), linear in the tangents. Reverse mode is its transpose. Tangents of what isn't a floating or complex
    tensor are None. Arguments and outputs may be nested containers. The arguments at the positions `nondiff_argnums` have no
    derivative, and come first: rule(*those, primals, tangents) of the others.

    >>> import adjoint as ad
    >>> @ad.custom_jvp
    ... def log1pexp(x):
    ...     return ad.log(1 + ad.exp(x))
    >>> log1pexp.def_jvp(lambda primals, tangents: (log1pexp(*primals), tangents[0] * ad.sigmoid(primals[0])))
    >>> ad.grad(log1pexp)(200.0), ad.jvp(log1pexp, (0.0,), (1.0,))[1]
    (Tensor(1.), Tensor(0.5))
    """

    rule: Callable[..., Any] | None = None

    def def_jvp(self, rule: Callable[..., Any]) -> None:
        """Set the rule."""
        self.rule = rule

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function; its derivatives come from the rule."""
        name = _name_of(self)
        rule = self.rule or _missing_rule(name, "custom_jvp", "def_jvp(rule)")
        args, keywords = self._placed(args, keywords)
        if keywords:
            _refuse_tracked(name, keywords, "a keyword", "a positional argument")
        given, fixed = self._split(args)
        with custom_code() as code:
            out_leaves, out_structure = tree.flatten(self.function(*args, **keywords))
        inputs = [x.node for x in tree.flatten(given)[0] if isinstance(x, Tensor)]
        backward = _transposed(name, given, functools.partial(rule, *fixed), out_structure)

        def transposed(cotangents: list[Node | None], node: Node) -> list[Node | None]:
            found: list[Node | None] = backward(cotangents, node)
            _check_answered(name, found, standing)
            return found

        made = _record(name, out_leaves, inputs, transposed, out_structure.kind is not None, transposed)
        standing = _check_closed(name, made, inputs, code.left)
        return out_structure.unflatten(made)


class custom_vjp(_Custom):
    """A function of tensors with a reverse rule of its own: decorate it, then give the rule with `def_vjp`.

    forward(*args) returns (output, residuals); backward(residuals, cotangent) returns a tuple with one cotangent for each
    argument, each like it (None for no derivative). Arguments and outputs may be nested containers. Forward mode
    transposes that rule if it is linear in the cotangent; else, or where it shall be another, give it with `def_jvp`.
    The arguments at the positions `nondiff_argnums` (functions, say) have no derivative, and come first:
    backward(*those, residuals, cotangent) returns cotangents for the others.

    >>> import adjoint as ad
    >>> @ad.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.def_vjp(lambda x: (x, None), lambda _, g: (ad.clip(g, -1.0, 1.0),))
    >>> ad.grad(lambda x: 10 * clipped(x))(2.0)
    Tensor(1.)
    """

    forward: Callable[..., Any] | None = None
    backward: Callable[..., Any] | None = None
    pushforward: Callable[..., Any] | None = None

    def def_vjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Set the rule."""
        self.forward = forward
        self.backward = backward

    def def_jvp(self, rule: Callable[..., Any]) -> None:
        """Set a rule for forward mode: rule(primals, tangents) returns (output, tangent of the output)."""
        self.pushforward = rule

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Run the function, with its own rule in place of the derivatives of what it does. Its forward rule may call it, as the
        plain function that it is there."""
        if self in _in_forward.get():
            return self.function(*args, **keywords)
        name = _name_of(self)
        backward = self.backward or _missing_rule(name, "custom_vjp", "def_vjp(forward, backward)")
        args, keywords = self._placed(args, keywords)
        if keywords:
            _refuse_tracked(name, keywords, "a keyword", "a positional argument")
        given, fixed = self._split(args)
        with custom_code() as forward:
            out, residuals = self._run(name, args, keywords)
        out_leaves, out_structure = tree.flatten(out)
        leaves, structure = tree.flatten(given)
        inputs = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]

        def rule(cotangents: list[Node | None], node: Node) -> list[Node | None]:
            kept = tree.map(lambda x: _seen(x, node), residuals) if holds_output else residuals
            with custom_code() as code:
                result = backward(*fixed, kept, out_structure.unflatten(filled_cotangents(cotangents, node)))
            if not isinstance(result, (tuple, list)) or len(result) != len(given):
                raise ValueError(f"{name}: the backward rule must return a tuple with one entry for each argument")
            flat: list[Any] = []
            for part, child in zip(result, structure.children, strict=True):
                flat += [None] * child.count if part is None else _leaves_of(name, part, child)
            checked = [checked_cotangent(name, flat[i], leaves[i].node) for i in inputs]
            _check_answered(name, checked, standing)
            return closed_cotangents(name, checked, [*unknown, *code.left])

        transposed = None
        if self.pushforward is not None:
            transposed = _transposed(name, given, functools.partial(self.pushforward, *fixed), out_structure)
        nodes = [leaves[i].node for i in inputs]
        made = _record(name, out_leaves, nodes, rule, out_structure.kind is not None, transposed)
        standing = _check_closed(name, made, nodes, forward.left)
        stand_ins: Sequence[Any] = made if out_structure.kind is not None else [OUTPUT]
        if isinstance(residuals, PLAIN):
            residuals = _connected(residuals, out_leaves, stand_ins)
        elif residuals is not None and any(x is y for x in tree.flatten(residuals)[0] for y in out_leaves):
            residuals = tree.map(lambda x: _connected(x, out_leaves, stand_ins), residuals)
        holds_output = any(x is OUTPUT for x in tree.flatten(residuals)[0])
        unknown = forward.left if forward.left and _computed_outside(residuals, args, made) else ()
        return out_structure.unflatten(made)

    def _run(self, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
        """The output and the residuals."""
        if self.forward is None:
            return self.function(*args, **keywords), None
        token = _in_forward.set((*_in_forward.get(), self))
        try:
            both = self.forward(*args, **keywords)
        finally:
            _in_forward.reset(token)
        if not isinstance(both, tuple) or len(both) != 2:
            raise TypeError(f"{name}: the forward rule must return (output, residuals), it returned {a(both)}")
        return both


_in_forward: ContextVar[tuple[custom_vjp, ...]] = ContextVar("adjoint_in_forward", default=())


def passing(
    name: str, tensors: Sequence[Tensor], rule: Callable[[tuple[Tensor | None, ...]], Sequence[Tensor | None]]
) -> list[Tensor]:
    """The tensors themselves, whose cotangents go through a rule together: None for those that have none. Forward mode passes."""
    inputs = [x.node for x in tensors]

    def backward(cotangents: list[Node | None], node: Node) -> list[Node | None]:
        with custom_code() as code:
            found = rule(tuple([None if u is None else wrap(u) for u in cotangents]))
        checked = [checked_cotangent(name, u, x) for u, x in zip(found, inputs, strict=True)]
        return closed_cotangents(name, checked, [*code.left])

    return _record(name, tensors, inputs, backward, True, lambda cotangents, node: cotangents)


def _missing_rule(name: str, kind: str, remedy: str) -> Callable[..., Any]:
    def backward(residuals: Any, cotangent: Any) -> Any:
        raise RuntimeError(f"{kind}: {name} has no rule yet; give it one with {name}.{remedy}")

    return backward


def _leaves_of(name: str, part: Any, structure: tree.Structure) -> list[Any]:
    if structure.kind is None:
        return [part]
    leaves, own = tree.flatten(tree.map(lambda x: x, part))
    if own.count != structure.count:
        raise ValueError(f"{name}: the backward rule returned a tree unlike its argument")
    return leaves
