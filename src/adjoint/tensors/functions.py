"""The public functions beside the elementwise ones: constructors, reductions, shapes, indexing, products.

Each records the primitives that it is composed from under its own name as a scope. Axes count from the end when
negative; out of bounds is an IndexError, shapes that don't fit a ValueError, dtypes that don't a TypeError, each with
the user's line.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from sys import _getframe
from typing import Any

import numpy as np

from adjoint.composites import indexing, products, reductions, shaping
from adjoint.dtypes import as_dtype, default_dtype, promote
from adjoint.graph import Node, Variable, array_type
from adjoint.primitives import elementwise as _elementwise
from adjoint.primitives.core import cast, full as _full, is_scalar, ops
from adjoint.shapes import as_shape, broadcast_shapes, normalize_axis, resolve_reshape
from adjoint.tensors.elementwise import *  # noqa: F403
from adjoint.tensors.elementwise import Operand, _unary, add, multiply
from adjoint.tensors.located import MISTAKES, at_user, enter_scope, explained, leave_scope
from adjoint.tensors.pending import count_pending, force_array
from adjoint.tensors.conversion import a, array_node, as_node, dtype_of
from adjoint.tensors.gradients import check_differentiable
from adjoint.tensors.named import recorded, wrap
from adjoint.tensors.tensor import Tensor

Axis = int | tuple[int, ...] | None
DTypeLike = Any
Array = np.ndarray[Any, Any]

ARRAYS = (Tensor, np.ndarray, list, tuple)  # what has elements, where a number will do too

_operator: Callable[[Tensor, Any], Tensor]


def _composite(name: str, function: Callable[..., Node], *args: Any) -> Tensor:
    """Call a composite inside a scope of its name."""
    return wrap(_scoped(name, function, args))


def _composites(name: str, function: Callable[..., list[Node]], *args: Any) -> list[Tensor]:
    """Call a composite with several results inside a scope of its name."""
    return [wrap(x) for x in _scoped(name, function, args)]


def _scoped(name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    token = enter_scope(name, _getframe(3))
    try:
        result = function(*args)
    except MISTAKES as error:
        raise explained(error, name, *args) from None
    finally:
        leave_scope(token)
    if isinstance(result, Node) and not result.tracked:
        count_pending(result)
    return result


# Constructors ---------------------------------------------------------------------------------------------------------


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


def asarray(data: Any, *, dtype: DTypeLike = None, copy: bool | None = None) -> Tensor:
    """A tensor from array-like data (Array API). A tensor comes back as it is, cast where `dtype` asks for it.

    copy: None copies writable memory only, False never copies (then changing that memory changes the tensor), True always.
    Raises ValueError if `copy=False` but the dtype must change.
    """
    chosen = None if dtype is None else dtype_of(dtype)
    if isinstance(data, Tensor) and not copy:
        return data if chosen is None or chosen is data.dtype else wrap(cast(data.node, chosen))
    if copy is False and chosen is not None and getattr(data, "dtype", chosen.dtype) != chosen.dtype:
        raise ValueError(f"asarray: {data.dtype} cannot become {chosen.name} without a copy{at_user()}")
    return wrap(array_node(data, chosen, copy))


def _filled(name: str, shape: Any, value: complex, dtype: DTypeLike) -> Tensor:
    chosen = default_dtype() if dtype is None else dtype_of(dtype)
    kind = chosen.kind
    typed = builtins.bool(value) if kind == "b" else int(value.real) if kind in "iu" else value
    typed = float(value.real) if kind == "f" else complex(value) if kind == "c" else typed
    return wrap(_full(typed, array_type(as_shape(shape, name), chosen)))


def zeros(shape: Any, *, dtype: DTypeLike = None) -> Tensor:
    """Zeros of a shape, in the default floating dtype unless said."""
    return _filled("zeros", shape, 0, dtype)


def ones(shape: Any, *, dtype: DTypeLike = None) -> Tensor:
    """Ones of a shape, in the default floating dtype unless said."""
    return _filled("ones", shape, 1, dtype)


def empty(shape: Any, *, dtype: DTypeLike = None) -> Tensor:
    """The same as zeros: a tensor is a value, so it has no undefined elements."""
    return _filled("empty", shape, 0, dtype)


def full(shape: Any, fill_value: Any, *, dtype: DTypeLike = None) -> Tensor:
    """One number repeated in a shape. Its dtype is that of the number (a tensor or a list is broadcast, with its gradient)."""
    if isinstance(fill_value, ARRAYS):
        filled = broadcast_to(fill_value, as_shape(shape, "full"))
        return filled if dtype is None else astype(filled, dtype)
    node = as_node(fill_value)
    return _filled("full", shape, complex(fill_value) if node.dtype.kind == "c" else fill_value, dtype or node.dtype)


def zeros_like(x: Operand, /, *, dtype: DTypeLike = None) -> Tensor:
    """Zeros of x's shape and dtype."""
    node = as_node(x)
    return _filled("zeros_like", node.shape, 0, dtype or node.dtype)


