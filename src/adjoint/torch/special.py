"""torch.special: the core's special functions under PyTorch's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint import special as core_special
from adjoint.dtypes import default_dtype
from adjoint.graph import Node
from adjoint.primitives.core import cast
from adjoint.primitives.special import scipy_function
from adjoint.tensors import functions as core
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import at_user

from ._elementwise import made
from ._missing import getter
from ._names import FUNCTIONS, recorded_at_user
from ._operators import FLOATING, binary_node
from ._tensor import Core

__all__: list[str] = []

# functions of one tensor: PyTorch's name, the core's
ONE: dict[str, Any] = {
    "entr": core_special.entr, "erfcx": core_special.erfcx, "i0e": core_special.i0e, "i1": core_special.i1,
    "i1e": core_special.i1e, "log_ndtr": core_special.log_ndtr, "ndtr": core_special.ndtr, "ndtri": core_special.ndtri,
    "bessel_j0": lambda x: core_special.jv(0, x), "bessel_j1": lambda x: core_special.jv(1, x),
    "bessel_y0": lambda x: core_special.yv(0, x), "bessel_y1": lambda x: core_special.yv(1, x),
    "modified_bessel_i0": core_special.i0, "modified_bessel_i1": core_special.i1,
    "modified_bessel_k0": lambda x: core_special.kv(0, x), "modified_bessel_k1": lambda x: core_special.kv(1, x),
    "scaled_modified_bessel_k0": core_special.k0e,
    "scaled_modified_bessel_k1": core_special.k1e,
    "spherical_bessel_j0": lambda x: core_special.sinc(x / math.pi),
}  # fmt: skip
# names of functions of torch itself
SAME = {
    "digamma": "digamma", "psi": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2", "expit": "sigmoid",
    "expm1": "expm1", "gammaln": "lgamma", "i0": "i0", "log1p": "log1p", "log_softmax": "log_softmax", "logit": "logit",
    "logsumexp": "logsumexp", "multigammaln": "mvlgamma", "polygamma": "polygamma", "round": "round", "sinc": "sinc",
    "softmax": "softmax", "xlogy": "xlogy", "gammainc": "igamma", "gammaincc": "igammac",
}  # fmt: skip


def _floating(x: Any) -> Any:
    if not isinstance(x, Core):
        return core.tensor(float(x))
    return x if x.dtype.inexact else core.astype(x, default_dtype())


def _public(name: str, f: Any) -> None:
    f.__name__ = name
    f.__doc__ = f"`special.{name}`, elementwise."
    globals()[name] = FUNCTIONS[f"special.{name}"] = recorded_at_user(f)
    __all__.append(name)


def _of_one(f: Any) -> Any:
    return lambda input: f(_floating(input))


for _name, _f in ONE.items():
    _public(_name, _of_one(_f))
for _name, _there in SAME.items():
    globals()[_name] = FUNCTIONS[f"special.{_name}"] = FUNCTIONS[_there]
    __all__.append(_name)


def _of_two(f: Any) -> Any:
    def computed(a: Any, b: Any) -> Any:
        kinds = [x.dtype for x in (a, b) if isinstance(x, Node) and x.dtype.inexact]
        kind = kinds[0] if kinds else default_dtype()
        return f(*(made(cast(x, kind) if isinstance(x, Node) else as_node(x, kind)) for x in (a, b))).node

    FLOATING.add(computed)
    return lambda input, other: made(binary_node(f.__name__, computed, input, other))


_public("xlog1py", _of_two(core_special.xlog1py))
_public("zeta", _of_two(core_special.zeta))


def _airy_ai(input: Any) -> Any:
    x = _floating(input)
    if x.requires_grad:
        raise RuntimeError(
            f"special.airy_ai: it has no derivative, here as in PyTorch; detach() its argument{at_user()}"
        )
    return core.tensor(np.asarray(scipy_function("airy")(x.numpy())[0]))


_public("airy_ai", _airy_ai)


def _recurrence(name: str, first: Any, step: Any, shifted: bool = False) -> None:
    """An orthogonal polynomial of degree n by its recurrence; n are whole numbers."""

    def called(input: Any, n: Any) -> Any:
        x = _floating(input)
        y = 2 * x - 1 if shifted else x
        degrees = np.asarray(n.detach().numpy() if isinstance(n, Core) else n).astype(np.int64)
        terms = [
            core.ones_like(y) if not isinstance(n, Core) else core.ones_like(y + 0 * core.astype(n, y.dtype)),
            None,
        ]
        terms[1] = first(y) * terms[0]
        top = int(degrees.max()) if degrees.size else 0
        out = terms[0] * core.tensor((degrees == 0).astype(np.float64), dtype=y.dtype)
        for k in range(1, top + 1):
            if k > 1:
                terms = [terms[1], step(k, y, terms[1], terms[0])]
            out = core.where(core.tensor(degrees == k), terms[1], out)
        return out

    _public(name, called)


def _doubled(k: int, x: Any, a: Any, b: Any) -> Any:
    return 2 * x * a - b


for _prefix, _shifted in (("", False), ("shifted_", True)):
    for _letter, _first in (
        ("t", lambda x: x), ("u", lambda x: 2 * x), ("v", lambda x: 2 * x - 1), ("w", lambda x: 2 * x + 1)
    ):  # fmt: skip
        _recurrence(f"{_prefix}chebyshev_polynomial_{_letter}", _first, _doubled, _shifted)
_recurrence("hermite_polynomial_h", lambda x: 2 * x, lambda k, x, a, b: 2 * x * a - 2 * (k - 1) * b)
_recurrence("hermite_polynomial_he", lambda x: x, lambda k, x, a, b: x * a - (k - 1) * b)
_recurrence("laguerre_polynomial_l", lambda x: 1 - x, lambda k, x, a, b: ((2 * k - 1 - x) * a - (k - 1) * b) / k)
_recurrence("legendre_polynomial_p", lambda x: x, lambda k, x, a, b: ((2 * k - 1) * x * a - (k - 1) * b) / k)

__getattr__ = getter("torch.special", globals())
