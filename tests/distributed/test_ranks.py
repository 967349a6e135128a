"""Real ranks: values and derivatives of collective operations, training to the same bits, ends of jobs."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.distributed, pytest.mark.timeout(600)]

PROGRAMS = Path(__file__).with_name("programs.py")
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


def start(ranks: int, *arguments: str, program: Path = PROGRAMS, **environment: str) -> subprocess.Popen[str]:
    assert MPIEXEC is not None, "mpiexec is not here: pip install 'adjoint[distributed]'"
    command = [MPIEXEC, "-n", str(ranks), sys.executable, str(program), *arguments]
    inside = {**os.environ, "ADJOINT_NUM_THREADS": "1", "ADJOINT_DISTRIBUTED_TIMEOUT": "100", **environment}
    return subprocess.Popen(command, env=inside, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(ranks: int, *arguments: str, fails: bool = False, **environment: str) -> Any:
    """What rank 0 said in JSON; with `fails`, what all wrote on standard error."""
    text = finished(start(ranks, *arguments, **environment), fails)
    return text if fails else json.loads(text.splitlines()[-1])


def finished(process: subprocess.Popen[str], fails: bool = False) -> str:
    """What a job wrote: its output or, if it `fails`, its errors."""
    try:
        out, err = process.communicate(timeout=240)
    finally:
        process.kill()
    assert (process.returncode != 0) == fails and (err or not fails), f"{process.returncode}: {err}{out}"
    return err if fails else out


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_collective_operations(ranks: int) -> None:
    assert run(ranks, "collectives")["passed"] == 12


def test_sending() -> None:
    run(2, "points")


@pytest.mark.parametrize("ranks", [2, 3])
def test_means_through_shared_memory(ranks: int) -> None:
    assert run(ranks, "means")["passed"] is True
    assert "at test" in (text := run(ranks, "unlike", fails=True)) and "at something else" in text


def test_groups() -> None:
    run(4, "groups")


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_layer_that_is_split(ranks: int) -> None:
    run(ranks, "split_layer")


def test_the_example_of_a_network_that_is_split() -> None:
    example = Path(__file__).parents[2] / "examples" / "split_layer.py"
    texts = [finished(start(ranks, "--quick", program=example)) for ranks in (1, 2)]
    losses = [[float(found) for found in re.findall(r"loss (\S+)", text)] for text in texts]
    assert len(losses[1]) == 6 and losses[1] == pytest.approx(losses[0], rel=1e-3, abs=2e-5)
    assert "each of 2 ranks holds 96 weights" in texts[1]


# ---- training ----------------------------------------------------------------------------------------------------------


def train(ranks: int, **options: Any) -> Any:
    return run(ranks, "train", json.dumps(options))


@pytest.mark.parametrize("options", [{}, {"compile": False}, {"norm": "synchronized"}], ids=str)
def test_ranks_learn_what_one_process_learns(options: dict[str, Any]) -> None:
    alone = train(1, **options)
    for ranks in (2, 4, *[8] * (not options)):
        together = train(ranks, **options)
        assert together["losses"] == pytest.approx(alone["losses"], rel=2e-5)


def test_the_same_bits_in_every_run() -> None:
    first, second = (train(2, dropout=True, norm=True) for _ in range(2))
    assert first == second


def test_the_same_bits_in_every_run_of_a_loop_of_ones_own() -> None:
    """When a structure is compiled must not depend on how long it took before."""
    first, second, third = (run(2, "by_hand") for _ in range(3))
    assert first == second == third


def test_optimizer_state_that_is_shared_out() -> None:
    together, shared = train(2), train(2, shard_state=True)
    assert shared["digest"] == together["digest"] and shared["losses"] == together["losses"]
    assert together["held"] == 2 * together["size"]
    assert shared["held"] < 0.8 * together["held"]


def test_bytes_sent() -> None:
    found = train(4, width=4000, epochs=1)
    least = 2 * 3 / 4 * 4 * found["size"]
    assert least <= found["sent"] <= 1.05 * least


@pytest.mark.parametrize("shard_state", [False, True])
def test_going_on_with_other_ranks(tmp_path: Path, shard_state: bool) -> None:
    """The same bits with as many ranks, the same path with another number."""
    options: dict[str, Any] = {"epochs": 3, "shard_state": shard_state, "dropout": True, "norm": True}
    whole = train(2, **options)
    path = str(tmp_path / "checkpoint.safetensors")
    train(2, **{**options, "epochs": 1}, checkpoint=path)
    shutil.copy(path, tmp_path / "kept.safetensors")
    again = train(2, **options, checkpoint=path, resume=True)
    assert again["digest"] == whole["digest"] and again["losses"] == whole["losses"]
    other = train(1, **options, checkpoint=str(tmp_path / "kept.safetensors"), resume=True)
    assert other["losses"][:7] == whole["losses"][:7] and len(other["losses"]) == len(whole["losses"])


def test_sums_begin_while_the_reverse_pass_goes_on() -> None:
    """Eight layers two by two: 8 products forward, 3 for the last two, 4 for the next. Whoever waits comes last. The norm by
    which gradients are clipped is that of the sums, so it holds up none of them."""
    found = run(2, "early")
    assert found["products"] == found["clipped"] == [11, 15, 19, 23, 23, 23, 23, 23]


CHAINS = 5
KILLS = int(os.environ.get("ADJOINT_KILLS", "50")) // CHAINS  # in each
LEFT_IN_PEACE: dict[str, Any] = {"epochs": 20, "dropout": True}


@pytest.fixture(scope="module")
def undisturbed() -> Any:
    return train(2, **LEFT_IN_PEACE)


@pytest.mark.parametrize("number", range(CHAINS))
def test_killed_at_random_moments(tmp_path: Path, number: int, undisturbed: Any) -> None:
    """Again and again a rank is killed: the job ends soon, nothing is half written, and resumed each time it comes to the bits of
    one left in peace."""
    path, begun = tmp_path / "checkpoint.safetensors", tmp_path / "begun"
    draw = random.Random(number)
    options = {**LEFT_IN_PEACE, "checkpoint": str(path), "every": 2, "slow": 0.05, "begun": str(begun)}
    for _ in range(KILLS):
        begun.unlink(missing_ok=True)
        process = start(2, "train", json.dumps({**options, "resume": path.exists()}))
        try:
            victim = draw.choice(pids_in(begun, process))
            time.sleep(0.4 * draw.random())
            os.kill(victim, signal.SIGKILL)
            started = time.monotonic()
            process.communicate(timeout=60)
            assert time.monotonic() - started < 30
            assert process.returncode != 0, "it was over before it was killed"
        finally:
            process.kill()
    assert path.exists(), "none of them came to its first checkpoint"
    again = train(2, **LEFT_IN_PEACE, checkpoint=str(path), resume=True)
    assert (
        again["resumed_at"] > 0
        and again["digest"] == undisturbed["digest"]
        and again["losses"] == undisturbed["losses"]
    )
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def pids_in(path: Path, process: subprocess.Popen[str]) -> list[int]:
    """The numbers of the ranks' processes, which rank 0 writes there with its first step."""
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        if path.exists() and (text := path.read_text()).endswith("\n"):
            found: list[int] = json.loads(text)
            return found
        time.sleep(0.01)
    raise AssertionError(f"no training began: {process.communicate()}")


