"""`torch.autograd.functional` against PyTorch's, on the same functions."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")

import adjoint.torch as ours  # noqa: E402

X, Y = np.random.default_rng(0).normal(size=(2, 3)), np.random.default_rng(1).normal(size=3)
V = np.random.default_rng(2).normal(size=(2, 3))


def one(lib):
    return lambda x: x.exp().sum(dim=1) * x[:, 0]


def several(lib):
    return lambda x, y: ((x * y).sin(), (x[0] @ y).reshape(1))


def number(lib):
    return lambda x: (x.pow(3).sum() * x.sin().sum()).reshape(1)


def number_of_two(lib):
    return lambda x, y: (x * y).exp().sum()


def unused(lib):
    return lambda x, y: x.sum()


CALLS = {
    "jacobian": ("jacobian", one, (X,), {}),
    "jacobian of several": ("jacobian", several, ((X, Y),), {}),
    "jacobian forward": ("jacobian", several, ((X, Y),), {"strategy": "forward-mode", "vectorize": True}),
    "jacobian of what isn't used": ("jacobian", unused, ((X, Y),), {}),
    "hessian": ("hessian", number, (X,), {}),
    "hessian of several": ("hessian", number_of_two, ((X, Y),), {}),
    "hessian in a tuple": ("hessian", number, ((X,),), {}),
    "vjp": ("vjp", one, (X, Y[:2]), {}),
    "vjp of several": ("vjp", several, ((X, Y), (V, Y[:1])), {}),
    "vjp of a number": ("vjp", number, (X,), {}),
    "jvp": ("jvp", one, (X, V), {}),
    "jvp of several": ("jvp", several, ((X, Y), (V, Y)), {}),
    "hvp": ("hvp", number, (X, V), {}),
    "hvp of several": ("hvp", number_of_two, ((X, Y), (V, Y)), {}),
    "vhp": ("vhp", number_of_two, ((X, Y), (V, Y)), {}),
    "created": ("jacobian", one, (X,), {"create_graph": True}),
    "not a number": ("hessian", one, (X,), {}),
    "no vector": ("vjp", one, (X,), {}),
    "wrong vector": ("jvp", one, (X, Y), {}),
    "not a tensor": ("vjp", lambda lib: lambda x: 3.0, (X,), {}),
    "strict": ("jacobian", unused, ((X, Y),), {"strict": True}),
    "strict, constant": ("hessian", lambda lib: lambda x: x.sum(), (X,), {"strict": True}),
    "strict, fine": ("vjp", one, (X, Y[:2]), {"strict": True}),
}


def given(lib, x, tracked):
    if isinstance(x, tuple):
        return tuple(given(lib, part, tracked) for part in x)
    made = lib.tensor(x)
    return made.requires_grad_(True) if tracked else made


def flat(x):
    return [t for part in x for t in flat(part)] if isinstance(x, (tuple, list)) else [x]


def structure(x):
    return [structure(part) for part in x] if isinstance(x, (tuple, list)) else tuple(x.shape)


@pytest.mark.parametrize("case", CALLS)
@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.filterwarnings("ignore:`torch.jit.script")
def test_what_pytorch_gives(case, tracked):
    name, f, args, options = CALLS[case]
    results = []
    for lib in (torch, ours):
        call = getattr(lib.autograd.functional, name)
        try:
            results.append(call(f(lib), *[given(lib, x, tracked) for x in args], **options))
        except (RuntimeError, TypeError) as error:
            results.append(type(error))
    if isinstance(results[0], type):
        assert options.get("create_graph") or results[0] is results[1]
        return
    assert structure(results[0]) == structure(results[1])
    for a, b in zip(*map(flat, results), strict=True):
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-9)
        # PyTorch's forward mode leaves results tracked
        assert a.requires_grad == b.requires_grad or "strategy" in options


def test_derivatives_of_jacobians():
    found = []
    for lib in (torch, ours):
        x = lib.tensor(X, requires_grad=True)
        (lib.autograd.functional.jacobian(one(lib), x, create_graph=True) ** 2).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
