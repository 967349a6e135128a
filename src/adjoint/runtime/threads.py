"""How many threads native code may use. Results never depend on it."""

from __future__ import annotations

import os
import sys

MOST = 256
_chosen: int | None = None


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def get_num_threads() -> int:
    """How many threads an evaluation may use, the caller's included: what `set_num_threads` or the environment variable
    ADJOINT_NUM_THREADS says, else the number of cores that this process may run on. On Windows it is one.
    """
    global _chosen
    if _chosen is None:
        given = os.environ.get("ADJOINT_NUM_THREADS")
        if not given:
            set_num_threads(max(min(usable_cores(), MOST), 1))
        elif given.isdecimal() and 0 < int(given) <= MOST:
            set_num_threads(int(given))
        else:
            raise ValueError(f"ADJOINT_NUM_THREADS must be a number from 1 to {MOST}, got {given!r}")
    assert _chosen is not None
    return _chosen


def set_num_threads(count: int, /) -> None:
    """Let evaluations use up to `count` threads, 1 to 256, the caller's included.

    Results don't depend on it, not in a single bit. Small work is done by one thread anyway. Raises ValueError for another
    number.
    """
    global _chosen
    if isinstance(count, bool) or not isinstance(count, int) or not 0 < count <= MOST:
        raise ValueError(f"set_num_threads takes a whole number from 1 to {MOST}, got {count!r}")
    _chosen = 1 if sys.platform == "win32" else count
