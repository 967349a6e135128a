"""The recipes and what is done with their weights: predict, eval, summary, resume, and what goes wrong."""

from __future__ import annotations

import gzip
import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint import cli, plot, train
from adjoint.execution.tiers import Tiers, tiers
from adjoint.train import checkpoints
from mnist_files import idx_bytes, write_mnist
from support import without_pictures

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return write_mnist(tmp_path_factory.mktemp("digits"), train=400)


@pytest.fixture(scope="module")
def trained(digits, tmp_path_factory):
    """The folder of a short run of mnist-cnn."""
    out = tmp_path_factory.mktemp("cnn")
    arguments = ["train", "mnist-cnn", "--data", str(digits), "--out", str(out), "--epochs", "3", "--batch-size", "20"]
    assert cli.main(arguments) == 0
    return out


def test_threads_are_asked_for(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(ad, "set_num_threads", asked.append)
    assert cli.main(["eval", "--threads", "3", "--weights", "none"]) == 1
    assert asked == [3]
    monkeypatch.undo()
    assert cli.main(["eval", "--threads", "1000", "--weights", "none"]) == 1
    assert "a whole number from 1 to" in capsys.readouterr().err


def test_the_cnn_learns(trained):
    records = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
    assert records[-1]["test accuracy"] == 1.0
    assert len(records) == 3 * 20 + 3
    for name in ("loss.png", "rates.png", "predictions.png", "confusion.png"):
        assert (trained / name).read_bytes().startswith(PNG)


def test_eval_shows_accuracy_and_confusion(trained, digits, tmp_path, capsys):
    weights = str(trained / "weights.safetensors")
    picture = tmp_path / "table.png"
    assert cli.main(["eval", "--weights", weights, "--data", str(digits), "--out", str(picture)]) == 0
    text = capsys.readouterr().out
    assert "test accuracy 100.0 % of 100" in text
    rows = [line.split() for line in text.splitlines() if line.endswith("100.0 %")]
    assert [row[1 + number] for number, row in enumerate(rows)] == ["10"] * 10
    assert "mnist-cnn, " in text
    assert picture.read_bytes().startswith(PNG)


def test_predict_reads_a_picture(trained, digits, tmp_path, capsys):
    # The classes of these files are squares at places of their own, which centring would move: the network is asked
    # whether it gets to see what `digit_from_image` makes, and the picture is checked by what it answers.
    path = tmp_path / "photo.png"
    write_photo(path, stroke_picture())
    expected = ad.data.digit_from_image(ad.data.read_image(path)).astype(np.float32) / 255
    model, name, _ = train.load_network(trained / "weights.safetensors")
    assert name == "mnist-cnn"
    assert not model.training
    scores = train.predict(model, expected[None])
    seen = tmp_path / "seen.png"
    arguments = ["predict", str(path), "--weights", str(trained / "weights.safetensors"), "--out", str(seen)]
    assert cli.main(arguments) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{scores.argmax()}  ({100 * train.probabilities(scores).max():.1f} %)\nthen ")
    assert "mnist-cnn, " in text
    assert seen.read_bytes().startswith(PNG)


def stroke_picture(height=150, width=110):
    """A dark angle, like a seven, on light paper that is darker to the left."""
    y, x = np.mgrid[:height, :width] / width
    stroke = (np.abs(y - 0.3) < 0.04) & (x > 0.3) & (x < 0.75)
    stroke |= (np.abs(x - (0.75 - 0.35 * (y - 0.3))) < 0.04) & (y > 0.3) & (y < 1.1)
    return np.where(stroke, 0.2, 0.75 + 0.15 * x)


def write_photo(path, grey):
    image = plot.figures._optional.load("matplotlib.image", purpose="a test", extra="train")
    image.imsave(path, np.repeat(grey[..., None], 3, axis=-1).clip(0, 1))


@pytest.mark.parametrize("name", list(train.NETWORKS))
def test_summary(name, capsys):
    assert cli.main(["summary", name]) == 0
    model = train.build(name, **({"vocabulary": 96} if name in train.TEXTS else {}))
    total = sum(parameter.size for parameter in model.parameters())
    assert f"{total:,} parameters" in capsys.readouterr().out


def test_summary_of_weights(trained, capsys):
    assert cli.main(["summary", str(trained / "weights.safetensors")]) == 0
    assert "Conv2d" in capsys.readouterr().out


def test_fashion(digits, tmp_path, monkeypatch, capsys):
    without_pictures(monkeypatch)
    arguments = [
        "train",
        "fashion-cnn",
        "--data",
        str(digits),
        "--out",
        str(tmp_path),
        "--epochs",
        "2",
        "--limit",
        "200",
    ]
    assert cli.main(arguments) == 0
    assert "training on 200 articles of clothing" in capsys.readouterr().out
    assert cli.main(["eval", "--weights", str(tmp_path / "weights.safetensors"), "--data", str(digits)]) == 0
    assert "ankle boot" in capsys.readouterr().out
    assert cli.main(["predict", str(photo(tmp_path)), "--weights", str(tmp_path / "weights.safetensors")]) == 1
    assert "fashion-cnn, which doesn't read digits" in capsys.readouterr().err


def photo(tmp_path):
    write_photo(tmp_path / "photo.png", stroke_picture())
    return tmp_path / "photo.png"


def test_moons(tmp_path, capsys):
    arguments = ["train", "moons", "--out", str(tmp_path), "--points", "200", "--noise", "0.1", "--epochs", "30"]
    assert cli.main([*arguments, "--lr", "0.02"]) == 0
    assert (tmp_path / "border.png").read_bytes().startswith(PNG)
    assert cli.main(["eval", "--weights", str(tmp_path / "weights.safetensors")]) == 0
    text = capsys.readouterr().out
    assert float(text.split("test accuracy")[-1].split()[0]) > 90


TEXTS = {
    "gpt-text": (["--heads", "2", "--width", "32", "--epochs", "8", "--lr", "0.02"], ("attention.png",)),
    "lstm-text": (["--width", "32", "--epochs", "9", "--lr", "0.03"], ()),
}


@pytest.mark.parametrize("name", TEXTS)
def test_recipes_of_texts(name, tmp_path, monkeypatch, capsys):
    """Each learns to write, leaves its pictures, and comes to the same weights when it is stopped in mid-epoch and resumed."""
    options, pictures = TEXTS[name]
    (tmp_path / "text").write_text("the cat sat on my mat. " * 120)
    arguments = ["train", name, "--data", str(tmp_path / "text"), "--context", "16"]
    arguments += ["--layers", "1", "--batch-size", "8"]
    arguments += ["--sample", "40", "--temperature", "0.5", "--dropout", "0.02", "--resume", *options]
    weights = {kind: tmp_path / kind / "weights.safetensors" for kind in ("whole", "stopped")}
    assert cli.main([*arguments, "--out", str(tmp_path / "whole")]) == 0
    text = capsys.readouterr().out
    assert "12 different ones" in text
    for picture in (*pictures, "loss.png", "sample.png", "characters.png"):
        assert (tmp_path / "whole" / picture).read_bytes().startswith(PNG)
    sample = (tmp_path / "whole" / "sample.txt").read_text()
    assert len(sample) == 56
    assert sample in text
    assert sum(word in ("the", "cat", "sat", "on", "my", "mat.") for word in sample.split()[1:-1]) > 0.7 * len(
        sample.split()
    )

    monkeypatch.setattr(train.text, "SAVE_EVERY", 6)  # an epoch has 20 steps
    real, saves = checkpoints.interop.save, []

    def stopping(path, tensors, **options):
        real(path, tensors, **options)
        saves.append(path)
        if len(saves) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints.interop, "save", stopping)
    assert cli.main([*arguments, "--out", str(tmp_path / "stopped")]) == 130
    without_pictures(monkeypatch)
    capsys.readouterr()
    assert cli.main([*arguments, "--out", str(tmp_path / "stopped")]) == 0
    assert "resumed at step 24, in epoch 2" in capsys.readouterr().out
    for key, value in ad.load(weights["whole"]).items():
        np.testing.assert_array_equal(value.numpy(), ad.load(weights["stopped"])[key].numpy(), err_msg=key)
    assert (tmp_path / "stopped" / "sample.txt").read_text() == sample
    (tmp_path / "text").write_text("the cat sat on my hat. the mat " * 120)
    assert cli.main([*arguments, "--out", str(tmp_path / "stopped")]) == 1
    assert "made with other settings: text was" in capsys.readouterr().err


