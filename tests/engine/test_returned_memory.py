"""Memory of results and of runs that comes back: how much waits, and when it waits no longer."""

from __future__ import annotations

import mmap

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution.native import program
from adjoint.plan.canonical import canonicalize
from adjoint.plan.plan import build
from adjoint.runtime import memory
from adjoint.runtime.memory import (
    FREE,
    LARGE_PAGES,
    LEASED_FROM,
    Lease,
    Pages,
    Returned,
    Room,
    address,
    give_back,
    join_pages,
    take,
)
from support import in_threads

SIZE = 1 << 18


@pytest.fixture
def returned() -> Returned:
    """Room for four arrays, and nothing waits."""
    found = Returned()
    found.room = Room(4 * SIZE)
    return found


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all memory that comes from the system."""
    sizes: list[int] = []

    class Noted(Pages):
        def __init__(self, size: int) -> None:
            sizes.append(size)
            super().__init__(size)

    monkeypatch.setattr(memory, "Pages", Noted)
    return sizes


def a_step(returned: Returned, sizes: list[int]) -> None:
    """All are in use together, then all come back, as the results of a training step."""
    held = [returned.take(size) or memory.Pages(size) for size in sizes]
    assert len({pages.address for pages in held}) == len(sizes)
    for pages in held:
        pages.array[:] = 7
        returned.add(pages)


@pytest.mark.skipif(FREE is None, reason="the room doesn't grow where the system can't take memory back")
def test_steps_of_more_than_the_room_touch_no_fresh_pages_in_the_end(returned: Returned, made: list[int]) -> None:
    sizes = [SIZE + 4096 * k for k in range(12)]
    for _ in range(6):
        a_step(returned, sizes)
    made.clear()
    for _ in range(3):
        a_step(returned, sizes)
    assert made == []
    assert returned.held == sum(sizes) == sum(p.nbytes for same in returned.by_size.values() for p in same)


def test_sizes_that_never_come_again_get_no_more_room(returned: Returned) -> None:
    for k in range(100):
        a_step(returned, [SIZE + 4096 * k] * 2)
    assert returned.room.bytes == returned.room.least
    assert 0 < returned.held <= returned.room.bytes
    assert all(returned.by_size.values())  # no empty lists of old sizes
    oldest = min(p.nbytes for same in returned.by_size.values() for p in same)
    assert oldest >= SIZE + 4096 * 90  # those of the last steps are kept


def test_room_ends_at_a_quarter_of_the_machine(monkeypatch: pytest.MonkeyPatch, returned: Returned) -> None:
    monkeypatch.setattr(memory, "MOST", 6 * SIZE)
    for _ in range(5):
        a_step(returned, [SIZE] * 12)
    assert returned.room.bytes <= 6 * SIZE
    assert returned.held <= 6 * SIZE


def test_memory_that_the_system_may_take_back_is_usable() -> None:
    """Whether the system took the pages or not: what is written afterwards stays."""
    room = Room(0)
    pages = Pages(1 << 22)
    for k in range(3):
        pages.array[:] = k
        assert int(pages.array.min()) == int(pages.array.max()) == k
        room.offer(pages, 1)


@pytest.mark.skipif(FREE is None, reason="the room doesn't grow where the system can't take memory back")
def test_a_block_larger_than_the_room_waits_once_it_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, made: list[int]
) -> None:
    monkeypatch.setattr(memory, "_spare", [])
    monkeypatch.setattr(memory, "_spare_room", Room(SIZE))
    for expected in ([4 * SIZE], [4 * SIZE], []):  # let go; asked for again; waits
        made.clear()
        block = take(4 * SIZE - 10)
        block.array[:] = 1
        give_back(block)
        assert made == expected


def test_results_of_many_threads_do_not_share_memory(returned: Returned) -> None:
    """Two threads that take and return never hold the same memory, and what waits is within the room when they are done."""
    wrong = []

    def work(mark: int) -> None:
        for k in range(300):
            held = [returned.take(SIZE + 4096 * (k % 5)) or Pages(SIZE + 4096 * (k % 5)) for _ in range(3)]
            for pages in held:
                pages.array[:64] = mark
            if any(int(pages.array[:64].min()) != mark for pages in held):
                wrong.append(k)
            for pages in held:
                returned.add(pages)

    in_threads(work, 4)
    assert not wrong
    returned.let_go()
    assert returned.held == sum(p.nbytes for same in returned.by_size.values() for p in same)


def test_a_result_keeps_its_numbers_while_others_come_and_go() -> None:
    n = LEASED_FROM // 4
    x = ad.tensor(np.arange(n, dtype=np.float32))
    kept = ad.exp(-x * 1e-4).numpy()
    expected = kept.copy()
    for k in range(20):
        ad.sin(x + k).numpy()
    np.testing.assert_array_equal(kept, expected)
    assert Lease((n,), np.dtype("f4"), 4 * n).memory.address != kept.ctypes.data


def test_new_arrays_side_by_side_ask_for_large_pages():
    """Those with something between them by themselves, where they are large enough."""
    block = np.zeros(5 * LARGE_PAGES, np.uint8)
    part = LARGE_PAGES // 4
    arrays = [block[k * part : (k + 1) * part] for k in (*range(8), 9, 10, 11, 12, 13)]
    asked: list[tuple[int, int]] = []
    join_pages(arrays[::-1], lambda start, size: asked.append((start, size)))
    starts = [address(block), address(block) + 9 * part]
    assert [start for start, _ in asked] == [at // mmap.PAGESIZE * mmap.PAGESIZE for at in starts]
    assert [start + size for start, size in asked] == [starts[0] + 8 * part, starts[1] + 5 * part]
    join_pages(arrays[:3], lambda *given: pytest.fail("so few bytes aren't worth it"))
    join_pages(arrays, None)


def test_the_first_run_of_a_program_asks_for_large_pages_for_its_small_results(monkeypatch):
    asked = []
    monkeypatch.setattr(program, "join_pages", lambda arrays: asked.append([x.shape for x in arrays]))
    given = [ad.tensor(np.ones((16, 32 + k), "f4")) for k in range(20)]
    c = canonicalize([(x * 2.5).node for x in given])
    double = program.compile_nests(build(c, list(range(c.roots)), False))
    for _ in range(3):
        results = double.run([x.value for x in c.leaves], [number for number, _ in c.numbers], True)
    assert asked == [[x.shape for x in results]]
    assert all([(x == 2.5).all() for x in results])
