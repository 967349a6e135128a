"""Nodes that native code makes are what Python makes; they come and go as any object."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
import random_graphs
from adjoint.graph import SEARCHES, Node
from adjoint.runtime import entries, llvm, memory, recording

pytest.importorskip("llvmlite")
FIELDS = ("op", "inputs", "attributes", "type", "site", "offset", "tracked", "value", "number")


@pytest.fixture(autouse=True)
def loaded() -> None:
    if llvm.binding() is None or recording._python() is None:
        pytest.skip("native code can't look at objects here")
    assert recording._code(True)


def fields(node: Node) -> list[Any]:
    return [getattr(node, name) for name in FIELDS]


def test_they_are_those_of_python() -> None:
    given = [object() for _ in range(8)]
    named = dict(zip(FIELDS[3:7], given[3:7], strict=True))
    for arguments, keywords in ((given[:7], {}), (given, {}), (given[:7], {"value": given[7]}), (given[:3], named)):
        made, expected = Node(*arguments, **keywords), recording._made(*arguments, **keywords)  # type: ignore[arg-type]
        assert fields(made) == fields(expected)
        assert type(made) is Node and gc.is_tracked(made)


def test_what_is_missing_raises() -> None:
    with pytest.raises(TypeError, match="missing 4 required positional arguments"):
        Node(*[object()] * 3)  # type: ignore[arg-type,call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        Node(*[object()] * 7, colour=1)  # type: ignore[arg-type,call-arg]
    with pytest.raises(TypeError, match="takes from 8 to 9 positional arguments but 10 were given"):
        Node(*[object()] * 9)  # type: ignore[arg-type,call-arg]


def test_they_hold_what_they_hold() -> None:
    given = [object() for _ in range(8)]
    before = [sys.getrefcount(x) for x in given], sys.getrefcount(Node)
    held = [Node(*given) for _ in range(100)]  # type: ignore[arg-type]
    assert [sys.getrefcount(x) for x in given] == [n + 100 for n in before[0]]
    held += [Node(*[held[-1]] * 7) for _ in range(100)]  # type: ignore[arg-type]
    circle = Node(*[object()] * 7)  # type: ignore[arg-type]
    circle.inputs = (circle, *held)
    del circle, held
    gc.collect()
    assert ([sys.getrefcount(x) for x in given], sys.getrefcount(Node)) == before


def test_a_class_that_is_called_otherwise_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that isn't right, or a place that is another one, leaves all to Python."""
    code = recording._loaded
    place = recording.ctypes.c_ssize_t.from_address(id(type) + recording.CALLED_AT).value
    called = recording.ctypes.c_void_p.from_address(id(Node) + place)
    assert called.value == code["make"]
    try:
        called.value = None
        monkeypatch.setattr(recording, "_is_right", lambda: False)
        recording._install(code["make"], code["filled"])
        assert called.value is None
        monkeypatch.undo()
        monkeypatch.setattr(recording, "CALLED_AT", recording.CALLED_AT - 8)
        recording._install(code["make"], code["filled"])
        assert called.value is None and ad.sin(ad.tensor(0.0)).item() == 0.0
        monkeypatch.undo()
        recording._install(code["make"], code["filled"])
        assert called.value == code["make"]
    finally:
        called.value = code["make"]


class Moved:
    """Makes tuples, and says that their items are elsewhere."""

    def __init__(self, by: int) -> None:
        self.__basicsize__ = tuple.__basicsize__ + by

    def __call__(self, items: Any) -> tuple[Any, ...]:
        return tuple(items)


