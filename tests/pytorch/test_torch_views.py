"""Views of adjoint.torch: what is written through one name reaches the others, and derivatives go where PyTorch's go."""

import copy
import gc
import io
import math

import numpy as np
import pytest

import adjoint as ad
import adjoint.torch as torch
import adjoint.torch.nn as nn
from adjoint import graph
from adjoint.torch import _aliasing


def leaf(*numbers):
    return torch.tensor(list(numbers), requires_grad=True)


def test_a_view_of_all_is_no_leaf():
    x = leaf(1.0, 2.0)
    for view in (x.view(2), x.squeeze(), x[...], x.expand_as(x)):
        assert view.requires_grad
        assert not view.is_leaf
        assert view.grad_fn is not None
    assert x.detach().is_leaf
    y = torch.zeros(2)
    y.copy_(x)
    assert not y.is_leaf
    (y * y).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_view_that_is_first_read_under_no_grad_is_still_differentiated():
    x = leaf(1.0, 2.0)
    view = x.view(1, 2)
    with torch.no_grad():
        x.mul_(3.0)
        assert view.tolist() == [[3.0, 6.0]]
    (view * view).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_a_view_made_under_no_grad_is_not():
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        view = x[1:]
        x.mul_(2.0)
    assert view.tolist() == [4.0]
    assert not (view * 2.0).requires_grad


def test_a_computed_tensor_written_to_under_no_grad_raises():
    """PyTorch changes the value and keeps the derivative of the old one."""
    x = leaf(1.0, 2.0)
    y = x * 2.0
    with torch.no_grad():
        for write in (lambda: y.mul_(3.0), lambda: y.__setitem__(0, 5.0), lambda: y[1:].zero_(), lambda: y.copy_(x)):
            with pytest.raises(RuntimeError, match="under no_grad would reach its value and not its derivative"):
                write()
        x.view(-1)[0] = 7.0  # a variable takes a new value
        y.t_()
    y.sum().backward()
    assert x.tolist() == [7.0, 2.0]
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("tracked", [False, True])
def test_axes_that_change_in_place(tracked):
    """Views that were made before go on seeing the tensor as it was, and reach it; square ones too."""
    base = leaf(1.0, 2.0, 3.0, 4.0)
    x = (base * 1.0 if tracked else base.detach().clone()).view(2, 2).clone()
    row, flat = x[0], x.view(-1)
    x.transpose_(0, 1)
    assert x.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert row.tolist() == [1.0, 2.0]
    x[0, 1] = 30.0
    row[1] = 20.0
    x.unsqueeze_(0)
    assert flat.tolist() == [1.0, 20.0, 30.0, 4.0]
    assert x.shape == (1, 2, 2)
    assert x.stride() == (2, 1, 2)
    flat[3] = 40.0
    assert x.tolist() == [[[1.0, 30.0], [20.0, 40.0]]]
    x.squeeze_()
    x.t_()
    assert x.tolist() == [[1.0, 20.0], [30.0, 40.0]]
    assert x.view(-1).tolist() == flat.tolist()
    if tracked:
        (flat * flat).sum().backward()
        assert base.grad.tolist() == [2.0, 0.0, 0.0, 0.0]


def test_a_view_whose_axes_change_in_place():
    x = torch.arange(6.0).view(2, 3)
    row = x[1]
    part = row[1:]
    row.unsqueeze_(0)
    assert row.shape == (1, 3)
    row.mul_(10.0)
    assert x.tolist() == [[0.0, 1.0, 2.0], [30.0, 40.0, 50.0]]
    assert part.tolist() == [40.0, 50.0]
    part[0] = 0.0
    assert row.tolist() == [[30.0, 0.0, 50.0]]


def test_a_leaf_keeps_its_axes():
    x = leaf(1.0, 2.0)
    for change in (x.t_, lambda: x.unsqueeze_(0), x.squeeze_, lambda: x.transpose_(0, 0)):
        with pytest.raises(RuntimeError, match="writes in place to a variable"):
            change()
    assert x.is_leaf


