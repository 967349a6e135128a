"""Memory of large arrays: where those inside a plan lie, offsets into one block that are reused once nothing reads an array any
more; and pages that come back when nobody sees a result any more, whose touching anew would cost more than most plans do."""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import heapq
import mmap
import sys
import tracemalloc
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from adjoint.shapes import Shape

Array = np.ndarray[Any, Any]

ALIGNMENT = 64
SLACK = 64  # bytes between arrays, so that their starts don't all fall on the same cache sets


class Lifetime(NamedTuple):
    """An array's size in bytes, and the first and last unit that uses it."""

    key: Hashable
    size: int
    first: int
    last: int


def place(lifetimes: list[Lifetime]) -> tuple[dict[Hashable, int], int]:
    """An offset for each array, and the size of the block. Arrays that live at the same time don't overlap. Each takes the
    smallest free place that is large enough."""
    free = _Free()
    offsets: dict[Hashable, int] = {}
    total = 0
    alive: list[tuple[int, int, int]] = []  # (last, offset, size), a heap
    for item in sorted(lifetimes, key=lambda item: item.first):
        while alive and alive[0][0] < item.first:
            free.give(*heapq.heappop(alive)[1:])
        size = -(-item.size // ALIGNMENT) * ALIGNMENT + SLACK
        offset = free.take(size)
        if offset is None:
            offset = total
            total += size
        offsets[item.key] = offset
        heapq.heappush(alive, (item.last, offset, size))
    return offsets, total


class _Free:
    """Free places; those side by side are one."""

    def __init__(self) -> None:
        self.by_size: list[tuple[int, int]] = []  # (size, offset), in order
        self.sizes: dict[int, int] = {}  # by where a place starts
        self.starts: dict[int, int] = {}  # by where it ends

    def give(self, offset: int, size: int) -> None:
        before, behind = self.starts.get(offset), self.sizes.get(offset + size)
        if behind is not None:
            self.remove(behind, offset + size)
            size += behind
        if before is not None:
            self.remove(offset - before, before)
            offset, size = before, size + offset - before
        bisect.insort(self.by_size, (size, offset))
        self.sizes[offset], self.starts[offset + size] = size, offset

    def remove(self, size: int, offset: int) -> None:
        del self.by_size[bisect.bisect_left(self.by_size, (size, offset))]
        del self.sizes[offset], self.starts[offset + size]

    def take(self, size: int) -> int | None:
        """Where the smallest place of at least this size starts; what it has more stays free."""
        k = bisect.bisect_left(self.by_size, (size, 0))
        if k == len(self.by_size):
            return None
        whole, offset = self.by_size[k]
        self.remove(whole, offset)
        if whole > size:
            self.give(offset + size, whole - size)
        return offset


def _tracer() -> tuple[Callable[..., int], Callable[..., int]] | None:
    """What tells tracemalloc of memory that Python didn't allocate; None where Python has no such functions."""
    try:
        track, untrack = ctypes.pythonapi.PyTraceMalloc_Track, ctypes.pythonapi.PyTraceMalloc_Untrack
    except AttributeError:
        return None
    track.argtypes, untrack.argtypes = (
        (ctypes.c_uint, ctypes.c_void_p, ctypes.c_size_t),
        (ctypes.c_uint, ctypes.c_void_p),
    )
    return track, untrack


_trace = _tracer()
TRACED_AS = 0xAD901  # tracemalloc's domain for this memory


def _in_use(address: int, nbytes: int) -> None:
    """Tell tracemalloc, while it listens, that memory is in use. What only waits to be used again is not."""
    if _trace is not None and tracemalloc.is_tracing():
        _trace[0](TRACED_AS, address, nbytes)


def _not_in_use(address: int, trace: Any = _trace, is_tracing: Callable[[], bool] = tracemalloc.is_tracing) -> None:
    if trace is not None and is_tracing():
        trace[1](TRACED_AS, address)


# Python's mmap shares memory with the children of a fork unless it is told not to.
PRIVATE: dict[str, int] = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


class Pages:
    """Fresh memory from the system, in large pages where it has them: each first touch of a page costs."""

    __slots__ = ("address", "array", "nbytes")

    def __init__(self, size: int) -> None:
        try:
            memory = mmap.mmap(-1, size, **PRIVATE)
        except (OSError, OverflowError) as error:
            raise MemoryError(f"the system has no {size:,} bytes left") from error
        if size >= 1 << 22 and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):
                memory.madvise(mmap.MADV_HUGEPAGE)
        self.array = np.frombuffer(memory, np.uint8)
        self.address = address(self.array)
        self.nbytes = size


# Addresses ------------------------------------------------------------------------------------------------------------


def _data_field() -> int | None:
    """Where in a NumPy array object the address of its data stands; None where that can't be made out."""
    samples = [np.empty(n + 1) for n in range(4)]
    for offset in range(16, 64, 8):
        if all(_at(id(x) + offset).value == x.ctypes.data for x in samples):
            return offset
    return None


