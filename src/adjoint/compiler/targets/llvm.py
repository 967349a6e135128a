"""Loops as LLVM's text, in one walk. Loop counters and variables live on the stack; LLVM's SROA pass puts them into registers,
which spares all phi nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adjoint.compiler.loops import ir as L
from adjoint.runtime import llvm
from adjoint.runtime.code import Source

# adjoint's dtypes as LLVM's element types; integers have no sign there. A bool is i1 in registers, i8 in memory.
ELEMENT = {
    "float32": "float", "float64": "double", "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64",
}  # fmt: skip
SUFFIX = {"float32": "f32", "float64": "f64", "bool": "i1"}
ITEMSIZE = {"float32": 4, "float64": 8, "bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1,
            "uint16": 2, "uint32": 4, "uint64": 8}  # fmt: skip

# Complex numbers are two numbers side by side; registers hold their parts.
PART = {"complex64": "float32", "complex128": "float64"}

# Numbers of 16 bits are stored, moved and converted, nothing else.
HALVES = frozenset(("float16", "bfloat16"))
ELEMENT |= dict.fromkeys(HALVES, "i16")
BYTES = {**ITEMSIZE, **{dtype: 2 * ITEMSIZE[part] for dtype, part in PART.items()}, **dict.fromkeys(HALVES, 2)}


def short(dtype: str) -> str:
    """A dtype in the name of an intrinsic."""
    return SUFFIX.get(dtype) or f"i{ITEMSIZE[dtype] * 8}"


def vector(dtype: str, lanes: int) -> str:
    return f"<{lanes} x {ELEMENT[dtype]}>" if lanes else dtype


def memory(dtype: str) -> str:
    return "i8" if dtype == "bool" else ELEMENT[dtype]


class Rendering:
    """The text of one function."""

    def __init__(self, declarations: set[str]) -> None:
        self.declarations = declarations
        self.allocations: list[str] = []
        self.lines: list[str] = []
        self.blends = llvm.has_blends()
        self.leave = ""  # where what is repeated ends
        self.masks: dict[str, str] = {}  # conditions on single numbers of a dtype that are bits of a register, too

    def statements(self, body: Iterable[Any]) -> None:
        for s in body:
            RENDER[s.__class__](self, s)

    def out(self, text: str) -> None:
        self.lines.append(f"  {text}")


def render(function: L.Function, declarations: set[str]) -> str:
    """A function's text; what it declares is added to `declarations`."""
    r = Rendering(declarations)
    r.statements(function.body)
    kind = "internal " if function.internal else ""
    parameters = ", ".join([f"{type_} {name}" for type_, name in function.parameters])
    head = f"define {kind}{'i64' if function.result else 'void'} @${function.name}({parameters}) #0 {{"
    end = f"  ret i64 {function.result}" if function.result else "  ret void"
    return "\n".join([head, "entry:", *r.allocations, *r.lines, end, "}"])


def lines_of(body: Iterable[Any]) -> list[str]:
    """The lines of statements, without what they declare."""
    r = Rendering(set())
    r.statements(body)
    return r.lines


def source_of(functions: Iterable[L.Function], names: Iterable[str]) -> Source:
    """The source of functions, of which those with these names are called from outside."""
    declarations: set[str] = set()
    text = "\n".join([render(function, declarations) for function in functions])
    return Source(text, frozenset(declarations), tuple(names))


def _aligned(r: Rendering, s: L.Aligned) -> None:
    r.lines += [
        f"  {s.to}.address = ptrtoint ptr {s.pointer} to i64", f"  {s.to}.rest = and i64 {s.to}.address, {LINE - 1}",
        f"  {s.to} = icmp eq i64 {s.to}.rest, 0",
    ]  # fmt: skip


def _argument(r: Rendering, s: L.Argument) -> None:
    r.lines += [f"  {s.to}.at = getelementptr i64, ptr %args, i64 {s.position}", f"  {s.to} = load i64, ptr {s.to}.at"]


def _array(r: Rendering, s: L.Array) -> None:
    to = s.to
    r.lines += [
        f"  {to}.block = getelementptr i64, ptr %args, i64 {s.position}", f"  {to}.place = load i64, ptr {to}.block",
        f"  {to}.at = getelementptr ptr, ptr %table, i64 {to}.place", f"  {to} = load ptr, ptr {to}.at",
    ]  # fmt: skip


def _entry(r: Rendering, s: L.Entry) -> None:
    if s.position == "0":
        r.lines.append(f"  {s.to} = load ptr, ptr {s.table}")
        return
    r.lines += [
        f"  {s.to}.at = getelementptr ptr, ptr {s.table}, i64 {s.position}",
        f"  {s.to} = load ptr, ptr {s.to}.at",
    ]


