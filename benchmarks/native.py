"""What native code makes of formulas, products, optimizers and training steps, recorded anew each step.

The data is made here, once for every engine; losses and gradients are compared before anything is timed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Case, Work

Array = NDArray[Any]
Build = Callable[[Any], Case]


def flat(values: Sequence[Any], most: int = 2000) -> list[float]:
    """Numbers spread over some arrays, in order."""
    found: list[float] = []
    for value in values:
        numbers = np.asarray(value, np.float64).ravel()
        found += numbers[:: max(numbers.size // most, 1)].tolist()
    return found


def draw(seed: int, *shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


# --- value and gradients of a function of arrays ----------------------------------------------------------------------


def differentiated(
    arrays: Sequence[Array], in_adjoint: Callable[..., Any], in_torch: Callable[..., Any], in_jax: Callable[..., Any]
) -> Mapping[str, Build]:
    """A scalar function's value and its gradients by all arrays. Each function takes its engine and the arrays."""

    def adjoint(ad: Any) -> Case:
        # compiled, as two of the peers are
        function = ad.jit(ad.value_and_grad(lambda *xs: in_adjoint(ad, *xs), tuple(range(len(arrays)))))
        given = [ad.tensor(x) for x in arrays]

        def values(_: int) -> tuple[Any, ...]:
            loss, gradients = function(*given)
            return loss, *gradients

        return Case(values, check=lambda: flat(values(0)))

    def torch(torch: Any, wrap: Callable[[Any], Any] = lambda f: f) -> Case:
        variables = [torch.from_numpy(x.copy()).requires_grad_() for x in arrays]
        function = wrap(lambda *xs: in_torch(torch, *xs))

        def values(_: int) -> tuple[Any, ...]:
            loss = function(*variables)
            loss.backward()
            asked = loss.detach(), *[x.grad for x in variables]
            for x in variables:
                x.grad = None
            return asked

        return Case(values, check=lambda: flat(values(0)))

    def jax(jax: Any) -> Case:
        function = jax.jit(jax.value_and_grad(lambda *xs: in_jax(jax, *xs), tuple(range(len(arrays)))))
        given = [jax.numpy.asarray(x) for x in arrays]

        def values(_: int) -> tuple[Any, ...]:
            loss, gradients = function(*given)
            for gradient in gradients:
                gradient.block_until_ready()
            return loss, *gradients

        return Case(values, check=lambda: flat(values(0)))

    return {
        "adjoint": adjoint,
        "torch": torch,
        "torch.compile": lambda module: torch(module, module.compile),
        "jax": jax,
    }


def formula(count: int) -> Mapping[str, Build]:
    """sum(tanh(x*w+b)**2 * sin(x)), with the gradients by all three."""
    return differentiated(
        [draw(seed, count) for seed in range(3)],
        lambda ad, x, w, b: ad.sum(ad.tanh(x * w + b) ** 2 * ad.sin(x)),
        lambda torch, x, w, b: torch.sum(torch.tanh(x * w + b) ** 2 * torch.sin(x)),
        lambda jax, x, w, b: jax.numpy.sum(jax.numpy.tanh(x * w + b) ** 2 * jax.numpy.sin(x)),
    )


ROWS, COLUMNS = 4096, 1000


def softmax() -> Mapping[str, Build]:
    return differentiated(
        [draw(0, ROWS, COLUMNS), draw(1, ROWS, COLUMNS)],
        lambda ad, x, t: (ad.softmax(x, axis=-1) * t).sum(),
        lambda torch, x, t: (torch.softmax(x, -1) * t).sum(),
        lambda jax, x, t: (jax.nn.softmax(x, -1) * t).sum(),
    )


def layer_norm() -> Mapping[str, Build]:
    def plain(mean: Callable[[Any], Any], root: Callable[[Any], Any], x: Any, gain: Any, bias: Any, t: Any) -> Any:
        centred = x - mean(x)
        return ((centred / root(mean(centred * centred) + 1e-5) * gain + bias) * t).sum()

    return differentiated(
        [draw(0, ROWS, COLUMNS), 1 + draw(1, COLUMNS), draw(2, COLUMNS), draw(3, ROWS, COLUMNS)],
        lambda ad, *xs: plain(lambda x: x.mean(axis=-1, keepdims=True), ad.sqrt, *xs),
        lambda torch, x, gain, bias, t: (torch.nn.functional.layer_norm(x, (COLUMNS,), gain, bias) * t).sum(),
        lambda jax, *xs: plain(lambda x: x.mean(-1, keepdims=True), jax.numpy.sqrt, *xs),
    )


# --- matrix products --------------------------------------------------------------------------------------------------


