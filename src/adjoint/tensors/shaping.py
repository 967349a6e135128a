"""Axes in another order or of other sizes, arrays joined and taken apart, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Never

from adjoint.composites import padding, shaping
from adjoint.graph import Node
from adjoint.primitives.core import is_scalar, ops
from adjoint.shapes import as_shape, broadcast_shapes, resolve_reshape
from adjoint.tensors.composing import (
    Axis,
    Operand,
    as_tensor,
    axis_of,
    composite,
    composites,
    functions_of,
    rearranged,
    refuse,
    refuse_spread,
)
from adjoint.tensors.conversion import as_node, as_nodes
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import force_selection
from adjoint.tensors.tensor import Tensor


def reshape(x: Operand, /, shape: Any, *more: Never, copy: bool | None = None) -> Tensor:
    """The same elements, in row-major order, in another shape; one -1 is filled in. A tensor is a value, so `copy` is for the
    standard's sake: nobody can tell a copy from a view."""
    if more:
        refuse_spread("reshape", "the lengths", (shape, *more))
    return rearranged(lambda n: ops.reshape(n, resolve_reshape(shape, n.type.size)), x)


def permute_dims(x: Operand, /, axes: Sequence[int], *more: Never) -> Tensor:
    """The axes in another order: axis i of the result is axis axes[i] of x."""
    if more:
        refuse_spread("permute_dims", "the axes", (axes, *more))
    return rearranged(lambda n: shaping.permute(n, axes), x)


def matrix_transpose(x: Operand, /) -> Tensor:
    """The last two axes exchanged."""
    return as_tensor(x).mT


def moveaxis(x: Operand, source: Any, destination: Any, /) -> Tensor:
    """Axes moved to other places, the rest in order."""
    return rearranged(lambda n: shaping.moveaxis(n, source, destination), x)


def swapaxes(x: Operand, first: int, second: int, /) -> Tensor:
    """Two axes exchanged."""
    return rearranged(lambda n: shaping.swapaxes(n, first, second), x)


def expand_dims(x: Operand, /, axis: int | tuple[int, ...] = 0, **others: Never) -> Tensor:
    """New axes of size one at places of the result."""
    if others:
        refuse("expand_dims", others)
    return rearranged(lambda n: shaping.expand_dims(n, axis), x)


def squeeze(x: Operand, /, axis: Axis = None, **others: Never) -> Tensor:
    """Without axes of size one: those named, or all. Raises ValueError for one of another size."""
    if others:
        refuse("squeeze", others)
    return rearranged(lambda n: shaping.squeeze(n, axis), x)


def flatten(x: Operand, /, start: int = 0, end: int = -1, **others: Never) -> Tensor:
    """The axes from start to end, both included, merged into one."""
    if others:
        refuse("flatten", others)

    def merged(n: Node) -> Node:
        first, last = (axis_of(a, n) for a in (start, end)) if n.ndim else (0, -1)
        return ops.reshape(n, resolve_reshape((*n.shape[:first], -1, *n.shape[last + 1 :]), n.type.size)
                           if n.type.size else (*n.shape[:first], 0, *n.shape[last + 1 :]))  # fmt: skip

    return rearranged(merged, x)


def broadcast_to(x: Operand, /, shape: Any, *more: Never) -> Tensor:
    """x repeated along new leading axes and axes of size one."""
    if more:
        refuse_spread("broadcast_to", "the lengths", (shape, *more))
    return rearranged(lambda n: ops.broadcast_to(n, as_shape(shape, "broadcast_to")), x)


def broadcast_arrays(*arrays: Operand) -> tuple[Tensor, ...]:
    """The arrays broadcast to their common shape."""
    nodes = [as_node(x) for x in arrays]
    shape = broadcast_shapes("broadcast_arrays", *(x.shape for x in nodes))
    return tuple([wrap(ops.broadcast_to(x, shape)) for x in nodes])


def _in_one_list(name: str, axis: Any) -> None:
    """Raise TypeError where a second array stands in the place of the axis."""
    if isinstance(axis, Tensor):
        raise TypeError(f"{name}: the arrays come in one list: ad.{name}([x, y], axis=0){at_user()}")


def concat(arrays: Sequence[Operand], /, axis: int | None = 0, **others: Never) -> Tensor:
    """Arrays joined along an axis (None: flattened first)."""
    if others:
        refuse("concat", others)
    _in_one_list("concat", axis)
    return composite("concat", shaping.concat, as_nodes(arrays), axis)


