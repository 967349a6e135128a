"""Primitives that move elements: reshape, permute, broadcast, slice and its adjoint, concatenate, sliding windows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.graph import ArrayType, Node, Primitive, array_type, get_mode, record
from adjoint.primitives.core import ops, reduce_to, register, same_type, zeros
from adjoint.shapes import Shape, broadcast_shapes

RESHAPE = Primitive(
    "reshape",
    lambda shape, type: lambda x: np.reshape(x, shape),
    (lambda u, out, x: reshape(u, x.shape),),
    view=True,
    cheap=True,
    rearranges=True,
    linear=True,
)
PERMUTE = Primitive(
    "permute_dims",
    lambda axes, type: lambda x: np.transpose(x, axes),
    (lambda u, out, x: permute_dims(u, _inverse(out.attributes)),),
    view=True,
    cheap=True,
    symbol="ᵀ",
    rearranges=True,
    linear=True,
)
BROADCAST = Primitive(
    "broadcast_to",
    lambda shape, type: lambda x: np.broadcast_to(x, shape),
    (lambda u, out, x: reduce_to(u, x.shape),),
    view=True,
    cheap=True,
    rearranges=True,
    linear=True,
)


def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def moved(op: Primitive, x: Node, attributes: Any, shape: Shape) -> Node:
    """A node of an operation that moves the elements of one array."""
    mode = get_mode()
    type = array_type(shape, x.type.dtype)
    return Node(op, (x,), attributes, type, mode.site, mode.offset, mode.grad and x.tracked)


@register
def reshape(x: Node, shape: Shape) -> Node:
    """The same elements, in row-major order, in another shape."""
    if x.type.shape == shape:
        return x
    mode = get_mode()
    type = array_type(shape, x.type.dtype)
    return Node(RESHAPE, (x,), type.shape, type, mode.site, mode.offset, mode.grad and x.tracked)


@register
def permute_dims(x: Node, axes: tuple[int, ...]) -> Node:
    """The axes in another order: axis i of the result is axis axes[i] of x."""
    if axes == tuple(range(x.ndim)):
        return x
    shape = x.shape
    return moved(PERMUTE, x, axes, tuple([shape[a] for a in axes]))


@register
def matrix_transpose(x: Node) -> Node:
    """The last two axes exchanged."""
    n = x.ndim
    return permute_dims(x, (*range(n - 2), n - 1, n - 2))


@register
def broadcast_to(x: Node, shape: Shape) -> Node:
    """x repeated along new leading axes and axes of size one. Raises ValueError where shapes don't fit."""
    if x.shape == shape:
        return x
    if broadcast_shapes("broadcast_to", x.shape, shape) != shape:
        raise ValueError(f"broadcast_to: shape {x.shape} does not broadcast to {shape}")
    return widen(x, array_type(shape, x.dtype))


@register
def widen(x: Node, type: ArrayType) -> Node:
    """x broadcast to a type that it is known to broadcast to."""
    mode = get_mode()
    return Node(BROADCAST, (x,), type.shape, type, mode.site, mode.offset, mode.grad and x.tracked)


@register
def expand(x: Node, axes: tuple[int, ...], shape: Shape) -> Node:
    """The adjoint of summing `axes` away: x put back among them and repeated to `shape`."""
    kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
    return broadcast_to(reshape(x, kept), shape)


# Slices: (start, size, step) for each axis, in range, the step of any sign --------------------------------------------

Slices = tuple[tuple[int, int, int], ...]


def as_index(slices: Slices) -> tuple[slice, ...]:
    """NumPy's slices for (start, size, step) triples."""
    index = []
    for start, size, step in slices:
        stop = start + size * step
        index.append(slice(start, None if stop < 0 else stop, step) if size else slice(0, 0))
    return tuple(index)


def _embed_kernel(attributes: tuple[Shape, Slices], type: Any) -> Any:
    shape, slices = attributes
    index, dtype = as_index(slices), type.dtype.dtype

    def kernel(x: Any, out: Any = None) -> Any:
        if out is None:
            out = np.zeros(shape, dtype)
        else:
            out[...] = 0
        out[index] = x
        return out

    return kernel


