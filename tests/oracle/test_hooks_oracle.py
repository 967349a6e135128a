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


def calls_of_all_modules(torch):
    """What hooks of all modules and of one are called with, in calls that come right and in calls that raise."""
    nn, shared = torch.nn, torch.nn.modules.module
    seen = []
    net = nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 2))

    def note(tag):
        def hook(module, *given):
            seen.append((tag, type(module).__name__, [tuple(getattr(x, "shape", (str(x)[:4],))) for x in given]))

        return hook

    def fail(module, args, output):
        raise KeyError("a hook fails")

    x = torch.ones(4, 3, requires_grad=True)
    handles = [
        shared.register_module_forward_pre_hook(note("all before")),
        shared.register_module_forward_hook(note("all after")),
        shared.register_module_forward_hook(note("all after, with keywords"), with_kwargs=True),
        shared.register_module_forward_hook(note("all after, always"), always_call=True),
        shared.register_module_full_backward_pre_hook(note("all backward before")),
        shared.register_module_full_backward_hook(note("all backward")),
        net[0].register_forward_hook(note("after"), always_call=True),
        net[0].register_forward_pre_hook(note("before")),
        net[1].register_forward_hook(note("after, with keywords"), with_kwargs=True, prepend=True),
        net[1].register_full_backward_hook(note("backward")),
    ]
    try:
        net(x).sum().backward()
        with pytest.raises((RuntimeError, ValueError)):
            net(torch.ones(4, 5))
        for prepend in (False, True):
            with (
                net[2].register_forward_hook(fail, prepend=prepend),
                net[2].register_forward_hook(note("after the failure"), always_call=True),
                net[2].register_forward_hook(note("not after the failure")),
                pytest.raises(KeyError),
            ):
                net(x)
    finally:
        for handle in handles:
            handle.remove()
    count = len(seen)
    net(x).sum().backward()
    assert len(seen) == count
    return seen


def test_hooks_of_all_modules_and_those_called_after_errors():
    ours = calls_of_all_modules(pytest.importorskip("adjoint.torch"))
    assert ours == calls_of_all_modules(torch)


def states_with_hooks(library, save):
    """A state changed by hooks when it is saved and loaded, and what the hooks were called with."""
    nn, seen = library.nn, []
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))

    def rename(module, state, prefix, *others):
        seen.append((prefix, len(others)))
        for key in [key for key in state if key.startswith("old.")]:
            state["0." + key[4:]] = state.pop(key)

    def more(module, state, prefix, metadata):
        seen.append((type(module).__name__, prefix))
        state[f"{prefix}version"] = 3

    model.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append((prefix, keep)))
    model[1].register_state_dict_post_hook(more)
    handle = model.register_state_dict_post_hook(more)
    keys = [list(model.state_dict()), list(model.state_dict(prefix="a."))]
    handle.remove()
    state = {k.replace("0.", "old."): v for k, v in model.state_dict().items() if k != "1.version"}
    model.register_load_state_dict_pre_hook(rename)
    before = list(state)
    seen.append(list(map(list, model.load_state_dict(state))))
    assert list(state) == before
    model[1].register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.remove("1.weight"))
    model.register_load_state_dict_post_hook(lambda module, keys: seen.append(list(map(list, keys))))
    del state["1.weight"]
    state["old.bias"] = library.ones(2)
    model.load_state_dict(state)
    del state["1.bias"]
    with pytest.raises((RuntimeError, ValueError), match=r"1\.bias"):
        model.load_state_dict(state)
    return keys, seen, save(model[0].bias)


@pytest.mark.parametrize("ours", ("adjoint", "adjoint.torch"))
def test_hooks_of_states(ours):
    def numbers(t):
        return t.detach().numpy().tolist()

    assert states_with_hooks(pytest.importorskip(ours), numbers) == states_with_hooks(torch, numbers)
