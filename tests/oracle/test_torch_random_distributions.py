"""Random parameters and values of `torch.distributions` in PyTorch and in `adjoint.torch`: values and gradients."""

import random

import numpy as np
import pytest

import adjoint.torch as own

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle

# what a parameter may be: any number, a positive one, a probability, log odds; and where values lie
FORMS = {
    "Normal": ("loc real scale positive", "real"), "Laplace": ("loc real scale positive", "real"),
    "Cauchy": ("loc real scale positive", "real"), "Gumbel": ("loc real scale positive", "real"),
    "LogNormal": ("loc real scale positive", "positive"), "HalfNormal": ("scale positive", "positive"),
    "HalfCauchy": ("scale positive", "positive"), "StudentT": ("df positive loc real scale positive", "real"),
    "Gamma": ("concentration positive rate positive", "positive"), "Chi2": ("df positive", "positive"),
    "InverseGamma": ("concentration positive rate positive", "positive"), "Exponential": ("rate positive", "positive"),
    "Beta": ("concentration1 positive concentration0 positive", "part"),
    "Weibull": ("scale positive concentration positive", "positive"),
    "Kumaraswamy": ("concentration1 positive concentration0 positive", "part"),
    "VonMises": ("loc real concentration positive", "real"),
    "FisherSnedecor": ("df1 positive df2 positive", "positive"), "ContinuousBernoulli": ("logits real", "part"),
    "Bernoulli": ("logits real", "bit"), "Binomial": ("total_count seven probs part", "count"),
    "Geometric": ("probs part", "count"),
    "NegativeBinomial": ("total_count positive logits real", "count"), "Poisson": ("rate positive", "count"),
}  # fmt: skip


def drawn(kind, shape, rng):
    if kind in ("bit", "count", "seven"):
        return {"bit": rng.integers(0, 2, shape), "count": rng.integers(0, 8, shape), "seven": np.full(shape, 7)}[
            kind
        ] * 1.0
    x = rng.normal(size=shape)
    return {"real": x, "positive": np.exp(0.7 * x), "part": 0.02 + 0.96 / (1 + np.exp(-x))}[kind]


def results(world, name, parameters, x, p, what):
    """The value and the gradients by parameters and value; None where there is none."""
    leaves = {
        k: world.tensor(v.tolist(), dtype=world.float64).requires_grad_(k != "total_count")
        for k, v in parameters.items()
    }
    value = world.tensor(x.tolist(), dtype=world.float64).requires_grad_(FORMS[name][1] not in ("bit", "count"))
    try:
        made = getattr(world.distributions, name)(**leaves)
        if what in ("log_prob", "cdf"):
            found = getattr(made, what)(value)
        elif what == "icdf":
            found = made.icdf(world.tensor(p.tolist(), dtype=world.float64))
        else:
            found = made.entropy() if what == "entropy" else getattr(made, what)
        if found.requires_grad:
            found.sum().backward()
    except NotImplementedError:
        return None
    leaves = [*leaves.values(), value]
    return [found.detach().numpy(), *(np.zeros(tuple(t.shape)) if t.grad is None else t.grad.numpy() for t in leaves)]


def test_random_distributions():
    compared = 0
    for seed in range(200):
        choose, rng = random.Random(seed), np.random.default_rng(seed)
        name = choose.choice(list(FORMS))
        text, where = FORMS[name]
        words = text.split()
        shape = choose.choice([(), (3,), (2, 3), (2, 1)])
        parameters = {
            k: drawn(kind, shape[choose.randint(0, len(shape)) :], rng)
            for k, kind in zip(words[::2], words[1::2], strict=True)
        }
        what = choose.choice(["log_prob", "log_prob", "cdf", "icdf", "entropy", "mean", "variance", "stddev"])
        arguments = (
            name,
            parameters,
            drawn(where, choose.choice([shape, (4, *shape)]), rng),
            drawn("part", shape, rng),
            what,
        )
        expected = results(torch, *arguments)
        if expected is None or not all(np.isfinite(e).all() for e in expected):
            continue
        compared += 1
        # PyTorch takes polynomials of seven digits for the Bessel functions of von Mises' distribution
        tolerance = 1e-5 if name == "VonMises" else 1e-8
        for a, b in zip(expected, results(own, *arguments), strict=True):
            assert a.shape == b.shape, arguments
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=1e-10, err_msg=str(arguments))
    assert compared > 100
