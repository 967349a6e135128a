"""Hessians, Hessian-vector products and gradients for each example, all compiled, beside jax.jit and torch.func."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Case, Work

SIZES = [(128, 784), (128,), (64, 128), (64,), (10, 64), (10,)]


def numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


# The Hessian of Rosenbrock's function in 100 dimensions, float64 ------------------------------------------------------


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def spread(array: Any) -> list[float]:
    """A few numbers of an array, and their sum."""
    flat = np.asarray(array, np.float64).ravel()
    return [float(flat.sum()), float(np.abs(flat).sum()), *map(float, flat[:: max(flat.size // 7, 1)])]


def hessian_ours(ad: Any) -> Case:
    x, hessian = ad.tensor(numbers(0, 100)), ad.jit(ad.hessian(rosenbrock))
    return Case(lambda _: hessian(x).numpy(), check=lambda: spread(hessian(x)))


def hessian_jax(jax: Any) -> Case:
    jax.config.update("jax_enable_x64", True)
    x, hessian = jax.numpy.asarray(numbers(0, 100)), jax.jit(jax.hessian(rosenbrock))
    return Case(lambda _: hessian(x).block_until_ready(), check=lambda: spread(hessian(x)))


# A 784-128-64-10 network, batch 64, float32 ----------------------------------------------------------------------------


def data(convert: Callable[[Any], Any]) -> tuple[list[Any], list[Any], Any, Any]:
    """Parameters, a direction, images and labels."""
    parameters = [convert((numbers(k, *shape) * 0.1).astype("f")) for k, shape in enumerate(SIZES)]
    direction = [convert(numbers(10 + k, *shape).astype("f")) for k, shape in enumerate(SIZES)]
    images = convert(numbers(20, 64, 784).astype("f"))
    return parameters, direction, images, convert(np.random.default_rng(21).integers(0, 10, 64))


def loss_ours(ad: Any) -> Callable[..., Any]:
    def loss(p: Any, x: Any, y: Any) -> Any:
        h = ad.relu(ad.relu(x @ p[0].T + p[1]) @ p[2].T + p[3])
        return ad.nn.functional.cross_entropy(h @ p[4].T + p[5], y)

    return loss


def loss_jax(jax: Any) -> Callable[..., Any]:
    def loss(p: Any, x: Any, y: Any) -> Any:
        h = jax.nn.relu(jax.nn.relu(x @ p[0].T + p[1]) @ p[2].T + p[3])
        logits = jax.nn.log_softmax(h @ p[4].T + p[5])
        return -jax.numpy.take_along_axis(logits, y[..., None], -1).mean()

    return loss


def loss_torch(torch: Any) -> Callable[..., Any]:
    def loss(p: Any, x: Any, y: Any) -> Any:
        h = torch.relu(torch.relu(x @ p[0].T + p[1]) @ p[2].T + p[3])
        return torch.nn.functional.cross_entropy(h @ p[4].T + p[5], y)

    return loss


def sums(arrays: Any) -> list[float]:
    return [float(np.abs(np.asarray(a, np.float64)).sum()) for a in arrays]


def product_ours(ad: Any) -> Case:
    p, v, x, y = data(ad.tensor)
    loss = loss_ours(ad)
    product = ad.jit(lambda p, v: ad.hvp(lambda p: loss(p, x, y), (p,), (v,)))
    return Case(lambda _: product(p, v), check=lambda: sums(ad.tree.flatten(product(p, v))[0]))


def product_jax(jax: Any) -> Case:
    p, v, x, y = data(jax.numpy.asarray)
    loss = loss_jax(jax)
    product = jax.jit(lambda p, v: jax.jvp(jax.grad(lambda p: loss(p, x, y)), (p,), (v,))[1])
    return Case(lambda _: jax.block_until_ready(product(p, v)), check=lambda: sums(product(p, v)))


def product_torch(torch: Any) -> Case:
    p, v, x, y = data(torch.from_numpy)
    loss = loss_torch(torch)

    def product() -> Any:
        return torch.func.jvp(torch.func.grad(lambda p: loss(p, x, y)), (p,), (v,))[1]

    return Case(lambda _: product(), check=lambda: sums(product()))


def examples_ours(ad: Any) -> Case:
    p, _, x, y = data(ad.tensor)
    each = ad.jit(ad.vmap(ad.grad(loss_ours(ad)), in_axes=(None, 0, 0)))
    return Case(lambda _: each(p, x, y), check=lambda: sums(each(p, x, y)))


def examples_jax(jax: Any) -> Case:
    p, _, x, y = data(jax.numpy.asarray)
    each = jax.jit(jax.vmap(jax.grad(loss_jax(jax)), in_axes=(None, 0, 0)))
    return Case(lambda _: jax.block_until_ready(each(p, x, y)), check=lambda: sums(each(p, x, y)))


def examples_torch(torch: Any) -> Case:
    p, _, x, y = data(torch.from_numpy)
    each = torch.func.vmap(torch.func.grad(loss_torch(torch)), in_dims=(None, 0, 0))
    return Case(lambda _: each(p, x, y), check=lambda: sums(each(p, x, y)))


WORKS = [
    Work(
        "Hessian of Rosenbrock in 100 dimensions",
        0.8,
        {"adjoint": hessian_ours, "jax": hessian_jax},
        unit="µs",
    ),
    Work(
        "Hessian-vector product of the MLP's loss",
        0.7,
        {"adjoint": product_ours, "jax": product_jax, "torch": product_torch},
        unit="µs",
        tolerance=1e-4,
    ),
    Work(
        "per-example gradients of the MLP",
        0.7,
        {"adjoint": examples_ours, "jax": examples_jax, "torch": examples_torch},
        tolerance=1e-4,
    ),
]
