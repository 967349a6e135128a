"""Attributes that programs put on tensors: marks that their own code reads again, as `weight._no_weight_decay = True`.

A tensor has no dictionary, so that it costs little and a misspelt name is an error. These names have places beside it.
"""

from __future__ import annotations

import copy
import weakref
from typing import Any

from adjoint import tracing
from adjoint.tensors.located import at_user

from ._tensor import Parameter, Tensor

__all__ = ["NAMES", "install"]

# What programs' own optimizers, initialisations and networks ask of parameters; and a slip that is harmless in PyTorch.
NAMES = """_no_weight_decay _no_weight_reg _no_reinit _optim _is_hf_initialized no_weight_decay weight_decay lr lr_scale lr_mult
    wd_mult learning_rate optim_group is_norm is_bias is_embedding shared sequence_parallel tensor_model_parallel partition_dim
    partition_stride allreduce group_name main_grad infshape require_grad""".split()


class _Attribute:
    """One of these names, of all tensors. `held` has the values by the tensors' ids, for == on tensors is elementwise, each with
    what lets go of it when the tensor is gone."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.held: dict[int, tuple[Any, Any]] = {}

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
            return self.held[id(tensor)][1]
        except KeyError:
            raise AttributeError(f"{type(tensor).__name__!r} object has no attribute {self.name!r}") from None

    def __set__(self, tensor: Any, value: Any) -> None:
        self._refuse_traces()
        held, key = self.held, id(tensor)
        self.held[key] = weakref.ref(tensor, lambda _: held.pop(key, None)), value

    def __delete__(self, tensor: Any) -> None:
        self.__get__(tensor)
        del self.held[id(tensor)]

    def copy(self, tensor: Tensor, made: Tensor, memo: Any) -> None:
        """Let a copy have a copy of the value, or the same without `memo`."""
        found = self.held.get(id(tensor))
        if found is not None and made is not tensor:
            self.__set__(made, found[1] if memo is None else copy.deepcopy(found[1], memo))


ATTRIBUTES = [_Attribute(name) for name in NAMES]


def _copied(made: Tensor, tensor: Tensor, memo: Any) -> Tensor:
    for attribute in ATTRIBUTES:
        attribute.copy(tensor, made, memo)
    return made


def install() -> None:
    """Let all tensors have these names. Deep copies of parameters don't keep them, as in PyTorch."""
    shallow, deep = Tensor.__copy__, Tensor.__deepcopy__
    Tensor.__copy__ = lambda self: _copied(shallow(self), self, None)  # type: ignore[method-assign]
    Tensor.__deepcopy__ = lambda self, memo: (  # type: ignore[method-assign]
        deep(self, memo) if isinstance(self, Parameter) else _copied(deep(self, memo), self, memo)
    )
    for attribute in ATTRIBUTES:
        setattr(Tensor, attribute.name, attribute)
