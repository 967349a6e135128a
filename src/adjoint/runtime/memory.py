"""Memory of large arrays: where those inside a plan lie, offsets into one block that are reused once nothing reads an array any
more; and pages that come back when nobody sees a result any more, whose touching anew would cost more than most plans do."""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import heapq
import importlib
import itertools
import mmap
import os
import sys
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from adjoint._references import reference_counts
from adjoint._tuples import NamedTuple
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
    for key, nbytes, first, last in sorted(lifetimes, key=itemgetter(2)):
        while alive and alive[0][0] < first:
            _, offset, size = heapq.heappop(alive)
            free.give(offset, size)
        size = -(-nbytes // ALIGNMENT) * ALIGNMENT + SLACK
        found = free.take(size)
        if found is None:
            found = total
            total += size
        offsets[key] = found
        heapq.heappush(alive, (last, found, size))
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
        whole, offset = self.by_size.pop(k)
        del self.sizes[offset], self.starts[offset + whole]
        if whole > size:  # the rest has no neighbours that are free: they would have been one with it
            rest, left = offset + size, whole - size
            bisect.insort(self.by_size, (left, rest))
            self.sizes[rest], self.starts[rest + left] = left, rest
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
is_tracing: Callable[[], bool] = importlib.import_module("_tracemalloc").is_tracing  # `tracemalloc` is more than that
TRACED_AS = 0xAD901  # tracemalloc's domain for this memory


def _in_use(address: int, nbytes: int) -> None:
    """Tell tracemalloc, while it listens, that memory is in use. What only waits to be used again is not."""
    if _trace is not None and is_tracing():
        _trace[0](TRACED_AS, address, nbytes)


def _not_in_use(address: int, trace: Any = _trace, is_tracing: Callable[[], bool] = is_tracing) -> None:
    if trace is not None and is_tracing():
        trace[1](TRACED_AS, address)


# Python's mmap shares memory with the children of a fork unless it is told not to.
PRIVATE: dict[str, int] = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


class Pages:
    """Fresh memory from the system, in large pages where it has them: each first touch of a page costs."""

    __slots__ = ("address", "array", "memory", "nbytes", "since")

    def __init__(self, size: int) -> None:
        try:
            memory = mmap.mmap(-1, size, **PRIVATE)
        except (OSError, OverflowError) as error:
            raise MemoryError(f"the system has no {size:,} bytes left") from error
        if size >= LARGE_PAGES and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):
                memory.madvise(mmap.MADV_HUGEPAGE)
        self.memory = memory
        self.array = np.frombuffer(memory, np.uint8)
        self.address = address(self.array)
        self.nbytes = size
        self.since = 0  # when it came back, in memory that came back


# Addresses ------------------------------------------------------------------------------------------------------------


def _collapsing() -> Callable[[int, int], Any] | None:
    """What makes large pages of the memory from an address on; None where the system can't. One that refuses changes nothing."""
    if sys.platform != "linux":
        return None
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return lambda start, size: madvise(start, size, MADV_COLLAPSE)


MADV_COLLAPSE = 25  # since Linux 6.1
LARGE_PAGES = 1 << 22  # bytes that are worth asking for large pages
_collapse = _collapsing()


def _data_field() -> int | None:
    """Where in a NumPy array object the address of its data stands; None where that can't be made out."""
    samples = [np.empty(n + 1) for n in range(4)]
    for offset in range(16, 64, 8):
        if all(_at(id(x) + offset).value == x.ctypes.data for x in samples):
            return offset
    return None


_at = ctypes.c_void_p.from_address
DATA_FIELD = _data_field() if sys.implementation.name == "cpython" else None


class Layout(NamedTuple):
    """Where in objects native code finds what it reads, in bytes: the type of any, an array's data and flags, the contents of
    `bytes`, a tuple's items (which Python 3.14 keeps behind a hash)."""

    type: int
    data: int
    flags: int
    contents: int
    items: int


AXES, SHAPE, STRIDES, BASE, DTYPE = range(24, 64, 8)  # where `programs.c` looks in arrays for what else it reads


def _is_read_right(x: Array) -> bool:
    """Whether an array's axes, shape, strides, base and dtype are where code in C looks for them. No address is followed that
    can't be one: NumPy has the strides right behind the shape."""
    of_shape = _at(id(x) + SHAPE).value or 0
    base = None if x.base is None else id(x.base)
    if [_at(id(x) + at).value for at in (STRIDES, BASE, DTYPE)] != [of_shape + 8 * x.ndim, base, id(x.dtype)]:
        return False
    numbers = (ctypes.c_ssize_t * (2 * x.ndim)).from_address(of_shape)
    return ctypes.c_int.from_address(id(x) + AXES).value == x.ndim and (*numbers,) == (*x.shape, *x.strides)


