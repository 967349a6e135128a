"""One step of a method for ordinary differential equations: the new state, its error, and what interpolates inside the step.

A function here is f(y, t) on vectors. Coefficients: E. Hairer, S. Nørsett and G. Wanner, "Solving Ordinary Differential
Equations I" (1993), table II.5.2, with the interpolant of L. Shampine (Math. Comp. 46, 1986); E. Hairer and G. Wanner,
"... II" (1996), the method RODAS of section IV.7, in the form without products by the Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import adjoint.tensors.functions as f
from adjoint import linalg
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import jvp
from adjoint.transforms.jacobians import jacfwd

__all__ = ["METHODS", "Method", "Step", "dormand_prince", "rodas", "runge_kutta"]

Field = Callable[[Tensor, Tensor], Tensor]


class Step(NamedTuple):
    """A step from t over h.

    y       the state at its end
    slope   f there, if the method knows it, else what it was given
    error   an estimate of the error
    curve   (d, n): the state at a part p of the step is the polynomial in p with these coefficients, lowest first
    """

    y: Tensor
    slope: Tensor
    error: Tensor
    curve: Tensor


class Method(NamedTuple):
    """A method with error control: `order` of the error estimate, number of coefficients of `curve`."""

    step: Callable[[Field, Tensor, Tensor, Tensor, Tensor], Step]
    order: int
    coefficients: int


def runge_kutta(field: Field, y: Tensor, t: Tensor, h: Tensor) -> Tensor:
    """The classical step of order 4 (W. Kutta, 1901)."""
    a = field(y, t)
    b = field(y + h / 2 * a, t + h / 2)
    c = field(y + h / 2 * b, t + h / 2)
    d = field(y + h * c, t + h)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
WEIGHTS = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)
ERRORS = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
CURVE = (  # of p, p², p³, p⁴, for the seven stages
    (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)


def _combined(weights: tuple[float, ...], slopes: list[Tensor]) -> Tensor:
    parts = [w * k for w, k in zip(weights, slopes, strict=False) if w != 0.0]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def dormand_prince(field: Field, y: Tensor, slope: Tensor, t: Tensor, h: Tensor) -> Step:
    """Order 5 with an estimate of order 4 (J. Dormand and P. Prince, 1980); the last slope is the next step's first."""
    slopes = [slope]
    for node, row in zip(NODES[1:], STAGES[1:], strict=True):
        slopes.append(field(y + h * _combined(row, slopes), t + node * h))
    new = y + h * _combined(WEIGHTS, slopes)
    slopes.append(field(new, t + h))
    error = h * _combined(ERRORS, slopes)
    curve = f.stack([y, *[h * _combined(column, slopes) for column in zip(*CURVE, strict=True)]])
    return Step(new, slopes[-1], error, curve)


GAMMA = 0.25
TIMES = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
BY_TIME = (0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0)
A = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0),
)
C = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)
INSIDE = (
    (10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662),
    (-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872),
)


def rodas(field: Field, y: Tensor, slope: Tensor, t: Tensor, h: Tensor) -> Step:
    """Order 4 with an estimate of order 3, for stiff equations: L-stable, and linear systems with one matrix in place of
    nonlinear ones, for which the exact Jacobian is made."""
    jacobian = jacfwd(lambda v: field(v, t))(y)
    by_time = jvp(lambda s: field(y, s), (t,), (f.ones_like(t),))[1]
    factors = linalg.lu_factor(f.eye(y.shape[0], dtype=y.dtype) / (h * GAMMA) - jacobian)
    stages: list[Tensor] = []
    for i in range(6):
        value = slope if i == 0 else field(y + _combined(A[i], stages), t + TIMES[i] * h)
        if i:
            value = value + _combined(C[i], stages) / h
        stages.append(linalg.lu_solve(factors, value + (BY_TIME[i] * h) * by_time if BY_TIME[i] else value))
    new = y + _combined(A[5], stages) + stages[5]
    second, third = _combined(INSIDE[0], stages), _combined(INSIDE[1], stages)
    curve = f.stack([y, new - y + second, third - second, -third])
    return Step(new, field(new, t + h), stages[5], curve)


METHODS = {"dopri5": Method(dormand_prince, 4, 5), "rodas4": Method(rodas, 3, 4)}


def initial_length(
    field: Field, y: Tensor, slope: Tensor, t: Tensor, span: Tensor, order: int, scale: Tensor
) -> Tensor:
    """A first step length with the sign of `span` (Hairer, Nørsett and Wanner, section II.4)."""
    sign = f.sign(span)
    d0, d1 = size(y / scale), size(slope / scale)
    guess = f.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / f.where(d1 > 0, d1, 1.0))
    guess = f.minimum(guess, abs(span))
    there = field(y + sign * guess * slope, t + sign * guess)
    d2 = size((there - slope) / scale) / f.where(guess > 0, guess, 1.0)
    largest = f.maximum(d1, d2)
    better = f.where(
        largest <= 1e-15,
        f.maximum(1e-6, guess * 1e-3),
        (0.01 / f.where(largest > 0, largest, 1.0)) ** (1 / (order + 1)),
    )
    return sign * f.minimum(f.minimum(100 * guess, better), abs(span))


def size(x: Tensor) -> Tensor:
    """The root of the mean square."""
    return f.sqrt((x * x).sum() / np.float64(max(x.size, 1)).item())
