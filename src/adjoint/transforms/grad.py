"""Derivatives of functions and of recorded tensors.

Each input of a transformed function is wrapped in an identity marker that has its value, and the derivative is taken
with respect to the marker. Nested transforms use different markers, so perturbations can't be confused, and Python `if`
on values works inside.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from adjoint import tree
from adjoint.derive import forward, one_cotangent, reverse
from adjoint.graph import Node, depends_on, get_mode, mode, substitute, topological
from adjoint.primitives import core
from adjoint.primitives.core import cast, marker, ops
from adjoint.tensors.conversion import a, as_node
from adjoint.tensors.deferring import deferral
from adjoint.tensors.gradients import check_differentiable, with_hooks
from adjoint.tensors.leaving import differentiating
from adjoint.tensors.located import at_user, recording_at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Number, Tensor
from adjoint.unknown import Unknown

__all__ = ["grad", "gradients", "jvp", "stop_gradient", "value_and_grad", "vjp"]


N = TypeVar("N", Node, Node | None)

# Trees of tensors to nodes and back -----------------------------------------------------------------------------------


class Inputs:
    """The arguments of a transformed function with their floating leaves wrapped in markers.

    `markers` are in order; integer and bool leaves inside containers pass through unchanged. Under `no_grad` the derivative is
    computed all the same, but for who asks it is a constant: `recording` says which it is.
    """

    def __init__(self, operation: str, args: Sequence[Any], keep: bool = True) -> None:
        self.structures: list[tree.Structure] = []
        self.plain: list[list[Any]] = []  # the leaves of each argument, markers put in
        self.markers: list[Node] = []
        self.slots: list[list[int | None]] = []  # for each leaf its marker's place, None where it isn't differentiated
        self.recording = get_mode().grad
        with mode(grad=True):
            for arg in args:
                leaves, structure = tree.flatten(arg)
                slots: list[int | None] = []
                wrapped: list[Any] = []
                for leaf in leaves:
                    node = as_node(leaf) if _is_array(leaf) else None
                    if node is None or not node.dtype.inexact:
                        if structure.kind is None:
                            if node is None:
                                raise TypeError(
                                    f"{operation}: cannot differentiate by a {type(leaf).__name__}{at_user()}"
                                )
                            check_differentiable(node.dtype, operation)
                        slots.append(None)
                        wrapped.append(leaf)
                        continue
                    if node.tracked and not self.recording:
                        node = core.stop_gradient(node)
                    slots.append(len(self.markers))
                    self.markers.append(marker(node, tracked=True))
                    wrapped.append(standing_for(leaf, self.markers[-1]))
                self.structures.append(structure)
                self.plain.append(wrapped)
                self.slots.append(slots)

    def arguments(self) -> list[Any]:
        """The arguments to call the function with."""
        return [s.unflatten(leaves) for s, leaves in zip(self.structures, self.plain, strict=True)]

    def pack(self, nodes: Sequence[Node | None]) -> list[Any]:
        """For each argument, a tree like it of the nodes' tensors: zeros for None, None for what isn't differentiated."""
        packed = []
        for structure, slots in zip(self.structures, self.slots, strict=True):
            leaves: list[Any] = []
            for slot in slots:
                node = None if slot is None else nodes[slot]
                if slot is not None and node is None:
                    node = ops.zeros(self.markers[slot].type)
                leaves.append(None if node is None else wrap(node))
            packed.append(structure.unflatten(leaves))
        return packed

    @property
    def untracked(self) -> bool:
        """Whether what depends on the markers is tracked for their sake alone, as far as the inputs go."""
        return not any(m.inputs and m.inputs[0].tracked for m in self.markers)

    def tracked_for_us(self, results: Sequence[Node | None]) -> list[Node]:
        """The nodes below the results, markers included, that nothing but the markers makes tracked."""
        if not self.untracked:
            return []
        ours: dict[Node, None] = dict.fromkeys(self.markers)
        seen: set[Node] = set()
        stack = [r for r in results if r is not None and r.tracked]
        while stack:
            node = stack.pop()
            if node in ours or node in seen:
                continue
            touched, ready, others = False, True, False
            for x in node.inputs:
                if x in ours:
                    touched = True
                elif x.tracked:
                    if x in seen:
                        others = True
                    else:
                        if ready:
                            stack.append(node)
                            ready = False
                        stack.append(x)
            if ready:
                if touched and not others:
                    ours[node] = None
                else:
                    seen.add(node)
        return list(ours)

    def release(self, results: Sequence[Node | None]) -> None:
        """Untrack results that were tracked for the markers' sake alone, so that they forget their graph when evaluated."""
        if self.untracked and not self.release_all(results):
            for node in self.tracked_for_us(results):
                node.tracked = False

    def release_all(self, results: Sequence[Node | None]) -> bool:
        """Untrack all nodes below the results, if the markers alone make them tracked; False, and nothing is done, where
        something else does. A walk without sets: a node that was met has None for `tracked` until the walk is over."""
        met: list[Node] = list(self.markers)
        before = [node.tracked for node in met]
        done = False
        unset: Any = None  # to mypy a bool
        try:
            for node in met:
                node.tracked = unset
            first = len(met)
            meet = met.append
            for result in results:
                if result is not None and result.tracked:
                    result.tracked = unset
                    meet(result)
            for node in itertools.islice(met, first, None):  # which grows on the way
                alone = True
                for x in node.inputs:
                    tracked: bool | None = x.tracked
                    if tracked:
                        x.tracked = unset
                        meet(x)
                        alone = False
                    elif tracked is None:
                        alone = False
                if alone:
                    break
            else:
                done = True
        finally:
            for node in met:
                node.tracked = not done
            if not done:
                for node, flag in zip(self.markers, before, strict=True):
                    node.tracked = flag
        return done

    def given_out(self, results: Sequence[N], through: Sequence[Node | None] = ()) -> list[N]:
        """The results as who asks for them gets them: under `no_grad`, as constants but for what they owe to `through`."""
        if self.recording and get_mode().grad:
            return list(results)
        kept = {x for x in through if x is not None and x.tracked} if get_mode().grad else set()
        constants: dict[Node, Node] = {}
        wanted = [r for r in results if r is not None]
        order = topological(wanted, lambda x: x.tracked)
        dependent = depends_on(order, kept) if kept else set()
        for node in order:
            if node in dependent and node not in kept:
                for x in node.inputs:
                    if x.tracked and x not in dependent and x not in constants:
                        constants[x] = core.stop_gradient(x)
        for r in wanted:
            if r.tracked and r not in dependent and r not in constants:
                constants[r] = core.stop_gradient(r)
        found = iter(substitute(wanted, constants, same_values=True))
        return [None if r is None else next(found) for r in results]

    def aux_given_out(self, aux: Any) -> Any:
        """What a function returned beside its value, likewise. Leaves of graphs stay what they are."""
        if self.recording:
            return aux
        leaves, structure = tree.flatten(aux, opaque=True)
        return structure.unflatten(
            [
                wrap(core.stop_gradient(x.node)) if isinstance(x, Tensor) and x.node.tracked and x.node.inputs else x
                for x in leaves
            ]
        )

    def freed(self, results: Sequence[Node | None]) -> list[Node | None]:
        """The results on the inputs themselves in place of the markers, if no input is tracked: untracked copies, where
        the markers are still needed for another call."""
        if not self.untracked:
            return list(results)
        found = iter(
            substitute([r for r in results if r is not None], {m: m.inputs[0] for m in self.markers}, same_values=True)
        )
        return [None if r is None else next(found) for r in results]


