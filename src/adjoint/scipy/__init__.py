"""SciPy's solvers of functions of tensors, with exact derivatives worked out here, and results that differentiate.

`minimize`, `least_squares`, `root`, `solve_ivp` and `quad` call SciPy's functions of these names. They are given functions of
trees of tensors, where a list of numbers is an array; Jacobians, Hessians and products are made of these, and every evaluation
is one call of a compiled graph.
Results are SciPy's, with tensors in them that differentiate by `args` and by what the function reads from outside: by the
implicit function theorem, or the adjoint equation. Needs the extra `adjoint[science]`.

SciPy's own functions take functions made by adjoint too (`scipy.optimize.minimize(f, x0, jac=ad.grad(f))`).
"""

from __future__ import annotations

from adjoint.hints import hinted_module
from adjoint.scipy.integrating import quad, solve_ivp
from adjoint.scipy.optimizing import least_squares, minimize, root

__all__ = ["least_squares", "minimize", "quad", "root", "solve_ivp"]


__getattr__ = hinted_module("adjoint.scipy")
