"""Memory that runs out is a MemoryError, wherever it happens, and what is asked for again with more memory is right."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/statm"), reason="limits of the address space are Linux's"
)

PROGRAM = """
import os, resource, sys
import numpy as np
import adjoint as ad

ad.set_num_threads(1)

def used():
    return int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")

def with_room(megabytes, action):
    resource.setrlimit(resource.RLIMIT_AS, (used() + megabytes * 1_000_000, resource.RLIM_INFINITY))
    try:
        action()
        return "done"
    except MemoryError:
        return "MemoryError"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

def chain(x, steps):
    for _ in range(steps):
        x = ad.sin(x) * 1.5 + ad.exp(x * 0.1)
    return x.sum()

points = np.linspace(0, 1, 100)
expected = points
for _ in range(40):
    expected = np.sin(expected) * 1.5 + np.exp(expected * 0.1)

chain(ad.tensor(points), 3).item(), chain(ad.tensor(points), 3).item()  # LLVM is loaded
for room in (2, 6, 10, 14, 18, 60):
    found = []
    y = chain(ad.tensor(points), 40)
    found.append(with_room(room, lambda: (chain(ad.tensor(points), 40).item(), chain(ad.tensor(points), 40).item())))
    np.testing.assert_allclose(chain(ad.tensor(points), 40).item(), expected.sum(), 1e-9)
    np.testing.assert_allclose(y.item(), expected.sum(), 1e-9)
    print(room, *found, flush=True)
    sys.modules["adjoint.execution.evaluate"]._cache.graphs.clear()
    sys.modules["adjoint.execution.evaluate"]._seen.clear()

large = ad.tensor(np.ones(1 << 20))
for action in (
    lambda: (ad.sin(ad.outer(large, large)) * 2).numpy(),
    lambda: ad.zeros((1 << 45,)).numpy(),
    lambda: ad.tensor(np.broadcast_to(1.0, 1 << 40)),
):
    try:
        action()
        print("done")
    except MemoryError:
        print("MemoryError")
print((large * 2).sum().item())
"""


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_memory_that_runs_out_is_an_error_and_no_end(backend: str) -> None:
    if backend == "native":
        pytest.importorskip("llvmlite")
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120,
        env={**os.environ, "ADJOINT_BACKEND": backend, "ADJOINT_CACHE": ""},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    lines = run.stdout.splitlines()
    assert lines[5] == "60 done" and lines[-1] == str(float(1 << 21))
    assert lines[0] == ("2 MemoryError" if backend == "native" else "2 done")
    assert lines[6:-1] == ["MemoryError"] * 3
