"""What was written for units by earlier processes. Code on disk is found by its text, and to write the text of all kernels of a
large network takes longer than all else that planning does; so an entry of the cache has, for units that are asked for
together, what their kernels are called with and the names of their code.

An entry's name is made of the units' keys, of what families know of others so far, of the settings, and of the files that the
compiler is written in, as the system knows them. Values are written in full: equal ones of other types are others. What holds
anything else than names, numbers and records of them is written anew in each process: a primitive of oneDNN, say.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import operator
import os
import pickle
import sys
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from adjoint import _optional
from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import Key
from adjoint.compiler.extents import Formula, Values
from adjoint.compiler.families import Family, Followed
from adjoint.compiler.tables import Arguments, Numbered
from adjoint.compiler.units import Written
from adjoint.dtypes import DTYPES, DType
from adjoint.graph import ArrayType, array_type
from adjoint.runtime import code, llvm, object_cache, onednn_library

__all__ = ["Batch", "Unit", "entry_of", "recall", "remember"]

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The folders that code of units comes from.
FOLDERS = (
    "", "compiler", "compiler/fuse", "compiler/loops", "compiler/schedule", "compiler/targets", "graph", "plan", "primitives",
    "runtime",
)  # fmt: skip
ENDINGS = (".py", ".ll")
OURS = "adjoint."
PROTOCOL = 4


class Unit(NamedTuple):
    """A unit's code: what is called, its source, and for which others it serves, if that is known."""

    written: Written
    source: code.Source
    followed: Followed | None


class Batch(NamedTuple):
    """The code of units that are asked for together, and of the tiles that they call, by their kinds; None for a unit that is
    to be written anew."""

    units: Sequence[Unit | None]
    tiles: dict[Any, code.Source]


class Untold(pickle.PicklingError):
    """Something that can't be written down exactly."""


class _Pickler(pickle.Pickler):
    """Writes numbers, texts and records of the package alone."""

    def reducer_override(self, x: Any) -> Any:
        """How something is made anew. Raises Untold for what isn't told by its parts."""
        kind = type(x)
        if kind is ArrayType:
            return array_type, (x.shape, x.dtype)
        if kind is DType:
            return _dtype, (x.name,)
        if kind is type or kind is FunctionType:
            known = x.__module__.startswith(OURS) or x is operator.itemgetter
        else:
            known = kind.__module__.startswith(OURS) and issubclass(
                kind, (tuple, Numbered, Arguments, Followed, Formula)
            )
        if not known and kind is not operator.itemgetter:
            raise Untold(f"{kind.__name__} isn't told by its parts")
        return NotImplemented


def _dtype(name: str) -> DType:
    return DTYPES[name]


def _told(x: Any, each: bool) -> bytes:
    """A value as bytes; `each` time in full, so that equal values are equal bytes. Raises Untold."""
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, PROTOCOL)
    pickler.fast = each
    try:
        pickler.dump(x)
    except AttributeError as error:  # of a function in a function
        raise Untold(str(error)) from error
    return buffer.getvalue()


@functools.cache
def _files() -> tuple[Any, ...]:
    """The files that code of units comes from, and the libraries that it may call, as the system knows them. Raises OSError where
    they are no files."""
    libraries = _optional.folder_of("scipy_openblas32"), onednn_library.path()
    found: list[Any] = [sys.version]
    found += [(path, os.stat(path).st_mtime_ns) for path in libraries if path is not None]
    for folder in FOLDERS:
        with os.scandir(os.path.join(PACKAGE, folder)) as entries:
            for entry in sorted(entries, key=operator.attrgetter("name")):
                if entry.name.endswith(ENDINGS):
                    status = entry.stat()
                    found.append((folder, entry.name, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return tuple(found)


def entry_of(asked: Sequence[tuple[Key, Family | None, Values]], settings: Any, draft: bool) -> str | None:
    """The name of the entry of units with these keys, of which drafts may do; None where something of it can't be told."""
    if object_cache.folder() is None:
        return None
    told = [(key, None if family is None else family.state) for key, family, _ in asked]
    try:
        contents = _told((_files(), settings, draft, told), each=True)
    except (OSError, Untold):
        return None
    return object_cache.key_of("units", object_cache.hashed(contents).hexdigest(), *llvm.machine_key())


def recall(entry: str) -> Batch | None:
    """What an earlier process has remembered there."""
    contents = object_cache.load(entry)
    if contents is None:
        return None
    units, tiles = pickle.loads(contents)
    return Batch([None if one is None else pickle.loads(one) for one in units], pickle.loads(tiles))


def remember(entry: str, batch: Batch) -> None:
    """Let later processes recall it."""
    units = [None if one is None else _unit_told(one) for one in batch.units]
    tiles = {tile: _without_text(source) for tile, source in batch.tiles.items()}
    with contextlib.suppress(Untold):
        object_cache.store(entry, pickle.dumps((units, _told(tiles, each=False)), PROTOCOL))


def _unit_told(unit: Unit) -> bytes | None:
    """A unit's code as bytes, without its functions; None where it can't be told."""
    arguments = copy.copy(unit.written.arguments)
    arguments.roles, arguments.keep = {}, []  # which only who writes it asks for
    written = unit.written._replace(functions=(), arguments=arguments)
    try:
        return _told(Unit(written, _without_text(unit.source), unit.followed), each=False)
    except Untold:
        return None


def _without_text(source: code.Source) -> code.Source:
    """A source, whose symbol is known, by that alone; the text of a draft is needed once more."""
    return source if source.draft else source._replace(text="", declarations=frozenset())
