"""PyTorch's functions of shapes that are views there, and here."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
from operator import index
from typing import Any

import numpy as np

from adjoint.composites import indexing
from adjoint.graph import Node
from adjoint.primitives.core import ops
from adjoint.shapes import resolve_reshape
from adjoint.tensors import functions as core
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import MISTAKES, at_user, explained, user_frame
from adjoint.tensors.named import owner_of
from adjoint.tensors.pending import force_selection

from ._elementwise import made
from ._names import FUNCTIONS, METHODS, like, method
from ._parts import memory, offset_of, relaid
from ._tensor import Core, Tensor, in_order, torch_tensor
from ._view_tensors import LeafView, flat_view, following, part, permuted, reshaping, turn, view_of


def sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as ints or as one sequence of them."""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    try:
        return tuple([index(n) for n in shape])
    except TypeError:
        raise TypeError(f"a shape is made of ints, not {shape!r}{at_user()}") from None


def axis_of(dim: Any, ndim: int) -> int:
    """An axis counted from the front; IndexError for one that isn't there."""
    if not -ndim <= dim < ndim:
        raise IndexError(f"dimension out of range: {dim} for a tensor with {ndim} axes{at_user()}")
    return int(dim) % ndim


def as_named(*names: str, follows: bool = False, of_views: bool = True) -> Any:
    """Register a function that records by itself, as function and method; one that `follows` as `following` says."""

    def register(f: Any) -> Any:
        f = following(f, of_views) if follows else f
        for name in (f.__name__.rstrip("_"), *names):
            FUNCTIONS[name] = METHODS[name] = f
        return f

    return register


