"""Ctrl-C, put off while something must not be left half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Uninterrupted:
    """Puts Ctrl-C off until the end.

    Between writing over a leaf and storing the result nothing may intervene; nor inside llvmlite, whose objects pass from
    owner to owner: interrupted between the two, both would free them.
    """

    def __enter__(self) -> None:
        self.before: Any = None
        self.received: list[tuple[int, FrameType | None]] = []
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self.before = handler
                signal.signal(signal.SIGINT, lambda number, frame: self.received.append((number, frame)))

    def __exit__(self, *error: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
            for number, frame in self.received[:1]:
                self.before(number, frame)
