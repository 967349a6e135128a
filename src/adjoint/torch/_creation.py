"""Tensors made of data, of numbers and of chance; dtypes and devices."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from adjoint import random as core_random
from adjoint.dtypes import DTYPES, DType, complex_of, default_dtype
from adjoint.tensors import functions as core
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import at_user

from ._names import FUNCTIONS, METHODS, function, method, recorded_at_user, refuse
from ._tensor import CPU, Core, Tensor, as_torch, torch_tensor
from ._views import sizes

NO_GPU = "adjoint computes on the CPU; leave the device out, or write device='cpu'"


DEVICES = frozenset(
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu mtia".split()
)


class device:
    """Where a tensor lies: the CPU. PyTorch's other devices may be named and compared; what is to lie there raises RuntimeError.

    >>> import adjoint.torch as torch
    >>> torch.device("cpu"), torch.device("cpu").type == torch.device("cuda:0").type
    (device(type='cpu'), False)
    """

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        name, _, number = str(type).partition(":")
        self.type: str = name
        if self.type not in DEVICES:
            raise RuntimeError(f"device {type!r}: {NO_GPU}{at_user()}")
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (other.type, other.index or 0) == (self.type, self.index or 0)

    def __hash__(self) -> int:
        return hash((self.type, self.index or 0))

    def __enter__(self) -> device:
        return on_cpu(self)

    def __exit__(self, *error: object) -> None:
        pass


CPU[0] = device()


def on_cpu(given: Any) -> device:
    """A device where something is to lie, by its name or none. Raises RuntimeError for any but the CPU."""
    found = CPU[0] if given is None else device(given)
    if found.type != "cpu":
        raise RuntimeError(f"device '{found}': {NO_GPU}{at_user()}")
    return found


float16, bfloat16 = DTYPES["float16"], DTYPES["bfloat16"]


def given_dtype(dtype: Any) -> DType | None:
    """A dtype, or None. Raises TypeError for what is none."""
    return None if dtype is None else dtype_of(dtype)


def finished(x: Any, requires_grad: bool = False, device: Any = None) -> Any:
    """A new tensor with the options that all constructors take."""
    on_cpu(device)
    x = as_torch(x)
    return x.requires_grad_(True) if requires_grad else x


class Generator:
    """A source of random numbers. A seed gives other numbers than in PyTorch."""

    def __init__(self, device: Any = "cpu") -> None:
        on_cpu(device)
        self.core = core_random.Generator(0)
        self._seed = 0
        self.device = CPU[0]

    def manual_seed(self, seed: int) -> Generator:
        """Start again from a seed."""
        self._seed = int(seed)
        self.core.seed(int(seed) % 2**63)
        return self

    def seed(self) -> int:
        """Start again from a seed of the system's."""
        return self.manual_seed(int(np.random.SeedSequence().generate_state(1)[0]))._seed

    def initial_seed(self) -> int:
        """The last seed."""
        return self._seed

    def get_state(self) -> Any:
        """Where the sequence is."""
        return as_torch(core.tensor(np.asarray(self.core.state)))

    def set_state(self, state: Any) -> Generator:
        """Go on from there."""
        self.core.state = state
        return self


default_generator = Generator.__new__(Generator)
default_generator.core, default_generator._seed = core_random.default_generator, 0
default_generator.device = CPU[0]


def manual_seed(seed: int) -> Generator:
    """Start the default generator again from a seed. The numbers that follow are other ones than PyTorch's.

    >>> import adjoint.torch as torch
    >>> torch.manual_seed(0).initial_seed()
    0
    """
    return default_generator.manual_seed(seed)


def source(generator: Any) -> Any:
    """The core's generator for one of PyTorch's, or the default one."""
    return (generator or default_generator).core