def _resolved(x: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return resolve_reshape(shape, x.node.type.size)
    except MISTAKES as error:
        raise RuntimeError(str(explained(error, "view", x))) from None


def view(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """The same elements in another shape, or the same bytes as another dtype."""
    if shape and type(shape[0]) is int:
        try:
            return view_of(self, *_viewing(self.node.type.shape, *shape))
        except MISTAKES:  # which says below what is wrong
            pass
    shape = shape or ((size,) if dtype is None else (dtype,))
    if len(shape) == 1 and not isinstance(shape[0], (int, tuple, list, np.integer)):
        return _of_dtype(self, dtype_of(shape[0]))
    return flat_view(self, _resolved(self, sizes(shape)))


def _of_dtype(x: Tensor, dtype: Any) -> Tensor:
    if dtype is x.dtype:
        return flat_view(x, tuple(x.shape))
    array = np.ascontiguousarray(x.detach().numpy()).view(dtype.dtype)
    return torch_tensor(core.tensor(array))


@functools.lru_cache(1 << 10, typed=True)
def _viewing(own: tuple[int, ...], *lengths: int) -> Any:
    """How a tensor of a shape is seen in another one, of which one length may be left open."""
    return reshaping(own, resolve_reshape(sizes(lengths), math.prod(own)))


METHODS["view"] = following(view)
METHODS["view_as"] = lambda self, other: view(self, tuple(other.shape))


@as_named(follows=True, of_views=False)
def reshape(input: Tensor, *lengths: Any, shape: Any = None) -> Tensor:
    """The same elements in another shape: a view where their order in memory allows one, as in PyTorch."""
    if shape is not None:
        lengths = tuple(shape)
    elif len(lengths) == 1 and isinstance(lengths[0], (tuple, list)):
        lengths = tuple(lengths[0])
    wanted = _resolved(input, tuple(int(n) for n in lengths))
    layout = input._layout()
    if layout is not None and relaid(layout, wanted) is not None:
        return flat_view(input, wanted)
    return made(ops.reshape(input.node, wanted))


def _in_order(x: Tensor) -> bool:
    layout = x._layout()
    return layout is not None and (not layout.size or in_order(layout))


METHODS["reshape_as"] = lambda self, other: reshape(self, tuple(other.shape))


@method("is_contiguous")
def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements lie in memory in the order of their indices, as far as views decide it."""
    return _in_order(self)


@method("contiguous")
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself, or a copy of a view whose elements lie otherwise."""
    return self if _in_order(self) else self.clone()


@method("stride")
def stride(self: Tensor, dim: int | None = None) -> Any:
    """The steps in memory, in elements."""
    layout = self._layout()
    if layout is None:
        raise RuntimeError(f"stride: this view has no strides{at_user()}")
    steps = list(layout.strides)
    for i in range(
        len(steps) - 1, -1, -1
    ):  # of an axis of length one NumPy says 0 where PyTorch says how long a step would be
        if layout.shape[i] == 1 and steps[i] == 0:
            steps[i] = layout.shape[i + 1] * steps[i + 1] if i + 1 < len(steps) else 1
    return tuple(steps) if dim is None else steps[dim]


@method("storage_offset")
def storage_offset(self: Tensor) -> int:
    """How many elements lie before the first one, in the memory of the tensor that this is a view of."""
    layout = self._layout()
    if layout is None:
        raise RuntimeError(f"storage_offset: this view has no strides{at_user()}")
    return offset_of(layout)


@as_named(follows=True)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two axes exchanged, as a view."""
    ndim = input.node.type.ndim
    if not ndim:
        return flat_view(input, ())
    plain = type(dim0) is int and type(dim1) is int
    return permuted(input, _exchanged(ndim, dim0, dim1) if plain else _exchanging(ndim, dim0, dim1))


def _exchanging(ndim: int, dim0: Any, dim1: Any) -> tuple[int, ...]:
    """The order of the axes with two of them exchanged."""
    first, second = axis_of(dim0, ndim), axis_of(dim1, ndim)
    axes = list(range(ndim))
    axes[first], axes[second] = axes[second], axes[first]
    return tuple(axes)


_exchanged = functools.lru_cache(_exchanging)


FUNCTIONS["swapdims"] = METHODS["swapdims"] = transpose
FUNCTIONS["swapaxes"] = METHODS["swapaxes"] = lambda input, axis0, axis1: transpose(input, axis0, axis1)


@as_named(follows=True)
def t(input: Tensor) -> Tensor:
    """A matrix transposed, as a view; vectors as they are."""
    if input.ndim > 2:
        raise RuntimeError(f"t: expected at most two axes, got shape {tuple(input.shape)}{at_user()}")
    return permuted(input, tuple(range(input.ndim))[::-1])


METHODS["adjoint"] = FUNCTIONS["adjoint"] = lambda input: (
    FUNCTIONS["conj"](transpose(input, -2, -1)) if input.dtype.kind == "c" else transpose(input, -2, -1)
)


@as_named(follows=True)
def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """The axes in another order, as a view."""
    order = sizes(order or (dims,))
    axes = tuple(axis_of(d, input.ndim) for d in order)
    if sorted(axes) != list(range(input.ndim)):
        raise RuntimeError(f"permute: {order} doesn't name each of {input.ndim} axes once{at_user()}")
    return permuted(input, axes)


@as_named("moveaxis")
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Axes moved to other places, as a view."""
    order = np.lib.array_utils.normalize_axis_tuple
    first, second = (order(v, input.ndim) for v in (source, destination))
    axes = [i for i in range(input.ndim) if i not in first]
    for place, axis in sorted(zip(second, first, strict=True)):
        axes.insert(place, axis)
    return permuted(input, tuple(axes))


@as_named(follows=True)
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Axes of size one left out: all of them, or those named (others stay), as a view."""
    shape = input.node.type.shape
    if dim is None:
        gone = {i for i, n in enumerate(shape) if n == 1}
    else:
        named = dim if isinstance(dim, (tuple, list)) else (dim,)
        gone = {axis_of(d, builtins.max(len(shape), 1)) for d in named}
    return flat_view(input, tuple(n for i, n in enumerate(shape) if i not in gone or n != 1))


@as_named(follows=True)
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A new axis of size one, as a view."""
    shape = input.node.type.shape
    at = dim if type(dim) is int and 0 <= dim <= len(shape) else axis_of(dim, len(shape) + 1)
    return flat_view(input, (*shape[:at], 1, *shape[at:]))


for _f in (squeeze, unsqueeze, transpose, t):

    def _changed(self: Tensor, *args: Any, _f: Any = _f, **keywords: Any) -> Tensor:
        view: Any = _f(made(self.node), *args, **keywords)
        return turn(self, view._apply, functools.partial(view._write, None), view._lay, _f.__name__ + "_")

    METHODS[_f.__name__ + "_"] = like(_changed, _f)
METHODS["swapdims_"] = METHODS["transpose_"]
METHODS["swapaxes_"] = lambda self, axis0, axis1: METHODS["transpose_"](self, axis0, axis1)


def _expand(input: Tensor, *shape: Any, size: Any = None) -> Tensor:
    wanted = sizes(shape or (size,))
    own = tuple(input.shape)
    if len(wanted) < len(own):
        raise RuntimeError(f"expand: {wanted} has fewer axes than the tensor, {own}{at_user()}")
    padded = (1,) * (len(wanted) - len(own)) + own
    full = tuple(n if w == -1 else w for w, n in zip(wanted, padded, strict=True))
    if any(n != 1 and n != w for w, n in zip(full, padded, strict=True)):
        raise RuntimeError(f"expand: a tensor of shape {own} can't become {wanted}{at_user()}")
    same = full == padded
    return view_of(
        input,
        lambda x: ops.broadcast_to(x, full),
        (lambda _, v: ops.reshape(v, own)) if same else None,
        lambda a: np.broadcast_to(a, full),
    )


METHODS["expand"] = _expand
METHODS["expand_as"] = lambda self, other: _expand(self, tuple(other.shape))
FUNCTIONS["broadcast_to"] = METHODS["broadcast_to"] = lambda input, size: _expand(input, tuple(size))


@as_named()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A stretch of an axis, as a view."""
    axis = axis_of(dim, input.ndim)
    if isinstance(start, Core) and (start.ndim or start.dtype.kind not in "iu"):
        raise RuntimeError(f"narrow: start is an integer, or a tensor of one without axes{at_user()}")
    begin = int(start)
    n = input.shape[axis]
    begin = begin + n if begin < 0 else begin
    if not 0 <= begin <= begin + length <= n or length < 0:
        raise RuntimeError(f"narrow: {length} from {int(start)} is outside of an axis of {n}{at_user()}")
    return part(input, _stretch(axis, begin, begin + length))


def _stretch(axis: int, start: int, stop: int) -> tuple[slice, ...]:
    """The index of a stretch of an axis."""
    return (*[slice(None)] * axis, slice(start, stop))


@as_named()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One position of an axis, as a view."""
    axis = axis_of(dim, input.ndim)
    return input[(slice(None),) * axis + (int(index),)]


@as_named()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, as views."""
    axis = axis_of(dim, input.ndim)
    return tuple([select(input, axis, i) for i in range(input.shape[axis])])


def _one_of(*names: Any) -> Any:
    """The one that is given of an argument's names."""
    given = [x for x in names if x is not None]
    if len(given) != 1:
        raise TypeError(f"the parts are given {len(given)} times; give one number, or one list{at_user()}")
    return given[0]


@as_named("split_with_sizes", "unsafe_split", "unsafe_split_with_sizes")
def split(
    tensor: Tensor, split_size_or_sections: Any = None, dim: int = 0, *, split_size: Any = None, split_sizes: Any = None
) -> tuple[Tensor, ...]:
    """Parts of so many elements along an axis (the last may be smaller), or of sizes in a list; as views."""
    wanted = _one_of(split_size_or_sections, split_size, split_sizes)
    axis = axis_of(dim, tensor.ndim)
    n = tensor.shape[axis]
    if isinstance(wanted, (list, tuple)):
        lengths = [int(k) for k in wanted]
        if builtins.sum(lengths) != n or builtins.min(lengths, default=0) < 0:
            raise RuntimeError(f"split: sizes {lengths} don't add up to {n}{at_user()}")
    else:
        step = int(wanted)
        if step < 0 or (step == 0 and n):
            raise RuntimeError(f"split: the size of a part must be positive, got {step}{at_user()}")
        lengths = [builtins.min(step, n - i) for i in range(0, n, step)] if n else [0]
    frame = user_frame(2)
    stops = list(itertools.accumulate(lengths))
    return tuple([part(tensor, _stretch(axis, stop - k, stop), frame) for stop, k in zip(stops, lengths, strict=True)])


@as_named("unsafe_chunk")
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most so many equal parts along an axis, as views."""
    if chunks < 1:
        raise RuntimeError(f"chunk: expected at least one chunk, got {chunks}{at_user()}")
    n = input.shape[axis_of(dim, input.ndim)]
    return split(input, builtins.max(-(-n // chunks), 1), dim) if n else split(input, [0] * chunks, dim)


@as_named()
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None,
    tensor_indices_or_sections: Any = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """So many parts that differ by at most one, or parts between positions; as views."""
    wanted = _one_of(indices_or_sections, indices, sections, tensor_indices_or_sections)
    axis = axis_of(dim, input.ndim)
    n = input.shape[axis]
    if isinstance(wanted, Core):
        wanted = wanted.tolist()
    if isinstance(wanted, (list, tuple)):
        at = [builtins.min(builtins.max(i + n if i < 0 else i, 0), n) for i in wanted]
        bounds = [0, *at, n]
        return tuple(narrow(input, axis, a, builtins.max(b - a, 0)) for a, b in itertools.pairwise(bounds))
    if wanted < 1:
        raise RuntimeError(f"tensor_split: expected at least one part, got {wanted}{at_user()}")
    small, more = divmod(n, wanted)
    return split(input, [small + 1] * more + [small] * (wanted - more), dim)


def _split_at(name: str, axis: int, least: int) -> None:
    def called(
        input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
    ) -> tuple[Tensor, ...]:
        if input.ndim < least:
            raise RuntimeError(f"{name}: expected at least {least} axes, got shape {tuple(input.shape)}{at_user()}")
        wanted = _one_of(indices_or_sections, indices, sections)
        at = 0 if name == "hsplit" and input.ndim == 1 else axis
        if isinstance(wanted, int) and input.shape[at] % wanted:
            raise RuntimeError(
                f"{name}: an axis of {input.shape[at]} can't be split into {wanted} equal parts{at_user()}"
            )
        return tensor_split(input, wanted, at)

    called.__doc__ = f"Parts along axis {axis}, as views."
    FUNCTIONS[name] = METHODS[name] = called


_split_at("hsplit", 1, 1)
_split_at("vsplit", 0, 2)
_split_at("dsplit", 2, 3)


@as_named()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal of two axes, along a new last axis, as a view."""
    first, second = axis_of(dim1, input.ndim), axis_of(dim2, input.ndim)
    if first == second:
        raise RuntimeError(f"diagonal: the axes are the same, {dim1} and {dim2}{at_user()}")
    shape = tuple(input.shape)
    order = (*[k for k in range(len(shape)) if k not in (first, second)], first, second)
    (*lead, m, n), back = [shape[k] for k in order], tuple(np.argsort(order).tolist())
    size = builtins.max(builtins.min(m + builtins.min(offset, 0), n - builtins.max(offset, 0)), 0)
    start = (offset if offset >= 0 else -offset * n) if size else 0
    along = (Ellipsis, slice(start, start + size * (n + 1), n + 1))

    def flat(x: Node) -> Node:
        return ops.reshape(ops.permute_dims(x, order), (*lead, m * n))

    def write(x: Node, value: Node) -> Node:
        changed = indexing.setitem(flat(x), along, value, force_selection)
        return ops.permute_dims(ops.reshape(changed, (*lead, m, n)), back)

    def apply(x: Node) -> Node:
        return indexing.getitem(flat(x), along, force_selection)

    return view_of(input, apply, write, lambda a: np.diagonal(a, offset, first, second))


FEW = 1 << 18  # positions of a view that are remembered


@functools.lru_cache(16)
def _windows(shape: tuple[int, ...], axis: int, size: int, step: int) -> tuple[Any, bool]:
    """Where the elements of windows lie among all, and whether each is in one window alone."""
    view = _taken(memory(shape), axis, size, step)
    return _places(view.shape, view.strides, offset_of(view)), step >= size or view.shape[axis] < 2


def _places(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    """Where elements at these steps lie."""
    steps = [np.arange(n) * s for n, s in zip(shape, strides, strict=True)]
    return builtins.sum(np.ix_(*steps), np.full((1,) * len(shape), offset))


def _taken(a: Any, axis: int, size: int, step: int) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(a, size, axis)
    return windows[(slice(None),) * axis + (slice(None, None, step),)]


def _strided(input: Tensor, flat: Any, unique: bool, take: Any) -> Tensor:
    """A view of the elements at some places among all, as `take` picks them from an array, if it can."""
    own = tuple(input.shape)

    def apply(x: Node) -> Node:
        return indexing.getitem(ops.reshape(x, (math.prod(own),)), flat, force_selection)

    def write(x: Node, value: Node) -> Node:
        changed = indexing.setitem(ops.reshape(x, (math.prod(own),)), flat, value, force_selection)
        return ops.reshape(changed, own)

    return view_of(input, apply, write if unique else None, take)


def _unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of an axis, along a new last axis, as a view."""
    axis = axis_of(dimension, builtins.max(self.ndim, 1))
    x: Any = self if self.ndim else self.reshape(1)
    n = x.shape[axis]
    if not 0 <= size <= n or step < 1:
        raise RuntimeError(f"unfold: windows of {size} with step {step} on an axis of {n}{at_user()}")
    own = tuple(x.shape)
    few = math.prod(own) * size <= FEW * step  # about as many as there are
    found = (_windows if few else _windows.__wrapped__)(own, axis, size, step)
    view = _strided(x, *found, lambda a: _taken(a, axis, size, step))
    return view if self.ndim else view.reshape(size)  # type: ignore[return-value]


METHODS["unfold"] = _unfold


@as_named()
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Elements at given steps of the memory, as a view."""
    whole = _leaf_or_owner(input)
    lay, leaf = whole._layout(), isinstance(whole._as_view(), LeafView)
    if lay is not None and not in_order(lay):  # its axes were exchanged
        whole = permuted(whole, tuple(sorted(range(lay.ndim), key=lambda i: -lay.strides[i])))
        lay = whole._layout()
    if lay is None or not in_order(lay):
        raise RuntimeError(f"as_strided: of a tensor whose elements lie apart; clone() it first{at_user()}")
    flat: Any = whole.reshape(-1)
    offset: int = input.storage_offset() if storage_offset is None else storage_offset  # type: ignore[attr-defined]
    size, stride = sizes((size,)), sizes((stride,))
    if len(size) != len(stride) or builtins.min((offset, *size, *stride)) < 0:
        raise RuntimeError(
            f"as_strided: a size and a step of each axis, none negative, not {size} and {stride}{at_user()}"
        )
    if leaf:  # positions in the memory, of which a leaf is a part
        offset -= offset_of(lay)
    top = offset + builtins.sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if 0 not in size and not 0 <= offset <= top < flat.shape[0]:
        raise RuntimeError(f"as_strided: positions {offset} to {top} of {flat.shape[0]} elements{at_user()}")
    places, taken = _places(size, stride, offset), np.zeros(flat.shape[0], bool)
    taken[places] = True
    lay = functools.partial(_laid, shape=size, strides=stride, offset=offset)
    return _strided(flat, places, np.count_nonzero(taken) == places.size, lay)


def _leaf_or_owner(x: Any) -> Any:
    """The tensor whose memory another one is a part of, and by which that is differentiated: a leaf that is a view itself stands
    for its part; what isn't differentiated has a detached one."""
    if not x.node.tracked:
        owner = owner_of(x)
        return owner.detach() if owner.node.tracked else owner
    while x._base is not None and not isinstance(x._as_view(), LeafView):
        below = x._as_view()._below()
        _ = below.node  # which looks whether anybody else has its memory
        x = below
    return x


def _laid(a: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    """Elements at given steps of a memory. None of it is read."""
    return np.lib.stride_tricks.as_strided(a[offset:], shape, strides, writeable=False)


@as_named(follows=True, of_views=False)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Axes from start_dim to end_dim as one: a view where their order in memory allows one."""
    if not input.ndim:
        return reshape(input, 1)
    a, b = axis_of(start_dim, input.ndim), axis_of(end_dim, input.ndim)
    if a > b:
        raise RuntimeError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}{at_user()}")
    shape = tuple(input.shape)
    return input if a == b else reshape(input, (*shape[:a], math.prod(shape[a : b + 1]), *shape[b + 1 :]))


@as_named()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """An axis as several, as a view."""
    axis = axis_of(dim, input.ndim)
    shape = tuple(input.shape)
    inner = resolve_reshape(tuple(sizes), shape[axis])
    return view(input, (*shape[:axis], *inner, *shape[axis + 1 :]))


@as_named()
def ravel(input: Tensor) -> Tensor:
    """All elements along one axis: a view of what lies in order, else a copy."""
    return reshape(contiguous(input), -1)


for _name in ("view", "expand", "permute", "transpose", "squeeze", "unsqueeze", "t", "unbind", "diagonal", "narrow", "detach",
              "select", "alias", "split_with_sizes", "unfold", "as_strided"):  # fmt: skip
    _viewed = METHODS.get(_name, lambda input: input)  # of alias and detach

    def _copied(input: Tensor, *args: Any, _viewed: Any = _viewed, **keywords: Any) -> Any:
        found = _viewed(input, *args, **keywords)
        return tuple(x.clone() for x in found) if isinstance(found, tuple) else found.clone()

    FUNCTIONS[f"{_name}_copy"] = like(_copied, _viewed)
METHODS["narrow_copy"] = FUNCTIONS["narrow_copy"]
