"""What must raise under PyTorch's interface raises where it does there, under a class by which a program catches it."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
import adjoint.torch as torch
from adjoint.torch import nn
from adjoint.torch.nn import functional as F
from adjoint.torch.utils.data import TensorDataset

INDEFINITE, SINGULAR = torch.tensor([[1.0, 2.0], [2.0, 1.0]]), torch.zeros(2, 2)
COMPUTED = torch.ones(2, requires_grad=True) * 2
LINALG = torch.linalg

RAISED: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "cholesky": (lambda: LINALG.cholesky(INDEFINITE), RuntimeError),
    "cholesky, old": (lambda: torch.cholesky(INDEFINITE), RuntimeError),
    "cholesky_ex": (lambda: LINALG.cholesky_ex(INDEFINITE, check_errors=True), LINALG.LinAlgError),
    "inv": (lambda: LINALG.inv(SINGULAR), RuntimeError),
    "inverse": (SINGULAR.inverse, LINALG.LinAlgError),
    "inv_ex": (lambda: LINALG.inv_ex(SINGULAR, check_errors=True), RuntimeError),
    "solve": (lambda: LINALG.solve(SINGULAR, torch.ones(2)), RuntimeError),
    "solve_ex": (lambda: LINALG.solve_ex(SINGULAR, torch.ones(2), check_errors=True), RuntimeError),
    "matrix_power": (lambda: LINALG.matrix_power(SINGULAR, -2), RuntimeError),
    "tensorinv": (lambda: LINALG.tensorinv(SINGULAR, 1), RuntimeError),
    "in a compiled function": (lambda: torch.compile(LINALG.inv)(SINGULAR), LINALG.LinAlgError),
    "under grad": (lambda: torch.func.grad(lambda x: LINALG.inv(x).sum())(SINGULAR), RuntimeError),
    "normal": (lambda: torch.normal(0.0, -1.0, (2,)), RuntimeError),
    "normal of tensors": (lambda: torch.normal(torch.zeros(2), torch.tensor([1.0, -1.0])), RuntimeError),
    "argmax of nothing": (torch.tensor([]).argmax, IndexError),
    "argmin along nothing": (lambda: torch.zeros(2, 0).argmin(1), IndexError),
    "a set of parameters": (lambda: torch.optim.SGD([{"params": {nn.Parameter(torch.ones(1))}}], 0.1), TypeError),
    "one_hot": (lambda: F.one_hot(torch.tensor([1, 3]), 2), RuntimeError),
    "integer parameter": (lambda: nn.Parameter(torch.tensor([1, 2])), RuntimeError),
    "negative features": (lambda: nn.Linear(2, -1), RuntimeError),
    "groups": (lambda: nn.Conv2d(4, 4, 3, groups=3), ValueError),
    "heads": (lambda: nn.MultiheadAttention(5, 2), AssertionError),
    "heads of a layer": (lambda: nn.TransformerEncoderLayer(5, 2), AssertionError),
    "rows": (lambda: TensorDataset(torch.ones(3), torch.ones(2)), AssertionError),
    "computed parameter": (lambda: torch.optim.SGD([COMPUTED], lr=0.1), ValueError),
    "computed parameter of a group": (lambda: torch.optim.Adam([{"params": COMPUTED}]), ValueError),
    "no file of tensors": (lambda: torch.load(io.BytesIO(b"garbage")), pickle.UnpicklingError),
}  # fmt: skip


@pytest.mark.parametrize("what", RAISED)
def test_raised_there_and_so(what: str) -> None:
    function, kind = RAISED[what]
    with pytest.raises(kind, match=r"\S"):
        function()


def test_a_program_that_catches_it_goes_on() -> None:
    try:
        factor = torch.linalg.cholesky(INDEFINITE)
    except RuntimeError:
        factor = torch.linalg.cholesky(INDEFINITE + 2 * torch.eye(2))
    assert torch.allclose(factor @ factor.T, INDEFINITE + 2 * torch.eye(2))
    well = torch.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    torch.linalg.inv(well).sum().backward()
    inverse = np.linalg.inv([[2.0, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(well.grad.numpy(), -np.outer(inverse.sum(0), inverse.sum(1)), 1e-5)


@pytest.mark.parametrize("kind", [np.linalg.LinAlgError, RuntimeError, ValueError])
def test_what_fails_has_numpys_class_and_pytorchs(kind: type[Exception]) -> None:
    """Where it fails when its value is asked for, too."""
    with pytest.raises(kind, match=r"inv: the matrix is singular \(.*test_torch_errors"):
        ad.linalg.inv(ad.zeros((2, 2))).numpy()
    with pytest.raises(kind, match="matrix 0 of the batch"):
        torch.func.vmap(torch.linalg.inv)(torch.zeros(3, 2, 2)).sum().item()


@pytest.mark.parametrize("what", ["heads", "no file of tensors", "negative features", "inv_ex"])
def test_errors_are_pickled_by_the_class_that_they_are_called(what: str) -> None:
    function, kind = RAISED[what]
    with pytest.raises(kind) as caught:
        function()
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, kind) or type(again) is np.linalg.LinAlgError
    assert again.args == caught.value.args


def test_a_file_without_a_name_is_called_what_it_is() -> None:
    with pytest.raises(ValueError, match=r"^load: what was given is not a safetensors file"):
        torch.load(io.BytesIO(b"garbage"))


def test_groups_are_printed_apart() -> None:
    groups = [{"params": [nn.Parameter(torch.ones(1))]}, {"params": [nn.Parameter(torch.ones(1))]}]
    text = str(torch.optim.SGD(groups, lr=0.1))
    assert "\n\nParameter Group 1\n" in text and "(\nParameter Group 0\n" in text
