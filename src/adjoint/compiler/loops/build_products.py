"""Matrix products by a library, as a function of a range of rows; and what all ways to write products have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from adjoint.compiler.extents import followed
from adjoint.compiler.fuse.kinds import Product, View
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ELEMENT, ITEMSIZE, Emitter, literal
from adjoint.compiler.loops.ranges import RangeWriter
from adjoint.compiler.schedule.matmul import ProductSchedule
from adjoint.compiler.tables import (
    LARGE,
    STATUS,
    Arguments,
    Calls,
    Function,
    Handle,
)
from adjoint.primitives.lapack import LETTERS
from adjoint.runtime import onednn
from adjoint.shapes import Shape, following, size_of

Array = tuple[str, str]  # a pointer, and the elements from one row to the next


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


class BatchWriter(RangeWriter):
    """Writes a product as a function of a range of its rows, counted through the whole batch."""

    def __init__(self, product: Product, name: str, arguments: Arguments, schedule: ProductSchedule) -> None:
        super().__init__(product.step, name, arguments)
        product = product.turned() if schedule.across else product
        self.schedule = schedule
        self.chunk = schedule.rows  # in a range, of which the last may have fewer
        self.a, self.b = product.a, product.b
        self.shape: Shape = product.shape
        self.batch = self.shape[:-2] if size_of(self.shape[:-2]) > 1 else ()
        (self.n, self.k), self.m = self.a.shape[-2:], self.b.shape[-1]
        self.rows, self.row_elements = size_of(self.batch) * self.n, self.m
        self.multiplications = self.rows * self.k * self.m
        self.where: tuple[str, ...] = ()
        self.cached: Mapping[int, int] = {}  # where in a thread's own space what it reads is, if only a tile is kept

    @abstractmethod
    def some(self, a: str, b: str, result: str, rows: int) -> None:
        """Some rows, or a matrix of the batch: `a` and `result` point to the first."""

    @property
    def time(self) -> float:
        # at 85 multiplications in a nanosecond
        return self.multiplications * (1 if self.dtype == "float32" else 2) / 85

    @property
    def read_once(self) -> float:
        """The time that a matrix takes which meets one vector: it comes from memory, at 16 bytes in a nanosecond."""
        return self.multiplications * ITEMSIZE[self.dtype] / 16

    def number(self, value: int, *role: Any) -> str:
        return self.inputs.number(value, (self.name, *role), LARGE if value else 0)

    def varying(self, value: int, *role: Any) -> str:
        """A number that follows from the rows and sums at hand, too: from where in the function they are."""
        return self.number(value, *role, *self.where)

    @contextmanager
    def within(self, part: str) -> Iterator[None]:
        """Write a part of the function: some of the rows or sums."""
        self.where = (*self.where, part)
        yield
        self.where = self.where[:-1]

    def write(self) -> list[L.Function]:
        e = self.e
        a, b, result = self.source(self.a), self.source(self.b), self.result()
        if self.batch:
            n = self.number(self.n, "n")
            first, beyond = e.index("udiv", "%lo", n), e.index("udiv", "%hi", n)
            with e.loop(first, beyond, 1) as index:
                result = self.move(result, e.times(index, self.number(self.n * self.m, "n m")))
                self.some(
                    self.move(a, self.in_batch(self.a, index)),
                    self.move(b, self.in_batch(self.b, index)),
                    result,
                    self.n,
                )
        else:
            rows = self.chunk
            rest = self.n - (-(-self.n // rows) - 1) * rows
            # what is written for others, too, serves those whose ranges are all alike
            if self.n != rows and (following[0] or rest != rows):
                last = self.inputs.number(self.n - rest, (self.name, "last"), LARGE)
                with e.when(e.test("eq", "%lo", last)), self.within("last rows"):
                    self.from_row(a, b, result, rest)
                with e.when(e.test("ult", "%lo", last)):
                    self.from_row(a, b, result, rows)
            else:
                self.from_row(a, b, result, rows)
        return [self.function()]

    def source(self, view: View) -> str:
        """A pointer to an array that is read. A tile of it holds the matrices of the batch from the range's first on."""
        if view.root not in self.cached:
            return self.pointer(view.root)
        e = self.e
        first = e.index("udiv", "%lo", self.number(self.n, "n"))
        tile = self.own(self.cached[view.root], "cached", self.operand(view))
        size = self.number(-size_of(view.shape[-2:]), "matrix", self.operand(view))
        return self.move(tile, e.times(first, size))

    def from_row(self, a: str, b: str, result: str, rows: int) -> None:
        """Some rows from %lo on."""
        e = self.e
        left = self.move(a, e.times("%lo", self.number(self.a.strides[-2], "a row")))
        self.some(left, b, self.move(result, e.times("%lo", self.number(self.m, "m"))), rows)

    def operand(self, view: View) -> str:
        """Which of the matrices it is: both may begin at the same place."""
        return "a" if view is self.a else "b"

    def in_batch(self, view: View, index: str) -> str:
        """The offset of a matrix of the batch, given its number."""
        e, which = self.e, self.operand(view)
        total, following = "0", 1
        for axis, (size, stride) in enumerate(zip(reversed(self.batch), reversed(view.strides[:-2]), strict=True)):
            if stride and size > 1:
                before = self.number(following, "matrices before", axis)
                i = e.index("udiv", index, before) if following > 1 else index
                i = e.index("urem", i, self.number(size, "matrices", axis))
                by = self.number(stride, "matrix's stride", which, axis)
                total = e.plus(total, e.times(i, by))
            following *= size
        return total


