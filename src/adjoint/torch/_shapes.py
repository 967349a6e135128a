"""PyTorch's functions of shapes whose results are tensors of their own."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
from typing import Any

import numpy as np

from adjoint.arrays import matrices
from adjoint.primitives.core import cast
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from ._elementwise import made
from ._names import FUNCTIONS, METHODS, function, method
from ._now import joined
from ._operators import promoted
from ._tensor import (
    Core,
    Size,
    as_torch,
    node_of,
)
from ._view_tensors import reshaping, turn
from ._views import _expand, axis_of, sizes


def common_dtype(xs: Any) -> list[Any]:
    """Tensors cast to the dtype that they promote to."""
    nodes = [node_of(x) for x in xs]
    kind = nodes[0].dtype
    for n in nodes[1:]:
        kind = kind if n.dtype is kind else promoted(kind, n.dtype)
    return [made(n if n.dtype is kind else cast(n, kind)) for n in nodes]


def _of_one_type(args: tuple[Any, ...]) -> Any:
    """A list of tensors of one type joined along an axis; None for others."""
    given, dim = args[0] if args else None, args[1] if len(args) == 2 else 0
    if type(given) not in (list, tuple) or not given or type(dim) is not int or len(args) > 2:
        return None
    nodes = [x.node for x in given if isinstance(x, Core)]
    if len(nodes) < len(given):
        return None
    kind = nodes[0].type
    ndim = kind.ndim
    if ndim == 0 or kind.size == 0 or not -ndim <= dim < ndim or not all([x.type is kind for x in nodes]):
        return None
    return joined(nodes, dim % ndim)


@function("concat", "concatenate", methods=False, quick=_of_one_type, follows="a list")
def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors joined along an axis."""
    given = list(tensors)
    if not given:
        raise ValueError(f"cat: expected a list of tensors that isn't empty{at_user()}")
    nodes = [x.node for x in given]
    some = [x for x in nodes if x.type.shape != (0,)] or nodes[:1]  # an empty vector joins anything
    if not all([x.type.shape for x in some]):
        raise RuntimeError(f"cat: tensors without axes can't be joined; stack them{at_user()}")
    axis = axis_of(dim, some[0].type.ndim)
    kind = nodes[0].type.dtype
    if all([x.type.dtype is kind for x in nodes]):
        return made(joined(some, axis))
    kind = common_dtype(given)[0].dtype  # those of empty vectors count
    return core.concat([made(x if x.type.dtype is kind else cast(x, kind)) for x in some], axis=axis)


