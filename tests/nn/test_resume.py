"""Training that is killed, interrupted or runs out of disk loses nothing that was saved, and goes on with the same bits."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint import _files, nn, optim, train
from adjoint.train.checkpoints import previous
from long_training import run

SCRIPT = Path(__file__).with_name("long_training.py")


def weights(folder):
    return {name: value.numpy() for name, value in ad.load(Path(folder) / "weights.safetensors").items()}


def assert_same_bits(a, b):
    assert set(a) == set(b)
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name


def log_of(folder):
    records = [json.loads(line) for line in (Path(folder) / "log.jsonl").read_text().splitlines()]
    return [{name: value for name, value in record.items() if name != "seconds"} for record in records]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that was never stopped."""
    folder = tmp_path_factory.mktemp("whole")
    run(folder, pause=0)
    return folder


@pytest.fixture(scope="module")
def whole_compiled(tmp_path_factory):
    """The same with `compile`."""
    folder = tmp_path_factory.mktemp("compiled")
    run(folder, pause=0, compiled=True)
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a POSIX signal")
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["", "jit"])
def test_killed_at_random_moments_it_ends_with_the_same_bits(whole, whole_compiled, tmp_path, kills, kind):
    chance, expected = random.Random(kills), whole_compiled if kind else whole
    command = [sys.executable, str(SCRIPT), str(tmp_path), kind]
    for _ in range(kills):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            # From its first steps on, at any moment: while it computes, saves, writes its log, or measures.
            for _ in range(chance.randrange(1, 14)):
                if not process.stdout.readline():
                    break
            time.sleep(chance.random() * 0.02)
            process.kill()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
    assert_same_bits(weights(tmp_path), weights(expected))
    assert log_of(tmp_path) == log_of(expected)
    assert list(tmp_path.glob(".*run.safetensors*")) == []


@pytest.mark.parametrize("step", [1, 5, 11, 12, 13, 24, 30, 48])
def test_interrupted_anywhere_it_ends_with_the_same_bits(whole, tmp_path, monkeypatch, step):
    """Also at the last step of an epoch (12), where the position in the data is at its end."""
    losses = []
    real = nn.functional.cross_entropy

    def interrupting(logits, target):
        losses.append(1)
        if len(losses) == step:
            signal.raise_signal(signal.SIGINT)
        return real(logits, target)

    monkeypatch.setattr(nn.functional, "cross_entropy", interrupting)
    _, _, history = run(tmp_path, pause=0)
    assert history.interrupted
    assert len(history.losses) == step
    _, _, history = run(tmp_path, pause=0)
    assert not history.interrupted
    assert history.resumed_at == step
    assert len(history.losses) == 48
    assert [epoch.number for epoch in history.epochs] == [1, 2, 3, 4]
    assert_same_bits(weights(tmp_path), weights(whole))
    assert log_of(tmp_path) == log_of(whole)


def test_a_compiled_step_trains_alike(whole, whole_compiled):
    found, expected = weights(whole_compiled), weights(whole)
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-3, atol=1e-4, err_msg=name)


def test_a_finished_run_has_nothing_to_do(whole, tmp_path, capsys):
    run(tmp_path, pause=0)
    capsys.readouterr()
    _, _, history = run(tmp_path, pause=0)
    assert "step" not in capsys.readouterr().out
    assert len(history.losses) == 48
    assert_same_bits(weights(tmp_path), weights(whole))


def test_a_damaged_checkpoint_is_told_and_the_one_before_it_used(whole, tmp_path, capsys):
    run(tmp_path, pause=0)
    path = tmp_path / "run.safetensors"
    data = path.read_bytes()
    flipped = bytearray(data)
    flipped[-30] ^= 4
    for spoiled in (data[:-100], b"", bytes(flipped)):
        path.write_bytes(spoiled)
        capsys.readouterr()
        _, _, history = run(tmp_path, pause=0)
        text = capsys.readouterr().out
        assert "run.safetensors is" in text
        assert "going on from the one before it" in text
        assert history.resumed_at < 48
        assert_same_bits(weights(tmp_path), weights(whole))
    path.write_bytes(data[:-100])
    previous(path).write_bytes(b"")
    with pytest.raises(train.DamagedCheckpoint, match="damaged or cut short"):
        run(tmp_path, pause=0)


