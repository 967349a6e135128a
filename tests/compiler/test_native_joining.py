"""Loop nests and the products before and behind them, where rows, matrices and chunks lie across each other."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.compiler.fuse.kinds import Move
from adjoint.compiler.targets.target import tuned
from adjoint.execution.native.program import compile_nests
from loop_oracle import Oracle
from test_native import agree, nests, normal, planned

TOLERANCE = {"float32": 1e-4, "float64": 1e-11}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_sum_of_one_long_row_is_that_of_all_chunks(dtype: str) -> None:
    x, y = ad.tensor(abs(normal(1, 700_000, dtype=dtype))), ad.tensor(abs(normal(1, 900, 800, dtype=dtype)))[:, :, 1:]
    agree(
        x.sum(1),
        (x * x).sum(-1, keepdims=True),
        (y * y).sum((1, 2)),
        ad.max(y, axis=(1, 2)),
        tolerance=TOLERANCE[dtype],
    )
    agree(ad.mean(x * 2, axis=-1) + 1, y / y.sum((1, 2), keepdims=True), tolerance=TOLERANCE[dtype])


def test_rows_side_by_side_within_two_other_loops() -> None:
    for left, right in (((2, 1, 65), (2, 3, 1100)), ((3, 1, 40), (3, 2, 5000))):
        x, y = ad.tensor(normal(*left, 1)), ad.tensor(normal(*right, seed=1)).reshape((*right[:-1], 1, right[-1]))
        agree(x * y + 1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_nest_whose_rows_lie_across_a_products_matrices(dtype: str) -> None:
    a, b = ad.tensor(normal(12, 100, 32, dtype=dtype)), ad.tensor(normal(12, 32, 64, dtype=dtype, seed=1))
    c = ad.tensor(normal(8, 1, 64, dtype=dtype, seed=2))
    fusion = agree(ad.tanh((a @ b).reshape((8, 150, 64)) + c), tolerance=TOLERANCE[dtype])
    assert any(nest.products for nest in nests(fusion))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_follower_with_other_rows_than_the_nests(dtype: str) -> None:
    """The nest makes the right matrices, whose elements aren't a multiple of the result's rows."""
    a, b = ad.tensor(normal(24, 1000, 48, dtype=dtype)), ad.tensor(normal(24, 48, 80, dtype=dtype, seed=1))
    fusion = agree(a @ ad.softmax(b, axis=-1), tolerance=TOLERANCE[dtype])
    assert any(nest.followers for nest in nests(fusion))


@pytest.mark.parametrize("many", [16, 17, 18, 23])
def test_a_follower_reads_whole_matrices(many: int) -> None:
    """However the rows of all of them are shared out."""
    a, b = ad.tensor(normal(many, 64, 64)), ad.tensor(normal(many, 64, 64, seed=1))
    agree(a @ ad.tanh(b), a.mT @ (b * 2), tolerance=1e-11)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [(192, 1024, 256), (32, 4200, 48)], ids=str)
def test_a_long_product_computed_as_its_transpose(size: tuple[int, int, int], dtype: str) -> None:
    n, k, m = size
    a, b = normal(n, k, dtype=dtype) / 8, normal(m, k, dtype=dtype, seed=1) / 8
    agree(ad.tensor(a) @ ad.tensor(b).T, tolerance=TOLERANCE[dtype])


def test_what_is_made_again_may_be_what_others_are_made_of() -> None:
    x = ad.exp(ad.tensor(normal(300, 300) * 0.1))
    a, b = x * 0.5, x * 0.7
    total = ad.sin(x).sum()
    c, d = a * total, a - total
    other = (ad.sin(c) * d).sum()
    fusion = agree(c * other + d / other + b * other, tolerance=1e-9)
    assert len(nests(fusion)) >= 3


def test_what_is_made_again_of_a_value_that_is_passed_on() -> None:
    x = ad.stop_gradient(ad.exp(ad.tensor(normal(300, 300) * 0.1)))
    a, b = x * 0.5, x * 0.7
    total = (ad.sin(a) * ad.cos(b)).sum()
    agree(a * total + ad.exp(b) / total, ad.sin(a) * total, tolerance=1e-9)


def test_what_is_made_again_by_a_choice_reads_one_truth_value() -> None:
    x, y = ad.tensor(normal(300, 400)), ad.tensor(normal(300, 400, seed=1))
    for truth in (True, False):
        chosen = ad.broadcast_to(ad.tensor(np.array([truth])), (20, 20)).reshape(400)
        t = ad.sin(x)
        total = ad.exp(t * y * 1e-3).sum()
        agree(ad.tanh(ad.where(chosen, t, y) * total) + ad.cos(t * 2 * total), tolerance=1e-9)


def test_what_is_computed_anew_for_a_checkpoint_is_not_computed_early() -> None:
    x, w, v = [ad.variable(normal(4, 6, *shape, seed=k)) for k, shape in enumerate([(96, 32), (32, 96), (96, 32)])]
    inner = ad.sin(x)
    loss = (ad.checkpoint(lambda t: t @ w @ v)(inner) ** 2).sum()
    fusion = agree(*ad.gradients(loss, [x, w, v]), tolerance=1e-7)
    first = nests(fusion)[0]
    assert first.steps[0].op.name == "sin" and len(first.followers) == 1


def test_zeros_are_written_all_around_what_lies_amid_them() -> None:
    """Whatever was in the memory before; at once everywhere, where most of it is zeros, and between its rows where little is."""
    random = np.random.default_rng(0)
    for _ in range(20):
        shape = tuple(map(int, random.integers(1, 12, random.integers(1, 5))))
        x = ad.tensor(normal(*shape))
        width = [(int(a), int(b)) for a, b in random.integers(0, 3, (len(shape), 2))]
        part = tuple([slice(int(random.integers(0, n)), None, int(random.choice([1, 1, 2, -1]))) for n in shape])
        u = ad.tensor(normal(*x[part].shape, seed=1))
        outputs = ad.pad(ad.sin(x), width) * 2, ad.vjp(lambda x, part=part: x[part], x)[1](u)[0]
        agree(*outputs)
        plan, leaves, numbers = planned(*outputs)
        fusion = compile_nests(plan).fusion  # type: ignore[union-attr]
        for found, y in zip(Oracle(fusion, leaves, numbers).run(), outputs, strict=True):
            np.testing.assert_allclose(found, y.numpy(), 1e-12)


def test_tiles_fetch_what_the_nest_behind_them_reads_or_writes() -> None:
    x, w, r, b = [ad.variable(normal(*shape), name=name) for name, *shape in
                  (("x", 48, 40), ("w", 40, 32), ("r", 48, 32), ("b", 32))]  # fmt: skip
    with tuned(joined_from=1):
        text = ad.execution.explain(ad.function([x, w, r, b], [ad.tanh(x @ w + b) + r]), stage="loops")
        agree(ad.tanh(x @ w + b) + r, tolerance=1e-4)
    assert re.search(
        r"list0:\n +arrays to fetch 2, .*\n +array %\d+\n +array r\n +kinds of panels 1\n", text
    )  # two arrays, not the bias
    alone = ad.execution.explain(ad.function([x, w], [x @ w]), stage="loops")
    assert re.search(r"list0:\n +arrays to fetch 0, for a tile 0, for a step 0\n +kinds of panels 1\n", alone)


def parts(n: int, m: int, dtype: str) -> tuple[ad.Tensor, list[ad.Tensor]]:
    """An array, and three parts of its columns."""
    x = ad.variable(normal(n, 3 * m, dtype=dtype))
    return x, [x[:, k * m : (k + 1) * m] for k in range(3)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [(5, 7), (32, 128), (64, 40)], ids=str)
def test_pieces_of_an_array_are_stored_where_they_belong(size: tuple[int, int], dtype: str) -> None:
    x, (a, b, c) = parts(*size, dtype)
    fusion = agree(*ad.gradients((ad.sigmoid(a) * ad.tanh(b) * c).sum(), [x]), tolerance=TOLERANCE[dtype])
    assert not any(isinstance(unit, Move) for unit in fusion.units)
    (nest,) = [nest for nest in nests(fusion) if nest.into]
    assert len(nest.into) == 3
    assert "in " in nest.lines()[-1]


def test_pieces_that_others_read_are_moved() -> None:
    x, (a, b, c) = parts(8, 16, "float64")
    (gradient,) = ad.gradients((ad.sigmoid(a) * ad.tanh(b) * c).sum(), [x])
    product = ad.sigmoid(a) * ad.tanh(b)  # the last piece
    fusion = agree(gradient, product, tolerance=1e-12)
    assert any(isinstance(unit, Move) for unit in fusion.units)
    assert not any(nest.into for nest in nests(fusion))


def test_pieces_keep_the_zeros_of_sums() -> None:
    """-0 is added to the zeros that the other parts have there."""
    x = ad.variable(np.full((4, 32), -0.0))
    a, b = x[:, :16], x[:, 16:]
    (gradient,) = ad.gradients((a * b).sum(), [x])
    expected = gradient.numpy()
    again = ad.function([x], [ad.gradients((x[:, :16] * x[:, 16:]).sum(), [x])[0]])
    for _ in range(2):
        (found,) = again(x.numpy())
        assert found.numpy().tobytes() == expected.tobytes()


def test_tiles_of_a_long_sum_fetch_what_the_next_block_reads() -> None:
    """Of the matrix with more columns, which isn't packed, whichever comes first."""
    a, b = [ad.variable(normal(2304, n, dtype="float32"), name=name) for name, n in (("a", 96), ("b", 32))]
    for y in (a.mT @ b, b.mT @ a):
        agree(y, tolerance=1e-3)
        text = ad.execution.explain(ad.function([a, b], [y]), stage="loops")
        assert len(re.findall(r"list\d:\n +arrays to fetch 1, .*\n +array a\n", text)) == 2
        assert text.count("(lo · 1024 + (i + 256)) · 96, true)") == 2