def _update_kernel(slices: Slices, type: Any) -> Any:
    index = as_index(slices)

    def kernel(x: Any, value: Any, out: Any = None) -> Any:
        if out is None:
            out = np.array(x)
        else:
            np.copyto(out, x)
        out[index] = value
        return out

    return kernel


def _slice_kernel(slices: Slices, type: Any) -> Any:
    index = as_index(slices)
    return lambda x: x[index]


SLICE = Primitive(
    "slice",
    _slice_kernel,
    (lambda u, out, x: embed(u, x.shape, out.attributes),),
    view=True,
    cheap=True,
    rearranges=True,
    linear=True,
)
EMBED = Primitive(
    "embed",
    _embed_kernel,
    (lambda u, out, x: slice_(u, out.attributes[1]),),
    takes_out=True,
    cheap=True,
    moves=True,
    rearranges=True,
    linear=True,
)
UPDATE = Primitive(
    "update_slice",
    _update_kernel,
    (
        lambda u, out, x, value: update_slice(u, zeros(value.type), out.attributes),
        lambda u, out, x, value: slice_(u, out.attributes),
    ),
    takes_out=True,
    moves=True,
    rearranges=True,
    rewrites=True,
    linear=True,
)


def _index_kernel(attributes: tuple[Slices, Shape], type: Any) -> Any:
    slices, shape = attributes
    count = len(slices) - len(shape)
    if count > 0 and all([size == 1 for _, size, _ in slices[:count]]) and sliced_shape(slices)[count:] == shape:
        places = tuple([start for start, _, _ in slices[:count]])  # takes NumPy half as long as slices and a new shape
        index = (*places, *as_index(slices[count:]), ...)  # a view, of a single element too
        return lambda x: x[index]
    parts = as_index(slices)
    return lambda x: x[parts].reshape(shape)


def _put_kernel(attributes: tuple[Shape, Slices], type: Any) -> Any:
    kernel, shape = _embed_kernel(attributes, type), sliced_shape(attributes[1])
    return lambda x, out=None: kernel(x.reshape(shape), out)


# A slice in another shape as one node, and its adjoint: a loop in Python takes elements over and over.
INDEX = Primitive(
    "index",
    _index_kernel,
    (lambda u, out, x: put_back(None, u, out),),
    view=True,
    cheap=True,
    rearranges=True,
    linear=True,
)
PUT = Primitive(
    "put",
    _put_kernel,
    (lambda u, out, x: index(u, out.attributes[1], x.shape),),
    takes_out=True,
    cheap=True,
    moves=True,
    rearranges=True,
    linear=True,
)


def _put_onto_kernel(attributes: tuple[Shape, Slices], type: Any) -> Any:
    kernel = _put_kernel(attributes, type)

    def both(x: Any, value: Any, out: Any = None) -> Any:
        found = kernel(value)
        return np.add(x, found, found if out is None else out)

    return both


# What a reverse pass adds up where several elements were taken of an array.
PUT_ONTO = Primitive(
    "put_onto",
    _put_onto_kernel,
    (lambda u, out, x, value: u, lambda u, out, x, value: index(u, out.attributes[1], value.shape)),
    takes_out=True,
    cheap=True,
    linear=True,
)


def sliced_shape(slices: Slices) -> Shape:
    """The shape that slices select."""
    return tuple([size for _, size, _ in slices])


class Part(NamedTuple):
    """A step that one of these stands for."""

    op: Primitive
    attributes: Any
    type: ArrayType


APART = frozenset({INDEX, PUT, PUT_ONTO})


def written_apart(node: Node) -> tuple[Part, Part]:
    """What one of these does with its last input in a plan, where rules are about slices and shapes: two steps. What they give is
    the result, or for `put_onto` what is added to the first input."""
    type = node.type
    if node.op is INDEX:
        slices, shape = node.attributes
        return Part(SLICE, slices, array_type(sliced_shape(slices), type.dtype)), Part(RESHAPE, shape, type)
    part = array_type(sliced_shape(node.attributes[1]), type.dtype)
    return Part(RESHAPE, part.shape, part), Part(EMBED, node.attributes, type)


_shared: dict[Any, Any] = {}
MOST_SHARED = 1 << 14