# Choices among single numbers on x86. With AVX-512 LLVM compares into a mask and moves under that, which takes ten cycles, and
# without it may jump. Compared into a register for numbers, and blended by its bits, a choice takes three.
COMPARISONS = {"fcmp oeq": (0, 1, 0), "fcmp olt": (0, 1, 1), "fcmp ole": (0, 1, 2), "fcmp uno": (0, 1, 3),
               "fcmp une": (0, 1, 4), "fcmp ogt": (1, 0, 1), "fcmp oge": (1, 0, 2)}  # fmt: skip
WIDE = {"float32": (4, "<4 x float>", "sse.cmp.ss", "sse41.blendvps"),
        "float64": (2, "<2 x double>", "sse2.cmp.sd", "sse41.blendvpd")}  # fmt: skip


def _wide(r: Rendering, x: str, dtype: str, to: str) -> str:
    """A single number as the first of a register of them."""
    if isinstance(x, L.Constant):
        return x
    one, lanes = f"<1 x {ELEMENT[dtype]}>", WIDE[dtype][0]
    order = ", ".join(["i32 0", *["i32 poison"] * (lanes - 1)])
    r.lines.append(f"  {to} = shufflevector {one} {x}, {one} poison, <{lanes} x i32> <{order}>")
    return to


def _mask(r: Rendering, s: L.Op) -> None:
    """A condition as bits of a register: a comparison of floats, or whether both or one of two such conditions hold."""
    if s.dtype in WIDE and s.op in COMPARISONS:
        _, kind, compare, _ = WIDE[s.dtype]
        a, b, number = COMPARISONS[s.op]
        given = [_wide(r, x, s.dtype, f"{s.to}.c{k}") for k, x in enumerate(s.inputs)]
        r.declarations.add(f"declare {kind} @llvm.x86.{compare}({kind}, {kind}, i8)")
        r.out(f"{s.to}.mask = call {kind} @llvm.x86.{compare}({kind} {given[a]}, {kind} {given[b]}, i8 {number})")
        r.masks[s.to] = s.dtype
    elif s.op in ("and", "or") and s.inputs[0] in r.masks and r.masks[s.inputs[0]] == r.masks.get(s.inputs[1]):
        dtype = r.masks[s.to] = r.masks[s.inputs[0]]
        first, second = [f"{x}.mask" for x in s.inputs]
        no, yes = ("zeroinitializer", first) if s.op == "and" else (first, second)
        _blended(r, f"{s.to}.mask", dtype, no, yes, second)


def _blend(r: Rendering, s: L.Op) -> None:
    """One of two single numbers by a condition."""
    condition, *given = s.inputs
    yes, no = [_wide(r, x, s.dtype, f"{s.to}.v{k}") for k, x in enumerate(given)]
    _blended(r, f"{s.to}.all", s.dtype, no, yes, f"{condition}.mask")
    kind = WIDE[s.dtype][1]
    r.out(f"{s.to} = shufflevector {kind} {s.to}.all, {kind} poison, <1 x i32> zeroinitializer")


def _blended(r: Rendering, to: str, dtype: str, no: str, yes: str, mask: str) -> None:
    _, kind, _, blend = WIDE[dtype]
    r.declarations.add(f"declare {kind} @llvm.x86.{blend}({kind}, {kind}, {kind})")
    r.out(f"{to} = call {kind} @llvm.x86.{blend}({kind} {no}, {kind} {yes}, {kind} {mask})")


def _op(r: Rendering, s: L.Op) -> None:
    to, op, dtype, lanes, inputs = s
    kind = f"<{lanes} x {ELEMENT[dtype]}>" if lanes else dtype
    if lanes == 1 and r.blends:
        if op == "select" and r.masks.get(inputs[0]) == dtype:
            _blend(r, s)
            return
        _mask(r, s)
    if len(inputs) == 2 and op[:5] != "llvm.":  # as most are
        text = f"{op} {kind} {inputs[0]}, {inputs[1]}"
    elif op == "fneg":
        text = f"fneg {kind} {inputs[0]}"
    elif op == "select":
        condition, a, b = inputs
        text = f"select {vector('bool', lanes) if lanes else 'i1'} {condition}, {kind} {a}, {kind} {b}"
    elif op == "llvm.ldexp":
        integer = f"i{ITEMSIZE[dtype] * 8}"
        full, powers = f"@{op}.v{lanes}{SUFFIX[dtype]}.v{lanes}{integer}", f"<{lanes} x {integer}>"
        r.declarations.add(f"declare {kind} {full}({kind}, {powers})")
        text = f"call {kind} {full}({kind} {inputs[0]}, {powers} {inputs[1]})"
    else:
        full = f"@{op}.v{lanes}{SUFFIX[dtype]}" if lanes else f"@{op}.{kind}"
        r.declarations.add(f"declare {kind} {full}({', '.join([kind] * len(inputs))})")
        text = f"call {kind} {full}({', '.join([f'{kind} {x}' for x in inputs])})"
    r.lines.append(f"  {to} = {text}")