def standing_for(leaf: Any, node: Node) -> Tensor:
    """The tensor of a node that a function is given in place of a leaf of its arguments, or of elements of one."""
    element = not node.type.shape and getattr(leaf, "ndim", 0) > 0
    return wrap(node, element or isinstance(leaf, (Number, np.generic, *NUMBERS, Unknown)))


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, (Tensor, bool, int, float, complex)) or hasattr(leaf, "__array__")


def _output_nodes(operation: str, out: Any, derivative: bool = True) -> tuple[list[Node], tree.Structure]:
    """The nodes of what a function returned. Where a `derivative` is taken, what holds numbers and no graph is a mistake;
    Python's numbers are the constants that they look like."""
    leaves, structure = tree.flatten(out)
    for leaf in leaves:
        if not _is_array(leaf):
            raise TypeError(f"{operation}: the function returned a {type(leaf).__name__}, not a tensor{at_user()}")
        if derivative and not _has_graph(leaf) and type(leaf) not in NUMBERS:
            library = type(leaf).__module__.partition(".")[0]
            raise TypeError(
                f"{operation}: the function returned {a(leaf)} of {library}, which doesn't depend on any graph: its derivative "
                f"is lost. Compute it with tensors; where a constant is meant, return ad.tensor(...) of it{at_user()}"
            )
    return [as_node(leaf) for leaf in leaves], structure


