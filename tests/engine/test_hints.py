"""Names from NumPy, PyTorch and JAX lead to those that are here: every row of the table is asked for, and its code runs."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import hints, hints_of_jax, hints_of_torch
from adjoint.tensors.named import Count

TABLES = {
    place: {**hints_of_jax.NAMES.get(place, {}), **hints.NAMES.get(place, {})}
    for place in {**hints.NAMES, **hints_of_jax.NAMES}
}
ROWS = [pytest.param(place, name, id=f"{place}.{name}") for place, rows in TABLES.items() for name in rows]


@pytest.fixture
def words() -> dict[str, Any]:
    """What the rows call their arrays, models and optimizers."""
    model = ad.nn.Linear(3, 2)
    return {
        "ad": ad, "np": np, "x": ad.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "y": ad.tensor([[0.5, 0.25, 2.0], [1.0, -1.0, 3.0]]),
        "i": ad.tensor([[0, 2, 1], [1, 1, 0]]), "model": model, "optimizer": ad.optim.SGD(model.parameters(), lr=0.1),
    }  # fmt: skip


def owner_of(place: str, words: dict[str, Any]) -> Any:
    instances = {
        "custom_jvp": ad.custom_jvp(ad.sin),
        "custom_vjp": ad.custom_vjp(ad.sin),
        "Tensor": words["x"],
        "Module": words["model"],
        "Optimizer": words["optimizer"],
    }
    return instances[place] if place in instances else importlib.import_module(place)


@pytest.mark.parametrize(("place", "name"), ROWS)
def test_every_row_is_said_and_its_code_runs(
    place: str, name: str, words: dict[str, Any], tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ad.save("model.safetensors", words["model"])
    owner = owner_of(place, words)
    code, remark = hints.split_row(TABLES[place][name])
    if code:
        exec(code, words)
    if hasattr(owner, name):
        return  # the name has come since
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    message = str(caught.value)
    assert repr(name) in message and code in message and remark in message
    assert message.startswith(f"module {place!r}" if place.startswith("adjoint") else repr(type(owner).__name__))


def test_rows_that_are_the_same_thing_elsewhere() -> None:
    """A sample compared with NumPy, so that a row isn't only code that runs."""
    x, y = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]), np.array([[0.5, 0.25, 2.0], [1.0, -1.0, 3.0]])
    i = np.array([[0, 2, 1], [1, 1, 0]])
    words = {"ad": ad, "np": np, "x": ad.tensor(x), "y": ad.tensor(y), "i": ad.tensor(i)}
    expected = {
        "vstack": np.vstack([x, y]), "hstack": np.hstack([x, y]), "dstack": np.dstack([x, y]), "fmod": np.fmod(x, y),
        "column_stack": np.column_stack([x[0], y[0]]), "rollaxis": np.rollaxis(x, 1, 0), "fliplr": np.fliplr(x),
        "flipud": np.flipud(x), "argwhere": np.argwhere(x), "flatnonzero": np.flatnonzero(x), "exp2": np.exp2(x),
        "delete": np.delete(x, 1, 1), "insert": np.insert(x, 1, y[:, 0], 1), "logspace": np.logspace(0, 2, 5),
        "deg2rad": np.deg2rad(x), "rad2deg": np.rad2deg(x), "fix": np.fix(x), "ptp": np.ptp(x), "cumsum": np.cumsum(x, 0),
        "isclose": np.isclose(x, y), "allclose": np.allclose(x, y), "float_power": np.float_power(x, 2.0),
        "left_shift": np.left_shift(i, 1), "invert": np.invert(i), "take": None,
    }  # fmt: skip
    for name, value in expected.items():
        if name in hints.MODULE:
            found = eval(hints.split_row(hints.MODULE[name])[0], words)
            np.testing.assert_allclose(np.asarray(found), value, 1e-6, err_msg=name)


# ---- rules beside the rows -------------------------------------------------------------------------------------------


def message(function: Any, error: type[Exception]) -> str:
    with pytest.raises(error) as caught:
        function()
    return str(caught.value)


X = ad.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize("name", ["add_", "clamp_", "zero_", "unsqueeze_", "relu_", "copy_"])
def test_what_changes_in_place_by_name(name: str) -> None:
    assert re.search(
        r"nothing is changed in place by name: write x = \S+", message(lambda: getattr(X, name), AttributeError)
    )


