"""Figures of training: what is in them, and what is refused; `plot.losses` and `plot.predictions` are in test_train."""

import numpy as np
import pytest

import adjoint as ad

plot = ad.plot
RANDOM = np.random.default_rng(0)


def texts(axes):
    return [t.get_text() for t in axes.texts]


@pytest.mark.parametrize(
    ("shape", "options", "images"),
    [
        ((6, 5), {}, 1),
        ((6, 12), {"shape": (3, 4)}, 6),
        ((7, 3, 4), {}, 7),
        ((9, 2, 3, 3), {"columns": 4}, 9),
        ((70, 4), {"shape": (2, 2)}, 64),
    ],
)
def test_weights_are_images_on_one_scale(shape, options, images, tmp_path):
    values = RANDOM.normal(size=shape)
    figure = plot.weights(values, tmp_path / "w.png", **options)
    drawn = [image for axes in figure.axes for image in axes.images]
    assert len(drawn) == images and (tmp_path / "w.png").stat().st_size > 1000
    low, high = drawn[0].get_clim()
    assert low == -high and {image.get_clim() for image in drawn} == {(low, high)}
    if len(shape) == 2 and not options:
        np.testing.assert_array_equal(drawn[0].get_array(), values)


def test_weights_of_a_tensor_and_of_wrong_shapes():
    assert plot.weights(ad.nn.Linear(4, 3).weight)
    assert plot.weights(np.zeros((2, 2)))
    for shape, options in [((3,), {}), ((3, 5), {"shape": (2, 2)}), ((0, 4), {})]:
        with pytest.raises(ValueError, match=r"plot\.weights"):
            plot.weights(np.zeros(shape), **options)


def test_histograms_tell_dead_and_lost_values():
    figure = plot.histograms({"a": [0.0, 0.0, 1.0, 3.0], "b": [np.nan, np.inf, 2.0], "c": [np.nan]})
    assert [axes.get_ylabel() for axes in figure.axes] == ["a", "b", "c"]
    assert "mean 1 " in texts(figure.axes[0])[0] and "zeros 50 %" in texts(figure.axes[0])[0]
    assert "2 not finite" in texts(figure.axes[1])[0] and texts(figure.axes[2])[0] == "no finite numbers"
    assert sum(patch.get_height() for patch in figure.axes[0].patches) == 4
    with pytest.raises(ValueError, match="no numbers"):
        plot.histograms({"a": [np.nan]})


def test_activations_and_gradients_of_a_network():
    net = ad.nn.Sequential(ad.nn.Linear(3, 4), ad.nn.ReLU(), ad.nn.Linear(4, 2))
    x = ad.tensor(RANDOM.normal(size=(10, 3)).astype("float32"))
    figure = plot.activations(net, x)
    assert [axes.get_ylabel() for axes in figure.axes] == ["0 Linear", "1 ReLU", "2 Linear"]
    with pytest.raises(ValueError, match="no parameter has a gradient"):
        plot.gradients(net)
    (net(x) ** 2).sum().backward()
    names = [axes.get_ylabel() for axes in plot.gradients(net).axes]
    assert names == ["0.weight", "0.bias", "2.weight", "2.bias"]
    with pytest.raises(TypeError, match=r"plot\.activations: Linear isn't a sequence"):
        plot.activations(ad.nn.Linear(2, 2), x)


def test_decision_boundary_is_where_the_classes_meet(tmp_path):
    points = RANDOM.normal(size=(60, 2))
    labels = (points[:, 0] > 0).astype(int)
    figure = plot.decision_boundary(lambda p: ad.tensor(p)[:, 0], points, labels, tmp_path / "b.svg")
    axes = figure.axes[0]
    boundary = np.concatenate([p.vertices for p in axes.collections[0].get_paths()])
    np.testing.assert_allclose(boundary[:, 0], 0, atol=1e-6)
    assert [len(c.get_offsets()) for c in axes.collections[1:]] == [np.sum(labels == 0), np.sum(labels == 1)]
    three = plot.decision_boundary(
        lambda p: np.stack([p[:, 0], p[:, 1], -p.sum(1)], 1), points, labels, names=["a", "b", "c"]
    )
    assert len(three.axes[0].collections) == 6
    moons = plot.decision_boundary(lambda p: p[:, :1], points, labels * 2 - 1)
    assert [t.get_text() for t in moons.axes[0].get_legend().get_texts()] == ["-1", "1"]
    decided = plot.decision_boundary(lambda p: p[:, 0] > 0, points, labels)
    assert len(decided.axes[0].collections) == 3
    with pytest.raises(ValueError, match=r"points must be \(N, 2\)"):
        plot.decision_boundary(lambda p: p, points[:, :1], labels)
    with pytest.raises(ValueError, match="predict gave shape"):
        plot.decision_boundary(lambda p: p[:5], points, labels)


