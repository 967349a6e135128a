"""Loops as data: the interpreter over NumPy, machine code and the plan's interpreter agree; what isn't well formed is refused;
printed loops stay as they are."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
import loop_oracle
from adjoint.compiler import loops, pipeline
from adjoint.compiler.excerpts import key_of
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Matrices, Move, Nest, Product, Window
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import Emitter, Value, lanes_of
from adjoint.compiler.loops.text import functions_text
from adjoint.compiler.schedule.blocks import BlockSchedule
from adjoint.compiler.schedule.schedule import Schedule
from adjoint.compiler.schedule.windows import WindowSchedule
from adjoint.compiler.targets.llvm import source_of
from adjoint.compiler.targets.target import TUNING, Tuning, instead, tuned, tuning
from adjoint.compiler.units import schedule_of, write_unit
from adjoint.execution.native.program import compile_nests
from adjoint.execution.numpy_programs import Streaming
from adjoint.nn import functional as F
from adjoint.plan.text import Labels
from adjoint.runtime import code, libraries, llvm
from loop_check import check
from loop_interpreter import RUN, Pointer, Run
from loop_oracle import Oracle
from test_native import normal, planned

PROGRAMS = 40
PARAMETERS = (("ptr", "%x"), ("ptr", "%y"), ("ptr", "%out"), ("i64", "%n"))
CASTS = {"float32": ("float64",), "float64": ("float32",), "int32": ("int64", "float32"), "uint8": ("int32", "float32")}


def bits(x: Any) -> Any:
    """An array's bytes, but for a NaN's, of which there are many."""
    x = np.ascontiguousarray(x)
    if x.dtype.kind == "f":
        x = np.where(np.isnan(x), np.array(np.nan, x.dtype), x)
    return x.reshape(-1).view(np.uint8).tolist()


# Random programs ---------------------------------------------------------------------------------------------------------


class Writer:
    """Writes one random program: vectors of x and y go through random statements into out."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.dtype = str(self.random.choice(list(CASTS)))
        self.e = Emitter(int(self.random.choice([1, 2, 4, 8])))
        self.values: list[Value] = []

    def pick(self, dtype: str) -> Value:
        found = [x for x in self.values if x.dtype == dtype]
        return found[self.random.integers(len(found))] if found else self.e.constant(3, dtype)

    def function(self, name: str) -> L.Function:
        e, lanes = self.e, self.e.lanes
        total = e.variable(e.constant(0, self.dtype))
        whole = e.index("and", "%n", -lanes)
        with e.when(e.test("sgt", whole, 0)), e.loop("0", whole, lanes) as i:
            self.body(i, total)
        rest = e.index("urem", "%n", lanes)
        with e.when(e.test("ne", rest, 0)):
            e.mask = e.below(rest)
            self.body(whole, total)
            e.mask = None
        with e.loop("0", "3", 1) as i:
            e.set(total, e.add(e.get(total, self.dtype), e.turned(e.get(total, self.dtype), lanes // 2)))
            e.store_scalar(e.get(total, self.dtype), "%out", e.plus(i, "%n"))
        return e.function(name, PARAMETERS, False)

    def body(self, i: str, total: str) -> None:
        e, dtype = self.e, self.dtype
        self.values = [
            e.load("%x", i, dtype, 1),
            e.load("%y", e.times(i, 2), dtype, 2),
            e.load_scalar("%x", "1", dtype),
        ]
        for _ in range(self.random.integers(3, 12)):
            self.statement()
        result = self.pick(dtype)
        with e.when_any(e.compare("gt", result, self.pick(dtype))):
            e.set(total, e.select(e.compare("eq", result, result), result, e.get(total, dtype)))
        e.store(result, "%out", i)

    def statement(self) -> None:
        e, dtype = self.e, self.dtype
        a, b, c = [self.pick(dtype) for _ in range(3)]
        floating = dtype.startswith("float")
        choices: list[Callable[[], Value]] = [
            lambda: e.add(a, b), lambda: e.subtract(a, b), lambda: e.multiply(a, b), lambda: e.negative(a),
            lambda: e.select(e.compare(str(self.random.choice(["lt", "ge", "ne"])), a, b), b, c),
            lambda: e.select(e.either(e.compare("eq", a, b), e.invert(e.compare("le", a, c))), a, 2),
            lambda: e.cast(self.cast(a), dtype) if dtype in ("float32", "float64") else e.bitwise("xor", a, b),
            lambda: e.turned(a, 1),
            lambda: e.splat(e.first(a), dtype),
        ]  # fmt: skip
        if floating:
            choices += [
                lambda: e.fma(a, b, c), lambda: e.divide(a, b), lambda: e.intrinsic("floor", a), lambda: e.absolute(a),
                lambda: e.copysign(a, b), lambda: e.intrinsic("sqrt", a), lambda: e.from_bits(e.shift("lshr", e.bits(a), 1)),
                lambda: e.library("cos", a),
            ]  # fmt: skip
        self.values.append(choices[self.random.integers(len(choices))]())

    def cast(self, a: Value) -> Value:
        return self.e.cast(a, CASTS[a.dtype][self.random.integers(len(CASTS[a.dtype]))])


def test_random_programs() -> None:
    """All of them are one module: compiled by LLVM, run by NumPy."""
    writers = [Writer(seed) for seed in range(PROGRAMS)]
    functions = [writer.function(f"f{k}") for k, writer in enumerate(writers)]
    functions = [with_library(function, writer.e) for function, writer in zip(functions, writers, strict=True)]
    check(functions)
    assert all(functions_text([function]).count("\n") > 5 for function in functions)
    assert any(writer.e.libm for writer in writers), "a function of the library is among them"
    (machine,) = code.load([source_of(functions, [function.name for function in functions])])
    for k, (writer, function) in enumerate(zip(writers, functions, strict=True)):
        random = np.random.default_rng(k)
        for n in (1, 5, 16, 19):
            x, y = [(random.normal(size=3 * n + 64) * 50).astype(np.int64).astype(writer.dtype) for _ in range(2)]
            results = []
            for run in (by_machine, by_numpy):
                out = np.zeros(n + 3, writer.dtype)
                run(machine, function, (x, y, out), n, list(writer.e.libm))
                results.append(bits(out))
            assert results[0] == results[1], (k, n)


RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge", "uno")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_choices_among_single_numbers(dtype: str) -> None:
    """Every relation, both and either of two, and constants; between all pairs of what is special."""
    e = Emitter(1)
    with e.loop("0", "%n", 1) as i:
        x, y = e.load("%x", i, dtype, 1), e.load("%y", i, dtype, 1)
        conditions = [e.compare(relation, x, y) for relation in RELATIONS]
        conditions += [e.both(e.compare("le", x, 0.0), conditions[1]), e.either(conditions[2], e.compare("eq", y, 1.0))]
        conditions += [e.invert(conditions[0]), e.both(conditions[-1], e.compare("lt", e.cast(x, "float64"), 1.0))]
        made = [e.select(c, x, y) for c in conditions] + [e.select(c, 0.0, e.multiply(x, y)) for c in conditions]
        made += [e.select(c, e.constant(2.0, dtype), -0.0) for c in conditions]
        for k, value in enumerate(made):
            e.store(value, "%out", e.plus(e.times(i, len(made)), k))
    function = e.function("choices", (*PARAMETERS, ("ptr", "%libm")), False)
    check([function])
    source = source_of([function], ("choices",))
    assert ("blendv" in source.text) == llvm.has_blends()
    (machine,) = code.load([source])
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny / 8], dtype)
    x, y = [np.ascontiguousarray(part.ravel()) for part in np.meshgrid(special, special)]
    results = []
    for run in (by_machine, by_numpy):
        out = np.zeros(len(x) * len(made), dtype)
        with np.errstate(all="ignore"):
            run(machine, function, (x, y, out), len(x), [])
        results.append(bits(out))
    assert results[0] == results[1]


def with_library(function: L.Function, e: Emitter) -> L.Function:
    """The function with a table of the C library's functions."""
    prologue = [L.Entry(f"%libm{k}", "%libm", str(k)) for k in e.libm.values()]
    return function._replace(parameters=(*function.parameters, ("ptr", "%libm")), body=(*prologue, *function.body))


def by_machine(machine: code.Code, function: L.Function, arrays: Any, n: int, names: list[str]) -> None:
    table = (ctypes.c_void_p * (len(names) + 1))(*[libraries.mathematics(name) for name in names])
    kinds = [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_void_p]
    call = ctypes.CFUNCTYPE(None, *kinds)(machine.addresses[function.name])
    call(*[a.ctypes.data for a in arrays], n, ctypes.addressof(table))


def by_numpy(machine: code.Code, function: L.Function, arrays: Any, n: int, names: list[str]) -> None:
    Run({}, {}).call(function, [*[Pointer(a.view(np.uint8), 0) for a in arrays], n, names])


def test_what_is_not_well_formed_is_refused() -> None:
    e = Emitter(4)
    x = e.load("%x", "0", "float32", 1)
    good = e.function("f", PARAMETERS, False)
    check([good])

    def refused(*more: Any, match: str) -> None:
        with pytest.raises(ValueError, match=match):
            check([good._replace(body=(*good.body, *more))])

    refused(L.Store("%nothing", "%out", "0", "float32", 4, 1, None), match="isn't made before")
    refused(L.Store(x.name, "%n", "0", "float32", 4, 1, None), match="a number, not a pointer")
    refused(L.Store(x.name, "%out", "0", "float64", 4, 1, None), match="4 lanes of 4 bytes, not 4 lanes of 8")
    refused(L.Store(x.name, "%out", "0", "float32", 8, 1, None), match="not 8 lanes")
    refused(L.Load(x.name, "%x", "0", "float32", 4, 1, None), match="made twice")
    inner = L.Load("%y2", "%x", "0", "float32", 4, 1, None)
    refused(
        L.For("%i", "0", "%n", "4", (inner,)),
        L.StoreFirst("%y2", "%out", "0", "float32", 4),
        match="where it can be seen",
    )
    refused(L.Get("%g", "%v", "float32", 4), match="no variable")
    refused(L.Call("", "void", "@$g", ()), match="no function g")
    refused(L.Leave("%n"), match="nothing is repeated")
    with pytest.raises(ValueError, match="in the loops of f: %no isn't made before"):
        check([good._replace(result="%no")])


def test_memory_outside_of_an_array_is_refused() -> None:
    e = Emitter(4)
    e.store(e.load("%x", "0", "float32", 1), "%out", "%n")
    function = e.function("f", PARAMETERS, False)
    x = Pointer(np.zeros(16, np.uint8), 0)
    Run({}, {}).call(function, [x, x, x, 0])
    with pytest.raises(IndexError, match="bytes 4 to 20 of an array of 16"):
        Run({}, {}).call(function, [x, x, x, 1])


# Every kind of unit --------------------------------------------------------------------------------------------------------


def variables(*shapes: tuple[int, ...], dtype: str = "float32") -> list[ad.Tensor]:
    return [ad.variable(normal(*shape, dtype=dtype, seed=k)) for k, shape in enumerate(shapes)]


def rows() -> list[ad.Tensor]:
    (x,) = variables((3, 21))
    y = F.layer_norm(ad.softmax(x, axis=-1) * 3, 21)
    return [y, *ad.gradients((y * y * x).sum(), [x])]


def long_sums() -> list[ad.Tensor]:
    x, y = variables((700,), (700,), dtype="float64")
    return [ad.sum(ad.exp(x) / y), ad.max(x), ad.sum(x[::3] * 2)]


def totals() -> list[ad.Tensor]:
    x, y = variables((9, 40), (9, 1))
    return [ad.sum(x * y, axis=0), ad.sum(ad.sin(x)), x.T * 2, (x > y).sum(axis=0)]


def side_by_side() -> list[ad.Tensor]:
    x, y = variables((1, 300), (17, 1))
    return [x / y]


def streamed() -> list[ad.Tensor]:
    x, y = variables((1, 320), (19, 1))
    return [x / y, x * y + 1]


def products() -> list[ad.Tensor]:
    a, b, c = variables((7, 12), (12, 19), (12, 6))
    row, matrix = variables((1, 203), (9, 203))
    return [ad.relu(a @ b) + 1, a.T @ a, b.T @ c, row @ matrix.T, matrix @ row.T]


def long_products() -> list[ad.Tensor]:
    a, b = variables((30, 20), (30, 18))
    return [a.T @ b, (b.T @ a)[::2]]


def gates() -> list[ad.Tensor]:
    """The gradient of parts that are used apart: pieces of one array, made by one nest."""
    (x,) = variables((5, 36))
    first, second, third = x[:, :12], x[:, 12:24], x[:, 24:]
    return ad.gradients((ad.sigmoid(first) * ad.tanh(second) * third).sum(), [x])


def columns() -> list[ad.Tensor]:
    """Pieces that are columns of one array, each of which is made by a nest over an axis of length one."""
    x, y = variables((2,), (9, 2))
    product = lambda x: ad.sin(x[1:] * x[:-1]).sum()  # noqa: E731 - used twice
    return [ad.hessian(product)(x), ad.vmap(ad.grad(product))(y), ad.concat([y[:, :1] * 2, ad.exp(y[:, 1:])], axis=1)]


def attention() -> list[ad.Tensor]:
    q, k, v = variables((2, 2, 16, 4), (2, 2, 16, 4), (2, 2, 16, 4))
    y = ad.softmax(q @ k.mT * 0.5, axis=-1) @ v
    return [y, *ad.gradients((y * y).sum(), [q, k, v])]


def pools() -> list[ad.Tensor]:
    (x,) = variables((2, 5, 6, 7))
    x = ad.variable(np.round(x.numpy()))
    y = F.max_pool2d(x, 3, 2, 1)
    z = F.avg_pool2d(x, 2)
    return [y, z, *ad.gradients((y * y).sum() + (z * z).sum(), [x])]


def across() -> list[ad.Tensor]:
    """What lies across the rows: transposes of several dtypes, alone and beside what doesn't, in rows and sums."""
    x, y, z, u = variables((37, 21), (21, 37), (2, 5, 4, 9), (2, 6, 19, 5), dtype="float32")
    (d,) = variables((19, 35), dtype="float64")
    n = ad.tensor(np.arange(12 * 20, dtype=np.int32).reshape(12, 20))
    return [
        x.T * 2 + y, ad.softmax(x.T * 3, axis=-1), ad.permute_dims(z, (0, 2, 3, 1)) + 1, ad.permute_dims(u, (0, 3, 1, 2)) * 2,
        ad.relu(d.T), n.T * 3, (x.T * y).sum(0), (x.T - y).sum(1), ad.sin(x.T + x[:, ::-1].T) / y[:, :1], ad.exp(d[:4].T),
    ]  # fmt: skip


def moves() -> list[ad.Tensor]:
    x, y = variables((6, 5), (6, 5), dtype="float64")
    index = ad.tensor(np.array([1, 3, 3, -1], np.int32))
    joined = ad.concat([x, y[:, ::2]], axis=1)
    changed = ad.sin(x)
    changed[1:4, ::2] = y[:3, :3]
    changed[index[:2]] = y[:2]
    u, v = variables((2, 19, 6, 37), (2, 37, 6, 5), dtype="float32")  # side by side, one of them across its rows
    beside = ad.concat([ad.permute_dims(u, (0, 3, 2, 1)), v], axis=3)
    return [
        x[index],
        *ad.gradients((x[index] ** 2).sum() + (joined**2).sum(), [x, y]),
        ad.roll(x, 2, axis=0),
        changed,
        beside,
    ]


def matrices() -> list[ad.Tensor]:
    """Stacks that fill their vectors and that don't, read in rows, in columns, and one matrix for all."""
    a, b, c = variables((9, 3, 3), (9, 3, 2), (6, 6), dtype="float64")
    square = a @ a.mT + np.eye(3)
    factor = ad.linalg.cholesky(square)
    half = ad.linalg.solve_triangular(factor, b, lower=True)
    y = (half**2).sum() + ad.linalg.slogdet(square)[1].sum() + ad.linalg.det(c)
    z = ad.linalg.solve(a[:, ::-1], b) + a.mT @ b + ad.linalg.inv(c)[1:3, 1]
    w = ad.linalg.expm(ad.stack([a[0], 4 * a[1], 0.01 * a[2]])) + ad.linalg.expm(c)[::2, ::2]
    return [y, z, w, *ad.gradients(y + (z**2).sum() + (w**2).sum(), [a, b, c])]


def convolutions() -> list[ad.Tensor]:
    """Of 3×3 in tiles: odd extents and channels, padding, strides, one in a nest, infinities; forward and both gradients."""
    x, w = variables((2, 5, 7, 6), (19, 5, 3, 3), dtype="float32")
    y = ad.relu(F.conv2d(x, w, padding=1) + 1)
    z = F.conv2d(ad.tensor(np.where(normal(2, 5, 7, 6, dtype="float32") > 2, np.inf, 1).astype("f4")), w, padding=2)
    strided = F.conv2d(x, w, stride=2, padding=1)
    return [y, z, *ad.gradients((y * y).sum() + (strided * strided).sum(), [x, w])]


def strips() -> list[ad.Tensor]:
    """Convolutions of few channels: alone, with what is made of their results, and with pools; strides, dilation, windows that
    don't cover all outputs."""
    x, y, w, v, b = variables((2, 1, 9, 11), (3, 3, 8, 13), (19, 1, 3, 3), (6, 3, 2, 3), (19, 1, 1), dtype="float32")
    first = F.conv2d(x, w, padding=1)
    pooled = F.max_pool2d(ad.relu(F.conv2d(x, w, padding=1) * 0.5 + b), 2)
    far = F.max_pool2d(ad.sin(F.conv2d(y, v, padding=(2, 1), dilation=(2, 1))) + 1, (1, 3))
    two = ad.relu(F.conv2d(y, v, stride=(2, 1)) - 1)
    averages = [F.avg_pool2d(ad.tanh(F.conv2d(y, -v)), 2), F.avg_pool2d(ad.relu(F.conv2d(x, -w) + b), 2, 3)]
    return [first, pooled, far, two, *averages]


def cells() -> list[ad.Tensor]:
    """Convolutions in tiles that are finished in registers, of odd and even extents, some of what isn't finite; and a pool that
    computes what it reads."""
    x, u, w, v, b = variables((2, 5, 7, 6), (2, 19, 7, 6), (19, 5, 3, 3), (19, 5, 3, 3), (19, 1, 1), dtype="float32")
    far = ad.tensor(np.where(normal(2, 5, 6, 7, dtype="float32") > 2, np.inf, 1).astype("f4"))
    pooled = [F.max_pool2d(ad.relu(F.conv2d(image, w, padding=1) + b), 2) for image in (x, far)]
    added = ad.relu(F.conv2d(x, v, padding=1) * F.conv2d(far[:, :, :5, :4], v, padding=2) + b)
    alone = F.max_pool2d(F.conv2d(far, v, padding=1) * 2.0 - b, 2)
    wide = F.max_pool2d(ad.exp(F.max_pool2d(ad.astype(u, "float64"), 2, 1, 1)) - 1, 2, 3, ceil_mode=True)
    average = F.avg_pool2d(ad.relu(F.conv2d(far, 3 * v, padding=1) + b), 2)
    return [*pooled, alone, wide, average, added, *ad.gradients(ad.relu(F.conv2d(x, 2 * v, padding=1)).sum(), [x, v])]


def complex_numbers() -> list[ad.Tensor]:
    """In order, at strides, one for a row, with real ones beside them, in both precisions."""
    a, b, c, d = variables((5, 21), (5, 21), (5, 1), (21,), dtype="float64")
    z, w = ad.astype(a, "complex128") + 1j * ad.astype(b, "complex128"), ad.astype(b - a, "complex128") * (2 - 1j)
    x = (z * w - z / w + ad.conj(z) * d) / (ad.abs(z) + 1) + c * (1 + 2j)
    y = ad.where(a > b, x[:, ::-1], -w) * 3.0
    single = ad.astype(z, "complex64")[::2, ::3] * ad.astype(w.T, "complex64")[::3, ::2].T
    loss = (ad.abs(x) ** 2).sum() + ad.real(y * ad.conj(x)).sum() + ad.imag(z).max()
    return [x, y, ad.abs(w), single, *ad.gradients(loss, [a, b, c, d])]


def numbers() -> list[ad.Tensor]:
    x = ad.tensor(np.arange(-20, 20, dtype=np.int16))
    return [x * 3 - 7, ad.abs(x) > 4, ad.astype(x, "float32") / 3, x & 5]


KINDS: dict[str, tuple[Callable[[], list[ad.Tensor]], dict[str, Any], Any]] = {
    "rows": (rows, {}, Nest),
    "long sums": (long_sums, {"block": 4}, Nest),
    "totals of chunks": (totals, {"shared_from": 1, "chunk": 64}, Nest),
    "rows side by side": (side_by_side, {"jammed_from": 1}, Nest),
    "rows past the caches": (streamed, {"jammed_from": 1, "streamed_from": 1}, Nest),
    "products": (products, {"packed_from": 4, "packed_from_if_short": 4, "joined_from": 1}, Product),
    "packed in parts": (
        products,
        {"packed_from": 4, "packed_from_if_short": 4, "worth_helping": 0, "worth_sharing": 0},
        Product,
    ),
    "long products": (
        long_products,
        {"deep": 8, "sums": 4, "most_packed": 1, "gathered_from": 4, "gathered": 8},
        Product,
    ),
    "long products packed in parts": (
        long_products,
        {
            "deep": 8,
            "sums": 4,
            "most_packed": 1,
            "packed_from": 4,
            "deep_rows": 4,
            "worth_helping": 0,
            "worth_sharing": 0,
        },
        Product,
    ),
    "long products in parts": (
        long_products,
        {"sums": 4, "parted_from": 8, "least_part": 8, "gathered_from": 4, "gathered": 8},
        Product,
    ),
    "attention": (attention, {"followed_from": 1, "followed_tile": 1, "joined_from": 1}, Nest),
    "pools": (pools, {}, Window),
    "convolutions": (
        convolutions,
        {"winograd_from": 2, "winograd_least": 1, "winograd_tiles": 7, "winograd_sums": 5, "joined_from": 1},
        Window,
    ),
    "strips": (strips, {}, Nest),
    "cells": (cells, {"winograd_from": 2, "winograd_least": 1, "winograd_tiles": 7}, Nest),
    "across": (across, {}, Nest),
    "across in chunks": (across, {"shared_from": 1, "chunk": 64}, Nest),
    "moves": (moves, {}, Move),
    "numbers": (numbers, {}, Nest),
    "pieces": (gates, {}, Nest),
    "columns": (columns, {}, Nest),
    "complex numbers": (complex_numbers, {}, Nest),
    "matrices written out": (matrices, {"most_unrolled": 10**6}, Matrices),
    "matrices in loops": (matrices, {"most_unrolled": 0}, Matrices),
    "matrices in chunks": (matrices, {"chunk": 1}, Matrices),
}


@pytest.mark.parametrize("kind", KINDS)
def test_units(kind: str) -> None:
    """What machine code gives the loops give, to the bit, and about what the plan's steps give one by one."""
    make, changes, expected = KINDS[kind]
    plan, leaves, free = planned(*make())
    with tuned(**changes), np.errstate(all="ignore"):
        program = compile_nests(plan)
        assert program is not None
        units = program.fusion.units
        assert any(isinstance(unit, expected) for unit in units)
        if kind == "attention":
            assert any(isinstance(unit, Nest) and unit.made for unit in units)
        if kind in ("strips", "cells"):
            nests = [unit for unit in units if isinstance(unit, Nest) and unit.by_cells]
            assert any(nest.products and nest.followers for nest in nests)
            assert any(nest.products and not nest.followers for nest in nests)
        for unit in units:
            if not isinstance(unit, Host) and not (isinstance(unit, Nest) and not unit.stored):
                written = write_unit(key_of(program.fusion, unit)[0])
                check(written.functions)
                assert functions_text(written.functions, written.arguments)
        found = program.run(leaves, free, True)
        loops = Oracle(program.fusion, leaves, free).run()
        steps = Streaming(plan).run(leaves, free, True)
    for a, b, c in zip(found, loops, steps, strict=True):
        assert np.shape(a) == b.shape == np.shape(c)
        assert bits(a) == bits(b)
        wide = np.result_type(np.asarray(a), np.float64)
        expected = np.asarray(c, wide)
        largest = np.abs(expected[np.isfinite(expected)]).max(
            initial=0
        )  # small elements of a convolution are differences
        np.testing.assert_allclose(np.asarray(a, wide), expected, 2e-5, 2e-5 + 1e-6 * largest)


# What is fetched ahead -----------------------------------------------------------------------------------------------------

CACHE_LINE = 64  # bytes


def fetched(monkeypatch: pytest.MonkeyPatch, *roots: ad.Tensor) -> list[tuple[Any, set[int]]]:
    """Each memory of which something is fetched ahead, and the lines of it."""
    found: dict[int, tuple[Any, set[int]]] = {}

    def note(run: Run, env: dict[str, Any], s: L.Prefetch) -> None:
        memory, at = env[s.pointer]
        found.setdefault(id(memory), (memory, set()))[1].add(at // CACHE_LINE)

    monkeypatch.setitem(RUN, L.Prefetch, note)  # type: ignore[misc]
    plan, leaves, free = planned(*roots)
    program = compile_nests(plan)
    assert program is not None
    oracle = Oracle(program.fusion, leaves, free)
    oracle.run()
    return list(found.values())


def test_products_fetch_what_is_near_for_all_of_a_long_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums in blocks: each block fetches a part of what the nest behind the product reads."""
    a, b, c = [ad.tensor(normal(n, 32, dtype="float32", seed=k)) for k, n in enumerate((24, 32, 24))]
    with tuned(deep=8, sums=4, joined_from=1):
        made = fetched(monkeypatch, a @ b + c)
    (lines,) = [lines for memory, lines in made if memory.tobytes() == c.numpy().tobytes()]
    assert len(lines) >= 24 * 32 * 4 // CACHE_LINE // 2  # tiles take turns with the array that is written


def test_winograds_convolutions_fetch_the_pixels_and_weights_that_come_next(monkeypatch: pytest.MonkeyPatch) -> None:
    channels, width = 16, 128
    x, w = [ad.tensor(normal(*shape, dtype="float32")) for shape in ((8, channels, 4, 4), (width, channels, 3, 3))]
    made = fetched(monkeypatch, F.conv2d(x, w, padding=1).mean(axis=(0, 2, 3)))
    size = 16 * channels * width * 4
    (pixels,) = [lines for memory, lines in made if memory.size == x.numpy().nbytes]
    assert len(pixels) >= x.numpy().nbytes // CACHE_LINE // 2
    (lines,) = [lines for memory, lines in made if size <= memory.size < 1.1 * size]
    panels = width // (max(tuning().heights)[0] * lanes_of("float32"))
    assert len(lines) >= size // CACHE_LINE * (panels - 1) // panels


# Printed loops -------------------------------------------------------------------------------------------------------------

PRINTED = Path(__file__).parent / "loops"


def softmax() -> list[ad.Tensor]:
    return [ad.softmax(ad.variable(normal(6, 40, dtype="float32"), name="x"), axis=-1)]


def layer_norm() -> list[ad.Tensor]:
    return [F.layer_norm(ad.variable(normal(6, 40, dtype="float32"), name="x"), 40)]


def product() -> list[ad.Tensor]:
    a, b = ad.variable(normal(6, 40, dtype="float32"), name="a"), ad.variable(normal(40, 16, dtype="float32"), name="b")
    return [a @ b]


@pytest.mark.parametrize("formula", [softmax, layer_norm, product, attention], ids=lambda f: f.__name__)
def test_printed_loops(formula: Callable[[], list[ad.Tensor]]) -> None:
    """To accept what has changed: ADJOINT_ACCEPT=1 pytest -k printed with this file's name, and read the difference."""
    plan, _, _ = planned(*formula())
    texts = []
    with instead("avx2"), tuned(followed_from=1, followed_tile=1, joined_from=1):
        fusion = pipeline.lowered(plan)
        assert not isinstance(fusion, str)
        labels = Labels(fusion.plan)
        for number, unit in enumerate(fusion.units, 1):
            if isinstance(unit, Host) or (isinstance(unit, Nest) and not unit.stored):
                continue
            key, starts = key_of(fusion, unit)
            texts.append(f"{number}  {unit.lines()[0]}\n\n{pipeline.code_text(key, starts, labels, 'loops')}\n")
    path = PRINTED / f"{formula.__name__}.txt"
    if os.environ.get("ADJOINT_ACCEPT"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(texts))
    assert "\n".join(texts) == path.read_text()


def convolved(examples: int = 8, side: int = 32) -> list[ad.Tensor]:
    shape = (examples, 3, side, side)
    x, w = ad.variable(normal(*shape, dtype="float32")), ad.variable(normal(16, 3, 3, 3, dtype="float32"))
    return [F.max_pool2d(ad.relu(F.conv2d(x, w, padding=1)), 2)]


def large_products() -> list[ad.Tensor]:
    a, b, c = [ad.variable(normal(*shape, dtype="float32")) for shape in ((3000, 64), (3000, 80), (500, 500))]
    return [a.T @ b, ad.relu(c @ c[:, ::2] + 1), c @ c[0]]


def sums_by_column() -> list[ad.Tensor]:
    x = ad.variable(normal(1000, 20, dtype="float32"))
    return [ad.sum(x, axis=0), x.T + 1.0]


def lines() -> list[ad.Tensor]:
    """Units along an axis, small matrices and a move: all of equal blocks."""
    x = ad.variable(normal(40, 24))
    stack = ad.variable(normal(30, 3, 3) + 3 * np.eye(3))
    running = [ad.cumsum(x, axis=0), ad.cumsum(x, axis=1), ad.logcumsumexp(x[:2], axis=1), ad.argsort(x[:, :4], axis=1)]
    return [*running, ad.fft.rfft(x), ad.fft.fft(x, axis=0), ad.linalg.inv(stack), ad.concat([x, x[::-1]], axis=0)]


SCHEDULES = (softmax, layer_norm, product, attention, convolved, large_products, sums_by_column, lines)


def scheduled(tensors: list[ad.Tensor]) -> list[str]:
    """How the units of a program run."""
    fusion = pipeline.lowered(planned(*tensors)[0])
    assert not isinstance(fusion, str)
    units = [
        unit for unit in fusion.units if not isinstance(unit, Host) and not (isinstance(unit, Nest) and not unit.stored)
    ]
    return [str(schedule_of(key_of(fusion, unit)[0])) for unit in units]


def test_printed_schedules() -> None:
    """How units run, in words. What has changed is accepted as printed loops are."""
    with instead("avx2"), tuned(followed_from=1, followed_tile=1, joined_from=1):
        parts = ["\n  ".join([formula.__name__, *scheduled(formula())]) for formula in SCHEDULES]
    text = "\n\n".join([*parts, ""])
    path = PRINTED / "schedules.txt"
    if os.environ.get("ADJOINT_ACCEPT"):
        path.write_text(text)
    assert text == path.read_text()


def otherwise(how: Schedule | BlockSchedule) -> Schedule | BlockSchedule:
    """The same unit by other decisions, of those that may be otherwise."""
    if isinstance(how, BlockSchedule):
        return how._replace(step=how.together, chunks=-(-how.blocks // how.together)) if how.blocks > 1 else how
    nest, before = how.nest, list(how.before)
    if nest is not None:
        together = nest.columns or nest.turned
        nest = nest._replace(turned=(), turned_rows=0, columns=0, streamed=(), scaled=(), reciprocals=False)
        nest = nest if together or nest.flat or nest.jammed or nest.partial or before else nest._replace(step=1)
    for k, one in enumerate(before):
        if isinstance(one, WindowSchedule):
            before[k] = one._replace(strip=2) if one.strip > 2 else one
        elif one.panels:
            lower = tuple([(vectors, max(height - 1, 1)) for vectors, height in one.heights])
            before[k] = one._replace(heights=lower, overlap=0, packing_parts=1)
    return how._replace(nest=nest, before=tuple(before))


def few_convolved() -> list[ad.Tensor]:
    return convolved(2, 16)  # the loop interpreter takes minutes over more


@pytest.mark.parametrize(
    "formula", [rows, across, columns, attention, few_convolved, products, lines], ids=lambda f: f.__name__
)
def test_units_run_by_any_schedule(formula: Callable[[], list[ad.Tensor]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who writes a unit follows what its schedule says, and decides nothing beside it."""
    plan, leaves, free = planned(*formula())
    with tuned(joined_from=1, followed_from=1), np.errstate(all="ignore"):
        fusion = pipeline.lowered(plan)
        assert isinstance(fusion, Fusion)
        expected = Oracle(fusion, leaves, free).run()
        changed = set()

        def written(key: Any) -> Any:
            how = schedule_of(key)
            if how is None:
                return write_unit(key)
            changed.add(how != otherwise(how))
            return write_unit(key, otherwise(how))

        monkeypatch.setattr(loop_oracle, "write_unit", written)
        found = Oracle(fusion, leaves, free).run()
    assert True in changed
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, 1e-5, 1e-5 * np.abs(b).astype(np.float64).max())


def test_who_writes_a_unit_asks_no_table() -> None:
    """What was measured decides schedules; all units but moves are written by these alone."""
    folder = Path(loops.__file__).parent
    names = ("nest", "totals", "matmul", "products", "parts", "vector", "windows", "direct", "cells", "running", "transform",
             "ordering", "matrices", "lapack", "blocked")  # fmt: skip
    for path in [
        *[folder / f"build_{name}.py" for name in names],
        folder / "nest_values.py",
        folder / "vector_loop.py",
    ]:
        assert "tuning" not in path.read_text(), path.name


def test_a_height_is_changed_in_one_place() -> None:
    """The table says how high tiles are, and every schedule follows."""
    with tuned(heights=((4, 4), (3, 4), (2, 4), (1, 4))):
        assert any("tiles of 4×" in one for one in scheduled(large_products()))


def test_a_schedule_is_a_value() -> None:
    """It compares, it can't be written into, and a unit is written by any that it is given."""
    fusion = pipeline.lowered(planned(*softmax())[0])
    assert not isinstance(fusion, str)
    (unit,) = [unit for unit in fusion.units if isinstance(unit, Nest) and unit.stored]
    key, _ = key_of(fusion, unit)
    how = schedule_of(key)
    assert isinstance(how, Schedule)
    assert how.nest is not None
    assert how == schedule_of(key)
    with pytest.raises(AttributeError):
        how.nest.lanes = 1  # type: ignore[misc]
    for field in how.nest:
        assert not isinstance(field, list | dict | set)
    narrow = how._replace(nest=how.nest._replace(lanes=1))
    assert narrow != how
    assert write_unit(key, how).source == write_unit(key).source
    functions = write_unit(key, narrow).functions
    check(functions)
    assert write_unit(key, narrow).source != write_unit(key).source


# What decides in which order sums are added up, or who computes a product.
ORDER = (
    "most_steps", "longest_row", "look_back", "block", "unroll", "shared_from", "chunk", "most_chunks", "sums", "deep",
    "largest", "narrowest", "small", "library", "joined_from", "joined_tile", "followed_from", "followed_tile",
    "followed_matrix", "image_tile", "weight_parts", "parted_from", "most_parts", "least_part", "largest_parts",
    "least_columns", "least_of_row",
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(TUNING))
def test_rows_of_the_table_differ_in_what_decides_no_bit(name: str) -> None:
    """Of two processors with vectors of the same width both give the same results."""
    for field in ORDER:
        assert getattr(TUNING[name], field) == getattr(Tuning(), field), field


def test_gathering_decides_no_bit() -> None:
    """Sums of more than 512 products are added up in the same blocks, if the left matrix is gathered and if it isn't."""
    a, b = [ad.tensor(np.random.default_rng(k).normal(size=(700, n)).astype("f4")) for k, n in enumerate((90, 70))]
    found = []
    for gathered_from in (256, 1 << 20):
        with tuned(gathered_from=gathered_from):
            plan, leaves, free = planned(a.T @ b)
            program = compile_nests(plan)
            assert program is not None
            found.append(program.run(leaves, free, True)[0])
    assert found[0].tobytes() == found[1].tobytes()
    np.testing.assert_allclose(found[0], a.numpy().T @ b.numpy(), 1e-4, 1e-3)


def test_numbers_stand_on_either_side_of_an_operation():
    e = Emitter(4)
    with e.loop("0", "%n", 4) as i:
        x = e.load("%x", i, "float32", 1)
        e.store(e.multiply(2.0, e.add(1.0, e.subtract(3.0, e.divide(e.divide(6.0, x), 2.0)))), "%out", i)
    function = e.function("sides", (("ptr", "%x"), ("ptr", "%out"), ("i64", "%n")), False)
    check([function])
    x, out = np.array([1.0, 2.0, 3.0, 6.0], "f4"), np.zeros(4, "f4")
    Run({}, {}).call(function, [Pointer(x.view("u1"), 0), Pointer(out.view("u1"), 0), 4])
    np.testing.assert_array_equal(out, 2 * (1 + (3 - 6 / x / 2)))