_at = ctypes.c_void_p.from_address
DATA_FIELD = _data_field() if sys.implementation.name == "cpython" else None


def _address_asked(array: Array) -> int:
    """The address of an array's first element."""
    return int(array.__array_interface__["data"][0])


def _address_read(array: Array) -> int:
    """The address of an array's first element, read from the array object: NumPy takes ten times as long to say it."""
    return _at(id(array) + DATA_FIELD).value or 0  # type: ignore[operator]


address = _address_asked if DATA_FIELD is None else _address_read


# Memory that comes back ------------------------------------------------------------------------------------------------

SPARE = 4  # blocks that wait for the next run, of whichever plan
MOST_SPARE = 1 << 28  # bytes of blocks that wait, together; touching fresh pages takes longer than most plans do
LEASED_FROM = 1 << 17  # bytes: smaller arrays are NumPy's own
MOST_RETURNED = 1 << 27  # bytes of results that came back and wait to be given out again
_spare: list[Array] = []
_returned: deque[Pages] = deque()  # the oldest first


def whole_pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE


def take(size: int) -> Array:
    """A block of at least `size` bytes for one run. Pages that were touched before cost nothing to touch again."""
    block = _fitting(size)
    if block is None:
        block = Pages(whole_pages(max(size, 1 << 16))).array
    _in_use(address(block), size)
    return block


def _fitting(size: int) -> Array | None:
    """A spare block that is large enough."""
    small = []
    found = None
    while found is None:
        try:
            block = _spare.pop()
        except IndexError:
            break
        if block.nbytes >= size:
            found = block
        else:
            small.append(block)
    _spare.extend(small)
    return found


def give_back(block: Array) -> None:
    """Keep a block for another run."""
    _not_in_use(address(block))
    _spare.append(block)
    if len(_spare) > SPARE or sum([spare.nbytes for spare in _spare[:]]) > MOST_SPARE:
        blocks = []
        with contextlib.suppress(IndexError):
            while True:
                blocks.append(_spare.pop())
        room = MOST_SPARE
        for spare in sorted(blocks, key=lambda spare: spare.nbytes, reverse=True)[:SPARE]:
            if spare.nbytes <= room:
                room -= spare.nbytes
                _spare.append(spare)


def _come_back(
    pages: Pages,
    returned: deque[Pages] = _returned,
    note: Callable[[int], None] = _not_in_use,
    most: int = MOST_RETURNED,
) -> None:
    """Let memory wait for the next result. All that it needs it holds: at the process's end the module's names are gone."""
    note(pages.address)
    returned.append(pages)
    excess = sum([waiting.nbytes for waiting in list(returned)]) - most
    while excess > 0:
        try:
            excess -= returned.popleft().nbytes
        except IndexError:  # another thread was faster
            break


class Lease:
    """What a large result lies in. When the array and all its views are gone, the memory waits for the next result."""

    __slots__ = ("__array_interface__", "memory", "nbytes")
    lent_once = True  # nothing but the one array made of it sees this memory

    def __init__(self, shape: Shape, dtype: np.dtype[Any], nbytes: int) -> None:
        size = whole_pages(nbytes)
        self.memory = _taken(size) or Pages(size)
        _in_use(self.memory.address, nbytes)
        self.nbytes = nbytes
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (self.memory.address, False),
        }

    def __del__(self, come_back: Callable[[Pages], None] = _come_back) -> None:
        if hasattr(self, "memory"):  # it has none if an interrupt came while it was made
            come_back(self.memory)


def _taken(size: int) -> Pages | None:
    """Memory of this size that came back, if there is some."""
    for pages in list(_returned):
        if pages.nbytes == size:
            try:
                _returned.remove(pages)
            except ValueError:  # another thread was faster
                continue
            return pages
    return None


def new_array(shape: Shape, dtype: np.dtype[Any], nbytes: int) -> Array:
    """An array for a result, not initialized."""
    return np.empty(shape, dtype) if nbytes < LEASED_FROM else np.asarray(Lease(shape, dtype, nbytes))


def compact(value: Any) -> Any:
    """A result as an array to keep: a small view would keep a large array alive."""
    array = value if type(value) is np.ndarray else np.asarray(value)
    if isinstance(array.base, np.ndarray) and (array.base.nbytes > 4 * array.nbytes or 0 in array.strides):
        return array.copy()
    return array


def copied(array: Array, dtype: np.dtype[Any]) -> Array:
    """A row-major copy of another dtype or the same. A large one begins where a cache line does, which native code reads
    faster."""
    nbytes = array.size * dtype.itemsize
    if nbytes < LEASED_FROM:
        return array.astype(dtype, order="C")
    result = new_array(array.shape, dtype, nbytes)
    np.copyto(result, array, casting="unsafe")
    return result
