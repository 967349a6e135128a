"""Tensors as other dtypes and on devices, and what is asked of dtypes and of memory."""

from __future__ import annotations

import math
from typing import Any

from adjoint.dtypes import DTYPES, DType, complex_of, default_dtype
from adjoint.graph import Node
from adjoint.tensors.located import at_user
from adjoint.tensors.named import owner_of

from ._creation import NO_GPU, given_dtype, on_cpu
from ._names import FUNCTIONS, METHODS, refuse
from ._operators import combined, promoted
from ._parts import RANKS
from ._tensor import CPU, Core, cast_tensor

__all__ = ["TYPE_NAMES"]

CASTS = {
    "float": "float32", "double": "float64", "long": "int64", "int": "int32", "short": "int16", "char": "int8",
    "byte": "uint8", "bool": "bool", "half": "float16", "bfloat16": "bfloat16", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip


def _cast(name: str) -> Any:
    def called(self: Any, memory_format: Any = None) -> Any:
        return cast_tensor(self, name)

    called.__doc__ = f"As {name}."
    return called


for _name, _dtype in CASTS.items():
    METHODS[_name] = _cast(_dtype)


def _chalf(self: Any, memory_format: Any = None) -> Any:
    """Raises: complex64 is the smallest complex type."""
    raise TypeError(f"chalf: there are no complex numbers of 16 bits a part; x.cfloat() gives complex64{at_user()}")


METHODS["chalf"] = _chalf


def _to(
    self: Any, *args: Any, dtype: Any = None, device: Any = None, other: Any = None, non_blocking: Any = False, copy: Any = False,
    memory_format: Any = None,
) -> Any:  # fmt: skip
    """As another dtype; the one device is the CPU."""
    flags = [x for x in args if isinstance(x, bool)]  # non_blocking, copy
    copy = flags[1] if len(flags) > 1 else copy
    for value in (*args, other):
        if isinstance(value, Core):
            dtype = value.dtype
        elif isinstance(value, DType) or value in (float, int, complex):
            dtype = value
        elif isinstance(value, (str, CPU[0].__class__)) or (isinstance(value, int) and not isinstance(value, bool)):
            device = value
    on_cpu(device)
    kind = given_dtype(dtype)
    out = self if kind is None else cast_tensor(self, kind)
    return out.clone() if copy and out is self else out


def _to_dense(self: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    refuse("to_dense", "masked_grad", masked_grad, True)  # of sparse tensors
    return _to(self, dtype=dtype)


METHODS["to"] = _to
METHODS["to_dense"] = _to_dense
METHODS["type_as"] = lambda self, other: cast_tensor(self, other.dtype)
METHODS["cpu"] = lambda self, memory_format=None: self


def _no_gpu(self: Any = None, *args: Any, **keywords: Any) -> Any:
    raise RuntimeError(f"cuda: {NO_GPU}{at_user()}")


METHODS["cuda"] = _no_gpu
METHODS["pin_memory"] = lambda self, device=None: self

TYPE_NAMES = {
    "float32": "FloatTensor", "float64": "DoubleTensor", "int64": "LongTensor", "int32": "IntTensor", "int16": "ShortTensor",
    "int8": "CharTensor", "uint8": "ByteTensor", "bool": "BoolTensor", "complex64": "ComplexFloatTensor",
    "complex128": "ComplexDoubleTensor", "float16": "HalfTensor", "bfloat16": "BFloat16Tensor",
}  # fmt: skip


def _type(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type; or the tensor as another one."""
    if dtype is None:
        return f"torch.{TYPE_NAMES[self.dtype.name]}"
    if isinstance(dtype, str):
        dtype = {f"torch.{v}": k for k, v in TYPE_NAMES.items()}.get(dtype, dtype)
    return cast_tensor(self, given_dtype(getattr(dtype, "_dtype", dtype)))


METHODS["type"] = _type


def result_type(tensor: Any, other: Any) -> DType:
    """The dtype that an operation of two tensors or numbers gives."""
    a, b = (x.node if isinstance(x, Core) else x for x in (tensor, other))
    kinds = [x.dtype if isinstance(x, Node) else _scalar_dtype(x) for x in (a, b)]
    ranks = [0 if not isinstance(x, Node) else 2 if x.ndim else 1 for x in (a, b)]
    if ranks[0] == ranks[1]:
        return promoted(*kinds)
    order = (0, 1) if ranks[0] > ranks[1] else (1, 0)
    return combined(kinds[order[0]], kinds[order[1]])


def _scalar_dtype(x: Any) -> DType:
    if isinstance(x, bool):
        return DTYPES["bool"]
    if isinstance(x, int):
        return DTYPES["int64"]
    return complex_of(default_dtype()) if isinstance(x, complex) else default_dtype()


FUNCTIONS["result_type"] = result_type
FUNCTIONS["promote_types"] = lambda type1, type2: promoted(type1, type2)
FUNCTIONS["can_cast"] = lambda from_, to: RANKS[from_.kind] <= RANKS[to.kind]
FUNCTIONS["is_floating_point"] = METHODS["is_floating_point"] = lambda input: input.dtype.kind == "f"
FUNCTIONS["is_complex"] = METHODS["is_complex"] = lambda input: input.dtype.kind == "c"
FUNCTIONS["is_nonzero"] = METHODS["is_nonzero"] = lambda input: bool(input.item())
FUNCTIONS["clone"] = lambda input, *, memory_format=None: input.clone(memory_format=memory_format)
FUNCTIONS["detach"] = lambda input: input.detach()
FUNCTIONS["is_signed"] = METHODS["is_signed"] = lambda input: input.dtype.kind not in "ub"
FUNCTIONS["is_same_size"] = METHODS["is_same_size"] = lambda input, other: tuple(input.shape) == tuple(other.shape)
FUNCTIONS["numel"] = METHODS["numel"] = METHODS["nelement"] = lambda input: math.prod(input.node.type.shape)
METHODS["dim"] = METHODS["ndimension"] = lambda self: self.node.type.ndim
METHODS["element_size"] = lambda self: self.dtype.itemsize
METHODS["get_device"] = lambda self: -1
METHODS["is_shared"] = METHODS["is_distributed"] = lambda self: False
METHODS["is_pinned"] = lambda self, device=None: False
METHODS["share_memory_"] = lambda self: self
METHODS["is_conj"] = METHODS["is_neg"] = FUNCTIONS["is_conj"] = FUNCTIONS["is_neg"] = lambda input: False
METHODS["data_ptr"] = lambda self: id(owner_of(self))
