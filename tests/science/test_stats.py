"""Distributions against scipy.stats: densities, distribution functions and their inverses, entropies, moments of draws, and
derivatives of all of them against central differences."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma

import adjoint as ad
from support import double, equal

S = ad.stats
CONTINUOUS = [
    (S.Normal, (0.5, 2.0), stats.norm(0.5, 2.0)),
    (S.LogNormal, (0.2, 0.7), stats.lognorm(0.7, scale=np.exp(0.2))),
    (S.HalfNormal, (1.5,), stats.halfnorm(scale=1.5)),
    (S.Laplace, (0.5, 2.0), stats.laplace(0.5, 2.0)),
    (S.Logistic, (0.5, 2.0), stats.logistic(0.5, 2.0)),
    (S.Cauchy, (0.5, 2.0), stats.cauchy(0.5, 2.0)),
    (S.Gumbel, (0.5, 2.0), stats.gumbel_r(0.5, 2.0)),
    (S.StudentT, (5.0, 0.5, 2.0), stats.t(5.0, 0.5, 2.0)),
    (S.Gamma, (0.6, 2.0), stats.gamma(0.6, scale=0.5)),
    (S.Gamma, (30.0, 2.0), stats.gamma(30.0, scale=0.5)),
    (S.InverseGamma, (6.0, 2.0), stats.invgamma(6.0, scale=2.0)),
    (S.Exponential, (2.0,), stats.expon(scale=0.5)),
    (S.Beta, (2.0, 3.5), stats.beta(2.0, 3.5)),
    (S.Weibull, (2.0, 1.5), stats.weibull_min(1.5, scale=2.0)),
    (S.Uniform, (-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    (S.VonMises, (0.0, 2.0), stats.vonmises(2.0)),
]
DISCRETE = [
    (S.Bernoulli, (0.3,), stats.bernoulli(0.3)),
    (S.Binomial, (7, 0.3), stats.binom(7, 0.3)),
    (S.Poisson, (3.5,), stats.poisson(3.5)),
    (S.Geometric, (0.3,), stats.geom(0.3, loc=-1)),
    (S.NegativeBinomial, (2.5, 0.4), stats.nbinom(2.5, 0.6)),
]
RANKS = np.array([0.001, 0.1, 0.4, 0.7, 0.99])


@pytest.fixture(autouse=True)
def in_double_precision():
    ad.set_default_dtype("float64")
    yield
    ad.set_default_dtype("float32")


def named(rows):
    return pytest.mark.parametrize(("kind", "given", "theirs"), rows, ids=[f"{r[0].__name__}{r[1]}" for r in rows])


@named(CONTINUOUS)
def test_values_of_real_numbers(kind, given, theirs):
    ours = kind(*given)
    x = theirs.ppf(RANKS)
    outside = np.array([-50.0, 0.0, 1e3])
    equal(ours.log_prob(x), theirs.logpdf(x), 1e-9)
    equal(ours.cdf(x), RANKS, 1e-9)
    np.testing.assert_allclose(ours.icdf(RANKS).numpy(), x, 1e-9)
    if kind is not S.VonMises:
        equal(ours.log_prob(outside), theirs.logpdf(outside), 1e-9)
        np.testing.assert_allclose(ours.cdf(outside).numpy(), theirs.cdf(outside), 1e-9, 1e-15)
        equal(ours.mean, theirs.mean(), 1e-9)
        equal(ours.variance, theirs.var(), 1e-9)
    equal(ours.entropy(), theirs.entropy(), 1e-7)
    assert np.isnan(ours.icdf([-0.1, 1.1]).numpy()).all()


@named(DISCRETE)
def test_values_of_counts(kind, given, theirs):
    ours = kind(*given)
    counts = np.arange(-1, 9)
    equal(ours.log_prob(counts), theirs.logpmf(counts), 1e-9)
    assert ours.log_prob(0.5).item() == -np.inf
    equal(ours.cdf(counts + 0.5), theirs.cdf(counts), 1e-9)
    equal(ours.icdf(RANKS), theirs.ppf(RANKS))
    equal(ours.mean, theirs.mean(), 1e-9)
    equal(ours.variance, theirs.var(), 1e-9)
    if kind is not S.NegativeBinomial:
        equal(ours.entropy(), theirs.entropy(), 1e-7)
    with pytest.raises(TypeError, match="no derivative"):
        ours.rsample()


@named(CONTINUOUS + DISCRETE)
def test_draws_have_the_distribution(kind, given, theirs):
    ours = kind(*given)
    draws = ours.sample((4000,), key=ad.random.key(1)).numpy()
    assert draws.shape == (4000,)
    if ours.discrete:
        seen = np.bincount(draws.astype(int), minlength=40)[:40] / 4000
        np.testing.assert_allclose(seen, theirs.pmf(np.arange(40)), 0, 0.03)
    else:
        assert stats.kstest(draws, theirs.cdf).pvalue > 1e-3


SMOOTH = [row for row in CONTINUOUS if row[0] not in (S.Beta, S.StudentT)]


@named(CONTINUOUS)
def test_draws_move_with_the_parameters_at_their_rank(kind, given, theirs):
    """F(z(θ); θ) stays what it is: dz/dθ = -(∂F/∂θ)/p(z). Beta and t draws are made of several, and their mean moves right."""
    key, step = ad.random.key(3), 1e-4
    draw = lambda *p: kind(*p).rsample((6,), key=key)  # noqa: E731
    found = ad.jacobian(draw, argnums=tuple(range(len(given))))(*map(double, given))
    z = draw(*given)
    for i, slope in enumerate(found):
        if kind is S.VonMises and i == 0:  # turned as a whole
            equal(slope, np.ones(6))
            continue
        up, down = [[*given] for _ in range(2)]
        up[i] += step
        down[i] -= step
        if kind in (S.Beta, S.StudentT):
            mean = lambda p: kind(*given[:i], p, *given[i + 1 :]).rsample((20000,), key=key)  # noqa: B023, E731
            moved = ad.grad(lambda p: (mean(p) ** 2).mean())(given[i])  # noqa: B023
            exact = [kind(*p).variance + kind(*p).mean ** 2 for p in (up, down)]
            np.testing.assert_allclose(moved.item(), (exact[0] - exact[1]).item() / (2 * step), 0.2, 0.05)
        else:
            by = (kind(*up).cdf(z) - kind(*down).cdf(z)) / (2 * step)
            np.testing.assert_allclose(slope.numpy(), (-by / kind(*given).prob(z)).numpy(), 1e-5, 1e-7)


@pytest.mark.parametrize("kind", [S.Gamma, S.VonMises])
def test_second_derivatives_of_draws(kind):
    """The icdf keeps the rank exactly; it is differentiated by differences."""
    made = (lambda p: S.Gamma(p, 2.0)) if kind is S.Gamma else (lambda p: S.VonMises(0.0, p))
    key, h = ad.random.key(5), 1e-3
    point = 1.6
    second = ad.grad(ad.grad(lambda p: made(p).rsample((5,), key=key).sum()))(point).item()
    ranks = made(point).cdf(made(point).sample((5,), key=key)).numpy()
    at = lambda p: made(p).icdf(ranks).sum().item()  # noqa: E731
    np.testing.assert_allclose(second, (at(point + h) - 2 * at(point) + at(point - h)) / h**2, 1e-3, 1e-4)


@named(SMOOTH)
def test_derivatives_of_values(kind, given, theirs):
    x = double(theirs.ppf([0.2, 0.6]))
    for name in ("log_prob", "cdf"):
        differences(lambda x, *p: getattr(kind(*p), name)(x).sum(), x, *given)  # noqa: B023
    differences(lambda p, *rest: kind(*rest).icdf(p).sum(), double([0.2, 0.6]), *given)


def differences(function, *args):
    """Gradients against central differences."""
    args = [double(a) for a in args]
    found = ad.grad(function, argnums=tuple(range(len(args))))(*args)
    for i, slope in enumerate(found):
        for index in np.ndindex(args[i].shape):
            moved = np.zeros(args[i].shape)
            moved[index] = 1e-5
            ends = [function(*args[:i], args[i] + s * moved, *args[i + 1 :]).item() for s in (1, -1)]
            np.testing.assert_allclose(slope.numpy()[index], (ends[0] - ends[1]) / 2e-5, 1e-4, 1e-5)


KL = [row for row in CONTINUOUS if row[0] not in (S.Logistic, S.StudentT, S.Uniform)]


@named(KL)
def test_divergence_is_its_integral(kind, given, theirs):
    p, q = kind(*given), kind(*[1.3 * x + 0.1 for x in given])
    t = (np.polynomial.legendre.leggauss(400)[0] + 1) / 2
    weights = np.polynomial.legendre.leggauss(400)[1] / 2
    weights, t = weights * 30 * t**2 * (1 - t) ** 2, t**3 * (10 - 15 * t + 6 * t * t)
    x = p.icdf(t)
    expected = (double(weights) * (p.log_prob(x) - q.log_prob(x))).sum()
    np.testing.assert_allclose(S.kl_divergence(p, q).item(), expected.item(), 2e-4)
    equal(S.kl_divergence(p, p), 0.0)


def test_divergence_of_counts():
    for kind, given, other in [(S.Bernoulli, (0.3,), (0.6,)), (S.Binomial, (7, 0.3), (7, 0.6)), (S.Poisson, (3.0,), (5.0,)),
                               (S.Geometric, (0.3,), (0.6,)), (S.NegativeBinomial, (2.5, 0.4), (2.5, 0.6))]:  # fmt: skip
        p, q = kind(*given), kind(*other)
        counts = np.arange(p.total_count.item() + 1 if kind is S.Binomial else 2 if kind is S.Bernoulli else 200)
        expected = (p.prob(counts) * (p.log_prob(counts) - q.log_prob(counts))).sum()
        equal(S.kl_divergence(p, q), expected.item(), 1e-8)
    p, q = S.Categorical([0.2, 0.3, 0.5]), S.Categorical([0.6, 0.3, 0.1])
    equal(S.kl_divergence(p, q), stats.entropy([0.2, 0.3, 0.5], [0.6, 0.3, 0.1]), 1e-9)
    assert S.kl_divergence(S.Uniform(0.0, 2.0), S.Uniform(0.0, 1.0)).item() == np.inf
    with pytest.raises(TypeError, match="no closed form for Normal and Laplace"):
        S.kl_divergence(S.Normal(), S.Laplace())


COVARIANCE = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 1.5]])


def test_multivariate_normal():
    mean, x = np.array([0.5, -1.0, 2.0]), np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    theirs = stats.multivariate_normal(mean, COVARIANCE)
    forms = [{"covariance_matrix": COVARIANCE}, {"precision_matrix": np.linalg.inv(COVARIANCE)},
             {"scale_tril": np.linalg.cholesky(COVARIANCE)}]  # fmt: skip
    for form in forms:
        ours = S.MultivariateNormal(mean, **form)
        equal(ours.log_prob(x), theirs.logpdf(x), 1e-9)
        equal(ours.entropy(), theirs.entropy(), 1e-9)
        equal(ours.covariance_matrix, COVARIANCE, 1e-9)
    draws = ours.sample((20000,), key=ad.random.key(0)).numpy()
    np.testing.assert_allclose(draws.mean(0), mean, 0, 0.05)
    np.testing.assert_allclose(np.cov(draws.T), COVARIANCE, 0, 0.08)
    other = S.MultivariateNormal(mean + 1, np.eye(3))
    monte_carlo = (ours.log_prob(draws) - other.log_prob(draws)).mean().item()
    np.testing.assert_allclose(S.kl_divergence(ours, other).item(), monte_carlo, 0.05)
    with pytest.raises(ValueError, match="give one of"):
        S.MultivariateNormal(mean)


def test_dirichlet_and_multinomial_and_categorical():
    a, x = np.array([2.0, 3.0, 0.5]), np.array([0.2, 0.5, 0.3])
    ours, theirs = S.Dirichlet(a), stats.dirichlet(a)
    equal(ours.log_prob(x), theirs.logpdf(x), 1e-9)
    equal(ours.entropy(), theirs.entropy(), 1e-9)
    draws = ours.sample((5000,), key=ad.random.key(0)).numpy()
    np.testing.assert_allclose(draws.mean(0), theirs.mean(), 0, 0.02)
    np.testing.assert_allclose(draws.var(0), theirs.var(), 0, 0.01)
    moved = ad.jacobian(lambda a: S.Dirichlet(a).rsample((20000,), key=ad.random.key(1)).mean(axis=0))(double(a))
    np.testing.assert_allclose(moved.numpy(), (np.eye(3) - a[:, None] / a.sum()) / a.sum(), 0, 0.02)
    counts = np.array([[2, 1, 1], [4, 0, 0], [1, 1, 1]])
    equal(S.Multinomial(4, x).log_prob(counts), stats.multinomial(4, x).logpmf(counts), 1e-9)
    drawn = S.Multinomial(10, x).sample((3000,), key=ad.random.key(0)).numpy()
    assert (drawn.sum(1) == 10).all()
    np.testing.assert_allclose(drawn.mean(0), 10 * x, 0, 0.15)
    d = S.Categorical(logits=np.log([[0.2, 0.8], [0.5, 0.5]]))
    equal(d.log_prob([[0], [1]]), np.log([[0.2, 0.5], [0.8, 0.5]]), 1e-9)
    equal(d.cdf([0, 1]), [0.2, 1.0], 1e-9)
    equal(d.entropy(), [stats.entropy([0.2, 0.8]), np.log(2)], 1e-9)
    seen = d.sample((4000,), key=ad.random.key(2)).numpy().mean(0)
    np.testing.assert_allclose(seen, [0.8, 0.5], 0, 0.03)
    assert S.Categorical([0.5, 0.5]).log_prob(2).item() == -np.inf


def test_a_mixture():
    weights, means = np.array([0.3, 0.7]), np.array([-1.0, 2.0])
    d = S.Mixture(weights, S.Normal(means, 0.5))
    x = np.array([-1.5, 0.0, 2.5])
    density = (weights * stats.norm(means, 0.5).pdf(x[:, None])).sum(1)
    equal(d.log_prob(x), np.log(density), 1e-9)
    equal(d.cdf(d.icdf(RANKS)), RANKS, 1e-9)
    draws = d.sample((5000,), key=ad.random.key(0)).numpy()
    np.testing.assert_allclose([draws.mean(), draws.var()], [d.mean.item(), d.variance.item()], 0.05)
    by_weight = ad.grad(lambda w: S.Mixture(ad.stack([w, 1 - w]), S.Normal(means, 0.5)).rsample((4000,), key=ad.random.key(1))
                        .mean())(0.3)  # fmt: skip
    np.testing.assert_allclose(by_weight.item(), -3.0, 0.2)
    vectors = S.Mixture(weights, S.MultivariateNormal(np.zeros((2, 3)) + means[:, None], np.eye(3)))
    assert vectors.sample((4,)).shape == (4, 3) and vectors.log_prob(np.zeros((5, 3))).shape == (5,)


def test_a_component_that_weighs_nothing_has_a_derivative_by_its_weight():
    means = double([1.0, -1.0, 2.0])

    def value(w):
        return S.Mixture(w, S.Normal(means, 1.0)).log_prob(0.3)

    weights, step = np.array([0.0, 0.4, 0.6]), 1e-6
    for f in (value, lambda w: ad.grad(value)(w)[0]):
        found = ad.grad(f)(double(weights)).numpy()
        assert abs(found[0]) > 1
        np.testing.assert_allclose(found, [(f(double(weights + step * e)) - f(double(weights))).item() / step
                                           for e in np.eye(3)], 1e-4)  # fmt: skip
    apart = S.Mixture([0.0, 1.0], S.Uniform(double([0.0, 5.0]), double([1.0, 6.0])))
    equal(apart.log_prob([0.5, 5.5, 9.0]), [-np.inf, 0.0, -np.inf])
    assert S.Mixture([0.0, 1.0], S.StudentT(double([2.0, 5.0]))).variance.item() == 5 / 3
    far = S.Mixture([0.5, 0.5], S.Normal(double([1e8, 1e8 + 2]), 1.0))
    equal(far.variance, 2.0)


@pytest.mark.parametrize("entropy", [
    lambda p: S.Binomial(5.0, p).entropy(), lambda p: S.NegativeBinomial(3.0, p).entropy(), lambda p: S.Poisson(p).entropy(),
    lambda p: S.Binomial(5.0, 1 - p).entropy()])  # fmt: skip
def test_entropies_rise_infinitely_where_a_count_becomes_possible(entropy):
    value, slope = ad.value_and_grad(entropy)(0.0)
    assert (value.item(), slope.item()) == (0.0, np.inf)
    assert ad.grad(lambda p: S.Binomial(0.0, p).entropy())(0.0).item() == 0.0


def test_the_entropy_of_a_negative_binomial_distribution_of_many_counts(monkeypatch):
    def far(r, p):
        return S.NegativeBinomial(r, p).entropy()

    for r, p in ((0.05, 1 - 1e-5), (3.0, 1 - 1e-4), (5000.0, 0.99), (double([0.5, 3.0]), double([0.5, 1 - 1e-4]))):
        summed = far(r, p)
        monkeypatch.setattr(ad.stats.discrete, "MANY", 1)
        np.testing.assert_allclose(far(r, p).numpy(), summed.numpy(), 1e-8)
        monkeypatch.undo()
    # as 1 - p goes to 0 the count times 1 - p is a gamma variate
    q = 1e-9
    np.testing.assert_allclose(far(100.0, 1 - q).item(), S.Gamma(100.0, q).entropy().item(), 1e-8)


def test_transformed_and_truncated():
    by_exp = S.Transformed(S.Normal(0.2, 0.7), [S.Exp()])
    theirs = stats.lognorm(0.7, scale=np.exp(0.2))
    x = np.array([-1.0, 0.5, 2.0])
    equal(by_exp.log_prob(x), theirs.logpdf(x), 1e-9)
    equal(by_exp.cdf(x), theirs.cdf(x), 1e-9)
    equal(by_exp.icdf(RANKS), theirs.ppf(RANKS), 1e-9)
    falling = S.Transformed(S.Exponential(1.0), [S.Affine(1.0, -2.0)])
    equal(falling.cdf([0.0, -3.0]), [np.exp(-0.5), np.exp(-2.0)], 1e-9)
    equal(falling.cdf(falling.icdf(RANKS)), RANKS, 1e-9)
    equal(falling.log_prob(0.0), -0.5 - np.log(2), 1e-9)
    for bijection in (S.Sigmoid(), S.Tanh(), S.Softplus(), S.Power(1.7), S.Affine(1.0, -3.0), S.Exp()):
        point = double([0.3, 1.7])
        equal(bijection.inverse(bijection(point)), point.numpy(), 1e-9)
        slopes = ad.grad(lambda x: bijection(x).sum())(point)  # noqa: B023
        equal(bijection.log_slope(point), np.log(abs(slopes.numpy())), 1e-9)
    ours, theirs = S.Truncated(S.Normal(0.5, 2.0), -1.0, 2.0), stats.truncnorm(-0.75, 0.75, 0.5, 2.0)
    x = np.array([-2.0, 0.0, 1.5, 3.0])
    equal(ours.log_prob(x), theirs.logpdf(x), 1e-9)
    equal(ours.cdf(x), theirs.cdf(x), 1e-9)
    equal(ours.icdf(RANKS), theirs.ppf(RANKS), 1e-9)
    equal(ours.mean, theirs.mean(), 1e-6)
    equal(ours.variance, theirs.var(), 1e-6)
    equal(ours.entropy(), theirs.entropy(), 1e-6)
    assert stats.kstest(ours.sample((2000,), key=ad.random.key(0)).numpy(), theirs.cdf).pvalue > 1e-3
    slope = ad.grad(lambda m: S.Truncated(S.Normal(m, 2.0), -1.0, 2.0).rsample((4000,), key=ad.random.key(0)).mean())(
        0.5
    )
    up, down = [stats.truncnorm((-1 - m) / 2, (2 - m) / 2, m, 2.0).mean() for m in (0.51, 0.49)]
    np.testing.assert_allclose(slope.item(), (up - down) / 0.02, 0.1)


def test_distributions_are_trees_and_broadcast():
    d = S.Normal([[0.0], [1.0]], [1.0, 2.0, 3.0])
    assert d.batch_shape == (2, 3) and d.sample((4,)).shape == (4, 2, 3) and d.entropy().shape == (2, 3)
    equal(ad.vmap(lambda d, x: d.log_prob(x))(S.Normal(double([0.0, 1.0]), double([1.0, 1.0])), double([0.0, 1.0])),
          [-0.9189385332] * 2)  # fmt: skip
    slope = ad.grad(lambda d: d.log_prob(1.0))(S.Normal(0.0, 1.0))
    assert isinstance(slope, S.Normal)
    equal(slope.loc, 1.0)
    equal(ad.jit(lambda d: d.mean)(S.Gamma(2.0, 4.0)), 0.5)
    single = S.Normal(ad.tensor(0.0, dtype="float32"), 1.0)
    assert single.log_prob(0.0).dtype is ad.float32


def test_parameters_are_checked():
    for wrong in (
        lambda: S.Normal(0.0, -1.0),
        lambda: S.Bernoulli(1.5),
        lambda: S.Gamma(0.0, 1.0),
        lambda: S.Poisson(-1.0),
    ):
        with pytest.raises(ValueError, match="must be"):
            wrong()
    for wrong, message in (
        (lambda: S.Normal(0, -1), "must be positive"),  # whole numbers are converted, and checked too
        (lambda: S.Binomial(-1, 0.3), "total_count must be 0 or more"),
        (lambda: S.Multinomial(2.5, [0.5, 0.5]), "whole number"),
        (lambda: S.Geometric(0.0), r"in \(0, 1\]"),
        (lambda: S.Uniform(2.0, 1.0), "high must be above low"),
        (lambda: S.Truncated(S.Normal(0.0, 1.0), 2, 1), "high must be above low"),
        (lambda: S.Normal([0.0, 1.0], [1.0, 1.0, 1.0]), r"don't broadcast: loc \(2,\), scale \(3,\)"),
        (lambda: S.Binomial([1, 2, 3], [0.5, 0.5]), "don't broadcast"),
        (lambda: S.MultivariateNormal([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]]), "isn't symmetric"),
        (lambda: S.MultivariateNormal([0.0, 0.0], scale_tril=[[1.0, 0.5], [0.0, 1.0]]), "lower triangular"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
    with pytest.raises(ValueError, match="either probs or logits"):
        S.Bernoulli()
    with pytest.raises(ValueError, match="3 weights for 2 components"):
        S.Mixture([1.0, 1.0, 1.0], S.Normal([0.0, 1.0], 1.0))


# Keys and draws -------------------------------------------------------------------------------------------------------


def test_a_key_gives_the_same_draws_everywhere():
    key = ad.random.key(0)
    once = ad.random.normal((3,), key=key).numpy()
    np.testing.assert_array_equal(ad.random.normal((3,), key=key).numpy(), once)
    np.testing.assert_array_equal(ad.jit(lambda k: ad.random.normal((3,), key=k))(key).numpy(), once)
    both = ad.vmap(lambda x: x + ad.random.normal((3,), key=key))(ad.zeros((2,))).numpy()
    np.testing.assert_array_equal(both, [once, once])
    keys = ad.random.split(key, 3)
    rows = ad.vmap(lambda k: ad.random.gamma(2.0, shape=(4,), key=k))(keys).numpy()
    for k, row in zip(keys, rows, strict=True):
        np.testing.assert_array_equal(ad.random.gamma(2.0, shape=(4,), key=k).numpy(), row)
    assert len({*rows.ravel().tolist()}) == 12
    assert len({ad.random.fold_in(key, i).item() for i in range(5)} | set(keys.tolist()) | {key.item()}) == 9
    state = ad.random.default_generator.state.tolist()
    ad.random.uniform((5,), key=key).numpy()
    assert ad.random.default_generator.state.tolist() == state
    with pytest.raises(TypeError, match="a key is what"):
        ad.random.normal((2,), key=3)


def test_choice_and_permutation():
    ad.random.seed(0)
    assert sorted(ad.random.choice(5, (5,), replace=False).tolist()) == [0, 1, 2, 3, 4]
    picked = ad.random.choice(ad.tensor([10.0, 20.0, 30.0]), (2000,), p=[0.5, 0.0, 0.5]).numpy()
    assert set(picked) == {10.0, 30.0} and abs(picked.mean() - 20) < 1
    with pytest.raises(ValueError, match="6 of 5 elements without replacement"):
        ad.random.choice(5, (6,), replace=False)
    assert sorted(ad.random.permutation(4, key=ad.random.key(1)).tolist()) == [0, 1, 2, 3]


def test_draws_inside_vmap_and_scan_differ():
    rows = ad.vmap(lambda a: ad.random.gamma(a, shape=(2,)))(double([2.0, 2.0, 2.0])).numpy()
    assert len({*rows.ravel().tolist()}) == 6
    steps = ad.scan(lambda c, _: (c, ad.random.poisson(50.0, (3,))), 0.0, length=4)[1].numpy()
    assert len({tuple(row) for row in steps}) == 4


def test_log_probabilities_at_the_last_count_differentiate_by_the_number_of_attempts():
    """The derivative of (n - k) log q by n is log q, at n = k too."""
    found = ad.grad(lambda n: ad.stats.Binomial(n, 0.3).log_prob(4.0))(ad.tensor(4.0, dtype="float64"))
    np.testing.assert_allclose(found.item(), digamma(5) - digamma(1) + np.log(0.7), rtol=1e-12)


# Where values are NaN, infinite or far away ---------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "given", "theirs"), CONTINUOUS + DISCRETE)
def test_what_is_not_a_number_stays_so_and_infinity_is_outside(kind, given, theirs):
    d = kind(*[double(x) for x in given])
    for what in (d.log_prob, d.cdf, d.sf, d.icdf, d.isf):
        assert np.isnan(what(double(np.nan)).item()), what.__name__
    if kind is not S.VonMises:
        for end in (np.inf, -np.inf):
            assert d.log_prob(double(end)).item() == -np.inf
        equal(d.cdf(double([-np.inf, np.inf])), [0.0, 1.0])
        equal(d.sf(double([-np.inf, np.inf])), [1.0, 0.0])
    equal(d.icdf(double(1.0)), np.pi if kind is S.VonMises else theirs.support()[1], 1e-12)


def test_vectors_that_hold_nan_have_no_probability():
    assert ad.isnan(S.Dirichlet([1.0, 1.0]).log_prob([np.nan, 0.5]))
    assert ad.isnan(S.Multinomial(2, [0.5, 0.5]).log_prob([np.nan, 1.0]))
    assert ad.isnan(S.Truncated(S.Normal(0.0, 1.0), 0.0, 1.0).log_prob(np.nan))
    assert ad.isnan(S.Transformed(S.Normal(0.0, 1.0), S.Exp()).log_prob(np.nan))


class Mirrored:
    """SciPy's distribution of loc - scale x."""

    def __init__(self, of, loc, scale):
        self.of, self.loc, self.scale = of, loc, scale

    def isf(self, p):
        return self.loc - self.scale * self.of.ppf(p)

    def ppf(self, p):
        return self.loc - self.scale * self.of.isf(p)

    def logpdf(self, x):
        return self.of.logpdf((self.loc - x) / self.scale) - np.log(self.scale)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (S.Normal(double(0.5), 2.0), stats.norm(0.5, 2.0)),
        (S.LogNormal(double(0.2), 0.7), stats.lognorm(0.7, scale=np.exp(0.2))),
        (S.HalfNormal(double(1.5)), stats.halfnorm(scale=1.5)),
        (S.Laplace(double(0.5), 2.0), stats.laplace(0.5, 2.0)),
        (S.Logistic(double(0.5), 2.0), stats.logistic(0.5, 2.0)),
        (S.Cauchy(double(0.5), 2.0), stats.cauchy(0.5, 2.0)),
        (S.Gumbel(double(0.5), 2.0), stats.gumbel_r(0.5, 2.0)),
        (S.Exponential(double(2.0)), stats.expon(scale=0.5)),
        (S.Weibull(double(2.0), 1.5), stats.weibull_min(1.5, scale=2.0)),
        (S.Gamma(double(2.0), 3.0), stats.gamma(2.0, scale=1 / 3)),
        (S.InverseGamma(double(3.0), 2.0), stats.invgamma(3.0, scale=2.0)),
        (S.Beta(double(0.2), 30.0), stats.beta(0.2, 30.0)),
        (S.StudentT(double(5.0), 0.5, 2.0), stats.t(5.0, 0.5, 2.0)),
        (S.StudentT(double(1000.0), 0.5, 2.0), stats.t(1000.0, 0.5, 2.0)),
        (
            S.Transformed(S.Gamma(double(2.0), 3.0), S.Affine(0.0, -2.0)),
            Mirrored(stats.gamma(2.0, scale=1 / 3), 0.0, 2.0),
        ),
        (S.Mixture([0.5, 0.5], S.Gamma(double(2.0), [3.0, 3.0])), stats.gamma(2.0, scale=1 / 3)),
    ],
    ids=lambda x: type(x).__name__,
)
def test_far_tails_keep_their_digits(ours, theirs):
    """Against SciPy's survival functions, down to probabilities of 1e-30."""
    for p in (0.4, 1e-3, 1e-12, 1e-30):
        far = theirs.isf(p)
        np.testing.assert_allclose(ours.isf(double(p)).item(), far, 1e-9)
        np.testing.assert_allclose(ours.sf(double(far)).item(), p, 1e-9)
        if far < 1e30:  # the upper tail alone: its density, ranks and slopes
            low = double(theirs.isf(2 * p))
            tail = S.Truncated(ours, low=low)
            np.testing.assert_allclose(
                tail.log_prob(double(far)).item(), theirs.logpdf(far) - np.log(2 * p), 1e-7, 1e-8
            )
            np.testing.assert_allclose(tail.icdf(double(0.5)).item(), far, 1e-7)
            np.testing.assert_allclose(tail.cdf(double(far)).item(), 0.5, 1e-7)
    lower = theirs.ppf(1e-30)
    if np.isfinite(lower) and lower < 0:
        np.testing.assert_allclose(ours.cdf(double(lower)).item(), 1e-30, 1e-9)
        np.testing.assert_allclose(ours.icdf(double(1e-30)).item(), lower, 1e-9)


