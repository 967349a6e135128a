"""What is inside a network: weights and filters as images, and how activations and gradients are distributed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .figures import COLORS, INK, MUTED, finish, new_figure

__all__ = ["activations", "gradients", "histograms", "weights"]

DIVERGING = "RdBu_r"  # blue below zero, red above, white at zero; told apart by colour-blind eyes


def weights(
    values: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    shape: tuple[int, int] | None = None,
    columns: int = 8,
    limit: int = 64,
    title: str = "Weights",
) -> Any:
    """Weights as images, zero white, negative blue, positive red, all on one scale.

    A matrix (out, in) is one image; with `shape` = (height, width) each of its rows is, such as what each neuron looks for
    in a digit. Filters (out, in, height, width) are an image each (the mean over `in`). Of more than `limit` images the
    first ones are shown. Gives the matplotlib figure, and writes it to `path` if there is one. Raises ValueError for other
    shapes, ImportError without matplotlib.
    """
    array = np.asarray(values, float)
    if array.ndim == 4:
        images = array.mean(1)
    elif array.ndim == 2 and shape is not None and array.shape[1] == shape[0] * shape[1]:
        images = array.reshape(-1, *shape)
    elif array.ndim == 2 and shape is None:
        images = array[None]
    elif array.ndim == 3 and shape is None:
        images = array
    else:
        raise ValueError(
            "plot.weights: expected (out, in), (N, height, width) or (out, in, height, width), or rows that `shape` fits; "
            f"got {array.shape} with shape={shape}"
        )
    if not images.size:
        raise ValueError(f"plot.weights: there is nothing in shape {array.shape}")
    shown = images[:limit]
    columns = min(columns, len(shown))
    rows = -(-len(shown) // columns)
    size = 5.0 if len(shown) == 1 else 1.1
    figure = new_figure(size * columns + 1.0, size * rows + 0.6)
    more = f" (the first {limit} of {len(images)})" if len(images) > limit else ""
    figure.suptitle(title + more, x=0.02, ha="left", fontsize=12, fontweight="bold", color=INK)
    reach = float(np.nanmax(np.abs(images))) or 1.0
    grid = figure.subplots(rows, columns, squeeze=False)
    drawn = None
    for position, axes in enumerate(grid.flat):
        axes.set_axis_off()
        if position < len(shown):
            aspect = "equal" if len(shown) > 1 else "auto"
            drawn = axes.imshow(
                shown[position], cmap=DIVERGING, vmin=-reach, vmax=reach, interpolation="nearest", aspect=aspect
            )
    bar = figure.colorbar(drawn, ax=grid, fraction=0.03, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=MUTED, labelcolor=INK, labelsize=8)
    return finish(figure, path)


def histograms(
    layers: Mapping[str, Any],
    path: str | os.PathLike[str] | None = None,
    *,
    bins: int = 50,
    color: str = COLORS[0],
    title: str = "Distributions",
) -> Any:
    """One histogram for each named array, below each other on one axis, with its mean, deviation and share of zeros.

    Layers that saturate, die or explode show at a glance. Gives the matplotlib figure, and writes it to `path` if there is
    one. Raises ValueError when there is nothing to show, ImportError without matplotlib.
    """
    arrays = {name: np.asarray(values, float).ravel() for name, values in layers.items()}
    finite = {name: values[np.isfinite(values)] for name, values in arrays.items()}
    if not any(values.size for values in finite.values()):
        raise ValueError("plot.histograms: there are no numbers to show")
    every = np.concatenate(list(finite.values()))
    low, high = float(every.min()), float(every.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    figure = new_figure(7.5, 0.95 * len(arrays) + 1.0)
    figure.suptitle(title, x=0.02, ha="left", fontsize=12, fontweight="bold", color=INK)
    grid = figure.subplots(len(arrays), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (name, values) in zip(grid, finite.items(), strict=True):
        axes.hist(values, bins=bins, range=(low, high), color=color, alpha=0.85)
        axes.set_yscale("symlog", linthresh=1)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(MUTED)
        axes.set_yticks([])
        axes.tick_params(color=MUTED, labelcolor=INK, labelsize=9)
        axes.set_ylabel(name, rotation=0, ha="right", va="center", color=INK, fontsize=10)
        axes.text(
            0.995,
            1.0,
            _summary(arrays[name]),
            transform=axes.transAxes,
            ha="right",
            va="bottom",
            fontsize=8,
            color=MUTED,
        )
    return finish(figure, path)


def _summary(values: np.ndarray) -> str:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return "no finite numbers"
    text = f"mean {finite.mean():.2g}   deviation {finite.std():.2g}   zeros {100 * np.mean(finite == 0):.0f} %"
    lost = values.size - finite.size
    return text + (f"   {lost} not finite" if lost else "")


def activations(model: Iterable[Any], x: Any, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    """A histogram of what comes out of each layer of a sequence of modules (`nn.Sequential`) for a batch x.

    The other options are those of `histograms`. Raises TypeError for a model that isn't a sequence.
    """
    if not isinstance(model, Iterable):
        raise TypeError(
            f"plot.activations: {type(model).__name__} isn't a sequence of layers; collect its activations by name and "
            "give them to plot.histograms"
        )
    found: dict[str, Any] = {}
    for position, layer in enumerate(model):
        x = layer(x)
        found[f"{position} {type(layer).__name__}"] = np.asarray(x)
    options.setdefault("title", "Activations")
    return histograms(found, path, **options)


def gradients(model: Any, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    """A histogram of the gradient of each parameter of a module, after `backward()`.

    The other options are those of `histograms`. Raises ValueError if no parameter has a gradient.
    """
    found = {name: np.asarray(p.grad) for name, p in model.named_parameters() if p.grad is not None}
    if not found:
        raise ValueError("plot.gradients: no parameter has a gradient; call backward() on a loss first")
    options.setdefault("title", "Gradients")
    options.setdefault("color", COLORS[4])
    return histograms(found, path, **options)
