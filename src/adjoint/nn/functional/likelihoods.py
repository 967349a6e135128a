"""Losses that are negative log-likelihoods: of coins, of counts, of normal numbers, of sequences without alignment."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.graph import Node
from adjoint.shapes import broadcasts_to
from adjoint.tensors import Tensor, functions
from adjoint.tensors.functions import asarray, log, maximum, where
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.transforms.loops import StepOnce

from .losses import check_reduction, matching
from .margins import reduced
from .ranges import all_below, check_range
from .recording import scope

__all__ = ["binary_cross_entropy", "ctc_loss", "gaussian_nll_loss", "poisson_nll_loss"]

NEVER = -1e30  # the logarithm of a probability of 0, for which differences are defined


def binary_cross_entropy(
    probabilities: Tensor, target: Any, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """`-target*log(p) - (1 - target)*log(1 - p)` for probabilities p, two tensors of one shape, times `weight`.

    Logarithms are limited to -100, and where a probability is 0 its logarithm has the slope 1e12, as in PyTorch; with
    `binary_cross_entropy_with_logits` nothing needs a limit. Raises ValueError when shapes differ, or when a known probability
    lies outside [0, 1].
    """
    name = "binary_cross_entropy"
    check_reduction(name, reduction)
    probabilities = asarray(probabilities)
    given = matching(name, probabilities, target).astype(probabilities.dtype)
    known = probabilities.node.value
    if type(known) is np.ndarray and known.size and (known.min() < 0 or known.max() > 1):
        raise ValueError(f"{name}: probabilities lie from 0 to 1, not {known.min()} to {known.max()}{at_user()}")
    if weight is not None and not broadcasts_to(weight.shape, probabilities.shape):
        raise ValueError(
            f"{name}: weight of shape {weight.shape} does not broadcast to {probabilities.shape}{at_user()}"
        )
    with scope(name):
        each = -(given * _limited_log(probabilities) + (1.0 - given) * _limited_log(1.0 - probabilities))
        return reduced(each if weight is None else each * weight, reduction)


def _limited_log(p: Tensor) -> Tensor:
    none = p == 0
    return where(none, p * 1e12 - 100.0, maximum(log(where(none, 1.0, p)), -100.0))


def poisson_nll_loss(
    x: Tensor,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """`exp(x) - target*x`, where x is the logarithm of the expected count, for two tensors of one shape: mean, sum, or all.

    Without `log_input`, x is the expected count itself: `x - target*log(x + eps)`. `full` adds Stirling's formula for the
    logarithm of target!, where the target is above 1. Raises ValueError when the shapes differ.
    """
    name = "poisson_nll_loss"
    check_reduction(name, reduction)
    given = matching(name, x, target).astype(x.dtype)
    with scope(name):
        each = functions.exp(x) - given * x if log_input else x - given * log(x + eps)
        if full:
            large = where(given > 1, given, 1.0)
            stirling = large * log(large) - large + 0.5 * log(2 * math.pi * large)
            each = each + where(given > 1, stirling, 0.0)
        return reduced(each, reduction)


def gaussian_nll_loss(
    x: Tensor, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """`(log(var) + (x - target)² / var) / 2` for two tensors of one shape: mean, sum, or all; `full` adds log(2π) / 2.

    `var`, the variance, is a number, or has their shape, or one less in the last axis or none there. Below `eps` it counts
    as `eps`, with the gradient it would have there. Raises ValueError when shapes don't fit, or for a negative variance; one that
    isn't known yet leads to NaN.
    """
    name = "gaussian_nll_loss"
    check_reduction(name, reduction)
    given, variance = matching(name, x, target).astype(x.dtype), asarray(var, dtype=x.dtype)
    if variance.ndim == x.ndim - 1 and variance.shape == x.shape[:-1] and x.ndim:
        variance = variance[..., None]
    if not broadcasts_to(variance.shape, x.shape):
        raise ValueError(f"{name}: var of shape {variance.shape} does not fit {x.shape}{at_user()}")
    if not isinstance(eps, float | int):
        raise TypeError(f"{name}: eps is a number, not a tensor; it has no derivative here{at_user()}")
    known = variance.node.value
    if type(known) is np.ndarray and (known < 0).any():
        raise ValueError(f"{name}: var must not be negative; it is {known.min()} somewhere{at_user()}")
    with scope(name):
        least = where(variance < 0, np.nan, maximum(variance, eps))
        variance = variance + (least - variance).detach()
        each = 0.5 * (log(variance) + (x - given) ** 2 / variance)
        return reduced(each + 0.5 * math.log(2 * math.pi) if full else each, reduction)


def ctc_loss(
    log_probs: Tensor,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability that a network's outputs spell a target: connectionist temporal classification.

    `log_probs` (T, N, C), or (T, C) for one, are logarithms of each step's probabilities; `targets` (N, S) class numbers
    without the blank, or all targets one after the other (sum of lengths,). Only the first `input_lengths` steps and
    `target_lengths` classes of each count. The probability is the sum over all ways to write the target with classes repeated
    and blanks in between. The mean divides each loss by its target's length; else the sum, or (`"none"`) one for each. A target
    that is too long for its input has the loss infinity, or with `zero_infinity` 0 and no gradient. (A. Graves et al., 2006.)
    Raises ValueError when shapes don't fit, IndexError for a class number out of range.
    """
    name = "ctc_loss"
    check_reduction(name, reduction)
    batched = log_probs.ndim == 3
    if log_probs.ndim not in (2, 3) or not 0 <= blank < log_probs.shape[-1]:
        raise ValueError(
            f"{name}: expected log_probs (T, N, C) or (T, C) with the blank {blank} below C; got {log_probs.shape}{at_user()}"
        )
    steps = log_probs if batched else log_probs[:, None, :]
    count = steps.shape[1]
    lengths = [asarray(given).reshape(-1) for given in (input_lengths, target_lengths)]
    if lengths[0].shape != (count,) or lengths[1].shape != (count,):
        raise ValueError(f"{name}: expected {count} input_lengths and target_lengths{at_user()}")
    taken = lengths[0].node.value
    if type(taken) is np.ndarray and not all_below(taken, steps.shape[0] + 1):
        raise ValueError(f"{name}: input_lengths {taken.tolist()} of {steps.shape[0]} steps{at_user()}")
    labels = _padded(name, asarray(targets), lengths[1], count, batched)
    check_range(name, "class number", labels, steps.shape[2], "classes")
    with scope(name):
        losses = -_spelled(steps, labels, lengths[0], lengths[1], blank)
        never = losses > -NEVER / 2
        losses = where(never, 0.0 if zero_infinity else math.inf, losses)
        if reduction == "mean":
            losses = losses / maximum(lengths[1], 1).astype(losses.dtype)
        found = reduced(losses, reduction)
    return found if batched or reduction != "none" else found[0]


