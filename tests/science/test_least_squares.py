"""Least squares against NIST's certified values, SciPy's, and closed forms."""

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad

rng = np.random.default_rng(0)
TIMES = np.linspace(0, 4, 30)
VALUES = 2.5 * np.exp(-1.3 * TIMES) + 0.5 + 0.1 * rng.normal(size=30)


def decay(x, a, b, c):
    return a * ad.exp(-b * x) + c


def decay_numpy(x, a, b, c):
    return a * np.exp(-b * x) + c


@pytest.mark.parametrize("name", ad.data.REGRESSIONS)
def test_certified_regressions_from_the_second_start(name):
    r = ad.data.regression(name)
    p, covariance, fit = ad.curve_fit(r.model, r.x, r.y, r.starts[1], full_output=True)
    np.testing.assert_allclose(p.numpy(), r.certified, rtol=5e-7)
    if name != "Lanczos1":  # its residuals are the rounding of the data
        np.testing.assert_allclose(np.sqrt(np.diag(covariance.numpy())), r.deviations, rtol=1e-6)
        assert fit.cost.item() == pytest.approx(r.squares, rel=1e-9)


SPREAD = 0.05 + 0.1 * rng.uniform(size=30)
CORRELATED = np.exp(-np.abs(TIMES[:, None] - TIMES) * 3) * 0.01


@pytest.mark.parametrize("sigma", [None, SPREAD, CORRELATED], ids=["plain", "deviations", "covariance"])
@pytest.mark.parametrize("absolute", [False, True])
def test_curve_fit_is_scipys(sigma, absolute):
    ours = ad.curve_fit(decay, TIMES, VALUES, sigma=sigma, absolute_sigma=absolute)
    theirs = optimize.curve_fit(
        decay_numpy, TIMES, VALUES, sigma=sigma, absolute_sigma=absolute, ftol=1e-14, xtol=1e-14
    )
    np.testing.assert_allclose(ours[0].numpy(), theirs[0], rtol=1e-6)
    np.testing.assert_allclose(ours[1].numpy(), theirs[1], rtol=1e-5)


@pytest.mark.parametrize("spread", [None, np.linspace(0.1, 0.2, 30), np.diag(np.linspace(0.1, 0.2, 30) ** 2)])
def test_missing_points_and_scipys_names(spread):
    values = VALUES.copy()
    values[[3, 17]] = np.nan
    given = {"method": "lm", "maxfev": 500, "nan_policy": "omit", "sigma": spread}
    p, covariance = ad.curve_fit(decay, TIMES, values, [1.0, 1.0, 1.0], **given)
    expected = optimize.curve_fit(lambda x, a, b, c: a * np.exp(-b * x) + c, TIMES, values, [1.0, 1.0, 1.0], **given)
    np.testing.assert_allclose(p.numpy(), expected[0], rtol=1e-5)
    np.testing.assert_allclose(covariance.numpy(), expected[1], rtol=1e-3, atol=1e-6)


def test_bounds_hold():
    bounds = ([0, 0, 0.7], [2, 5, 1])
    p, covariance = ad.curve_fit(decay, TIMES, VALUES, [1, 1, 0.8], bounds=bounds)
    theirs, _ = optimize.curve_fit(decay_numpy, TIMES, VALUES, [1, 1, 0.8], bounds=bounds, ftol=1e-14, xtol=1e-14)
    np.testing.assert_allclose(p.numpy(), theirs, rtol=1e-6)
    assert p[2].item() == 0.7 and covariance[2, 2].item() == 0
    slope = ad.jacobian(lambda y: ad.curve_fit(decay, TIMES, y, [1, 1, 0.8], bounds=bounds)[0])(ad.tensor(VALUES))
    assert (slope[2].numpy() == 0).all() and (slope[1].numpy() != 0).any()


@pytest.mark.parametrize("options", [{}, {"method": "gauss-newton"}, {"products": True}], ids=str)
def test_derivatives_are_those_of_differences(options):
    start = np.array([2.0, 1.0, 0.0])

    def solved(y):
        return ad.least_squares(lambda p: decay(TIMES, *ad.unstack(p)) - y, start, **options).x

    matrix = ad.jacobian(solved)(ad.tensor(VALUES)).numpy()
    step = 1e-5 * np.eye(30)[3]
    differences = (solved(ad.tensor(VALUES + step)).numpy() - solved(ad.tensor(VALUES - step)).numpy()) / 2e-5
    np.testing.assert_allclose(matrix[:, 3], differences, rtol=1e-4, atol=1e-8)