def _spread_as(r: Rendering, to: str, kind: str, element: str, lanes: int, scalar: str) -> None:
    r.lines += [
        f"  {to}.one = insertelement {kind} poison, {element} {scalar}, i64 0",
        f"  {to} = shufflevector {kind} {to}.one, {kind} poison, <{lanes} x i32> zeroinitializer",
    ]


def _shuffle(r: Rendering, s: L.Shuffle) -> None:
    kind, order = vector(s.dtype, s.lanes), ", ".join([f"i32 {k}" for k in s.order])
    r.lines.append(f"  {s.to} = shufflevector {kind} {s.a}, {kind} {s.b}, <{s.lanes} x i32> <{order}>")


def _lane_numbers(lanes: int) -> str:
    return f"<{', '.join([f'i64 {k}' for k in range(lanes)])}>"


def _below(r: Rendering, s: L.Below) -> None:
    kind = f"<{s.lanes} x i64>"
    _spread_as(r, f"{s.to}.limit", kind, "i64", s.lanes, s.limit)
    r.lines.append(f"  {s.to} = icmp ult {kind} {_lane_numbers(s.lanes)}, {s.to}.limit")


def _multiples(r: Rendering, s: L.Multiples) -> None:
    kind = f"<{s.lanes} x i64>"
    _spread_as(r, f"{s.to}.every", kind, "i64", s.lanes, s.number)
    r.lines.append(f"  {s.to} = mul {kind} {s.to}.every, {_lane_numbers(s.lanes)}")


def _any_lane(r: Rendering, s: L.AnyLane) -> None:
    full, kind = f"@llvm.vector.reduce.or.v{s.lanes}i1", f"<{s.lanes} x i1>"
    r.declarations.add(f"declare i1 {full}({kind})")
    r.lines.append(f"  {s.to} = call i1 {full}({kind} {s.a})")


def _library(r: Rendering, s: L.Library) -> None:
    to, element, kind = s.to, ELEMENT[s.dtype], vector(s.dtype, s.lanes)
    places = [f"{to}.in{k}" for k in range(len(s.inputs))]
    for place, x in zip(places, s.inputs, strict=True):
        r.allocations.append(f"  {place} = alloca {kind}, align 64")
        r.out(f"store {kind} {x}, ptr {place}")
    r.allocations.append(f"  {to}.out = alloca {kind}, align 64")

    def lane(i: str) -> None:
        given = []
        for k, place in enumerate(places):
            r.out(f"{to}.at{k} = getelementptr {element}, ptr {place}, i64 {i}")
            r.out(f"{to}.x{k} = load {element}, ptr {to}.at{k}")
            given.append(f"{element} {to}.x{k}")
        r.out(f"{to}.value = call {element} {s.function}({', '.join(given)})")
        r.out(f"{to}.where = getelementptr {element}, ptr {to}.out, i64 {i}")
        r.out(f"store {element} {to}.value, ptr {to}.where")

    _loop(r, f"{to}.i", "0", str(s.lanes), "1", lane)
    r.out(f"{to} = load {kind}, ptr {to}.out")


def _where(r: Rendering, name: str, pointer: str, offset: str, dtype: str) -> str:
    where = f"{name}.at"
    r.lines.append(f"  {where} = getelementptr {memory(dtype)}, ptr {pointer}, i64 {offset}")
    return where


def _spots(r: Rendering, s: L.Load | L.Store, name: str, where: str, dtype: str, ways: tuple[str, str]) -> list[str]:
    """What reads or writes lanes under a mask, or apart from each other: the intrinsic, the type of its pointers, these, and the
    mask."""
    lanes, mask = s.lanes, f"<{s.lanes} x i1> {s.mask or 'splat (i1 true)'}"
    if s.stride == 1:
        return [f"@llvm.masked.{ways[0]}.v{lanes}{short(dtype)}.p0", "ptr", f"ptr {where}", mask]
    steps = s.stride if type(s.stride) is str else f"<{', '.join([f'i64 {k * s.stride}' for k in range(lanes)])}>"
    r.out(f"{name}.all = getelementptr {ELEMENT[dtype]}, ptr {where}, <{lanes} x i64> {steps}")
    kind = f"<{lanes} x ptr>"
    return [f"@llvm.masked.{ways[1]}.v{lanes}{short(dtype)}.v{lanes}p0", kind, f"{kind} {name}.all", mask]


