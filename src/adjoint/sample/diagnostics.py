"""Whether chains agree, and how much their draws tell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint import special
from adjoint.tensors.located import at_user

__all__ = ["effective_sample_size", "r_hat"]

Array = np.ndarray[Any, Any]


def r_hat(draws: Any) -> Array:
    """How much wider all chains together are than each alone: the rank-normalized, split R-hat, 1 where they agree.

    `draws` has shape (chains, draws, ...); one number for each of the rest. The larger one of the ranks of the draws and of
    their distances from the median: A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P. Bürkner, Bayesian Analysis 16, 2021.
    Above 1.01 the chains have not come to agree. NaN for draws that don't vary, or aren't finite, or fewer than 4.

    >>> import adjoint as ad, numpy as np
    >>> bool(abs(ad.sample.r_hat(np.random.default_rng(0).normal(size=(4, 1000))) - 1) < 0.01)
    True
    """
    x = _split(_checked("r_hat", draws))
    if x is None:
        return np.full(np.shape(draws)[2:], np.nan)
    folded = np.abs(x - np.median(x, axis=(0, 1)))
    return np.fmax(_spread(_normalized(x)), _spread(_normalized(folded)))


def effective_sample_size(draws: Any, *, kind: str = "bulk") -> Array:
    """How many independent draws would tell as much. `draws` has shape (chains, draws, ...); one number for each of the rest.

    kind: "bulk", of the rank-normalized draws; "mean", of the draws themselves; "tail", the smaller one for the 5 % and 95 %
    quantiles. By autocorrelations up to where pairs of them become negative (C. Geyer, Statistical Science 7, 1992), as Vehtari
    and others (2021) put it. NaN where `r_hat` is NaN. Raises ValueError for another kind.

    >>> import adjoint as ad, numpy as np
    >>> size = ad.sample.effective_sample_size(np.random.default_rng(0).normal(size=(4, 1000)))
    >>> bool(3500 < size < 4500)
    True
    """
    x = _split(_checked("effective_sample_size", draws))
    if kind not in ("bulk", "mean", "tail"):
        raise ValueError(f'effective_sample_size: kind is "bulk", "mean" or "tail", got {kind!r}{at_user()}')
    if x is None:
        return np.full(np.shape(draws)[2:], np.nan)
    if kind == "tail":
        low, high = np.quantile(x, (0.05, 0.95), axis=(0, 1))
        return np.fmin(_size((x <= low).astype(float)), _size((x <= high).astype(float)))
    return _size(_normalized(x) if kind == "bulk" else x)


def _checked(name: str, draws: Any) -> Array:
    x = np.asarray(draws.numpy() if hasattr(draws, "numpy") else draws, np.float64)
    if x.ndim < 2:
        raise ValueError(f"{name}: draws have shape (chains, draws, ...), got {x.shape}{at_user()}")
    return x


def _split(x: Array) -> Array | None:
    """Each chain as two; None for too few draws."""
    half = x.shape[1] // 2
    return None if half < 2 else np.concatenate([x[:, :half], x[:, -half:]])


def _normalized(x: Array) -> Array:
    """Normal quantiles of the ranks among all chains; equal numbers share theirs."""
    flat = x.reshape(x.shape[0] * x.shape[1], -1)
    ranks = np.empty_like(flat)
    for column in range(flat.shape[1]):
        _, inverse, counts = np.unique(flat[:, column], return_inverse=True, return_counts=True)
        last = np.cumsum(counts)
        ranks[:, column] = (last - (counts - 1) / 2)[inverse]
    shares = (ranks - 0.375) / (len(flat) + 0.25)
    normal = np.array(special.erfinv(2 * shares - 1)) * math.sqrt(2)
    bad = ~np.isfinite(flat).all(axis=0)
    normal[:, bad] = np.nan
    return normal.reshape(x.shape)


def _spread(x: Array) -> Array:
    n = x.shape[1]
    within = x.var(axis=1, ddof=1).mean(axis=0)
    between = n * x.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(within > 0, np.sqrt((between / within + n - 1) / n), np.nan)


def _autocovariance(x: Array) -> Array:
    """Along the draws, of each chain around its own mean."""
    n = x.shape[1]
    power = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(x - x.mean(axis=1, keepdims=True), power, axis=1)
    found: Array = np.fft.irfft(spectrum * spectrum.conj(), power, axis=1)[:, :n].real / n
    return found


def _size(x: Array) -> Array:
    chains, n = x.shape[:2]
    covariance = _autocovariance(x.reshape(chains, n, -1))
    within = covariance[:, 0].mean(axis=0) * n / (n - 1)
    variance = within * (n - 1) / n
    if chains > 1:
        variance = variance + x.reshape(chains, n, -1).mean(axis=1).var(axis=0, ddof=1)
    sizes = [_of_one(covariance[:, :, k].mean(axis=0), within[k], variance[k], chains * n) for k in range(within.size)]
    return np.reshape(sizes, x.shape[2:])


def _of_one(covariance: Array, within: float, variance: float, total: int) -> float:
    if not (within > 0 and np.isfinite(variance)):
        return math.nan
    rho = 1 - (within - covariance) / variance
    rho[0] = 1.0
    pairs = rho[: len(rho) // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs[1:] <= 0)
    end = 1 + (negative[0] if negative.size else len(pairs) - 1)
    kept = np.minimum.accumulate(pairs[:end])
    following = rho[2 * end] if 2 * end < len(rho) else 0.0
    time = -1 + 2 * kept.sum() + max(following, 0.0)
    return float(total / max(time, 1 / math.log10(total)))
