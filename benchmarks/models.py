"""Networks of every kind: recurrent layers, U-Net, autoencoder, vision transformer, generation, samples, inference.

The same builder serves both libraries where names and arguments are the same; weights and data are made here. PyTorch's side is
measured as it stands and through `torch.compile`; what has no row of its own there is one whose compilation changes nothing
(`nn.LSTM` and `nn.GRU` are one call into its library either way).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cliffs import filled
from benchmarks.harness import Case, Work
from benchmarks.networks import transformer_block

SEQUENCE, UNITS = 64, 128
WIDTH, HEADS, LAYERS, TOKENS, VOCABULARY = 256, 4, 4, 256, 65
IMAGES, BATCH = 60_000, 64


def recurrent(kind: str, layers: int, both: bool) -> Callable[[Any], Any]:
    """Recurrent layers over (N, 64, 128), the mean of the outputs, ten scores."""

    def build(engine: Any) -> Any:
        nn = engine.nn

        class Network(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.layers = getattr(nn, kind)(UNITS, UNITS, layers, batch_first=True, bidirectional=both)
                self.head = nn.Linear(UNITS * (2 if both else 1), 10)

            def forward(self, x: Any) -> Any:
                return self.head(self.layers(x)[0].mean(1))

        return Network()

    return build


def unet(engine: Any, width: int = 16, levels: int = 4) -> Any:
    """A U-Net that halves images (N, 1, 64, 64) `levels` times: two normalised convolutions at every size."""
    nn = engine.nn

    def block(channels: int, out: int) -> Any:
        def convolved(channels: int) -> list[Any]:
            return [nn.Conv2d(channels, out, 3, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]

        return nn.Sequential(*convolved(channels), *convolved(out))

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            widths = [width << level for level in range(levels + 1)]
            self.down = nn.ModuleList([block(a, b) for a, b in zip([1, *widths[:-2]], widths[:-1], strict=True)])
            self.pool, self.middle = nn.MaxPool2d(2), block(widths[-2], widths[-1])
            pairs = list(zip(widths[:0:-1], widths[-2::-1], strict=True))
            self.grow = nn.ModuleList([nn.ConvTranspose2d(a, b, 2, 2) for a, b in pairs])
            self.up = nn.ModuleList([block(a, b) for a, b in pairs])
            self.head = nn.Conv2d(width, 4, 1)

        def forward(self, x: Any) -> Any:
            seen = []
            for down in self.down:
                x = down(x)
                seen.append(x)
                x = self.pool(x)
            x = self.middle(x)
            for grow, up, beside in zip(self.grow, self.up, reversed(seen), strict=True):
                x = up(engine.concat([grow(x), beside], 1))
            return self.head(x)

    return Network()


def autoencoder(engine: Any) -> Any:
    """The network of `adjoint train vae-mnist`, its noise given: images (N, 28, 28) and (N, 10), to the bound in nats."""
    nn, channels = engine.nn, 16

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Sequential(
                nn.Conv2d(1, channels, 4, 2, padding=1), nn.ReLU(), nn.Conv2d(channels, 2 * channels, 4, 2, padding=1),
                nn.ReLU(), nn.Flatten(),
            )  # fmt: skip
            self.average, self.spread = nn.Linear(98 * channels, 10), nn.Linear(98 * channels, 10)
            self.decoder = nn.Sequential(
                nn.Linear(10, 98 * channels), nn.ReLU(), nn.Unflatten(1, (2 * channels, 7, 7)),
                nn.ConvTranspose2d(2 * channels, channels, 4, 2, padding=1), nn.ReLU(),
                nn.ConvTranspose2d(channels, 1, 4, 2, padding=1), nn.Flatten(1, 2),
            )  # fmt: skip

        def forward(self, images: Any, noise: Any) -> Any:
            features = self.encoder(images[:, None])
            mean, spread = self.average(features), self.spread(features)
            logits = self.decoder(mean + engine.exp(0.5 * spread) * noise)
            pixels = nn.functional.binary_cross_entropy_with_logits(logits, images, reduction="sum")
            return (pixels + 0.5 * (mean**2 + engine.exp(spread) - spread - 1).sum()) / images.shape[0]

    return Network()


def vision(engine: Any, width: int = 128, layers: int = 6) -> Any:
    """A vision transformer: images (N, 3, 32, 32) in patches of 4 × 4, 65 places of 128 numbers, six layers, four heads."""
    nn = engine.nn
    permute = engine.permute_dims if hasattr(engine, "permute_dims") else engine.permute

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.patches, self.places = nn.Conv2d(3, width, 4, 4), nn.Embedding(65, width)
            self.blocks = nn.Sequential(*[transformer_block(engine, width, HEADS) for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

        def forward(self, images: Any) -> Any:
            x = permute(self.patches(images).reshape((images.shape[0], width, 64)), (0, 2, 1))
            first = engine.zeros((images.shape[0], 1, width))
            x = engine.concat([first, x], 1) + self.places.weight
            return self.head(self.norm(self.blocks(x))[:, 0])

    return Network()


def by_class(engine: Any, model: Any) -> Callable[..., Any]:
    """The loss of the scores that a model gives."""
    return lambda x, y: engine.nn.functional.cross_entropy(model(x), y)


def training(
    name: str, bar: float, network: Callable[[Any], Any], given: Callable[[], tuple[Any, ...]], compiled: bool = True,
    loss_of: Callable[[Any, Any], Callable[..., Any]] = by_class,
) -> Work:  # fmt: skip
    """A training step with Adam: forward, backward, update; the loss is read."""

    def side(compiles: bool) -> Callable[[Any], Case]:
        def build(engine: Any) -> Case:
            model = filled(engine, network(engine))
            optimizer, loss = engine.optim.Adam(model.parameters(), lr=1e-3), loss_of(engine, model)
            if compiles and hasattr(engine, "compile"):
                loss = engine.compile(loss)

            def step(*data: Any) -> Any:
                value = loss(*data)
                optimizer.zero_grad()
                value.backward()
                optimizer.step()
                return value

            run = engine.jit(step) if not hasattr(engine, "compile") else step
            data = [engine.tensor(x) for x in given()]
            return Case(lambda _: run(*data).item(), check=lambda: [run(*data).item() for _ in range(3)])

        return build

    engines = {"adjoint": side(True), "torch": side(False)}
    if compiled:
        engines["torch.compile"] = side(True)
    return Work(name, bar, engines, tolerance=1e-3)


def drawn(*shapes: tuple[int, ...], classes: tuple[int, ...] = ()) -> Callable[[], tuple[Any, ...]]:
    """Normal numbers of some shapes, and four to ten classes."""

    def given() -> tuple[Any, ...]:
        generator = np.random.default_rng(0)
        numbers = [generator.standard_normal(shape).astype(np.float32) for shape in shapes]
        return (*numbers, *([generator.integers(0, 4, classes)] if classes else []))

    return given


def digits_and_noise() -> tuple[Any, ...]:
    generator = np.random.default_rng(0)
    return generator.random((128, 28, 28), np.float32), generator.standard_normal((128, 10)).astype(np.float32)


# --- generation -------------------------------------------------------------------------------------------------------


def writer(engine: Any, attend: Callable[..., Any]) -> Any:
    """A GPT whose attention goes through `attend(layer, q, k, v)`: a code (1, 1) and its place (1,), to scores (65,)."""
    nn = engine.nn
    permute = engine.permute_dims if hasattr(engine, "permute_dims") else engine.permute

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number
            self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            parts = self.qkv(self.before(x)).reshape((1, 1, 3, HEADS, WIDTH // HEADS))
            q, k, v = [permute(parts[:, :, i], (0, 2, 1, 3)) for i in range(3)]
            x = x + self.out(attend(self.number, q, k, v).reshape((1, 1, WIDTH)))
            return x + self.down(nn.functional.gelu(self.up(self.between(x))))

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(TOKENS, WIDTH)
            self.blocks = nn.ModuleList([Block(k) for k in range(LAYERS)])
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

        def forward(self, code: Any, place: Any) -> Any:
            x = self.tokens(code) + self.places(place)
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))[0, 0]

    return filled(engine, Network()).eval()


def generated(step: Callable[[int, int], int]) -> Case:
    """A token at a time, 256 of them over and over; the check are the first 20."""
    latest = 1

    def one(index: int) -> int:
        nonlocal latest
        latest = step(1 if index % TOKENS == 0 else latest, index % TOKENS)
        return latest

    return Case(one, check=lambda: [float(one(k)) for k in range(20)])


def generation_of_adjoint(ad: Any) -> Case:
    """One compiled step on a cache of a fixed size."""
    caches = [ad.nn.KeyValueCache(1, HEADS, TOKENS, WIDTH // HEADS) for _ in range(LAYERS)]
    model = writer(ad, lambda layer, q, k, v: caches[layer].attend(q, k, v))
    run = ad.jit(lambda code: model(code, caches[0].position[None]).argmax())

    def step(code: int, place: int) -> int:
        if place == 0:
            for cache in caches:
                cache.reset()
        with ad.no_grad():
            return int(run(ad.tensor([[code]])).item())

    return generated(step)


def generation_of_torch(torch: Any) -> Case:
    """A cache that is written in place; attention reads the part that is filled."""
    shape = (1, HEADS, TOKENS, WIDTH // HEADS)
    keys, values = ([torch.zeros(shape) for _ in range(LAYERS)] for _ in range(2))
    at = 0

    def attend(layer: int, q: Any, k: Any, v: Any) -> Any:
        keys[layer][:, :, at : at + 1], values[layer][:, :, at : at + 1] = k, v
        seen = [each[layer][:, :, : at + 1] for each in (keys, values)]
        return torch.nn.functional.scaled_dot_product_attention(q, *seen)

    model = writer(torch, attend)

    def step(code: int, place: int) -> int:
        nonlocal at
        at = place
        with torch.inference_mode():
            return int(model(torch.tensor([[code]]), torch.tensor([place])).argmax().item())

    return generated(step)


def generation_compiled(torch: Any) -> Case:
    """A cache of a fixed size and a mask, so that one compilation serves every place."""
    shape = (1, HEADS, TOKENS, WIDTH // HEADS)
    keys, values = ([torch.zeros(shape) for _ in range(LAYERS)] for _ in range(2))
    place, cells = torch.zeros(1, dtype=torch.int64), torch.arange(TOKENS)

    def attend(layer: int, q: Any, k: Any, v: Any) -> Any:
        keys[layer].index_copy_(2, place, k)
        values[layer].index_copy_(2, place, v)
        mask = (cells <= place)[None, None, None]
        return torch.nn.functional.scaled_dot_product_attention(q, keys[layer], values[layer], mask)

    model = writer(torch, attend)
    run = torch.compile(lambda code: model(code, place).argmax())

    def step(code: int, at: int) -> int:
        place.fill_(at)
        with torch.no_grad():
            return int(run(torch.tensor([[code]])).item())

    return generated(step)


# --- samples ----------------------------------------------------------------------------------------------------------


class Samples:
    """Digits as a program of one's own has them: one Python sample at a time, scaled."""

    def __init__(self) -> None:
        generator = np.random.default_rng(0)
        self.images = generator.integers(0, 256, (IMAGES, 28, 28), dtype=np.uint8)
        self.labels = generator.integers(0, 10, IMAGES)

    def __len__(self) -> int:
        return IMAGES

    def __getitem__(self, number: int) -> tuple[np.ndarray, int]:
        return self.images[number].astype(np.float32)[None] / 255, int(self.labels[number])


