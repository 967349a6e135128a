"""Evaluation: find the plan of what is asked for, run it, and put the values where they belong."""

from __future__ import annotations

import math
import os
from cmath import isfinite
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from time import thread_time
from typing import Any, ParamSpec, TypeVar

import numpy as np

from adjoint import _forks
from adjoint._references import reference_counts
from adjoint._sources import FILE
from adjoint._tuples import NamedTuple
from adjoint.derive import PULLBACK, expand
from adjoint.execution.cut import cut_from, recognised_with_cut
from adjoint.execution.interpreter import Interpretation
from adjoint.execution.numpy_programs import is_scalar, is_tiny
from adjoint.execution.remembered import LIMIT, PlanCache, Remembered
from adjoint.execution.silence import listening, quietly
from adjoint.execution.single import compute_single
from adjoint.execution.tiers import native_backend, program_of, tiers
from adjoint.graph import Kept, Node, Origin, topological
from adjoint.graph.collector import without_collector
from adjoint.plan.canonical import (
    Canonical,
    begin_walk,
    canonicalize,
    external_references,
    is_latest,
    value_array,
)
from adjoint.plan.donation import donated_leaves
from adjoint.plan.executable import Executable
from adjoint.plan.hashed import Hashed
from adjoint.plan.masks import Masking
from adjoint.plan.plan import Plan, build, find_targets, is_differentiated, is_worth_keeping
from adjoint.plan.recognised import Recognizer
from adjoint.plan.repeated import find_repetition
from adjoint.primitives.core import DETACH, FULL, SELECT, VERSION, WATCHED
from adjoint.primitives.custom import HOST_CALL
from adjoint.runtime.blas import single_threaded
from adjoint.runtime.interrupts import Uninterrupted
from adjoint.runtime.memory import compact
from adjoint.unknown import Unknown

__all__ = ["evaluate", "executable_of", "located", "run"]

P = ParamSpec("P")
Prepared = TypeVar("Prepared", bound=tuple[Canonical, Any])

_cache = PlanCache(LIMIT)
_seen: dict[int, float] = {}  # by hashes of the keys of structures met once, the seconds that NumPy took
MAX_SEEN = 1 << 16
# Where the code lies, written functions included, that reads a graph to evaluate it.
OURS = (
    *[os.path.join(os.path.dirname(f), "") for f in (os.path.dirname(os.path.abspath(__file__)), np.__file__)],
    FILE,
)
FEW = 16  # numbers that Python adds up sooner than NumPy
MANY_NUMBERS = 256  # free numbers of a replay: where there are more, those that are known are constants of its plan
# Graphs are read and values assigned under this lock; the numbers themselves are computed outside it.
_lock: AbstractContextManager[Any] = _forks.rlock()


def evaluation_lock() -> AbstractContextManager[Any]:
    """The lock under which graphs are read for evaluation and values assigned."""
    return _lock


def key_of(c: Canonical) -> Any:
    """What a graph is found by: all that decides how it can be computed, and no value."""
    return (tuple(c.entries), tuple(c.edges), c.roots, tiers.deterministic)


def family_of(c: Canonical, wanted: Sequence[int]) -> int:
    """What a graph has in common with those that differ from it in extents alone."""
    return hash((tuple(c.edges), len(c.entries), c.roots, *wanted))


def executable_of(c: Canonical, wanted: Sequence[int], keep: bool, key: Any, noted: bool = False) -> Executable:
    """What computes the wanted nodes of a graph, remembered or built. It isn't remembered if something was evaluated
    meanwhile: see `undisturbed`. If `noted`, it knows the lines and names of the graph that it was built for first."""
    known = _cache.get(key)
    computed = (tuple(wanted), keep)
    found = None if known is None else known.plans.get(computed)
    if found is None:
        plan = without_collector(build, c, wanted, keep, noted, tiers.deterministic)
        found = Executable(plan, family_of(c, wanted), (c.order[0].site, c.order[0].offset))
        if c.is_latest:
            _cache.put(key, computed, found)
    return found


