"""`torch.distributions` against PyTorch's: shapes, densities, moments, divergences, draws, what must raise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")

import adjoint.torch as ours  # noqa: E402

A = np.array([[0.5, 1.5, 2.5], [3.0, 0.7, 1.2]])
B = np.array([1.2, 0.4, 2.2])
LOC = np.array([[-0.5, 0.3, 1.0], [2.0, -1.0, 0.0]])
P = np.array([[0.2, 0.5, 0.9], [0.4, 0.05, 0.7]])
SIMPLEX = P / P.sum(-1, keepdims=True)
LOGITS = np.log(SIMPLEX) + 0.3
COVARIANCE = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 0.8]])
TRIL = np.linalg.cholesky(COVARIANCE)

# name, keywords, and values that it takes
CASES = {
    "normal": ("Normal", {"loc": LOC, "scale": B}, LOC + 0.3),
    "normal of numbers": ("Normal", {"loc": 0.5, "scale": 2.0}, LOC),
    "laplace": ("Laplace", {"loc": LOC, "scale": B}, LOC + 0.3),
    "cauchy": ("Cauchy", {"loc": LOC, "scale": B}, LOC + 0.3),
    "gumbel": ("Gumbel", {"loc": LOC, "scale": B}, LOC + 0.3),
    "log-normal": ("LogNormal", {"loc": LOC, "scale": B}, A),
    "half-normal": ("HalfNormal", {"scale": B}, A),
    "half-cauchy": ("HalfCauchy", {"scale": B}, A),
    "t": ("StudentT", {"df": A + 2, "loc": LOC, "scale": B}, LOC + 0.3),
    "gamma": ("Gamma", {"concentration": A, "rate": B}, A + 0.3),
    "inverse gamma": ("InverseGamma", {"concentration": A, "rate": B}, A + 0.3),
    "chi2": ("Chi2", {"df": A}, A + 0.3),
    "exponential": ("Exponential", {"rate": B}, A),
    "beta": ("Beta", {"concentration1": A, "concentration0": B}, P),
    "weibull": ("Weibull", {"scale": A, "concentration": B}, A + 0.2),
    "uniform": ("Uniform", {"low": LOC, "high": LOC + B}, LOC + 0.3),
    "von mises": ("VonMises", {"loc": LOC, "concentration": B}, P),
    "pareto": ("Pareto", {"scale": A, "alpha": B}, A + 0.4),
    "generalized pareto": ("GeneralizedPareto", {"loc": LOC, "scale": A, "concentration": B - 1}, LOC + 0.2),
    "kumaraswamy": ("Kumaraswamy", {"concentration1": A, "concentration0": B}, P),
    "f": ("FisherSnedecor", {"df1": A, "df2": B + 3}, A + 0.3),
    "continuous bernoulli": ("ContinuousBernoulli", {"probs": P}, P[::-1].copy()),
    "continuous bernoulli by logits": ("ContinuousBernoulli", {"logits": LOC}, P),
    "bernoulli": ("Bernoulli", {"probs": P}, np.array([[0.0, 1, 1], [1, 0, 0]])),
    "certain bernoulli": ("Bernoulli", {"probs": np.array([0.0, 1.0])}, np.array([[0.0, 1], [1, 0]])),
    "bernoulli by logits": ("Bernoulli", {"logits": LOC}, np.array([[0.0, 1, 1], [1, 0, 0]])),
    "binomial": ("Binomial", {"total_count": 5, "probs": P}, np.array([[0.0, 5, 1], [4, 0, 2]])),
    "binomial by logits": ("Binomial", {"total_count": np.array([3.0, 5, 4]), "logits": LOC}, np.array([[0.0, 5, 1], [3, 0, 2]])),
    "geometric": ("Geometric", {"probs": P}, np.array([[0.0, 5, 1], [4, 0, 2]])),
    "negative binomial": ("NegativeBinomial", {"total_count": A, "probs": P}, np.array([[0.0, 5, 1], [4, 0, 2]])),
    "poisson": ("Poisson", {"rate": A}, np.array([[0.0, 5, 1], [4, 0, 2]])),
    "categorical": ("Categorical", {"probs": P}, np.array([0, 2])),
    "impossible class": ("Categorical", {"probs": np.array([0.5, 0.5, 0.0])}, np.array([0, 2])),
    "categorical by logits": ("Categorical", {"logits": LOGITS}, np.array([0, 2])),
    "one hot": ("OneHotCategorical", {"logits": LOGITS}, np.eye(3)[[0, 2]]),
    "straight through": ("OneHotCategoricalStraightThrough", {"probs": P}, np.eye(3)[[0, 2]]),
    "multinomial": ("Multinomial", {"total_count": 4, "probs": P}, np.array([[1.0, 2, 1], [4, 0, 0]])),
    "dirichlet": ("Dirichlet", {"concentration": A}, SIMPLEX),
    "normal vectors": ("MultivariateNormal", {"loc": LOC, "covariance_matrix": COVARIANCE}, LOC + 0.3),
    "by precision": ("MultivariateNormal", {"loc": LOC, "precision_matrix": COVARIANCE}, LOC + 0.3),
    "by factor": ("MultivariateNormal", {"loc": LOC[0], "scale_tril": TRIL}, LOC + 0.3),
    "low rank": ("LowRankMultivariateNormal", {"loc": LOC, "cov_factor": LOC.T, "cov_diag": B}, LOC + 0.3),
    "wishart": ("Wishart", {"df": np.array([5.0, 3.5]), "covariance_matrix": COVARIANCE}, np.stack([COVARIANCE, np.eye(3)])),
    "lkj": ("LKJCholesky", {"dim": 3, "concentration": np.array([0.5, 2.0])}, np.linalg.cholesky(np.eye(3) * 0.7 + 0.3)),
    "logistic normal": ("LogisticNormal", {"loc": LOC[:, :2], "scale": B[:2]}, SIMPLEX),
    "relaxed bernoulli": ("RelaxedBernoulli", {"temperature": np.array(0.7), "probs": P}, P[::-1].copy()),
    "relaxed class": ("RelaxedOneHotCategorical", {"temperature": np.array(0.7), "logits": LOGITS}, SIMPLEX[::-1].copy()),
}  # fmt: skip


def given(lib, x, tracked=False):
    if isinstance(x, np.ndarray):
        made = lib.tensor(x)
        return made.requires_grad_(True) if tracked and x.dtype.kind == "f" else made
    return x


def made(lib, case, tracked=False, **more):
    name, keywords, _ = CASES[case]
    arguments = {k: given(lib, v, tracked) for k, v in keywords.items()}
    return getattr(lib.distributions, name)(**arguments, **more), arguments


def outcome(f):
    try:
        return f()
    except (RuntimeError, ValueError, AttributeError) as error:
        return type(error)


def same(a, b, what, more=True):
    """PyTorch's result and ours. Where PyTorch has none, ours may have one."""
    if isinstance(a, type):
        assert more or isinstance(b, type), (what, b)
        return
    assert not isinstance(b, type), (what, b)
    assert tuple(a.shape) == tuple(b.shape) and str(a.dtype) == f"torch.{b.dtype.name}", (what, a, b)
    np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-6, atol=1e-9, err_msg=what)


