"""Kernels of matrix products and convolutions that come with the package: the same code as if it were compiled here."""

import ctypes
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint import runtime
from adjoint.compiler import linking, shipped_tiles
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.matmul_tiles import Kernel
from adjoint.compiler.targets import target
from adjoint.runtime import code

FITS = shipped_tiles.find(shipped_tiles.KERNELS[0], target.target()) is not None
elsewhere = pytest.mark.skipif(not FITS, reason="the package has no such code for this processor")


def test_machine_code_is_that_of_the_texts_that_would_be_compiled() -> None:
    """Whoever changes them runs `make native`."""
    contents = (Path(runtime.__file__).parent / "tiles.avx2").read_bytes()
    with target.instead("avx2"):
        text = shipped_tiles.text()
    assert contents.startswith(hashlib.sha256(text.encode()).hexdigest().encode())
    names = {word.split("=")[0] for word in contents.partition(b"\n")[0].decode().split()[1:]}
    assert names == {f"{kernel}.tile" for kernel in shipped_tiles.KERNELS}


def test_both_kinds_of_processors_get_the_same_texts() -> None:
    texts = []
    for kind in ("avx2", "zen2"):
        with target.instead(kind):
            texts.append(shipped_tiles.text())
    assert texts[0] == texts[1]


def test_another_tuning_or_processor_is_compiled_for() -> None:
    one = shipped_tiles.KERNELS[0]
    with target.tuned(fetched_ahead=9):
        assert shipped_tiles.find(one, target.target()) is None
    for kind in ("avx512", "neon", "avx2"):
        with target.instead(kind):
            assert shipped_tiles.find(one, target.target()) is None
    assert shipped_tiles.find(Kernel("tile", "float64", 6, 2), target.target()) is None


ROW, DEPTH = 80, 37  # elements of a row of any array here, and products in a sum


def arguments(kernel: Kernel, into: np.ndarray) -> list[Any]:
    """What a kernel is called with, to write into an array."""
    draw = np.random.default_rng(len(str(kernel))).normal
    read = [draw(size=(ROW, ROW)).astype("f4") for _ in range(2)]
    (a, b), c = [ctypes.c_void_p(x.ctypes.data) for x in read], ctypes.c_void_p(into.ctypes.data)
    if kernel.name == "gather":
        found = [a, ROW, c, kernel.rows, DEPTH * kernel.rows, DEPTH, 4]
    elif kernel.name == "turn":
        found = [a, ROW, c, 16, DEPTH, 5]
    else:
        steps = {"": (ROW, 2), "steps": (ROW, 1), "rows": (1, kernel.rows)}[kernel.together]
        found = [a, *steps, b, ROW, c, ROW, DEPTH, 5, ctypes.c_bool(True), a, b, ROW]
    return [ctypes.c_int64(x) if type(x) is int else x for x in found] + [read]


@elsewhere
@pytest.mark.parametrize("kernel", [x for x in shipped_tiles.KERNELS if x.name in ("tile", "gather", "turn")], ids=str)
def test_a_kernel_gives_the_bits_of_the_compiled_one(kernel: Kernel) -> None:
    (compiled,) = code.load([matmul_tiles.source(kernel)])
    shipped = shipped_tiles.find(kernel, target.target())
    assert shipped is not None
    results = []
    for one in (shipped, compiled):
        into = np.arange(ROW * ROW, dtype=np.float32).reshape(ROW, ROW)
        *given, _ = arguments(kernel, into)
        ctypes.CFUNCTYPE(None, *map(type, given))(one.addresses["tile"])(*given)
        results.append(into)
    np.testing.assert_array_equal(*[x.view(np.uint32) for x in results])
    assert (results[0] != np.arange(ROW * ROW).reshape(ROW, ROW)).any()


Results = list[np.ndarray]


def products() -> Results:
    draw = np.random.default_rng(0).normal
    x, w, v = [ad.tensor(draw(size=shape).astype("f4")) for shape in ((96, 300), (300, 48), (96, 48))]
    return [np.asarray(y) for y in ad.jit(lambda x, w, v: (x @ w, v @ w.mT, x.mT @ v))(x, w, v)]


def convolutions() -> Results:
    """With steps of one and of two, and their gradients; extents are odd, so that some of it goes by the definition."""
    draw = np.random.default_rng(0).normal
    x, w = [ad.tensor(draw(size=shape).astype("f4")) for shape in ((4, 16, 17, 15), (24, 16, 3, 3))]
    found: Results = []
    for step in (1, 2):

        def loss(x, w, step=step):
            y = ad.nn.functional.conv2d(x, w, stride=step, padding=1)
            return (y * y).sum(), y

        gradients, y = ad.jit(ad.grad(loss, argnums=(0, 1), has_aux=True))(x, w)
        found += [np.asarray(one) for one in (*gradients, y)]
    return found


@elsewhere
@pytest.mark.parametrize("computed", [products, convolutions])
def test_results_have_the_bits_of_what_is_compiled(
    computed: Callable[[], Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    find, used = shipped_tiles.find, set()

    def noted(kernel: Kernel, kind: target.Target) -> code.Code | None:
        held = find(kernel, kind)
        used.update([kernel] if held is not None else [])
        return held

    results = []
    for function in (noted, lambda kernel, kind: None):
        linking.forget()
        monkeypatch.setattr(shipped_tiles, "find", function)
        results.append(computed())
    linking.forget()
    for x, y in zip(*results, strict=True):
        np.testing.assert_array_equal(x.view(np.uint32), y.view(np.uint32))
    if computed is products:
        assert {kernel.name for kernel in used} == {"gather", "gathers", "tile", "tiles", "turn", "turns"}
    else:
        assert used >= {kernel for kernel in shipped_tiles.KERNELS if kernel.name.startswith("winograd")}
