"""The loops of a kernel as data: functions of frozen statements, over numbers (i64), vectors, pointers and masks.

Each statement that makes something names it (`to`), once in a function; others mention it by that name, or hold a constant in
its place (`Constant`). Addresses are a pointer and a number of elements, which `Index` statements add up of loop counters and
strides. What writes kernels makes these statements (`build.Emitter`); they are printed for people (`text`) and rendered
for LLVM (`targets.llvm`), each in one walk; the tests check them and run them by NumPy in two more.
"""

from __future__ import annotations

from typing import Any

from adjoint._tuples import NamedTuple

Parameters = tuple[tuple[str, str], ...]  # LLVM's types, and names


class Constant(str):
    """A constant as LLVM writes it, in place of a name; `value` is the number, or for each lane one."""

    value: Any

    def __new__(cls, text: str, value: Any) -> Constant:
        made = super().__new__(cls, text)
        made.value = value
        return made


# Numbers and pointers --------------------------------------------------------------------------------------------------


class Aligned(NamedTuple):
    """Whether an array begins where a line of the caches does."""

    to: str
    pointer: str


class Apart(NamedTuple):
    """Whether two pointers differ."""

    to: str
    a: str
    b: str


class Argument(NamedTuple):
    """The number at a position of the unit's block; the position may be a number that was made."""

    to: str
    position: int | str


class Array(NamedTuple):
    """The pointer in the run's table whose position stands in the unit's block at a position; `what` it is, if the position is
    no number that was made."""

    to: str
    position: int | str
    what: Any


class Entry(NamedTuple):
    """A pointer from a table of pointers: `%table`, or a thread's own."""

    to: str
    table: str
    position: str


class At(NamedTuple):
    """The pointer so many elements further; `element` as LLVM names it."""

    to: str
    pointer: str
    element: str
    offset: str


# Vectors ---------------------------------------------------------------------------------------------------------------


class Op(NamedTuple):
    """An operation on vectors of `lanes` elements: fadd, mul, xor, shl, fneg, select ..., fcmp and icmp with a relation, an
    intrinsic as llvm.fma. `dtype` is the inputs' (of select, the values'; of llvm.ldexp, the first's). Numbers (i64) and
    conditions (i1) have no lanes; operations on numbers may have LLVM's flags."""

    to: str
    op: str
    dtype: str
    lanes: int
    inputs: tuple[str, ...]


class Cast(NamedTuple):
    """A conversion: fpext, trunc, sitofp, bitcast ...; of numbers, which have no lanes, from and to LLVM's types."""

    to: str
    op: str
    source: str
    dtype: str
    lanes: int
    a: str


class Spread(NamedTuple):
    """One element in all lanes."""

    to: str
    dtype: str
    lanes: int
    scalar: str


class First(NamedTuple):
    """The element of the first lane."""

    to: str
    dtype: str
    lanes: int
    a: str


class Shuffle(NamedTuple):
    """Lanes of two vectors, by their numbers in both one behind the other."""

    to: str
    dtype: str
    lanes: int
    a: str
    b: str
    order: tuple[int, ...]


class Below(NamedTuple):
    """The mask of the lanes whose number is below a number."""

    to: str
    lanes: int
    limit: str


class Multiples(NamedTuple):
    """0, 1, 2 ... times a number, one in each lane."""

    to: str
    lanes: int
    number: str


class AnyLane(NamedTuple):
    """Whether a mask is on in some lane."""

    to: str
    lanes: int
    a: str


class Library(NamedTuple):
    """A function of the C library, lane by lane."""

    to: str
    name: str
    function: str
    dtype: str
    lanes: int
    inputs: tuple[str, ...]


# Memory ----------------------------------------------------------------------------------------------------------------


class Load(NamedTuple):
    """A vector of elements `stride` apart (a number, or a vector of the elements' offsets); zeros where a mask is off. Without
    lanes, the integer of one of LLVM's types at the pointer."""

    to: str
    pointer: str
    offset: str
    dtype: str
    lanes: int
    stride: Any
    mask: str | None


class Single(NamedTuple):
    """One element in all lanes."""

    to: str
    pointer: str
    offset: str
    dtype: str
    lanes: int


class Store(NamedTuple):
    """Write a vector, as `Load` reads one; lanes under the mask only. What is `streamed` goes to memory past the caches, and
    must begin at a multiple of its size, up to a line of the caches."""

    value: str
    pointer: str
    offset: str
    dtype: str
    lanes: int
    stride: Any
    mask: str | None
    streamed: bool = False


class StoreFirst(NamedTuple):
    """Write the element of the first lane."""

    value: str
    pointer: str
    offset: str
    dtype: str
    lanes: int


class Fence(NamedTuple):
    """What was streamed can be seen by other threads from here on."""


class Prefetch(NamedTuple):
    """Bring a line of memory into the caches, if the address is one."""

    pointer: str


class Variable(NamedTuple):
    """A variable: a vector, or with 0 lanes a pointer ("ptr") or a number ("i64")."""

    to: str
    dtype: str
    lanes: int


class Get(NamedTuple):
    """What a variable holds."""

    to: str
    variable: str
    dtype: str
    lanes: int


class Lane(NamedTuple):
    """The lane of a variable of `held` lanes whose number is this, in all of `lanes` lanes."""

    to: str
    variable: str
    number: str
    dtype: str
    held: int
    lanes: int


class Set(NamedTuple):
    """Give a variable a value."""

    variable: str
    value: str
    dtype: str
    lanes: int


# Control ---------------------------------------------------------------------------------------------------------------


class For(NamedTuple):
    """to = start, start + step, ... while below stop; at least once."""

    to: str
    start: str
    stop: str
    step: str
    body: tuple[Any, ...]


class When(NamedTuple):
    """The body, if a condition holds."""

    condition: str
    body: tuple[Any, ...]


class Repeat(NamedTuple):
    """to = 0, 1, ... while below a count; maybe never. `done` is how often the whole body ran."""

    to: str
    limit: str
    body: tuple[Any, ...]
    done: str


class Leave(NamedTuple):
    """End the `Repeat` around, unless a condition holds."""

    condition: str


class Call(NamedTuple):
    """A call of a function, by name (@$nest) or pointer. `inputs` are LLVM types and values; `result` is its type, with `to`."""

    to: str
    result: str
    function: str
    inputs: tuple[tuple[str, str], ...]


class Function(NamedTuple):
    """A function of LLVM types and names. An internal one is called by its kernel alone. `result` is the number that it gives,
    if it gives one."""

    name: str
    parameters: Parameters
    body: tuple[Any, ...]
    internal: bool
    result: str = ""
