"""What is compiled for: the processor's registers, and for each kind of processor one table of the numbers that decide how
code is written. A new kind is one more row of `TUNING`; a tile of another height is one number changed in it.

In the last bits results depend on some of it (`block`, `unroll`, `sums`, `deep`, chunks, who computes a product) and on how
wide vectors are: these decide in which order sums are added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.runtime import llvm


class Sizes(NamedTuple):
    """How products are cut for somebody who computes them. `tile`: elements that loops read while they are in the cache;
    `work`: multiplications in one range of rows at least, and `rows`: with fewer, packing anew for each costs a tenth."""

    tile: int
    work: int
    rows: int


class Tuning(NamedTuple):
    """Everything that was measured, and not derived."""

    # Extents and strides up to this stand in the code; larger ones are arguments, so that it serves all of them.
    literal: int = 8
    # Loop nests: what goes into one
    most_steps: int = 96  # more would only spill registers
    longest_row: int = 1 << 14  # elements of a row that a later pass may read again from the cache
    look_back: int = 6  # units that a step without a partner in one may still join
    recomputed: int = 4  # cost up to which a value is computed again in a later pass over the row
    # Loop nests: how their loops run
    block: int = 128  # vectors summed in one go; their sums are added in float64, or with compensation
    unroll: int = 4  # sums in progress
    column_sums: int = 8  # vectors of sums by column that stay in registers while rows go by
    # divided_from: vectors of a row that are divided by one number, from which its reciprocal is worth computing
    divided_from: int = 4
    jammed: int = 8  # rows written side by side: so many pages at once a processor fetches ahead of the stores
    jammed_from: int = 1 << 21  # bytes written by a nest: less stays in the cache nearest to it
    streamed_from: int = 1 << 24  # bytes written by such a nest, from which they go to memory past the caches
    most_jammed: int = 96  # steps written out in all
    jammed_row: int = 1 << 10  # bytes of a row: with shorter ones the rows would share their pages
    turned_bytes: int = 64  # of what lies across rows are turned at a time: as many rows as share a cache line
    least_turned: int = 4  # elements of a row for which that is worth it
    longest_turned: int = 1 << 12  # elements of a row: some rows of it stay in the second cache
    # Threads
    shared_from: int = 1 << 18  # work (operations on elements, costly ones ten times) that is cut into chunks
    chunk: int = 1 << 17  # work in a chunk, about 10 µs
    most_chunks: int = 512
    # Elements in a chunk for each total that it leaves, where there are more chunks than these
    for_total: int = 32
    least_chunks: int = 8
    # Nanoseconds, by a guess, from which sleeping threads are woken, which come after 10 to 70 µs; and from which those help
    # that are awake.
    worth_sharing: int = 150_000
    worth_helping: int = 4_000
    # Matrix products: a tile's rows by its number of vectors: sums, one row of B, and one element of A must have registers
    heights: tuple[tuple[int, int], ...] = ((2, 6), (1, 10))
    twice: int = 16  # of so many rows one may be computed twice, to spare a kernel of another height
    fetched_ahead: int = 8  # rows, while others are packed
    # Sums of so many products are added up one after the other, longer ones in blocks of it: so their rounding errors don't
    # grow with k, and what is read of a block stays in the cache.
    sums: int = 256
    # From this k on, a range of rows goes block by block, if A is packed, or if of B more elements than these are.
    deep: int = 512
    most_packed: int = 1 << 22
    # Sums over rows that lie together on both sides, as in the gradient of weights, from this k on: so many parts at most add up
    # at least so many products each, if all that they leave is no more than so many elements.
    parted_from: int = 1 << 11
    most_parts: int = 8
    least_part: int = 1 << 10
    largest_parts: int = 1 << 21
    # Elements of a matrix that meets one vector in a range of its rows, at least; from which sum on it goes in parts instead, for
    # so many sums at most
    vector_range: int = 1 << 18
    parted_vector: int = 1 << 16
    parted_sums: int = 64
    # Rows from which packing B costs less than reading it at its stride: more where a panel of it stays in the nearest cache,
    # which it does up to so many k; fewer in a batch, where each matrix comes from further away.
    packed_from: int = 96
    packed_from_if_short: int = 256
    packed_from_in_batch: int = 24
    short: int = 64
    # gathered_from: k from which A is packed where its columns lie together: each row would touch so many lines
    gathered_from: int = 256
    gathered: int = 96  # rows packed together
    # least_columns: vectors of a row of a matrix that meets a row of numbers, at least; else too few sums go on side by side
    least_columns: int = 4
    least_of_row: int = 1 << 13  # elements of it that a thread reads, at least
    # Who computes a product: our kernels where B is not too narrow, and not too large for what A's rows make of it once it is
    # packed, else a library: from so many rows on up to so many elements of B.
    largest: tuple[tuple[int, int], ...] = ((256, 1 << 22), (16, 1 << 20), (0, 1 << 19))
    narrowest: int = 4  # columns
    least_vector: int = 1 << 12  # elements of a matrix that meets one vector, from which OpenBLAS reads it faster
    narrow_from: int = 128  # bytes of its rows, if these lie together and are one panel: then our tiles do
    # Products in each sum from which kernels of our own multiply a matrix by a vector, if its rows lie together; and up to which
    dotted_from: int = 128
    longest_dotted: int = 1 << 14
    small: int = 1 << 13  # multiplications, below which OpenBLAS's call costs less than oneDNN's
    ours: Sizes = Sizes(1 << 14, 1 << 20, 24)
    library: Sizes = Sizes(1 << 15, 1 << 24, 128)
    deep_rows: int = 128  # as `rows` of ours, for deep products
    most_ranges: int = 16
    # Small matrices
    small_matrix: int = 16  # rows and columns: larger ones are LAPACK's,
    stacked_matrix: int = 32  # or in stacks of at least `small_stack`, where each lane takes one, larger than this
    # small_stack: products in a batch, from which each lane takes one, if they have at most so many multiplications
    small_stack: int = 8
    small_product: int = 64
    most_unrolled: int = 900  # operations of an algorithm up to which it is written out; longer ones are loops
    # Fourier transforms
    longest_transform: int = 1 << 12  # complex numbers of a line: the lines of all lanes stay in the second cache
    # What runs tile by tile
    joined_from: int = 1 << 16  # elements of a product: smaller ones stay in the cache anyway
    joined_tile: int = 1 << 15  # elements of images
    most_fetched: int = 4  # arrays of a nest whose rows are fetched while the product before it is computed
    followed_from: int = 1 << 16  # elements of all matrices that a nest makes or reads: fewer stay in the cache anyway
    followed_tile: int = 1 << 14  # elements of the matrices that a nest runs on at a time, at least
    followed_matrix: int = 1 << 18  # elements of a matrix, at most
    # Convolutions and pools
    most_by_cells: int = 16  # steps of a nest that is computed on what they have in registers
    winograd_from: int = 16  # channels on both sides of a 3×3 convolution that is computed with fewer multiplications
    winograd_least: int = 32  # tiles of 2×2 outputs in all, for which transforming the weights is worth it
    winograd_tiles: int = 72  # computed together, of those with 16 places
    winograd_sums: int = 72  # of them, where their sum is the gradient of weights
    pointwise_from: int = 16  # channels on both sides of a 1×1 convolution that is computed as a product of matrices
    few_channels: int = 3  # up to which a convolution is computed by the definition
    image_tile: int = 1 << 23  # multiplications in a tile of images, at least
    pool_tile: int = 1 << 17  # elements
    weight_parts: int = 8  # of the gradient of weights, at most: each adds up some of the images
    weight_pixels: int = 256  # of the result in each of these parts, at least
    most_cells: int = 64  # of a pooling window whose cells are written out


WIDE = ((4, 6), (3, 8), (2, 10), (1, 10))  # heights where there are 32 registers
NEVER = 1 << 62
# One row for each kind of processor. AMD's divide a vector in less time than what a reciprocal spares.
TUNING = {
    "avx512": Tuning(heights=WIDE),
    "zen": Tuning(heights=WIDE, gathered_from=NEVER, divided_from=NEVER),  # AMD's AVX-512
    "zen2": Tuning(divided_from=NEVER),  # AMD's AVX2
    "neon": Tuning(heights=WIDE),
    "avx2": Tuning(),
    "sse": Tuning(),
}


# What LLVM calls a processor of each kind, to read what would be compiled for it.
_X86, _AVX2 = "x86_64-unknown-linux-gnu", "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c"
_AVX512 = f"{_AVX2},+avx512f,+avx512dq,+avx512vl,+avx512bw,+avx512cd"
PROCESSORS = {
    "avx512": (_X86, _AVX512),
    "zen": (_X86, f"{_AVX512},+sse4a"),
    "zen2": (_X86, f"{_AVX2},+sse4a"),
    "neon": ("aarch64-unknown-linux-gnu", "+neon,+fp-armv8"),
    "avx2": (_X86, _AVX2),
    "sse": (_X86, "+sse2"),
}


class Target(NamedTuple):
    """A processor, as far as code for it depends on it. Of `registers` each holds `vector_bits`; `fma` says whether it multiplies
    and adds in one instruction."""

    name: str
    vector_bits: int
    registers: int
    fma: bool
    tuning: Tuning


_found: dict[int, Target] = {}  # by the width in use
_changes: list[dict[str, Any]] = []


def target() -> Target:
    """What is compiled for now."""
    bits, other = llvm.vector_bits(), llvm.is_other()
    found = None if other else _found.get(bits)
    if found is None:
        arm = llvm.triple().startswith(("aarch64", "arm64"))
        amd = llvm.has_feature("sse4a")  # which no other processors have
        wide, half = ("zen", "zen2") if amd else ("avx512", "avx2")
        name = "neon" if arm else {512: wide, 256: half, 128: "sse"}[bits]
        tuning = TUNING[name]
        for changes in _changes:
            tuning = tuning._replace(**changes)
        found = Target(name, bits, 32 if arm or bits == 512 else 16, llvm.has_fma(), tuning)
        if not other:
            _found[bits] = found
    return found


def instead(name: str) -> AbstractContextManager[None]:
    """In this context write as for a processor of another kind, a row of `TUNING`: what is written is read, and never run.
    Raises ValueError."""
    if name not in PROCESSORS:
        raise ValueError(f"the kinds of processors are {', '.join(PROCESSORS)}; got {name!r}")
    return llvm.instead(*PROCESSORS[name])


def tuning() -> Tuning:
    """The table of what is compiled for now."""
    return target().tuning


@contextmanager
def tuned(**changes: Any) -> Iterator[None]:
    """Other numbers for a while: to try them, and to make small what is tested. Programs that exist stay as they are."""
    _changes.append(changes)
    _found.clear()
    try:
        yield
    finally:
        _changes.remove(changes)
        _found.clear()
