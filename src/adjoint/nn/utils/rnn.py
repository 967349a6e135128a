"""Sequences of several lengths: padded to one length, or packed step by step without padding."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, concat, full, stack, take
from adjoint.tensors.located import at_user

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpad_sequence", "unpack_sequence",
]  # fmt: skip


class PackedSequence(NamedTuple):
    """Sequences packed step by step: the first elements of all, then the second of those that have one, and so on.

    `data` (sum of lengths, ...) are the elements, `batch_sizes` (steps,) says how many sequences have each step, int64. The
    sequences lie longest first: `sorted_indices` (N,) says which they were, `unsorted_indices` leads back; None where they
    came in this order. Made by `pack_padded_sequence` and `pack_sequence`; recurrent layers take it and give it back.

    >>> import adjoint as ad
    >>> packed = ad.nn.utils.rnn.pack_sequence([ad.tensor([1.0, 2.0, 3.0]), ad.tensor([4.0])])
    >>> packed.data, packed.batch_sizes
    (Tensor([1., 4., 2., 3.]), Tensor([2, 1, 1]))
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation (N,) that leads back; None of None.

    >>> import adjoint as ad
    >>> ad.nn.utils.rnn.invert_permutation(ad.tensor([2, 0, 1]))
    Tensor([1, 2, 0])
    """
    return None if permutation is None else asarray(np.argsort(permutation.numpy()))


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences (length, ...) side by side, (longest, N, ...) or with `batch_first` (N, longest, ...), padded with a number.

    `padding_side` is `"right"` (at the end) or `"left"`. Raises ValueError for no sequences.

    >>> import adjoint as ad
    >>> ad.nn.utils.rnn.pad_sequence([ad.tensor([1.0, 2.0, 3.0]), ad.tensor([4.0])], batch_first=True)
    Tensor([[1., 2., 3.],
            [4., 0., 0.]])
    """
    given = [asarray(sequence) for sequence in sequences]
    if not given or any(x.ndim < 1 for x in given):
        raise ValueError(f"pad_sequence: expected sequences (length, ...){at_user()}")
    if padding_side not in ("left", "right"):
        raise ValueError(f"pad_sequence: padding_side is 'left' or 'right', not {padding_side!r}{at_user()}")
    longest = max(x.shape[0] for x in given)
    rows = []
    for x in given:
        rest = full((longest - x.shape[0], *x.shape[1:]), padding_value, dtype=x.dtype)
        rows.append(concat([x, rest] if padding_side == "right" else [rest, x], axis=0))
    return stack(rows, axis=0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The sequences (length, ...) of what `pad_sequence` made.

    >>> import adjoint as ad
    >>> ad.nn.utils.rnn.unpad_sequence(ad.tensor([[1.0, 2.0], [4.0, 0.0]]), [2, 1], batch_first=True)
    [Tensor([1., 2.]), Tensor([4.])]
    """
    counts = _lengths("unpad_sequence", lengths)
    return [padded_sequences[i, :n] if batch_first else padded_sequences[:n, i] for i, n in enumerate(counts)]


def _lengths(name: str, lengths: Any) -> list[int]:
    found = np.asarray(lengths.numpy() if isinstance(lengths, Tensor) else lengths)
    if found.ndim != 1 or found.dtype.kind not in "iu" or (found.size and found.min() < 1):
        raise ValueError(f"{name}: lengths are positive integers (N,), not {lengths}{at_user()}")
    return [int(n) for n in found]


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Padded sequences (T, N, ...), or with `batch_first` (N, T, ...), packed. `lengths` (N,) are known integers.

    With `enforce_sorted` they must not rise. Raises ValueError when lengths don't fit.

    >>> import adjoint as ad
    >>> padded = ad.tensor([[1.0, 2.0], [4.0, 0.0]])
    >>> ad.nn.utils.rnn.pack_padded_sequence(padded, [2, 1], batch_first=True).data
    Tensor([1., 4., 2.])
    """
    name = "pack_padded_sequence"
    counts = _lengths(name, lengths)
    sequences = input if batch_first else input.swapaxes(0, 1)
    if len(counts) != sequences.shape[0] or not counts or max(counts) > sequences.shape[1]:
        raise ValueError(f"{name}: lengths {counts} don't fit an input of shape {input.shape}{at_user()}")
    order = None
    if enforce_sorted and any(a < b for a, b in itertools.pairwise(counts)):
        raise ValueError(
            f"{name}: lengths must not rise, as {counts} do; with enforce_sorted=False they are sorted{at_user()}"
        )
    if not enforce_sorted:
        order = np.argsort(-np.array(counts), kind="stable")
        counts = [counts[i] for i in order]
    rows = range(len(counts)) if order is None else order.tolist()
    sizes = [sum(n > t for n in counts) for t in range(counts[0])]
    places = [[rows[i] * sequences.shape[1] + t for i in range(size)] for t, size in enumerate(sizes)]
    flat = sequences.reshape(-1, *sequences.shape[2:])
    data = take(flat, asarray(np.array([p for step in places for p in step])), axis=0)
    given = None if order is None else asarray(order)
    return PackedSequence(data, asarray(np.array(sizes)), given, invert_permutation(given))


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (length, ...) packed. With `enforce_sorted` their lengths must not rise.

    >>> import adjoint as ad
    >>> ad.nn.utils.rnn.pack_sequence([ad.tensor([4.0]), ad.tensor([1.0, 2.0])], enforce_sorted=False).data
    Tensor([1., 4., 2.])
    """
    given = [asarray(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(given), [x.shape[0] for x in given], enforce_sorted=enforce_sorted)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """What was packed, padded: (T, N, ...) or with `batch_first` (N, T, ...), in the order it came in; and the lengths (N,).

    T is the longest length, or `total_length`. Raises ValueError when that is less.

    >>> import adjoint as ad
    >>> packed = ad.nn.utils.rnn.pack_sequence([ad.tensor([1.0, 2.0, 3.0]), ad.tensor([4.0])])
    >>> ad.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (Tensor([[1., 2., 3.],
            [4., 0., 0.]]), Tensor([3, 1]))
    """
    data, sizes = sequence.data, sequence.batch_sizes.numpy()
    steps, count = len(sizes), int(sizes[0])
    length = steps if total_length is None else total_length
    if length < steps:
        raise ValueError(f"pad_packed_sequence: total_length {length} is less than {steps}{at_user()}")
    lengths = np.array([(sizes > i).sum() for i in range(count)])
    order = np.arange(count) if sequence.unsorted_indices is None else sequence.unsorted_indices.numpy()
    lengths = lengths[order]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if steps else sizes
    # the padding is one more element behind the data
    places = np.full((length, count), data.shape[0])
    for t, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        places[t, :size] = start + np.arange(size)
    places = places[:, order]
    more = full((1, *data.shape[1:]), padding_value, dtype=data.dtype)
    found = take(concat([data, more], axis=0), asarray(places.T if batch_first else places), axis=0)
    return found, asarray(lengths)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences (length, ...) that were packed, in the order they came in.

    >>> import adjoint as ad
    >>> packed = ad.nn.utils.rnn.pack_sequence([ad.tensor([1.0, 2.0]), ad.tensor([4.0])])
    >>> ad.nn.utils.rnn.unpack_sequence(packed)
    [Tensor([1., 2.]), Tensor([4.])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
