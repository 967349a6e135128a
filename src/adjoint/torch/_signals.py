"""Signals: windows, and the Fourier transform of a window that moves along."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adjoint.dtypes import complex_of, default_dtype
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from ._creation import checked, finished, given_dtype
from ._names import FUNCTIONS, METHODS, function
from ._tensor import as_torch
from .nn import functional as F

__all__ = ["WINDOWS"]


def _places(n: int, sym: bool) -> tuple[Any, int]:
    """Where a window is evaluated, and how many steps it has: a periodic one is a symmetric one without its last place."""
    return np.arange(n, dtype=np.float64), n - 1 if sym else n


def _cosines(weights: Iterable[float]) -> Callable[..., Any]:
    """The window that is a sum of cosines with alternating signs."""

    def window(k: Any, steps: int) -> Any:
        angles = 2 * math.pi * k / steps
        return sum((-1) ** i * a * np.cos(i * angles) for i, a in enumerate(weights))

    return window


def _kaiser(beta: float) -> Callable[..., Any]:
    return lambda k, steps: np.i0(beta * np.sqrt(np.maximum(1 - (2 * k / steps - 1) ** 2, 0))) / np.i0(beta)


def _made(name: str, n: int, sym: bool, shape: Callable[..., Any], options: dict[str, Any]) -> Any:
    kind = given_dtype(options.pop("dtype", None)) or default_dtype()
    if kind.kind != "f":
        raise RuntimeError(f"{name}: a window is of floating numbers, not {kind.name}{at_user()}")
    if n < 0:
        raise ValueError(f"{name}: the length of a window must not be negative; it is {n}{at_user()}")
    k, steps = _places(n, sym)
    values = np.ones(n) if n == 1 else shape(k, steps) if n else np.zeros(0)
    return finished(core.tensor(np.asarray(values, kind.dtype)), **checked(options, name))


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Up to 1 in the middle and down again, in straight lines."""
    return _made("bartlett", M, sym, lambda k, steps: 1 - np.abs(2 * k / steps - 1), options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Any:
    """0.42, 0.5 and 0.08 of three cosines."""
    return _made("blackman", M, sym, _cosines([0.42, 0.5, 0.08]), options)


def cosine(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Half a period of a sine."""
    return _made("cosine", M, sym, lambda k, steps: np.sin(math.pi * (k + 0.5) / (steps + 1)), options)


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any) -> Any:
    """exp(-|k - center| / tau)."""
    if tau <= 0:
        raise ValueError(f"exponential: tau must be positive; it is {tau}{at_user()}")
    if sym and center is not None:
        raise ValueError(f"exponential: a symmetric window has its center in the middle{at_user()}")
    return _made(
        "exponential", M, sym, lambda k, n: np.exp(-np.abs(k - (n / 2 if center is None else center)) / tau), options
    )


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Any:
    """exp(-((k - middle) / std)² / 2)."""
    if std <= 0:
        raise ValueError(f"gaussian: std must be positive; it is {std}{at_user()}")
    return _made("gaussian", M, sym, lambda k, steps: np.exp(-0.5 * ((k - steps / 2) / std) ** 2), options)


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Any:
    """A sum of cosines with these weights, of alternating signs."""
    weights = list(a)
    if not weights:
        raise ValueError(f"general_cosine: there must be a weight{at_user()}")
    return _made("general_cosine", M, sym, _cosines(weights), options)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Any:
    """alpha - (1 - alpha) cos."""
    return _made("general_hamming", M, sym, _cosines([alpha, 1 - alpha]), options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Any:
    """0.54 - 0.46 cos."""
    return _made("hamming", M, sym, _cosines([0.54, 0.46]), options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Any:
    """0.5 - 0.5 cos."""
    return _made("hann", M, sym, _cosines([0.5, 0.5]), options)


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Any:
    """A Bessel function of the distance from the middle (J. Kaiser, 1974)."""
    if beta < 0:
        raise ValueError(f"kaiser: beta must not be negative; it is {beta}{at_user()}")
    return _made("kaiser", M, sym, _kaiser(beta), options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Any:
    """Four cosines (A. Nuttall, 1981)."""
    return _made("nuttall", M, sym, _cosines([0.3635819, 0.4891775, 0.1365995, 0.0106411]), options)


WINDOWS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (
        bartlett, blackman, cosine, exponential, gaussian, general_cosine, general_hamming, hamming, hann, kaiser, nuttall,
    )
}  # fmt: skip


@function(methods=False)
def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Any:
    """0.5 - 0.5 cos, periodic unless said."""
    return hann(window_length, sym=not periodic, **options)


@function(methods=False)
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Any:
    """alpha - beta cos, periodic unless said."""
    return general_cosine(window_length, a=[alpha, beta], sym=not periodic, **options)


@function(methods=False)
def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Any:
    """Straight lines up and down, periodic unless said."""
    return bartlett(window_length, sym=not periodic, **options)


@function(methods=False)
def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Any:
    """Three cosines, periodic unless said."""
    return blackman(window_length, sym=not periodic, **options)


@function(methods=False)
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Any:
    """A Bessel function of the distance from the middle, periodic unless said."""
    return kaiser(window_length, beta=beta, sym=not periodic, **options)


# Short-time Fourier transform -------------------------------------------------------------------------------------------------


def _window(name: str, window: Any, n_fft: int, win_length: Any, like: Any) -> Any:
    """The window with zeros on both sides, n_fft long."""
    length = n_fft if win_length is None else int(win_length)
    if not 0 < length <= n_fft:
        raise RuntimeError(f"{name}: win_length must be from 1 to n_fft = {n_fft}; it is {length}{at_user()}")
    if window is None:
        kind = like.dtype if like.dtype.kind == "f" else core.real(like).dtype
        window = core.ones((length,), dtype=kind)
    elif tuple(window.shape) != (length,):
        raise RuntimeError(f"{name}: a window of shape {tuple(window.shape)} for win_length = {length}{at_user()}")
    left = (n_fft - length) // 2
    return FUNCTIONS["constant_pad_nd"](as_torch(window), (left, n_fft - length - left))


def _hop(name: str, n_fft: int, hop_length: Any) -> int:
    if n_fft < 1:
        raise RuntimeError(f"{name}: n_fft must be positive; it is {n_fft}{at_user()}")
    hop = n_fft // 4 if hop_length is None else int(hop_length)
    if hop < 1:
        raise RuntimeError(f"{name}: hop_length must be positive; it is {hop}{at_user()}")
    return hop


@function()
def stft(
    input: Any,
    n_fft: int,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: Any = None,
    return_complex: Any = None,
) -> Any:
    """The Fourier transforms of stretches of n_fft numbers, hop_length apart, under a window: (..., frequencies, stretches).

    With `center` the signal is padded so that stretch t is around place t · hop_length. Raises RuntimeError for signals that
    have more than two axes, or are too short.
    """
    is_complex = input.dtype.kind == "c" or (window is not None and window.dtype.kind == "c")
    if return_complex is None and not is_complex:
        raise RuntimeError(f"stft: return_complex must be given for real signals; True is what is meant{at_user()}")
    if not input.dtype.inexact or input.ndim not in (1, 2):
        raise RuntimeError(f"stft: expected floating signals with one or two axes, got {tuple(input.shape)}{at_user()}")
    hop, sided = _hop("stft", n_fft, hop_length), not is_complex if onesided is None else onesided
    if sided and is_complex:
        raise RuntimeError(f"stft: onesided is for real signals and windows{at_user()}")
    shape = _window("stft", window, n_fft, win_length, input)
    x = core.reshape(input, (1, *input.shape)) if input.ndim == 1 else input
    if center:
        pad = n_fft // 2
        x = F.pad(as_torch(core.reshape(x, (1, *x.shape))), (pad, pad), mode=pad_mode)
        x = core.reshape(x, tuple(x.shape)[1:])
    if x.shape[-1] < n_fft:
        raise RuntimeError(f"stft: n_fft is {n_fft}, the signal has {x.shape[-1]} numbers{at_user()}")
    frames = METHODS["unfold"](as_torch(x), -1, n_fft, hop) * shape
    found = FUNCTIONS["fft.rfft" if sided else "fft.fft"](frames, dim=-1, norm="ortho" if normalized else None)
    found = core.moveaxis(found, -1, -2)
    found = core.reshape(found, tuple(found.shape)[1:]) if input.ndim == 1 else found
    return found if return_complex or return_complex is None else FUNCTIONS["view_as_real"](as_torch(found))


@function()
def istft(
    input: Any,
    n_fft: int,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: Any = None,
    length: Any = None,
    return_complex: bool = False,
) -> Any:
    """The signal of which `stft` with these arguments is nearest: its stretches, weighted by the window and added, over the
    sum of the squared windows. Raises RuntimeError where that is 0.
    """
    if input.dtype.kind != "c" or input.ndim not in (2, 3):
        raise RuntimeError(
            f"istft: expected complex numbers with two or three axes, got {tuple(input.shape)}{at_user()}"
        )
    hop, bins = _hop("istft", n_fft, hop_length), input.shape[-2]
    sided = (bins != n_fft) if onesided is None else onesided
    if bins != (n_fft // 2 + 1 if sided else n_fft):
        raise RuntimeError(f"istft: {bins} frequencies for n_fft = {n_fft}, onesided = {sided}{at_user()}")
    if return_complex and sided:
        raise RuntimeError(f"istft: a complex signal needs all frequencies; onesided=False{at_user()}")
    shape = _window("istft", window, n_fft, win_length, input)
    x = core.reshape(input, (1, *input.shape)) if input.ndim == 2 else input
    spectrum, norm = as_torch(core.moveaxis(x, -2, -1)), "ortho" if normalized else None
    if not return_complex:  # the frequencies of a real signal, of which the others are mirrored
        frames = FUNCTIONS["fft.irfft"](spectrum[..., : n_fft // 2 + 1], n_fft, dim=-1, norm=norm)
    else:
        frames = FUNCTIONS["fft.ifft"](spectrum, dim=-1, norm=norm)
    frames = frames * shape
    count = frames.shape[1]
    total = n_fft + hop * (count - 1)
    weights = core.broadcast_to(core.square(shape), (1, count, n_fft))
    start = n_fft // 2 if center else 0
    end = start + int(length) if length is not None else total - (n_fft // 2 if center else 0)
    summed, envelope = (_overlapped(v, total, hop)[:, start:end] for v in (frames, weights))
    if envelope.detach().abs().min().item() < 1e-11:
        raise RuntimeError(f"istft: the windows don't cover every place of the signal{at_user()}")
    found = summed / envelope
    if length is not None and end > total:
        found = FUNCTIONS["constant_pad_nd"](as_torch(found), (0, end - total))
    return core.reshape(found, tuple(found.shape)[1:]) if input.ndim == 2 else found


def _overlapped(frames: Any, total: int, hop: int) -> Any:
    """The sum of stretches (batch, stretches, numbers), each hop further on."""
    if frames.dtype.kind == "c":
        kind = complex_of(core.real(frames).dtype)
        re, im = (_overlapped(part(frames), total, hop) for part in (core.real, core.imag))
        return as_torch(core.astype(re, kind) + core.astype(im, kind) * 1j)
    size = frames.shape[-1]
    columns = as_torch(core.moveaxis(frames, 1, 2))
    folded = F.fold(columns, (1, total), (1, size), stride=(1, hop))
    return as_torch(core.reshape(folded, (frames.shape[0], total)))
