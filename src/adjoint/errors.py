"""Errors that aren't Python's own."""

from __future__ import annotations

import numpy

__all__ = ["LinAlgError"]


class LinAlgError(numpy.linalg.LinAlgError, RuntimeError):
    """A matrix that is singular, indefinite or has no answer else: NumPy's error, and as PyTorch's a RuntimeError."""
