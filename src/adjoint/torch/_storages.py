"""Memories of tensors; and tensors of a file that lay in one memory when they were saved: what is written to one is seen by the
others afterwards, too."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from adjoint.interop.torch_files import Place
from adjoint.primitives.core import ops
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user
from adjoint.tensors.named import owner_of

from ._attributes import copied_marks
from ._names import METHODS
from ._parts import in_order, memory, offset_of
from ._tensor import Parameter, Tensor, as_torch, reclassed
from ._view_tensors import View

__all__ = ["Lying", "Storage", "deep_copy", "lying", "overlapping", "place_in", "views_of_storages"]


class Lying(NamedTuple):
    """How a tensor lies in a memory: steps and offset in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def last(self) -> int:
        """The place of its last element."""
        return self.offset + sum([(n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)])


def overlapping(lying: Iterable[tuple[Any, Any, Lying]]) -> set[Any]:
    """The names of those among tensors, each with its name and memory, whose stretches of memory others meet, or that have places
    which stand for several elements."""
    found, memories = set[Any](), dict[Any, list[tuple[int, int, Any]]]()
    for name, where, at in lying:
        if 0 not in at.shape:
            memories.setdefault(where, []).append((at.offset, at.last, name))
            if math.prod(at.shape) > at.last + 1 - at.offset:
                found.add(name)
    for stretches in memories.values():
        end, furthest = -1, None
        for start, last, name in sorted(stretches, key=lambda stretch: stretch[:2]):
            if start <= end:
                found |= {name, furthest}
            if last > end:
                end, furthest = last, name
    return found


def lying(x: Tensor) -> Lying | None:
    """How a tensor lies in its owner's memory; None where that can't be said by steps, or isn't all: of a conjugate."""
    part: Any = x._as_view()
    while isinstance(part, View):
        if part._apply is ops.conj:
            return None
        part = part._below()._as_view()
    layout, whole = x._layout(), owner_of(x)._layout()
    if layout is None or whole is None or (whole.size and not in_order(whole)):
        return None
    return Lying(tuple(layout.shape), tuple([int(step) for step in layout.strides]), int(offset_of(layout)))


def place_in(base: Any, at: Lying) -> Any:
    """The view of a tensor's memory that lies so."""
    if at.strides == memory(at.shape).strides and 0 not in at.shape:
        return base.reshape(-1)[at.offset : at.last + 1].view(at.shape)
    return base.as_strided(at.shape, at.strides, at.offset)


def deep_copy(x: Any, memo: Any) -> Any:
    """A copy of a view that is one of the copy of its owner, so that what shares memory goes on doing so. Parameters, and parts
    of them, are copied by themselves, as in PyTorch."""
    if id(x) in memo:
        return memo[id(x)]
    owner = owner_of(x)
    apart = owner is x or isinstance(x, Parameter) or isinstance(owner, Parameter)
    at = None if apart or not (x.is_leaf and owner.is_leaf) else lying(x)
    if at is None:
        return Tensor.__deepcopy__(x, memo)
    whole = copy.deepcopy(owner, memo)
    part = place_in(whole.detach() if owner.node.tracked else whole, at)
    made = memo[id(x)] = part.requires_grad_(x.requires_grad)
    gradient = x.grad
    if gradient is not None and made.node.tracked:
        made.grad = copy.deepcopy(gradient, memo)
    return copied_marks(made, x, memo)


View.__deepcopy__ = deep_copy  # type: ignore[assignment, method-assign]


def views_of_storages(places: dict[int, Place]) -> dict[int, Any]:
    """By the addresses of a file's tensors, in place of those that share memory: views of the storages in which they lie; a
    parameter that is a whole storage is that."""
    said = {
        key: Lying(stored.shape, stored.strides, stored.offset)
        for key, (_, stored, _) in places.items()
        if not (stored.conjugate or stored.negative)
    }
    met = overlapping((key, places[key].stored.storage, at) for key, at in said.items())
    shared = [key for key in said if key in met]
    bases, found = dict[Any, Any](), dict[int, Any]()
    for key in shared:
        tensor, stored, numbers = places[key]
        if (
            stored.trained
            and said[key] == Lying(stored.shape, memory(stored.shape).strides, 0)
            and tensor.size == len(numbers)
        ):
            bases.setdefault(stored.storage, reclassed(tensor, Parameter))
    for key in shared:
        tensor, stored, numbers = places[key]
        if stored.storage not in bases:
            bases[stored.storage] = as_torch(asarray(numbers))
        if tensor is not bases[stored.storage]:
            part = place_in(bases[stored.storage].detach(), said[key])
            found[key] = Parameter(part) if stored.trained else part
    return found


class Storage:
    """The memory that a tensor is a part of, as one row of elements: `x.storage()`; `x.untyped_storage()` counts it in bytes.

    >>> import adjoint.torch as torch
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> memory = x.t().storage()
    >>> memory[1], len(memory), memory.data_ptr() == x.storage().data_ptr()
    (2.0, 4, True)
    >>> memory[0] = 9.0
    >>> x[0, 0]
    tensor(9.)
    """

    def __init__(self, x: Any, typed: bool) -> None:
        self._owner, self._typed = owner_of(x), typed
        self.dtype, self.device = self._owner.dtype, self._owner.device

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"a storage has no {name!r} here; ask the tensor{at_user()}")

    def _row(self, what: str) -> Any:
        whole = self._owner._layout()
        if not self._typed or whole is None or not (whole.size == 0 or in_order(whole)):
            raise RuntimeError(f"{what}: this memory has no elements in order; use x.reshape(-1){at_user()}")
        return self._owner.data.reshape(-1)

    def __getitem__(self, index: Any) -> Any:
        row = self._row("storage[i]")
        return row[index].item() if isinstance(index, int) else as_torch(row[index]).storage()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._row("storage[i] = x")[index] = value

    def __len__(self) -> int:
        return self.size()

    def size(self) -> int:
        """How many elements it has; without a type, bytes."""
        return int(self._owner.node.type.size) if self._typed else self.nbytes()

    def nbytes(self) -> int:
        """How many bytes."""
        return int(self._owner.nbytes)

    def data_ptr(self) -> int:
        """A number that the tensors of one memory share."""
        return id(self._owner)

    def tolist(self) -> list[Any]:
        """The elements."""
        return list(self._row("tolist").tolist())

    def __repr__(self) -> str:
        """The elements below each other, as PyTorch writes them."""
        if not self._typed:
            return f"[torch.storage.UntypedStorage(device=cpu) of size {self.nbytes()}]"
        elements = "".join([f" {value}\n" for value in self.tolist()])
        return (
            f"{elements}[torch.storage.TypedStorage(dtype=torch.{self.dtype.name}, device=cpu) of size {self.size()}]"
        )


METHODS["storage"] = lambda self: Storage(self, typed=True)
METHODS["untyped_storage"] = lambda self: Storage(self, typed=False)
