"""Images changed at random, so that a network sees none twice: shifted, rotated, cropped, mirrored. On NumPy arrays.

Every function takes images (N, height, width) or (N, channels, height, width) of any real dtype, draws from the
`numpy.random.Generator` that it is given, and returns new images of that dtype. What comes in from outside is zero.
"""

from __future__ import annotations

import dataclasses

import numpy as np

__all__ = ["Augmentation", "crop", "mirror", "rotate", "shift"]


def shift(images: np.ndarray, generator: np.random.Generator, pixels: int) -> np.ndarray:
    """Each image moved by whole pixels, up to `pixels` in each direction, all distances alike likely."""
    return crop(images, generator, images.shape[-2:], padding=pixels)


def crop(
    images: np.ndarray, generator: np.random.Generator, size: int | tuple[int, ...], padding: int = 0
) -> np.ndarray:
    """A random window of `size` pixels (height and width, or one number for both) of each image.

    The images get a margin of `padding` zeros first. Raises ValueError when the window is larger than that.
    """
    images = _checked("crop", images)
    height, width = (size, size) if isinstance(size, int) else size
    if padding:
        margins = [(0, 0)] * (images.ndim - 2) + [(padding, padding)] * 2
        images = np.pad(images, margins)
    rooms = images.shape[-2] - height, images.shape[-1] - width
    if min(rooms) < 0 or padding < 0:
        raise ValueError(f"crop: no window of {height} × {width} in images of {images.shape[-2]} × {images.shape[-1]}")
    count = len(images)
    tops, lefts = (generator.integers(0, room + 1, count) for room in rooms)
    windows = np.lib.stride_tricks.sliding_window_view(images, (height, width), axis=(-2, -1))
    numbers = np.arange(count)
    chosen: np.ndarray = windows[numbers, tops, lefts] if images.ndim == 3 else windows[numbers, :, tops, lefts]
    return chosen


def mirror(images: np.ndarray, generator: np.random.Generator, probability: float = 0.5) -> np.ndarray:
    """Each image turned left to right with this probability."""
    images = _checked("mirror", images)
    chosen = generator.random(len(images)) < probability
    turned = images.copy()
    turned[chosen] = images[chosen][..., ::-1]
    return turned


def rotate(
    images: np.ndarray, generator: np.random.Generator, degrees: float, scale: float = 0.0, pixels: float = 0.0
) -> np.ndarray:
    """Each image rotated about its centre by up to `degrees` either way, all angles alike likely.

    At the same time it can be made up to the share `scale` larger or smaller, and be moved by up to `pixels`, which
    needn't be whole. A pixel is interpolated from the four around its place (bilinear).
    """
    images = _checked("rotate", images)
    count, height, width = len(images), images.shape[-2], images.shape[-1]
    angles = np.deg2rad(generator.uniform(-degrees, degrees, count))
    factors = 1 / (1 + generator.uniform(-scale, scale, count))
    moves = generator.uniform(-pixels, pixels, (2, count, 1))
    # For each pixel of the result, its place in the original, in float32: (N, height * width).
    y, x = (axis.ravel() for axis in np.mgrid[:height, :width].astype(np.float32))
    y, x = y - (height - 1) / 2, x - (width - 1) / 2
    cosines, sines = ((factors * f(angles)).astype(np.float32)[:, None] for f in (np.cos, np.sin))
    rows = cosines * y - sines * x + ((height - 1) / 2 + moves[0]).astype(np.float32)
    columns = sines * y + cosines * x + ((width - 1) / 2 + moves[1]).astype(np.float32)
    found = _bilinear(images.reshape(count, -1, height, width), rows, columns).reshape(images.shape)
    if images.dtype.kind in "iu":
        np.rint(found, out=found)
    result: np.ndarray = found.astype(images.dtype)
    return result


def _bilinear(images: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Images (N, C, H, W) at places (N, P) each: (N, C, P) in float32 or the images' floating dtype."""
    count, channels, height, width = images.shape
    # In a margin of zeros every place outside finds four pixels: one before the image, two after it.
    line = width + 3
    padded = np.zeros((count, channels, height + 3, line), np.result_type(images.dtype, np.float32))
    padded[:, :, 1:-2, 1:-2] = images
    rows, columns = np.clip(rows + 1, 0, height + 1), np.clip(columns + 1, 0, width + 1)
    top, left = rows.astype(np.intp), columns.astype(np.intp)
    down, right = rows - top, columns - left
    flat = padded.ravel()
    first = np.arange(count * channels).reshape(count, channels, 1) * ((height + 3) * line)
    corner = first + (top * line + left)[:, None]

    def at(offset: int) -> np.ndarray:
        pixels: np.ndarray = flat[offset:].take(corner)
        return pixels

    upper = at(0) + right[:, None] * (at(1) - at(0))
    lower = at(line) + right[:, None] * (at(line + 1) - at(line))
    result: np.ndarray = upper + down[:, None] * (lower - upper)
    return result


@dataclasses.dataclass(frozen=True)
class Augmentation:
    """Several changes in one, to be given to `DataLoader(augment=...)`: `pixels` of shift, `degrees`, `scale`, mirroring.

    With degrees or scale, the shift is part of the rotation and needn't be whole pixels; without, it is exact.

    >>> import adjoint as ad, numpy as np
    >>> images = np.arange(2 * 28 * 28).reshape(2, 28, 28)
    >>> changed = ad.data.Augmentation(pixels=2, degrees=10)(images, np.random.default_rng(0))
    >>> changed.shape, changed.dtype.name
    ((2, 28, 28), 'int64')
    """

    pixels: int = 0
    degrees: float = 0.0
    scale: float = 0.0
    mirrored: bool = False

    def __call__(self, images: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """The changed images."""
        if self.degrees or self.scale:
            images = rotate(images, generator, self.degrees, self.scale, self.pixels)
        elif self.pixels:
            images = shift(images, generator, self.pixels)
        return mirror(images, generator) if self.mirrored else images


def _checked(name: str, images: np.ndarray) -> np.ndarray:
    images = np.asarray(images)
    if images.ndim not in (3, 4) or images.dtype.kind not in "uif":
        raise ValueError(
            f"{name}: expected images (N, height, width) or (N, channels, height, width) of real numbers; "
            f"got {images.dtype} {images.shape}"
        )
    return images
