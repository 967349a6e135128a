"""Convolution and pooling natively, against NumPy's kernels."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Nest, Product, Window
from adjoint.compiler.schedule.windows import schedule_window
from adjoint.compiler.targets.target import tuned
from adjoint.nn import functional as F
from adjoint.runtime import llvm, memory, onednn
from support import some
from test_native import normal, planned
from test_threads import compile_plan, same_bits

WIDTHS = [bits for bits in (128, 256, 512) if bits <= llvm.vector_bits()]
needs_onednn = pytest.mark.skipif(not onednn.available(), reason=f"oneDNN: {onednn.missing()}")


def fused(*outputs: ad.Tensor) -> Fusion:
    program = compile_plan(planned(*outputs)[0])
    assert program is not None
    return program.fusion


def hosts(fusion: Fusion) -> set[str]:
    return {unit.step.op.name for unit in fusion.units if isinstance(unit, Host)}


def weighted(y: ad.Tensor) -> ad.Tensor:
    return ad.sum(y * ad.tensor(normal(*y.shape, dtype=y.dtype.name, seed=9)))


GEOMETRIES: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((5, 1, 9, 8), (6, 1, 3, 3), {}),
    ((5, 3, 9, 8), (4, 3, 3, 2), {"padding": (1, 0)}),
    ((2, 16, 12, 12), (32, 16, 3, 3), {"padding": 1, "stride": 2}),
    ((3, 8, 11, 10), (12, 8, 2, 3), {"dilation": (2, 1), "stride": (1, 2)}),
    ((2, 12, 7, 7), (6, 4, 3, 3), {"groups": 3, "padding": 1}),
    ((2, 6, 7, 7), (6, 1, 3, 3), {"groups": 6}),
    ((1, 5, 6, 6), (7, 5, 1, 1), {}),
    ((2, 17, 9, 9), (19, 17, 3, 3), {"padding": "same"}),
    ((3, 20, 9, 7), (17, 20, 1, 1), {"padding": 1}),
    ((3, 16, 9, 7), (32, 8, 1, 1), {"groups": 2}),
]


@needs_onednn
@pytest.mark.parametrize(("image", "weights", "options"), GEOMETRIES, ids=str)
def test_convolutions_of_every_geometry(image: Any, weights: Any, options: Any) -> None:
    x = ad.variable(normal(*image, dtype="float32"))
    w = ad.variable(normal(*weights, dtype="float32", seed=1))
    b = ad.variable(normal(weights[0], dtype="float32", seed=2))
    y = ad.relu(F.conv2d(x, w, b, **options))
    gradients = ad.gradients(weighted(y), [x, w, b])
    same_bits(y, *gradients, tolerance=2e-5)
    assert not hosts(fused(F.conv2d(x, w, b, **options) * 2))
    second = ad.gradients(weighted(gradients[0]) + weighted(gradients[1]), [x, w])
    same_bits(*[g for g in second if g.node.value is None], tolerance=2e-4)


@pytest.mark.parametrize("library", [False, pytest.param(True, marks=needs_onednn)])
@pytest.mark.parametrize("stride", [1, 2, (1, 3)], ids=str)
@pytest.mark.parametrize("channels", [(16, 20), (37, 16)], ids=str)
def test_convolutions_of_one_pixel_are_products(
    channels: tuple[int, int], stride: Any, library: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not library:
        monkeypatch.setitem(onednn.state, "missing", "switched off")
    x = ad.variable(normal(5, channels[0], 11, 8, dtype="float32"))
    w = ad.variable(normal(channels[1], channels[0], 1, 1, dtype="float32", seed=1))
    y = F.conv2d(ad.sin(x), w, stride=stride)
    u = normal(*y.shape, dtype="float32", seed=9)
    to_x, to_w = ad.gradients((ad.relu(y) * ad.tensor(u)).sum(), [x, w])
    y, to_x, to_w = same_bits(ad.relu(y), to_x, to_w, tolerance=2e-5)
    by = stride if isinstance(stride, tuple) else (stride, stride)
    pixels, weights = x.numpy().astype("f8"), w.numpy()[:, :, 0, 0].astype("f8")
    met = np.sin(pixels)[:, :, :: by[0], :: by[1]]
    right = np.einsum("nchw,oc->nohw", met, weights)
    back = u * (right > 0)
    expected = np.zeros_like(pixels)
    expected[:, :, :: by[0], :: by[1]] = np.einsum("nohw,oc->nchw", back, weights)
    np.testing.assert_allclose(y, np.maximum(right, 0), 1e-4, 1e-5)
    np.testing.assert_allclose(to_x, expected * np.cos(pixels), 1e-4, 1e-5)
    np.testing.assert_allclose(to_w[:, :, 0, 0], np.einsum("nohw,nchw->oc", back, met), 1e-4, 1e-4)
    z = F.conv2d(ad.sin(x), w, stride=stride)
    fusion = fused(ad.relu(z), *ad.gradients(z.sum(), [x, w]))
    made = [one for unit in fusion.units for one in [unit, *(unit.made if isinstance(unit, Nest) else ())]]
    assert not hosts(fusion) and not any(isinstance(one, Window) for one in made)


@needs_onednn
def test_parts_of_the_gradient_of_weights_have_enough_to_add_up() -> None:
    x, w = ad.variable(normal(32, 4, 8, 8, dtype="float32")), ad.variable(normal(8, 4, 3, 3, dtype="float32", seed=1))

    def parts() -> int:
        (gradient,) = ad.gradients(weighted(F.conv2d(x, w, stride=2, padding=1)), [w])
        (unit,) = [u for u in fused(gradient).units if isinstance(u, Window) and "weight" in u.step.op.name]
        same_bits(gradient, tolerance=2e-5)
        return schedule_window(unit).parts

    with tuned(image_tile=1):
        assert parts() == 2
    with tuned(image_tile=1, weight_pixels=1):
        assert parts() == 8


def test_tiny_images_are_computed_together() -> None:
    """An image of 4×4 has four tiles: for each range of images all weights are read anew."""
    x, w = [ad.variable(normal(*shape, dtype="float32")) for shape in ((32, 16, 4, 4), (16, 16, 3, 3))]
    y = F.conv2d(x, w, padding=1)
    with tuned(image_tile=1, joined_from=1, joined_tile=256):
        (alone,) = [unit for unit in fused(y).units if isinstance(unit, Window)]
        schedule = schedule_window(alone)
        assert (schedule.way, schedule.tile) == ("2×2 outputs", 8)
        total = y.mean(axis=(0, 2, 3))
        (nest,) = [unit for unit in fused(total).units if isinstance(unit, Nest) and unit.products]
        assert nest.tile == 8 * 256
        same_bits(total, *ad.gradients(weighted(y), [x, w]), tolerance=2e-5)


def test_a_product_of_pixels_is_read_while_it_is_in_the_cache() -> None:
    x = ad.variable(normal(8, 32, 16, 16, dtype="float32"))
    w, b = ad.variable(normal(64, 32, 1, 1, dtype="float32", seed=1)), ad.variable(normal(64, dtype="float32", seed=2))
    (nest,) = [u for u in fused(ad.relu(F.conv2d(ad.sin(x), w, b))).units if isinstance(u, Nest) and u.products]
    assert isinstance(nest.products[0], Product) and nest.tiles


IN_TILES: list[tuple[tuple[int, ...], int, Any, int]] = [
    ((4, 32, 26, 26), 64, 0, 1), ((2, 16, 9, 7), 16, 1, 1), ((3, 20, 12, 13), 37, 2, 1), ((8, 64, 4, 4), 48, 1, 1),
    ((3, 128, 8, 8), 70, (1, 0), 1), ((64, 17, 3, 3), 16, 1, 1), ((33, 16, 2, 2), 70, 1, 1),
    ((4, 32, 24, 24), 64, 1, 2), ((7, 16, 9, 14), 16, 1, 2), ((5, 20, 11, 13), 37, 1, 2), ((40, 17, 3, 2), 48, 1, 2),
    ((33, 16, 1, 1), 70, 1, 2), ((9, 70, 8, 7), 16, 1, 2),
]  # fmt: skip


def three_by_three(image: tuple[int, ...], out: int) -> tuple[ad.Tensor, ad.Tensor]:
    w = ad.variable(normal(out, image[1], 3, 3, dtype="float32", seed=1))
    return ad.variable(normal(*image, dtype="float32")), w


def by_definition(x: Any, w: Any, u: Any, padding: Any, stride: int = 1) -> list[Any]:
    """A convolution of 3×3, and the gradients of its sum weighted by u, in float64; nothing is multiplied with a pixel of the
    padding."""
    (down, right) = padding if isinstance(padding, tuple) else (padding, padding)
    x, w, u = [a.astype("f8") for a in (x, w, u)]
    results, to_x, to_w = np.zeros_like(u), np.zeros_like(x), np.zeros_like(w)
    rows, columns = np.arange(u.shape[2]), np.arange(u.shape[3])
    with np.errstate(all="ignore"):
        for a, b in np.ndindex(3, 3):
            met, beside = stride * rows + a - down, stride * columns + b - right
            i, j = rows[(met >= 0) & (met < x.shape[2])], columns[(beside >= 0) & (beside < x.shape[3])]
            made, read = np.ix_(i, j), np.ix_(met[i], beside[j])
            pixels, cotangents = x[:, :, *read], u[:, :, *made]
            results[:, :, *made] += np.einsum("nchw,oc->nohw", pixels, w[:, :, a, b])
            to_x[:, :, *read] += np.einsum("nohw,oc->nchw", cotangents, w[:, :, a, b])
            to_w[:, :, a, b] = np.einsum("nchw,nohw->oc", pixels, cotangents)
    return [results, to_x, to_w]


def with_gradients(x: ad.Tensor, w: ad.Tensor, padding: Any, u: Any, stride: int = 1) -> list[ad.Tensor]:
    y = F.conv2d(x, w, stride=stride, padding=padding)
    return [y, *ad.gradients((y * ad.tensor(u)).sum(), [x, w])]


@pytest.mark.parametrize(
    ("bits", "image", "out", "padding", "stride"), some([(b, *x) for b in WIDTHS for x in IN_TILES], 2), ids=str
)
def test_convolutions_in_tiles(
    image: Any, out: int, padding: Any, stride: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without oneDNN: a rounding error is some units in the last place of the largest."""
    monkeypatch.setenv("ADJOINT_VECTOR_BITS", str(bits))
    monkeypatch.setitem(onednn.state, "missing", "switched off")
    x, w = three_by_three(image, out)
    u = normal(*F.conv2d(x, w, stride=stride, padding=padding).shape, dtype="float32", seed=9)
    results = with_gradients(x, w, padding, u, stride)
    assert not hosts(fused(*results))
    expected = by_definition(x.numpy(), w.numpy(), u, padding, stride)
    for found, right in zip(same_bits(*results, tolerance=3e-5), expected, strict=True):
        assert np.abs(found - right).max() < 2e-6 * np.abs(right).max()
    with tuned(winograd_tiles=10, winograd_sums=11, image_tile=1 << 12, worth_sharing=0, worth_helping=0):
        same_bits(*with_gradients(x, w, padding, u, stride), tolerance=3e-5)


