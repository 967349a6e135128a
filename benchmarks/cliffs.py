"""Programs that are long or varied: deep networks, recurrences in Python loops, batches of every length, growing caches.

A short fixed program may run well and a longer one of its kind fall off a cliff. So each of these comes at several depths or
lengths; what a step costs should follow from its work alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Case, Work
from benchmarks.networks import transformer_block

VOCABULARY, WIDTH, HEADS, LENGTH, BATCH = 65, 64, 4, 64, 8


def gpt(engine: Any, layers: int, width: int = WIDTH, length: int = LENGTH) -> Any:
    """A small transformer of the usual kind; names and arguments are the same in both libraries."""
    nn = engine.nn

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList(
                [transformer_block(engine, width, HEADS, is_causal=True) for _ in range(layers)]
            )
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY)

        def forward(self, tokens: Any, places: Any) -> Any:
            x = self.tokens(tokens) + self.places(places)
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return Network()


def resnet(engine: Any, blocks: int) -> Any:
    """Four stages of residual blocks on small images."""
    nn = engine.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, channels: int, out: int, stride: int) -> None:
            super().__init__()
            self.first, self.norm = nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
            self.second, self.last = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
            self.beside = nn.Conv2d(channels, out, 1, stride, bias=False) if stride > 1 or channels != out else None

        def forward(self, x: Any) -> Any:
            y = self.last(self.second(nn.functional.relu(self.norm(self.first(x)))))
            return nn.functional.relu(y + (x if self.beside is None else self.beside(x)))

    layers: list[Any] = [nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU()]
    channels = 8
    for stage in range(4):
        for k in range(blocks):
            out = 8 << stage
            layers.append(Block(channels, out, 2 if stage and k == 0 else 1))
            channels = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


def residual(engine: Any, depth: int) -> Any:
    """The networks of 18, 34 and 50 layers by He and others (2016) in their form for small images: a first convolution of 3×3, no
    pool behind it, and the usual widths."""
    nn, relu = engine.nn, engine.nn.functional.relu
    blocks = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}[depth]
    widened = 4 if depth == 50 else 1

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, channels: int, width: int, stride: int) -> None:
            super().__init__()
            sizes = (1, 3, 1) if depth == 50 else (3, 3)
            out = width * widened
            widths = [channels, *[width] * (len(sizes) - 1), out]
            strides = [stride if k == len(sizes) - 2 else 1 for k in range(len(sizes))]
            self.convolutions = nn.ModuleList(
                [
                    nn.Conv2d(widths[k], widths[k + 1], size, strides[k], size // 2, bias=False)
                    for k, size in enumerate(sizes)
                ]
            )
            self.norms = nn.ModuleList([nn.BatchNorm2d(n) for n in widths[1:]])
            self.beside = nn.Conv2d(channels, out, 1, stride, bias=False) if stride > 1 or channels != out else None

        def forward(self, x: Any) -> Any:
            y = x
            for k, (convolution, norm) in enumerate(zip(self.convolutions, self.norms, strict=True)):
                y = norm(convolution(y if k == 0 else relu(y)))
            return relu(y + (x if self.beside is None else self.beside(x)))

    layers: list[Any] = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    channels = 64
    for stage, count in enumerate(blocks):
        for k in range(count):
            layers.append(Block(channels, 64 << stage, 2 if stage and k == 0 else 1))
            channels = (64 << stage) * widened
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


def recurrent(engine: Any, _: int) -> Any:
    """An LSTM's cell, called in a Python loop over the time steps."""
    nn = engine.nn

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.gates, self.head = nn.Linear(WIDTH + 128, 4 * 128), nn.Linear(128, 10)

        def forward(self, x: Any) -> Any:
            h = c = engine.zeros((x.shape[0], 128))
            for t in range(x.shape[1]):
                gates = self.gates(engine.concat([x[:, t], h], 1))
                i, f, g, o = [gates[:, 128 * k : 128 * (k + 1)] for k in range(4)]
                c = engine.sigmoid(f) * c + engine.sigmoid(i) * engine.tanh(g)
                h = engine.sigmoid(o) * engine.tanh(c)
            return self.head(h)

    return Network()


def tokens(length: int = LENGTH, batch: int = BATCH) -> tuple[Any, ...]:
    generator = np.random.default_rng(0)
    drawn = generator.integers(0, VOCABULARY, (2, batch, length))
    return drawn[0], np.arange(length), drawn[1].reshape(-1)


def images() -> tuple[Any, ...]:
    generator = np.random.default_rng(0)
    return generator.standard_normal((32, 3, 32, 32)).astype(np.float32), generator.integers(0, 10, 32)


def sequences(length: int) -> tuple[Any, ...]:
    generator = np.random.default_rng(0)
    return generator.standard_normal((32, length, WIDTH)).astype(np.float32), generator.integers(0, 10, 32)


