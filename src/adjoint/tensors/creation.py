"""Tensors of data, of one number, of ranges and patterns.

Axes count from the end when negative; out of bounds is an IndexError, shapes that don't fit a ValueError, dtypes that
don't a TypeError, each with the user's line.
"""

from __future__ import annotations

import builtins
import math
import operator
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from adjoint.composites import shaping
from adjoint.dtypes import as_dtype, default_dtype
from adjoint.graph import ArrayType, Node, Variable, array_type
from adjoint.primitives.core import cast, full as _full, is_scalar, ops
from adjoint.shapes import as_shape
from adjoint.tensors.composing import ARRAYS, DTypeLike, Operand, composite, functions_of, on_cpu, refuse
from adjoint.tensors.conversion import a, array_node, as_node, dtype_of
from adjoint.tensors.data_types import astype
from adjoint.tensors.elementwise import add, multiply
from adjoint.tensors.gradients import check_differentiable
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import force_array
from adjoint.tensors.shaping import broadcast_to
from adjoint.tensors.tensor import Tensor


def tensor(data: Any, *, dtype: DTypeLike = None, requires_grad: bool = False, name: str | None = None) -> Tensor:
    """A tensor of data: a number, nested lists, a NumPy array, another tensor, anything with DLPack.

    Python floats take the default floating dtype; a NumPy array keeps its own. Writable memory of others is copied.
    With `requires_grad`, the same as `ad.variable`. Raises TypeError for an unknown dtype or what isn't numbers,
    ValueError for ragged lists.

    >>> import adjoint as ad
    >>> ad.tensor([1, 2, 3])
    Tensor([1, 2, 3])
    >>> ad.tensor([1.0, 2.0], dtype="float64")
    Tensor([1., 2.], dtype=float64)
    """
    chosen = None if dtype is None else dtype_of(dtype)
    variable = Variable(name, requires_grad) if requires_grad or name is not None else None
    node = array_node(data, chosen, None, variable)
    if requires_grad:
        check_differentiable(node.dtype, "tensor(requires_grad=True)")
    return wrap(node)


def variable(value: Any, *, dtype: DTypeLike = None, name: str | None = None) -> Tensor:
    """A tensor to differentiate by: it owns a `.grad`.

    Raises as `ad.tensor` does, and TypeError for integers and bools.

    >>> import adjoint as ad
    >>> x = ad.variable(2.0, name="x")
    >>> x
    Tensor(2., requires_grad=True, name='x')
    """
    node = array_node(value, None if dtype is None else dtype_of(dtype), None, Variable(name))
    check_differentiable(node.dtype, "variable")
    return wrap(node)


