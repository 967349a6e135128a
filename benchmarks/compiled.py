"""The same user code under `ad.jit`, beside jax.jit, torch.compile and PyTorch as it is."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import native
from benchmarks.harness import Case, Work
from benchmarks.native import BATCH, WIDTHS, draw, weights

Build = Callable[[Any], Case]


def jitted(build: Build) -> Build:
    """A case of ours with its step under `ad.jit`."""

    def compiled(ad: Any) -> Case:
        case = build(ad)
        step = ad.jit(lambda: case.step(0))
        return Case(lambda _: step(), check=lambda: [float(step().item()) for _ in range(4)])

    return compiled


# The 784-128-64-10 network, batch 64, SGD ------------------------------------------------------------------------------


def network_jax(jax: Any) -> Case:
    x = jax.numpy.asarray(draw(9, BATCH, WIDTHS[0]))
    y = jax.numpy.asarray(np.random.default_rng(8).integers(0, WIDTHS[-1], BATCH))
    state = [[(jax.numpy.asarray(w), jax.numpy.asarray(b)) for w, b in weights(WIDTHS)]]

    def loss(p: Any, x: Any, y: Any) -> Any:
        for k, (w, b) in enumerate(p):
            x = x @ w.T + b
            x = jax.nn.relu(x) if k < len(p) - 1 else x
        return -jax.numpy.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()

    def descend(p: Any, x: Any, y: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(p, x, y)
        return value, jax.tree.map(lambda a, g: a - 0.01 * g, p, gradients)

    step = jax.jit(descend)

    def once(_: int) -> Any:
        value, state[0] = step(state[0], x, y)
        return jax.block_until_ready(value)

    return Case(once, check=lambda: [float(once(0)) for _ in range(4)])


def network_compiled(torch: Any) -> Case:
    x, y = torch.from_numpy(draw(9, BATCH, WIDTHS[0])), np.random.default_rng(8).integers(0, WIDTHS[-1], BATCH)
    targets = torch.from_numpy(y)
    layers = [torch.nn.Linear(n, m) for n, m in itertools.pairwise(WIDTHS)]
    for layer, (w, b) in zip(layers, weights(WIDTHS), strict=True):
        layer.weight.data, layer.bias.data = torch.from_numpy(w.copy()), torch.from_numpy(b.copy())
    relu = torch.nn.ReLU()
    model = torch.nn.Sequential(layers[0], relu, layers[1], relu, layers[2])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = torch.compile(lambda: torch.nn.functional.cross_entropy(model(x), targets))

    def once(_: int) -> Any:
        loss = loss_of()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return Case(once, check=lambda: [float(once(0)) for _ in range(4)])


# A 2-16-16-1 network on 100 points, float64, whole tensors -----------------------------------------------------------

SMALL = (2, 16, 16, 1)


def small_data() -> tuple[Any, Any, list[Any]]:
    random = np.random.default_rng(3)
    parameters = []
    for n, m in itertools.pairwise(SMALL):
        parameters += [random.normal(size=(n, m)) * 0.5, np.zeros(m)]
    return random.normal(size=(100, 2)), random.choice([-1.0, 1.0], (100, 1)), parameters


def small_loss(p: Sequence[Any], x: Any, y: Any, tanh: Any, relu: Any) -> Any:
    h = tanh(tanh(x @ p[0] + p[1]) @ p[2] + p[3])
    return relu(1 - y * (h @ p[4] + p[5])).mean()


def small_ours(ad: Any) -> Case:
    x, y, start = small_data()
    p = [ad.variable(a) for a in start]
    x, y = ad.tensor(x), ad.tensor(y)

    def descend(x: Any, y: Any) -> Any:
        loss = small_loss(p, x, y, ad.tanh, ad.relu)
        loss.backward()
        for a in p:
            a.data -= 0.01 * a.grad
            a.grad = None
        return loss

    step = ad.jit(descend)
    return Case(lambda _: step(x, y), check=lambda: [step(x, y).item() for _ in range(4)])


def small_jax(jax: Any) -> Case:
    jax.config.update("jax_enable_x64", True)
    x, y, start = small_data()
    x, y = jax.numpy.asarray(x), jax.numpy.asarray(y)
    state = [[jax.numpy.asarray(a) for a in start]]

    def descend(p: Any, x: Any, y: Any) -> Any:
        value, g = jax.value_and_grad(lambda p: small_loss(p, x, y, jax.numpy.tanh, jax.nn.relu))(p)
        return value, [a - 0.01 * b for a, b in zip(p, g, strict=True)]

    step = jax.jit(descend)

    def once(_: int) -> Any:
        value, state[0] = step(state[0], x, y)
        return jax.block_until_ready(value)

    return Case(once, check=lambda: [float(once(0)) for _ in range(4)])


# 200 operations on 8 elements, forward and backward -------------------------------------------------------------------


def chain(x: Any, sin: Any) -> Any:
    for _ in range(100):
        x = sin(x) * 1.01
    return x.sum()


def chain_ours(ad: Any) -> Case:
    x = ad.tensor(np.linspace(0.1, 1, 8))
    both = ad.jit(ad.value_and_grad(lambda x: chain(x, ad.sin)))
    return Case(lambda _: both(x), check=lambda: [both(x)[0].item(), *both(x)[1].tolist()])


def chain_jax(jax: Any) -> Case:
    jax.config.update("jax_enable_x64", True)
    x = jax.numpy.linspace(0.1, 1, 8)
    both = jax.jit(jax.value_and_grad(lambda x: chain(x, jax.numpy.sin)))
    return Case(lambda _: jax.block_until_ready(both(x)), check=lambda: [float(both(x)[0]), *both(x)[1].tolist()])


# The first call in a fresh process ------------------------------------------------------------------------------------

FIRST = """
import json, sys, time
from benchmarks import {cases} as cases
import {module} as engine
case = cases.FIRST_CASES["{engine}"](engine)
start = time.perf_counter()
case.step(0)
print(json.dumps(time.perf_counter() - start))
"""


def first_call(engine: str, module: str, cached: bool, cases: str = "compiled") -> Build:
    """The milliseconds of the first step in a process of its own; with an empty folder for object code, or a full one. `cases` is
    the module here whose FIRST_CASES has the engine's."""

    def build(_: Any) -> Case:
        folder = tempfile.TemporaryDirectory()

        def once(_: int) -> float:
            place = folder.name if cached else tempfile.mkdtemp(dir=folder.name)
            code = FIRST.format(module=module, engine=engine, cases=cases)
            found = subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "ADJOINT_CACHE": place},
                capture_output=True,
                text=True,
                check=True,
            )
            return float(json.loads(found.stdout.splitlines()[-1])) * 1e3

        once(0)
        return Case(once)

    return build