def epoch(module: Callable[[Any], Any]) -> Callable[[Any], Case]:
    """An epoch in batches of 64 by two workers, shuffled; the labels are added up."""

    def build(engine: Any) -> Case:
        loader = module(engine).DataLoader(Samples(), BATCH, shuffle=True, num_workers=2)

        def whole(_: int = 0) -> float:
            total = 0
            for images, labels in loader:
                assert images.shape[1:] == (1, 28, 28)
                total += int(labels.sum().item())
            return float(total)

        return Case(whole, check=lambda: [whole()])

    return build


# --- inference --------------------------------------------------------------------------------------------------------


def digit_weights() -> dict[str, Any]:
    """Weights of `adjoint train mnist-cnn`, drawn, and a digit."""
    generator = np.random.default_rng(0)
    shapes = {"1": (16, 1, 3, 3), "4": (32, 16, 3, 3), "8": (64, 1568), "10": (10, 64)}
    drawn = {f"{name}.weight": generator.normal(0, 0.05, shape) for name, shape in shapes.items()}
    drawn |= {f"{name}.bias": generator.normal(0, 0.05, shape[0]) for name, shape in shapes.items()}
    return {name: value.astype(np.float32) for name, value in drawn.items()}


def digit() -> np.ndarray:
    return np.random.default_rng(1).random((1, 28, 28), np.float32)


