"""Loops run by NumPy, statement by statement: what each kernel must give, to the bit, and what it may touch.

A pointer is an array and a number of bytes, so that every access is checked. Fused multiplication and addition is rounded once,
as the processor does it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.compiler.loops import ir as L
from adjoint.runtime import libraries

Array = np.ndarray[Any, Any]

SIZES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8, "ptr": 8}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "fadd": np.add, "fsub": np.subtract, "fmul": np.multiply, "fdiv": np.divide, "add": np.add, "sub": np.subtract,
    "mul": np.multiply, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "shl": np.left_shift,
    "lshr": np.right_shift, "ashr": np.right_shift, "udiv": np.floor_divide, "urem": np.remainder, "srem": np.fmod,
    "sdiv": lambda a, b: (a - np.fmod(a, b)) // b,
}  # fmt: skip
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
INTRINSICS: dict[str, Callable[..., Any]] = {
    "fabs": np.abs, "copysign": np.copysign, "sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "rint": np.rint,
}  # fmt: skip
WIDE = 1 << 63


class Pointer(NamedTuple):
    """A place in memory: bytes of an array of them."""

    memory: Array
    offset: int

    def further(self, nbytes: int) -> Pointer:
        return Pointer(self.memory, self.offset + nbytes)

    def elements(self, dtype: str, offsets: Array) -> tuple[Array, Array]:
        """The array as elements of a dtype, and where in it those at these offsets are. Raises IndexError outside of it."""
        size = np.dtype(dtype).itemsize
        at = self.offset + offsets * size
        if at.size and (at.min() < 0 or at.max() + size > self.memory.size):
            raise IndexError(f"bytes {at.min()} to {at.max() + size} of an array of {self.memory.size}")
        return self.memory, at


class Leaving(Exception):
    """What is repeated ends."""


class Run:
    """Runs functions that call each other by name."""

    def __init__(self, functions: Mapping[str, L.Function], arguments: Mapping[int, Any]) -> None:
        self.functions = functions
        self.arguments = arguments  # by position in the unit's block: numbers, pointers, functions

    def call(self, function: L.Function, inputs: Sequence[Any]) -> Any:
        """Run a function; the number that it gives, if it does."""
        names = [name for _, name in function.parameters]
        env: dict[str, Any] = dict(zip(names, inputs, strict=True))
        with np.errstate(all="ignore"):
            self.block(env, function.body)
        return self.number(env, function.result) if function.result else None

    def block(self, env: dict[str, Any], body: Sequence[Any]) -> None:
        for s in body:
            RUN[s.__class__](self, env, s)

    def number(self, env: dict[str, Any], name: str) -> int:
        """A number, by its name or as it stands."""
        if name.startswith("%"):
            return int(env[name])
        return {"true": 1, "false": 0}[name] if name in ("true", "false") else int(name)

    def position(self, env: dict[str, Any], position: int | str) -> int:
        """A position in the unit's block."""
        return position if isinstance(position, int) else self.number(env, position)

    def vector(self, env: dict[str, Any], name: str, dtype: str, lanes: int) -> Array:
        """A vector of a dtype, whose bits another of the same size may have made."""
        if isinstance(name, L.Constant):
            return np.full(lanes, name.value).astype(dtype) if dtype[0] in "fb" else _integers(name.value, dtype, lanes)
        found: Array = env[name]
        return found if found.dtype == dtype else found.view(dtype)

    def mask(self, env: dict[str, Any], name: str | None, lanes: int) -> Array:
        if name is None:
            return np.ones(lanes, bool)
        return np.array(name.value) if isinstance(name, L.Constant) else env[name]


def _integers(value: int, dtype: str, lanes: int) -> Array:
    bits = 8 * np.dtype(dtype).itemsize
    return np.full(lanes, int(value) & ((1 << bits) - 1), f"u{bits // 8}").view(dtype)


def _signed(value: int) -> int:
    return (value + WIDE) % (2 * WIDE) - WIDE