def test_no_bit_of_a_recipe_depends_on_when_something_is_compiled(tmp_path, monkeypatch, capsys):
    """What decides elsewhere is the clock: how long NumPy took for a structure. A busy machine must not change first weights."""
    monkeypatch.setattr(tiers, "backend", "auto")
    (tmp_path / "text").write_text("the cat sat on my mat. " * 40)
    arguments = ["train", "lstm-text", "--data", str(tmp_path / "text"), "--context", "16", "--layers", "1"]
    arguments += ["--epochs", "1", "--width", "32", "--sample", "20"]
    without_pictures(monkeypatch)
    for seconds in (0.0, math.inf):  # compiled when it comes back first, and never

        def price(self, plan, otherwise=Tiers.price, seconds=seconds):
            return otherwise(self, plan) if self.deterministic else seconds

        with monkeypatch.context() as patch:
            patch.setattr(Tiers, "price", price)
            for run in ("first", "again"):  # of what comes back in the second run, the second one computes by plan
                assert cli.main([*arguments, "--out", str(tmp_path / f"{run} {seconds}")]) == 0
    capsys.readouterr()
    folders = [tmp_path / f"{run} {seconds}" for seconds in (0.0, math.inf) for run in ("first", "again")]
    for file in ("weights.safetensors", "sample.txt"):
        assert len({(folder / file).read_bytes() for folder in folders}) == 1, file