def test_notes_of_axes_go_with_their_tensors():
    from adjoint.torch import _aliasing

    x = torch.zeros(2, 3)
    x.t_()
    y = (leaf(1.0) * 2.0).detach_()
    assert id(x) in _aliasing.turned
    assert id(y) in _aliasing._same
    keys = id(x), id(y)
    del x, y
    gc.collect()
    assert keys[0] not in _aliasing.turned
    assert keys[1] not in _aliasing._same


def test_detaching_and_becoming_a_leaf_leave_earlier_views_alone():
    w = leaf(1.0, 2.0)
    y = w * 3.0
    early = y[1:]
    y.detach_()
    (early * early).sum().backward()
    assert w.grad.tolist() == [0.0, 36.0]

    x = torch.tensor([1.0, 2.0])
    target = x[1:]
    x.requires_grad_()
    ((x[:1] - target) ** 2).sum().backward()
    assert x.grad.tolist() == [-2.0, 0.0]


def test_a_leaf_that_is_a_view_shares_its_values():
    x = torch.tensor([1.0, 2.0, 3.0])
    step = x.detach().requires_grad_()
    (step * step).sum().backward()
    with torch.no_grad():
        step -= 0.5 * step.grad
    assert x.tolist() == step.tolist() == [0.0, 0.0, 0.0]
    assert step.is_leaf
    x[0] = 5.0
    assert step.tolist() == [5.0, 0.0, 0.0]
    step.grad = None
    (step * step).sum().backward()
    assert step.grad.tolist() == [10.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="writes in place to a variable"):
        step.mul_(2.0)
    step.requires_grad_(False)
    step.mul_(2.0)
    assert x.tolist() == [10.0, 0.0, 0.0]


def test_what_is_differentiated_and_written_to_a_detached_tensor():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    total = x.detach()
    total += w * 2.0
    assert x.tolist() == [7.0, 10.0]
    assert total.requires_grad
    (total * total).sum().backward()
    assert w.grad.tolist() == [28.0, 40.0]
    assert x.grad is None
    with torch.no_grad():
        x.zero_()
    with pytest.raises(RuntimeError, match="the derivative of what stands there would be lost"):
        total.sum()


def test_reshape_is_a_view_where_strides_allow_one():
    x = torch.zeros(4, 6)
    x[:, 0].reshape(2, 2)[0, 1] = 1.0
    x[:, ::2].reshape(4, 3, 1)[2, 1, 0] = 2.0
    x.t().reshape(3, 2, 4)[0, 0, 3] = 3.0
    x.diagonal().reshape(-1)[1] = 4.0
    x.t().reshape(-1)[5] = 9.0  # a copy, as these have no strides
    x[:, 1].ravel()[0] = 9.0  # a copy, as it isn't contiguous
    found = {(i, j): x[i, j].item() for i in range(4) for j in range(6) if x[i, j].item()}
    assert found == {(1, 0): 1.0, (2, 2): 2.0, (3, 0): 3.0, (1, 1): 4.0}