def _layout() -> Layout | None:
    """The layout of objects; None where that can't be made out, or is another one than code in C knows, which reads how many
    references an object has as its first word."""
    if DATA_FIELD is None:
        return None
    samples = [np.empty((n + 1, n + 2)) for n in range(3)]
    samples += (
        [x.T for x in samples]
        + [x[:, ::2] for x in samples]
        + [np.frombuffer(bytes(8 * n + 9), "f8", n + 1, 1) for n in range(3)]
    )
    places = range(DATA_FIELD, np.ndarray.__basicsize__ - 3, 4)
    flags = [at for at in places if all(ctypes.c_int.from_address(id(x) + at).value == x.flags.num for x in samples)]
    type_, items, held = object.__basicsize__ - 8, tuple.__basicsize__, tuple(samples)
    contents, texts = bytes.__basicsize__ - 1, [bytes(range(n, n + 8)) for n in range(3)]
    fits = all(_at(id(x) + type_).value == id(type(x)) for x in (*held, held, None))
    fits = fits and all(_at(id(held) + items + 8 * k).value == id(x) for k, x in enumerate(held))
    fits = fits and [_at(place).value for place in map(id, samples)] == [n - 1 for n in reference_counts(samples)]
    fits = fits and DATA_FIELD == AXES - 8 and all([_is_read_right(x) for x in samples[::3]])
    fits = fits and contents % 8 == 0 and all(ctypes.string_at(id(text) + contents, 8) == text for text in texts)
    found = Layout(type_, DATA_FIELD, flags[0], contents, items) if fits and flags else None
    return found if found is not None and found[:-1] == IN_C else None


IN_C = (8, 16, 64, 32)  # where `programs.c` and `recording.c` look; of a tuple's items they are told
LAYOUT = _layout()


def _address_asked(array: Array) -> int:
    """The address of an array's first element."""
    return int(array.__array_interface__["data"][0])


def _address_read(array: Array) -> int:
    """The address of an array's first element, read from the array object: NumPy takes ten times as long to say it."""
    return _at(id(array) + DATA_FIELD).value or 0  # type: ignore[operator]


address = _address_asked if DATA_FIELD is None else _address_read


# Memory that comes back ------------------------------------------------------------------------------------------------

SPARE = 4  # blocks that wait for the next run, of whichever plan
MOST_SPARE = 1 << 28  # bytes of blocks that wait, together, unless runs turn out to need more
LEASED_FROM = 1 << 17  # bytes: smaller arrays are NumPy's own
MOST_RETURNED = 1 << 27  # bytes of results that came back and wait to be given out again, unless more are needed
FREE = getattr(mmap, "MADV_FREE", None)


