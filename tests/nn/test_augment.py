"""Images changed at random: against SciPy where it turns them, pixel by pixel where they are moved."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from adjoint.data import Augmentation, augment


class Fixed:
    """A generator whose draws are given."""

    def __init__(self, *values):
        self.values = list(values)

    def uniform(self, low, high, size):
        value = self.values.pop(0)
        assert np.all(np.abs(value) <= high)
        return np.broadcast_to(np.float64(value), size)


def images(*shape, dtype=np.float64):
    return (np.random.default_rng(0).random(shape) * 200).astype(dtype)


@pytest.mark.parametrize("angle", [-40.0, 0.0, 17.0])
@pytest.mark.parametrize("shape", [(3, 12, 12), (2, 3, 9, 14)])
def test_rotation_is_that_of_scipy(angle, shape):
    given = images(*shape)
    found = augment.rotate(given, Fixed(angle, 0.0, np.zeros((2, 1, 1))), 45)
    expected = ndimage.rotate(given, -angle, axes=(-2, -1), reshape=False, order=1, mode="grid-constant")
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_scale_and_moves_are_those_of_scipy():
    given = images(1, 11, 13)
    moves = np.array([1.25, -2.5]).reshape(2, 1, 1)
    found = augment.rotate(given, Fixed(0.0, 0.25, moves), 0.0, scale=0.3, pixels=3)
    matrix = np.eye(2) / 1.25
    centre = np.array([5.0, 6.0])
    expected = ndimage.affine_transform(
        given[0], matrix, centre - matrix @ centre + [1.25, -2.5], order=1, mode="grid-constant"
    )
    np.testing.assert_allclose(found[0], expected, atol=2e-3)


def test_shifts_move_whole_images():
    given = images(400, 6, 7, dtype=np.uint8)
    found = augment.shift(given, np.random.default_rng(0), 2)
    assert found.shape == given.shape
    assert found.dtype == np.uint8
    padded = np.pad(given, [(0, 0), (2, 2), (2, 2)])
    moves = set()
    for before, after in zip(padded, found, strict=True):
        fitting = [(r, c) for r in range(5) for c in range(5) if np.array_equal(before[r : r + 6, c : c + 7], after)]
        assert len(fitting) == 1
        moves.update(fitting)
    assert len(moves) == 25  # every distance occurs


def test_crops_keep_channels_together():
    given = np.arange(50 * 2 * 8 * 8).reshape(50, 2, 8, 8)
    found = augment.crop(given, np.random.default_rng(0), (5, 6))
    assert found.shape == (50, 2, 5, 6)
    np.testing.assert_array_equal(found[:, 1] - found[:, 0], np.full((50, 5, 6), 64))
    np.testing.assert_array_equal(found[:, :, :, 1:] - found[:, :, :, :-1], np.ones((50, 2, 5, 5)))
    assert augment.crop(given, np.random.default_rng(0), 10, padding=1).shape == (50, 2, 10, 10)
    with pytest.raises(ValueError, match="no window of 9 × 9 in images of 8 × 8"):
        augment.crop(given, np.random.default_rng(0), 9)


def test_mirroring_turns_about_half():
    given = images(200, 4, 5)
    found = augment.mirror(given, np.random.default_rng(0))
    turned = [np.array_equal(a[:, ::-1], b) for a, b in zip(given, found, strict=True)]
    kept = [np.array_equal(a, b) for a, b in zip(given, found, strict=True)]
    assert np.all(np.logical_xor(turned, kept))
    assert 60 < sum(turned) < 140


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize(
    "settings", [{"pixels": 2}, {"degrees": 10, "pixels": 2, "scale": 0.1}, {"mirrored": True}, {}]
)
def test_the_same_generator_gives_the_same_images(dtype, settings):
    given = images(5, 10, 10, dtype=dtype)
    before = given.copy()
    change = Augmentation(**settings)
    first, again, other = (change(given, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert first.dtype == dtype
    assert first.shape == given.shape
    assert np.array_equal(first, other) == (settings == {})
    np.testing.assert_array_equal(given, before)
    assert first.max() <= 200


def test_what_is_no_image():
    with pytest.raises(ValueError, match=r"mirror: expected images .* got float64 \(3, 3\)"):
        augment.mirror(np.zeros((3, 3)), np.random.default_rng(0))