def asarray(data: Any, /, *, dtype: DTypeLike = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from array-like data (Array API). A tensor comes back as it is, cast where `dtype` asks for it.

    copy: None copies writable memory only, False never copies (then changing that memory changes the tensor), True always.
    Raises ValueError if `copy=False` but the dtype must change.
    """
    on_cpu("asarray", device)
    chosen = None if dtype is None else dtype_of(dtype)
    if isinstance(data, Tensor) and not copy:
        return data if chosen is None or chosen is data.dtype else wrap(cast(data.node, chosen))
    if copy is False and chosen is not None and getattr(data, "dtype", chosen.dtype) != chosen.dtype:
        raise ValueError(f"asarray: {data.dtype} cannot become {chosen.name} without a copy{at_user()}")
    return wrap(array_node(data, chosen, copy))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from an array of another library, through the DLPack protocol, which shares its memory: nothing is copied.

    So a change of that memory changes the tensor; `copy=True` takes a copy. Raises TypeError for what has no `__dlpack__`,
    BufferError for what lies on another device.

    >>> import adjoint as ad
    >>> import numpy as np
    >>> ad.from_dlpack(np.ones(2))
    Tensor([1., 1.], dtype=float64)
    """
    on_cpu("from_dlpack", device)
    if isinstance(x, Tensor):
        return asarray(x, copy=copy)
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: {a(x)} has no __dlpack__; ad.asarray takes anything that is an array{at_user()}")
    if isinstance(x, np.ndarray):  # of any dtype; those that tensors haven't are said
        return asarray(x, copy=bool(copy))
    return wrap(array_node(np.from_dlpack(x, copy=copy), None, False))


def _lengths(shape: Any, name: str) -> tuple[int, ...]:
    """A shape, with the user's line in what is said of one that is none."""
    try:
        return as_shape(shape, name)
    except (TypeError, ValueError) as error:
        given = shape if isinstance(shape, (tuple, list)) else (shape,)
        traced = any(isinstance(n, Tensor) for n in given)
        hint = "; shapes are known when a function is traced, values aren't: give a number" if traced else ""
        raise type(error)(f"{error}{hint}{at_user()}") from None


def _filled(name: str, shape: Any, value: complex, dtype: DTypeLike) -> Tensor:
    return _constant(value, array_type(_lengths(shape, name), default_dtype() if dtype is None else dtype_of(dtype)))


def _like(node: Node, value: complex, dtype: DTypeLike) -> Tensor:
    """One number in the shape of a node, and in its dtype unless said."""
    return _constant(value, node.type if dtype is None else array_type(node.shape, dtype_of(dtype)))


def _constant(value: complex, type: ArrayType) -> Tensor:
    kind = type.dtype.kind
    typed = builtins.bool(value) if kind == "b" else int(value.real) if kind in "iu" else value
    typed = float(value.real) if kind == "f" else complex(value) if kind == "c" else typed
    return wrap(_full(typed, type))


def zeros(shape: Any, *more: Never, dtype: DTypeLike = None, device: Any = None, **others: Never) -> Tensor:
    """Zeros of a shape, in the default floating dtype unless said."""
    if more or others:
        refuse("zeros", others, shape, more)
    on_cpu("zeros", device)
    return _filled("zeros", shape, 0, dtype)


def ones(shape: Any, *more: Never, dtype: DTypeLike = None, device: Any = None, **others: Never) -> Tensor:
    """Ones of a shape, in the default floating dtype unless said."""
    if more or others:
        refuse("ones", others, shape, more)
    on_cpu("ones", device)
    return _filled("ones", shape, 1, dtype)


def empty(shape: Any, *more: Never, dtype: DTypeLike = None, device: Any = None, **others: Never) -> Tensor:
    """The same as zeros: a tensor is a value, so it has no undefined elements."""
    if more or others:
        refuse("empty", others, shape, more)
    on_cpu("empty", device)
    return _filled("empty", shape, 0, dtype)


def full(shape: Any, fill_value: Any, *, dtype: DTypeLike = None, device: Any = None, **others: Never) -> Tensor:
    """One number repeated in a shape. Its dtype is that of the number (a tensor or a list is broadcast, with its gradient)."""
    if others:
        refuse("full", others)
    on_cpu("full", device)
    if isinstance(fill_value, ARRAYS):
        filled = broadcast_to(fill_value, as_shape(shape, "full"))
        return filled if dtype is None else astype(filled, dtype)
    node = as_node(fill_value)
    kind = dtype_of(dtype).kind if dtype is not None else "c"
    if kind not in "cb" and node.dtype.kind == "c" and complex(fill_value).imag:
        raise TypeError(
            f"full: {fill_value} has an imaginary part, and {dtype_of(dtype).name} none; take ad.real of it{at_user()}"
        )
    return _filled("full", shape, complex(fill_value) if node.dtype.kind == "c" else fill_value, dtype or node.dtype)


def empty_like(x: Operand, /, *, dtype: DTypeLike = None, device: Any = None, **others: Never) -> Tensor:
    """The same as zeros_like: a tensor is a value, so it has no undefined elements."""
    if others:
        refuse("empty_like", others)
    on_cpu("empty_like", device)
    return _like(as_node(x), 0, dtype)


def zeros_like(x: Operand, /, *, dtype: DTypeLike = None, device: Any = None, **others: Never) -> Tensor:
    """Zeros of x's shape and dtype."""
    if others:
        refuse("zeros_like", others)
    on_cpu("zeros_like", device)
    return _like(as_node(x), 0, dtype)


def ones_like(x: Operand, /, *, dtype: DTypeLike = None, device: Any = None, **others: Never) -> Tensor:
    """Ones of x's shape and dtype."""
    if others:
        refuse("ones_like", others)
    on_cpu("ones_like", device)
    return _like(as_node(x), 1, dtype)


def full_like(
    x: Operand, /, fill_value: Any, *, dtype: DTypeLike = None, device: Any = None, **others: Never
) -> Tensor:
    """One number repeated in x's shape and dtype (a tensor or a list is broadcast, with its gradient)."""
    if others:
        refuse("full_like", others)
    on_cpu("full_like", device)
    node = as_node(x)
    if isinstance(fill_value, ARRAYS):
        return astype(broadcast_to(as_node(fill_value, node.dtype), node.shape), dtype or node.dtype)
    return _like(node, fill_value, dtype)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike = None,
    device: Any = None,
    **others: Never,
) -> Tensor:
    """start, start + step, ... below stop (0 to start when stop is left out): int64 for ints, else the default floating.

    Where start or step are tensors with one element, the result is differentiable in them.
    """
    if others:
        refuse("arange", others)
    on_cpu("arange", device)
    if stop is None:
        start, stop = 0, start
    given: list[Any] = [start, stop, step]
    start, stop, step = (_number(v) for v in given)
    if step == 0:
        raise ValueError(f"arange: step is zero{at_user()}")
    if builtins.any([isinstance(v, float | np.floating) and not math.isfinite(v) for v in (start, stop, step)]):
        raise ValueError(f"arange: no range from {start} to {stop} by {step}{at_user()}")
    integral = builtins.all(isinstance(v, int) for v in (start, stop, step))
    if builtins.any(isinstance(v, Tensor) and v.requires_grad for v in given):
        places = arange(builtins.max(math.ceil((stop - start) / step), 0))
        spaced = add(given[0], multiply(given[2], places))
        return spaced if dtype is None else astype(spaced, dtype)
    chosen = dtype_of(dtype) if dtype is not None else dtype_of("int64") if integral else default_dtype()
    return wrap(array_node(np.arange(start, stop, step).astype(chosen.dtype), None, False))