# Data ----------------------------------------------------------------------------------------------------------------------


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A tensor of data: numbers, nested lists, NumPy arrays, tensors."""
    if isinstance(data, Core):
        warnings.warn("to copy a tensor, use x.detach().clone() instead of torch.tensor(x)", UserWarning, stacklevel=2)
        data = data.detach().clone()
    elif isinstance(data, (list, tuple)) and _tensors_inside(data):
        data = np.array(_numbers(data))
        if data.dtype == np.float64 and dtype is None:
            dtype = default_dtype()
    kind = given_dtype(dtype)
    if kind is not None and kind.kind in "iu" and not isinstance(data, (Core, np.ndarray)):
        _check_range(data, kind)
    return finished(core.tensor(data, dtype=kind), requires_grad, device)


def _check_range(data: Any, kind: DType) -> None:
    """Raise RuntimeError for Python's integers that a dtype can't hold: -1 alone wraps in PyTorch, in unsigned ones."""
    given = np.asarray(data)
    limits = np.iinfo(kind.dtype)
    if given.size and given.dtype.kind in "iufO" and (given.min() < min(limits.min, -1) or given.max() > limits.max):
        raise RuntimeError(
            f"tensor: a value from {given.min()} to {given.max()} doesn't fit {kind.name}, which goes from {limits.min} to "
            f"{limits.max}{at_user()}"
        )


PLAIN = frozenset((bool, int, float, complex, str))


def _tensors_inside(data: Any) -> bool:
    if PLAIN.issuperset(map(type, data)):
        return False
    return any(isinstance(x, Core) or (isinstance(x, (list, tuple)) and _tensors_inside(x)) for x in data)


def _numbers(data: Any) -> Any:
    if isinstance(data, Core):
        return data.detach().tolist()
    return [_numbers(x) for x in data] if isinstance(data, (list, tuple)) else data


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Data as a tensor; a tensor as it is."""
    return finished(torch_tensor(data, given_dtype(dtype)), False, device)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: Any = None, requires_grad: bool = False
) -> Tensor:
    """Data as a tensor. NumPy's arrays are copied, so `copy=False` is a TypeError for them."""
    if copy is False and not isinstance(obj, Core):
        raise TypeError(f"asarray: copy=False isn't here, memory is never shared; leave copy out{at_user()}")
    found = torch_tensor(obj, given_dtype(dtype))
    return finished(found.detach().clone() if copy else found, requires_grad, device)


def from_numpy(ndarray: Any) -> Tensor:
    """A NumPy array as a tensor. The array is copied: unlike in PyTorch, writing to one doesn't change the other."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy: expected a NumPy array, got {type(ndarray).__name__}{at_user()}")
    return as_torch(core.tensor(ndarray))


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: Any = None) -> Tensor:
    """The array of another library, copied."""
    on_cpu(device)
    if copy is False:
        raise TypeError(f"from_dlpack: copy=False isn't here, memory is never shared; leave copy out{at_user()}")
    return as_torch(core.asarray(ext_tensor))


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """Bytes as a tensor along one axis, copied."""
    array = np.frombuffer(buffer, given_dtype(dtype).dtype, count, offset)  # type: ignore[union-attr]
    return finished(core.tensor(array), requires_grad)


def is_tensor(obj: Any) -> bool:
    """Whether something is a tensor."""
    return isinstance(obj, Core)


for _f in (tensor, as_tensor, asarray, from_numpy, from_dlpack, frombuffer, is_tensor, manual_seed):
    FUNCTIONS[_f.__name__] = _f


# Constants --------------------------------------------------------------------------------------------------------------------


class _Named:
    """A constant of torch that is its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class layout(_Named):
    """How a tensor lies in memory: `torch.strided` is the only way here."""


class memory_format(_Named):
    """In which order axes lie in memory. It may be asked for, and changes nothing."""


strided = layout("strided")
MEMORY_FORMATS = {
    name: memory_format(name) for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
}


Tensor.layout = strided  # type: ignore[attr-defined]


def checked(options: dict[str, Any], name: str) -> dict[str, Any]:
    """What constructors take besides, checked: device, requires_grad, and what has no meaning here."""
    chosen = options.pop("layout", None)
    if chosen is not None and chosen is not strided:
        raise RuntimeError(f"{name}: tensors are strided here, not of the layout {chosen}{at_user()}")
    for gone in ("pin_memory", "memory_format"):
        options.pop(gone, None)
    found = {k: options.pop(k) for k in ("requires_grad", "device") if k in options}
    if options:
        raise TypeError(f"{name}: unknown arguments {', '.join(options)}{at_user()}")
    return found  # type: ignore[return-value]