def test_a_network_of_text_is_measured(tmp_path, capsys):
    text = "the cat sat on my mat. " * 120
    characters = ad.data.characters(text=text)
    (tmp_path / "text").write_text(text)
    for name in train.TEXTS:
        model, weights = train.build(name, vocabulary=12, width=16, layers=1), tmp_path / name
        train.save_network(weights, model, name, vocabulary=12, width=16, layers=1, characters=characters.vocabulary)
        assert cli.main(["eval", "--weights", str(weights), "--data", str(tmp_path / "text")]) == 0
        assert 2.5 < float(capsys.readouterr().out.split()[0]) < 5  # untaught, it guesses among 12
        assert cli.main(["summary", str(weights)]) == 0
        assert "characters" in capsys.readouterr().out
    (tmp_path / "other").write_text("Quite another text")
    assert cli.main(["eval", "--weights", str(weights), "--data", str(tmp_path / "other")]) == 1
    assert "not in the vocabulary" in capsys.readouterr().err
    with pytest.raises(TypeError, match="generate writes by a CharTransformer or a CharLSTM, not Sequential"):
        train.generate(train.moons_network(), characters, "the", 3)


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_written_follows_from_the_whole_text(name):
    """Reading character by character, or in windows that are filled up, gives the scores of the text at once."""
    options = {"context": 6} if name == "gpt-text" else {}
    model = train.build(name, vocabulary=7, width=8, layers=2, **options).eval()
    codes, read = [3, 1, 4, 1, 5, 0, 2, 6, 5], model.reader()
    for count in (1, 2, 5, 6, 8, 9):
        seen = codes[:count][-6:] if options else codes[:count]
        whole = model(ad.tensor([seen])).numpy()[0, -1]
        np.testing.assert_allclose(read(codes[:count]), whole, atol=2e-6)
    np.testing.assert_allclose(read([2, 2]), model(ad.tensor([[2, 2]])).numpy()[0, -1], atol=2e-6)


def test_what_a_transformer_looks_at():
    model = train.CharTransformer(7, context=6, width=8, heads=2, layers=3).eval()
    weights = model.looked_at(ad.tensor([1, 2, 3, 4])).numpy()
    assert weights.shape == (3, 2, 4, 4)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-6)
    assert not np.triu(weights, 1).any()
    assert weights.std() > 0.1


