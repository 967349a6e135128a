"""What one run at a time may use: a table of pointers, a block for inner arrays, the free numbers; and such a frame for a caller
that does the rest of a run itself."""

from __future__ import annotations

import ctypes
import functools
import struct
import threading
import weakref
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.compiler.programs import FIELDS, PLACE
from adjoint.compiler.tables import FAILURE, OWNS, STATUS
from adjoint.execution.native.hosts import Hosts
from adjoint.runtime import entries, frozen, onednn, onednn_library, shipped
from adjoint.runtime.memory import DATA_FIELD, LAYOUT, Lease, Pages, address, give_back, take, whole_pages
from adjoint.runtime.pool import pool

if TYPE_CHECKING:
    from adjoint.execution.native.program import Native

Array = np.ndarray[Any, Any]
named: Callable[[Any], int] = address if DATA_FIELD is None else id  # what the loop is given for an array


@functools.cache
def _loop() -> dict[str, int]:
    found = shipped.addresses("programs", ("run", "enter", "holds", "owned", "freeze"))
    frozen.install(found["freeze"])
    return found


def loop_address() -> int:
    """The loop that runs programs: a function of a record."""
    return _loop()["run"]


def holding(listed: Sequence[tuple[dict[Any, Any], Any, Any]]) -> Callable[[], bool] | None:
    """A function that says whether dictionaries hold these values under these keys, the very objects; None where Python can't
    have such functions. Who has it keeps these objects."""
    functions = map(entries.function_of_c, ("PyDict_GetItemWithError", "PyErr_Clear", "Py_IncRef"))
    numbers = [*functions, id(True), id(False), len(listed), *[id(x) for entry in listed for x in entry]]
    return entries.made("holds", _loop()["holds"], numbers, False)


def owned(count: int, references: int = 0) -> Callable[[Any], bool | None] | None:
    """A function that says of so many arrays in a tuple whether nobody else sees the memory of any of them: `is_ours`. With a
    number of `references`, as many nodes stand behind them, and it says None where one of all these hasn't so many. None where
    Python can't have such functions."""
    if LAYOUT is None:
        return None
    increase = entries.function_of_c("Py_IncRef")
    classes, answers = (id(np.ndarray), id(Lease)), (id(True), id(False), id(None))
    numbers = [count, *classes, increase, *answers, LAYOUT.items, references]
    return entries.made("owned", _loop()["owned"], numbers, True)


