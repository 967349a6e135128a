"""Whole Jacobians and Hessians, and products with them.

The function is called once. The derivative graph that this records is batched over a basis of cotangents (reverse mode)
or tangents (forward mode), so that all rows or columns are computed together.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.batch import Batch
from adjoint.derive import forward, one_cotangent, reverse
from adjoint.graph import ArrayType, Node, array_type, mode, substitute
from adjoint.plan import bands
from adjoint.primitives.core import data, full, ops, placeholder, stop_gradient
from adjoint.tensors.gradients import check_differentiable
from adjoint.tensors.leaving import differentiating
from adjoint.tensors.located import at_user, recording_at_user
from adjoint.tensors.named import wrap
from adjoint.transforms.grad import Inputs, _leaves_like, _nodes_of, _output_nodes, _parted, _positions, grad, jvp

__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev", "linearize"]

Argnums = int | Sequence[int]
Blocks = list[list[Node]]  # one row for each output, in it one node for each input


def jacrev(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that gives the Jacobian of f in reverse mode: all rows together, from one recording of f.

    For an output of shape s and an argument of shape t the result has shape s + t. Outputs and arguments may be nested
    containers: the result is the output's, with a container like the argument in the place of each leaf (for several
    `argnums`, a tuple of them). Integer leaves of arguments give None. With `holomorphic`, f maps complex to complex.
    With `has_aux`, f returns (output, aux) and the new function (Jacobian, aux).

    Costs about as many pullbacks as f has outputs. Raises TypeError for an argument or output without derivatives.

    >>> import adjoint as ad
    >>> ad.jacrev(lambda x: x**2)(ad.tensor([1.0, 2.0]))
    Tensor([[2., 0.],
            [0., 4.]])
    """
    return _transformed("jacrev", f, argnums, holomorphic, has_aux)


def jacfwd(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, holomorphic: bool = False
) -> Callable[..., Any]:
    """A function that gives the Jacobian of f in forward mode: all columns together, from one recording of f.

    The same result as `jacrev`, at the cost of about as many pushforwards as f has inputs. Raises as `jacrev` does, and
    RuntimeError for a custom rule that forward mode can't be derived from.

    >>> import adjoint as ad
    >>> ad.jacfwd(lambda x: ad.stack([x.sum(), x[0] * x[1]]))(ad.tensor([3.0, 5.0]))
    Tensor([[1., 1.],
            [5., 3.]])
    """
    return _transformed("jacfwd", f, argnums, holomorphic, has_aux)


def jacobian(f: Callable[..., Any], argnums: Argnums = 0, *, holomorphic: bool = False) -> Callable[..., Any]:
    """A function that gives the Jacobian of f, in the cheaper mode: forward if f has fewer inputs than outputs.

    See `jacrev` for its structure. A custom rule that has no forward mode makes it reverse.

    >>> import adjoint as ad
    >>> ad.jacobian(lambda p: {"sum": p["a"] + p["b"], "product": p["a"] * p["b"]})({"a": 2.0, "b": 3.0})
    {'sum': {'a': Tensor(1.), 'b': Tensor(1.)}, 'product': {'a': Tensor(3.), 'b': Tensor(2.)}}
    """
    return _transformed("jacobian", f, argnums, holomorphic)


