"""Ctrl-C and other signals, put off while something must not be left half done."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]

# What the module `signal` wraps, with names of numbers: to make them and to look for them takes ten times as long.
_signals: Any = importlib.import_module("_signal")

NUMBERS = tuple(
    [
        int(getattr(_signals, name))
        for name in "SIGINT SIGTERM SIGALRM SIGVTALRM SIGPROF SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGBREAK".split()
        if hasattr(_signals, name)
    ]
)


class Uninterrupted:
    """Puts the handlers of signals off until the end.

    Between writing over a leaf and storing the result nothing may intervene; nor inside llvmlite, whose objects pass from
    owner to owner: interrupted between the two, both would free them.
    """

    def __enter__(self) -> None:
        self.over = False
        self.before: dict[int, Handler] = {}
        self.received: dict[int, FrameType | None] = {}
        if threading.current_thread() is not threading.main_thread():
            return  # handlers run in the main thread
        try:
            for number in NUMBERS:
                handler = _signals.getsignal(number)
                if callable(handler):
                    self.before[number] = handler
                    _signals.signal(number, self.receive)
        except BaseException:  # of a signal not yet put off
            self.end()
            raise

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """Give the handlers back, and call those whose signals have come."""
        self.over = True  # from here on a handler that couldn't be given back is called all the same
        try:
            self.give_back()
        except BaseException:  # of a handler that was called meanwhile
            self.give_back()
            raise
        finally:
            self.deliver()

    def give_back(self) -> None:
        """Put the handlers where they were."""
        for number, handler in self.before.items():
            _signals.signal(number, handler)

    def deliver(self) -> None:
        """Call the handlers whose signals have come, the others too where one raises."""
        if self.received:
            number, frame = self.received.popitem()
            try:
                self.before[number](number, frame)
            finally:
                self.deliver()

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Stands in for the handlers."""
        if self.over:
            self.before[number](number, frame)
        else:
            self.received[number] = frame
