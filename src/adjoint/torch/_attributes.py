"""Attributes that programs put on tensors: marks that their own code reads again, as `weight._no_weight_decay = True`.

A tensor has no dictionary, so that it costs little and a misspelt name is an error. These names have places beside it.
"""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

from adjoint import tracing
from adjoint.tensors.located import at_user
from adjoint.tensors.named import Named

from ._tensor import Parameter, Tensor

__all__ = ["NAMES", "copied_marks", "install"]

# What programs' own optimizers, initialisations and networks ask of parameters; and a slip that is harmless in PyTorch.
NAMES = """_no_weight_decay _no_weight_reg _no_reinit _optim _is_hf_initialized no_weight_decay weight_decay lr lr_scale lr_mult
    wd_mult learning_rate optim_group is_norm is_bias is_embedding shared sequence_parallel tensor_model_parallel partition_dim
    partition_stride allreduce group_name main_grad infshape require_grad""".split()

found: Any = vars(Named)["_marks"].__get__  # by the slot: where it is empty nobody looks for a hint


class _Attribute:
    """One of these names, of all tensors, which hold the values: what refers to its own tensor is freed with it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _refuse_traces(self) -> None:
        if tracing.active() is not None:
            raise RuntimeError(
                f"the attribute {self.name!r} of a tensor isn't seen by compiled functions: read and set it outside{at_user()}"
            )

    def __get__(self, tensor: Any, kind: Any = None) -> Any:
        if tensor is None:
            return self
        self._refuse_traces()
        try:
            return found(tensor)[self.name]
        except (AttributeError, KeyError):
            raise AttributeError(f"{type(tensor).__name__!r} object has no attribute {self.name!r}") from None

    def __set__(self, tensor: Any, value: Any) -> None:
        self._refuse_traces()
        try:
            found(tensor)[self.name] = value
        except AttributeError:
            tensor._marks = {self.name: value}

    def __delete__(self, tensor: Any) -> None:
        self.__get__(tensor)
        del found(tensor)[self.name]


ATTRIBUTES = [_Attribute(name) for name in NAMES]


def copied_marks(made: Tensor, tensor: Tensor, memo: Any) -> Tensor:
    """A copy, with a copy of what programs put on the tensor, or with the same without `memo`."""
    marks = None
    with suppress(AttributeError):
        marks = found(tensor)
    if marks is not None and made is not tensor:
        made._marks = dict(marks) if memo is None else copy.deepcopy(marks, memo)
    return made


def install() -> None:
    """Let all tensors have these names. Deep copies of parameters don't keep them, as in PyTorch."""
    shallow, deep = Tensor.__copy__, Tensor.__deepcopy__
    Tensor.__copy__ = lambda self: copied_marks(shallow(self), self, None)  # type: ignore[method-assign]
    Tensor.__deepcopy__ = lambda self, memo: (  # type: ignore[method-assign]
        deep(self, memo) if isinstance(self, Parameter) else copied_marks(deep(self, memo), self, memo)
    )
    for attribute in ATTRIBUTES:
        setattr(Tensor, attribute.name, attribute)