def undisturbed(prepare: Callable[P, Prepared | None], *arguments: P.args, **keywords: P.kwargs) -> Prepared | None:
    """What is prepared of a graph just numbered, under the evaluation lock. A finalizer or a signal's handler may evaluate
    meanwhile, in this very thread, and give the graph values: then it is another one, and all is done anew, without them."""
    try:
        found = prepare(*arguments, **keywords)
        if found is None or found[0].is_latest:
            return found
    except Exception as error:  # maybe because the graph changed: else it comes again
        if not _is_ours(error):
            raise
    with Uninterrupted():
        return without_collector(prepare, *arguments, **keywords)


def _is_ours(error: BaseException) -> bool:
    """Whether an error comes out of this package's code or NumPy's alone: not out of a signal's handler, say."""
    step = error.__traceback__
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith(OURS):
            return False
        step = step.tb_next
    return True


def planned(kind: str, roots: Sequence[Node], given: Collection[Node]) -> tuple[Canonical, Executable]:
    """The graph of the roots, numbered, in which the nodes `given` will have values, and a plan of it for use of this kind."""
    with _lock:
        found = undisturbed(_planned, kind, roots, given)
    assert found is not None
    return found


ByLoops = tuple[Canonical, tuple[Executable, list[Node]]]


def planned_by_loops(roots: Sequence[Node], given: Collection[Node]) -> ByLoops | None:
    """A short graph of which a long one, that of the roots, is the repetition, numbered; a plan with a program for the long one,
    and the short graph's roots. None where most of it doesn't repeat."""
    if tiers.backend == "numpy":
        return None
    with _lock:
        return undisturbed(_planned_by_loops, roots, given)


def _planned_by_loops(roots: Sequence[Node], given: Collection[Node]) -> ByLoops | None:
    found = without_collector(find_repetition, roots, given)
    native = None if found is None else native_backend()
    if found is None or native is None:
        return None
    times, kind = found.times, found.key
    shorter = [found.shortened(times - k) for k in (2, 1, 0)]
    del found
    longer: list[Plan] = []
    roots_left: list[Node] = []
    for k, parts in enumerate(shorter):
        if parts is None:
            return None
        c = canonicalize(parts, given=given)
        c.numbers = [x for x in c.numbers if type(x[0]) is Unknown]
        roots_left, wanted = parts, list(dict.fromkeys([c.number[x] for x in parts]))
        if k < 2:
            longer.append(without_collector(build, c, wanted, False))
            if not c.is_latest:
                return None
    key = ("loops", kind, key_of(c), repr([x.attributes for x in c.order if x.op is FULL and x.value is None]))
    executable = executable_of(c, wanted, False, key, True)
    if executable.program is None:
        plan = executable.plan
        if not c.is_latest or not is_tiny(plan) or not is_scalar(plan):
            return None
        plan = plan._replace(repeats=(longer[::-1], times))
        with Uninterrupted():
            program = native.compile_plan(plan, True)
        if program is None:
            return None
        executable.plan, executable.program, executable.price = plan, program, math.inf
    return c, (executable, roots_left)


def _planned(kind: str, roots: Sequence[Node], given: Collection[Node]) -> tuple[Canonical, Executable]:
    c = canonicalize(roots, given=given)
    key: Any = (kind, key_of(c))
    if len(c.numbers) > MANY_NUMBERS:  # those that never change needn't be handed over in each run
        key = (*key, repr([None if type(value) is Unknown else value for value, _ in c.numbers]))
        c.numbers = [found for found in c.numbers if type(found[0]) is Unknown]
    key = Hashed((*key, c.join_numbers()))
    return c, executable_of(c, list(range(c.roots)), False, key, True)


def prepared(executable: Executable, at_once: bool = False) -> Any:
    """The program for a plan's next run, as `program_of` chooses it."""
    with np.errstate(all="ignore"):
        program = program_of(executable, at_once)
    with _lock:
        _cache.weigh(executable)
    return program


