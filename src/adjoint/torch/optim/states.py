"""What an optimizer remembers, by parameter, as PyTorch's `state` has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from adjoint.optim.optimizer import State

from .._tensor import as_torch

__all__ = ["States"]


class States(MutableMapping[Any, Any]):
    """A dictionary from the parameters of an optimizer to what it remembers of each. An entry that is taken out, or empty, begins
    anew at the next step."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def _places(self) -> dict[int, int]:
        parameters = [p for group in self._optimizer.param_groups for p in group["params"]]
        return {id(p): i for i, p in enumerate(parameters)}

    def _place(self, parameter: Any) -> int:
        found = self._places().get(id(parameter))
        if found is None:
            raise KeyError(parameter)
        return found

    def __getitem__(self, parameter: Any) -> Any:
        found = self._optimizer._states[self._place(parameter)]
        for value in found.values():
            as_torch(value)  # a tensor of the core's becomes one of PyTorch's kind
        return found

    def __setitem__(self, parameter: Any, entries: Mapping[str, Any]) -> None:
        self._optimizer._states[self._place(parameter)] = State(entries)

    def __delitem__(self, parameter: Any) -> None:
        if parameter not in self:
            raise KeyError(parameter)
        self._optimizer._states[self._place(parameter)] = State()

    def __contains__(self, parameter: object) -> bool:
        place = self._places().get(id(parameter))
        return place is not None and bool(self._optimizer._states[place])

    def __iter__(self) -> Iterator[Any]:
        parameters = [p for group in self._optimizer.param_groups for p in group["params"]]
        return iter([p for p, entries in zip(parameters, self._optimizer._states, strict=True) if entries])

    def __len__(self) -> int:
        return sum(map(bool, self._optimizer._states))

    def __repr__(self) -> str:
        return repr(dict(self))
