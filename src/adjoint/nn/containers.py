"""Modules that hold modules, or parameters, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self, overload

from adjoint import tracing
from adjoint.tensors import Tensor
from adjoint.tensors.functions import variable

from .module import Module, is_variable
from .states import CHILD, PARAMETER

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class Ordered(Module):
    """What both share: they act as lists of their children, whose names don't matter to indexing."""

    _holds_none: ClassVar[bool] = False  # whether None in place of a module is one of what it holds

    def append(self, module: Module) -> Self:
        """Add a module at the end, named by its index; gives the container back."""
        self.add_module(str(len(self)), module)
        return self

    def __len__(self) -> int:
        return len(self._modules_held())

    def __iter__(self) -> Iterator[Module]:
        if tracing.active() is not None:
            return iter(
                [module for _, module in self._modules_held()]
            )  # each is noted as read; `__dict__` would be all
        state = self.__dict__
        held = [state[name] for name, kind in self._kinds.items() if kind == CHILD]
        return iter(held if self._holds_none else [module for module in held if module is not None])

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        if isinstance(index, slice):
            return self._with(dict(self._modules_held()[index]))
        module: Module = getattr(self, self._name_at(index))
        return module

    def __setitem__(self, index: int, module: Module) -> None:
        self.add_module(self._name_at(index), module)

    def _name_at(self, index: int) -> str:
        names = [name for name, _ in self._modules_held()]
        if not -len(names) <= index < len(names):
            raise IndexError(f"{type(self).__name__} has {len(names)} modules; there is none at {index}")
        return names[index]

    def _with(self, named: Mapping[str, Module]) -> Self:
        raise NotImplementedError


class ModuleList(Ordered):
    """A list whose modules are found by the module that holds it; they are called "0", "1" and so on."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self.extend(modules)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end; gives the list back."""
        for module in modules:
            self.append(module)
        return self

    def _with(self, named: Mapping[str, Module]) -> Self:
        return type(self)(named.values())


class Sequential(Ordered):
    """Modules applied one after the other: `Sequential(a, b)(x)` is `b(a(x))`.

    Give the modules, or one dictionary of them by name; without names they are called "0", "1" and so on. Indexing and
    slicing work as on a list; a slice keeps the names.
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        first = modules[0] if len(modules) == 1 else None
        named: Mapping[str, Any] = (
            first if isinstance(first, Mapping) else {str(i): module for i, module in enumerate(modules)}
        )
        for name, module in named.items():
            self.add_module(name, module)

    def forward(self, x: Any) -> Any:
        """The last module's output."""
        for module in self:
            x = module(x)
        return x

    def _with(self, named: Mapping[str, Module]) -> Self:
        return type(self)(named)


class ModuleDict(Module):
    """A dictionary whose modules are found by the module that holds it, under their keys, in the order of insertion."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] = ()) -> None:
        self.update(modules)

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules by name, from a dictionary or from pairs."""
        for name, module in modules.items() if isinstance(modules, Mapping) else modules:
            self[name] = module

    def keys(self) -> list[str]:
        """The names."""
        return [name for name, _ in self._modules_held()]

    def values(self) -> list[Module]:
        """The modules."""
        return [module for _, module in self._modules_held()]

    def items(self) -> list[tuple[str, Module]]:
        """The names and modules."""
        return self._modules_held()

    def pop(self, name: str) -> Module:
        """Take a module out, and give it back. Raises KeyError when there is none of this name."""
        module = self[name]
        del self[name]
        return module

    def clear(self) -> None:
        """Take all modules out."""
        for name in self.keys():
            del self[name]

    def __getitem__(self, name: str) -> Module:
        if self._kinds.get(name) != CHILD:
            raise KeyError(f"ModuleDict has no module {name!r}; there are {', '.join(self.keys()) or 'none'}")
        module: Module = getattr(self, name)
        return module

    def __setitem__(self, name: str, module: Module) -> None:
        if hasattr(type(self), name) or (name in self.__dict__ and name not in self._kinds):
            raise KeyError(f"ModuleDict: a module can't be called {name!r}, which is an attribute of every ModuleDict")
        self.add_module(name, module)

    def __delitem__(self, name: str) -> None:
        self[name]
        delattr(self, name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._kinds.get(name) == CHILD

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())


def _parameter(value: Any) -> Tensor:
    """A variable: the value itself if it is one, or one of its value."""
    return value if isinstance(value, Tensor) and is_variable(value) else variable(value)


class ParameterList(Module):
    """A list whose parameters are found by the module that holds it; they are called "0", "1" and so on.

    What is no variable becomes one of its value.
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.extend(values)

    def append(self, value: Any) -> Self:
        """Add a parameter at the end; gives the list back."""
        setattr(self, str(len(self)), _parameter(value))
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add parameters at the end; gives the list back."""
        for value in values:
            self.append(value)
        return self

    def __len__(self) -> int:
        return len(list(self._own(PARAMETER)))

    def __iter__(self) -> Iterator[Tensor]:
        return iter([parameter for _, parameter in self._own(PARAMETER)])

    @overload
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: slice) -> ParameterList: ...
    def __getitem__(self, index: int | slice) -> Tensor | ParameterList:
        if isinstance(index, slice):
            return ParameterList(list(self)[index])
        parameter: Tensor = getattr(self, self._name_at(index))
        return parameter

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name_at(index), _parameter(value))

    def _name_at(self, index: int) -> str:
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"ParameterList has {count} parameters; there is none at {index}")
        return str(index % count)

    def extra_repr(self) -> str:
        """The shapes of its parameters."""
        return ", ".join(str(parameter.shape) for parameter in self)


class ParameterDict(Module):
    """A dictionary whose parameters are found by the module that holds it, under their keys, in the order of insertion.

    What is no variable becomes one of its value.
    """

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        self.update(values)

    def update(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Add parameters by name, from a dictionary or from pairs."""
        for name, value in values.items() if isinstance(values, Mapping) else values:
            self[name] = value

    def keys(self) -> list[str]:
        """The names."""
        return [name for name, _ in self._own(PARAMETER)]

    def values(self) -> list[Tensor]:
        """The parameters."""
        return [parameter for _, parameter in self._own(PARAMETER)]

    def items(self) -> list[tuple[str, Tensor]]:
        """The names and parameters."""
        return list(self._own(PARAMETER))

    def pop(self, name: str) -> Tensor:
        """Take a parameter out, and give it back. Raises KeyError when there is none of this name."""
        parameter = self[name]
        del self[name]
        return parameter

    def __getitem__(self, name: str) -> Tensor:
        if self._kinds.get(name) != PARAMETER:
            raise KeyError(f"ParameterDict has no parameter {name!r}; there are {', '.join(self.keys()) or 'none'}")
        parameter: Tensor = getattr(self, name)
        return parameter

    def __setitem__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name) or (name in self.__dict__ and name not in self._kinds):
            raise KeyError(f"ParameterDict: {name!r} is an attribute of every ParameterDict, and can't be a key")
        if not name or "." in name:
            raise KeyError(f"ParameterDict: a parameter can't be called {name!r}; dots separate names")
        setattr(self, name, _parameter(value))

    def __delitem__(self, name: str) -> None:
        self[name]
        delattr(self, name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._kinds.get(name) == PARAMETER

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def extra_repr(self) -> str:
        """The names and shapes of its parameters."""
        return ", ".join(f"{name}: {parameter.shape}" for name, parameter in self.items())
