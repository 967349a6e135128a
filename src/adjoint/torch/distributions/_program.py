"""`torch`, as a program has it: the distributions are written as PyTorch programs are."""

from __future__ import annotations

from typing import Any

import adjoint.torch as program

__all__ = ["torch"]

torch: Any = program
