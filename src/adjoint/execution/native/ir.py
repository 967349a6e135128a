"""LLVM IR, written as text: vector values, arithmetic on them, loops.

An `Emitter` writes one function. Every value is a vector of `lanes` elements, also where a single number would do: that
keeps the formulas in `vector_math` free of cases. Loop counters and accumulators live on the stack; LLVM's SROA pass
puts them into registers, which spares the emitter all phi nodes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

# adjoint's dtypes as LLVM's element types; integers have no sign there. A bool is i1 in registers, i8 in memory.
ELEMENT = {
    "float32": "float", "float64": "double", "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64",
}  # fmt: skip
SUFFIX = {"float32": "f32", "float64": "f64", "bool": "i1"}
ITEMSIZE = {"float32": 4, "float64": 8, "bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1,
            "uint16": 2, "uint32": 4, "uint64": 8}  # fmt: skip
BITS_OF = {"float32": "int32", "float64": "int64"}


class Value(NamedTuple):
    """A vector in the function being written: its name there and the dtype of its elements."""

    name: str
    dtype: str

    @property
    def kind(self) -> str:
        return {"f": "f", "b": "b", "i": "i", "u": "u"}[self.dtype[0]]


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


class Emitter:
    """Writes one function over vectors of `lanes` elements. `mask` is set while the last, incomplete vector is written."""

    def __init__(self, lanes: int, declarations: set[str], libm: dict[str, int]) -> None:
        self.lanes = lanes
        self.lines: list[str] = []
        self.allocations: list[str] = []
        self.declarations = declarations
        self.libm = libm  # scalar library functions in use, by position in the table
        self.count = 0
        self.mask: str | None = None
        self.known: dict[Any, Any] = {}  # intermediate results that another formula at this place may use again

    # Text

    def fresh(self, stem: str = "v") -> str:
        self.count += 1
        return f"%{stem}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def assign(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def type(self, dtype: str) -> str:
        return f"<{self.lanes} x {ELEMENT[dtype]}>"

    def allocate(self, type: str) -> str:
        name = self.fresh("slot")
        self.allocations.append(f"  {name} = alloca {type}, align 64")
        return name

    # Values

    def constant(self, value: Any, dtype: str) -> Value:
        return Value(f"splat ({ELEMENT[dtype]} {literal(value, dtype)})", dtype)

    def splat(self, scalar: str, dtype: str) -> Value:
        vector = self.type(dtype)
        one = self.assign(f"insertelement {vector} poison, {ELEMENT[dtype]} {scalar}, i64 0")
        return Value(
            self.assign(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer"), dtype
        )

    def first(self, a: Value) -> str:
        return self.assign(f"extractelement {self.type(a.dtype)} {a.name}, i64 0")

    def operation(self, name: str, a: Value, b: Value) -> Value:
        return Value(self.assign(f"{name} {self.type(a.dtype)} {a.name}, {b.name}"), a.dtype)

    def _wide(self, a: Value, b: Any) -> Value:
        return b if isinstance(b, Value) else self.constant(b, a.dtype)

    def add(self, a: Value, b: Any) -> Value:
        return self.operation("fadd" if a.kind == "f" else "add", a, self._wide(a, b))

    def subtract(self, a: Any, b: Any) -> Value:
        a = a if isinstance(a, Value) else self.constant(a, b.dtype)
        return self.operation("fsub" if a.kind == "f" else "sub", a, self._wide(a, b))

    def multiply(self, a: Value, b: Any) -> Value:
        return self.operation("fmul" if a.kind == "f" else "mul", a, self._wide(a, b))

    def divide(self, a: Any, b: Value) -> Value:
        a = a if isinstance(a, Value) else self.constant(a, b.dtype)
        return self.operation("fdiv", a, b)

    def bitwise(self, name: str, a: Value, b: Any) -> Value:
        return self.operation(name, a, self._wide(a, b))

    def negative(self, a: Value) -> Value:
        if a.kind == "f":
            return Value(self.assign(f"fneg {self.type(a.dtype)} {a.name}"), a.dtype)
        return self.subtract(self.constant(0, a.dtype), a)

    def compare(self, relation: str, a: Value, b: Any) -> Value:
        """relation: eq ne lt le gt ge, ordered for floats (ne: unordered), or uno."""
        b = self._wide(a, b)
        if a.kind == "f":
            predicate = {"ne": "une", "uno": "uno"}.get(relation, f"o{relation}")
            return Value(self.assign(f"fcmp {predicate} {self.type(a.dtype)} {a.name}, {b.name}"), "bool")
        if relation not in ("eq", "ne"):
            relation = ("s" if a.kind == "i" else "u") + relation
        return Value(self.assign(f"icmp {relation} {self.type(a.dtype)} {a.name}, {b.name}"), "bool")

    def select(self, condition: Value, a: Any, b: Any) -> Value:
        model = a if isinstance(a, Value) else b
        a, b = self._wide(model, a), self._wide(model, b)
        vector = self.type(a.dtype)
        return Value(
            self.assign(f"select <{self.lanes} x i1> {condition.name}, {vector} {a.name}, {vector} {b.name}"), a.dtype
        )

    def both(self, a: Value, b: Value) -> Value:
        return self.operation("and", a, b)

    def either(self, a: Value, b: Value) -> Value:
        return self.operation("or", a, b)

    def invert(self, a: Value) -> Value:
        return self.operation("xor", a, self.constant(-1 if a.dtype != "bool" else True, a.dtype))

    def intrinsic(self, name: str, *arguments: Value) -> Value:
        """llvm.<name> on floating vectors."""
        dtype = arguments[0].dtype
        vector = self.type(dtype)
        full = f"@llvm.{name}.v{self.lanes}{SUFFIX[dtype]}"
        self.declarations.add(f"declare {vector} {full}({', '.join([vector] * len(arguments))})")
        given = ", ".join(f"{vector} {x.name}" for x in arguments)
        return Value(self.assign(f"call {vector} {full}({given})"), dtype)

    def fma(self, a: Value, b: Any, c: Any) -> Value:
        return self.intrinsic("fma", a, self._wide(a, b), self._wide(a, c))

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

    def bits(self, a: Value) -> Value:
        """A float's bits as an integer."""
        dtype = BITS_OF[a.dtype]
        return Value(self.assign(f"bitcast {self.type(a.dtype)} {a.name} to {self.type(dtype)}"), dtype)

    def from_bits(self, a: Value) -> Value:
        dtype = "float32" if a.dtype == "int32" else "float64"
        return Value(self.assign(f"bitcast {self.type(a.dtype)} {a.name} to {self.type(dtype)}"), dtype)

    def shift(self, name: str, a: Value, by: int) -> Value:
        """name: shl, lshr or ashr."""
        return self.operation(name, a, self.constant(by, a.dtype))

    def cast(self, a: Value, dtype: str) -> Value:
        """NumPy's conversion. Floats to integers are not among them: those out of range are undefined in LLVM."""
        if a.dtype == dtype:
            return a
        to = Value("", dtype)
        if dtype == "bool":
            return self.compare("ne", a, 0)
        if a.kind == "f":
            assert to.kind == "f"
            name = "fpext" if dtype == "float64" else "fptrunc"
        elif to.kind == "f":
            name = "sitofp" if a.kind == "i" else "uitofp"
        else:
            small = 0 if a.dtype == "bool" else ITEMSIZE[a.dtype]
            if small == ITEMSIZE[dtype]:
                return Value(a.name, dtype)
            name = "trunc" if small > ITEMSIZE[dtype] else "sext" if a.kind == "i" else "zext"
        return Value(self.assign(f"{name} {self.type(a.dtype)} {a.name} to {self.type(dtype)}"), dtype)

    # Memory

    def address(self, pointer: str, offset: str, dtype: str) -> str:
        memory = "i8" if dtype == "bool" else ELEMENT[dtype]
        return self.assign(f"getelementptr {memory}, ptr {pointer}, i64 {offset}")

    def load_scalar(self, pointer: str, offset: str, dtype: str) -> Value:
        """One element as a splat."""
        where = self.address(pointer, offset, dtype)
        if dtype == "bool":
            byte = self.assign(f"load i8, ptr {where}")
            return self.splat(self.assign(f"icmp ne i8 {byte}, 0"), dtype)
        return self.splat(self.assign(f"load {ELEMENT[dtype]}, ptr {where}"), dtype)

    def load(self, pointer: str, offset: str, dtype: str, stride: int | str) -> Value:
        """A vector of elements at a stride from an offset; under the mask, zeros where it is off. A stride may be a vector of
        the elements' offsets, too."""
        where = self.address(pointer, offset, dtype)
        memory = "uint8" if dtype == "bool" else dtype
        vector, size = self.type(memory), ITEMSIZE[dtype]
        if stride == 1:
            if self.mask is None:
                loaded = Value(self.assign(f"load {vector}, ptr {where}, align {size}"), memory)
            else:
                full = f"@llvm.masked.load.v{self.lanes}{self._short(memory)}.p0"
                mask = f"<{self.lanes} x i1>"
                self.declarations.add(f"declare {vector} {full}(ptr, i32, {mask}, {vector})")
                loaded = Value(
                    self.assign(
                        f"call {vector} {full}(ptr {where}, i32 {size}, {mask} {self.mask}, {vector} zeroinitializer)"
                    ),
                    memory,
                )
        else:
            steps = self._steps(stride)
            pointers = self.assign(f"getelementptr {ELEMENT[memory]}, ptr {where}, <{self.lanes} x i64> {steps}")
            full = f"@llvm.masked.gather.v{self.lanes}{self._short(memory)}.v{self.lanes}p0"
            mask = f"<{self.lanes} x i1>"
            self.declarations.add(f"declare {vector} {full}(<{self.lanes} x ptr>, i32, {mask}, {vector})")
            chosen = self.mask or "splat (i1 true)"
            given = f"<{self.lanes} x ptr> {pointers}, i32 {size}, {mask} {chosen}, {vector} zeroinitializer"
            loaded = Value(self.assign(f"call {vector} {full}({given})"), memory)
        return self.compare("ne", loaded, 0) if dtype == "bool" else loaded

    def _steps(self, stride: int | str) -> str:
        if type(stride) is str:
            return stride
        return "<" + ", ".join([f"i64 {k * int(stride)}" for k in range(self.lanes)]) + ">"

    def store(self, a: Value, pointer: str, offset: str, stride: int | str = 1) -> None:
        """The vector at a stride from an offset, lanes under the mask only."""
        where = self.address(pointer, offset, a.dtype)
        if a.dtype == "bool":
            a = self.cast(a, "uint8")
        vector, size = self.type(a.dtype), ITEMSIZE[a.dtype]
        if stride == 1 and self.mask is None:
            self.line(f"store {vector} {a.name}, ptr {where}, align {size}")
            return
        mask = f"<{self.lanes} x i1>"
        chosen = self.mask or "splat (i1 true)"
        if stride == 1:
            full = f"@llvm.masked.store.v{self.lanes}{self._short(a.dtype)}.p0"
            self.declarations.add(f"declare void {full}({vector}, ptr, i32, {mask})")
            self.line(f"call void {full}({vector} {a.name}, ptr {where}, i32 {size}, {mask} {chosen})")
            return
        pointers = self.assign(
            f"getelementptr {ELEMENT[a.dtype]}, ptr {where}, <{self.lanes} x i64> {self._steps(stride)}"
        )
        full = f"@llvm.masked.scatter.v{self.lanes}{self._short(a.dtype)}.v{self.lanes}p0"
        self.declarations.add(f"declare void {full}({vector}, <{self.lanes} x ptr>, i32, {mask})")
        self.line(f"call void {full}({vector} {a.name}, <{self.lanes} x ptr> {pointers}, i32 {size}, {mask} {chosen})")

    def store_scalar(self, a: Value, pointer: str, offset: str) -> None:
        """The first element."""
        where = self.address(pointer, offset, a.dtype)
        if a.dtype == "bool":
            a = self.cast(a, "uint8")
        self.line(f"store {ELEMENT[a.dtype]} {self.first(a)}, ptr {where}")

    def below(self, count: str) -> str:
        """The mask of the lanes whose number is below an i64."""
        numbers = f"<{self.lanes} x i64>"
        one = self.assign(f"insertelement {numbers} poison, i64 {count}, i64 0")
        limit = self.assign(f"shufflevector {numbers} {one}, {numbers} poison, <{self.lanes} x i32> zeroinitializer")
        steps = ", ".join(f"i64 {k}" for k in range(self.lanes))
        return self.assign(f"icmp ult {numbers} <{steps}>, {limit}")

    def multiples(self, number: str) -> str:
        """The first multiples of an i64, from 0."""
        kind = f"<{self.lanes} x i64>"
        one = self.assign(f"insertelement {kind} poison, i64 {number}, i64 0")
        every = self.assign(f"shufflevector {kind} {one}, {kind} poison, <{self.lanes} x i32> zeroinitializer")
        return self.assign(f"mul {kind} {every}, <{', '.join([f'i64 {k}' for k in range(self.lanes)])}>")

    def prefetch(self, pointer: str) -> None:
        """Bring a line of memory into the caches, if the address is one."""
        self.declarations.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        self.line(f"call void @llvm.prefetch.p0(ptr {pointer}, i32 0, i32 3, i32 1)")

    def variable(self, initial: Value) -> str:
        """A vector on the stack."""
        slot = self.allocate(self.type(initial.dtype))
        self.set(slot, initial)
        return slot

    def set(self, slot: str, a: Value) -> None:
        self.line(f"store {self.type(a.dtype)} {a.name}, ptr {slot}")

    def get(self, slot: str, dtype: str) -> Value:
        return Value(self.assign(f"load {self.type(dtype)}, ptr {slot}"), dtype)

    def _short(self, dtype: str) -> str:
        return SUFFIX.get(dtype) or f"i{ITEMSIZE[dtype] * 8}"

    # Control

    @contextmanager
    def loop(self, start: str, stop: str, step: int | str) -> Iterator[str]:
        """i = start, start + step, ... while below stop; at least once."""
        counter = self.allocate("i64")
        head, after = self.fresh("loop")[1:], self.fresh("after")[1:]
        self.line(f"store i64 {start}, ptr {counter}")
        self.line(f"br label %{head}")
        self.label(head)
        i = self.assign(f"load i64, ptr {counter}")
        yield i
        following = self.assign(f"add nuw nsw i64 {i}, {step}")
        self.line(f"store i64 {following}, ptr {counter}")
        again = self.assign(f"icmp slt i64 {following}, {stop}")
        self.line(f"br i1 {again}, label %{head}, label %{after}")
        self.label(after)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Run the body if an i1 is true."""
        inside, after = self.fresh("inside")[1:], self.fresh("after")[1:]
        self.line(f"br i1 {condition}, label %{inside}, label %{after}")
        self.label(inside)
        yield
        self.line(f"br label %{after}")
        self.label(after)

    @contextmanager
    def when_any(self, condition: Value) -> Iterator[None]:
        """Run the body if the condition holds in some lane."""
        full = f"@llvm.vector.reduce.or.v{self.lanes}i1"
        self.declarations.add(f"declare i1 {full}({self.type('bool')})")
        chosen = self.assign(f"call i1 {full}({self.type('bool')} {condition.name})")
        inside, after = self.fresh("rare")[1:], self.fresh("after")[1:]
        self.line(f"br i1 {chosen}, label %{inside}, label %{after}")
        self.label(inside)
        yield
        self.line(f"br label %{after}")
        self.label(after)

    def library(self, name: str, *arguments: Value) -> Value:
        """A scalar function of the C library applied lane by lane; float32 has its own (`sinf`)."""
        dtype = arguments[0].dtype
        element, vector = ELEMENT[dtype], self.type(dtype)
        position = self.libm.setdefault(name + ("f" if dtype == "float32" else ""), len(self.libm))
        slots = [self.variable(x) for x in arguments]
        result = self.allocate(vector)
        with self.loop("0", str(self.lanes), 1) as i:
            given = []
            for slot in slots:
                where = self.assign(f"getelementptr {element}, ptr {slot}, i64 {i}")
                given.append(f"{element} {self.assign(f'load {element}, ptr {where}')}")
            value = self.assign(f"call {element} %libm{position}({', '.join(given)})")
            where = self.assign(f"getelementptr {element}, ptr {result}, i64 {i}")
            self.line(f"store {element} {value}, ptr {where}")
        return self.get(result, dtype)
