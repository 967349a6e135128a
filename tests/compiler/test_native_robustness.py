"""Native code where things go wrong: stray accesses, shared and damaged caches, forks, threads, interrupts, long plans."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.execution.native.program import compile_nests
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.plan import build
from adjoint.runtime import object_cache

GUARDED = Path(__file__).parents[1] / "helpers" / "guarded.py"
unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and mprotect")


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "ADJOINT_BACKEND": "native", **environment}
    return subprocess.run(
        [sys.executable, *arguments], env=settings, capture_output=True, text=True, timeout=250, check=False
    )


# ---- guard pages -----------------------------------------------------------------------------------------------------


@unix
def test_random_graphs_between_protected_pages() -> None:
    result = run(str(GUARDED), "0", "25")
    assert result.returncode == 0 and result.stdout == "no stray access\n", result.stderr


@unix
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 200))
@pytest.mark.parametrize("bits", ["128", "256", ""])
def test_a_thousand_random_graphs_between_protected_pages(first: int, bits: str) -> None:
    result = run(str(GUARDED), str(first), str(first + 200), ADJOINT_VECTOR_BITS=bits)
    assert result.returncode == 0 and result.stdout == "no stray access\n", result.stderr


@unix
def test_the_protected_pages_catch_a_planted_stray_access() -> None:
    assert run(str(GUARDED), "planted").returncode in (-signal.SIGSEGV, -signal.SIGBUS)


# ---- the disk cache --------------------------------------------------------------------------------------------------

PROGRAM = """
import numpy as np, adjoint as ad
x = np.linspace(-1, 1, 700)
for k in range(12):
    t = ad.tensor(x[: 50 * (k + 2)])
    found = (ad.sin(t * (k + 0.5)) + ad.exp(t) ** (k + 2)).numpy()
    np.testing.assert_allclose(found, np.sin(x[: 50 * (k + 2)] * (k + 0.5)) + np.exp(x[: 50 * (k + 2)]) ** (k + 2), 1e-10)
print("right")
"""


def test_processes_share_a_cache_that_is_then_damaged(tmp_path: Path) -> None:
    settings = {**os.environ, "ADJOINT_BACKEND": "native", "ADJOINT_CACHE": str(tmp_path)}
    together = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in together:
        out, error = process.communicate(timeout=100)
        assert (process.returncode, out) == (0, b"right\n"), error
    entries = sorted(tmp_path.iterdir())
    assert len(entries) >= 12 and not [x for x in entries if x.name.startswith("new-")]
    random = np.random.default_rng(0)
    for path in entries:
        data = bytearray(path.read_bytes())
        how = int(random.integers(3))
        if how == 0:
            path.write_bytes(data[: int(random.integers(len(data)))])
        elif how == 1:
            data[int(random.integers(len(data)))] ^= 1 << int(random.integers(8))
            path.write_bytes(data)
    result = run("-c", PROGRAM, ADJOINT_CACHE=str(tmp_path))
    assert (result.returncode, result.stdout) == (0, "right\n"), result.stderr


def test_a_cache_folder_that_refuses_new_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path))
    monkeypatch.setattr(object_cache, "CREATED", os.O_WRONLY)  # as root may write anywhere
    object_cache.store("0" * 64, b"code")
    assert object_cache.load("0" * 64) is None and list(tmp_path.iterdir()) == []


# ---- processes, threads, interrupts ----------------------------------------------------------------------------------

FORK = """
import os, numpy as np, adjoint as ad
x = np.linspace(-1, 1, 40_000).reshape(200, 200)
def work(k):
    t = ad.variable(x)
    y = (ad.tanh(t * (k + 0.5)) @ t).sum()
    y.backward()
    return y.item(), t.grad.numpy()
before = work(1)
children = []
for k in range(3):
    child = os.fork()
    if not child:
        same, other = work(1), work(k + 2)
        assert same[0] == before[0] and (same[1] == before[1]).all()
        assert abs(other[0] - (np.tanh(x * (k + 2.5)) @ x).sum()) < 1e-6
        os._exit(0)
    children.append(child)