SHORT_RUN = 0.0005  # seconds: of runs that take less,
CLOCKED = 8  # one in so many is timed


def run(executable: Executable, leaves: list[Any], numbers: list[Any], donated: Collection[int] = ()) -> list[Any]:
    """The values of a plan's outputs. Outputs may take the memory of the leaves at `donated`, so nobody may read those
    arrays any more, and no two of them may overlap."""
    program = executable.program
    if program is not None and program.alone:  # native: it runs once, and so may write over what it reads
        return program.run(leaves, numbers, True, donated)
    if executable.plan.has_algebra and getattr(program, "threaded", True):
        return single_threaded(_run, executable, leaves, numbers, donated)
    return _run(executable, leaves, numbers, donated)


def _run(executable: Executable, leaves: list[Any], numbers: list[Any], donated: Collection[int]) -> list[Any]:
    program = executable.program
    if program is None or executable.spent >= executable.price:
        program = prepared(executable)
    if program.masks:  # native: it runs once, and so may write over what it reads
        return quietly(partial(program.run, leaves, numbers, donated=donated), True)

    compute = partial(program.run, leaves, numbers)  # given whether by masked kernels
    if executable.price == math.inf:
        return _guarded(compute, executable.masking)
    executable.unpriced -= 1
    if executable.unpriced > 0:  # the clock takes as long as some steps: a part of the runs is timed, for all
        return _guarded(compute, executable.masking)
    started = thread_time()  # of the processor: others keep it busy at times
    results = _guarded(compute, executable.masking)
    spent = thread_time() - started
    executable.spent += spent * executable.each
    executable.each = executable.unpriced = min(executable.each + 1, CLOCKED) if spent < SHORT_RUN else 1
    return results


def _guarded(compute: Callable[[bool], list[Any]], masking: Masking) -> list[Any]:
    """The results of `compute(masked)`: with plain products, and anew with the masked ones if an operation was invalid or
    one of the results that are checked isn't finite, as far as one sum can tell."""
    always, some, checked = masking
    if always or not some:  # nothing would be computed anew
        return quietly(compute, always)
    (results, finite), invalid = listening(_looked_at, compute, checked)
    return results if finite and not invalid else quietly(compute, True)


def _looked_at(compute: Callable[[bool], list[Any]], checked: Sequence[int]) -> tuple[list[Any], bool]:
    """The results with plain products, and whether those at `checked` are finite, as far as one sum of each can tell."""
    results = compute(False)
    for k in checked:
        x = results[k]
        size = x.size
        if not isfinite(x.item() if size == 1 else sum(x.ravel().tolist()) if size <= FEW else np.add.reduce(x, None)):
            return results, False
    return results, True


def evaluate(nodes: Iterable[Node], remember: bool = True) -> None:
    """Give every node its value; what of their graph somebody else holds, and what a reverse pass will read, as well.

    Without `remember`, the structure is taken for one that won't come back.
    """
    with _lock:
        roots = _pending(nodes)
        if not roots or (len(roots) == 1 and tiers.backend != "native" and compute_single(roots[0])):
            return
        walk = begin_walk()
        met = None
        if WATCHED and remember:
            roots, met = recognised_with_cut(roots, _recognised)
        if met is None and remember:
            met = _recognised(roots)
        again = None if met is None or WATCHED else _again(*met)
        if not is_latest(walk):  # a handler or a finalizer has evaluated, and the last plan may be another one
            again = None
        if again is None:
            c, work = undisturbed(_numbered, roots, remember, walk, met)  # type: ignore[misc]
            if work.donated:  # no other thread may read these leaves while they are written over, nor find them later
                with Uninterrupted():
                    _finish(c, work)
                return
    if again is None:
        _finish(c, work)
    else:
        _finish_again(*again)