def hessian(f: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that gives the second derivatives of f: `jacfwd(jacrev(f))`, with one call of f.

    For a scalar f of an argument of shape s the result has shape s + s. For several `argnums` it is a tuple of tuples,
    for containers a container of containers; an f with more outputs has its shape in front.

    >>> import adjoint as ad
    >>> ad.hessian(lambda x: x[0] ** 2 * x[1])(ad.tensor([3.0, 5.0]))
    Tensor([[10.,  6.],
            [ 6.,  0.]])
    >>> ad.hessian(lambda x, y: x * y**2, argnums=(0, 1))(2.0, 3.0)
    ((Tensor(0.), Tensor(6.)), (Tensor(6.), Tensor(4.)))
    """
    return jacfwd(jacrev(f, argnums), argnums)


def hvp(f: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The Hessian of a scalar f times a vector, without the Hessian: forward over reverse, a few times f's own cost.

    primals and tangents are tuples with one entry for each argument of f, and so is the result; for a function of one
    argument they may be that argument and its tangent themselves. Raises ValueError where shapes differ.

    >>> import adjoint as ad
    >>> x = ad.tensor([3.0, 5.0])
    >>> ad.hvp(lambda x: x[0] ** 2 * x[1], x, ad.tensor([1.0, 0.0]))
    Tensor([10.,  6.])
    """
    if not isinstance(primals, (tuple, list)):
        return hvp(f, (primals,), (tangents,))[0]
    return jvp(grad(f, argnums=tuple(range(len(primals)))), primals, tangents)[1]


def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """f's output at a point and its derivative there, a linear function of tangents like the primals.

    The derivative is derived once; calling it again neither calls f nor repeats what depends on the point alone.
    Tangents of integer leaves are None. Raises as `jvp` does.

    >>> import adjoint as ad
    >>> out, pushforward = ad.linearize(lambda x: x**3, 2.0)
    >>> out, pushforward(1.0), pushforward(10.0)
    (Tensor(8.), Tensor(12.), Tensor(120.))
    """
    inputs = Inputs("linearize", primals)
    with mode(grad=True), differentiating(inputs.markers):
        out = f(*inputs.arguments())
    nodes, structure = _output_nodes("linearize", out)
    stand_ins = [placeholder(m.type, "a tangent") for m in inputs.markers]
    with recording_at_user(), mode(grad=True):
        found = forward(nodes, inputs.markers, stand_ins)

    def pushforward(*tangents: Any) -> Any:
        if len(tangents) != len(primals):
            raise ValueError(f"linearize: {len(tangents)} tangents given for {len(primals)} primals{at_user()}")
        given: list[Node | None] = [None] * len(stand_ins)
        for tangent, slots, shape in zip(tangents, inputs.slots, inputs.structures, strict=True):
            wanted = [None if s is None else inputs.markers[s] for s in slots]
            for slot, node in zip(slots, _leaves_like("linearize", tangent, wanted, shape), strict=True):
                if slot is not None:
                    given[slot] = node
        with recording_at_user(), mode(grad=True):
            replaced = {s: ops.zeros(s.type) if t is None else t for s, t in zip(stand_ins, given, strict=True)}
            there = iter(substitute([t for t in found if t is not None], replaced))
            results = [next(there) if t is not None else None for t in found]
            results = [ops.zeros(y.type) if t is None and y.dtype.inexact else t
                       for y, t in zip(nodes, results, strict=True)]  # fmt: skip
        freed = inputs.given_out(inputs.freed(results), given)
        return structure.unflatten([None if t is None else wrap(t) for t in freed])

    ours = set(inputs.tracked_for_us(nodes))
    outputs = inputs.given_out([stop_gradient(n) if n in ours else n for n in nodes])
    return structure.unflatten([wrap(n) for n in outputs]), pushforward


# How ------------------------------------------------------------------------------------------------------------------


def _transformed(
    operation: str, f: Callable[..., Any], argnums: Argnums, holomorphic: bool, has_aux: bool = False
) -> Callable[..., Any]:
    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def transformed(*args: Any, **keywords: Any) -> Any:
        positions = _positions(argnums, len(args), operation)
        inputs = Inputs(operation, [args[i] for i in positions])
        call = list(args)
        for i, value in zip(positions, inputs.arguments(), strict=True):
            call[i] = value
        with mode(grad=True), differentiating(inputs.markers):
            out = f(*call, **keywords)
        out, aux = _parted(operation, out, has_aux)
        nodes, structure = _output_nodes(operation, out)
        _check(operation, nodes, inputs.markers, holomorphic)
        with recording_at_user(), mode(grad=True):
            blocks = _blocks(operation, nodes, inputs.markers, holomorphic)
        inputs.release([*[block for row in blocks for block in row], *_nodes_of(aux)])
        aux = inputs.aux_given_out(aux)
        rows = []
        for row in blocks:
            packed = inputs.pack(inputs.given_out(row))
            rows.append(packed[0] if isinstance(argnums, int) else tuple(packed))
        found = structure.unflatten(rows)
        return (found, aux) if has_aux else found

    return transformed


def _check(operation: str, outputs: Sequence[Node], inputs: Sequence[Node], holomorphic: bool) -> None:
    for y in outputs:
        check_differentiable(y.dtype, f"{operation} of the function's output")
    for x in [*inputs, *outputs]:
        if (x.dtype.kind == "c") != holomorphic:
            hint = "leave holomorphic out" if holomorphic else "pass holomorphic=True for a holomorphic function"
            raise TypeError(f"{operation}: the function maps from or to {x.dtype.name}; {hint}{at_user()}")


def _blocks(operation: str, outputs: Sequence[Node], inputs: Sequence[Node], holomorphic: bool) -> Blocks:
    """For each output and input, the derivative: the output's shape, then the input's."""
    fewer = sum(x.type.size for x in inputs) < sum(y.type.size for y in outputs)
    if operation == "jacfwd" or (operation == "jacobian" and fewer):
        try:
            return _columns(outputs, inputs)
        except RuntimeError:  # a custom rule without a forward mode
            if operation == "jacfwd":
                raise
    return _rows(outputs, inputs, holomorphic)


def _rows(outputs: Sequence[Node], inputs: Sequence[Node], holomorphic: bool) -> Blocks:
    blocks = []
    for y in outputs:
        found: list[Node | None]
        if y.type.size == 1:
            found = reverse([y], [one_cotangent(y)], inputs, stop=True)
        else:
            u = placeholder(y.type, "a cotangent", tracked=False)
            found = Batch(y.type.size, {u: _basis(y.type)}).expand(reverse([y], [u], inputs, stop=True))
        row = []
        for x, g in zip(inputs, found, strict=True):
            shape = (*y.shape, *x.shape)
            if g is None:
                row.append(ops.zeros(array_type(shape, x.dtype)))
            else:
                row.append(ops.reshape(ops.conj(g) if holomorphic else g, shape))
        blocks.append(row)
    return blocks


def _columns(outputs: Sequence[Node], inputs: Sequence[Node]) -> Blocks:
    blocks: Blocks = [[] for _ in outputs]
    for x in inputs:
        single = x.type.size == 1
        t = one_cotangent(x) if single else placeholder(x.type, "a tangent", tracked=False)
        found = forward(outputs, [x], [t])
        if not single:
            batched = Batch(x.type.size, {t: _basis(x.type)}).expand(found)
            found = [None if g is None else ops.permute_dims(g, (*range(1, g.ndim), 0)) for g in batched]
        for row, y, g in zip(blocks, outputs, found, strict=True):
            shape = (*y.shape, *x.shape)
            row.append(ops.zeros(array_type(shape, y.dtype)) if g is None else ops.reshape(g, shape))
    return blocks


def _basis(type: ArrayType) -> Node:
    """The unit arrays of a type, one after another: ones on the diagonal of zeros; if there are many, as a graph, in which a
    plan sees the diagonal."""
    n = int(type.size)
    if n < bands.SMALLEST:
        return data(np.eye(n, dtype=type.dtype.dtype).reshape((n, *type.shape)))
    ones = full(1.0 if type.dtype.kind == "f" else 1 + 0j, array_type((n,), type.dtype))
    return ops.reshape(ops.embed(ones, (n * n,), ((0, n, n + 1),)), (n, *type.shape))
