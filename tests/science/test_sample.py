"""Samplers: their moments against known ones, their diagnostics against ArviZ's published definitions."""

import numpy as np
import pytest

import adjoint as ad

rng = np.random.default_rng(0)
MIXING = rng.normal(size=(4, 4)) + 2 * np.eye(4)
COVARIANCE = MIXING @ MIXING.T
PRECISION = np.linalg.inv(COVARIANCE)


def correlated(x):
    v = x["v"] - 2.0
    return -0.5 * v @ ad.tensor(PRECISION) @ v


@pytest.mark.parametrize("metric", ["diagonal", "dense", "unit"])
def test_nuts_finds_means_and_covariances(metric):
    found = ad.sample.nuts(correlated, {"v": ad.zeros(4)}, metric=metric, key=1)
    x = found["v"].numpy().reshape(-1, 4)
    spread = np.sqrt(np.diag(COVARIANCE))
    size = ad.sample.effective_sample_size(found["v"], kind="mean")
    assert (np.abs(x.mean(0) - 2) < 4 * spread / np.sqrt(size)).all()
    assert np.abs(np.cov(x.T) - COVARIANCE).max() < 0.2 * COVARIANCE.max()
    assert found.metric.ndim == (2 if metric == "dense" else 1)
    assert (ad.sample.r_hat(found["v"]) < 1.02).all()


def test_a_dense_metric_takes_fewer_steps():
    long = ad.tensor(np.linalg.inv(np.array([[1.0, 0.99], [0.99, 1.0]])))
    steps = [
        ad.sample.nuts(lambda x: -0.5 * x @ long @ x, ad.zeros(2), metric=m).statistics["n_steps"].numpy().mean()
        for m in ("diagonal", "dense")
    ]
    assert steps[1] < 0.6 * steps[0]


def test_hmc_finds_means_and_covariances():
    found = ad.sample.hmc(correlated, {"v": ad.zeros(4)}, key=2, draws=2000)
    x = found["v"].numpy().reshape(-1, 4)
    assert np.abs(x.mean(0) - 2).max() < 0.5
    assert np.abs(np.cov(x.T) - COVARIANCE).max() < 0.2 * COVARIANCE.max()
    assert (found.statistics["n_steps"].numpy() == 16).all()


def test_not_a_normal_distribution():
    """Quantiles of a gamma variable, sampled by its logarithm (scipy.stats.gamma(3).ppf)."""
    found = ad.sample.nuts(lambda x: 3 * x - ad.exp(x), 0.0, key=3, draws=4000, chains=2)
    quantiles = np.quantile(np.exp(found.values.numpy()), (0.05, 0.5, 0.95))
    np.testing.assert_allclose(quantiles, (0.8177, 2.6741, 6.2958), rtol=0.06)


def test_acceptance_follows_what_is_aimed_at():
    means = [
        ad.sample.nuts(correlated, {"v": ad.zeros(4)}, target_accept=t).statistics["acceptance_rate"].numpy().mean()
        for t in (0.6, 0.9)
    ]
    assert means[0] < 0.82 and 0.86 < means[1] < 0.96


def test_trees_have_full_sizes_or_turn():
    found = ad.sample.nuts(correlated, {"v": ad.zeros(4)}, max_depth=3)
    assert found.statistics["n_steps"].numpy().max() <= 7


def test_the_same_key_gives_the_same_draws():
    def draw(key):
        return ad.sample.nuts(correlated, {"v": ad.zeros(4)}, draws=50, warmup=50, key=key)["v"].numpy()

    np.testing.assert_array_equal(draw(5), draw(5))
    np.testing.assert_array_equal(draw(ad.random.key(5)), draw(5))
    assert (draw(5) != draw(6)).any()


def test_a_changed_density_is_seen():
    centre = ad.tensor(0.0)

    def density(x):
        return -0.5 * (x - centre) ** 2

    first = ad.sample.nuts(density, 0.0, draws=300, warmup=200)
    centre = ad.tensor(10.0)
    second = ad.sample.nuts(density, 10.0, draws=300, warmup=200)
    assert abs(first.values.numpy().mean()) < 0.5 < 9 < second.values.numpy().mean()


def test_starts_are_drawn_until_the_density_is_finite():
    found = ad.sample.nuts(lambda x: ad.where(x > 0, ad.log(ad.where(x > 0, x, 1.0)) - x, -ad.inf), 0.0)
    assert (found.values.numpy() > 0).all() and abs(found.values.numpy().mean() - 2) < 0.3
    with pytest.raises(ValueError, match="isn't finite at 100 starts"):
        ad.sample.nuts(lambda x: ad.log(-1 - x**2), 0.0)


