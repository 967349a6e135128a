"""float16 and bfloat16: storage. What is computed with them is computed in float32 and rounded once."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import adjoint as ad
import adjoint.torch as torch
from adjoint import _optional, nn
from derivative_checks import tensors
from operation_rows import inexact_arrays
from operations import OPERATIONS

HAS_BFLOAT16 = _optional.try_load("ml_dtypes") is not None
BOTH = ["float16", pytest.param("bfloat16", marks=pytest.mark.skipif(not HAS_BFLOAT16, reason="needs ml_dtypes"))]
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
# What is made of several roundings: of factors, of what is summed into a result, or of a gradient on its way.
SEVERAL = {"linalg", "special", "elements", "polydiv", "apply_along_axis", "index_add", "adaptive_avg_pool2d"}
OTHERS = {
    "astype",
    "one_hot",
    "zeros",
    "ones",
    "full",
    "linspace",
    "eye",
    "nextafter",
}  # the dtype is the row's; or matters


def exact(t: ad.Tensor) -> np.ndarray:
    return t.astype("complex128" if t.dtype.kind == "c" else "float64").numpy()


def near(found: ad.Tensor, wanted: ad.Tensor, name: str, roundings: float) -> None:
    assert found.numpy().dtype == found.dtype.dtype
    a, b = exact(wanted), exact(found)
    if name == "float16":
        a = np.where(np.abs(a) >= 65520, np.copysign(np.inf, a.real), a)
    size = np.max(np.abs(a), initial=0, where=np.isfinite(a)) if roundings > 1 else 0
    np.testing.assert_allclose(b, a, roundings * EPS[name], 1e-6 + roundings * EPS[name] * size)


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("operation", [pytest.param(o, id=o.name) for o in OPERATIONS if o.dtypes[0] == "f"])
def test_operations_are_those_of_float32_rounded(operation, name):
    if operation.name in OTHERS:
        pytest.skip("it follows from the dtype")
    case = operation.cases[0]
    arguments = operation.draw(case, "float32")
    narrow = [t.astype(name) for t in tensors(inexact_arrays(arguments))]
    wide = [t.astype("float32") for t in narrow]
    roundings = 6 if operation.name.partition(".")[0] in SEVERAL else 0.51

    def called(*ts):
        return operation.of_tensors(case, arguments, list(ts))

    def total(*ts):
        kept = [x for x in called(*ts) if x.dtype.kind in "fc"]
        return sum((x.real if x.dtype.kind == "c" else x.astype("float32")).sum() for x in kept)

    for found, wanted in zip(called(*narrow), called(*wide), strict=True):
        if operation.name not in ("special.logsumexp", "linalg.eig"):  # float32 is among the arguments; complex numbers
            assert found.dtype.name == (name if wanted.dtype.name == "float32" else wanted.dtype.name)
        near(found, wanted, name, roundings)
    if narrow and name == "float16" and not case.only_value and any(x.dtype.kind in "fc" for x in called(*wide)):
        numbers = tuple(range(len(narrow)))
        for found, wanted in zip(ad.grad(total, numbers)(*narrow), ad.grad(total, numbers)(*wide), strict=True):
            assert found.dtype.name == name
            if operation.name not in (
                "polydiv",
                "apply_along_axis",
            ):  # beyond float16's largest number; of all that cancels
                near(found, wanted, name, 6)


@pytest.mark.parametrize("name", BOTH)
def test_sums_and_means_do_not_lose_what_float16_would(name):
    many = ad.full(5000, 100.0, dtype=name)
    assert many.mean().item() == 100 and many.std().item() == 0
    assert ad.ones((4096, 2), dtype=name).sum(0).tolist() == [4096, 4096]
    assert ad.median(ad.tensor([1.5, 2.25, -3.1], dtype=name)).item() == 1.5
    assert (ad.full((1, 4096), 1.0, dtype=name) @ ad.full((4096, 1), 0.25, dtype=name)).item() == 1024


@pytest.mark.parametrize("name", BOTH)
def test_promotion(name):
    x = ad.ones(2, dtype=name)
    for other, wanted in {
        "int64": name,
        "bool": name,
        "uint8": name,
        "float32": "float32",
        "complex64": "complex64",
    }.items():
        assert (x + ad.ones(2, dtype=other)).dtype == wanted == ad.result_type(name, other)
    assert (x + 1.5).dtype == (2 * x).dtype == ad.sqrt(x).dtype == (x**2).dtype == (x / 3).dtype == name
    assert (x * 1j).dtype == "complex64" and (x < 2.0).dtype == "bool" and ad.argmax(x).dtype == "int64"
    assert ad.result_type("float16", ad.bfloat16) is ad.float32
    assert (x * 1e-30 * 1e30).dtype == name and (x == 1).tolist() == [True, True]
    assert ad.isdtype(name, "real floating") and ad.can_cast(name, "float32") and not ad.can_cast("float32", name)
    assert name not in ad.__array_namespace_info__().dtypes()
    with pytest.raises(TypeError, match="expected float32 or float64"):
        ad.set_default_dtype(name)
    with pytest.raises(TypeError, match=f"not defined for {name}"):
        ad.bitwise_and(x, x)


@pytest.mark.parametrize("name", BOTH)
def test_limits_are_the_dtypes_own(name):
    info = ad.finfo(name)
    assert info.eps == EPS[name] and info.dtype is ad.result_type(name)
    edge = ad.tensor([np.inf, -np.inf, np.nan], dtype=name)
    assert ad.nan_to_num(edge).tolist() == [info.max, info.min, 0]
    one = ad.ones((), dtype=name)
    assert ad.nextafter(one, one * 2).item() == 1 + info.eps
    assert (
        ad.full((), info.max, dtype=name).item() == info.max
        and (ad.full((), info.max, dtype=name) * 2).item() == np.inf
    )


@pytest.mark.parametrize("name", BOTH)
def test_in_loops_and_transformations(name):
    x = ad.tensor([1.0, 2.0, 3.0], dtype=name)
    assert ad.jit(lambda t: t * t)(x).tolist() == ad.vmap(lambda t: t * t)(x).tolist() == [1, 4, 9]
    last, each = ad.scan(lambda c, t: (c * t, c), ad.ones((), dtype=name), x)
    assert last.item() == 6 and each.tolist() == [1, 1, 2] and last.dtype == each.dtype == name
    assert ad.grad(lambda c: ad.scan(lambda a, t: (a * t, None), c, x)[0])(ad.ones((), dtype=name)).item() == 6
    assert ad.while_loop(lambda c: c < 100, lambda c: c * 2, x[0]).item() == 128
    assert ad.hessian(lambda t: (t**3).sum())(x).tolist() == np.diag([6, 12, 18]).tolist()
    value, slope = ad.jvp(lambda t: t**2, (x,), (x,))
    assert value.tolist() == [1, 4, 9] and slope.tolist() == [2, 8, 18] and slope.dtype == name
    v = ad.variable(x)
    (v * v).sum().backward()
    assert v.grad.tolist() == [2, 4, 6] and v.grad.dtype == name
    for _ in range(3):  # computed by itself, by a plan, by a native program
        assert ad.exp(x * 0 + 0.5).tolist() == [float(ad.exp(ad.tensor(0.5)).astype(name))] * 3
    x[1] = 7
    x += 1
    assert x.tolist() == [2, 8, 4] and x[x > 2].tolist() == [8, 4]


@pytest.mark.parametrize("name", BOTH)
def test_a_network_learns(name):
    layer = nn.Linear(3, 2).to(name)
    x = ad.random.normal((8, 3), dtype=name)
    optimizer = ad.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        loss = ((layer(x) - 1) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3 and layer.weight.dtype == loss.dtype == name


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("kind", ["SGD", "AdamW", "Adagrad", "RMSprop", "Adafactor"])
def test_optimizers_step(kind, name):
    parameter = ad.variable([1.0, -2.0], dtype=name)
    optimizer = getattr(ad.optim, kind)([parameter], lr=0.0625)
    for _ in range(3):
        optimizer.zero_grad()
        (parameter**2).sum().backward()
        optimizer.step()
    assert parameter.dtype == name and 0 < parameter[0].item() < 1 and -2 < parameter[1].item() < 0


@pytest.mark.parametrize("name", BOTH)
def test_leaving_and_coming_back(name, tmp_path):
    x = ad.tensor([[1.5, -2.25], [0.1, 4.0]], dtype=name)
    assert repr(x[0]) == f"Tensor([ 1.5 , -2.25], dtype={name})"
    for twin in (ad.tensor(x.numpy()), pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert twin.dtype == name and twin.tolist() == x.tolist()
    assert pickle.loads(pickle.dumps(x.dtype)) is x.dtype is getattr(ad, name)
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0, 0] = 1
    ad.save(tmp_path / "a.safetensors", {"x": x, "nested": [x[0], 3]})
    ad.save(tmp_path / "b.safetensors", {"x": x.mT, "y": ad.ones(2)})
    a, b = ad.load(tmp_path / "a.safetensors"), ad.load(tmp_path / "b.safetensors")
    assert a["x"].tolist() == x.tolist() and a["x"].dtype == a["nested"][0].dtype == b["x"].dtype == name
    assert b["x"].tolist() == x.mT.tolist() and b["y"].dtype == "float32"


@pytest.mark.parametrize("name", BOTH)
def test_draws(name):
    draws = ad.random.uniform((20000,), dtype=name)
    assert draws.dtype == name and 0 <= draws.min().item() < 0.01 and 0.99 < draws.max().item() < 1
    normal = ad.random.normal((20000,), 2.0, 3.0, dtype=name).astype("float32")
    assert abs(normal.mean().item() - 2) < 0.1 and abs(normal.std().item() - 3) < 0.1
    rare = ad.random.bernoulli(ad.full(200000, 1e-4, dtype=name))
    assert 2 <= rare.sum().item() <= 60


def test_bfloat16_without_its_package(monkeypatch):
    def refuse(*args, **keywords):
        raise ImportError("making numbers of bfloat16 needs the package ml_dtypes")

    fresh = type(ad.bfloat16)()
    monkeypatch.setattr("adjoint.dtypes._optional.load", refuse)
    assert fresh.bits == 16 and fresh == "bfloat16" and fresh.itemsize == 2 and repr(fresh) == "adjoint.bfloat16"
    with pytest.raises(ImportError, match="ml_dtypes"):
        _ = fresh.dtype


def test_integers_without_a_common_dtype_are_as_they_were() -> None:
    """That a program has used numbers of 16 bits somewhere changes nothing about others."""
    assert ad.tensor([1.0], dtype="float16").dtype is ad.float16
    x = ad.tensor(np.array([3, 9, 5], np.uint64))
    values, places = ad.topk(x, 2)
    assert (values.dtype, values.tolist(), places.tolist()) == (ad.uint64, [9, 5], [1, 2])
    assert ad.take_along_axis(x, ad.tensor([2, 0]), axis=0).tolist() == [5, 3]
    half = ad.tensor([1.0, 2.0, 3.0], dtype="float16")
    assert ad.where(x > 4, half, 0.5).dtype is ad.float16
    updated = ad.scatter_add(x, ad.tensor([0, 0]), x[:2], axis=0)
    assert updated.tolist() == [15, 9, 5]


@pytest.mark.parametrize("name", BOTH)
def test_unique_elements_with_nan_among_them(name: str) -> None:
    x = ad.tensor([2.0, np.nan, -1.0, np.inf, 0.5, np.nan, 2.0, -np.inf], dtype=name)
    wide = x.astype("float32").numpy()
    for ours, theirs in zip(ad.unique_all(x), np.unique_all(wide), strict=True):
        np.testing.assert_array_equal(exact(ours), theirs)
    for ours, theirs in zip(np.unique(x, return_counts=True), np.unique(wide, return_counts=True), strict=True):
        np.testing.assert_array_equal(exact(ours), theirs)
    assert np.unique(x).dtype == name
    other = ad.tensor([np.inf, np.nan, 7.0, 2.0], dtype=name)
    np.testing.assert_array_equal(exact(np.intersect1d(x, other)), np.intersect1d(wide, exact(other)))


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("draw", ["rand", "randn"])
def test_few_random_numbers_are_of_the_dtype_that_they_say(draw, name):
    x = getattr(torch, draw)(3, 4, dtype=getattr(torch, name))
    assert x.dtype == getattr(torch, name) and x.numpy().dtype == getattr(ad, name).dtype
