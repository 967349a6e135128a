"""Modules: what they find, save, show, and refuse; layers and losses by their formulas."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, tracing
from adjoint.nn import functional as F


class Block(nn.Module):
    def __init__(self, width=3):
        self.first = nn.Linear(2, width)
        self.scale = ad.variable(np.ones(width, np.float32))
        self.second = nn.Sequential(nn.ReLU(), nn.Linear(width, 1))
        self.register_buffer("mean", np.zeros(width, np.float32))
        self.register_buffer("scratch", np.zeros(1, np.float32), persistent=False)
        self.width = width
        self.constant = ad.tensor([1.0])

    def forward(self, x):
        return self.second(self.scale * self.first(x) - self.mean)


NAMES = ["scale", "first.weight", "first.bias", "second.1.weight", "second.1.bias"]


# ---------------------------------------------------------------- finding things


def test_parameters_are_found_by_attribute():
    block = Block()
    assert [name for name, _ in block.named_parameters()] == NAMES
    assert all(parameter.requires_grad for parameter in block.parameters())
    assert [name for name, _ in block.named_buffers()] == ["mean", "scratch"]
    assert [name for name, _ in block.named_modules()] == ["", "first", "second", "second.0", "second.1"]
    assert [name for name, _ in block.named_children()] == ["first", "second"]
    assert next(iter(block.parameters(recurse=False))) is block.scale
    assert next(name for name, _ in block.named_parameters("net")) == "net.scale"


def test_init_of_the_base_may_be_called_or_not():
    class Called(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter([1.0, 2.0])

    assert [name for name, _ in Called().named_parameters()] == ["w"]


def test_shared_parameters_and_modules_are_found_once_and_saved_under_each_name():
    class Tied(nn.Module):
        def __init__(self):
            self.inner = nn.Linear(2, 2)
            self.same = self.inner
            self.weight = self.inner.weight

    tied = Tied()
    assert [name for name, _ in tied.named_parameters()] == ["weight", "inner.bias"]
    assert len(list(tied.modules())) == 2
    assert list(tied.state_dict()) == ["weight", "inner.weight", "inner.bias", "same.weight", "same.bias"]


def test_a_computed_tensor_is_no_parameter():
    class Caching(nn.Module):
        def __init__(self):
            self.w = ad.variable(2.0)

        def forward(self, x):
            self.last = self.w * x
            return self.last

    module = Caching()
    module(ad.tensor(1.0)).backward()
    assert [name for name, _ in module.named_parameters()] == ["w"]
    assert module.w.grad.item() == 1


def test_frozen_parameters_stay_parameters():
    linear = nn.Linear(2, 1)
    linear.weight.requires_grad_(False)
    assert [name for name, _ in linear.named_parameters()] == ["weight", "bias"]
    linear(ad.ones((1, 2))).sum().backward()
    assert linear.weight.grad is None
    assert linear.bias.grad is not None
    assert all(p.requires_grad for p in linear.requires_grad_().parameters())


def test_attributes_can_be_replaced_and_deleted():
    block = Block()
    block.first = nn.Identity()
    block.scale = ad.variable([1.0, 1.0])
    del block.second
    assert [name for name, _ in block.named_parameters()] == ["scale"]
    block.scale = None
    assert list(block.parameters()) == []
    with pytest.raises(AttributeError):
        _ = block.second


def test_properties_are_left_alone():
    class Scaled(nn.Module):
        @property
        def scale(self):
            return self.__dict__["_scale"]

        @scale.setter
        def scale(self, value):
            self.__dict__["_scale"] = 2 * value

    module = Scaled()
    module.scale = ad.variable(3.0)
    assert module.scale.item() == 6
    assert list(module.parameters()) == []


@pytest.mark.parametrize("value", [np.zeros(3), 1.0, "text"])
def test_a_parameter_is_not_replaced_by_something_else(value):
    with pytest.raises(TypeError, match=r"Block\.scale is a parameter .*\.data = "):
        Block().scale = value


def test_a_parameter_is_not_replaced_by_a_constant():
    with pytest.raises(TypeError, match=r"Block\.scale is a parameter"):
        Block().scale = ad.tensor([1.0])


def test_a_list_of_modules_is_refused_with_the_remedy():
    with pytest.raises(TypeError, match=r"Block\.layers.*nn\.ModuleList"):
        Block().layers = [nn.Linear(1, 1)]
    Block().sizes = [1, 2]


def test_the_epoch_counts_changes_of_attributes():
    block = Block()
    before = tracing.epoch
    block.width = 4
    assert tracing.epoch > before
    before = tracing.epoch
    block(ad.ones((1, 2)))
    block.width = block.width
    assert tracing.epoch == before
    block.eval()
    assert tracing.epoch > before


def test_a_module_without_forward_says_so():
    class Empty(nn.Module):
        pass

    with pytest.raises(NotImplementedError, match="Empty"):
        Empty()(1)


# ---------------------------------------------------------------- state


def test_state_travels_between_modules():
    ad.random.seed(1)
    source, target = Block(), Block()
    source.mean.data = np.array([1, 2, 3], np.float32)
    x = ad.ones((4, 2))
    assert not np.allclose(source(x).numpy(), target(x).numpy())
    state = source.state_dict()
    assert list(state) == ["scale", "mean", *NAMES[1:]]
    assert not any(value.requires_grad for value in state.values())
    assert target.load_state_dict(state) == ([], [])
    np.testing.assert_array_equal(source(x).numpy(), target(x).numpy())


def test_a_saved_state_does_not_change_with_training():
    linear = nn.Linear(2, 1)
    state = linear.state_dict()
    before = state["weight"].numpy().copy()
    linear.weight.data -= 1.0
    np.testing.assert_array_equal(state["weight"].numpy(), before)
    linear.load_state_dict(state)
    linear.weight.data -= 1.0
    np.testing.assert_array_equal(state["weight"].numpy(), before)


def test_loading_takes_arrays_and_keeps_the_dtype():
    linear = nn.Linear(2, 1)
    linear.load_state_dict({"weight": np.array([[1.0, 2.0]]), "bias": [3]})
    assert linear.weight.dtype == "float32"
    assert linear.weight.requires_grad
    assert linear(ad.ones((1, 2))).item() == 6


def test_what_does_not_fit_is_listed_and_nothing_changes():
    linear = nn.Linear(2, 1)
    before = linear.weight.numpy().copy()
    with pytest.raises(ValueError, match=r"(?s)missing: bias.*unexpected: w, b.*weight: .*\(1, 2\).*\(3, 2\)"):
        linear.load_state_dict({"weight": np.zeros((3, 2)), "w": 1, "b": 2})
    with pytest.raises(ValueError, match="missing: bias"):
        linear.load_state_dict({"weight": np.zeros((1, 2))})
    np.testing.assert_array_equal(linear.weight.numpy(), before)
    mismatch = linear.load_state_dict({"weight": np.zeros((1, 2)), "w": 1}, strict=False)
    assert mismatch.missing_keys == ["bias"]
    assert mismatch.unexpected_keys == ["w"]
    assert not linear.weight.numpy().any()


def test_train_and_eval_reach_every_module():
    block = Block()
    assert block.training
    assert block.eval() is block
    assert not any(module.training for module in block.modules())
    assert all(module.training for module in block.train().modules())


def test_zero_grad():
    block = Block()
    block(ad.ones((4, 2))).sum().backward()
    assert all(parameter.grad is not None for parameter in block.parameters())
    block.zero_grad()
    assert all(parameter.grad is None for parameter in block.parameters())


def test_casting():
    block = Block().double()
    assert {tensor.dtype.name for tensor in [*block.parameters(), *block.buffers()]} == {"float64"}
    assert block.scale.requires_grad
    assert block(ad.ones((1, 2), dtype="float64")).dtype == "float64"
    assert block.float().scale.dtype == "float32"


def test_deepcopy_is_independent():
    block = Block()
    twin = copy.deepcopy(block)
    twin.scale.data = np.zeros(3, np.float32)
    assert block.scale.numpy().all()
    assert [name for name, _ in twin.named_parameters()] == NAMES


def test_apply_visits_children_first():
    seen = []
    Block().apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Block"]


# ---------------------------------------------------------------- a module as a tree


def test_a_module_is_a_container_of_its_parameters():
    block = Block()
    leaves, structure = ad.tree.flatten(block)
    assert [leaf is parameter for leaf, parameter in zip(leaves, block.parameters(), strict=True)] == [True] * 5
    doubled = structure.unflatten([2 * leaf for leaf in leaves])
    assert isinstance(doubled, Block)
    assert [name for name, _ in doubled.named_parameters()] == NAMES
    np.testing.assert_array_equal(doubled.scale.numpy(), 2 * block.scale.numpy())
    np.testing.assert_array_equal(doubled.second[1].weight.numpy(), 2 * block.second[1].weight.numpy())
    assert block.scale.numpy()[0] == 1
    assert doubled.mean is block.mean
    assert ad.tree.flatten(doubled)[1] == structure


def test_tied_parameters_stay_tied_as_a_tree():
    tied = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    tied[1].weight = tied[0].weight
    leaves, structure = ad.tree.flatten(tied)
    assert len(leaves) == 1
    rebuilt = structure.unflatten([ad.ones((2, 2))])
    assert rebuilt[0].weight is rebuilt[1].weight


def test_grad_of_a_function_of_a_module():
    ad.random.seed(0)
    model, x = Block(), ad.ones((4, 2))
    gradients = ad.grad(lambda m: (m(x) ** 2).sum())(model)
    (model(x) ** 2).sum().backward()
    assert isinstance(gradients, Block)
    for name, gradient in gradients.named_parameters():
        np.testing.assert_allclose(gradient.numpy(), dict(model.named_parameters())[name].grad.numpy(), rtol=1e-6)
    stepped = ad.tree.map(lambda p, g: p - 0.1 * g, model, gradients)
    np.testing.assert_allclose(stepped.scale.numpy(), (model.scale - 0.1 * model.scale.grad).numpy(), rtol=1e-6)


# ---------------------------------------------------------------- text


def test_repr_is_as_pytorch_shows_it():
    model = nn.Sequential(nn.Flatten(), nn.Linear(4, 3, bias=False), nn.Sequential(nn.Softmax(dim=1), nn.GELU()))
    assert repr(model) == (
        "Sequential(\n"
        "  (0): Flatten(start_dim=1, end_dim=-1)\n"
        "  (1): Linear(in_features=4, out_features=3, bias=False)\n"
        "  (2): Sequential(\n"
        "    (0): Softmax(dim=1)\n"
        "    (1): GELU(approximate='none')\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ReLU()) == "ReLU()"
    assert repr(nn.CrossEntropyLoss(reduction="sum")) == "CrossEntropyLoss(reduction='sum')"


# ---------------------------------------------------------------- layers


def test_linear_starts_within_its_bound_and_by_the_seed():
    ad.random.seed(3)
    first = nn.Linear(100, 50)
    ad.random.seed(3)
    second = nn.Linear(100, 50)
    np.testing.assert_array_equal(first.weight.numpy(), second.weight.numpy())
    weight = first.weight.numpy()
    assert weight.shape == (50, 100)
    assert weight.dtype == np.float32
    assert 0.09 < np.abs(weight).max() <= 0.1
    assert abs(weight.std() - 0.1 / np.sqrt(3)) < 0.002


def test_linear_takes_any_leading_axes():
    linear = nn.Linear(3, 2, dtype="float64")
    x = np.random.default_rng(0).standard_normal((4, 5, 3))
    expected = x @ linear.weight.numpy().T + linear.bias.numpy()
    np.testing.assert_allclose(linear(ad.tensor(x)).numpy(), expected)
    np.testing.assert_allclose(linear(ad.tensor(x[0, 0])).numpy(), expected[0, 0])


@pytest.mark.parametrize("shape", [(), (2,), (4, 2), (3, 1)])
def test_linear_refuses_other_widths(shape):
    with pytest.raises(ValueError, match="in_features=3"):
        nn.Linear(3, 2)(ad.zeros(shape))


def test_flatten():
    x = ad.zeros((2, 3, 4, 5))
    assert nn.Flatten()(x).shape == (2, 60)
    assert nn.Flatten(0, 2)(x).shape == (24, 5)
    assert nn.Flatten(-2)(x).shape == (2, 3, 20)
    with pytest.raises(IndexError, match="start_dim=1"):
        nn.Flatten()(ad.zeros((3,)))


def test_containers_are_lists():
    model = nn.Sequential(nn.Linear(1, 2), nn.ReLU()).append(nn.Linear(2, 1))
    assert len(model) == 3
    assert isinstance(model[-1], nn.Linear)
    assert [type(module).__name__ for module in model[1:]] == ["ReLU", "Linear"]
    assert list(model[2:].state_dict()) == ["2.weight", "2.bias"]
    with pytest.raises(IndexError, match="3 modules"):
        _ = model[3]
    model[1] = nn.Tanh()
    assert isinstance(model[1], nn.Tanh)
    with pytest.raises(TypeError, match="must be a Module"):
        nn.Sequential(nn.ReLU(), 3)

    named = nn.Sequential({"hidden": nn.Linear(1, 2), "out": nn.Linear(2, 1)})
    assert named(ad.ones((5, 1))).shape == (5, 1)
    assert next(iter(named.state_dict())) == "hidden.weight"

    layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
    assert [name for name, _ in layers.named_parameters()][::2] == ["0.weight", "1.weight", "2.weight"]
    assert len(layers[:2]) == 2


ACTIVATIONS = {
    "ReLU": lambda x: np.maximum(x, 0),
    "Tanh": np.tanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Softplus": lambda x: np.log1p(np.exp(x)),
    "SiLU": lambda x: x / (1 + np.exp(-x)),
    "Softmax": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    "LogSoftmax": lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    x = np.random.default_rng(0).standard_normal((3, 4))
    np.testing.assert_allclose(getattr(nn, name)()(ad.tensor(x)).numpy(), ACTIVATIONS[name](x), rtol=1e-12)


def test_gelu_formulas_are_close_and_named():
    x = ad.linspace(-3, 3, 50, dtype="float64")
    exact, approximate = nn.GELU()(x).numpy(), nn.GELU("tanh")(x).numpy()
    assert 0 < np.abs(exact - approximate).max() < 1e-3
    with pytest.raises(ValueError, match="approximate"):
        nn.GELU("erf")(x)


# ---------------------------------------------------------------- losses


LOGITS = np.random.default_rng(0).standard_normal((4, 3))
LABELS = np.array([0, 2, 1, 2])


def softmax_of(x):
    return np.exp(x) / np.exp(x).sum(1, keepdims=True)


def test_cross_entropy_of_labels_and_of_probabilities():
    each = -np.log(softmax_of(LOGITS))[np.arange(4), LABELS]
    logits = ad.tensor(LOGITS)
    for labels in (LABELS, ad.tensor(LABELS), LABELS.astype(np.uint8), LABELS.tolist()):
        np.testing.assert_allclose(F.cross_entropy(logits, labels, reduction="none").numpy(), each)
    assert F.cross_entropy(logits, LABELS).item() == pytest.approx(each.mean())
    assert nn.CrossEntropyLoss(reduction="sum")(logits, LABELS).item() == pytest.approx(each.sum())
    assert F.cross_entropy(logits, np.eye(3)[LABELS]).item() == pytest.approx(each.mean())
    assert F.nll_loss(ad.log_softmax(logits, axis=1), LABELS).item() == pytest.approx(each.mean())
    assert F.cross_entropy(logits[0], LABELS[0]).item() == pytest.approx(each[0])


def test_cross_entropy_gradient():
    logits = ad.variable(LOGITS)
    F.cross_entropy(logits, LABELS).backward()
    np.testing.assert_allclose(logits.grad.numpy(), (softmax_of(LOGITS) - np.eye(3)[LABELS]) / 4, atol=1e-15)


def test_cross_entropy_of_huge_logits_is_finite():
    logits = ad.variable(np.array([[1e4, 0.0], [0.0, -1e4]]))
    loss = F.cross_entropy(logits, [1, 0])
    loss.backward()
    assert loss.item() == pytest.approx(5e3)
    assert np.isfinite(logits.grad.numpy()).all()


def test_cross_entropy_over_pixels():
    logits = np.random.default_rng(1).standard_normal((2, 3, 4))
    labels = np.random.default_rng(2).integers(0, 3, (2, 4))
    moved = logits.transpose(0, 2, 1).reshape(-1, 3)
    expected = -np.log(softmax_of(moved))[np.arange(8), labels.ravel()].mean()
    assert F.cross_entropy(ad.tensor(logits), labels).item() == pytest.approx(expected)


@pytest.mark.parametrize(("label", "text"), [(3, "class number 3 at \\[1\\]"), (-1, "class number -1 at \\[1\\]")])
def test_labels_out_of_range(label, text):
    with pytest.raises(IndexError, match=text + " is out of range for 3 classes"):
        F.cross_entropy(ad.tensor(LOGITS), np.array([0, label, 1, 1]))


@pytest.mark.parametrize(
    ("target", "error", "text"),
    [
        (LABELS[:, None], ValueError, r"\(4,\).*\(4, 1\).*target\.squeeze\(axis=-1\)"),
        (LABELS[:3], ValueError, r"class numbers of shape \(4,\).*\(3,\)"),
        (np.eye(3, dtype=int)[LABELS], ValueError, "one-hot"),
        (LABELS.astype(float), ValueError, r"astype\('int64'\)"),
        (np.ones((4, 2)), ValueError, "shape of the logits"),
        (LABELS > 1, TypeError, "integers, not .*bool"),
    ],
)
def test_cross_entropy_refuses_what_does_not_fit(target, error, text):
    with pytest.raises(error, match=text):
        F.cross_entropy(ad.tensor(LOGITS), target)


PAIRWISE = {
    "mse_loss": lambda p, t: (p - t) ** 2,
    "l1_loss": lambda p, t: np.abs(p - t),
    "binary_cross_entropy_with_logits": lambda p, t: (
        -t * np.log(1 / (1 + np.exp(-p))) - (1 - t) * np.log(1 / (1 + np.exp(p)))
    ),
}


@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise_losses(name):
    prediction, target = LOGITS, np.random.default_rng(1).uniform(0, 1, LOGITS.shape)
    expected, loss = PAIRWISE[name](prediction, target), getattr(F, name)
    np.testing.assert_allclose(loss(ad.tensor(prediction), target, reduction="none").numpy(), expected)
    assert loss(ad.tensor(prediction), target).item() == pytest.approx(expected.mean())
    assert loss(ad.tensor(prediction), ad.tensor(target), reduction="sum").item() == pytest.approx(expected.sum())


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize(
    ("shapes", "remedy"),
    [
        (((4, 1), (4,)), r"prediction\.squeeze\(axis=-1\)"),
        (((4,), (4, 1)), r"target\.squeeze\(axis=-1\)"),
        (((4, 1), (1, 4)), "must be the same"),
        (((4,), ()), "must be the same"),
    ],
)
def test_losses_never_broadcast(name, shapes, remedy):
    with pytest.raises(ValueError, match=f"{name}.*{remedy}"):
        getattr(F, name)(ad.zeros(shapes[0]), ad.zeros(shapes[1]))


def test_binary_cross_entropy_takes_bools_and_survives_large_logits():
    logits = ad.variable(np.array([1e4, -1e4, 0.0]))
    loss = nn.BCEWithLogitsLoss(reduction="none")(logits, np.array([True, True, False]))
    np.testing.assert_allclose(loss.numpy(), [0, 1e4, np.log(2)])
    loss.sum().backward()
    np.testing.assert_allclose(logits.grad.numpy(), [0, -1, 0.5])


def test_errors_end_with_the_users_line():
    with pytest.raises(ValueError, match=r"test_nn\.py:\d+\)$"):
        F.mse_loss(ad.zeros((4, 1)), ad.zeros(4))
    with pytest.raises(ValueError, match=r"test_nn\.py:\d+\)$"):
        nn.Sequential(nn.Linear(3, 2))(ad.zeros((4, 1)))


def test_unknown_reduction():
    with pytest.raises(ValueError, match="'median'"):
        F.mse_loss(ad.zeros(2), ad.zeros(2), "median")
    with pytest.raises(ValueError, match=r"MSELoss.*'median'"):
        nn.MSELoss(reduction="median")
