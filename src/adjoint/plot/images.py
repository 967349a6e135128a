"""Pictures of images, alone or with what a network says about them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .figures import COLORS, INK, MUTED, finish, new_figure

__all__ = ["gallery", "predictions"]


def gallery(images: Any, path: str | os.PathLike[str] | None = None, *, columns: int = 8, title: str = "Images") -> Any:
    """Images (N, height, width) side by side, row by row, light on dark; numbers below 0 and above 1 are cut off.

    Gives the matplotlib figure, and writes it to `path` if there is one. Raises ValueError for arrays of other shapes,
    ImportError without matplotlib.
    """
    images = np.asarray(images)
    if images.ndim != 3 or not len(images):
        raise ValueError(f"plot.gallery: images must be (N, height, width), not {images.shape}")
    columns = min(columns, len(images))
    rows = -(-len(images) // columns)
    height, width = images.shape[1:]
    sheet = np.ones((rows * (height + 1) - 1, columns * (width + 1) - 1))
    for number, image in enumerate(images):
        top, left = (number // columns) * (height + 1), (number % columns) * (width + 1)
        sheet[top : top + height, left : left + width] = image
    figure = new_figure(0.7 * columns, 0.7 * rows * height / width + 0.5)
    figure.suptitle(title, x=0.02, ha="left", fontsize=12, fontweight="bold", color=INK)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.imshow(sheet, cmap="gray", interpolation="nearest", vmin=0, vmax=1)
    return finish(figure, path)


def predictions(
    images: Any,
    predicted: Any,
    labels: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    confidence: Any = None,
    names: Sequence[str] | None = None,
    columns: int = 8,
    title: str = "Predictions",
) -> Any:
    """A gallery of images (N, height, width) with the class predicted for each.

    `predicted` and `labels` are N class numbers, `names` what to call the classes; where a label differs from the
    prediction, it is shown in red. `confidence` holds N probabilities. Gives the matplotlib figure, and writes it to
    `path` if there is one. Raises ValueError when the lengths differ or there are no images, ImportError without
    matplotlib.
    """
    images, predicted = np.asarray(images), np.asarray(predicted)
    truth = predicted if labels is None else np.asarray(labels)
    if images.ndim != 3 or not len(images) or predicted.shape != images.shape[:1] or truth.shape != predicted.shape:
        raise ValueError(
            "plot.predictions: images must be (N, height, width) with N classes predicted and N labels; "
            f"their shapes are {images.shape}, {predicted.shape} and {truth.shape}"
        )
    columns = min(columns, len(images))
    longest = max(len(_name(number, names)) for number in np.unique(np.concatenate([predicted, truth])))
    rows = -(-len(images) // columns)
    figure = new_figure(1.05 * columns, 1.3 * rows + 0.5)
    figure.suptitle(title, x=0.02, ha="left", fontsize=12, fontweight="bold", color=INK)
    for position, axes in enumerate(figure.subplots(rows, columns, squeeze=False).flat):
        axes.set_axis_off()
        if position >= len(images):
            continue
        axes.imshow(images[position], cmap="gray_r", interpolation="nearest")
        wrong = predicted[position] != truth[position]
        name = _name(predicted[position], names)
        # A long name leaves no room beside it, and little in its line.
        between = " " if longest < 3 else "\n"
        text = f"{name}{between}(is {_name(truth[position], names)})" if wrong else name
        size = 11 if longest < 3 else 8
        axes.set_title(text, fontsize=size, fontweight="bold", color=COLORS[4] if wrong else INK, pad=3)
        if confidence is not None:
            share = f"{100 * float(np.asarray(confidence)[position]):.0f} %"
            axes.text(0.5, -0.03, share, transform=axes.transAxes, fontsize=8, color=MUTED, ha="center", va="top")
    return finish(figure, path)


def _name(number: Any, names: Sequence[str] | None) -> str:
    return str(number) if names is None else names[int(number)]
