"""From units to calls: the code of each unit is found, or compiled if no unit like it was met before, and the unit gets a block
that says where in the program's table its arrays are."""

from __future__ import annotations

import contextlib
import copy
import weakref
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, count, repeat
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.compiler import programs, recalled, shipped_tiles, units
from adjoint.compiler.excerpts import Key, key_of
from adjoint.compiler.extents import Values
from adjoint.compiler.families import Family, follows, pattern_of, structure_of, with_numbers
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Nest, Unit, View
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.tables import (
    HEADER,
    Arguments,
    Calls,
    First,
    FirstCheck,
    Function,
    Handle,
    Loop,
    Own,
    Shared,
    Start,
    Table,
)
from adjoint.compiler.targets.target import target, tuning
from adjoint.plan.plan import Step
from adjoint.runtime import code, libraries, llvm, onednn, onednn_library
from adjoint.runtime.interrupts import Uninterrupted

_new_tuple = tuple.__new__  # named tuples by their own constructor take twice as long
MOST_KERNELS = 1 << 12  # that are remembered; a program keeps those that it calls
DRAFTED = ("nest", "move", "window", "product")  # units whose code may be a draft,
MOST_TIME, MOST_TEXT = 3e5, 1 << 16  # and of these the nanoseconds and characters: registers become a thread's stack
DRAFT_FROM = 128  # kernels that a program lacks: drafts of fewer spare less than is lost where it comes back
PER_CHARACTER = 400.0  # nanoseconds that LLVM takes to make final code of a draft, and how long its program may run


class Kernel(NamedTuple):
    """The code of all units with one key: functions to call before, for its chunks, and behind. A unit's block begins as
    `numbers`; at `places` it gets positions of its own."""

    code: code.Code
    arguments: Arguments
    first: list[tuple[int, First]]  # addresses
    unit: int
    last: list[int]
    chunks: int
    time: float  # nanoseconds that all chunks take, about
    numbers: list[int]
    places: list[tuple[int, Any]]


_kernels: OrderedDict[Any, Kernel] = OrderedDict()
_families: OrderedDict[Any, Family] = OrderedDict()  # of units that differ in extents alone
_tiles: dict[Any, code.Code] = {}  # of matrix products: there are few
_linkers: weakref.WeakSet[Linker] = weakref.WeakSet()  # of the programs that there are, under LLVM's lock


def settings() -> tuple[Any, ...]:
    """What decides how units are written besides their keys."""
    return (target(), matmul_tiles.available(), onednn.is_known_to_miss())


def uses(kernel: Kernel) -> int:
    """The units of all programs in this process that a kernel's code serves."""
    with llvm.lock:
        return sum([linker.uses[id(kernel.code)] for linker in tuple(_linkers)])


def is_shared(kernel: Kernel) -> bool:
    """Whether a unit is worth other threads' help, if they are awake."""
    return kernel.chunks > 1 and kernel.time >= _worth_helping()


def _worth_helping() -> float:
    """Nanoseconds from which a unit is."""
    return min(tuning().worth_helping, tuning().worth_sharing)


def forget() -> None:
    """Let go of all kernels that no program calls."""
    with llvm.lock:
        _kernels.clear()
        _families.clear()
        _tiles.clear()


def find(keys: Iterable[Key], draft: bool = False) -> dict[Key, Kernel]:
    """The kernel of each key. Those that are new are compiled together, with `draft` what takes no time as one."""
    now = settings()
    with llvm.lock:
        found = {}
        missing: list[tuple[Key, Family | None, Values]] = []
        for key in dict.fromkeys(keys):
            kernel = _kernels.get((key, now))
            family: Family | None = None
            numbers: Values = ()
            if kernel is not None:
                _kernels.move_to_end((key, now))
            elif follows(key):
                structure, numbers = structure_of(key)
                family = _families.setdefault((structure, pattern_of(numbers), now), Family(numbers))
                kernel = family.kernel(numbers)
            if kernel is None:
                missing.append((key, family, numbers))
            else:
                found[key] = _kernels[key, now] = kernel
        many = len(missing) >= DRAFT_FROM
        for (key, _, _), kernel in zip(missing, _compiled(missing, draft and many) if missing else (), strict=True):
            found[key] = _kernels[key, now] = kernel
        if not draft:
            finish([kernel.code for kernel in found.values()])
        while len(_kernels) > MOST_KERNELS:
            _kernels.popitem(last=False)
        while len(_families) > MOST_KERNELS:
            _families.popitem(last=False)
        return found


class Request(NamedTuple):
    """A kernel that is asked for by the structure of its key and the numbers in it; `key` has sizes in their place. Without a
    structure it is asked for by its key."""

    key: Key
    structure: Any | None
    numbers: Values


