"""Programs that were run often are run in one call of native code: as before, whatever is given and whoever else runs them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
import random_graphs
from adjoint.execution.native.program import OFTEN, Native, compile_nests
from adjoint.plan.canonical import canonicalize
from adjoint.plan.plan import build
from adjoint.runtime import llvm
from support import in_threads

pytest.importorskip("llvmlite")
A = np.linspace(-1.0, 2.0, 12).reshape(3, 4)


@pytest.fixture(autouse=True)
def there() -> None:
    if llvm.binding() is None:
        pytest.skip("there is no LLVM")


def program(*tensors: ad.Tensor) -> tuple[Native, list[Any], list[Any]]:
    """The native program of pending tensors, its leaves and its numbers."""
    c = canonicalize([t.node for t in tensors])
    made = compile_nests(build(c, list(range(c.roots)), False))
    assert made is not None
    return made, [x.value for x in c.leaves], [value for value, _ in c.numbers]


def often(native: Native, leaves: list[Any], numbers: list[Any]) -> None:
    for _ in range(OFTEN):
        native.run(leaves, numbers, True)


def equal(found: list[Any], expected: list[Any]) -> bool:
    return all([x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
                for x, y in zip(found, expected, strict=True)])  # fmt: skip


def formula(scale: float = 1.5) -> tuple[Native, list[Any], list[Any]]:
    x, y = ad.tensor(A), ad.tensor(A[:, 0])
    hidden = ad.tanh(x * scale).mT @ y
    return program(hidden, ad.sum(hidden * 0.25) + y)


def test_results_are_the_same_and_each_time_new() -> None:
    native, leaves, numbers = formula()
    expected = native.run(leaves, numbers, True)
    often(native, leaves, numbers)
    assert native.at_once is not None and native.at_once.run(leaves, numbers) is not None
    found = [native.run(leaves, numbers, True) for _ in range(3)]
    assert all([equal(x, expected) for x in found])
    arrays = [y for x in found for y in x]
    assert not any([np.shares_memory(x, y) for i, x in enumerate(arrays) for y in [*arrays[:i], *leaves]])
    assert all([type(x) is np.ndarray and x.base is None and x.flags.writeable for x in arrays])


@pytest.mark.parametrize("number", [0.0, -0.0, float("inf"), float("nan"), 1e300, 1e-300, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_are_what_they_are(number: float, dtype: str) -> None:
    """Also those that are too large for their dtype."""
    x = ad.tensor(A, dtype=dtype)
    native, leaves, numbers = program(ad.exp(x) * 2.5 + 0.75)
    often(native, leaves, numbers)
    for given in ([number, 0.75], [2.5, number]):
        with np.errstate(all="ignore"):
            at_once, expected = native.run(leaves, given, True), native.run_once(leaves, given, ())
        assert equal(at_once, expected)


LEAVES: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda x: np.asfortranarray(x),
    "every other": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "unaligned": lambda x: np.frombuffer(b"1" + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    "of a subclass": lambda x: x.view(type("Own", (np.ndarray,), {})),
}


@pytest.mark.parametrize("kind", LEAVES)
def test_leaves_lie_as_they_like(kind: str) -> None:
    native, leaves, numbers = formula()
    often(native, leaves, numbers)
    expected = native.run(leaves, numbers, True)
    for _ in range(3):
        assert equal(native.run([LEAVES[kind](x) for x in leaves], numbers, True), expected)
        assert equal(native.run(leaves, numbers, True), expected)


def test_what_fails_raises_and_the_next_run_is_right() -> None:
    x, index = ad.tensor(A), ad.tensor([0, 2]) + ad.tensor([0, 0])
    native, leaves, numbers = program(x[index] * 2.0)
    often(native, leaves, numbers)
    assert native.at_once is not None
    expected = native.run(leaves, numbers, True)
    bad = [np.array([0, 3]) if y.dtype.kind == "i" and k == 1 else y for k, y in enumerate(leaves)]
    assert native.at_once.run(leaves, numbers) is not None and native.at_once.run(bad, numbers) is None
    for _ in range(3):
        with pytest.raises(IndexError):
            native.run(bad, numbers, True)
        assert equal(native.run(leaves, numbers, True), expected)


def test_large_results_and_other_programs_take_the_long_way() -> None:
    x = ad.tensor(np.ones((200, 200)))
    for made in (ad.exp(x) * 2.5, ad.tensor([1, 2]) * 3):
        native, leaves, numbers = program(made)
        often(native, leaves, numbers)
        assert native.at_once is None


def test_threads_run_one_program() -> None:
    native, leaves, numbers = formula()
    often(native, leaves, numbers)
    wrong = list[Any]()

    def work(seed: int) -> None:
        own = [x + seed for x in leaves]
        expected = native.run_once(own, numbers, ())
        wrong.extend([k for k in range(300) if not equal(native.run(own, numbers, True), expected)])

    in_threads(work, 4)
    assert not wrong


@pytest.mark.parametrize("seed", range(30))
def test_random_programs(seed: int) -> None:
    pending = [t for t in random_graphs.drawn(seed) if t.node.value is None]
    c = canonicalize([t.node for t in pending])
    plan = build(c, list(range(c.roots)), False)
    native = compile_nests(plan)
    if native is None or any([type(x.value) is not np.ndarray for x in c.leaves]):
        return
    leaves, numbers = [x.value for x in c.leaves], [value for value, _ in c.numbers]
    expected = native.run(leaves, numbers, True)
    often(native, leaves, numbers)
    found = native.run(leaves, numbers, True)
    assert [type(x) for x in found] == [type(x) for x in expected]
    assert equal([np.asarray(x) for x in found], [np.asarray(x) for x in expected])


def test_a_program_is_freed_with_its_last_holder() -> None:
    native, leaves, numbers = formula()
    often(native, leaves, numbers)
    assert native.at_once is not None
    gone = weakref.ref(native)
    gc.disable()
    try:
        del native
        assert gone() is None
    finally:
        gc.enable()
