"""The names of `numpy.fft` with its own arguments, for tensors: `import adjoint.numpy.fft` in its place."""

from __future__ import annotations

from typing import Any

import numpy

from adjoint.numpy.standing import standing_for

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    found = standing_for(getattr(numpy.fft, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [name for name in dir(numpy.fft) if not name.startswith("_")]