# ---- ends of jobs ------------------------------------------------------------------------------------------------------


def test_ranks_that_do_different_things() -> None:
    text = run(2, "differ", fails=True)
    assert "rank" in text and "at something else" in text and "same order" in text


def test_a_value_that_one_rank_asks_for() -> None:
    text = run(2, "only_first", fails=True)
    assert "rank 0 of 2 has waited 2 s" in text and "for rank 1" in text


def test_a_rank_that_raises() -> None:
    started = time.monotonic()
    text = run(3, "fail", fails=True)
    assert "rank 1 of 3" in text and "KeyError: 'the reason'" in text and "programs.py" in text
    assert time.monotonic() - started < 60


def test_a_rank_without_memory() -> None:
    text = run(2, "out_of_memory", fails=True)
    assert "rank 1 of 2" in text and "MemoryError" in text


def test_a_rank_that_hangs() -> None:
    text = run(2, "hang", fails=True)
    assert "rank 0 of 2 has waited 3 s at barrier for rank 1" in text


def test_a_rank_that_hangs_in_training() -> None:
    text = run(2, "hang_in_training", fails=True)
    assert "rank 0 of 2 has waited 3 s at gradients for rank 1" in text


# ---- map ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_map(ranks: int) -> None:
    assert run(ranks, "mapped", "100", "-1") == {"passed": True}
    assert run(ranks, "mapped", "100", "77", "far") == {"failed": [77]}


# ---- the command -------------------------------------------------------------------------------------------------------


def test_the_command(tmp_path: Path) -> None:
    """`--workers 2` and `mpiexec -n 2` do the same, and show the progress of the whole job once."""
    texts = []
    for name in ("workers", "mpiexec"):
        arguments = ["train", "moons", "--epochs", "2", "--out", str(tmp_path / name)]
        command = [sys.executable, "-m", "adjoint", *arguments]
        command = [*command, "--workers", "2"] if name == "workers" else [str(MPIEXEC), "-n", "2", *command]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        texts.append(done.stdout)
        assert sorted(path.name for path in (tmp_path / name).iterdir() if path.name.startswith(".")) == []
    first, second = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("workers", "mpiexec"))
    assert first == second
    for text in texts:
        assert text.count("epoch 2/2") == 1, text
        assert re.search(r"^on \S+ rank 0 is process \d+, rank 1 is process \d+$", text, re.MULTILINE), text