@pytest.mark.parametrize("case", CASES)
def test_values_moments_and_their_derivatives(case):
    (p, leaves), (q, own) = made(torch, case, True), made(ours, case, True)
    x, y = given(torch, CASES[case][2]), given(ours, CASES[case][2])
    assert tuple(p.batch_shape) == tuple(q.batch_shape) and tuple(p.event_shape) == tuple(q.event_shape)
    names = ["mean", "variance", "stddev", "mode"]
    if case == "kumaraswamy":  # whose mode is NaN there
        names.remove("mode")
    for name in (*names, "probs", "logits", "covariance_matrix", "scale_tril", "precision_matrix"):
        same(outcome(lambda name=name: getattr(p, name)), outcome(lambda name=name: getattr(q, name)), name)
    for name in ("entropy", "perplexity", "enumerate_support"):
        same(outcome(getattr(p, name)), outcome(getattr(q, name)), name)
    for name in ("log_prob", "cdf"):
        same(outcome(lambda name=name: getattr(p, name)(x)), outcome(lambda name=name: getattr(q, name)(y)), name)
    levels = np.linspace(0.1, 0.9, 3)
    same(outcome(lambda: p.icdf(torch.tensor(levels))), outcome(lambda: q.icdf(ours.tensor(levels))), "icdf")
    for name in ("log_prob", "entropy"):
        args = ((x,), (y,)) if name == "log_prob" else ((), ())
        value = outcome(lambda name=name, args=args: getattr(p, name)(*args[0]))
        if isinstance(value, type) or not value.requires_grad:
            continue
        there = [t for t in leaves.values() if isinstance(t, torch.Tensor) and t.requires_grad]
        here = [t for t in own.values() if isinstance(t, ours.Tensor) and t.requires_grad]
        finite = torch.isfinite(value)
        first = torch.autograd.grad(value[finite].sum(), there, allow_unused=True, retain_graph=True)
        mine = getattr(q, name)(*args[1])
        second = ours.autograd.grad(mine[ours.isfinite(mine)].sum(), here, allow_unused=True)
        for a, b in zip(first, second, strict=True):
            if a is None and b is None:
                continue
            a = 0 * torch.tensor(b.detach().numpy()) if a is None else a
            b = 0 * ours.tensor(a.detach().numpy()) if b is None else b
            np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-5, atol=1e-8, err_msg=name)