def _recognised(roots: list[Node]) -> tuple[Remembered, Any] | None:
    """What is remembered of a graph that was met often, and what its recognizer found."""
    return _cache.recognised(roots, tiers.backend != "numpy", tiers.deterministic)


def _pending(nodes: Iterable[Node]) -> list[Node]:
    """The nodes without a value."""
    roots = []
    for node in nodes:
        value = node.value
        if value is None:
            roots.append(node)
        elif type(value) is Kept:
            node.value = value.array
    return roots if len(roots) < 2 else list(dict.fromkeys(roots))


def _again(graph: Remembered, found: Any) -> tuple[Recognizer, Callable[..., bool], Any, Executable] | None:
    """How to compute a graph that was recognised, if all is as it was the last time and native code puts the results where they
    belong."""
    executable, recognizer = graph.last[1], graph.recognizer
    if executable is None or recognizer is None or recognizer.store is None or not found[7] or found[6] is None:
        return None
    return recognizer, recognizer.store, found, executable


def _numbered(roots: list[Node], remember: bool, walk: int, met: Any) -> tuple[Canonical, Work]:
    """The graph of nodes, numbered, and what is to be computed. It was `met` before in this walk, if it was recognised."""
    recognizer = None if met is None else met[0].recognizer  # None, too, once the graph has been forgotten
    if recognizer is not None and is_latest(walk):
        known, found = met
        c = recognizer.entered(found)
        before, last = known.last
        same = c.unchanged if c.unchanged is not None else before == reference_counts(c.order)
        if same and last is not None and not WATCHED:
            return c, _work(c, last)
        c.note_numbers()
        if not (WATCHED and cut_from(c)):
            same = last is not None and before == reference_counts(c.order)
            return c, _work(c, last) if same and last is not None else _prepare(c)
    c = canonicalize(roots)
    if WATCHED:
        cut = cut_from(c)
        if cut:
            c = canonicalize(roots + cut)
    return c, _prepare(c) if remember else _prepare_once(c, *_computed(c, reference_counts(c.order)))


def described(nodes: Sequence[Node]) -> tuple[Canonical, Plan]:
    """The pending graph of the nodes, and the plan by which evaluating them would compute it, made to be read."""
    with _lock:
        c = canonicalize(nodes)
        cut = cut_from(c) if WATCHED else []
        if cut:
            c = canonicalize([*nodes, *cut])
        wanted, keep = _computed(c, reference_counts(c.order))
        return c, build(c, wanted, keep, noted=True, ordered=tiers.deterministic)


def described_body(outputs: Sequence[Node], given: set[Node]) -> Plan:
    """The plan of a graph of these placeholders, made to be read."""
    with _lock:
        c = canonicalize(outputs, given=given)
        return build(c, list(dict.fromkeys([c.number[y] for y in outputs])), keep=False, noted=True)


def _computed(c: Canonical, counts: Sequence[int]) -> tuple[list[int], bool]:
    """The numbers of the nodes whose values to compute, and whether to keep what a reverse pass will read."""
    wanted = dict.fromkeys(range(c.roots))
    if len(c.order) > c.roots:
        wanted.update(dict.fromkeys(external_references(c, counts)))
        wanted.update(dict.fromkeys([i for i, x in enumerate(c.order) if x.op is DETACH and _cuts_the_past(x)]))
    return list(wanted), not c.structural and any(is_differentiated(x) for x in c.order[: c.roots])


SHORT_WALK = 16  # nodes


def _cuts_the_past(cut: Node) -> bool:
    """Whether a constant is cut from what was computed before: the state, say, that the last step of training left.

    It gets its value with the first graph that reads it, and what was recorded before is let go; else each step's reverse pass
    would walk through all earlier steps.
    """
    if cut.value is not None:
        return False
    found = False
    stack, seen = list(cut.inputs), 0
    while stack:
        node = stack.pop()
        seen += 1
        if seen > SHORT_WALK:
            return False
        if node.value is None:
            if node.op is not FULL and not node.inputs:
                return False
            stack += node.inputs
        elif node.tracked and node.inputs and node.op is not VERSION:
            found = True
    return found