FIRST_CASES: Mapping[str, Build] = {"adjoint": jitted(native.network()["adjoint"]), "jax": network_jax}
OURS_COLD, OURS_CACHED = first_call("adjoint", "adjoint", False), first_call("adjoint", "adjoint", True)
THEIRS = first_call("jax", "jax", False)
network, transformer = native.network(), native.transformer()

WORKS = [
    Work(
        "training step 784-128-64-10 under jit",
        0.65,
        {
            "adjoint": jitted(network["adjoint"]),
            "jax": network_jax,
            "torch": network["torch"],
            "torch.compile": network_compiled,
        },
        unit="µs",
        tolerance=1e-4,
    ),
    Work(
        "2-16-16-1 network on 100 points under jit",
        0.5,
        {"adjoint": small_ours, "jax": small_jax},
        unit="µs",
    ),
    Work(
        "200 operations on 8 elements under jit",
        0.6,
        {"adjoint": chain_ours, "jax": chain_jax},
        unit="µs",
    ),
    Work(
        "training step of a small transformer under jit",
        0.6,
        {**transformer, "adjoint": jitted(transformer["adjoint"])},
        tolerance=1e-3,
    ),
    Work("first call of the jitted network", 0.5, {"adjoint": OURS_COLD, "jax": THEIRS}, returned=True),
    Work("first call from the disk cache", 0.25, {"adjoint": OURS_CACHED, "jax": THEIRS}, returned=True),
]
