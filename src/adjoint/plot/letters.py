"""Pictures of text: how sure a model was of each character, what it looks at, which characters it takes for alike."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import _optional

from .figures import COLORS, INK, MUTED, finish, new_axes, new_figure

__all__ = ["attention", "embedding", "text"]

LINE = 80  # characters of a line of text
SHOWN = {" ": "␣", "\n": "↵", "\t": "⇥"}  # for characters that one doesn't see


def text(characters: str, shares: Any, path: str | os.PathLike[str] | None = None, *, title: str = "Text") -> Any:
    """A text in which the ground behind each character tells its share, a number from 0 (orange) to 1 (white).

    `shares` holds one number for each character; where it is NaN the character stands in grey, on white. Lines longer than
    80 characters are broken. Gives the matplotlib figure, and writes it to `path` if there is one. Raises ValueError for
    an empty text and another number of shares, ImportError without matplotlib.
    """
    shares = np.asarray(shares, float)
    if not characters or shares.shape != (len(characters),):
        raise ValueError(f"plot.text: {len(characters)} characters with shares of the shape {shares.shape}")
    places = _places(characters)
    rows = places[-1][0] + 1
    figure = new_figure(8.5, 0.2 * rows + 1.3)
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=12)
    sheet = np.ones((rows, LINE))
    for (row, column), character, share in zip(places, characters, shares, strict=True):
        if not np.isnan(share):
            sheet[row, column] = share
        if not character.isspace():
            color = MUTED if np.isnan(share) else INK
            axes.text(column, row, character, family="monospace", fontsize=8, color=color, ha="center", va="center",
                      parse_math=False)  # fmt: skip
    ground = axes.imshow(sheet, cmap=_toward_white(), vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    axes.set_axis_off()
    bar = figure.colorbar(ground, ax=axes, orientation="horizontal", shrink=0.3, aspect=30, pad=0.01)
    bar.set_label("the probability that it had", fontsize=8, color=INK)
    bar.ax.tick_params(labelsize=7, color=MUTED, labelcolor=INK)
    bar.outline.set_visible(False)
    return finish(figure, path)


def attention(
    weights: Any, labels: Sequence[str], path: str | os.PathLike[str] | None = None, *, title: str = "Attention"
) -> Any:
    """How much each place of a text (a row) looks at which (a column), for every layer and head.

    `weights` is (layers, heads, L, L), (heads, L, L) or (L, L), and `labels` says what stands at the L places. Darker is
    more; each row's darkest is the same. Gives the matplotlib figure, and writes it to `path` if there is one. Raises
    ValueError when shapes don't fit, ImportError without matplotlib.
    """
    weights = np.asarray(weights, float)
    if not 2 <= weights.ndim <= 4 or not weights.size or weights.shape[-2:] != (len(labels), len(labels)):
        raise ValueError(
            f"plot.attention: weights (layers, heads, L, L) for {len(labels)} labels have the shape {weights.shape}"
        )
    weights = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
    layers, heads, length = weights.shape[:3]
    side = max(1.8, min(0.085 * length + 0.4, 5.0))
    figure = new_figure(side * heads + 0.4, (side + 0.2) * layers + 0.5)
    figure.suptitle(title, x=0.02, ha="left", fontsize=12, fontweight="bold", color=INK)
    names, size = [SHOWN.get(label, label) for label in labels], 72 * (side - 0.4) / length * 0.75
    for position, axes in enumerate(figure.subplots(layers, heads, squeeze=False).flat):
        layer, head = divmod(position, heads)
        shown = weights[layer, head] / weights[layer, head].max(axis=1, keepdims=True).clip(1e-30)
        axes.imshow(shown, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
        axes.set_title(f"layer {layer + 1}, head {head + 1}", fontsize=8, color=INK, pad=3)
        for ticks, put in ((axes.set_xticks, "x"), (axes.set_yticks, "y")):
            ticks(range(length), names, fontsize=min(size, 7), family="monospace", parse_math=False)
            axes.tick_params(axis=put, length=0, pad=1, labelcolor=INK)
        axes.spines[:].set_color("#d5d9dd")
    return finish(figure, path)


def embedding(
    vectors: Any,
    names: Sequence[str],
    path: str | os.PathLike[str] | None = None,
    *,
    groups: Sequence[str] | None = None,
    title: str = "Embedding",
) -> Any:
    """What vectors (N, features) belong to, by its name, at the vector's first two principal components.

    Those are the directions in which the vectors differ most (K. Pearson, 1901); the axes tell which part of all variance
    each has. `groups` says for each what colour it shares with which. Gives the matplotlib figure, and writes it to `path` if
    there is one. Raises ValueError when there are less than two vectors or lengths differ, ImportError without matplotlib.
    """
    vectors = np.asarray(vectors, float)
    kinds = [""] * len(names) if groups is None else list(groups)
    if vectors.ndim != 2 or len(vectors) < 2 or not vectors.shape[1] or not len(vectors) == len(names) == len(kinds):
        raise ValueError(
            f"plot.embedding: vectors (N, features) of at least two have the shape {vectors.shape}, and there are "
            f"{len(names)} names in {len(kinds)} groups"
        )
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    at = np.zeros((len(vectors), 2))
    at[:, : len(sizes)] = (left * sizes)[:, :2]
    at *= np.where(np.abs(at.max(axis=0)) < np.abs(at.min(axis=0)), -1, 1)  # a sign that doesn't hang on the library
    parts = [*(sizes**2 / max((sizes**2).sum(), 1e-300)), 0.0][:2]
    figure = new_figure(7.5, 6.0)
    axes = new_axes(
        figure, title, *[f"component {k + 1}, {100 * part:.0f} % of the variance" for k, part in enumerate(parts)]
    )
    for number, kind in enumerate(dict.fromkeys(kinds)):
        color = COLORS[number % len(COLORS)]
        mine = [k for k, other in enumerate(kinds) if other == kind]
        axes.scatter(at[mine, 0], at[mine, 1], s=90, color=color, alpha=0.12, linewidths=0, label=kind or None)
        for k in mine:
            name = SHOWN.get(names[k], names[k])
            axes.text(
                *at[k], name, color=color, fontsize=10, ha="center", va="center", family="monospace", parse_math=False
            )
    if groups is not None:
        for handle in axes.legend(frameon=False, fontsize=8).legend_handles:
            handle.set_alpha(1)
    return finish(figure, path)


def _places(characters: str) -> list[tuple[int, int]]:
    """The row and the column of each character."""
    places, row, column = [], 0, 0
    for character in characters:
        if column == LINE:
            row, column = row + 1, 0
        places.append((row, column))
        column += 1
        if character == "\n":
            row, column = row + 1, 0
    return places


def _toward_white() -> Any:
    """Colours from orange to white."""
    library = _optional.load("matplotlib.colors", purpose="drawing figures", extra="train")
    return library.LinearSegmentedColormap.from_list("share", [COLORS[1], "white"])