@pytest.mark.filterwarnings("ignore:Singular sample")
@pytest.mark.parametrize("case", CASES)
def test_draws(case):
    p, _ = made(torch, case)
    q, leaves = made(ours, case, True)
    ours.manual_seed(0)
    assert bool(p.has_rsample) == bool(q.has_rsample) or case == "von mises"
    for shape in ((), (4,), (2, 3)):
        x, y = p.sample(shape), q.sample(shape)
        assert tuple(x.shape) == tuple(y.shape) and str(x.dtype) == f"torch.{y.dtype.name}"
        assert not y.requires_grad and bool(q.support.check(y).all())
    y = q.sample((4000,))
    expected = outcome(lambda: (p.mean, p.variance))
    if not isinstance(expected, type) and case not in ("von mises", "t", "categorical", "impossible class"):
        mean, variance = (t.numpy() for t in expected)
        fine = np.isfinite(mean) & np.isfinite(variance)
        with np.errstate(all="ignore"):
            error = np.abs(y.numpy().mean(0) - mean) / np.sqrt(variance / 4000 + 1e-12)
        heavy = case in ("pareto", "generalized pareto", "f", "inverse gamma", "log-normal")
        assert (error[fine] < (25 if heavy else 5)).all()
    if q.has_rsample and case != "normal of numbers":
        drawn = q.rsample((3,))
        assert drawn.requires_grad
        drawn.sum().backward()
        assert any(t.grad is not None for t in leaves.values() if isinstance(t, ours.Tensor))


@pytest.mark.filterwarnings("ignore:Singular sample")
@pytest.mark.parametrize("case", CASES)
def test_larger_batches(case):
    (p, _), (q, _) = made(torch, case), made(ours, case)
    shape = (2, *p.batch_shape)
    a, b = outcome(lambda: p.expand(shape)), outcome(lambda: q.expand(shape))
    if isinstance(a, type):
        return
    assert tuple(a.batch_shape) == tuple(b.batch_shape) and tuple(a.event_shape) == tuple(b.event_shape)
    x = CASES[case][2]
    same(outcome(lambda: a.log_prob(given(torch, x))), outcome(lambda: b.log_prob(given(ours, x))), "log_prob")
    assert tuple(a.sample((3,)).shape) == tuple(b.sample((3,)).shape)


def test_divergences_of_every_pair():
    kinds = [k for k in CASES if k not in ("certain bernoulli", "impossible class", "lkj")]
    compared = 0
    for first, second in itertools.product(kinds, repeat=2):
        if "continuous" in first and second == "uniform":  # from 0 on, which is infinite there
            continue
        p, q = made(torch, first)[0], made(torch, second)[0]
        a = outcome(lambda p=p, q=q: torch.distributions.kl_divergence(p, q))
        if isinstance(a, type):
            continue
        b = outcome(lambda f=first, s=second: ours.distributions.kl_divergence(made(ours, f)[0], made(ours, s)[0]))
        if bool(torch.isinf(a).all()):  # whose shape is that of one of both there
            assert bool(ours.isinf(b).all()), (first, second, b)
            continue
        same(a, b, f"{first}, {second}", False)
        compared += 1
    assert compared > 60


WRONG = [
    ("Normal", {"loc": 0.0, "scale": -1.0}, None),
    ("Normal", {"loc": float("nan"), "scale": 1.0}, None),
    ("Normal", {"loc": LOC, "scale": B}, np.zeros(4)),
    ("Normal", {"loc": LOC, "scale": B}, 1.0),
    ("Uniform", {"low": 1.0, "high": 0.0}, None),
    ("Uniform", {"low": 0.0, "high": 1.0}, np.array(2.0)),
    ("Exponential", {"rate": B}, np.array(-1.0)),
    ("Bernoulli", {}, None),
    ("Bernoulli", {"probs": P, "logits": P}, None),
    ("Bernoulli", {"probs": P + 1}, None),
    ("Bernoulli", {"probs": P}, np.array(0.5)),
    ("Categorical", {"probs": LOC}, None),
    ("Categorical", {"probs": P}, np.array(3)),
    ("Categorical", {"logits": np.array(1.0)}, None),
    ("Poisson", {"rate": A}, np.array(1.5)),
    ("Dirichlet", {"concentration": A}, A),
    ("MultivariateNormal", {"loc": LOC}, None),
    ("MultivariateNormal", {"loc": LOC, "covariance_matrix": -COVARIANCE}, None),
    ("MultivariateNormal", {"loc": LOC, "scale_tril": COVARIANCE}, None),
    ("LKJCholesky", {"dim": 1}, None),
]


