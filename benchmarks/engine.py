"""What recording, differentiating and replaying a graph costs.

A builder takes the engine's module and returns its side of a work; the data is made here, once for every engine.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Case, Work

Formula = Callable[..., Any]  # (sin, x, w, b, length) -> a scalar of the engine

RECORDED = 300  # operations in a graph that is recorded or differentiated but not evaluated
SMALL = 50  # four times this many operations on 8 elements
CHAIN = 20_000  # three times this many operations on 100 elements
NODES = 30_000

# --- one operation ----------------------------------------------------------------------------------------------------


def add(_: Any, y: Any, z: Any) -> Any:
    """Each loop spells its operation out: a call around it would be timed as well."""
    for _ in range(RECORDED):
        y = y + z
    return y


def multiply(_: Any, y: Any, z: Any) -> Any:
    for _ in range(RECORDED):
        y = y * z
    return y


def multiply_number(_: Any, y: Any, z: Any) -> Any:
    for _ in range(RECORDED):
        y = y * 2.5
    return y


def sine(ad: Any, y: Any, z: Any) -> Any:
    for _ in range(RECORDED):
        y = ad.sin(y)
    return y


def product(_: Any, y: Any, z: Any) -> Any:
    for _ in range(RECORDED):
        y = y @ z
    return y


def mixed(sin: Any, y: Any, w: Any, b: Any, length: int) -> Any:
    """Three operations, `length` times over."""
    for _ in range(length):
        y = sin(y) * w + b
    return y.sum()


def recording(loop: Callable[[Any, Any, Any], Any], other: tuple[int, ...] = (8,)) -> Callable[[Any], Case]:
    """Record a fresh graph of one operation over and over; its end is returned, so it is freed off the clock."""

    def build(ad: Any) -> Case:
        y = ad.variable(np.full((2, 4) if len(other) == 2 else 8, 0.5, np.float32))
        z = ad.variable(np.full(other, 0.5, np.float32))
        return Case(lambda _: loop(ad, y, z), operations=RECORDED)

    return build


class Slotted:
    """What a node weighs in plain Python."""

    __slots__ = ("a", "b", "c", "d", "e", "f", "g", "h")

    def __init__(self, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> None:
        self.a = a
        self.b = b
        self.c = c
        self.d = d
        self.e = e
        self.f = f
        self.g = g
        self.h = h


def plain_objects(_: Any) -> Case:
    """A chain of slotted objects: no bar depends on it, it tells a slow machine from a slow engine."""

    def step(_: int) -> Any:
        y: Any = None
        for _ in range(RECORDED):
            y = Slotted((y, y), None, None, None, None, 0, True, None)
        return y

    return Case(step, operations=RECORDED)


def reverse(ad: Any) -> Case:
    """Build the gradients' graph of a graph just recorded."""
    x, w, b = (ad.variable(np.full(8, value, np.float32)) for value in (0.5, 0.9, 0.1))

    def record(_: int) -> Any:
        for leaf in (x, w, b):
            leaf.grad = None
        return mixed(ad.sin, x, w, b, RECORDED // 3)

    return Case(
        lambda y: y.backward(create_graph=True),
        prepare=record,
        operations=RECORDED,
    )


def forward(ad: Any) -> Case:
    """Record a function together with its tangent."""
    x, v, w, b = (ad.tensor(np.full(8, value, np.float32)) for value in (0.5, 1.0, 0.9, 0.1))
    return Case(
        lambda _: ad.jvp(lambda x: mixed(ad.sin, x, w, b, RECORDED // 3), (x,), (v,)),
        operations=RECORDED,
    )


def bytes_per_node(ad: Any) -> Case:
    """Traced memory that a chain adds, over its operations."""
    x, w, b = (ad.variable(np.full(8, value, np.float32)) for value in (0.5, 0.9, 0.1))

    def step(_: int) -> float:
        tracemalloc.start()
        end = mixed(ad.sin, x, w, b, NODES // 3)
        taken = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        del end
        return taken / NODES

    return Case(step)


# --- loss and gradients of a formula, recorded anew each step ---------------------------------------------------------


def small(sin: Any, y: Any, w: Any, b: Any, length: int) -> Any:
    """Four operations, `length` times over."""
    for _ in range(length):
        y = sin(y * w + b) * 0.9
    return y.sum()


def recorded_anew(
    formula: Formula, data: Sequence[NDArray[Any]], length: Callable[[int], int]
) -> Mapping[str, Callable[[Any], Case]]:
    """The formula's value and its gradients by `w` and `b`, recorded from nothing each step."""

    def in_adjoint(ad: Any) -> Case:
        x, w, b = ad.tensor(data[0]), ad.variable(data[1]), ad.variable(data[2])

        def values(index: int) -> tuple[Any, ...]:
            loss = formula(ad.sin, x, w, b, length(index))
            loss.backward()
            asked = loss, w.grad, b.grad
            ad.evaluate(*asked)  # adjoint is lazy: without this nothing would be computed
            w.grad = b.grad = None
            return asked

        return Case(step=lambda index: values(index) and None, check=lambda: flat([x.numpy() for x in values(0)]))

    def in_torch(torch: Any) -> Case:
        x, w, b = (torch.from_numpy(array.copy()) for array in data)
        w.requires_grad_()
        b.requires_grad_()

        def values(index: int) -> tuple[Any, ...]:
            loss = formula(torch.sin, x, w, b, length(index))
            loss.backward()
            asked = loss.detach(), w.grad, b.grad
            w.grad = b.grad = None
            return asked

        return Case(step=lambda index: values(index) and None, check=lambda: flat(values(0)))

    return {"adjoint": in_adjoint, "torch": in_torch}


def flat(values: Sequence[Any]) -> list[float]:
    """Every number of some arrays, in order."""
    return [float(number) for value in values for number in np.asarray(value).ravel()]


def numbers(count: int, dtype: type[np.floating[Any]]) -> list[NDArray[Any]]:
    """x, w and b of `small` and `mixed`: gains near 0.9, so a long chain neither dies nor explodes."""
    draw = np.random.default_rng(0).uniform
    return [draw(low, high, count).astype(dtype) for low, high in ((-1, 1), (0.85, 0.95), (-0.1, 0.1))]


# --- a 2-16-16-1 network made of scalars, over 100 points -------------------------------------------------------------

WIDTHS = (2, 16, 16, 1)
POINTS = 100
RATE = 0.02
DECAY = 1e-4


def moons() -> tuple[list[tuple[float, float]], list[float]]:
    """Two interleaved half circles with noise, labelled +1 and -1."""
    random = np.random.default_rng(1)
    angle = random.uniform(0, np.pi, POINTS)
    upper = np.arange(POINTS) % 2 == 0
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle)) + random.normal(0, 0.1, POINTS)
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle)) + random.normal(0, 0.1, POINTS)
    return list(zip(x.tolist(), y.tolist(), strict=True)), np.where(upper, 1.0, -1.0).tolist()


