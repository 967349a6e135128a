"""Random steps of training code on tensors that share names, compiled, beside the same steps as plain Python.

A step computes, writes in place, gives tensors other data, differentiates, and reads, changes and clears gradients; its arguments
may be one tensor several times, or one that it knows already. After each of three calls everything is compared: results and who
they are, what every name holds, every gradient, and that values which somebody has kept are what they were.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import adjoint as ad

Tensors = list[Any]
VARIABLES = slice(
    2, 4
)  # of the pool; the others are plain tensors, and the last one is captured as the second variable is


def write(x: Any, y: Any) -> None:
    if not x.requires_grad:
        x[1:] = y[:-1].detach()


def add_to(x: Any, y: Any) -> None:
    if not x.requires_grad:
        x += y.detach()


def rebind(x: Any, y: Any) -> None:
    if not x.requires_grad:
        x.data = y.detach() * 0.5


def differentiate(x: Any, y: Any) -> None:
    z = ad.sin(x) * y
    if z.requires_grad:
        z.sum().backward()


ACTIONS = [write, add_to, rebind, differentiate]
MAKERS = [lambda x, y: x * y, lambda x, y: ad.tanh(x) + y, lambda x, y: x[::-1] * 1.0, lambda x, y: x.detach() * 2.0]
GRADIENTS = [
    lambda v: setattr(v, "grad", None), lambda v: setattr(v, "grad", v.detach() * 3.0),
    lambda v: None if v.grad is None else setattr(v, "data", v.detach() - 0.1 * v.grad),
    lambda v: None if v.grad is None else setattr(v, "grad", v.grad * 0.5),
]  # fmt: skip
lines = st.tuples(st.integers(0, 11), st.integers(0, 7), st.integers(0, 7))
calls = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=3, max_size=3)


def history(program: Any, arguments: Any, seed: int, compiled: bool) -> list[Any]:
    generator = np.random.default_rng(seed)
    pool = [ad.tensor(x) for x in generator.normal(size=(5, 4))]
    pool[VARIABLES] = [ad.variable(x) for x in pool[VARIABLES]]

    def step(*args: Any) -> Tensors:
        names = [*args, pool[3], pool[4]]
        for kind, i, k in program:
            x, y = names[i % len(names)], names[k % len(names)]
            if kind < 4:
                names.append(MAKERS[kind](x, y))
            elif kind < 8:
                ACTIONS[kind - 4](x, y)
            else:
                GRADIENTS[kind - 8](pool[2 + k % 2])
        return names[-2:]

    f = ad.jit(step) if compiled else step
    seen: list[Any] = []
    kept: list[tuple[Any, Any]] = []
    for one, other, differentiated in arguments:
        if differentiated:  # by somebody else
            for v in pool[VARIABLES]:
                v.grad = ad.cos(v.detach())
        results = f(pool[one], pool[other])
        seen += [x.numpy().copy() for x in (*results, *pool)]
        seen += [[x is y for y in pool] for x in results]
        seen += [None if v.grad is None else v.grad.numpy().copy() for v in pool[VARIABLES]]
        assert all(np.array_equal(x.numpy(), value) for x, value in kept)
        kept += [(x.detach(), x.numpy().copy()) for x in (*results, *pool)]
    return seen


@settings(max_examples=4 * settings().max_examples)
@given(st.lists(lines, min_size=1, max_size=7), calls, st.booleans(), st.integers(0, 10**6))
def test_steps_do_what_python_does(program: Any, arguments: Any, same: bool, seed: int) -> None:
    arguments = [arguments[0]] * 3 if same else arguments
    found, expected = [history(program, arguments, seed, compiled) for compiled in (True, False)]
    for x, y in zip(found, expected, strict=True):
        if isinstance(y, np.ndarray):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
        else:
            assert x == y