def test_an_initial_function_starts_each_chain():
    found = ad.sample.hmc(lambda x: -0.5 * x**2, lambda key: ad.random.normal(key=key) * 5, warmup=0, draws=1, steps=1)
    assert len(np.unique(found.values.numpy())) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "round"}, "metric is one of"),
        ({"chains": 0}, "chains is a whole number"),
        ({"draws": 0}, "draws is a whole number"),
        ({"target_accept": 1.0}, "between 0 and 1"),
        ({"max_depth": 0}, "max_depth"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        ad.sample.nuts(lambda x: -(x**2), 0.0, **arguments)


def test_a_density_is_one_number():
    with pytest.raises(TypeError, match=r"one number, got shape \(3,\)"):
        ad.sample.nuts(lambda x: -(x**2), ad.zeros(3))


def autoregressive(share, chains=4, draws=2000):
    noise = np.random.default_rng(1).normal(size=(chains, draws))
    x = np.zeros((chains, draws))
    for t in range(1, draws):
        x[:, t] = share * x[:, t - 1] + noise[:, t]
    return x


def test_diagnostics_are_arvizs():
    """The numbers of arviz-stats 0.8 for these chains."""
    x = autoregressive(0.7)
    assert float(ad.sample.effective_sample_size(x)) == pytest.approx(1440.9635136119, rel=1e-6)
    assert float(ad.sample.effective_sample_size(x, kind="mean")) == pytest.approx(1438.6164944887, rel=1e-6)
    assert float(ad.sample.effective_sample_size(x, kind="tail")) == pytest.approx(2789.3232312770, rel=1e-6)
    assert float(ad.sample.r_hat(x)) == pytest.approx(1.0034792095949, rel=1e-6)


def test_chains_apart_are_seen():
    x = np.random.default_rng(0).normal(size=(4, 500, 2))
    x[0, :, 1] += 3
    small, large = ad.sample.r_hat(x)
    assert small < 1.01 < 1.3 < large
    assert np.isnan(ad.sample.r_hat(np.zeros((4, 100)))) and np.isnan(ad.sample.effective_sample_size(x[:, :3]))[0]


def test_draws_print_their_table():
    found = ad.sample.nuts(
        lambda x: -0.5 * ((x["a"] ** 2).sum() + x["b"] ** 2), {"a": ad.zeros(2), "b": 0.0}, draws=100
    )
    lines = repr(found).splitlines()
    assert lines[0].split() == ["mean", "sd", "5%", "95%", "ess_bulk", "ess_tail", "r_hat"]
    assert [line.split()[0] for line in lines[1:4]] == ["a[0]", "a[1]", "b"]
    assert lines[-1] == "4 chains of 100 draws; 0 diverging"
    assert set(found.groups()["sample_stats"]) >= {"lp", "energy", "diverging", "tree_depth"}


def test_columns_stay_apart():
    draws = type(ad.sample.nuts(lambda x: -0.5 * x**2, 0.0, draws=20, warmup=20))
    wild = -1.23456789e-120 * ad.tensor(np.random.default_rng(0).normal(size=(4, 20)), dtype="float64")
    statistics = {"diverging": ad.zeros((4, 20)), "lp": ad.zeros((4, 20))}
    table = repr(draws({"a long name": wild, "b": wild}, statistics, ad.ones(2)))
    assert all(len(line.split()[-7:]) == 7 and len(line.split()) >= 8 for line in table.splitlines()[1:3])
    density = lambda p: -0.5 * (p["long_name"] + 1.23456e-100) ** 2 - p["b"] ** 2  # noqa: E731
    lines = repr(ad.sample.laplace(density, {"long_name": -1.23456e-100, "b": 0.0})).splitlines()
    assert [len(line.split()) for line in lines] == [2, 3, 3]


def test_laplace_is_exact_for_a_normal_density():
    found = ad.sample.laplace(correlated, {"v": ad.zeros(4)})
    np.testing.assert_allclose(found.mean["v"].numpy(), 2.0, atol=1e-6)
    np.testing.assert_allclose(found.covariance.numpy(), COVARIANCE, rtol=1e-6)
    evidence = 0.5 * np.linalg.slogdet(2 * np.pi * COVARIANCE)[1]
    assert found.evidence.item() == pytest.approx(evidence)
    assert np.cov(found.sample(20000)["v"].numpy().T) == pytest.approx(COVARIANCE, abs=0.05 * COVARIANCE.max())
    with pytest.raises(ValueError, match="doesn't fall in every direction"):
        ad.sample.laplace(lambda x: -(x[0] ** 2) + 0 * x[1], ad.zeros(2))


def test_variational_families():
    whole = ad.sample.variational(correlated, {"v": ad.zeros(4)}, family="full_rank", steps=3000)
    np.testing.assert_allclose(whole.mean["v"].numpy(), 2.0, atol=0.1)
    np.testing.assert_allclose(whole.covariance.numpy(), COVARIANCE, atol=0.05 * COVARIANCE.max())
    assert whole.evidence.item() == pytest.approx(0.5 * np.linalg.slogdet(2 * np.pi * COVARIANCE)[1], abs=0.05)
    apart = ad.sample.variational(correlated, {"v": ad.zeros(4)}, steps=3000)
    np.testing.assert_allclose(apart.sd["v"].numpy(), 1 / np.sqrt(np.diag(PRECISION)), rtol=0.1)
    assert apart.evidence.item() < whole.evidence.item()
    with pytest.raises(ValueError, match="family is one of"):
        ad.sample.variational(correlated, {"v": ad.zeros(4)}, family="all")