@pytest.mark.parametrize(
    ("ours", "theirs", "at"),
    [
        (S.Poisson(double(3.0)), stats.poisson(3.0), 60.0),
        (S.Binomial(double(200.0), double(1e-3)), stats.binom(200, 1e-3), 20.0),
        (S.NegativeBinomial(double(2.5), double(0.1)), stats.nbinom(2.5, 0.9), 30.0),
        (S.Geometric(double(0.8)), stats.geom(0.8, loc=-1), 50.0),
        (S.Bernoulli(double(1e-20)), stats.bernoulli(1e-20), 0.0),
    ],
    ids=lambda x: type(x).__name__,
)
def test_far_tails_of_counts_keep_their_digits(ours, theirs, at):
    assert theirs.sf(at) < 1e-17
    np.testing.assert_allclose(ours.sf(double(at)).item(), theirs.sf(at), 1e-10)
    np.testing.assert_array_equal(ours.sf(double([-1.0, np.inf])), [1.0, 0.0])
    for k in (0.0, 1.0, at):
        p = double(theirs.sf(k) * 1.001)
        if 0 < p.item() < 1:
            assert ours.isf(p).item() == k
    *others, last = [x.item() for x in ad.tree.flatten(ours)[0]]

    def probability(x):
        return type(ours)(*map(double, others), x).sf(double(at))

    h = 1e-5 * last
    slope = (probability(double(last + h)).item() - probability(double(last - h)).item()) / (2 * h)
    np.testing.assert_allclose(ad.grad(probability)(double(last)).item(), slope, 1e-6)


