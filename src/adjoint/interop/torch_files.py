"""Tensors in files that `torch.save` wrote, read without PyTorch and without running what stands in them.

Such a file is a pickle beside the bytes of its tensors: in a zip archive, or, before PyTorch 1.6, one after the other. A
pickle may name any function to be called; here the names of tensors, their storages and of plain containers lead to functions
of this module, and any other name is an error.
"""

from __future__ import annotations

import io
import math
import os
import pickle
import pickletools
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adjoint.dtypes import bfloat16
from adjoint.tensors.functions import asarray, variable
from adjoint.tensors.located import at_user

from . import numpy_parts
from .bits import EIGHT_BITS, from_bits, from_eight_bits

__all__ = ["Place", "is_torch_file", "load_torch", "read_torch"]

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001  # what files older than the archives begin with
STORAGES = {
    "DoubleStorage": "f8", "FloatStorage": "f4", "HalfStorage": "f2", "BFloat16Storage": "bf16", "LongStorage": "i8",
    "IntStorage": "i4", "ShortStorage": "i2", "CharStorage": "i1", "ByteStorage": "u1", "BoolStorage": "?",
    "ComplexFloatStorage": "c8", "ComplexDoubleStorage": "c16",
}  # fmt: skip
KINDS = {"uint16": "u2", "uint32": "u4", "uint64": "u8", "complex32": "complex32"} | {name: name for name in EIGHT_BITS}
DTYPES = {
    "float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
    "complex128", *KINDS,
}  # fmt: skip
AS_STORED = {"bf16": "u2", "complex32": "u4", **dict.fromkeys(EIGHT_BITS, "u1")}  # what NumPy has no dtype for
LARGEST = 1 << 30  # bytes of all tensors that repeat smaller storages, or are sparse


class Storage(NamedTuple):
    """A run of numbers in the file, by its key."""

    key: str
    kind: str


class Stored(NamedTuple):
    """A tensor: a view of a storage. Its numbers may be stored conjugate, or with the other sign."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    trained: bool
    conjugate: bool = False
    negative: bool = False


class Place(NamedTuple):
    """Where a tensor lies: which elements of a storage, and the storage."""

    tensor: Any
    stored: Stored
    numbers: np.ndarray[Any, Any]


class Sparse(NamedTuple):
    """A sparse tensor: where its numbers stand, and the numbers."""

    layout: str
    places: tuple[Stored, ...]
    values: Stored
    shape: tuple[int, ...]


def _tensor(
    storage: Any,
    offset: Any,
    shape: Any,
    strides: Any,
    trained: Any = False,
    hooks: Any = None,
    bits: Any = None,
    *_: Any,
) -> Stored:
    if not isinstance(storage, Storage) or not storage.kind:
        raise pickle.UnpicklingError("a tensor without a storage")
    told = bits if isinstance(bits, dict) else {}
    if strange := sorted(str(name) for name, value in told.items() if value and name not in ("conj", "neg")):
        raise pickle.UnpicklingError(f"a tensor that is {', '.join(strange)}")
    sizes = tuple(map(int, shape)), tuple(map(int, strides))
    return Stored(storage, int(offset), *sizes, bool(trained), bool(told.get("conj")), bool(told.get("neg")))


def _tensor_of_kind(
    storage: Any, offset: Any, shape: Any, strides: Any, trained: Any, hooks: Any, kind: Any, bits: Any = None, *_: Any
) -> Stored:
    """A tensor of a dtype that has no class of storage."""
    if not isinstance(storage, Storage) or kind not in KINDS:
        raise pickle.UnpicklingError(f"a tensor of the dtype {kind}")
    return _tensor(storage._replace(kind=KINDS[kind]), offset, shape, strides, trained, hooks, bits)


def _parameter(data: Any, trained: Any, *others: Any) -> Any:
    return data._replace(trained=bool(trained)) if isinstance(data, Stored) else data


def _tensor_of_class(function: Any, kind: Any, args: Any, state: Any) -> Any:
    """A tensor, parameter or buffer with attributes of its own, which are passed over."""
    if kind not in CLASSES or getattr(function, "_function", None) not in (
        _tensor,
        _tensor_of_kind,
        _parameter,
        _sparse,
    ):
        raise pickle.UnpicklingError("a tensor of an unknown class")
    return function(*args)


def _sparse(layout: Any, parts: Any) -> Sparse:
    *tensors, shape = [x for x in parts if not isinstance(x, bool)]
    places, values = tensors[:-1], tensors[-1]
    expected = {"torch.sparse_coo": 1, **{f"torch.sparse_{kind}": 2 for kind in ("csr", "csc", "bsr", "bsc")}}
    if expected.get(layout) != len(places) or not all(isinstance(x, Stored) for x in tensors):
        raise pickle.UnpicklingError(f"a tensor of the layout {layout}")
    return Sparse(layout.removeprefix("torch.sparse_"), tuple(places), values, tuple(map(int, shape)))


def _layout(name: Any) -> str:
    return str(name)


def _device(kind: Any, index: Any = None) -> str:
    return str(kind) if index is None else f"{kind}:{index}"


def _encoded(text: Any, coding: Any) -> bytes:
    """What pickles of protocol 2 make bytes by."""
    if not isinstance(text, str) or coding != "latin1":
        raise pickle.UnpicklingError("bytes in an unknown coding")
    return text.encode(coding)


def _no_bytes(*args: Any) -> bytes:
    """What they make no bytes by."""
    if args:
        raise pickle.UnpicklingError("bytes that are computed")
    return b""


def _counted(counts: Any = ()) -> Counter[Any]:
    return Counter({key: int(count) for key, count in dict(counts).items()})


CLASSES = {"torch.Tensor", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer"}
KNOWN: dict[str, Any] = {
    **{name: name for name in CLASSES},
    "torch._tensor._rebuild_from_type_v2": _tensor_of_class,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._utils._rebuild_sparse_tensor": _sparse,
    "torch.serialization._get_layout": _layout,
    "torch.device": _device,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor_of_kind,
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch.Size": tuple,
    "torch.storage.UntypedStorage": "",
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": _counted,
    "_codecs.encode": _encoded,
    "builtins.bytes": _no_bytes,
    "__builtin__.bytes": _no_bytes,
    **numpy_parts.NAMES,
    **{
        f"{module}.{kind.__name__}": kind
        for module in ("builtins", "__builtin__")
        for kind in (set, frozenset, complex)
    },
}


class _Call:
    """A function that a pickle may call and can't change."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        return self._function(*args)


