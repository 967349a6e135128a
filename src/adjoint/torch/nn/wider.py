"""Convolutions and pooling of integers and of complex numbers, which the core has for floating ones."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from .._names import FUNCTIONS
from .._operators import one_dtype
from .._tensor import as_torch

__all__ = ["convolution", "pooling"]

EXACT = 2**53  # below it float64 has all whole numbers


def convolution(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """A convolution, or the affine map, of operands that have one dtype, also an integer or complex one.

    Complex ones are made of real ones, integers are convolved in float64. Raises RuntimeError where that could round.
    """
    signature = inspect.signature(f)
    bias_at = list(signature.parameters).index("bias")

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        given = [*args[:2], *(args[bias_at : bias_at + 1])]
        if len(given) < 3:
            given += [keywords[k] for k in ("input", "weight", "bias") if k in keywords]
        if len(given) > 2 and given[2] is None:
            del given[2]
        one_dtype(name, *given)
        kind = given[0].dtype.kind
        if kind == "f" or name == "linear":
            return f(*args, **keywords)
        rest = signature.bind(*args, **keywords).arguments
        x, weight, bias = rest.pop("input"), rest.pop("weight"), rest.pop("bias", None)
        if kind == "c":
            return _of_complex(f, x, weight, bias, rest)
        if kind == "b":
            raise RuntimeError(f"{name}: not defined for bool; cast by .float(){at_user()}")
        return _exactly(name, x.dtype, lambda *wide: f(*wide, **rest), x, weight, bias)

    return called


def _of_complex(f: Callable[..., Any], x: Any, weight: Any, bias: Any, rest: dict[str, Any]) -> Any:
    a, b, c, d = x.real, x.imag, weight.real, weight.imag
    real = f(a, c, **rest) - f(b, d, **rest)
    imag = f(a, d, **rest) + f(b, c, **rest)
    out = FUNCTIONS["complex"](real, imag)
    return out if bias is None else out + bias.reshape((-1,) + (1,) * (weight.ndim - 2))


def _exactly(name: str, dtype: Any, f: Callable[..., Any], *operands: Any) -> Any:
    """A function of whole numbers by float64, in the dtype of the operands, around whose ends it wraps as integers do."""
    wide = [None if x is None else core.astype(x, "float64") for x in operands]
    if dtype.itemsize > 2:
        bound = f(*[None if x is None else as_torch(core.abs(x)) for x in wide])
        if bound.numel() and not float(core.max(bound).item()) < EXACT:
            raise RuntimeError(f"{name}: sums of {dtype.name} that may be above 2**53 aren't exact here{at_user()}")
    out = f(*[None if x is None else as_torch(x) for x in wide])
    return as_torch(core.astype(core.astype(out, "int64"), dtype))


def pooling(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Extremes or means of windows, of integers too, as float64 has them: means of int64 lose their fraction, as there."""
    mean = name.startswith("avg")
    bound = EXACT >> 20 if mean else EXACT  # windows have fewer than 2**20 cells

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        x = args[0] if args else keywords["input"]
        if len(args) > 2 and not args[2] and args[2] != 0:  # an empty list of strides is none
            args = (*args[:2], None, *args[3:])
        if x.dtype.kind not in "iu" or (mean and x.dtype.name != "int64"):
            return f(*args, **keywords)
        wide = as_torch(core.astype(x, "float64"))
        if x.dtype.itemsize > 4 and x.numel() and not float(core.max(core.abs(wide)).item()) < bound:
            raise RuntimeError(f"{name}: integers above {bound} aren't exact here{at_user()}")
        out = f(wide, *args[1:], **keywords) if args else f(**{**keywords, "input": wide})
        if isinstance(out, tuple):
            return as_torch(core.astype(out[0], x.dtype)), *out[1:]
        return as_torch(core.astype(out, x.dtype))

    return called
