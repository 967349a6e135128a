"""How many chunks: so that two threads have about as much to do, and more of them, too. Of three chunks one of two runs two."""

from __future__ import annotations

from adjoint.compiler.extents import followed, smaller

MOST_MORE = 8  # chunks that are tried, beyond the fewest
CLOSE = 1.01  # of the least cost: longer chunks are better than that


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


def rows_of_chunk(total: int, each: int, height: int) -> int:
    """How many of so many rows go into a chunk, at most about `each`, where rows are computed in tiles of some height: so that
    one thread does little more than another, and there are few tiles."""
    found: int = followed(_rows_of_chunk, (total, each, height))
    return found


def _rows_of_chunk(given: tuple[int, int, int]) -> int:
    total, each, height = given
    count = -(-total // each)
    if count == 1:
        return total

    def time(
        rows: int,
    ) -> float:  # of a tile that isn't full, about half of what a full one takes doesn't depend on its rows
        return (-(-rows // height) * height + rows) / 2

    def cost(rows: int) -> float:
        made = -(-total // rows)
        last = time(total - (made - 1) * rows)
        longest = max(made // 2 * time(rows), (made - 1 - made // 2) * time(rows) + last)
        return 2 * longest + (made - 1) * time(rows) + last

    some = [-(-total // n) for n in range(max(count - 1, 2), min(2 * count, count + MOST_MORE) + 1)]
    tried = [*some, *[-(-rows // height) * height for rows in some]]
    costs = {rows: cost(rows) for rows in tried if rows < total}
    return max([rows for rows, one in costs.items() if one <= CLOSE * min(costs.values())])
