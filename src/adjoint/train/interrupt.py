"""Stopping at a good moment: Ctrl-C ends training after the step at hand."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any, Self

__all__ = ["StopOnInterrupt"]


class StopOnInterrupt:
    """While the block runs, the first Ctrl-C only sets `requested`; the second interrupts as usual.

    Outside of the main thread, where Python delivers no signals, it does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._previous: Any = None
        self._installed = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.signal(signal.SIGINT, self._request)
            self._installed = True
        return self

    def __exit__(self, *exception: object) -> None:
        if self._installed:
            # None stands for a handler that wasn't installed from Python and can't be put back.
            signal.signal(signal.SIGINT, self._previous if self._previous is not None else signal.default_int_handler)
            self._installed = False

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
