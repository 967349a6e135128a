"""torch.types: names for annotations."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, TypeAlias

from ._creation import device
from ._tensor import Size, Tensor

__all__ = ["Device", "Number", "Storage"]

_int: TypeAlias = builtins.int
_float: TypeAlias = builtins.float
_bool: TypeAlias = builtins.bool
_complex: TypeAlias = builtins.complex
_size: TypeAlias = Sequence[int]
_dtype: TypeAlias = Any
_device: TypeAlias = device
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
Number: TypeAlias = _int | _float | _bool
Device: TypeAlias = device | str | _int | None
Storage: TypeAlias = Any
SymInt: TypeAlias = _int
_symsize: TypeAlias = Size
