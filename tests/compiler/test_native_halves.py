"""Numbers of 16 bits in native code: stored, moved and converted there, to the bit as NumPy converts them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("ml_dtypes")

import adjoint as ad
from adjoint.compiler.fuse.kinds import Host, Nest
from adjoint.execution.native import compile_plan
from adjoint.execution.tiers import tiers
from test_native import normal, planned

KINDS = {"float16": np.dtype("float16"), "bfloat16": ad.bfloat16.dtype}
each = pytest.mark.parametrize("dtype", KINDS)


def computed(*outputs: ad.Tensor) -> list[Any]:
    """By one nest alone."""
    plan, leaves, numbers = planned(*outputs)
    program = compile_plan(plan)
    assert program is not None and not any([isinstance(unit, Host) for unit in program.fusion.units])
    return program.run(leaves, numbers, False)


def same(found: Any, expected: Any) -> None:
    """Every bit; of NaN only that it is one."""
    assert found.dtype == expected.dtype
    nan = np.isnan(expected.astype("float32"))
    np.testing.assert_array_equal(np.isnan(found.astype("float32")), nan)
    bits = f"uint{8 * found.dtype.itemsize}"
    np.testing.assert_array_equal(found.view(bits)[~nan], expected.view(bits)[~nan])


def numbers_of(dtype: str) -> Any:
    return np.arange(1 << 16, dtype=np.uint16).view(KINDS[dtype])


@each
def test_every_number_becomes_float32(dtype: str) -> None:
    x = numbers_of(dtype)
    same(computed(ad.tensor(x).astype("float32"))[0], x.astype("float32"))


@each
def test_the_nearest_number_with_ties_to_even(dtype: str) -> None:
    exact = numbers_of(dtype).astype("float32")
    finite = np.sort(exact[np.isfinite(exact)])
    between = ((finite[1:].astype("float64") + finite[:-1]) / 2).astype("float32")
    bits = np.random.default_rng(0).integers(0, 1 << 32, 200_000, dtype=np.uint32).view("float32")
    some = np.concatenate([exact, between, bits, np.array([65519.996, 65520, 65536, 3e38, -1e-40], "float32")])
    with np.errstate(all="ignore"):
        x = np.concatenate([some, np.nextafter(some, np.float32(np.inf)), np.nextafter(some, np.float32(-np.inf))])
        same(computed(ad.tensor(x).astype(dtype))[0], x.astype(KINDS[dtype]))


@each
def test_what_is_rounded_between_two_operations_stays_one_nest(dtype: str) -> None:
    x = normal(7, 33, dtype="float32")
    outputs = (ad.tensor(x).astype(dtype) * ad.tensor(x).astype(dtype), ad.tensor(x).astype(dtype).sum(1))
    plan, leaves, numbers = planned(*outputs)
    program = compile_plan(plan)
    assert all([isinstance(unit, Nest) for unit in program.fusion.units])
    product, total = program.run(leaves, numbers, False)
    h = x.astype(KINDS[dtype]).astype("float32")
    same(product, (h * h).astype(KINDS[dtype]))
    np.testing.assert_allclose(total.astype("float32"), h.sum(1), 0.01, 0.01)


@each
def test_they_are_read_wherever_they_lie(dtype: str) -> None:
    x = normal(37, 50, dtype="float32").astype(KINDS[dtype])
    h = ad.tensor(x)
    views = [h.T, h[::-1], h[:, ::-1], h[3::2, 1::3], ad.broadcast_to(h[:1], (37, 50)), h.reshape(50, 37)]
    expected = [x.T, x[::-1], x[:, ::-1], x[3::2, 1::3], np.broadcast_to(x[:1], (37, 50)), x.reshape(50, 37)]
    for found, view in zip(computed(*[v.astype("float32") + 1 for v in views]), expected, strict=True):
        same(found, view.astype("float32") + 1)
    for found, view in zip(computed(*[(v.astype("float32") * 2).astype(dtype) for v in views]), expected, strict=True):
        same(found, (view.astype("float32") * 2).astype(KINDS[dtype]))


@each
def test_they_are_moved_and_chosen(dtype: str) -> None:
    x, y = [normal(9, 40, dtype="float32", seed=k).astype(KINDS[dtype]) for k in range(2)]
    a, b, rows = ad.tensor(x), ad.tensor(y), np.array([3, -1, 0, 3])
    half = np.array(0.1, KINDS[dtype])
    outputs = {
        "gathered": (a[ad.tensor(rows)], x[rows]),
        "joined": (
            ad.concat([a[:, :3], b[:, 30:], a[:, :1]], axis=1),
            np.concatenate([x[:, :3], y[:, 30:], x[:, :1]], 1),
        ),
        "rolled": (ad.roll(a, 3, axis=1), np.roll(x, 3, 1)),
        "padded": (ad.pad(a, ((1, 2), (0, 3))), np.pad(x, ((1, 2), (0, 3)))),
        "by a number": (
            ad.pad(a, ((1, 2), (0, 3)), value=0.1),
            np.pad(x, ((1, 2), (0, 3)), constant_values=half),
        ),
        "chosen": (ad.where(a > b, a, b), np.where(x > y, x, y)),
        "or a number": (ad.where(a > b, a, ad.full((), 0.1, dtype=dtype)), np.where(x > y, x, half)),
    }
    for name, (output, expected) in outputs.items():
        plan, leaves, numbers = planned(output, ad.full((2, 3), 0.5) * 2)
        program = compile_plan(plan)
        hosts = [unit.step.op.name for unit in program.fusion.units if isinstance(unit, Host)]
        assert set(hosts) <= {"greater"}, name
        same(program.run(leaves, numbers, False)[0], expected)


@each
def test_a_stencil_and_a_loop(dtype: str) -> None:
    x = normal(16, 24, dtype="float32").astype(KINDS[dtype])

    def stencil(x: ad.Tensor) -> ad.Tensor:
        y = ad.pad(x * 2, ((1, 1), (2, 2))).astype("float32")
        return y[2:, 4:] + y[:-2, :-4] - 2 * y[1:-1, 2:-2]

    def last(x: ad.Tensor) -> ad.Tensor:
        return ad.scan(lambda c, row: (c * 0.5 + row, None), ad.zeros((24,), dtype=dtype), x)[0]

    for f in (stencil, last, ad.grad(lambda x: (stencil(x) ** 2).sum() + last(x).sum())):
        compiled, h = ad.jit(f), ad.tensor(x)
        expected = f(h).numpy()
        for _ in range(3):
            found = compiled(h).numpy()
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.astype("float32"), expected.astype("float32"), 0.02, 0.02)


@each
def test_large_arrays_keep_their_dtype(dtype: str) -> None:
    x = normal(300, 301, dtype="float32")
    h = ad.tensor(x.astype(KINDS[dtype]))
    assert h.numpy().dtype == KINDS[dtype]
    compiled = ad.jit(lambda x: (x * 2).astype(dtype))
    for _ in range(3):
        same(compiled(ad.tensor(x)).numpy(), (x * 2).astype(KINDS[dtype]))


@each
def test_constants_and_free_numbers(dtype: str) -> None:
    x = normal(5, 40, dtype="float32")
    one = ad.full((5, 40), 1.0, dtype=dtype) + ad.full((5, 40), 2.75, dtype=dtype)
    (found,) = computed(
        ad.where(ad.tensor(x) > 0, one.astype("float32"), ad.full((), 0.1, dtype=dtype).astype("float32"))
    )
    same(found, np.where(x > 0, np.float32(3.75), np.array(0.1, KINDS[dtype]).astype("float32")))


@each
def test_training_goes_on_alike(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def losses() -> list[float]:
        ad.random.seed(0)
        layers = [ad.nn.Linear(20, 32), ad.nn.LayerNorm(32), ad.nn.GELU(), ad.nn.Linear(32, 32), ad.nn.ReLU()]
        model = ad.nn.Sequential(*layers, ad.nn.Linear(32, 5)).to(dtype)
        optimizer = ad.optim.SGD(model.parameters(), lr=0.1)
        x = ad.tensor(normal(64, 20, dtype="float32")).astype(dtype)
        y = ad.tensor(np.random.default_rng(1).integers(0, 5, 64))
        found = []
        for _ in range(6):
            loss = ad.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append(float(loss.item()))
        return found

    monkeypatch.setattr(tiers, "backend", "numpy")
    expected = losses()
    monkeypatch.setattr(tiers, "backend", "native")
    np.testing.assert_allclose(losses(), expected, 0.01)


def test_a_process_whose_first_halves_are_native_code_s() -> None:
    """NumPy knows the name of bfloat16 once somebody has made numbers of it."""
    program = """
import adjoint as ad
f = ad.jit(lambda x: ad.astype(x * 2.5, "bfloat16"))
print(f(ad.ones((70, 70)))[0, 0].item())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "2.5\n"), done.stderr
