"""Memory that holds machine code."""

from __future__ import annotations

import ctypes
import functools
import mmap
from typing import Any

__all__ = ["Mapped", "executable"]

READ_AND_EXECUTE = 5


class Mapped:
    """Functions in memory, alive as long as this object."""

    __slots__ = ("block", "names", "nbytes", "start")

    def __init__(self, block: mmap.mmap, start: int, names: dict[str, int]) -> None:
        self.block = block
        self.start = start
        self.names = names
        self.nbytes = len(block)

    def address(self, name: str) -> int:
        """Where a function is; 0 where there is none."""
        offset = self.names.get(name)
        return 0 if offset is None else self.start + offset


def executable(contents: bytes, names: dict[str, int]) -> Mapped | None:
    """A block of memory with these contents, in which functions begin at these places: it can be executed, and no longer be
    written. None where the system lets none be."""
    size = -(-len(contents) // mmap.PAGESIZE) * mmap.PAGESIZE
    try:
        block = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE)
    except (AttributeError, OSError, ValueError):
        return None
    block[: len(contents)] = contents
    start = ctypes.addressof(ctypes.c_char.from_buffer(block))
    return Mapped(block, start, names) if _protect()(start, size, READ_AND_EXECUTE) == 0 else None


@functools.cache
def _protect() -> Any:
    """The system's call that says what may be done with memory: (start, bytes, what)."""
    function = ctypes.CDLL(None).mprotect
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function