def _load(r: Rendering, s: L.Load) -> None:
    to, lanes, dtype = s.to, s.lanes, s.dtype
    if not lanes:
        r.out(f"{to} = load {dtype}, ptr {s.pointer}")
        return
    where = _where(r, to, s.pointer, s.offset, dtype)
    stored = "uint8" if dtype == "bool" else dtype
    read, kind, size = f"{to}.byte" if dtype == "bool" else to, f"<{lanes} x {ELEMENT[stored]}>", ITEMSIZE[dtype]
    if s.stride == 1 and s.mask is None:
        r.lines.append(f"  {read} = load {kind}, ptr {where}, align {size}")
    else:
        full, places, given, masks = _spots(r, s, to, where, stored, ("load", "gather"))
        r.declarations.add(f"declare {kind} {full}({places}, i32, <{lanes} x i1>, {kind})")
        r.out(f"{read} = call {kind} {full}({given}, i32 {size}, {masks}, {kind} zeroinitializer)")
    if dtype == "bool":
        r.out(f"{to} = icmp ne {kind} {read}, splat (i8 0)")


def _single(r: Rendering, s: L.Single) -> None:
    where = _where(r, s.to, s.pointer, s.offset, s.dtype)
    if s.dtype == "bool":
        r.out(f"{s.to}.byte = load i8, ptr {where}")
        r.out(f"{s.to}.bit = icmp ne i8 {s.to}.byte, 0")
        scalar = f"{s.to}.bit"
    else:
        scalar = f"{s.to}.number"
        r.out(f"{scalar} = load {ELEMENT[s.dtype]}, ptr {where}")
    _spread_as(r, s.to, vector(s.dtype, s.lanes), ELEMENT[s.dtype], s.lanes, scalar)


_MADE = "%stored"
LINE = 64  # bytes of a line of the caches, at least


def _stored(r: Rendering, s: Any) -> tuple[str, str, str, str]:
    """A name for what a store makes on its way, where it goes, its value, and the dtype in memory."""
    name = f"{_MADE}{len(r.lines)}"
    where = _where(r, name, s.pointer, s.offset, s.dtype)
    if s.dtype != "bool":
        return name, where, s.value, s.dtype
    r.out(f"{name}.byte = zext <{s.lanes} x i1> {s.value} to <{s.lanes} x i8>")
    return name, where, f"{name}.byte", "uint8"


def _store(r: Rendering, s: L.Store) -> None:
    if not s.lanes:
        r.out(f"store {s.dtype} {s.value}, ptr {s.pointer}")
        return
    name, where, value, dtype = _stored(r, s)
    lanes, size = s.lanes, ITEMSIZE[dtype]
    kind = f"<{lanes} x {ELEMENT[dtype]}>"
    if s.stride == 1 and s.mask is None:
        how = f"align {min(lanes * size, LINE)}, !nontemporal !{{i32 1}}" if s.streamed else f"align {size}"
        r.lines.append(f"  store {kind} {value}, ptr {where}, {how}")
        return
    full, places, given, masks = _spots(r, s, name, where, dtype, ("store", "scatter"))
    r.declarations.add(f"declare void {full}({kind}, {places}, i32, <{lanes} x i1>)")
    r.out(f"call void {full}({kind} {value}, {given}, i32 {size}, {masks})")


def _store_first(r: Rendering, s: L.StoreFirst) -> None:
    name, where, value, dtype = _stored(r, s)
    r.out(f"{name}.first = extractelement {vector(dtype, s.lanes)} {value}, i64 0")
    r.out(f"store {ELEMENT[dtype]} {name}.first, ptr {where}")


def _fence(r: Rendering, s: L.Fence) -> None:
    if llvm.triple().startswith("x86"):  # of which a release alone lets such stores pass
        r.declarations.add("declare void @llvm.x86.sse.sfence()")
        r.out("call void @llvm.x86.sse.sfence()")
    else:
        r.out("fence release")


def _prefetch(r: Rendering, s: L.Prefetch) -> None:
    r.declarations.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    r.out(f"call void @llvm.prefetch.p0(ptr {s.pointer}, i32 0, i32 3, i32 1)")


