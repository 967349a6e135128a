"""What a traced function can have read of plain Python state, found from the code that ran.

Whenever a piece of the user's code runs for the first time (`api.observing` tells), the names in it are known: globals,
closures and defaults of its function, attributes. From there a walk goes through whatever holds other objects: containers by
all that they hold, objects, classes and modules by the attributes that some code mentions. Each step on the way becomes a
guard. That takes in more than was read, never less of what plain code can read: a change of what is mentioned and not read
costs a new trace and no wrong result.

The walk never starts at what the function makes itself, and leaves out what is watched in other ways: tensors, modules and
optimizers (`api.capture`, `api.attributes`).
"""

from __future__ import annotations

import builtins
import functools
import keyword
import sys
import threading
import types
from abc import ABCMeta, get_cache_token
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import tracing
from adjoint.dtypes import DType
from adjoint.graph import Node, Variable
from adjoint.tensors.located import at_user
from adjoint.tensors.named import Named
from adjoint.tracer.contents import CONTENTS, follow_element, follow_foreign_array, follow_stream
from adjoint.tracer.guards import ABSENT, Guards, quoted
from adjoint.tracer.mentions import Users, mentions
from adjoint.tracer.others import functions_of_entry, guard_others, state_of, strange_classes
from adjoint.transforms.custom import _Custom
from adjoint.unknown import Unknown

if TYPE_CHECKING:
    from adjoint.tracer.capture import Trace

__all__ = ["Reach"]

MOST_GUARDS = 5000

# what never changes, or is watched in another way
LEAVES = (
    int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice, CodeType,
    np.number, np.bool_, np.character, np.datetime64, np.dtype, DType, Named, Node, Variable, Unknown,
)  # fmt: skip

EXACTLY = frozenset(LEAVES)


def is_leaf(value: Any) -> bool:
    """Whether a value is such. `isinstance` would ask a module for its class, once for each kind, which counts as reading it."""
    kind = type(value)
    if kind in EXACTLY or issubclass(kind, Named):
        return True
    if issubclass(kind, tracing.Watched):
        return issubclass(kind, LEAVES)
    return isinstance(value, LEAVES) and not (kind.__dictoffset__ and issubclass(kind, NUMBERS_AND_TEXTS))


NUMBERS_AND_TEXTS = (int, float, complex, str, bytes)  # objects of the user's classes made of these may have attributes


# what is guarded by its contents in modules of others too
HELD_BY_MODULES = (types.ModuleType, list, deque, dict, set, bytearray, np.ndarray)
PARTS_OF_FUNCTIONS = frozenset(
    {
        "__annotations__",
        "__code__",
        "__defaults__",
        "__doc__",
        "__kwdefaults__",
        "__module__",
        "__name__",
        "__qualname__",
    }
)
WHOLE = frozenset({"SimpleNamespace", "Namespace", "UserDict", "UserList", "UserString", "ChainMap", "_Environ"})


class _Bearer:
    """Something with attributes, and the names that were looked at."""

    __slots__ = ("done", "look", "owner", "path")

    def __init__(self, owner: Any, path: str, look: Callable[[_Bearer, Iterable[str]], None]) -> None:
        self.owner = owner
        self.path = path
        self.look = look
        self.done: set[str] = set()


