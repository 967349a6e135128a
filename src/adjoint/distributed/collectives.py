"""Exchanges as operations of the graph: with derivatives, under `jit` and `vmap`.

The convention of the derivatives: every rank has a loss of its own, and what is differentiated is their sum. So the adjoint of a
sum over ranks is a sum over ranks, that of a broadcast a sum at the one who sent, that of a gather a sum of stretches. Where all
ranks compute the same loss from a sum (a layer whose rows are split), `replicated=True` says so: then each rank's cotangent is
already that of the whole, and passes through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import tracing, tree
from adjoint.derive import AFTER
from adjoint.graph import record, topological
from adjoint.primitives.core import is_traced
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, concat
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import force
from adjoint.transforms.host_calls import exact_call

from .group import Group, world

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "barrier",
    "broadcast",
    "recv",
    "reduce_scatter",
    "replicate",
    "send",
]

Array = np.ndarray[Any, Any]
TAGS = 16  # messages under one tag: a tree's tensors of each dtype go in one
MOST_TAGS = 2048  # MPI promises 2¹⁵ of its own
REDUCTIONS = {"max": np.maximum, "min": np.minimum}


def barrier(group: Group | None = None) -> None:
    """Wait until every rank is here. Raises DistributedError when one doesn't come in time."""
    (group or world()).barrier()


def all_reduce(x: Any, op: str = "sum", group: Group | None = None, *, replicated: bool = False) -> Any:
    """The sum of a tensor over all ranks (`op`: "sum", "mean", "max" or "min"), on each of them.

    x is a tensor, or a tree (lists, tuples, dicts) of tensors, of the same shapes and dtypes on every rank. Sums are added up
    in the order of the ranks, so they are the same bits in every run; a sum of bools counts (int64), a mean of integers is a
    float. With `replicated`, what follows is the same on all ranks, and so is the loss: the cotangent passes through.

    Raises DistributedError when ranks do different things or one doesn't come; ValueError for another `op`; TypeError for the
    greatest or least of complex numbers.

    >>> import adjoint as ad
    >>> ad.distributed.all_reduce(ad.tensor([1.0, 2.0]))  # alone, it is the tensor
    Tensor([1., 2.])
    """
    here = group or world()
    if op in ("sum", "mean"):
        found = _each(here, _sum, _same if replicated else _sum_adjoint, _sum, tree.map(_counted, x), (replicated,), ())
        return tree.map(lambda y: _divided(y, here.size), found) if op == "mean" else found
    if op not in REDUCTIONS:
        raise ValueError(f"all_reduce: op is 'sum', 'mean', 'max' or 'min', not {op!r}{at_user()}")
    if any(asarray(leaf).dtype.kind == "c" for leaf in tree.flatten(x)[0]):
        raise TypeError(f"all_reduce: complex numbers have no order, so no {op}{at_user()}")
    return _each(here, _extreme, _extreme_adjoint, _extreme, x, (op,), (op,))


def replicate(x: Any, group: Group | None = None) -> Any:
    """The same tensor, which is the same on all ranks and from here on used differently by each: its cotangents are summed.

    It stands before a layer whose columns are split, as `all_reduce(replicated=True)` behind one whose rows are.
    """
    return _each(group or world(), _itself, _sum_adjoint, _itself, x, (False,), ())


def all_gather(x: Any, group: Group | None = None) -> Any:
    """The tensors of all ranks, stacked along a new first axis: (size, *shape) on every rank. Trees as in `all_reduce`."""
    here = group or world()

    def one(x: Tensor) -> Tensor:
        return _made(here, _gather, _gather_adjoint, _gather_batched, x, (here.size, *x.shape), (), ())

    return _mapped(one, x, here)


def reduce_scatter(x: Any, group: Group | None = None) -> Any:
    """The sum over the ranks of x of shape (size, *shape): rank k gets the k-th part, of shape `shape`.

    Raises ValueError when the first axis isn't as long as there are ranks.
    """
    here = group or world()

    def one(x: Tensor) -> Tensor:
        x = _counted(x)
        _parted("reduce_scatter", x, here)
        return _made(here, _scatter, _scatter_adjoint, _scatter_batched, x, x.shape[1:], (), ())

    return _mapped(one, x, here)


def all_to_all(x: Any, group: Group | None = None) -> Any:
    """x of shape (size, *shape): its k-th part goes to rank k; the k-th part of the result came from rank k.

    Raises ValueError when the first axis isn't as long as there are ranks.
    """
    here = group or world()

    def one(x: Tensor) -> Tensor:
        _parted("all_to_all", x, here)
        return _made(here, _swap, _swap_adjoint, _swap_batched, x, x.shape, (), ())

    return _mapped(one, x, here)