def find_requested(requests: Sequence[Request]) -> list[Kernel]:
    """The kernel of each request. Whose family knows one needs no key."""
    now = settings()
    with llvm.lock:
        found: list[Kernel | None] = []
        missing: dict[int, Key] = {}
        for k, (key, structure, numbers) in enumerate(requests):
            if structure is None:
                kernel = _kernels.get((key, now))
            else:
                family = _families.get((structure, pattern_of(numbers), now))
                kernel = None if family is None else family.kernel(numbers)
            if kernel is None:
                missing[k] = key if structure is None else with_numbers(key, numbers)
            found.append(kernel)
        kernels = find(missing.values(), draft=True) if missing else {}
        return [kernels[missing[k]] if one is None else one for k, one in enumerate(found)]


def introduce(structure: Any, numbers: Values) -> None:
    """Tell of a unit that isn't compiled: the next one of its structure will be written for others of that kind."""
    with llvm.lock:
        _families.setdefault((structure, pattern_of(numbers), settings()), Family(numbers))


def finish(codes: Iterable[code.Code]) -> None:
    """Compile what is a draft anew, and let all programs call that. It gives the same bits, so it may be done at any time."""
    with llvm.lock, Uninterrupted():
        drafts = [one for one in codes if one.draft is not None and one.final is None]
        sources = [one.draft._replace(draft=False) for one in drafts if one.draft is not None]
        for draft, final in zip(drafts, code.load(sources), strict=True):
            draft.final = final
        for linker in tuple(_linkers) if drafts else ():
            linker.call_final()


def _drafted(key: Key, unit: units.Written, source: code.Source) -> code.Source:
    """The source of a unit of which a draft will do, if it will."""
    short = unit.time < MOST_TIME and len(source.text) < MOST_TEXT
    return source._replace(draft=True) if short and key[0] in DRAFTED else source


def _compiled(asked: Sequence[tuple[Key, Family | None, Values]], draft: bool) -> list[Kernel]:
    """The kernels of units with these keys, as an earlier process has written them or as they are written now."""
    entry = recalled.entry_of(asked, settings(), draft)
    known = None if entry is None else recalled.recall(entry)
    states = [None if family is None else family.varying.copy() for _, family, _ in asked]
    try:
        written, tiles, loaded = _loaded(asked, known, draft)
    except code.Gone:
        for (_, family, _), varying in zip(asked, states, strict=True):
            if family is not None and varying is not None:
                family.varying = varying
        known = None
        written, tiles, loaded = _loaded(asked, None, draft)
    if known is None and entry is not None:
        recalled.remember(entry, recalled.Batch(written, tiles))
    result = []
    for (_, family, _), (unit, _, followed), one in zip(asked, written, loaded, strict=True):
        at = one.addresses
        first = [(at[one.name], one) for one in unit.first]
        last, arguments = [at[name] for name in unit.last], unit.arguments
        block, places = arguments.block(), arguments.places()
        kernel = Kernel(one, arguments, first, at["unit"], last, unit.chunks, unit.time, block, places)
        result.append(kernel)
        if family is not None and followed is not None:
            family.known.append((followed, kernel))
    return result


def _loaded(
    asked: Sequence[tuple[Key, Family | None, Values]], known: recalled.Batch | None, draft: bool
) -> tuple[list[recalled.Unit], dict[Any, code.Source], list[code.Code]]:
    """What is written of units with these keys, and of tiles that they call first; what isn't `known` is written now. And the
    units' code. Raises `code.Gone` where that of known ones isn't there any more."""
    written: list[recalled.Unit] = []
    for (key, family, numbers), unit in zip(asked, repeat(None) if known is None else known.units, strict=False):
        if unit is None or not _is_there(unit.written.arguments.functions):
            unit = _written(key, family, numbers, draft)
        elif family is not None:
            family.met(numbers)
        written.append(unit)
    wanted = dict.fromkeys([tile for unit, _, _ in written for tile in _tiles_of(unit.arguments.functions)])
    now = target()
    for tile in wanted:
        if (tile, now) not in _tiles and (held := shipped_tiles.find(tile, now)) is not None:
            _tiles[tile, now] = held
    sources = {} if known is None else known.tiles
    tiles = {
        tile: sources.get(tile) or code.named(matmul_tiles.source(tile)) for tile in wanted if (tile, now) not in _tiles
    }
    loaded = code.load([*tiles.values(), *[source for _, source, _ in written]])
    for tile, one in zip(tiles, loaded, strict=False):
        _tiles[tile, now] = one
    return written, tiles, loaded[len(tiles) :]


