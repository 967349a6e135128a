"""What training leaves behind, and how it is told in text."""

from __future__ import annotations

import dataclasses
import html
import math
from typing import Any

import numpy as np

__all__ = ["Epoch", "History", "describe", "percent", "short"]


@dataclasses.dataclass
class Epoch:
    """What came out of an epoch: its number from 1, its mean loss, what `validate` measured, and the seconds that it took in
    this run (0 where a run before it did the epoch)."""

    number: int
    loss: float
    metrics: dict[str, float]
    seconds: float = 0.0


@dataclasses.dataclass
class History:
    """What `fit` returns: loss and learning rate of every step, the epochs, and how it ended.

    A resumed run has the losses and epochs from before in it, too. `interrupted` says that Ctrl-C ended it,
    `stopped_early` that `early_stopping` did, `resumed_at` at which step it went on (0 for a new run).
    """

    losses: list[float] = dataclasses.field(default_factory=list)
    rates: list[float] = dataclasses.field(default_factory=list)
    epochs: list[Epoch] = dataclasses.field(default_factory=list)
    interrupted: bool = False
    stopped_early: bool = False
    resumed_at: int = 0

    @property
    def seconds(self) -> float:
        """How long the epochs of this run took together."""
        return sum(epoch.seconds for epoch in self.epochs)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        lines = [describe(epoch, len(self.epochs)) for epoch in self.epochs]
        text = "\n".join([f"{len(self.losses):,} steps in {self.seconds:.1f} s", *lines])
        return {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>{_curve(self.losses)}"}

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run goes on from. No times are in it, so that equal runs leave equal bytes."""
        epochs = [{"number": x.number, "loss": x.loss, "metrics": x.metrics} for x in self.epochs]
        return {
            "losses": np.asarray(self.losses, np.float64),
            "rates": np.asarray(self.rates, np.float64),
            "epochs": epochs,
            "stopped_early": self.stopped_early,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Become what `state_dict()` described."""
        self.losses, self.rates = state["losses"].tolist(), state["rates"].tolist()
        self.epochs = [Epoch(**epoch) for epoch in state["epochs"]]
        self.stopped_early = state["stopped_early"]


def _curve(losses: list[float], width: int = 420, height: int = 150) -> str:
    """The losses as a small SVG, on a logarithmic axis where all are positive."""
    finite = [x for x in losses if math.isfinite(x)]
    if len(finite) < 2:
        return ""
    scale = math.log10 if min(finite) > 0 else float
    low, high = scale(min(finite)), scale(max(finite))
    every = max(1, len(losses) // 400)
    points = [
        f"{44 + (width - 52) * i / (len(losses) - 1):.1f},{8 + (height - 30) * (high - scale(x)) / ((high - low) or 1):.1f}"
        for i, x in enumerate(losses)
        if i % every == 0 and math.isfinite(x)
    ]
    texts = [
        (2, 14, short(max(finite))),
        (2, height - 22, short(min(finite))),
        (44, height - 4, f"{len(losses):,} steps"),
    ]
    labels = "".join(f'<text x="{x}" y="{y}" font-size="10" fill="currentColor">{t}</text>' for x, y, t in texts)
    line = f'<polyline points="{" ".join(points)}" fill="none" stroke="#2563a8" stroke-width="1.5"/>'
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="the losses of all steps">{labels}{line}</svg>'


def describe(epoch: Epoch, epochs: int) -> str:
    """An epoch as a line of text: `epoch 3/8  loss 0.0812  test accuracy 97.3 %  2.1 s`."""
    parts = [f"epoch {epoch.number:>{len(str(epochs))}}/{epochs}", f"loss {short(epoch.loss)}"]
    for name, value in epoch.metrics.items():
        parts.append(f"{name} {percent(value)}" if name.endswith("accuracy") else f"{name} {value:.4g}")
    return "  ".join([*parts, f"{epoch.seconds:.1f} s"])


def short(loss: float) -> str:
    """A loss as text: four decimals, or two digits where these would all be zero or too many stand before them."""
    return f"{loss:.4f}" if 1e-3 <= abs(loss) < 1e6 or loss == 0 else f"{loss:.1e}"


def percent(share: float) -> str:
    """A share as text, rounded down so that no 97.49 % passes for 97.5 %."""
    return f"{math.floor(1000 * share + 1e-9) / 10:.1f} %"