class Work(NamedTuple):
    """What is left to do outside the lock: whose values to compute, how, and the leaves that may be written over."""

    targets: Sequence[Any]
    compute: Callable[[], list[Any]]
    donated: Collection[int] = ()


def _finish(c: Canonical, work: Work) -> None:
    try:
        results = work.compute()
    except Exception as error:
        found = located(error, c)
        if found is None:
            raise
        raise found from error
    with _lock:
        _store(c, work.targets, results)


def _finish_again(recognizer: Recognizer, store: Callable[..., bool], found: Any, executable: Executable) -> None:
    """Compute a graph that was recognised, of which nothing is numbered unless something fails, or isn't simple."""
    order, leaves, numbers, _, pullbacks, _, arrays, _ = found
    try:
        results = run(executable, arrays, numbers)
    except Exception as error:
        place = located(error, recognizer.entered(found))
        if place is None:
            raise
        raise place from error
    with _lock:
        if not store(order, leaves, pullbacks, results):
            _store(recognizer.entered(found), executable.plan.outputs, results)


def _prepare(c: Canonical) -> Work:
    """Run the plan of a structure seen before, or interpret a new one."""
    key = key_of(c)
    counts = reference_counts(c.order)
    known = _cache.get(key)
    before, executable = (None, None) if known is None else known.last
    if known is not None and executable is not None and before == counts:
        without_collector(_cache.met_again, key, known, c, tiers.backend != "numpy")
    else:
        wanted, keep = _computed(c, counts)
        met = known is not None and (tuple(wanted), keep) in known.plans
        family = None if met else family_of(c, wanted)
        at_sight = met or tiers.at_first_sight(c.order, family)
        mark = hash((key, *wanted))
        new = not met and _is_new(mark)
        if new and not at_sight:
            return _prepare_once(c, wanted, keep, family, mark)
        executable = None
        if not met and not keep:
            found = without_collector(_followed, c, tuple(wanted), key, family)
            if found is True and new and tiers.backend == "auto":  # the next one tells what all have in common
                return _prepare_once(c, wanted, keep, family, mark)
            executable = found if isinstance(found, Executable) else None
        if executable is None:
            executable = executable_of(c, wanted, keep, key)
            executable.spent = executable.spent or _seen.get(mark, 0.0)
        known = _cache.get(key)
        if known is not None and c.is_latest:
            known.last = counts, executable
    return _work(c, executable)


def _work(c: Canonical, executable: Executable) -> Work:
    """A plan to be run with the values of a graph."""
    plan = executable.plan
    leaves = c.arrays or [x.value.array if type(x.value) is Kept else x.value for x in c.leaves]
    numbers = [v for v, _ in c.numbers]
    donated = donated_leaves(c, plan.forgotten, leaves) if plan.forgotten else ()
    return Work(plan.outputs, lambda: run(executable, leaves, numbers, donated), donated)


def _is_new(mark: int) -> bool:
    """Whether a structure is met for the first time. Two with the same mark only cost one of them a plan too early."""
    if mark in _seen:
        return False
    if len(_seen) >= MAX_SEEN:
        _seen.clear()
    _seen[mark] = 0.0
    return True


def _followed(c: Canonical, wanted: tuple[int, ...], key: Any, family: int | None) -> Executable | bool | None:
    """The plan of a graph that follows from those of its relatives, with its program; None where none does, True for the first
    from which others may follow."""
    related, compiled = tiers.has_relatives(family)
    native = native_backend() if related else None
    if native is None:
        return None
    started = thread_time()
    with Uninterrupted():
        found: Executable | bool | None = native.executable_of_kin(c, wanted, family, compiled)
    if isinstance(found, Executable):
        tiers.note(family, thread_time() - started, found.program)
        if c.is_latest:
            _cache.put(key, (wanted, False), found)
    return found


