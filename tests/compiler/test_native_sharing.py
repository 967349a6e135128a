"""Units that are equal share their code: within a plan, across plans, and wherever their arrays are."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint import nn
from adjoint.compiler import linking
from adjoint.compiler.excerpts import exact
from adjoint.compiler.fuse.kinds import Host
from adjoint.execution.native.program import Native, compile_nests
from adjoint.execution.numpy_programs import Streaming
from adjoint.runtime import code
from test_native import agree, normal, planned


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The keys of all units that are written from now on."""
    linking.forget()
    monkeypatch.setenv("ADJOINT_CACHE", "")  # what earlier processes have written is written no more
    found: list[Any] = []
    original = linking.units.write_unit
    monkeypatch.setattr(linking.units, "write_unit", lambda key: found.append(key) or original(key))
    return found


def layered(depth: int, width: int = 24) -> tuple[nn.Module, Any]:
    model = nn.Sequential(
        *[nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.GELU()) for _ in range(depth)]
    )
    optimizer = ad.optim.AdamW(model.parameters(), lr=1e-3)

    def step(x: ad.Tensor) -> ad.Tensor:
        loss = (model(x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return model, ad.jit(step)


def test_layers_share_their_code(compiled: list[Any]) -> None:
    x = ad.tensor(normal(40, 24, dtype="float32"))
    layered(3)[1](x)
    model, step = layered(9)
    for p in model.parameters():  # whether what draws them is compiled is a matter of time
        p.numpy()
    compiled.clear()
    step(x)
    # Layers are like each other, but for how the updates of small arrays meet in one loop, and for numbers that never change,
    # which are constants where there are many.
    assert len(compiled) <= 10


def test_slices_share_their_code(compiled: list[Any]) -> None:
    x = ad.tensor(normal(50, 8, 33))
    agree(ad.stack([ad.tanh(x[t] * 2.0).sum(axis=1) for t in range(50)]))
    nests = [key for key in compiled if key[0] == "nest"]
    assert len(nests) <= 2
    compiled.clear()
    agree(ad.sin(x[3:7, :, 2]) + 1.0)
    agree(ad.sin(x[10:14, :, 5]) + 1.0)
    assert len(compiled) == 1


def test_pieces_and_updates_share_their_code(compiled: list[Any]) -> None:
    x, y = ad.tensor(normal(30, 7)), ad.tensor(normal(4, 7, seed=1))
    for start in (0, 5, 26):
        z = ad.sin(x)
        z[start : start + 4] = y
        agree(z)
    assert len([key for key in compiled if key[0] == "move"]) == 1


def test_a_long_program_runs_natively() -> None:
    """Longer than any limit there was: a recurrence in a Python loop, with its gradients."""
    w, x = ad.variable(normal(48, 48) / 7), ad.tensor(normal(400, 64, 48))
    h = ad.tensor(normal(64, 48, seed=1))
    for t in range(400):
        h = ad.tanh(h @ w + x[t]) * 0.9 + h * 0.1
    plan, leaves, numbers = planned(h, *ad.gradients((h * h).sum(), [w]))
    assert len(plan.steps) > 4000
    expected = Streaming(plan).run(leaves, numbers, True)
    program = compile_nests(plan)
    assert program is not None and not any(isinstance(unit, Host) for unit in program.fusion.units)
    assert len({id(kernel) for kernel in program.linked.keep}) < 60
    for found, other in zip(program.run(leaves, numbers, True), expected, strict=True):
        np.testing.assert_allclose(found, other, 1e-9, 1e-9)


def test_each_unit_says_which_of_its_indices_failed() -> None:
    def program(n: int, m: int) -> tuple[Native, list[Any], list[Any]]:
        a, b = ad.tensor(normal(n, 3)), ad.tensor(normal(m, 3))
        i, j = ad.tensor(np.arange(2)), ad.tensor(np.arange(2))
        plan, leaves, numbers = planned(ad.take(ad.sin(a), i, axis=0), ad.take(ad.sin(b), j, axis=0))
        found = compile_nests(plan)
        assert found is not None
        return found, leaves, numbers

    found, leaves, numbers = program(5, 9)
    wrong = [k for k, x in enumerate(leaves) if x.dtype.kind == "i"]
    messages = []
    for k in wrong:
        given = list(leaves)
        given[k] = np.array([1, 11])
        with pytest.raises(IndexError, match="index 11 is out of bounds for axis 0") as error:
            found.run(given, numbers, True)
        messages.append(str(error.value)[-1])
    assert sorted(messages) == ["5", "9"]
    found.run(leaves, numbers, True)


def test_numbers_that_are_equal_and_not_the_same() -> None:
    assert exact(0.0) != exact(-0.0) and exact((1, 2)) != exact((True, 2)) and exact(1) != exact(1.0)
    assert exact((1, (2.5, None))) == exact((1, (2.5, None)))
    x = ad.tensor(np.array([-1.0, 0.0, 1.0]))
    for low in (0.0, -0.0):
        plan, leaves, numbers = planned(1.5 / ad.clip(x, low, 2.0))
        with np.errstate(all="ignore"):
            expected = Streaming(plan).run(leaves, numbers, True)
        program = compile_nests(plan)
        assert program is not None
        np.testing.assert_array_equal(program.run(leaves, numbers, True), expected)


def test_kernels_hold_no_user_objects() -> None:
    model, step = layered(2, 17)
    step(ad.tensor(normal(5, 17, dtype="float32")))
    step(ad.tensor(normal(5, 17, dtype="float32")))
    watched = weakref.ref(model)
    del model, step
    gc.collect()
    assert watched() is None


def test_kernels_that_nobody_uses_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linking, "MOST_KERNELS", 3)
    x = ad.tensor(normal(11))
    for k in range(2, 8):
        agree(ad.sin(x) ** k)
    assert len(linking._kernels) <= 3


# Extents ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> list[str]:
    """The text of all functions that are made to machine code from now on."""
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path))
    found: list[str] = []
    original = code._compiled
    monkeypatch.setattr(code, "_compiled", lambda sources, *how: found.extend(sources) or original(sources, *how))
    return found