def stack(arrays: Sequence[Operand], /, axis: int = 0, **others: Never) -> Tensor:
    """Arrays of one shape joined along a new axis."""
    if others:
        refuse("stack", others)
    _in_one_list("stack", axis)
    return composite("stack", shaping.stack, as_nodes(arrays), axis)


def split(x: Operand, /, sections: Any, axis: int = 0, **others: Never) -> list[Tensor]:
    """Parts along an axis: a number of equal parts, or a list of the indices where parts begin."""
    if others:
        refuse("split", others)
    return composites("split", shaping.split, as_node(x), sections, axis)


def unstack(x: Operand, /, axis: int = 0, **others: Never) -> tuple[Tensor, ...]:
    """The slices along an axis, that axis removed."""
    if others:
        refuse("unstack", others)
    return tuple(composites("unstack", shaping.unstack, as_node(x), axis))


def tile(x: Operand, /, repetitions: Any, *more: Never, **others: Never) -> Tensor:
    """x repeated as a whole along each axis."""
    if more:
        refuse_spread("tile", "the repetitions", (repetitions, *more))
    if others:
        refuse("tile", others)
    return composite("tile", shaping.tile, as_node(x), repetitions)


def repeat(x: Operand, /, repeats: Any, *, axis: int | None = None, **others: Never) -> Tensor:
    """Each element repeated along an axis (None: of the flattened array); repeats is an int or one for each."""
    if others:
        refuse("repeat", others)
    counts = force_selection(repeats.node) if isinstance(repeats, Tensor) else repeats
    return composite("repeat", shaping.repeat, as_node(x), counts, axis)


def flip(x: Operand, /, axis: Axis = None, *more: Never, **others: Never) -> Tensor:
    """The elements in reverse order along axes (None: all)."""
    if more:
        refuse_spread("flip", "the axes", (axis, *more))
    if others:
        refuse("flip", others)
    return composite("flip", shaping.flip, as_node(x), axis)


def roll(x: Operand, /, shift: Any, *, axis: Axis = None, **others: Never) -> Tensor:
    """The elements moved along axes, those beyond the end coming back at the start (None: of the flattened array)."""
    if others:
        refuse("roll", others)
    return composite("roll", shaping.roll, as_node(x), shift, axis)


def pad(
    x: Operand,
    /,
    widths: Any,
    mode: str = "constant",
    *,
    value: Any = 0,
    stat_length: Any = None,
    end_values: Any = 0,
    reflect_type: str = "even",
    **others: Never,
) -> Tensor:
    """x with more elements around it. widths: (before, after) for each axis, or one for all.

    mode, as NumPy has them: "constant" (a value, a tensor with its gradient), "edge", "reflect", "symmetric", "wrap",
    "linear_ramp" (to `end_values`), "maximum", "mean", "median", "minimum" (of `stat_length` elements at each end), "empty"
    (zeros: a tensor has no undefined elements). reflect_type: "even" or "odd". Raises ValueError for another mode.

    >>> import adjoint as ad
    >>> ad.pad(ad.tensor([1.0, 2.0, 3.0]), 2, "reflect")
    Tensor([3., 2., 1., 2., 3., 2., 1.])
    """
    if others:
        refuse("pad", others)
    if mode in ("constant", "empty"):
        return composite("pad", shaping.pad, as_node(x), widths, value if is_scalar(value) else as_node(value))
    known = ("constant", "empty", "linear_ramp", *padding.MIRRORS, *padding.STATISTICS)
    if mode not in known or reflect_type not in ("even", "odd"):
        raise ValueError(
            f"pad: mode is one of {', '.join(known)}, reflect_type 'even' or 'odd', not {mode!r}{at_user()}"
        )
    options = {"even": reflect_type == "even", "length": stat_length, "ends": end_values}
    return composite("pad", lambda node: padding.in_mode(node, widths, mode, **options), as_node(x))


def unfold(x: Operand, /, kernel_size: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1) -> Tensor:
    """Sliding windows of images as columns (im2col): (N, C, H, W) to (N, C * kh * kw, windows).

    Sizes are ints or pairs (height, width). Raises ValueError where the kernel doesn't fit.
    """
    return composite("unfold", shaping.unfold, as_node(x), kernel_size, stride, padding, dilation)


def fold(
    x: Operand, /, output_size: Any, kernel_size: Any, *, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Tensor:
    """Columns added back into images: the adjoint of `unfold`, (N, C * kh * kw, windows) to (N, C, H, W)."""
    return composite("fold", shaping.fold, as_node(x), output_size, kernel_size, stride, padding, dilation)


if not TYPE_CHECKING:
    __all__ = functions_of(globals())
