"""Optimizers, schedules, clipping and averaged weights against PyTorch, step by step."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

TOLERANCE = {"rtol": 1e-10, "atol": 1e-10}
STEPS = 20
# of which PyTorch keeps the product of the momenta, or the rate, in 32 bits
COARSE = {"NAdam", "ASGD"}
COARSE_TOLERANCE = {"rtol": 1e-5, "atol": 1e-7}

OPTIMIZERS = [
    ("SGD", {}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.2}),
    ("SGD", {"lr": 0.1, "momentum": 0.8, "nesterov": True, "weight_decay": 0.05}),
    ("Adam", {}),
    ("Adam", {"lr": 0.05, "amsgrad": True}),
    ("Adam", {"lr": 0.05, "betas": (0.7, 0.9), "eps": 1e-3, "weight_decay": 0.1, "amsgrad": True}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.3, "amsgrad": True}),
    ("RMSprop", {}),
    ("RMSprop", {"alpha": 0.8, "eps": 1e-3}),
    ("RMSprop", {"weight_decay": 0.1}),
    ("RMSprop", {"momentum": 0.9}),
    ("RMSprop", {"centered": True}),
    ("RMSprop", {"alpha": 0.9, "momentum": 0.5, "centered": True, "weight_decay": 0.02}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.3, "eps": 1e-3}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.05, "betas": (0.7, 0.9), "weight_decay": 0.1}),
    ("NAdam", {}),
    ("NAdam", {"lr": 0.05, "betas": (0.7, 0.9), "weight_decay": 0.1, "momentum_decay": 0.1}),
    ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {}),
    ("RAdam", {"lr": 0.05, "betas": (0.7, 0.9), "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.05, "betas": (0.9, 0.95), "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adafactor", {}),
    ("Adafactor", {"lr": 0.5, "beta2_decay": -0.5, "d": 2.0, "weight_decay": 0.1, "eps": (1e-3, 0.1)}),
    ("Adam", {"lr": 0.05, "weight_decay": 0.3, "decoupled_weight_decay": True}),
    ("ASGD", {}),
    ("ASGD", {"lr": 0.1, "lambd": 0.01, "alpha": 0.5, "t0": 3.0, "weight_decay": 0.1}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (0.05, 0.4)}),
    *[
        (name, {"maximize": True, "weight_decay": 0.1, "foreach": False})
        for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Adafactor")
    ],
]


def pair(dtype, seed=0):
    """The same two parameters in both libraries."""
    generator = np.random.default_rng(seed)
    arrays = [generator.standard_normal((4, 3)).astype(dtype), generator.standard_normal(5).astype(dtype)]
    return [ad.variable(array) for array in arrays], [torch.tensor(array, requires_grad=True) for array in arrays]


def give_gradients(ours, theirs, step):
    """The same gradients to both, of sizes that differ from step to step."""
    generator = np.random.default_rng(1000 + step)
    for a, b in zip(ours, theirs, strict=True):
        gradient = (generator.standard_normal(a.shape) * generator.choice([0.1, 1.0, 5.0])).astype(a.numpy().dtype)
        a.grad = ad.tensor(gradient)
        b.grad = torch.tensor(gradient)


def assert_same(ours, theirs, **tolerance):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), **tolerance)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_optimizers_on_identical_gradients(name, options, dtype):
    ours, theirs = pair(dtype)
    optimizer = getattr(optim, name)(ours, **options)
    optimizer_torch = getattr(torch.optim, name)(theirs, **options)
    tolerance = TOLERANCE if dtype == "float64" else {"rtol": 1e-5, "atol": 1e-5}
    if name in COARSE and dtype == "float64":
        tolerance = COARSE_TOLERANCE
    for step in range(STEPS):
        give_gradients(ours, theirs, step)
        optimizer.step()
        optimizer_torch.step()
        assert_same(ours, theirs, **tolerance)
    assert ours[0].dtype == dtype


@pytest.mark.parametrize(("name", "options"), [OPTIMIZERS[7], *OPTIMIZERS[15::2]])
def test_states_travel_both_ways(name, options):
    ours, theirs = pair("float64")
    optimizer = getattr(optim, name)(ours, **options)
    optimizer_torch = getattr(torch.optim, name)(theirs, **options)
    for step in range(3):
        give_gradients(ours, theirs, step)
        optimizer.step()
        optimizer_torch.step()
    state, state_torch = optimizer.state_dict(), optimizer_torch.state_dict()
    entries = {key for key, value in state_torch["state"].get(0, {}).items() if value is not None}
    assert set(state["state"].get(0, ())) == entries
    fresh = getattr(optim, name)(ours, **options)
    fresh.load_state_dict(
        {
            "state": {
                number: {key: value.numpy() for key, value in entries.items() if value is not None}
                for number, entries in state_torch["state"].items()
            },
            "param_groups": state_torch["param_groups"],
        }
    )
    for step in range(3, 6):
        give_gradients(ours, theirs, step)
        fresh.step()
        optimizer_torch.step()
        assert_same(ours, theirs, **(COARSE_TOLERANCE if name in COARSE else TOLERANCE))


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=str)
def test_pytorch_goes_on_from_a_state_of_ours(name, options):
    ours, theirs = pair("float64")
    optimizer = getattr(optim, name)(ours, **options)
    for step in range(3):
        give_gradients(ours, theirs, step)
        optimizer.step()
    for a, b in zip(ours, theirs, strict=True):
        b.data = torch.tensor(a.numpy())
    state = ad.tree.map(lambda x: torch.tensor(x.numpy()) if isinstance(x, ad.Tensor) else x, optimizer.state_dict())
    fresh = getattr(torch.optim, name)(theirs)
    assert set(state["param_groups"][0]) == set(fresh.state_dict()["param_groups"][0])
    fresh.load_state_dict(state)
    for step in range(3, 6):
        give_gradients(ours, theirs, step)
        optimizer.step()
        fresh.step()
        assert_same(ours, theirs, **(COARSE_TOLERANCE if name in COARSE else TOLERANCE))


def both(name, **options):
    """How to make one schedule in both libraries."""
    return lambda o: getattr(optim, name)(o, **options), lambda o: getattr(torch.optim.lr_scheduler, name)(o, **options)


def sequence(library, optimizer):
    parts = [
        library.LinearLR(optimizer, start_factor=0.1, total_iters=4),
        library.CosineAnnealingLR(optimizer, T_max=10, eta_min=0.001),
        library.StepLR(optimizer, step_size=3, gamma=0.5),
    ]
    return library.SequentialLR(optimizer, parts, milestones=[4, 12])


SCHEDULES = {
    "step": both("StepLR", step_size=4, gamma=0.3),
    "milestones": both("MultiStepLR", milestones=[3, 9, 9, 15], gamma=0.5),
    "constant": both("ConstantLR", factor=0.2, total_iters=6),
    "linear": both("LinearLR", start_factor=0.1, end_factor=0.8, total_iters=7),
    "warm-up": both("LinearLR", start_factor=1e-3, total_iters=10),
    "exponential": both("ExponentialLR", gamma=0.9),
    "polynomial": both("PolynomialLR", total_iters=12, power=1.7),
    "cosine": both("CosineAnnealingLR", T_max=20, eta_min=0.01),
    "cosine, and up again": both("CosineAnnealingLR", T_max=12),
    "lambda": both("LambdaLR", lr_lambda=lambda step: 1 / (1 + step)),
    "lambdas": both("LambdaLR", lr_lambda=[lambda step: 0.9**step, lambda step: 1 / (2 + step)]),
    "one cycle": both("OneCycleLR", max_lr=0.5, total_steps=25),
    "one cycle, linear": both("OneCycleLR", max_lr=[0.5, 0.2], epochs=5, steps_per_epoch=5, anneal_strategy="linear"),
    "one cycle, three phases": both("OneCycleLR", max_lr=0.5, total_steps=24, pct_start=0.25, three_phase=True),
    "one cycle, rates only": both("OneCycleLR", max_lr=0.5, total_steps=24, cycle_momentum=False, div_factor=10.0),
    "cyclic": both("CyclicLR", base_lr=0.01, max_lr=0.3, step_size_up=4),
    "cyclic, halved": both(
        "CyclicLR",
        base_lr=[0.01, 0.02],
        max_lr=[0.3, 0.5],
        step_size_up=3,
        step_size_down=5,
        mode="triangular2",
        cycle_momentum=False,
    ),
    "cyclic, exponential": both("CyclicLR", base_lr=0.01, max_lr=0.3, step_size_up=4, mode="exp_range", gamma=0.9),
    "cyclic, scaled": both(
        "CyclicLR", base_lr=0.01, max_lr=0.3, step_size_up=4, scale_fn=lambda x: 1 / x, base_momentum=0.5
    ),
    "multiplied": both("MultiplicativeLR", lr_lambda=lambda step: 1 - 0.5 / step),
    "multiplied by groups": both("MultiplicativeLR", lr_lambda=[lambda step: 0.9, lambda step: 1 / (2 + step)]),
    "chain": (lambda o: chain(optim, o), lambda o: chain(torch.optim.lr_scheduler, o)),
    "weights averaged": (lambda o: optim.SWALR(o, 0.05), lambda o: torch.optim.swa_utils.SWALR(o, 0.05)),
    "weights averaged, by groups": (
        lambda o: optim.SWALR(o, [0.05, 0.3], 5, "linear"),
        lambda o: torch.optim.swa_utils.SWALR(o, [0.05, 0.3], 5, "linear"),
    ),
    "weights averaged, at once": (lambda o: optim.SWALR(o, 0.05, 0), lambda o: torch.optim.swa_utils.SWALR(o, 0.05, 0)),
    "sequence": (lambda o: sequence(optim, o), lambda o: sequence(torch.optim.lr_scheduler, o)),
}


def chain(library, optimizer):
    return library.ChainedScheduler(
        [
            library.LinearLR(optimizer, start_factor=0.1, total_iters=4),
            library.CosineAnnealingLR(optimizer, T_max=6, eta_min=0.001),
            library.MultiStepLR(optimizer, [3, 9], gamma=0.5),
        ]
    )


def groups(parameters):
    return [{"params": [parameters[0]]}, {"params": [parameters[1]], "lr": 0.03}]


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_schedules_step_by_step(name, kind):
    ours, theirs = pair("float64")
    options = {"lr": 0.1, **({"momentum": 0.9} if kind == "SGD" else {})}
    optimizer = getattr(optim, kind)(groups(ours), **options)
    optimizer_torch = getattr(torch.optim, kind)(groups(theirs), **options)
    make, make_torch = SCHEDULES[name]
    schedule, schedule_torch = make(optimizer), make_torch(optimizer_torch)
    for step in range(24):
        for group, group_torch in zip(optimizer.param_groups, optimizer_torch.param_groups, strict=True):
            for key in {"lr", "momentum", "betas"} & set(optimizer.defaults):
                assert group.get(key) == pytest.approx(group_torch.get(key), rel=1e-12, abs=1e-16), (step, key)
        assert schedule.get_last_lr() == pytest.approx(schedule_torch.get_last_lr(), rel=1e-12, abs=1e-16)
        give_gradients(ours, theirs, step)
        optimizer.step()
        optimizer_torch.step()
        assert_same(ours, theirs, **TOLERANCE)
        schedule.step()
        schedule_torch.step()


CHAINED = {
    "step": ("StepLR", {"step_size": 3, "gamma": 0.5}),
    "milestones": ("MultiStepLR", {"milestones": [2, 6], "gamma": 0.1}),
    "constant": ("ConstantLR", {"factor": 0.2, "total_iters": 4}),
    "linear": ("LinearLR", {"start_factor": 0.25, "total_iters": 6}),
    "exponential": ("ExponentialLR", {"gamma": 0.9}),
    "polynomial": ("PolynomialLR", {"total_iters": 7, "power": 2.0}),
    "cosine": ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
    "lambda": ("LambdaLR", {"lr_lambda": lambda step: 0.9**step}),
    "multiplied": ("MultiplicativeLR", {"lr_lambda": lambda step: 0.9}),
    "cyclic": ("CyclicLR", {"base_lr": 0.05, "max_lr": 0.2, "step_size_up": 3, "cycle_momentum": False}),
}


def descents():
    """An optimizer of ours and one of PyTorch's, with the module of its schedules."""
    return [
        (optim.SGD([ad.variable(1.0)], lr=0.3), optim),
        (torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.3), torch.optim.lr_scheduler),
    ]