class _Cell:
    """What it costs to hash a value of a pickle, where everything counts as often as it is referred to: `weight`. `inner` is what
    it would cost beyond that to hash a tuple of what a list, set or dictionary holds, which itself can't be hashed."""

    __slots__ = ("inner", "weight")

    def __init__(self, weight: int, inner: int = 0) -> None:
        self.weight, self.inner = weight, inner


HOLDERS = {"LIST", "DICT", "EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET"}
FILLING = {"APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "BUILD"}


def _check_cost(file: io.BytesIO) -> None:
    """Raise pickle.UnpicklingError for a pickle that remembers something under a number beyond its length, for which Python takes
    as much memory, and for tuples that refer to others so often that to hash them, as keys are, would never end."""
    size = len(file.getbuffer())
    most = 1_000_000 + 16 * size
    stack: list[_Cell | None] = []  # None stands for a mark
    memory: dict[int, _Cell | None] = {}
    one = _Cell(1)
    for instruction, argument, _ in pickletools.genops(file):
        name, before = instruction.name, instruction.stack_before
        if name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            number = len(memory) if name == "MEMOIZE" else int(argument or 0)
            if not 0 <= number <= size:
                raise pickle.UnpicklingError(f"it remembers something as number {argument}")
            memory[number] = stack[-1]
            continue
        if name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memory[int(argument or 0)])
            continue
        if name == "MARK":
            stack.append(None)
            continue
        if not before and name not in HOLDERS:
            stack += [one] * len(instruction.stack_after)
            continue
        taken: list[_Cell] = []
        if marked := pickletools.markobject in before:
            while (cell := stack.pop()) is not None:
                taken.append(cell)
        count = before.index(pickletools.markobject) if marked else len(before)
        for _ in range(count - (name in FILLING)):  # what is filled stays where it is, for it may be remembered
            if (cell := stack.pop()) is not None:
                taken.append(cell)
        weight, inner = 1 + sum([x.weight for x in taken]), sum([x.inner for x in taken])
        if name in FILLING:
            if (into := stack[-1]) is not None:
                into.inner += weight
        elif name in HOLDERS:
            stack.append(_Cell(1, weight))
        else:
            if not name.startswith("TUPLE"):  # what is called may make a tuple of a list
                weight, inner = weight + inner, 0
            stack += [_Cell(weight, inner) for _ in instruction.stack_after]
        if weight > most:
            raise pickle.UnpicklingError("its tuples refer to each other too often")


