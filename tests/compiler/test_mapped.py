"""Machine code that is put into memory without LLVM: the same functions, and nothing that reaches outside of them."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llvmlite")

from adjoint.runtime import llvm, mapped, object_cache

elf = pytest.mark.skipif(
    not (sys.platform == "linux" and llvm.triple().startswith("x86_64")), reason="objects are x86's ELF"
)

TEXT = """
@numbers = internal constant [5 x i64] [i64 3, i64 1, i64 4, i64 1, i64 5], align 64

define i64 @first(i64 %k) #1 {
  %at = getelementptr [5 x i64], ptr @numbers, i64 0, i64 %k
  %found = load i64, ptr %at
  ret i64 %found
}

define i64 @second(i64 %k) #1 {
  %found = call i64 @first(i64 %k) #1
  %more = add i64 %found, 1000
  ret i64 %more
}

define double @third(double %x) #1 {
  %product = fmul double %x, 0x400921FB54442D18
  ret double %product
}

attributes #1 = { noinline nounwind }
"""
COPIES = """
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define void @copy(ptr %to, ptr %from, i64 %count) nounwind {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %count, i1 false)
  ret void
}
"""
WRITES = """
@counter = internal global i64 0

define i64 @count() nounwind {
  %before = load i64, ptr @counter
  %after = add i64 %before, 1
  store i64 %after, ptr @counter
  ret i64 %after
}
"""


def function(address: int, result: Any, *kinds: Any) -> Any:
    return ctypes.CFUNCTYPE(result, *kinds)(address)


def maps() -> list[tuple[int, int, str]]:
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        places, rights, *_ = line.split()
        start, stop = [int(x, 16) for x in places.split("-")]
        found.append((start, stop, rights))
    return found


@elf
def test_functions_find_each_other_and_their_constants() -> None:
    found = mapped.mapped(llvm.object_code(TEXT))
    assert found is not None and set(found.names) == {"first", "second", "third"}
    first = function(found.address("first"), ctypes.c_int64, ctypes.c_int64)
    second = function(found.address("second"), ctypes.c_int64, ctypes.c_int64)
    third = function(found.address("third"), ctypes.c_double, ctypes.c_double)
    assert [first(k) for k in range(5)] == [3, 1, 4, 1, 5]
    assert [second(k) for k in range(5)] == [1003, 1001, 1004, 1001, 1005]
    assert third(2.0) == 2.0 * 3.141592653589793
    assert found.address("fourth") == 0


@elf
def test_code_is_never_written_and_executed() -> None:
    found = mapped.mapped(llvm.object_code(TEXT))
    assert found is not None
    place = found.address("second")
    assert [rights for start, stop, rights in maps() if start <= place < stop] == ["r-xp"]


@elf
def test_memory_goes_with_the_code() -> None:
    contents = llvm.object_code(TEXT)
    before = len([1 for _, _, rights in maps() if "x" in rights])
    kept = [mapped.mapped(contents) for _ in range(64)]
    size = sum([stop - start for start, stop, rights in maps() if "x" in rights])
    del kept
    gc.collect()
    assert sum([stop - start for start, stop, rights in maps() if "x" in rights]) <= size - 64 * 4096
    assert len([1 for _, _, rights in maps() if "x" in rights]) <= before + 1


@elf
@pytest.mark.parametrize("text", [COPIES, WRITES], ids=["calls outside", "written memory"])
def test_what_reaches_outside_is_left_to_llvm(text: str) -> None:
    contents = llvm.object_code(text)
    assert mapped.mapped(contents) is None
    assert mapped.calls_outside(contents) == (text is COPIES)
    library = llvm.link(contents)
    if text is COPIES:
        copy = function(library.address("copy"), None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        source, target = ctypes.create_string_buffer(b"a longer text to copy"), ctypes.create_string_buffer(22)
        copy(target, source, 22)
        assert target.value == source.value
    else:
        count = function(library.address("count"), ctypes.c_int64)
        assert [count(), count(), count()] == [1, 2, 3]


@elf
def test_relocations_that_are_not_known_are_left_to_llvm() -> None:
    contents = bytearray(llvm.object_code(TEXT))
    headers = mapped._sections(bytes(contents))
    assert headers is not None and mapped.mapped(bytes(contents)) is not None
    (section, *_) = [h for h in headers if h["type"] == mapped.RELOCATIONS and headers[int(h["info"])]["flags"] & 2]
    contents[int(section["offset"]) + 8] = 42  # R_X86_64_REX_GOTPCRELX
    assert mapped.mapped(bytes(contents)) is None


@pytest.mark.parametrize("contents", [b"", b"\x7fELF", b"\xcf\xfa\xed\xfe" + bytes(60), b"\x7fELF\x02" + bytes(59)])
def test_other_objects_are_left_to_llvm(contents: bytes) -> None:
    assert mapped.mapped(contents) is None and mapped.calls_outside(contents)


PROGRAM = """
import sys
import numpy as np
import adjoint as ad
x = ad.variable(np.linspace(-2, 2, 5000).astype("f4").reshape(50, 100))
for _ in range(3):
    y = (ad.softmax(ad.tanh(x @ x.T), axis=-1) * 3).sum() + ad.erf(x).sum()
    (g,) = ad.gradients(y, [x])
    print(y.numpy().tobytes().hex(), g.numpy().tobytes().hex()[:4000])