@pytest.mark.parametrize("p", [1e-30, 1e-3, 0.4, 0.7])
def test_tails_of_what_is_truncated_keep_their_digits(p):
    for d, theirs in (
        (S.Truncated(S.Normal(double(0.0), 1.0), low=0.0), stats.halfnorm()),
        (S.Truncated(S.Gamma(double(1.0), 2.0), low=1.0), stats.expon(loc=1.0, scale=0.5)),
        (S.Truncated(S.Gumbel(double(0.0), 1.0), high=-3.0), None),
    ):
        if theirs is None and p < 1e-3:
            continue  # what is left of a lower tail's end has no more digits than it
        x = d.isf(double(p))
        np.testing.assert_allclose(d.sf(x).item(), p, 1e-9)
        if theirs is not None:
            np.testing.assert_allclose(x.item(), theirs.isf(p), 1e-9)
        slope = ad.grad(d.isf)(double(p)).item()
        np.testing.assert_allclose(slope, -1 / np.exp(d.log_prob(x).item()), 1e-7)


def test_an_interval_without_probability_gives_nan():
    empty = S.Truncated(S.Normal(0.0, 1.0), 1e5, 2e5)
    assert ad.isnan(empty.log_prob(1.5e5))
    slope = ad.grad(lambda m: S.Truncated(S.Normal(m, 1.0), 30.0).log_prob(double(30.1)))(double(0.0))
    far = stats.truncnorm(30 - 1e-4, np.inf, 1e-4), stats.truncnorm(30 + 1e-4, np.inf, -1e-4)
    np.testing.assert_allclose(slope.item(), (far[0].logpdf(30.1) - far[1].logpdf(30.1)) / 2e-4, 1e-5)


