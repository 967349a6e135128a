"""`checkpoint`: recompute instead of remember."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from adjoint import derive, tree
from adjoint.graph import Node, depends_on, get_mode, topological
from adjoint.primitives.core import marker
from adjoint.tensors.conversion import a
from adjoint.tensors.located import at_user, enter_scope, leave_scope, recorded_inside, recording_at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Number, Tensor
from adjoint.transforms.grad import _output_nodes

__all__ = ["checkpoint"]


def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function like f whose reverse pass remembers f's inputs alone and computes the rest again when it gets there.

    Memory falls, time grows by one more evaluation of f. A chain of n steps cut into pieces of √n, each checkpointed,
    remembers about 2√n of them; checkpoints inside checkpoints remember less still and compute more. Arguments and
    results may be nested containers; tensors that f closes over are differentiated as usual. f is called once, when it
    is recorded; recomputing runs its graph, with the same random numbers. Forward mode, which remembers nothing, goes
    straight through. (A. Griewank, Optimization Methods and Software 1, 1992.)

    >>> import adjoint as ad
    >>> f = ad.checkpoint(lambda x: ad.sin(ad.sin(x)))
    >>> ad.grad(f)(0.5), ad.grad(lambda x: ad.sin(ad.sin(x)))(0.5)
    (Tensor(0.7786), Tensor(0.7786))
    """
    if not callable(f):
        raise TypeError(f"checkpoint: expected a function, got {a(f)}{at_user()}")

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def checkpointed(*args: Any, **keywords: Any) -> Any:
        leaves, structure = tree.flatten((args, keywords))
        with recording_at_user():
            inner = [
                wrap(marker(leaf.node), isinstance(leaf, Number))
                if isinstance(leaf, Tensor) and leaf.dtype.inexact
                else leaf
                for leaf in leaves
            ]
        own_args, own_keywords = structure.unflatten(inner)
        token = enter_scope("checkpoint", 2, user=True)
        scope = get_mode().site
        try:
            out = f(*own_args, **own_keywords)
        finally:
            leave_scope(token)
        nodes, out_structure = _output_nodes("checkpoint", out, derivative=False)
        tracked = [y for y in nodes if y.tracked and y.dtype.inexact]
        if not tracked:
            return out
        given = {leaf.node for leaf in inner if isinstance(leaf, Tensor)}
        with recording_at_user():
            made = iter(derive.checkpoint(tracked, _boundary(tracked, given, scope)))
        return out_structure.unflatten([wrap(next(made)) if y.tracked and y.dtype.inexact else wrap(y) for y in nodes])

    return checkpointed


def _boundary(outputs: Sequence[Node], given: set[Node], scope: Any) -> list[Node]:
    """The tracked nodes that the outputs depend on and that are not of the function: the arguments, and what it closes over.

    Of the function is what was recorded inside the scope, and what depends on the arguments' markers: a compiled function that
    it calls keeps the places of its first trace.
    """
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    depending: set[Node] | None = None
    stack = list(outputs)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        own = node not in given
        if own and not recorded_inside(node, scope):
            if depending is None and node.inputs:
                depending = depends_on(topological(outputs, lambda x: x not in given and x.value is None), given)
            own = depending is not None and node in depending
        if own:
            stack += [x for x in node.inputs if x.tracked]
        else:
            found[node] = None
    return list(found)