class Frame:
    """What one run at a time may use. `records` are the loop's, one for each stretch of calls; None for a host step."""

    def __init__(self, program: Native, threads: int) -> None:
        plan, linked = program.plan, program.linked
        self.linked = linked
        self.table = program.pointers.copy()
        self.status = ctypes.c_int(0)
        # the number of the check of an index that failed, from 1, and the index
        self.failure = (ctypes.c_int64 * 2)(0, 0)
        self.threads = threads
        self.block_size = program.scratch_start + threads * program.scratch_size
        self.arguments: list[onednn.Arguments] = []
        self.make_owns()
        self.table[FAILURE] = ctypes.addressof(self.failure)
        self.table[STATUS] = ctypes.addressof(self.status)
        self.loops = [unit.part.frame(unit.length, unit.reverse) for _, unit in program.loops]
        for (at, _), loop in zip(program.loops, self.loops, strict=True):
            self.table[at] = loop.address
        # the caller's array objects, leaves first (or the addresses of their data)
        self.objects = array("Q", [0] * (len(plan.leaf_types) + len(program.fresh)))
        self.block: Array | None = None
        self.base = 0
        self.number_blocks: list[tuple[Array, list[int]]] = []
        self.number_arrays: dict[int, Array] = {}
        self.env: dict[int, Any] = {}
        self.numbers: list[Any] = []
        self.make_numbers(program)
        self.write_records(program)

    def make_owns(self) -> None:
        """The table of each thread."""
        made: list[onednn.Arguments] = []
        self.owns: list[Any] = []
        for _ in range(self.threads):
            addresses: list[int | None] = [None]
            for primitive in self.linked.own.calls:
                call = onednn.Arguments(primitive)
                made.append(call)
                addresses += [call.address, *[memory.value for memory in call.memories]]
            self.owns.append((ctypes.c_void_p * len(addresses))(*addresses))
        self.tables = (ctypes.c_void_p * self.threads)(*[ctypes.addressof(own) for own in self.owns])
        self.table[OWNS] = ctypes.addressof(self.tables)
        self.arguments = made

    def adopt(self, program: Native) -> None:
        """Serve another program, of the same units with other extents and the same places in the table."""
        before, self.linked = self.linked, program.linked
        if before.primitives != self.linked.primitives:
            program.point_to_primitives(self.table)
            self.make_owns()
        self.block_size = program.scratch_start + self.threads * program.scratch_size
        self.base = 0
        self.write_records(program)

    def make_numbers(self, program: Native) -> None:
        """Room for the free numbers, those of a dtype together."""
        base = len(program.plan.leaf_types)
        by_dtype: dict[Any, list[int]] = {}
        for k, t in enumerate(program.plan.number_types):
            by_dtype.setdefault(t.dtype.dtype, []).append(k)
        for dtype, members in by_dtype.items():
            block = np.zeros(len(members), dtype)
            self.number_blocks.append((block, members))
            for position, k in enumerate(members):
                self.number_arrays[base + k] = block[position : position + 1].reshape(())
                start = block.ctypes.data + position * block.itemsize
                program.point(self.table, program.places.get(base + k, []), start)

    def write_records(self, program: Native) -> None:
        linked, moves = program.linked, program.moves
        record = dict.fromkeys(FIELDS, 0)
        record.update(TABLE=self.table.ctypes.data, OBJECTS=self.objects.buffer_info()[0], LIMIT=self.threads)
        record.update(FIELD=-1 if DATA_FIELD is None else DATA_FIELD)
        if linked.launches:
            record.update(
                LAUNCH=pool.pointer("launch"), POOL=pool.pointer("memory"), FUNCTIONS=pool.pointer("functions")
            )
        if linked.own.calls:
            record.update(THREADS=onednn_library.address("omp_get_max_threads"),
                          SET_THREADS=onednn_library.address("omp_set_num_threads"))  # fmt: skip
        given = (moves.ctypes.data, moves.ctypes.data + moves.nbytes)
        self.records: list[int | None] = []
        self.all_records = np.zeros((len(linked.stretches), len(PLACE)), np.int64)
        for k, (rows, _) in enumerate(linked.stretches):
            if rows is None:
                self.records.append(None)
                continue
            start, width = linked.calls.ctypes.data, linked.calls.strides[0]
            record.update(CALLS=start + rows.start * width, CALLS_END=start + rows.stop * width)
            record.update(MOVES=given[0], MOVES_END=given[1])
            given = (0, 0)  # the first stretch moves everything
            self.all_records[k] = [record[name] for name in FIELDS]
            self.records.append(self.all_records.ctypes.data + k * self.all_records.strides[0])

    def move_again(self, program: Native) -> None:
        """Let the last stretch of calls read anew where the caller's arrays are."""
        moves, row = program.moves, self.all_records[-1]
        row[PLACE["MOVES"]], row[PLACE["MOVES_END"]] = moves.ctypes.data, moves.ctypes.data + moves.nbytes

    def use(self, block: Array, program: Native) -> None:
        """Lay the inner arrays into a block."""
        self.block = block
        base = address(block)
        if base != self.base:
            self.base = base
            for k, own in enumerate(self.owns):
                own[0] = base + program.scratch_start + k * program.scratch_size
            self.table[program.inner[:, 0]] = program.inner[:, 1] + base