def _constant(name: str, value: float) -> None:
    def called(*lengths: Any, size: Any = None, dtype: Any = None, names: Any = None, **options: Any) -> Any:
        if names is not None:
            refuse(name, "names", names)
        shape = sizes(lengths if size is None else (size,))
        if any(n < 0 for n in shape):
            raise RuntimeError(f"{name}: a size is negative: {shape}{at_user()}")
        made = core.full(shape, value, dtype=given_dtype(dtype) or default_dtype())
        return finished(made, **checked(options, name)) if options else made

    def like(input: Any, *, dtype: Any = None, **options: Any) -> Any:
        kind = given_dtype(dtype) or input.dtype
        return finished(core.full(tuple(input.shape), value, dtype=kind), **checked(options, name))

    def new(self: Any, *lengths: Any, size: Any = None, dtype: Any = None, **options: Any) -> Any:
        return called(*lengths, size=size, dtype=dtype or self.dtype, **options)

    called.__doc__ = like.__doc__ = new.__doc__ = f"A tensor of {value:g}."
    function(methods=False)(renamed(called, name))
    FUNCTIONS[f"{name}_like"], METHODS[f"new_{name}"] = recorded_at_user(like), recorded_at_user(new)


def renamed(f: Any, name: str) -> Any:
    """A function under another name."""
    f.__name__ = f.__qualname__ = name
    return f


for _name, _value in (("zeros", 0.0), ("ones", 1.0), ("empty", 0.0)):
    _constant(_name, _value)


