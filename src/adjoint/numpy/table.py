"""The table of what stands for NumPy's functions, which the modules of each topic fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["FUNCTIONS", "NONE", "stands_for"]

NONE = np._NoValue
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def stands_for(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what stands for functions of NumPy's."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for numpys in functions:
            FUNCTIONS[numpys] = function
        return function

    return register
