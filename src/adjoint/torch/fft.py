"""torch.fft: the core's transforms with `dim` for the axes."""

from __future__ import annotations

from typing import Any

from adjoint import fft as core_fft
from adjoint.dtypes import default_dtype
from adjoint.tensors import functions as core

from ._creation import checked, finished, given_dtype
from ._missing import getter
from ._names import FUNCTIONS, recorded_at_user

ONE = "fft ifft rfft irfft hfft ihfft".split()
TWO = "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2".split()
MANY = "fftn ifftn rfftn irfftn hfftn ihfftn".split()
FREQUENCIES = "fftfreq rfftfreq".split()
SHIFTS = "fftshift ifftshift".split()

__all__ = [*ONE, *TWO, *MANY, *SHIFTS, *FREQUENCIES]


def _lengths(s: Any, dim: Any) -> tuple[Any, Any]:
    """Lengths and axes as the core takes them: -1 is the length by default; lengths without axes are of the last ones."""
    if s is None:
        return None, dim
    sizes = (s,) if isinstance(s, int) else tuple(s)
    axes = tuple(range(-len(sizes), 0)) if dim is None else tuple(dim)
    return tuple(None if n == -1 else n for n in sizes), axes


def _of_one(name: str) -> Any:
    f = getattr(core_fft, name)
    return lambda input, n=None, dim=-1, norm=None: f(input, n, dim, norm)


def _of_two(name: str) -> Any:
    f = getattr(core_fft, name)

    def called(input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None) -> Any:
        return f(input, *_lengths(s, (dim,) if isinstance(dim, int) else dim), norm)

    return called


def _of_many(name: str) -> Any:
    f = getattr(core_fft, name)

    def called(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
        lengths, axes = _lengths(s, (dim,) if isinstance(dim, int) else dim)
        return f(input, lengths, axes, norm)

    return called


def _shift(name: str) -> Any:
    f = getattr(core_fft, name)
    return lambda input, dim=None: f(input, dim)


for _names, _make in ((ONE, _of_one), (TWO, _of_two), (MANY, _of_many), (SHIFTS, _shift)):
    for _name in _names:
        _f = _make(_name)
        _f.__name__ = _name
        _f.__doc__ = f"`fft.{_name}`, with `dim` for the axes."
        globals()[_name] = FUNCTIONS[f"fft.{_name}"] = recorded_at_user(_f)


def _frequencies(name: str) -> Any:
    def called(n: int, d: float = 1.0, *, dtype: Any = None, **options: Any) -> Any:
        found = core.astype(getattr(core_fft, name)(n, d), given_dtype(dtype) or default_dtype())
        return finished(found, **checked(options, f"fft.{name}"))

    called.__name__ = name
    called.__doc__ = "The frequencies of a transform's terms."
    return recorded_at_user(called)


for _name in FREQUENCIES:
    globals()[_name] = FUNCTIONS[f"fft.{_name}"] = _frequencies(_name)

__getattr__ = getter("torch.fft", globals())
