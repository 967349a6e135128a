"""Batching, as graphs made from graphs: one rule for each primitive, in its field `batch`.

`Batch.run` walks a recorded graph once and gives, for every node that depends on a batched one, a node with one more
axis in front. Nodes that depend on none are shared with the original graph. No rule loops over the batch; only a host
call without a batching rule of its own does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.batch import images
from adjoint.derive import AFTER, CHECKPOINT, PULLBACK, derive_pullback
from adjoint.graph import MODE, ArrayType, Mode, Node, Primitive, Variable, array_type, get_mode, record, topological
from adjoint.primitives import (
    contraction,
    convolution,
    core,
    custom,
    indexing,
    normalized,
    ordering,
    pooling,
    random,
    reductions,
    structural,
)
from adjoint.primitives.callees import CALL, written_out
from adjoint.primitives.core import SELECT, conform, ops, placeholder

__all__ = ["Batch", "rule_of"]

Rule = Callable[["Batch", Node, list[Node], list[bool]], Any]


class Batch:
    """A batched copy of a graph, extended as more of the graph is asked for.

    size      how many examples there are
    batched   nodes and what stands for them: one more axis of that size in front
    """

    def __init__(self, size: int, batched: Mapping[Node, Node]) -> None:
        self.size = size
        self.given = dict(batched)
        self.batched: dict[Node, Any] = dict(batched)
        self.shared: dict[Node, Node] = {}  # the same for every example: itself, or what a rule put in its place

    def run(self, outputs: Sequence[Node | None]) -> list[Node | None]:
        """For each output the batched node, or None where it doesn't depend on a batched one."""
        batched, shared = self.batched, self.shared
        wanted = [y for y in outputs if y is not None]
        outer = get_mode()
        inner = Mode(outer.grad, None, 0, outer.outer)
        try:  # from before the mode is set: a signal's handler may come right after
            MODE.set(inner)
            # what has a value depends on no example
            for node in topological(wanted, lambda x: x.value is None and x not in batched and x not in shared):
                if node in batched or node in shared:
                    continue
                if node.value is not None:
                    shared[node] = node
                    continue
                mapped = [x in batched for x in node.inputs]
                inputs = [batched[x] if m else shared[x] for x, m in zip(node.inputs, mapped, strict=True)]
                inner.grad = outer.grad and node.tracked
                inner.site, inner.offset = node.site, node.offset
                if not any(mapped):
                    same = all([x is y for x, y in zip(node.inputs, inputs, strict=True)])
                    shared[node] = node if same else self._moved(node, inputs)
                elif node.op is AFTER and not mapped[0]:  # only when it is computed depends on the examples
                    shared[node] = record(AFTER, tuple(inputs), None, node.type)
                else:
                    batched[node] = rule_of(node.op)(self, node, inputs, mapped)
        finally:
            MODE.set(outer)
        return [None if y is None else batched.get(y) for y in outputs]

    def _moved(self, node: Node, inputs: Sequence[Node]) -> Node:
        """A node that is the same for every example, on other inputs."""
        attributes = node.attributes
        if node.op.copied is not None:
            others = {x: y for x, y in self.shared.items() if x is not y}
            attributes = node.op.copied(node, others | dict(zip(node.inputs, inputs, strict=True)), False)
        return record(node.op, tuple(inputs), attributes, node.type)

    def with_axis(self, type: ArrayType) -> ArrayType:
        """The type with the batch axis in front."""
        return array_type((self.size, *type.shape), type.dtype)

    def repeated(self, x: Node) -> Node:
        """An unbatched node repeated for every example."""
        return conform(x, self.with_axis(x.type))

    def all_mapped(self, xs: Sequence[Node], mapped: Sequence[bool]) -> list[Node]:
        """The inputs with those repeated that are not batched."""
        return [x if m else self.repeated(x) for x, m in zip(xs, mapped, strict=True)]

    def record(self, node: Node, inputs: Sequence[Node], attributes: Any) -> Node:
        """The same operation on batched inputs: a type with the batch axis in front."""
        type: Any = node.type
        type = tuple([self.with_axis(t) for t in type]) if isinstance(type, tuple) else self.with_axis(type)
        return record(node.op, tuple(inputs), attributes, type)

    def expand(self, roots: Sequence[Node | None]) -> list[Node | None]:
        """Batched copies of the roots, those that depend on no example repeated."""
        found = self.run(roots)
        return [
            None if y is None else self.repeated(self.shared[y]) if z is None else z
            for y, z in zip(roots, found, strict=True)
        ]


# Rules ----------------------------------------------------------------------------------------------------------------


