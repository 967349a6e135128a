"""Keeping the cyclic garbage collector out of the way while many objects are made and no cycles."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MANY = 20_000  # objects made, less those freed


def without_collector(function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """What a function gives, without a cyclic collection on the way: it would look through the new objects again and again,
    and find nothing to free.

    No context manager: an interrupt (Ctrl-C) may come as its code for leaving is entered, and would leave the collector off.
    CPython lets none come between the start of `finally` and the call there.
    """
    enabled = gc.isenabled()
    try:
        gc.disable()
        found = function(*arguments, **keywords)
        if enabled:
            settle()
        return found
    finally:
        if enabled:
            gc.enable()


def settle() -> None:
    """To be called where the collector was off: many objects that are left are there to stay."""
    if gc.get_count()[0] > MANY and not gc.get_freeze_count():
        try:
            gc.freeze()  # they join the oldest at once,
        finally:
            gc.unfreeze()  # and aren't looked through twice on their way there
