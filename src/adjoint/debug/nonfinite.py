"""`explain_nan`: where the first NaN or infinity comes from."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.debug.numbers import brief, number
from adjoint.derive import expand, reverse
from adjoint.graph import Kept, Node, mode, topological
from adjoint.primitives.core import LEAF, VERSION, ops
from adjoint.tensors.conversion import a
from adjoint.tensors.located import at_user
from adjoint.tensors.named import variable_of
from adjoint.tensors.tensor import Tensor
from adjoint.tensors.text import operation_name

__all__ = ["NanReport", "explain_nan"]


class Masked(NamedTuple):
    """Where zero times infinity was taken as zero: the operation of the chain rule, the place, how many elements."""

    operation: str
    place: str
    elements: int


class NanReport(NamedTuple):
    """What `explain_nan` found.

    direction   "forward", "backward", or None where everything is finite
    operation   the operation that made the first NaN or infinity
    kind        "NaN" or "infinity"
    place       the user's file and line
    operands    the values that it was applied to
    element     where in the result
    masked      where the zero-times-infinity convention acted
    text        all this in words
    """

    direction: str | None
    operation: str
    kind: str
    place: str
    operands: tuple[Any, ...]
    element: tuple[int, ...]
    masked: tuple[Masked, ...]
    text: str

    def __repr__(self) -> str:
        return f"<NanReport: {self.operation or 'all finite'}>"


def explain_nan(y: Tensor) -> NanReport:
    """Print which operation made the first NaN or infinity on the way to y, or else in its reverse pass.

    Says the operation, its operands at the first bad element, the user's file and line, and where the convention that
    zero times infinity is zero in a chain rule kept one from appearing. Computes the graph anew, operation by
    operation; a y with several elements is pulled back with ones. An untracked y that has its value has forgotten its
    graph. Returns what was printed as a report, its words in `report.text`.

    >>> import adjoint as ad
    >>> x = ad.variable([1.0, -1.0], name="x")
    >>> report = ad.explain_nan(ad.log(x).sum())  # doctest: +ELLIPSIS
    The first NaN is made in the forward pass by Log at ...
      element [1]: Log(-1) = nan
    >>> report.operation, report.kind
    ('Log', 'NaN')
    """
    if not isinstance(y, Tensor):
        raise TypeError(f"explain_nan: expected a tensor, got {a(y)}{at_user()}")
    with mode(grad=False):
        roots = expand([y.node])
        values: dict[Node, Any] = {}
        order = topological(roots, lambda n: n.op is not VERSION or n.value is None)
        masked: list[Masked] = []
        problem = _compute(order, values, masked)
        if problem is not None:
            report = _report("forward", problem, values, masked, order)
        else:
            leaves = [n for n in order if n.tracked and n.op in (LEAF, VERSION)]
            root = roots[0]
            if root.tracked and root.type.inexact and leaves:
                one = ops.full(1.0 if root.dtype.kind == "f" else 1 + 0j, root.type)
                found = reverse(roots, [one], leaves)
                back = topological([g for g in found if g is not None], lambda n: n not in values)
                problem = _compute(back, values, masked)
            report = (
                _report("backward", problem, values, masked, order)
                if problem is not None
                else NanReport(None, "", "", "", (), (), tuple(masked), _with_masks("Everything is finite.", masked))
            )
    sys.stdout.write(f"{report.text}\n")
    return report


def _compute(order: Iterable[Node], values: dict[Node, Any], masked: list[Masked]) -> Node | None:
    """Fill in the values in order, up to the first node that is not finite though its inputs are."""
    with np.errstate(all="ignore"):
        for node in order:
            if node in values:
                continue
            value = node.value.array if type(node.value) is Kept else node.value
            if value is None or node.inputs:
                kernel = node.op.kernel(node.attributes, node.type)
                inputs = [values[x] for x in node.inputs]
                value = kernel(*inputs)
                if node.op.masked is not None and not _finite(value):
                    kept = node.op.masked(*inputs)
                    dead = int(np.sum(~np.isfinite(value) & np.isfinite(kept)))
                    if dead:
                        masked.append(Masked(operation_name(node), str(node.origin), dead))
                    value = kept
            values[node] = value
            if not _finite(value):
                return node
    return None


def _finite(value: Any) -> bool:
    parts = value if isinstance(value, tuple) else (value,)
    return all(bool(np.all(np.isfinite(p))) for p in parts if np.asarray(p).dtype.kind in "fc")


def _report(
    direction: str, node: Node, values: dict[Node, Any], masked: list[Masked], forward: Sequence[Node]
) -> NanReport:
    value = values[node]
    part = next(p for p in (value if isinstance(value, tuple) else (value,)) if not _finite(p))
    array = np.asarray(part)
    nans = np.isnan(array)
    kind = "NaN" if nans.any() else "infinity"
    index = tuple(int(i) for i in np.argwhere(nans if nans.any() else ~np.isfinite(array))[0])
    place = str(node.origin)
    at = f"element [{', '.join(map(str, index))}]: " if index else ""
    if not node.inputs:
        name = _name(node)
        text = f"{name} holds {'a NaN' if kind == 'NaN' else 'an infinity'} itself: {at}{number(array[index])}"
        return NanReport(direction, name, kind, place, (), index, tuple(masked), _with_masks(text, masked))
    operation = operation_name(node)
    operands = tuple(values[x] for x in node.inputs)
    shown = ", ".join(_operand(v, index, array.shape) for v in operands)
    where = f"in the {direction} pass by {operation} at {place}"
    if direction == "backward":
        same = [n for n in forward if n.site is node.site and n.offset == node.offset and n.inputs and n.tracked]
        if same:
            where = f"in the reverse pass, in the derivative of {operation_name(same[-1])} at {place}, by {operation}"
    text = f"The first {kind} is made {where}\n  {at}{operation}({shown}) = {number(array[index])}"
    return NanReport(direction, operation, kind, place, operands, index, tuple(masked), _with_masks(text, masked))


def _operand(value: Any, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    array = np.asarray(value)
    if array.shape == shape:
        return number(array[index])
    try:
        return number(np.broadcast_to(array, shape)[index]) if array.ndim <= len(shape) and array.size else brief(array)
    except ValueError:
        return brief(array)


def _with_masks(text: str, masked: Sequence[Masked]) -> str:
    for m in masked:
        text += f"\n  zero times infinity was taken as zero by {m.operation} at {m.place}, in {m.elements} elements"
    return text


def _name(node: Node) -> str:
    variable = variable_of(node)
    named = variable is not None and variable.name is not None
    return variable.name if named else "a variable" if node.tracked else "a constant"  # type: ignore[union-attr, return-value]
