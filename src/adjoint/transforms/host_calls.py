"""Calls to host code, with a derivative of the user's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.dtypes import as_dtype
from adjoint.graph import Node, array_type
from adjoint.primitives import custom as primitive
from adjoint.primitives.core import select
from adjoint.shapes import as_shape
from adjoint.tensors.conversion import as_node
from adjoint.tensors.leaving import custom_code
from adjoint.tensors.located import at_user, user_frame
from adjoint.tensors.named import recorded, wrap
from adjoint.transforms.custom import checked_cotangent, closed_cotangents, filled_cotangents

__all__ = ["exact_call", "host_call"]


def host_call(
    f: Callable[..., Any],
    *args: Any,
    shape: Any,
    dtype: Any,
    vjp: Callable[..., Any] | None = None,
    vmap: Callable[..., Any] | None = None,
) -> Any:
    """Call host code when the value is asked for: f gets read-only NumPy arrays and returns one of `shape` and `dtype`.

    What f returns is rounded to `dtype`. Numbers that it doesn't hold (complex ones where it is real, fractions where it is
    integral) raise ValueError, and so does another shape, at the line of the call.

    For several outputs give lists of shapes and dtypes; f then returns a tuple. vjp(cotangent, *args) works on tensors and
    returns a tuple with one cotangent for each argument; without it, differentiating is an error. Under vmap,
    vmap(*args) is called in place of f, all of its arguments with the batch axis in front; without it, f is called for one
    example after another. f may run more than once and must not depend on what it doesn't get.

    >>> import adjoint as ad
    >>> import numpy as np
    >>> x = ad.variable([1.0, 2.0])
    >>> y = ad.host_call(np.cbrt, x, shape=(2,), dtype="float32", vjp=lambda g, x: (g / (3 * ad.power(x, 2.0 / 3.0)),))
    >>> y.sum().backward()
    >>> x.grad
    Tensor([0.3333, 0.21  ])
    """
    return _host_call(f, args, shape, dtype, vjp, vmap, exact=False)


def exact_call(f: Callable[..., Any], *args: Any, shape: Any, dtype: Any, vjp: Any = None, vmap: Any = None) -> Any:
    """`host_call` of a function that is never called again to find out what failed, and that keeps none of its arrays. Its rule
    is vjp(result, cotangent, *args)."""
    return _host_call(f, args, shape, dtype, vjp, vmap, exact=True)


def _host_call(
    f: Callable[..., Any], args: Sequence[Any], shape: Any, dtype: Any, vjp: Any, vmap: Any, exact: bool
) -> Any:
    nodes = [as_node(x) for x in args]
    several = isinstance(shape, list)
    if several:
        dtypes = dtype if isinstance(dtype, (list, tuple)) else [dtype] * len(shape)
        type: Any = tuple(array_type(as_shape(s, "host_call"), as_dtype(d)) for s, d in zip(shape, dtypes, strict=True))
    else:
        type = array_type(as_shape(shape, "host_call"), as_dtype(dtype))
    made = primitive.host_call(
        primitive.HostFunction(f, vjp, vmap, _exact_rule if exact else _host_rule, exact), nodes, type
    )
    frame = user_frame(1)
    if frame is not None:
        recorded(made, frame)
    return tuple(wrap(select(made, i)) for i in range(len(type))) if several else wrap(made)


def _exact_rule(rule: Callable[..., Any], u: Any, node: Node) -> list[Node | None]:
    """The rule of an exact call gets what it gave as well, by which what follows can wait for it."""
    return _host_rule(functools.partial(rule, wrap(node)), u, node)


def _host_rule(rule: Callable[..., Any], u: Any, node: Node) -> list[Node | None]:
    cotangents = filled_cotangents(u if isinstance(u, list) else [u], node)
    with custom_code() as code:
        result = rule(tuple(cotangents) if isinstance(u, list) else cotangents[0], *(wrap(x) for x in node.inputs))
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(results) != len(node.inputs):
        raise ValueError(
            f"host_call: vjp returned {len(results)} cotangents for {len(node.inputs)} arguments{at_user()}"
        )
    checked = [checked_cotangent("host_call", g, x) for g, x in zip(results, node.inputs, strict=True)]
    return closed_cotangents("host_call", checked, list(code.left))