def _elementwise(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return b.record(node, b.all_mapped(xs, mapped), node.attributes)


def _shifted_axis(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return b.record(node, b.all_mapped(xs, mapped), node.attributes + 1)


def _shifted_axes(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return b.record(node, xs, tuple([axis + 1 for axis in node.attributes]))


def _argsort(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    axis, descending = node.attributes
    return b.record(node, xs, (axis + 1, descending))


def _selected(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    places, axis = node.attributes
    return b.record(node, xs, (places, axis + 1))


def _leading(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    count, axis, descending = node.attributes
    return b.record(node, xs, (count, axis + 1, descending))


def _no_inputs(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return b.repeated(node)


def _marker(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    # what was differentiated by has been; a name stays
    variable = node.attributes
    named = variable is not None and variable.name is not None
    return core.marker(xs[0], Variable(variable.name, tracked=False)) if named else xs[0]


def _version(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    variable = node.attributes
    raise RuntimeError(
        f"vmap: the function gives variable {variable.name!r} a value that differs between examples; return it instead"
    )


def _detach(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return core.stop_gradient(xs[0])


def _select(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    source: Any = xs[0]
    return source[node.attributes] if type(source) is list else core.select(source, node.attributes)


def _pullback(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    return b.expand(derive_pullback(node))


def _call(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    return b.expand(written_out(node.attributes, node.inputs))


def _reshape(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return ops.reshape(xs[0], (b.size, *node.shape))


def _permute(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return ops.permute_dims(xs[0], (0, *[axis + 1 for axis in node.attributes]))


def _broadcast(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    (x,) = xs
    missing = node.ndim + 1 - x.ndim
    return ops.broadcast_to(ops.reshape(x, (b.size, *(1,) * missing, *x.shape[1:])), (b.size, *node.shape))


def _slice(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return ops.slice_(xs[0], ((0, b.size, 1), *node.attributes))


def _embed(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    shape, slices = node.attributes
    return ops.embed(xs[0], (b.size, *shape), ((0, b.size, 1), *slices))


def _index(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    slices, shape = node.attributes
    return ops.index(xs[0], ((0, b.size, 1), *slices), (b.size, *shape))


def _put(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    shape, slices = node.attributes
    return ops.put(xs[0], (b.size, *shape), ((0, b.size, 1), *slices))


def _put_onto(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    x, value = b.all_mapped(xs, mapped)
    shape, slices = node.attributes
    return ops.put_onto(x, ops.put(value, (b.size, *shape), ((0, b.size, 1), *slices)))


def _update_slice(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    x, value = b.all_mapped(xs, mapped)
    return ops.update_slice(x, value, ((0, b.size, 1), *node.attributes))


def _windows(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return b.record(node, xs, node.attributes)


# Products: an operand without the batch axis makes one large product of many small ones -------------------------------


def _matmul(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    left, right = xs
    if mapped[0] and not mapped[1] and right.ndim == 2:
        return _rows_folded(b, left, right)
    if mapped[1] and not mapped[0] and left.ndim == 2:
        return ops.matrix_transpose(_rows_folded(b, ops.matrix_transpose(right), ops.matrix_transpose(left)))
    left, right = b.all_mapped(xs, mapped)
    return ops.matmul(left, right)


def _rows_folded(b: Batch, left: Node, right: Node) -> Node:
    n, k = left.shape[-2:]
    return ops.reshape(ops.matmul(ops.reshape(left, (b.size * n, k)), right), (b.size, n, right.shape[-1]))


# Integer positions: batched ones get one more index array, for the batch axis -----------------------------------------


def _behind(x: Node, count: int) -> Node:
    """The batch axis moved behind the next `count` axes."""
    return ops.permute_dims(x, (*range(1, count + 1), 0, *range(count + 1, x.ndim)))


def _to_front(x: Node, axis: int) -> Node:
    return ops.permute_dims(x, (axis, *range(axis), *range(axis + 1, x.ndim)))


def _positions(b: Batch, indices: Sequence[Node], mapped: Sequence[bool]) -> list[Node]:
    """The index arrays for every example, led by the number of the example."""
    found = b.all_mapped(indices, mapped)
    shape = found[0].shape
    numbers = ops.reshape(ops.iota(b.size), (b.size, *(1,) * (len(shape) - 1)))
    return [ops.broadcast_to(numbers, shape), *found]


def _gather(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    x, *indices = xs
    if not mapped[0]:
        return ops.gather(x, b.all_mapped(indices, mapped[1:]))
    if not any(mapped[1:]):
        return _to_front(ops.gather(_behind(x, len(indices)), indices), indices[0].ndim)
    return ops.gather(x, _positions(b, indices, mapped[1:]))


def _scatter_add(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    u, *indices = xs
    shape, k = node.attributes, len(indices)
    if not any(mapped[1:]):
        u = _behind(u, indices[0].ndim)
        return _to_front(ops.scatter_add(u, indices, (*shape[:k], b.size, *shape[k:])), k)
    (u,) = b.all_mapped([u], mapped[:1])
    return ops.scatter_add(u, _positions(b, indices, mapped[1:]), (b.size, *shape))


def _scatter(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    x, value = b.all_mapped(xs[:2], mapped[:2])
    indices, k, clips = xs[2:], len(xs) - 2, bool(node.attributes)
    if not any(mapped[2:]):
        return _to_front(ops.scatter(_behind(x, k), _behind(value, indices[0].ndim), indices, clips), k)
    return ops.scatter(x, value, _positions(b, indices, mapped[2:]), clips)


def _latest(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    (numbers,) = b.all_mapped(xs[:1], mapped[:1])
    return ops.latest(numbers, _positions(b, xs[1:], mapped[1:]), (b.size, *node.attributes))


# Random bits ----------------------------------------------------------------------------------------------------------


def _random_bits(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    key, counter, *examples = xs
    shape, name = node.attributes[:2]
    others = [x for x, m in zip(examples, mapped[2:], strict=True) if not m]
    if any(mapped[:2]):  # a generator for each example
        return b.record(node, (key, counter, *others), ((b.size, *shape), *node.attributes[1:]))
    lead = max(key.ndim, counter.ndim)  # one larger draw, in a lane of its own; generators go first
    larger = (*shape[:lead], b.size, *shape[lead:])
    bits = record(node.op, (key, counter, *others), (larger, name, "lane"), array_type(larger, node.dtype))
    return _to_front(bits, lead)


# What users define ----------------------------------------------------------------------------------------------------


def _custom(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    count, rule = node.attributes
    inputs = b.all_mapped(xs, mapped)

    own = own_batch(b, node, inputs)

    def of_every_example(one: Any) -> Any:
        return lambda cotangents, batched: batched_rule(own, node, lambda given: one(given, node), cotangents)

    made = b.record(node, inputs, (count, rule.replaced(of_every_example)))
    made.tracked = get_mode().grad and any([x.tracked for x in inputs[count:]])
    return made


def _checkpoint(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    count = node.attributes
    return b.record(node, [*b.all_mapped(xs[:count], mapped[:count]), *xs[count:]], count)


def _after(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return b.record(node, xs, None)


def _normalized(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return b.record(node, b.all_mapped(xs, mapped), None)


def _closed(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    return b.record(node, xs, node.attributes)


def own_batch(b: Batch, node: Node, inputs: Sequence[Node]) -> Batch:
    """What a custom rule needs to be batched later: it holds the node's inputs, not the node, which will hold the rule."""
    return Batch(b.size, {**b.given, **dict(zip(node.inputs, inputs, strict=True))})


def batched_rule(
    b: Batch, node: Node, rule: Callable[[list[Node | None]], Sequence[Node | None]], cotangents: Sequence[Node | None]
) -> list[Node | None]:
    """A custom rule's results for every example: it is traced once on placeholders, and batched like the function
    itself."""
    types = node.type if isinstance(node.type, tuple) else (node.type,)
    given = [
        None if u is None else placeholder(t, "a cotangent under vmap") for u, t in zip(cotangents, types, strict=True)
    ]
    results = rule(given)
    stand_ins = {x: u for x, u in zip(given, cotangents, strict=True) if x is not None and u is not None}
    return Batch(b.size, {**b.given, **stand_ins}).expand(results)


class _Calling:
    """A function that calls another one. What calls equal ones in the same way is equal."""

    def __init__(self, call: Callable[..., Any], several: bool = False, type: Any = None) -> None:
        self.call, self.several, self.type = call, several, type

    def __eq__(self, other: object) -> bool:
        return self.__class__ is other.__class__ and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.call, self.several, self.type))


class _Looped(_Calling):
    """A host function called for one example after another: Python can't know how to batch it."""

    @property
    def __name__(self) -> str:
        return getattr(self.call, "__name__", "host_call")

    def __call__(self, *arrays: Any) -> Any:
        results = [self.call(*examples) for examples in zip(*arrays, strict=True)]
        columns = list(zip(*[r if self.several else (r,) for r in results], strict=True)) or [()] * len(self.type)
        stacked = tuple(
            [
                np.stack(column) if column else np.empty((0, *shape), dtype)
                for column, (shape, dtype) in zip(columns, self.type, strict=True)
            ]
        )
        return stacked if self.several else stacked[0]


class _Merged(_Calling):
    """A user's batching rule called for two batch axes at once."""

    def __call__(self, *arrays: Any) -> Any:
        outer, inner = arrays[0].shape[:2]
        result = self.call(*[x.reshape((outer * inner, *x.shape[2:])) for x in arrays])
        results = result if isinstance(result, tuple) else (result,)
        split = tuple([np.asarray(y).reshape((outer, inner, *np.shape(y)[1:])) for y in results])
        return split if isinstance(result, tuple) else split[0]


def _host_call(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    function = node.attributes[0]
    several = isinstance(node.type, tuple)
    types = node.type if several else (node.type,)
    if function.batch is not None:
        call, again = function.batch, _Merged(function.batch)
    else:
        call, again = _Looped(function.call, several, tuple([(t.shape, t.dtype.name) for t in types])), None

    inputs = b.all_mapped(xs, mapped)

    def adapter(rule: Any, u: Any, batched: Node) -> list[Node | None]:
        # of the inputs that the node has by then: it may have been copied into another graph
        fresh = tuple([placeholder(x.type, "an example", x.type.inexact) for x in node.inputs])
        single = Node(node.op, fresh, node.attributes, node.type, node.site, node.offset, node.tracked)
        own = Batch(b.size, {**b.given, **dict(zip(fresh, batched.inputs, strict=True))})

        def one(given: list[Node | None]) -> Any:
            return function.adapter(rule, given if several else given[0], single)

        return batched_rule(own, single, one, u if isinstance(u, list) else [u])

    whole = tuple([b.with_axis(t) for t in types])
    batched = custom.HostFunction(call, function.rule, again, adapter, function.exact)
    return custom.host_call(batched, inputs, whole if several else whole[0])


# The table ------------------------------------------------------------------------------------------------------------

_RULES: dict[Any, Rule] = {
    core.LEAF: _no_inputs, core.PLACEHOLDER: _no_inputs, core.FULL: _no_inputs, core.VERSION: _version,
    core.IDENTITY: _marker, core.DETACH: _detach, SELECT: _select, PULLBACK: _pullback,
    CALL: _call,
    CHECKPOINT: _checkpoint, AFTER: _after, custom.CLOSED: _closed,
    **dict.fromkeys(normalized.NORMALIZED, _normalized),
    structural.RESHAPE: _reshape, structural.PERMUTE: _permute, structural.BROADCAST: _broadcast,
    structural.SLICE: _slice, structural.EMBED: _embed, structural.UPDATE: _update_slice,
    structural.INDEX: _index, structural.PUT: _put, structural.PUT_ONTO: _put_onto,
    structural.CONCAT: _shifted_axis, structural.WINDOWS: _windows, structural.FOLD: _windows,
    reductions.SUM: _shifted_axes, reductions.PROD: _shifted_axes, reductions.MAX: _shifted_axes,
    reductions.MIN: _shifted_axes, reductions.ANY: _shifted_axes, reductions.ALL: _shifted_axes,
    reductions.ARGMAX: _shifted_axis, reductions.ARGMIN: _shifted_axis,
    reductions.CUMULATIVE_SUM: _shifted_axis, reductions.CUMULATIVE_PROD: _shifted_axis,
    reductions.RECURRENCE: _shifted_axis, ordering.ARGSORT: _argsort, ordering.SORT: _argsort,
    ordering.LEADING: _leading, ordering.SELECTED: _selected,
    indexing.GATHER: _gather, indexing.SCATTER_ADD: _scatter_add, indexing.SCATTER: _scatter,
    indexing.LATEST: _latest,
    contraction.MATMUL: _matmul,
    convolution.CONVOLUTION: images.convolution,
    convolution.CONVOLUTION_INPUT_GRADIENT: images.input_gradient,
    convolution.CONVOLUTION_WEIGHT_GRADIENT: images.weight_gradient,
    pooling.MAX_POOL: images.pooled, pooling.MAX_POOL_POSITIONS: images.pooled,
    pooling.POOL_TAKE: images.pooled, pooling.POOL_PUT: images.pooled,
    pooling.POOL_SUM: images.pooled, pooling.POOL_SPREAD: images.pooled,
    random.RANDOM_BITS: _random_bits,
    custom.CUSTOM: _custom, custom.HOST_CALL: _host_call,
}  # fmt: skip
for _op, _rule in _RULES.items():
    _op.batch = _rule


def rule_of(op: Primitive) -> Rule:
    """The batching rule of a primitive: its own, or the one of all elementwise ones. Raises NotImplementedError."""
    if op.batch is not None:
        return op.batch
    if op.elementwise:
        return _elementwise
    raise NotImplementedError(f"vmap: {op.name} has no batching rule")