def test_entropies_and_divergences_by_sums():
    equal(S.NegativeBinomial(double(2.5), 0.4).entropy(), stats.nbinom(2.5, 0.6).entropy(), 1e-7)
    equal(S.Multinomial(5, double([0.2, 0.3, 0.5])).entropy(), stats.multinomial(5, [0.2, 0.3, 0.5]).entropy(), 1e-12)
    p, q = S.Multinomial(5, double([0.2, 0.8])), S.Multinomial(5, double([0.6, 0.4]))
    counts = double([[k, 5 - k] for k in range(6)])
    equal(
        ad.stats.kl_divergence(p, q),
        (p.prob(counts) * (p.log_prob(counts) - q.log_prob(counts))).sum().item(),
        1e-12,
    )
    moved = lambda m: S.Transformed(S.Normal(m, 1.0), [S.Affine(0.0, 2.0), S.Exp()])  # noqa: E731
    equal(ad.stats.kl_divergence(moved(0.0), moved(1.0)), 0.5)
    with pytest.raises(TypeError, match="no closed form"):
        ad.stats.kl_divergence(moved(0.0), S.Transformed(S.Normal(0.0, 1.0), [S.Affine(0.0, 3.0), S.Exp()]))


def test_ranks_of_single_angles_one_after_the_other():
    """Native code once took a custom rule's further inputs for values that are read."""
    d = S.VonMises(double(0.3), 2.2)
    for p in (0.1, 0.5, 0.93, 0.4):
        equal(d.cdf(d.icdf(double(p))), p, 1e-9)