def product(n: int, k: int, m: int) -> Mapping[str, Build]:
    a, b = draw(0, n, k), draw(1, k, m)

    def adjoint(ad: Any) -> Case:
        x, y = ad.tensor(a), ad.tensor(b)

        def step(_: int) -> Any:
            z = x @ y
            ad.evaluate(z)
            return z

        return Case(step, check=lambda: flat([step(0)]))

    def torch(torch: Any) -> Case:
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        return Case(lambda _: x @ y, check=lambda: flat([x @ y]))

    def numpy(numpy: Any) -> Case:
        return Case(lambda _: a @ b, check=lambda: flat([a @ b]))

    return {"adjoint": adjoint, "torch": torch, "numpy": numpy}


# --- optimizers and training steps ------------------------------------------------------------------------------------


def after(step: Callable[[int], None], value: Callable[[], Any]) -> list[float]:
    """What two steps leave."""
    step(0)
    step(0)
    return flat([value()])


def adam(count: int) -> Mapping[str, Build]:
    start, slope = draw(0, count), draw(1, count)

    def adjoint(ad: Any) -> Case:
        w, g = ad.variable(start), ad.tensor(slope)
        optimizer = ad.optim.Adam([w], lr=1e-3)

        descend = ad.jit(optimizer.step)

        def step(_: int) -> None:
            w.grad = g
            descend()

        return Case(step, check=lambda: after(step, w.detach))

    def torch(torch: Any) -> Case:
        w = torch.nn.Parameter(torch.from_numpy(start.copy()))
        g = torch.from_numpy(slope)
        optimizer = torch.optim.Adam([w], lr=1e-3, fused=True)

        def step(_: int) -> None:
            w.grad = g
            optimizer.step()

        return Case(step, check=lambda: after(step, w.detach))

    return {"adjoint": adjoint, "torch": torch}


WIDTHS = (784, 128, 64, 10)
BATCH = 64


def weights(widths: Sequence[int]) -> list[tuple[Array, Array]]:
    """A matrix (out, in) and a bias for each layer."""
    return [
        (draw(k, m, n) / np.float32(math.sqrt(n)), np.zeros(m, np.float32))
        for k, (n, m) in enumerate(itertools.pairwise(widths))
    ]


def descent(loss_of: Callable[[], Any], optimizer: Any) -> Case:
    """Steps of an optimizer."""

    def step(_: int) -> Any:
        loss = loss_of()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return Case(step, check=lambda: [float(step(0).item()) for _ in range(4)])


def network() -> Mapping[str, Build]:
    """A step of the 784-128-64-10 network: loss.backward(); opt.step(); opt.zero_grad()."""
    x, y = draw(9, BATCH, WIDTHS[0]), np.random.default_rng(8).integers(0, WIDTHS[-1], BATCH)

    def steps(nn: Any, layers: list[Any], optimizer: Any, inputs: Any, targets: Any) -> Case:
        model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
        return descent(lambda: nn.functional.cross_entropy(model(inputs), targets), optimizer)

    def adjoint(ad: Any) -> Case:
        layers = [ad.nn.Linear(n, m) for n, m in itertools.pairwise(WIDTHS)]
        for layer, (w, b) in zip(layers, weights(WIDTHS), strict=True):
            layer.weight.data, layer.bias.data = ad.tensor(w), ad.tensor(b)
        optimizer = ad.optim.SGD([p for layer in layers for p in layer.parameters()], lr=0.01)
        return steps(ad.nn, layers, optimizer, ad.tensor(x), ad.tensor(y))

    def torch(torch: Any) -> Case:
        layers = [torch.nn.Linear(n, m) for n, m in itertools.pairwise(WIDTHS)]
        for layer, (w, b) in zip(layers, weights(WIDTHS), strict=True):
            layer.weight.data, layer.bias.data = torch.from_numpy(w.copy()), torch.from_numpy(b.copy())
        optimizer = torch.optim.SGD([p for layer in layers for p in layer.parameters()], lr=0.01)
        return steps(torch.nn, layers, optimizer, torch.from_numpy(x), torch.from_numpy(y))

    return {"adjoint": adjoint, "torch": torch}


BLOCKS, WIDTH, HEADS, CONTEXT, SEQUENCES, VOCABULARY = 4, 128, 4, 128, 8, 64


def transformer_parameters() -> dict[str, Array]:
    """Every parameter by its name."""
    sizes = {"tokens": (VOCABULARY, WIDTH), "positions": (CONTEXT, WIDTH), "out": (WIDTH, VOCABULARY)}
    for k in range(BLOCKS):
        sizes |= {f"{k}.qkv": (WIDTH, 3 * WIDTH), f"{k}.join": (WIDTH, WIDTH)}
        sizes |= {f"{k}.up": (WIDTH, 4 * WIDTH), f"{k}.down": (4 * WIDTH, WIDTH)}
    found = {name: draw(seed, *shape) * np.float32(0.05) for seed, (name, shape) in enumerate(sizes.items())}
    for name, n in [("last", WIDTH)] + [
        (f"{k}.{part}", WIDTH) for k in range(BLOCKS) for part in ("before", "between")
    ]:
        found |= {f"{name}.gain": np.ones(n, np.float32), f"{name}.bias": np.zeros(n, np.float32)}
    for k in range(BLOCKS):
        for part, n in (("qkv", 3 * WIDTH), ("join", WIDTH), ("up", 4 * WIDTH), ("down", WIDTH)):
            found[f"{k}.{part}.bias"] = np.zeros(n, np.float32)
    return found


