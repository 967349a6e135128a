"""IPOPT by cyipopt: an interior point method with sparse Jacobians and the sparse Hessian of the Lagrangian.

A. Wächter and L. Biegler, "On the implementation of an interior-point filter line-search algorithm" (Math. Programming 106,
2006).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import _optional
from adjoint.scipy.evaluating import compiled, module, sparse_derivative
from adjoint.sparse.derivatives import sparse_hessian, sparse_jacobian
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import grad

__all__ = ["by_ipopt"]

Array = np.ndarray[Any, Any]
Flat = Callable[[Tensor], Tensor]
FAR = 1e19  # what IPOPT takes for no bound
ENDED_WELL = (0, 1)  # solved, or solved to an acceptable level


class _Problem:
    """What cyipopt calls."""

    def __init__(self, objective: Flat, start: Array, constraints: list[tuple[str, Flat]]) -> None:
        def together(v: Tensor) -> Tensor:
            return f.concat([flat(v) for _, flat in constraints])

        def lagrangian(v: Tensor, multipliers: Tensor, factor: Tensor) -> Tensor:
            whole = factor * objective(v)
            return whole + (together(v) * multipliers).sum() if constraints else whole

        self._objective, self._gradient = compiled(objective), compiled(grad(objective))
        self.counts = [np.asarray(compiled(flat)(start)).size for _, flat in constraints]
        self._constraints = compiled(together) if constraints else None
        self._hessian = sparse_derivative(sparse_hessian(lagrangian))
        first = self._hessian(start, np.ones(sum(self.counts)), np.ones(())).tocoo()
        self._lower = first.row >= first.col
        self._rows, self._columns = first.row[self._lower], first.col[self._lower]
        if constraints:
            self._jacobian = sparse_derivative(sparse_jacobian(together))
            self._structure = self._jacobian(start).tocoo()

    def objective(self, x: Array) -> float:
        return float(self._objective(x))

    def gradient(self, x: Array) -> Any:
        return self._gradient(x)

    def constraints(self, x: Array) -> Any:
        return np.zeros(0) if self._constraints is None else self._constraints(x)

    def jacobianstructure(self) -> Any:
        return (self._structure.row, self._structure.col) if self.counts else (np.zeros(0, int), np.zeros(0, int))

    def jacobian(self, x: Array) -> Any:
        return self._jacobian(x).data if self.counts else np.zeros(0)

    def hessianstructure(self) -> Any:
        return self._rows, self._columns

    def hessian(self, x: Array, multipliers: Array, factor: float) -> Any:
        return self._hessian(x, multipliers, np.array(factor)).data[self._lower]


def by_ipopt(
    objective: Flat, start: Array, limits: Any, constraints: list[tuple[str, Flat]], tol: float | None, options: dict[str, Any]
) -> Any:  # fmt: skip
    """The minimum as SciPy's result. Raises ImportError that names the extra."""
    package = _optional.load("cyipopt", purpose="scipy.minimize with IPOPT", extra="ipopt")
    problem = _Problem(objective, start, constraints)
    low, high = limits if limits is not None else (np.full(start.size, -np.inf), np.full(start.size, np.inf))
    upper = [np.full(n, 0.0 if kind == "eq" else FAR) for n, (kind, _) in zip(problem.counts, constraints, strict=True)]
    above = np.concatenate([np.zeros(0), *upper])
    solver = package.Problem(
        n=start.size, m=above.size, problem_obj=problem, lb=np.maximum(low, -FAR), ub=np.minimum(high, FAR),
        cl=np.zeros(above.size), cu=above,
    )  # fmt: skip
    asked = {"print_level": 0, "sb": "yes", **options.pop("options", {})}
    if tol is not None:
        asked["tol"] = tol
    if options:
        raise TypeError(f"minimize: IPOPT takes options={{...}}, not {', '.join(options)}")
    for name, value in asked.items():
        solver.add_option(name, value)
    x, info = solver.solve(start)
    return module("optimize", "minimize").OptimizeResult(
        x=x, fun=info["obj_val"], success=info["status"] in ENDED_WELL, status=info["status"],
        message=str(info["status_msg"]), multipliers=info["mult_g"],
    )  # fmt: skip
