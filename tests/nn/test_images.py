"""Convolution and pooling beyond their rows in the table: tiles, memory, corners, sizes of graphs, errors."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest

import adjoint as ad
import adjoint.torch as torch
from adjoint.graph import topological
from adjoint.primitives import convolution, convolution_kernels
from operations import PICTURES
from support import double, equal

F = ad.nn.functional
CONVOLUTION = PICTURES[0]


def drawn(*shape, seed=0):
    return double(np.random.default_rng(seed).normal(size=shape))


@pytest.mark.parametrize("tile", [1, 700, 3000])
@pytest.mark.parametrize("number", range(len(CONVOLUTION.cases)))
def test_tiles_of_any_size(monkeypatch, number, tile):
    """Row by row, a few rows at a time, or image by image: the same numbers."""
    case = CONVOLUTION.cases[number]
    arguments = CONVOLUTION.draw(case, "float64")
    x, w = arguments[:2]

    def results():
        y, pull = ad.vjp(lambda x, w: F.conv2d(x, w, *arguments[2:], **case.keywords), double(x), double(w))
        return [y.numpy(), *(g.numpy() for g in pull(drawn(*y.shape)))]

    whole = results()
    monkeypatch.setattr(convolution_kernels, "TILE", tile)
    for one, other in zip(results(), whole, strict=True):
        np.testing.assert_allclose(one, other, 1e-11, 1e-11)


def test_memory_is_bounded():
    """A convolution with 3×3 kernels takes a few tiles' memory beside its result, not nine times its input."""
    x, w = ad.ones((4, 16, 128, 128)), ad.ones((16, 16, 3, 3))  # 4 MiB of images
    cotangent = np.ones((4, 16, 126, 126), "float32")
    ad.evaluate(x, w)
    graph = [F.conv2d(x, w), *ad.vjp(F.conv2d, x, w)[1](ad.tensor(cotangent))]
    for y in graph:
        tracemalloc.start()
        y.numpy()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        copies = (x.size + cotangent.size) * 4  # native code has the images once more, their channels last
        assert peak < y.size * 4 + max(3 * convolution_kernels.TILE, 1.05 * copies)


def test_a_layer_is_few_nodes_and_the_first_has_no_gradient_for_its_input():
    model = ad.nn.Sequential(*[ad.nn.ReLU()])
    x, w, b = drawn(2, 1, 5, 5), ad.variable(drawn(3, 1, 3, 3)), ad.variable(drawn(3))
    y = model(F.conv2d(x, w, b))
    forward = Counter(node.op.name for node in topological([y.node]) if node.inputs)
    assert forward == {"convolution": 1, "reshape": 1, "broadcast_to": 1, "add": 1, "relu": 1}
    graph = topological([g.node for g in ad.gradients(y.sum(), [w, b])])
    names = Counter(node.op.name for node in graph)
    assert names["convolution_weight_gradient"] == 1
    assert names["convolution_input_gradient"] == 0


