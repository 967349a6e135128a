"""The one checker of derivatives: each order against a single central difference of the order below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import adjoint as ad

STEP = 1e-5
ListFunction = Callable[..., list[ad.Tensor]]


def tensors(arrays: Sequence[np.ndarray]) -> list[ad.Tensor]:
    return [ad.tensor(array) for array in arrays]


def values(results: Sequence[ad.Tensor]) -> list[np.ndarray]:
    """NumPy values of all, evaluated together."""
    ad.evaluate(*results)
    return [result.numpy() for result in results]


def random_like(arrays: Sequence[np.ndarray], generator: np.random.Generator) -> list[np.ndarray]:
    drawn = [generator.normal(size=array.shape) for array in arrays]
    return [
        np.asarray(real + 1j * generator.normal(size=array.shape) if array.dtype.kind == "c" else real, array.dtype)
        for real, array in zip(drawn, arrays, strict=True)
    ]


def inner(left: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> float:
    """Re<left, right>: under it reverse mode is the adjoint of forward mode, complex arrays included."""
    return float(sum(np.real(np.vdot(one, other)) for one, other in zip(left, right, strict=True)))


def central_difference(
    function: Callable[..., Sequence[ad.Tensor]], points: Sequence[np.ndarray], direction: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The directional derivative of every output, numerically."""
    sides = [
        values(function(*tensors([x + sign * STEP * dx for x, dx in zip(points, direction, strict=True)])))
        for sign in (1, -1)
    ]
    return [(plus - minus) / (2 * STEP) for plus, minus in zip(*sides, strict=True)]


def close(what: str, actual: Sequence[np.ndarray], expected: Sequence[np.ndarray], tolerance: float) -> None:
    for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
        scale = 1 + (np.abs(other).max() if other.size else 0)
        np.testing.assert_allclose(one, other, tolerance, tolerance * scale, err_msg=f"{what} (array {number})")


def pairing(
    what: str,
    left: tuple[Sequence[np.ndarray], Sequence[np.ndarray]],
    right: tuple[Sequence[np.ndarray], Sequence[np.ndarray]],
) -> None:
    """Two exact derivatives agree: the inner products are equal up to rounding."""
    scale = 1 + sum(
        np.linalg.norm(one) * np.linalg.norm(other)
        for one, other in (*zip(*left, strict=True), *zip(*right, strict=True))
    )
    np.testing.assert_allclose(inner(*left), inner(*right), 0, 1e-10 * scale, err_msg=what)


def check_derivatives(
    function: ListFunction, points: Sequence[np.ndarray], order: int = 2, tolerance: float = 2e-6, seed: int = 0
) -> None:
    """Both modes at first order, and all four combinations of modes at second.

    ``function`` takes a tensor for each of ``points`` (float64 or complex128) and returns a list of tensors.
    """
    generator = np.random.default_rng(seed)
    direction, other = random_like(points, generator), random_like(points, generator)
    primals, directions, others = tensors(points), tensors(direction), tensors(other)

    outputs, pushed = ad.jvp(function, tuple(primals), tuple(directions))
    assert points and outputs, "nothing to differentiate"
    numeric = central_difference(function, points, direction)
    tangents = values(pushed)
    close("forward mode against a difference of the value", tangents, numeric, tolerance)

    cotangent = random_like(values(outputs), generator)
    cotangents = tensors(cotangent)
    gradients = values(ad.vjp(function, *primals)[1](cotangents))
    for point, found in zip(points, gradients, strict=True):
        assert (found.shape, found.dtype) == (point.shape, point.dtype)
    pairing("reverse mode against forward mode", (gradients, direction), (cotangent, tangents))
    if order < 2:
        return

    def gradient(*inputs: ad.Tensor) -> list[ad.Tensor]:
        return list(ad.vjp(function, *inputs)[1](cotangents))

    def tangent(*inputs: ad.Tensor) -> list[ad.Tensor]:
        return list(ad.jvp(function, inputs, tuple(directions))[1])

    curved = values(ad.jvp(gradient, tuple(primals), tuple(others))[1])
    close(
        "forward over reverse against a difference of the gradient",
        curved,
        central_difference(gradient, points, other),
        tolerance,
    )
    weights = random_like(points, generator)
    twice = values(ad.vjp(gradient, *primals)[1](tensors(weights)))
    pairing("reverse over reverse", (twice, other), (weights, curved))
    pulled = values(ad.vjp(tangent, *primals)[1](cotangents))
    pairing("reverse over forward", (pulled, other), (direction, curved))
    pushed_twice = values(ad.jvp(tangent, tuple(primals), tuple(others))[1])
    pairing("forward over forward", (pushed_twice, cotangent), (curved, direction))
