"""How many chunks: an even number, so that two threads, or more, have as many each. Of three chunks one thread runs two."""

from __future__ import annotations

from adjoint.compiler.extents import smaller


def even(count: int) -> int:
    """So many chunks or one more, if there are several. No question is asked of extents, so that the answer is a formula."""
    found: int = smaller((count + 1) // 2 * 2, count * count)
    return found


def evenly(total: int, each: int) -> int:
    """How many of `total` go into a chunk, at most `each`."""
    return -(-total // even(-(-total // each)))


def balanced(total: int, counts: range) -> int:
    """How many of `total` go into a chunk: of these numbers of chunks the one with which one of two threads does least."""

    def most(count: int) -> int:
        each = -(-total // count)
        made = -(-total // each)
        return min((made + 1) // 2 * each, total)

    return -(-total // min(counts, key=most))
