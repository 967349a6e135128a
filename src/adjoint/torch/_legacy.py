"""Constructors from before dtypes, where integers are a shape and anything else is data: `Tensor(2, 3)`, `LongTensor([1, 2])`,
`x.new(2, 3)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.dtypes import DTYPES, DType, default_dtype
from adjoint.tensors.located import at_user

from ._casting import TYPE_NAMES
from ._creation import NO_GPU, on_cpu
from ._names import FUNCTIONS, METHODS
from ._tensor import Core, Size, Tensor, torch_tensor
from ._view_tensors import flat_view

__all__ = ["GPU_TYPES", "TYPES"]


def constructed(name: str, dtype: DType, data: tuple[Any, ...], size: Any, device: Any) -> Tensor:
    """A tensor of a shape, without values that matter (zeros); of data; or a tensor of that dtype, seen again."""
    on_cpu(device)
    if size is not None:
        return _empty(size, dtype)
    if all(isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in data):
        return _empty(data or (0,), dtype)
    if len(data) != 1 or isinstance(data[0], (bool, float, complex)):
        raise TypeError(f"{name}: the sizes of the axes, or one sequence of data, not {data}{at_user()}")
    given = data[0]
    if isinstance(given, Size):
        return _empty(given, dtype)
    if not isinstance(given, Core):
        return FUNCTIONS["tensor"](given, dtype=dtype)
    if given.dtype is not dtype:
        raise TypeError(
            f"{name}: the tensor is {given.dtype.name}, not {dtype.name}; cast it by .to(torch.{dtype.name}){at_user()}"
        )
    return flat_view(torch_tensor(given), tuple(given.shape))


def _empty(shape: Any, dtype: DType) -> Tensor:
    return FUNCTIONS["zeros"](tuple(int(n) for n in shape), dtype=dtype)


def _tensor(cls: Any, *data: Any, size: Any = None, device: Any = None) -> Tensor:
    return constructed("Tensor", default_dtype(), data, size, device)


def _new(self: Any, *data: Any, size: Any = None, device: Any = None) -> Tensor:
    """A tensor of the dtype of this one, of a shape or of data, as `torch.Tensor(...)` makes them."""
    return constructed("new", self.dtype, data, size, device)


def typed(name: str, dtype: DType) -> type:
    """A tensor type from before dtypes: `torch.FloatTensor([1, 2])`."""

    def __new__(cls: Any, *data: Any, size: Any = None, device: Any = None) -> Any:
        return constructed(name, dtype, data, size, device)

    class Of(type):
        def __instancecheck__(cls, x: Any) -> bool:
            return isinstance(x, Core) and x.dtype is dtype

    return Of(name, (), {"__new__": __new__, "_dtype": dtype.name, "__doc__": f"Tensors of {dtype.name}."})


class _OnGpu(type):
    """The type of tensors on a graphics processor, of which there are none."""

    def __call__(cls, *data: Any, **options: Any) -> Any:
        raise RuntimeError(f"cuda.{cls.__name__}: {NO_GPU}{at_user()}")


NAMES = [(name, DTYPES[kind]) for kind, name in TYPE_NAMES.items() if not name.startswith("Complex")]
TYPES = {name: typed(name, dtype) for name, dtype in NAMES}
GPU_TYPES = {name: _OnGpu(name, (), {"__doc__": "Raises."}) for name, _ in NAMES}
Tensor.__new__ = _tensor  # type: ignore[method-assign]
METHODS["new"] = _new