class Reach:
    """The walk of one trace, and the guards that it leaves."""

    def __init__(self, trace: Trace, code: CodeType | None) -> None:
        self.trace = trace
        self.guards = Guards()
        self.users = Users(code)
        self.executed: dict[int, CodeType] = {}  # by address: equal code may run with other globals
        # random generators and files: how to read their state, and what it was
        self.streams: list[tuple[str, Callable[[], Any], Any]] = []
        self.seen: dict[int, Any] = {}
        self.caches: list[Any] = []  # of functions
        self.late: list[tuple[dict[str, Any], str, str]] = []  # what may be computed and kept while it is traced
        self._imported: list[str] = []
        self._names: set[str] = set()
        self._doubtful: set[str] = set()
        self._everything = False
        self._bearers: list[_Bearer] = []
        # functions that haven't run by the address of their code, with it and with where a class holds them, or None
        self._functions: dict[int, list[tuple[FunctionType, CodeType, tuple[type, str, Any] | None]]] = {}
        self.pending: deque[tuple[Any, str]] = deque()
        self.others: deque[tuple[Any, str]] = deque()  # objects whose classes are others', with their paths
        self._walking = False
        self._held: dict[int, tuple[type, Mapping[str, Any]]] = {}
        self._plainly_watched: set[type] = (
            set()
        )  # classes, seen, of objects that are guarded where they are read: modules
        self._abstract = False  # whether a class was met that others may be registered with

    # What runs --------------------------------------------------------------------------------------------------------

    def enter(self, code: CodeType, names: dict[str, Any]) -> None:
        """A piece of the user's code is about to run for the first time, with these globals."""
        self.executed[id(code)] = code
        found = mentions(code)
        for name in found.variables:
            if name in names:
                self._value(f"{{0}}[{quoted(name)}]", names, names[name], f"what the name {name!r} refers to", name)
                self.pending.append((names[name], name))
            else:  # a built-in, or nothing yet
                self._guard_absent(names, name, f"what the name {name!r} refers to")
                self.pending.append((getattr(builtins, name, None), name))
        self._import(found.modules, names)
        if found.any_module:
            loaded = [(x, name) for name, x in sys.modules.items() if isinstance(x, types.ModuleType)]
            self.pending += [(x, name) for x, name in loaded if self.users.has_module(x)]
        for function, _, place in self._functions.pop(id(code), ()):
            self._activate(function, place)
        new = (found.attributes - self._names) | (found.doubtful - self._doubtful)
        self._names |= found.attributes
        self._doubtful |= found.doubtful
        if found.everything:
            self.read_everything()
        elif new:
            for bearer in list(self._bearers):
                bearer.look(bearer, new)
        self._walk()

    def _import(self, modules: Iterable[str], names: dict[str, Any]) -> None:
        """Walk on from modules that code imports when it runs; those that aren't there yet, at the end."""
        package = names.get("__package__") or ""
        for name in modules:
            for whole in (name, f"{package}.{name}", *[name.rsplit(".", k)[0] for k in range(1, name.count(".") + 1)]):
                if whole in sys.modules:
                    self.pending.append((sys.modules[whole], whole))
                else:
                    self._imported.append(whole)

    def read_everything(self) -> None:
        """Something runs that may read any attribute of what it is given."""
        if not self._everything:
            self._everything = True
            for bearer in list(self._bearers):
                bearer.look(bearer, self._names)
            self._walk()

    def visit(self, value: Any, path: str) -> None:
        """Walk on from something that the function has got hold of."""
        if id(value) in self.seen:
            return
        if type(value) in self._plainly_watched and not self.trace.made_it(value):  # whose class the walk has seen
            self.seen[id(value)] = value
            return
        self.pending.append((value, path))
        self._walk()

    def finish(self) -> None:
        """Guard what has been computed and kept (`functools.cached_property`) while the function was traced."""
        self.pending += [(sys.modules[name], name) for name in self._imported if name in sys.modules]
        for state, name, about in self.late:
            value = state.get(name, ABSENT)
            if value is ABSENT:
                self._guard_absent(state, name, about)
                continue
            if isinstance(value, Unknown) or (isinstance(value, Named) and value.node.value is None):
                del state[name]
                raise RuntimeError(
                    f"{self.trace.function}: {about} would keep what it computes while it is traced, which has no value. Read "
                    f"it once before{at_user()}"
                )
            self._value(f"{{0}}[{quoted(name)}]", state, value, about, name)
            self.pending.append((value, about))
        self._walk()
        for cache in self.caches:
            about = f"what {cache.__name__} has kept"
            self.guards.add("still_kept({0}.cache_info(), {1})", cache, cache.cache_info(), about=about)
        if self._abstract:
            self.guards.add("registered() == {0}", get_cache_token(), about="what is registered with an abstract class")
        with tracing.paused():
            guard_others(self)

    def end(self) -> None:
        """Let go of all but the guards: the trace has been looked at."""
        for kept in (
            self.seen,
            self._functions,
            self.pending,
            self.others,
            self._bearers,
            self.executed,
            self.streams,
            self.late,
            self.caches,
            self._held,
        ):
            kept.clear()

    # The walk ---------------------------------------------------------------------------------------------------------

    def _walk(self) -> None:
        if self._walking:
            return
        self._walking = True
        try:
            with tracing.paused():
                while self.pending:
                    value, path = self.pending.popleft()
                    self.step(value, path)
                    if len(self.guards.all) > MOST_GUARDS:
                        raise RuntimeError(
                            f"{self.trace.function} reaches more than {MOST_GUARDS} things that may change, {path} among them, "
                            f"too many to compare them in each call. Pass what is needed as an argument, or make a tensor of it "
                            f"outside of the function{at_user()}"
                        )
        finally:
            self._walking = False

    def step(self, value: Any, path: str) -> None:
        """Guard one thing, and find what it leads to."""
        if is_leaf(value) or id(value) in self.seen or self.trace.owns(value):
            return
        self.seen[id(value)] = value
        kind = type(value)
        watched = issubclass(kind, tracing.Watched)
        if kind in self._plainly_watched:
            return
        for kinds, follow in CONTENTS:
            if issubclass(kind, kinds) if watched else isinstance(value, kinds):
                follow(self, value, path)
                return
        if watched:
            self._plainly_watched.add(kind)
            self.go_on(kind, kind.__name__)
        elif kind is FunctionType:
            self._function(value, path, None)
        elif isinstance(value, type):
            self._abstract = self._abstract or isinstance(value, ABCMeta)
            self._class(value, path)
        elif isinstance(value, types.ModuleType):
            self._bear(value, path, self._look_at_module)
        else:
            self.follow_object(value, path)

    def go_on(self, value: Any, path: str) -> None:
        """Something to walk on to."""
        self.pending.append((value, path))

    def _guard_absent(self, state: Mapping[str, Any], name: str, about: str) -> None:
        undo = f"del {{0}}[{quoted(name)}]"
        self.guards.add(f"{quoted(name)} not in {{0}}", state, about=about, stored=name, restore=undo)

    def _entries(self, kind: type) -> Mapping[str, Any]:
        """What a class holds: the same object each time, so that what is said of it twice is one guard."""
        return self._held.setdefault(id(kind), (kind, kind.__dict__))[1]

    def _guard_nowhere(self, kind: type, name: str) -> None:
        """Guard that none of the user's classes that a class is made of has a name, which its `__getattr__` answers for."""
        for base in self.users_classes(kind):
            self._guard_absent(self._entries(base), name, f"{base.__name__}.{name}")

    def _value(self, place: str, owner: Any, value: Any, about: str, stored: str | None) -> None:
        self.guards.add_value(place, owner, value, about, stored)

    def _bear(self, owner: Any, path: str, look: Callable[[_Bearer, Iterable[str]], None]) -> None:
        bearer = _Bearer(owner, path, look)
        self._bearers.append(bearer)
        look(bearer, self._names | self._doubtful)

    # Functions, classes, objects, modules -----------------------------------------------------------------------------

    def _function(self, value: FunctionType, path: str, place: tuple[type, str, Any] | None) -> None:
        if not self.users.has_code(value.__code__):  # adjoint's around one of the user's: `ad.grad(f)`
            self.pending += [(x, path) for x in (value.__defaults__, value.__kwdefaults__, *_contents(value))]
            return
        code = value.__code__
        if id(code) in self.executed:
            self._activate(value, place)
        else:
            self._functions.setdefault(id(code), []).append((value, code, place))
        if place is None or id(value) not in self.seen:  # a class may have one under several names
            self.seen[id(value)] = value
            self._bear(value, path, self._look_at_object)

    def _activate(self, function: FunctionType, place: tuple[type, str, Any] | None) -> None:
        """Guard a function that runs."""
        name = function.__name__
        known = (function.__code__, function.__defaults__)
        about = f"the code or the defaults of {name}"
        self.guards.add("{0}.__code__ is {1} and {0}.__defaults__ is {2}", function, *known, about=about)
        self.pending.append((function.__defaults__, f"a default of {name}"))
        if function.__kwdefaults__ is not None:
            self.guards.add("{0}.__kwdefaults__ is {1}", function, function.__kwdefaults__, about=about)
            self.pending.append((function.__kwdefaults__, f"a default of {name}"))
        for variable, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            about = f"what the name {variable!r} refers to"
            try:
                held = cell.cell_contents
            except ValueError:
                self.guards.add("is_empty({0})", cell, about=about, stored=variable)
                continue
            self._value("{0}.cell_contents", cell, held, about, variable)
            self.pending.append((held, variable))
        if place is not None:
            self._method(*place)

    def _method(self, kind: type, name: str, raw: Any) -> None:
        """Guard that a class has this under a name, and that no class between it and those that inherit it has another."""
        about = f"{kind.__name__}.{name}"
        self._value(f"{{0}}[{quoted(name)}]", self._entries(kind), raw, about, name)
        # as in `is_leaf`
        classes = [x for x in list(self.seen.values()) if issubclass(type(x), type)]
        for other in [x for x in classes if issubclass(x, kind) and x is not kind]:
            for between in other.__mro__[: other.__mro__.index(kind)]:
                if name not in between.__dict__:
                    self._guard_absent(self._entries(between), name, f"{between.__name__}.{name}")

    def _class(self, value: type, path: str) -> None:
        if not self.users.has_class(value):
            return
        self._value("{0}.__bases__", value, value.__bases__, f"what {value.__name__} is derived from", "__bases__")
        for base in (*value.__mro__[1:], type(value)):
            self.pending.append((base, base.__name__))
        for name, raw in list(vars(value).items()):
            for function in functions_of_entry(raw):
                self._function(function, f"{value.__name__}.{name}", (value, name, raw))
        for base in self.users_classes(value)[1:]:  # what has run already of those that it inherits from
            for name, raw in vars(base).items():
                if name not in vars(value) and any([id(f.__code__) in self.executed for f in functions_of_entry(raw)]):
                    self._guard_absent(self._entries(value), name, f"{value.__name__}.{name}")
        if issubclass(value, Enum):
            self.pending += [(x, f"{path}.{name}") for name, x in value.__members__.items()]
        self._bear(value, value.__name__, self._look_at_class)

    def follow_object(self, value: Any, path: str) -> None:
        """Guard the attributes of an object, those that some code mentions."""
        kind = type(value)
        module = kind.__module__
        if module.startswith("numpy.random") or (module == "random" and hasattr(value, "getstate")):
            follow_stream(self, value, path)
            return
        if module == "xml.etree.ElementTree" and kind.__name__ == "Element":
            follow_element(self, value, path)
            return
        if isinstance(getattr(kind, "__next__", None), types.WrapperDescriptorType):  # one that is written in C
            raise RuntimeError(
                f"{self.trace.function}: {path} is a {kind.__name__}, which would be read when the function is traced and not "
                f"in every call. Take the next item outside of the function and pass it as an argument{at_user()}"
            )
        if hasattr(kind, "__array__") or hasattr(kind, "__array_interface__"):
            follow_foreign_array(self, value, path)
        elif strange_classes(self, kind):
            self.others.append((value, path))
        wrapped = state_of(value).get("__wrapped__")
        if isinstance(value, functools._lru_cache_wrapper) and isinstance(wrapped, FunctionType):
            self._enter_cached(value, wrapped)
        self.pending.append((wrapped, path))
        ours = module.startswith("adjoint.stats.")  # a distribution: its parameters are read by our code, too
        if ours or isinstance(value, _Custom):  # whose rules our code calls, and nobody's mentions
            for name, held in state_of(value).items():
                if ours or callable(held):
                    self._value(f"{{0}}[{quoted(name)}]", state_of(value), held, f"{path}.{name}", name)
                    self.pending.append((held, f"{path}.{name}"))
        self.follow_attributes(value, path)

    def _enter_cached(self, cache: Any, function: FunctionType) -> None:
        """What `lru_cache` has kept from calls before the trace stands for the code that computed it, as long as it is kept."""
        if self.users.has_code(function.__code__):
            self.caches.append(cache)
            self.enter(function.__code__, function.__globals__)

    def follow_attributes(self, value: Any, path: str) -> None:
        """Guard the class of an object, and its attributes as far as they are known or will be mentioned."""
        kind = type(value)
        if self.users.has_class(kind):
            self.pending.append((kind, kind.__name__))
            self.guards.add("{0}.__class__ is {1}", value, kind, about=f"the class of {path}", stored="__class__")
        elif kind.__module__ == "builtins" or "cython" in kind.__module__:  # a bound method
            self.pending.append((getattr(value, "__self__", None), path))
        self._bear(value, path, self._look_at_object)

    def _look_at_object(self, bearer: _Bearer, names: Iterable[str]) -> None:
        owner = bearer.owner
        kind = type(owner)
        state = state_of(owner)
        inherited: dict[str, Any] = {}
        for base in reversed(self.users_classes(kind)):
            inherited.update(vars(base))
        plainly: Any = object.__getattribute__
        direct, computes = kind.__getattribute__ is plainly, _computes(kind)
        for name in self._names_of(bearer, set(names), state, inherited) - bearer.done:
            bearer.done.add(name)
            about = f"{kind.__name__}.{name}"
            raw = inherited.get(name, ABSENT)
            if isinstance(raw, types.MemberDescriptorType):  # a slot
                value = getattr(owner, name, ABSENT)
                self._value(f"getattr({{0}}, {name!r}, ABSENT)", owner, value, about, name)
                self.pending.append((value, about))
            elif name in PARTS_OF_FUNCTIONS and isinstance(owner, FunctionType):
                value, about = getattr(owner, name), f"{bearer.path}.{name}"
                self._value(f"{{0}}.{name}", owner, value, about, name)
                self.pending.append((value, about))
            elif hasattr(type(raw), "__set__"):  # a property and its like: its own code runs
                self.pending.append((raw, about))
            elif name in state:
                simple = direct and name.isidentifier() and not keyword.iskeyword(name)
                if simple:
                    self._value(f"{{0}}.{name}", owner, state[name], about, name)
                else:
                    self._value(f"{{0}}[{quoted(name)}]", state, state[name], about, name)
                self.pending.append((state[name], about))
            elif isinstance(raw, functools.cached_property):
                self.late.append((state, name, about))
            elif isinstance(owner, threading.local):
                value = getattr(owner, name, ABSENT)
                if value is not ABSENT or name in self._doubtful:
                    self._value(f"getattr({{0}}, {name!r}, ABSENT)", owner, value, about, name)
                    self.pending.append((value, about))
            elif (raw is not ABSENT or name in self._doubtful or computes) and hasattr(owner, "__dict__"):
                self._guard_absent(state, name, about)
            if computes and raw is ABSENT and name not in state:
                self._guard_nowhere(kind, name)

    def _names_of(self, bearer: _Bearer, names: set[str], state: dict[str, Any], inherited: dict[str, Any]) -> set[str]:
        """The attributes to be looked at: those that are named, and all of what may be read as a whole."""
        owner, kind = bearer.owner, type(bearer.owner)
        if not self.users.has_class(kind) and not module_is_ours(kind):  # another library's: at least its arrays
            names |= {name for name, x in state.items() if isinstance(x, np.ndarray)}
        data = self._everything or hasattr(kind, "__dataclass_fields__") or issubclass(kind, Enum)
        if kind.__name__ in WHOLE or (data and self.users.has_class(kind)):
            names |= {x for x in (*state, *inherited) if self._everything or not _is_special(x)}
            if not isinstance(owner, FunctionType) and state and ALL not in bearer.done:
                bearer.done.add(ALL)
                undo = "[{0}.pop(k) for k in [*{0}] if k not in {1}]"
                about = f"the attributes of {bearer.path}"
                self.guards.add("same_items([*{0}], {1})", state, list(state), about=about, restore=undo)
        return names

    def _look_at_class(self, bearer: _Bearer, names: Iterable[str]) -> None:
        kind = bearer.owner
        whole = set(names) | ({x for x in vars(kind) if not _is_special(x)} if self._everything else set())
        for name in whole - bearer.done:
            bearer.done.add(name)
            raw = vars(kind).get(name, ABSENT)
            if raw is ABSENT:
                if name in ("__name__", "__qualname__"):
                    self._value(f"{{0}}.{name}", kind, getattr(kind, name), f"{kind.__name__}.{name}", name)
                elif name == "__subclasses__":
                    about = f"which classes are derived from {kind.__name__}"
                    found = type.__subclasses__(kind)  # of a class of classes too
                    self.guards.add("same_items(type.__subclasses__({0}), {1})", kind, found, about=about)
                elif name in self._doubtful or any(
                    name in vars(x) for x in (*kind.__mro__[1:-1], *self.users_classes(type(kind)))
                ):
                    about = f"{kind.__name__}.{name}"
                    self._guard_absent(self._entries(kind), name, about)
                elif _computes(type(kind)):
                    self._guard_nowhere(kind, name)
            else:
                self._value(f"{{0}}[{quoted(name)}]", self._entries(kind), raw, f"{kind.__name__}.{name}", name)
                if not functions_of_entry(raw):
                    self.pending.append((raw, f"{kind.__name__}.{name}"))

    def _look_at_module(self, bearer: _Bearer, names: Iterable[str]) -> None:
        module, state = bearer.owner, vars(bearer.owner)
        users = self.users.has_module(module)
        for name in set(names) - bearer.done:
            bearer.done.add(name)
            about = f"{module.__name__}.{name}"
            if name in state:
                self._value(f"{{0}}[{quoted(name)}]", state, state[name], about, name)
                value = state[name]
                held = isinstance(value, HELD_BY_MODULES) and value is not sys.modules  # which any import changes
                if users or held or type(value).__name__ in WHOLE or _is_bound(value):
                    self.pending.append((value, about))
            elif users and (name in self._doubtful or "__getattr__" in state):
                self._guard_absent(state, name, about)

    def users_classes(self, kind: type) -> list[type]:
        """The user's classes among those that a class is made of."""
        return [x for x in kind.__mro__ if self.users.has_class(x)]

    def drawn_from(self) -> str | None:
        """A random generator or a file from outside that the function has drawn or read from."""
        for path, read, state in self.streams:
            if repr(read()) != state:
                return path
        return None


ALL = ""  # among the names that were looked at: which there are is guarded


def module_is_ours(kind: type) -> bool:
    """Whether a class is adjoint's or the standard library's."""
    return kind.__module__.startswith("adjoint.") or kind.__module__.partition(".")[0] in sys.stdlib_module_names


def _computes(kind: type) -> bool:
    """Whether a class has code for attributes that its objects don't have."""
    return any(["__getattr__" in vars(x) for x in kind.__mro__])


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_bound(value: Any) -> bool:
    """Whether it is a method of an object, such as those that `random` and `numpy.random` have for functions."""
    owner = getattr(value, "__self__", None)
    return owner is not None and not isinstance(owner, types.ModuleType | type)


def _contents(function: FunctionType) -> list[Any]:
    """What another library's function refers to, but for what `singledispatch` keeps of its registry."""
    found = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name in ("dispatch_cache", "cache_token"):
            continue
        try:
            found.append(cell.cell_contents)
        except ValueError:
            continue
    return found