@function(methods=False)
def full(size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Any:
    """One number in a shape."""
    value = fill_value.item() if isinstance(fill_value, Core) else fill_value
    return finished(core.full(sizes((size,)), value, dtype=given_dtype(dtype)), **checked(options, "full"))


@function(methods=False)
def full_like(input: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Any:
    """One number in a tensor's shape and dtype."""
    return full(tuple(input.shape), fill_value, dtype=dtype or input.dtype, **options)


@method("new_full")
def new_full(self: Any, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Any:
    """One number in a shape, in this tensor's dtype."""
    return full(size, fill_value, dtype=dtype or self.dtype, **options)


@method("new_tensor")
def new_tensor(self: Any, data: Any, *, dtype: Any = None, **options: Any) -> Any:
    """A tensor of data, in this tensor's dtype."""
    data = data.detach().clone() if isinstance(data, Core) else data
    return finished(core.tensor(data, dtype=given_dtype(dtype) or self.dtype), **checked(options, "new_tensor"))


@function(methods=False)
def scalar_tensor(s: Any, *, dtype: Any = None, **options: Any) -> Any:
    """A number as a tensor."""
    kind = given_dtype(dtype) or (default_dtype() if not isinstance(s, complex) else complex_of(default_dtype()))
    return finished(core.tensor(s, dtype=kind), **checked(options, "scalar_tensor"))


@function(methods=False)
def empty_strided(size: Any, stride: Any, *, dtype: Any = None, **options: Any) -> Any:
    """Zeros; strides don't matter here."""
    return FUNCTIONS["empty"](size, dtype=dtype, **options)


@function(methods=False)
def empty_permuted(size: Any, physical_layout: Any, *, dtype: Any = None, **options: Any) -> Any:
    """Zeros; the order in memory doesn't matter here."""
    if sorted(physical_layout) != list(range_of(len(size))):
        raise RuntimeError(f"empty_permuted: {physical_layout} doesn't name each of {len(size)} axes once{at_user()}")
    return FUNCTIONS["empty"](size, dtype=dtype, **options)


METHODS["new_empty_strided"] = recorded_at_user(
    lambda self, size, stride, *, dtype=None, **options: empty_strided(
        size, stride, dtype=dtype or self.dtype, **options
    )
)


def _item(x: Any) -> Any:
    return x.item() if isinstance(x, Core) else x


@function(methods=False)
def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, **options: Any) -> Any:
    """start, start + step, ... below end; int64 for integers."""
    if end is None:
        start, end = 0, start
    a, b, s = (_item(v) for v in (start, end, step))
    kind = given_dtype(dtype)
    if s == 0 or (b - a) * s < 0:
        raise RuntimeError(f"arange: no way from {a} to {b} by steps of {s}{at_user()}")
    if kind is None:
        kind = DTYPES["int64"] if all(isinstance(v, int) for v in (a, b, s)) else default_dtype()
    if kind.kind in "iu" and not int(s):
        raise RuntimeError(
            f"arange: steps of {s} are 0 as {kind.name}; leave dtype out, and cast the result{at_user()}"
        )
    if kind.name == "int64":  # counts with what it makes of the numbers, the others with these as they are given
        a, b, s = int(a), int(b), int(s)
        n = max(-((a - b) // s), 0)
    else:
        n = max(math.ceil((b - a) / s), 0)
    if kind.kind in "iu":
        a, s = int(a), int(s)
    values: Any = np.arange(n, dtype=np.int64 if kind.kind in "iu" else np.float64)
    values = values * s if s != 1 else values
    values = values + a if a else values
    return finished(core.asarray(values.astype(kind.dtype, copy=False), copy=False), **checked(options, "arange"))


@function("range", methods=False)
def range_(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, **options: Any) -> Any:
    """start, start + step, ... up to end, which is included."""
    if end is None:
        start, end = 0, start
    values = start + np.arange(math.floor((end - start) / step) + 1) * step
    return finished(core.tensor(values, dtype=given_dtype(dtype) or default_dtype()), **checked(options, "range"))


def _spaced(name: str, transform: Any) -> None:
    def called(start: Any, end: Any, steps: int, base: Any = 10.0, *, dtype: Any = None, **options: Any) -> Any:
        if steps < 0:
            raise RuntimeError(f"{name}: the number of steps is negative{at_user()}")
        a, b = _item(start), _item(end)
        kind = given_dtype(dtype) or (
            complex_of(default_dtype()) if isinstance(a, complex) or isinstance(b, complex) else default_dtype()
        )
        if kind.kind in "iu":
            a, b = int(a), int(b)
        values = np.linspace(a, b, steps)
        if kind.kind in "iu" and transform is None and steps > 1 and float(a).is_integer() and float(b).is_integer():
            half = steps // 2  # each half from its own end, as PyTorch does
            step = (b - a) / (steps - 1)
            values = np.array([a + step * i if i < half else b - step * (steps - 1 - i) for i in range_of(steps)])
        if transform is not None:
            values = transform(base, values)
        with np.errstate(all="ignore"):
            return finished(core.tensor(values.astype(kind.dtype)), **checked(options, name))

    called.__doc__ = (
        "Evenly spaced numbers, both ends included." if transform is None else "Powers of a base, evenly spaced."
    )
    f: Any = (
        called
        if transform
        else lambda start, end, steps, *, dtype=None, **options: called(start, end, steps, dtype=dtype, **options)
    )
    f.__doc__ = called.__doc__
    function(methods=False)(renamed(f, name))


range_of = range
_spaced("linspace", None)
_spaced("logspace", lambda base, values: np.power(float(base), values))


@function(methods=False)
def eye(n: int, m: int | None = None, *, dtype: Any = None, **options: Any) -> Any:
    """Ones on the diagonal of a matrix of zeros."""
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"eye: a size is negative{at_user()}")
    return finished(core.eye(n, m, dtype=given_dtype(dtype) or default_dtype()), **checked(options, "eye"))


def _triangle(name: str, places: Any) -> None:
    def called(row: int, col: int, offset: int = 0, *, dtype: Any = "int64", **options: Any) -> Any:
        values = np.stack(places(row, offset, col))
        return finished(core.tensor(values, dtype=given_dtype(dtype)), **checked(options, name))

    called.__doc__ = "Rows and columns of a triangle of a matrix."
    function(methods=False)(renamed(called, name))


_triangle("tril_indices", np.tril_indices)
_triangle("triu_indices", np.triu_indices)


def _powers_of(name: str, x: Any, n: int) -> Any:
    if n < 0:
        raise RuntimeError(f"{name}: N is a number of columns, not {n}{at_user()}")
    return (x if x.dtype.inexact else core.astype(x, "int64")), n


@function(methods=False)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The Vandermonde matrix of a vector."""
    x, n = _powers_of("vander", x, x.shape[-1] if N is None else N)
    powers = np.arange(n) if increasing else np.arange(n)[::-1]
    columns = [core.ones_like(x) if p == 0 else core.power(x, int(p)) for p in powers]
    return core.stack(columns, axis=-1) if columns else core.zeros((*tuple(x.shape), 0), dtype=x.dtype)


@function(methods=False)
def unravel_index(indices: Any, shape: Any) -> Any:
    """Positions in all elements as positions along each axis."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    return tuple(core.tensor(np.asarray(v, np.int64)) for v in np.unravel_index(indices.numpy(), shape))