def weights() -> list[float]:
    """Every parameter in micrograd's order: a neuron's weights, then its bias."""
    random = np.random.default_rng(2)
    neurons = [fan for fan, width in itertools.pairwise(WIDTHS) for _ in range(width)]
    return [value for fan in neurons for value in [*random.uniform(-1, 1, fan).tolist(), 0.0]]


def score(relu: Callable[[Any], Any], parameters: Sequence[Any], point: Sequence[Any]) -> Any:
    """The network's output for one point, built from scalar operations alone, as micrograd's MLP builds it."""
    supply = iter(parameters)
    signals = list(point)
    for width in WIDTHS[1:]:
        outputs = []
        for _ in range(width):
            products = [next(supply) * signal for signal in signals]
            total = next(supply)
            for term in products:
                total = total + term
            outputs.append(total if width == 1 else relu(total))
        signals = outputs
    return signals[0]


def margin_loss(
    relu: Callable[[Any], Any], parameters: Sequence[Any], scalar: Callable[[float], Any], score_of: Callable[..., Any]
) -> Any:
    """The loss of micrograd's demo: the mean hinge over the points, and weight decay."""
    points, labels = moons()
    scores = [score_of(parameters, [scalar(coordinate) for coordinate in point]) for point in points]
    hinges = [relu(value * -label + 1.0) for value, label in zip(scores, labels, strict=True)]
    return sum(hinges) * (1.0 / POINTS) + sum(p * p for p in parameters) * DECAY


def training(step: Callable[[int], tuple[float, list[float]]]) -> Case:
    """A case out of a step that gives its loss and the parameters it leaves; three steps are compared."""

    def check() -> list[float]:
        history = [step(0) for _ in range(3)]
        return [loss for loss, _ in history] + history[-1][1]

    return Case(lambda index: step(index) and None, check=check)


def network_of(library: Any, relu: Callable[[Any], Any], parameters: list[Any], scalar: Callable[[float], Any]) -> Case:
    """The training step in a library with PyTorch's names."""
    optimizer = library.optim.SGD(parameters, lr=RATE)

    def step(_: int) -> tuple[float, list[float]]:
        loss = margin_loss(relu, parameters, scalar, lambda parameters, point: score(relu, parameters, point))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item(), [parameter.item() for parameter in parameters]

    return training(step)