@needs_onednn
@pytest.mark.parametrize(
    "options", [{"stride": 3, "padding": 1}, {"stride": 2}, {"stride": (2, 1), "padding": 1}], ids=str
)
def test_other_strides_are_left_to_the_library(options: dict[str, Any]) -> None:
    x, w = three_by_three((8, 16, 12, 12), 16)
    y = F.conv2d(x, w, **options)
    results = [y, *ad.gradients((y * y).sum(), [x, w])]
    windows = [made for unit in fused(*results).units for made in (unit.made if isinstance(unit, Nest) else [unit])]
    assert {made.library for made in windows if isinstance(made, Window)} == {"oneDNN"}
    same_bits(*results, tolerance=1e-4)


FEW_CHANNELS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((3, 1, 28, 28), (16, 1, 3, 3), {"padding": 1}),
    ((2, 3, 15, 18), (21, 3, 5, 4), {"stride": (2, 1), "padding": (2, 0)}),
    ((2, 3, 9, 31), (6, 3, 3, 2), {"dilation": (1, 2)}),
    ((5, 2, 4, 3), (35, 2, 4, 3), {}),
]


@pytest.mark.parametrize(
    ("bits", "image", "weights", "options"), [(b, *x) for b in WIDTHS for x in FEW_CHANNELS], ids=str
)
def test_convolutions_of_few_channels(
    image: Any, weights: Any, options: Any, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without what is made of their results, beside NumPy's in float64."""
    monkeypatch.setenv("ADJOINT_VECTOR_BITS", str(bits))
    monkeypatch.setitem(onednn.state, "missing", "switched off")
    values = [normal(*shape, dtype="float32", seed=k) for k, shape in enumerate((image, weights, (weights[0], 1, 1)))]

    def results(dtype: str) -> list[ad.Tensor]:
        x, w, b = [ad.variable(value.astype(dtype)) for value in values]
        y, z = F.conv2d(x, w, **options), ad.relu(F.conv2d(x, 2 * w, **options) + b)
        return [y, z, *([F.max_pool2d(ad.relu(F.conv2d(x, -w, **options) + b), 2)] if min(y.shape) > 1 else [])]

    assert not hosts(fused(*results("float32")))
    with tuned(worth_sharing=0, worth_helping=0, image_tile=1 << 10):
        found = same_bits(*results("float32"), tolerance=3e-5)
    for own, right in zip(found, results("float64"), strict=True):
        np.testing.assert_allclose(own, right.numpy(), 2e-6, 2e-6 * np.abs(right.numpy()).max())


@pytest.mark.parametrize(("channels", "stride"), [(1, 1), (16, 1), (16, 2)])
@pytest.mark.parametrize("extents", [(12, 12), (11, 14), (7, 5)], ids=str)
def test_images_are_finished_in_registers(channels: int, stride: int, extents: tuple[int, int]) -> None:
    """Bias, activation and pool are computed on the results of a convolution: every bit is as if each had been a step of its own,
    where something isn't finite, too."""
    x = np.round(normal(5, channels, *extents, dtype="float32") * 4)
    x[1, 0, 2, 3], x[2, 0, :, 1], x[3, 0, 0, 0] = np.inf, np.nan, -np.inf
    w, b, u = [normal(30, *shape, dtype="float32", seed=len(shape)) for shape in ((channels, 3, 3), (1, 1), (1, 1, 1))]
    b[3], b[4] = np.inf, -np.inf
    image, weights, bias, other = [ad.variable(value) for value in (x, w, b, u[0])]

    def results(y: ad.Tensor) -> list[ad.Tensor]:
        activated = [ad.relu(y * 0.75 + bias), ad.where(y > other, y, -y * 0.1), ad.silu(y)]
        pooled = [F.max_pool2d(activated[1], 2), F.avg_pool2d(activated[2], 2)]
        return [activated[0], *pooled, F.max_pool2d(activated[0] + 0.0, 2, 3), F.avg_pool2d(activated[1] + 0.0, 1, 2)]

    with tuned(winograd_least=1, winograd_tiles=9, worth_sharing=0, worth_helping=0, image_tile=1):
        (convolved,) = same_bits(F.conv2d(image, weights, stride=stride, padding=1), tolerance=1)
        expected = same_bits(*results(ad.variable(convolved)), tolerance=1)
        for k in range(
            len(expected)
        ):  # each alone, in the registers of the convolution, or of the pool if it skips pixels
            fusion = fused(results(F.conv2d(image, weights, stride=stride, padding=1))[k])
            assert any(isinstance(u, Nest) and u.by_cells and bool(u.products) == (k < 3) for u in fusion.units)
            (found,) = same_bits(results(F.conv2d(image, weights, stride=stride, padding=1))[k], tolerance=1)
            np.testing.assert_array_equal(found, expected[k])


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("place", ["image", "weights", "cotangents", "too large", "diverged", "all weights"])
def test_what_isnt_finite_stays_where_it_belongs(place: str, stride: int) -> None:
    """An infinite number changes the results that read it, and no others of its tile."""
    x, w = three_by_three((4, 16, 11, 10), 18)
    values = {name: t.numpy().copy() for name, t in (("image", x), ("weights", w))}
    padding = stride - 1
    values["cotangents"] = normal(4, 18, *((9, 8) if stride == 1 else (6, 5)), dtype="float32", seed=2)
    if place == "too large":
        values["image"][1, 3, 4:6, 5:8] = 3e38  # sums of them overflow, though results needn't
        values["weights"] *= 1e-3
        values["cotangents"] *= 1e-3
    elif place == "diverged":  # sums that are NaN are not gone on with, in vectors of some channels and of all
        values["image"][:2], values["cotangents"][:, 3:] = np.nan, np.nan
    elif place == "all weights":
        values["weights"][:] = np.nan
    else:
        given = values[place]
        given[1, 3, 2, 1], given[0, 0, 0, 0], given[2, 5, 1, 2] = np.inf, np.nan, -np.inf
    x, w = [ad.variable(values[name]) for name in ("image", "weights")]
    results = with_gradients(x, w, padding, values["cotangents"], stride)
    assert all(unit.in_tiles for unit in fused(*results).units if isinstance(unit, Window))
    plan, leaves, numbers = planned(*results)
    program = compile_plan(plan)
    assert program is not None
    expected = by_definition(values["image"], values["weights"], values["cotangents"], padding, stride)
    for found, right in zip(program.run(leaves, numbers, False), expected, strict=True):
        with np.errstate(over="ignore"):
            right = right.astype("f4")
        np.testing.assert_array_equal(np.isnan(found), np.isnan(right))
        np.testing.assert_array_equal(found[np.isinf(right)], right[np.isinf(right)])
        finite = np.isfinite(right)
        np.testing.assert_allclose(found[finite], right[finite], 1e-4, 1e-5 * np.abs(right[finite]).max(initial=0.0))


@needs_onednn
def test_a_chain_keeps_its_channels_last() -> None:
    x, labels = ad.tensor(normal(10, 1, 16, 16, dtype="float32")), ad.tensor(np.arange(10))
    w1, w2 = (
        ad.variable(normal(8, 1, 3, 3, dtype="float32")),
        ad.variable(normal(16, 8, 3, 3, dtype="float32", seed=1) / 8),
    )
    b1, w3 = (
        ad.variable(normal(8, dtype="float32", seed=2)),
        ad.variable(normal(16 * 36, 10, dtype="float32", seed=3) / 20),
    )

    def loss() -> ad.Tensor:
        h = ad.relu(F.conv2d(x, w1, b1))
        h = F.max_pool2d(ad.relu(F.conv2d(h, w2)), 2)
        return F.cross_entropy(h.reshape((10, -1)) @ w3, labels)

    value = loss()
    gradients = ad.gradients(value, [w1, b1, w2, w3])
    fusion = fused(value, *gradients)
    assert not hosts(fusion) & {"convolution", "max_pool", "pool_put", "convolution_weight_gradient"}
    copies = [
        s
        for u in fusion.units
        if isinstance(u, Nest)
        for s in u.steps
        if s.op.name == "copy" and len(s.type.shape) == 4
    ]
    assert len(copies) <= 2, "one where the images are flattened, one on the way back"
    value = loss()
    same_bits(value, *ad.gradients(value, [w1, b1, w2, w3]), tolerance=2e-5)


@needs_onednn
def test_parts_of_images_keep_their_channels_last() -> None:
    """Some channels of some rows are convolved on, and added up, in the order that they lie in."""
    x = ad.variable(normal(2, 3, 8, 8, dtype="float32"))
    w, v = (
        ad.variable(normal(8, 3, 3, 3, dtype="float32", seed=1)),
        ad.variable(normal(4, 5, 3, 3, dtype="float32", seed=2)),
    )

    def parts() -> tuple[ad.Tensor, ad.Tensor]:
        part = F.conv2d(x, w, padding=1)[:, 2:7, 1:7:2]
        return F.conv2d(part, v), part.sum((0, 2, 3))

    (summed,) = [
        step for unit in fused(*parts()).units if isinstance(unit, Nest) for step in unit.steps if step.op.name == "sum"
    ]
    assert summed.attributes == (0, 1, 2), "channels last"
    y, total = parts()
    same_bits(y, *ad.gradients(weighted(y) + weighted(total), [x, w, v]), tolerance=2e-5)
    np.testing.assert_allclose(
        total.numpy(), F.conv2d(x, w, padding=1).numpy()[:, 2:7, 1:7:2].sum((0, 2, 3)), 1e-4, 1e-4
    )


@needs_onednn
@pytest.mark.parametrize("axis", range(4))
def test_images_beside_each_other_keep_their_channels_last(axis: int) -> None:
    """As in a U-Net: along any axis, with the gradients of what lies side by side."""
    x = ad.variable(normal(2, 3, 8, 8, dtype="float32"))
    w, v = [ad.variable(normal(6, 3, 3, 3, dtype="float32", seed=k) / 4) for k in (1, 2)]
    u = ad.variable(normal(5, 12 if axis == 1 else 6, 3, 3, dtype="float32", seed=3) / 4)

    def images() -> ad.Tensor:
        both = [ad.relu(F.conv2d(x, each, padding=1)) for each in (w, v)]
        return F.conv2d(ad.concat(both, axis), u)

    fusion = fused(images())
    moved = [s.op.name for unit in fusion.units for s in getattr(unit, "steps", ()) if len(s.type.shape) == 4]
    assert moved.count("copy") == 2, "of what comes in and what goes out"
    y = images()
    same_bits(y, *ad.gradients(weighted(y), [x, w, v, u]), tolerance=2e-5)


@needs_onednn
def test_many_images_fall_into_tiles() -> None:
    with tuned(joined_from=1, joined_tile=2000, image_tile=1 << 14, pool_tile=3000, worth_sharing=0):
        for count in (7, 9, 16):
            x = ad.variable(normal(count, 3, 12, 10, dtype="float32"))
            w = ad.variable(normal(16, 3, 3, 3, dtype="float32", seed=1))
            b = ad.variable(normal(16, dtype="float32", seed=2))
            h = F.max_pool2d(ad.relu(F.conv2d(x, w, b, padding=1)), 3, 2, 1)
            same_bits(h, *ad.gradients(weighted(h), [x, w, b]), tolerance=2e-5)
        joined = [u for u in fused(ad.relu(F.conv2d(x, w, b) + 1)).units if isinstance(u, Nest) and u.products]
        assert joined and isinstance(joined[0].products[0], Window)


POOLS: list[dict[str, Any]] = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": (2, 3), "stride": (1, 2)},
    {"kernel_size": 2, "dilation": 2, "stride": 1},
    {"kernel_size": 3, "stride": 2, "ceil_mode": True},
]