def _is_there(functions: Iterable[Function]) -> bool:
    """Whether libraries have these functions: those of an earlier process may not load in this one."""
    return all([library != "OpenBLAS" or libraries.product(name) is not None for library, name in functions])


def _written(key: Key, family: Family | None, numbers: Values, draft: bool) -> recalled.Unit:
    """What is written of a unit with this key; a draft of its code may do."""
    if family is None:
        written, source, followed = (one := units.write_unit(key)), one.source, None
    else:
        written, source, followed = family.write(key, numbers)
    return recalled.Unit(written, code.named(_drafted(key, written, source) if draft else source), followed)


def _tiles_of(keys: Iterable[Any]) -> list[matmul_tiles.Kernel]:
    """The kernels of matrix products among the keys of a table."""
    return [key.name for key in keys if type(key) is Function and key.library == "tiles"]


def function_address(function: Function) -> int | None:
    """The address of a function outside of kernels."""
    library, name = function
    if library == "tiles":
        return _tiles[name, target()].addresses["tile"]
    if library == "C":
        return libraries.mathematics(name)
    if library == "OpenBLAS":
        return libraries.product(name)
    return onednn_library.stream() if name == "stream" else onednn_library.address(name)


def keys_of(fusion: Fusion) -> dict[int, tuple[Key, list[Start]]]:
    """What the code of each unit depends on, and where its places are, by the unit's number; of those that have code."""
    return {index: key_of(fusion, unit) for index, unit in _with_code(fusion)}


def _with_code(fusion: Fusion) -> list[tuple[int, Any]]:
    """The units that have code, and their numbers."""
    return [
        (index, unit)
        for index, unit in enumerate(fusion.units)
        if not isinstance(unit, Host) and not (isinstance(unit, Nest) and not unit.stored)
    ]


def linked(fusion: Fusion, timed: bool = False, draft: bool = False) -> Linker:
    """The calls of a program for these units, or of a `draft` of it."""
    known: dict[Key, int] = {}  # a key takes as long to hash as a unit to link: each is hashed once,
    keyed: dict[int, tuple[int, list[Start]]] = {}
    for index, unit in _with_code(fusion):
        key, starts = key_of(fusion, unit)  # and let go at once, if there was one like it
        keyed[index] = known.setdefault(key, len(known)), starts
    found = find(known, draft)
    kernels = [found[key] for key in known]
    return Linker(fusion.units, {index: (kernels[k], starts) for index, (k, starts) in keyed.items()}, timed)


