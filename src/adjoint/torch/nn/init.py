"""torch.nn.init: the core's initialisation, of any tensor, in place and unrecorded."""

from __future__ import annotations

import math
from typing import Any

from adjoint.nn import init as core_init
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user
from adjoint.transforms.modes import no_grad

from .._creation import source
from .._missing import getter
from .._names import like
from .._tensor import Core

__all__ = [*list(core_init.__all__), "dirac_", "sparse_"]
calculate_gain = core_init.calculate_gain


def _public(name: str) -> Any:
    f = getattr(core_init, name)

    def called(tensor: Any, *args: Any, **keywords: Any) -> Any:
        if not isinstance(tensor, Core):
            raise TypeError(f"{name}: expected a tensor, got {type(tensor).__name__}{at_user()}")
        if keywords.get("generator") is not None:
            keywords["generator"] = source(keywords["generator"])
        with no_grad():
            f(tensor, *args, **keywords)
        return tensor

    called.__name__ = name
    called.__doc__ = f.__doc__
    return like(called, f)


for _name in core_init.__all__:
    if _name.endswith("_"):
        globals()[_name] = _public(_name)
        globals()[_name[:-1]] = globals()[_name]  # the names from before PyTorch 0.4


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """The identity as weights of a convolution."""
    if tensor.ndim not in (3, 4, 5) or tensor.shape[0] % groups:
        raise ValueError(f"dirac_: weights of a convolution, got shape {tuple(tensor.shape)}{at_user()}")
    middle = tuple(n // 2 for n in tuple(tensor.shape)[2:])
    per_group = tensor.shape[0] // groups
    out = core.zeros(tuple(tensor.shape), dtype=tensor.dtype)
    for g in range(groups):
        for d in range(min(per_group, tensor.shape[1])):
            out[(g * per_group + d, d, *middle)] = 1
    with no_grad():
        tensor.data = out
    return tensor


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal numbers, of which a part of each column is 0."""
    if tensor.ndim != 2:
        raise ValueError(f"sparse_: a matrix, got shape {tuple(tensor.shape)}{at_user()}")
    rows, columns = tuple(tensor.shape)
    draw = source(generator)
    values = draw.normal((rows, columns), 0.0, std, dtype=tensor.dtype)
    ranks = core.argsort(core.argsort(draw.uniform((rows, columns)), axis=0), axis=0)
    with no_grad():
        tensor.data = core.where(ranks < math.ceil(sparsity * rows), 0.0, values)
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """Of how many elements one of the output is made, and the other way, in a layer with these weights. Layers of one's own
    use it, in spite of its name, as they do `_calculate_correct_fan`."""
    shape = tuple(tensor.shape)
    if len(shape) < 2:
        raise ValueError(f"fan in and fan out: weights have two axes and more, got shape {shape}{at_user()}")
    return shape[1] * math.prod(shape[2:]), shape[0] * math.prod(shape[2:])


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    """The fan in, or the fan out."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is fan_in or fan_out, not {mode!r}{at_user()}")
    return _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]


__getattr__ = getter("torch.nn.init", globals())
