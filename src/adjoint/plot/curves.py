"""Curves of training."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .figures import COLORS, MUTED, finish, new_axes, new_figure

__all__ = ["losses", "rates"]


def losses(
    values: Sequence[float] | Mapping[str, Sequence[float]],
    path: str | os.PathLike[str] | None = None,
    *,
    steps_per_epoch: int | None = None,
    accuracy: Sequence[float] | None = None,
    held_out: Sequence[float] | None = None,
    title: str = "Training loss",
) -> Any:
    """The loss of every step, with a smoothed line through it; several curves by name.

    The axis is logarithmic when the values span more than a factor of ten and are all positive. With `steps_per_epoch`
    the steps are counted in epochs; `accuracy` then holds one number from 0 to 1 for each epoch, shown at the right, and
    `held_out` the loss on held-out data after each.
    Gives the matplotlib figure, and writes it to `path` if there is one. Raises ValueError when there is nothing to
    show, ImportError without matplotlib.
    """
    curves = {name: np.asarray(curve, float) for name, curve in _by_name(values).items()}
    if not any(curve.size for curve in curves.values()):
        raise ValueError("plot.losses: there are no losses to show")
    figure = new_figure(7.5, 4.5)
    axes = new_axes(figure, title, "epoch" if steps_per_epoch else "step", "loss")
    for (name, curve), color in zip(curves.items(), COLORS * len(curves), strict=False):
        x = np.arange(1, len(curve) + 1) / (steps_per_epoch or 1)
        smooth = _smoothed(curve)
        if len(curve) > 100:
            axes.plot(x, curve, color=color, alpha=0.22, linewidth=0.7)
        axes.plot(x, smooth, color=color, linewidth=2, label=name or None)
    if held_out is not None and steps_per_epoch:
        epochs = np.arange(1, len(held_out) + 1)
        axes.plot(epochs, held_out, "o-", color=COLORS[1], markersize=4, linewidth=1.4, label="held out")
    every = np.concatenate([*curves.values(), np.asarray([] if held_out is None else held_out, float)])
    every = every[np.isfinite(every)]
    if every.size and every.min() > 0 and every.max() > 10 * every.min():
        axes.set_yscale("log")
        # A few lucky batches would stretch the axis far below the curve that one wants to see.
        low = min(_smoothed(curve).min() for curve in curves.values() if curve.size)
        axes.set_ylim(bottom=max(every.min(), low / 5) * 0.9)
    if accuracy is not None and steps_per_epoch:
        _add_accuracy(axes, accuracy)
    elif any(curves) or held_out is not None:
        axes.legend(frameon=False)
    return finish(figure, path)


def rates(
    values: Sequence[float],
    path: str | os.PathLike[str] | None = None,
    *,
    steps_per_epoch: int | None = None,
    title: str = "Learning rate",
) -> Any:
    """The learning rate of every step; with `steps_per_epoch` the steps are counted in epochs.

    Gives the matplotlib figure, and writes it to `path` if there is one. Raises ValueError when there is nothing to show,
    ImportError without matplotlib.
    """
    curve = np.asarray(values, float)
    if not curve.size:
        raise ValueError("plot.rates: there are no rates to show")
    figure = new_figure(7.5, 3.5)
    axes = new_axes(figure, title, "epoch" if steps_per_epoch else "step", "rate")
    axes.plot(np.arange(1, len(curve) + 1) / (steps_per_epoch or 1), curve, color=COLORS[0], linewidth=2)
    axes.set_ylim(bottom=0)
    return finish(figure, path)


def _by_name(values: Sequence[float] | Mapping[str, Sequence[float]]) -> Mapping[str, Sequence[float]]:
    return values if isinstance(values, Mapping) else {"": values}


def _smoothed(curve: np.ndarray) -> np.ndarray:
    """The mean over a fiftieth of the curve around each point.

    At the start the window shrinks, because the first values fall steeply; at the end it only loses its right half, for
    a last point on its own would tell of one batch's luck.
    """
    half = len(curve) // 100
    sums = np.concatenate([[0.0], np.cumsum(curve)])
    middle = np.arange(len(curve))
    first = middle - np.minimum(half, middle)
    last = np.minimum(middle + np.minimum(half, middle), len(curve) - 1)
    means: np.ndarray = (sums[last + 1] - sums[first]) / (last + 1 - first)
    return means


def _add_accuracy(axes: Any, accuracy: Sequence[float]) -> None:
    right = axes.twinx()
    color = COLORS[1]
    right.plot(
        np.arange(1, len(accuracy) + 1), 100 * np.asarray(accuracy), "o-", color=color, markersize=4, linewidth=1.4
    )
    right.set_ylabel("accuracy, %", color=color)
    right.tick_params(color=MUTED, labelcolor=color)
    right.spines[["top", "left", "bottom"]].set_visible(False)
    right.spines["right"].set_color(MUTED)
    right.margins(y=0.25)
    right.annotate(
        f"{100 * accuracy[-1]:.1f} %",
        (len(accuracy), 100 * accuracy[-1]),
        xytext=(0, 8),
        textcoords="offset points",
        ha="center",
        color=color,
        fontweight="bold",
    )
