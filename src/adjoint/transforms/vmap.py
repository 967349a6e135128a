"""`vmap`: a function of one example as a function of a batch of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Never

from adjoint import tree
from adjoint.batch import Batch
from adjoint.graph import Node, array_type
from adjoint.hints import keyword_error
from adjoint.primitives.core import ops, placeholder
from adjoint.primitives.random import EXAMPLES
from adjoint.shapes import drop_axes
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import at_user, recording_at_user
from adjoint.tensors.named import wrap
from adjoint.transforms.grad import _is_array, _output_nodes, standing_for

__all__ = ["vmap"]

Axes = Any  # an int, None, or a container of them that is a prefix of a tree


def vmap(f: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, **others: Never) -> Callable[..., Any]:
    """A function that applies f to every example of a batch at once.

    in_axes: along which axis the examples lie: an int for all positional arguments, or a tuple with an entry for each.
    An entry is an int (negative ones count from the end), None for what all examples share, or a container of entries
    like the argument, down to any depth. Keyword arguments are shared. out_axes: the same for where the results' batch
    axis goes; None for a result that is the same for every example.

    f is called once, with tensors that have a shape and no value: every operation is then recorded for all examples
    together, without a loop (`ad.host_call` without its `vmap=` excepted). Where Python needs a value (`if`,
    `.item()`), that is a RuntimeError; use `ad.where`. Random numbers drawn inside differ for each example. Nests, and
    composes with every other transformation: `vmap(grad(loss), in_axes=(None, 0))` gives per-example gradients.

    Raises ValueError where sizes differ, an axis is out of bounds, or nothing is batched; TypeError for a wrong
    `in_axes`.

    >>> import adjoint as ad
    >>> xs = ad.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ad.vmap(lambda x, y: x @ y, in_axes=(0, None))(xs, ad.tensor([1.0, 10.0]))
    Tensor([21., 43.])
    >>> ad.vmap(ad.grad(lambda x: (x**3).sum()))(xs)
    Tensor([[ 3., 12.],
            [27., 48.]])
    """

    if others:
        raise keyword_error("vmap", others, at_user())

    @functools.wraps(f, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def transformed(*args: Any, **keywords: Any) -> Any:
        leaves, structure = tree.flatten(args)
        axes = input_axes(in_axes, args)
        name = getattr(f, "__name__", "a function")
        with recording_at_user():
            stand_ins: dict[Node, Node] = {}
            call = list(leaves)
            size: int | None = None
            for i, (leaf, axis) in enumerate(zip(leaves, axes, strict=True)):
                if axis is None:
                    continue
                node, axis = _to_map(leaf, axis)
                if size not in (None, node.shape[axis]):
                    raise ValueError(
                        f"vmap: the batch has {size} examples in one argument and {node.shape[axis]} in another (shape "
                        f"{node.shape}, axis {axis}){at_user()}"
                    )
                size = node.shape[axis]
                front = ops.permute_dims(node, (axis, *(k for k in range(node.ndim) if k != axis)))
                one = array_type(drop_axes(node.shape, (axis,)), node.dtype)
                stand_in = placeholder(one, f"an argument of {name} under vmap", node.tracked)
                stand_ins[stand_in] = front
                call[i] = standing_for(leaf, stand_in)
            if size is None:
                raise ValueError(
                    f"vmap: no argument is batched; in_axes={in_axes!r} leaves nothing to map over{at_user()}"
                )
        example = placeholder(array_type((), ops.iota(1).dtype), f"a random number of {name} under vmap", False)
        around = EXAMPLES.get()
        try:  # from before it is set: a signal's handler may come right after
            EXAMPLES.set((*around, example))
            out = f(*structure.unflatten(call), **keywords)
        finally:
            EXAMPLES.set(around)
        nodes, out_structure = _output_nodes("vmap", out, derivative=False)
        with recording_at_user():
            stand_ins[example] = ops.iota(size)
            batch = Batch(size, stand_ins)
            found = batch.run(nodes)
            places = _prefix("out_axes", out_axes, out)
            results = [
                _placed(y, z, place, batch) for y, z, place in zip(nodes, found, places, strict=True)
            ]  # fmt: skip
        return out_structure.unflatten(results)

    return transformed


def _to_map(leaf: Any, axis: int) -> tuple[Node, int]:
    if not _is_array(leaf):
        raise TypeError(
            f"vmap: cannot map over a {type(leaf).__name__}; give in_axes None where an argument is shared{at_user()}"
        )
    node = as_node(leaf)
    if not -node.ndim <= axis < node.ndim:
        hint = "; in_axes None shares an argument between the examples" if not node.ndim else ""
        raise ValueError(f"vmap: no axis {axis} to map over in an argument of shape {node.shape}{hint}{at_user()}")
    return node, axis % node.ndim


def _placed(y: Node, batched: Node | None, place: int | None, batch: Batch) -> Any:
    """An output with its batch axis where out_axes wants it."""
    if place is None:
        if batched is not None:
            raise ValueError(f"vmap: out_axes is None for an output that differs between examples{at_user()}")
        return wrap(batch.shared[y])
    node = batch.repeated(batch.shared[y]) if batched is None else batched
    if not -node.ndim <= place < node.ndim:
        raise ValueError(f"vmap: out_axes {place} is out of bounds for a result with {node.ndim} axes{at_user()}")
    order = list(range(1, node.ndim))
    order.insert(place % node.ndim, 0)
    return wrap(ops.permute_dims(node, tuple(order)))


def input_axes(in_axes: Axes, args: tuple[Any, ...]) -> list[int | None]:
    """The axis of the examples in each leaf of the arguments; None where all examples share it."""
    if isinstance(in_axes, (tuple, list)) and len(in_axes) != len(args):
        raise ValueError(f"vmap: in_axes has {len(in_axes)} entries for {len(args)} positional arguments{at_user()}")
    return _prefix("in_axes", tuple(in_axes) if isinstance(in_axes, list) else in_axes, args)


def _prefix(name: str, axes: Axes, whole: Any) -> list[int | None]:
    """An entry for each leaf of a tree, from entries for it or for any container around it."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [axes] * tree.flatten(whole)[1].count
    if not tree.is_container(axes):
        raise TypeError(f"vmap: {name} takes ints, None and containers of them, not a {type(axes).__name__}{at_user()}")
    wanted, given = _children(whole), _children(axes)
    if wanted is None or type(axes) not in _alike(type(whole)) or list(wanted) != list(given or {}):
        raise ValueError(f"vmap: {name} {axes!r} does not fit the structure of a {type(whole).__name__}{at_user()}")
    return [leaf for key, part in wanted.items() for leaf in _prefix(name, (given or {})[key], part)]


def _alike(kind: type) -> tuple[type, ...]:
    return (list, tuple) if kind in (list, tuple) else (kind,)


def _children(whole: Any) -> dict[Any, Any] | None:
    """A container's parts by key; None for a leaf."""
    if isinstance(whole, dict):
        return whole
    parts = tree.children(whole)
    return None if parts is None else dict(enumerate(parts))