def _loop(r: Rendering, to: str, start: str, stop: str, step: str, body: Any) -> None:
    """A loop that ends at its bottom. Its counter is frozen, so that LLVM doesn't look for a better form of the addresses that
    follow from it (loop strength reduction): that took a quarter of its time, and made nothing faster."""
    counter, head, after = f"{to}.counter", f"{to[1:]}.loop", f"{to[1:]}.after"
    r.allocations.append(f"  {counter} = alloca i64, align 64")
    r.lines += [
        f"  store i64 {start}, ptr {counter}",
        f"  br label %{head}",
        f"{head}:",
        f"  {to}.now = load i64, ptr {counter}",
        f"  {to} = freeze i64 {to}.now",
    ]
    body(to)
    r.lines += [
        f"  {to}.next = add nuw nsw i64 {to}, {step}", f"  store i64 {to}.next, ptr {counter}",
        f"  {to}.again = icmp slt i64 {to}.next, {stop}", f"  br i1 {to}.again, label %{head}, label %{after}", f"{after}:",
    ]  # fmt: skip


def _when(r: Rendering, s: L.When) -> None:
    number = len(r.lines)
    r.lines += [f"  br i1 {s.condition}, label %inside{number}, label %after{number}", f"inside{number}:"]
    r.statements(s.body)
    r.lines += [f"  br label %after{number}", f"after{number}:"]


def _repeat(r: Rendering, s: L.Repeat) -> None:
    counter, name = f"{s.to}.counter", s.to[1:]
    r.allocations.append(f"  {counter} = alloca i64, align 64")
    r.lines += [
        f"  store i64 0, ptr {counter}", f"  br label %{name}.head", f"{name}.head:", f"  {s.to} = load i64, ptr {counter}",
        f"  {s.to}.more = icmp slt i64 {s.to}, {s.limit}", f"  br i1 {s.to}.more, label %{name}.body, label %{name}.end",
        f"{name}.body:",
    ]  # fmt: skip
    before, r.leave = r.leave, f"{name}.end"
    r.statements(s.body)
    r.leave = before
    r.lines += [
        f"  {s.to}.next = add i64 {s.to}, 1", f"  store i64 {s.to}.next, ptr {counter}", f"  br label %{name}.head",
        f"{name}.end:", f"  {s.done} = load i64, ptr {counter}",
    ]  # fmt: skip


def _leave(r: Rendering, s: L.Leave) -> None:
    number = len(r.lines)
    r.lines += [f"  br i1 {s.condition}, label %go{number}, label %{r.leave}", f"go{number}:"]


def _call(r: Rendering, s: L.Call) -> None:
    made = f"{s.to} = " if s.to else ""
    r.out(f"{made}call {s.result} {s.function}({', '.join([f'{type_} {x}' for type_, x in s.inputs])})")


RENDER: dict[type, Any] = {
    L.Argument: _argument, L.Array: _array, L.Entry: _entry, L.Op: _op,
    L.Shuffle: _shuffle, L.Below: _below, L.Multiples: _multiples, L.AnyLane: _any_lane, L.Library: _library,
    L.Load: _load, L.Single: _single, L.Store: _store, L.StoreFirst: _store_first, L.Prefetch: _prefetch, L.When: _when,
    L.Call: _call, L.Aligned: _aligned, L.Fence: _fence, L.Repeat: _repeat, L.Leave: _leave,
    L.At: lambda r, s: r.out(f"{s.to} = getelementptr {s.element}, ptr {s.pointer}, i64 {s.offset}"),
    L.Cast: lambda r, s: r.out(f"{s.to} = {s.op} {vector(s.source, s.lanes)} {s.a} to {vector(s.dtype, s.lanes)}"),
    L.Spread: lambda r, s: _spread_as(r, s.to, vector(s.dtype, s.lanes), ELEMENT[s.dtype], s.lanes, s.scalar),
    L.First: lambda r, s: r.out(f"{s.to} = extractelement {vector(s.dtype, s.lanes)} {s.a}, i64 0"),
    L.Variable: lambda r, s: r.allocations.append(f"  {s.to} = alloca {vector(s.dtype, s.lanes)}, align 64"),
    L.Get: lambda r, s: r.out(f"{s.to} = load {vector(s.dtype, s.lanes)}, ptr {s.variable}"),
    L.Lane: lambda r, s: _single(r, L.Single(s.to, s.variable, s.number, s.dtype, s.lanes)),
    L.Set: lambda r, s: r.out(f"store {vector(s.dtype, s.lanes)} {s.value}, ptr {s.variable}"),
    L.For: lambda r, s: _loop(r, s.to, s.start, s.stop, s.step, lambda i: r.statements(s.body)),
    L.Apart: lambda r, s: r.out(f"{s.to} = icmp ne ptr {s.a}, {s.b}"),
}  # fmt: skip
