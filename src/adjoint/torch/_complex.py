"""PyTorch's functions of complex numbers: made from their parts, taken apart, and seen as pairs."""

from __future__ import annotations

from typing import Any

from adjoint.composites.special import of_parts
from adjoint.graph import Node
from adjoint.primitives.core import ops
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from ._elementwise import made, tensors_alone
from ._names import FUNCTIONS, METHODS, function
from ._operators import one_dtype
from ._tensor import Tensor, as_torch
from ._view_tensors import conjugated, view_of


@function()
def complex(real: Any, imag: Any) -> Any:
    """Real + i imag."""
    tensors_alone("complex", real, imag)
    if real.dtype is not imag.dtype:
        raise RuntimeError(f"complex: both parts need one dtype{at_user()}")
    real, imag = core.broadcast_arrays(real, imag)
    return made(of_parts(real.node, imag.node))


@function()
def polar(abs: Any, angle: Any) -> Any:
    """The complex numbers of these moduli and angles."""
    tensors_alone("polar", abs, angle)
    one_dtype("polar", abs, angle)
    return complex(abs * core.cos(angle), abs * core.sin(angle))


def view_as_real(input: Any) -> Tensor:
    """A complex tensor as pairs of its parts along a new last axis, as a view."""
    if input.dtype.kind != "c":
        raise RuntimeError(f"view_as_real: expected a complex tensor, got {input.dtype.name}{at_user()}")

    def parts(x: Node) -> Node:
        return ops.concat([ops.reshape(p, (*x.shape, 1)) for p in (ops.real(x), ops.imag(x))], x.ndim)

    return view_of(input, parts, lambda _, v: _joined(v), None)


def view_as_complex(input: Any) -> Tensor:
    """Pairs along the last axis as complex numbers, as a view."""
    if input.dtype.kind != "f" or not input.ndim or input.shape[-1] != 2:
        raise RuntimeError(
            f"view_as_complex: expected floating numbers (..., 2), got {input.dtype.name} {tuple(input.shape)}"
        )
    return view_of(
        input,
        _joined,
        lambda _, v: ops.concat([ops.reshape(p, (*v.shape, 1)) for p in (ops.real(v), ops.imag(v))], v.ndim),
        None,
    )


def _joined(x: Node) -> Node:
    parts = core.unstack(made(x), axis=-1)
    return complex(parts[0], parts[1]).node


for _f in (view_as_real, view_as_complex):
    FUNCTIONS[_f.__name__] = METHODS[_f.__name__] = _f


@function("conj")
def conj_(input: Any) -> Any:
    """The complex conjugate, as a view; the tensor itself if it is real."""
    return conjugated(as_torch(input))


@function()
def real(input: Any) -> Any:
    """The real part, as a view."""
    return as_torch(input).real


@function()
def imag(input: Any) -> Any:
    """The imaginary part, as a view."""
    return as_torch(input).imag


METHODS.pop("real"), METHODS.pop("imag")