def network_adjoint(ad: Any) -> Case:
    parameters = [ad.variable(value, dtype="float64") for value in weights()]
    return network_of(ad, ad.relu, parameters, lambda value: ad.tensor(value, dtype="float64"))


def network_torch(torch: Any) -> Case:
    parameters = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in weights()]
    return network_of(torch, torch.relu, parameters, lambda value: torch.tensor(value, dtype=torch.float64))


def network_replayed(ad: Any) -> Case:
    parameters = [ad.variable(value, dtype="float64") for value in weights()]
    loss = margin_loss(
        ad.relu,
        parameters,
        lambda value: ad.tensor(value, dtype="float64"),
        lambda parameters, point: score(ad.relu, parameters, point),
    )
    replay = ad.function(parameters, [loss, *ad.gradients(loss, parameters)])
    values = weights()

    def step(_: int) -> tuple[float, list[float]]:
        loss, *gradients = replay(*values)
        values[:] = [value - RATE * gradient.item() for value, gradient in zip(values, gradients, strict=True)]
        return loss.item(), list(values)

    return training(step)


def network_micrograd(micrograd: Any) -> Case:
    model = micrograd.MLP(WIDTHS[0], list(WIDTHS[1:]))
    parameters = model.parameters()
    for parameter, value in zip(parameters, weights(), strict=True):
        parameter.data = value

    def step(_: int) -> tuple[float, list[float]]:
        loss = margin_loss(lambda value: value.relu(), parameters, micrograd.Value, lambda _, point: model(point))
        model.zero_grad()
        loss.backward()
        for parameter in parameters:
            parameter.data -= RATE * parameter.grad
        return loss.data, [parameter.data for parameter in parameters]

    return training(step)


# --- whole processes --------------------------------------------------------------------------------------------------

FORMULAS = {
    "adjoint": """
import adjoint as ad
x = ad.variable(2.0, dtype="float64")
y = 3 * x**3 + 4 * x + 1 + x * ad.sin(x)
y.backward()
print(x.grad.item())
""",
    "autograd": """
import autograd.numpy as np
from autograd import grad
print(grad(lambda x: 3 * x**3 + 4 * x + 1 + x * np.sin(x))(2.0))
""",
}


def process(program: str, *, prints_number: bool) -> Callable[[Any], Case]:
    """The time of a Python process from its start to its end."""

    def run(_: int = 0) -> str:
        done = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    return lambda _: Case(run, check=(lambda: [float(run())]) if prints_number else None)


WORKS = [
    Work("record add", 0.9, {"adjoint": recording(add), "python": plain_objects}, "own", "µs"),
    Work("record multiply", 0.9, {"adjoint": recording(multiply)}, "own", "µs"),
    Work("record sin", 0.9, {"adjoint": recording(sine)}, "own", "µs"),
    Work("record matmul", 0.9, {"adjoint": recording(product, (4, 4))}, "own", "µs"),
    Work("record x*2.5", 1.2, {"adjoint": recording(multiply_number)}, "own", "µs"),
    Work("reverse graph per operation", 2.0, {"adjoint": reverse}, "own", "µs"),
    Work("jvp per operation", 5.0, {"adjoint": forward}, "own", "µs"),
    Work("bytes per node", 200.0, {"adjoint": bytes_per_node}, "own", "B", returned=True),
    Work(
        "200 operations on 8 elements, from the second step",
        0.35,
        recorded_anew(small, numbers(8, np.float32), lambda _: SMALL),
        tolerance=1e-4,
    ),
    Work(
        "chain of 20,000 × 3 on 100 elements, from the second step",
        0.5,
        recorded_anew(mixed, numbers(100, np.float64), lambda _: CHAIN),
    ),
    Work(
        # Each step is one link shorter than the one before, so no structure is seen twice.
        "chain of 20,000 × 3 on 100 elements, at first sight",
        1.5,
        recorded_anew(mixed, numbers(100, np.float64), lambda index: CHAIN - index),
    ),
    Work(
        "2-16-16-1 network of scalars",
        0.4,
        {"adjoint": network_adjoint, "torch": network_torch, "micrograd": network_micrograd},
    ),
    Work(
        "2-16-16-1 network of scalars, replayed", 0.005, {"adjoint": network_replayed, "micrograd": network_micrograd}
    ),
    Work(
        "import adjoint, beyond import numpy",
        40.0,
        {
            "adjoint": process("import adjoint", prints_number=False),
            "numpy": process("import numpy", prints_number=False),
        },
        "extra",
    ),
    Work(
        "process that prints a scalar formula's gradient",
        1.4,
        {engine: process(program, prints_number=True) for engine, program in FORMULAS.items()},
    ),
]