def test_entropy_of_counts_that_are_computed():
    n = ad.tensor([2.0, 3.0]) * 2
    found = [ad.stats.Binomial(count, 0.3).entropy().item() for count in (4.0, 6.0)]
    np.testing.assert_allclose(ad.stats.Binomial(n, 0.3).entropy().numpy(), found, rtol=1e-6)
    with pytest.raises(TypeError, match="how many there are isn't known"):
        ad.jit(lambda count: ad.stats.Binomial(count, 0.3).entropy())(n)


AT_EDGES = [
    ("Laplace", (1.0, 2.0), 1.0), ("Cauchy", (1.0, 2.0), 1.0), ("StudentT", (3.0, 1.0, 2.0), 1.0),
    ("StudentT", (3.0, 1.0, 2.0), 1.0 + 1e-9), ("StudentT", (3.0, 1.0, 2.0), 1.0 - 3e-5), ("VonMises", (1.0, 2.0), 1.0),
    ("VonMises", (1.0, 2.0), -np.pi), ("HalfNormal", (2.0,), 0.0), ("Exponential", (2.0,), 0.0), ("Gamma", (1.0, 2.0), 0.0),
    ("Gamma", (3.0, 2.0), np.inf), ("Weibull", (2.0, 1.0), 0.0), ("Weibull", (1.0, 2.0), 0.0),
    ("Logistic", (1.0, 2.0), 1.0), ("Gumbel", (1.0, 2.0), 1.0),
]  # fmt: skip