after = work(1)
assert after[0] == before[0]
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
print("right")
"""


@unix
def test_children_of_a_fork_compute_on() -> None:
    result = run("-W", "ignore::DeprecationWarning", "-c", FORK)
    assert (result.returncode, result.stdout) == (0, "right\n"), result.stderr


def test_many_threads_compile_and_run_at_once() -> None:
    tiers = importlib.import_module("adjoint.execution.tiers").tiers
    before, tiers.backend = tiers.backend, "native"
    shared = ad.variable(np.linspace(0.1, 1, 5000))
    wrong: list[Any] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(6):
            n, scale = int(random.integers(1, 400)), float(random.uniform(0.5, 2))
            x = random.normal(size=(n, 30))
            found = ((ad.exp(ad.tensor(x) * 0.1) @ ad.tensor(x).T).sum(axis=0) * scale).numpy()
            if not np.allclose(found, (np.exp(x * 0.1) @ x.T).sum(axis=0) * scale, 1e-9, 1e-9):
                wrong.append((seed, n))
            (slope,) = ad.gradients((ad.log(shared) * scale).sum(), [shared])
            if not np.allclose(slope.numpy(), scale / np.linspace(0.1, 1, 5000), 1e-12):
                wrong.append((seed, "shared"))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        tiers.backend = before
    assert not wrong and not any(thread.is_alive() for thread in threads)


INTERRUPTED = """
import _thread, random, threading, numpy as np, adjoint as ad
random.seed(1)
start = np.linspace(-1, 1, 60_000).reshape(200, 300)
w = ad.variable(start)
optimizer = ad.optim.SGD([w], lr=0.01, momentum=0.5)
expected, velocity, interrupts = start.copy(), np.zeros_like(start), 0
for k in range(60):
    timer = threading.Timer(random.uniform(0, 0.006), _thread.interrupt_main)
    gradient = np.cos(expected) * 0.1
    try:
        timer.start()
        while True:
            ad.sin(w * 1.5).sum().item()
    except KeyboardInterrupt:
        interrupts += 1
    timer.join()
    # what was interrupted is asked for again, and the next step starts from sound values
    w.grad = ad.cos(w.detach()) * 0.1
    optimizer.step()
    velocity = 0.5 * velocity + gradient
    expected = expected - 0.01 * velocity
    np.testing.assert_allclose(w.numpy(), expected, 1e-9, 1e-12)
    assert abs(ad.sin(w).sum().item() - np.sin(expected).sum()) < 1e-7
assert interrupts == 60
print("right")
"""


def test_interrupts_in_the_middle_leave_sound_values() -> None:
    result = run("-c", INTERRUPTED)
    assert (result.returncode, result.stdout) == (0, "right\n"), result.stderr


# ---- long plans ------------------------------------------------------------------------------------------------------


def test_compiling_takes_work_in_proportion_to_the_plan() -> None:
    def calls(length: int) -> int:
        """How many of Python's functions are called."""
        x = ad.tensor(np.linspace(0, 1, 3000))
        y = x
        for k in range(length):
            y = y * (0.5 + k % 7 * 0.0625) + x
        c = canonicalize([y.node])
        plan = build(c, [c.number[y.node]], False)
        count = 0

        def counted(frame: FrameType, event: str, argument: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(counted)
        try:
            program = compile_nests(plan)
        finally:
            sys.setprofile(None)
        assert program is not None
        expected = np.linspace(0, 1, 3000)
        for k in range(length):
            expected = expected * (0.5 + k % 7 * 0.0625) + np.linspace(0, 1, 3000)
        (found,) = program.run([value_array(x) for x in c.leaves], [v for v, _ in c.numbers], True)
        np.testing.assert_allclose(found, expected.astype(found.dtype), 1e-3)
        return count

    first = {length: calls(length) for length in (200, 800)}  # which write the kernels
    again = {length: calls(length) for length in (200, 800)}
    assert again[800] < 8 * again[200] and first[800] < 8 * first[200]  # 4 if it were exactly so; 16 if quadratic


FORKS_WHILE_COMPILING = """
import os, threading
import numpy as np
import adjoint as ad

def compiled(n):
    return ad.jit(lambda x: ad.relu(x @ x.T))(ad.tensor(np.ones((n, 7), "float32"))).sum().item()

compiled(3)
thread = threading.Thread(target=lambda: [compiled(n) for n in range(20, 60)])
thread.start()
for n in range(6):
    child = os.fork()
    if child == 0:
        os._exit(0 if compiled(5 + n) == 7.0 * (5 + n) ** 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_compiles() -> None:
    """LLVM's locks, which that thread may hold, would stay held in the child."""
    environment = {**os.environ, "ADJOINT_CACHE": ""}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS_WHILE_COMPILING]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr


FORKS_WHILE_RUNNING = """
import os, threading
import numpy as np
import adjoint as ad

scalars = [ad.tensor(0.5 + k / 7) for k in range(4)]
matrix = ad.tensor(np.ones((5, 7), "float32"))
step = ad.jit(lambda x: ad.relu(x @ x.T))

def work():
    found = [(matrix @ matrix.T).sum().item(), step(matrix).sum().item()]
    y = scalars[0]
    for k in range(12):
        y = ad.tanh(y * scalars[k % 4]) + scalars[(k + 1) % 4]
    ad.random.normal((3,)).numpy()
    ad.jit(lambda x: x * 2)(matrix)
    return [*found, y.item()]

expected = work()
stopped = []

def repeat():
    while not stopped:
        assert work() == expected

threads = [threading.Thread(target=repeat) for _ in range(2)]
for thread in threads:
    thread.start()
try:
    for _ in range(60):
        child = os.fork()
        if child == 0:
            os._exit(0 if work() == expected == work() else 1)
        assert os.waitpid(child, 0)[1] == 0
finally:
    stopped.append(True)
    for thread in threads:
        thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("backend", ["auto", "numpy"])
def test_a_fork_while_other_threads_compute(backend: str) -> None:
    """The locks that those threads hold (of plans, programs, generators, OpenBLAS's threads) are free in the child."""
    environment = {**os.environ, "ADJOINT_BACKEND": backend}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS_WHILE_RUNNING]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr


FORK_WHILE_THE_COMPILER_IS_IMPORTED = """
import os, signal, sys, threading, time
import numpy as np
import adjoint as ad

met = threading.Event()

class Slow:  # a finder that finds nothing, some time after the import has begun
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == sys.argv[1]:
            met.set()
            time.sleep(0.3)

sys.meta_path.insert(0, Slow)
work = lambda: [ad.sum(ad.tanh(ad.tensor(np.ones((40, 40))))).item() for _ in range(3)][-1]
thread = threading.Thread(target=work)
thread.start()
assert met.wait(60)
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if abs(work() - 1600 * np.tanh(1.0)) < 1e-9 else 1)
assert os.waitpid(child, 0)[1] == 0
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize(
    ("backend", "module"), [("native", "adjoint.compiler.linking"), ("auto", "adjoint.runtime.object_cache")]
)
def test_a_fork_while_another_thread_imports_the_compiler(backend: str, module: str) -> None:
    """It waits: in the child nobody would ever end that, and whoever imports it as well would wait for good. Locks that are made
    meanwhile are free in both."""
    environment = {**os.environ, "ADJOINT_BACKEND": backend}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK_WHILE_THE_COMPILER_IS_IMPORTED, module]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (result.returncode, result.stderr) == (0, "")


# ---- the address space -------------------------------------------------------------------------------------------------

IN_PIECES = """
import ctypes
import numpy as np
import adjoint as ad

x = ad.tensor(np.linspace(0, 1, 5000))
assert ad.jit(lambda x: x + 1)(x).numpy()[0] == 1  # LLVM and all that it loads is there

library = ctypes.CDLL(None)
library.mmap.restype = ctypes.c_void_p
library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
FAILED = ctypes.c_void_p(-1).value

def reserve(size):  # private, anonymous, not accounted for, not accessible
    return library.mmap(None, size, 0, 0x22 | 0x4000, -1, 0)

start = reserve(64 << 32)
assert start != FAILED
size = 1 << 36
while size >= 4096:  # every gap above that
    found = reserve(size)
    if found == FAILED or found < start:
        library.munmap(found, size)
        size >>= 1
for k in range(64):  # room for one to three pages, every 4 GB
    library.munmap(start + (k << 32), 4096 * (1 + k % 3))
found = ad.jit(lambda x: (ad.exp(x) * ad.sin(x) + ad.tanh(x) + ad.log(x + 2)).sum())(x).item()
y = np.linspace(0, 1, 5000)
assert abs(found / (np.exp(y) * np.sin(y) + np.tanh(y) + np.log(y + 2)).sum() - 1) < 1e-5
"""


@pytest.mark.skipif(sys.platform != "linux", reason="places of mappings are Linux's")
def test_an_address_space_in_pieces() -> None:
    """Code and its constants must lie within 2 GB of each other; LLVM ends the process where they don't."""
    environment = {**os.environ, "ADJOINT_CACHE": ""}
    result = subprocess.run(
        [sys.executable, "-c", IN_PIECES], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