def test_the_diagonal_of_more_than_two_axes():
    x = torch.zeros(2, 2, 2)
    x.transpose(0, 2).fill_diagonal_(1.0)
    assert x.tolist() == [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]]
    tall = torch.zeros(5, 2)
    tall[:4].fill_diagonal_(1.0)
    tall.fill_diagonal_(2.0, wrap=True)
    assert tall.tolist() == [[2.0, 0.0], [0.0, 2.0], [0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    with pytest.raises(ValueError, match="equally long axes"):
        torch.zeros(2, 3, 2).fill_diagonal_(1.0)


def test_other_memory_leaves_earlier_views_what_they_were():
    """`x.data = y` gives x other memory; what was a view of x goes on sharing the old one. So averages are put in and out."""
    model = torch.nn.Linear(2, 1)
    saved = {name: p.data for name, p in model.named_parameters()}
    snapshot = model.state_dict()["weight"]
    before = model.weight.tolist()
    for p in model.parameters():
        p.data = torch.zeros(p.shape)
    assert model.weight.tolist() == [[0.0, 0.0]] and snapshot.tolist() == before
    for name, p in model.named_parameters():
        p.data = saved[name]
    assert model.weight.tolist() == before and model.weight.requires_grad

    x = torch.tensor([1.0, 2.0, 3.0])
    alias, part = x.detach(), x[1:]
    x.data = torch.tensor([7.0, 8.0, 9.0])
    alias.mul_(2)
    assert part.tolist() == [4.0, 6.0] and x.tolist() == [7.0, 8.0, 9.0] and x[1:].tolist() == [8.0, 9.0]
    part.data = torch.tensor([0.0, 0.0])
    part.add_(1)
    assert part.tolist() == [1.0, 1.0] and alias.tolist() == [2.0, 4.0, 6.0]
    turned = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    row = turned[0]
    turned.t_()
    turned.data = torch.zeros(2, 2)
    assert row.tolist() == [1.0, 2.0] and turned[0].tolist() == [0.0, 0.0]
    x.data += 1  # in place
    y = x[:1]
    x.data += 1
    assert y.tolist() == [9.0]


def test_an_optimizer_writes_where_the_parameter_lies():
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    alias = w.detach()
    (w * w).sum().backward()
    torch.optim.SGD([w], lr=0.25).step()
    assert alias.tolist() == w.tolist() == [0.5, 1.0]


def test_a_computed_tensor_gets_no_other_value():
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match="keep its derivative"):
        y.data = torch.tensor([3.0])
    y.detach().data = torch.tensor([3.0])
    assert y.item() == 2.0


def test_an_index_takes_ints_first():
    x = torch.arange(30.0).reshape(2, 5, 3)
    assert x[1, :, [0, 2]].shape == (5, 2)
    assert x[torch.tensor(1), :, [0, 2]].shape == (5, 2)
    assert x[0, None, [0, 1, 1]].shape == (1, 3, 3)
    assert x[[0, 1, 1], :, 0].shape == (3, 5)
    y = x.clone()
    y[1, :, [0, 2]] = torch.arange(10.0).reshape(5, 2)
    assert y[1, 3].tolist() == [6, 25, 7]
    y[0, 3:, [True, False, True]] += 100
    assert y[0, 4].tolist() == [112, 13, 114]
    assert x[[[0, 1], [1, 2]]].tolist() == [[3, 4, 5], [21, 22, 23]]
    assert x[[[[0, 1], [1, 0]]]].shape == (2, 2, 5, 3)


def test_numbers_written_keep_their_digits():
    x = torch.zeros(2, 2, dtype=torch.float64)
    assert x.fill_diagonal_(0.3)[0, 0].item() == 0.3
    assert torch.tensor([1.0, math.nan]).mode().values.item() == 1
    assert math.isnan(torch.tensor([math.nan, 1.0, math.nan]).mode().values.item())


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.unsqueeze(0), lambda x: x.narrow(1, 0, 2), lambda x: x.split(1, 1)[1], lambda x: x.chunk(2, 0)[0],
        lambda x: x[0], lambda x: x[:, 1:], lambda x: x.T, lambda x: x.transpose(0, 1), lambda x: x.permute(1, 0),
        lambda x: x.view(6), lambda x: x.reshape(3, 2), lambda x: x.flatten(), lambda x: x.expand(4, 2, 3),
        lambda x: x.select(0, 1),
    ],
)  # fmt: skip
def test_a_view_is_recorded_at_the_users_line(view):
    y = view(torch.ones(2, 3, requires_grad=True))
    assert y.node.origin.file == __file__
    assert y.node.origin.line == view.__code__.co_firstlineno


def test_what_is_written_to_data_of_a_computed_tensor_keeps_its_derivative():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 3
    y.data.clamp_(max=4.0)
    y.detach()[2] = 7.0
    (y**2).sum().backward()
    assert y.tolist() == [3.0, 4.0, 7.0] and x.grad.tolist() == [18.0, 24.0, 42.0]  # 2 y · 3
    g = torch.func.grad(lambda u: ((y := u * 3).data.mul_(2.0), (y**3).sum())[1])
    assert g(x).tolist() == torch.compile(g)(x).tolist() == [324.0, 1296.0, 2916.0]  # 3 (6 u)² · 3


def test_a_function_writes_to_data_of_its_argument():
    class Put(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, value, i):
            ctx.i = i
            x.data[i] = value
            return x

        @staticmethod
        def backward(ctx, u):
            return u, u[ctx.i], None

    a = torch.tensor([2.0, 5.0], requires_grad=True)
    x = torch.zeros(2)
    for i in range(2):
        x = Put.apply(x, a[i] ** 2, i)
    (x**2).sum().backward()
    assert x.tolist() == [4.0, 25.0] and a.grad.tolist() == [32.0, 500.0]  # 4 a³


