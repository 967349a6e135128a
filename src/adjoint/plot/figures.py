"""How the pictures look, and how they get into files.

Figures are made directly, without pyplot: no global state, no window, and they work without a display.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from adjoint import _files, _optional

__all__ = ["COLORS", "INK", "MUTED", "finish", "new_axes", "new_figure"]

# Blue, orange, green, purple, red, brown: told apart by colour-blind eyes too, and by lightness in grey print.
COLORS = ("#2563a8", "#e07b1a", "#2a9d6f", "#8a5bb5", "#c8383a", "#7a5a3c")
INK = "#22262b"
MUTED = "#8b939c"


def new_figure(width: float, height: float) -> Any:
    """An empty `matplotlib.figure.Figure` of this size in inches. Raises ImportError without matplotlib."""
    library = _optional.load("matplotlib.figure", purpose="drawing figures", extra="train")
    return library.Figure(figsize=(width, height), dpi=150, layout="constrained", facecolor="white")


def new_axes(figure: Any, title: str, x_label: str, y_label: str) -> Any:
    """Axes that fill the figure: a light grid, no box, a title at the left."""
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=12)
    axes.set_xlabel(x_label, color=INK)
    axes.set_ylabel(y_label, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(MUTED)
    axes.tick_params(which="both", color=MUTED, labelcolor=INK)
    axes.grid(visible=True, color="#e6e9ec", linewidth=0.8)
    axes.set_axisbelow(True)
    return axes


def finish(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    """Write the figure to `path` if one is given, in the format that its suffix names (PNG without one)."""
    if path is not None:
        kind = Path(path).suffix.lstrip(".") or "png"
        supported = figure.canvas.get_supported_filetypes()
        if kind not in supported:
            raise ValueError(f"a figure can't be written as .{kind}; choose one of {', '.join(sorted(supported))}")
        # Equal figures are equal bytes: without the date, and with names of parts that aren't drawn by chance.
        dates = {"svg": {"Date": None}, "svgz": {"Date": None}, "pdf": {"CreationDate": None}}
        settings = _optional.load("matplotlib", purpose="drawing figures", extra="train").rc_context(
            {"svg.hashsalt": "adjoint"}
        )
        with _files.replacing(path) as file, settings, warnings.catch_warnings():
            # What the font lacks is drawn as a box, which says as much, once.
            warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from", UserWarning)
            figure.savefig(file, format=kind, metadata=dates.get(kind))
    return figure
