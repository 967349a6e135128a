"""What libraries written for PyTorch import besides its public names."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import ClassVar

import pytest
from adjoint.torch.autograd.function import FunctionCtx
from adjoint.torch.utils.hooks import RemovableHandle

import adjoint.torch as torch
from adjoint.torch.distributed import nn
from adjoint.torch.distributions import utils
from adjoint.torch.utils import _pytree as pytree

Pair = namedtuple("Pair", "a b")


def test_trees_are_taken_apart_and_put_together():
    layer = torch.nn.Linear(1, 1)
    tree = [
        1,
        (2, {"b": 3, "a": layer}),
        Pair(None, OrderedDict(x=4)),
        deque([5], maxlen=2),
        defaultdict(list, y=[6]),
        torch.Size([7]),
    ]
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, 3, layer, None, 4, 5, 6, torch.Size([7])] and spec.num_leaves == 9
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree and again[3].maxlen == 2 and again[4].default_factory is list and type(again[2]) is Pair
    assert pytree.tree_structure(again) == spec != pytree.tree_structure(tree[1:])
    assert pytree.tree_map(lambda a, b: a + b, {"x": (1, 2)}, {"x": (10, 20)}) == {"x": (11, 22)}
    assert pytree.tree_map_only(int, lambda v: -v, [1, 2.0, (3,)]) == [-1, 2.0, (-3,)]
    assert pytree.tree_leaves([(1, 2), 3], is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2), 3]
    assert pytree.tree_all(bool, [1, [2]]) and not pytree.tree_any(bool, [0, [0]])
    with pytest.raises(ValueError, match="different shapes"):
        pytree.tree_map(max, [1], (1,))
    with pytest.raises(ValueError, match="1 leaves for a tree of 9"):
        pytree.tree_unflatten([1], spec)
    with pytest.raises(AttributeError, match=r"tree_map"):
        pytree.tree_mapp


def test_a_distribution_of_ones_own():
    class Shifted(torch.distributions.Distribution):
        arg_constraints: ClassVar = {}
        calls = 0

        def __init__(self, loc, probs):
            self.loc, self.probs = utils.broadcast_all(loc, probs)
            super().__init__(self.loc.shape, validate_args=False)

        @utils.lazy_property
        def logits(self):
            """Its logits."""
            Shifted.calls += 1
            return utils.probs_to_logits(self.probs, is_binary=True)

    p = torch.tensor([0.25, 1.0], requires_grad=True)
    d = Shifted(2.0, p)
    with torch.no_grad():
        found = d.logits
    assert d.logits is found and Shifted.calls == 1 and Shifted.logits.__doc__ == "Its logits."
    found[0].backward()
    assert torch.allclose(p.grad, torch.tensor([1 / (0.25 * 0.75), 0.0]))
    assert torch.isfinite(found).all() and torch.allclose(utils.logits_to_probs(found, is_binary=True), p, atol=1e-6)
    classes = torch.tensor([[0.1, 0.9]])
    assert torch.allclose(utils.logits_to_probs(utils.probs_to_logits(classes)), classes)
    assert utils._standard_normal((3, 2), torch.float64, "cpu").dtype is torch.float64


def test_members_by_a_function():
    inner = torch.nn.Linear(1, 1, bias=False)
    net = torch.nn.Sequential(inner, torch.nn.BatchNorm1d(1), torch.nn.Sequential(inner))
    members = net._named_members(lambda module: module._parameters.items(), prefix="net")
    assert [name for name, _ in members] == ["net.0.weight", "net.1.weight", "net.1.bias"]
    assert list(net._named_members(lambda module: module._parameters.items(), recurse=False)) == []
    assert isinstance(inner.register_forward_hook(lambda *given: None), RemovableHandle)


def test_exchanges_of_tensors_that_are_differentiated_say_what_to_do():
    with pytest.raises(RuntimeError, match="one process"):
        nn.all_reduce(torch.ones(1))


def test_what_layers_of_ones_own_ask_of_weights():
    assert torch.nn.init._calculate_fan_in_and_fan_out(torch.ones(2, 3, 5, 7)) == (105, 70)
    assert torch.nn.init._calculate_correct_fan(torch.ones(2, 3), "fan_out") == 2
    assert torch.nn.init._calculate_correct_fan(torch.ones(2, 3), "FAN_IN") == 3
    with pytest.raises(ValueError, match="two axes and more"):
        torch.nn.init._calculate_fan_in_and_fan_out(torch.ones(2))
    with pytest.raises(ValueError, match="fan_in or fan_out"):
        torch.nn.init._calculate_correct_fan(torch.ones(2, 2), "in")


def test_a_gradient_that_is_wider_than_its_input_is_summed():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale, times):
            ctx.save_for_backward(x, scale)
            return x * scale * times

        @staticmethod
        def backward(ctx, g):
            x, scale = ctx.saved_tensors
            return g * scale * 2, g * x * 2, None

    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    for shape, expected in (((1, 3), [[6.0, 10.0, 14.0]]), ((), 30.0), ((2, 1), [[6.0], [24.0]])):
        scale = torch.ones(shape, requires_grad=True)
        Scaled.apply(x, scale, 2).sum().backward()
        assert scale.grad.tolist() == expected

    class Wrong(Scaled):
        @staticmethod
        def backward(ctx, g):
            return g, g[:, :2], None

    with pytest.raises(RuntimeError, match="shape"):
        Wrong.apply(x, torch.ones(1, 3, requires_grad=True), 2).sum().backward()


def test_names_that_hold_of_every_tensor_and_every_function():
    x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
    assert (
        isinstance(x, torch.autograd.Variable)
        and isinstance(x[0], torch.autograd.Variable)
        and x.is_leaf
        and x.requires_grad
    )
    assert not isinstance([1.0], torch.autograd.Variable)
    assert torch.fx.wrap(len) is len and torch.fx.wrap("len") == "len"
    assert torch.jit.Final[bool] is not None
    context = []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            context.append(ctx)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    Twice.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and isinstance(context[0], FunctionCtx)