@function(methods=False, follows="a list")
def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors of one shape along a new axis."""
    given = list(tensors)
    if not given:
        raise ValueError(f"stack: expected a list of tensors that isn't empty{at_user()}")
    return core.stack(common_dtype(given), axis=dim)


@function("row_stack", methods=False, follows="a list")
def vstack(tensors: Any) -> Any:
    """Tensors joined along the first axis, vectors as rows."""
    return core.concat(common_dtype([atleast_2d(x) for x in tensors]), axis=0)


@function(methods=False, follows="a list")
def hstack(tensors: Any) -> Any:
    """Tensors joined along the second axis, vectors along the first."""
    given = common_dtype([atleast_1d(x) for x in tensors])
    return core.concat(given, axis=0 if given[0].ndim == 1 else 1)


@function(methods=False, follows="a list")
def dstack(tensors: Any) -> Any:
    """Tensors joined along the third axis."""
    return core.concat(common_dtype([atleast_3d(x) for x in tensors]), axis=2)


@function(methods=False, follows="a list")
def column_stack(tensors: Any) -> Any:
    """Tensors joined along the second axis, vectors as columns."""
    return core.concat(common_dtype([x.reshape(-1, 1) if x.ndim < 2 else x for x in map(as_torch, tensors)]), axis=1)


def _at_least(x: Any, n: int) -> Any:
    x = as_torch(x)
    if x.ndim >= n:
        return x
    shape = tuple(x.shape)
    if n == 3 and len(shape) == 1:
        return x.reshape(1, -1, 1)
    if n == 3 and len(shape) == 2:
        return x.reshape(*shape, 1)
    return x.reshape(*(1,) * (n - len(shape)), *shape)


def _each(xs: tuple[Any, ...], n: int) -> Any:
    if len(xs) == 1 and isinstance(xs[0], (tuple, list)):
        xs = tuple(xs[0])
        return tuple(_at_least(x, n) for x in xs)
    return _at_least(xs[0], n) if len(xs) == 1 else tuple(_at_least(x, n) for x in xs)


def atleast_1d(*tensors: Any) -> Any:
    """With at least one axis."""
    return _each(tensors, 1)


def atleast_2d(*tensors: Any) -> Any:
    """With at least two axes."""
    return _each(tensors, 2)


def atleast_3d(*tensors: Any) -> Any:
    """With at least three axes."""
    return _each(tensors, 3)


for _f in (atleast_1d, atleast_2d, atleast_3d):
    FUNCTIONS[_f.__name__] = _f


@method("repeat")
def repeat(self: Any, *times: Any, repeats: Any = None) -> Any:
    """The whole tensor, so many times along each axis."""
    times = sizes(times or (repeats,))
    if len(times) < self.ndim:
        raise RuntimeError(f"repeat: {len(times)} numbers for {self.ndim} axes{at_user()}")
    return core.tile(self, times) if times else self.clone()


@function(follows=True)
def tile(input: Any, *times: Any, dims: Any = ()) -> Any:
    """The whole tensor, so many times along the last axes."""
    times = sizes(times or (dims,))
    return core.tile(input, tuple(times)) if len(times) else input.clone()


@function()
def repeat_interleave(input: Any, repeats: Any = None, dim: Any = None, *, output_size: Any = None) -> Any:
    """Each element so many times."""
    if output_size is not None:
        found = repeat_interleave(input, repeats, dim)
        if found.shape[0 if dim is None else dim] != output_size:
            raise RuntimeError(
                f"repeat_interleave: output_size is {output_size}, the result's {tuple(found.shape)}{at_user()}"
            )
        return found
    if repeats is None:
        counts = np.asarray(input.numpy())
        return core.tensor(np.repeat(np.arange(counts.size), counts))
    times = repeats.tolist() if isinstance(repeats, Core) else repeats
    if isinstance(times, list) and len(times) == 1:
        times = times[0]
    x = core.flatten(input) if dim is None else input
    axis = 0 if dim is None else dim
    if not x.ndim:
        x = core.reshape(x, (1,))
    return core.repeat(x, times, axis=axis)


@function(follows=True)
def flip(input: Any, *axes: Any, dims: Any = None) -> Any:
    """Axes reversed."""
    axes = sizes(axes or (dims,))
    return core.flip(input, axis=axes) if axes and input.ndim else input.clone()


@function(follows=True)
def fliplr(input: Any) -> Any:
    """The second axis reversed."""
    if input.ndim < 2:
        raise RuntimeError(f"fliplr: expected at least two axes{at_user()}")
    return core.flip(input, axis=1)


@function(follows=True)
def flipud(input: Any) -> Any:
    """The first axis reversed."""
    if not input.ndim:
        raise RuntimeError(f"flipud: expected at least one axis{at_user()}")
    return core.flip(input, axis=0)


@function(follows=True)
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along axes, around the ends."""
    given = [len(v) if isinstance(v, (tuple, list)) else 1 for v in (shifts, dims if dims is not None else 0)]
    if not given[0] or (given[0] != given[1] and dims not in (None, ())):
        raise RuntimeError(f"roll: {given[0]} shifts for {given[1]} axes{at_user()}")
    if dims is None or dims == ():
        return core.reshape(core.roll(core.flatten(input), shifts), tuple(input.shape))
    if not input.ndim:
        raise IndexError(f"roll: dims={dims} of a tensor without axes{at_user()}")
    return core.roll(
        input, shifts if isinstance(shifts, int) else tuple(shifts), axis=dims if isinstance(dims, int) else tuple(dims)
    )


@function(follows=True)
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """A quarter turn of two axes, k times."""
    a, b = (axis_of(d, input.ndim) for d in dims)
    if a == b:
        raise RuntimeError(f"rot90: the axes are the same{at_user()}")
    k %= 4
    if k == 2:
        return core.flip(input, axis=(a, b))
    if not k:
        return input.clone()
    return core.flip(core.swapaxes(input, a, b), axis=a if k == 1 else b)


@function(in_place=True, follows=True)
def tril(input: Any, diagonal: int = 0) -> Any:
    """The part on and below a diagonal."""
    return core.tril(input, k=diagonal)


@function(in_place=True, follows=True)
def triu(input: Any, diagonal: int = 0) -> Any:
    """The part on and above a diagonal."""
    return core.triu(input, k=diagonal)


@function(follows=True)
def diag(input: Any, diagonal: int = 0) -> Any:
    """A vector as the diagonal of a matrix, or the diagonal of a matrix."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag: a vector or a matrix, got shape {tuple(input.shape)}{at_user()}")
    return diag_embed(input, diagonal) if input.ndim == 1 else FUNCTIONS["diagonal"](as_torch(input), diagonal).clone()


@function(follows=True)
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The last axis as a diagonal of two new axes."""
    ndim = input.ndim + 1
    first, second = axis_of(dim1, ndim), axis_of(dim2, ndim)
    return core.moveaxis(matrices.diag_embed(input, offset), (-2, -1), (first, second))