def ones_like(x: Operand, /, *, dtype: DTypeLike = None) -> Tensor:
    """Ones of x's shape and dtype."""
    node = as_node(x)
    return _filled("ones_like", node.shape, 1, dtype or node.dtype)


def full_like(x: Operand, /, fill_value: Any, *, dtype: DTypeLike = None) -> Tensor:
    """One number repeated in x's shape and dtype (a tensor or a list is broadcast, with its gradient)."""
    node = as_node(x)
    if isinstance(fill_value, ARRAYS):
        return astype(broadcast_to(fill_value, node.shape), dtype or node.dtype)
    return _filled("full_like", node.shape, fill_value, dtype or node.dtype)


def arange(start: float, /, stop: float | None = None, step: float = 1, *, dtype: DTypeLike = None) -> Tensor:
    """start, start + step, ... below stop (0 to start when stop is left out): int64 for ints, else the default floating.

    Where start or step are tensors with one element, the result is differentiable in them.
    """
    if stop is None:
        start, stop = 0, start
    given: list[Any] = [start, stop, step]
    start, stop, step = (_number(v) for v in given)
    if step == 0:
        raise ValueError(f"arange: step is zero{at_user()}")
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


def linspace(start: Any, stop: Any, /, num: int, *, dtype: DTypeLike = None, endpoint: bool = True) -> Tensor:
    """num evenly spaced numbers from start to stop, stop included unless `endpoint` is False. Differentiable in both.

    Bounds with axes give that many numbers along a new first axis. An array's dtype is the result's, Python numbers take the
    default; an integer `dtype` rounds down. Raises ValueError for a negative num.
    """
    if operator.index(num) < 0:
        raise ValueError(f"linspace: num is {num}, which is negative{at_user()}")
    chosen = None if dtype is None else dtype_of(dtype)
    if not (is_scalar(start) and is_scalar(stop)):
        bounds = [x if is_scalar(x) else as_node(x) for x in (start, stop)]
        return _composite("linspace", shaping.linspace, *bounds, num, endpoint, chosen)
    chosen = chosen or as_dtype(builtins.complex if isinstance(start + stop, complex) else builtins.float)
    return wrap(array_node(np.linspace(start, stop, num, endpoint=endpoint, dtype=chosen.dtype), None, False))


def eye(rows: int, columns: int | None = None, /, *, k: int = 0, dtype: DTypeLike = None) -> Tensor:
    """Ones on the k-th diagonal of a matrix of zeros."""
    chosen = default_dtype() if dtype is None else dtype_of(dtype)
    return wrap(array_node(np.eye(rows, columns, k, dtype=chosen.dtype), None, False))


def meshgrid(*arrays: Operand, indexing: str = "xy") -> list[Tensor]:
    """Coordinate arrays from 1-d coordinates. indexing: "xy" (the second axis varies first) or "ij"."""
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
    return grids


def tril(x: Operand, /, *, k: int = 0) -> Tensor:
    """The part on and below the k-th diagonal of the last two axes; zeros above."""
    return _composite("tril", shaping.triangle, as_node(x), k, False)


def triu(x: Operand, /, *, k: int = 0) -> Tensor:
    """The part on and above the k-th diagonal of the last two axes; zeros below."""
    return _composite("triu", shaping.triangle, as_node(x), k, True)


def one_hot(x: Operand, /, num_classes: int, *, dtype: DTypeLike = None) -> Tensor:
    """1 at the position that each integer names along a new last axis, 0 elsewhere (all 0 for one out of range)."""
    chosen = default_dtype() if dtype is None else dtype_of(dtype)
    return _composite("one_hot", shaping.one_hot, as_node(x), num_classes, chosen)


