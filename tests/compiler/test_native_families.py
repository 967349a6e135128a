"""Units that differ in extents alone: what follows for one from another is what would be written for it."""

from __future__ import annotations

import random
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.compiler import linking, units
from adjoint.compiler.excerpts import Key
from adjoint.compiler.extents import Sheet, Size, followed, plain
from adjoint.compiler.families import follows
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.pipeline import lowered
from adjoint.compiler.units import write_unit
from adjoint.execution.evaluate import described
from adjoint.execution.native import relatives
from adjoint.execution.native.program import Native
from adjoint.runtime import code, onednn
from test_native import normal

pytest.importorskip("llvmlite")


class Pair(NamedTuple):
    first: int
    rest: tuple[int, int]


def test_a_formula_is_what_was_computed_and_says_where_it_holds() -> None:
    def strides(n: int, m: int) -> list[int]:
        rows = -(-n // 8) if n > 8 else 1
        return [n * m, rows, max(n, m), abs(n - m), sum([n, 3, m])]

    with Sheet() as sheet, sheet.hashing():
        n, m = sheet.symbol(20), sheet.symbol(7)
        results = strides(n, m)
        formula = sheet.formula(results)
        assert plain(results) == strides(20, 7)
    held = 0
    for a, b in [(random.Random(k).randint(1, 40), random.Random(-k).randint(1, 40)) for k in range(1, 200)]:
        found = formula((a, b))
        if found is None:
            assert a <= 8 or b > a  # another branch was taken
        else:
            held += 1
            assert found == strides(a, b)
    assert held > 20


def test_what_needs_the_number_itself_fixes_it() -> None:
    for needs in (str, int, "{}".format, lambda n: n & 3, lambda n: f"{n:3}", lambda n: [*range(int(n))]):
        with Sheet() as sheet, sheet.hashing():
            n = sheet.symbol(20)
            needs(n)
            formula = sheet.formula([n])
        assert formula((20,)) == [20]
        assert formula((21,)) is None


def test_functions_that_formulas_call() -> None:
    def area(pair: Pair) -> int:
        return len(range(pair.first)) * sum(pair.rest)

    assert followed(area, Pair(3, (4, 5))) == 27
    with Sheet() as sheet, sheet.hashing():
        n, m = sheet.symbol(20), sheet.symbol(7)
        found = followed(area, Pair(n, (m, 5)))
        assert isinstance(found, Size) and plain(found) == 240
        assert found > 100
        formula = sheet.formula([found, Pair(n, (m + 1, 5))])
    assert formula((20, 7)) == [240, Pair(20, (8, 5))]
    assert formula((21, 9)) == [294, Pair(21, (10, 5))]
    assert formula((2, 9)) is None


def test_comparisons_are_conditions_of_the_result() -> None:
    with Sheet() as sheet, sheet.hashing():
        n = sheet.symbol(20)
        assert (n, 3) == (20, 3)  # also inside of tuples
        assert n % 4 == 0
        formula = sheet.formula([n * 2])
    assert formula((20,)) == [40]
    assert formula((24,)) is None
    with Sheet() as sheet, sheet.hashing():
        n = sheet.symbol(20)
        assert not n % 4
        assert n > 16.5
        assert n * 0.5 >= 10
        assert isinstance(n, Size)
        formula = sheet.formula([n])
    assert formula((24,)) == [24]
    assert formula((18,)) is None
    assert formula((16,)) is None


def programs(n: int, m: int, batch: int) -> list[ad.Tensor]:
    """Some of each kind of unit, over these extents."""
    draw = np.random.default_rng(n * 1000 + m)

    def leaf(*shape: int, dtype: str = "f4") -> ad.Tensor:
        return ad.variable(draw.normal(size=shape).astype(dtype))

    x, w, b = leaf(n, m), leaf(m, n), leaf(n)
    y = ad.softmax(x @ w * 0.5 + b, axis=-1)
    q, k, v = (leaf(batch, n, m) for _ in range(3))
    attention = ad.softmax(q @ k.mT / 3, axis=-1) @ v
    index = ad.tensor(draw.integers(0, n, 5))
    moved = ad.concat([x, x * 2], axis=0)[index]
    wide = leaf(n, m, dtype="f8")
    long = (wide * wide).sum(axis=0) + wide.mean()
    turned = leaf(n, m).T * 2 + leaf(m, n)
    z = ad.tensor(draw.normal(size=(n, m)) + 1j * draw.normal(size=(n, m)))
    waves = (ad.exp(z * 1j) * z + 2.0).sum(axis=1)
    found = [
        y,
        attention,
        moved,
        long,
        waves,
        turned,
        *ad.gradients((attention**2).sum(), [q, k, v]),
        *ad.gradients(moved.sum(), [x]),
    ]
    return [*found, *ad.gradients((y * y).sum(), [x, w, b])]


def values(results: list[ad.Tensor]) -> list[bytes]:
    """The bits of results, by a native program of their own."""
    relatives._known.clear()
    run = ad.function([], results)
    assert isinstance(run.replay().program, Native)
    return [x.numpy().tobytes() for x in run()]


def keys_of(results: list[ad.Tensor]) -> list[Key]:
    """What the code of each unit depends on that computes the results."""
    _, plan = described([t.node for t in results])
    fusion = lowered(plan)
    assert not isinstance(fusion, str)
    return [key for key, _ in linking.keys_of(fusion).values() if follows(key)]


def checked(key: Key, kernel: linking.Kernel) -> bool:
    """Whether a kernel is what would be written for its unit alone. If not, it has more, for what vectors leave over."""
    written, known = write_unit(key), kernel.arguments
    if kernel.code is not code.load([written.source])[0]:
        assert len(kernel.numbers) > len(written.arguments.block())
        return False
    assert kernel.numbers == written.arguments.block()
    assert all(type(n) is int for n in [*kernel.numbers, kernel.chunks])
    assert (kernel.chunks, kernel.time) == (written.chunks, written.time)
    for name in ("scratch", "checks", "shared", "packed", "recipes"):
        assert getattr(known, name) == getattr(written.arguments, name), name
    assert [*map(type, known.checks)] == [*map(type, written.arguments.checks)]
    assert known.places() == kernel.places == written.arguments.places()
    assert list(known.positions) == list(written.arguments.positions)
    return True


@pytest.mark.parametrize("library", ["", "oneDNN"])
def test_kernels_that_follow_are_those_that_would_be_written(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if library:
        if not onednn.available():
            pytest.skip(f"oneDNN: {onednn.missing()}")
        monkeypatch.setattr(matmul_tiles, "available", lambda: False)
    linking.forget()
    monkeypatch.setenv("ADJOINT_CACHE", "")  # what earlier processes have written is written no more
    sizes = [(1, 1), (2, 9), (9, 2), (24, 16), (25, 16), (26, 17), (31, 40), (40, 31), (47, 64), (48, 64), (49, 64)]
    sizes += [(n, 33) for n in (3, 7, 8, 15, 16, 33, 50, 100, 101, 130)]
    written: list[Key] = []
    monkeypatch.setattr(units, "write_unit", lambda key: written.append(key) or write_unit(key))
    total = alike = 0
    for n, m in sizes:
        for batch in (1, 3):
            kernels = linking.find(keys_of(programs(n, m, batch)))
            total += len(kernels)
            alike += sum([checked(key, kernel) for key, kernel in kernels.items()])
    assert len(written) < total // 2  # the others followed
    assert 0.8 * total < alike < total
    assert bool(library) == any(["oneDNN" in repr(key) for key in written])


def test_code_for_what_is_left_behind_whole_vectors_serves_where_nothing_is() -> None:
    sizes = [(51, 33), (50, 35), (48, 64), (49, 80), (64, 96)]
    linking.forget()
    found = [values(programs(n, m, 3)) for n, m in sizes]
    for (n, m), results in zip(sizes, found, strict=True):
        linking.forget()  # so that these extents get code of their own
        assert values(programs(n, m, 3)) == results


@pytest.mark.parametrize("first", [401, 432])
def test_products_whose_ranges_are_all_alike_share_code_with_others(first: int) -> None:
    """Whichever came first: code of its own is only for the first of all."""
    linking.forget()
    w = normal(64, 240, dtype="float32", seed=1)
    codes = {}
    for n in (first, 402, 403, 432, 430):
        x = normal(n, 64, dtype="float32", seed=n)
        results = [ad.tensor(x) @ ad.tensor(w)]
        (key,) = keys_of(results)
        kernel = linking.find([key])[key]
        codes[n] = kernel.code
        assert kernel.chunks > 1
        (found,) = values(results)
        np.testing.assert_allclose(np.frombuffer(found, "f4").reshape(n, 240), x @ w, 1e-3, 1e-4)
    assert len({id(codes[n]) for n in (402, 403, 430)}) == 1
    assert first == 432 or codes[432] is codes[402] is codes[401]


@pytest.mark.parametrize("rows", [20, 33, 40, 57])
def test_an_index_out_of_bounds_is_told_with_the_extents_at_hand(rows: int) -> None:
    x = ad.tensor(np.arange(3.0 * rows).reshape(rows, 3))
    pick = ad.jit(lambda x, index: x[index] * 2)
    assert pick(x, ad.tensor([rows - 1, 0])).tolist() == [
        [6.0 * rows - 6, 6.0 * rows - 4, 6.0 * rows - 2],
        [0.0, 2.0, 4.0],
    ]
    with pytest.raises(IndexError, match=f"index {rows} is out of bounds for axis 0 with size {rows}"):
        pick(x, ad.tensor([rows, 0]))