class LibraryWriter(BatchWriter):
    """Calls oneDNN or OpenBLAS."""

    @property
    def time(self) -> float:
        return self.read_once if self.n == 1 or self.m == 1 else super().time

    def some(self, a: str, b: str, result: str, rows: int) -> None:
        if self.schedule.library == "oneDNN":
            product = onednn.Product(rows, self.k, self.m, matrix_strides(self.a), matrix_strides(self.b))
            write_call(self.e, self.arguments, product, [a, b, result])
            return
        if rows == 1 or self.m == 1:
            self.by_vector(a, b, result, rows, self.k)
            return
        (ta, lda), (tb, ldb) = leading(self.a), leading(self.b)
        m = self.varying(self.m, "m")
        self.blas("gemm", (ta, tb, self.varying(rows, "rows"), m, self.varying(self.k, "k")), (a, self.varying(lda, "lda")),
                  (b, self.varying(ldb, "ldb")), (result, m))  # fmt: skip

    def blas(self, name: str, numbers: Sequence[int | str], a: Array, b: Array, result: Array) -> None:
        """Call a function of OpenBLAS: modes and sizes, then arrays with the elements from one row to the next."""
        one, zero = [(ELEMENT[self.dtype], literal(x, self.dtype)) for x in (1.0, 0.0)]
        read = [(kind, x) for array in (a, b) for kind, x in zip(("ptr", "i32"), array, strict=True)]
        self.inputs.blas(
            f"{LETTERS[self.dtype]}{name}", numbers, one, *read, zero, ("ptr", result[0]), ("i32", result[1])
        )

    def by_vector(self, a: str, b: str, result: str, rows: int, k: int) -> None:
        """A matrix times a vector, or its transpose, k products in a sum: each element of the matrix is read once, as fast as
        memory gives it."""
        matrix, vector, turned = (self.b, self.a, True) if rows == 1 else (self.a, self.b, False)
        mode, step = leading(matrix)
        across, along = (k, self.m) if turned else (rows, k)
        if mode == 112:  # the array holds its transpose
            across, along, turned = along, across, not turned
        apart = vector.strides[-1] if rows == 1 else vector.strides[-2]
        sizes = [self.varying(value, role) for value, role in ((across, "across"), (along, "along"))]
        steps = self.varying(step, "step"), self.varying(max(apart, 1), "apart")
        first, second = zip((b, a) if rows == 1 else (a, b), steps, strict=True)
        self.blas("gemv", (112 if turned else 111, *sizes), first, second, (result, "1"))


def write_call(
    e: Emitter, arguments: Arguments, primitive: onednn.Primitive | onednn.Product, pointers: list[str]
) -> None:
    """Set where a primitive's arguments are, and execute it. `pointers` are in the order of its arguments."""
    call = arguments.call(primitive)
    first = arguments.number(e, Calls(call))

    def owned(position: str) -> str:
        return e.entry("%own", position)

    def function(name: str) -> str:
        return arguments.pointer(e, Function("oneDNN", name))

    scratch = primitive.scratch if isinstance(primitive, onednn.Primitive) else followed(onednn.scratch_of, primitive)
    if scratch:
        offset = arguments.number(e, arguments.given(arguments.reserve(scratch)))
        pointers = [*pointers, e.at(owned("0"), offset, "i8")]
    setter, execute = function("dnnl_memory_set_data_handle"), function("dnnl_primitive_execute")
    for k, pointer in enumerate(pointers):
        e.call(setter, (("ptr", owned(e.plus(first, 1 + k))), ("ptr", pointer)), "i32")
    handle, stream = arguments.pointer(e, Handle(call)), function("stream")
    given = (("ptr", handle), ("ptr", stream), ("i32", str(len(pointers))), ("ptr", owned(first)))
    status = e.call(execute, given, "i32")
    with e.when(e.test("ne", e.made(L.Cast, "sext", "i32", "i64", 0, status), 0)):
        e.note("i32", status, e.entry("%table", STATUS))