# ---------------------------------------------------------------- a checkpoint alone


def parts():
    ad.random.seed(0)
    model = nn.Linear(3, 2)
    return {"model": model, "optimizer": optim.Adam(model.parameters())}


def test_values_of_every_kind_come_back(tmp_path):
    given = {
        "numbers": [1, 2.5, -0.0, float("inf"), True, None],
        "pair": (1, (2, "three")),
        "named": {"a": {"b": np.arange(3)}, 7: ad.tensor([1.5])},
        "text": "größer",
    }
    generator = ad.random.Generator(5)
    generator.normal((3,))
    ad.random.seed(9)
    train.save_checkpoint(tmp_path / "file", generator=generator, **given)
    expected = generator.normal((2,)).tolist(), ad.random.normal((2,)).tolist()
    other = ad.random.Generator(0)
    ad.random.seed(0)
    found = train.load_checkpoint(tmp_path / "file", generator=other)
    assert (other.normal((2,)).tolist(), ad.random.normal((2,)).tolist()) == expected
    assert found["numbers"] == given["numbers"]
    assert found["pair"] == given["pair"]
    assert found["text"] == given["text"]
    assert found["named"]["a"]["b"].tolist() == [0, 1, 2]
    assert isinstance(found["named"][7], ad.Tensor)
    assert found["named"][7].item() == 1.5


def test_what_does_not_fit_changes_nothing(tmp_path):
    path = tmp_path / "file"
    saved = parts()
    train.save_checkpoint(path, **saved, settings={"lr": 0.1})
    other = nn.Sequential(nn.Linear(3, 2))
    model = nn.Linear(3, 4)
    optimizer = optim.Adam([*model.parameters(), ad.variable(1.0)])
    before = model.weight.numpy().copy()
    cases = [
        ({"model": model}, r"doesn't fit model: .*\n  shape of weight: the module has \(4, 3\), the state \(2, 3\)"),
        ({"model": other}, r"missing: 0\.weight, 0\.bias\n  unexpected: weight, bias"),
        ({"model": nn.Linear(3, 2), "optimizer": optimizer}, r"doesn't fit optimizer: Adam: .*groups of \[3\]"),
        ({"network": model}, r"has no network; it has model, optimizer, settings"),
    ]
    for given, text in cases:
        ad.random.seed(3)
        states = [part.state_dict() for part in given.values()]
        with pytest.raises(ValueError, match=text):
            train.load_checkpoint(path, **given)
        assert ad.random.default_generator.state.tolist()[1] == 0
        for part, state in zip(given.values(), states, strict=True):
            if isinstance(part, nn.Module):
                assert_same_bits(
                    {name: value.numpy() for name, value in part.state_dict().items()},
                    {name: value.numpy() for name, value in state.items()},
                )
    np.testing.assert_array_equal(model.weight.numpy(), before)
    with pytest.raises(TypeError, match=r"save_checkpoint: f is a function"):
        train.save_checkpoint(path, f=parts)
    ad.save(tmp_path / "weights", saved["model"])
    with pytest.raises(ValueError, match="holds weights only"):
        train.load_checkpoint(tmp_path / "weights", **saved)