def test_a_function_takes_a_module_whose_parameters_are_arguments_too():
    class Apply(torch.autograd.Function):
        @staticmethod
        def forward(ctx, layer, x, weight):
            ctx.save_for_backward(x, weight)
            return layer(x)

        @staticmethod
        def backward(ctx, u):
            x, weight = ctx.saved_tensors
            return None, u @ weight, u.t() @ x

    layer = torch.nn.Linear(2, 2, bias=False)
    x = torch.tensor([[1.0, 2.0]])
    Apply.apply(layer, x, layer.weight).sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    with pytest.raises(TypeError, match="argument of its own"):
        Apply.apply(layer, x, layer.weight.detach())


@pytest.mark.parametrize("conjugate", [lambda x: x.conj(), torch.conj, lambda x: x.mH.mT, lambda x: x.adjoint().mT])
def test_the_conjugate_is_a_view(conjugate):
    z = torch.tensor([[1 + 2j, 3 - 1j]])
    y = conjugate(z)
    y[0, 1] = 5 + 7j
    y.mul_(2)
    assert (z.tolist(), y.tolist()) == ([[2 + 4j, 10 - 14j]], [[2 - 4j, 10 + 14j]])
    x = torch.tensor([[1.0, 2.0]])
    conjugate(x).mul_(2)
    assert x.tolist() == [[2.0, 4.0]]


def test_what_gives_a_tensor_itself_or_its_memory():
    x = torch.tensor([[1.0, 2.0]])
    assert +x is x
    assert x.conj() is x
    torch.nn.Flatten(0)(x)[1] = 5.0
    torch.nn.Unflatten(1, (2, 1))(x)[0, 0] = 7.0
    assert x.tolist() == [[7.0, 5.0]]


def test_numbers_that_integers_cannot_hold():
    for value in (math.nan, math.inf, 300, -1.7):
        with pytest.raises(RuntimeError, match="uint8"):
            torch.ones(2, dtype=torch.uint8).fill_(value)
        with pytest.raises(RuntimeError, match="uint8"):
            torch.ones(2, 2, dtype=torch.uint8).fill_diagonal_(value)
    assert torch.ones(2, dtype=torch.uint8).fill_(-1).tolist() == [255, 255]
    assert torch.ones(2, dtype=torch.int32).fill_(2.7).tolist() == [2, 2]
    assert torch.zeros(2, 2, dtype=torch.bool).fill_diagonal_(0.5).tolist() == [[True, False], [False, True]]


def test_complex_numbers_that_are_not_finite_are_replaced():
    z = torch.nan_to_num(torch.tensor([complex(math.nan, 1.0), complex(2.0, math.inf)]), nan=3.0, posinf=math.inf)
    assert z.tolist() == [3 + 1j, complex(2.0, math.inf)]


@pytest.mark.parametrize("name", ["round", "floor", "ceil", "trunc", "fix", "nan_to_num", "abs"])
def test_integers_that_are_rounded_are_a_tensor_of_their_own(name):
    x = torch.tensor([1, 2], dtype=torch.uint8)
    y = getattr(torch, name)(x)
    x.add_(5)
    assert (x.tolist(), y.tolist()) == ([6, 7], [1, 2])
    y.zero_()
    assert x.tolist() == [6, 7]
    getattr(x, name + "_")()
    assert x.tolist() == [6, 7]


def test_no_differences_are_a_copy():
    x = torch.tensor([1.0, 2.0])
    y = torch.diff(x, 0)
    x.mul_(2)
    assert y.tolist() == [1.0, 2.0]


def test_factors_of_other_dtypes_are_multiplied_in_that_of_the_sum():
    x, third = torch.zeros(1, dtype=torch.float64), torch.tensor([1 / 3], dtype=torch.float32)
    exact = third.double()
    for y in (x.addcmul(third, third, value=0.3), x.clone().addcmul_(third, third, value=0.3)):
        assert y.item() == pytest.approx((exact * exact * 0.3).item(), rel=1e-15)
    assert x.addcdiv(third, third + 1, value=0.3).item() == pytest.approx(
        (exact / (third + 1).double() * 0.3).item(), rel=1e-15
    )
    ints = torch.tensor([2])
    assert x.addcmul(ints, ints, value=0.3).item() == 1.2


