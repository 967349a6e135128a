"""Interpolation, differences and integrals of sampled functions."""

from __future__ import annotations

from typing import Any

from adjoint.arrays.sets import searchsorted
from adjoint.primitives.core import inexact, is_scalar
from adjoint.shapes import normalize_axis
from adjoint.tensors.composing import Operand, as_tensor, as_tensors, scoped
from adjoint.tensors.functions import (
    argsort,
    clip,
    concat,
    cumulative_sum,
    diff,
    isnan,
    remainder,
    reshape,
    result_type,
    sum,
    take,
    where,
)  # fmt: skip
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor

__all__ = ["cumulative_trapezoid", "gradient", "interp", "trapezoid"]


def _floating(x: Any) -> Tensor:
    return wrap(inexact(as_tensor(x).node))


@scoped
def interp(x: Operand, xp: Operand, fp: Operand, /, left: Any = None, right: Any = None, period: Any = None) -> Tensor:
    """The values at x of the straight lines through the points (xp, fp), xp increasing; beyond them `left` and `right`, which
    are the first and the last of fp unless said. With a `period`, xp are points of a circle, in any order.

    Differentiable in x, xp and fp; at a point the slope is that of the line on its right. Raises ValueError where xp and fp
    aren't equally long with one axis, or are empty.

    >>> import adjoint as ad
    >>> ad.interp(ad.tensor([0.5, 1.5]), ad.tensor([0.0, 1.0, 2.0]), ad.tensor([0.0, 10.0, 30.0]))
    Tensor([ 5., 20.])
    """
    t, places, values = (_floating(y) for y in as_tensors(x, xp, fp))
    real = result_type(t, places)
    t, places = t.astype(real), places.astype(real)
    values = values.astype(result_type(real, values))
    if places.ndim != 1 or places.shape != values.shape or not places.size:
        raise ValueError(f"interp: xp and fp are equally long, not {places.shape} and {values.shape}{at_user()}")
    if period is not None:
        t, places = remainder(t, abs(period)), remainder(places, abs(period))
        order = argsort(places)
        places, values = take(places, order), take(values, order)
        places = concat([places[-1:] - abs(period), places, places[:1] + abs(period)])
        values = concat([values[-1:], values, values[:1]])
    first = values[0] if left is None or period is not None else left
    last = values[-1] if right is None or period is not None else right
    n = places.shape[0]
    if n == 1:
        found = t * 0 + values[0]
    else:
        i = clip(searchsorted(places, t, side="right") - 1, 0, n - 2)
        x0, x1, f0, f1 = places[i], places[i + 1], values[i], values[i + 1]
        # where two places are one there is a step: no slope
        width = where(x1 == x0, 1, x1 - x0)
        found = where(t == x1, f1, f0 + (f1 - f0) * ((t - x0) / width))
    found = where(t < places[0], first, where(t > places[-1], last, found))
    return where(isnan(t), t, found)


def _slices(ndim: int, axis: int) -> Any:
    def part(start: int | None, stop: int | None) -> tuple[slice, ...]:
        return (*(slice(None),) * axis, slice(start, stop), *(slice(None),) * (ndim - axis - 1))

    return part


def _along(t: Tensor, axis: int, spacing: Any, edge_order: int) -> Tensor:
    """The derivative along one axis: differences of second order inside, of first or second order at the ends."""
    part, n = _slices(t.ndim, axis), t.shape[axis]
    before, here, after = t[part(None, -2)], t[part(1, -1)], t[part(2, None)]
    if not isinstance(spacing, Tensor) or not spacing.ndim:
        inside = (after - before) / (2 * spacing)
        step = [spacing, spacing]
        ends = [(t[part(1, 2)] - t[part(0, 1)]) / step[0], (t[part(n - 1, n)] - t[part(n - 2, n - 1)]) / step[1]]
        if edge_order == 2:
            ends = [
                (-1.5 * t[part(0, 1)] + 2 * t[part(1, 2)] - 0.5 * t[part(2, 3)]) / spacing,
                (1.5 * t[part(n - 1, n)] - 2 * t[part(n - 2, n - 1)] + 0.5 * t[part(n - 3, n - 2)]) / spacing,
            ]
        return concat([ends[0], inside, ends[1]], axis=axis)
    gaps = reshape(diff(spacing), (-1, *(1,) * (t.ndim - axis - 1)))
    down, up = gaps[:-1], gaps[1:]
    inside = -up / (down * (down + up)) * before + (up - down) / (down * up) * here + down / (up * (down + up)) * after
    h0, h1, m0, m1 = gaps[:1], gaps[1:2], gaps[-2:-1], gaps[-1:]
    ends = [(t[part(1, 2)] - t[part(0, 1)]) / h0, (t[part(n - 1, n)] - t[part(n - 2, n - 1)]) / m1]
    if edge_order == 2:
        ends = [
            -(2 * h0 + h1) / (h0 * (h0 + h1)) * t[part(0, 1)] + (h0 + h1) / (h0 * h1) * t[part(1, 2)]
            - h0 / (h1 * (h0 + h1)) * t[part(2, 3)],
            m1 / (m0 * (m0 + m1)) * t[part(n - 3, n - 2)] - (m0 + m1) / (m0 * m1) * t[part(n - 2, n - 1)]
            + (2 * m1 + m0) / (m1 * (m0 + m1)) * t[part(n - 1, n)],
        ]  # fmt: skip
    return concat([ends[0], inside, ends[1]], axis=axis)


