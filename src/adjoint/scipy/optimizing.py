"""Minima, least squares and roots by SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import tree
from adjoint.scipy.evaluating import Unknowns, WithGradient, compiled, module, sparse_derivative, told, with_values
from adjoint.scipy.ipopt import by_ipopt
from adjoint.solvers.implicit import determined
from adjoint.solvers.robust import LOSSES
from adjoint.sparse.derivatives import sparse_hessian, sparse_jacobian
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import grad, stop_gradient, value_and_grad
from adjoint.transforms.jacobians import hessian, hvp, jacobian
from adjoint.transforms.ravel import ravel_tree

__all__ = ["least_squares", "minimize", "root"]

WITHOUT = ("nelder-mead", "powell", "cobyla", "cobyqa")  # methods that take no gradient
BY_MATRIX = ("trust-exact", "dogleg")
BY_PRODUCT = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
SMALL = 64  # unknowns up to which a Hessian is made as a whole where a method takes either


@with_values("ad.minimize")
def minimize(
    function: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    method: str | None = None,
    *,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    sparse: bool = False,
    **options: Any,
) -> Any:
    """`scipy.optimize.minimize` of function(x, *args), one number, over a tree x of tensors near x0.

    Gradients, Hessians and products are made here, as the method asks for them. `bounds` is a pair of trees like x0, or of
    numbers, or SciPy's own; `constraints` is a list of dictionaries {"type": "eq" or "ineq", "fun": g}, as SciPy's, where g(x,
    *args) returns tensors that are 0, or at least 0, or of SciPy's LinearConstraint and NonlinearConstraint. Further keywords are
    SciPy's (`options=`, `callback=`). Two pairs of bounds for two unknowns are those of each, as SciPy reads them.

    With `sparse` the Hessians and the constraints' Jacobians are sparse (`ad.sparse_hessian`, `ad.sparse_jacobian`), for
    method="trust-constr"; method="ipopt" always takes them so, with the Hessian of the Lagrangian: it needs `adjoint[ipopt]`,
    which pip builds from source beside an IPOPT library with headers (conda-forge has cyipopt built), and `options` are IPOPT's.

    Gives SciPy's result; its `x` is a tree like x0, and `x` and `fun` differentiate by `args` and by what the function reads from
    outside. At the solution bounds and inequalities that hold with equality are equations with multipliers; the others
    don't count. The derivative is NaN where SciPy reports no success.

    >>> import adjoint as ad
    >>> valley = lambda x, a: (a - x["p"]) ** 2 + 10 * (x["q"] - x["p"] ** 2) ** 2
    >>> best = lambda a: ad.scipy.minimize(valley, {"p": 0.0, "q": 0.0}, (a,)).x["q"]
    >>> round(ad.grad(best)(2.0).item(), 3)
    4.0
    """
    unknowns = Unknowns(x0, tuple(args))
    objective = unknowns.single(function)
    name = (method or ("slsqp" if _listed(constraints) else "l-bfgs-b" if bounds is not None else "bfgs")).lower()
    limits = _limits(unknowns, bounds)
    given = [c for constraint in _listed(constraints) for c in _constraints(unknowns, constraint)]
    keywords = dict(options)
    _refuse_derivatives("minimize", keywords)
    if name == "ipopt":
        result = by_ipopt(objective, unknowns.start, limits, [(c.kind, c.flat) for c in given], tol, keywords)
        x = _at_minimum(result, objective, limits, given)
        return told(result, x=unknowns.unravel(x), fun=objective(x))
    if name in WITHOUT:
        number = compiled(objective)
        value = lambda v: float(number(v))  # noqa: E731
    else:
        both = WithGradient(compiled(value_and_grad(objective)))
        value, keywords["jac"] = both.value, both.gradient
    if sparse and name == "trust-constr":
        keywords["hess"] = sparse_derivative(sparse_hessian(objective))
    elif name in BY_MATRIX or (name in BY_PRODUCT and unknowns.start.size <= SMALL):
        keywords["hess"] = compiled(hessian(objective))
    elif name in BY_PRODUCT:
        keywords["hessp"] = compiled(lambda v, p: hvp(objective, v, p))
    result = module("optimize", "minimize").minimize(
        value,
        unknowns.start,
        method=name,
        tol=tol,
        bounds=None if limits is None else list(zip(*limits, strict=True)),
        constraints=[c.with_curvature(sparse) if name == "trust-constr" else c.for_scipy() for c in given],
        **keywords,
    )
    x = _at_minimum(result, objective, limits, given)
    return told(result, x=unknowns.unravel(x), fun=objective(x))


def _listed(constraints: Any) -> list[Any]:
    return [constraints] if isinstance(constraints, dict) or hasattr(constraints, "lb") else list(constraints)


def _refuse_derivatives(name: str, keywords: dict[str, Any]) -> None:
    for given in ("jac", "hess", "hessp"):
        if keywords.get(given) is not None:
            raise TypeError(
                f"{name}: derivatives are worked out here, leave out {given}=; scipy.optimize.{name} takes a function as it "
                f"is, with jac=ad.grad(f){at_user()}"
            )


def _limits(unknowns: Unknowns, bounds: Any, by_unknown: bool = True) -> tuple[Any, Any] | None:
    """Lower and upper bounds as vectors. `by_unknown`: whether two pairs for two unknowns are those of each, as in SciPy's
    `minimize`."""
    if bounds is None:
        return None
    n = unknowns.start.size
    if hasattr(bounds, "lb"):
        pair = bounds.lb, bounds.ub
    elif isinstance(bounds, (tuple, list)) and len(bounds) == 2 and not (by_unknown and n == 2 and _pairs(bounds)):
        pair = bounds[0], bounds[1]
    else:
        pair = tuple(zip(*bounds, strict=True))  # type: ignore[assignment]
    low, high = (_side(unknowns, side, end) for side, end in zip(pair, (-np.inf, np.inf), strict=True))
    return low, high


def _side(unknowns: Unknowns, side: Any, infinite: float) -> Any:
    """One bound of each number, of one for all, one for each leaf, or one for each number; None is no bound."""
    side = infinite if side is None else side
    if isinstance(side, (tuple, list)):
        side = [infinite if x is None else x for x in side]
    leaves, structure = tree.flatten(unknowns.whole)
    given, theirs = tree.flatten(side)
    single = len(given) == 1 and not isinstance(side, (tuple, list, dict)) and np.ndim(given[0]) == 0
    if single or theirs == structure:
        given = given * len(leaves) if single else given
        given = [f.broadcast_to(f.asarray(x).astype("float64"), y.shape) for x, y in zip(given, leaves, strict=True)]
    vector = np.asarray(ravel_tree(tree.map(stop_gradient, given))[0], np.float64)
    if vector.size != unknowns.start.size:
        raise ValueError(f"minimize: {vector.size} bounds for {unknowns.start.size} unknowns{at_user()}")
    return vector


def _pairs(bounds: Any) -> bool:
    return all([isinstance(b, (tuple, list)) and len(b) == 2 for b in bounds])


def _constraints(unknowns: Unknowns, given: Any) -> list[_Constraint]:
    """A constraint as equations and inequalities."""
    if isinstance(given, dict) and given.get("type") in ("eq", "ineq") and callable(given.get("fun")):
        return [_Constraint(given["type"], unknowns.flat(given["fun"], given.get("args")))]
    if hasattr(given, "lb") and hasattr(given, "A"):
        return _between(unknowns, lambda v: given.A @ v, given.lb, given.ub)
    if hasattr(given, "lb") and callable(getattr(given, "fun", None)):
        return _between(unknowns, unknowns.flat(given.fun), given.lb, given.ub)
    raise TypeError(
        f'minimize: a constraint is a dictionary {{"type": "eq" or "ineq", "fun": function}}, or SciPy\'s LinearConstraint or '
        f"NonlinearConstraint, got {given!r}{at_user()}"
    )


def _between(unknowns: Unknowns, flat: Callable[[Tensor], Tensor], low: Any, high: Any) -> list[_Constraint]:
    """Values between bounds: equations where these are equal, else an inequality for each that is finite."""
    count = compiled(flat)(unknowns.start).size
    low, high = (np.broadcast_to(np.asarray(x, np.float64), (count,)) for x in (low, high))
    equal, above, below = low == high, np.isfinite(low) & (low != high), np.isfinite(high) & (low != high)

    def part(where: Any, bound: Any, sign: float) -> Callable[[Tensor], Tensor]:
        rows = np.flatnonzero(where)
        return lambda v: sign * (f.take(flat(v), f.asarray(rows), axis=0) - f.asarray(bound[rows]))

    parts = [("eq", equal, low, 1.0), ("ineq", above, low, 1.0), ("ineq", below, high, -1.0)]
    return [_Constraint(kind, part(where, bound, sign)) for kind, where, bound, sign in parts if where.any()]


class _Constraint:
    """An equation, values that are 0, or an inequality, values of at least 0."""

    def __init__(self, kind: str, flat: Callable[[Tensor], Tensor]) -> None:
        self.kind, self.flat = kind, flat

    def with_curvature(self, sparse: bool) -> Any:
        """With its Jacobian, and the Hessian of its sum by multipliers."""
        weighed = lambda v, m: (self.flat(v) * m).sum()  # noqa: E731
        jac = sparse_derivative(sparse_jacobian(self.flat)) if sparse else compiled(jacobian(self.flat))
        hess = sparse_derivative(sparse_hessian(weighed)) if sparse else compiled(hessian(weighed))
        upper = 0.0 if self.kind == "eq" else np.inf
        return module("optimize", "minimize").NonlinearConstraint(compiled(self.flat), 0.0, upper, jac=jac, hess=hess)

    def for_scipy(self) -> dict[str, Any]:
        """With its Jacobian."""
        return {"type": self.kind, "fun": compiled(self.flat), "jac": compiled(jacobian(self.flat))}


NEAR = 1e-6  # how close to a bound, or to equality, counts as being there


def _at_minimum(result: Any, objective: Any, limits: Any, constraints: list[_Constraint]) -> Tensor:
    """The minimum, determined by the conditions of W. Karush, H. Kuhn and A. Tucker with what holds with equality."""
    found = np.asarray(result.x, np.float64)
    n = found.size
    free = np.ones(n, bool)
    if limits is not None:
        room = NEAR * (1 + np.abs(found))
        free = (found - limits[0] > room) & (limits[1] - found > room)
    equations = _active(constraints, found)
    where = np.flatnonzero(free)
    slope = grad(objective)

    def whole(inner: Tensor) -> Tensor:
        fixed = f.asarray(np.where(free, 0.0, found))
        return fixed if not where.size else f.scatter_add(fixed, where, inner)

    def conditions(z: Tensor) -> Tensor:
        x = whole(z[: where.size])
        residual = f.take(slope(x), f.asarray(where), axis=0)
        if equations is None:
            return residual
        values = equations(x)
        pulled = grad(lambda v: (equations(v) * z[where.size :]).sum())(x)
        return f.concat([residual - f.take(pulled, f.asarray(where), axis=0), values])

    start = found[free]
    if equations is not None:
        normals = np.asarray(compiled(jacobian(equations))(found))[:, where]
        gradient = np.asarray(compiled(slope)(found))[where]
        start = np.concatenate([start, np.linalg.lstsq(normals.T, gradient, rcond=None)[0]])
    spoiled = 0.0 if result.success else np.nan
    return whole(determined(f.asarray(start), lambda z: conditions(z) + spoiled * z)[: where.size])


def _active(constraints: list[_Constraint], found: Any) -> Callable[[Tensor], Tensor] | None:
    """The constraints that hold with equality at the solution, as one vector; None without any."""
    parts = []
    for c in constraints:
        values = np.asarray(compiled(c.flat)(found))
        near = np.flatnonzero((np.abs(values) <= NEAR * 10) | (c.kind == "eq"))
        if near.size:
            parts.append((c.flat, near))
    if not parts:
        return None
    return lambda x: f.concat([f.take(flat(x), f.asarray(near), axis=0) for flat, near in parts])


@with_values("ad.least_squares")
def least_squares(
    function: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    bounds: Any = None,
    method: str = "trf",
    **options: Any,
) -> Any:
    """`scipy.optimize.least_squares` of the residuals function(x, *args), a tree of tensors, over a tree x near x0.

    The Jacobian is made here. `bounds` is a pair of trees like x0 or of numbers. Gives SciPy's result; its `x` is a tree like x0
    and differentiates by `args` and by what the function reads from outside; so does `fun`, the residuals. Also with a robust
    `loss`, one of SciPy's names: a function as loss is a TypeError.

    >>> import adjoint as ad
    >>> t, y = ad.arange(3, dtype="float64"), ad.tensor([1.0, 3.0, 5.0], dtype="float64")
    >>> line = lambda p, y: p["slope"] * t + p["offset"] - y
    >>> fitted = lambda y: ad.scipy.least_squares(line, {"slope": 1.0, "offset": 0.0}, (y,)).x["slope"]
    >>> ad.grad(fitted)(y)[2]
    Tensor(0.5, dtype=float64)
    """
    _refuse_derivatives("least_squares", options)
    robust = LOSSES.get(options.get("loss", "linear"))
    if robust is None:
        raise TypeError(
            f"least_squares: loss is one of {', '.join(map(repr, LOSSES))}, whose result differentiates, got "
            f"{options['loss']!r}{at_user()}"
        )
    scale = float(options.get("f_scale", 1.0))
    unknowns = Unknowns(x0, tuple(args))
    residuals = unknowns.flat(function)
    limits = _limits(unknowns, bounds, by_unknown=False)
    result = module("optimize", "least_squares").least_squares(
        compiled(residuals),
        unknowns.start,
        jac=compiled(jacobian(residuals)),
        method=method,
        bounds=(-np.inf, np.inf) if limits is None else limits,
        **options,
    )
    x = _at_minimum(result, lambda v: robust((residuals(v) / scale) ** 2).sum() / 2, limits, [])
    return told(result, x=unknowns.unravel(x), fun=function(unknowns.unravel(x), *args))


@with_values("ad.root")
def root(
    function: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    method: str = "hybr",
    *,
    tol: float | None = None,
    **options: Any,
) -> Any:
    """`scipy.optimize.root` of function(x, *args), a tree of as many numbers as the tree x, near x0.

    The Jacobian is made here, for the methods that take one. Gives SciPy's result; its `x` is a tree like x0 and differentiates
    by `args` and by what the function reads from outside. The derivative is NaN where SciPy reports no success.

    >>> import adjoint as ad
    >>> ad.grad(lambda a: ad.scipy.root(lambda x, a: x**2 - a, 1.0, (a,)).x)(4.0)
    Tensor(0.25)
    """
    unknowns = Unknowns(x0, tuple(args))
    residuals = unknowns.flat(function)
    keywords = dict(options)
    if method in ("hybr", "lm"):
        keywords["jac"] = compiled(jacobian(residuals))
    result = module("optimize", "root").root(compiled(residuals), unknowns.start, method=method, tol=tol, **keywords)
    spoiled = 0.0 if result.success else np.nan
    x = determined(f.asarray(np.asarray(result.x, np.float64)), lambda v: residuals(v) + spoiled * v)
    return told(result, x=unknowns.unravel(x), fun=function(unknowns.unravel(x), *args))