def test_confusion_matrix_counts():
    figure = plot.confusion_matrix([0, 1, 1, 2, 2], [0, 1, 2, 2, 2])
    cells = {(int(t.get_position()[1]), int(t.get_position()[0])): int(t.get_text()) for t in figure.axes[0].texts}
    assert cells == {(0, 0): 1, (1, 1): 1, (2, 1): 1, (2, 2): 2}
    assert "80.0 % right" in figure.axes[0].get_title(loc="left")
    assert plot.confusion_matrix([0], [0], names=["cat", "dog"])
    for predicted, labels in [([0], [0, 1]), ([], []), ([0.5], [0.5]), ([-1], [0])]:
        with pytest.raises(ValueError, match=r"plot\.confusion_matrix"):
            plot.confusion_matrix(predicted, labels)


def test_mistakes_shows_the_surest_first():
    images = RANDOM.random((5, 4, 4))
    figure = plot.mistakes(images, [0, 1, 2, 3, 4], [0, 9, 2, 8, 7], confidence=[1, 0.5, 1, 0.9, 0.7])
    assert [axes.get_title() for axes in figure.axes] == ["3 (is 8)", "4 (is 7)", "1 (is 9)"]
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), images[3])
    assert figure.get_suptitle() == "3 of 5 are wrong, the surest first"
    with pytest.raises(ValueError, match="every image was classified right"):
        plot.mistakes(images, [0] * 5, [0] * 5)
    with pytest.raises(ValueError, match="their shapes are"):
        plot.mistakes(images, [0], [0])


def test_a_text_stands_on_the_shares_of_its_characters(tmp_path):
    written = "two $lines$\nof " + "x" * 90
    shares = np.linspace(0, 1, len(written))
    shares[:3] = np.nan
    figure = plot.text(written, shares, tmp_path / "text.png")
    axes = figure.axes[0]
    assert "".join(texts(axes)) == "".join(written.split()), "blanks aren't drawn, dollars aren't formulas"
    sheet = axes.images[0].get_array()
    assert sheet.shape == (3, 80)
    np.testing.assert_array_equal(sheet[0, :12], [1, 1, 1, *shares[3:12]])
    np.testing.assert_array_equal(sheet[1, :80], shares[12:92])
    np.testing.assert_array_equal(sheet[2, :13], shares[92:])
    assert (sheet[0, 12:] == 1).all() and (tmp_path / "text.png").stat().st_size > 1000
    for characters, given in (("", []), ("abc", [0.5, 0.5]), ("abc", [[0.1, 0.2, 0.3]])):
        with pytest.raises(ValueError, match=r"plot\.text: \d characters with shares of the shape"):
            plot.text(characters, given)


@pytest.mark.filterwarnings("error")
def test_letters_that_the_font_lacks_are_boxes_without_a_warning(tmp_path):
    plot.text("日本", [0.5, np.nan], tmp_path / "text.png")
    plot.embedding(np.eye(2), "日本", tmp_path / "embedding.png")
    plot.attention(np.eye(2), "日本", tmp_path / "attention.png")


def test_attention_of_every_layer_and_head():
    weights = RANDOM.random((2, 3, 4, 4))
    figure = plot.attention(weights, "a\n $")
    drawn = [axes for axes in figure.axes if axes.images]
    assert [axes.get_title() for axes in drawn][3:5] == ["layer 2, head 1", "layer 2, head 2"]
    shown = drawn[4].images[0].get_array()
    np.testing.assert_allclose(shown, weights[1, 1] / weights[1, 1].max(axis=1, keepdims=True))
    assert [label.get_text() for label in drawn[0].get_xticklabels()] == ["a", "↵", "␣", "$"]
    assert len(plot.attention(weights[0, 0], "abcd").axes) == 1
    for given in (weights[..., :3], weights[0, 0, 0], np.zeros((0, 4, 4)), weights[None]):
        with pytest.raises(ValueError, match=r"plot\.attention: weights"):
            plot.attention(given, "abcd")


def test_an_embedding_is_drawn_where_it_differs_most():
    line = np.outer([-1.0, 0.0, 3.0], [3.0, 4.0]) + 7.0
    axes = plot.embedding(line, ["a", "b", " "], groups=["one", "one", "other"]).axes[0]
    at = {text.get_text(): text.get_position() for text in axes.texts}
    mean = 5 * (-1 + 0 + 3) / 3
    for name, along in (("a", -5.0), ("b", 0.0), ("␣", 15.0)):
        np.testing.assert_allclose(at[name], [along - mean, 0.0], atol=1e-12)
    assert axes.get_xlabel() == "component 1, 100 % of the variance"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "other"]
    assert plot.embedding([[1.0], [2.0]], "ab").axes[0].get_ylabel() == "component 2, 0 % of the variance"
    assert plot.embedding(np.ones((3, 2)), "abc"), "no variance at all"
    for vectors, names, groups in (
        ([[1.0]], "a", None),
        (line, "ab", None),
        (line, "abc", ["x"]),
        (line[0], "ab", None),
    ):
        with pytest.raises(ValueError, match=r"plot\.embedding: vectors"):
            plot.embedding(vectors, names, groups=groups)


def test_losses_beside_those_on_held_out_data():
    axes = plot.losses([4.0, 3.0, 2.0, 2.0], steps_per_epoch=2, held_out=[3.5, 2.5]).axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["held out"]
    np.testing.assert_array_equal(axes.lines[-1].get_xydata(), [[1, 3.5], [2, 2.5]])
