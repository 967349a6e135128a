"""Parameters and buffers of lazy layers before their first input: tensors without a shape, and so without numbers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn, Self

from adjoint.dtypes import DType
from adjoint.tensors.functions import tensor, zeros
from adjoint.tensors.located import at_user
from adjoint.tensors.named import Named, wrap
from adjoint.tensors.tensor import Tensor

__all__ = ["Waiting", "wait", "waiting_class"]

NODE: Any = Named.__dict__["node"]  # the slot itself, which `Waiting` hides


class Waiting:
    """What is put before the class of a tensor that has no shape yet. It has a dtype and may be frozen; its shape, its numbers
    and whatever is computed with it are a ValueError.

    In its slot is an empty tensor's node, which says what is known.
    """

    __slots__ = ()

    def become(self, value: Tensor) -> None:
        """Be an ordinary tensor from now on, with the node of `value`."""
        NODE.__set__(self, value.node)
        self.__class__ = type(self).__mro__[2]

    def cast(self, dtype: Any) -> None:
        """Be of another dtype once there are numbers."""
        NODE.__set__(self, tensor(zeros((0,), dtype=dtype), requires_grad=self.requires_grad).node)

    def _below(self) -> Tensor:
        return wrap(NODE.__get__(self))

    def _refused(self, *_: Any) -> NoReturn:
        raise ValueError(
            "a parameter of a lazy layer has neither a shape nor numbers before the first input: call the model once with data, "
            f"or load a state{at_user()}"
        )

    if not TYPE_CHECKING:
        node = property(_refused, _refused)
    dtype = property(lambda self: self._below().dtype)
    is_leaf = property(lambda self: True)
    grad = property(lambda self: None, lambda self, value: None if value is None else self._refused())

    @property
    def requires_grad(self) -> bool:
        """Whether it isn't frozen."""
        return self._below().requires_grad

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self.requires_grad_(flag)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Freeze it, or let it be trained."""
        NODE.__set__(self, self._below().requires_grad_(requires_grad).node)
        return self

    def detach(self) -> Tensor:
        """An empty tensor, as it stands in a state."""
        return self._below().detach()

    data = property(detach, _refused)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __copy__(self) -> Self:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: Any) -> Self:
        made: Self = _made(type(self).__mro__[2], self.dtype, self.requires_grad)
        return made

    def __reduce__(self) -> Any:
        return _made, (type(self).__mro__[2], self.dtype, self.requires_grad)


@functools.cache
def waiting_class(kind: Any) -> Any:
    """The class of those tensors that will be of this kind."""
    return type(f"Uninitialized{kind.__name__}", (Waiting, kind), {"__slots__": ()})


def _made(kind: type, dtype: DType, requires_grad: bool) -> Any:
    made: Any = object.__new__(waiting_class(kind))
    NODE.__set__(made, tensor(zeros((0,), dtype=dtype), requires_grad=requires_grad).node)
    return made


def wait(given: Tensor) -> None:
    """Let a tensor be one that has no shape yet."""
    kind: Any = type(given)
    given.__class__ = waiting_class(kind)