@pytest.mark.parametrize("name", ["sgn", "sign", "abs"])
def test_functions_of_bools_give_a_tensor_of_their_own(name):
    x = torch.tensor([True, False])
    y = getattr(torch, name)(x)
    x.logical_not_()
    assert y.tolist() == [True, False]


def test_what_is_indexed_by_a_list_of_one_position_is_a_copy():
    x = torch.zeros(2, 3)
    last = x[:, [-1]]
    last += 1.0
    assert x.tolist() == [[0.0] * 3] * 2
    x += 2.0
    assert last.tolist() == [[1.0], [1.0]]
    x[:, [-1]] = 7.0
    assert x.tolist() == [[2.0, 2.0, 7.0]] * 2


def test_views_agree_when_many_tensors_have_some():
    kept = []
    for k in range(3 * _aliasing.MOST_MEMORIES):
        x = torch.zeros(2)
        view = x.view(1, 2)
        if k % 3 == 0:
            kept.append((x, view))
    assert len(_aliasing.memories) <= 3 * _aliasing.MOST_MEMORIES
    for x, view in kept:
        other = x.view(2, 1)
        x.data = torch.ones(2)
        again = x.view(2, 1)
        view += 3.0
        x += 1.0
        assert x.tolist() == [2.0, 2.0]
        assert view.tolist() == [[3.0, 3.0]]
        assert other.tolist() == [[3.0], [3.0]]
        assert again.tolist() == [[2.0], [2.0]]


def test_memory_of_views_is_forgotten_with_them():
    for _ in range(3):
        for _ in range(2 * _aliasing.MOST_MEMORIES):
            x = torch.zeros(2)
            x.view(1, 2)
            x.data = torch.ones(2)
        assert len(_aliasing.memories) <= 2 * _aliasing.MOST_MEMORIES
    assert not _aliasing._given


def test_views_of_a_tensor_that_was_given_memory_twice():
    x = torch.zeros(2)
    first = x.view(1, 2)
    x.data = torch.ones(2)
    second = x.view(1, 2)
    x.data = torch.ones(2) * 2
    third = first.view(2)
    first += 10.0
    second += 20.0
    assert first.tolist() == [[10.0, 10.0]]
    assert third.tolist() == [10.0, 10.0]
    assert second.tolist() == [[21.0, 21.0]]
    assert x.tolist() == [2.0, 2.0]


# Compiled functions, and gradients ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [
    lambda x: x[0], lambda x: (x * 2).view(-1), lambda x: x.flatten(), lambda x: {"a": (x * 2).t(), "b": [x.chunk(2, -1)[1], 3]},
    lambda x: x.unbind(0), lambda x: (x * 2).data, lambda x: x.detach(),
], ids=range(7))  # fmt: skip
def test_a_compiled_function_gives_what_it_has_made_views_of(f):
    x = torch.arange(8.0).reshape(2, 4)
    expected, compiled = f(x), torch.compile(f)
    for _ in range(3):
        assert str(compiled(x)) == str(expected)
    assert str(torch.compile(nn.Flatten(0))(x)) == str(x.view(-1))


def test_a_compiled_function_writes_to_what_views_are_of():
    base = torch.zeros(2, 3)
    row = base[1]

    @torch.compile
    def written(x):
        x[0] += 5
        return x.sum()

    assert [written(row).item() for _ in range(2)] == [5, 10] and base.tolist() == [[0, 0, 0], [10, 0, 0]]
    assert written(torch.ones(3)).item() == 8 and row.tolist() == [10, 0, 0]


def test_a_compiled_function_sees_that_what_it_is_given_shares_memory():
    a, b, w = torch.zeros(3), torch.zeros(3), nn.Parameter(torch.ones(3))

    @torch.compile
    def both(x, y):
        x.add_(1)
        return y.sum()

    assert both(torch.zeros(2), torch.ones(2)).item() == 2
    assert [both(a[:2], a[1:]).item() for _ in range(2)] == [1, 2] and a.tolist() == [2, 2, 0]
    assert both(torch.zeros(2), torch.ones(2)).item() == 2

    @torch.compile
    def captured(y):
        b.add_(1)
        with torch.no_grad():
            w.sub_(1)
        return y.sum()

    assert [captured(y).item() for y in (torch.ones(2), b[:2], w.data, w.detach(), b[1:])] == [2, 4, -6, -9, 10]