def _number(v: Any) -> Any:
    """The value of a tensor where its number decides a shape."""
    return force_array(v.node).item() if isinstance(v, Tensor) and v.size == 1 else v


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: DTypeLike = None,
    device: Any = None,
    endpoint: bool = True,
    **others: Never,
) -> Tensor:
    """num evenly spaced numbers from start to stop, stop included unless `endpoint` is False. Differentiable in both.

    Bounds with axes give that many numbers along a new first axis. An array's dtype is the result's, Python numbers take the
    default; an integer `dtype` rounds down. Raises ValueError for a negative num.
    """
    if others:
        refuse("linspace", others)
    on_cpu("linspace", device)
    if operator.index(num) < 0:
        raise ValueError(f"linspace: num is {num}, which is negative{at_user()}")
    chosen = None if dtype is None else dtype_of(dtype)
    if not (is_scalar(start) and is_scalar(stop)):
        bounds = [x if is_scalar(x) else as_node(x) for x in (start, stop)]
        return composite("linspace", shaping.linspace, *bounds, num, endpoint, chosen)
    chosen = chosen or as_dtype(builtins.complex if isinstance(start + stop, complex) else builtins.float)
    return wrap(array_node(np.linspace(start, stop, num, endpoint=endpoint, dtype=chosen.dtype), None, False))


def eye(
    rows: int,
    columns: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike = None,
    device: Any = None,
    **others: Never,
) -> Tensor:
    """Ones on the k-th diagonal of a matrix of zeros, of shape (rows, columns), or (rows, rows) without columns. The default
    floating dtype unless `dtype` says otherwise. Raises ValueError for a negative number of rows or columns.

    >>> import adjoint as ad
    >>> ad.eye(2, 3, k=1)
    Tensor([[0., 1., 0.],
            [0., 0., 1.]])
    """
    if others:
        refuse("eye", others)
    on_cpu("eye", device)
    chosen = default_dtype() if dtype is None else dtype_of(dtype)
    if rows < 0 or (columns is not None and columns < 0):
        raise ValueError(f"eye: negative size in shape {rows, rows if columns is None else columns}{at_user()}")
    return wrap(array_node(np.eye(rows, columns, k, dtype=chosen.dtype), None, False))


def meshgrid(*arrays: Operand, indexing: str = "xy", **others: Never) -> tuple[Tensor, ...]:
    """Coordinate arrays from 1-d coordinates. indexing: "xy" (the second axis varies first) or "ij"."""
    if others:
        refuse("meshgrid", others)
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', got {indexing!r}{at_user()}")
    nodes = [as_node(x) for x in arrays]
    order = list(range(len(nodes)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    shape = tuple(nodes[i].type.size for i in order)
    grids = []
    for i, x in enumerate(nodes):
        place = order.index(i)
        spread = ops.reshape(x, tuple(x.type.size if j == place else 1 for j in range(len(order))))
        grids.append(wrap(ops.broadcast_to(spread, shape)))
    return tuple(grids)


def tril(x: Operand, /, *, k: int = 0, **others: Never) -> Tensor:
    """The part on and below the k-th diagonal of the last two axes; zeros above."""
    if others:
        refuse("tril", others)
    return composite("tril", shaping.triangle, as_node(x), k, False)


def triu(x: Operand, /, *, k: int = 0, **others: Never) -> Tensor:
    """The part on and above the k-th diagonal of the last two axes; zeros below."""
    if others:
        refuse("triu", others)
    return composite("triu", shaping.triangle, as_node(x), k, True)


def one_hot(x: Operand, /, num_classes: int, *, dtype: DTypeLike = None) -> Tensor:
    """1 at the position that each integer names along a new last axis, 0 elsewhere (all 0 for one out of range)."""
    chosen = default_dtype() if dtype is None else dtype_of(dtype)
    return composite("one_hot", shaping.one_hot, as_node(x), num_classes, chosen)


if not TYPE_CHECKING:
    __all__ = functions_of(globals())
