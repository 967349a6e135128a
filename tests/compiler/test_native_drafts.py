"""Code that is made quickly first, and anew once it has run for some time: the same bits, and nobody notices when."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint import nn
from adjoint.compiler import linking
from adjoint.execution.native.program import OFTEN, Native, compile_nests
from adjoint.execution.tiers import tiers
from adjoint.runtime import llvm
from test_native import normal, planned


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing was compiled before, on disk or in memory; and few kernels are drafts, too."""
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "code"))
    monkeypatch.setattr(linking, "DRAFT_FROM", 1)
    linking.forget()
    yield
    linking.forget()


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each module that is compiled from now on whether it is a draft."""
    found: list[bool] = []
    original = llvm.object_code
    monkeypatch.setattr(llvm, "object_code", lambda text, draft=False: found.append(draft) or original(text, draft))
    return found


def drafts_of(program: Native) -> list[Any]:
    return [one for one in program.linked.drafts if one.final is None]


def outputs(number: float) -> list[ad.Tensor]:
    """A network's loss with its gradients, whose numbers nobody else's tests have."""
    x, w = ad.variable(normal(17, 23, dtype="float32")), ad.variable(normal(23, 11, dtype="float32"))
    hidden = ad.softmax(ad.tanh(x @ w * number), axis=-1)
    loss = (ad.gelu(hidden) + ad.sqrt(ad.exp(hidden) + 2)).sum(axis=0).max() + nn.functional.layer_norm(
        hidden, (11,)
    ).mean()
    return [loss, *ad.gradients(loss, [x, w])]


def bits(program: Native, given: tuple[Any, Any]) -> list[bytes]:
    leaves, numbers = given
    return [np.asarray(x).tobytes() for x in program.run(leaves, numbers, True)]


def test_a_draft_and_what_becomes_of_it_have_the_same_bits(levels: list[bool]) -> None:
    plan, leaves, numbers = planned(*outputs(0.37))
    program = compile_nests(plan, True)
    assert program is not None and drafts_of(program) and True in levels
    before = bits(program, (leaves, numbers))
    called = program.linked.calls[:, 0].copy()
    levels.clear()
    linking.finish(program.linked.drafts)
    assert levels == [False] and not drafts_of(program)
    assert (program.linked.calls[:, 0] != called).any()
    assert bits(program, (leaves, numbers)) == before


def test_what_is_compiled_for_good_calls_no_draft(levels: list[bool]) -> None:
    plan, leaves, numbers = planned(*outputs(0.39))
    first = compile_nests(plan, True)
    assert first is not None and drafts_of(first)
    second = compile_nests(planned(*outputs(0.39))[0])
    assert second is not None and not drafts_of(second) and not drafts_of(first)
    drafts = {at for one in first.linked.drafts for at in one.addresses.values()}
    assert not drafts.intersection(second.linked.calls[:, 0].tolist())
    assert not drafts.intersection(first.linked.calls[:, 0].tolist())
    assert bits(first, (leaves, numbers)) == bits(second, (leaves, numbers))


def test_a_draft_on_disk_serves_the_next_process_until_there_is_more(levels: list[bool]) -> None:
    def compiled(draft: bool) -> Native:
        linking.forget()
        program = compile_nests(planned(*outputs(0.41))[0], draft)
        assert program is not None
        return program

    assert drafts_of(compiled(True))
    levels.clear()
    assert drafts_of(compiled(True)) and not levels  # found
    assert not drafts_of(compiled(False)) and levels == [False]
    levels.clear()
    assert not compiled(True).linked.drafts and not levels  # what is better was found first


def test_a_graph_that_keeps_coming_is_compiled_anew(levels: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "PER_CHARACTER", 1e-3)
    monkeypatch.setattr(tiers, "backend", "native")
    model = nn.Sequential(nn.Linear(13, 19), nn.GELU(), nn.LayerNorm(19), nn.Linear(19, 3))
    x = ad.tensor(normal(7, 13, dtype="float32"))
    found = set[bytes]()
    for k in range(2 * OFTEN + 4):
        found.add(((model(x) ** 2).mean() * 0.43).numpy().tobytes())
        if k == OFTEN // 2:
            assert True in levels
            levels.clear()
    assert levels[:1] == [False] and len(found) == 1


def test_without_memory_for_more_a_draft_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, leaves, numbers = planned(*outputs(0.47))
    program = compile_nests(plan, True)
    assert program is not None
    before = bits(program, (leaves, numbers))

    def full(size: int) -> None:
        raise MemoryError

    monkeypatch.setattr(llvm, "_check_room", full)
    program.linked.ran(10**9)
    assert drafts_of(program) and program.linked.left <= 0
    assert bits(program, (leaves, numbers)) == before


def test_other_threads_may_run_it_meanwhile() -> None:
    plan, leaves, numbers = planned(*outputs(0.53))
    program = compile_nests(plan, True)
    assert program is not None
    found, go_on = set[tuple[bytes, ...]](), [True]

    def turn() -> None:
        while go_on[0]:
            found.add(tuple(bits(program, (leaves, numbers))))

    threads = [threading.Thread(target=turn) for _ in range(2)]
    for thread in threads:
        thread.start()
    linking.finish(program.linked.drafts)
    go_on[0] = False
    for thread in threads:
        thread.join()
    found.add(tuple(bits(program, (leaves, numbers))))
    assert len(found) == 1 and not drafts_of(program)


def test_a_program_that_nobody_evaluates_by_name_counts_its_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The body of a loop, say, which is run as a plan."""
    monkeypatch.setattr(linking, "PER_CHARACTER", 1e-3)
    plan, leaves, numbers = planned(*outputs(0.57))
    program = compile_nests(plan, True)
    assert program is not None
    found = set[tuple[bytes, ...]]()
    for _ in range(OFTEN - 1):
        found.add(tuple(bits(program, (leaves, numbers))))
    assert drafts_of(program)
    found.add(tuple(bits(program, (leaves, numbers))))
    assert len(found) == 1 and not drafts_of(program)