@scoped
def gradient(x: Operand, /, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The derivative of sampled values along axes (None: all): one array for one axis, else a tuple, one for each.

    spacing: one number for all axes, or for each a number or the places of the samples. Central differences inside, one-sided
    ones of `edge_order` 1 or 2 at the ends. (Derivatives of programs are `ad.grad`.) Raises ValueError where an axis is too short
    or spacings don't fit.

    >>> import adjoint as ad
    >>> ad.gradient(ad.tensor([1.0, 2.0, 4.0, 7.0]))
    Tensor([1. , 1.5, 2.5, 3. ])
    """
    t = _floating(x)
    given = axis if isinstance(axis, (tuple, list)) else range(t.ndim) if axis is None else (axis,)
    axes = [normalize_axis(a, t.ndim, "gradient") for a in given]
    steps = list(spacing) if len(spacing) == len(axes) else [spacing[0] if spacing else 1.0] * len(axes)
    if len(spacing) not in (0, 1, len(axes)) or edge_order not in (1, 2):
        raise ValueError(f"gradient: {len(spacing)} spacings for {len(axes)} axes, edge_order {edge_order}{at_user()}")
    found = []
    for a, step in zip(axes, steps, strict=True):
        places = step if is_scalar(step) else as_tensors(t, step)[1]
        if isinstance(places, Tensor) and places.ndim and places.shape != (t.shape[a],):
            raise ValueError(f"gradient: places of shape {places.shape} for axis {a} of shape {t.shape}{at_user()}")
        if t.shape[a] < edge_order + 1:
            raise ValueError(f"gradient: axis {a} of shape {t.shape} is shorter than {edge_order + 1}{at_user()}")
        found.append(_along(t, a, places, edge_order))
    return found[0] if len(found) == 1 else tuple(found)


def _areas(y: Tensor, x: Any, dx: Any, axis: int) -> Tensor:
    """The areas of the trapezoids between neighbours."""
    part = _slices(y.ndim, axis)
    if x is None:
        width = dx
    else:
        places = as_tensors(y, x)[1]
        width = diff(places, axis=axis if places.ndim == y.ndim else -1)
        if places.ndim == 1:
            width = reshape(width, (-1, *(1,) * (y.ndim - axis - 1)))
    return as_tensor(width * (y[part(1, None)] + y[part(None, -1)]) / 2.0)


@scoped
def trapezoid(y: Operand, /, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """The integral along an axis of the straight lines between samples y, dx apart or at the places x.

    >>> import adjoint as ad
    >>> ad.trapezoid(ad.tensor([1.0, 2.0, 3.0]), dx=2.0)
    Tensor(8.)
    """
    t = as_tensor(y)
    place = normalize_axis(axis, t.ndim, "trapezoid")
    return sum(_areas(t, x, dx, place), axis=place)


@scoped
def cumulative_trapezoid(
    y: Operand, /, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: float | None = None
) -> Tensor:
    """The integrals from the first sample to each of the others, as `trapezoid`; with `initial`, that number before them.

    >>> import adjoint as ad
    >>> ad.cumulative_trapezoid(ad.tensor([1.0, 2.0, 3.0]), initial=0)
    Tensor([0. , 1.5, 4. ])
    """
    t = as_tensor(y)
    place = normalize_axis(axis, t.ndim, "cumulative_trapezoid")
    found = cumulative_sum(_areas(t, x, dx, place), axis=place)
    if initial is None:
        return found
    start = found[_slices(t.ndim, place)(0, 1)] * 0 + initial if found.shape[place] else None
    return found if start is None else concat([start, found], axis=place)
