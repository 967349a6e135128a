"""The named simplifications of a plan: each does what it says, keeps every bit, and leaves alone what only looks alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution.numpy_programs import Streaming
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.plan import Plan, build
from adjoint.plan.simplify import RULES, simplified

SPECIAL = np.array([[0.0, -0.0, 1.5, -2.0], [np.inf, -np.inf, np.nan, 5e-324]])
INTEGERS = np.array([[0, 3, -7, 1], [2, -1, 9, 4]])


def planned(*outputs: ad.Tensor) -> tuple[Plan, list[Any], list[Any]]:
    c = canonicalize([y.node for y in outputs])
    plan = build(c, [c.number[y.node] for y in outputs], False)
    return plan, [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]


def names(*outputs: ad.Tensor) -> list[str]:
    """The operations left after simplifying; the values are the same, to the bit."""
    plan, leaves, numbers = planned(*outputs)
    before = [step.op.name for step in plan.steps]
    found = simplified(plan)
    assert [step.op.name for step in plan.steps] == before, "the plan itself must stay"
    with np.errstate(all="ignore"):
        expected = Streaming(plan).run(leaves, numbers, True)
        results = Streaming(found).run(leaves, numbers, True)
    for one, other in zip(results, expected, strict=True):
        assert np.shape(one) == np.shape(other) and np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)
        if np.asarray(one).dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(one), np.signbit(other))
    return [step.op.name for step in found.steps]


def floats() -> ad.Tensor:
    return ad.tensor(SPECIAL)


def integers() -> ad.Tensor:
    return ad.tensor(INTEGERS)


COLUMN = ad.tensor(np.array([[-1.0], [2.0], [0.0]]))


SQUARE = ad.tensor(np.arange(9.0).reshape(3, 3) - 4)


def transposed_sum_read_again() -> ad.Tensor:
    product = SQUARE @ SQUARE
    return ad.concat([ad.exp(product), (product + SQUARE @ SQUARE.T).T])


def both_ways(x: ad.Tensor) -> ad.Tensor:
    return ad.concat([x.reshape((-1,)), x.T.reshape((-1,))])


def of_one(x: ad.Tensor, *places: tuple[int, int]) -> ad.Tensor:
    """Copies of an array in zeros that are wider by two, at several places, added up."""
    parts = [ad.pad(x, ((row, 2 - row), (column, 2 - column))) for row, column in places]
    return sum(parts[1:], parts[0])


def read_twice() -> ad.Tensor:
    total = of_one(floats(), (0, 1), (1, 1))
    return ad.concat([total[1:3].ravel(), total[2:4].ravel()])


CASES: dict[str, tuple[Callable[[], ad.Tensor], list[str]]] = {
    "the middle of shifted sums": (
        lambda: of_one(floats(), (0, 1), (1, 1), (1, 2))[1:3, 1:5],
        ["embed", "slice", "slice", "slice", "add", "add"],
    ),
    "more than the middle": (
        lambda: ad.exp(of_one(floats(), (0, 1), (1, 1))[:, 1:]),
        ["embed", "slice", "slice", "add", "exp"],
    ),
    "a part of it": (lambda: of_one(floats(), (1, 1), (1, 2))[1:2, 2:4], ["slice", "slice", "add"]),
    "a shifted sum read twice": (
        read_twice,
        ["embed", "embed", "add", "slice", "reshape", "slice", "reshape", "concat"],
    ),
    "with steps": (
        lambda: of_one(floats(), (0, 1), (1, 1))[::2],
        ["embed", "embed", "add", "slice"],
    ),
    "x times 1": (lambda: ad.exp(floats() * 1), ["exp"]),
    "1 times an integer": (lambda: 1 * integers() + 3, ["add"]),
    "x over 1": (lambda: ad.exp(floats() / 1), ["exp"]),
    "1 over x stays": (lambda: 1 / floats(), ["divide"]),
    "x minus 0": (lambda: ad.exp(floats() - 0.0), ["exp"]),
    "x plus 0 stays, for the sign of zero": (lambda: floats() + 0.0, ["add"]),
    "0 minus x stays": (lambda: 0.0 - floats(), ["subtract"]),
    "an integer plus 0": (lambda: (integers() + 0) * 3, ["multiply"]),
    "two negations": (lambda: ad.exp(ad.negative(ad.negative(floats()))), ["exp"]),
    "two inversions": (lambda: ad.where(~(~(floats() > 1)), floats(), 1.0), ["greater", "where"]),
    "wider and back": (
        lambda: ad.exp(floats().astype("float32").astype("float64").astype("float32")), ["astype", "exp"]),
    "narrower and back stays": (lambda: floats().astype("float32").astype("float64"), ["astype", "astype"]),
    "two transposes": (lambda: ad.exp(floats().T.T), ["exp"]),
    "transposes that make one": (
        lambda: ad.permute_dims(ad.permute_dims(ad.reshape(floats(), (2, 2, 2)), (1, 2, 0)), (1, 2, 0)),
        ["reshape", "permute_dims"],
    ),
    "two reshapes": (lambda: ad.exp(floats().reshape((8,)).reshape((4, 2))), ["reshape", "exp"]),
    "reshapes that undo each other": (lambda: ad.exp(floats().reshape((8,)).reshape((2, 4))), ["exp"]),
    "a choice of one": (lambda: ad.exp(ad.where(floats() > 1, *[floats()] * 2)), ["exp"]),
    "a product that sums nothing": (lambda: COLUMN @ floats()[:1], ["slice", "multiply", "add"]),
    "one that is read transposed": (
        lambda: ad.exp((COLUMN @ floats()[:1]).T), ["slice", "permute_dims", "permute_dims", "multiply", "add", "exp"]),
    "one that is read both ways": (
        lambda: both_ways(COLUMN @ floats()[:1]),
        ["slice", "multiply", "add", "reshape", "permute_dims", "reshape", "concat"]),
    "a sum of products, transposed": (
        lambda: ad.exp((SQUARE @ SQUARE + (SQUARE + 1) @ SQUARE).T),
        ["matmul", "add", "matmul", "permute_dims", "permute_dims", "add", "exp"]),
    "a sum with one that is read again stays": (
        transposed_sum_read_again, ["matmul", "exp", "permute_dims", "matmul", "add", "permute_dims", "concat"]),
    "slices put side by side": (
        lambda: slope(lambda x: (ad.sin(x[:1]) * ad.exp(x[1:])).sum()),
        ["slice", "exp", "slice", "cos", "scale", "sin", "scale", "pieces"]),
    "what was reshaped before goes there in its own shape": (
        lambda: slope(lambda x: (ad.sin(halves(x)[0].T) * 2.0).sum() + (halves(x)[1] * 3.0).sum(), 8),
        ["slice", "reshape", "permute_dims", "cos", "multiply", "permute_dims", "broadcast_to", "pieces"]),
    "slices that meet stay": (
        lambda: ad.jvp(lambda x: x, (floats(),), (floats(),))[1][:, 1:], ["slice"]),
    "the place of an extreme": (
        lambda: ad.argmax(floats(), axis=1),
        ["max", "reshape", "broadcast_to", "equal", "not_equal", "bitwise_or", "broadcast_to", "where", "min"]),
    "the place of the smallest integer": (
        lambda: ad.argmin(integers(), axis=-1),
        ["min", "reshape", "broadcast_to", "equal", "broadcast_to", "where", "min"]),
    "places down the columns": (
        lambda: ad.argmax(integers(), axis=0),
        ["max", "reshape", "broadcast_to", "equal", "broadcast_to", "where", "min"]),
    "a factor that is finite": (lambda: slope(lambda x: (2 * ad.exp(x)).sum()), ["exp", "multiply"]),
    "a factor that may be infinite stays": (lambda: slope(lambda x: (x * ad.exp(x)).sum()), ["exp", "scale", "add"]),
}  # fmt: skip


def halves(x: ad.Tensor) -> list[ad.Tensor]:
    return [x[:4].reshape((2, 2)), x[4:].reshape((2, 2))]


def slope(function: Callable[[ad.Tensor], ad.Tensor], count: int = 2) -> ad.Tensor:
    x = ad.variable(np.array([1.0, -2.0] * (count // 2)))
    return ad.gradients(function(x), [x])[0]


@pytest.mark.parametrize("case", CASES)
def test_a_rule_applies_where_it_is_exact_and_nowhere_else(case: str) -> None:
    make, expected = CASES[case]
    assert names(make()) == expected


def test_constants_are_folded_and_what_needs_an_array_gets_one() -> None:
    ones = ad.ones((3, 4), dtype="float64")
    assert names(ad.exp(floats()) * ad.sqrt(ad.full((2, 4), 1.0, dtype="float64") * 2)) == ["exp", "multiply"]
    assert names(ones * 2 + 1) == []  # an output, and small
    assert "sum" in names(ad.sum(ones * 2, axis=0))
    assert "matmul" in names((ones * 2) @ (ones.T - 1))
    assert "multiply" in names(ad.ones((2000,)) * 2), "a large result isn't kept for ever"


def test_what_nothing_reads_is_dropped_but_host_code_is_called() -> None:
    calls: list[int] = []

    def host(x: np.ndarray) -> np.ndarray:
        calls.append(1)
        return x

    x = ad.tensor(np.arange(4.0))
    unread = ad.host_call(host, x, shape=(4,), dtype="float64")
    assert names(ad.where(ad.ones((4,)) > 0, x, unread * 3)) is not None
    assert calls, "the host's code counts, not its result"


def test_what_reads_only_what_is_given_waits_for_its_reader() -> None:
    v, g = floats(), floats()
    total = ad.sin(g).sum(axis=0)
    assert names(0.9 * v + total)[-2:] == ["multiply", "add"]
    square = v * v
    assert names((total + 1) * (ad.cos(square) + square)).count("multiply") == 2
    chain = v
    for _ in range(2000):
        chain = ad.sin(chain)
    assert names(chain + total).count("sin") == 2001


def test_every_rule_has_its_case() -> None:
    assert len(RULES) == 13


def test_parts_of_fewer_axes_are_repeated_before_they_are_added() -> None:
    row, block = ad.tensor(np.array([1.0, -0.0])), ad.tensor(np.array([[3.0], [4.0], [-0.0]]))
    left, right = ad.pad(row, ((0, 2),)), ad.pad(block, ((0, 0), (3, 0)))
    assert "pieces" not in names(left + right) and "pieces" not in names(right + left)
    wide = ad.pad(ad.tensor(np.ones((3, 2))), ((0, 0), (0, 2)))
    assert "pieces" in names(wide + right)


def embedded(x: ad.Tensor, *at: int | slice) -> ad.Tensor:
    """A part of x, times 3, amid zeros: what the reverse pass of reading the part makes."""
    (found,) = ad.gradients(ad.sum(x[at] ** 2 * 1.5), [x])
    return found


@pytest.mark.parametrize("order", ["forwards", "backwards", "drawn"])
def test_rows_amid_zeros_become_one_array(order: str) -> None:
    x = ad.variable(np.random.default_rng(0).standard_normal((40, 2)))
    rows = {"forwards": range(40), "backwards": range(39, -1, -1), "drawn": np.random.default_rng(1).permutation(40)}
    total, *later = [embedded(x, int(t)) for t in rows[order]]
    for term in later:
        total = total + term
    found = names(total)
    assert found.count("pieces") == 1 and "embed" not in found and "add" not in found
    np.testing.assert_array_equal(total.numpy(), 3 * x.numpy())


def test_sums_amid_zeros_that_are_read_again_or_meet_keep_their_values() -> None:
    x = ad.variable(np.random.default_rng(0).standard_normal(24))
    even, odd = embedded(x, slice(None, None, 2)), embedded(x, slice(None, None, -2))
    assert "pieces" not in names(even + odd)  # they interleave: their extents overlap
    first, last, amid = embedded(x, slice(0, 4)), embedded(x, slice(20, 24)), embedded(x, slice(8, 16, 3))
    inner = first + last
    assert names(inner + amid, inner).count("pieces") == 2
    assert names((inner + amid) + (embedded(x, 5) + embedded(x, 17))).count("pieces") == 1
    assert names((inner + amid) + embedded(x, slice(18, 21))).count("pieces") == 1  # meets the last of them
    np.testing.assert_array_equal(
        (inner + embedded(x, slice(18, 21))).numpy()[18:], x.numpy()[18:] * [3, 3, 6, 3, 3, 3]
    )


def test_random_sums_amid_zeros_keep_their_bits() -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        x = ad.variable(rng.choice([0.0, -0.0, 1.0, np.inf, np.nan, -3.5], (7, 6)))
        terms = []
        for _ in range(rng.integers(2, 9)):
            at = [slice(*sorted(rng.integers(0, n + 1, 2).tolist()), int(rng.integers(1, 4))) for n in x.shape]
            term = embedded(x, *at) if rng.random() < 0.7 else embedded(x, int(rng.integers(7)), int(rng.integers(6)))
            terms.append(term)
        while len(terms) > 1:
            i = int(rng.integers(len(terms) - 1))
            terms[i : i + 2] = [terms[i] + terms[i + 1]]
        names(terms[0])