def test_backward_adds_to_the_tensor_that_is_the_gradient():
    flat = torch.zeros(4)
    w = nn.Parameter(torch.ones(2, 2))
    w.grad = flat.view(2, 2)
    for step in ((lambda: (w * 3).sum().backward()), torch.compile(lambda: (w * 3).sum().backward())):
        held, before = w.grad, flat.clone()
        step()
        step()
        assert held is w.grad and flat.tolist() == (before + 6).tolist() == w.grad.view(-1).tolist()
    torch.nn.utils.clip_grad_norm_([w], 1.0)
    assert torch.allclose(flat, torch.full((4,), 0.5))
    w.grad = None
    step()
    held = w.grad
    step()
    assert held is w.grad and held.tolist() == [[6, 6], [6, 6]]
    h = w * 2
    h.retain_grad()
    h.sum().backward(retain_graph=True)
    first = h.grad
    h.sum().backward()
    assert first.tolist() == [[1, 1], [1, 1]] and h.grad.tolist() == [[2, 2], [2, 2]]  # of what is no leaf, a new one


def test_a_gradient_is_one_like_its_tensor():
    w = torch.ones(2, requires_grad=True)
    given = torch.zeros(2)
    w.grad = given
    assert w.grad is given
    for wrong in (w, torch.zeros(3), torch.zeros(2, dtype=torch.float64), 3.0):
        with pytest.raises(RuntimeError, match="its gradient is one like it"):
            w.grad = wrong
    assert w.grad is given


def test_resize_of_what_is_seen_in_other_memory():
    whole = torch.arange(6.0)
    seen = whole.view(2, 3)
    first = seen[0]
    assert seen.resize_(3, 2) is seen and seen.shape == (3, 2)
    seen[0] = 9.0
    first += 1.0
    assert whole.tolist() == [10.0, 10.0, 3.0, 3.0, 4.0, 5.0] and first.tolist() == [10.0, 10.0, 3.0]
    own = torch.zeros(2, 3)
    row = own[0]
    own.resize_(3, 2)[0] = 1.0
    assert own.shape == (3, 2) and row.tolist() == [1.0, 1.0, 0.0] and own.resize_(2).tolist() == [1.0, 1.0]
    for wrong in (
        lambda: seen.resize_(2, 2),
        lambda: seen.t().resize_(3, 2),
        lambda: torch.zeros(2, 3).t_().resize_(6),
    ):
        with pytest.raises(RuntimeError, match="make one of its own"):
            wrong()
    assert seen.t().resize_(2, 3).shape == (2, 3)


@pytest.mark.parametrize("offset", range(-4, 5))
@pytest.mark.parametrize("dims", [(0, 1), (2, 0), (1, -1)])
def test_diagonals_are_read_and_written_where_they_lie(offset, dims):
    values = np.arange(36.0).reshape(2, 3, 6)
    x, first, second = torch.tensor(values), *[d % 3 for d in dims]
    expected = values.copy()
    view = x.diagonal(offset, *dims)
    np.testing.assert_array_equal(view.numpy(), np.diagonal(values, offset, first, second))
    view.mul_(-1.0)
    lines = np.diagonal(expected, offset, first, second)
    lines.flags.writeable = True
    lines *= -1
    np.testing.assert_array_equal(x.numpy(), expected)


def test_a_diagonal_is_a_slice_and_not_found_by_indices():
    x = torch.ones(40, 40, requires_grad=True)
    text = str(ad.execution.explain(x.diagonal() * 2, torch.diag(x[0]), stage="units"))
    assert "gather" not in text and "scatter" not in text


@pytest.mark.parametrize("shape", [(10,), (3, 10), (10, 3)])
def test_windows_are_written_where_none_overlap(shape):
    axis, values = shape.index(10), np.zeros(shape)
    x = torch.tensor(values)
    x.unfold(axis, 2, 4).add_(1.0)
    assert x.sum().item() == 6 * x.numel() // 10  # 0, 1, 4, 5, 8 and 9
    with pytest.raises(RuntimeError):
        x.unfold(axis, 3, 2).add_(1.0)