def _fma(a: Array, b: Array, c: Array) -> Array:
    """a·b + c, rounded once."""
    if a.dtype == np.float64:
        function = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * 3)(libraries.mathematics("fma"))
        return np.array([function(x, y, z) for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)])
    # In float64 the product is exact. The sum is rounded to an odd last bit where it isn't: then rounding again is right.
    product, term = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + term
    back = total - product
    lost = (product - (total - back)) + (term - back)
    even = (total.view(np.int64) & 1) == 0
    change = np.isfinite(total) & (lost != 0) & even
    return np.where(change, np.nextafter(total, np.where(lost > 0, np.inf, -np.inf)), total).astype(np.float32)


def _of_numbers(run: Run, env: dict[str, Any], s: L.Op) -> None:
    """An operation on numbers or conditions."""
    op = s.op.split()[0]
    if op == "select":
        env[s.to] = run.number(env, s.inputs[1 if env[s.inputs[0]] else 2])
        return
    a, b = [run.number(env, x) for x in s.inputs]
    if op == "icmp":
        env[s.to] = _compared(s.op[5:], a, b)
        return
    u, v = a % (2 * WIDE), b % (2 * WIDE)
    found = {
        "add": a + b, "sub": a - b, "mul": a * b, "and": a & b, "llvm.umin": min(u, v), "udiv": u // (v or 1),
        "urem": u % (v or 1),
    }[op]  # fmt: skip
    env[s.to] = _signed(found)


def _compared(relation: str, a: int, b: int) -> bool:
    if relation[0] == "u":
        a, b, relation = a % (2 * WIDE), b % (2 * WIDE), relation[1:]
    elif relation[0] == "s":
        relation = relation[1:]
    return bool(COMPARE[relation](a, b))


def _aligned(run: Run, env: dict[str, Any], s: L.Aligned) -> None:
    env[s.to] = True


def _apart(run: Run, env: dict[str, Any], s: L.Apart) -> None:
    a, b = env[s.a], env[s.b]
    env[s.to] = a.memory is not b.memory or a.offset != b.offset


def _argument(run: Run, env: dict[str, Any], s: L.Argument) -> None:
    env[s.to] = int(run.arguments[run.position(env, s.position)])


def _array(run: Run, env: dict[str, Any], s: L.Array) -> None:
    env[s.to] = run.arguments[run.position(env, s.position)]


def _entry(run: Run, env: dict[str, Any], s: L.Entry) -> None:
    env[s.to] = env[s.table][run.number(env, s.position)]


def _at(run: Run, env: dict[str, Any], s: L.At) -> None:
    env[s.to] = env[s.pointer].further(run.number(env, s.offset) * SIZES[s.element])


def _elements(pointer: Pointer, dtype: str, offsets: Array) -> Array:
    memory, at = pointer.elements(dtype, offsets)
    size = np.dtype(dtype).itemsize
    picked: Array = memory[at[:, None] + np.arange(size)]
    return np.ascontiguousarray(picked).view(dtype).reshape(-1)


def _write(pointer: Pointer, dtype: str, offsets: Array, values: Array) -> None:
    memory, at = pointer.elements(dtype, offsets)
    size = np.dtype(dtype).itemsize
    memory[at[:, None] + np.arange(size)] = (
        np.ascontiguousarray(values.astype(dtype, copy=False)).view(np.uint8).reshape(-1, size)
    )


ONE = np.zeros(1, np.int64)


def _op(run: Run, env: dict[str, Any], s: L.Op) -> None:
    op, lanes, dtype = s.op, s.lanes, s.dtype
    if not lanes:
        _of_numbers(run, env, s)
        return
    if op == "select":
        condition = run.vector(env, s.inputs[0], "bool", lanes)
        a, b = [run.vector(env, x, dtype, lanes) for x in s.inputs[1:]]
        env[s.to] = np.where(condition, a, b)
        return
    if op == "llvm.ldexp":
        integer = f"int{8 * np.dtype(dtype).itemsize}"
        env[s.to] = np.ldexp(run.vector(env, s.inputs[0], dtype, lanes), run.vector(env, s.inputs[1], integer, lanes))
        return
    given = [run.vector(env, x, dtype, lanes) for x in s.inputs]
    if op == "fneg":
        env[s.to] = np.negative(given[0])
    elif op == "llvm.fma":
        env[s.to] = _fma(*given)
    elif op.startswith("llvm."):
        env[s.to] = INTRINSICS[op[5:]](*given)
    elif op[:5] in ("fcmp ", "icmp "):
        env[s.to] = _related(op[:4], op[5:], *given)
    else:
        if op == "lshr":
            given = [x.view(f"u{x.dtype.itemsize}") for x in given]
        env[s.to] = ARITHMETIC[op](*given)


