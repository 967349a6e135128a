"""What a name that isn't here leads to: an error that names the nearest one that is."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["getter", "missing"]

HINTS = {  # names of PyTorch's that lead to others here
    "torch.nn.CrossMapLRN2d": "use nn.LocalResponseNorm",
    "torch.nn.NLLLoss2d": "use nn.NLLLoss",
    "torch.nn.Container": "use nn.Module",
    "torch.nn.LinearCrossEntropyLoss": "use nn.Linear and nn.CrossEntropyLoss",
    "torch.nn.functional.linear_cross_entropy": "use F.cross_entropy(F.linear(input, weight), target)",
    "torch.quasirandom": "use scipy.stats.qmc",
    "torch.overrides": "tensors here take no __torch_function__; ad.custom_vjp and torch.autograd.Function make functions",
    "torch.sym_int": "shapes are Python's integers: use int",
    "torch.cond": "use if, or ad.cond in a compiled function",
    "torch.segment_reduce": "use torch.zeros(n).index_add(0, segments, x), or scatter_reduce",
    "torch.lobpcg": "use torch.linalg.eigh",
    "torch.Stream": "adjoint computes on the CPU; leave it out",
    "torch.Event": "adjoint computes on the CPU; leave it out",
}


def missing(where: str, name: str, known: Any) -> AttributeError:
    """The error for a name of PyTorch's that isn't here."""
    if f"{where}.{name}" in HINTS:
        return AttributeError(f"{where} has no {name!r} in adjoint; {HINTS[f'{where}.{name}']}")
    near = difflib.get_close_matches(name, [k for k in known if not k.startswith("_")], 1)
    hint = f"; the nearest name is {where}.{near[0]}" if near else ""
    return AttributeError(f"{where} has no {name!r} in adjoint{hint}")


def getter(where: str, names: Mapping[str, Any]) -> Callable[[str], Any]:
    """A module's `__getattr__`."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing(where, name, names)

    return __getattr__
