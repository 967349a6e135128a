"""Runs random graphs natively with a protected page behind or before every array: a stray access ends the process.

Called as a program: guarded.py FIRST LAST, the seeds of the graphs; `guarded.py planted` gives a program an array that is one
element short, which must end the process.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

import adjoint as ad
from adjoint.execution.native import program
from adjoint.execution.native.program import compile_nests
from adjoint.execution.numpy_programs import Streaming
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.plan import build

PAGE = mmap.PAGESIZE
protect = ctypes.CDLL(None, use_errno=True).mprotect
protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
alive: list[Any] = []


def pages(size: int) -> int:
    return -(-size // PAGE) * PAGE


def guarded(nbytes: int, behind: bool) -> tuple[np.ndarray, int]:
    """Memory between two protected pages, and where in it the bytes start: they end, or begin, right beside one."""
    whole = pages(max(nbytes, 1))
    memory = mmap.mmap(-1, whole + 2 * PAGE)
    block = np.frombuffer(memory, np.uint8)
    alive.append(memory)
    for at in (0, whole + PAGE):
        assert protect(block.ctypes.data + at, PAGE, 0) == 0, ctypes.get_errno()
    return block, PAGE + (whole - nbytes if behind else 0)


def array(shape: tuple[int, ...], dtype: Any, nbytes: int, behind: bool) -> np.ndarray:
    block, start = guarded(nbytes, behind)
    return block[start : start + nbytes].view(dtype).reshape(shape)


def place_apart(behind: bool) -> Any:
    """Instead of memory.place: every inner array between protected pages."""

    def place(lifetimes: list[Any]) -> tuple[dict[Any, int], int]:
        offsets, total = {}, PAGE
        for item in lifetimes:
            whole = pages(max(item.size, 1))
            offsets[item.key] = total + (whole - item.size if behind else 0)
            total += whole + PAGE
        gaps.clear()
        gaps.append(0)
        at = PAGE
        for item in lifetimes:
            at += pages(max(item.size, 1))
            gaps.append(at)
            at += PAGE
        return offsets, total

    return place


gaps: list[int] = []


def take_apart(size: int) -> SimpleNamespace:
    memory = mmap.mmap(-1, pages(size) + PAGE)
    block = np.frombuffer(memory, np.uint8)
    alive.append(memory)
    for at in (*gaps, pages(size)):
        assert protect(block.ctypes.data + at, PAGE, 0) == 0
    return SimpleNamespace(array=block)


SIDES = (1, 2, 3, 5, 8, 16, 17, 31, 33, 64, 100)


def graph(random: np.random.Generator) -> list[Any]:
    """Outputs of a random program over arrays of a few related shapes, some of them empty of interest: 0-d, single, strided."""
    n, m, k = (int(random.choice(SIDES)) for _ in range(3))
    dtype = random.choice(["float32", "float64"])

    def draw(*shape: int) -> Any:
        return ad.tensor(random.normal(size=shape).astype(dtype))

    pool = [draw(n, m), draw(n, m), draw(m), draw(n, 1), draw(), draw(k, n, m), draw(m, k), draw(1, m)]
    if random.random() < 0.3:
        pool.append(draw(2 * n, m)[::2])
    if random.random() < 0.3:
        pool.append(ad.permute_dims(draw(m, n), (1, 0)))
    if random.random() < 0.1:
        pool.append(draw(int(random.integers(30_000, 90_000))))
    for _ in range(int(random.integers(3, 14))):
        x = pool[int(random.integers(len(pool)))]
        kind = int(random.integers(15))
        if kind < 4:
            y = pool[int(random.integers(len(pool)))]
            try:
                np.broadcast_shapes(x.shape, y.shape)
            except ValueError:
                continue
            z = [x + y, x * y, ad.where(x > y, x, y), ad.maximum(x, -y)][kind]
        elif kind == 4:
            z = [ad.sin, ad.tanh, ad.exp, ad.sigmoid, ad.relu, ad.abs, ad.erf][int(random.integers(7))](x)
        elif kind == 5 and x.ndim:
            axis = int(random.integers(x.ndim))
            z = [ad.sum, ad.max, ad.mean][int(random.integers(3))](x, axis=axis, keepdims=bool(random.integers(2)))
        elif kind == 6 and x.ndim:
            z = ad.softmax(x, axis=int(random.integers(x.ndim)))
        elif kind == 7 and x.ndim == 2 and x.shape[1] == m:
            z = x @ pool[6]
        elif kind == 8 and x.ndim:
            z = ad.flip(x, axis=int(random.integers(x.ndim)))
        elif kind == 9 and x.ndim:
            z = x[1:] if x.shape[0] > 1 else x.reshape((-1,))
        elif kind == 10 and x.ndim >= 2:
            z = x.mT * 1.5
        elif kind == 11 and x.ndim:
            z = x[ad.tensor(random.integers(-x.shape[0], x.shape[0], int(random.integers(1, 20))))]
        elif kind == 12 and x.ndim:
            z = ad.concat([x, x * 2.0], axis=int(random.integers(x.ndim)))
        elif kind == 13 and x.ndim:
            w = int(random.integers(1, 10))
            wide = ad.pad(x, w)
            z = wide[tuple([slice(k := int(random.integers(2 * w)), k + n) for n in x.shape])] * 2.0
        else:
            z = (x > 0) & (x < 1)
            z = ad.where(z, x, z.astype(dtype))
        if z.size <= 200_000:
            pool.append(z)
    return pool[8:] or [pool[0] * 2.0]


def check(seed: int) -> None:
    random = np.random.default_rng(seed)
    behind = bool(random.integers(2))
    outputs = [y for y in graph(random) if y.node.value is None]
    if not outputs:
        return
    c = canonicalize([y.node for y in outputs])
    plan = build(c, list(dict.fromkeys(c.number[y.node] for y in outputs)), False)
    leaves, numbers = [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]
    with np.errstate(all="ignore"):
        expected = Streaming(plan).run(leaves, numbers, True)
    program.place, program.take = place_apart(behind), take_apart
    program.give_back = lambda block: None
    program.new_array = lambda shape, dtype, nbytes: array(shape, dtype, nbytes, behind)
    compiled = compile_nests(plan)
    if compiled is None:
        return
    given = []
    for x in leaves:
        there = array(x.shape, x.dtype, x.nbytes, behind)
        there[...] = x
        given.append(there)
    for found, other in zip(compiled.run(given, numbers, True), expected, strict=True):
        tolerance = 2e-4 if found.dtype == np.float32 else 1e-10
        np.testing.assert_allclose(found, other, tolerance, tolerance, err_msg=f"seed {seed}")
    alive.clear()


def check_planted() -> None:
    y = ad.sin(ad.tensor(np.ones(100))) * 2.0
    c = canonicalize([y.node])
    compiled = compile_nests(build(c, [c.number[y.node]], False))
    assert compiled is not None
    short = array((99,), np.float64, 99 * 8, True)
    compiled.run([np.lib.stride_tricks.as_strided(short, (100,))], [v for v, _ in c.numbers], True)


if __name__ == "__main__":
    if sys.argv[1] == "planted":
        check_planted()
        sys.exit("the short array went unnoticed")
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        check(seed)
    print("no stray access")