def _related(kind: str, relation: str, a: Array, b: Array) -> Array:
    if relation == "uno":
        return np.isnan(a) | np.isnan(b)
    if kind == "icmp" and relation[0] in "su":
        sign = "i" if relation[0] == "s" else "u"
        a, b, relation = a.view(f"{sign}{a.dtype.itemsize}"), b.view(f"{sign}{b.dtype.itemsize}"), relation[1:]
    elif kind == "fcmp":
        relation = relation[1:]
    found: Array = COMPARE[relation](a, b)
    return found


def _cast(run: Run, env: dict[str, Any], s: L.Cast) -> None:
    if not s.lanes:
        number = run.number(env, s.a)
        env[s.to] = number % (1 << int(s.source[1:])) if s.op == "zext" else number
        return
    a = run.vector(env, s.a, s.source, s.lanes)
    if s.op == "bitcast":
        env[s.to] = a.view(s.dtype)
        return
    if s.op in ("zext", "uitofp") and a.dtype.kind == "i":
        a = a.view(f"u{a.dtype.itemsize}")
    env[s.to] = a.astype(s.dtype)


def _spread(run: Run, env: dict[str, Any], s: L.Spread) -> None:
    env[s.to] = np.full(s.lanes, env[s.scalar])


def _first(run: Run, env: dict[str, Any], s: L.First) -> None:
    env[s.to] = run.vector(env, s.a, s.dtype, s.lanes)[0]


def _shuffle(run: Run, env: dict[str, Any], s: L.Shuffle) -> None:
    both = [run.vector(env, x, s.dtype, s.lanes) for x in (s.a, s.b) if x != "poison"]
    env[s.to] = np.concatenate(both)[list(s.order)]


def _below(run: Run, env: dict[str, Any], s: L.Below) -> None:
    env[s.to] = np.arange(s.lanes) < run.number(env, s.limit) % (2 * WIDE)


def _multiples(run: Run, env: dict[str, Any], s: L.Multiples) -> None:
    env[s.to] = np.arange(s.lanes) * run.number(env, s.number)


def _any_lane(run: Run, env: dict[str, Any], s: L.AnyLane) -> None:
    env[s.to] = bool(run.vector(env, s.a, "bool", s.lanes).any())


def _library(run: Run, env: dict[str, Any], s: L.Library) -> None:
    number = ctypes.c_float if s.dtype == "float32" else ctypes.c_double
    function = ctypes.CFUNCTYPE(number, *[number] * len(s.inputs))(libraries.mathematics(s.name))
    given = [run.vector(env, x, s.dtype, s.lanes).tolist() for x in s.inputs]
    env[s.to] = np.array([function(*lane) for lane in zip(*given, strict=True)], s.dtype)


def _offsets(run: Run, env: dict[str, Any], s: L.Load | L.Store) -> Array:
    stride = env[s.stride] if isinstance(s.stride, str) else np.arange(s.lanes) * s.stride
    offsets: Array = run.number(env, s.offset) + stride
    return offsets


def _load(run: Run, env: dict[str, Any], s: L.Load) -> None:
    if not s.lanes:
        env[s.to] = int(_elements(env[s.pointer], f"int{s.dtype[1:]}", ONE)[0])
        return
    on, stored = run.mask(env, s.mask, s.lanes), "uint8" if s.dtype == "bool" else s.dtype
    found = np.zeros(s.lanes, stored)
    found[on] = _elements(env[s.pointer], stored, _offsets(run, env, s)[on])
    env[s.to] = found != 0 if s.dtype == "bool" else found


