"""Nonlinear least squares, with the covariance of what was found."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, Never

import numpy as np

import adjoint.tensors.functions as f
from adjoint import _optional, linalg, tree
from adjoint.hints import keyword_error
from adjoint.solvers.implicit import DENSE
from adjoint.solvers.linear import conjugate_gradients
from adjoint.solvers.results import differentiable
from adjoint.solvers.robust import robust_loss
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import grad, jvp, stop_gradient, vjp
from adjoint.transforms.jacobians import jacobian
from adjoint.transforms.loops import while_loop
from adjoint.transforms.ravel import ravel_tree

__all__ = ["Fit", "curve_fit", "least_squares"]

METHODS = ("levenberg-marquardt", "gauss-newton")
SCIPYS_METHODS = ("lm", "trf", "dogbox")
EPS = float(np.finfo(np.float64).eps)
SMALL_STEP = EPS**0.7  # relative to the unknowns, each scaled by its column of the Jacobian
FIRST_DAMPING, LEAST_DAMPING = 1e-3, 1e-30
LARGE = 1 << 24  # numbers in a Jacobian from which on products are used alone
NEAR = EPS**0.4  # relative length of a step from which on rounding may hide a decrease
TAKEN = 1e-4  # of the predicted decrease: a step that brings less isn't taken

Array = np.ndarray[Any, Any]


class Fit(NamedTuple):
    """What `least_squares` gives.

    x           the solution, a tree like the starting point; its derivatives are NaN where `success` is false
    errors      the standard errors of its numbers, a tree like x
    covariance  the covariances of all its numbers in order, a matrix: s² (JᵀJ)⁻¹, s² = cost / degrees of freedom
    fun         the residuals there
    cost        the sum of their squares, or of a loss of them
    success     a bool: whether the tolerance was reached
    nit         how many steps were tried

    `errors` and `covariance` are None where only products with the Jacobian are used, and NaN where the residuals don't determine
    x, or aren't more than the unknowns.

    >>> import adjoint as ad
    >>> t, y = ad.arange(4.0), ad.tensor([1.0, 3.0, 5.0, 7.2])
    >>> fit = ad.least_squares(lambda p: p["slope"] * t + p["offset"] - y, {"slope": 1.0, "offset": 0.0})
    >>> round(fit.x["slope"].item(), 3), round(fit.errors["slope"].item(), 3)
    (2.06, 0.035)
    """

    x: Any
    errors: Any
    covariance: Any
    fun: Any
    cost: Tensor
    success: Tensor
    nit: Tensor


def least_squares(
    residuals: Callable[..., Any],
    x0: Any,
    *args: Any,
    method: str = "levenberg-marquardt",
    bounds: Any = None,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    products: bool | None = None,
    tolerance: float | None = None,
    max_steps: int = 1000,
    **others: Never,
) -> Fit:
    """x where the sum of squares of residuals(x, *args), a tree of tensors, is least near x0, a tensor or tree of them.

    "levenberg-marquardt" damps the step (K. Levenberg 1944, D. Marquardt 1963; scaled as J. Moré's of 1978, the damping changed
    as H. Nielsen's of 1999) and solves by a QR factorization of the Jacobian; "gauss-newton" doesn't damp and shortens the step
    instead. `bounds` is a pair of trees like x0, or of numbers. With `products`, the default for Jacobians of more than 2²⁴
    numbers, the Jacobian is never made: steps come from conjugate gradients on products with it. It ends where a step is shorter
    than `tolerance` times the unknowns (default: 1e-11), or where rounding ends the progress. Computed in float64.

    A `loss` that grows more slowly takes outliers their weight: what is least is the sum of f_scale² loss((r/f_scale)²) over the
    residuals r, for "soft_l1", "huber", "cauchy", "arctan" (as SciPy defines them) or a function of tensors.

    x differentiates by `args` and by what the residuals read from outside: the implicit function theorem at gradient zero. Works
    under `vmap` and `jit`. Raises ValueError for an unknown method, bounds that cross, or no residuals, TypeError for complex
    residuals.

    Where x0 holds quantities of pint (`adjoint[units]`), the function is called with such, and x and its errors have their units.
    Residuals that are quantities count by their numbers in base units; the covariance's numbers are in the units of x0.

    >>> import adjoint as ad
    >>> t = ad.arange(5.0, dtype="float64")
    >>> decay = lambda p, y: p[0] * ad.exp(-p[1] * t) - y
    >>> rate = lambda y: ad.least_squares(decay, ad.ones(2), y).x[1]
    >>> y = 3 * ad.exp(-0.5 * t)
    >>> round(rate(y).item(), 6), ad.grad(rate)(y).shape
    (0.5, (5,))
    """
    if others:
        raise keyword_error("least_squares", others, at_user())
    if method not in METHODS:
        raise ValueError(f"least_squares: method is one of {', '.join(map(repr, METHODS))}, got {method!r}{at_user()}")
    robust = robust_loss(loss, f_scale, "least_squares")
    residuals, x0, measured = _without_units(residuals, x0)
    whole = tree.map(_double, stop_gradient(x0))
    start, unravel = ravel_tree(whole)

    def plain(v: Tensor) -> Tensor:
        return _real(residuals(unravel(v), *args))

    def function(v: Tensor) -> Tensor:
        return plain(v) if robust is None else robust.roots(plain(v))

    def total(v: Tensor) -> Tensor:
        return (plain(v) ** 2 if robust is None else robust.each(plain(v))).sum()

    low, high = _limits(bounds, whole, start.size)
    if low is not None:
        start = f.clip(start, low, high)
    if not (count := function(start).size):
        raise ValueError(f"least_squares: the function gives no residuals{at_user()}")
    alone = count * start.size > LARGE if products is None else products
    step = (_Products if alone else _Factored)(function, method == METHODS[1], low, high)
    x, success, tries = _searched(step, start, SMALL_STEP if tolerance is None else float(tolerance), max_steps)
    free = stop_gradient(_free(x, grad(total)(x), low, high))

    def condition(v: Tensor) -> Tensor:
        return f.where(free, grad(lambda w: total(w) / 2)(v), v - x)

    x = _held(differentiable(x, success, condition, conjugate_gradients if start.size > DENSE else None), free)
    cost = total(x)
    if alone:
        return Fit(measured(unravel(x)), None, None, residuals(unravel(x), *args), cost, success, tries)
    matrix = jacobian(plain)(x)
    if robust is not None:
        matrix = f.sqrt(robust.weights(plain(x), EPS))[:, None] * matrix
    covariance = _covariance(matrix, cost, free)
    errors = unravel(f.sqrt(linalg.diagonal(covariance)))
    return Fit(measured(unravel(x)), measured(errors), covariance, residuals(unravel(x), *args), cost, success, tries)


def _real(residuals: Any) -> Tensor:
    """A tree of residuals as a vector of float64."""
    found = ravel_tree(residuals)[0]
    if found.dtype.kind == "c":
        raise TypeError(
            f"least_squares: the residuals are complex; give their real and imaginary parts, "
            f"ad.concat([ad.real(r), ad.imag(r)]){at_user()}"
        )
    return found.astype("float64")


def _double(x: Any) -> Tensor:
    """A tensor of float64, of a Python number or list without rounding to the default dtype."""
    return x.astype("float64") if isinstance(x, Tensor) else f.asarray(x, dtype="float64")


def _limits(bounds: Any, whole: Any, n: int) -> tuple[Any, Any]:
    """Lower and upper bounds as vectors, or twice None."""
    if bounds is None:
        return None, None
    ends = []
    for side in bounds:
        single = not isinstance(side, (dict, list, tuple)) and f.asarray(side).ndim == 0
        spread = tree.map(lambda x, s=side: f.broadcast_to(_double(s), x.shape), whole) if single else side
        ends.append(stop_gradient(ravel_tree(tree.map(_double, spread))[0]))
    low, high = ends
    if low.size != n or high.size != n:
        raise ValueError(f"least_squares: bounds are two trees like x0, of {n} numbers, or two numbers{at_user()}")
    if not bool((low < high).all().item()):
        raise ValueError(f"least_squares: every lower bound is below its upper one{at_user()}")
    return low, high


def _free(x: Tensor, slope: Tensor, low: Any, high: Any) -> Tensor:
    """Which unknowns aren't held by a bound."""
    if low is None:
        return f.ones(x.shape, dtype="bool")
    return ~(((x <= low) & (slope >= 0)) | ((x >= high) & (slope <= 0)))


def _held(x: Tensor, free: Tensor) -> Tensor:
    """What a bound holds doesn't move with anything, to the last bit."""
    return f.where(free, x, stop_gradient(x))


def _covariance(matrix: Tensor, cost: Tensor, free: Tensor) -> Tensor:
    """s² (JᵀJ)⁻¹ of the unknowns that no bound holds, by the triangular factor of J with columns of length one."""
    count, n = matrix.shape
    kept = f.where(free, matrix, 0.0)
    scale = f.sqrt((kept**2).sum(0))
    scale = f.where(scale > 0, scale, 1.0)
    rows = f.concat([kept / scale, f.where(free, 0.0, 1.0) * f.eye(n, dtype="float64")])
    factor = linalg.qr(rows)[1]
    freedom = count - free.astype("float64").sum()
    good = (abs(linalg.diagonal(factor)) > n * EPS).all() & (freedom > 0)
    inverse = linalg.inv(f.where(good, factor, f.eye(n, dtype="float64"))) / scale[:, None]
    inverse = f.where(free[:, None], inverse, 0.0)
    return inverse @ inverse.T * f.where(good, cost / f.where(good, freedom, 1.0), float("nan"))


# The search ---------------------------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where a search is."""

    x: Tensor
    residual: Tensor
    matrix: Tensor  # the Jacobian; of products alone, nothing
    scale: Tensor  # of each unknown
    damping: Tensor
    growth: Tensor  # what the damping is multiplied by when the next step fails
    length: Tensor  # of the last step, in these scales
    tries: Tensor
    done: Tensor


class _Factored:
    """Steps by QR factorizations of the Jacobian."""

    def __init__(self, function: Callable[[Tensor], Tensor], undamped: bool, low: Any, high: Any) -> None:
        self.function, self.undamped, self.low, self.high = function, undamped, low, high

    def matrix(self, x: Tensor) -> Tensor:
        """The Jacobian."""
        return stop_gradient(jacobian(self.function)(x))

    def scaled(self, matrix: Tensor, before: Tensor) -> Tensor:
        """The largest norm that each column has had."""
        return f.maximum(before, f.sqrt((matrix**2).sum(0)))

    def slope(self, p: _Place) -> Tensor:
        return p.residual @ p.matrix

    def step(self, p: _Place, free: Tensor) -> Tensor:
        """The step, and zero for what a bound holds."""
        scale = f.where(p.scale > 0, p.scale, 1.0)
        matrix = f.where(free, p.matrix, 0.0) / scale
        n = matrix.shape[1]
        held = f.where(free, 0.0 if self.undamped else f.sqrt(p.damping), 1.0)
        q, r = linalg.qr(f.concat([matrix, held * f.eye(n, dtype="float64")]))
        right = f.concat([p.residual, f.zeros(n, dtype="float64")]) @ q
        step = -linalg.solve_triangular(r, right[:, None])[:, 0] / scale
        return f.where(free, step * (f.minimum(1.0 / p.damping, 1.0) if self.undamped else 1.0), 0.0)

    def predicted(self, p: _Place, step: Tensor) -> Tensor:
        """The residuals of the linear model after a step."""
        return p.residual + p.matrix @ step


class _Products(_Factored):
    """Steps by conjugate gradients on products with the Jacobian."""

    def matrix(self, x: Tensor) -> Tensor:
        return f.zeros(0, dtype="float64")

    def scaled(self, matrix: Tensor, before: Tensor) -> Tensor:
        return f.ones_like(before)

    def slope(self, p: _Place) -> Tensor:
        return stop_gradient(vjp(self.function, p.x)[1](p.residual)[0])

    def step(self, p: _Place, free: Tensor) -> Tensor:
        def product(v: Tensor) -> Tensor:
            u = f.where(free, v, 0.0)
            pulled = vjp(self.function, p.x)[1](jvp(self.function, (p.x,), (u,))[1])[0]
            return f.where(free, pulled + (0.0 if self.undamped else p.damping) * u, v)

        slope = f.where(free, self.slope(p), 0.0)
        step = conjugate_gradients(lambda v: stop_gradient(product(v)), -slope, 1e-10)
        return f.where(free, step * (f.minimum(1.0 / p.damping, 1.0) if self.undamped else 1.0), 0.0)

    def predicted(self, p: _Place, step: Tensor) -> Tensor:
        return p.residual + stop_gradient(jvp(self.function, (p.x,), (step,))[1])


def _searched(how: _Factored, start: Tensor, tolerance: float, max_steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """The solution, whether it is one, and how many steps were tried. Without damping, 1/damping is the share of the step."""
    first = 1.0 if how.undamped else FIRST_DAMPING
    residual, matrix = stop_gradient(how.function(start)), how.matrix(start)
    zero = f.zeros_like(start)
    scale = how.scaled(matrix, zero)
    place = _Place(start, residual, matrix, scale, f.asarray(first, dtype="float64"), f.asarray(2.0, dtype="float64"),
                   f.asarray(float("inf"), dtype="float64"), f.asarray(0), f.asarray(False))  # fmt: skip

    def going(p: _Place) -> Tensor:
        return ~p.done & (p.tries < max_steps)

    def body(p: _Place) -> _Place:
        before = (p.residual**2).sum()
        free = _free(p.x, how.slope(p), how.low, how.high)
        step = how.step(p, free)
        x = p.x + step
        if how.low is not None:
            x = f.clip(x, how.low, how.high)
            step = x - p.x
        residual = stop_gradient(how.function(x))
        after, expected = (residual**2).sum(), (how.predicted(p, step) ** 2).sum()
        finite = f.isfinite(after) & f.isfinite(expected)
        gain = f.where(finite, (before - after) / f.maximum(before - expected, EPS**2 * before + 1e-300), -1.0)
        length, size = f.sqrt(((p.scale * step) ** 2).sum()), f.sqrt(((p.scale * p.x) ** 2).sum())
        # Close to the solution rounding hides whether the sum falls; there steps are taken as long as they become shorter.
        hidden = finite & (length <= NEAR * size) & (abs(before - after) <= NEAR * before)
        shorter = hidden & (length < 0.9 * p.length)
        falling = finite & (gain > TAKEN) & (after <= before)
        taken = falling | shorter
        gain = f.where(falling, gain, 1.0)
        ended = (hidden & ~shorter & (~falling | (before - after <= 8 * EPS * before))) | (length <= tolerance * size)
        done = finite & (ended | (before == 0))
        eased = p.damping * (0.5 if how.undamped else f.maximum(1 / 3, 1 - (2 * gain - 1) ** 3))
        damping = f.where(taken, f.maximum(eased, 1.0 if how.undamped else LEAST_DAMPING), p.damping * p.growth)
        x, residual = f.where(taken, x, p.x), f.where(taken, residual, p.residual)
        matrix = how.matrix(x)
        growth = f.where(taken, 2.0, p.growth * (1.0 if how.undamped else 2.0))
        done = done | (damping > 1e40)
        length = f.where(taken, length, p.length)
        return _Place(x, residual, matrix, how.scaled(matrix, p.scale), damping, growth, length, p.tries + 1, done)

    last: _Place = while_loop(going, body, place)
    good = last.done & (last.damping <= 1e40) & f.isfinite(last.x).all()
    return last.x, good, last.tries


# Curves -------------------------------------------------------------------------------------------------------------------


def curve_fit(
    function: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    check_finite: bool = True,
    bounds: Any = None,
    method: str | None = None,
    *,
    full_output: bool = False,
    nan_policy: str | None = None,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    max_steps: int = 1000,
    maxfev: int | None = None,
) -> Any:
    """The parameters p with function(xdata, *p) nearest to ydata in least squares, and their covariance, with the arguments of
    `scipy.optimize.curve_fit`.

    `xdata` is anything that the function takes. `p0`: where to begin, ones by default, as many as the function has parameters.
    `sigma`: the standard deviations of ydata, or its covariance matrix; with `absolute_sigma` the result's covariance is by them
    alone, else it is scaled so that the residuals fit. `bounds`: lower and upper, each a number or a list. With `full_output`
    the `Fit` comes third. `method` is one of `least_squares`; SciPy's "lm", "trf" and "dogbox" all mean "levenberg-marquardt".
    `nan_policy="omit"` leaves out points where ydata is NaN, along the last axis of xdata; `maxfev` is SciPy's name of
    `max_steps`. `loss` and `f_scale` are those of `least_squares`: of residuals divided by sigma.

    Quantities of pint (`adjoint[units]`) may be given as xdata, ydata, sigma and in p0: the function is then called with
    quantities, and the parameters come back as quantities with the units of p0; the covariance's numbers are in these units.

    Derivatives as those of `least_squares`. Raises ValueError for data that isn't finite, TypeError where it takes any number of
    parameters and p0 isn't given, RuntimeError where no minimum is found.

    >>> import adjoint as ad
    >>> x = ad.linspace(0, 4, 20)
    >>> y = 2.5 * ad.exp(-1.3 * x) + 0.5
    >>> p, covariance = ad.curve_fit(lambda x, a, b, c: a * ad.exp(-b * x) + c, x, y)
    >>> [round(v, 3) for v in p.tolist()], covariance.shape
    ([2.5, 1.3, 0.5], (3, 3))
    """
    if nan_policy not in (None, "raise", "omit"):
        raise ValueError(f"curve_fit: nan_policy is None, 'raise' or 'omit', got {nan_policy!r}{at_user()}")
    if nan_policy == "omit":
        xdata, ydata, sigma = _without_missing(xdata, ydata, sigma)
    units = _Units(xdata, ydata, sigma, p0)
    start = units.start if p0 is not None else f.ones(_parameters(function), dtype="float64")
    y = _double(units.y)
    if check_finite and not bool(f.isfinite(stop_gradient(y)).all().item()):
        raise ValueError(f"curve_fit: ydata isn't finite everywhere{at_user()}")
    weighed = _weighing(units.sigma, y.shape)

    def residuals(p: Tensor) -> Tensor:
        return weighed(f.reshape(units.plain(function(units.x, *units.parameters(p))) - y, (-1,)))

    own = METHODS[0] if method in (None, *SCIPYS_METHODS) else method
    steps = max_steps if maxfev is None else maxfev
    fit = least_squares(residuals, start, method=own, bounds=bounds, loss=loss, f_scale=f_scale, max_steps=steps)
    if not bool(stop_gradient(fit.success).item()):
        raise RuntimeError(
            f"curve_fit: no minimum was found in {fit.nit.item()} steps from p0; start elsewhere{at_user()}"
        )
    covariance = fit.covariance
    if absolute_sigma:
        freedom = y.size - fit.x.size
        covariance = covariance / (fit.cost / max(freedom, 1))
    found = units.results(fit.x)
    return (found, covariance, fit) if full_output else (found, covariance)


def _without_missing(x: Any, y: Any, sigma: Any) -> tuple[Any, Any, Any]:
    """Data without the points whose y is NaN."""
    kept = f.nonzero(~f.isnan(stop_gradient(_double(getattr(y, "magnitude", y)))))[0].numpy()

    def of(data: Any) -> Any:
        if data is None or not np.ndim(getattr(data, "magnitude", data)):
            return data
        return (np.asarray(data) if isinstance(data, (list, tuple)) else data)[..., kept]

    if sigma is not None and np.ndim(getattr(sigma, "magnitude", sigma)) == 2:
        return of(x), of(y), of(sigma)[kept]
    return of(x), of(y), of(sigma)


def _parameters(function: Callable[..., Any]) -> int:
    given = list(inspect.signature(function).parameters.values())
    if any([p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in given]):
        raise TypeError(f"curve_fit: the function takes any number of parameters; give p0{at_user()}")
    return len(given) - 1


def _weighing(sigma: Any, shape: tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    if sigma is None:
        return lambda r: r
    spread = _double(sigma)
    if spread.ndim == 2 and len(shape) == 1:
        factor = linalg.cholesky(spread)
        return lambda r: linalg.solve_triangular(factor, r[:, None], lower=True)[:, 0]
    if spread.ndim and spread.shape != shape:
        raise ValueError(f"curve_fit: sigma has shape {spread.shape}, ydata {shape}{at_user()}")
    return lambda r: r / f.reshape(f.broadcast_to(spread, shape), (-1,))


class _Units:
    """Quantities of pint as numbers, and back."""

    def __init__(self, x: Any, y: Any, sigma: Any, p0: Any) -> None:
        listed = list(p0) if isinstance(p0, (list, tuple)) else [] if p0 is None else [p0] if _is_quantity(p0) else None
        self.of_parameters = [getattr(p, "units", None) for p in listed or []]
        self.used = _is_quantity(y) or any([u is not None for u in self.of_parameters])
        self.x, self.y, self.sigma = x, y, sigma
        if not self.used:
            self.start = p0
            if isinstance(p0, (list, tuple)):
                self.start = f.stack([_double(p) for p in p0])
            return
        _optional.load("pint", purpose="a fit of quantities", extra="units")
        self.unit = getattr(y, "units", None)
        self.y = getattr(y, "magnitude", y)
        if _is_quantity(x):
            self.x = x.__class__(_double(x.magnitude), x.units)
        if _is_quantity(sigma):
            self.sigma = sigma.to(self.unit).magnitude
        self.start = f.stack([_double(getattr(p, "magnitude", p)) for p in listed or []])

    def parameters(self, p: Tensor) -> list[Any]:
        """What the function is called with."""
        numbers = list(f.unstack(p))
        if not self.used:
            return numbers
        return [n if u is None else _quantity(u, n) for n, u in zip(numbers, self.of_parameters, strict=True)]

    def plain(self, value: Any) -> Tensor:
        """What the function gives, in the units of ydata."""
        if self.used and self.unit is not None:
            if not _is_quantity(value):
                raise TypeError(f"curve_fit: ydata has units, and the function gives numbers without{at_user()}")
            value = value.to(self.unit)
        return f.asarray(getattr(value, "magnitude", value))

    def results(self, p: Tensor) -> Any:
        """The parameters as they were given."""
        return self.parameters(p) if self.used else p


def _without_units(residuals: Callable[..., Any], x0: Any) -> tuple[Callable[..., Any], Any, Callable[[Any], Any]]:
    """Residuals and a starting point as numbers, and what gives a tree like x0 its units back."""
    leaves, structure = tree.flatten(x0)
    units = [x.units if _is_quantity(x) else None for x in leaves]

    def measured(x: Any) -> Any:
        numbers = tree.flatten(x)[0]
        return structure.unflatten([n if u is None else _quantity(u, n) for n, u in zip(numbers, units, strict=True)])

    def plain(r: Any) -> Any:
        return r.to_base_units().magnitude if _is_quantity(r) else r

    if not any([u is not None for u in units]):
        return lambda x, *args: tree.map(plain, residuals(x, *args)), x0, lambda x: x
    start = structure.unflatten([x.magnitude if u is not None else x for x, u in zip(leaves, units, strict=True)])
    return lambda x, *args: tree.map(plain, residuals(measured(x), *args)), start, measured


def _is_quantity(x: Any) -> bool:
    return hasattr(x, "magnitude") and hasattr(x, "units")


def _quantity(unit: Any, number: Tensor) -> Any:
    return unit._REGISTRY.Quantity(number, unit)