def _padded(name: str, labels: Tensor, lengths: Tensor, count: int, batched: bool) -> Tensor:
    """The targets in rows (N, S), zeros behind each."""
    if labels.dtype.kind not in "iu":
        raise TypeError(f"{name}: class numbers must be integers, not {labels.dtype}{at_user()}")
    if labels.ndim == 1 and batched:
        sizes, flat = lengths.numpy(), labels.numpy()
        if sizes.sum() != len(flat):
            raise ValueError(f"{name}: targets of lengths {sizes.tolist()} aren't {len(flat)} classes{at_user()}")
        rows = np.zeros((count, sizes.max(initial=0)), np.int64)
        rows[np.arange(rows.shape[1]) < sizes[:, None]] = flat
        return asarray(rows)
    labels = labels if labels.ndim == 2 else labels[None]
    if labels.shape[0] != count or labels.ndim != 2:
        raise ValueError(
            f"{name}: targets (N, S) or (sum of lengths,) for {count} examples; got {labels.shape}{at_user()}"
        )
    used = functions.arange(labels.shape[1]) < lengths[:, None]
    return where(used, labels, 0).astype("int64")


def _spelled(steps: Tensor, labels: Tensor, lengths: Tensor, sizes: Tensor, blank: int) -> Tensor:
    """The logarithms of the targets' probabilities (N,): the forward pass over states blank, class, blank, ..., blank."""
    count, most = labels.shape
    states = functions.full((count, 2 * most + 1), blank, dtype="int64")
    states[:, 1::2] = labels
    skips = functions.zeros((count, 2 * most + 1), dtype="bool")  # from the class before, over the blank between
    if most > 1:
        skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    emitted = functions.take_along_axis(
        steps, functions.broadcast_to(states[None], (steps.shape[0], *states.shape)), axis=-1
    )
    start = functions.arange(2 * most + 1) < 2
    paths = where(start, emitted[0], NEVER) if steps.shape[0] else where(start, 0.0, NEVER)
    if steps.shape[0] > 1:
        second = functions.full((), 1, dtype=lengths.dtype)
        (walked, _), _ = _WALK.scan([lengths.node, skips.node], [paths.node, second.node], emitted[1:].node, False)
        paths = wrap(walked)
    last = (2 * sizes)[:, None].astype("int64")
    at_blank = functions.take_along_axis(paths, last, axis=1)[:, 0]
    at_class = functions.take_along_axis(paths, maximum(last - 1, 0), axis=1)[:, 0]
    return functions.logaddexp(at_blank, where(sizes > 0, at_class, NEVER))


def _walk(constants: Any) -> Any:
    """One turn of the loop over an input's steps: (paths, step) and what is emitted, to those of the next step."""
    lengths, skips = map(wrap, constants)

    def turn(state: tuple[Node, ...], emitted: Node) -> tuple[Node, ...]:
        paths, t = map(wrap, state)
        return where((lengths > t)[:, None], _step(paths, wrap(emitted), skips), paths).node, (t + 1).node

    return turn


def _step(paths: Tensor, emitted: Tensor, skips: Tensor) -> Tensor:
    """One step of the forward pass: from the same state, the one before, or where allowed the one before that."""
    before = [functions.pad(paths[:, : paths.shape[1] - k], ((0, 0), (k, 0)), value=NEVER) for k in (1, 2)]
    found = functions.logaddexp(functions.logaddexp(paths, before[0]), where(skips, before[1], NEVER))
    return maximum(found + emitted, NEVER)


_WALK = StepOnce(_walk)
