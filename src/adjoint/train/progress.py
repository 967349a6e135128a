"""What is shown while training: a bar on a terminal, lines of text elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol

from adjoint import _optional

__all__ = ["BarProgress", "LineProgress", "NoProgress", "Progress", "make_progress"]

REFRESH = 0.1  # seconds between two pictures of the bar


class Progress(Protocol):
    """What `fit` tells about its work."""

    def start(self, epoch: int, epochs: int, steps: int | None) -> None:
        """An epoch of so many steps begins; epochs count from 1."""

    def advance(self, loss: float) -> None:
        """A step is done."""

    def line(self, text: str) -> None:
        """Something to keep on the screen, such as the outcome of an epoch."""

    def close(self) -> None:
        """The work is over."""


class LineProgress:
    """One line for each epoch and nothing in between: for logs and pipes."""

    def start(self, epoch: int, epochs: int, steps: int | None) -> None:
        """Show nothing."""

    def advance(self, loss: float) -> None:
        """Show nothing."""

    def line(self, text: str) -> None:
        """Print the text."""
        print(text, flush=True)

    def close(self) -> None:
        """Show nothing."""


class NoProgress(LineProgress):
    """Nothing at all: for the processes that leave it to another one to speak."""

    def line(self, text: str) -> None:
        """Show nothing."""


class BarProgress:
    """A bar at the bottom of the terminal with the smoothed loss, drawn by rich; lines scroll above it."""

    def __init__(self, rich: Any) -> None:
        self._bar = rich.Progress(
            rich.TextColumn("{task.description}"),
            rich.BarColumn(bar_width=None),
            rich.TextColumn("loss {task.fields[loss]}"),
            rich.TextColumn("{task.fields[rate]}"),
            rich.TimeRemainingColumn(compact=True),
            auto_refresh=False,  # a thread that draws would take time from the training; `advance` draws now and then
            transient=True,
            expand=True,
        )
        self._task: Any = None
        self._steps = 0
        self._loss = 0.0
        self._drawn = self._started = time.perf_counter()

    def start(self, epoch: int, epochs: int, steps: int | None) -> None:
        """Put up the bar, at zero."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._bar.start()
        width = len(str(epochs))
        description = f"epoch {epoch:>{width}}/{epochs}"
        self._task = self._bar.add_task(description, total=steps, loss="", rate="")
        self._steps = 0
        self._started = time.perf_counter()

    def advance(self, loss: float) -> None:
        """Move the bar, and draw it if it's time."""
        self._steps += 1
        # An average over about fifty steps, over fewer at the start.
        self._loss += (loss - self._loss) / min(self._steps, 50)
        now = time.perf_counter()
        if now - self._drawn < REFRESH:
            return
        self._drawn = now
        rate = f"{self._steps / (now - self._started):,.0f} steps/s"
        self._bar.update(self._task, completed=self._steps, loss=f"{self._loss:.4g}", rate=rate, refresh=True)

    def line(self, text: str) -> None:
        """Print the text above the bar."""
        self._bar.console.print(text, markup=False, highlight=False)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()


def make_progress(wanted: bool | None = None) -> Progress:
    """A bar if one is wanted (None: if standard output is a terminal) and rich is installed, else lines."""
    rich = None
    if wanted or (wanted is None and sys.stdout.isatty()):
        rich = _optional.try_load("rich.progress")
    return LineProgress() if rich is None else BarProgress(rich)
