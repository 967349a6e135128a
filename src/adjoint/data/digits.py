"""1,797 handwritten digits of 8 × 8 pixels, which come with the package (source and licence: optdigits/README.md)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .idx import read_idx

__all__ = ["digits"]

FOLDER = Path(__file__).parent / "optdigits"


def digits() -> tuple[np.ndarray, np.ndarray]:
    """The small digits: images (1797, 8, 8) uint8 from 0 (paper) to 16 (ink), labels (1797,) int64.

    The test set of Optical Recognition of Handwritten Digits (E. Alpaydin and C. Kaynak, 1998,
    https://doi.org/10.24432/C50P49; CC BY 4.0), which scikit-learn has as `load_digits`. They need no download; for a
    test set of one's own take the last few hundred, which other people wrote than the first.
    """
    return read_idx(FOLDER / "images-idx3-ubyte.gz"), read_idx(FOLDER / "labels-idx1-ubyte.gz").astype(np.int64)