def shared(attributes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Equal attributes as one object: a long loop records the same few again and again."""
    try:
        found = _shared.get(attributes)
    except TypeError:  # extents that are followed have no hash: see `compiler.extents`
        return attributes
    if found is None:
        if _follows(attributes):
            return attributes
        if len(_shared) >= MOST_SHARED:
            _shared.clear()
        found = _shared[attributes] = attributes
    return found


def _follows(x: Any) -> bool:
    """Whether an extent that is followed is among numbers."""
    return any(map(_follows, x)) if type(x) is tuple else hasattr(x, "sheet")


def is_whole(slices: Slices, shape: Shape) -> bool:
    """Whether the slices select everything, in order."""
    for (start, size, step), n in zip(slices, shape, strict=True):  # noqa: SIM110 - a generator takes twice as long
        if size != n or start or step != 1:
            return False
    return True


@register
def slice_(x: Node, slices: Slices) -> Node:
    """Elements at regular steps along each axis."""
    return x if is_whole(slices, x.type.shape) else moved(SLICE, x, slices, tuple([size for _, size, _ in slices]))


@register
def embed(x: Node, shape: Shape, slices: Slices) -> Node:
    """Zeros of a shape with x put at the slices: the adjoint of slicing."""
    return x if is_whole(slices, shape) else moved(EMBED, x, shared((shape, slices)), shape)


@register
def index(x: Node, slices: Slices, shape: Shape) -> Node:
    """Elements at regular steps along each axis, in another shape of as many elements."""
    if is_whole(slices, x.type.shape):
        return reshape(x, shape)
    if len(slices) == len(shape) and sliced_shape(slices) == shape:
        return moved(SLICE, x, slices, shape)
    return moved(INDEX, x, shared((slices, shape)), shape)


@register
def put(x: Node, shape: Shape, slices: Slices) -> Node:
    """Zeros of a shape with the elements of x put at the slices: the adjoint of indexing."""
    if is_whole(slices, shape):
        return reshape(x, shape)
    if len(slices) == x.type.ndim and sliced_shape(slices) == x.type.shape:
        return embed(x, shape, slices)
    return moved(PUT, x, shared((shape, slices)), shape)


@register
def put_onto(x: Node, part: Node) -> Node:
    """The sum of x and of what `put` or `embed` gave, without the latter's node if `put` gave it, of x's type."""
    if part.op is not PUT or part.type is not x.type or not x.type.computes:
        return ops.add(x, part)
    return _sum_with_put(x, part.inputs[0], part.attributes)


def _sum_with_put(x: Node, value: Node, attributes: tuple[Shape, Slices]) -> Node:
    mode = get_mode()
    tracked = mode.grad and (x.tracked or value.tracked)
    return Node(PUT_ONTO, (x, value), attributes, x.type, mode.site, mode.offset, tracked)


@register
def put_back(before: Node | None, u: Node, taken: Node) -> Node:
    """The cotangent of what elements were `taken` of, from that of these elements; the sum of that and of what it has `before`.
    What `index` has recorded takes neither everything nor a mere slice, so nothing of that is asked again."""
    kind = taken.inputs[0].type
    attributes = shared((kind.shape, taken.attributes[0]))
    if before is not None and before.type is kind and kind.computes and u.type is taken.type:
        return _sum_with_put(before, u, attributes)
    part = moved(PUT, u, attributes, kind.shape)
    return part if before is None else ops.add(before, part)


@register
def update_slice(x: Node, value: Node, slices: Slices) -> Node:
    """x with the elements at the slices replaced."""
    return value if is_whole(slices, x.shape) else record(UPDATE, (x, value), slices, x.type)


# Concatenation --------------------------------------------------------------------------------------------------------


def _concat_vjp(u: Node, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    axis = out.attributes
    cotangents: list[Node | None] = []
    start = 0
    for x, want in zip(out.inputs, wanted, strict=True):
        size = x.shape[axis]
        part = shared(tuple([(start, size, 1) if i == axis else (0, n, 1) for i, n in enumerate(out.shape)]))
        cotangents.append(slice_(u, part) if want else None)
        start += size
    return cotangents


CONCAT = Primitive(
    "concat",
    lambda axis, type: lambda *xs, out=None: np.concatenate(xs, axis, out=out),
    _concat_vjp,
    takes_out=True,
    moves=True,
    rearranges=True,
    linear=True,
)


@register
def concat(xs: Sequence[Node], axis: int) -> Node:
    """Arrays joined along an axis. Raises ValueError where other axes differ."""
    if not xs:
        raise ValueError("concat: expected at least one array")
    kind = xs[0].type
    first = kind.shape
    if len(xs) > 1 and all([x.type is kind for x in xs]):
        shape = (*first[:axis], len(xs) * first[axis], *first[axis + 1 :])
        return record(CONCAT, tuple(xs), axis, array_type(shape, kind.dtype))
    xs = same_type("concat", xs)
    for x in xs[1:]:
        if x.ndim != len(first) or any(
            a != b for i, (a, b) in enumerate(zip(first, x.shape, strict=True)) if i != axis
        ):
            shapes = ", ".join(str(y.shape) for y in xs)
            raise ValueError(f"concat: shapes {shapes} differ in an axis other than {axis}")
    if len(xs) == 1:
        return xs[0]
    shape = (*first[:axis], sum(x.shape[axis] for x in xs), *first[axis + 1 :])
    return record(CONCAT, tuple(xs), axis, array_type(shape, xs[0].dtype))


# Sliding windows over trailing axes: attributes (sizes, steps, dilations, input extents) ------------------------------

Windows = tuple[Shape, Shape, Shape, Shape]


def window_counts(attributes: Windows) -> Shape:
    """How many windows fit along each axis."""
    return tuple(
        (n - dilation * (size - 1) - 1) // step + 1 for size, step, dilation, n in zip(*attributes, strict=True)
    )


def _window_slices(attributes: Windows, offsets: Sequence[int]) -> tuple[Any, ...]:
    counts = window_counts(attributes)
    _, steps, dilations, _ = attributes
    return (
        ...,
        *(
            slice(o * d, o * d + (c - 1) * s + 1, s)
            for o, d, c, s in zip(offsets, dilations, counts, steps, strict=True)
        ),
    )


def _windows_kernel(attributes: Windows, type: Any) -> Any:
    sizes, steps, dilations, _ = attributes
    rank, counts = len(sizes), window_counts(attributes)

    def kernel(x: Any) -> Any:
        lead, strides = x.shape[: x.ndim - rank], x.strides[x.ndim - rank :]
        shape = (*lead, *sizes, *counts)
        moved = (
            *x.strides[: x.ndim - rank],
            *(s * d for s, d in zip(strides, dilations, strict=True)),
            *(s * t for s, t in zip(strides, steps, strict=True)),
        )
        return np.lib.stride_tricks.as_strided(x, shape, moved, writeable=False).copy()

    return kernel


def _fold_kernel(attributes: Windows, type: Any) -> Any:
    sizes = attributes[0]
    rank, shape, dtype = len(sizes), type.shape, type.dtype.dtype

    def kernel(x: Any) -> Any:
        out = np.zeros(shape, dtype)
        lead = (slice(None),) * (x.ndim - 2 * rank)
        for offsets in itertools.product(*map(range, sizes)):  # over the window's cells, never over the batch
            out[_window_slices(attributes, offsets)] += x[(*lead, *offsets)]
        return out

    return kernel


WINDOWS = Primitive(
    "windows", _windows_kernel, (lambda u, out, x: fold_windows(u, out.attributes),), moves=True, linear=True
)
FOLD = Primitive("fold_windows", _fold_kernel, (lambda u, out, x: windows(u, out.attributes),), linear=True)


@register
def windows(x: Node, attributes: Windows) -> Node:
    """Sliding windows over the trailing axes: (..., *extents) to (..., *sizes, *counts)."""
    sizes = attributes[0]
    lead = x.shape[: x.ndim - len(sizes)]
    return record(WINDOWS, (x,), attributes, array_type((*lead, *sizes, *window_counts(attributes)), x.dtype))


@register
def fold_windows(x: Node, attributes: Windows) -> Node:
    """The adjoint of `windows`: every window added back where it came from."""
    sizes, _, _, extents = attributes
    lead = x.shape[: x.ndim - 2 * len(sizes)]
    return record(FOLD, (x,), attributes, array_type((*lead, *extents), x.dtype))