def inference_of_adjoint(ad: Any) -> Case:
    """The network of the recipe under `ad.jit`, from an array to an array."""
    model = ad.train.mnist_cnn().eval()
    model.load_state_dict({name: ad.tensor(value) for name, value in digit_weights().items()})
    run, image = ad.jit(model), digit()

    def predict(_: int = 0) -> np.ndarray:
        with ad.no_grad():
            scores: np.ndarray = run(image).numpy()
        return scores

    return Case(predict, check=lambda: predict()[0].tolist())


def inference_of_torch(compiled: bool) -> Callable[[Any], Case]:
    def build(torch: Any) -> Case:
        nn = torch.nn
        model = nn.Sequential(
            nn.Identity(), nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1568, 64), nn.ReLU(), nn.Linear(64, 10),
        ).eval()  # fmt: skip
        model.load_state_dict({name: torch.tensor(value) for name, value in digit_weights().items()})
        whole = lambda x: model(((x - 0.1307) * (1 / 0.3081))[:, None])  # noqa: E731
        run, image = torch.compile(whole) if compiled else whole, digit()

        def predict(_: int = 0) -> np.ndarray:
            with torch.inference_mode():
                scores: np.ndarray = run(torch.from_numpy(image)).numpy()
            return scores

        return Case(predict, check=lambda: predict()[0].tolist())

    return build