def test_trees_and_their_errors():
    """The errors of a straight line, by their closed form."""
    t = np.arange(8.0)
    y = 3 * t + 1 + rng.normal(size=8)
    fit = ad.least_squares(lambda p: p["slope"] * t + p["offset"] - y, {"slope": 0.0, "offset": 0.0})
    design = np.stack([np.ones(8), t], 1)  # keys of a dict are in order: offset, slope
    best, (squares,), *_ = np.linalg.lstsq(design, y)
    covariance = squares / 6 * np.linalg.inv(design.T @ design)
    order = list(fit.x)
    index = [{"offset": 0, "slope": 1}[k] for k in order]
    np.testing.assert_allclose([fit.x[k].item() for k in order], best[index])
    np.testing.assert_allclose([fit.errors[k].item() for k in order], np.sqrt(np.diag(covariance))[index])
    np.testing.assert_allclose(fit.covariance.numpy(), covariance[np.ix_(index, index)])


def test_ten_thousand_unknowns_by_products():
    n = 10_000
    target = ad.tensor(np.sin(np.arange(n) / 500))

    def residuals(x):
        return ad.concat([x + 0.1 * x**3 - target, 3 * (x[1:] - x[:-1])])

    fit = ad.least_squares(residuals, np.zeros(n), products=True)
    assert fit.success and fit.covariance is None
    slope = ad.grad(lambda x: (residuals(x) ** 2).sum())(fit.x)
    assert abs(slope).max().item() < 1e-6


def test_batched_and_compiled():
    start = np.ones(3)

    def solved(y):
        return ad.least_squares(lambda p: decay(TIMES, *ad.unstack(p)) - y, start).x

    data = ad.tensor(np.stack([VALUES, 2 * VALUES]))
    expected = np.stack([solved(y).numpy() for y in ad.unstack(data)])
    np.testing.assert_allclose(ad.vmap(solved)(data).numpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(ad.jit(solved)(data[0]).numpy(), expected[0], rtol=1e-8)


def test_more_unknowns_than_residuals_end():
    fit = ad.least_squares(lambda p: p.sum() - 1, np.zeros(3))
    assert fit.cost.item() < 1e-20 and np.isnan(fit.covariance.numpy()).all()


def test_what_never_fits_isnt_a_success():
    fit = ad.least_squares(lambda p: ad.sqrt(-1 - p**2), np.ones(2))
    assert not fit.success
    with pytest.raises(RuntimeError, match="no minimum was found"):
        ad.curve_fit(lambda x, a: ad.sqrt(-1 - a**2) * x, TIMES, VALUES)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ad.least_squares(lambda p: p, 1.0, method="newton"), ValueError, "method is one of"),
        (lambda: ad.least_squares(lambda p: p[:0], np.ones(2)), ValueError, "no residuals"),
        (lambda: ad.least_squares(lambda p: p, np.ones(2), bounds=(1, 0)), ValueError, "below its upper"),
        (lambda: ad.curve_fit(decay, TIMES, VALUES * np.nan), ValueError, "isn't finite"),
        (lambda: ad.curve_fit(lambda x, *p: x, TIMES, VALUES), TypeError, "give p0"),
        (lambda: ad.curve_fit(decay, TIMES, VALUES, sigma=np.ones(3)), ValueError, "sigma has shape"),
        (lambda: ad.least_squares(lambda p: 1j * p - 1, np.ones(2)), TypeError, "residuals are complex"),
        (lambda: ad.curve_fit(decay, TIMES, VALUES, nan_policy="drop"), ValueError, "nan_policy is"),
        (lambda: ad.data.regression("Misra"), ValueError, "there are Bennett5"),
    ],
)
def test_mistakes_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_units():
    pint = pytest.importorskip("pint")
    u = pint.UnitRegistry()
    x, y = TIMES * u.ms, VALUES * u.volt

    def model(t, a, b, c):
        return a * np.exp(-b * t) + c

    start = [1000 * u.millivolt, 1 / u.ms, 0.1 * u.volt]
    p, covariance = ad.curve_fit(model, x, y, start)
    plain, plain_covariance = ad.curve_fit(decay, TIMES, VALUES)
    assert [str(v.units) for v in p] == ["millivolt", "1 / millisecond", "volt"]
    np.testing.assert_allclose([v.magnitude.item() for v in p], plain.numpy() * [1000, 1, 1], rtol=1e-6)
    np.testing.assert_allclose(covariance[0, 0].item(), 1e6 * plain_covariance[0, 0].item(), rtol=1e-4)
    with pytest.raises(pint.DimensionalityError):
        ad.curve_fit(model, x, y, [1 * u.ampere, 1 / u.ms, 0.1 * u.volt])


