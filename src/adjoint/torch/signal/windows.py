"""torch.signal.windows: symmetric unless `sym=False`, of float32 or float64."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adjoint.tensors.located import at_user

from .._creation import given_dtype
from .._missing import getter
from .._names import recorded_at_user
from .._signals import WINDOWS

__all__ = [*WINDOWS]


def _of_whole_floats(f: Callable[..., Any]) -> Callable[..., Any]:
    """The window, refused for half precision: PyTorch makes these by `torch.hann_window` and its kin alone."""

    @functools.wraps(f)
    def made(*args: Any, dtype: Any = None, **options: Any) -> Any:
        kind = given_dtype(dtype)
        if kind is not None and kind.narrow:
            raise RuntimeError(f"{f.__name__}: a window is of float32 or float64, not {kind.name}{at_user()}")
        return f(*args, dtype=dtype, **options)

    return made


globals().update({name: recorded_at_user(_of_whole_floats(f)) for name, f in WINDOWS.items()})
__getattr__ = getter("torch.signal.windows", globals())