@pytest.mark.parametrize(("name", "keywords", "value"), WRONG)
def test_what_must_raise(name, keywords, value):
    for lib in (torch, ours):
        with pytest.raises(ValueError):
            d = getattr(lib.distributions, name)(**{k: given(lib, v) for k, v in keywords.items()})
            if value is not None:
                d.log_prob(given(lib, value))


def test_checks_can_be_left_out():
    d = ours.distributions.Normal(0.0, 1.0, validate_args=False)
    assert np.isnan(d.log_prob(ours.tensor(float("nan"))).item())
    assert ours.distributions.Uniform(0.0, 1.0, validate_args=False).log_prob(ours.tensor(2.0)).item() == -np.inf


def mixtures(lib):
    D = lib.distributions
    t = lib.tensor
    weights = D.Categorical(t(SIMPLEX))
    return [
        (D.MixtureSameFamily(weights, D.Normal(t(LOC), t(B))), LOC[0, :2]),
        (D.MixtureSameFamily(D.Categorical(t(SIMPLEX[0])), D.Independent(D.Normal(t(LOC.T), t(A.T)), 1)), LOC.T),
        (D.MixtureSameFamily(weights, D.Poisson(t(A))), np.array([1.0, 3.0])),
        (D.Independent(D.Normal(t(LOC), t(B)), 1), LOC + 1),
        (D.Independent(D.Bernoulli(t(P)), 2), np.ones((2, 3))),
        (D.TransformedDistribution(D.Normal(t(LOC), t(B)), [D.ExpTransform(), D.AffineTransform(1.0, t(B))]), A + 1),
        (D.TransformedDistribution(D.Normal(t(LOC), t(B)), D.StickBreakingTransform()), np.full((2, 4), 0.25)),
        (D.TransformedDistribution(
            D.Uniform(t(0 * A), t(1 + 0 * A)), [D.SigmoidTransform().inv, D.AffineTransform(t(LOC), t(-B))]
        ), LOC),
        (D.TransformedDistribution(D.Normal(t(LOC), t(B)), D.ReshapeTransform((3,), (3, 1))), LOC[..., None]),
        (D.TransformedDistribution(D.Independent(D.Normal(t(LOC), t(B)), 1), D.TanhTransform(cache_size=1)), 0.9 * P),
        (D.TransformedDistribution(D.Exponential(t(A)), D.PowerTransform(t(B))), A),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(11))
def test_made_of_others(number):
    (p, x), (q, _) = mixtures(torch)[number], mixtures(ours)[number]
    assert tuple(p.batch_shape) == tuple(q.batch_shape) and tuple(p.event_shape) == tuple(q.event_shape)
    for name in ("log_prob", "cdf"):
        same(
            outcome(lambda name=name: getattr(p, name)(torch.tensor(x))),
            outcome(lambda name=name: getattr(q, name)(ours.tensor(x))),
            name,
        )
    for name in ("mean", "variance", "mode"):
        same(outcome(lambda name=name: getattr(p, name)), outcome(lambda name=name: getattr(q, name)), name)
    same(outcome(p.entropy), outcome(q.entropy), "entropy")
    for shape in ((), (5,)):
        assert tuple(p.sample(shape).shape) == tuple(q.sample(shape).shape)
        assert bool(q.support.check(q.sample(shape)).all())
    assert repr(q)