def test_what_follows_from_others_under_jit_calls_no_draft() -> None:
    model = nn.Sequential(nn.Linear(20, 30), nn.GELU(), nn.LayerNorm(30), nn.Linear(30, 5))
    optimizer = ad.optim.Adam(model.parameters())

    @ad.jit
    def step(x: ad.Tensor) -> ad.Tensor:
        optimizer.zero_grad()
        loss = ((model(x) * 0.61) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    before = set(linking._linkers)
    for rows in (64, 37):
        x = ad.tensor(normal(rows, 20, dtype="float32"))
        for _ in range(3):
            step(x).numpy()
    made = [linker for linker in tuple(linking._linkers) if linker not in before]
    assert any([linker.drafts for linker in made])
    assert all([one.final is not None for linker in made for one in linker.drafts])


def test_who_adds_a_program_waits_for_who_goes_through_all(monkeypatch: pytest.MonkeyPatch) -> None:
    free: list[bool] = []

    def look() -> None:
        free.append(llvm.lock.acquire(timeout=0))  # type: ignore[attr-defined]
        if free[-1]:
            llvm.lock.release()  # type: ignore[attr-defined]

    class Watched(weakref.WeakSet[Any]):
        def add(self, item: Any) -> None:
            thread = threading.Thread(target=look)
            thread.start()
            thread.join()
            super().add(item)

    monkeypatch.setattr(linking, "_linkers", Watched())
    program = compile_nests(planned(*outputs(0.63))[0], True)
    assert program is not None and program.linked in linking._linkers and free == [False]


def test_programs_are_gone_through_under_the_lock_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Watched(weakref.WeakSet):  # type: ignore[type-arg]
        def add(self, item: Any) -> None:
            asked.append(llvm.lock._is_owned())
            super().add(item)

        def __iter__(self) -> Iterator[Any]:
            asked.append(llvm.lock._is_owned())
            return super().__iter__()

    plan, *_ = planned(*outputs(1.6484375))
    monkeypatch.setattr(linking, "_linkers", Watched())
    program = compile_nests(plan, draft=True)
    assert program is not None and drafts_of(program)
    linking.finish(program.linked.drafts)
    assert not drafts_of(program)
    linking.uses(next(iter(linking._kernels.values())))
    assert len(asked) >= 3 and all(asked)


def test_a_program_that_lacks_few_kernels_has_no_drafts(levels: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    for least in (1, 128):
        monkeypatch.setattr(linking, "DRAFT_FROM", least)
        levels.clear()
        program = compile_nests(planned(*outputs(0.71))[0], True)
        assert program is not None and (True in levels) == bool(drafts_of(program)) == (least == 1)
        linking.forget()