def _prepare_once(c: Canonical, wanted: list[int], keep: bool, family: int | None = None, mark: int = 0) -> Work:
    steps = without_collector(_steps, c, wanted, keep)
    return Work(steps.targets, lambda: interpret(steps) if family is None else _noted(steps, family, mark))


def _noted(steps: Interpretation, family: int, mark: int) -> list[Any]:
    """The values of a structure seen for the first time, which may have relatives and come back."""
    started = thread_time()
    results = interpret(steps)
    _seen[mark] = spent = thread_time() - started
    tiers.spend(family, spent)
    return results


def _steps(c: Canonical, wanted: list[int], keep: bool) -> Interpretation:
    return Interpretation(*find_targets(c, wanted, keep and is_worth_keeping(c)))


def interpret(steps: Interpretation) -> list[Any]:
    """The values of a structure seen for the first time."""
    compute = partial(_guarded, steps.run, steps.masking)
    return without_collector(single_threaded, compute) if steps.has_algebra else without_collector(compute)


def located(error: Exception, c: Canonical) -> Exception | None:
    """An error of a graph's evaluation with the line that recorded what fails; None where nothing fails node by node."""
    with _lock:
        origin = blame(c, getattr(error, "host_function", None))
    return None if origin is None else _at(error, origin)


def blame(c: Canonical, host: Any = None) -> Origin | None:
    """Where the operation was recorded that fails when the graph is computed node by node, or that called the `host` function,
    which has failed. Calls that must be exact aren't repeated, nor is what depends on them."""
    values: dict[Node, Any] = {}
    roots = [
        x
        for x in c.order
        if x.op is not PULLBACK and not (x.op is SELECT and x.inputs[:1] and x.inputs[0] in c.pullbacks)
    ]
    with np.errstate(all="ignore"):
        for node in topological(expand(roots), lambda x: x.value is None):
            if node.value is not None:
                values[node] = value_array(node)
                continue
            if node.op is HOST_CALL:
                if node.attributes[0] == host:
                    return node.origin
                if host is not None or node.attributes[0].exact:
                    continue
            if not values.keys() >= set(node.inputs):
                continue
            try:
                values[node] = node.op.kernel(node.attributes, node.type)(*[values[x] for x in node.inputs])
            except Exception:
                return node.origin
    return None


def _at(error: Exception, origin: Origin) -> Exception:
    """The error with the line that recorded the operation."""
    try:
        return type(error)(f"{error} ({origin})")
    except TypeError:  # an exception class with a constructor of its own
        error.add_note(f"recorded at {origin}")
        return error


def _store(c: Canonical, targets: Sequence[Any], results: list[Any]) -> None:
    order = c.order
    several: dict[Node, list[Any]] = {}
    for (i, index, _, is_kept), value in zip(targets, results, strict=True):
        node = order[i]
        if type(value) is tuple:
            array: Any = tuple([compact(x) for x in value])
        else:
            array = value if type(value) is np.ndarray and value.base is None else compact(value)
        if node.op is FULL and node is node.type.zero:
            array = np.broadcast_to(np.zeros((), array.dtype), array.shape)  # shared for ever: it must stay small
        if index is not None:
            several.setdefault(node, []).append(array)
        elif is_kept:
            if node.value is None:
                node.value = Kept(array)
        elif (
            node.value is None or type(node.value) is Kept
        ):  # else another thread was faster, and a value never changes
            node.value = array
            if not node.tracked or node.op is VERSION:  # to every derivative a version is a leaf
                node.inputs = ()
    for node, arrays in several.items():
        if node.value is None:
            node.value = tuple(arrays)
            if not node.tracked:
                node.inputs = ()
    if c.pullbacks and not any(
        [node.attributes.again for node in c.pullbacks]
    ):  # the reverse pass has read what was kept for it
        for node in c.leaves:
            if type(node.value) is Kept:
                node.value = None
