"""What compiling takes, about, before anything is compiled: by the kinds of operations, and whether code of theirs is known.

Most of it is LLVM's time, which goes by kernels; of these there are some three for four kinds of operations, whatever their
extents and however often they come: equal layers share kernels. Kinds that were compiled in this process may have code. So, most
likely, has a plan whose kinds, all together, an earlier process has compiled: an entry of the cache says so. Where that isn't
true any more, what follows is compiled too early, and nothing worse. What compiling took lately corrects the guess: the machine
may be slow, convolutions take longer, and what is read from disk takes a fifth.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any

from adjoint import _forks
from adjoint.graph import Node
from adjoint.graph.node import ArrayType
from adjoint.plan.inlining import written_out
from adjoint.plan.plan import Plan
from adjoint.primitives.callees import CALL

NEW = 0.005  # seconds for each kind of operations of which nothing was compiled,
KNOWN = 0.002  # and for each of the others, some of whose kernels are new
STEP = 0.00003  # for each operation: the stages before
MOST_KINDS = 1 << 14

Kind = tuple[str, str, tuple[int, ...]]

_known: set[Kind] = set()  # that were compiled in this process
_correction = [1.0]  # by what it took lately, of what was said
MOST_CORRECTED = 4.0
_importing = _forks.waited_for()  # in the child of a fork in the midst of an import nobody would ever end that


def kinds_of(plan: Plan) -> set[Kind]:
    """The kinds of a plan's steps, which needn't be in order for that, nor calls written out that are like others."""
    rank = [t.ndim if type(t) is ArrayType else -1 for t in plan.types].__getitem__
    calls = {(x.attributes, *map(rank, x.inputs)): x for x in plan.placed if x.op is CALL}
    found = {(op, kind, *map(rank, inputs)) for op, _, _, _, inputs, _, kind in plan.placed if op is not CALL}
    for like in calls.values():
        found |= {(x.op, x.type, *map(rank, x.inputs)) for x in written_out(like)}
    return {(op.name, _dtype(kind), tuple(rest)) for op, kind, *rest in found}


def kinds_of_nodes(nodes: Sequence[Node]) -> set[Kind]:
    """The kinds of what has no value."""
    found = {(x.op, x.type, *[y.type for y in x.inputs]) for x in nodes if x.value is None}
    return {
        (op.name, _dtype(kind), tuple([t.ndim if type(t) is ArrayType else -1 for t in rest]))
        for op, kind, *rest in found
    }


def _dtype(kind: Any) -> str:
    return kind.dtype.name if type(kind) is ArrayType else ""


def seconds(kinds: set[Kind], count: int) -> float:
    """What compiling so many operations takes, of these kinds."""
    new = len(kinds - _known)
    return _correction[0] * (NEW * new + KNOWN * (len(kinds) - new) + STEP * count)


def paid(kinds: set[Kind]) -> bool:
    """Whether an earlier process has compiled just these kinds: what it found worth that is likely the same program."""
    return not kinds <= _known and _entries().load(_entry(kinds)) is not None


def note(kinds: set[Kind], count: int, took: float) -> None:
    """So many operations of these kinds were compiled, and that took so many seconds. Later processes are told."""
    found = _correction[0] * (took / seconds(kinds, count)) ** 0.5
    _correction[0] = min(max(found, 1 / MOST_CORRECTED), MOST_CORRECTED)
    if not kinds <= _known:
        if len(_known) > MOST_KINDS:
            _known.clear()
        _known.update(kinds)
        entry = _entry(kinds)
        if _entries().load(entry) is None:
            _entries().store(entry, b"known")


def _entry(kinds: Iterable[Kind]) -> str:
    return str(_entries().key_of("kinds", *map(repr, sorted(kinds))))


def _entries() -> Any:
    """The module of the cache on disk, which a program of tiny graphs never needs."""
    with _importing:
        return importlib.import_module("adjoint.runtime.object_cache")
