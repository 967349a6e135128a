"""Training as a person meets it: fit, the command line, saved weights, pictures, and what goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import adjoint as ad
from adjoint import cli, nn, optim, plot, train
from adjoint.train.history import percent
from adjoint.train.interrupt import StopOnInterrupt
from adjoint.train.progress import BarProgress, LineProgress, make_progress
from mnist_files import write_mnist
from support import without_pictures

PNG = b"\x89PNG\r\n\x1a\n"


def line_data(seed=0):
    x = np.random.default_rng(seed).standard_normal((64, 1)).astype(np.float32)
    return x, 3 * x + 1


def fit_line(**options):
    ad.random.seed(0)
    model = nn.Linear(1, 1)
    loader = ad.data.DataLoader(line_data(), 16, shuffle=True)
    optimizer = optim.SGD(model.parameters(), lr=options.pop("lr", 0.1))
    return model, train.fit(model, nn.functional.mse_loss, optimizer, loader, progress=False, **options)


# ---------------------------------------------------------------- fit


def test_fit_learns_and_reports(capsys):
    model, history = fit_line(
        epochs=20, validate=lambda m: {"weight error": abs(m.weight.item() - 3), "accuracy": 0.97499}
    )
    assert model.weight.item() == pytest.approx(3, abs=1e-2)
    assert len(history.losses) == 80
    assert history.losses[-1] < 1e-3 < history.losses[0]
    assert [epoch.number for epoch in history.epochs] == list(range(1, 21))
    assert history.epochs[0].loss == pytest.approx(np.mean(history.losses[:4]))
    assert not history.interrupted
    assert model.training
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 20
    assert lines[0].startswith("epoch  1/20  loss ")
    assert "  accuracy 97.4 %  " in lines[0]


@pytest.mark.usefixtures("equal_bits")
def test_fit_equals_the_plain_loop():
    model, history = fit_line(epochs=2)
    ad.random.seed(0)
    plain = nn.Linear(1, 1)
    optimizer = optim.SGD(plain.parameters(), lr=0.1)
    loader, losses = ad.data.DataLoader(line_data(), 16, shuffle=True), []
    for _ in range(2):
        for x, y in loader:
            loss = nn.functional.mse_loss(plain(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    np.testing.assert_array_equal(model.weight.numpy(), plain.weight.numpy())
    assert losses == history.losses


def test_schedule_scales_the_rates_and_gives_them_back():
    rates = []
    model = nn.Linear(1, 1)
    a, b = model.parameters()
    optimizer = optim.SGD([{"params": a, "lr": 1e-2}, {"params": b}], lr=1e-3)

    def loss(prediction, target):
        rates.append([group["lr"] for group in optimizer.param_groups])
        return nn.functional.mse_loss(prediction, target)

    loader = ad.data.DataLoader(line_data(), 32, shuffle=True)
    train.fit(model, loss, optimizer, loader, epochs=2, schedule=lambda done: 1 - done, progress=False)
    np.testing.assert_allclose(rates, np.outer([1, 0.75, 0.5, 0.25], [1e-2, 1e-3]))
    assert [group["lr"] for group in optimizer.param_groups] == [1e-2, 1e-3]


def test_validation_is_in_evaluation_mode_and_records_nothing():
    seen = []

    def validate(model):
        seen.append((model.training, ad.is_grad_enabled()))
        return {}

    fit_line(epochs=1, validate=validate)
    assert seen == [(False, False)]


def test_a_loss_that_is_not_finite_is_told():
    with pytest.raises(FloatingPointError, match=r"the loss became (inf|nan) at step \d+ of epoch \d+.*learning rate"):
        fit_line(epochs=50, lr=1e6)


def test_an_optimizer_of_another_model_is_told():
    model, other = nn.Linear(1, 1), nn.Linear(1, 1)
    with pytest.warns(UserWarning, match=r"none of the parameters of this Linear.*test_train\.py"):
        train.fit(model, nn.functional.mse_loss, optim.SGD(other.parameters()), PAIRS, progress=False)


@pytest.mark.parametrize(
    ("data", "options", "text"),
    [
        ([], {}, "no batches"),
        (iter([]), {"schedule": lambda done: 1.0}, "has a length"),
        ([(ad.ones((2, 1)), ad.ones((2, 1)))], {"loss": lambda p, t: p - t}, "single number; its shape is .2, 1."),
    ],
)
def test_fit_mistakes(data, options, text):
    model = nn.Linear(1, 1)
    settings = {"loss": nn.functional.mse_loss, **options, "progress": False}
    with pytest.raises(ValueError, match=text):
        train.fit(model, optimizer=optim.SGD(model.parameters()), data=data, **settings)


PAIRS = [(ad.ones((2, 1)), ad.ones((2, 1)))]


@pytest.mark.parametrize(
    ("data", "options", "text"),
    [
        ([{"x": ad.ones((2, 1)), "y": ad.ones((2, 1))}], {}, "a batch is a pair .*step 1 of epoch 1 is a dict"),
        ([ad.ones((2, 1))], {}, "is a Tensor"),  # which could be taken apart into two rows
        ([(*PAIRS[0], ad.ones(2))], {}, "is 3 parts"),
        (PAIRS, {"loss": lambda p, t: 1.0}, "not a float"),
        (PAIRS, {"validate": lambda model: None}, "numbers by name, not a NoneType"),
        (PAIRS, {"schedule": 0.5}, "schedule is one of optim, or a function .*not 0.5"),
    ],
)
def test_fit_is_given_something_else(data, options, text):
    model = nn.Linear(1, 1)
    settings = {"loss": nn.functional.mse_loss, **options, "progress": False}
    with pytest.raises(TypeError, match=text):
        train.fit(model, optimizer=optim.SGD(model.parameters()), data=data, **settings)


@pytest.mark.parametrize("workers", (0, 1))
def test_a_stream_without_a_length(workers, capsys):
    class Stream(ad.data.IterableDataset):
        def __iter__(self):
            return iter([(np.float32([i]), np.float32([2 * i])) for i in range(5)])

    model = nn.Linear(1, 1)
    loader = ad.data.DataLoader(Stream(), 2, num_workers=workers)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    history = train.fit(model, nn.functional.mse_loss, optimizer, loader, epochs=2, progress=False)
    assert len(history.losses) == 6
    with pytest.raises(ValueError, match="needs data that has a length"):
        train.fit(model, nn.functional.mse_loss, optimizer, loader, schedule=lambda done: 1.0)


def test_predict_and_accuracy_in_batches():
    model = nn.Sequential(nn.Identity())
    scores = np.eye(5, dtype=np.float32)[[0, 1, 2, 3, 4, 0, 1]]
    np.testing.assert_array_equal(train.predict(model, scores, batch_size=3), scores)
    assert train.accuracy(model, scores, [0, 1, 2, 3, 4, 1, 1], batch_size=2) == pytest.approx(6 / 7)
    assert model.training


def test_no_percentage_is_rounded_up():
    assert percent(0.97499) == "97.4 %"
    assert percent(0.975) == "97.5 %"
    assert percent(0.981) == "98.1 %"
    assert percent(1.0) == "100.0 %"


# ---------------------------------------------------------------- Ctrl-C and progress


def test_an_interrupt_ends_training_after_the_step():
    steps = []

    def loss(prediction, target):
        steps.append(1)
        if len(steps) == 6:
            signal.raise_signal(signal.SIGINT)
        return nn.functional.mse_loss(prediction, target)

    model = nn.Linear(1, 1)
    before = signal.getsignal(signal.SIGINT)
    loader = ad.data.DataLoader(line_data(), 16, shuffle=True)
    history = train.fit(model, loss, optim.SGD(model.parameters(), 0.1), loader, epochs=5, progress=False)
    assert history.interrupted
    assert len(steps) == len(history.losses) == 6
    assert len(history.epochs) == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_is_at_once():
    with pytest.raises(KeyboardInterrupt), StopOnInterrupt() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.requested
        signal.raise_signal(signal.SIGINT)


def test_fit_works_in_another_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(fit_line(epochs=1)))
    thread.start()
    thread.join()
    assert len(found) == 1


def test_progress_suits_the_output(capsys):
    assert isinstance(make_progress(), LineProgress)
    assert isinstance(make_progress(False), LineProgress)
    bar = make_progress(True)
    assert isinstance(bar, BarProgress)
    bar.start(1, 2, 3)
    bar.advance(0.5)
    bar.line("epoch 1/2  [loss] 0.5")
    bar.start(2, 2, None)
    bar.advance(0.25)
    bar.close()
    assert "epoch 1/2  [loss] 0.5" in capsys.readouterr().out


# ---------------------------------------------------------------- weights in files


def test_weights_travel_through_a_file(tmp_path):
    ad.random.seed(0)
    model = train.mnist_network()
    path = tmp_path / "weights.safetensors"
    ad.save(path, model, metadata={"made by": "a test"})
    loaded = ad.load(path)
    assert set(loaded) == set(model.state_dict())
    other = train.mnist_network()
    other.load_state_dict(loaded)
    x = np.random.default_rng(0).standard_normal((2, 28, 28)).astype(np.float32)
    np.testing.assert_array_equal(model(ad.tensor(x)).numpy(), other(ad.tensor(x)).numpy())


def test_every_dtype_and_shape_travels(tmp_path):
    arrays = {name: np.ones((2, 3), name) for name in ("bool", "int8", "uint16", "int64", "float32", "float64")}
    arrays |= {"number": np.array(2.5), "empty": np.zeros((0, 4)), "turned": np.arange(6.0).reshape(2, 3).T}
    ad.save(tmp_path / "file", {**arrays, "tensor": ad.tensor([1.0, 2.0]), "float": 3.0})
    loaded = ad.load(tmp_path / "file")
    for name, array in arrays.items():
        assert loaded[name].dtype.name == array.dtype.name
        assert loaded[name].shape == array.shape
        np.testing.assert_array_equal(loaded[name].numpy(), array)
    assert loaded["float"] == 3


def test_bad_weight_files_are_told(tmp_path):
    path = tmp_path / "weights.safetensors"
    with pytest.raises(FileNotFoundError):
        ad.load(path)
    ad.save(path, {"w": np.zeros(100)})
    data = path.read_bytes()
    for spoiled in (b"", data[:-8], data[:20], b"\xff" * 50):
        path.write_bytes(spoiled)
        with pytest.raises(ValueError, match=r"weights\.safetensors is not a safetensors file, or is damaged"):
            ad.load(path)


def test_what_can_not_be_saved(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(TypeError, match="a is an object"):
        ad.save(path, {"a": object()})
    with pytest.raises(TypeError, match="it is a builtin_function_or_method"):
        ad.save(path, print)
    with pytest.raises(OSError, match="nowhere"):
        ad.save(tmp_path / "nowhere" / "file", {"a": np.zeros(1)})
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


# ---------------------------------------------------------------- pictures


def test_pictures(tmp_path):
    values = np.exp(-np.linspace(0, 5, 400))
    plot.losses(values, tmp_path / "a.png")
    plot.losses({"train": values, "test": values * 1.1}, tmp_path / "b.png", title="Two curves")
    plot.losses(values, tmp_path / "c.png", steps_per_epoch=100, accuracy=[0.9, 0.95, 0.97, 0.98])
    plot.losses([1.0], tmp_path / "d.png")
    images = np.zeros((10, 28, 28))
    plot.predictions(images, np.arange(10), np.arange(10)[::-1], tmp_path / "f.png", confidence=np.ones(10), columns=4)
    plot.predictions(images[:1], [1], path=tmp_path / "g.png", names=["shirt", "shoe"])
    for path in tmp_path.iterdir():
        assert path.read_bytes().startswith(PNG)
    plot.losses(values, tmp_path / "h.svg")
    assert b"<svg" in (tmp_path / "h.svg").read_bytes()


def test_pictures_of_nothing():
    with pytest.raises(ValueError, match="no losses"):
        plot.losses([])
    with pytest.raises(ValueError, match="their shapes are"):
        plot.predictions(np.zeros((2, 28, 28)), [1])
    with pytest.raises(ValueError, match=r"can't be written as \.xyz"):
        plot.losses([1.0], "file.xyz")


# ---------------------------------------------------------------- the command


@pytest.fixture
def digits(tmp_path):
    return write_mnist(tmp_path / "digits")


def test_the_command_trains_and_leaves_its_results(digits, tmp_path, capsys):
    out = tmp_path / "results" / "run"
    arguments = ["train", "mnist-mlp", "--epochs", "8", "--batch-size", "20", "--lr", "0.05", "--seed", "1"]
    code = cli.main([*arguments, "--data", str(digits), "--out", str(out), "--limit", "200"])
    text = capsys.readouterr().out
    assert code == 0
    assert "training on 200 digits, testing on 100" in text
    assert "epoch 8/8  loss 0." in text
    assert "test accuracy 100.0 %" in text
    for name in ("weights.safetensors", "loss.png", "rates.png", "predictions.png", "confusion.png"):
        assert str(out / name) in text
        assert (out / name).stat().st_size > 1000
    model = train.mnist_network()
    model.load_state_dict(ad.load(out / "weights.safetensors"))
    images, labels = ad.data.mnist(digits, train=False)
    assert train.accuracy(model, images.astype(np.float32) / 255, labels) == 1.0


def test_the_same_seed_gives_the_same_weights(digits, tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    weights = []
    for seed in (0, 0, 1):
        out = tmp_path / f"{len(weights)}"
        options = {"epochs": 1, "seed": seed, "out": out, "folder": digits}
        train.train_classifier("mnist-mlp", **options)
        weights.append(ad.load(out / "weights.safetensors")["1.weight"].numpy())
    np.testing.assert_array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["train", "mnist-mlp", "--data", "{tmp}/nowhere"], 1, "nowhere doesn't exist"),
        (["train", "mnist-mlp", "--data", "{tmp}"], 1, "lacks train-images-idx3-ubyte.gz"),
        (["train", "mnist-mlp", "--data", "{digits}", "--out", "{tmp}/file/run"], 1, "can't write into the folder"),
        (["train", "mnist-mlp", "--data", "{digits}", "--out", "{tmp}/run", "--lr", "1e9"], 1, "the loss became"),
        (["train", "mnist-mlp", "--epochs", "0"], 2, "'0' is not a positive whole number"),
        (["train", "mnist-mlp", "--lr", "nan"], 2, "'nan' is not a positive number"),
        (["train", "nosuch"], 2, "invalid choice"),
        (["train"], 2, "required"),
        ([], 2, "required"),
    ],
)
def test_what_the_user_can_mend_is_told_in_one_line(digits, tmp_path, capsys, arguments, code, text):
    (tmp_path / "file").write_text("not a folder")
    arguments = [argument.format(tmp=tmp_path, digits=digits) for argument in arguments]
    try:
        found = cli.main(arguments)
    except SystemExit as exit:
        found = exit.code
    assert found == code
    error = capsys.readouterr().err
    assert text in error
    assert "Traceback" not in error
    if code == 1:
        assert error.startswith("adjoint: error: ")
        assert len(error.splitlines()) == 1


def test_missing_packages_are_told_before_the_work(digits, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    assert cli.main(["train", "mnist-mlp", "--data", str(digits), "--out", str(tmp_path / "run")]) == 1
    captured = capsys.readouterr()
    assert "pip install 'adjoint[train]'" in captured.err
    assert "epoch" not in captured.out


def test_help_of_each_command(capsys):
    recipes = list(train.NETWORKS)
    cases = [([], "train"), (["train"], "mnist-mlp"), *((["train", name], "--batch-size") for name in recipes)]
    cases += [(["predict"], "--weights"), (["eval"], "--data"), (["summary"], "NETWORK"), (["draw"], "--out")]
    for name in recipes:
        cases += [(["train", name], option) for option in ("--seed", "--threads", "--resume", "--out")]
    for arguments, text in cases:
        with pytest.raises(SystemExit) as exit:
            cli.main([*arguments, "--help"])
        assert exit.value.code == 0
        assert text in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_ctrl_c_keeps_what_was_learnt(tmp_path):
    digits = write_mnist(tmp_path / "many", train=3000)
    out = tmp_path / "run"
    command = [sys.executable, "-m", "adjoint", "train", "mnist-mlp", "--epochs", "100000", "--data", str(digits)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*command, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("epoch"):
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    text, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "stopped early after" in text
    assert error == ""
    assert set(ad.load(out / "weights.safetensors")) == set(train.mnist_network().state_dict())


def test_places_that_can_not_be_written_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such folder: .*none'$"):
        ad.save(tmp_path / "none" / "weights.safetensors", {"x": ad.ones(1)})
    with pytest.raises(IsADirectoryError, match="this is a folder"):
        ad.save(tmp_path, {"x": ad.ones(1)})


def test_what_is_loaded_is_in_the_order_of_names(tmp_path):
    ad.save(tmp_path / "many.safetensors", {name: ad.ones(1) for name in "qwertyuiopasdfgh"})
    assert list(ad.load(tmp_path / "many.safetensors")) == sorted("qwertyuiopasdfgh")


def test_arguments_in_another_order_and_lazy_layers():
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("f4")
    model = ad.nn.Sequential(ad.nn.LazyLinear(4), ad.nn.Tanh(), ad.nn.LazyLinear(1))
    optimizer = ad.optim.Adam(model.parameters(), lr=0.05)
    data = ad.data.DataLoader((x, x.sum(1, keepdims=True)), 4)

    def loss(output, target):
        return ad.square(output - target).mean()

    with pytest.raises(TypeError, match="the optimizer is a DataLoader"):
        ad.train.fit(model, optimizer, data, loss, progress=False)
    with pytest.raises(TypeError, match="the model is a generator"):
        ad.train.fit(model.parameters(), loss, optimizer, data, progress=False)
    losses = ad.train.fit(model, loss, optimizer, data, epochs=20, progress=False).losses
    assert losses[-1] < losses[0] / 4
