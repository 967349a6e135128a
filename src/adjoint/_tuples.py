"""Named tuples for the modules that every program waits for.

`NamedTuple` here is used like the one of `typing`, which takes five times as long to make a class: it compiles every annotation,
and a constructor for every class. Here the constructors of all classes with as many fields are one code under other names.
"""

from __future__ import annotations

import functools
from collections import _tuplegetter  # type: ignore[attr-defined]
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

__all__ = ["Lasting", "NamedTuple"]


@functools.cache
def _constructor(count: int) -> CodeType:
    names = "".join([f"a{i}," for i in range(count)])
    made: FunctionType = eval(f"lambda cls, {names}: new(cls, ({names}))")
    return made.__code__


class _Named(tuple[Any, ...]):
    """What named tuples have in common."""

    __slots__ = ()
    _fields = tuple[str, ...]()

    @classmethod
    def _make(cls, values: Iterable[Any]) -> _Named:
        return cls(*values)

    def _replace(self, **changes: Any) -> _Named:
        made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
        if changes:
            raise TypeError(f"{type(self).__name__} has no {', '.join(changes)}")
        return made

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        fields = ", ".join([f"{name}={value!r}" for name, value in self._asdict().items()])
        return f"{type(self).__name__}({fields})"

    def __getnewargs__(self) -> tuple[Any, ...]:  # what copies and pickles are made of
        return tuple(self)


class Lasting:
    """In front of a named tuple: what else is known of it follows from its fields, and is kept once somebody has asked
    (`cached_property`). Nothing can be set."""

    __repr__ = object.__repr__  # of much

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} can't be set: it never changes")


class _Maker(type):
    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
        fields = tuple(body.get("__annotations__", ()))
        code = _constructor(len(fields)).replace(co_qualname=f"{name}.__new__", co_varnames=("cls", *fields))
        defaults = tuple([body[field] for field in fields if field in body])
        body |= {field: _tuplegetter(i, None) for i, field in enumerate(fields)}
        body |= {"__new__": FunctionType(code, {"new": tuple.__new__}, "__new__", defaults)}
        return type(name, (_Named,), {**body, "__slots__": (), "__match_args__": fields, "_fields": fields})


if TYPE_CHECKING:
    from typing import NamedTuple
else:
    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
