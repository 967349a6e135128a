"""Compiled code on disk: only what this user alone can have written is executed, and the folder stays small."""

from __future__ import annotations

import ctypes
import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.runtime import code, llvm, object_cache

unix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of Unix")
KEY, OTHER = "1" * 64, "2" * 64  # neither of them asks for a look at the folder's size

RETURNS = """
define i64 @$answer() {{
  ret i64 {}
}}
"""


def compile_answer(number: int) -> int:
    """The address of a function that is let go of at once, so that the next time it is looked for on disk."""
    (loaded,) = code.load([code.Source(RETURNS.format(number), frozenset(), ("answer",))])
    return loaded.addresses["answer"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled code, not there yet."""
    monkeypatch.setattr(object_cache, "_told", set())
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "code"))
    return tmp_path / "code"


@unix
def test_a_function_in_c_comes_with_those_that_it_calls() -> None:
    text = code.functions_in_c("factors", ["cholesky_d", "has_zero_s"])
    made = {line.split("@$")[1].split("(")[0] for line in text.splitlines() if line.startswith("define")}
    assert {"cholesky_d", "has_zero_s", "finite_d", "fill_d"} <= made and "transpose_d" not in made
    code.load([code.Source(text, frozenset(), ("cholesky_d",))])
    with pytest.raises(KeyError):
        code.functions_in_c("factors", ["cholesky_q"])


def test_a_folder_that_is_made_is_the_users_alone(place: Path) -> None:
    before = os.umask(0o002)
    try:
        object_cache.store(KEY, b"code")
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE((place / KEY).stat().st_mode) == 0o600
    assert object_cache.load(KEY) == b"code"


@unix
@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777, 0o720, 0o702])
def test_a_folder_that_others_may_write_to_is_not_used_and_that_is_said_once(place: Path, mode: int) -> None:
    object_cache.store(KEY, b"code")
    place.chmod(mode)
    with pytest.warns(RuntimeWarning, match=r"others may write to it.*ADJOINT_CACHE") as told:
        assert object_cache.load(KEY) is None
        object_cache.store(OTHER, b"more")
    assert len(told) == 1 and str(place) in str(told[0].message)
    assert [path.name for path in place.iterdir()] == [KEY]


@unix
@pytest.mark.parametrize("mode", [0o660, 0o606, 0o622])
def test_an_entry_that_others_may_write_to_is_not_used(place: Path, mode: int) -> None:
    object_cache.store(KEY, b"code")
    (place / KEY).chmod(mode)
    assert object_cache.load(KEY) is None
    object_cache.store(KEY, b"new")
    assert object_cache.load(KEY) == b"new"


@unix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root gives files away")
def test_what_belongs_to_another_user_is_not_used(place: Path) -> None:
    object_cache.store(KEY, b"code")
    os.chown(place / KEY, 12345, -1)
    assert object_cache.load(KEY) is None
    os.chown(place / KEY, 0, -1)
    assert object_cache.load(KEY) == b"code"
    os.chown(place, 12345, -1)
    with pytest.warns(RuntimeWarning, match="belongs to the user number 12345"):
        assert object_cache.load(KEY) is None


@unix
def test_what_is_no_plain_file_is_not_used(place: Path) -> None:
    object_cache.store(KEY, b"code")
    os.symlink(place / KEY, place / OTHER)
    assert object_cache.load(OTHER) is None
    (place / OTHER).unlink()
    os.mkfifo(place / OTHER)  # reading one would wait for a writer
    assert object_cache.load(OTHER) is None
    (place / OTHER).unlink()
    (place / OTHER).mkdir()
    assert object_cache.load(OTHER) is None


def test_entries_that_changed_places_are_not_used(place: Path) -> None:
    for key in (KEY, OTHER):
        object_cache.store(key, key[:4].encode())
    os.replace(place / KEY, place / "aside")
    os.replace(place / OTHER, place / KEY)
    os.replace(place / "aside", place / OTHER)
    assert object_cache.load(KEY) is None and object_cache.load(OTHER) is None


def test_swapped_and_planted_code_is_not_executed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(number: int) -> int:
        (found,) = code.load([code.Source(RETURNS.format(number), frozenset(), ("answer",))])
        return ctypes.CFUNCTYPE(ctypes.c_int64)(found.addresses["answer"])()

    def entries() -> set[Path]:
        return set(place.iterdir()) if place.exists() else set()

    made = []
    for number in (1, 2):
        before = entries()
        assert answer(number) == number
        made.append(sorted(entries() - before, key=lambda path: path.stat().st_size))
    for one, two in zip(*made, strict=True):
        data = one.read_bytes(), two.read_bytes()
        one.write_bytes(data[1])
        two.write_bytes(data[0])
    compiled: list[int] = []
    original = llvm.object_code
    monkeypatch.setattr(llvm, "object_code", lambda *a: compiled.append(1) or original(*a))
    assert [answer(1), answer(2)] == [1, 2] and len(compiled) == 2
    assert [answer(1), answer(2)] == [1, 2] and len(compiled) == 2
    if hasattr(os, "geteuid"):
        place.chmod(0o777)
        with pytest.warns(RuntimeWarning, match="others may write"):
            assert answer(1) == 1
        assert len(compiled) == 3


def test_a_process_that_writes_little_trims_too(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_cache, "LIMIT", 20_000)
    for k in range(1000):  # as a thousand processes with one entry each would: nothing is counted between two of them
        object_cache.store(object_cache.key_of(str(k)), bytes(1000))
    assert sum(path.stat().st_size for path in place.iterdir()) < 20_000 + 1032 * 8 * object_cache.TRIM_EVERY
    assert len(list(place.iterdir())) < 550


def test_only_entries_are_trimmed(place: Path) -> None:
    object_cache.store(KEY, bytes(100))
    (place / "new-abc").write_bytes(bytes(100))  # left by a process that was killed
    (place / "thesis.txt").write_text("mine")
    (place / "mnist").mkdir()
    object_cache.trim(place, 0)
    assert sorted(path.name for path in place.iterdir()) == ["mnist", "thesis.txt"]


@unix
def test_the_warning_comes_from_a_whole_program_and_its_results_are_right(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)
    program = "import numpy as np, adjoint as ad\nprint(ad.sin(ad.tensor(np.ones(9)) * 2).numpy()[0])"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "ADJOINT_BACKEND": "native", "ADJOINT_CACHE": str(place)},
    )  # fmt: skip
    assert float(run.stdout) == pytest.approx(np.sin(2.0)) and "others may write to it" in run.stderr
    assert not list(place.iterdir())
    assert ad.is_grad_enabled()


@pytest.mark.skipif(sys.platform == "win32", reason="another variable")
def test_the_folder_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADJOINT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert object_cache.folder() == "/somewhere/adjoint/native"
    for unset in ("", None):
        monkeypatch.setenv("XDG_CACHE_HOME", unset) if unset is not None else monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", "/home/one")
        assert object_cache.folder() == "/home/one/.cache/adjoint/native"
    monkeypatch.setattr(object_cache.os.path, "expanduser", lambda path: path)  # of a user without a home
    assert object_cache.folder() is None


def test_code_is_found_by_another_hash_where_only_approved_ones_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*arguments: Any, **options: Any) -> Any:
        raise ValueError("not approved")

    monkeypatch.setattr("_blake2.blake2b", refused)
    assert object_cache._hash()(b"code").digest() == hashlib.sha256(b"code").digest()