class Linker:
    """The calls of a program, of the kernel of each unit that has one, by its number, and where its places are. `stretches` are
    those between two host steps, and these steps: `rows` of the list of calls."""

    def __init__(self, units: Sequence[Unit], kernels: Mapping[int, tuple[Kernel, list[Start]]], timed: bool) -> None:
        self.table = Table()
        self.own = Own()
        self.keep: list[Any] = []  # what machine code and its arguments need to stay alive
        self.stretches: list[tuple[range | None, Step | None]] = []
        self.rows: list[tuple[int, int, int, int]] = []
        self.packing: list[int] = []  # rows of what all threads do before a unit
        self.size = 0  # of all blocks
        self.begin = 0
        self.spots: list[tuple[int, int]] = []  # of each kernel's unit: its number, the row of its call
        self.starts: list[list[Start]] = []  # and where its places are
        self.keys: list[Any] = []  # of what stands in the blocks besides numbers
        self.untabled: dict[int, int] = {}  # by their numbers among the keys, what of it isn't a position in the table
        self.plain: dict[int, list[Any] | None] = {}  # by identity of a kernel, its keys, if only places differ
        self.packs: list[Any] = []  # the views that are packed, in order
        self.primitives: list[onednn.Primitive] = []  # of oneDNN, that kernels call, in order
        self.sized: list[tuple[Shared, int, str]] = []  # scratch space, and of which unit's kernel its size is
        for index, unit in enumerate(units):
            if isinstance(unit, Host):
                self.close()
                self.stretches.append((None, unit.step))
            elif index in kernels:
                self.add(index, *kernels[index])
                if timed:
                    self.close()
        self.close()
        given = [kernels[index][0] for index, _ in self.spots]
        self.write_blocks(given)
        used = [kernel for kernel, _ in kernels.values()]
        self.time = sum([kernel.time for kernel in used])  # nanoseconds, a guess
        self.uses = Counter([id(kernel.code) for kernel in used])
        self.keep += list({id(kernel): kernel for kernel in used}.values())
        self.keep += [_tiles[tile, target()] for tile in _tiles_of(self.table.positions)]
        self.nbytes = sum({id(k.code.library): k.code.library.nbytes for k in used}.values())
        self.calls = np.fromiter(chain.from_iterable(self.rows), np.int64).reshape(-1, programs.CALL)
        del self.rows, self.keys, self.untabled, self.plain
        self.calls[:, 1] = self.calls[:, 1] * 8 + self.arguments.ctypes.data
        self.drafts = [
            one for one in {id(kernel.code): kernel.code for kernel in used}.values() if one.draft is not None
        ]
        texts = [one.draft.text for one in self.drafts if one.draft is not None and one.final is None]
        self.left = PER_CHARACTER * sum(map(len, texts))  # nanoseconds that it may run until these are compiled anew
        self.enter()
        self.share(given)

    def enter(self) -> None:
        """Be one of the programs that there are, whose calls change with their drafts."""
        with llvm.lock:  # others go through them
            _linkers.add(self)
            self.call_final()

    def call_final(self) -> None:
        """Call what has become of drafts."""
        final: dict[int, int] = {}
        for one in self.drafts:
            if one.final is not None:
                final.update({at: one.final.addresses[name] for name, at in one.addresses.items()})
        if final:
            self.calls[:, 0] = [final.get(at, at) for at in self.calls[:, 0].tolist()]

    def ran(self, times: int) -> None:
        """Note that the program ran so often. Its drafts are compiled anew once they have lost about what that takes."""
        if self.left > 0:
            self.left -= times * self.time
            if self.left <= 0:
                with contextlib.suppress(MemoryError):  # then they will do for ever
                    finish(self.drafts)

    def write_blocks(self, kernels: Sequence[Kernel]) -> None:
        """Write the blocks of the units of these kernels, of whose keys all get positions in the table."""
        positions: dict[Any, int] = defaultdict(count(HEADER).__next__, {None: 0})
        found = [positions[key] for key in self.keys]
        del positions[None]
        self.table.positions = dict(positions)
        for k, value in self.untabled.items():
            found[k] = value
        distinct = {id(kernel): kernel for kernel in kernels}
        own = {k: np.array([place for place, _ in kernel.places], np.int64) for k, kernel in distinct.items()}
        places = [own[id(kernel)] for kernel in kernels]
        begin = list(accumulate([len(kernel.numbers) for kernel in kernels], initial=0))
        behind = np.repeat(np.array(begin[:-1], np.int64), list(map(len, places)))
        self.arguments = _blocks(kernels)
        self.places = np.concatenate([*places, np.zeros(0, np.int64)]) + behind  # in the blocks, of what isn't a number
        self.arguments[self.places] = found

    def share(self, kernels: Sequence[Kernel]) -> None:
        """Say in which calls other threads help, if these are the kernels. They are woken for what takes long, and where all that
        is shared from there to the next host step does: between two units they stay awake."""
        worth = tuning().worth_sharing
        flags, rows = self.calls[:, 3], [row for _, row in self.spots]
        times = np.zeros(len(flags))
        least = _worth_helping()
        times[rows] = [one.time if one.chunks > 1 and one.time >= least else 0 for one in kernels]
        flags &= programs.CHECKED
        self.launches = bool(times.any()) and float(times.sum()) >= worth
        if not self.launches:
            return
        flags[self.packing] |= programs.SHARED
        flags[times > 0] |= programs.SHARED
        flags[times >= max(worth, 1)] |= programs.WAKING
        for stretch, _ in self.stretches:
            if stretch is not None and times[stretch.start : stretch.stop].sum() >= worth:
                shared = np.flatnonzero(flags[stretch.start : stretch.stop] & programs.SHARED)
                flags[stretch.start + shared[:1]] |= programs.WAKING

    def close(self) -> None:
        """End a stretch."""
        if len(self.rows) > self.begin:
            self.stretches.append((range(self.begin, len(self.rows)), None))
            self.begin = len(self.rows)

    def add(self, index: int, kernel: Kernel, starts: list[Start]) -> None:
        """The calls of a unit, which is the program's `index`-th."""
        arguments, table = kernel.arguments, self.table
        packed: dict[str, Shared] = {}
        first = kernel.first
        for view, purpose in arguments.packed.items():
            view = _new_tuple(View, (*starts[view.root], view.shape, view.strides))
            self.packs.append(view)
            before = table.packed.get(view)
            if before is None:
                packed[purpose] = table.packed[view] = Shared(index, purpose)
            else:
                packed[purpose] = before
                first = [(address, one) for address, one in first if one.packs != purpose]
            table.until[packed[purpose]] = index
        for purpose, size in arguments.shared.items():
            space = packed.get(purpose) or Shared(index, purpose)
            if space not in table.shared:
                table.shared[space] = size
                self.sized.append((space, index, purpose))
        keys = self.keys
        if id(kernel) not in self.plain:
            same = all([type(key) is Start or type(key) is Function for _, key in kernel.places])
            own = [key[0] if type(key) is Start else key for _, key in kernel.places]
            self.plain[id(kernel)] = own if same else None
        plain = self.plain[id(kernel)]
        if plain is not None:
            keys += [starts[x] if x.__class__ is int else x for x in plain]
        for _, key in kernel.places if plain is None else ():
            found = None
            if type(key) is Start:
                key = starts[key[0]]
            elif type(key) is Shared:
                key = packed.get(key.purpose) or Shared(index, key.purpose)
            elif type(key) is Handle:
                key = table.handle(arguments.primitives[key.number])
            elif type(key) is Loop:
                key = Loop(index)
            elif type(key) is Calls:
                found = self.own.call(arguments.primitives[key.number])
            elif type(key) is FirstCheck:
                found = len(table.checks)
            if found is not None:
                key, self.untabled[len(keys)] = None, found
            keys.append(key)
        table.checks += arguments.checks
        self.primitives += arguments.primitives
        if arguments.scratch > self.own.scratch:
            self.own.scratch = arguments.scratch
        block = self.size
        self.size += len(kernel.numbers)
        flags = programs.CHECKED if arguments.checks else 0
        for address, one in first:
            if one.chunks > 1:
                self.packing.append(len(self.rows))
            self.rows.append((address, block, one.chunks, 0))
        self.spots.append((index, len(self.rows)))
        self.starts.append(starts)
        self.rows.append((kernel.unit, block, kernel.chunks, flags))
        self.rows += [(address, block, 1, flags) for address in kernel.last]

    def again(self, kernels: Mapping[int, tuple[Kernel, list[Start]]], moving: Sequence[int]) -> Linker | None:
        """The calls of a program of the same units with other extents, whose kernels are adapted from the same ones. The places
        of those at `moving` are elsewhere, and as many. None where other views are packed once, or other primitives are one."""
        given = [kernels[index] for index, _ in self.spots]
        packs = [
            _new_tuple(View, (*own[view.root], view.shape, view.strides))
            for kernel, own in given
            for view in kernel.arguments.packed
        ]
        primitives = [one for kernel, _ in given for one in kernel.arguments.primitives]
        if not _alike(self.packs, packs) or not _alike(self.primitives, primitives):
            return None
        moved = {a: b for k in moving for a, b in zip(self.starts[k], given[k][1], strict=True)}
        made = copy.copy(self)
        made.starts, made.packs = [own for _, own in given], packs
        table = made.table = copy.copy(self.table)
        if any([a != b for a, b in moved.items()]):
            positions: dict[Any, int] = table.positions
            table.positions = {moved.get(key, key): at for key, at in positions.items()}
        table.shared = {space: kernels[index][0].arguments.shared[purpose] for space, index, purpose in self.sized}
        table.checks = [check for kernel, _ in given for check in kernel.arguments.checks]
        made.own = copy.copy(self.own)
        if primitives:
            instead = dict(zip(self.primitives, primitives, strict=True))
            made.primitives, made.own.calls = primitives, [instead[one] for one in self.own.calls]
            table.primitives = {id(instead[one]): (k, instead[one]) for k, one in table.primitives.values()}
        made.own.scratch = max([kernel.arguments.scratch for kernel, _ in given], default=0)
        if len(self.places):
            made.arguments = _blocks([kernel for kernel, _ in given])
            made.arguments[self.places] = self.arguments[self.places]
        made.calls = self.calls.copy()
        made.calls[:, 1] += made.arguments.ctypes.data - self.arguments.ctypes.data
        made.calls[[row for _, row in self.spots], 2] = [kernel.chunks for kernel, _ in given]
        made.share([kernel for kernel, _ in given])
        made.enter()
        return made


def _blocks(kernels: Sequence[Kernel]) -> np.ndarray[Any, Any]:
    """The blocks of units of these kernels, with zeros where positions go."""
    distinct = {id(kernel): kernel for kernel in kernels}
    made = {k: np.array(kernel.numbers, np.int64) for k, kernel in distinct.items()}
    return np.concatenate([made[id(kernel)] for kernel in kernels]) if kernels else np.zeros(1, np.int64)


def _alike(before: Sequence[Any], now: Sequence[Any]) -> bool:
    """Whether the same ones among these are equal."""
    pairs = len(set(zip(before, now, strict=True)))
    return pairs == len(set(before)) == len(set(now))
