"""What a tensor looks like in print: PyTorch's layout of numbers, with its options."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.dtypes import default_dtype
from adjoint.graph import topological
from adjoint.primitives.core import is_traced
from adjoint.tensors.text import describe

if TYPE_CHECKING:
    from ._tensor import Tensor

__all__ = ["DEFAULT", "OPTIONS", "PROFILES", "printed"]

DEFAULT: dict[str, Any] = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
PROFILES = {
    "default": DEFAULT,
    "short": {**DEFAULT, "precision": 2, "edgeitems": 2},
    "full": {**DEFAULT, "threshold": sys.maxsize},
}
OPTIONS = dict(DEFAULT)
START = "tensor("


class Real:
    """How the numbers of one array are written: all of one width, as whole numbers, with digits, or with exponents."""

    def __init__(self, a: Any) -> None:
        self.floating = a.dtype.kind == "f"
        self.whole = self.exponents = False
        self.width = 1
        if not self.floating:
            self.width = max([len(str(x)) for x in a.ravel().tolist()], default=1)
            return
        seen = a[np.isfinite(a) & (a != 0)].astype(np.float64)
        if not seen.size:
            self.whole = True
            return
        least, most = float(np.abs(seen).min()), float(np.abs(seen).max())
        self.whole = bool((seen == np.ceil(seen)).all())
        self.exponents = most / least > 1000.0 or most > 1e8 or (not self.whole and least < 1e-4)
        if OPTIONS["sci_mode"] is not None:
            self.exponents = OPTIONS["sci_mode"]
        self.width = max(len(self.bare(x)) for x in seen.tolist())

    def bare(self, x: Any) -> str:
        """One number, as long as it is."""
        if not self.floating:
            return str(x)
        if self.exponents:
            return f"{x:.{OPTIONS['precision']}e}"
        if self.whole:
            return f"{x:.0f}." if math.isfinite(x) else f"{x:.0f}"
        return f"{x:.{OPTIONS['precision']}f}"

    def __call__(self, x: Any) -> str:
        return self.bare(x).rjust(self.width)


class Complex:
    """How complex numbers are written: real and imaginary parts each in a way of their own."""

    def __init__(self, a: Any) -> None:
        self.real, self.imag = Real(a.real), Real(a.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, x: complex) -> str:
        imag = self.imag(x.imag).lstrip()
        return f"{self.real(x.real)}{'' if imag[0] in '+-' else '+'}{imag}j"


def _ends(a: Any) -> Any:
    """The elements that are shown of an array with too many."""
    edge = OPTIONS["edgeitems"]
    for axis, n in enumerate(a.shape):
        if n > 2 * edge:
            a = np.take(a, [*range(edge), *range(n - edge, n)], axis)
    return a


def _rows(a: Any, indent: int, short: bool, write: Any) -> str:
    """The array in brackets, the innermost axis in lines of at most so many characters."""
    if not a.ndim:
        return str(write(a.item()))
    edge = OPTIONS["edgeitems"]
    cut = short and a.shape[0] > 2 * edge
    shown = [*a[:edge], None, *a[-edge:]] if cut else [*a]
    if a.ndim > 1:
        parts = ["..." if x is None else _rows(x, indent + 1, short, write) for x in shown]
        return "[" + ("," + "\n" * (a.ndim - 1) + " " * (indent + 1)).join(parts) + "]"
    words = [" ..." if x is None else write(x.item()) for x in shown]
    per_line = max(1, (OPTIONS["linewidth"] - indent) // (write.width + 2))
    lines = [", ".join(words[k : k + per_line]) for k in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _remarks(t: Tensor) -> list[str]:
    """What is said behind the numbers: dtype and shape where they can't be seen, and what made the tensor."""
    said = []
    usual: tuple[str, ...] = (
        default_dtype().name,
        "complex128" if default_dtype().name == "float64" else "complex64",
        "int64",
        "bool",
    )
    if not t.node.type.size:
        if t.ndim != 1:
            said.append(f"size={tuple(t.shape)}")
        usual = usual[:1]
    if t.dtype.name not in usual:
        said.append(f"dtype=torch.{t.dtype.name}")
    if t.grad_fn is not None:
        said.append(f"grad_fn={t.grad_fn!r}")
    elif t.requires_grad:
        said.append("requires_grad=True")
    if t.name is not None:
        said.append(f"name={t.name!r}")
    return said


def printed(t: Tensor) -> str:
    """The repr of a tensor."""
    if any(is_traced(x) for x in topological([t.node], lambda x: x.value is None)):
        return "t" + describe(t)[1:]
    a = t._array()
    if a.dtype.kind == "V":  # bfloat16
        a = a.astype(np.float32)
    short = a.size > OPTIONS["threshold"]
    looked_at = _ends(a) if short else a
    write = Complex(looked_at) if a.dtype.kind == "c" else Real(looked_at)
    text = START + (_rows(a, len(START), short, write) if a.size else "[]")
    length = len(text) - text.rfind("\n") - 1
    for remark in _remarks(t):
        if length + len(remark) + 3 > OPTIONS["linewidth"]:
            text += ",\n" + " " * len(START)
            length = len(START) + len(remark)
        else:
            text += ", "
            length += len(remark) + 2
        text += remark
    return text + ")"
