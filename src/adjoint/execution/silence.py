"""What NumPy says of floating-point numbers while a plan runs: nothing, or that an operation was invalid (zero times infinity
among them).

`np.errstate` describes its settings anew each time, which takes as long as several operations on small arrays. These are
described once, where NumPy has them as a context variable.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

import numpy as np

__all__ = ["listening", "quietly"]

P = ParamSpec("P")
T = TypeVar("T")
LISTEN: dict[str, Any] = {"divide": "ignore", "over": "ignore", "under": "ignore", "invalid": "call"}


class _Listener(threading.local):
    """Called by NumPy when an operation was invalid; each thread hears of its own."""

    heard = False

    def __call__(self, kind: str, flag: int) -> None:
        self.heard = True


_listener = _Listener()


def _described() -> tuple[ContextVar[Any], Any, Any] | None:
    """NumPy's variable, and its values for silence and for listening; None where NumPy hasn't them as they are known."""
    umath = getattr(getattr(np, "_core", None), "umath", None)
    variable, describe = [getattr(umath, name, None) for name in ("_extobj_contextvar", "_make_extobj")]
    if not isinstance(variable, ContextVar) or describe is None:
        return None
    before, zeros = variable.get(), np.zeros(2)
    try:
        found = variable, describe(all="ignore"), describe(call=_listener, **LISTEN)
        variable.set(found[1])
        np.divide(zeros, zeros)
        silent = not _listener.heard
        variable.set(found[2])
        np.divide(zeros, zeros)
        return found if silent and _listener.heard else None
    except (TypeError, ValueError, Warning):
        return None
    finally:
        variable.set(before)
        _listener.heard = False


_settings = _described()


def quietly(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """What a function gives, without a word about floating-point numbers."""
    if _settings is None:
        with np.errstate(all="ignore"):
            return function(*arguments, **keywords)
    variable, quiet, _ = _settings
    before = variable.get()
    try:  # an interrupt comes after a call: the setting is put back wherever that is
        variable.set(quiet)
        return function(*arguments, **keywords)
    finally:
        variable.set(before)


def listening(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> tuple[T, bool]:
    """What a function gives, and whether an operation of it was invalid."""
    heard = _listener.heard
    variable, _, setting = _settings or (None, None, None)
    before = None if variable is None else variable.get()
    try:
        _listener.heard = False
        if variable is None:
            with np.errstate(call=_listener, **LISTEN):
                return function(*arguments, **keywords), _listener.heard
        variable.set(setting)
        return function(*arguments, **keywords), _listener.heard
    finally:
        if variable is not None:
            variable.set(before)
        _listener.heard = heard