class _Reader(pickle.Unpickler):
    """Reads a pickle that names nothing but tensors and containers. `widths` are the bytes of a number, by storage."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.file = file
        self.widths: dict[str, int] = {}

    def load(self) -> Any:
        """What is held. Raises pickle.UnpicklingError also for what Python would take endless memory or time for."""
        start = self.file.tell()
        _check_cost(self.file)
        self.file.seek(start)
        return super().load()

    def find_class(self, module: str, name: str) -> Any:
        """What stands for a name of the file. Raises pickle.UnpicklingError for a name that isn't known."""
        found = KNOWN.get(f"{module}.{name}")
        if found is None and module in ("torch", "torch.storage") and name in STORAGES:
            found = STORAGES[name]
        if found is None and module == "torch" and name in DTYPES:
            found = name
        if found is None:
            raise pickle.UnpicklingError(
                f"it holds an object of {module}.{name}; tensors, numbers, text, arrays and containers are read"
            )
        return found if isinstance(found, type | str) else _Call(found)

    def persistent_load(self, pid: Any) -> Storage:
        """The storage that an entry refers to."""
        word, kind, key, *_ = pid
        if word != "storage" or not (kind == "" or kind in STORAGES.values()):
            raise pickle.UnpicklingError(f"it refers to a {word}")
        self.widths[str(key)] = np.dtype(AS_STORED.get(kind, kind) or "u1").itemsize
        return Storage(str(key), kind)


def is_torch_file(data: bytes) -> bool:
    """Whether the bytes begin a zip archive or a pickle, as `torch.save` writes them."""
    # A length that begins with 0x80 may begin a safetensors file too, whose ninth byte is a brace.
    return data.startswith((b"PK\x03\x04", b"\x80")) and data[8:9] != b"{"


def load_torch(path: str | os.PathLike[str]) -> Any:
    """What `torch.save` wrote, with tensors in place of PyTorch's; parameters, and leaves that require gradients, are variables.

    Without the package ml_dtypes bfloat16 becomes float32, which holds it exactly, as floats of 8 bits do in any case; sparse
    tensors become dense; dtypes and devices are their names. No code in the file is run: only tensors, numbers, text, bytes,
    lists, tuples, sets, dictionaries and counters are read. Raises OSError where it can't be read; ValueError for other objects
    in it (a whole module: save its `state_dict()`), and when it is damaged, cut short or something else.
    """
    return read_torch(path)[0]


def read_torch(path: str | os.PathLike[str]) -> tuple[Any, dict[int, Place]]:
    """What `load_torch` gives, and where its tensors lie, by their addresses: several may lie in one storage."""
    data = Path(path).read_bytes()
    try:
        value, bytes_of = _archived(data) if data.startswith(b"PK") else _in_a_row(data)
        values = _Values(bytes_of)
        return values.value(value), values.places
    except (pickle.UnpicklingError, zipfile.BadZipFile, RecursionError, MemoryError) as error:
        raise ValueError(f"{os.fspath(path)} can't be read as a file of tensors: {error}{at_user()}") from error
    except (
        ArithmeticError,
        AttributeError,
        EOFError,
        LookupError,
        TypeError,
        ValueError,
        NotImplementedError,
    ) as error:
        raise ValueError(
            f"{os.fspath(path)} is no file of PyTorch's, or is damaged or cut short: {error}{at_user()}"
        ) from error


def _archived(data: bytes) -> tuple[Any, Callable[[Storage], bytes]]:
    archive = zipfile.ZipFile(io.BytesIO(data))
    names = [name for name in archive.namelist() if name.endswith("/data.pkl")]
    if len(names) != 1:
        raise ValueError("the archive holds no data.pkl, or several")
    root = names[0].removesuffix("data.pkl")
    if f"{root}byteorder" in archive.namelist() and archive.read(f"{root}byteorder") != b"little":
        raise ValueError("its numbers lie with the highest byte first")
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
        raise ValueError("the archive is compressed")
    return _Reader(io.BytesIO(archive.read(names[0]))).load(), lambda storage: archive.read(f"{root}data/{storage.key}")


def _in_a_row(data: bytes) -> tuple[Any, Callable[[Storage], bytes]]:
    file = io.BytesIO(data)
    if _Reader(file).load() != MAGIC or _Reader(file).load() != PROTOCOL:
        raise ValueError("it doesn't begin as PyTorch's files do")
    _Reader(file).load()  # sizes of the machine that wrote it
    reader = _Reader(file)
    value = reader.load()
    places = {}
    for key in _Reader(file).load():
        count = int.from_bytes(file.read(8), "little") * reader.widths[key]
        if count > len(data):
            raise ValueError("a storage ends behind the file")
        places[key] = file.read(count)
    return value, lambda storage: places[storage.key]


