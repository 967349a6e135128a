"""What a leaf keeps when it gets another value, is cut off, saved or lies in a memory: these numbers are PyTorch 2.13's, but for
derivatives of what was computed before the value changed, which are those of the value that was computed with."""

import copy
import io
import pickle

import numpy as np
import pytest

import adjoint.torch as torch
from adjoint.torch import nn

COSINES = np.cos([1.0, 2.0, 3.0])


def gets_memory(x):
    x.data = torch.ones(3)


def is_written_to(x):
    x.data[0] = 5


def is_copied_to(x):
    with torch.no_grad():
        x.copy_(torch.ones(3))


def is_trained(x):
    x.grad = torch.ones(3)
    torch.optim.SGD([x], lr=0.1).step()


@pytest.mark.parametrize("change", [gets_memory, is_written_to, is_copied_to, is_trained])
@pytest.mark.parametrize("make", [torch.Tensor.requires_grad_, nn.Parameter])
def test_a_gradient_by_a_leaf_is_that_by_all_that_it_was(make, change):
    given = torch.tensor([1.0, 2.0, 3.0])
    x = make(given)
    heard = []
    x.register_hook(lambda g: heard.append(g.tolist()))
    y = torch.sin(x).sum()
    change(x)
    (found,) = torch.autograd.grad(y, x)
    np.testing.assert_allclose(found.tolist(), COSINES, 1e-6)
    now = 2 * x.detach().numpy()
    z = y + (x * x).sum()  # the value from before, and the one of now
    (found,) = torch.autograd.grad(z, [x], allow_unused=True)
    np.testing.assert_allclose(found.tolist(), COSINES + now, 1e-6)
    np.testing.assert_allclose(heard, [COSINES, COSINES + now], 1e-6)
    x.grad = None
    z.backward()
    np.testing.assert_allclose(x.grad.tolist(), COSINES + now, 1e-6)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (curve,) = torch.autograd.grad(slope.sum(), x)
    np.testing.assert_allclose(curve.tolist(), -np.sin([1.0, 2.0, 3.0]), 1e-6)


def test_a_parameter_of_another_shape_keeps_its_hooks():
    p = nn.Parameter(torch.ones(4))
    p.register_hook(lambda g: g * 10)
    p.data = p.data[:2]
    (p * p).sum().backward()
    assert p.grad.tolist() == [20, 20]


def test_a_leaf_that_is_a_view_is_differentiated_as_strided():
    x = torch.arange(8.0)[2:].reshape(2, 3).requires_grad_()
    y = x.as_strided((2, 2), (3, 1))  # from the first element of x
    assert y.requires_grad and y.tolist() == [[2, 3], [5, 6]]
    (y * y).sum().backward()
    assert x.grad.tolist() == [[4, 6, 0], [10, 12, 0]]
    assert x.as_strided((2,), (1,), 6).tolist() == [6, 7]
    p = nn.Parameter(x.detach())
    q = p[1].as_strided((3,), (1,))
    (q * q).sum().backward()
    assert p.grad.tolist() == [[0, 0, 0], [10, 12, 14]]
    with pytest.raises(RuntimeError, match="positions -1 to 0 of 6 elements"):
        x.as_strided((2,), (1,), 1)  # beside the leaf, by which that has no derivative


@pytest.mark.parametrize("cut", [torch.Tensor.detach, lambda x: x.data])
def test_what_is_detached_stays_so_as_strided(cut):
    x = torch.ones(2, 2, requires_grad=True)
    y = cut(x).as_strided((2,), (1,))
    assert not y.requires_grad
    y.mul_(3)
    assert x.tolist() == [[3, 3], [1, 1]] and x.is_leaf and x.requires_grad


@pytest.mark.parametrize("make", [nn.Parameter, lambda t: torch.empty(0).set_(t).requires_grad_()])
def test_a_leaf_in_another_memory_is_cut_off_in_place(make):
    t = torch.ones(3)
    x = make(t)
    assert x.detach_() is x and not x.requires_grad
    x.add_(1)
    assert t.tolist() == x.tolist() == [2, 2, 2]


