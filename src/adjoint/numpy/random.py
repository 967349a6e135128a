"""`numpy.random` itself, whose draws are constants: `import adjoint.numpy.random as npr` runs as it stands."""

from __future__ import annotations

from typing import Any

import numpy

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    return getattr(numpy.random, name)


def __dir__() -> list[str]:
    return [name for name in dir(numpy.random) if not name.startswith("_")]