@function(follows=True)
def diagflat(input: Any, offset: int = 0) -> Any:
    """All elements as the diagonal of a matrix."""
    return diag_embed(core.flatten(input) if input.ndim else core.reshape(input, (1,)), offset)


@function(methods=False)
def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    """Coordinate tensors of vectors, the first axis first unless indexing is "xy"."""
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)
    if len({x.dtype for x in given}) > 1:
        raise RuntimeError(f"meshgrid: tensors of one dtype{at_user()}")
    if any(x.ndim > 1 for x in given):
        raise RuntimeError(
            f"meshgrid: vectors and single numbers, not tensors of shapes {[tuple(x.shape) for x in given]}{at_user()}"
        )
    return tuple(core.meshgrid(*[core.reshape(x, (-1,)) for x in given], indexing=indexing))


@function(methods=False)
def broadcast_tensors(*tensors: Any) -> Any:
    """Tensors in their common shape."""
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)
    shape = np.broadcast_shapes(*[tuple(x.shape) for x in given])
    return tuple(_expand(as_torch(x), shape) for x in given)


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that shapes broadcast to."""
    return Size(np.broadcast_shapes(*[s if isinstance(s, int) else tuple(s) for s in shapes]))


FUNCTIONS["broadcast_shapes"] = broadcast_shapes


@function(methods=False)
def block_diag(*tensors: Any) -> Any:
    """Matrices along the diagonal of one."""
    blocks = common_dtype([atleast_2d(x) for x in tensors])
    rows = []
    width = builtins.sum(x.shape[1] for x in blocks)
    start = 0
    for x in blocks:
        rows.append(core.pad(x, ((0, 0), (start, width - start - x.shape[1]))))
        start += x.shape[1]
    return core.concat(rows, axis=0)


@function(methods=False)
def cartesian_prod(*tensors: Any) -> Any:
    """All tuples of elements, one of each vector."""
    if len(tensors) == 1:
        return tensors[0]
    grids = core.meshgrid(*tensors, indexing="ij")
    return core.stack([core.flatten(g) for g in grids], axis=1)


@function(methods=False)
def combinations(input: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of r elements of a vector."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    n = input.shape[0]
    if r == 0:
        rows = np.zeros((0, 0), np.int64)
    elif r == 2:
        rows = np.stack(np.triu_indices(n, 0 if with_replacement else 1), -1)
    else:
        rows = np.array(list(choose(range(n), r)), np.int64).reshape(-1, r)
    return input[core.tensor(rows)] if rows.size else core.zeros((0,) if not r else (0, r), dtype=input.dtype)


@method("sum_to_size")
def sum_to_size(self: Any, *lengths: Any, size: Any = None) -> Any:
    """Summed to a shape that broadcasts to its own."""
    wanted = sizes(lengths if size is None else (size,))
    lead = self.ndim - len(wanted)
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(wanted) if n == 1 and tuple(self.shape)[i + lead] != 1
    )
    if np.broadcast_shapes(wanted, tuple(self.shape)) != tuple(self.shape):
        raise RuntimeError(f"sum_to_size: {wanted} doesn't broadcast to {tuple(self.shape)}{at_user()}")
    return core.reshape(core.sum(self, axis=axes), wanted) if axes else self


@method("resize_")
def resize_(self: Any, *lengths: Any, size: Any = None, memory_format: Any = None) -> Any:
    """Another shape, in place: the first elements as they lie in memory, or zeros after them."""
    wanted, own = sizes(lengths if size is None else (size,)), tuple(self.shape)
    have, need = math.prod(own), math.prod(wanted)
    if wanted == own:
        return self
    if not METHODS["is_contiguous"](self) or (need != have and self._base is not None):
        raise RuntimeError(
            f"resize_: the tensor is a part of another one's memory, or lies there in another order; make one of its own, by "
            f"x = x.clone(memory_format=torch.contiguous_format){at_user()}"
        )
    if need == have:
        how: Any = reshaping(own, wanted)
        apply, write, layout = how
        return turn(self, apply, functools.partial(write, None), layout, "resize_")
    flat = core.reshape(self, (-1,))
    flat = flat[:need] if need <= have else core.concat([flat, core.zeros(need - have, dtype=self.dtype)])
    self.node = core.reshape(flat, wanted).node
    return self


FUNCTIONS["resize_as_"] = METHODS["resize_as_"] = lambda input, the_template, *, memory_format=None: resize_(
    input, tuple(the_template.shape)
)


@function(methods=False)
def constant_pad_nd(input: Any, pad: Any, value: Any = 0) -> Any:
    """A constant around the last axes."""
    return FUNCTIONS["nn.functional.pad"](input, pad, "constant", value)
