"""`jit`: a function traced once for each kind of call, then run from its graph."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Never, NoReturn

from adjoint._tuples import NamedTuple

from adjoint import _forks, execution, tracing, tree
from adjoint.graph.collector import without_collector
from adjoint.graph import Node
from adjoint.hints import keyword_error
from adjoint.primitives.random import EXAMPLES
from adjoint.tensors.conversion import array_node
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.naming import argument_names, named_by
from adjoint.tracer.arguments import Call, difference, is_array, marked, unmarked
from adjoint.tracer.capture import Trace
from adjoint.tracer.compiled import CLASH, Compiled
from adjoint.tracer.write_step import UNUSUAL, Step

__all__ = ["jit"]

MAX_TRACES = 64  # of one jitted function, the least recently used forgotten first
MOST_ALIKE = 8  # of these for calls of one kind, which differ in what the function found by itself
OFTEN = 5  # times that it is traced for reasons of one kind before that is said
OFTEN_IN_KIND = 16  # the same for arguments of other shapes or dtypes
SHAPES_CURE = "Arrays that are padded to a few shapes share their traces"
VALUES_CURE = "Numbers that change are best passed as floats, or kept in tensors"
MOST_RECORDS = 1000
Parameter = inspect.Parameter
ORDERED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def jit(
    f: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    check: bool = False,
    **others: Never,
) -> Any:
    """A function like f that runs f's Python once for each kind of call, and from then on its compiled graph.

    f may read and change whatever a training step does: modules, optimizers, random generators and other tensors that it
    finds by itself. Their names are captured and not their values, so each call reads what they hold then and gives them
    new values. Arguments are tensors, arrays (which f receives as tensors), floats (which may differ in each call), nested
    containers of these, and anything else, which is static: another value means another trace. So do other shapes and
    dtypes. `static_argnums` and `static_argnames`: arguments, by position or by name, that are static though they are floats,
    arrays or containers of these, which are then compared by content. They are so however they are passed.

    Inside, tensors have shapes and no values: where Python needs one (`if`, `.item()`, printing) that is a RuntimeError.
    Whatever else f has seen, a change of it takes effect in the next call, mostly by another trace, or raises: names and helper
    functions, hyperparameters (`optimizer.lr *= 0.1`), attributes, layers, `model.eval()`, what lists, dictionaries and small
    arrays hold. Large NumPy arrays that f reads are read-only while it exists. A RuntimeError is what f changes itself of plain
    state (`self.steps += 1` on an attribute that is no tensor, `history.append(loss)`), and what gives something else in each
    call (clocks, files, `random`, iterators): that would happen once. Dataclasses are containers: f gets a copy of one.

    `f.traces` lists how often f was traced, with the reason and the line of each; a RuntimeWarning says once that the same
    reason came up for the fifth time.

    A function that changes no parameter and no gradient can be differentiated from outside, to any order: its graph is then
    part of the graph around it. One that does (a training step) gives untracked results. Inside vmap and other traced
    functions f itself is called.

    check: in each call, run the compiled graph and f as well, and raise RuntimeError that says where they differ.

    >>> import adjoint as ad
    >>> w = ad.variable(1.0)
    >>> @ad.jit
    ... def step(x, lr):
    ...     loss = (w * x - 6.0) ** 2
    ...     loss.backward()
    ...     w.data -= lr * w.grad
    ...     w.grad = None
    ...     return loss
    >>> step(ad.tensor(2.0), 0.1), step(ad.tensor(2.0), 0.1)
    (Tensor(16.), Tensor(0.64))
    >>> w
    Tensor(2.92, requires_grad=True)
    """
    if others:
        raise keyword_error("jit", others, at_user())
    if f is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames, check=check)
    if not callable(f):
        raise TypeError(f"jit: expected a function, got {type(f).__name__}{at_user()}")
    code = getattr(f, "__code__", None)
    if code is not None and code.co_flags & LATER:
        raise TypeError(
            f"jit: {f.__name__} is a generator or a coroutine, whose code runs after the call; return a list{at_user()}"
        )
    static = _static(f, static_argnums, static_argnames)
    return functools.wraps(f, updated=())(Jitted(f, static, check))


def _static(f: Any, positions: Any, names: Any) -> set[int | str]:
    """The positions and the names of the static arguments of f: both of each, where its signature tells."""
    given = {positions} if isinstance(positions, int) else set(positions)
    called = set(names) if isinstance(names, (list, tuple, set)) else {names}
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):  # of what is written in C
        parameters = [Parameter("args", Parameter.VAR_POSITIONAL), Parameter("keywords", Parameter.VAR_KEYWORD)]
    kinds = {p.kind for p in parameters}
    ordered = [p.name for p in parameters if p.kind in ORDERED]
    last = sys.maxsize if Parameter.VAR_POSITIONAL in kinds else len(ordered)
    if not all(type(k) is int and 0 <= k < last for k in given):
        raise ValueError(f"jit: static_argnums are positions of arguments, from 0 on; given {positions!r}{at_user()}")
    known = [p.name for p in parameters if p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]
    if not all(type(n) is str and (n in known or Parameter.VAR_KEYWORD in kinds) for n in called):
        raise ValueError(
            f"jit: static_argnames are names of arguments, here {', '.join(known)}; given {names!r}{at_user()}"
        )
    by_number = {ordered[k] for k in given if k < len(ordered) and ordered[k] in known}
    return {*given, *called, *by_number, *[ordered.index(n) for n in called if n in known and n in ordered]}


class Traced(NamedTuple):
    """Why a jitted function was traced, and the line of the call that it was traced for."""

    reason: str
    line: str


class Jitted:
    """A function with its traces.

    traces   how often it was traced and why, a record for each time (of the last 1000)
    """

    def __init__(self, f: Callable[..., Any], static: set[int | str], check: bool) -> None:
        self.f = f
        self.static = static
        self.check = check
        # The least recently used first. No OrderedDict, which an interrupt inside of it can leave in pieces.
        self.compiled: dict[Any, list[Compiled]] = {}
        self.traces: list[Traced] = []
        self.name = getattr(f, "__name__", type(f).__name__)
        self._way: tuple[Step, int] | None = None  # the way of the last call, written out, and its number of arguments
        self._said = False  # whether it was said that it is traced too often
        self._lock = _forks.rlock()  # of `compiled`; a signal's handler may call the function, too

    def __getattr__(self, name: str) -> Any:
        """Of a compiled module what the module has: `parameters()`, `eval()`, `state_dict()`, its layers."""
        f = self.__dict__.get("f")
        if not isinstance(f, tracing.Watched) or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(f, name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __deepcopy__(self, memo: Any) -> Any:
        return self._remade(copy.deepcopy(self.f, memo))

    def __reduce__(self) -> Any:
        name: str = getattr(self, "__qualname__", "")
        found: Any = sys.modules.get(self.__module__)
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (self._remade, (self.f,))

    @property
    def _remade(self) -> Any:
        """What makes such a function of another one; it has traced nothing yet."""
        positions = [x for x in self.static if isinstance(x, int)]
        names = [x for x in self.static if isinstance(x, str)]
        return functools.partial(jit, static_argnums=positions, static_argnames=names, check=self.check)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        way = self._way
        if way is not None and len(args) == way[1] and not keywords:
            try:
                out = way[0](*args)
            except (IndexError, RuntimeError, ValueError) as error:
                self._raise(Call(self.static, args, keywords), error)
            if out is not UNUSUAL:  # else nothing has changed
                return out
        if tracing.active() is not None or EXAMPLES.get():
            return self._plainly(args, keywords)
        call = Call(self.static, args, keywords)
        try:
            return self._called(call)
        except BaseException:
            call.give_back()
            raise

    def replay(self) -> execution.Replay:
        """What the latest trace runs, for explanations. Raises ValueError where there is nothing that runs by itself."""
        with self._lock:
            traces = [compiled for found in self.compiled.values() for compiled in found]
        if not traces:
            raise ValueError(
                f"explain: {self.name} has not been called yet, so there is no trace of it: call it once, then explain it"
                f"{at_user()}"
            )
        if traces[-1].inlined:
            raise ValueError(
                f"explain: {self.name} can be differentiated from outside, so its graph becomes part of the graph around it: "
                f"explain what a call gives, or call it under ad.no_grad() first{at_user()}"
            )
        if traces[-1].replay is None:
            raise ValueError(f"explain: {self.name} computes nothing{at_user()}")
        return traces[-1].replay

    def leaf_names(self) -> list[str | None]:
        """What the function calls the leaves of its latest trace, in the order of the replay's."""
        with self._lock:
            (structure, *_), found = list(self.compiled.items())[-1]
        latest = found[-1]
        if structure is None:  # of plain arguments: each is a leaf
            args: Any = tuple(range(1 + max([-1, *[k for _, k in latest.sources if k is not None]])))
            keywords: dict[str, Any] = {}
        else:
            args, keywords = structure.unflatten(range(structure.count))
        return latest.leaf_names(named_by(self.f), argument_names(self.f, args, keywords))

    def _called(self, call: Call) -> Any:
        """What a call gives, in the general way."""
        with self._lock:
            found = self.compiled.pop(call.key, [])
            if found:
                self.compiled[call.key] = found
        obstacle: str | None = None
        for compiled in tuple(found):
            numbers = compiled.ready(call)
            if isinstance(numbers, list):
                return self._run(compiled, call, numbers)
            if numbers is CLASH:  # which is meant, f knows
                return self._plainly(call.args, call.keywords)
            obstacle = numbers
        reason, often = self._reason(call, obstacle)
        compiled = self._trace(call)
        numbers = compiled.ready(call)
        if isinstance(numbers, list) or numbers is CLASH:
            self._keep(call, compiled)
        self._note(reason, often)
        return (
            self._run(compiled, call, numbers) if isinstance(numbers, list) else self._plainly(call.args, call.keywords)
        )

    def _keep(self, call: Call, compiled: Compiled) -> None:
        with self._lock:
            others = [x for x in self.compiled.pop(call.key, ()) if not x.is_stale()]
            self.compiled[call.key] = [*others[-MOST_ALIKE + 1 :], compiled]
            while sum(map(len, self.compiled.values())) > MAX_TRACES:
                del self.compiled[next(iter(self.compiled))]

    def _trace(self, call: Call) -> Compiled:
        return without_collector(self._traced, call)

    def _traced(self, call: Call) -> Compiled:
        trace = Trace(self.name, code_of(self.f))
        args, keywords = call.stand_ins(trace)
        return Compiled(trace, trace.run(lambda: self.f(*args, **keywords), (self.f, *call.objects)))

    # Why it is traced -------------------------------------------------------------------------------------------------

    def _reason(self, call: Call, obstacle: str | None) -> tuple[str, int]:
        """Why it is traced for a call, and how often that may be before it is said."""
        if obstacle is not None:
            return f"{obstacle} has changed", OFTEN
        with self._lock:
            keys = list(self.compiled)
        if not keys:
            return "the first call", MAX_TRACES
        described, is_value = difference(call.key, keys[-1])
        return described, OFTEN if is_value else OFTEN_IN_KIND

    def _note(self, reason: str, often: int) -> None:
        """Note that it was traced, and say once if that happens often for reasons of one kind."""
        line = at_user().strip(" ()")
        self.traces.append(Traced(reason, line))
        del self.traces[:-MOST_RECORDS]
        kind = reason.split(" is ", 1)[0]
        alike = sum(1 for x in self.traces if x.reason.split(" is ", 1)[0] == kind)
        if alike == often and not self._said:
            self._said = True
            cure = SHAPES_CURE if often == OFTEN_IN_KIND else VALUES_CURE
            warnings.warn(
                f"{self.name} is traced anew again and again ({alike} times: {reason}), which takes far longer than a call. "
                f"{cure}; {self.name}.traces tells when and why ({line})",
                RuntimeWarning,
                stacklevel=4,
            )

    def _plainly(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What f gives, called with tensors in place of arrays, as when it is traced."""
        leaves, structure = tree.flatten(marked(self.static, args, keywords), opaque=True)
        if any(map(is_array, leaves)):
            made = [wrap(array_node(x, None, None)) if is_array(x) else unmarked(x) for x in leaves]
            args, keywords = structure.unflatten(made)
        return self.f(*args, **keywords)

    def _run(self, compiled: Compiled, call: Call, numbers: list[Any]) -> Any:
        if self.check:
            return compiled.checked(call, numbers, lambda: self._plainly(call.args, call.keywords))
        if not call.keywords:
            before = compiled.step
            step = without_collector(compiled.written_for, call)
            self._way = None if step is None else (step, len(call.args))
            if step is not None and compiled.step is not before:
                call.give_back()
                return self(*call.args)  # it has taken the memory that the general way has used
        return without_collector(self._finished, compiled, call, numbers)  # new nodes take the places of old ones

    def _finished(self, compiled: Compiled, call: Call, numbers: list[Any]) -> Any:
        try:
            results = compiled.results(call.leaves, numbers)
        except (IndexError, RuntimeError, ValueError) as error:
            self._raise(call, error)
        return compiled.commit(call, results, numbers)

    def _raise(self, call: Call, error: Exception) -> NoReturn:
        """Raise the error with the line of f that recorded what failed; of host code with where it was raised, too."""
        found = self._located(call, error)
        if found is error:
            raise error
        raise found from (error if hasattr(error, "host_function") else None)

    def _located(self, call: Call, error: Exception) -> Exception:
        """The error with the line of f that recorded what failed."""
        trace = Trace(self.name, code_of(self.f))
        args, keywords = call.stand_ins(trace)
        result = trace.run(lambda: self.f(*args, **keywords), (self.f, *call.objects))
        compiled = Compiled(trace, result, plan=False)
        held = [x.value if type(x) is Node else x for x in compiled.held(call.leaves)]
        return execution.located_anew(error, compiled.graph, dict(zip(compiled.given, held, strict=True)))


def code_of(f: Any) -> CodeType | None:
    """The code of a function, also of a method or of what is wrapped."""
    for _ in range(10):
        code = getattr(f, "__code__", None)
        if isinstance(code, CodeType):
            return code
        f = getattr(f, "__wrapped__", None) or getattr(f, "__func__", None) or getattr(f, "func", None)
    return None