def _most() -> int:
    """How many bytes may wait where runs need them: a quarter of the machine's memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
    except (AttributeError, ValueError, OSError):
        return 0


MOST = _most()


class Room:
    """How many bytes may wait to be used again.

    There is more room after memory was asked for of a size that was let go before: a training step whose arrays together exceed
    the room would otherwise touch fresh pages in each call, which takes up to a third of the time of a large network's step. What
    waits beyond `least` bytes is the system's to take back when it runs short (MADV_FREE); where it has no such call, the room
    doesn't grow.
    """

    __slots__ = ("bytes", "gone", "least")

    def __init__(self, least: int) -> None:
        self.least = self.bytes = least
        self.gone: deque[int] = deque(maxlen=1024)  # sizes that were let go

    def missed(self, size: int) -> None:
        """Note that memory of this size had to come from the system."""
        try:
            self.gone.remove(size)
        except ValueError:
            return
        if FREE is not None:
            self.bytes = max(self.bytes, min(self.bytes + size, MOST))

    def offer(self, pages: Pages, held: int, free: int | None = FREE, suppress: Any = contextlib.suppress) -> None:
        """Let the system take back what begins to wait, if so much waits now."""
        if held > self.least and free is not None:
            with suppress(OSError):  # of a kernel that doesn't know it
                pages.memory.madvise(free)


_spare: list[Pages] = []
_spare_room = Room(MOST_SPARE)


def whole_pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE


def take(size: int) -> Pages:
    """A block of at least `size` bytes for one run. Pages that were touched before cost nothing to touch again."""
    block = _fitting(size)
    if block is None:
        whole = whole_pages(max(size, 1 << 16))
        _spare_room.missed(whole)
        block = Pages(whole)
    _in_use(block.address, size)
    return block


def _fitting(size: int) -> Pages | None:
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


def give_back(block: Pages) -> None:
    """Keep a block for another run."""
    _not_in_use(block.address)
    _spare.append(block)
    held = sum([spare.nbytes for spare in _spare[:]])
    _spare_room.offer(block, held)
    if len(_spare) > SPARE or held > _spare_room.bytes:
        blocks = []
        with contextlib.suppress(IndexError):
            while True:
                blocks.append(_spare.pop())
        room = _spare_room.bytes
        for k, spare in enumerate(sorted(blocks, key=lambda spare: spare.nbytes, reverse=True)):
            if k < SPARE and spare.nbytes <= room:
                room -= spare.nbytes
                _spare.append(spare)
            else:
                _spare_room.gone.append(spare.nbytes)


class Returned:
    """Memory of results that nobody sees any more, by its size.

    Memory comes back whenever an array dies: in any thread, and in the midst of any of these methods. So there is no lock; each
    step leaves lists that are valid, and `held` may go wrong by what another thread does just then, until what waits is counted
    again.
    """

    def __init__(self) -> None:
        self.room = Room(MOST_RETURNED)
        self.by_size: dict[int, list[Pages]] = {}
        self.held = 0  # bytes
        self.clock = itertools.count()

    def take(self, size: int) -> Pages | None:
        """Memory of this size, if some waits: that which came back last."""
        try:
            pages = self.by_size[size].pop()
        except (KeyError, IndexError):
            self.room.missed(size)
            return None
        self.held -= size
        return pages

    # All that is needed at the process's end, when the names of the module are gone, is a default here.
    def add(self, pages: Pages, note: Callable[[int], None] = _not_in_use) -> None:
        note(pages.address)
        self.held += pages.nbytes
        self.room.offer(pages, self.held)
        pages.since = next(self.clock)
        self.by_size.setdefault(pages.nbytes, []).append(pages)
        if self.held > self.room.bytes:
            self.let_go()

    def let_go(self) -> None:
        """Let the oldest go until a quarter of the room is free, so that this isn't to be done again at once."""
        waiting = [pages for same in list(self.by_size.values()) for pages in same[:]]
        waiting.sort(key=lambda pages: pages.since)
        self.held = sum([pages.nbytes for pages in waiting])
        for pages in waiting:
            if self.held <= self.room.bytes * 3 // 4:
                break
            same = self.by_size.get(pages.nbytes, [])
            try:
                same.remove(pages)
            except ValueError:  # another thread was faster
                continue
            self.held -= pages.nbytes
            self.room.gone.append(pages.nbytes)
            if not same:
                self.by_size.pop(pages.nbytes, None)

    def clear(self) -> None:
        self.by_size.clear()
        self.held = 0


_returned = Returned()


class Lease:
    """What a large result lies in. When the array and all its views are gone, the memory waits for the next result."""

    __slots__ = ("__array_interface__", "memory", "nbytes")
    lent_once = True  # nothing but the one array made of it sees this memory

    def __init__(self, shape: Shape, dtype: np.dtype[Any], nbytes: int) -> None:
        size = whole_pages(nbytes)
        self.memory = _returned.take(size) or Pages(size)
        _in_use(self.memory.address, nbytes)
        self.nbytes = nbytes
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str,
            "data": (self.memory.address, False),
        }

    def __del__(self, come_back: Callable[[Pages], None] = _returned.add) -> None:
        if hasattr(self, "memory"):  # it has none if an interrupt came while it was made
            come_back(self.memory)


def new_array(shape: Shape, dtype: np.dtype[Any], nbytes: int) -> Array:
    """An array for a result, not initialized."""
    if nbytes < LEASED_FROM:
        return np.empty(shape, dtype)
    array = np.asarray(Lease(shape, dtype, nbytes))
    return array.view(dtype) if dtype.kind == "V" else array  # bfloat16, which an interface can't name


def join_pages(arrays: Sequence[Array], advise: Callable[[int, int], Any] | None = _collapse) -> None:
    """Let the memory of new arrays that lie side by side be large pages: each first touch of a page costs, and arrays of fewer
    bytes than `LEASED_FROM` come from the heap, which has small ones."""
    if advise is None or sum([x.nbytes for x in arrays]) < LARGE_PAGES:
        return
    starts, ends = np.array(sorted([(address(x), address(x) + x.nbytes) for x in arrays])).T
    apart = np.flatnonzero(starts[1:] - ends[:-1] > mmap.PAGESIZE)  # where something else lies between two of them
    for first, last in zip(starts[[0, *apart + 1]].tolist(), ends[[*apart, -1]].tolist(), strict=True):
        if last - first >= LARGE_PAGES:
            begin = first // mmap.PAGESIZE * mmap.PAGESIZE
            advise(begin, last - begin)


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
