"""torch.nn.utils.prune beside PyTorch's: masks, states, gradients, what is trained and what is left behind."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import adjoint.torch as ours

theirs = pytest.importorskip("torch")
pytest.importorskip("torch.nn.utils.prune")
pytestmark = pytest.mark.oracle
ENGINES = (ours, theirs)


def pair(make):
    """The same network in both, with the same numbers."""
    mine, other = (make(torch) for torch in ENGINES)
    mine.load_state_dict({key: ours.tensor(value.numpy()) for key, value in other.state_dict().items()})
    return mine, other


def layers(torch):
    return torch.nn.Sequential(torch.nn.Conv2d(3, 6, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(54, 5))


def alike(mine, other):
    found, expected = mine.state_dict(), other.state_dict()
    assert list(found) == list(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key].numpy(), value.numpy(), 1e-5, 1e-6, err_msg=key)


def trained(torch, model, images, steps=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(torch.tensor(images)) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, optimizer


def scores_of(torch, shape):
    return torch.tensor(np.random.default_rng(5).standard_normal(shape).astype("float32"))


WAYS = {
    "l1": lambda torch, p, m: p.l1_unstructured(m[3], "weight", amount=0.4),
    "l1 count": lambda torch, p, m: p.l1_unstructured(m[3], name="bias", amount=2),
    "l1 scores": lambda torch, p, m: p.l1_unstructured(m[3], "weight", 30, importance_scores=scores_of(torch, (5, 54))),
    "ln": lambda torch, p, m: p.ln_structured(m[0], "weight", amount=0.5, n=2, dim=0),
    "ln of columns": lambda torch, p, m: p.ln_structured(m[0], "weight", 2, n=float("inf"), dim=-1),
    "ln scores": lambda torch, p, m: p.ln_structured(m[3], "weight", 2, 1, 0, importance_scores=scores_of(torch, (5, 54))),
    "identity": lambda torch, p, m: p.identity(m[0], "bias"),
    "mask": lambda torch, p, m: p.custom_from_mask(m[3], "bias", torch.tensor([1, 0, 1, 1, 0])),
    "twice": lambda torch, p, m: (p.l1_unstructured(m[3], "weight", 0.3), p.l1_unstructured(m[3], "weight", 0.5)),
    "rows, then elements": lambda torch, p, m: (
        p.ln_structured(m[3], "weight", 2, 2, 0),
        p.l1_unstructured(m[3], "weight", 0.5),
        p.ln_structured(m[3], "weight", 1, 2, 0),
    ),
    "all layers as one": lambda torch, p, m: p.global_unstructured(
        [(m[0], "weight"), (m[3], "weight"), (m[3], "bias")], p.L1Unstructured, amount=0.6
    ),
    "one layer, then all": lambda torch, p, m: (
        p.ln_structured(m[0], "weight", 3, 2, 0),
        p.global_unstructured(((m[0], "weight"), (m[3], "weight")), p.L1Unstructured, amount=100),
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_pruned_networks_train_alike(way):
    mine, other = pair(layers)
    for torch, model in zip(ENGINES, (mine, other), strict=True):
        assert not torch.nn.utils.prune.is_pruned(model)
        WAYS[way](torch, torch.nn.utils.prune, model)
        assert torch.nn.utils.prune.is_pruned(model)
    alike(mine, other)
    assert [name for name, _ in mine.named_parameters()] == [name for name, _ in other.named_parameters()]
    images = np.random.default_rng(1).standard_normal((4, 3, 5, 5)).astype("float32")
    (a, first), (b, second) = trained(ours, mine, images), trained(theirs, other, images)
    np.testing.assert_allclose(a, b, 1e-5)
    alike(mine, other)
    again = copy.deepcopy(mine)
    found, expected = (model(ours.tensor(images)).detach().numpy() for model in (again, mine))
    np.testing.assert_allclose(found, expected, 1e-4)
    other(theirs.tensor(images))  # there the weight is new from the next call on
    for torch, model in zip(ENGINES, (mine, other), strict=True):
        for layer in (model[0], model[3]):
            for name in ("weight", "bias"):
                if hasattr(layer, f"{name}_orig"):
                    torch.nn.utils.prune.remove(layer, name)
        assert not torch.nn.utils.prune.is_pruned(model) and not model[0]._forward_pre_hooks
    alike(mine, other)
    for torch, model, optimizer in (
        (ours, mine, first),
        (theirs, other, second),
    ):  # the parameters are those that it has
        optimizer.zero_grad()
        (model(torch.tensor(images)) ** 2).mean().backward()
        optimizer.step()
    alike(mine, other)


def test_compiled_steps_follow_the_mask():
    mine, _ = pair(layers)
    prune = ours.nn.utils.prune
    prune.l1_unstructured(mine[3], "weight", 0.5)
    images = ours.tensor(np.random.default_rng(1).standard_normal((4, 3, 5, 5)).astype("float32"))
    compiled = ours.compile(mine)
    for _ in range(2):
        np.testing.assert_allclose(compiled(images).detach().numpy(), mine(images).detach().numpy(), 1e-5, 1e-6)
        prune.l1_unstructured(mine[3], "weight", 0.5)


@pytest.mark.parametrize("method", ["random_unstructured", "random_structured"])
def test_random_masks_have_the_same_counts(method):
    options = {"dim": 1} if method == "random_structured" else {}
    counts = []
    for torch in ENGINES:
        layer = torch.nn.Linear(20, 10)
        getattr(torch.nn.utils.prune, method)(layer, "weight", amount=0.3, **options)
        getattr(torch.nn.utils.prune, method)(layer, "weight", amount=4, **options)
        mask = layer.weight_mask.numpy()
        counts.append(
            (mask.sum(), (mask.sum(0) == 0).sum() if options else None, type(layer._forward_pre_hooks).__name__)
        )
        (hook,) = layer._forward_pre_hooks.values()
        counts[-1] += (hook._tensor_name, len(hook), [type(one).__name__ for one in hook])
    assert counts[0] == counts[1]


def test_a_method_of_ones_own():
    masks = []
    for torch in ENGINES:
        base = torch.nn.utils.prune.BasePruningMethod

        class EverySecond(base):
            PRUNING_TYPE = "unstructured"

            def compute_mask(self, t, default_mask):
                mask = default_mask.clone()
                mask.view(-1)[::2] = 0
                return mask

        layer = torch.nn.Linear(4, 3)
        EverySecond.apply(layer, name="weight")
        EverySecond.apply(layer, "weight")
        masks.append(layer.weight_mask.numpy())
        t = torch.tensor([[1.0, -2.0, 3.0]])
        masks.append(EverySecond().prune(t, default_mask=torch.tensor([[1.0, 1.0, 1.0]])).numpy())
        masks.append(torch.nn.utils.prune.L1Unstructured(2).prune(t).numpy())
    for mine, other in zip(masks[:3], masks[3:], strict=True):
        np.testing.assert_array_equal(mine, other)


WRONG = {
    "negative": lambda torch, p: p.l1_unstructured(torch.nn.Linear(2, 2), "weight", -1),
    "more than all": lambda torch, p: p.l1_unstructured(torch.nn.Linear(2, 2), "weight", 5),
    "a part above one": lambda torch, p: p.random_unstructured(torch.nn.Linear(2, 2), "weight", 1.5),
    "text": lambda torch, p: p.random_unstructured(torch.nn.Linear(2, 2), "weight", "half"),
    "rows of a vector": lambda torch, p: p.random_structured(torch.nn.Linear(2, 2), "bias", 1, 0),
    "no such axis": lambda torch, p: p.ln_structured(torch.nn.Linear(2, 2), "weight", 1, 2, 4),
    "no such parameter": lambda torch, p: p.l1_unstructured(torch.nn.Linear(2, 2), "weights", 1),
    "scores of another shape": lambda torch, p: p.l1_unstructured(torch.nn.Linear(2, 2), "weight", 1, torch.ones(3)),
    "a mask of another shape": lambda torch, p: p.custom_from_mask(torch.nn.Linear(2, 2), "weight", torch.ones(3)),
    "not pruned": lambda torch, p: p.remove(torch.nn.Linear(2, 2), "weight"),
    "rows of all layers": lambda torch, p: p.global_unstructured(
        [(torch.nn.Linear(2, 2), "weight")], p.LnStructured, amount=1, n=2
    ),
    "no method": lambda torch, p: p.PruningContainer().add_pruning_method(3),
    "an abstract method": lambda torch, p: p.BasePruningMethod(),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_raises_there_raises_here(case):
    with pytest.raises(Exception) as expected:
        WRONG[case](theirs, theirs.nn.utils.prune)
    with pytest.raises(expected.type):
        WRONG[case](ours, ours.nn.utils.prune)
