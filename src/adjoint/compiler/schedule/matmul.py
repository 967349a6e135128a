"""How a matrix product runs, as a value: who computes it, and how many rows at a time, by a static table, the same wherever the
same libraries are; and of kernels of our own which tiles there are, and what is packed. Who writes it decides nothing."""

from __future__ import annotations

from adjoint._tuples import NamedTuple
from adjoint.compiler.extents import larger, smaller
from adjoint.compiler.fuse.kinds import Choice, Product
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.build import ITEMSIZE, lanes_of
from adjoint.compiler.schedule.chunks import even, rows_of_chunk
from adjoint.compiler.targets.target import Sizes, tuning
from adjoint.runtime import libraries, onednn
from adjoint.shapes import size_of

LINE, PAGE = 64, 4096  # bytes
PARTS = 8  # of what is packed for all ranges, so that all threads do it
SINGLES = ("float32", "float64")  # numbers that a kernel of ours multiplies
LEAST_OF_VECTOR = 1 << 12  # terms of a sum that OpenBLAS adds up in parts


class Panel(NamedTuple):
    """Neighbouring columns, `times` times `vectors` vectors of them, `column` the first."""

    column: int
    vectors: int
    times: int
    masked: bool


class ProductSchedule(NamedTuple):
    """All that is decided of a product."""

    # tiles: of our own. turned: as the transpose of BᵀAᵀ by tiles. parts: tiles that add up some of the terms for all of the
    # result. vector: a matrix read once, row by row. row: a vector times a matrix, whose columns are cut. row parts: whose
    # rows are. library: its call. library parts: as `parts`, with one row or column.
    way: str
    library: str
    rows: int  # of the result in a range; row: columns; parts: 1
    lanes: int = 1
    panels: tuple[Panel, ...] = ()  # of B's columns
    heights: tuple[tuple[int, int], ...] = ()  # rows of a tile, by its number of vectors
    packing: str = ""  # of B: once for all ranges, or in each of them; empty where it is read as it lies
    packing_parts: int = 1  # in so many parts, by all threads
    gathered: int = 0  # rows of A that are packed together; 0: it is read as it lies
    block: int = 0  # sums of so many products are put in memory before the next ones are added; 0: all at once
    sums: int = 0  # products that are added up one after the other
    overlap: int = 0  # of so many rows one may be computed twice, to spare a kernel of another height
    each: int = 0  # terms of a part
    across: bool = False  # the transpose is computed. parts: so that of two matrices the smaller one is packed
    within: ProductSchedule | None = None  # turned: how the transpose is computed
    near: tuple[int, ...] = ()  # arrays whose rows of a range are read or written behind it: fetched meanwhile

    def height(self, panel: Panel, rows: int | None = None) -> int:
        """Rows of a tile. Where A is gathered, all panels share what was gathered."""
        heights = dict(self.heights)
        highest = heights[max(heights) if self.gathered else panel.vectors]
        return highest if rows is None else min(highest, rows)

    def strips(self, panel: Panel, rows: int) -> list[tuple[int, int, int]]:
        """Tiles of so many rows: first row, height and number."""
        return heights_of(rows, self.height(panel, rows), 0 if self.block else self.overlap)

    def __str__(self) -> str:
        """In words: `tiles of 6×4 vectors of 16, 96 rows at a time; B packed once`."""
        if self.within is not None:
            return f"turned, by {self.within}"
        words = [self.library or "by rows" * (self.way == "vector") or "a row" * self.way.startswith("row")]
        if self.panels:
            tiles = dict.fromkeys([f"{self.height(p)}×{p.vectors}" for p in self.panels])
            words = [f"tiles of {' and '.join(tiles)} vectors of {self.lanes}"]
        some = "columns" if self.way == "row" else "rows"
        words.append(f"parts of {self.each} terms" if self.each else f"{self.rows} {some} at a time")
        words += ["transposed"] * self.across
        words += [f"B packed {self.packing}"] * bool(self.packing)
        words += [f"in {self.packing_parts} parts"] * (self.packing_parts > 1)
        words += [f"A packed, {self.gathered} rows together"] * (self.gathered > 0)
        words += [f"sums in blocks of {self.block}"] * (self.block > 0)
        return "; ".join(words)