print("llvmlite" in sys.modules)
"""


def run(place: Path, program: str = PROGRAM, **more: str) -> list[str]:
    environment = {**os.environ, "ADJOINT_CACHE": str(place), "ADJOINT_BACKEND": "native", **more}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    return done.stdout.split()


@elf
def test_a_program_whose_code_is_known_loads_no_llvm(tmp_path: Path) -> None:
    first, again = run(tmp_path / "code"), run(tmp_path / "code")
    assert first[-1] == "True" and again[-1] == "False"
    assert first[:-1] == again[:-1]
    assert run(tmp_path / "code", ADJOINT_VECTOR_BITS="128")[-1] == "True"  # other code
    assert run(tmp_path / "code", PROGRAM.replace("* 3", "* 3 - ad.cos(x).sum()"))[-1] == "True"


@elf
def test_code_runs_in_the_child_of_a_fork(tmp_path: Path) -> None:
    program = PROGRAM.replace(
        "for _ in range(3):", "import os\nfor k in range(3):\n    if k == 1: sys.stdout.flush(); child = os.fork()"
    )
    program += "if child: assert os.waitpid(child, 0)[1] == 0\n"
    run(tmp_path / "code")
    lines = run(tmp_path / "code", program, PYTHONUNBUFFERED="")
    assert len(set(lines)) == 3 and lines.count("False") == 2


# What is remembered of the machine ------------------------------------------------------------------------------------------


@pytest.fixture
def forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """As in a process that has asked LLVM nothing yet; calls of what loads it are counted."""
    state, asked = dict(llvm._state), []
    original = llvm._load
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "code"))
    monkeypatch.setattr(llvm, "_load", lambda: asked.append(1) or original())
    llvm._state.clear()
    yield asked
    llvm._state.clear()
    llvm._state.update(state)


@elf
def test_the_facts_of_a_machine_are_asked_once(forgotten: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    known = llvm.facts()
    assert known is not None and forgotten == [1]
    llvm._state.clear()
    assert llvm.facts() == known and forgotten == [1] and isinstance(llvm.facts().version, tuple)  # type: ignore[union-attr]
    assert llvm.machine_key() == (known.features, known.triple, str(known.version))
    key = llvm._key_of_facts()
    assert key is not None and llvm._key_of_facts() == key
    for name, found in (("folder_of", lambda name: None), ("folder_of", lambda name: "/nowhere")):
        with monkeypatch.context() as patch:
            patch.setattr(llvm._optional, name, found)
            assert llvm._key_of_facts() is None
    object_cache.store(key, b"")  # no sound entry
    llvm._state.clear()
    assert llvm.facts() == known and forgotten == [1, 1]


@elf
def test_where_memory_is_limited_the_library_is_tried(forgotten: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert llvm.facts() is not None
    monkeypatch.setattr(llvm.resource, "getrlimit", lambda kind: (1 << 40, 1 << 40))
    llvm._state.clear()
    assert llvm._key_of_facts() is None
    assert llvm.facts() is not None and forgotten == [1, 1]


@elf
def test_a_library_that_has_gone_is_named(forgotten: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert llvm.facts() is not None
    llvm._state.clear()
    known = llvm.facts()
    monkeypatch.setattr(llvm, "_load", lambda: None)
    with pytest.raises(MemoryError, match="llvmlite"):
        llvm.object_code(TEXT)
    assert llvm.facts() == known
