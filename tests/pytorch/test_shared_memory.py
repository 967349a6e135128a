"""Tensors that are given the memory of others, as PyTorch 2.13 shares it: these numbers are its."""

import copy
import gc

import pytest

import adjoint.torch as torch
from adjoint.torch import nn


def lists(*tensors):
    return [x.tolist() for x in tensors]


@pytest.mark.parametrize("trained", [False, True])
def test_a_parameter_lies_in_the_memory_of_the_tensor_that_it_is_made_of(trained):
    t = torch.arange(4.0)
    p = nn.Parameter(t, requires_grad=trained)
    assert isinstance(p, nn.Parameter) and p.is_leaf and p.requires_grad is trained and not t.requires_grad
    t[0] = 9
    with torch.no_grad():
        p[1] = 7
        p.add_(1)
    view = t[2:]
    assert lists(p, t, view) == [[10, 8, 3, 4], [10, 8, 3, 4], [3, 4]]
    view.zero_()
    assert lists(p, t) == [[10, 8, 0, 0]] * 2
    p.requires_grad_(True)
    (p * p).sum().backward()
    assert p.grad.tolist() == [20, 16, 0, 0]
    assert p.data_ptr() == t.data_ptr() and p.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("given", ["parameter", "data", "two"])
def test_training_reaches_who_shares_and_plain_values_are_as_good(compiled, given):
    found = []
    for held in (True, False):
        torch.manual_seed(0)
        t = torch.randn(4, 4)
        layer, other = nn.Linear(4, 4), nn.Linear(4, 4)
        if given == "data":
            layer.weight.data = t
        else:
            layer.weight = nn.Parameter(t)
        if given == "two":
            other.weight = nn.Parameter(layer.weight)
        optimizer = torch.optim.Adam(layer.parameters(), 0.1)
        if not held:
            del t

        def step(x, layer=layer, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (torch.tanh(layer(x)) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss

        run = torch.compile(step) if compiled else step
        losses = [run(torch.ones(2, 4)).item() for _ in range(4)]
        if held:
            assert torch.equal(t, layer.weight)
            t[0, 0] = 1.0
            assert layer.weight[0, 0].item() == 1.0
        else:  # nobody can tell, and all is fast again
            assert type(layer.weight) is nn.Parameter
        if given == "two":
            assert torch.equal(other.weight, layer.weight) and other.weight.grad is None
        found.append(losses)
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_what_is_given_to_data_is_shared_and_views_from_before_keep_the_old():
    x, y = torch.zeros(3), torch.ones(3)
    before = x.data
    x.data = y
    y[0], x[1], before[2] = 5, 6, 8
    assert lists(x, y, before) == [[5, 6, 1], [5, 6, 1], [0, 0, 8]]
    x.data = torch.full((3,), 2.0)
    assert lists(x, y) == [[2, 2, 2], [5, 6, 1]]
    w = torch.ones(3, requires_grad=True)
    (w * 2).sum().backward()
    w.data = y
    y.fill_(4.0)
    assert w.grad.tolist() == [2, 2, 2] and w.is_leaf and w.requires_grad and w.tolist() == [4, 4, 4]
    (w * w).sum().backward()
    assert w.grad.tolist() == [10, 10, 10]
    same = torch.ones(3)
    same.data = same
    same.data = same.data[0:3]
    same[0] = 3
    assert same.tolist() == [3, 1, 1]


def test_weights_are_cut_and_tied():
    layer = nn.Linear(3, 2)
    nn.init.ones_(layer.weight)
    layer.weight.data = layer.weight.data[:, :2]
    layer(torch.ones(1, 2)).sum().backward()
    assert layer.weight.is_leaf and lists(layer.weight, layer.weight.grad) == [[[1, 1], [1, 1]]] * 2
    online, target = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    for p, q in zip(online.parameters(), target.parameters(), strict=True):
        q.data = p.data
    with torch.no_grad():
        online.weight.fill_(3.0)
    optimizer = torch.optim.SGD(online.parameters(), 1.0)
    online(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert lists(target.weight, online.weight) == [[[2, 2], [2, 2]]] * 2
    vector, layer = torch.arange(6.0), nn.Linear(2, 2)
    nn.utils.vector_to_parameters(vector, layer.parameters())
    vector[0] = 50
    assert lists(*layer.parameters()) == [[[50, 1], [2, 3]], [4, 5]]


def test_copies_of_parameters_are_shallow_or_deep():
    p = nn.Parameter(torch.ones(2))
    shallow, deep = copy.copy(p), copy.deepcopy(p)
    with torch.no_grad():
        p.mul_(3)
    assert lists(shallow, deep) == [[3, 3], [1, 1]]
    assert shallow.requires_grad and shallow.is_leaf and isinstance(shallow, nn.Parameter)
    tied = nn.Parameter(shallow)
    again = copy.deepcopy(tied)
    assert type(again) is nn.Parameter and again.tolist() == [3, 3]


def test_set_lies_at_a_place_of_a_memory():
    x, y = torch.zeros(2, 3), torch.arange(6.0)
    assert x.set_(y) is x
    y[0], x[1] = 7, 9
    assert lists(x, y) == [[7, 9, 2, 3, 4, 5]] * 2
    x.set_(y.storage(), 1, (2, 2), (2, 1))
    y[3] = -1
    assert x.tolist() == [[9, 2], [-1, 4]]
    x.set_(y, 2, (2,), (1,))
    x.zero_()
    assert y.tolist() == [7, 9, 0, 0, 4, 5]
    assert x.set_().shape == (0,)
    with pytest.raises(RuntimeError, match="int64 memory for a float32 tensor"):
        x.set_(torch.arange(3))
    with pytest.raises(RuntimeError, match="requires a gradient"):
        torch.ones(2, requires_grad=True).set_(y)


def test_axes_turn_in_place_in_shared_memory():
    p, t = nn.Parameter(torch.ones(2, 3)), torch.zeros(2, 3)
    p.data = t
    with pytest.raises(RuntimeError):
        p.t_()
    with torch.no_grad():
        p.t_()
    t[0, 1] = 5
    with torch.no_grad():
        p[2, 1] = -3
    assert lists(p, t) == [[[0, 0], [5, 0], [0, -3]], [[0, 5, 0], [0, 0, -3]]]


def test_compiled_functions_see_one_that_nobody_shares_any_more():
    parameters = [nn.Parameter(torch.full((2,), float(i))) for i in range(3)]
    step = torch.compile(lambda: sum([(p * p).sum() for p in parameters]))
    assert [step().item(), step().item()] == [10.0, 10.0]
    assert all(type(p) is nn.Parameter for p in parameters)


def test_chains_of_sharing_end_with_the_last_who_holds():
    a = torch.zeros(2)
    b = nn.Parameter(a)
    c = nn.Parameter(b.data)
    a[0] = 1
    assert lists(b, c) == [[1, 0]] * 2
    del a
    with torch.no_grad():
        c[1] = 2
    assert b.tolist() == [1, 2] and type(c) is not nn.Parameter
    del b
    gc.collect()
    assert c.tolist() == [1, 2] and type(c) is nn.Parameter


def test_a_step_reaches_a_parameter_that_went_away_and_came_back():
    p = nn.Parameter(torch.arange(2.0))
    optimizer = torch.optim.SGD([p], 0.1)
    kept = p.data
    p.data = torch.ones(2)
    assert p.tolist() == [1, 1]
    p.data = kept
    del kept
    with torch.no_grad():
        p.copy_(torch.tensor([0.0, 1.0]))
    for expected in (0.8, 0.64):
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()
        assert p.tolist() == pytest.approx([0, expected])