LENGTHS = [9, 10, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 70, 127, 1000, 1001]


def shifted(x: ad.Tensor) -> ad.Tensor:
    return ad.tanh(x[:, 1:] - x[:, :-1]) * 0.5


STRUCTURES = {
    "elementwise": (lambda n: ad.tensor(normal(3, n)), lambda x: ad.sin(x) * 2.0 + x),
    "softmax": (lambda n: ad.tensor(normal(12, n, dtype="float32")), lambda x: ad.softmax(x, axis=1)),
    "total": (lambda n: ad.tensor(normal(n, 12)), lambda x: (x * 1.5).sum(axis=0) + x.max(axis=0)),
    "transposed": (lambda n: ad.tensor(normal(n, 20)), lambda x: x.mT * 1.5 + ad.sin(x).mT),
    "slices": (lambda n: ad.tensor(normal(4, n)), shifted),
    "rows": (lambda n: ad.tensor(normal(n, 40)), lambda x: x @ ad.tensor(normal(40, 24, seed=1))),
    "columns": (lambda n: ad.tensor(normal(24, n)), lambda x: ad.tensor(normal(40, 24, seed=1)) @ x),
    "sums": (lambda n: ad.tensor(normal(24, n)), lambda x: x @ ad.sin(x).mT),
    "joined": (lambda n: ad.tensor(normal(n, 12)), lambda x: ad.concat([x, x * 2.0, x], axis=0)),
    "gathered": (lambda n: ad.tensor(normal(n, 12)), lambda x: x[ad.tensor(np.array([3, -1, 0]))]),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_lengths_share_their_code(name: str, functions: list[str]) -> None:
    make, f = STRUCTURES[name]
    linking.forget()
    for n in LENGTHS:
        agree(f(make(n)), tolerance=2e-5 if name == "softmax" else 1e-11)
    before = len(functions)
    assert before <= 24, "variants by whether there are whole vectors, tails, blocks, by heights of tiles"
    for n in (*range(9, 72, 4), 200, 777, 1005):
        agree(f(make(n)), tolerance=2e-5 if name == "softmax" else 1e-11)
    assert len(functions) <= before + 6


def test_batches_of_images_share_their_code(functions: list[str]) -> None:
    def pooled(n: int, c: int) -> ad.Tensor:
        return nn.functional.max_pool2d(ad.tensor(normal(n, c, 12, 12, dtype="float32")) * 2.0, 3, 2, 1)

    linking.forget()
    for n, c in ((11, 16), (12, 48), (9, 20)):
        agree(pooled(n, c), tolerance=1e-6)
    before = len(functions)
    for n, c in ((10, 16), (23, 32), (29, 20), (13, 52)):
        agree(pooled(n, c), tolerance=1e-6)
    assert len(functions) == before


def test_one_array_as_both_matrices_of_a_batch() -> None:
    """The operands begin at the same place, and go through it in different ways."""
    x = ad.tensor(normal(12, 10, 16))
    agree(x[:, None] @ x[None].mT, tolerance=1e-11)
    y = ad.tensor(normal(9, 11, 20, 20, seed=1))
    agree(ad.permute_dims(y, (1, 0, 2, 3))[:9] @ y[:, :9].mT, tolerance=1e-11)