def test_the_one_before_is_kept(tmp_path):
    path = tmp_path / "run.safetensors"
    for step in range(3):
        train.save_checkpoint(path, step=step)
    assert train.load_checkpoint(path) == {"step": 2}
    assert train.load_checkpoint(previous(path)) == {"step": 1}
    assert sorted(os.listdir(tmp_path)) == ["run.previous.safetensors", "run.safetensors"]


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "run.safetensors"
    train.save_checkpoint(path, step=1)
    train.save_checkpoint(path, step=2)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_files.os, "fsync", full)
    with pytest.raises(
        OSError, match=r"can't write the checkpoint .*No space left on device; the last one, .* untouched"
    ):
        train.save_checkpoint(path, step=3)
    assert train.load_checkpoint(path) == {"step": 2}
    assert train.load_checkpoint(previous(path)) == {"step": 1}
    assert sorted(os.listdir(tmp_path)) == ["run.previous.safetensors", "run.safetensors"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files by a POSIX call")
def test_a_disk_that_fills_up_during_training(whole, tmp_path):
    """The system refuses to write more than a few bytes, in the middle of a run; with room again it goes on."""
    code = (
        "import resource, signal, sys; sys.path.insert(0, sys.argv[2]); import long_training as t\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "class Full(t.Tell):\n"
        "    steps = 0\n"
        "    def advance(self, loss):\n"
        "        Full.steps += 1\n"
        "        if Full.steps == 17: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "t.Tell = Full; t.run(sys.argv[1], pause=0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(SCRIPT.parent)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "can't write the checkpoint" in done.stderr
    assert "is untouched" in done.stderr
    _, _, history = run(tmp_path, pause=0)
    assert history.resumed_at == 15
    assert_same_bits(weights(tmp_path), weights(whole))


@pytest.mark.skipif(sys.platform == "win32", reason="other permissions")
def test_a_folder_without_permission(tmp_path):
    train.save_checkpoint(tmp_path / "run.safetensors", step=1)
    other = tmp_path / "other"
    other.mkdir()
    tmp_path.chmod(0o555)
    code = (
        "import os, sys; from adjoint import train\n"
        "train.save_checkpoint(sys.argv[2], step=0)  # what is loaded first then can't be read any more, maybe\n"
        "if os.geteuid() == 0: os.seteuid(65534)  # root may write anywhere\n"
        "train.save_checkpoint(sys.argv[1], step=2)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run.safetensors"), str(other / "run.safetensors")],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    tmp_path.chmod(0o755)
    assert "PermissionError: can't write the checkpoint" in done.stderr
    assert train.load_checkpoint(tmp_path / "run.safetensors") == {"step": 1}


def test_a_folder_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"can't write the checkpoint .*file.run: Not a directory"):
        train.save_checkpoint(tmp_path / "file" / "run", step=1)


# ---------------------------------------------------------------- what fit refuses


def fit(tmp_path, model=None, **options):
    x = np.ones((8, 1), np.float32)
    model = model or nn.Linear(1, 1)
    optimizer = options.pop("optimizer", None) or optim.SGD(model.parameters(), 0.01)
    loader = options.pop("data", None) or ad.data.DataLoader((x, x), 4, shuffle=True)
    return train.fit(model, nn.functional.mse_loss, optimizer, loader, progress=False, **options)


def test_other_settings_are_refused(tmp_path):
    path = tmp_path / "run"
    fit(tmp_path, checkpoint=path, settings={"lr": 0.1, "seed": 0})
    with pytest.raises(ValueError, match=r"made with other settings: lr was 0.1 and is 0.2; seed was 0 and is None"):
        fit(tmp_path, checkpoint=path, settings={"lr": 0.2}, resume=True)


def test_another_network_is_refused_by_its_shapes(tmp_path):
    path = tmp_path / "run"
    fit(tmp_path, checkpoint=path)
    model = nn.Sequential(nn.Linear(1, 1))
    with pytest.raises(ValueError, match=r"doesn't fit model: .*\n  missing: 0\.weight"):
        fit(tmp_path, model, checkpoint=path, resume=True)


def test_data_without_a_position_is_passed_over(tmp_path):
    batches = [(np.full((2, 1), i, np.float32), np.zeros((2, 1), np.float32)) for i in range(6)]
    seen = []

    class Counting(nn.Linear):
        def forward(self, x):
            seen.append(float(np.asarray(x)[0, 0]))
            if len(seen) == 4:
                signal.raise_signal(signal.SIGINT)
            return super().forward(ad.tensor(x))

    for _ in range(2):
        ad.random.seed(0)
        fit(tmp_path, Counting(1, 1), data=batches, checkpoint=tmp_path / "run", resume=True)
    assert seen == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"resume": True}, "need the name of a checkpoint"),
        ({"checkpoint_every": 3}, "need the name of a checkpoint"),
        ({"checkpoint": "x", "checkpoint_every": 0}, "at least 1"),
        ({"schedule_each": "week"}, "'step' or 'epoch'"),
        ({"early_stopping": train.EarlyStopping("accuracy")}, "nothing measures 'accuracy'; there are loss"),
    ],
)
def test_mistakes_are_told(tmp_path, options, text):
    with pytest.raises(ValueError, match=text):
        fit(tmp_path, **options)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_wrong_label_and_an_empty_batch_are_told_with_their_step(compiled):
    x, y = np.ones((8, 4), np.float32), np.array([0, 1, 2, 0, 1, 12, 0, 1])
    model = nn.Linear(4, 3)
    options = {"optimizer": optim.SGD(model.parameters(), 0.1), "epochs": 2, "compile": compiled, "progress": False}
    batches = [(x[:4], y[:4]), (x[4:], y[4:])]
    with pytest.raises(IndexError, match=r"12 .*at step 2 of epoch 1; is a label outside"):
        train.fit(model, nn.functional.cross_entropy, data=batches, **options)
    with pytest.raises(ValueError, match=r"the batch of step 2 of epoch 1 is empty; .* shape \(0, 4\)"):
        train.fit(model, nn.functional.cross_entropy, data=[(x[:4], y[:4]), (x[:0], y[:0])], **options)


