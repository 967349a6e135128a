"""Small data sets that are computed: two moons, spirals."""

from __future__ import annotations

import numpy as np

from adjoint.dtypes import get_default_dtype

__all__ = ["moons", "spirals"]


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