@pytest.mark.parametrize(
    ("options", "channels", "dtype"), some(itertools.product(POOLS, (1, 3, 16, 21), ("float32", "float64")), 3), ids=str
)
def test_pools(options: dict[str, Any], channels: int, dtype: str) -> None:
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    x = ad.variable(np.round(normal(3, channels, 9, 7, dtype=dtype) * 2))  # with ties
    y = F.max_pool2d(x, **options)
    (gradient,) = ad.gradients(weighted(y), [x])
    fusion = fused(y, gradient)
    assert not hosts(fusion)
    same_bits(y, gradient, tolerance=tolerance)
    cotangent = ad.variable(normal(*y.shape, dtype=dtype, seed=3))
    (gradient,) = ad.gradients(ad.sum(F.max_pool2d(x, **options) * cotangent), [x])
    same_bits(*ad.gradients(weighted(gradient), [cotangent]), tolerance=tolerance)
    if "dilation" not in options:
        z = F.avg_pool2d(x * 1, **options)
        same_bits(z, *ad.gradients(weighted(z), [x]), tolerance=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_of_what_isnt_finite(dtype: str) -> None:
    values = normal(2, 3, 6, 6, dtype=dtype)
    values[0, 0, :3] = -np.inf
    values[0, 1, 1, 2] = values[0, 1, 5, 5] = np.nan
    values[1, :, 2] = np.inf
    x = ad.variable(values)
    for options in ({"kernel_size": 2}, {"kernel_size": 3, "stride": 2, "padding": 1}):
        y = F.max_pool2d(x, **options)
        same_bits(y, *ad.gradients(weighted(y), [x]), tolerance=1e-6)


def test_without_onednn_numpy_convolves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(onednn.state, "missing", "switched off")
    x, w = ad.variable(normal(3, 5, 8, 8, dtype="float32")), ad.variable(normal(4, 5, 3, 3, dtype="float32", seed=1))
    y = F.max_pool2d(ad.relu(F.conv2d(x, w)), 2)
    gradients = ad.gradients(weighted(y), [x, w])
    assert "convolution" in hosts(fused(y, *gradients))
    same_bits(y, *gradients, tolerance=1e-5)


def test_float64_is_left_to_numpy() -> None:
    x, w = ad.variable(normal(3, 2, 8, 8)), ad.variable(normal(4, 2, 3, 3, seed=1))
    y = F.conv2d(x, w) * 2
    assert hosts(fused(y)) == {"convolution"}
    same_bits(y, *ad.gradients(weighted(y), [x, w]))


def aligned(x: Any) -> Any:
    """A copy whose memory a result may take."""
    room = np.empty(x.nbytes + memory.ALIGNMENT, np.uint8)
    start = -memory.address(room) % memory.ALIGNMENT
    found = room[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    found[...] = x
    return found


@pytest.mark.parametrize("channels", [1, 16])
def test_what_is_finished_in_registers_is_not_written_over_what_it_reads(channels: int) -> None:
    """Some cells are computed twice: where strips meet, and where something isn't finite."""
    x = normal(2, channels, 9, 31, dtype="float32")
    x[1, 0, 3, 4] = np.inf
    w, u = normal(16, channels, 3, 3, dtype="float32", seed=1), normal(2, 9, 31, 16, dtype="float32", seed=2)
    image, weights, state = [ad.variable(value) for value in (x, w, u)]
    y = ad.tanh(F.conv2d(image, weights, padding=1) * 0.1) + ad.permute_dims(state, (0, 3, 1, 2))
    plan, leaves, numbers = planned(ad.permute_dims(y, (0, 2, 3, 1)))
    with tuned(winograd_least=1):
        program = compile_plan(plan)
        assert program is not None
        assert any(isinstance(unit, Nest) and unit.by_cells and unit.products for unit in program.fusion.units)
        (expected,) = program.run(leaves, numbers, False)
        given = [aligned(leaf) for leaf in leaves]
        (found,) = program.run(given, numbers, False, range(len(given)))
    np.testing.assert_array_equal(found, expected)