def test_public_functions_that_are_no_methods() -> None:
    assert "here it is ad.tensordot(x, ...)" in message(lambda: X.tensordot, AttributeError)
    assert "here it is ad.grad" in message(lambda: ad.nn.functional.grad, AttributeError)


def test_names_that_nobody_has() -> None:
    assert message(lambda: X.frobnicate, AttributeError) == "'Tensor' object has no attribute 'frobnicate'"
    assert message(lambda: ad.frobnicate, AttributeError) == "module 'adjoint' has no attribute 'frobnicate'"
    assert message(lambda: ad.nn.Linear(2, 2).frobnicate, AttributeError) == "'Linear' has no attribute 'frobnicate'"
    for owner in (X, ad, ad.nn, ad.nn.Linear(1, 1), ad.random, ad.optim, ad.data):
        assert not hasattr(owner, "__frobnicate__") and getattr(owner, "frobnicate", 3) == 3


def test_a_property_that_raises_says_its_own_error() -> None:
    class Broken(ad.nn.Module):
        @property
        def depth(self) -> int:
            return self.layers_that_are_missing

    assert message(lambda: Broken().depth, AttributeError) == "'Broken' has no attribute 'layers_that_are_missing'"
    assert "expected at least two axes" in message(lambda: ad.tensor(1.0).mT, ValueError)


# ---- keywords --------------------------------------------------------------------------------------------------------

KEYWORD_CALLS = {
    "dim": lambda: X.sum(dim=1), "keepdim": lambda: ad.max(X, axis=1, keepdim=True), "unbiased": lambda: X.std(unbiased=False),
    "ddof": lambda: ad.var(X, ddof=1), "out": lambda: ad.sum(X, out=X), "device": lambda: ad.tril(X, device="cuda"),
    "requires_grad": lambda: ad.ones((2, 3), requires_grad=True), "as_tuple": lambda: X.nonzero(as_tuple=True),
    "where": lambda: ad.sum(X, where=X > 0), "dims": lambda: ad.flip(X, dims=(0,)), "size": lambda: ad.zeros(size=(2,)),
    "start_dim": lambda: X.flatten(start_dim=1), "a_min": lambda: ad.clip(X, a_min=0.0),
    "initial": lambda: ad.max(X, initial=0.0),
    "order": lambda: ad.flatten(X, order="C"),
}  # fmt: skip


@pytest.mark.parametrize("keyword", KEYWORD_CALLS)
def test_keywords_from_elsewhere(keyword: str) -> None:
    try:
        KEYWORD_CALLS[keyword]()
    except TypeError as error:
        text = str(error)
    else:
        pytest.fail("no error")
    if "missing" not in text:
        assert re.search(rf"^\w+: there is no argument '{keyword}'; here it is .* \(.*test_hints\.py:\d+\)$", text), (
            text
        )


@pytest.mark.parametrize("keyword", hints.KEYWORDS)
def test_every_row_of_keywords_is_said(keyword: str) -> None:
    text = message(lambda: X.sum(**{keyword: 1}), TypeError)
    assert f"'{keyword}'; here it is {hints.KEYWORDS[keyword].format('sum')} (" in text and "test_hints.py" in text


def test_a_keyword_that_nobody_has() -> None:
    assert message(lambda: X.mean(frob=1), TypeError).startswith("mean: there is no argument 'frob' (")


@pytest.mark.parametrize(
    ("function", "numbers", "what"),
    [
        (ad.reshape, (3, 2), "the lengths"),
        (ad.permute_dims, (1, 0), "the axes"),
        (ad.broadcast_to, (4, 2, 3), "the lengths"),
        (ad.tile, (2, 1), "the repetitions"),
        (ad.flip, (0, 1), "the axes"),
    ],
)
def test_numbers_side_by_side_that_come_in_a_tuple(
    function: Callable[..., ad.Tensor], numbers: tuple[int, ...], what: str
) -> None:
    x, name = ad.ones((2, 3)), function.__name__
    with pytest.raises(TypeError, match=r"test_hints\.py") as info:
        function(x, *numbers)
    assert str(info.value).startswith(f"{name}: {what} come in one tuple: ad.{name}(x, {numbers})")
    function(x, numbers)


