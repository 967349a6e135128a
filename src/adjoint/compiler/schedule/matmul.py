"""Who computes a matrix product, and how many rows at a time: a static table, the same wherever the same libraries are."""

from __future__ import annotations

from adjoint.compiler.extents import larger, smaller
from adjoint.compiler.fuse.kinds import Choice, Product
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.build import ITEMSIZE, lanes_of
from adjoint.compiler.loops.build_matmul import is_deep
from adjoint.compiler.loops.build_parts import PartsWriter
from adjoint.compiler.loops.build_vector import VectorWriter
from adjoint.compiler.schedule.chunks import even, rows_of_chunk
from adjoint.compiler.targets.target import Sizes, tuning
from adjoint.runtime import libraries, onednn
from adjoint.shapes import size_of

LINE = 64  # bytes


def library_for(product: Product, alone: bool = False) -> str:
    """oneDNN, OpenBLAS, or empty for kernels of our own. `alone`: it is a unit of its own."""
    (n, k), m, table = product.a.shape[-2:], product.b.shape[-1], tuning()
    if VectorWriter.suits(product) or (alone and PartsWriter.suits(product)):
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
    """How a product is computed, `row_tile` rows at a time if it is given; all rows at once if no other thread helps (`alone`):
    each range reads the right matrix anew."""
    (n, k), m = product.a.shape[-2:], product.b.shape[-1]
    library = library_for(product, row_tile is None)
    if is_batch(product) or (row_tile is None and PartsWriter.suits(product)):
        return Choice(library, n)
    rows = row_tile or n
    if row_tile is None and not alone:  # no question is asked of extents, so that the answer is a formula
        work, least = n * k * m, least_rows(product, library)
        # what is packed for all of them two threads share with even fewer rows
        fewest = 1 if library or is_deep(product) else smaller(n // (least // 2), 2)
        most = smaller(larger(n // least, fewest), tuning().most_ranges)
        by_vector = n > 1 and m == 1  # which waits for memory
        ranges = even(larger(smaller(work // (tuning().vector_range if by_vector else sizes(library).work), most), 1))
        each = -(-n // ranges)
        # rows of A that lie across its lines: two threads don't fetch the same ones
        height = LINE // ITEMSIZE[product.step.type.dtype.name] if product.a.strides[-2] == 1 else tile_height()
        rows = -(-each // 32) * 32 if library else rows_of_chunk(n, each, height)
    return Choice(library, smaller(rows, n))