# Elementwise with more than two arguments -----------------------------------------------------------------------------


def where(condition: Operand, x: Operand, y: Operand, /) -> Tensor:
    """x where the condition holds, else y, elementwise with broadcasting.

    A selection, never a product with a mask: what isn't selected has no influence on value or gradient, NaN included.

    >>> import adjoint as ad
    >>> x = ad.variable([-1.0, 4.0])
    >>> ad.where(x > 0, ad.sqrt(x), 0.0).sum().backward()
    >>> x.grad
    Tensor([0.  , 0.25])
    """
    a = x if is_scalar(x) else as_node(x)
    b = y if is_scalar(y) else as_node(y)
    return _unary(lambda c: _elementwise.where(c, a, b), condition)


def clip(x: Operand, /, min: Any = None, max: Any = None) -> Tensor:
    """x limited to [min, max], either of which may be left out. The derivative is 1 at the bounds, 0 outside."""
    low, high = (v if v is None or is_scalar(v) else as_node(v) for v in (min, max))
    return _unary(lambda node: reductions.bounded(node, low, high), x)


def astype(x: Operand, dtype: DTypeLike, /) -> Tensor:
    """x as another dtype. Complex to real keeps the real part; floating to integer cuts the fraction."""
    return _unary(lambda node: cast(node, dtype_of(dtype)), x)


def real(x: Operand, /) -> Tensor:
    """The real part."""
    return _unary(lambda node: _elementwise.real(node) if node.dtype.kind == "c" else node, x)


def imag(x: Operand, /) -> Tensor:
    """The imaginary part; zeros if x is real."""
    return _unary(lambda node: _elementwise.imag(node) if node.dtype.kind == "c" else ops.zeros(node.type), x)


def gelu(x: Operand, /, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function of x (Hendrycks and Gimpel, 2016). approximate: "none" or "tanh"."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is 'none' or 'tanh', got {approximate!r}{at_user()}")
    return _composite("gelu", reductions.gelu if approximate == "none" else reductions.gelu_tanh, as_node(x))


def silu(x: Operand, /) -> Tensor:
    """x times sigmoid(x)."""
    return _composite("silu", reductions.silu, as_node(x))


# Reductions -----------------------------------------------------------------------------------------------------------


def _reduction(name: str, x: Any, axis: Any, keepdims: bool, dtype: DTypeLike = None) -> Tensor:
    node = as_node(x)
    try:
        if axis is None and not keepdims and dtype is None:
            result = getattr(ops, name)(node, tuple(range(node.type.ndim)))
        else:
            result = reductions.reduce(name, node, axis, keepdims, None if dtype is None else as_dtype(dtype))
    except MISTAKES as error:
        raise explained(error, name, node) from None
    return recorded(result, _getframe(2))


def sum(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, dtype: DTypeLike = None) -> Tensor:
    """The sum over axes (None: all). Bools and small integers add up as 64-bit integers, unless `dtype` says otherwise: then
    in that one, wrapping around as it does.

    >>> import adjoint as ad
    >>> ad.sum(ad.ones((2, 3)), axis=0)
    Tensor([2., 2., 2.])
    """
    return _reduction("sum", x, axis, keepdims, dtype)


def prod(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, dtype: DTypeLike = None) -> Tensor:
    """The product over axes (None: all). Its derivatives are right however many elements are zero. dtypes as in `sum`."""
    return _reduction("prod", x, axis, keepdims, dtype)