NUMBERS = (bool, int, float, complex)


def _has_graph(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) or type(leaf) is Unknown or isinstance(getattr(leaf, "data", None), Tensor)


def _positions(argnums: int | Sequence[int], count: int, operation: str) -> tuple[int, ...]:
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for i in positions:
        if not -count <= i < count:
            raise ValueError(f"{operation}: argnums {argnums} for a call with {count} positional arguments{at_user()}")
    return tuple(i % count for i in positions)


# The transforms -------------------------------------------------------------------------------------------------------


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that gives f's value and its gradient, with one evaluation of the graph for both.

    f returns a tensor with one element (with `has_aux`, a pair of that and anything else). The gradient has the structure
    of the argument (for several `argnums`, a tuple of them); leaves that f doesn't depend on get zeros, integer leaves
    inside containers None. With `holomorphic`, f maps complex to complex and the result is the complex derivative.

    Raises TypeError for an argument without derivatives, ValueError for an output that isn't one number.

    >>> import adjoint as ad
    >>> ad.value_and_grad(lambda x: x**2)(3.0)
    (Tensor(9.), Tensor(6.))
    """

    _require_function("grad", f)

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def transformed(*args: Any, **keywords: Any) -> Any:
        positions = _positions(argnums, len(args), "grad")
        inputs = Inputs("grad", [args[i] for i in positions])
        call = list(args)
        for i, value in zip(positions, inputs.arguments(), strict=True):
            call[i] = value
        with mode(grad=True), differentiating(inputs.markers):
            out = f(*call, **keywords)
        out, aux = _parted("grad", out, has_aux)
        nodes, structure = _output_nodes("grad", out)
        if structure.kind is not None or len(nodes) != 1 or nodes[0].type.size != 1:
            shapes = "shape " + ", ".join(str(n.shape) for n in nodes) if nodes else a(out)
            way = "reduce it, or take ad.jacobian"
            if out is None:
                way = "is its return missing?"
            if hasattr(out, "_fields"):
                shapes, way = f"{a(out)} of {', '.join(out._fields)}", f"return one of these, such as .{out._fields[0]}"
            raise ValueError(f"grad: the function must return a scalar, it returned {shapes}; {way}{at_user()}")
        y = nodes[0]
        if holomorphic != (y.dtype.kind == "c"):
            hint = "pass holomorphic=True" if not holomorphic else "leave holomorphic out"
            raise TypeError(f"grad: the function returned {y.dtype.name}; {hint}{at_user()}")
        check_differentiable(y.dtype, "grad of the function's output")
        with recording_at_user(), mode(grad=True):
            waiting = deferral(y, inputs.markers)
            ours = waiting is not None and (waiting.alone or not inputs.recording)  # tracked for the markers' sake
            if waiting is None or (ours and has_aux):
                found = reverse([y], [one_cotangent(y)], inputs.markers, stop=True, release=not has_aux)
            else:
                found = waiting.cotangents(
                    one_cotangent(y), inputs.markers, stop=True, tracked=not ours, again=not ours
                )
                y = core.stop_gradient(y) if ours else y
            if holomorphic:
                found = [None if g is None else ops.conj(g) for g in found]
        if waiting is None or has_aux:
            inputs.release([y, *found, *_nodes_of(aux)])
            (y,), found = inputs.given_out([y]), inputs.given_out(found)
            aux = inputs.aux_given_out(aux)
        packed = inputs.pack(found)
        gradient = packed[0] if isinstance(argnums, int) else tuple(packed)
        return (((wrap(y), aux) if has_aux else wrap(y)), gradient)

    return transformed


def _parted(operation: str, out: Any, has_aux: bool) -> tuple[Any, Any]:
    """What a function returned: its value, and what `has_aux` says it returns beside it."""
    if not has_aux:
        return out, None
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError(f"{operation}: with has_aux the function returns (value, aux), it returned {a(out)}{at_user()}")
    return out[0], out[1]


def _nodes_of(aux: Any) -> list[Node]:
    return [leaf.node for leaf in tree.flatten(aux)[0] if isinstance(leaf, Tensor)]


def _require_function(operation: str, f: Any) -> None:
    if not callable(f):
        hint = "; of a computed tensor: ad.gradients(y, [x])" if isinstance(f, Tensor) else ""
        raise TypeError(f"{operation}: expected a function, got {a(f)}{hint}{at_user()}")


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that gives the gradient of f, which returns one number. See `value_and_grad`.

    With `has_aux`, f returns (value, aux) and the new function (gradient, aux). Nests to any order.

    >>> import adjoint as ad
    >>> f = lambda x: 3 * x**3 + 4 * x + 1
    >>> ad.grad(f)(2.0), ad.grad(ad.grad(f))(2.0), ad.grad(ad.grad(ad.grad(f)))(2.0)
    (Tensor(40.), Tensor(36.), Tensor(18.))
    """
    both = value_and_grad(f, argnums, has_aux, holomorphic=holomorphic)

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def transformed(*args: Any, **keywords: Any) -> Any:
        value, gradient = both(*args, **keywords)
        return (gradient, value[1]) if has_aux else gradient

    return transformed


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """f's output and its pullback, which maps a cotangent like the output to a tuple of cotangents, one for each primal.

    With `has_aux`, f returns (output, aux), and aux is the third of the results. Raises TypeError for primals without
    derivatives; the pullback raises ValueError for a cotangent of another structure or shape.

    >>> import adjoint as ad
    >>> out, pullback = ad.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> pullback(1.0)
    (Tensor(3.), Tensor(2.))
    """
    inputs = Inputs("vjp", primals)
    with mode(grad=True), differentiating(inputs.markers):
        out = f(*inputs.arguments())
    out, aux = _parted("vjp", out, has_aux)
    nodes, structure = _output_nodes("vjp", out)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        given = _like("vjp", cotangent, nodes, structure)
        with recording_at_user(), mode(grad=True):
            u, *others = given
            waiting = None if u is None or u.tracked or others else deferral(nodes[0], inputs.markers)
            if u is not None and waiting is not None and waiting.alone:
                return tuple(inputs.pack(waiting.cotangents(u, inputs.markers, stop=True, tracked=False, again=True)))
            found = reverse(nodes, given, inputs.markers, stop=True)
        return tuple(inputs.pack(inputs.given_out(inputs.freed(found), given)))

    ours = set(inputs.tracked_for_us([*nodes, *_nodes_of(aux)]))
    outputs = inputs.given_out([core.stop_gradient(n) if n in ours else n for n in nodes])
    aux = tree.map(lambda x: wrap(core.stop_gradient(x.node)) if isinstance(x, Tensor) and x.node in ours else x, aux)
    value = structure.unflatten([wrap(n) for n in outputs])
    return (value, pullback, inputs.aux_given_out(aux)) if has_aux else (value, pullback)


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """f's output and the derivative of it along tangents like the primals, in forward mode.

    With `has_aux`, f returns (output, aux), and aux is the third of the results.
    Tangents of integer leaves are None and their outputs' tangents are None. Raises ValueError where structures or shapes
    differ, RuntimeError where a custom rule doesn't allow forward mode.

    >>> import adjoint as ad
    >>> ad.jvp(lambda x: x**3, (2.0,), (1.0,))
    (Tensor(8.), Tensor(12.))
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError(f"jvp: primals and tangents are tuples, one entry for each argument{at_user()}")
    if len(primals) != len(tangents):
        raise ValueError(f"jvp: {len(primals)} primals but {len(tangents)} tangents{at_user()}")
    inputs = Inputs("jvp", primals)
    with mode(grad=True), differentiating(inputs.markers):
        out = f(*inputs.arguments())
    out, aux = _parted("jvp", out, has_aux)
    nodes, structure = _output_nodes("jvp", out)
    given: list[Node | None] = [None] * len(inputs.markers)
    for tangent, slots, shape in zip(tangents, inputs.slots, inputs.structures, strict=True):
        wanted = [inputs.markers[s] if s is not None else None for s in slots]
        for slot, node in zip(slots, _leaves_like("jvp", tangent, wanted, shape), strict=True):
            if slot is not None:
                given[slot] = node
    with recording_at_user(), mode(grad=True):
        found = forward(nodes, inputs.markers, given)
        tangent_nodes = [
            ops.zeros(y.type) if t is None and y.dtype.inexact else t for y, t in zip(nodes, found, strict=True)
        ]
    inputs.release([*nodes, *tangent_nodes, *_nodes_of(aux)])
    nodes, tangent_nodes = inputs.given_out(nodes), inputs.given_out(tangent_nodes)
    value = structure.unflatten([wrap(n) for n in nodes])
    derivative = structure.unflatten([None if t is None else wrap(t) for t in tangent_nodes])
    return (value, derivative, inputs.aux_given_out(aux)) if has_aux else (value, derivative)


def gradients(output: Tensor, inputs: Any, cotangent: Any = None) -> Any:
    """The derivative of a computed tensor by tensors that it was computed from, as a tree like `inputs`.

    The inputs are variables, or tensors computed from variables. Zeros where the output doesn't depend on one. The result
    is differentiable again. Raises RuntimeError for an untracked input, ValueError for a missing cotangent.

    >>> import adjoint as ad
    >>> x = ad.variable(2.0)
    >>> y = 3 * x**3 + 4 * x + 1
    >>> (dx,) = ad.gradients(y, [x])
    >>> (dx, *ad.gradients(dx, [x]))
    (Tensor(40., grad_fn=Add), Tensor(36., grad_fn=Scale))
    """
    if not isinstance(output, Tensor):
        raise TypeError(f"gradients: the output is a tensor, got {a(output)}{at_user()}")
    leaves, structure = tree.flatten(inputs)
    wrt = []
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise TypeError(f"gradients: inputs are tensors, got {type(leaf).__name__}{at_user()}")
        if not leaf.node.tracked:
            raise RuntimeError(
                f"gradients: an input of shape {leaf.shape} is not tracked; make it with ad.variable(...){at_user()}"
            )
        wrt.append(leaf.node)
    y = output.node
    check_differentiable(y.dtype, "gradients")
    if cotangent is None:
        if y.type.size != 1:
            raise ValueError(
                f"gradients: an output of shape {y.shape} needs a cotangent of that shape, or sum it first{at_user()}"
            )
        u = one_cotangent(y)
    else:
        u = cast(as_node(cotangent, y.dtype), y.dtype)
        if u.shape != y.shape:
            raise ValueError(f"gradients: cotangent of shape {u.shape} for an output of shape {y.shape}{at_user()}")
    with recording_at_user(), mode(grad=True):
        waiting = deferral(y, wrt)
        if waiting is None:
            found = reverse([y], [u], wrt)
        else:
            found = waiting.cotangents(u, wrt, stop=False, tracked=True, again=True)
        nodes = [ops.zeros(x.type) if g is None else with_hooks(x, g) for g, x in zip(found, wrt, strict=True)]
    return structure.unflatten([wrap(n) for n in nodes])


def stop_gradient(x: Any) -> Any:
    """x, a tensor or a tree of them, as constants to every derivative."""
    return tree.map(lambda leaf: wrap(core.stop_gradient(as_node(leaf))) if _is_array(leaf) else leaf, x)


def _like(operation: str, given: Any, nodes: list[Node], structure: tree.Structure) -> list[Node | None]:
    return _leaves_like(operation, given, [n if n.dtype.inexact else None for n in nodes], structure)


def _leaves_like(
    operation: str, given: Any, wanted: Sequence[Node | None], structure: tree.Structure
) -> list[Node | None]:
    """The leaves of a (co)tangent tree, checked against what it belongs to; None stands for zero."""
    leaves = _aligned(operation, given, structure)
    checked: list[Node | None] = []
    for leaf, node in zip(leaves, wanted, strict=True):
        if leaf is None or node is None:
            checked.append(None)
            continue
        value = as_node(leaf, node.dtype)
        if value.shape != node.shape:
            raise ValueError(f"{operation}: shape {value.shape} given where {node.shape} is needed{at_user()}")
        checked.append(cast(value, node.dtype))
    return checked


def _aligned(operation: str, given: Any, structure: tree.Structure) -> list[Any]:
    """The leaves of `given` in the places of `structure`'s leaves, None allowed for any subtree."""
    if given is None:
        return [None] * structure.count
    if structure.kind is None:
        return [given]
    leaves, own = tree.flatten(given)
    if own == structure:
        return leaves
    if own.kind is structure.kind or (own.kind in (list, tuple) and structure.kind in (list, tuple)):
        parts = (
            list(given.values()) if isinstance(given, dict) else list(given) if isinstance(given, (list, tuple)) else []
        )
        if len(parts) == len(structure.children) and own.keys == structure.keys:
            return [x for part, s in zip(parts, structure.children, strict=True) for x in _aligned(operation, part, s)]
    raise ValueError(
        f"{operation}: got {type(given).__name__}; expected the structure "
        f"{structure.unflatten(['*'] * structure.count)}{at_user()}"
    )
