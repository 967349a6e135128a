"""Matrix products: which library computes one, in which tiles, and the function that calls it for a range of tiles."""

from __future__ import annotations

from contextlib import ExitStack

from adjoint.execution.native import onednn
from adjoint.execution.native.fuse import Choice, Product, View
from adjoint.execution.native.ir import Emitter, literal
from adjoint.execution.native.tables import Own, Table
from adjoint.shapes import Shape, size_of

# Below this many multiplications OpenBLAS's call costs less than oneDNN's.
SMALL = 1 << 13
# Multiplications in one tile at least: smaller ones repeat too much of the libraries' packing.
TILE = 1 << 24
# Rows from which packing the right matrix once is worth it, where several tiles read it.
PACKED_FROM = 256


def choose(dtype: str, batch: int, n: int, k: int, m: int, row_tile: int | None = None) -> Choice:
    """For products of n×k by k×m matrices. The same everywhere that has the same libraries, whatever runs beside it.

    `row_tile` asks for so many rows at a time, if the tiles aren't too small for the library.
    """
    work = n * k * m
    better = dtype == "float32" and n > 1 and m > 1 and work >= SMALL and onednn.available()
    if batch > 1:
        return Choice(better, n, False)
    rows = row_tile or n
    if row_tile is None and work >= 2 * TILE:
        tiles = max(min(work // TILE, n // 64, 16), 1)
        rows = -(-n // tiles)
        rows = -(-rows // 32) * 32
    rows = min(rows, n)
    return Choice(better, rows, better and n >= PACKED_FROM and rows < n)


def leading(view: View) -> tuple[int, int]:
    """How OpenBLAS takes a matrix (111 as it is, 112 transposed) and its leading dimension."""
    (n, m), (s, t) = view.shape[-2:], view.strides[-2:]
    if (t == 1 or m == 1) and (s >= m or n == 1):
        return 111, max(s, m) if n > 1 else m
    return 112, max(t, n) if m > 1 else n


def matrix_strides(view: View) -> tuple[int, int]:
    """The strides of the last two axes, with those of axes of length one as oneDNN wants them."""
    mode, step = leading(view)
    return (step, 1) if mode == 111 else (1, step)


class ProductWriter:
    """Writes a product as a function of a range of its rows, counted through the whole batch."""

    def __init__(self, product: Product, name: str, unit: int, table: Table, own: Own) -> None:
        self.product = product
        self.name = name
        self.unit = unit
        self.table = table
        self.own = own
        self.a, self.b = product.a, product.b
        self.dtype = product.step.type.dtype.name
        self.shape: Shape = product.shape
        self.batch = self.shape[:-2]
        (self.n, self.k), self.m = self.a.shape[-2:], self.b.shape[-1]
        assert product.choice is not None
        self.choice = product.choice
        self.e = Emitter(1, set(), {})
        self.packed: onednn.Descriptor | None = None
        self.start: str | None = None
        self.finish: str | None = None
        self.row_elements = self.m

    @property
    def rows(self) -> int:
        """Rows in all."""
        return size_of(self.batch) * self.n

    @property
    def time(self) -> float:
        """A guess in nanoseconds, at 85 multiplications in each."""
        return self.rows * self.k * self.m * (1 if self.dtype == "float32" else 2) / 85

    def pointer(self, key: object) -> str:
        at = self.e.assign(f"getelementptr ptr, ptr %table, i64 {self.table.at(key)}")
        return self.e.assign(f"load ptr, ptr {at}")

    def move(self, pointer: str, offset: str) -> str:
        if offset == "0":
            return pointer
        element = "float" if self.dtype == "float32" else "double"
        return self.e.assign(f"getelementptr {element}, ptr {pointer}, i64 {offset}")

    def write(self) -> str:
        """The function of (table, first row, row after the last, own table)."""
        e = self.e
        a, b = self.pointer(self.a.root), self.pointer(self.b.root)
        if self.product.tile is None:
            result = self.pointer(self.product.step.output)
        else:  # the tile holds the rows from %lo on
            scratch = e.assign("load ptr, ptr %own")
            tile = e.assign(f"getelementptr i8, ptr {scratch}, i64 {self.product.tile}")
            result = self.move(tile, e.assign(f"mul i64 %lo, {-self.m}"))
        with ExitStack() as loops:
            if self.batch:
                first = e.assign(f"udiv i64 %lo, {self.n}")
                beyond = e.assign(f"udiv i64 %hi, {self.n}")
                index = loops.enter_context(e.loop(first, beyond, 1))
                a = self.move(a, self.in_batch(self.a, index))
                b = self.move(b, self.in_batch(self.b, index))
                result = self.move(result, e.assign(f"mul i64 {index}, {self.n * self.m}"))
                self.call(a, b, result, self.n)
            else:
                a, b = self.move(a, str(self.a.offset)), self.move(b, str(self.b.offset))
                rows, rest = self.choice.rows, self.n % self.choice.rows
                if rest == self.n % rows and rest:
                    last = e.assign(f"icmp eq i64 %lo, {self.n - rest}")
                    with e.when(last):
                        self.tile(a, b, result, "%lo", rest)
                    whole = e.assign(f"icmp ult i64 %lo, {self.n - rest}")
                    loops.enter_context(e.when(whole))
                    stop = e.assign(f"call i64 @llvm.umin.i64(i64 %hi, i64 {self.n - rest})")
                    e.declarations.add("declare i64 @llvm.umin.i64(i64, i64)")
                else:
                    stop = "%hi"
                row = loops.enter_context(e.loop("%lo", stop, rows))
                self.tile(a, b, result, row, rows)
        return "\n".join(
            [f"define internal void @{self.name}(ptr %table, i64 %lo, i64 %hi, ptr %own) #0 {{", "entry:",
             *e.allocations, *e.lines, "  ret void", "}"]
        )  # fmt: skip

    def in_batch(self, view: View, index: str) -> str:
        """The offset of a matrix of the batch, given its number."""
        e = self.e
        total, following = str(view.offset), 1
        for size, stride in zip(reversed(self.batch), reversed(view.strides[:-2]), strict=True):
            if stride and size > 1:
                i = e.assign(f"udiv i64 {index}, {following}") if following > 1 else index
                i = e.assign(f"urem i64 {i}, {size}")
                total = e.assign(f"add i64 {total}, {e.assign(f'mul i64 {i}, {stride}')}")
            following *= size
        return total

    def tile(self, a: str, b: str, result: str, row: str, rows: int) -> None:
        """Some rows of a single product."""
        e = self.e
        s = matrix_strides(self.a)[0]
        self.call(self.move(a, e.assign(f"mul i64 {row}, {s}")), b,
                  self.move(result, e.assign(f"mul i64 {row}, {self.m}")), rows)  # fmt: skip

    def call(self, a: str, b: str, result: str, rows: int) -> None:
        e, n, m, k = self.e, rows, self.m, self.k
        if self.choice.onednn:
            right = self.right()
            primitive = onednn.product(
                onednn.described((n, k), matrix_strides(self.a)), right, onednn.described((n, m), (m, 1))
            )
            write_call(e, self.table, self.own, self.unit, primitive, [a, self.pack() if self.packed else b, result])
            return
        double = self.dtype == "float64"
        name, element = ("cblas_dgemm", "double") if double else ("cblas_sgemm", "float")
        function = self.pointer(("blas", name))
        (ta, lda), (tb, ldb) = leading(self.a), leading(self.b)
        one, zero = literal(1.0, self.dtype), literal(0.0, self.dtype)
        e.line(
            f"call void {function}(i32 101, i32 {ta}, i32 {tb}, i32 {n}, i32 {m}, i32 {k}, {element} {one}, ptr {a}, "
            f"i32 {lda}, ptr {b}, i32 {ldb}, {element} {zero}, ptr {result}, i32 {m})"
        )

    # The right matrix, packed for all tiles

    def right(self) -> onednn.Descriptor:
        """The descriptor of the right matrix: in the layout that the tiles like best, if it is packed for them."""
        plain = onednn.described((self.k, self.m), matrix_strides(self.b))
        if not self.choice.packed:
            return plain
        if self.packed is None:
            tile = onednn.described((self.choice.rows, self.k), matrix_strides(self.a))
            result = onednn.described((self.choice.rows, self.m), (self.m, 1))
            preferring = onednn.product(tile, onednn.described((self.k, self.m), onednn.ANY), result)
            self.packed = preferring.arguments[onednn.WEIGHTS]
            self.table.keep.append(preferring)
            self.write_packing(plain)
        return self.packed

    def pack(self) -> str:
        return self.pointer((self.unit, f"packed for {self.name}"))

    def write_packing(self, plain: onednn.Descriptor) -> None:
        """The function of the table and the first thread's own that packs the right matrix, before any tile."""
        assert self.packed is not None
        self.table.share(self.unit, f"packed for {self.name}", self.packed.nbytes)
        tiles, self.e = self.e, Emitter(1, set(), {})
        source = self.move(self.pointer(self.b.root), str(self.b.offset))
        primitive = onednn.reorder(plain, self.packed)
        write_call(self.e, self.table, self.own, self.unit, primitive, [source, self.pack()])
        self.start = "\n".join(
            [f"define internal void @{self.name}.start(ptr %table, ptr %own) #0 {{", "entry:", *self.e.lines,
             "  ret void", "}"]
        )  # fmt: skip
        self.e = tiles


def write_call(e: Emitter, table: Table, own: Own, unit: int, primitive: onednn.Primitive, pointers: list[str]) -> None:
    """Set where a primitive's arguments are, and execute it. `pointers` are in the order of its arguments."""
    first = own.call(primitive)

    def loaded(key: object) -> str:
        return e.assign(f"load ptr, ptr {e.assign(f'getelementptr ptr, ptr %table, i64 {table.at(key)}')}")

    def owned(position: int) -> str:
        return e.assign(f"load ptr, ptr {e.assign(f'getelementptr ptr, ptr %own, i64 {position}')}")

    if primitive.scratch:
        offset = own.reserve(unit, primitive.scratch)
        pointers = [*pointers, e.assign(f"getelementptr i8, ptr {owned(0)}, i64 {offset}")]
    setter, execute = loaded(("onednn", "dnnl_memory_set_data_handle")), loaded(("onednn", "dnnl_primitive_execute"))
    for k, pointer in enumerate(pointers):
        e.assign(f"call i32 {setter}(ptr {owned(first + 1 + k)}, ptr {pointer})")
    handle = e.assign(f"getelementptr ptr, ptr %table, i64 {table.primitive(primitive)}")
    handle = e.assign(f"load ptr, ptr {handle}")
    status = e.assign(
        f"call i32 {execute}(ptr {handle}, ptr {loaded(('onednn', 'stream'))}, i32 {len(pointers)}, ptr {owned(first)})"
    )
    bad = e.assign(f"icmp ne i32 {status}, 0")
    with e.when(bad):
        e.line(f"store i32 {status}, ptr {loaded(('onednn', 'status'))}")