def inference_of_onnx(onnxruntime: Any) -> Case:
    """The same network written as ONNX by hand, in a session with one thread."""
    onnx = importlib.import_module("onnx")
    importlib.import_module("onnx.numpy_helper")
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    weights = digit_weights() | {"mean": np.array([0.1307], np.float32), "factor": np.array([1 / 0.3081], np.float32)}
    weights |= {"axis": np.array([1], np.int64)}
    convolution = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    layers: list[tuple[str, list[str], dict[str, Any]]] = [
        ("Sub", ["mean"], {}), ("Mul", ["factor"], {}), ("Unsqueeze", ["axis"], {}),
        ("Conv", ["1.weight", "1.bias"], convolution), ("Relu", [], {}),
        ("MaxPool", [], {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("Conv", ["4.weight", "4.bias"], convolution), ("Relu", [], {}),
        ("MaxPool", [], {"kernel_shape": [2, 2], "strides": [2, 2]}), ("Flatten", [], {"axis": 1}),
        ("Gemm", ["8.weight", "8.bias"], {"transB": 1}), ("Relu", [], {}), ("Gemm", ["10.weight", "10.bias"], {"transB": 1}),
    ]  # fmt: skip
    nodes = [
        helper.make_node(kind, [f"y{k}", *more], [f"y{k + 1}"], **settings)
        for k, (kind, more, settings) in enumerate(layers)
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("y0", number, ["N", 28, 28])],
        [helper.make_tensor_value_info(f"y{len(nodes)}", number, ["N", 10])],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    image = digit()

    def predict(_: int = 0) -> np.ndarray:
        scores: np.ndarray = session.run(None, {"y0": image})[0]
        return scores

    return Case(predict, check=lambda: predict()[0].tolist())


WORKS = [
    *[
        training(
            f"{kind} layer{'s, two of both directions' if both else ''}, 64 steps of 128 units", 0.7,
            recurrent(kind, 2 if both else 1, both), drawn((32, SEQUENCE, UNITS), classes=(32,)), False,
        )
        for kind in ("LSTM", "GRU")
        for both in (False, True)
    ],
    training("U-Net of four levels on 64 x 64, batch 8", 0.6, unet, drawn((8, 1, 64, 64), classes=(8, 64, 64))),
    training("autoencoder with transposed convolutions, batch 128", 0.6, autoencoder, digits_and_noise,
             loss_of=lambda engine, model: model),
    training("vision transformer of width 128, batch 32", 0.6, vision, drawn((32, 3, 32, 32), classes=(32,))),
    Work("a token of a GPT of 4 layers of width 256, with a key-value cache", 0.4,
         {"adjoint": generation_of_adjoint, "torch": generation_of_torch, "torch.compile": generation_compiled}),
    Work("an epoch of 60,000 Python samples, two workers", 0.7,
         {"adjoint": epoch(lambda ad: ad.data), "torch": epoch(lambda torch: torch.utils.data)}),
    Work("inference of the digit CNN, batch 1", 0.7,
         {"adjoint": inference_of_adjoint, "onnxruntime": inference_of_onnx, "torch": inference_of_torch(False),
          "torch.compile": inference_of_torch(True)}, unit="µs", tolerance=1e-4),
]  # fmt: skip
