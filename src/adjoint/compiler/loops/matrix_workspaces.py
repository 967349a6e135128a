"""What algorithms on small matrices are written over: matrices in registers, one element each, or in a thread's own memory.

`Unrolled` keeps every element in a register and writes each operation down; `Looped` keeps matrices in memory, the lanes of an
element side by side, and writes loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from adjoint.compiler.loops.build import ITEMSIZE, Emitter, Value
from adjoint.compiler.targets.target import tuning

Index = int | str


class Matrix:
    """Rows and columns of elements of one dtype, one matrix in each lane."""

    def __init__(self, rows: int, columns: int, dtype: str) -> None:
        self.rows, self.columns, self.dtype = rows, columns, dtype

    def get(self, i: Index, j: Index) -> Value:
        """The element in all lanes."""
        raise NotImplementedError

    def set(self, i: Index, j: Index, value: Value) -> None:
        """Give the element a value in all lanes."""
        raise NotImplementedError

    def get_at(self, first: Index, k: int) -> Value:
        """The element so many behind the `first`, row by row."""
        assert isinstance(first, int)
        return self.get(*divmod(first + k, self.columns))

    def set_at(self, first: Index, k: int, value: Value) -> None:
        """Give the element so many behind the `first`, row by row, a value."""
        assert isinstance(first, int)
        self.set(*divmod(first + k, self.columns), value)


class Cell:
    """A number in each lane that may change, also inside a loop."""

    def __init__(self, e: Emitter, initial: Value) -> None:
        self.e, self.dtype, self.slot = e, initial.dtype, e.variable(initial)

    def get(self) -> Value:
        return self.e.get(self.slot, self.dtype)

    def set(self, value: Value) -> None:
        self.e.set(self.slot, value)


class _Registers(Matrix):
    """Elements that the writer itself remembers."""

    def __init__(self, rows: int, columns: int, dtype: str) -> None:
        super().__init__(rows, columns, dtype)
        self.elements: dict[tuple[Index, Index], Value] = {}

    def get(self, i: Index, j: Index) -> Value:
        return self.elements[i, j]

    def set(self, i: Index, j: Index, value: Value) -> None:
        self.elements[i, j] = value


class _Variables(Matrix):
    """Elements in variables, which may change inside a loop that is run."""

    def __init__(self, e: Emitter, rows: int, columns: int, dtype: str) -> None:
        super().__init__(rows, columns, dtype)
        self.e = e
        self.slots = {(i, j): e.allocate(dtype, e.lanes) for i in range(rows) for j in range(columns)}

    def get(self, i: Index, j: Index) -> Value:
        return self.e.get(self.slots[i, j], self.dtype)  # type: ignore[index]

    def set(self, i: Index, j: Index, value: Value) -> None:
        self.e.set(self.slots[i, j], value)  # type: ignore[index]


class _Stored(Matrix):
    """Elements in memory, the lanes of each side by side."""

    def __init__(self, e: Emitter, pointer: str, rows: int, columns: int, dtype: str) -> None:
        super().__init__(rows, columns, dtype)
        self.e, self.pointer = e, pointer

    def offset(self, i: Index, j: Index) -> str:
        e, lanes = self.e, self.e.lanes
        known = (i * self.columns if isinstance(i, int) else 0) + (j if isinstance(j, int) else 0)
        moving = [e.times(k, step * lanes) for k, step in ((i, self.columns), (j, 1)) if isinstance(k, str)]
        if not moving:
            return str(known * lanes)
        total = moving[0] if len(moving) == 1 else e.plus(*moving)
        return e.plus(total, known * lanes) if known else total

    def get(self, i: Index, j: Index) -> Value:
        return self.read(self.offset(i, j))

    def set(self, i: Index, j: Index, value: Value) -> None:
        self.write(value, self.offset(i, j))

    def get_at(self, first: Index, k: int) -> Value:
        return self.read(self.e.plus(self.e.times(str(first), self.e.lanes), k * self.e.lanes))

    def set_at(self, first: Index, k: int, value: Value) -> None:
        self.write(value, self.e.plus(self.e.times(str(first), self.e.lanes), k * self.e.lanes))

    def read(self, offset: str, stride: int | str = 1) -> Value:
        """The element in all lanes, whatever the mask: there is room for all of them."""
        with self.e.masked(None):
            return self.e.load(self.pointer, offset, self.dtype, stride)

    def write(self, value: Value, offset: str, stride: int | str = 1) -> None:
        """Write an element in all lanes."""
        with self.e.masked(None):
            self.e.store(value, self.pointer, offset, stride)


class Workspace:
    """Makes matrices and loops for a formula."""

    def __init__(self, e: Emitter) -> None:
        self.e = e

    def matrix(self, rows: int, columns: int, dtype: str) -> Matrix:
        """A new matrix without values."""
        raise NotImplementedError

    def lasting(self, rows: int, columns: int, dtype: str) -> Matrix:
        """A new matrix whose elements may be changed inside a loop that is run, too."""
        return self.matrix(rows, columns, dtype)

    def span(self, start: Index, stop: Index, inner: bool = False) -> Iterator[Index]:
        """Indices for a `for` statement, maybe none. Inner loops of known lengths are written out."""
        raise NotImplementedError

    def next(self, i: Index) -> Index:
        """The index behind."""
        return i + 1 if isinstance(i, int) else self.e.plus(i, 1)

    def down(self, n: int) -> Iterator[Index]:
        """Indices from n - 1 to 0."""
        for i in self.span(0, n):
            yield n - 1 - i if isinstance(i, int) else self.e.index("sub", str(n - 1), i)

    def pivot(self, a: Matrix, k: Index, others: Sequence[Matrix], sign: Cell | None) -> None:
        """Bring the row at or below k with the largest element of column k to k, in all matrices; `sign` follows."""
        raise NotImplementedError

    # What all formulas use

    def filled(self, rows: int, columns: int, dtype: str, diagonal: float = 0.0) -> Matrix:
        """Zeros, with a number on the diagonal."""
        made = self.matrix(rows, columns, dtype)
        zero = self.e.constant(0.0, dtype)
        for i in self.span(0, rows):
            for j in self.span(0, columns, inner=True):
                made.set(i, j, zero)
        if diagonal:
            for i in self.span(0, min(rows, columns)):
                made.set(i, i, self.e.constant(diagonal, dtype))
        return made

    def each(self, like: Matrix, formula: Callable[[Index, Index], Value], lasting: bool = False) -> Matrix:
        """A matrix of the same size, element by element."""
        make = self.lasting if lasting else self.matrix
        made = make(like.rows, like.columns, like.dtype)
        for i in self.span(0, like.rows):
            for j in self.span(0, like.columns, inner=True):
                made.set(i, j, formula(i, j))
        return made


class Unrolled(Workspace):
    """Every operation written down; indices are numbers."""

    def matrix(self, rows: int, columns: int, dtype: str) -> Matrix:
        return _Registers(rows, columns, dtype)

    def lasting(self, rows: int, columns: int, dtype: str) -> Matrix:
        return _Variables(self.e, rows, columns, dtype)

    def span(self, start: Index, stop: Index, inner: bool = False) -> Iterator[Index]:
        assert isinstance(start, int) and isinstance(stop, int)
        return iter(range(start, stop))

    def pivot(self, a: Matrix, k: Index, others: Sequence[Matrix], sign: Cell | None) -> None:
        e = self.e
        assert isinstance(k, int)
        for i in range(k + 1, a.rows):
            larger = e.compare("gt", e.absolute(a.get(i, k)), e.absolute(a.get(k, k)))
            for x, first in ((a, k), *[(b, 0) for b in others]):
                for j in range(first, x.columns):
                    upper, lower = x.get(k, j), x.get(i, j)
                    x.set(k, j, e.select(larger, lower, upper))
                    x.set(i, j, e.select(larger, upper, lower))
            if sign is not None:
                sign.set(e.select(larger, e.negative(sign.get()), sign.get()))


class Looped(Workspace):
    """Loops over matrices in memory, which `reserve` gives: a pointer to so many bytes."""

    def __init__(self, e: Emitter, reserve: Callable[[int], str]) -> None:
        super().__init__(e)
        self.reserve = reserve

    def matrix(self, rows: int, columns: int, dtype: str) -> Matrix:
        pointer = self.reserve(rows * columns * self.e.lanes * ITEMSIZE[dtype])
        return _Stored(self.e, pointer, rows, columns, dtype)

    def span(self, start: Index, stop: Index, inner: bool = False) -> Iterator[Index]:
        e = self.e
        if isinstance(start, int) and isinstance(stop, int):
            if inner or stop - start < 2:
                yield from range(start, stop)
                return
            with e.loop(str(start), str(stop), 1) as i:
                yield i
            return
        count = e.index("sub", str(stop), str(start))
        with e.repeat(count) as (k, _):
            yield e.plus(k, start)

    def position(self, i: Index) -> Value:
        """An index in all lanes."""
        return self.e.splat(i, "int64") if isinstance(i, str) else self.e.constant(i, "int64")

    def pivot(self, a: Matrix, k: Index, others: Sequence[Matrix], sign: Cell | None) -> None:
        e = self.e
        here = self.position(k)
        best, place = Cell(e, e.absolute(a.get(k, k))), Cell(e, here)
        for i in self.span(self.next(k), a.rows):
            size = e.absolute(a.get(i, k))
            larger = e.compare("gt", size, best.get())
            best.set(e.select(larger, size, best.get()))
            place.set(e.select(larger, self.position(i), place.get()))
        lane = Value(e.multiples("1"), "int64")
        for x in (a, *others):
            assert isinstance(x, _Stored)
            row = e.add(e.multiply(place.get(), x.columns * e.lanes), lane)
            for j in self.span(0, x.columns):
                at = str(j * e.lanes) if isinstance(j, int) else e.times(j, e.lanes)
                upper = x.get(k, j)
                x.set(k, j, x.read(at, row.name))
                x.write(upper, at, row.name)
        if sign is not None:
            moved = e.compare("ne", place.get(), here)
            sign.set(e.select(moved, e.negative(sign.get()), sign.get()))


def workspace(e: Emitter, operations: int, reserve: Callable[[int], str]) -> Workspace:
    """The form in which a formula of so many operations is written."""
    return Unrolled(e) if operations <= tuning().most_unrolled else Looped(e, reserve)