@pytest.mark.parametrize("first", CHAINED)
@pytest.mark.parametrize("second", CHAINED)
def test_two_schedules_of_one_optimizer_and_a_program_that_sets_the_rate(first, second):
    found = []
    for optimizer, schedules in descents():
        made = [getattr(schedules, CHAINED[name][0])(optimizer, **CHAINED[name][1]) for name in (first, second)]
        rates = []
        for step in range(12):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            if step == 4:
                optimizer.param_groups[0]["lr"] *= 3
            for schedule in made:
                schedule.step()
                rates += schedule.get_last_lr()
        found.append(rates)
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("first", CHAINED)
@pytest.mark.parametrize("second", [*CHAINED, "one cycle"])
def test_one_schedule_after_the_other(first, second):
    parts = {**CHAINED, "one cycle": ("OneCycleLR", {"max_lr": 0.5, "total_steps": 20, "cycle_momentum": False})}
    found = []
    for optimizer, schedules in descents():
        made = [getattr(schedules, parts[name][0])(optimizer, **parts[name][1]) for name in (first, second)]
        schedule = schedules.SequentialLR(optimizer, made, [4])
        rates = [optimizer.param_groups[0]["lr"]]
        for _ in range(10):
            optimizer.step()
            schedule.step()
            rates += [optimizer.param_groups[0]["lr"], *schedule.get_last_lr()]
        found.append(rates)
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("options", [{}, {"mode": "max", "patience": 1, "threshold": 0.05, "cooldown": 2},
                                     {"threshold_mode": "abs", "patience": 0, "min_lr": 0.02, "factor": 0.5}])  # fmt: skip