def max(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The largest element over axes (None: all); NaN where there is one. Ties share the gradient evenly.

    Raises ValueError for an empty range.
    """
    return _reduction("max", x, axis, keepdims)


def min(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The smallest element over axes (None: all); NaN where there is one. Ties share the gradient evenly.

    Raises ValueError for an empty range.
    """
    return _reduction("min", x, axis, keepdims)


def any(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Whether an element over axes (None: all) is nonzero, as bool."""
    return _reduction("any", x, axis, keepdims)


def all(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Whether all elements over axes (None: all) are nonzero, as bool."""
    return _reduction("all", x, axis, keepdims)


def mean(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The mean over axes (None: all). Integers become the default floating dtype."""
    return _composite("mean", reductions.mean, as_node(x), axis, keepdims)


def var(x: Operand, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The variance over axes (None: all): squared deviations summed and divided by (count - correction)."""
    return _composite("var", reductions.var, as_node(x), axis, correction, keepdims)


def std(x: Operand, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The square root of `var`; its derivative is 0 where it is 0."""
    return _composite("std", reductions.std, as_node(x), axis, correction, keepdims)


def norm(x: Operand, /, ord: Any = 2, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The vector norm of order `ord` over axes (None: all); its derivative is 0 where it is 0."""
    if isinstance(ord, ARRAYS):
        raise TypeError(f"norm: ord is a number, got {a(ord)}{at_user()}")
    return _composite("norm", reductions.norm, as_node(x), ord, axis, keepdims)


def count_nonzero(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """How many elements over axes (None: all) are nonzero, as int64."""
    return _composite("count_nonzero", reductions.count_nonzero, as_node(x), axis, keepdims)


def argmax(x: Operand, /, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The index of the first largest element along an axis (None: of the flattened array), as int64."""
    return _composite("argmax", reductions.arg_extreme, "argmax", as_node(x), axis, keepdims)


def argmin(x: Operand, /, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The index of the first smallest element along an axis (None: of the flattened array), as int64."""
    return _composite("argmin", reductions.arg_extreme, "argmin", as_node(x), axis, keepdims)


def logsumexp(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """log(sum(exp(x))) over axes (None: all) without overflow."""
    return _composite("logsumexp", reductions.logsumexp, as_node(x), axis, keepdims)


def softmax(x: Operand, /, axis: int | tuple[int, ...] = -1) -> Tensor:
    """exp(x) divided by its sum over an axis, without overflow."""
    return _composite("softmax", reductions.softmax, as_node(x), axis)


def log_softmax(x: Operand, /, axis: int | tuple[int, ...] = -1) -> Tensor:
    """log(softmax(x)) without overflow or cancellation."""
    return _composite("log_softmax", reductions.log_softmax, as_node(x), axis)


# Scans and order ------------------------------------------------------------------------------------------------------


def cumulative_sum(
    x: Operand, /, axis: int | None = None, *, dtype: DTypeLike = None, include_initial: bool = False
) -> Tensor:
    """Sums of the elements up to each one along an axis; with `include_initial`, a 0 before them. dtypes as in `sum`."""
    return _scan("cumulative_sum", x, axis, include_initial, dtype)


def _scan(name: str, x: Any, axis: int | None, include_initial: bool, dtype: DTypeLike) -> Tensor:
    chosen = None if dtype is None else dtype_of(dtype)
    return _composite(name, reductions.scan, name, as_node(x), axis, include_initial, chosen)


def cumulative_prod(
    x: Operand, /, axis: int | None = None, *, dtype: DTypeLike = None, include_initial: bool = False
) -> Tensor:
    """Products of the elements up to each one along an axis; with `include_initial`, a 1 before them. dtypes as in `sum`."""
    return _scan("cumulative_prod", x, axis, include_initial, dtype)


def sort(x: Operand, /, axis: int = -1, *, descending: bool = False) -> Tensor:
    """The elements in order along an axis; equal ones keep theirs."""
    return _composite("sort", reductions.sort, as_node(x), axis, descending)


def argsort(x: Operand, /, axis: int = -1, *, descending: bool = False) -> Tensor:
    """The indices that sort along an axis, as int64; equal elements keep their order."""
    node = as_node(x)
    return _composite("argsort", lambda: ops.argsort(node, _axis(axis, node), descending))


def diff(x: Operand, /, axis: int = -1, *, n: int = 1) -> Tensor:
    """Differences of neighbours along an axis, n times over."""
    return _composite("diff", reductions.diff, as_node(x), axis, n)


def _axis(axis: int, node: Node) -> int:
    return normalize_axis(axis, node.ndim, "axis")


# Shapes ---------------------------------------------------------------------------------------------------------------


def reshape(x: Operand, /, shape: Any) -> Tensor:
    """The same elements, in row-major order, in another shape; one -1 is filled in."""
    return _unary_shape(lambda n: ops.reshape(n, resolve_reshape(shape, n.type.size)), x)


def _unary_shape(function: Callable[[Node], Node], x: Any) -> Tensor:
    try:
        node = function(as_node(x))
    except MISTAKES as error:
        raise explained(error, _getframe(1).f_code.co_name, x) from None
    return recorded(node, _getframe(2))


def permute_dims(x: Operand, /, axes: Sequence[int]) -> Tensor:
    """The axes in another order: axis i of the result is axis axes[i] of x."""
    return _unary_shape(lambda n: shaping.permute(n, axes), x)


def matrix_transpose(x: Operand, /) -> Tensor:
    """The last two axes exchanged."""
    return as_tensor(x).mT


def moveaxis(x: Operand, source: Any, destination: Any, /) -> Tensor:
    """Axes moved to other places, the rest in order."""
    return _unary_shape(lambda n: shaping.moveaxis(n, source, destination), x)


def swapaxes(x: Operand, first: int, second: int, /) -> Tensor:
    """Two axes exchanged."""
    return _unary_shape(lambda n: shaping.swapaxes(n, first, second), x)


def expand_dims(x: Operand, /, axis: int | tuple[int, ...] = 0) -> Tensor:
    """New axes of size one at places of the result."""
    return _unary_shape(lambda n: shaping.expand_dims(n, axis), x)


def squeeze(x: Operand, /, axis: Axis = None) -> Tensor:
    """Without axes of size one: those named, or all. Raises ValueError for one of another size."""
    return _unary_shape(lambda n: shaping.squeeze(n, axis), x)


def flatten(x: Operand, /, start: int = 0, end: int = -1) -> Tensor:
    """The axes from start to end, both included, merged into one."""

    def merged(n: Node) -> Node:
        first, last = (_axis(a, n) for a in (start, end)) if n.ndim else (0, -1)
        return ops.reshape(n, resolve_reshape((*n.shape[:first], -1, *n.shape[last + 1 :]), n.type.size)
                           if n.type.size else (*n.shape[:first], 0, *n.shape[last + 1 :]))  # fmt: skip

    return _unary_shape(merged, x)


def broadcast_to(x: Operand, /, shape: Any) -> Tensor:
    """x repeated along new leading axes and axes of size one."""
    return _unary_shape(lambda n: ops.broadcast_to(n, as_shape(shape, "broadcast_to")), x)


def broadcast_arrays(*arrays: Operand) -> list[Tensor]:
    """The arrays broadcast to their common shape."""
    nodes = [as_node(x) for x in arrays]
    shape = broadcast_shapes("broadcast_arrays", *(x.shape for x in nodes))
    return [wrap(ops.broadcast_to(x, shape)) for x in nodes]


def concat(arrays: Sequence[Operand], /, axis: int | None = 0) -> Tensor:
    """Arrays joined along an axis (None: flattened first)."""
    return _composite("concat", shaping.concat, [as_node(x) for x in arrays], axis)


def stack(arrays: Sequence[Operand], /, axis: int = 0) -> Tensor:
    """Arrays of one shape joined along a new axis."""
    return _composite("stack", shaping.stack, [as_node(x) for x in arrays], axis)


def split(x: Operand, /, sections: Any, axis: int = 0) -> list[Tensor]:
    """Parts along an axis: a number of equal parts, or a list of the indices where parts begin."""
    return _composites("split", shaping.split, as_node(x), sections, axis)


def unstack(x: Operand, /, axis: int = 0) -> list[Tensor]:
    """The slices along an axis, that axis removed."""
    return _composites("unstack", shaping.unstack, as_node(x), axis)


def tile(x: Operand, /, repetitions: Any) -> Tensor:
    """x repeated as a whole along each axis."""
    return _composite("tile", shaping.tile, as_node(x), repetitions)


def repeat(x: Operand, /, repeats: Any, *, axis: int | None = None) -> Tensor:
    """Each element repeated along an axis (None: of the flattened array); repeats is an int or one for each."""
    counts = repeats.numpy() if isinstance(repeats, Tensor) else repeats
    return _composite("repeat", shaping.repeat, as_node(x), counts, axis)


def flip(x: Operand, /, axis: Axis = None) -> Tensor:
    """The elements in reverse order along axes (None: all)."""
    return _composite("flip", shaping.flip, as_node(x), axis)


def roll(x: Operand, /, shift: Any, *, axis: Axis = None) -> Tensor:
    """The elements moved along axes, those beyond the end coming back at the start (None: of the flattened array)."""
    return _composite("roll", shaping.roll, as_node(x), shift, axis)


def pad(x: Operand, /, widths: Any, *, value: Any = 0) -> Tensor:
    """One number put around x, a tensor with its gradient. widths: (before, after) for each axis, or one for all."""
    return _composite("pad", shaping.pad, as_node(x), widths, value if is_scalar(value) else as_node(value))


def unfold(x: Operand, /, kernel_size: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """Sliding windows of images as columns (im2col): (N, C, H, W) to (N, C * kh * kw, windows).

    Sizes are ints or pairs (height, width). Raises ValueError where the kernel doesn't fit.
    """
    return _composite("unfold", shaping.unfold, as_node(x), kernel_size, stride, padding, dilation)


def fold(
    x: Operand, /, output_size: Any, kernel_size: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Tensor:
    """Columns added back into images: the adjoint of `unfold`, (N, C * kh * kw, windows) to (N, C, H, W)."""
    return _composite("fold", shaping.fold, as_node(x), output_size, kernel_size, stride, padding, dilation)


# Indexing -------------------------------------------------------------------------------------------------------------


def take(x: Operand, indices: Operand, /, axis: int | None = None) -> Tensor:
    """Slices at integer positions along an axis (needed unless x is 1-d)."""
    node = as_node(x)
    if axis is None:
        if node.ndim != 1:
            raise ValueError(f"take: axis is needed for an array of shape {node.shape}{at_user()}")
        axis = 0
    return _composite("take", indexing.take, node, as_node(indices), axis)


def take_along_axis(x: Operand, indices: Operand, /, axis: int = -1) -> Tensor:
    """Elements at integer positions along an axis, the other axes matched one to one."""
    return _composite("take_along_axis", indexing.take_along_axis, as_node(x), as_node(indices), axis)


def scatter_add(x: Operand, indices: Operand, updates: Operand, /, axis: int = 0) -> Tensor:
    """x with updates added at integer positions along an axis; repeated positions add up.

    updates: x's shape with the axis replaced by the shape of the indices, or what broadcasts to it.
    """
    return _composite("scatter_add", indexing.scatter_add, as_node(x), as_node(indices), as_node(updates), axis)


def nonzero(x: Operand, /) -> tuple[Tensor, ...]:
    """The indices of the nonzero elements, an int64 tensor for each axis. Evaluates x: their number is its value."""
    found = np.nonzero(force_array(as_node(x)))
    return tuple(wrap(array_node(i, None, False)) for i in found)


# Products -------------------------------------------------------------------------------------------------------------


def matmul(x: Operand, y: Operand, /) -> Tensor:
    """The matrix product over the last two axes; 1-d operands are vectors, leading axes broadcast.

    Raises ValueError where the inner sizes differ or an operand is 0-d.
    """
    return _composite("matmul", products.matmul, as_node(x), as_node(y))


def dot(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's dot: the sum of products over the last axis of x and the second-to-last of y."""
    return _composite("dot", products.dot, as_node(x), as_node(y))


def vecdot(x: Operand, y: Operand, /, axis: int = -1) -> Tensor:
    """The sum of conj(x) * y over an axis of both, in their common dtype. Axes before it are broadcast, never this one."""
    return _composite("vecdot", products.vecdot, as_node(x), as_node(y), axis)


def outer(x: Operand, y: Operand, /) -> Tensor:
    """All products of an element of x with one of y, both flattened."""
    return _composite("outer", products.outer, as_node(x), as_node(y))


def tensordot(x: Operand, y: Operand, /, *, axes: Any = 2) -> Tensor:
    """The sum of products over axes: the last of x with the first of y (an int), or two lists of axes."""
    return _composite("tensordot", products.tensordot, as_node(x), as_node(y), axes)


def einsum(subscripts: str, /, *operands: Operand) -> Tensor:
    """Einstein summation in NumPy's notation, contracted pairwise from left to right.

    >>> import adjoint as ad
    >>> ad.einsum("ij,j->i", ad.ones((2, 3)), ad.arange(3.0))
    Tensor([3., 3.])
    """
    return _composite("einsum", products.einsum, subscripts, [as_node(x) for x in operands])


def result_type(*arrays: Any) -> Any:
    """The dtype that the arguments promote to."""
    dtypes = [as_node(x).dtype if isinstance(x, (Tensor, np.ndarray)) else dtype_of(x) for x in arrays]
    common = dtypes[0]
    for d in dtypes[1:]:
        common = promote(common, d)
    return common


def as_tensor(x: Operand) -> Tensor:
    """x as a tensor: the same one if it is one."""
    return x if isinstance(x, Tensor) else wrap(as_node(x))