def test_a_leaf_that_is_cut_off_keeps_its_gradient():
    x = torch.ones(3, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    x.detach_()
    assert not x.requires_grad and x.grad.tolist() == [2, 2, 2]


def saved(x):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize("through", [saved, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_computed_tensor_is_a_leaf_that_requires_a_gradient_once_it_is_loaded(through):
    x = torch.ones(3, requires_grad=True)
    found = through(x * 2)
    assert found.requires_grad and found.is_leaf and found.tolist() == [2, 2, 2]
    assert not through(x.detach()).requires_grad and not through(torch.ones(2)).requires_grad


def test_steps_in_memory_are_those_from_before_axes_were_exchanged_in_place():
    for grad in (False, True):
        x = torch.arange(6.0).reshape(2, 3).clone().requires_grad_(grad)
        with torch.no_grad():
            x.transpose_(0, 1)
        y = x.as_strided((2, 2), (1, 2))
        assert y.tolist() == [[0, 2], [1, 3]] and y.requires_grad is grad
        with torch.no_grad():
            y.mul_(10)
        assert x.tolist() == [[0, 30], [10, 4], [20, 5]]
        if grad:
            (x.as_strided((2,), (2,)) * torch.tensor([1.0, 2.0])).sum().backward()
            assert x.grad.tolist() == [[1, 0], [0, 0], [2, 0]]


def test_a_cast_of_a_module_leaves_the_memory_where_its_tensors_lay():
    weight, mean = torch.ones(3), torch.ones(3)
    module = nn.Module()
    module.weight = nn.Parameter(weight)
    module.register_buffer("mean", mean.detach())
    module.own = nn.Parameter(torch.ones(3).clone())
    seen = module.own.data
    module.weight.grad = torch.ones(3)
    optimizer = torch.optim.SGD(module.parameters(), lr=1.0)
    module.double()
    assert {x.dtype for x in (module.weight, module.mean, module.own, module.weight.grad)} == {torch.float64}
    optimizer.step()
    with torch.no_grad():
        module.mean.zero_()
        module.own.zero_()
    assert module.weight.tolist() == module.mean.tolist() == module.own.tolist() == [0, 0, 0]
    assert {x.dtype for x in (weight, mean, seen)} == {torch.float32}
    assert weight.tolist() == mean.tolist() == seen.tolist() == [1, 1, 1]


def test_leaves_that_share_memory_share_it_once_they_are_loaded():
    memory = torch.arange(4.0)
    leaf, part = nn.Parameter(memory), memory[1:3].requires_grad_()
    first, second, third = saved([leaf, part, leaf.detach()])
    assert type(first).__name__ == "Parameter" and first.requires_grad and second.requires_grad
    assert isinstance(first, nn.Parameter) and not isinstance(second, nn.Parameter) and not third.requires_grad
    with torch.no_grad():
        second.fill_(7)
        third[0] = 5
    assert first.tolist() == third.tolist() == [5, 7, 7, 3] and second.tolist() == [7, 7]
    (first * first).sum().backward()
    assert first.grad.tolist() == [10, 14, 14, 6] and second.grad is None


@pytest.mark.parametrize("write", [torch.Tensor.copy_, lambda x, y: x.__setitem__(slice(None), y)])
@pytest.mark.parametrize("kept", [lambda: torch.ones(3), lambda: torch.ones(2, 3)[0], lambda: torch.ones(3).detach()])
def test_what_was_computed_before_is_a_constant_where_it_is_written_under_no_grad(write, kept):
    w = torch.ones(3, requires_grad=True)
    y, memory = w * 2, kept()
    with torch.no_grad():
        write(memory, y)
    assert not memory.requires_grad and memory.tolist() == [2, 2, 2]
    (w * memory).sum().backward()
    assert w.grad.tolist() == [2, 2, 2]


def test_leaves_that_share_memory_share_it_in_a_deep_copy():
    memory = torch.arange(4.0)
    parameter, leaf = nn.Parameter(memory), memory[2:].requires_grad_()
    leaf.sum().backward()
    alone, whole, other = copy.deepcopy([parameter, memory, leaf])
    assert isinstance(alone, nn.Parameter) and other.requires_grad and other.grad.tolist() == [1, 1]
    with torch.no_grad():
        alone.zero_()
        other[1] = 5
    assert whole.tolist() == [0, 1, 2, 5] and other.tolist() == [2, 5] and alone.tolist() == [0, 0, 0, 0]
    assert memory.tolist() == parameter.tolist() == [0, 1, 2, 3] and leaf.tolist() == [2, 3]
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    y, seen = copy.deepcopy([x, x.detach()])
    seen.zero_()
    assert y.tolist() == [0, 0] and y.requires_grad and y.grad.tolist() == [1, 1] and x.tolist() == [1, 1]


@pytest.mark.parametrize("kind", ["plain", "view", "parameter", "given"])
def test_a_frozen_leaf_keeps_its_gradient(kind):
    """Whatever is written to it, and wherever it lies: PyTorch 2.13's numbers."""
    t = torch.arange(4.0)
    if kind == "plain":
        p = torch.arange(4.0).requires_grad_()
    elif kind == "view":
        p = t[:].requires_grad_()
    else:
        p = torch.nn.Parameter(t)
    (p * p).sum().backward()
    p.requires_grad_(False)
    if kind == "given":
        p.data = t = torch.arange(4.0)
    if kind != "plain":
        t[1] = 9
        assert p.tolist() == [0, 9, 2, 3]
    p[0] = 5
    p[1:3] = 2.0
    p[3] += 1
    p.mul_(2)
    assert p.tolist() == [10, 4, 4, 8] and p.grad.tolist() == [0, 2, 4, 6] and not p.requires_grad and p.is_leaf
    p.requires_grad_(True)
    (p * p).sum().backward()
    assert p.grad.tolist() == [20, 10, 12, 22]
    p.requires_grad_(False)
    w = torch.ones(1, requires_grad=True)
    p[:1] = w * 3
    assert p.requires_grad and (kind == "plain" or t[0].item() == 3)
    (p * p).sum().backward()
    assert w.grad.tolist() == [18]


def test_a_hooks_handle_takes_it_out_after_a_cast_and_a_cut():
    layer = nn.Linear(2, 2)
    handles = [layer.weight.register_hook(lambda g: g * 0.5), layer.bias.register_hook(lambda g: g * 0.5)]
    layer.double().float()
    layer.weight.data = layer.weight.data[:1]
    layer.bias.data = layer.bias.data[:1]
    layer(torch.ones(1, 2)).sum().backward()
    assert layer.weight.grad.tolist() == [[0.5, 0.5]] and layer.bias.grad.tolist() == [0.5]
    for handle in handles:
        handle.remove()
    layer(torch.ones(1, 2)).sum().backward()
    assert layer.weight.grad.tolist() == [[1.5, 1.5]] and layer.bias.grad.tolist() == [1.5]
