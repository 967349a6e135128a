"""Hooks against PyTorch's: the same hooks on the same network, the gradients and what the hooks saw."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning"),
    pytest.mark.filterwarnings("ignore:Using backward:UserWarning"),  # with create_graph
]

X = np.random.default_rng(0).normal(size=(4, 3))
W = np.random.default_rng(1).normal(size=(5, 3))


def gradients(library, tensor, double_backward):
    """What x, w and y get, and what the hooks were given."""
    seen = []
    x, w = tensor(X), tensor(W)

    def note(g):
        seen.append(g.detach().numpy().copy())

    x.register_hook(note)
    w.register_hook(lambda g: g * 3)
    h = x @ (w.T if library is ad else w.mT)
    h.register_hook(note)
    h.register_hook(lambda g: g * g)
    y = library.tanh(h)
    if not double_backward:
        y.retain_grad()
    y.register_hook(lambda g: g + 1)
    loss = (y * y).sum()
    loss.backward(create_graph=True)
    if double_backward:
        (x.grad * x.grad).sum().backward()
    kept = [] if double_backward else [y]
    return [t.grad.detach().numpy() for t in (x, w, *kept)] + seen


@pytest.mark.parametrize("double_backward", (False, True))
def test_hooks_of_tensors(double_backward):
    ours = gradients(ad, lambda a: ad.variable(a), double_backward)
    theirs = gradients(torch, lambda a: torch.tensor(a, requires_grad=True), double_backward)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, 1e-10, 1e-12)


def module_gradients(library, tensor):
    seen = []
    nn = library.nn
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2)).double()
    rng = np.random.default_rng(2)
    model.load_state_dict({k: library.asarray(rng.normal(size=tuple(v.shape))) for k, v in model.state_dict().items()})

    def note(module, into, out):
        seen.extend(None if g is None else g.detach().numpy() for g in (*into, *out))

    model[0].register_full_backward_hook(note)
    model[1].register_full_backward_hook(note)
    model[1].register_full_backward_hook(lambda m, into, out: (into[0] * out[0],))
    model[2].register_full_backward_pre_hook(lambda m, out: (out[0] * 2,))
    model.register_full_backward_hook(note)
    x = tensor(X)
    (model(x) ** 2).sum().backward()
    return [x.grad.detach().numpy(), *[p.grad.detach().numpy() for p in model.parameters()], *seen]


def test_hooks_of_modules():
    ours = module_gradients(ad, lambda a: ad.variable(a))
    theirs = module_gradients(torch, lambda a: torch.tensor(a, requires_grad=True))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, 1e-10, 1e-12)


def test_hooks_of_a_module_without_tracked_arguments():
    def seen(library, tensor):
        found = []
        layer = library.nn.Linear(3, 2)
        layer.register_full_backward_hook(lambda m, into, out: found.append((into, [g.shape for g in out])))
        layer(tensor(X.astype("f4"))).sum().backward()
        return [(into, [tuple(s) for s in shapes]) for into, shapes in found]

    assert seen(ad, ad.tensor) == seen(torch, torch.tensor)