def test_another_layout_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects that aren't as code in C reads them are left to Python: whatever is elsewhere, or isn't what it is taken for."""
    assert memory._layout() == memory.LAYOUT
    for k in range(4):
        other = [*memory.IN_C]
        other[k] += 8
        monkeypatch.setattr(memory, "IN_C", tuple(other))
        assert memory._layout() is None
        monkeypatch.undo()
    for name in ("AXES", "SHAPE", "STRIDES", "BASE", "DTYPE"):
        for by in (8, -8):
            monkeypatch.setattr(memory, name, getattr(memory, name) + by)
            assert memory._layout() is None
            monkeypatch.undo()
    monkeypatch.setattr(memory, "reference_counts", lambda objects: [2 for _ in objects])
    assert memory._layout() is None
    monkeypatch.undo()
    for by in (0, 8, -8):
        monkeypatch.setattr(memory, "tuple", Moved(by), raising=False)
        assert memory._layout() == (None if by else memory.LAYOUT)
        monkeypatch.undo()
    places = recording._places.__wrapped__
    assert places() == recording._places()
    for name in ("CONTENTS", "SIZE", "LISTED", "BASE"):
        monkeypatch.setattr(recording, name, getattr(recording, name) + 8)
        assert places() is None
        monkeypatch.undo()


def test_python_without_such_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "made", lambda *_: None)
    assert recording.matcher([], 0) is None


@pytest.mark.parametrize("seed", range(20))
def test_what_is_found_below_is_what_python_finds(seed: int) -> None:
    for tensor in random_graphs.drawn(seed):
        for search in SEARCHES:
            below = search.below(tensor.node)
            assert below == search.walk(tensor.node) and type(search.below).__name__ == "builtin_function_or_method"
    x, y = ad.variable([1.0, 2.0]), ad.variable([3.0, 4.0])
    loss = ((x * y).sum() + ad.sin(x).sum()) * 2.0
    (search,) = SEARCHES
    before = sys.getrefcount(x.node), sys.getrefcount(loss.node)
    for _ in range(100):
        assert search.below(loss.node) == search.walk(loss.node) == [x.node, y.node]
    assert (sys.getrefcount(x.node), sys.getrefcount(loss.node)) == before


def test_what_is_tracked_is_what_python_takes_for_true() -> None:
    x, y, z = [ad.variable([float(k)]) for k in range(3)]
    loss = (x * y + z).sum()
    (search,) = SEARCHES
    for node, said in ((x.node, 1), (y.node, np.True_), (z.node, 0)):
        node.tracked = said  # type: ignore[assignment]
    assert search.below(loss.node) == search.walk(loss.node) == [x.node, y.node]


LATE = """
import adjoint as ad
from adjoint.runtime import recording
assert recording._code(True)

class Late:
    def __init__(self):
        self.x = ad.variable([1.0, 2.0])
    def __del__(self):
        for _ in range(100):
            self.x = self.x * 2.0
        print("made", flush=True)

late = Late()
"""


def test_nodes_are_made_while_the_interpreter_ends() -> None:
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "made" in done.stdout, done.stderr


def test_the_code_comes_with_the_package(tmp_path: Path) -> None:
    """Neither LLVM nor a cache is needed where functions are called as those of System V's x86-64 are."""
    if os.name != "posix" or os.uname().machine != "x86_64":
        pytest.skip("the package has no machine code for this processor")
    program = (
        "import adjoint\nfrom adjoint.runtime import known_calls, llvm, pool, recording\nadjoint.set_num_threads(2)\n"
        "assert pool.pool.prepare() == 2 and len(pool.pool.workers) == 1\n"
        "assert recording.is_there() and known_calls._native and not llvm.is_loaded() and llvm.facts(loading=False) is None\n"
    )
    environment = {**os.environ, "ADJOINT_CACHE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert not list(tmp_path.iterdir())


def test_elsewhere_the_next_process_finds_the_code_without_llvm(tmp_path: Path) -> None:
    program = (
        "import adjoint\nfrom adjoint.runtime import known_calls, llvm, pool, recording, shipped\nshipped.X86 = ()\n"
    )
    program += "adjoint.set_num_threads(2)\n"
    environment = {**os.environ, "ADJOINT_CACHE": str(tmp_path)}
    first = "assert not recording.is_there() and not llvm.is_loaded()\n"
    first += "assert recording._code(True) and known_calls._native and llvm.is_loaded()\n"
    first += "assert pool.pool.prepare() == 2 and len(pool.pool.workers) == 1\n"
    second = "assert recording.is_there() and known_calls._native and not llvm.is_loaded()\n"
    second += "assert pool.pool.prepare() == 2 and len(pool.pool.workers) == 1 and not llvm.is_loaded()\n"
    for code in (first, second):
        subprocess.run([sys.executable, "-c", program + code], env=environment, check=True)
