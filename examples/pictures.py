"""Ten expressions and their pictures, and a page to step through the first of them.

python examples/pictures.py --out pictures        (SVG needs pygraphviz: pip install 'adjoint[draw]')
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import adjoint as ad


def cube(**options: object) -> ad.Drawing:
    """The textbook figure: why x has gradient 40."""
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = 3 * x * x * x + 4 * x + 1 + x * z
    return ad.draw(y, **options)


def power(**options: object) -> ad.Drawing:
    """The same with x**3 as one operation, which carries +36 at once."""
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = 3 * x**3 + 4 * x + 1 + x * z
    return ad.draw(y, **options)


def repeated(**options: object) -> ad.Drawing:
    """An input used twice: two edges."""
    a = ad.variable(3.0)
    y = a + a
    return ad.draw(y, **options)


def shared(**options: object) -> ad.Drawing:
    """A result used three times: one box, and the gradients of its uses add up."""
    a = ad.variable(2.0)
    s = ad.sin(a)
    y = s * s + s
    return ad.draw(y, **options)


def doublings(**options: object) -> ad.Drawing:
    """Doubling five times: 32 paths, ten edges."""
    x = ad.variable(1.0)
    y = x + x
    for _ in range(4):
        y = y + y
    return ad.draw(y, **options)


def quotient(**options: object) -> ad.Drawing:
    """A quotient, whose second input receives a negative gradient."""
    a, b = ad.variable(6.0), ad.variable(2.0)
    y = a / b - b
    return ad.draw(y, **options)


def product(**options: object) -> ad.Drawing:
    """A product of matrices."""
    A, B = ad.variable([[1.0, 2.0], [3.0, 4.0]]), ad.variable([[1.0, 0.0], [0.0, 2.0]])
    y = (A @ B).sum()
    return ad.draw(y, **options)


def neurons(**options: object) -> ad.Drawing:
    """A model of two neurons: b = relu(w1·a + w3), c = relu(w2·a + w3), y = 4·sin(b + c)."""
    a, w1, w2, w3 = ad.variable(2.0), ad.variable(0.5), ad.variable(-0.25), ad.variable(1.0)
    b = ad.relu(w1 * a + w3)
    c = ad.relu(w2 * a + w3)
    y = 4 * ad.sin(b + c)
    return ad.draw(y, **options)


def variables(**options: object) -> ad.Drawing:
    """The same model without its operations: what depends on what, and how strongly."""
    return neurons(variables_only=True, **options)


def network(**options: object) -> ad.Drawing:
    """A network of two layers."""
    ad.random.seed(0)
    net = ad.nn.Sequential(ad.nn.Linear(2, 3), ad.nn.Tanh(), ad.nn.Linear(3, 1))
    x = ad.tensor([[1.0, -1.0]])
    loss = (net(x) ** 2).sum()
    return ad.draw(loss, names={"net": net, "x": x, "loss": loss}, **options)


def network_folded(**options: object) -> ad.Drawing:
    """The same network with each layer as a box."""
    return network(fold=["Linear"], **options)


PICTURES: tuple[Callable[..., ad.Drawing], ...] = (
    cube, power, repeated, shared, doublings, quotient, product, neurons, variables, network, network_folded,
)  # fmt: skip


def main() -> None:
    """Write every picture, and the page."""
    parser = argparse.ArgumentParser(description="Draw ten expressions with their derivatives.")
    parser.add_argument("--out", type=Path, default=Path("pictures"), help="the folder that they go to")
    parser.add_argument("--format", default="svg", choices=("svg", "png", "pdf", "dot", "txt"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for picture in PICTURES:
        path = options.out / f"{picture.__name__}.{options.format}"
        picture().save(path)
        print(f"{path}: {picture.__doc__}")
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = 3 * x * x * x + 4 * x + 1 + x * z
    ad.explore(y, options.out / "explorer.html")
    print(f"{options.out / 'explorer.html'}: step through the first of them")


if __name__ == "__main__":
    main()
