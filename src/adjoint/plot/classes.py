"""How well classes are told apart: decision boundaries, confusion matrices, misclassified examples."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .figures import COLORS, INK, finish, new_axes, new_figure
from .images import predictions

__all__ = ["confusion_matrix", "decision_boundary", "mistakes"]


def decision_boundary(
    predict: Callable[[Any], Any],
    points: Any,
    labels: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    resolution: int = 200,
    names: Sequence[str] | None = None,
    title: str = "Decision boundary",
) -> Any:
    """Which class a model gives to every place of the plane, with the points that it learned from.

    predict: maps an array (N, 2) of float32 to scores: (N, C) for C classes, the largest wins; or (N,) or (N, 1), where
    what is above 0, or True, is class 1. points: (N, 2). labels: N class numbers, or -1 and 1. Gives the matplotlib figure, and
    writes it to `path` if there is one. Raises ValueError for other shapes, ImportError without matplotlib.
    """
    points, labels = np.asarray(points, float), np.asarray(labels)
    if points.ndim != 2 or points.shape[1] != 2 or labels.shape != points.shape[:1] or not len(points):
        raise ValueError(
            f"plot.decision_boundary: points must be (N, 2) with N labels; their shapes are {points.shape}, {labels.shape}"
        )
    kinds = np.unique(labels)
    low, high = points.min(0), points.max(0)
    margin = 0.12 * np.maximum(high - low, 1e-9)
    x, y = (np.linspace(a, b, resolution) for a, b in zip(low - margin, high + margin, strict=True))
    plane = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2).astype(np.float32)
    scores = np.asarray(predict(plane))
    if scores.shape[:1] != plane.shape[:1] or scores.ndim > 2:
        raise ValueError(
            f"plot.decision_boundary: predict gave shape {scores.shape} for {len(plane)} points; expected one row for each"
        )
    scores = scores.reshape(len(plane), -1)
    if scores.dtype == bool:
        scores = np.where(scores, 1.0, -1.0)
    if scores.shape[1] == 1:
        margins, chosen = scores[:, 0], (scores[:, 0] > 0).astype(int)
        order = list(kinds) if len(kinds) == 2 else [0, 1]
    else:
        top = np.sort(scores, 1)
        margins, chosen = top[:, -1] - top[:, -2], scores.argmax(1)
        order = list(range(scores.shape[1]))
    figure = new_figure(6.5, 5.5)
    axes = new_axes(figure, title, "x₀", "x₁")
    axes.grid(visible=False)
    shade = np.zeros((resolution, resolution, 4))
    sure = np.abs(margins) / (np.quantile(np.abs(margins), 0.9) or 1.0)
    for index in range(len(order)):
        where = (chosen == index).reshape(resolution, resolution)
        shade[where, :3] = _rgb(COLORS[index % len(COLORS)])
    shade[..., 3] = (0.12 + 0.3 * np.clip(sure, 0, 1)).reshape(resolution, resolution)
    axes.imshow(shade, extent=(x[0], x[-1], y[0], y[-1]), origin="lower", aspect="auto", interpolation="bilinear")
    # Two classes meet where their scores are equal; of more, each one's region is outlined.
    if scores.shape[1] == 1:
        surfaces = [margins]
    else:
        others = [np.delete(scores, index, 1).max(1) for index in range(len(order))]
        surfaces = [scores[:, index] - others[index] for index in range(len(order))]
    for surface in surfaces[: 1 if len(order) == 2 else None]:
        if surface.min() < 0 < surface.max():
            level = surface.reshape(resolution, resolution)
            axes.contour(x, y, level, levels=[0], colors=[INK], linewidths=1.2)
    for index, kind in enumerate(order):
        own = points[labels == kind]
        name = str(kind) if names is None else names[index]
        axes.scatter(
            *own.T, s=22, color=COLORS[index % len(COLORS)], edgecolor="white", linewidth=0.6, label=name, zorder=3
        )
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), title="class")
    return finish(figure, path)


def _rgb(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def confusion_matrix(
    predicted: Any,
    labels: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    names: Sequence[str] | None = None,
    title: str = "Confusion matrix",
) -> Any:
    """How often each class (row) was taken for each class (column), right ones on the diagonal.

    `predicted` and `labels` are N class numbers from 0. The shade is the share of the row. Gives the matplotlib figure, and
    writes it to `path` if there is one. Raises ValueError where lengths differ, ImportError without matplotlib.
    """
    predicted, labels = np.asarray(predicted), np.asarray(labels)
    if predicted.shape != labels.shape or predicted.ndim != 1 or not len(labels) or labels.dtype.kind not in "iu":
        raise ValueError(
            "plot.confusion_matrix: expected N class numbers predicted and N labels; their shapes are "
            f"{predicted.shape} and {labels.shape}, their dtypes {predicted.dtype} and {labels.dtype}"
        )
    if min(predicted.min(), labels.min()) < 0:
        raise ValueError("plot.confusion_matrix: class numbers count from 0")
    count = int(max(predicted.max(), labels.max(), len(names or ()) - 1)) + 1
    table = np.zeros((count, count), int)
    np.add.at(table, (labels, predicted), 1)
    share = table / np.maximum(table.sum(1, keepdims=True), 1)
    size = 0.48 * count + 1.8
    figure = new_figure(size + 0.4, size)
    share_right = 1000 * int(np.trace(table)) // len(labels) / 10  # rounded down: no 98.97 % passes for 99
    right = f"   {share_right:.1f} % right"
    axes = new_axes(figure, title + right, "predicted", "true class")
    axes.grid(visible=False)
    axes.imshow(np.sqrt(share), cmap="Blues", vmin=0, vmax=1)
    ticks = [str(i) for i in range(count)] if names is None else list(names)
    axes.set_xticks(
        range(count), ticks, rotation=45 if names is not None else 0, ha="right" if names is not None else "center"
    )
    axes.set_yticks(range(count), ticks)
    axes.tick_params(length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    for row, column in zip(*np.nonzero(table), strict=True):
        wrong = row != column
        color = "white" if share[row, column] > 0.45 else COLORS[4] if wrong else INK
        axes.text(column, row, str(table[row, column]), ha="center", va="center", fontsize=8, color=color)
    return finish(figure, path)


def mistakes(
    images: Any,
    predicted: Any,
    labels: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    confidence: Any = None,
    limit: int = 32,
    **options: Any,
) -> Any:
    """The misclassified images, the most confident mistakes first, with what they were taken for and what they are.

    images: (N, height, width); predicted, labels: N class numbers; confidence: N probabilities. The other options are those
    of `predictions`. Raises ValueError where lengths differ or nothing is wrong, ImportError without matplotlib.
    """
    images, predicted, labels = np.asarray(images), np.asarray(predicted), np.asarray(labels)
    if images.ndim != 3 or predicted.shape != images.shape[:1] or labels.shape != predicted.shape:
        raise ValueError(
            "plot.mistakes: images must be (N, height, width) with N classes predicted and N labels; "
            f"their shapes are {images.shape}, {predicted.shape} and {labels.shape}"
        )
    wrong = np.flatnonzero(predicted != labels)
    if not wrong.size:
        raise ValueError("plot.mistakes: every image was classified right")
    sure = None if confidence is None else np.asarray(confidence)
    if sure is not None:
        wrong = wrong[np.argsort(-sure[wrong], kind="stable")]
    shown = wrong[:limit]
    options.setdefault(
        "title", f"{len(wrong)} of {len(labels)} are wrong" + (", the surest first" if sure is not None else "")
    )
    return predictions(
        images[shown],
        predicted[shown],
        labels[shown],
        path,
        confidence=None if sure is None else sure[shown],
        **options,
    )