def test_rates_fall_on_a_plateau(options):
    ours, theirs = pair("float64")
    optimizer, optimizer_torch = optim.SGD(ours, lr=0.1), torch.optim.SGD(theirs, lr=0.1)
    schedule = optim.ReduceLROnPlateau(optimizer, **{"patience": 3, **options})
    schedule_torch = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer_torch, **{"patience": 3, **options})
    generator = np.random.default_rng(0)
    for _ in range(40):
        metric = float(np.round(generator.random(), 1))
        schedule.step(metric)
        schedule_torch.step(metric)
        assert optimizer.lr == pytest.approx(optimizer_torch.param_groups[0]["lr"], rel=1e-12)
    assert optimizer.lr < 0.1


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("limit", [0.01, 1.0, 1e6])
def test_gradients_are_clipped_by_norm(order, limit):
    ours, theirs = pair("float64")
    give_gradients(ours, theirs, 0)
    norm = nn.utils.clip_grad_norm_(ours, limit, norm_type=order)
    norm_torch = torch.nn.utils.clip_grad_norm_(theirs, limit, norm_type=order)
    assert norm.item() == pytest.approx(norm_torch.item(), rel=1e-12)
    assert_same([a.grad for a in ours], [b.grad for b in theirs], **TOLERANCE)