@pytest.mark.parametrize(
    "cut", [lambda x: x.data, lambda x: x.detach(), lambda x: x.detach()[:], lambda x: x[:].data[:]]
)
@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (lambda w: w[0], [[5, 5, 5], [0, 0, 0]]),
        (lambda w: w.t()[2], [[0, 0, 5], [0, 0, 5]]),
        (lambda w: w.view(3, 2)[1], [[0, 0, 5], [5, 0, 0]]),
        (lambda w: w.unsqueeze(0)[0, :, 1:], [[0, 5, 5], [0, 5, 5]]),
    ],
)
def test_what_is_cut_from_a_part_of_a_leaf_may_be_written_to(part, expected, cut):
    for write in (lambda v: v.fill_(5.0), torch.nn.init.ones_, lambda v: v.__setitem__(..., 5.0)):
        w = torch.nn.Parameter(torch.zeros(2, 3))
        write(cut(part(w)))
        assert (w * (5 / w.max())).tolist() == expected and w.is_leaf and w.requires_grad
        (w * 2).sum().backward()
        assert w.grad.tolist() == [[2.0] * 3] * 2


def test_what_is_cut_from_a_part_of_a_computed_tensor_keeps_its_derivative():
    w = torch.ones(2, 3, requires_grad=True)
    y = w * 3
    y[0].data.fill_(5.0)
    assert y.tolist() == [[5.0] * 3, [3.0] * 3]
    (y * y.detach()).sum().backward()
    assert w.grad.tolist() == [[15.0] * 3, [9.0] * 3]


@pytest.mark.parametrize("f", (torch.sum, torch.nansum, torch.cumsum, torch.prod))
def test_no_line_of_the_package_is_where_a_tensor_comes_from(f):
    y = f(torch.arange(10), 0)
    for node in graph.topological([y.node]):
        assert node.origin.file in ("", __file__)


PARTS = {
    "reshaped": lambda x: x[1:].reshape(-1), "viewed": lambda x: x[2].view(2, 4), "number": lambda x: x[5, 7].view(1),
    "flat": lambda x: x[3:].flatten()[5:], "unflattened": lambda x: x[4].unflatten(0, (2, 4)),
    "turned": lambda x: x[2:4].reshape(4, 4).t(), "squeezed": lambda x: x[3:4].squeeze(),
    "empty": lambda x: x[6:].reshape(8, 0, 3), "columns": lambda x: x[:, 2:4].reshape(2, 3, 2),
}  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_where_a_part_begins_is_known_behind_every_view(part):
    x = torch.arange(48.0).reshape(6, 8)
    y = PARTS[part](x)
    if y.numel():
        assert y.storage_offset() == int(y.flatten()[0])
        assert y.as_strided((1,), (1,)).item() == y.flatten()[0].item()
    file = io.BytesIO()
    torch.save([x, y], file)
    file.seek(0)
    for owner, made in (torch.load(file), copy.deepcopy([x, y])):
        assert made.tolist() == y.tolist() and made.shape == y.shape
        if y.numel():
            made.fill_(-1.0)
            assert int((owner == -1).sum()) == y.numel()


CONJUGATES = [
    lambda z: z.conj(), lambda z: z[1:].conj()[0], lambda z: z.conj()[1:].reshape(-1), lambda z: z.mH, lambda z: z.adjoint()[0],
    lambda z: z.conj().real, lambda z: z.conj().imag, lambda z: z.conj().conj(), lambda z: torch.view_as_real(z)[1, :, 1],
]  # fmt: skip


@pytest.mark.parametrize("part", CONJUGATES)
def test_a_conjugate_is_saved_and_copied_as_what_it_is(part):
    z = torch.tensor([[1 + 2j, 3 + 4j], [5 + 6j, 7 + 8j]])
    y, file = part(z), io.BytesIO()
    torch.save([z, y], file)
    file.seek(0)
    for made in (torch.load(file), copy.deepcopy([z, y])):
        assert [x.tolist() for x in made] == [z.tolist(), y.tolist()] and made[1].dtype is y.dtype
