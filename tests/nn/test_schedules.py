"""Schedules go on from their state; clipping; averaged weights; what each refuses."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim


def sgd(lr=0.1, momentum=0.9):
    return optim.SGD([ad.variable([1.0, 2.0])], lr=lr, momentum=momentum)


def sequence(optimizer):
    parts = [optim.LinearLR(optimizer, 0.1, total_iters=3), optim.CosineAnnealingLR(optimizer, 8)]
    return optim.SequentialLR(optimizer, parts, [3])


MAKERS = {
    "LambdaLR": lambda o: optim.LambdaLR(o, lambda step: 0.5**step),
    "StepLR": lambda o: optim.StepLR(o, 2),
    "MultiStepLR": lambda o: optim.MultiStepLR(o, [2, 5]),
    "ConstantLR": optim.ConstantLR,
    "ExponentialLR": lambda o: optim.ExponentialLR(o, 0.7),
    "PolynomialLR": lambda o: optim.PolynomialLR(o, 9),
    "CosineAnnealingLR": lambda o: optim.CosineAnnealingLR(o, 9),
    "OneCycleLR": lambda o: optim.OneCycleLR(o, 1.0, total_steps=12),
    "SequentialLR": sequence,
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_schedule_goes_on_from_its_state(name):
    def rates(schedule, optimizer, count):
        found = []
        for _ in range(count):
            schedule.step()
            found.append((optimizer.lr, optimizer.momentum))
        return found

    whole_optimizer = sgd()
    whole = rates(MAKERS[name](whole_optimizer), whole_optimizer, 10)
    first_optimizer = sgd()
    first = MAKERS[name](first_optimizer)
    begun = rates(first, first_optimizer, 4)
    state = json.loads(json.dumps([first.state_dict(), first_optimizer.param_groups[0]["lr"]]))
    second_optimizer = sgd()
    second = MAKERS[name](second_optimizer)
    second.load_state_dict(state[0])
    assert second.get_last_lr() == [state[1]]
    assert begun + rates(second, second_optimizer, 6) == whole  # bit for bit


def test_a_plateau_goes_on_from_its_state():
    optimizer = sgd()
    schedule = optim.ReduceLROnPlateau(optimizer, patience=1)
    for metric in (1.0, 1.0):
        schedule.step(metric)
    other = optim.ReduceLROnPlateau(optimizer, patience=1)
    other.load_state_dict(json.loads(json.dumps(schedule.state_dict())))
    other.step(1.0)
    assert optimizer.lr == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda o: optim.StepLR(o, 0), ValueError, "step_size must be at least 1"),
        (lambda o: optim.CosineAnnealingLR(o, 0), ValueError, "T_max must be at least 1"),
        (lambda o: optim.LinearLR(o, start_factor=0), ValueError, "start_factor"),
        (lambda o: optim.LambdaLR(o, [abs, abs]), ValueError, "2 functions for 1 groups"),
        (lambda o: optim.OneCycleLR(o, 1.0), ValueError, "total_steps"),
        (lambda o: optim.OneCycleLR(o, 1.0, 10, pct_start=2), ValueError, "pct_start"),
        (lambda o: optim.OneCycleLR(o, [1.0, 2.0], 10), ValueError, "2 values of max_lr"),
        (lambda o: optim.OneCycleLR(o, 1.0, 10, anneal_strategy="up"), ValueError, "'cos' or 'linear'"),
        (lambda o: optim.SequentialLR(o, [optim.StepLR(o, 1)], [2]), ValueError, "1 schedules need 0 milestones"),
        (lambda o: optim.SequentialLR(o, [optim.StepLR(sgd(), 1)], []), ValueError, "same optimizer"),
        (lambda o: optim.ReduceLROnPlateau(o, factor=1.0), ValueError, "factor"),
        (lambda o: optim.ReduceLROnPlateau(o, mode="up"), ValueError, "'min' or 'max'"),
        (lambda o: optim.StepLR([o], 2), TypeError, "schedules an optimizer, not list"),
        (lambda o: optim.StepLR(o, 2).load_state_dict({"base_lrs": [1]}), ValueError, "lacks gamma, last_epoch"),
        (lambda o: optim.get_ema_avg_fn(1.5), ValueError, "decay"),
        (lambda o: nn.utils.get_total_norm([], norm_type=0), ValueError, "norm_type"),
        (lambda o: optim.RMSprop([ad.variable(1.0)], alpha=-1), ValueError, "alpha"),
    ],
)
def test_mistakes_are_told(make, error, text):
    with pytest.raises(error, match=text):
        make(sgd())


def test_one_cycle_ends():
    schedule = optim.OneCycleLR(sgd(), 1.0, total_steps=3)
    for _ in range(3):
        schedule.step()
    with pytest.raises(ValueError, match="step 4 of a cycle of 3"):
        schedule.step()


def test_one_cycle_needs_a_momentum():
    with pytest.raises(ValueError, match="cycle_momentum=False"):
        optim.OneCycleLR(optim.Optimizer([ad.variable(1.0)], lr=0.1), 1.0, 10)


def test_clipping_scales_all_gradients_together():
    a, b, frozen = ad.variable([3.0]), ad.variable([4.0]), ad.variable([1.0])
    (a * a / 2 + b * b / 2).sum().backward()
    assert nn.utils.clip_grad_norm_([a, b, frozen], 1.0).item() == 5.0
    np.testing.assert_allclose([a.grad.item(), b.grad.item()], [0.6, 0.8], rtol=1e-6)
    assert frozen.grad is None
    assert nn.utils.clip_grad_norm_([frozen], 1.0).item() == 0.0
    nn.utils.clip_grad_value_(b, 0.5)
    assert b.grad.item() == 0.5


def test_a_norm_that_is_not_finite():
    w = ad.variable([1.0])
    w.grad = ad.tensor([float("nan")])
    with pytest.raises(FloatingPointError, match="explain_nan"):
        nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)


def test_averaged_weights_leave_the_model_alone():
    model = nn.Linear(2, 1)
    averaged = optim.AveragedModel(model, optim.get_ema_avg_fn(0.5))
    for value in (0.0, 2.0, 4.0):
        model.weight.data = np.full((1, 2), value, np.float32)
        averaged.update_parameters(model)
    assert averaged.module.weight.numpy().tolist() == [[2.5, 2.5]]
    assert model.weight.numpy().tolist() == [[4.0, 4.0]]
    assert averaged.n_averaged.item() == 3
    other = optim.AveragedModel(nn.Linear(2, 1))
    other.load_state_dict(averaged.state_dict())
    assert other.module.weight.numpy().tolist() == [[2.5, 2.5]]


CHAINING = {
    "StepLR": (2, 0.5), "MultiStepLR": ([4, 6], 0.5), "ConstantLR": (0.5, 4), "LinearLR": (0.5, 1.0, 6), "ExponentialLR": (0.7,),
    "PolynomialLR": (9,), "CosineAnnealingLR": (9,),
}  # fmt: skip


@pytest.mark.parametrize("name", CHAINING)
def test_a_group_that_is_added_later_is_scheduled_from_its_rate(name):
    optimizer = sgd(lr=0.4)
    schedule = getattr(optim, name)(optimizer, *CHAINING[name])
    for _ in range(3):
        schedule.step()
    optimizer.add_param_group({"params": [ad.variable(1.0)], "lr": optimizer.param_groups[0]["lr"] / 4})
    for _ in range(5):
        schedule.step()
        first, second = schedule.get_last_lr()
        assert second == pytest.approx(first / 4, rel=1e-12)


def test_a_group_that_is_added_to_a_schedule_of_absolute_rates():
    optimizer = sgd()
    schedule = optim.LambdaLR(optimizer, lambda step: 0.5)
    optimizer.add_param_group({"params": [ad.variable(1.0)]})
    with pytest.raises(
        ValueError, match="LambdaLR: the optimizer has 2 groups of parameters now, 1 when the schedule was made"
    ):
        schedule.step()


def followed(make):
    """The rates of seven steps of a sequence of two, the second from the third on; beside PyTorch 2.13's."""
    optimizer = sgd(lr=0.04)
    schedule = optim.SequentialLR(optimizer, make(optimizer), [3])
    found = [optimizer.lr]
    for _ in range(6):
        schedule.step()
        found.append(optimizer.lr)
    return found