def test_the_transformer_does_not_look_ahead():
    model = train.CharTransformer(7, context=6, width=8, heads=2, layers=2).eval()
    codes = np.array([[1, 2, 3, 4, 5, 6], [1, 2, 3, 0, 0, 0]])
    scores = model(ad.tensor(codes)).numpy()
    np.testing.assert_allclose(scores[0, :3], scores[1, :3], atol=1e-6)
    assert np.abs(scores[0, 3:] - scores[1, 3:]).max() > 1e-3
    with pytest.raises(ValueError, match="7 characters, but the context is 6"):
        model(ad.tensor(np.zeros((1, 7), np.int64)))
    with pytest.raises(ValueError, match="temperature above 0"):
        train.generate(model, ad.data.characters(text="abcdefg"), "a", 3, temperature=0)


def test_resume_by_the_command(digits, tmp_path, monkeypatch, capsys):
    """A run that was stopped and resumed leaves the same weights as one that wasn't."""
    without_pictures(monkeypatch)
    arguments = ["train", "mnist-cnn", "--data", str(digits), "--epochs", "2", "--batch-size", "40", "--resume"]
    assert cli.main([*arguments, "--out", str(tmp_path / "whole")]) == 0
    assert "no checkpoint" in capsys.readouterr().out
    saves = []
    real = checkpoints.interop.save

    def stopping(path, tensors, **options):
        real(path, tensors, **options)
        if "checkpoint" in str(path):
            saves.append(path)
            if len(saves) == 1:
                raise KeyboardInterrupt  # a second Ctrl-C, in the middle of saving

    monkeypatch.setattr(checkpoints.interop, "save", stopping)
    assert cli.main([*arguments, "--out", str(tmp_path / "stopped")]) == 130
    assert cli.main([*arguments, "--out", str(tmp_path / "stopped")]) == 0
    for name, value in ad.load(tmp_path / "whole" / "weights.safetensors").items():
        np.testing.assert_array_equal(
            value.numpy(), ad.load(tmp_path / "stopped" / "weights.safetensors")[name].numpy(), err_msg=name
        )
    capsys.readouterr()
    assert cli.main([*arguments, "--out", str(tmp_path / "whole"), "--seed", "4"]) == 1
    assert "made with other settings: seed was 0 and is 4" in capsys.readouterr().err


IMAGING = {
    "vae-mnist": (["--batch-size", "40"], ("copies.png", "made-up.png", "between.png")),
    "unet-shapes": (["--images", "48", "--width", "4"], ("shapes.png",)),
    "resnet-fashion": (["--batch-size", "20", "--limit", "40"], ("predictions.png", "confusion.png")),
}