def filled(engine: Any, model: Any) -> Any:
    """The model with weights that are the same in every library: small ones, and biases of zero."""
    generator = np.random.default_rng(1)
    for name, parameter in model.named_parameters():
        if len(parameter.shape) > 1:
            drawn = generator.normal(0, 0.5 / parameter.shape[1] ** 0.5, tuple(parameter.shape)).astype(np.float32)
            parameter.data = engine.tensor(drawn)
        elif "bias" in name:
            parameter.data = engine.zeros(tuple(parameter.shape))
    return model


def step_of(engine: Any, network: Callable[[Any, int], Any], depth: int, compiled: bool = False) -> Callable[..., Any]:
    """A training step with AdamW, as a function of the inputs and, last, the labels; `compiled` is PyTorch's compiler, and its
    fused optimizer."""
    model = filled(engine, network(engine, depth))
    optimizer = engine.optim.AdamW(model.parameters(), lr=1e-3, **({"fused": True} if compiled else {}))

    def loss_of(*given: Any) -> Any:
        scores = model(*given[:-1])
        return engine.nn.functional.cross_entropy(scores.reshape((-1, scores.shape[-1])), given[-1])

    forward = engine.compile(loss_of) if compiled else loss_of

    def step(*given: Any) -> Any:
        loss = forward(*given)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def side(
    network: Callable[[Any, int], Any],
    depth: int,
    data: Callable[[], tuple[Any, ...]],
    jit: bool,
    compiled: bool = False,
) -> Any:
    """One library's side of a training step."""

    def build(engine: Any) -> Case:
        step = step_of(engine, network, depth, compiled)
        if jit and hasattr(engine, "jit") and not hasattr(engine, "compile"):
            step = engine.jit(step)
        given = [engine.tensor(x) for x in data()]
        return Case(lambda _: step(*given).item(), check=lambda: [step(*given).item() for _ in range(2)])

    return build


def training(
    name: str,
    bar: float,
    network: Callable[[Any, int], Any],
    depth: int,
    data: Callable[[], tuple[Any, ...]],
    jit: bool = True,
    tolerance: float = 1e-3,
) -> Work:
    sides = {engine: side(network, depth, data, jit) for engine in ("adjoint", "torch")}
    sides["torch.compile"] = side(network, depth, data, jit, compiled=True)
    return Work(name, bar, sides, tolerance=tolerance)


# Tables of which a step uses few rows -----------------------------------------------------------------------------------


def skip_gram(rows: int, width: int, optimizer: str) -> dict[str, Callable[[Any], Case]]:
    """word2vec's step with negative sampling: 512 pairs, 5 negatives for each, two tables. PyTorch's Adam takes no sparse
    gradients: there it is SparseAdam."""

    def build(engine: Any) -> Case:
        nn = engine.nn
        ours = hasattr(engine, "jit") and not hasattr(engine, "compile")
        tables = [nn.Embedding(rows, width, sparse=True) for _ in range(2)]
        for k, table in enumerate(tables):
            drawn = np.random.default_rng(k).standard_normal((rows, width)).astype(np.float32) / 10
            table.weight.data = engine.tensor(drawn)
        kind = optimizer if ours or optimizer != "Adam" else "SparseAdam"
        chosen = getattr(engine.optim, kind)([t.weight for t in tables], lr=0.05 if optimizer == "SGD" else 1e-3)

        def step(center: Any, context: Any, negative: Any) -> Any:
            a, positive, others = tables[0](center), tables[1](context), tables[1](negative)
            near, far = (a * positive).sum(1), (a[:, None] * others).sum(2)
            loss = -(nn.functional.logsigmoid(near).mean() + nn.functional.logsigmoid(-far).sum(1).mean())
            chosen.zero_grad()
            loss.backward()
            chosen.step()
            return loss

        run = engine.jit(step) if ours else step
        generator = np.random.default_rng(0)
        batches = [
            [engine.tensor(generator.integers(0, rows, shape)) for shape in ((512,), (512,), (512, 5))]
            for _ in range(20)
        ]
        return Case(lambda k: run(*batches[k % 20]).item(), check=lambda: [run(*given).item() for given in batches[:3]])

    return {"adjoint": build, "torch": build}


# From an empty cache ---------------------------------------------------------------------------------------------------


def fresh(body: str) -> Callable[[Any], Case]:
    """A process of its own, and an empty cache, for each step; what it prints is the time, as the step's sample."""

    def build(engine: Any) -> Case:
        name = engine.__name__
        code = f"import {name} as engine, time\nfrom benchmarks import cliffs\n{body}"

        def step(_: int) -> float:
            with tempfile.TemporaryDirectory() as folder:
                environment = {**os.environ, "ADJOINT_CACHE": folder}
                started = time.perf_counter()
                subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)
                return time.perf_counter() - started

        return Case(step)

    return build


