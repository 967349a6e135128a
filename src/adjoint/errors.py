"""Errors that aren't Python's own."""

from __future__ import annotations

from typing import Any

import numpy

__all__ = ["LinAlgError"]


class LinAlgError(numpy.linalg.LinAlgError, RuntimeError):
    """A matrix that is singular, indefinite or has no answer else: NumPy's error, and as PyTorch's a RuntimeError. It is called
    as NumPy's, and pickled as that."""

    def __reduce__(self) -> Any:
        return numpy.linalg.LinAlgError, self.args


LinAlgError.__module__ = "numpy.linalg"
