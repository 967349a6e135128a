"""Watching which code runs while a function is traced, and refusing what gives something else in every call.

A profile function (`sys.setprofile`) hears of every call in this thread: of Python functions before they run, and of
functions in C before they are called. It is there during the trace alone. A profiler that was there before is put back.

Python pays for a listener at every call, return and call of C, so a recorded operation takes four times as long while one is
there. An operation of the engine's that is given numbers, arrays and tensors alone runs none of the user's code, and neither does
a layer of the engine's that holds no more than that. So nothing is to be heard until it returns: the listener goes, and what
brings it back hangs on the operation's frame, which is freed as it returns. A frame that an exception keeps would bring it back
too late for the code that catches it, so where the user's code catches anything, it stays. From Python 3.12 on exchanging a
listener costs more than listening, so it stays there, too.
"""

from __future__ import annotations

import functools
import inspect
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint import derive
from adjoint.primitives.structural import CONCAT
from adjoint.tensors.located import PACKAGE
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.reach import Reach
from adjoint.transforms.grad import Inputs

__all__ = ["Observer"]

CLOCKS = frozenset(
    "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns thread_time "
    "thread_time_ns localtime gmtime ctime asctime strftime times".split()
)
FILES = frozenset("listdir scandir stat lstat getcwd urandom getrandom read readlink access".split())
IMPURE: dict[str, frozenset[str]] = {  # functions in C, by their module
    "time": CLOCKS,
    "builtins": frozenset({"open", "input"}),
    "io": frozenset({"open"}),
    "_io": frozenset({"open"}),
    "posix": FILES,
    "nt": FILES,
}
FILE_METHODS = frozenset("read readline readlines readinto readinto1 read1 getvalue getbuffer peek tell seek".split())
# classes in C whose objects show nothing of what they hold, by module and name; None for all methods
OPAQUE: dict[tuple[str, str], frozenset[str] | None] = {
    ("sqlite3", "Connection"): None,
    ("sqlite3", "Cursor"): None,
    ("_thread", "lock"): frozenset({"locked"}),
    ("_queue", "SimpleQueue"): frozenset({"qsize", "empty", "get", "get_nowait"}),
}
CLASS_METHODS = frozenset({"now", "utcnow", "today"})  # of dates
# functions in Python, by their module; None for all of it
IMPURE_CODE: dict[str, frozenset[str] | None] = {
    "secrets": None,
    "uuid": frozenset({"uuid1", "uuid4", "getnode"}),
    "tempfile": None,
    "os": frozenset({"getenv", "__getitem__", "__iter__", "__len__", "walk", "urandom"}),
    "random": frozenset({"getrandbits"}),  # of SystemRandom, which unseeded generators ask as well
    "genericpath": frozenset({"exists", "isfile", "isdir", "getsize", "getmtime"}),
    "pathlib": frozenset(
        {"open", "read_text", "read_bytes", "exists", "is_file", "is_dir", "iterdir", "glob", "cwd", "stat"}
    ),
    "datetime": frozenset({"now", "utcnow", "today"}),
    "_pydatetime": frozenset({"now", "utcnow", "today"}),
}
READERS = frozenset({"copy", "dataclasses", "pickle", "json", "json.encoder", "inspect", "pprint", "reprlib", "types"})
CHANGERS = frozenset(
    "append extend insert remove pop clear sort reverse update setdefault popitem add discard appendleft popleft "
    "extendleft rotate difference_update intersection_update symmetric_difference_update fill put itemset resize "
    "partition setfield byteswap setflags __setitem__ __delitem__ __ior__ __iadd__ __setattr__ __delattr__".split()
)


KNOWN = frozenset({"builtins", "math", "cmath"})  # modules whose functions in C change nothing, but for these
UNKNOWN = frozenset({"setattr", "delattr", "exec", "eval", "__import__"})


# Modules of operations that call back nobody who isn't in their arguments.
OPERATIONS = tuple(
    [f"adjoint.{name}" for name in (
        "tensors.operators", "tensors.elementwise", "tensors.indexing", "tensors.assignment", "tensors.reductions",
        "tensors.shaping", "tensors.products", "tensors.functions", "tensors.composing", "tensors.ordering", "arrays.",
        "linalg", "special", "fft", "nn.functional",
    )]
)  # fmt: skip
PLAIN = frozenset(
    {
        Tensor,
        float,
        int,
        bool,
        complex,
        str,
        type(None),
        type(Ellipsis),
        slice,
        np.float64,
        np.float32,
        np.int64,
        np.bool_,
    }
)
CAN_PAUSE = sys.version_info < (3, 12)


GENERATES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def _argument_count(code: CodeType) -> int:
    """How many of a function's variables are arguments."""
    flags = code.co_flags
    several = bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + several