def test_a_sequence_begins_with_the_rate_that_its_last_part_has_set():
    rates = followed(
        lambda o: [optim.PolynomialLR(o, 10), optim.OneCycleLR(o, 0.1, total_steps=11, cycle_momentum=False)]
    )
    np.testing.assert_allclose(rates[:4], [0.004, 0.0036, 0.0032, 0.004], rtol=1e-12)


def test_a_factor_takes_over_at_once():
    rates = followed(lambda o: [optim.ConstantLR(o, 0.5, 2), optim.MultiplicativeLR(o, lambda step: 0.5)])
    np.testing.assert_allclose(rates, [0.02, 0.02, 0.04, 0.02, 0.01, 0.005, 0.0025], rtol=1e-12)


def test_a_schedule_that_goes_on_needs_the_first_rates():
    torch = importlib.import_module("adjoint.torch")
    w = torch.ones(1, requires_grad=True)
    with pytest.raises(KeyError, match="initial_lr"):
        torch.optim.lr_scheduler.StepLR(torch.optim.SGD([w], lr=1.0), 2, last_epoch=3)
    optimizer = torch.optim.SGD([{"params": [w], "initial_lr": 1.0}], lr=0.5)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5, last_epoch=2)
    assert (schedule.last_epoch, optimizer.param_groups[0]["lr"]) == (3, 0.5)
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.25
    assert "_first" not in schedule.state_dict()
    with pytest.raises(RuntimeError, match="load_state_dict"):
        torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, 5, last_epoch=2)
