"""The certified nonlinear regressions of NIST's Statistical Reference Datasets."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import adjoint.tensors.functions as f
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor

__all__ = ["REGRESSIONS", "Regression", "regression"]

Array = np.ndarray[Any, Any]


def _exponentials(x: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any) -> Any:
    return b1 * f.exp(-b2 * x) + b3 * f.exp(-b4 * x) + b5 * f.exp(-b6 * x)


def _peaks(x: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any, b7: Any, b8: Any) -> Any:
    return b1 * f.exp(-b2 * x) + b3 * f.exp(-(((x - b4) / b5) ** 2)) + b6 * f.exp(-(((x - b7) / b8) ** 2))


def _cubics(x: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any, b7: Any) -> Any:
    return (b1 + x * (b2 + x * (b3 + x * b4))) / (1 + x * (b5 + x * (b6 + x * b7)))


def _cycles(x: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any, b7: Any, b8: Any, b9: Any) -> Any:
    turn = 2 * math.pi * x
    total = b1
    for period, cosine, sine in ((12, b2, b3), (b4, b5, b6), (b7, b8, b9)):
        total = total + cosine * f.cos(turn / period) + sine * f.sin(turn / period)
    return total


# The models, of x and the parameters. Nelson's response is the logarithm of y.
REGRESSIONS: dict[str, Callable[..., Any]] = {
    "Bennett5": lambda x, b1, b2, b3: b1 * (b2 + x) ** (-1 / b3),
    "BoxBOD": lambda x, b1, b2: b1 * -f.expm1(-b2 * x),
    "Chwirut1": lambda x, b1, b2, b3: f.exp(-b1 * x) / (b2 + b3 * x),
    "Chwirut2": lambda x, b1, b2, b3: f.exp(-b1 * x) / (b2 + b3 * x),
    "DanWood": lambda x, b1, b2: b1 * x**b2,
    "Eckerle4": lambda x, b1, b2, b3: b1 / b2 * f.exp(-0.5 * ((x - b3) / b2) ** 2),
    "ENSO": _cycles,
    "Gauss1": _peaks,
    "Gauss2": _peaks,
    "Gauss3": _peaks,
    "Hahn1": _cubics,
    "Kirby2": lambda x, b1, b2, b3, b4, b5: (b1 + x * (b2 + x * b3)) / (1 + x * (b4 + x * b5)),
    "Lanczos1": _exponentials,
    "Lanczos2": _exponentials,
    "Lanczos3": _exponentials,
    "MGH09": lambda x, b1, b2, b3, b4: b1 * (x**2 + x * b2) / (x**2 + x * b3 + b4),
    "MGH10": lambda x, b1, b2, b3: b1 * f.exp(b2 / (x + b3)),
    "MGH17": lambda x, b1, b2, b3, b4, b5: b1 + b2 * f.exp(-x * b4) + b3 * f.exp(-x * b5),
    "Misra1a": lambda x, b1, b2: b1 * -f.expm1(-b2 * x),
    "Misra1b": lambda x, b1, b2: b1 * (1 - (1 + b2 * x / 2) ** -2),
    "Misra1c": lambda x, b1, b2: b1 * (1 - (1 + 2 * b2 * x) ** -0.5),
    "Misra1d": lambda x, b1, b2: b1 * b2 * x / (1 + b2 * x),
    "Nelson": lambda x, b1, b2, b3: b1 - b2 * x[0] * f.exp(-b3 * x[1]),
    "Rat42": lambda x, b1, b2, b3: b1 / (1 + f.exp(b2 - b3 * x)),
    "Rat43": lambda x, b1, b2, b3, b4: b1 / (1 + f.exp(b2 - b3 * x)) ** (1 / b4),
    "Roszman1": lambda x, b1, b2, b3, b4: b1 - b2 * x - f.atan(b3 / (x - b4)) / math.pi,
    "Thurber": _cubics,
}


class Regression(NamedTuple):
    """One of the regressions: data, a model of x and the parameters, two starts, and what is certified to 11 digits.

    >>> import adjoint as ad
    >>> ad.data.regression("Misra1a").certified.shape
    (2,)
    """

    name: str
    model: Callable[..., Tensor]
    x: Any
    y: Array
    starts: tuple[Array, Array]  # far from the solution, and near
    certified: Array
    deviations: Array  # the certified standard deviations of the parameters
    squares: float  # the certified sum of squares of the residuals


def regression(name: str) -> Regression:
    """A regression by its name, one of `REGRESSIONS`, as float64.

    From the Statistical Reference Datasets of the National Institute of Standards and Technology, USA (public domain):
    https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml. Raises ValueError for another name.

    >>> import adjoint as ad
    >>> r = ad.data.regression("Misra1a")
    >>> p, covariance = ad.curve_fit(r.model, r.x, r.y, r.starts[1])
    >>> bool(abs(p.numpy() / r.certified - 1).max() < 1e-8)
    True
    """
    if name not in REGRESSIONS:
        raise ValueError(f"regression: there are {', '.join(REGRESSIONS)}, got {name!r}{at_user()}")
    rows = _read()[name]
    x = [row for label, row in rows if label == "x"]
    (y,) = [row for label, row in rows if label == "y"]
    table = {label: row for label, row in rows if label not in "xy"}
    return Regression(
        name, REGRESSIONS[name], x[0] if len(x) == 1 else np.stack(x), np.log(y) if name == "Nelson" else y,
        (table["start1"], table["start2"]), table["certified"], table["deviations"], float(table["sum"][0]),
    )  # fmt: skip


@functools.cache
def _read() -> dict[str, list[tuple[str, Array]]]:
    found: dict[str, list[tuple[str, Array]]] = {}
    for line in Path(__file__).with_name("nist.txt").read_text().splitlines():
        label, *numbers = line.split()
        if label == "#":
            rows = found.setdefault(numbers[0], [])
        else:
            rows.append((label, np.array(numbers, np.float64)))
    return found
