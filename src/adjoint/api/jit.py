"""`jit`: a function traced once for each kind of call, then run from its graph."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any


from adjoint import execution, tracing, tree
from adjoint.api.calls import Call, Static, Surroundings, is_array, unmarked
from adjoint.api.capture import Trace
from adjoint.api.compiled import Compiled
from adjoint.api.stepping import UNUSUAL, Step
from adjoint.graph import Node
from adjoint.primitives.random import EXAMPLES
from adjoint.tensors.located import at_user
from adjoint.tensors.conversion import array_node
from adjoint.tensors.named import wrap

__all__ = ["jit"]

MAX_TRACES = 64  # of one jitted function, the least recently used forgotten first
MOST_ALIKE = 8  # of these for calls of one kind, which differ in what the function found by itself
LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def jit(f: Callable[..., Any] | None = None, *, static_argnums: int | Sequence[int] = (), check: bool = False) -> Any:
    """A function like f that runs f's Python once for each kind of call, and from then on its compiled graph.

    f may read and change whatever a training step does: modules, optimizers, random generators and other tensors that it
    finds by itself. Their names are captured and not their values, so each call reads what they hold then and gives them
    new values. Arguments are tensors, arrays (which f receives as tensors), floats (which may differ in each call), nested
    containers of these, and anything else, which is static: another value means another trace. So do other shapes and
    dtypes. `static_argnums`: positional arguments that are static though they are floats, arrays or containers of these,
    which are then compared by content.

    Inside, tensors have shapes and no values: where Python needs one (`if`, `.item()`, printing) that is a RuntimeError.
    Plain Python state must not change (`self.steps += 1` on an attribute that is no tensor: RuntimeError); what Python
    computes from other things than arguments, tensors and hyperparameters is computed once. Hyperparameters (`optimizer.lr
    *= 0.1`), replaced layers and `model.eval()` take effect in the next call, and so does rebinding a global name that f
    itself uses, or an attribute of an argument (such as `self`) that its own code mentions. Of modules and optimizers what f
    has read counts: other changes cost no new trace. Dataclasses are containers: f gets a copy of one.

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
    if f is None:
        return functools.partial(jit, static_argnums=static_argnums, check=check)
    if not callable(f):
        raise TypeError(f"jit: expected a function, got a {type(f).__name__}{at_user()}")
    static = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums)
    code = getattr(f, "__code__", None)
    if code is not None and code.co_flags & LATER:
        raise TypeError(
            f"jit: {f.__name__} is a generator or a coroutine, whose code runs after the call; return a list{at_user()}"
        )
    last = code.co_argcount if code is not None and not code.co_flags & inspect.CO_VARARGS else sys.maxsize
    if not all(type(k) is int and 0 <= k < last for k in static):
        raise ValueError(
            f"jit: static_argnums are positions of arguments, from 0 on; given {static_argnums!r}{at_user()}"
        )
    return functools.wraps(f, updated=())(Jitted(f, static, check))


class Jitted:
    """A function with its traces."""

    def __init__(self, f: Callable[..., Any], static: set[int], check: bool) -> None:
        self.f = f
        self.static = static
        self.check = check
        # The least recently used first. No OrderedDict, which an interrupt inside of it can leave in pieces.
        self.traces: dict[Any, list[Compiled]] = {}
        self.name = getattr(f, "__name__", type(f).__name__)
        self._surroundings = Surroundings(f)
        self._way: tuple[Step, int] | None = None  # the way of the last call, written out, and its number of arguments
        self._lock = threading.Lock()  # of `traces`

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
        return functools.partial(jit, static_argnums=tuple(self.static), check=self.check)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        way = self._way
        if way is not None and len(args) == way[1] and not keywords:
            out = way[0](*args)
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

    def _called(self, call: Call) -> Any:
        """What a call gives, in the general way."""
        with self._lock:
            found = self.traces.pop(call.key, [])
            if found:
                self.traces[call.key] = found
        for compiled in tuple(found):
            numbers = compiled.ready(call)
            if numbers is not None:
                return self._run(compiled, call, numbers)
        compiled = self._trace(call)
        numbers = compiled.ready(call)
        if numbers is None:  # an argument is also something that f finds by itself: which is meant, f knows
            return self._plainly(call.args, call.keywords)
        with self._lock:
            others = [x for x in self.traces.pop(call.key, ()) if not x.is_stale()]
            self.traces[call.key] = [*others[-MOST_ALIKE + 1 :], compiled]
            while sum(map(len, self.traces.values())) > MAX_TRACES:
                del self.traces[next(iter(self.traces))]
        return self._run(compiled, call, numbers)

    def _trace(self, call: Call) -> Compiled:
        trace = Trace(self.name)
        args, keywords = call.stand_ins(trace)
        before = self._surroundings()
        states = [(x, dict(vars(x))) for x in call.objects]
        result = trace.run(lambda: self.f(*args, **keywords))
        for x, state in states:
            for name in state.keys() | vars(x).keys():
                if state.get(name, UNUSUAL) is not vars(x).get(name, UNUSUAL):
                    trace.refuse_change(x, f"{type(x).__name__}.{name}")
        for name, was, now in zip(self._surroundings.labels, before, self._surroundings(), strict=True):
            if was is not now:
                trace.refuse_change(self, f"what the name {name!r} refers to")
        return Compiled(trace, result, self._surroundings, call.objects)

    def _plainly(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What f gives, called with tensors in place of arrays, as when it is traced."""
        marked = [Static(x) if k in self.static else x for k, x in enumerate(args)]
        leaves, structure = tree.flatten((marked, keywords), opaque=True)
        if any(map(is_array, leaves)):
            made = [wrap(array_node(x, None, None)) if is_array(x) else x for x in leaves]
            marked, keywords = structure.unflatten(made)
            args = tuple([unmarked(x) for x in marked])
        return self.f(*args, **keywords)

    def _run(self, compiled: Compiled, call: Call, numbers: list[Any]) -> Any:
        if self.check:
            return compiled.checked(call, numbers, lambda: self._plainly(call.args, call.keywords))
        if not call.keywords:
            step = compiled.written_for(call)
            self._way = None if step is None else (step, len(call.args))
        try:
            results = compiled.results(call.leaves, numbers)
        except (IndexError, RuntimeError, ValueError) as error:
            raise self._located(call, error) from None
        return compiled.commit(call, results, numbers)

    def _located(self, call: Call, error: Exception) -> Exception:
        """The error with the line of f that recorded what failed."""
        trace = Trace(self.name)
        args, keywords = call.stand_ins(trace)
        compiled = Compiled(trace, trace.run(lambda: self.f(*args, **keywords)), self._surroundings, (), False)
        held = [x.value if type(x) is Node else x for x in compiled.held(call.leaves)]
        return execution.located_anew(error, compiled.graph, dict(zip(compiled.given, held, strict=True)))