@pytest.mark.parametrize("kind, given, x", AT_EDGES)
def test_the_derivative_of_a_cdf_is_the_density_where_formulas_meet(kind, given, x):
    make, given, x = getattr(ad.stats, kind), [double(p) for p in given], double(x)
    d = make(*given)
    density = d.prob(x).numpy()
    equal(ad.grad(d.cdf)(x), density, 1e-8)
    equal(ad.grad(lambda x: -d.sf(x))(x), density, 1e-8)
    if "loc" in d.names and kind != "VonMises":  # whose cdf begins at -π, wherever the location is
        at = d.names.index("loc")
        equal(ad.grad(lambda loc: -make(*given[:at], loc, *given[at + 1 :]).cdf(x))(given[at]), density, 1e-8)
    if kind in ("StudentT", "VonMises", "Exponential", "Gamma") and x.item() < 9:
        equal(ad.grad(ad.grad(d.cdf))(x), ad.grad(d.prob)(x).numpy(), 1e-5)


AT_CERTAINTY = [
    (lambda p: S.Bernoulli(p).mean, (1.0, 1.0)), (lambda p: S.Bernoulli(p).variance, (1.0, -1.0)),
    (lambda p: S.Bernoulli(p).log_prob(ad.stop_gradient(p)), (-1.0, 1.0)), (lambda p: S.Bernoulli(p).cdf(0.0), (-1.0, -1.0)),
    (lambda p: S.Bernoulli(p).entropy(), (np.inf, -np.inf)), (lambda p: S.Binomial(3, p).mean, (3.0, 3.0)),
    (lambda p: S.Binomial(3, p).log_prob(3 * ad.stop_gradient(p)), (-3.0, 3.0)),
    (lambda p: S.Geometric(p).log_prob(0.0), (None, 1.0)),
    (lambda p: S.Geometric(p).mean, (None, -1.0)), (lambda p: S.Geometric(p).variance, (None, -1.0)),
    (lambda p: S.Geometric(p).cdf(0.0), (None, 1.0)), (lambda p: S.Geometric(p).entropy(), (None, -np.inf)),
    (lambda p: S.NegativeBinomial(3, p).log_prob(0.0), (-3.0, None)), (lambda p: S.NegativeBinomial(3, p).mean, (3.0, None)),
    (lambda p: S.Categorical(ad.stack([1 - p, p])).mean, (1.0, 1.0)),
    (lambda p: S.Categorical(ad.stack([1 - p, p])).log_prob(ad.stop_gradient(p)), (-1.0, 1.0)),
    (lambda p: S.kl_divergence(S.Bernoulli(ad.stop_gradient(p)), S.Bernoulli(p)), (1.0, -1.0)),
    (lambda p: S.kl_divergence(S.Bernoulli(p), S.Bernoulli(double(0.5))), (-np.inf, np.inf)),
]  # fmt: skip