class Station:
    """A frame with memory of its own for a caller that names the arrays itself, in every call, under `lock`.

    leaf, result  the number of the object that a leaf or result is; None for one that isn't read
    named         lines of Python that name the objects with these numbers, all that aren't held, and the `bytes` of numbers
    sees          whether the program itself sees if they are arrays in order, and notes a failure before anything if one isn't
    names         what the lines refer to
    shares        for each result, whether it may take its partner's memory
    function      runs the program, given the one number in `arguments`; afterwards `failure[0]` or `status.value` isn't 0 if an
                  index was out of bounds or a library failed; None where the program ends with a host step
    enter         does all of this in one call, given the tuple of the arrays, where the program sees: gives None, or True if
                  something failed, or False, having done nothing, while another thread is in there; None where Python can't have
                  such functions. See `prepare`
    packs         what makes `bytes` of the numbers that it takes behind the arrays, and which numbers these are; those that
                  aren't among them the caller writes into `blocks`, under the lock
    hosts         what comes before, up to the last host step (see `Hosts`); None if there is no host step
    """

    def __init__(self, program: Native, roots: list[int | None], partners: Mapping[int, int]) -> None:
        self.program = program
        self.launches = bool(program.launches)
        self.threads = pool.prepare() if self.launches else 1
        self.frame = frame = Frame(program, self.threads)
        if frame.block_size:
            block = take(frame.block_size)  # that of an earlier run, whose pages have been touched
            if block.nbytes > 2 * whole_pages(frame.block_size):
                give_back(block)
                block = Pages(whole_pages(frame.block_size))
            frame.use(block.array, program)
            weakref.finalize(self, give_back, block).atexit = False
        self.lock = threading.Lock()
        self.count = len(program.plan.leaf_types)
        self.read = set(program.moves[:, 0].tolist())
        self.objects = frame.objects
        self.names: dict[str, Any] = {"objects": self.objects, "address": address}
        self.held: dict[int, Array] = {}
        places = {root: k for k, root in enumerate(program.fresh)}
        self.fresh = [None if root is None else places[root] for root in roots]  # where results are among the fresh
        self.shares = [
            root is not None and partners.get(k) in program.shares.get(root, ()) for k, root in enumerate(roots)
        ]
        self.blocks = frame.number_blocks
        self.status, self.failure = frame.status, frame.failure
        self.hosts = None if program.alone else Hosts(program, frame)
        self.function = program.calls[-1][0]
        self.arguments = (frame.records[-1],)
        if self.hosts is not None and self.function is not None:
            frame.move_again(program)  # results whose memory is chosen after the host steps
        self.sees = LAYOUT is not None and self.hosts is None and self.function is not None and len(self.objects) > 0
        if self.sees:
            frame.all_records[-1, PLACE["CLASS"]] = id(np.ndarray)
        self.busy = ctypes.c_int64(0)
        self.enter: Callable[[Any], bool | None] | None = None
        self.packs: list[tuple[Callable[..., bytes], list[int]]] = []

    def prepare(self, varying: bool) -> None:
        """Make `enter`, which takes numbers that are `varying` from call to call behind the arrays."""
        if not self.sees or LAYOUT is None:
            return
        blocks = self.blocks if varying and all(block.dtype.char in "fd" for block, _ in self.blocks) else []
        behind, copies = len(self.objects), list[int]()
        for k, (block, _) in enumerate(blocks):
            copies += [behind + k, address(block), block.nbytes // 4]
        functions = [*map(entries.function_of_c, ("PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef"))]
        if not self.program.outline.long:  # others needn't run meanwhile
            functions[:2] = 0, 0
        noted = map(ctypes.addressof, (self.failure, self.status, self.busy))
        numbers = [self.arguments[0] or 0, self.objects.buffer_info()[0], *noted, *functions, id(None), id(True), id(False),
                   LAYOUT.items, len(blocks)]  # fmt: skip
        self.enter = entries.made("enter", _loop()["enter"], [*numbers, *copies], True)
        if self.enter is not None:
            self.packs = [(struct.Struct(f"{len(own)}{block.dtype.char}").pack, own) for block, own in blocks]

    def leaf(self, k: int) -> int | None:
        return k if k in self.read else None

    def result(self, k: int) -> int | None:
        place = self.fresh[k]
        return None if place is None else self.leaf(self.count + place)

    def named(self, names: Mapping[int, str], packed: Sequence[str] = ()) -> list[str]:
        if not self.sees or LAYOUT is None:
            return [f"objects[{k}] = {'address' if DATA_FIELD is None else 'id'}({name})" for k, name in names.items()]
        given = [names.get(k, f"held{k}" if k in self.held else "None") for k in range(len(self.objects))]
        lines = [f"given = ({', '.join([*given, *packed])},)", f"objects[0] = id(given) + {LAYOUT.items}"]
        return lines if self.enter is None else lines[:1]

    @staticmethod
    def owned(count: int, references: int = 0) -> Callable[[Any], bool | None] | None:
        """See `owned`."""
        return owned(count, references)

    @staticmethod
    def holding(listed: Sequence[tuple[dict[Any, Any], Any, Any]]) -> Callable[[], bool] | None:
        """See `holding`."""
        return holding(listed)

    def hold(self, constants: Sequence[tuple[int, Any]]) -> None:
        """Name the arrays of leaves that are the same in every call."""
        self.held = {k: np.require(value, requirements=["C", "A", "E"]) for k, value in constants}
        self.names |= {f"held{k}": value for k, value in self.held.items()}
        if not self.sees:
            for k, value in self.held.items():
                self.objects[k] = named(value)
        if self.hosts is not None:
            self.hosts.hold(self.held)

    @property
    def is_outdated(self) -> bool:
        """Whether another station is needed: the number of threads is another one now, or another program runs instead."""
        return (self.launches and pool.prepare() != self.threads) or self.program.patient is not None

    def forget_failure(self) -> None:
        """Get ready for the next run after one that failed. `Native.run`, with the same leaves, says what was wrong."""
        self.failure[0] = self.status.value = 0

    def fail(self) -> None:
        """Raise what was wrong: host steps have run, which mustn't run again."""
        try:
            self.program.fail(self.frame)
        finally:
            self.forget_failure()


class AtOnce:
    """A program that is run in one call of native code, with memory of its own, as compiled functions run theirs."""

    __slots__ = ("enter", "made", "packs", "places", "station")

    def __init__(
        self, station: Station, enter: Callable[[Any], bool | None], made: Sequence[Any], places: list[int]
    ) -> None:
        self.station, self.enter, self.packs = station, enter, station.packs
        self.made = made  # shapes and dtypes of the arrays that it makes
        self.places = places  # where among these the results are

    @classmethod
    def of(cls, station: Station, made: Sequence[Any]) -> AtOnce | None:
        """None where Python can't have such functions, or others than floating numbers vary."""
        station.prepare(True)
        places = [place for place in station.fresh if place is not None]
        if station.enter is None or len(station.packs) < len(station.blocks) or len(places) < len(station.fresh):
            return None
        del station.program  # whose own this is: each would keep the other
        return cls(station, station.enter, made, places)

    def run(self, leaves: list[Any], numbers: list[Any]) -> list[Any] | None:
        """The values of the outputs; None where nothing has happened that anybody sees: another thread is in there, a leaf isn't
        an array in order, a number is too large for its dtype, or something failed, which `Native.run_once` will say."""
        made = [np.empty(shape, dtype) for shape, dtype in self.made]
        try:
            packed = [pack(*[numbers[k] for k in own]) for pack, own in self.packs]
        except (OverflowError, struct.error):
            return None
        failed = self.enter((*leaves, *made, *packed))
        if failed is None:
            return [made[k] for k in self.places]
        if failed:
            self.station.forget_failure()
        return None