def transformer_loss(p: Mapping[str, Any], tokens: Any, targets: Any, mask: Any, lib: Mapping[str, Any]) -> Any:
    """Pre-norm blocks with causal attention; `lib` has what the engines spell differently."""
    size = WIDTH // HEADS

    def linear(x: Any, name: str) -> Any:
        return x @ p[name] + p[f"{name}.bias"]

    def normed(x: Any, name: str) -> Any:
        return lib["norm"](x, p[f"{name}.gain"], p[f"{name}.bias"])

    def split(x: Any) -> Any:
        return lib["permute"](x.reshape((SEQUENCES, CONTEXT, HEADS, size)), (0, 2, 1, 3))

    x = p["tokens"][tokens] + p["positions"]
    for k in range(BLOCKS):
        mixed = linear(normed(x, f"{k}.before"), f"{k}.qkv")
        q, key, v = (split(mixed[..., i * WIDTH : (i + 1) * WIDTH]) for i in range(3))
        attention = lib["softmax"](q @ key.mT * (1 / math.sqrt(size)) + mask)
        together = lib["permute"](attention @ v, (0, 2, 1, 3)).reshape((SEQUENCES, CONTEXT, WIDTH))
        x = x + linear(together, f"{k}.join")
        x = x + linear(lib["gelu"](linear(normed(x, f"{k}.between"), f"{k}.up")), f"{k}.down")
    scores = (normed(x, "last") @ p["out"]).reshape((SEQUENCES * CONTEXT, VOCABULARY))
    return lib["loss"](scores, targets)


def transformer() -> Mapping[str, Build]:
    random = np.random.default_rng(5)
    tokens = random.integers(0, VOCABULARY, (SEQUENCES, CONTEXT))
    targets = random.integers(0, VOCABULARY, SEQUENCES * CONTEXT)
    mask = np.triu(np.full((CONTEXT, CONTEXT), -1e9, np.float32), 1)

    def adjoint(ad: Any) -> Case:
        p = {name: ad.variable(value) for name, value in transformer_parameters().items()}

        def norm(x: Any, gain: Any, bias: Any) -> Any:
            centred = x - x.mean(axis=-1, keepdims=True)
            variance = (centred * centred).mean(axis=-1, keepdims=True)
            return centred / ad.sqrt(variance + 1e-5) * gain + bias

        lib = {
            "norm": norm, "permute": ad.permute_dims, "softmax": lambda x: ad.softmax(x, axis=-1), "gelu": ad.gelu,
            "loss": ad.nn.functional.cross_entropy,
        }  # fmt: skip
        given = ad.tensor(tokens), ad.tensor(targets), ad.tensor(mask)
        return descent(lambda: transformer_loss(p, *given, lib), ad.optim.AdamW(list(p.values()), lr=1e-3))

    def torch(torch: Any, compiled: bool = False) -> Case:
        p = {name: torch.nn.Parameter(torch.from_numpy(x.copy())) for name, x in transformer_parameters().items()}
        functional = torch.nn.functional
        lib = {
            "norm": lambda x, gain, bias: functional.layer_norm(x, (WIDTH,), gain, bias), "permute": torch.permute,
            "softmax": lambda x: torch.softmax(x, -1), "gelu": functional.gelu, "loss": functional.cross_entropy,
        }  # fmt: skip
        given = torch.from_numpy(tokens), torch.from_numpy(targets), torch.from_numpy(mask)
        optimizer = torch.optim.AdamW(list(p.values()), lr=1e-3, fused=True)
        loss = torch.compile(transformer_loss) if compiled else transformer_loss
        return descent(lambda: loss(p, *given, lib), optimizer)

    return {"adjoint": adjoint, "torch": torch, "torch.compile": lambda engine: torch(engine, compiled=True)}


WORKS = [
    Work("formula of 10⁷ elements, value and gradients", 0.30, formula(10_000_000), tolerance=1e-3),
    Work("formula of 10⁵ elements, value and gradients", 0.25, formula(100_000), tolerance=1e-4),
    Work("softmax 4096×1000 with gradients", 0.80, softmax(), tolerance=1e-3),
    Work("layer norm 4096×1000 with gradients", 0.80, layer_norm(), tolerance=1e-3),
    Work("Adam, 10⁶ parameters", 0.90, adam(1_000_000), tolerance=1e-5),
    Work("matrix product 512³", 1.05, product(512, 512, 512), tolerance=1e-4),
    Work("matrix product 2048×128×512", 1.05, product(2048, 128, 512), tolerance=1e-4),
    Work("training step 784-128-64-10, recorded anew", 0.80, network(), tolerance=1e-4),
    Work("training step of a small transformer, recorded anew", 0.70, transformer(), tolerance=1e-3),
]