def panels(m: int, lanes: int, widest: int) -> list[Panel]:
    """m columns in as few panels as there must be, all about as wide. An incomplete vector is in one of its own kind."""
    vectors = -(-m // lanes)
    count = -(-vectors // widest)
    base, more = divmod(vectors, count)
    found, column = [], 0
    for width, times in ((base + 1, more), (base, count - more)):
        last = column + width * times * lanes
        masked = last > m
        if times > masked:
            found.append(Panel(column, width, times - masked, masked=False))
        if masked:
            found.append(Panel(last - width * lanes, width, 1, masked=True))
        column = last
    return found


def heights_of(rows: int, highest: int, overlap: int) -> list[tuple[int, int, int]]:
    """Tiles of so many rows: first row, height and number. A tile that covers some rows of the one before spares a kernel of
    another height, if of so many (`overlap`) it is one: a tile of the highest, or of the height that makes as few tiles and all
    about alike. Else, and where what is computed twice would be added twice (0), heights differ by one."""
    if rows <= highest:
        return [(0, rows, 1)]
    whole, rest = divmod(rows, highest)
    if not rest:
        return [(0, highest, whole)]
    if overlap and (highest - rest) * overlap <= rows:
        return [(0, highest, whole), (rows - highest, highest, 1)]
    low, more = divmod(rows, whole + 1)
    if more and overlap and (whole + 1 - more) * overlap <= rows:
        return [(0, low + 1, whole), (rows - low - 1, low + 1, 1)]
    tall = [(0, low + 1, more)] if more else []
    return [*tall, (more * (low + 1), low, whole + 1 - more)]


# Which way -------------------------------------------------------------------------------------------------------------


def gathers(product: Product) -> bool:
    """Whether A is packed."""
    row, step = product.a.strides[-2:]
    return row == 1 and step != 1 and product.a.shape[-1] >= tuning().gathered_from


def is_deep(product: Product) -> bool:
    """Whether a product is computed block by block of its sums."""
    k, m = product.b.shape[-2:]
    return k > tuning().deep and (gathers(product) or k * m > tuning().most_packed)


def by_vector(product: Product) -> bool:
    """Whether a product has one row or column, and the numbers that are summed up lie together, in both, and are neither few nor
    so many that they would have to be added up in blocks."""
    (n, k), m = product.a.shape[-2:], product.b.shape[-1]
    if size_of(product.shape[:-2]) > 1 or not (n == 1 or m == 1) or not matmul_tiles.available():
        return False
    fits = tuning().dotted_from <= k and k <= tuning().longest_dotted
    return fits and product.a.strides[-1] == 1 and product.b.strides[-2] == 1


def by_columns(product: Product) -> bool:
    """Whether a product has one row, and meets a matrix whose rows lie together, neither small nor narrow."""
    (n, k), m, table = product.a.shape[-2:], product.b.shape[-1], tuning()
    dtype = product.step.type.dtype.name
    if n != 1 or dtype not in SINGLES or size_of(product.shape[:-2]) > 1 or not matmul_tiles.available():
        return False
    if product.b.strides[-1] != 1 or k * m < table.least_vector or vector_in_parts(product) or _is_narrow(product):
        return False
    return k >= matmul_tiles.ADDED and m >= table.least_columns * lanes_of(dtype)


def as_row(product: Product) -> Product | None:
    """The product with one row that it is, or whose transpose it is, if a kernel of ours computes that."""
    if by_vector(product):
        return product if product.shape[-2] == 1 else None
    across = product.turned() if product.shape[-1] == 1 else product
    return next((one for one in (product, across) if by_columns(one)), None)


def in_parts(product: Product) -> bool:
    """Whether a product that is alone has long sums over rows that lie together on both sides."""
    (n, k), m, table = product.a.shape[-2:], product.b.shape[-1], tuning()
    together = product.a.strides[-2] == 1 and product.b.strides[-1] == 1
    if not together or len(product.shape) != 2 or k < table.parted_from or not matmul_tiles.available():
        return False
    lanes = lanes_of(product.step.type.dtype.name)
    return min(n, m) >= lanes and n * m * smaller(table.most_parts, k // table.least_part) <= table.largest_parts


def vector_in_parts(product: Product) -> bool:
    """Whether a product that is alone, and OpenBLAS's, has a long sum for each of its few elements."""
    (n, k), m, table = product.a.shape[-2:], product.b.shape[-1], tuning()
    if len(product.shape) != 2 or not (n == 1 or m == 1) or k < table.parted_vector:
        return False
    return n * m <= table.parted_sums


def is_turned(product: Product, rows: int, alone: bool) -> bool:
    """Whether a product, in ranges of so many rows, is better computed as the transpose of BᵀAᵀ, so that of two matrices whose k
    lies together the smaller one is packed. In several ranges the result, which is turned, must be small beside what needn't be
    packed."""
    (n, k), m = product.a.shape[-2:], product.b.shape[-1]
    lanes = lanes_of(product.step.type.dtype.name)
    together = product.a.strides[-1] == 1 and product.b.strides[-2] == 1
    simple = len(product.shape) == 2 and together
    if not simple or n >= m or n % lanes != 0 or m % lanes != 0 or k < 2 * lanes:
        return False
    return rows == n or (alone and k > tuning().deep and 4 * n * m <= (m - n) * k)


def library_for(product: Product, alone: bool = False) -> str:
    """oneDNN, OpenBLAS, or empty for kernels of our own. `alone`: it is a unit of its own."""
    (n, k), m, table = product.a.shape[-2:], product.b.shape[-1], tuning()
    if by_vector(product) or as_row(product) is not None or (alone and in_parts(product)):
        return ""
    by_rows = n == 1 and _is_narrow(product)
    if (n == 1 or m == 1) and not by_rows and n * k * m >= table.least_vector and libraries.missing() is None:
        return "OpenBLAS"
    largest = next(elements for rows, elements in table.largest if n >= rows)
    if matmul_tiles.available() and m >= table.narrowest and k * m <= largest:
        return ""
    better = product.step.type.dtype.name == "float32" and n > 1 and m > 1 and n * k * m >= table.small
    if better and onednn.available():
        return "oneDNN"
    return "OpenBLAS" if libraries.missing() is None else ""


def _is_narrow(product: Product) -> bool:
    """Whether a row of B is one panel of enough vectors: a tile of one row reads B in order, as fast as memory gives it."""
    m, dtype = product.b.shape[-1], product.step.type.dtype.name
    widest = max(tuning().heights)[0] * lanes_of(dtype)
    return product.b.strides[-1] == 1 and m <= widest and m * ITEMSIZE[dtype] >= tuning().narrow_from


# How many rows ---------------------------------------------------------------------------------------------------------


def sizes(library: str) -> Sizes:
    """How products are cut for who computes them."""
    return tuning().library if library else tuning().ours


def tile_rows(product: Product) -> int:
    """Rows of a tile that loops read: whole matrices of a batch, or a multiple of their least number."""
    n, m = product.shape[-2:]
    library = library_for(product)
    least = n if is_batch(product) else min(least_rows(product, library), n)
    return max(sizes(library).tile // (least * m), 1) * least


def least_rows(product: Product, library: str) -> int:
    """Rows of a range at least: what is packed for each of them must be worth it."""
    return tuning().deep_rows if not library and is_deep(product) else sizes(library).rows


def is_batch(product: Product) -> bool:
    return size_of(product.shape[:-2]) > 1


def tile_height() -> int:
    """Rows of our kernels' widest tiles."""
    return max(tuning().heights)[1]


def choose(product: Product, row_tile: int | None = None, alone: bool = False) -> Choice:
    """What of a product's schedule depends on its neighbours: who computes it, `row_tile` rows at a time if it is given; all rows
    at once if no other thread helps (`alone`): each range reads the right matrix anew."""
    (n, k), m = product.a.shape[-2:], product.b.shape[-1]
    library = library_for(product, row_tile is None)
    if is_batch(product) or (row_tile is None and in_parts(product)):
        return Choice(library, n)
    rows = row_tile or n
    if row_tile is None and not alone:  # no question is asked of extents, so that the answer is a formula
        work, least = n * k * m, least_rows(product, library)
        # what is packed for all of them two threads share with even fewer rows
        fewest = 1 if library or is_deep(product) else smaller(n // (least // 2), 2)
        most = smaller(larger(n // least, fewest), tuning().most_ranges)
        by_memory = n > 1 and m == 1  # which is waited for
        of_range = tuning().vector_range if by_memory else sizes(library).work
        # of less work than two such ranges have two threads get one each, unless all rows at once are computed another way
        halves = 1 if is_turned(product, n, row_tile is None) else smaller(4 * work // of_range, fewest)
        ranges = even(larger(smaller(work // of_range, most), larger(halves, 1)))
        each = -(-n // ranges)
        # rows of A that lie across its lines: two threads don't fetch the same ones
        height = LINE // ITEMSIZE[product.step.type.dtype.name] if product.a.strides[-2] == 1 else tile_height()
        rows = -(-each // 32) * 32 if library else rows_of_chunk(n, each, height)
    return Choice(library, smaller(rows, n))


# All of it -------------------------------------------------------------------------------------------------------------


def schedule_product(product: Product, rows: int, alone: bool = False, in_tile: bool = False) -> ProductSchedule:
    """How a product runs, in ranges of so many rows, by what was chosen for it; `alone`, if it is a unit of its own, and
    `in_tile`, if nothing but the tile is kept of it."""
    assert product.choice is not None
    library = product.choice.library
    if library:
        if alone and library == "OpenBLAS" and vector_in_parts(product):
            return ProductSchedule("library parts", library, 1, each=_terms(product, LEAST_OF_VECTOR))
        return ProductSchedule("library", library, rows)
    row = as_row(product)
    if row is not None:
        return schedule_row(row)._replace(across=row is not product)
    if by_vector(product):
        return ProductSchedule("vector", "", rows)
    if alone and in_parts(product):
        n, m = product.shape
        across = n < m
        found = _tiles("parts", product.turned() if across else product, 1)
        return found._replace(
            each=_terms(product, tuning().least_part), across=across, near=((product.b if across else product.a).root,)
        )
    if not in_tile and is_turned(product, rows, alone):
        n, m = product.shape
        lanes = lanes_of(product.step.type.dtype.name)
        columns = m if rows == n else -(-m // (-(-n // rows) * lanes)) * lanes
        return ProductSchedule(
            "turned", "", n if rows == n else columns, lanes, within=_tiles("tiles", product.turned(), columns)
        )
    return _tiles("tiles", product, rows)


def schedule_row(product: Product) -> ProductSchedule:
    """How a row of numbers meets a matrix: in ranges of its columns where what a range reads lies together, in whole pages or
    columns, and in whole lines, so that two threads don't write the same one. Else in parts of its rows: pieces of rows are read
    as slowly as whole ones."""
    (k, m), table, itemsize = product.b.shape[-2:], tuning(), ITEMSIZE[product.step.type.dtype.name]
    work, least, line = k * m, table.least_of_row, LINE // itemsize
    ranges = larger(smaller(work // least, 2), smaller(work // (8 * least), table.most_parts))
    if ranges <= 1:
        return ProductSchedule("row", "", m)
    if not by_vector(product) and m * itemsize < ranges * PAGE:
        each = -(-k // (ranges * matmul_tiles.ADDED)) * matmul_tiles.ADDED
        return ProductSchedule("row parts", "", 1, each=each) if each < k else ProductSchedule("row", "", m)
    columns = -(-m // (even(ranges) * line)) * line
    return ProductSchedule("row", "", smaller(columns, m))


def _terms(product: Product, least: int) -> int:
    """Terms of each part of a product's sums, at least about so many."""
    table, k = tuning(), product.a.shape[-1]
    each: int = -(-larger(least, -(-k // table.most_parts)) // table.sums) * table.sums
    return each


def _tiles(way: str, product: Product, rows: int) -> ProductSchedule:
    """How tiles of our own compute a product."""
    table, dtype = tuning(), product.step.type.dtype.name
    (n, k), m, lanes = product.a.shape[-2:], product.b.shape[-1], lanes_of(dtype)
    turns, batch, parts = product.b.strides[-1] != 1 and m > 1, is_batch(product), way == "parts"
    least = table.packed_from_if_short if k <= table.short else table.packed_from
    least = table.packed_from_in_batch if batch else least
    packs, gathered = turns or n >= least or parts, gathers(product)
    deep = parts or (is_deep(product) and (packs or gathered))
    packing = ("in each" if batch or parts else "once") if packs else ""
    taken = (0.03 if turns else 0.018) * ITEMSIZE[dtype] * k * m  # nanoseconds, about
    return ProductSchedule(
        way, "", rows, lanes, tuple(panels(m, lanes, max(dict(table.heights)))), table.heights, packing,
        PARTS if packing == "once" and taken >= table.worth_helping else 1, table.gathered if gathered else 0,
        table.sums if deep else 0, table.sums if k > table.deep else 0, table.twice,
    )  # fmt: skip