def _single(run: Run, env: dict[str, Any], s: L.Single) -> None:
    stored = "uint8" if s.dtype == "bool" else s.dtype
    found = np.repeat(_elements(env[s.pointer], stored, ONE + run.number(env, s.offset)), s.lanes)
    env[s.to] = found != 0 if s.dtype == "bool" else found


def _store(run: Run, env: dict[str, Any], s: L.Store) -> None:
    if not s.lanes:
        _write(env[s.pointer], f"int{s.dtype[1:]}", ONE, np.array([run.number(env, s.value)]))
        return
    on = run.mask(env, s.mask, s.lanes)
    if s.streamed and run.number(env, s.offset) % s.lanes:
        raise AssertionError("what is streamed begins amid a line of the caches")
    _write(env[s.pointer], s.dtype, _offsets(run, env, s)[on], run.vector(env, s.value, s.dtype, s.lanes)[on])


def _store_first(run: Run, env: dict[str, Any], s: L.StoreFirst) -> None:
    value = run.vector(env, s.value, s.dtype, s.lanes)
    _write(env[s.pointer], s.dtype, ONE + run.number(env, s.offset), value[:1])


def _nothing(run: Run, env: dict[str, Any], s: Any) -> None:
    """Fetching ahead changes nothing, and a variable is there once it is set."""


def _get(run: Run, env: dict[str, Any], s: L.Get) -> None:
    env[s.to] = env[s.variable]


def _lane(run: Run, env: dict[str, Any], s: L.Lane) -> None:
    number = run.number(env, s.number)
    if not 0 <= number < s.held:
        raise AssertionError(f"{s.variable} has no lane {number}")
    env[s.to] = np.repeat(env[s.variable][number], s.lanes)


def _set(run: Run, env: dict[str, Any], s: L.Set) -> None:
    env[s.variable] = run.vector(env, s.value, s.dtype, s.lanes) if s.lanes else env[s.value]


def _for(run: Run, env: dict[str, Any], s: L.For) -> None:
    i = run.number(env, s.start)
    while True:
        env[s.to] = i
        run.block(env, s.body)
        i += run.number(env, s.step)
        if i >= run.number(env, s.stop):
            return


def _when(run: Run, env: dict[str, Any], s: L.When) -> None:
    if run.number(env, s.condition):
        run.block(env, s.body)


def _repeat(run: Run, env: dict[str, Any], s: L.Repeat) -> None:
    env[s.done] = 0
    try:
        for i in range(run.number(env, s.limit)):
            env[s.to] = i
            run.block(env, s.body)
            env[s.done] = i + 1
    except Leaving:
        pass


def _leave(run: Run, env: dict[str, Any], s: L.Leave) -> None:
    if not env[s.condition]:
        raise Leaving


def _call(run: Run, env: dict[str, Any], s: L.Call) -> None:
    function = run.functions[s.function[2:]] if s.function.startswith("@$") else env[s.function]
    given = [env[x] if x.startswith("%") else run.number(env, x) for _, x in s.inputs]
    result = run.call(function, given) if isinstance(function, L.Function) else function(*given)
    if s.to:
        env[s.to] = result


RUN: Mapping[type, Callable[[Run, dict[str, Any], Any], None]] = {
    L.Argument: _argument, L.Array: _array,
    L.Entry: _entry, L.At: _at, L.Op: _op, L.Cast: _cast, L.Spread: _spread,
    L.First: _first, L.Shuffle: _shuffle, L.Below: _below, L.Multiples: _multiples, L.AnyLane: _any_lane,
    L.Library: _library, L.Load: _load, L.Single: _single, L.Store: _store, L.StoreFirst: _store_first,
    L.Prefetch: _nothing, L.Variable: _nothing, L.Get: _get, L.Set: _set, L.Lane: _lane, L.For: _for, L.When: _when,
    L.Call: _call, L.Aligned: _aligned, L.Apart: _apart, L.Fence: _nothing, L.Repeat: _repeat, L.Leave: _leave,
}  # fmt: skip