def test_gradients_are_clipped_by_value():
    ours, theirs = pair("float64")
    give_gradients(ours, theirs, 0)
    nn.utils.clip_grad_value_(ours, 0.4)
    torch.nn.utils.clip_grad_value_(theirs, 0.4)
    assert_same([a.grad for a in ours], [b.grad for b in theirs], rtol=0, atol=0)


@pytest.mark.parametrize("decay", [None, 0.0, 0.9])
def test_averaged_weights(decay):
    torch.manual_seed(0)
    theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    ours = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    ours.load_state_dict({name: value.numpy() for name, value in theirs.state_dict().items()})
    swa = torch.optim.swa_utils
    averaged = optim.AveragedModel(ours, None if decay is None else optim.get_ema_avg_fn(decay))
    averaged_torch = swa.AveragedModel(theirs, multi_avg_fn=None if decay is None else swa.get_ema_multi_avg_fn(decay))
    assert set(averaged.state_dict()) == set(averaged_torch.state_dict())
    optimizer, optimizer_torch = optim.SGD(ours.parameters(), 0.1), torch.optim.SGD(theirs.parameters(), 0.1)
    for step in range(6):
        give_gradients(list(ours.parameters()), list(theirs.parameters()), step)
        optimizer.step()
        optimizer_torch.step()
        averaged.update_parameters(ours)
        averaged_torch.update_parameters(theirs)
    for name, value in averaged.state_dict().items():
        np.testing.assert_allclose(value.numpy(), averaged_torch.state_dict()[name].numpy(), err_msg=name, **TOLERANCE)
    x = np.random.default_rng(0).standard_normal((2, 3))
    np.testing.assert_allclose(
        averaged(ad.tensor(x)).numpy(), averaged_torch(torch.tensor(x)).detach().numpy(), **TOLERANCE
    )