@pytest.mark.parametrize("name", IMAGING)
def test_recipes_of_images(name, digits, tmp_path, monkeypatch, capsys):
    """Each leaves its pictures, and a run that was stopped and resumed the same weights as one that wasn't."""
    options, pictures = IMAGING[name]
    arguments = ["train", name, "--epochs", "2", "--resume", *options]
    arguments += ["--data", str(digits)] if name != "unet-shapes" else []
    assert cli.main([*arguments, "--out", str(tmp_path / "whole")]) == 0
    for picture in (*pictures, "loss.png"):
        assert (tmp_path / "whole" / picture).read_bytes().startswith(PNG)
    real, saves = checkpoints.interop.save, []

    def stopping(path, tensors, **options):
        real(path, tensors, **options)
        saves.append(path)
        if len(saves) == 2:  # the first epoch's checkpoint is there
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoints.interop, "save", stopping)
    without_pictures(monkeypatch)
    assert cli.main([*arguments, "--out", str(tmp_path / "stopped")]) == 130
    assert cli.main([*arguments, "--out", str(tmp_path / "stopped")]) == 0
    assert "resumed at step" in capsys.readouterr().out
    weights = str(tmp_path / "whole" / "weights.safetensors")
    for key, value in ad.load(weights).items():
        other = ad.load(tmp_path / "stopped" / "weights.safetensors")[key]
        np.testing.assert_array_equal(value.numpy(), other.numpy(), err_msg=key)
    assert cli.main(["summary", weights]) == 0
    if name != "resnet-fashion":
        assert cli.main(["eval", "--weights", weights]) == 1
        assert "tells no classes apart" in capsys.readouterr().err


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["predict", "{tmp}/none.png"], "there is no picture"),
        (["predict", "{tmp}/text.png"], "isn't a picture that can be read"),
        (["predict", "{tmp}/empty.png"], "there is no digit in the picture"),
        (["predict", "{tmp}/small.png"], "too small for a digit"),
        (["predict", "{tmp}/photo.png"], "there are no weights"),
        (["predict", "{tmp}/photo.png", "--weights", "{tmp}/text.png"], "is not a safetensors file"),
        (["predict", "{tmp}/photo.png", "--weights", "{tmp}/plain"], "doesn't say which network"),
        (["predict", "{tmp}/photo.png", "--weights", "{tmp}/wrong"], "the state doesn't fit Sequential"),
        (["eval"], "there are no weights"),
        (["summary", "nosuch"], "is neither a file nor a network: mnist-mlp"),
        (["train", "mnist-cnn", "--data", "{tmp}/labels"], "label 11 at 1 is out of range"),
        (["train", "mnist-cnn", "--data", "{tmp}/count"], "don't belong together"),
        (["train", "mnist-cnn", "--data", "{tmp}/cut"], "damaged or cut short"),
        (["train", "mnist-cnn", "--data", "{tmp}/none"], "lacks train-images"),
        (["train", "gpt-text", "--data", "{tmp}/nothing"], "is empty"),
        (["train", "lstm-text", "--data", "{tmp}/plain"], "UTF-8"),
        (["train", "gpt-text", "--limit", "20"], "too short for contexts of 64"),
        (
            ["train", "gpt-text", "--heads", "3", "--limit", "2000"],
            "the width 64 must be a multiple of the heads, which are 3",
        ),
        (["train", "lstm-text", "--data", "{tmp}/none"], "Is a directory"),
        (["train", "lstm-text", "--shakespeare"], "lacks input.txt"),
        (["train", "lstm-text", "--limit", "12", "--context", "4"], "last tenth of the text is 1 characters"),
        (["draw", "x@y", "x=[1,2]", "y=[1,2,3]"], "do not fit: 2 columns, 3 rows\n"),
    ],
)
def test_each_mistake_is_told_in_one_line(tmp_path, capsys, monkeypatch, arguments, text):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADJOINT_DATA", str(tmp_path))
    photo(tmp_path)
    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "nothing").write_text("")
    (tmp_path / "none").mkdir()
    write_photo(tmp_path / "empty.png", np.full((40, 40), 0.8))
    write_photo(tmp_path / "small.png", stroke_picture()[:5, :5])
    model = train.mnist_network()
    ad.save(tmp_path / "plain", model)
    train.save_network(tmp_path / "wrong", train.moons_network(), "mnist-mlp")
    for name, images, labels in [
        ("labels", np.zeros((2, 28, 28)), np.array([3, 11])),
        ("count", np.zeros((2, 28, 28)), np.array([3])),
        ("cut", np.zeros((2, 28, 28)), np.array([3, 4])),
    ]:
        folder = tmp_path / name
        folder.mkdir()
        for part in ("train", "t10k"):
            data = gzip.compress(idx_bytes(images))
            (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(data[:-9] if name == "cut" else data)
            (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx_bytes(labels)))
    assert cli.main([argument.format(tmp=tmp_path) for argument in arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("adjoint: error: ")
    assert text in error
    assert "Traceback" not in error


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files by a POSIX call")
def test_a_full_disk_is_told_with_an_exit_code(digits, tmp_path):
    code = (
        "import resource, signal, sys; from adjoint import cli\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))\n"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "train", "mnist-mlp", "--data", str(digits), "--out", str(tmp_path), "--epochs", "1"],
        capture_output=True, text=True, timeout=60, env={**os.environ, "ADJOINT_CACHE": ""},
    )  # fmt: skip
    assert done.returncode == 1
    assert "can't write the checkpoint" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    command = [sys.executable, "-c", code, "train", "moons", "--out", str(tmp_path), "--epochs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "ADJOINT_CACHE": ""})
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "loss.png" in done.stderr  # the first picture


@pytest.mark.skipif(sys.platform == "win32", reason="closes a POSIX pipe")
def test_a_reader_that_leaves_is_no_error(tmp_path):
    command = [sys.executable, "-u", "-m", "adjoint", "train", "moons", "--epochs", "3000", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 1
        assert process.stderr.read() == ""
