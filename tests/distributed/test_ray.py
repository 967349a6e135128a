"""A real Ray on this machine: the bits of MPI, and going on after a worker has died."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from test_ranks import PROGRAMS, train

pytestmark = [pytest.mark.distributed, pytest.mark.timeout(600)]

OPTIONS: dict[str, Any] = {"epochs": 2, "dropout": True, "compile": False}


@pytest.fixture(scope="module")
def by_mpi() -> Any:
    return train(2, **OPTIONS)


def start(*command: str) -> str:
    inside = {**os.environ, "ADJOINT_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [sys.executable, *command], env=inside, capture_output=True, text=True, timeout=400, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def on_ray(workers: int, **options: Any) -> Any:
    return json.loads(start(str(PROGRAMS), "on_ray", str(workers), json.dumps(options)).splitlines()[-1])


def test_the_bits_of_mpi(by_mpi: Any) -> None:
    found = on_ray(2, **OPTIONS)
    assert found["digest"] == by_mpi["digest"] and found["losses"] == by_mpi["losses"] and found["told"] == []


def test_exchanges() -> None:
    assert json.loads(start(str(PROGRAMS), "exchanges_on_ray", "2").splitlines()[-1]) == {"passed": True}


@pytest.mark.parametrize(("rank", "step"), [(0, 9), (1, 5)])
def test_a_worker_that_is_killed(tmp_path: Path, by_mpi: Any, rank: int, step: int) -> None:
    """All begin again from the checkpoint, by themselves, and come to the bits of a run that nobody disturbed."""
    path = str(tmp_path / "checkpoint.safetensors")
    found = on_ray(2, **OPTIONS, checkpoint=path, every=2, dies=[str(tmp_path), rank, step])
    assert found["digest"] == by_mpi["digest"] and found["losses"] == by_mpi["losses"]
    assert found["resumed_at"] > 0
    (line,) = found["told"]
    assert line.startswith("restart 1 of 3, with 2 of 2 workers")


def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "moons"
    start("-m", "adjoint", "train", "moons", "--epochs", "2", "--out", str(out), "--workers", "2", "--engine", "ray")
    assert {"weights.safetensors", "checkpoint.safetensors", "border.png"} <= {path.name for path in out.iterdir()}


@pytest.mark.parametrize("fails", ["none", "30"])
def test_map(tmp_path: Path, fails: str) -> None:
    """In order, though an item failed and another's worker died; what fails every time is reported, with the others' values."""
    found = json.loads(start(str(PROGRAMS), "mapped_on_ray", str(tmp_path), fails).splitlines()[-1])
    assert found == (True if fails == "none" else [[30], 121, True])