CONSTRAINTS = {
    "real": (4,), "positive": (4,), "nonnegative": (4,), "unit_interval": (4,), "simplex": (2, 4), "real_vector": (2, 4),
    "lower_cholesky": (2, 3, 3), "corr_cholesky": (2, 6), "positive_definite": (2, 3, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_transforms_onto_constraints(name, registry):
    x = np.random.default_rng(0).normal(size=CONSTRAINTS[name])
    found = []
    for lib in (torch, ours):
        constraint = getattr(lib.distributions.constraints, name)
        t = outcome(lambda lib=lib, c=constraint: getattr(lib.distributions, registry)(c))
        if isinstance(t, type):
            found.append(t)
            continue
        given = lib.tensor(x)
        y = t(given)
        assert bool(constraint.check(y).all())
        found.append([y, t.inv(y), outcome(lambda t=t, x=given, y=y: t.log_abs_det_jacobian(x, y))])
    if isinstance(found[0], type):
        return
    for a, b in zip(*found, strict=True):
        same(a, b, name)


@pytest.mark.parametrize("make", [
    lambda D, t: D.constraints.greater_than(2.0), lambda D, t: D.constraints.less_than(2.0),
    lambda D, t: D.constraints.interval(-1.0, t(B)), lambda D, t: D.constraints.half_open_interval(0.0, 3.0),
    lambda D, t: D.constraints.independent(D.constraints.positive, 1),
    lambda D, t: D.constraints.cat([D.constraints.positive, D.constraints.real], -1, [2, 1]),
    lambda D, t: D.constraints.stack([D.constraints.positive, D.constraints.real, D.constraints.unit_interval], -1),
])  # fmt: skip
def test_constraints_with_bounds_and_parts(make):
    found = []
    for lib in (torch, ours):
        c = make(lib.distributions, lib.tensor)
        x = lib.tensor(LOC)
        t = lib.distributions.biject_to(c)
        y = t(x)
        found.append([c.check(x), y, t.inv(y), t.log_abs_det_jacobian(x, y)])
        assert bool(c.check(y).all())
    for a, b in zip(*found, strict=True):
        same(a, b, "")


def test_parameters_that_change_count():
    found = []
    for lib in (torch, ours):
        loc = lib.tensor([0.0, 1.0], requires_grad=True)
        d = lib.distributions.Normal(loc, lib.tensor(1.0))
        with lib.no_grad():
            loc += 1
        loss = -d.log_prob(lib.tensor([3.0, 3.0])).sum()
        loss.backward()
        found.append([loss, loc.grad])
    for a, b in zip(*found, strict=True):
        same(a, b, "")


def test_float32_parameters_and_float64_values():
    for dtypes in itertools.product(("float32", "float64"), repeat=2):
        for shape in ((), (2,)):
            a, b = (
                lib.distributions.Normal(lib.zeros(shape, dtype=getattr(lib, dtypes[0])), 1.0).log_prob(
                    lib.ones(2, dtype=getattr(lib, dtypes[1]))
                )
                for lib in (torch, ours)
            )
            same(a, b, f"{dtypes} {shape}")


def test_under_transformations():
    D = ours.distributions

    def loss(loc):
        return D.Normal(loc, 1.0).log_prob(ours.tensor(0.5)).sum()

    x = ours.tensor([0.0, 1.0])
    assert np.allclose(ours.func.grad(loss)(x).numpy(), [0.5, -0.5])
    assert np.allclose(ours.func.vmap(loss)(x).numpy(), [loss(x[0]).item(), loss(x[1]).item()])
    assert np.isclose(ours.compile(loss)(x).item(), loss(x).item())


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_a_certain_success_has_a_derivative(value):
    slopes = []
    for library in (torch, ours):
        p = library.tensor(1.0, requires_grad=True)
        library.distributions.Geometric(p).log_prob(library.tensor(value)).backward()
        slopes.append(p.grad.item())
    assert slopes[0] == slopes[1]


@pytest.mark.parametrize("k", [0.0, 1e-9, -1e-5, 2e-4, 0.3])
def test_derivatives_by_a_concentration_near_0(k):
    """log(1 + k z) / k = z - k z² / 2 + k² z³ / 3 - ..., and the icdf (exp(k e) - 1) / k = e + k e² / 2 + ..."""
    z, e, terms = 0.5, -np.log(1 - 0.7), np.arange(1, 60)
    k_ours = ours.tensor(k, dtype=ours.float64, requires_grad=True)
    d = ours.distributions.GeneralizedPareto(ours.tensor(0.0, dtype=ours.float64), 1.0, k_ours)
    powers, slopes = (-k * z) ** (terms - 1) / terms, -(terms[1:] - 1) * z * (-k * z) ** (terms[1:] - 2) / terms[1:]
    exponent, slope = z * powers.sum(), z * slopes.sum()
    found = d.log_prob(ours.tensor(z, dtype=ours.float64))
    assert abs(found.item() + (1 + k) * exponent) < 1e-12
    assert abs(ours.autograd.grad(found, k_ours)[0].item() + exponent + (1 + k) * slope) < 1e-7
    icdf = d.icdf(ours.tensor(0.7, dtype=ours.float64))
    factorials = np.cumprod(terms[:20].astype(float))
    assert abs(icdf.item() - (e * (k * e) ** np.arange(20) / factorials).sum()) < 1e-12
    slope = (np.arange(1, 20) * e**2 * (k * e) ** np.arange(19) / factorials[1:]).sum()
    assert abs(ours.autograd.grad(icdf, k_ours)[0].item() - slope) < 1e-7
