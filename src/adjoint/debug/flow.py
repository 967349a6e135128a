"""`gradient_flow`: how gradients fare on their way through a network."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.execution import evaluate
from adjoint.plot.figures import COLORS, INK, finish, new_axes, new_figure
from adjoint.tensors.conversion import a
from adjoint.tensors.located import at_user

__all__ = ["Flow", "Layer", "gradient_flow"]

VANISHING, EXPLODING = 1e-4, 1e4  # against the median of the layers


class Layer(NamedTuple):
    """One parameter.

    name            as `named_parameters` gives it
    shape           its shape
    value, gradient the root mean squares of its elements and of their gradients (NaN without a gradient)
    dead, units     how many units (rows of the first axis) have a gradient of exactly zero, of how many
    state           "", "no gradient", "dead", "vanishing", "exploding" or "not finite"
    """

    name: str
    shape: tuple[int, ...]
    value: float
    gradient: float
    dead: int
    units: int
    state: str


class Flow:
    """A table of layers. `str()` gives the text, `plot()` a figure."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = tuple(layers)

    def __str__(self) -> str:
        head = ("parameter", "shape", "value rms", "gradient rms", "ratio", "dead units", "")
        rows = [head]
        for layer in self.layers:
            missing = np.isnan(layer.gradient) and layer.state == "no gradient"
            ratio = layer.gradient / layer.value if layer.value else float("nan")
            rows.append(
                (
                    layer.name, "×".join(map(str, layer.shape)) or "1", f"{layer.value:.3g}",
                    "-" if missing else f"{layer.gradient:.3g}", "-" if missing else f"{ratio:.3g}",
                    f"{layer.dead}/{layer.units}" if layer.units else "-", layer.state,
                )
            )  # fmt: skip
        widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
        lines = []
        for row in rows:
            cells = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
            cells += [cell.rjust(width) for cell, width in zip(row[2:6], widths[2:6], strict=True)]
            lines.append("  ".join([*cells, row[6]]).rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Flow through {len(self.layers)} parameters>"

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """A figure of the gradients' size from the first layer to the last; written to `path` if one is given.

        Raises ImportError without matplotlib (the extra `train`).
        """
        figure = new_figure(8, 4.5)
        axes = new_axes(figure, "Gradient flow", "", "root mean square")
        places = np.arange(len(self.layers))
        for label, color, column in (
            ("gradient", COLORS[0], [x.gradient for x in self.layers]),
            ("value", COLORS[1], [x.value for x in self.layers]),
        ):
            shown = np.array(column, float)
            shown[~(shown > 0) | ~np.isfinite(shown)] = np.nan  # a logarithm has no place for them
            axes.plot(places, shown, "o-", color=color, label=label)
        for place, layer in zip(places, self.layers, strict=True):
            if layer.state:
                axes.annotate(layer.state, (place, 1), xycoords=("data", "axes fraction"), rotation=90, va="top",
                              ha="right", fontsize=8, color=INK)  # fmt: skip
        axes.set_yscale("log")
        axes.set_xticks(places, [x.name for x in self.layers], rotation=45, ha="right", fontsize=8)
        axes.legend(frameon=False)
        return finish(figure, path)


def gradient_flow(model: Any) -> Flow:
    """Print a table of a model's parameters and their gradients after `backward()`, and return it.

    For each parameter: the root mean square of its elements and of its gradient, their ratio, and how many units (rows
    of a matrix) have a gradient of exactly zero: dead for this batch. A layer is vanishing where its gradient is below
    1e-4 of the layers' median, exploding above 1e4 of it. `.plot(path)` draws them.

    model: a Module, or anything with `named_parameters()`. Raises RuntimeError where no parameter has a gradient.

    >>> import adjoint as ad
    >>> model = ad.nn.Sequential(ad.nn.Linear(3, 4), ad.nn.ReLU(), ad.nn.Linear(4, 1))
    >>> model(ad.ones((2, 3))).sum().backward()
    >>> flow = ad.gradient_flow(model)  # doctest: +ELLIPSIS
    parameter  shape  value rms  gradient rms  ratio  dead units
    0.weight   4×3 ...
    >>> [layer.name for layer in flow.layers]
    ['0.weight', '0.bias', '2.weight', '2.bias']
    """
    if not hasattr(model, "named_parameters"):
        raise TypeError(f"gradient_flow: expected a model, got {a(model)}{at_user()}")
    parameters = list(model.named_parameters())
    gradients = [p.grad for _, p in parameters]
    if all(g is None for g in gradients):
        raise RuntimeError(f"gradient_flow: no parameter has a gradient; call loss.backward() first{at_user()}")
    evaluate([t.node for t in [*[p for _, p in parameters], *[g for g in gradients if g is not None]]])
    sizes = [float("nan") if g is None else _size(g.numpy()) for g in gradients]
    finite = [s for s in sizes if np.isfinite(s) and s > 0]
    median = float(np.median(finite)) if finite else 0.0
    layers = []
    for (name, p), g, size in zip(parameters, gradients, sizes, strict=True):
        dead = units = 0
        if g is not None and p.ndim > 1:
            units = p.shape[0]
            dead = int(np.sum(~np.any(g.numpy().reshape(units, -1), axis=1)))
        state = ""
        if g is None:
            state = "no gradient"
        elif not np.isfinite(size):
            state = "not finite"
        elif size == 0:
            state = "dead"
        elif size < VANISHING * median:
            state = "vanishing"
        elif size > EXPLODING * median:
            state = "exploding"
        layers.append(Layer(name, p.shape, _size(p.numpy()), size, dead, units, state))
    flow = Flow(layers)
    sys.stdout.write(f"{flow}\n")
    return flow


def _size(array: Any) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(np.abs(array), dtype=np.float64)))) if array.size else 0.0