def rosenbrock(library, x):
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


@pytest.mark.parametrize(
    "options",
    [
        {"lr": 0.01}, {"lr": 0.01, "history_size": 3, "max_iter": 7}, {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "history_size": 2, "max_iter": 5}, {"line_search_fn": "strong_wolfe", "max_eval": 9},
        {"line_search_fn": "strong_wolfe", "tolerance_grad": 0.5, "lr": 0.3},
    ],
    ids=str,
)  # fmt: skip
def test_lbfgs(options):
    start = np.random.default_rng(0).standard_normal(6)
    x, x_torch = ad.variable(start), torch.tensor(start, requires_grad=True)
    optimizer, optimizer_torch = optim.LBFGS([x], **options), torch.optim.LBFGS([x_torch], **options)
    for step in range(4):

        def closure():
            optimizer.zero_grad()
            loss = rosenbrock(ad, x)
            loss.backward()
            return loss

        def closure_torch():
            optimizer_torch.zero_grad()
            loss = rosenbrock(torch, x_torch)
            loss.backward()
            return loss

        loss, loss_torch = optimizer.step(closure), optimizer_torch.step(closure_torch)
        np.testing.assert_allclose(float(loss), loss_torch.item(), rtol=1e-6)
        np.testing.assert_allclose(x.numpy(), x_torch.detach().numpy(), rtol=1e-6, atol=1e-8, err_msg=str(step))
        theirs = optimizer_torch.state_dict()["state"][0]
        mine = optimizer.state_dict()["state"][0]
        assert (mine["n_iter"], mine["func_evals"]) == (theirs["n_iter"], theirs["func_evals"])
    other = optim.LBFGS([x], **options)
    other.load_state_dict(optimizer_torch.state_dict())
    other.step(closure)
    optimizer_torch.step(closure_torch)
    np.testing.assert_allclose(x.numpy(), x_torch.detach().numpy(), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5)])
@pytest.mark.parametrize(
    "options", [{}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw", "weight_decay": 0.3}], ids=str
)
def test_muon_to_the_digits_of_bfloat16(shape, options):
    start = np.random.default_rng(0).standard_normal(shape).astype("float32")
    x, x_torch = ad.variable(start), torch.tensor(start, requires_grad=True)
    one, other = optim.Muon([x], lr=0.1, **options), torch.optim.Muon([x_torch], lr=0.1, **options)
    for step in range(5):
        give_gradients([x], [x_torch], step)
        one.step()
        other.step()
    np.testing.assert_allclose(x.numpy(), x_torch.detach().numpy(), atol=0.02)


def test_sparse_adam_on_rows():
    start = np.random.default_rng(0).standard_normal((6, 3))
    x, x_torch = ad.variable(start), torch.tensor(start, requires_grad=True)
    one, other = optim.SparseAdam([x], lr=0.1), torch.optim.SparseAdam([x_torch], lr=0.1)
    for step in range(6):
        rows = np.random.default_rng(step).choice(6, 2, replace=False)
        gradient = np.zeros((6, 3))
        gradient[rows] = np.random.default_rng(100 + step).standard_normal((2, 3))
        x.grad, x_torch.grad = ad.tensor(gradient), torch.tensor(gradient).to_sparse(1)
        one.step()
        other.step()
    np.testing.assert_allclose(x.numpy(), x_torch.detach().numpy(), **TOLERANCE)


@pytest.mark.parametrize("options", [{"T_0": 5}, {"T_0": 3, "T_mult": 2, "eta_min": 0.01}], ids=str)
def test_warm_restarts(options):
    one, other = optim.SGD([ad.variable(1.0)], lr=0.3), torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.3)
    mine = optim.CosineAnnealingWarmRestarts(one, **options)
    theirs = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(other, **options)
    for _ in range(40):
        assert one.param_groups[0]["lr"] == pytest.approx(other.param_groups[0]["lr"], rel=1e-12)
        one.step()
        other.step()
        mine.step()
        theirs.step()


