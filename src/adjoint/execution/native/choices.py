"""Who computes a matrix product, and how many rows at a time: a static table, the same wherever the same libraries are."""

from __future__ import annotations

from adjoint.execution.native import kernels, libraries, onednn
from adjoint.execution.native.fuse import Choice, Product
from adjoint.execution.native.tiled import is_deep
from adjoint.shapes import size_of

# Below this many multiplications OpenBLAS's call costs less than oneDNN's.
SMALL = 1 << 13
# Elements of a tile that is read by loops while it is in the cache.
TILE = {"": 1 << 14, "oneDNN": 1 << 15, "OpenBLAS": 1 << 15}
# Multiplications in one range of rows at least, and rows: with fewer, what the libraries pack anew for each costs a tenth.
RANGE = {"": 1 << 22, "oneDNN": 1 << 24, "OpenBLAS": 1 << 24}
MIN_ROWS = {"": 24, "oneDNN": 128, "OpenBLAS": 128}
MIN_DEEP = 128
MOST_RANGES = 16
# Rows from which packing the right matrix once is worth it, where several ranges read it.
PACKED_FROM = 256
# What our kernels are for: B in the cache of the second level, not too narrow.
LARGEST = 1 << 19
NARROWEST = 4


def library_for(product: Product) -> str:
    """oneDNN, OpenBLAS, or empty for kernels of our own."""
    (n, k), m = product.a.shape[-2:], product.b.shape[-1]
    if kernels.available() and m >= NARROWEST and k * m <= LARGEST:
        return ""
    better = product.step.type.dtype.name == "float32" and n > 1 and m > 1 and n * k * m >= SMALL
    if better and onednn.available():
        return "oneDNN"
    return "OpenBLAS" if libraries.missing() is None else ""


def tile_rows(product: Product) -> int:
    """Rows of a tile that loops read: whole matrices of a batch, or a multiple of MIN_ROWS."""
    n, m = product.shape[-2:]
    library = library_for(product)
    least = n if is_batch(product) else min(least_rows(product, library), n)
    return max(TILE[library] // (least * m), 1) * least


def least_rows(product: Product, library: str) -> int:
    """Rows of a range at least: what is packed for each of them must be worth it."""
    return MIN_DEEP if not library and is_deep(product) else MIN_ROWS[library]


def is_batch(product: Product) -> bool:
    return size_of(product.shape[:-2]) > 1


def choose(product: Product, row_tile: int | None = None) -> Choice:
    """How a product is computed, `row_tile` rows at a time if it is given."""
    (n, k), m = product.a.shape[-2:], product.b.shape[-1]
    library = library_for(product)
    if is_batch(product):
        return Choice(library, n, False)
    rows = row_tile or n
    work, least = n * k * m, least_rows(product, library)
    if row_tile is None and work >= 2 * RANGE[library]:
        ranges = max(min(work // RANGE[library], n // least, MOST_RANGES), 1)
        rows = -(-n // ranges)
        rows = -(-rows // 24) * 24 if not library else -(-rows // 32) * 32
    rows = min(rows, n)
    return Choice(library, rows, library == "oneDNN" and n >= PACKED_FROM and rows < n)
