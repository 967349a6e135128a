"""PyTorch as the outside oracle of linear algebra, transforms and special functions: values and gradients, complex too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def torch() -> Any:
    import torch

    torch.set_num_threads(1)
    return torch


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def complex_normal(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 7)


def adjoint_of(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


def definite(x: Any) -> Any:
    return x @ adjoint_of(x) + x @ adjoint_of(x) @ x @ adjoint_of(x)


def hermitian(x: Any) -> Any:
    return x + adjoint_of(x)


def projector(v: Any) -> Any:
    return v[..., :1] @ adjoint_of(v[..., :1])


Row = tuple[Callable[..., Any], Callable[..., Any], tuple[tuple[int, ...], ...]]
# Name: ours, PyTorch's (given torch.linalg), and the shapes of the inputs
LINALG: dict[str, Row] = {
    "cholesky": (lambda x: ad.linalg.cholesky(definite(x)), lambda t, x: t.cholesky(definite(x)), ((2, 3, 3),)),
    "solve": (ad.linalg.solve, lambda t, a, b: t.solve(a, b), ((2, 4, 4), (2, 4, 2))),
    "solve, large": (ad.linalg.solve, lambda t, a, b: t.solve(a, b), ((20, 20), (20, 3))),
    "inv": (ad.linalg.inv, lambda t, x: t.inv(x), ((2, 3, 3),)),
    "pinv": (ad.linalg.pinv, lambda t, x: t.pinv(x), ((4, 3),)),
    "det": (ad.linalg.det, lambda t, x: t.det(x), ((3, 4, 4),)),
    "slogdet": (lambda x: ad.linalg.slogdet(x)[1], lambda t, x: t.slogdet(x)[1], ((3, 4, 4),)),
    "slogdet's sign": (lambda x: ad.linalg.slogdet(x)[0] * x[0, 0], lambda t, x: t.slogdet(x)[0] * x[0, 0], ((4, 4),)),
    "qr": (lambda x: ad.linalg.qr(x)[0], lambda t, x: t.qr(x)[0], ((4, 3),)),
    "qr's R": (lambda x: ad.linalg.qr(x)[1], lambda t, x: t.qr(x)[1], ((2, 3, 3),)),
    "qr, wide": (lambda x: ad.linalg.qr(x)[1], lambda t, x: t.qr(x)[1], ((3, 5),)),
    "lu": (lambda x: ad.linalg.lu(x)[1], lambda t, x: t.lu(x)[1], ((4, 3),)),
    "lu's U": (lambda x: ad.linalg.lu(x)[2], lambda t, x: t.lu(x)[2], ((3, 5),)),
    "eigvalsh": (lambda x: ad.linalg.eigvalsh(hermitian(x)), lambda t, x: t.eigvalsh(hermitian(x)), ((2, 4, 4),)),
    "eigh": (
        lambda x: projector(ad.linalg.eigh(hermitian(x))[1]), lambda t, x: projector(t.eigh(hermitian(x))[1]),
        ((4, 4),)),
    "eigvals": (lambda x: (ad.linalg.eigvals(x) ** 3).sum(), lambda t, x: (t.eigvals(x) ** 3).sum(), ((4, 4),)),
    "svdvals": (ad.linalg.svdvals, lambda t, x: t.svdvals(x), ((4, 3),)),
    "svd": (
        lambda x: projector(ad.linalg.svd(x, full_matrices=False)[0]),
        lambda t, x: projector(t.svd(x, full_matrices=False)[0]), ((4, 3),)),
    "svd's V": (
        lambda x: projector(adjoint_of(ad.linalg.svd(x, full_matrices=False)[2])),
        lambda t, x: projector(adjoint_of(t.svd(x, full_matrices=False)[2])), ((2, 3),)),
    "nuclear norm": (lambda x: ad.linalg.matrix_norm(x, ord="nuc"), lambda t, x: t.matrix_norm(x, "nuc"), ((4, 3),)),
    "2-norm": (lambda x: ad.linalg.matrix_norm(x, ord=2), lambda t, x: t.matrix_norm(x, 2), ((4, 3),)),
    "expm": (ad.linalg.expm, lambda t, x: t.matrix_exp(x), ((2, 3, 3),)),
    "matrix_power": (lambda x: ad.linalg.matrix_power(x, -3), lambda t, x: t.matrix_power(x, -3), ((3, 3),)),
    "cross": (ad.linalg.cross, lambda t, x, y: t.cross(x, y), ((2, 3), (2, 3))),
}  # fmt: skip


def same(ours: Any, theirs: Any, inputs: list[np.ndarray], torch: Any) -> None:
    mine, other = [ad.variable(x) for x in inputs], [torch.tensor(x, requires_grad=True) for x in inputs]
    output, expected = ours(*mine), theirs(*other)
    np.testing.assert_allclose(output.numpy(), expected.detach().resolve_conj().numpy(), 1e-8, 1e-10)
    weights = complex_normal(*output.shape, seed=5) if expected.is_complex() else normal(*output.shape, seed=5)
    output.backward(ad.tensor(np.asarray(weights)))
    expected.backward(torch.tensor(weights))
    for found, wanted in zip(mine, other, strict=True):
        np.testing.assert_allclose(found.grad.numpy(), wanted.grad.resolve_conj().numpy(), 1e-7, 1e-9)


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("name", LINALG)
def test_linear_algebra_is_pytorchs(name: str, kind: str, torch: Any) -> None:
    ours, theirs, shapes = LINALG[name]
    draw = normal if kind == "real" else complex_normal
    same(ours, lambda *x: theirs(torch.linalg, *x), [draw(*s, seed=k) for k, s in enumerate(shapes)], torch)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(
    "name", "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split()
)
def test_transforms_are_pytorchs(name: str, norm: str, torch: Any) -> None:
    for draw in (normal, complex_normal):
        if draw is normal or name not in ("rfft", "ihfft", "rfft2", "rfftn"):
            same(
                lambda x: getattr(ad.fft, name)(x, norm=norm),
                lambda x: getattr(torch.fft, name)(x, norm=norm), [draw(3, 5)], torch)  # fmt: skip


SPECIAL = {
    **dict.fromkeys("gammaln digamma i0 i0e i1 i1e entr erfcx ndtr log_ndtr expit sinc exp2".split(), (0.2, 3.0)),
    **dict.fromkeys(("erfinv", "logit", "ndtri"), (0.1, 0.9)),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_are_pytorchs(name: str, torch: Any) -> None:
    x = np.random.default_rng(0).uniform(*SPECIAL[name], size=7)
    same(getattr(ad.special, name), getattr(torch.special, name), [x], torch)


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "zeta"])
def test_special_functions_of_two_are_pytorchs(name: str, torch: Any) -> None:
    generator = np.random.default_rng(0)
    x, y = generator.uniform(1.5, 3.0, 7), generator.uniform(0.5, 2.0, 7)
    if name == "zeta":
        same(lambda y: ad.special.zeta(x, y), lambda y: torch.special.zeta(torch.tensor(x), y), [y], torch)
    else:
        same(getattr(ad.special, name), getattr(torch.special, name), [x, y], torch)