class _Values:
    """What a pickle held, with its tensors read; each object once, however often it is referred to."""

    def __init__(self, bytes_of: Callable[[Storage], bytes]) -> None:
        self.bytes_of = bytes_of
        self.storages: dict[Storage, np.ndarray[Any, Any]] = {}
        self.repeated = 0  # bytes of tensors beyond those of their storages
        self.done: dict[int, Any] = {}
        self.places: dict[int, Place] = {}

    def value(self, held: Any) -> Any:
        """The value. Raises ValueError for what is neither a container nor plain."""
        if id(held) not in self.done:
            self.done[id(held)] = self._made(held)
        return self.done[id(held)]

    def _made(self, held: Any) -> Any:
        if isinstance(held, Stored):
            array = self._array(held)
            trained = held.trained and (array.dtype.kind in "fc" or array.dtype == bfloat16)
            made = variable(array) if trained else asarray(array)
            self.places[id(made)] = Place(made, held, self._storage(held.storage))
            return made
        if isinstance(held, Sparse):
            return asarray(self._dense(held))
        if isinstance(held, numpy_parts.Array) and held.value is not None:
            return held.value
        if isinstance(held, Storage | _Call | type | numpy_parts.Kind | numpy_parts.Array):
            raise ValueError(f"it holds a {type(held).__name__}")
        if isinstance(held, Counter):
            return held
        if isinstance(held, dict):
            return {key: self.value(item) for key, item in held.items()}
        if isinstance(held, list | tuple | set | frozenset):
            return type(held)([self.value(item) for item in held])
        return held

    def _dense(self, sparse: Sparse) -> np.ndarray[Any, Any]:
        """The array that a sparse tensor stands for."""
        layout, stored, numbers, shape = sparse
        values = self._array(numbers)
        self.repeated += math.prod(shape) * values.itemsize
        if min(shape, default=0) < 0 or self.repeated > LARGEST:
            raise ValueError(f"a sparse tensor of shape {shape} would be too large; save it as indices and values")
        result, places = np.zeros(shape, values.dtype), [self._array(x) for x in stored]
        if any(x.size and x.min() < 0 for x in places):
            raise ValueError("a sparse tensor with negative indices")
        if layout == "coo":
            np.add.at(result, tuple(places[0]), values)
            return result
        starts, inner = places
        by_row, blocks = layout in ("csr", "bsr"), layout in ("bsr", "bsc")
        height, width = values.shape[1:3] if blocks else (1, 1)
        if starts.ndim != 1 or len(shape) != 2 or values.ndim != (3 if blocks else 1):
            raise ValueError(f"a stack of sparse tensors of the layout {layout}")
        outer = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        grid = result.reshape(shape[0] // height, height, shape[1] // width, width).swapaxes(1, 2)  # a view
        rows, columns = (outer, inner) if by_row else (inner, outer)
        np.add.at(grid, (rows, columns), values.reshape(-1, height, width))
        return result

    def _array(self, stored: Stored) -> np.ndarray[Any, Any]:
        storage, offset, shape, strides, _, conjugate, negative = stored
        whole = self._storage(storage)
        if len(shape) != len(strides) or min((offset, *shape, *strides), default=0) < 0:
            raise ValueError("a tensor with negative sizes")
        last = offset + sum([(n - 1) * s for n, s in zip(shape, strides, strict=True)])
        if 0 in shape:
            array = np.zeros(shape, whole.dtype)
        elif last >= len(whole):
            raise ValueError(f"a tensor of shape {shape} reaches behind its storage")
        else:
            self.repeated += max(math.prod(shape) * whole.itemsize - whole.nbytes, 0)
            if self.repeated > LARGEST:
                raise ValueError(f"a tensor of shape {shape} repeats a storage of {len(whole)} numbers")
            steps = tuple([s * whole.itemsize for s in strides])
            array = np.array(np.lib.stride_tricks.as_strided(whole[offset:], shape, steps))
        array = np.conj(array) if conjugate else array
        return -array if negative else array

    def _storage(self, storage: Storage) -> np.ndarray[Any, Any]:
        if storage not in self.storages:
            kind = storage.kind
            numbers = np.frombuffer(self.bytes_of(storage), np.dtype(AS_STORED.get(kind, kind)).newbyteorder("<"))
            numbers = numbers.astype(numbers.dtype.newbyteorder("="), copy=False)
            if kind == "complex32":  # pairs of float16
                numbers = numbers.view(np.uint16).view(np.float16).astype(np.float32).view(np.complex64)
            elif kind in AS_STORED:
                numbers = from_bits(numbers) if kind == "bf16" else from_eight_bits(numbers, kind)
            self.storages[storage] = numbers
        return self.storages[storage]
