"""Locks and forks: a thread that holds a lock isn't in the child of a fork that another thread makes, so nobody would ever let
the lock go there. A lock is either renewed in the child, or the fork waits until it is free.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

__all__ = ["forked", "lock", "rlock", "waited_for"]

_locks: WeakSet[Any] = WeakSet()
_others: WeakSet[Any] = WeakSet()  # what has a method `forked`


def lock() -> Any:
    """A `threading.Lock` that is free in the child of a fork. For what a thread may leave half done, and does nothing in that
    could fork."""
    made = threading.Lock()
    _locks.add(made)
    return made


def rlock() -> Any:
    """A `threading.RLock` that is free in the child of a fork, unless the thread that forks holds it."""
    made = threading.RLock()
    _locks.add(made)
    return made


def waited_for() -> Any:
    """A `threading.RLock` for which forks wait: for what must not be left half done. Forks take such locks last made first."""
    made = threading.RLock()
    taken: list[bool] = []  # not by a fork that waited for an import, say, in which this lock was made

    def take() -> None:
        taken.append(made.acquire())

    def let_go() -> None:
        if taken:
            taken.pop()
            made.release()

    _at_fork(before=take, after_in_parent=let_go, after_in_child=let_go)
    return made


def forked(owner: Any) -> None:
    """Have `owner.forked()` called in the child of a fork, as long as the owner lives."""
    _others.add(owner)


def _in_child() -> None:
    for held in list(_locks):
        if not (hasattr(held, "_is_owned") and held._is_owned()):  # of the one thread that is here
            held._at_fork_reinit()
    for owner in list(_others):
        owner.forked()


def _at_fork(**functions: Callable[[], Any]) -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**functions)


_at_fork(after_in_child=_in_child)