@pytest.mark.parametrize("of, slopes", AT_CERTAINTY)
def test_probabilities_of_0_and_1_have_derivatives(of, slopes):
    for p, slope in enumerate(slopes):
        if slope is not None:
            equal(ad.grad(of)(double(p)), slope)


def test_a_distribution_of_probabilities_is_a_tree_of_them():
    for d in (S.Bernoulli(0.25), S.Binomial(4, 0.25), S.Geometric(0.25), S.Categorical([0.25, 0.75])):
        assert [name for name in ("probs", "logits") if name in d.names] == ["probs"]
        assert ad.grad(lambda d: d.entropy().sum())(d).probs.shape == d.probs.shape
    d = ad.jit(lambda d: d)(S.Bernoulli(logits=0.5))
    assert d.names == ("logits",) and repr(d) == "Bernoulli(logits=Tensor(0.5))"


AT_ENDS = [
    S.Normal(0.5, 2.0), S.LogNormal(0.5, 0.7), S.HalfNormal(2.0), S.Laplace(0.5, 2.0), S.Logistic(0.5, 2.0), S.Cauchy(0.5, 2.0),
    S.Gumbel(0.5, 2.0), S.InverseGamma(2.0, 1.0), S.Exponential(2.0), S.Weibull(2.0, 1.5), S.Weibull(2.0, 1.0),
    S.Weibull(2.0, 0.5), S.Uniform(-1.0, 3.0), S.VonMises(0.0, 2.0), S.Mixture([0.5, 0.5], S.Normal([-1.0, 1.0], 1.0)),
    S.Truncated(S.Normal(0.0, 1.0), -1.0, 1.0),
]  # fmt: skip