def _reads_the_unseen(owner: Any, name: str) -> bool:
    """Whether a method in C reads a file, a database, a lock."""
    kind = type(owner)
    found = FILE_METHODS if isinstance(owner, io.IOBase) else OPAQUE.get((kind.__module__, kind.__name__), frozenset())
    return found is None or name in found


def _are_plain(names: Sequence[str], given: Mapping[str, Any]) -> bool:
    """Whether these are numbers, tensors and lists of them, which run none of the user's code."""
    for name in names:
        x: Any = given.get(name)
        kind = type(x)
        if kind in PLAIN:
            continue
        if kind is tuple or kind is list:
            if not all([type(part) in PLAIN for part in x]):
                return False
        elif kind is np.ndarray:
            if x.dtype.hasobject:
                return False
        elif kind is not dict or x:
            return False
    return True


def _computes_by_itself(kind: type[Any]) -> bool:
    """Whether what a class of modules computes, and the functions that it names, are as the engine has them."""
    code = getattr(kind.forward, "__code__", None)
    if not kind.__module__.startswith("adjoint.nn.") or code is None or not code.co_filename.startswith(PACKAGE):
        return False
    names: dict[str, Any] = kind.forward.__globals__
    spaces = [names, *[vars(x) for x in map(names.get, code.co_names) if isinstance(x, ModuleType)]]
    functions = [x for space in spaces for x in map(space.get, code.co_names) if isinstance(x, FunctionType)]
    return all([function.__code__.co_filename.startswith(PACKAGE) for function in functions])


def _has_own_rules(given: Mapping[str, Any]) -> bool:
    """Whether the nodes to differentiate have rules of the engine's alone, which call none of the user's."""
    return all([type(node.op.vjp) is tuple or node.op is CONCAT for node in given["order"]])


# Walks over graphs.
WALKS: dict[CodeType, Callable[[Mapping[str, Any]], bool]] = {
    derive._active.__code__: lambda given: True,
    derive._accumulate.__code__: _has_own_rules,
    Inputs.release_all.__code__: lambda given: True,
    Inputs.tracked_for_us.__code__: lambda given: True,
}


