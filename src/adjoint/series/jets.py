"""`jet` and `taylor`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.graph import Node, mode
from adjoint.primitives.core import cast, ops, zeros
from adjoint.series.coefficients import Coefficient, Series
from adjoint.tensors.conversion import a
from adjoint.tensors.leaving import differentiating
from adjoint.tensors.located import at_user, recording_at_user
from adjoint.tensors.named import wrap
from adjoint.transforms.grad import Inputs, _leaves_like, _output_nodes

__all__ = ["jet", "taylor"]


def jet(f: Callable[..., Any], primals: Sequence[Any], series: Sequence[Sequence[Any]]) -> tuple[Any, list[Any]]:
    """f and its derivatives along a curve: the first, second, ... by t of f(x(t)) at t = 0, where x(0) are `primals`.

    series: for each argument of f the derivatives of x by t, from the first on, each a tree like the argument (None: zero);
    all lists are as long as the highest order. Gives f's output and a list of its derivatives. These are derivatives, as in
    `jax.experimental.jet`, not Taylor coefficients: the k-th is k! times the coefficient.

    The cost grows with the square of the order, where nested `grad` grows exponentially; so it does through loops, branches,
    `odeint` and systems of equations. The result differentiates, and works under `vmap` and `jit`. Raises TypeError for arguments
    without derivatives, ValueError where lengths or shapes differ.

    >>> import adjoint as ad
    >>> ad.jet(lambda x: x**3, (2.0,), ([1.0, 0.0, 0.0],))
    (Tensor(8.), [Tensor(12.), Tensor(12.), Tensor(6.)])
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(series, (tuple, list)):
        raise TypeError(f"jet: primals and series are tuples, one entry for each argument{at_user()}")
    if len(primals) != len(series) or any([not isinstance(s, (tuple, list)) for s in series]):
        raise ValueError(f"jet: a list of derivatives is needed for each of {len(primals)} primals{at_user()}")
    orders = {len(s) for s in series}
    if len(orders) != 1:
        raise ValueError(f"jet: as many derivatives are needed for each argument, got {sorted(orders)}{at_user()}")
    (order,) = orders
    inputs = Inputs("jet", primals)
    with mode(grad=True), differentiating(inputs.markers):
        out = f(*inputs.arguments())
    nodes, structure = _output_nodes("jet", out)
    given: list[list[Coefficient]] = [[] for _ in inputs.markers]
    with recording_at_user(), mode(grad=True):
        for k in range(order):
            for s, slots, shape in zip(series, inputs.slots, inputs.structures, strict=True):
                wanted = [None if slot is None else inputs.markers[slot] for slot in slots]
                for slot, node in zip(slots, _leaves_like("jet", s[k], wanted, shape), strict=True):
                    if slot is not None:
                        given[slot].append(None if node is None else ops.multiply(node, 1 / math.factorial(k + 1)))
        found = Series(dict(zip(inputs.markers, given, strict=True))).run(nodes, order)
        rows = [[_whole(y, c, math.factorial(k)) for y, (_, *cs) in zip(nodes, found, strict=True) for c in [cs[k - 1]]]
                for k in range(1, order + 1)]  # fmt: skip
    every = [*nodes, *[x for row in rows for x in row]]
    inputs.release(every)
    nodes = inputs.given_out(nodes)
    rows = [inputs.given_out(row) for row in rows]
    return structure.unflatten([wrap(n) for n in nodes]), [structure.unflatten([wrap(n) for n in row]) for row in rows]


def _whole(y: Node, coefficient: Coefficient, factor: int) -> Node:
    if coefficient is None:
        return zeros(y.type)
    return cast(coefficient if factor == 1 else ops.multiply(coefficient, float(factor)), y.dtype)


def taylor(f: Callable[[Any], Any], x: Any, order: int) -> list[Any]:
    """The Taylor coefficients of f at x, from order 0 to `order`: the k-th is the k-th derivative divided by k!.

    x is one array; for several elements the derivative is along all of them at once, for an f that acts element by element the
    derivative of each. Coefficients are trees like f's output. Raises ValueError for a negative order.

    >>> import adjoint as ad
    >>> ad.taylor(ad.exp, 0.0, 3)
    [Tensor(1.), Tensor(1.), Tensor(0.5), Tensor(0.1667)]
    """
    if not isinstance(order, int) or order < 0:
        raise ValueError(f"taylor: the order is an int from 0 on, got {order!r}{at_user()}")
    inputs = Inputs("taylor", [x])
    if inputs.structures[0].kind is not None:
        raise TypeError(f"taylor: x is one array or number, got {a(x)}; for trees there is ad.jet{at_user()}")
    with mode(grad=True), differentiating(inputs.markers):
        out = f(*inputs.arguments())
    nodes, structure = _output_nodes("taylor", out)
    (marker,) = inputs.markers
    with recording_at_user(), mode(grad=True):
        one = ops.full(1.0, marker.type)
        found = Series({marker: [one, *[None] * (order - 1)] if order else []}).run(nodes, order)
        rows = [[_whole(y, cs[k], 1) for y, cs in zip(nodes, found, strict=True)] for k in range(order + 1)]
    inputs.release([n for row in rows for n in row])
    return [structure.unflatten([wrap(n) for n in inputs.given_out(row)]) for row in rows]
