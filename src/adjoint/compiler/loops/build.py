"""The builder of loops: vector values, arithmetic on them, memory and control, as statements of `loops`.

An `Emitter` makes the statements of one function. Every value is a vector of `lanes` elements, also where a single number would
do: that keeps the formulas in `vector_math` free of cases. Numbers (i64), conditions and pointers are names, or constants.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops import ir as L
from adjoint.compiler.targets.llvm import BYTES, ELEMENT, HALVES, ITEMSIZE, PART
from adjoint.dtypes import DTYPES
from adjoint.runtime import llvm

__all__ = [
    "BITS_OF",
    "BYTES",
    "ELEMENT",
    "HALVES",
    "ITEMSIZE",
    "Complex",
    "Emitter",
    "Half",
    "Value",
    "literal",
    "mask_of",
]

BITS_OF = {"float32": "int32", "float64": "int64"}


class Value(NamedTuple):
    """A vector in the function being written: its name there and the dtype of its elements."""

    name: str
    dtype: str

    @property
    def kind(self) -> str:
        return {"f": "f", "b": "b", "i": "i", "u": "u"}[self.dtype[0]]


class Complex(NamedTuple):
    """A vector of complex numbers: those of their real and of their imaginary parts."""

    re: Value
    im: Value
    dtype: str


class Half(NamedTuple):
    """A vector of numbers of 16 bits: their bits."""

    bits: Value
    dtype: str


def literal(value: Any, dtype: str) -> str:
    """A number as an LLVM constant of an element type."""
    if dtype == "float64":
        return f"0x{struct.unpack('<Q', struct.pack('<d', float(value)))[0]:016X}"
    if dtype == "float32":
        try:
            single = struct.unpack("<f", struct.pack("<f", float(value)))[0]
        except OverflowError:
            single = float("inf") if value > 0 else float("-inf")
        return f"0x{struct.unpack('<Q', struct.pack('<d', single))[0]:016X}"
    if dtype == "bool":
        return "true" if value else "false"
    bits = ITEMSIZE[dtype] * 8
    number = int(value) & ((1 << bits) - 1)
    return str(number - (1 << bits) if number >> (bits - 1) else number)


_new = tuple.__new__  # of a NamedTuple, without the call of its own constructor


def lanes_of(dtype: str, elements: int | None = None) -> int:
    """The lanes of a vector of a dtype, or of one of the parts of complex numbers; over so many elements, if that is said."""
    widest = llvm.vector_bits() // (8 * ITEMSIZE[PART.get(dtype, dtype)])
    return widest if elements is None else lanes_for(widest, elements)


def lanes_for(widest: int, elements: int) -> int:
    """The lanes of vectors over so many elements, at most the widest: the fewest that need no more vectors than half as many
    would."""
    while widest > 1 and widest >= 2 * elements:
        widest //= 2
    return widest


def mask_of(count: int, lanes: int) -> L.Constant:
    """The mask of which the first lanes are on."""
    on = tuple([k < count for k in range(lanes)])
    return L.Constant(f"<{', '.join([f'i1 {int(x)}' for x in on])}>", on)


class Emitter:
    """Makes the statements of one function, over vectors of `lanes` elements. `mask` is set while the last, incomplete vector
    is computed."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.body: list[Any] = []
        self.libm: dict[str, int] = {}  # scalar library functions in use, by number
        self.count = 0
        self.mask: str | None = None
        self.ordinary: set[str] = set()  # values known to be finite and not zero
        self.known: dict[Any, Any] = {}  # intermediate results that another formula at this place may use again

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def made(self, kind: type, *fields: Any) -> str:
        """Add a statement that makes something; the name of that."""
        self.count += 1
        to = f"%v{self.count}"
        self.body.append(_new(kind, (to, *fields)))
        return to

    @contextmanager
    def inside(self, body: list[Any]) -> Iterator[None]:
        """Add statements to another list meanwhile."""
        before, self.body = self.body, body
        yield
        self.body = before

    def function(self, name: str, parameters: L.Parameters, internal: bool, prologue: Sequence[Any] = ()) -> L.Function:
        """What was made, as a function."""
        return L.Function(name, parameters, (*prologue, *self.body), internal)

    # Values

    def constant(self, value: Any, dtype: str) -> Value:
        if dtype in PART:  # a vector of complex numbers goes where one of real ones does
            return self.complex_constant(value, dtype)  # type: ignore[return-value]
        if dtype in HALVES:
            bits = np.array(value, DTYPES[dtype].dtype).view(np.uint16)
            return Half(self.constant(int(bits), "uint16"), dtype)  # type: ignore[return-value]
        return Value(L.Constant(f"splat ({ELEMENT[dtype]} {literal(value, dtype)})", value), dtype)

    def op(self, name: str, dtype: str, *inputs: str) -> str:
        return self.made(L.Op, name, dtype, self.lanes, inputs)

    def splat(self, scalar: str, dtype: str) -> Value:
        return Value(self.made(L.Spread, dtype, self.lanes, scalar), dtype)

    def first(self, a: Value) -> str:
        return self.made(L.First, a.dtype, self.lanes, a.name)

    def shuffle(self, a: Value, b: Value | None, order: Sequence[int]) -> Value:
        """Lanes of a, or of a and behind them b, by number."""
        return Value(
            self.made(L.Shuffle, a.dtype, self.lanes, a.name, "poison" if b is None else b.name, tuple(order)), a.dtype
        )

    def turned(self, a: Value, by: int) -> Value:
        """The lanes moved round by so many."""
        return self.shuffle(a, None, [(k + by) % self.lanes for k in range(self.lanes)])

    def folded(self, a: Value, combine: Callable[[Emitter, Value, Value], Value]) -> Value:
        """All lanes combined, in every lane: halves, until one is left."""
        width = self.lanes
        while width > 1:
            width //= 2
            a = combine(self, a, self.turned(a, width))
        return a

    def transposed(self, lines: Sequence[Value]) -> list[Value]:
        """As many vectors as they have lanes, transposed: in each step, halves of pairs change places."""
        lines, lanes, by = list(lines), self.lanes, 1
        while by < lanes:
            upper = [k if not k & by else lanes + k - by for k in range(lanes)]
            lower = [k + by if not k & by else lanes + k for k in range(lanes)]
            for i in range(lanes):
                if not i & by:
                    a, b = lines[i], lines[i + by]
                    lines[i], lines[i + by] = self.shuffle(a, b, upper), self.shuffle(a, b, lower)
            by *= 2
        return lines

    def operation(self, name: str, a: Value, b: Value) -> Value:
        return Value(self.op(name, a.dtype, a.name, b.name), a.dtype)

    def _wide(self, a: Value, b: Any) -> Value:
        return b if isinstance(b, Value) else self.constant(b, a.dtype)

    def add(self, a: Any, b: Any) -> Value:
        a = a if isinstance(a, Value) else self.constant(a, b.dtype)
        return self.operation("fadd" if a.kind == "f" else "add", a, self._wide(a, b))

    def subtract(self, a: Any, b: Any) -> Value:
        a = a if isinstance(a, Value) else self.constant(a, b.dtype)
        return self.operation("fsub" if a.kind == "f" else "sub", a, self._wide(a, b))

    def multiply(self, a: Any, b: Any) -> Value:
        a = a if isinstance(a, Value) else self.constant(a, b.dtype)
        return self.operation("fmul" if a.kind == "f" else "mul", a, self._wide(a, b))

    def divide(self, a: Any, b: Any) -> Value:
        a = a if isinstance(a, Value) else self.constant(a, b.dtype)
        return self.operation("fdiv", a, self._wide(a, b))

    def bitwise(self, name: str, a: Value, b: Any) -> Value:
        return self.operation(name, a, self._wide(a, b))

    def negative(self, a: Value) -> Value:
        if a.kind == "f":
            made = Value(self.op("fneg", a.dtype, a.name), a.dtype)
            self.known["negative", made.name] = a
            return made
        return self.subtract(self.constant(0, a.dtype), a)

    def compare(self, relation: str, a: Value, b: Any) -> Value:
        """relation: eq ne lt le gt ge, ordered for floats (ne: unordered), or uno."""
        b = self._wide(a, b)
        if a.kind == "f":
            name = "fcmp " + ({"ne": "une", "uno": "uno"}.get(relation) or f"o{relation}")
        else:
            name = "icmp " + (relation if relation in ("eq", "ne") else ("s" if a.kind == "i" else "u") + relation)
        return Value(self.op(name, a.dtype, a.name, b.name), "bool")

    def select(self, condition: Value, a: Any, b: Any) -> Value:
        if isinstance(a, Half):
            return Half(self.select(condition, a.bits, b.bits), a.dtype)  # type: ignore[return-value]
        model = a if isinstance(a, Value) else b
        a, b = self._wide(model, a), self._wide(model, b)
        return Value(self.op("select", a.dtype, condition.name, a.name, b.name), a.dtype)

    def both(self, a: Value, b: Value) -> Value:
        return self.operation("and", a, b)

    def either(self, a: Value, b: Value) -> Value:
        return self.operation("or", a, b)

    def invert(self, a: Value) -> Value:
        return self.operation("xor", a, self.constant(-1 if a.dtype != "bool" else True, a.dtype))

    def intrinsic(self, name: str, *arguments: Value) -> Value:
        """llvm.<name> on floating vectors."""
        return Value(self.op(f"llvm.{name}", arguments[0].dtype, *[x.name for x in arguments]), arguments[0].dtype)

    def fma(self, a: Value, b: Any, c: Any) -> Value:
        return self.intrinsic("fma", a, self._wide(a, b), self._wide(a, c))

    def ldexp(self, a: Value, n: Value) -> Value:
        """a 2**n for integers n of a's width, rounded once."""
        return Value(self.op("llvm.ldexp", a.dtype, a.name, n.name), a.dtype)

    def polynomial(self, x: Value, coefficients: tuple[float, ...]) -> Value:
        """By Horner's rule, the highest coefficient first."""
        result = self.constant(coefficients[0], x.dtype)
        for c in coefficients[1:]:
            result = self.fma(result, x, c)
        return result

    def absolute(self, a: Value) -> Value:
        return self.intrinsic("fabs", a)

    def copysign(self, size: Value, sign: Value) -> Value:
        return self.intrinsic("copysign", size, sign)

    def conversion(self, op: str, a: Value, dtype: str) -> Value:
        return Value(self.made(L.Cast, op, a.dtype, dtype, self.lanes, a.name), dtype)

    def bits(self, a: Value) -> Value:
        """A float's bits as an integer."""
        return self.conversion("bitcast", a, BITS_OF[a.dtype])

    def from_bits(self, a: Value) -> Value:
        return self.conversion("bitcast", a, "float32" if a.dtype == "int32" else "float64")

    def shift(self, name: str, a: Value, by: int) -> Value:
        """name: shl, lshr or ashr."""
        return self.operation(name, a, self.constant(by, a.dtype))

    def cast(self, a: Any, dtype: str) -> Value:
        """NumPy's conversion. Floats out of an integer's range, undefined in LLVM, become the least integer, as on x86."""
        if a.dtype == dtype:
            return a  # type: ignore[no-any-return]
        if dtype in PART or a.dtype in PART:
            return self.cast_complex(a, dtype)  # type: ignore[no-any-return]
        to = Value("", dtype)
        if dtype == "bool":
            return self.compare("ne", a, 0)
        if a.kind == "f" and to.kind != "f":
            least = -(1 << (8 * ITEMSIZE[dtype] - 1))
            fits = self.both(self.compare("ge", a, float(least)), self.compare("lt", a, -float(least)))
            return self.select(fits, self.conversion("fptosi", self.select(fits, a, 0.0), dtype), least)
        if a.kind == "f":
            name = "fpext" if dtype == "float64" else "fptrunc"
        elif to.kind == "f":
            name = "sitofp" if a.kind == "i" else "uitofp"
        else:
            small = 0 if a.dtype == "bool" else ITEMSIZE[a.dtype]
            if small == ITEMSIZE[dtype]:
                return Value(a.name, dtype)
            name = "trunc" if small > ITEMSIZE[dtype] else "sext" if a.kind == "i" else "zext"
        return self.conversion(name, a, dtype)

    # Complex numbers

    def complex_constant(self, value: Any, dtype: str) -> Complex:
        number, part = complex(value), PART[dtype]
        return Complex(self.constant(number.real, part), self.constant(number.imag, part), dtype)

    def choose_complex(self, condition: Value, a: Any, b: Any) -> Complex:
        """One of two vectors of complex numbers, or of a number and one, lane by lane."""
        dtype = a.dtype if isinstance(a, Complex) else b.dtype
        a, b = [x if isinstance(x, Complex) else self.complex_constant(x, dtype) for x in (a, b)]
        return Complex(self.select(condition, a.re, b.re), self.select(condition, a.im, b.im), dtype)

    def cast_complex(self, a: Value | Complex, dtype: str) -> Any:
        """NumPy's conversion from or to complex numbers; to a real number the real part."""
        if not isinstance(a, Complex):
            return Complex(self.cast(a, PART[dtype]), self.constant(0.0, PART[dtype]), dtype)
        if dtype in PART:
            return Complex(self.cast(a.re, PART[dtype]), self.cast(a.im, PART[dtype]), dtype)
        if dtype == "bool":
            return self.either(self.cast(a.re, "bool"), self.cast(a.im, "bool"))
        return self.cast(a.re, dtype)

    def _parts(self, offset: str, stride: int | str) -> tuple[str, str, int | str]:
        """Where both parts of an element are, and the stride from one element's to the next's."""
        if isinstance(stride, str):
            steps = Value(stride, "int64")
            stride = self.add(steps, steps).name
        else:
            stride = 2 * stride if self.lanes > 1 else 1
        start = self.times(offset, 2)
        return start, self.plus(start, 1), stride

    def load_complex(self, pointer: str, offset: str, dtype: str, stride: int | str) -> Complex:
        """As `load`: of elements that lie together whole vectors are read, and their lanes sorted."""
        part, lanes = PART[dtype], self.lanes
        re, im, steps = self._parts(offset, stride)
        if stride == 1 and self.mask is None and lanes > 1:
            a, b = self.load(pointer, re, part, 1), self.load(pointer, self.plus(re, lanes), part, 1)
            even, odd = range(0, 2 * lanes, 2), range(1, 2 * lanes, 2)
            return Complex(self.shuffle(a, b, even), self.shuffle(a, b, odd), dtype)
        return Complex(self.load(pointer, re, part, steps), self.load(pointer, im, part, steps), dtype)

    def store_complex(self, a: Complex, pointer: str, offset: str, stride: int | str) -> None:
        """As `store`."""
        lanes = self.lanes
        re, im, steps = self._parts(offset, stride)
        if stride == 1 and self.mask is None and lanes > 1:
            for first in (0, lanes // 2):
                order = [k for i in range(first, first + lanes // 2) for k in (i, lanes + i)]
                self.store(self.shuffle(a.re, a.im, order), pointer, re)
                re = self.plus(re, lanes)
            return
        self.store(a.re, pointer, re, steps)
        self.store(a.im, pointer, im, steps)

    # Numbers, conditions and pointers

    def index(self, op: str, a: str, b: str | int) -> str:
        """A number of two: add, sub, mul, udiv, urem, and, umin, maybe with LLVM's flags."""
        return self.made(L.Op, op if op != "umin" else "llvm.umin", "i64", 0, (a, str(b)))

    def plus(self, a: str, b: str | int) -> str:
        return self.index("add", a, b)

    def times(self, a: str, b: str | int) -> str:
        return self.index("mul", a, b)

    def test(self, relation: str, a: str, b: str | int) -> str:
        """Whether two numbers are related so: eq ne slt ule ult ..."""
        return self.made(L.Op, f"icmp {relation}", "i64", 0, (a, str(b)))

    def all_of(self, a: str, b: str) -> str:
        return self.made(L.Op, "and", "i1", 0, (a, b))

    def aligned(self, pointer: str) -> str:
        """Whether an array begins where a line of the caches does."""
        return self.made(L.Aligned, pointer)

    def apart(self, a: str, b: str) -> str:
        """Whether two pointers differ."""
        return self.made(L.Apart, a, b)

    def choose(self, condition: str, a: str, b: str) -> str:
        """A number by a condition."""
        return self.made(L.Op, "select", "i64", 0, (condition, a, b))

    def argument(self, position: int | str) -> str:
        """The number at a position of the unit's block."""
        return self.made(L.Argument, position)

    def array(self, position: int | str, what: Any = None) -> str:
        """The pointer in the run's table whose position stands in the unit's block."""
        return self.made(L.Array, position, what)

    def entry(self, table: str, position: str | int) -> str:
        """A pointer from a table: %table, or %own, of the thread that runs."""
        return self.made(L.Entry, table, str(position))

    def at(self, pointer: str, offset: str | int, element: str) -> str:
        """The pointer so many elements (as LLVM names them) further."""
        return self.made(L.At, pointer, element, str(offset))

    def read_number(self, pointer: str, narrow: str = "i64", signed: bool = True) -> str:
        """An integer in memory."""
        found = self.made(L.Load, pointer, "0", narrow, 0, 1, None)
        return found if narrow == "i64" else self.made(L.Cast, "sext" if signed else "zext", narrow, "i64", 0, found)

    def note(self, kind: str, value: str, pointer: str) -> None:
        """Write a number to memory."""
        self.body.append(L.Store(value, pointer, "0", kind, 0, 1, None))

    def call(self, function: str, inputs: Sequence[tuple[str, str]], result: str = "void") -> str:
        """Call a function; what it gives, if it gives something."""
        to = "" if result == "void" else self.fresh()
        self.body.append(L.Call(to, result, function, tuple(inputs)))
        return to

    # Memory

    @contextmanager
    def masked(self, mask: str | None) -> Iterator[None]:
        """Read and write the lanes of a mask only meanwhile; all with None."""
        before, self.mask = self.mask, mask
        yield
        self.mask = before

    def load_scalar(self, pointer: str, offset: str, dtype: str) -> Value:
        """One element as a splat."""
        if dtype in PART:
            re = self.times(offset, 2)
            im = self.plus(re, 1)
            real, imaginary = self.load_scalar(pointer, re, PART[dtype]), self.load_scalar(pointer, im, PART[dtype])
            return Complex(real, imaginary, dtype)  # type: ignore[return-value]
        if dtype in HALVES:
            return Half(self.load_scalar(pointer, offset, "uint16"), dtype)  # type: ignore[return-value]
        return Value(self.made(L.Single, pointer, offset, dtype, self.lanes), dtype)

    def load(self, pointer: str, offset: str, dtype: str, stride: int | str) -> Value:
        """A vector of elements at a stride from an offset; under the mask, zeros where it is off. A stride may be a vector of
        the elements' offsets, too."""
        if dtype in PART:
            return self.load_complex(pointer, offset, dtype, stride)  # type: ignore[return-value]
        if dtype in HALVES:
            return Half(self.load(pointer, offset, "uint16", stride), dtype)  # type: ignore[return-value]
        if stride == -1 and self.mask is None and self.lanes > 1:  # one vector, turned around
            lying = self.load(pointer, self.plus(offset, 1 - self.lanes), dtype, 1)
            return self.shuffle(lying, None, range(self.lanes - 1, -1, -1))
        return Value(self.made(L.Load, pointer, offset, dtype, self.lanes, stride, self.mask), dtype)

    def store(self, a: Any, pointer: str, offset: str, stride: int | str = 1, streamed: bool = False) -> None:
        """The vector at a stride from an offset, lanes under the mask only; past the caches if it is `streamed`."""
        if isinstance(a, Complex):
            self.store_complex(a, pointer, offset, stride)
            return
        if isinstance(a, Half):
            a = a.bits
        self.body.append(_new(L.Store, (a.name, pointer, offset, a.dtype, self.lanes, stride, self.mask, streamed)))

    def store_scalar(self, a: Any, pointer: str, offset: str) -> None:
        """The first element."""
        if isinstance(a, Complex):
            re = self.times(offset, 2)
            self.store_scalar(a.re, pointer, re)
            self.store_scalar(a.im, pointer, self.plus(re, 1))
            return
        if isinstance(a, Half):
            a = a.bits
        self.body.append(L.StoreFirst(a.name, pointer, offset, a.dtype, self.lanes))

    def below(self, count: str) -> str:
        """The mask of the lanes whose number is below an i64."""
        return self.made(L.Below, self.lanes, count)

    def multiples(self, number: str) -> str:
        """The first multiples of an i64, from 0."""
        return self.made(L.Multiples, self.lanes, number)

    def fence(self) -> None:
        """Let other threads see what was streamed."""
        self.body.append(L.Fence())

    def prefetch(self, pointer: str) -> None:
        """Bring a line of memory into the caches, if the address is one."""
        self.body.append(L.Prefetch(pointer))

    def allocate(self, dtype: str, lanes: int) -> str:
        """A variable: a vector, or with 0 lanes a pointer (ptr) or a number (i64)."""
        return self.made(L.Variable, dtype, lanes)

    def variable(self, initial: Value) -> str:
        """A vector that may change."""
        slot = self.allocate(initial.dtype, self.lanes)
        self.set(slot, initial)
        return slot

    def set(self, slot: str, a: Value) -> None:
        self.body.append(_new(L.Set, (slot, a.name, a.dtype, self.lanes)))

    def get(self, slot: str, dtype: str) -> Value:
        return Value(self.made(L.Get, slot, dtype, self.lanes), dtype)

    def lane(self, slot: str, dtype: str, held: int, number: str) -> Value:
        """A lane of a variable of so many, as a splat."""
        return Value(self.made(L.Lane, slot, number, dtype, held, self.lanes), dtype)

    # Control

    @contextmanager
    def loop(self, start: str, stop: str, step: int | str) -> Iterator[str]:
        """i = start, start + step, ... while below stop; at least once."""
        i, body = self.fresh(), list[Any]()
        with self.inside(body):
            yield i
        self.body.append(L.For(i, start, stop, str(step), tuple(body)))

    @contextmanager
    def repeat(self, limit: str) -> Iterator[tuple[str, str]]:
        """i = 0, 1, ... while below a limit, maybe never, and how often it was done. `leave_unless` ends it."""
        i, done, body = self.fresh(), self.fresh(), list[Any]()
        with self.inside(body):
            yield i, done
        self.body.append(L.Repeat(i, limit, tuple(body), done))

    def leave_unless(self, condition: str) -> None:
        """End the `repeat` around unless an i1 is true."""
        self.body.append(L.Leave(condition))

    @contextmanager
    def when(self, *conditions: str | None) -> Iterator[None]:
        """Run the body if all i1 are true, of those that there are."""
        body: list[Any] = []
        with self.inside(body):
            yield
        for condition in reversed(conditions):
            body = body if condition is None else [L.When(condition, tuple(body))]
        self.body += body

    def any_lane(self, condition: Value) -> str:
        """Whether a condition holds in some lane."""
        return self.made(L.AnyLane, self.lanes, condition.name)

    @contextmanager
    def when_any(self, condition: Value) -> Iterator[None]:
        """Run the body if the condition holds in some lane."""
        with self.when(self.any_lane(condition)):
            yield

    def library(self, name: str, *arguments: Value) -> Value:
        """A scalar function of the C library applied lane by lane; float32 has its own (`sinf`)."""
        dtype = arguments[0].dtype
        name += "f" if dtype == "float32" else ""
        position = self.libm.setdefault(name, len(self.libm))
        return Value(
            self.made(L.Library, name, f"%libm{position}", dtype, self.lanes, tuple([x.name for x in arguments])), dtype
        )