class Observer:
    """The profile function of one trace."""

    def __init__(self, reach: Reach, function: str) -> None:
        self.reach = reach
        self.function = function
        self.refused: RuntimeError | None = None  # raised at the user's line, and again at the end if that was caught
        self.opaque = False  # whether the user's code has called what may change its arguments without being heard
        self.changes: dict[int, tuple[str, int]] = {}  # by object: where a method of it was called that may change it
        self._known: dict[int, CodeType] = {}  # what need not be heard of any more, by address
        # of the engine's code: whether a call with these arguments runs none of the user's
        self._alone: dict[int, Callable[[Mapping[str, Any]], bool]] = {}
        self._layers: dict[type, bool] = {}  # of classes of modules: whether their code calls the engine's alone
        self._may_pause = CAN_PAUSE and sys.gettrace() is None  # a debugger reads what hangs on frames
        self.hear: Any = None  # the listener
        self._returning: Any = None  # what brings the listener back when it is freed

    def watch(self, function: Callable[[], Any]) -> Any:
        """Call a function, watched."""
        before: Any = sys.getprofile()
        after = before if callable(before) else None
        hear = self.hear = self._hearing()
        # Functions in C, so that no handler runs in between.
        self._returning = type("Returning", (), {"__del__": functools.partial(sys.setprofile, hear)})
        nothing = functools.partial(int)
        try:  # around the exchange too: a signal's handler may raise right after it
            sys.setprofile(hear)
            result = function()
        finally:
            # No call comes before the listener has gone, for a handler may raise as it returns. A frame that an exception keeps
            # is freed later, and brings nothing back any more.
            self._returning.__del__ = nothing
            sys.setprofile(after)
            self.hear = None
            if hasattr(before, "enable"):  # cProfile, which is written in C
                before.enable()
        if self.refused is not None:
            raise self.refused
        return result

    def _hearing(self) -> Callable[[FrameType, str, Any], None]:
        """The profile function: called some ten thousand times while a network's step is traced, so it looks up little."""
        known, executed, enter, called = self._known, self.reach.executed, self._enter, self._called
        alone = self._alone

        def hear(frame: FrameType, event: str, argument: Any) -> None:
            if event == "call":
                code = id(frame.f_code)
                if code not in known:
                    enter(frame, frame.f_code)
                runs_alone = alone.get(code)
                if runs_alone is not None and self._may_pause and runs_alone(frame.f_locals):
                    frame.f_trace = self._returning()
                    sys.setprofile(None)
            elif event == "c_call" and id(frame.f_code) in executed:
                called(frame, argument)

        hear.observes = True  # type: ignore[attr-defined]  # see `tracing.unobserved`
        return hear

    def _enter(self, frame: FrameType, code: CodeType) -> None:
        reach = self.reach
        name = frame.f_globals.get("__name__", "")
        if reach.users.has_code(code) and not name.startswith("namedtuple_"):  # those are made by the standard library
            self._known[id(code)] = code
            if code.co_exceptiontable:
                self._may_pause = False
            if code.co_argcount:  # a method of an object that the walk hasn't met: its class has the rest
                owner = frame.f_locals.get(code.co_varnames[0])
                kind = owner if isinstance(owner, type) else type(owner)
                if reach.users.has_class(kind):
                    self._safely(frame, lambda: reach.visit(kind, kind.__name__))
            self._safely(frame, lambda: reach.enter(code, frame.f_globals))
            return
        users = frame.f_back is not None and id(frame.f_back.f_code) in reach.executed
        if users and not code.co_filename.startswith(PACKAGE):
            self.opaque = True
        if name in IMPURE_CODE:  # heard each time: whose call it is matters
            named = IMPURE_CODE[name]
            if (named is None or code.co_name in named) and self._is_users_call(frame):
                self._refuse(frame, "os.environ" if code.co_name.startswith("__") else f"{name}.{code.co_name}")
            return
        if name in READERS and users:
            self._safely(frame, reach.read_everything)
            return
        self._known[id(code)] = code
        if code in WALKS:
            self._alone[id(code)] = WALKS[code]
        elif name == "adjoint.nn.module" and code.co_qualname == "Module.__call__":
            everywhere = vars(frame.f_globals["everywhere"])
            self._alone[id(code)] = lambda given: everywhere.get("_hooks") is None and self._is_plain_layer(given)
        elif code.co_freevars and name.startswith("adjoint.arrays."):
            return  # what `vectorize` makes of one of the user's functions
        elif name.startswith(OPERATIONS) and not code.co_flags & GENERATES:
            self._alone[id(code)] = functools.partial(_are_plain, code.co_varnames[: _argument_count(code)])

    def _is_plain_layer(self, given: Mapping[str, Any]) -> bool:
        """Whether a call of a module runs none of the user's code: it is of a class of the engine's, without hooks, and holds
        numbers and tensors alone, as its arguments are."""
        module = given["self"]
        kind = type(module)
        ours = self._layers.get(kind)
        if ours is None:
            ours = self._layers[kind] = _computes_by_itself(kind)
        if not ours:
            return False
        state: dict[str, Any] = object.__getattribute__(module, "__dict__")
        return _are_plain([name for name in state if name != "_kinds"], state) and _are_plain(("args", "kwargs"), given)

    def _called(self, frame: FrameType, function: Any) -> None:
        owner = getattr(function, "__self__", None)
        name = function.__name__
        if name in CHANGERS and id(owner) in self.reach.seen:
            self.changes.setdefault(id(owner), (frame.f_code.co_filename, frame.f_lineno))
        elif _reads_the_unseen(owner, name) and (not isinstance(owner, io.IOBase) or id(owner) in self.reach.seen):
            self._refuse(frame, f"{type(owner).__name__}.{name}")
        elif name in IMPURE.get(getattr(function, "__module__", None) or "", ()):
            self._refuse(frame, f"{function.__module__}.{name}")
        elif isinstance(owner, ModuleType) and (owner.__name__ not in KNOWN or name in UNKNOWN):
            self.opaque = True
        elif name in CLASS_METHODS and isinstance(owner, type) and owner.__module__ in ("datetime", "_pydatetime"):
            self._refuse(frame, f"{owner.__name__}.{name}")

    def _is_users_call(self, frame: FrameType) -> bool:
        """Whether the user's code calls this, through Python's and NumPy's own at most."""
        back = frame.f_back
        while back is not None and not self.reach.users.has_code(back.f_code):
            if back.f_code.co_filename.startswith(PACKAGE):
                return False
            back = back.f_back
        return back is not None

    def _safely(self, frame: FrameType, walk: Callable[[], None]) -> None:
        """Walk; what that refuses is raised in the user's code."""
        try:
            walk()
        except RuntimeError as error:
            self.refused = error
            raise

    def _refuse(self, frame: FrameType, what: str) -> None:
        at: FrameType | None = frame
        while at is not None and not self.reach.users.has_code(at.f_code):
            at = at.f_back
        where = "" if at is None else f" ({at.f_code.co_filename}:{at.f_lineno})"
        self.refused = RuntimeError(
            f"{self.function}: {what} gives something else in each call, but would be called once, when the function is traced. "
            f"Call it outside of the function and pass the result as an argument{where}"
        )
        raise self.refused
