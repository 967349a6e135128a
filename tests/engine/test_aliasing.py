"""What a tensor holds never changes: it shares no memory that somebody may write into."""

from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad

Source = tuple[Any, Callable[[], Any]]  # what a tensor is made of, and what writes into it afterwards


def written(array: np.ndarray) -> Callable[[], Any]:
    return lambda: array.__setitem__(..., 7)


def plain(folder: Path) -> Source:
    array = np.zeros((4, 3), "f")
    return array, written(array)


def read_only_view(folder: Path) -> Source:
    array = np.zeros((4, 3), "f")
    view = array[1:]
    view.flags.writeable = False
    return view, written(array)


def made_writable_again(folder: Path) -> Source:
    array = np.zeros((4, 3), "f")
    array.flags.writeable = False

    def write() -> None:
        array.flags.writeable = True
        array[...] = 7

    return array, write


def windows(folder: Path) -> Source:
    array = np.zeros(9, "f")
    return np.lib.stride_tricks.sliding_window_view(array, 3), written(array)


def strided(folder: Path) -> Source:
    array = np.zeros(9, "f")
    return np.lib.stride_tricks.as_strided(array, (3, 3), (4, 4), writeable=False), written(array)


def spread(folder: Path) -> Source:
    array = np.zeros(3, "f")
    return np.broadcast_to(array, (4, 3)), written(array)


def bytes_that_change(folder: Path) -> Source:
    memory = bytearray(36)
    return np.frombuffer(memory, "f"), lambda: memory.__setitem__(slice(None), b"a" * 36)


def view_of_bytes_that_change(folder: Path) -> Source:
    memory = bytearray(36)
    return np.frombuffer(memoryview(memory).toreadonly(), "f"), lambda: memory.__setitem__(slice(None), b"a" * 36)


def file_in_memory(folder: Path) -> Source:
    (folder / "file").write_bytes(bytes(36))
    array = np.memmap(folder / "file", "f", "r")
    other = np.memmap(folder / "file", "f", "r+")
    return array, written(other)


def mapping(folder: Path) -> Source:
    memory = mmap.mmap(-1, 4096)
    return np.frombuffer(memory, "f", 9), lambda: memory.write(b"a" * 36)


def lent_by_another_library(folder: Path) -> Source:
    array = np.zeros(9, "f")
    view = array.view()
    view.flags.writeable = False

    class Lender:  # as PyTorch's tensors are
        def __dlpack__(self, **keywords: Any) -> Any:
            return array.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    return Lender(), written(array)


def interface(folder: Path) -> Source:
    array = np.zeros(9, "f")

    class Lender:
        def __init__(self) -> None:
            self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, True)}

    return np.asarray(Lender()), written(array)


def buffer_of_python(folder: Path) -> Source:
    buffer = array.array("f", [0.0] * 12)
    return buffer, lambda: buffer.__setitem__(3, 7.0)


def read_only_memory(folder: Path) -> Source:
    memory = np.zeros((4, 3), "f")
    return memoryview(memory).toreadonly(), written(memory)


def lent_by_c(folder: Path) -> Source:
    numbers = (ctypes.c_float * 12)()
    return numbers, lambda: numbers.__setitem__(3, 7.0)


SOURCES = [
    plain, read_only_view, made_writable_again, windows, strided, spread, bytes_that_change, view_of_bytes_that_change,
    file_in_memory, mapping, lent_by_another_library, interface,
    buffer_of_python, read_only_memory, lent_by_c,
]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "make",
    [ad.tensor, ad.variable, ad.asarray, lambda x: ad.asarray(x).reshape(-1), lambda x: ad.nn.Parameter(ad.tensor(x))],
)
def test_writing_to_what_it_was_made_of_changes_no_tensor(
    source: Callable[[Path], Source], make: Any, tmp_path: Path
) -> None:
    given, write = source(tmp_path)
    tensor = make(given)
    write()
    assert not tensor.numpy().any()


@pytest.mark.parametrize("source", SOURCES)
def test_writing_to_an_operand_changes_no_result(source: Callable[[Path], Source], tmp_path: Path) -> None:
    given, write = source(tmp_path)
    if not isinstance(given, np.ndarray):
        pytest.skip("no operand")
    x = ad.tensor(np.ones(given.shape, "f"))
    pending = x * given
    write()
    assert not pending.numpy().any()


def test_a_view_of_a_value_can_not_be_made_writable() -> None:
    t = ad.tensor([[1.0, 2.0], [3.0, 4.0]]) * 2
    for view in (t.numpy(), t.numpy()[0], t.numpy().T, np.asarray(t), t.numpy().view(), ad.ones((3, 2)).numpy()):
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0
    assert t.tolist() == [[2, 4], [6, 8]]
    for shape in ((), (0, 3), (3, 0), (2, 1, 2)):
        for dtype in ("float32", "float64", "complex64", "complex128", "bool", "int8", "uint64"):
            x = np.ones(shape, dtype)
            view = ad.tensor(x).numpy()
            assert type(view) is np.ndarray and view.dtype == x.dtype and view.shape == shape
            np.testing.assert_array_equal(view, x)


def test_what_never_changes_is_not_copied() -> None:
    t = ad.tensor(np.arange(1000.0))
    assert np.shares_memory(ad.tensor(t.numpy()).numpy(), t.numpy())
    assert np.shares_memory(ad.tensor(t.numpy()[10:]).numpy(), t.numpy())
    memory = np.arange(100.0).tobytes()
    array = np.frombuffer(memory)
    assert np.shares_memory(ad.tensor(array).numpy(), array)