def broadcast(x: Any, root: int = 0, group: Group | None = None) -> Any:
    """The tensor of rank `root`, on every rank. The others give one of the same shape and dtype. Trees as in `all_reduce`."""
    here = group or world()
    if not 0 <= root < here.size:
        raise ValueError(f"broadcast: root is a rank from 0 to {here.size - 1}, not {root}{at_user()}")
    return _each(here, _cast, _cast_adjoint, _cast, x, (root,), (root,))


def send(x: Any, to: int, tag: int = 0, group: Group | None = None) -> Tensor:
    """Send a tensor, or a tree of tensors, to a rank, which calls `recv`. The result is 0.0, the value of having sent.

    Outside of traced functions it is sent at once. In a traced function, and for the derivative, the result has to be used:
    add it to the loss. The derivative of having sent is receiving the cotangent from there. `tag`, from 0 to 2047, tells
    messages between the same two ranks apart. Raises ValueError for a rank or tag that there isn't, and for an empty tree.
    """
    here = group or world()
    _address("send", "to", to, tag, here)
    leaves, _ = tree.flatten(x)
    sent = []
    for number, (_, message) in enumerate(_messages("send", [asarray(leaf) for leaf in leaves])):
        given = (to, TAGS * tag + number)
        sent.append(_made(here, _send, _send_adjoint, None, message, (), given, given))
    total = sent[0]
    for one in sent[1:]:
        total = total + one
    return total


def recv(like: Any, source: int, tag: int = 0, group: Group | None = None) -> Any:
    """The tensor that rank `source` sends, of the shape and dtype of `like`, or the tree of tensors. Its derivative sends the
    cotangent there, so `like` must be tracked for that: `ad.variable(ad.zeros(shape))`, with `backward()`. Raises ValueError as
    `send` does.
    """
    here = group or world()
    _address("recv", "source", source, tag, here)
    leaves, structure = tree.flatten(like)
    likes = [asarray(leaf) for leaf in leaves]
    found: list[Any] = [None] * len(likes)
    for number, (places, message) in enumerate(_messages("recv", likes)):
        given = (source, TAGS * tag + number)
        come = _made(here, _receive, _receive_adjoint, None, message, message.shape, given, given)
        start = 0
        for k in places:
            x = likes[k]
            found[k] = come if len(places) == 1 else come[start : start + x.size].reshape(x.shape)
            start += x.size
    return structure.unflatten(found)


def _messages(name: str, leaves: list[Tensor]) -> list[tuple[list[int], Tensor]]:
    """The tensors of each dtype one behind the other, and which they are: in one message, for in a compiled function several
    could be sent in another order than they are received."""
    kinds: dict[Any, list[int]] = {}
    for k, x in enumerate(leaves):
        kinds.setdefault(x.dtype, []).append(k)
    if not kinds:
        raise ValueError(f"{name}: the tree holds no tensor{at_user()}")
    return [
        (places, leaves[places[0]] if len(places) == 1 else concat([leaves[k].reshape(-1) for k in places]))
        for places in kinds.values()
    ]


def _address(name: str, whom: str, rank: int, tag: int, group: Group) -> None:
    if not 0 <= rank < group.size:
        raise ValueError(f"{name}: {whom} is a rank from 0 to {group.size - 1}, not {rank}{at_user()}")
    if not 0 <= tag < MOST_TAGS:
        raise ValueError(f"{name}: tag is a number from 0 to {MOST_TAGS - 1}, not {tag}{at_user()}")


# How they are made ------------------------------------------------------------------------------------------------------


def _each(
    group: Group, call: Any, adjoint: Any, batched: Any, x: Any, rule: tuple[Any, ...], given: tuple[Any, ...]
) -> Any:
    return _mapped(lambda x: _made(group, call, adjoint, batched, x, x.shape, rule, given), x, group)


def _mapped(one: Any, x: Any, group: Group) -> Any:
    leaves, structure = tree.flatten(x)
    return structure.unflatten([one(asarray(leaf)) for leaf in leaves])


def _made(
    group: Group,
    call: Any,
    adjoint: Any,
    batched: Any,
    x: Tensor,
    shape: Any,
    rule: tuple[Any, ...],
    given: tuple[Any, ...],
) -> Tensor:
    """The node of an exchange, evaluated at once where it can be: then it happens in the order of the program on every rank.
    Alone, what all ranks make together is x, in another shape at most; sending and receiving, which have no batching rule, are
    exchanges even then."""
    if group.size == 1 and batched is not None:
        return x if x.shape == shape else x.reshape(shape)
    y: Tensor = exact_call(
        group.function(call, *given),
        x,
        shape=shape,
        dtype=x.dtype,
        vjp=group.function(adjoint, *rule),
        vmap=None if batched is None else group.function(batched, *given),
    )
    if tracing.active() is None and not any(map(is_traced, topological([y.node], lambda node: node.value is None))):
        force([y.node])
    return y


