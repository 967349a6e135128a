"""Small data sets that are computed: two moons, spirals, shapes."""

from __future__ import annotations

import numpy as np

from adjoint.dtypes import get_default_dtype

__all__ = ["moons", "shapes", "spirals"]


def moons(count: int = 100, noise: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two interleaved half circles: points (count, 2) of the default floating dtype, labels (count,) int64, 0 and 1.

    `noise` is the standard deviation of normal noise on both coordinates. The points come in random order. Raises
    ValueError for fewer than two points.
    """
    labels, position, generator = _classes("moons", count, 2, seed)
    angle = np.pi * position
    points = np.where(
        labels[:, None] == 0,
        np.stack([np.cos(angle), np.sin(angle)], axis=1),
        np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], axis=1),
    )
    return _shuffled(points, labels, noise, generator)


def shapes(count: int = 100, size: int = 32, noise: float = 0.15, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Noisy images of up to three shapes, and what each pixel belongs to: for learning to tell them apart.

    Images (count, size, size) float32, around 0 to 1, and classes of the same shape, int64: 0 for nothing, 1 for a disc, 2 for a
    square, 3 for a triangle. Shapes have places, sizes and shades by chance, and a later one covers an earlier one; `noise` is
    the standard deviation of what is added. Raises ValueError for no images, or of fewer than 8 pixels.
    """
    if count < 1 or size < 8:
        raise ValueError(f"shapes: count must be positive and size at least 8; they are {count} and {size}")
    generator = np.random.default_rng(seed)
    y, x = np.mgrid[:size, :size] + 0.5
    images = np.zeros((count, size, size))
    classes = np.zeros((count, size, size), np.int64)
    for image, kinds in zip(images, classes, strict=True):
        image += generator.uniform(0.0, 0.3)
        for _ in range(generator.integers(1, 4)):
            kind, radius = generator.integers(1, 4), size * generator.uniform(0.1, 0.22)
            dx, dy = x - generator.uniform(radius, size - radius), y - generator.uniform(radius, size - radius)
            square = np.maximum(abs(dx), abs(dy)) < radius
            inside = {1: np.hypot(dx, dy) < radius, 2: square, 3: square & (2 * abs(dx) < dy + radius)}[int(kind)]
            image[inside], kinds[inside] = generator.uniform(0.5, 1.0), kind
    images += noise * generator.standard_normal(images.shape)
    return images.astype(np.float32), classes


def spirals(
    count: int = 300, classes: int = 3, noise: float = 0.05, turns: float = 0.75, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Arms of a spiral around the origin: points (count, 2) of the default floating dtype, labels (count,) int64.

    Each of the `classes` arms makes that many turns on its way from radius 0 to 1; `noise` is the standard deviation of
    normal noise on both coordinates. The points come in random order. Raises ValueError for fewer points than classes.
    """
    labels, position, generator = _classes("spirals", count, classes, seed)
    angle = 2 * np.pi * (turns * position + labels / classes)
    points = position[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _shuffled(points, labels, noise, generator)


def _classes(name: str, count: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Labels in equal shares, and for each point its position from 0 to 1 along its class's curve."""
    if classes < 1 or count < classes:
        raise ValueError(f"{name}: {count} points can't show {classes} classes")
    sizes = [count // classes + (number < count % classes) for number in range(classes)]
    labels = np.repeat(np.arange(classes), sizes)
    position = np.concatenate([np.linspace(0, 1, size) for size in sizes])
    return labels, position, np.random.default_rng(seed)


def _shuffled(
    points: np.ndarray, labels: np.ndarray, noise: float, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    points = points + noise * generator.standard_normal(points.shape)
    order = generator.permutation(len(points))
    return points[order].astype(get_default_dtype().dtype), labels[order].astype(np.int64)
