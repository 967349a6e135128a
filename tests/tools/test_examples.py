"""The examples run on small settings and come to what they promise."""

from __future__ import annotations

import importlib
import re
import runpy
import sys
from pathlib import Path

import pytest

import adjoint as ad
from mnist_files import write_mnist

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    def run(name, *arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_every_example_is_tested():
    tested = {"linear_regression.py", "three_weights.py", "two_moons_scalars.py", "mnist_mlp.py", "mnist_cnn.py"}
    tested |= {"char_transformer.py", "ode_parameters.py", "pictures.py", "split_layer.py"}
    assert {path.name for path in EXAMPLES.glob("*.py")} == tested


def test_linear_regression(run):
    text = run("linear_regression.py")
    assert float(re.search(r"largest difference (\S+)", text)[1]) < 1e-7
    assert "step  240" in run("linear_regression.py", "--quick")


def test_three_weights(run, tmp_path):
    text = run("three_weights.py", "--quick", "--out", str(tmp_path / "curve.png"))
    losses = [float(found) for found in re.findall(r"loss (\d\S+)", text)]
    assert losses[-1] < 0.2 * losses[0]
    assert (tmp_path / "curve.png").stat().st_size > 1000
    assert all(f"{name} = " in text for name in "abc")


def test_split_layer(run):
    text = run("split_layer.py", "--quick")
    losses = [float(found) for found in re.findall(r"loss (\S+)", text)]
    assert losses[-1] < 0.3 * losses[0] and "each of 1 ranks holds 192 weights" in text


def test_two_moons(run):
    text = run("two_moons_scalars.py", "--quick")
    losses = [float(found) for found in re.findall(r"loss (\S+)", text)]
    assert losses[-1] < losses[0]


def test_mnist(run, tmp_path):
    digits = write_mnist(tmp_path / "digits", train=2000)
    text = run("mnist_mlp.py", "--quick", "--data", str(digits))
    assert float(re.search(r"test accuracy (\S+) %", text)[1]) > 95


def test_mnist_with_convolutions(run, tmp_path):
    digits = write_mnist(tmp_path / "digits", train=1000)
    text = run("mnist_cnn.py", "--quick", "--data", str(digits), "--out", str(tmp_path / "out"))
    assert float(re.search(r"(\S+)% of the test digits", text)[1]) > 95
    assert "Conv2d" in text
    assert (tmp_path / "out" / "checkpoint.safetensors").stat().st_size > 100_000
    again = run("mnist_cnn.py", "--quick", "--data", str(digits), "--out", str(tmp_path / "out"), "--resume")
    results = [run.rpartition(", after")[0].splitlines()[-2:] for run in (text, again)]
    assert results[0] == results[1]


def test_char_transformer(run, tmp_path):
    (tmp_path / "text").write_text("to be or not to be, that is the question. " * 40)
    text = run("char_transformer.py", "--quick", "--text", str(tmp_path / "text"))
    bits = [float(found) for found in re.findall(r"(\S+) bits", text)]
    assert bits[-1] < 0.6 * bits[0]
    assert len(text.partition("\n\n")[2].rstrip("\n")) == 16 + 60
    assert "different ones" in run("char_transformer.py", "--quick")


def test_ode_parameters(run, tmp_path):
    text = run("ode_parameters.py", "--quick", "--out", str(tmp_path / "curve.png"))
    losses = [float(found) for found in re.findall(r"loss (\S+)", text)]
    assert losses[-1] < 0.02 * losses[0]
    assert (tmp_path / "curve.png").stat().st_size > 1000


def test_pictures(run, tmp_path):
    text = run("pictures.py", "--format", "txt", "--out", str(tmp_path / "out"))
    assert "why x has gradient 40" in text
    assert "∂y/∂x = 12 + 12 + 12 + 4 + 0 = 40" in (tmp_path / "out" / "cube.txt").read_text()
    assert (tmp_path / "out" / "explorer.html").stat().st_size > 10_000


@pytest.mark.parametrize("name", sorted(path.name for path in (EXAMPLES / "models").glob("*.py")))
def test_networks_from_elsewhere(run, name, monkeypatch):
    assert len((EXAMPLES / "models" / name).read_text().splitlines()) <= 150
    monkeypatch.syspath_prepend(str(EXAMPLES / "models"))
    out = run(f"models/{name}")
    assert name == "unet.py" or out.startswith("random weights ")


def test_generation_is_the_likeliest_code_after_another(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES / "models"))
    for model in (
        importlib.import_module("gpt2").GPT2(vocab_size=20, n_positions=16, n_embd=16, n_layer=2, n_head=2),
        importlib.import_module("llama").Llama(20, 16, 24, 2, 4, num_key_value_heads=2),
    ):
        codes = [3, 1, 4]
        for _ in range(6):
            codes.append(model(ad.tensor([codes]))[0, -1].argmax().item())
        assert model.generate(codes[:3], 6) == codes