def _counted(x: Any) -> Tensor:
    """What is added up: of bools their number, as in `ad.sum`."""
    tensor = asarray(x)
    return tensor.astype(np.int64) if tensor.dtype.kind == "b" else tensor


def _divided(y: Tensor, size: int) -> Tensor:
    return y if size == 1 and y.dtype.inexact else y / size


def _parted(name: str, x: Tensor, group: Group) -> None:
    if not x.shape or x.shape[0] != group.size:
        raise ValueError(
            f"{name}: the first axis has a part for each of {group.size} ranks; the shape is {x.shape}{at_user()}"
        )


# What they do, and their adjoints -----------------------------------------------------------------------------------------


def _sum(group: Group, x: Array) -> Array:
    return group.engine.sum("all_reduce", x)


def _sum_adjoint(group: Group, replicated: bool, y: Tensor, u: Tensor, x: Tensor) -> tuple[Tensor]:
    return (all_reduce(u, group=group),)


def _same(group: Group, replicated: bool, y: Tensor, u: Tensor, x: Tensor) -> tuple[Tensor]:
    return (u,)


def _itself(group: Group, x: Array) -> Array:
    return x


def _extreme(group: Group, op: str, x: Array) -> Array:
    return group.engine.reduce(f"all_reduce({op})", x, REDUCTIONS[op])


def _extreme_adjoint(group: Group, op: str, y: Tensor, u: Tensor, x: Tensor) -> tuple[Tensor]:
    """Those that reach it share the cotangent evenly."""
    reaches = (x == all_reduce(x.detach(), op, group)).astype(u.dtype)
    return (reaches * all_reduce(u, group=group) / all_reduce(reaches, group=group),)


def _gather(group: Group, x: Array) -> Array:
    return group.engine.gather("all_gather", x)


def _gather_batched(group: Group, x: Array) -> Array:
    return np.moveaxis(_gather(group, x), 0, 1)


def _gather_adjoint(group: Group, y: Tensor, u: Tensor, x: Tensor) -> tuple[Tensor]:
    return (reduce_scatter(u, group),)


def _scatter(group: Group, x: Array) -> Array:
    part: Array = group.engine.scatter_sum("reduce_scatter", x)[0]
    return part


def _scatter_batched(group: Group, x: Array) -> Array:
    return _scatter(group, np.moveaxis(x, 1, 0))


def _scatter_adjoint(group: Group, y: Tensor, u: Tensor, x: Tensor) -> tuple[Tensor]:
    return (all_gather(u, group),)


def _swap(group: Group, x: Array) -> Array:
    return group.engine.swap("all_to_all", x)


def _swap_batched(group: Group, x: Array) -> Array:
    return np.moveaxis(_swap(group, np.moveaxis(x, 1, 0)), 0, 1)


def _swap_adjoint(group: Group, y: Tensor, u: Tensor, x: Tensor) -> tuple[Tensor]:
    return (all_to_all(u, group),)


def _cast(group: Group, root: int, x: Array) -> Array:
    return group.engine.broadcast(f"broadcast from {root}", x, root)


def _cast_adjoint(group: Group, root: int, y: Tensor, u: Tensor, x: Tensor) -> tuple[Tensor]:
    total = all_reduce(u, group=group)
    return (total if group.rank == root else total * 0,)


def _send(group: Group, to: int, tag: int, x: Array) -> Array:
    group.engine.send(x, to, tag)
    return np.zeros((), x.dtype)


def _send_adjoint(group: Group, to: int, tag: int, y: Tensor, u: Tensor, x: Tensor) -> tuple[Tensor]:
    like = wrap(record(AFTER, (x.node, y.node), None, x.node.type))  # the other rank answers what it has got
    return (_made(group, _receive, _receive_adjoint, None, like, x.shape, (to, tag), (to, tag)),)


def _receive(group: Group, source: int, tag: int, like: Array) -> Array:
    return group.engine.receive(like.shape, like.dtype, source, tag)


def _receive_adjoint(group: Group, source: int, tag: int, y: Tensor, u: Tensor, like: Tensor) -> tuple[Tensor]:
    sent = _made(group, _send, _send_adjoint, None, u, (), (source, tag), (source, tag))
    return (u * 0 + sent,)