@pytest.mark.parametrize(
    ("padding", "dilation", "size", "expected"),
    [
        ("valid", 1, 3, (1, 1, 4, 3)),
        ("same", 1, 3, (1, 1, 6, 5)),
        ("same", 2, 2, (1, 1, 6, 5)),
        ("same", 1, 4, (1, 1, 6, 5)),
    ],
)
def test_padding_by_name(padding, dilation, size, expected):
    x, w = drawn(1, 1, 6, 5), drawn(1, 1, size, size)
    y = F.conv2d(x, w, padding=padding, dilation=dilation)
    assert y.shape == expected
    if padding == "same":  # an odd one comes after
        both = dilation * (size - 1)
        widths = ((0, 0), (0, 0), *[(both // 2, both - both // 2)] * 2)
        equal(y, F.conv2d(ad.pad(x, widths), w, dilation=dilation).numpy())


def test_one_image():
    x, w = drawn(2, 5, 5), drawn(3, 2, 2, 2)
    for f in (
        lambda x: F.conv2d(x, w), lambda x: F.max_pool2d(x, 2), lambda x: F.avg_pool2d(x, 3, 1, 1),
        lambda x: F.adaptive_avg_pool2d(x, (2, None)), lambda x: F.adaptive_avg_pool2d(x, 1),
    ):  # fmt: skip
        equal(f(x), f(x[None])[0].numpy())


@pytest.mark.parametrize(("n", "count"), [(5, 3), (7, 4), (20, 3), (9, 7)])
def test_uneven_windows_average_what_is_in_them(n, count):
    windows = [(k * n // count, -(-(k + 1) * n // count)) for k in range(count)]
    for k in range(n):
        row = np.arange(n) + 1.0
        row[k] = np.inf  # which must not reach other windows, nor meet a weight of 0
        x = ad.variable(row[None, None])
        y = F.adaptive_avg_pool1d(x, count)
        equal(y, np.array([[[row[i:j].mean() for i, j in windows]]]))
        (gradient,) = ad.gradients(y[0, 0, -1], [x])
        i, j = windows[-1]
        equal(gradient, np.where((np.arange(n) >= i) & (np.arange(n) < j), 1 / (j - i), 0.0)[None, None])


def test_the_first_of_equal_pixels_has_the_gradient():
    x = double([[[[1.0, 2.0, 2.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]]]])
    gradient = ad.grad(lambda x: F.max_pool2d(x, 2, stride=1).sum())(x)
    equal(gradient[0, 0], [[0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    outside = ad.grad(lambda x: F.max_pool2d(x, 2, padding=1).sum())(double(np.full((1, 1, 2, 2), -np.inf)))
    equal(outside[0, 0], np.ones((2, 2)))  # the padding is never the largest
    equal(F.max_pool2d(double(np.full((1, 1, 2, 2), -np.inf)), 2, padding=1), np.full((1, 1, 2, 2), -np.inf))


def test_nan_is_the_largest_and_has_the_gradient():
    x = double([[[[1.0, np.nan], [3.0, 2.0]]]])
    y, pull = ad.vjp(lambda x: F.max_pool2d(x, 2), x)
    assert np.isnan(y.item())
    equal(pull(ad.ones_like(y))[0], [[[[0.0, 1.0], [0.0, 0.0]]]])


def test_more_cells_than_a_byte_counts():
    x = drawn(1, 1, 20, 20)
    y, indices = F.max_pool2d(x, 20, return_indices=True)
    assert indices.item() == x.numpy().argmax()
    gradient = ad.grad(lambda x: F.max_pool2d(x, 20).sum())(x).numpy()
    assert np.flatnonzero(gradient).tolist() == [x.numpy().argmax()]
    assert y.item() == x.numpy().max()


def test_positions_in_the_image():
    x = drawn(2, 3, 7, 8)
    y, indices = F.max_pool2d(x, (2, 3), stride=2, padding=1, dilation=(2, 1), return_indices=True)
    taken = np.take_along_axis(x.numpy().reshape(2, 3, -1), indices.numpy().reshape(2, 3, -1), -1)
    equal(y, taken.reshape(y.shape))


def test_windows_that_reach_outside():
    x = double(np.arange(25.0).reshape(1, 1, 5, 5))
    equal(F.max_pool2d(x, 2, ceil_mode=True)[0, 0], [[6, 8, 9], [16, 18, 19], [21, 23, 24]])
    equal(F.avg_pool2d(x, 2, ceil_mode=True)[0, 0], [[3, 5, 6.5], [13, 15, 16.5], [20.5, 22.5, 24]])
    equal(F.avg_pool2d(x, 2, padding=1, count_include_pad=False)[0, 0, 0], [0, 1.5, 3.5])
    equal(F.avg_pool2d(x, 2, divisor_override=2), 2 * F.avg_pool2d(x, 2).numpy())
    ad.check_grads(lambda x: F.max_pool2d(x, 2, ceil_mode=True), (drawn(1, 1, 5, 5),))
    ad.check_grads(lambda x: F.avg_pool2d(x, 2, ceil_mode=True, padding=1, count_include_pad=False), (x,))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x, w: F.conv2d(x, w[:, :1]), ValueError, r"takes 1 channels; the input of shape \(2, 2, 5, 5\) has 2"),
        (lambda x, w: F.conv2d(x, w, groups=2), ValueError, "3 output channels don't divide into 2 groups"),
        (lambda x, w: F.conv2d(x[0, 0], w), ValueError, r"\(N, C, H, W\) or \(C, H, W\)"),
        (lambda x, w: F.conv2d(x, w[0]), ValueError, "the weight has shape"),
        (lambda x, w: F.conv2d(x, w, ad.ones(2)), ValueError, r"the bias has shape \(3,\), not \(2,\)"),
        (lambda x, w: F.conv2d(x, w, dilation=3), ValueError, "does not fit images"),
        (lambda x, w: F.conv2d(x, w, padding="same", stride=2), ValueError, "needs stride 1"),
        (lambda x, w: F.conv2d(x, w, padding="full"), ValueError, "'valid', 'same'"),
        (lambda x, w: F.conv2d(x, w, stride=0), ValueError, "at least 1"),
        (lambda x, w: F.conv2d(x, w, stride=1.5), TypeError, "an int or a pair"),
        (lambda x, w: F.conv2d(x.astype("int32"), w.astype("int32")), TypeError, "floating"),
        (lambda x, w: F.max_pool2d(x, 6), ValueError, "does not fit images"),
        (lambda x, w: F.max_pool2d(x, 2, padding=2), ValueError, "more than half"),
        (lambda x, w: F.avg_pool2d(x.astype("int32"), 2), TypeError, "floating"),
        (lambda x, w: F.avg_pool2d(x, 2, divisor_override=0), ValueError, "must not be zero"),
        (lambda x, w: F.adaptive_avg_pool2d(x, (1, 2, 3)), TypeError, "a pair"),
        (lambda x, w: F.adaptive_avg_pool2d(x[:, :, :0], 1), ValueError, "nothing to average"),
    ],
)  # fmt: skip
def test_errors_name_shapes_and_the_line(call, error, message):
    with pytest.raises(error, match=f"(?s){message}.*test_images.py:\\d+"):
        call(drawn(2, 2, 5, 5), drawn(3, 2, 3, 3))


@pytest.mark.parametrize(
    ("stride", "padding", "more"), [(1, 2, 2), (2, 2, 3), (2, 1, 2), (1, 0, 3), (3, 2, 2), (2, 4, 3)]
)
def test_a_transposed_convolution_gives_what_output_padding_asks_for(stride, padding, more):
    rng = np.random.default_rng(0)
    x, kernel, dilation = rng.normal(size=4), rng.normal(size=4), 4
    full = np.zeros((len(x) - 1) * stride + dilation * (len(kernel) - 1) + 1 + more)
    for i, value in enumerate(x):
        full[i * stride : i * stride + dilation * len(kernel) : dilation] += value * kernel
    expected = full[padding : len(full) - padding]
    given = ad.tensor(x[None, None]), ad.tensor(kernel[None, None])
    y = ad.nn.functional.conv_transpose1d(
        *given, stride=stride, padding=padding, output_padding=more, dilation=dilation
    )
    np.testing.assert_allclose(y.numpy()[0, 0], expected, atol=1e-12)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_integers_between_pixels_are_no_integers(mode: str) -> None:
    x = np.arange(9, dtype=np.int64).reshape(1, 1, 3, 3)
    found = ad.nn.functional.interpolate(ad.tensor(x), scale_factor=2, mode=mode)
    expected = ad.nn.functional.interpolate(ad.tensor(x.astype(np.float32)), scale_factor=2, mode=mode)
    assert found.dtype is expected.dtype and found.numpy().max() > 7
    np.testing.assert_array_equal(found.numpy(), expected.numpy())
    with pytest.raises(RuntimeError, match=r"cast it by \.float"):
        torch.nn.functional.interpolate(torch.tensor(x), scale_factor=2, mode=mode)


@pytest.mark.parametrize("kind", ["different", "equal", "unknown"])
def test_the_largest_of_a_whole_image_is_that_of_a_smaller_window(kind):
    values = np.random.default_rng(0).normal(size=(2, 3, 8, 8))
    if kind == "equal":
        values = np.maximum(values, 0.0).round()
    elif kind == "unknown":
        values.reshape(-1)[[3, 50, 70]] = np.nan
    wide = np.concatenate(
        [np.full((2, 3, 8, 2), -np.inf), values], axis=-1
    )  # 80 pixels, which no window has cell by cell

    def largest(x):
        found, places = F.max_pool2d(x, x.shape[2:], return_indices=True)
        return ad.sum(found * ad.tensor([1.0, 2.0, 3.0])[:, None, None]), (found, places)

    (small, by_small), (large, by_large) = (
        ad.value_and_grad(largest, has_aux=True)(ad.tensor(x)) for x in (values, wide)
    )
    np.testing.assert_array_equal(small[0].numpy(), large[0].numpy())
    np.testing.assert_array_equal(small[1][0].numpy(), large[1][0].numpy())
    rows, columns = np.divmod(small[1][1].numpy(), 8)
    np.testing.assert_array_equal(rows * 10 + columns + 2, large[1][1].numpy())
    np.testing.assert_array_equal(by_small.numpy(), by_large.numpy()[..., 2:])
    assert not by_large.numpy()[..., :2].any()


@pytest.mark.parametrize("sizes", [(5, 5), (2, 3), (1, 20), (20, 1), (3,)])
def test_windows_side_by_side_are_rows_of_a_product(monkeypatch, sizes):
    rank, counts = len(sizes), (2, 3)[: len(sizes)]
    x = drawn(2, 3, *[n * k for n, k in zip(counts, sizes, strict=True)])
    w, target = drawn(4, 3, *sizes, seed=1), drawn(2, 4, *counts, seed=2)
    convolve = F.conv1d if rank == 1 else F.conv2d

    def results():
        y, pull = ad.vjp(lambda x, w: convolve(x, w, stride=sizes), x, w)
        found = pull(target)
        twice = ad.grad(lambda x, w: (pull_of(x, w) ** 2).sum(), (0, 1))(x, w)
        return [y, *found, *twice]

    def pull_of(x, w):
        return ad.vjp(lambda x: convolve(x, w, stride=sizes), x)[1](target)[0] * x

    found = results()
    monkeypatch.setattr(convolution, "_are_side_by_side", lambda *given: False)
    for a, b in zip(found, results(), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-11, atol=1e-12)


def test_patches_need_no_convolution():
    x, w = (ad.variable(a.numpy().astype("float32")) for a in (drawn(2, 3, 32, 32), drawn(8, 3, 8, 8)))
    y = F.conv2d(x, w, stride=8)
    text = str(ad.execution.explain(y, *ad.gradients(y.sum(), [x, w]), stage="units"))
    assert text.count("product %") == 3 and "convolution" not in text