@pytest.mark.parametrize("d", AT_ENDS, ids=lambda d: type(d).__name__)
def test_the_derivative_of_an_icdf_at_its_ends_is_one_over_the_density(d):
    for p in (0.0, 1.0):
        density = d.prob(d.icdf(p)).item()
        slope = 1 / density if density else np.inf
        equal(ad.grad(d.icdf)(p), slope, 1e-4)
        equal(ad.grad(d.isf)(1 - p), -slope, 1e-4)


def test_truncated_values_stay_inside():
    d = S.Truncated(S.Normal(double(0.10490012), double(1.7295249)), double(-0.29327907), double(0.2643371992399801))
    theirs = stats.truncnorm(
        *((np.array([-0.29327907, 0.2643371992399801]) - 0.10490012) / 1.7295249), 0.10490012, 1.7295249
    )
    equal(d.entropy(), theirs.entropy(), 1e-9)
    assert np.isnan(d.icdf(double([-0.1, 1.1])).numpy()).all()
    ends = d.icdf(double([1e-17, 1 - 1e-16])).numpy()
    assert d.low.item() <= ends.min() and ends.max() <= d.high.item()
    equal(ad.grad(lambda high: S.Truncated(S.Normal(double(0.0), double(1.0)), double(-1.0), high).entropy())(double(0.5)),
          (stats.truncnorm(-1, 0.5 + 1e-5).entropy() - stats.truncnorm(-1, 0.5 - 1e-5).entropy()) / 2e-5, 1e-5)  # fmt: skip


@pytest.mark.parametrize("df", [0.4655, 3.0])
def test_tails_of_t_are_symmetric(df):
    d, theirs = S.StudentT(double(df)), stats.t(df)
    for p in (1e-10, 0.3):
        equal(d.icdf(double(p)), theirs.ppf(p), 1e-9)
        equal(d.isf(double(p)), theirs.isf(p), 1e-9)
    equal(d.sf(double(1e7)), theirs.sf(1e7), 1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("count", "p"), [(1000.0, 0.2), (0.01, 0.9), (50.0, 0.5), (5.0, 0.99)])
def test_entropies_of_failures_until_many_successes(count: float, p: float, dtype: str) -> None:
    law = ad.stats.NegativeBinomial(ad.tensor(count, dtype=dtype), probs=ad.tensor(p, dtype=dtype))
    logs = stats.nbinom.logpmf(np.arange(20_000), count, 1 - p)
    np.testing.assert_allclose(law.entropy().item(), -np.sum(np.exp(logs) * logs), 3e-4 if dtype == "float32" else 1e-9)
    assert law.icdf(0.5).item() == stats.nbinom.ppf(0.5, count, 1 - p)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: ad.stats.Beta(p, 2.5), lambda p: ad.stats.Beta(0.7, p), lambda p: ad.stats.StudentT(p, 0.5, 2.0),
        lambda p: ad.stats.StudentT(3.0, p, 2.0), lambda p: ad.stats.StudentT(3.0, 0.5, p),
    ],
)  # fmt: skip
def test_ranks_and_values_by_the_parameters_of_what_the_incomplete_beta_function_gives(make):
    for name, at in (("cdf", 0.4), ("sf", 0.97), ("icdf", 0.3), ("icdf", 0.98), ("isf", 1e-4)):
        value = lambda p, name=name, at=at: getattr(make(p), name)(double(at))  # noqa: E731
        for f in (value, ad.grad(value)):
            central = (f(double(1.3 + 1e-5)) - f(double(1.3 - 1e-5))).item() / 2e-5
            assert ad.grad(f)(double(1.3)).item() == pytest.approx(central, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("df", [1e7, 1e8, 1e10, 1e14, 1e20])
def test_a_t_of_many_degrees_of_freedom_is_nearly_normal(df, dtype):
    d = S.StudentT(ad.tensor(df, dtype=dtype), 0.0, 1.0)
    for x in (-8.0, -1.3, 0.0, 1e-7, 1e-3, 0.5, 3.0, 8.0):
        point = ad.tensor(x, dtype=dtype)
        moved = (x**3 + x) / (4 * df)  # the first term of the expansion by 1 / df
        expected = stats.norm.cdf(x) - stats.norm.pdf(x) * moved
        tolerance = 1e-7 if dtype == "float64" else 1e-5
        np.testing.assert_allclose(d.cdf(point).item(), expected, tolerance)
        np.testing.assert_allclose(d.sf(ad.tensor(-x, dtype=dtype)).item(), expected, tolerance)
        np.testing.assert_allclose(ad.grad(d.cdf)(point).item(), d.log_prob(point).exp().item(), 10 * tolerance)


@pytest.mark.parametrize(("a", "b", "x"), [(0.01, 1.0, 1e-17), (0.1, 1.0, 1e-30), (1e-6, 1.0, 1e-20), (1.0, 1e8, 1e-8)])
def test_beta_has_its_upper_tail_where_one_minus_x_is_one(a, b, x):
    d = S.Beta(double(a), double(b))
    expected = -np.expm1(a * np.log(x)) if b == 1 else np.exp(b * np.log1p(-x))
    np.testing.assert_allclose(d.sf(double(x)).item(), expected, 1e-10)
    slope = -a * x ** (a - 1) if b == 1 else -b * np.exp((b - 1) * np.log1p(-x))
    np.testing.assert_allclose(ad.grad(d.sf)(double(x)).item(), slope, 1e-9)