def test_early_stopping_gives_the_best_weights_back():
    scores = iter([0.5, 0.7, 0.6, 0.7, 0.65, 0.9])
    kept = []

    def validate(model):
        kept.append(model.weight.item())
        return {"test accuracy": next(scores)}

    model = nn.Linear(1, 1)
    history = fit(None, model, epochs=6, validate=validate, early_stopping=train.EarlyStopping("test accuracy", 3))
    assert history.stopped_early
    assert len(history.epochs) == 5
    assert model.weight.item() == kept[1] != kept[-1]


def test_schedules_for_each_epoch():
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), 0.1)
    schedule = optim.StepLR(optimizer, 2, gamma=0.5)
    history = fit(None, model, epochs=4, optimizer=optimizer, schedule=schedule, schedule_each="epoch")
    np.testing.assert_allclose(history.rates, [0.1] * 4 + [0.05] * 4)
    assert optimizer.lr == 0.025


def test_the_confusion_matrix():
    labels, scores = np.array([0, 1, 2, 2]), np.eye(3)[[0, 2, 2, 1]]
    expected = [[1, 0, 0], [0, 0, 1], [0, 1, 1]]
    assert train.confusion_matrix(labels, scores).tolist() == expected
    assert train.confusion_matrix(labels, scores.argmax(1)).tolist() == expected
    assert train.confusion_matrix([0], [0], classes=2).tolist() == [[1, 0], [0, 0]]
    with pytest.raises(ValueError, match="don't match"):
        train.confusion_matrix([0], [0, 1])
    with pytest.raises(ValueError, match="class numbers from 0 to 3 of 3 classes"):
        train.confusion_matrix([0, 3], [1, 1], classes=3)


def test_the_log_has_a_line_for_each_step_and_epoch(whole):
    records = log_of(whole)
    assert len(records) == 48 + 4
    assert records[0]["step"] == 1
    assert records[12] == {
        "step": 12,
        "epoch": 1,
        "mean_loss": records[12]["mean_loss"],
        "accuracy": records[12]["accuracy"],
    }
    assert records[12]["mean_loss"] == pytest.approx(np.mean([record["loss"] for record in records[:12]]))


def test_a_checkpoint_that_is_the_one_before_as_well_leaves_no_third_name(tmp_path):
    """As where a process was killed between giving the old file its second name and putting the new one in its place."""
    path = tmp_path / "run.safetensors"
    train.save_checkpoint(path, step=1)
    before = tmp_path / "run.previous.safetensors"
    os.link(path, before)
    train.save_checkpoint(path, step=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == [before.name, path.name]
    assert train.load_checkpoint(before) == {"step": 1} and train.load_checkpoint(path) == {"step": 2}