FIRST = """
step = cliffs.step_of(engine, cliffs.gpt, {layers})
step = engine.jit(step) if hasattr(engine, "jit") and not hasattr(engine, "compile") else step
step(*[engine.tensor(x) for x in cliffs.tokens()]).item()
"""
LENGTHS = """
import numpy
step = cliffs.step_of(engine, cliffs.gpt, 2)
step = engine.jit(step) if hasattr(engine, "jit") and not hasattr(engine, "compile") else step
for length in numpy.random.default_rng(0).integers(24, 56, 100):
    step(*[engine.tensor(x) for x in cliffs.tokens(int(length))]).item()
"""
GROWING = """
import numpy
generator = numpy.random.default_rng(0)
def draw(*shape):
    return engine.tensor((generator.standard_normal(shape) / 16).astype("float32"))
layers = [(*[draw(128, 128) for _ in range(4)], draw(128, 512), draw(512, 128)) for _ in range(6)]
for _ in range({times}):
    keys, values = ([draw(1, 128) for _ in layers] for _ in range(2))
    x = draw(1, 128)
    for _ in range(200):
        for k, (query, key, value, out, up, down) in enumerate(layers):
            h = x / (x * x).mean() ** 0.5
            keys[k] = engine.concat([keys[k], h @ key])
            values[k] = engine.concat([values[k], h @ value])
            scores = engine.softmax((h @ query) @ keys[k].mT / 11, -1)
            x = x + scores @ values[k] @ out
            h = x / (x * x).mean() ** 0.5
            x = x + engine.nn.functional.gelu(h @ up) @ down
        x.tolist()
"""


def filled_in_place(engine: Any) -> Case:
    """A token after the other through six layers of attention, whose keys and values go into arrays of a fixed length."""
    width, length = 128, 200
    generator = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return engine.tensor((generator.standard_normal(shape) / 16).astype("float32"))

    shapes = [*[(width, width)] * 4, (width, 4 * width), (4 * width, width)]
    layers = [[draw(*shape) for shape in shapes] for _ in range(6)]
    keys, values = ([engine.zeros((length, width)) for _ in layers] for _ in range(2))
    places, first = engine.arange(length), draw(1, width)

    def token(x: Any, place: Any) -> Any:
        hidden = engine.where(places > place, -1e9, 0.0)
        for k, (query, key, value, out, up, down) in enumerate(layers):
            h = x / (x * x).mean() ** 0.5
            keys[k][place] = h @ key
            values[k][place] = h @ value
            x = x + engine.softmax((h @ query) @ keys[k].mT / 11 + hidden, -1) @ values[k] @ out
            h = x / (x * x).mean() ** 0.5
            x = x + engine.nn.functional.gelu(h @ up) @ down
        return x

    run = engine.jit(token) if hasattr(engine, "jit") and not hasattr(engine, "compile") else token

    def sampled(_: int = 0) -> list[float]:
        x = first
        for place in range(length):
            x = run(x, engine.tensor([place]))
            found = x.tolist()
        return found[0]  # type: ignore[no-any-return]

    return Case(sampled, check=sampled)


def started(name: str, bar: float, body: str) -> Work:
    return Work(name, bar, {"adjoint": fresh(body), "torch": fresh(body)})


WORKS = [
    *[training(f"GPT of {n} layers under jit", 0.65, gpt, n, tokens) for n in (6, 12, 24, 48)],
    *[training(f"GPT of {n} layers, recorded anew", 0.8, gpt, n, tokens, False) for n in (6, 12, 24, 48)],
    *[training(f"ResNet of {n} blocks a stage under jit", 0.65, resnet, n, images) for n in (2, 4, 7)],
    # AdamW's first step divides each gradient by its own size, so that rounding alone moves the second loss of a deep network: at
    # 50 layers PyTorch's float32 is 7e-3 from its float64, ours 3.5e-3, while both libraries' float64 agree to 1e-11.
    *[
        training(
            f"ResNet-{n} on 32×32, batch 32, under jit", 0.65, residual, n, images, tolerance=1e-3 if n < 50 else 1e-2
        )
        for n in (18, 34, 50)
    ],
    *[
        training(f"LSTM of {n} time steps in a Python loop", 0.65, recurrent, 1, lambda n=n: sequences(n))  # type: ignore[misc]
        for n in (40, 64)
    ],
    *[
        Work(
            f"word2vec on rows, {rows:,} x {width}, {optimizer}", 0.7, skip_gram(rows, width, optimizer), tolerance=1e-3
        )
        for rows, width in ((100_000, 128), (1_000_000, 64))
        for optimizer in ("SGD", "Adam")
    ],
    *[started(f"process with one step of a GPT of {n} layers", 0.8, FIRST.format(layers=n)) for n in (6, 48)],
    started("process with 100 batches of 24 to 55 tokens", 0.8, LENGTHS),
    started("process with 200 tokens and a growing cache", 1.0, GROWING.format(times=1)),
    started("the same, twice", 1.0, GROWING.format(times=2)),
    Work(
        "200 tokens with a cache of fixed length under jit",
        0.5,
        {"adjoint": filled_in_place, "torch": filled_in_place},
        tolerance=1e-3,
    ),
]