def test_averages_of_all_parameters_at_once():
    ours, theirs = nn.Linear(3, 2).double(), torch.nn.Linear(3, 2).double()
    for make in ("get_ema_multi_avg_fn", "get_swa_multi_avg_fn"):
        ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
        arguments = (0.8,) if "ema" in make else ()
        one = optim.AveragedModel(ours, multi_avg_fn=getattr(optim, make)(*arguments))
        other = torch.optim.swa_utils.AveragedModel(
            theirs, multi_avg_fn=getattr(torch.optim.swa_utils, make)(*arguments)
        )
        for step in range(4):
            value = np.random.default_rng(step).standard_normal((2, 3))
            ours.weight.data = value
            with torch.no_grad():
                theirs.weight.copy_(torch.tensor(value))
            one.update_parameters(ours)
            other.update_parameters(theirs)
        state = other.state_dict()
        for key, value in one.state_dict().items():
            np.testing.assert_allclose(value.numpy(), state[key].numpy(), rtol=1e-6)  # their weights are 32 bits
    with pytest.raises(ValueError, match="not both"):
        optim.AveragedModel(ours, optim.get_swa_avg_fn(), multi_avg_fn=optim.get_swa_multi_avg_fn())


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in OPTIMIZERS))
def test_rates_that_are_tensors(name):
    """Under a schedule, and changed by hand in the midst of it."""
    generator = np.random.default_rng(0)
    arrays = [generator.standard_normal(shape).astype("f4") for shape in ((4, 3), (2, 5))]
    found = []
    for library, make in ((ad, ad.variable), (torch, lambda a: torch.tensor(a, requires_grad=True))):
        weights, rate = [make(array) for array in arrays], library.asarray(0.05)
        optimizer = getattr(library.optim, name)(weights, lr=rate)
        schedules = optim if library is ad else torch.optim.lr_scheduler
        schedule = schedules.ExponentialLR(optimizer, 0.9)
        for step in range(8):
            optimizer.zero_grad()
            sum((w * w * w).sum() for w in weights).backward()
            optimizer.step()
            schedule.step()
            if step == 4:
                rate *= 0.5
        state = optimizer.state_dict()["param_groups"][0]["lr"]
        found.append([*(w.detach().numpy() for w in weights), rate.numpy(), np.asarray(state)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, 2e-5, 2e-6)


KINKS = {
    "hinge": lambda t, w: t.nn.functional.relu(1 - w).sum() + 0.01 * (w * w).sum(),
    "largest": lambda t, w: abs(w).max(),
    "distances": lambda t, w: abs(w - 0.25).sum() + (w * w).sum(),
}


@pytest.mark.parametrize("most", (None, 1, 5))
@pytest.mark.parametrize("name", KINKS)
def test_a_line_search_across_kinks(name, most):
    """At the same points, as often as PyTorch's, whose search ends with the evaluations that are left."""
    for seed in range(4):
        points = [], []
        for t, seen in zip((torch, ad), points, strict=True):
            start = np.random.default_rng(seed).normal(size=4)
            w = torch.tensor(start, requires_grad=True) if t is torch else ad.variable(start)
            optimizer = t.optim.LBFGS([w], line_search_fn="strong_wolfe", max_iter=8, max_eval=most)

            def closure(t=t, w=w, optimizer=optimizer, seen=seen):
                optimizer.zero_grad()
                loss = KINKS[name](t, w)
                loss.backward()
                seen.append(w.detach().numpy().copy())
                return loss

            for _ in range(3):
                optimizer.step(closure)
        np.testing.assert_allclose(*points, 1e-6, 1e-8)


def test_a_line_search_along_a_straight_line_goes_as_far_as_it_may():
    for slope in (2.0, 0.125):  # exactly straight
        ends = []
        for t in (torch, ad):
            start = np.array([0.5])
            w = torch.tensor(start, requires_grad=True) if t is torch else ad.variable(start)
            optimizer = t.optim.LBFGS([w], line_search_fn="strong_wolfe", max_iter=3)

            def closure(w=w, optimizer=optimizer, slope=slope):
                optimizer.zero_grad()
                loss = (w * slope).sum()
                loss.backward()
                return loss

            optimizer.step(closure)
            ends.append(w.detach().numpy())
        np.testing.assert_allclose(*ends, 1e-5)
