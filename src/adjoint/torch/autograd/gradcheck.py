"""torch.autograd.gradcheck: derivatives against differences, with PyTorch's tolerances.

Complex inputs and outputs are taken as pairs of real numbers: what is compared is the matrix of real derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.tensors.located import at_user
from adjoint.transforms import jacobians
from adjoint.transforms.modes import deterministically

from .._creation import default_generator
from .._missing import getter
from .._names import FUNCTIONS, refuse
from .._tensor import Core, as_torch

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Array = np.ndarray[Any, Any]


class GradcheckError(RuntimeError):
    """A derivative and its difference disagree."""


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True, check_grad_dtypes: bool = False,
    check_batched_grad: bool = False, check_batched_forward_grad: bool = False, check_forward_ad: bool = False,
    check_backward_ad: bool = True, fast_mode: bool = False, masked: bool | None = None,
) -> bool:  # fmt: skip
    """Whether the derivatives of `func` by the inputs that require a gradient agree with central differences of step `eps`.

    They agree where |derivative - difference| <= atol + rtol |difference|, element by element. Give float64 inputs: a
    difference of float32 numbers has no digits at this step. `check_backward_ad` and `check_forward_ad` say which modes are
    compared. Computed twice, derivatives may differ by `nondet_tol`. Raises GradcheckError, or gives False where
    `raise_exception` is False; ValueError where no input requires a gradient.
    """
    refuse("gradcheck", "check_batched_grad", check_batched_grad, False)
    refuse("gradcheck", "check_batched_forward_grad", check_batched_forward_grad, False)
    refuse("gradcheck", "masked", masked, False)
    if not (check_backward_ad or check_forward_ad):
        raise ValueError(f"gradcheck: one of check_backward_ad and check_forward_ad must hold{at_user()}")
    problem = _Problem(func, inputs)
    try:
        for mode in ["backward"] * check_backward_ad + ["forward"] * check_forward_ad:
            with deterministically():  # else what is compiled meanwhile, by the clock, has other last digits
                problem.compare(mode, eps, atol, rtol, nondet_tol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False, raise_exception: bool = True, nondet_tol: float = 0.0,
    check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False, check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False,
) -> bool:  # fmt: skip
    """Whether second derivatives agree with differences of the first, in the inputs and in the cotangents `grad_outputs`.

    Where these are left out they are drawn at random. See `gradcheck` for the rest.
    """
    refuse("gradgradcheck", "masked", masked, False)
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    outputs = [y for y in _outputs(func(*args)) if y.requires_grad]
    if grad_outputs is None:
        given = [_random_like(y).requires_grad_(True) for y in outputs]
    else:
        given = [grad_outputs] if isinstance(grad_outputs, Core) else list(grad_outputs)
    count = len(given)

    def derivative(*everything: Any) -> tuple[Any, ...]:
        own, cotangents = everything[:-count], everything[-count:]
        leaves = [x if isinstance(x, Core) and x.dtype.inexact else None for x in own]
        ys = [y for y in _outputs(func(*own)) if y.requires_grad]
        wanted = [
            x for x, before in zip(leaves, args, strict=True) if isinstance(before, Core) and before.requires_grad
        ]
        return tuple(
            FUNCTIONS["autograd.grad"](
                ys, wanted, cotangents, create_graph=True, allow_unused=True, materialize_grads=True
            )
        )

    return gradcheck(
        derivative, (*args, *given), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev,
    )  # fmt: skip


def _outputs(result: Any) -> list[Any]:
    return [as_torch(result)] if isinstance(result, Core) else [as_torch(y) for y in result if isinstance(y, Core)]


def _random_like(y: Any) -> Any:
    return as_torch(default_generator.core.normal(tuple(y.shape), dtype=y.dtype)) if y.dtype.kind == "f" else (
        FUNCTIONS["randn"](tuple(y.shape), dtype=y.dtype))  # fmt: skip


class _Problem:
    """A function of the inputs that are differentiated, as one of vectors of real numbers."""

    def __init__(self, func: Callable[..., Any], inputs: Any) -> None:
        self.func = func
        args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
        self.places = [i for i, x in enumerate(args) if isinstance(x, Core) and x.requires_grad]
        if not self.places:
            raise ValueError(f"gradcheck: at least one input must require a gradient{at_user()}")
        self.fixed = [as_torch(x).detach() if isinstance(x, Core) else x for x in args]
        self.points = [_real(np.array(self.fixed[i].numpy())) for i in self.places]

    def __call__(self, *vectors: Any) -> tuple[Any, ...]:
        """The differentiable outputs, as vectors of real numbers."""
        full = list(self.fixed)
        for i, v in zip(self.places, as_torch(vectors), strict=True):
            shape, dtype = tuple(full[i].shape), full[i].dtype
            pair = v.reshape(*shape, 2) if dtype.kind == "c" else v.reshape(shape)
            full[i] = FUNCTIONS["view_as_complex"](pair) if dtype.kind == "c" else pair
        found = [y for y in _outputs(self.func(*full)) if y.dtype.inexact]
        if not found:
            raise ValueError(f"gradcheck: the function has no floating output{at_user()}")
        return tuple([(FUNCTIONS["view_as_real"](y) if y.dtype.kind == "c" else y).reshape(-1) for y in found])

    def derivatives(self, mode: str) -> list[list[Array]]:
        """For each output and input, the matrix of derivatives."""
        made = jacobians.jacrev if mode == "backward" else jacobians.jacfwd
        args = [FUNCTIONS["tensor"](p) for p in self.points]
        return [[np.asarray(m.numpy()) for m in row] for row in made(self, tuple(range(len(args))))(*args)]

    def values(self, points: list[Array]) -> list[Array]:
        """The outputs at a point."""
        leaves = [
            FUNCTIONS["tensor"](p, requires_grad=True) for p in points
        ]  # the function may ask for derivatives itself
        return [np.array(y.detach().numpy(), np.float64) for y in self(*leaves)]

    def differences(self, eps: float) -> list[list[Array]]:
        """For each output and input, the matrix of central differences."""
        base = self.values(self.points)
        found = [[np.zeros((len(y), p.size)) for p in self.points] for y in base]
        for i, point in enumerate(self.points):
            for k in range(point.size):
                ends = []
                for step in (eps, -eps):
                    moved = point.copy()
                    moved[k] += step
                    ends.append(self.values([moved if j == i else p for j, p in enumerate(self.points)]))
                for j, (high, low) in enumerate(zip(*ends, strict=True)):
                    found[j][i][:, k] = (high - low) / (2 * eps)
        return found

    def compare(self, mode: str, eps: float, atol: float, rtol: float, nondet_tol: float) -> None:
        """Raise GradcheckError where they disagree."""
        exact, again, differences = self.derivatives(mode), self.derivatives(mode), self.differences(eps)
        for j, row in enumerate(exact):
            for i, found in enumerate(row):
                if not np.allclose(found, again[j][i], rtol=0, atol=nondet_tol, equal_nan=True):
                    raise GradcheckError(
                        f"gradcheck: output {j} by input {self.places[i]} is not the same when it is computed twice{at_user()}"
                    )
                if not np.allclose(found, differences[j][i], rtol=rtol, atol=atol):
                    at = np.unravel_index(np.argmax(np.abs(found - differences[j][i])), found.shape)
                    raise GradcheckError(
                        f"gradcheck: in {mode} mode the derivative of output {j} (element {at[0]}) by input {self.places[i]} "
                        f"(element {at[1]}) is {found[at]:.6g}, the difference {differences[j][i][at]:.6g}{at_user()}"
                    )


def _real(x: Array) -> Array:
    """Numbers as a vector of real ones: each complex number a pair."""
    x = np.ascontiguousarray(x).reshape(-1)
    return x.view(x.real.dtype) if x.dtype.kind == "c" else x


__getattr__ = getter("torch.autograd.gradcheck", globals())