def test_a_tree_of_quantities_comes_back_as_such():
    pint = pytest.importorskip("pint")
    u = pint.UnitRegistry()
    t, y = TIMES * u.ms, 3 * TIMES * u.mm + 2 * u.cm
    fit = ad.least_squares(lambda p: p["speed"] * t + p["start"] - y, {"speed": 1 * u.m / u.s, "start": 0 * u.m})
    assert fit.x["speed"].to("mm/ms").magnitude.item() == pytest.approx(3.0)
    assert fit.x["start"].to("cm").magnitude.item() == pytest.approx(2.0)
    assert fit.errors["start"].units == u.m
    with pytest.raises(pint.DimensionalityError):
        ad.least_squares(lambda p: p["speed"] * t - y, {"speed": 1 * u.m})


def test_units_arent_lost():
    pint = pytest.importorskip("pint")
    u = pint.UnitRegistry()
    length = ad.tensor([1.0, 2.0]) * u.m
    assert str((ad.tensor(2.0) * length).units) == "meter" and str((length / ad.tensor(2.0)).units) == "meter"
    np.testing.assert_allclose(ad.exp(length / (100 * u.cm)).numpy(), np.exp([1, 2]), rtol=1e-6)
    with pytest.raises(TypeError, match="a quantity in meter isn't a plain number"):
        ad.exp(length)
    slope = ad.grad(lambda x: ((x * u.m) ** 2).to("cm^2").magnitude)(3.0)
    assert slope.item() == pytest.approx(60000.0)


OUTLIERS = VALUES.copy()
OUTLIERS[[3, 11, 25]] += [3.0, -2.0, 4.0]
EXACTLY = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}


@pytest.mark.parametrize("method", ["levenberg-marquardt", "gauss-newton"])
@pytest.mark.parametrize("scale", [0.1, 1.0])
@pytest.mark.parametrize("loss", ["linear", "soft_l1", "huber", "cauchy", "arctan"])
def test_losses_are_scipys(loss, scale, method):
    start = np.array([2.0, 1.0, 0.3])

    def fit(y):
        return ad.least_squares(lambda p: decay(TIMES, *p) - y, start, loss=loss, f_scale=scale, method=method)

    ours = fit(OUTLIERS)
    theirs = optimize.least_squares(
        lambda p: decay_numpy(TIMES, *p) - OUTLIERS, start, loss=loss, f_scale=scale, **EXACTLY
    )
    assert ours.success.item()
    np.testing.assert_allclose(ours.x.numpy(), theirs.x, rtol=1e-6)
    np.testing.assert_allclose(ours.cost.item(), 2 * theirs.cost, rtol=1e-9)
    np.testing.assert_allclose(ours.fun.numpy(), theirs.fun, atol=1e-6)
    spread = np.linalg.inv(theirs.jac.T @ theirs.jac) * 2 * theirs.cost / 27
    np.testing.assert_allclose(ours.covariance.numpy(), spread, rtol=1e-4, atol=1e-9)
    moved = np.zeros(30)
    moved[5] = 1e-3
    difference = (fit(OUTLIERS + moved).x - fit(OUTLIERS - moved).x) / 2e-3
    slopes = ad.jacobian(lambda y: fit(y).x)(ad.tensor(OUTLIERS))[:, 5]
    np.testing.assert_allclose(slopes.numpy(), difference.numpy(), rtol=1e-3, atol=1e-6)


def test_a_loss_of_ones_own():
    def fit(loss, **options):
        return ad.least_squares(lambda p: decay(TIMES, *p) - OUTLIERS, [2.0, 1.0, 0.3], loss=loss, **options)

    expected = [v.item() for v in fit("cauchy").x]
    as_scipys = lambda z: ad.stack([ad.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2])  # noqa: E731
    for found in (fit(ad.log1p), fit(as_scipys), fit("cauchy", products=True)):
        np.testing.assert_allclose([v.item() for v in found.x], expected, rtol=1e-7)
    with pytest.raises(ValueError, match=r"loss is one of 'linear'.*or a function, got a str 'square'"):
        fit("square")
    with pytest.raises(ValueError, match=r"loss\(z\) gives an array like z, \(30,\)"):
        fit(lambda z: z.sum())


def test_a_curve_beside_outliers():
    given = {"loss": "soft_l1", "f_scale": 0.2, "sigma": SPREAD}
    ours = ad.curve_fit(decay, TIMES, OUTLIERS, [1.0, 1.0, 1.0], **given)
    theirs = optimize.curve_fit(decay_numpy, TIMES, OUTLIERS, [1.0, 1.0, 1.0], method="trf", **given, **EXACTLY)
    np.testing.assert_allclose(ours[0].numpy(), theirs[0], rtol=1e-6)
    np.testing.assert_allclose(ours[1].numpy(), theirs[1], rtol=1e-4)