def test_sizes_as_several_arguments() -> None:
    text = message(lambda: ad.zeros(3, 4), TypeError)
    assert "zeros: the shape is one int or one tuple: ad.zeros((3, 4))" in text and "test_hints.py" in text


def test_size_is_a_number_that_says_what_it_is() -> None:
    assert X.size == 6 and isinstance(X.size, int) and repr(X.size) == "6" and X.size + 1 == 7
    assert type(X.size) is Count and hash(X.size) == hash(6)
    assert "here it is x.shape[0]" in message(lambda: X.size(0), TypeError)
    assert "here it is x.shape (" in message(lambda: X.size(), TypeError)


@pytest.mark.parametrize("device", ["cuda", "cuda:0", "mps"])
def test_devices_of_a_model(device: str) -> None:
    model = ad.nn.Linear(2, 2)
    assert model.to("cpu") is model and model.to("float64").weight.dtype == "float64"
    assert "adjoint computes on the CPU" in message(lambda: model.to(device), ValueError)
    assert "adjoint computes on the CPU" in message(lambda: model.cuda(), AttributeError)


def test_what_is_elsewhere_costs_protocols_nothing() -> None:
    """No `__getattr__` that NumPy's looking for protocols would go through, and nothing of it in what `dir` lists."""
    assert not hasattr(ad.Tensor, "__getattr__")
    assert "unsqueeze" not in dir(X) and "reshape" in dir(X) and "frobnicate" not in dir(X)


@pytest.mark.parametrize("name", [*hints_of_torch.IN_PLACE, *hints_of_torch.METHODS])
def test_every_name_with_a_rule_is_said(name: str) -> None:
    if not hasattr(X, name):
        assert "; " in message(lambda: getattr(X, name), AttributeError)


@pytest.mark.parametrize("place", hints_of_torch.NAMES)
def test_what_only_pytorchs_interface_has(place: str) -> None:
    """It is there, and whoever asks elsewhere is told."""
    names, there = hints_of_torch.NAMES[place]
    theirs = importlib.import_module(there)
    owner = X if place == "Tensor" else importlib.import_module(place)
    for name in names:
        if not hasattr(owner, name):
            assert hasattr(theirs.Tensor if place == "Tensor" else theirs, name) or name in ad.__all__, name
            assert "; " in message(lambda n=name: getattr(owner, n), AttributeError), name
    assert "; adjoint.torch has it, PyTorch's interface" in message(lambda: X.masked_scatter, AttributeError)
    assert "; here it is ad.linalg.det(x, ...)" in message(lambda: X.det, AttributeError)
    assert "; here it is ad.special.gammainc(x, x)" in message(lambda: X.igamma, AttributeError)


def test_every_name_of_numpy_leads_somewhere() -> None:
    for name in np.__all__:
        if not hasattr(ad, name):
            assert "; " in message(lambda n=name: getattr(ad, n), AttributeError), name
    for name in ("c_", "intersect1d", "int_", "s_"):
        assert f"ad.numpy.{name}" in message(lambda n=name: getattr(ad, n), AttributeError) or name == "int_"
    assert ad.numpy.c_[ad.ones(2), ad.ones(2)].shape == (2, 2) and ad.numpy.s_[1:] == np.s_[1:]


def test_pytorchs_tensors_list_their_names_and_send_nobody_to_themselves() -> None:
    tensor = importlib.import_module("adjoint.torch").ones(2)
    assert {"unsqueeze", "view", "add_", "sum"} <= set(dir(tensor)) and "resize_as_sparse_" not in dir(tensor)
    assert "adjoint.torch" not in message(lambda: tensor.resize_as_sparse_, AttributeError)
    assert "adjoint.torch" in message(lambda: X.set_, AttributeError)


def test_a_name_that_is_listed_and_not_there_does_not_lead_to_itself(monkeypatch):
    monkeypatch.setattr(ad, "__all__", [*ad.__all__, "not_imported"])
    with pytest.raises(AttributeError) as caught:
        ad.not_imported
    assert "here it is" not in str(caught.value)
