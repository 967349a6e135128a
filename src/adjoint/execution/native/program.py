"""A plan as machine code: runs in place of the interpreter's programs."""

from __future__ import annotations

import copy
import ctypes
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.compiler import programs
from adjoint.compiler.fuse.donation import handed_on, is_lendable, overwritable
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Line, Matrices, Nest, Scan, Window
from adjoint.compiler.linking import Linker, function_address, linked
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.build import BYTES
from adjoint.compiler.pipeline import Printer, Seen, lowered, patient
from adjoint.compiler.tables import Function, Handle, Loop, Shared, Start, Unended
from adjoint.dtypes import DTYPES
from adjoint.execution.native.frames import AtOnce, Frame, Station, loop_address, named
from adjoint.execution.native.hosts import made_by_hosts
from adjoint.execution.numpy_programs import is_scalar, is_tiny
from adjoint.machine.machine import NumberMachine, compile_numbers
from adjoint.machine.tape import Tape, compile_tape
from adjoint.plan.plan import Plan, Step
from adjoint.primitives.custom import HOST_CALL
from adjoint.runtime import libraries, llvm
from adjoint.runtime.memory import (
    ALIGNMENT,
    LEASED_FROM,
    MOST_SPARE,
    Lifetime,
    Pages,
    address,
    give_back,
    join_pages,
    new_array,
    place,
    take,
)
from adjoint.runtime.pool import pool
from adjoint.shapes import Shape, contiguous, size_of

Array = np.ndarray[Any, Any]

SPARE = 8  # of the memory of an array in a program that follows from another: one part more, for the next that follows
OFTEN = 16  # runs after which a program tells its drafts of them, and keeps memory of its own
SMALL = 1 << 16  # if that is no more than so many bytes
MAX_FRAMES = 4  # runs of one plan at the same time that leave their frames for later ones
FOR_GOOD = 1000  # steps that are worth compiling whatever they are, where a plan is to be run again and again
TAPE_FROM = 64  # steps on tiny arrays that are better interpreted by the tape machine than compiled
UNIT_BYTES = 3000  # of Python's objects that describe what a slot became, and of frames
STAMPED_BYTES = 600  # of those of a program that follows from another
LONGEST = 3000  # steps on single numbers: longer plans of them take too long to compile
LONG = 1 << 16  # elements: from here on other Python threads may run meanwhile
OWN_MEMORY = 1 << 14  # elements from which a host step writes into memory that comes back


def missing() -> str | None:
    """What native execution lacks on this machine, and the remedy; None if nothing."""
    if llvm.facts() is None:
        return "llvmlite doesn't load here (pip install llvmlite)"
    return None if matmul_tiles.available() else libraries.missing()  # somebody has to compute products


def machine_for(plan: Plan, for_good: bool) -> NumberMachine | Tape | None:
    """The machine that interprets a plan's many steps on tiny arrays; None where they are to be compiled. One that is compiled
    `for_good` may take its time: the machines are for what is too long even then, or repeats itself."""
    count = plan.length
    if plan.repeats is not None:
        return compile_numbers(plan)
    if count < TAPE_FROM or (for_good and count <= FOR_GOOD) or not is_tiny(plan):
        return None
    numbers = compile_numbers(plan) if is_scalar(plan) else None
    if numbers is not None and (not for_good or count > LONGEST or numbers.repeats):
        return numbers
    return compile_tape(plan)


def chosen(plan: Plan, for_good: bool, seen: Seen | None = None) -> Native | NumberMachine | Tape | str:
    """The plan's native program, made of nothing but the plan, or why it has none; `seen` is told each stage."""
    machine = machine_for(plan, for_good)
    if machine is not None:
        see = seen or Printer().stage
        see("plan", plan)
        if isinstance(machine, NumberMachine):
            see("units", machine)
        return machine
    if plan.repeats is not None:  # its steps are those of a shorter loop
        return "its steps don't follow from those of shorter loops"
    fusion = lowered(plan, seen)
    return fusion if isinstance(fusion, str) else Native(fusion)


def compile_nests(plan: Plan, draft: bool = False) -> Native | None:
    """The plan as loop nests and products, or a `draft` of that; None where none of it can be compiled."""
    fusion = lowered(plan)
    return None if isinstance(fusion, str) else Native(fusion, linker=linked(fusion, draft=draft))


def fits(sizes: Mapping[Any, int], room: Mapping[Any, int]) -> bool:
    """Whether arrays of these sizes in bytes have room where others lay, and would waste little of it."""
    most = sum(sizes.values())
    return sum(room.values()) <= most + 2 * most // SPARE and all([size <= room[key] for key, size in sizes.items()])


class Uses(NamedTuple):
    """The unit that makes each array, for those that native code makes, and the one that reads it last; the leaves whose memory a
    result may take, and the array whose memory an inner one takes."""

    produced: dict[int, int]
    last: dict[int, int]
    shares: dict[int, tuple[int, ...]]
    handed_on: dict[int, int]


def uses_of(fusion: Fusion, reads: list[set[int]]) -> Uses:
    """The uses of the arrays of units that read these."""
    produced: dict[int, int] = {}
    last: dict[int, int] = {}
    for index, unit in enumerate(fusion.units):
        if not isinstance(unit, Host):
            for slot in unit.outputs:  # later transforms work in place
                produced.setdefault(slot, index)
        last.update(dict.fromkeys(reads[index], index))
    fresh = fresh_results(fusion, produced)
    shares = overwritable(fusion, fresh, reads, last)
    return Uses(produced, last, shares, handed_on(fusion, produced, fresh, reads, last))


def fresh_results(fusion: Fusion, produced: Collection[int]) -> list[int]:
    """The arrays that results are, of those that native code makes."""
    roots = dict.fromkeys([fusion.views[s].root for s in fusion.results if s not in fusion.objects])
    return [root for root in roots if root in produced]


class Outline:
    """What is decided of a program before anything has an address: which unit makes each array, which arrays are results, and
    whose memory they may take; when each is read last."""

    def __init__(self, fusion: Fusion, uses: Uses | None = None) -> None:
        self.fusion = fusion
        found = uses or uses_of(fusion, [fusion.roots(unit) for unit in fusion.units])
        self.produced, self.last_uses, shares, self.handed_on = found
        self.fresh = fresh_results(fusion, self.produced)
        self.lasting = self.lasting_slots()
        self.reshaped: dict[
            int, int
        ] = {}  # the result in whose shape a caller gets an array that is made in another one
        self.results_of: dict[int, list[int]] = {}
        for slot in fusion.results:
            if slot not in fusion.objects:
                self.results_of.setdefault(fusion.views[slot].root, []).append(slot)
        self.as_they_come = [self.whole_root(slot) for slot in fusion.results]
        self.shares = {root: leaves for root, leaves in shares.items() if root not in self.reshaped}
        work = [size_of(u.domain) >= LONG for u in fusion.units if isinstance(u, Nest)] or [True]
        work += [u.operations >= LONG for u in fusion.units if isinstance(u, Line | Matrices | Scan)]
        self.long = any(work) or fusion.plan.has_products or any(isinstance(u, Window) for u in fusion.units)
        del self.fusion

    def lasting_slots(self) -> set[int]:
        """The results of host steps that nothing writes over: arrays of their own, and views of these."""
        lasting: set[int] = set()
        for unit in self.fusion.units:
            if isinstance(unit, Host) and (not unit.step.op.view or lasting.issuperset(unit.step.inputs)):
                lasting.add(unit.step.output)
        return lasting

    def whole_root(self, slot: int) -> int | None:
        """The array that a result is as it comes, maybe in another shape; None where it is a view of one that isn't the whole, or
        made by no native code, or another result has it already in a shape that differs."""
        if slot in self.fusion.objects:
            return None
        view = self.fusion.views[slot]
        root, shape = view.root, self.fusion.shapes[view.root]
        if root not in self.produced or view.offset != 0 or view.strides != contiguous(view.shape):
            return None
        if view.shape != shape and size_of(view.shape) != size_of(shape):
            return None
        others = self.results_of[root]
        if len(others) > 1 and any([self.fusion.views[s].shape != view.shape for s in others]):
            return root if view.shape == shape else None
        if view.shape != shape:
            self.reshaped[root] = slot
        return root


class Native:
    """A compiled plan. Zero times infinity is always treated as zero. Each run takes a frame of its own."""

    masks = True
    stamped = False  # whether it follows from other programs: see `relatives`
    patient: Native | None = None  # what runs instead, once a loop has turned out not to end soon
    shorter: Plan | None = None  # one of fewer equal layers that it was made from: see `layers`
    patterned = False  # whether that was found out for it, which takes longer
    own_runs = 0  # how often it was run itself; `runs` are those of programs like it, too
    at_once: AtOnce | None = None  # what runs it, where that is simple, once it was run often
    followed: tuple[list[Any], list[Any]] = ([], [])  # then, the numbers that its kernels were asked for by, and these

    def __init__(
        self, fusion: Fusion, timed: bool = False, linker: Linker | None = None, outline: Outline | None = None
    ) -> None:
        """With `timed`, every unit is a stretch of its own, to be timed. The calls, and what is decided, are made of the fusion
        unless they are given."""
        self.fusion = fusion
        self.plan = plan = fusion.plan
        self.linked = linker or linked(fusion, timed)
        self.outline = outline or Outline(fusion)
        self.table = self.linked.table
        self.launches = self.linked.launches
        self.loops: list[tuple[int, Scan]] = []  # that are programs of their own, by their positions in the table
        others = [(key, at) for key, at in self.table.positions.items() if type(key) is not Start]
        for key, at in others:
            if type(key) is Loop:
                self.loops.append((at, fusion.units[key.number]))  # type: ignore[arg-type]
        self.produced, self.fresh, self.shares = self.outline.produced, self.outline.fresh, self.outline.shares
        self.lasting, self.as_they_come = self.outline.lasting, self.outline.as_they_come
        self.room: dict[Any, int] = {}  # bytes of what lies in the block
        self.scratch_start = 0
        self.places = self.noted_places()
        self.lay_out()
        self.spent = self.spent_inputs()
        self.leaf_places = [k for k in range(len(plan.leaf_types)) if k not in fusion.objects]
        self.keep: list[Any] = []
        self.pointers = self.fixed_pointers(others)
        self.moves = self.moved()
        self.alone = all(step is None for _, step in self.linked.stretches)
        self.frames: list[Frame] = []  # which programs that follow from this one share
        self.runs = [0]  # how often it was run, or programs like it: see `execution.budget`
        # equal complex numbers may differ in the sign of one part that is zero
        self.signed_zeros = any(t.dtype.kind == "c" for t in plan.number_types)
        self.fresh_makers = [self.maker(root) for root in self.fresh]
        run = (ctypes.CFUNCTYPE if self.outline.long else ctypes.PYFUNCTYPE)(None, ctypes.c_void_p)(loop_address())
        self.calls: list[tuple[Callable[..., Any] | None, Step | None]] = [
            (run, None) if step is None else (None, step) for _, step in self.linked.stretches
        ]

    @property
    def nbytes(self) -> int:
        """About the bytes that it takes: machine code, which others may share, constants, and what describes its units. One that
        follows from others shares both with them."""
        constants = sum([int(array.nbytes) for array in self.keep])
        if self.stamped and not self.patterned:
            return constants + STAMPED_BYTES * len(self.plan.types)
        return self.linked.nbytes + constants + UNIT_BYTES * len(self.plan.types)

    # Preparation

    def noted_places(self) -> dict[int, list[tuple[int, int]]]:
        """Positions in the table of each array, and bytes to add."""
        places: dict[int, list[tuple[int, int]]] = {}
        dtypes = self.fusion.dtypes
        for key, at in self.table.positions.items():
            if type(key) is Start:
                root, offset = key
                found = places.get(root)
                if found is None:
                    found = places[root] = []
                found.append((at, offset * BYTES[dtypes[root]]))
        return places

    def fixed_pointers(self, others: Sequence[tuple[Any, int]]) -> Array:
        """The table, with those pointers in it that are the same in every run. `others` are what isn't an array's place in it."""
        pointers = np.zeros(self.table.size, np.int64)
        for key, at in others:
            if type(key) is Function:
                pointers[at] = function_address(key) or 0
        self.point_to_primitives(pointers)
        for root, constant in self.plan.constants.items():
            if root in self.places:
                array = np.array(constant, order="C")
                self.keep.append(array)
                self.point(pointers, self.places[root], address(array))
        return pointers

    def point_to_primitives(self, pointers: Array) -> None:
        """Write down where oneDNN's primitives are."""
        for number, primitive in self.table.primitives.values():
            pointers[self.table.positions[Handle(number)]] = primitive.handle.value or 0

    def maker(self, root: int) -> tuple[int, Shape, np.dtype[Any], int, tuple[int, ...]]:
        """What making an array for a result takes: its slot, shape, dtype, bytes, and the leaves whose memory it may take."""
        dtype, slot = DTYPES[self.fusion.dtypes[root]].dtype, self.outline.reshaped.get(root)
        shape = self.fusion.shapes[root] if slot is None else self.fusion.views[slot].shape
        return root, shape, dtype, size_of(shape) * dtype.itemsize, tuple(self.shares.get(root, ()))

    @staticmethod
    def point(table: Array, places: list[tuple[int, int]], start: int) -> None:
        """Write down where an array is."""
        for at, nbytes in places:
            table[at] = start + nbytes

    def moved(self) -> Array:
        """How leaves and results get from a caller's array objects, leaves first, into the table (see `programs`)."""
        leaves = len(self.plan.leaf_types)
        objects = {k: k for k in range(leaves)} | {root: leaves + k for k, root in enumerate(self.fresh)}
        rows = [(objects[root], at, nbytes) for root in objects for at, nbytes in self.places.get(root, ())]
        return np.array(rows, np.int64).reshape(-1, programs.MOVE)

    def lay_out(self, like: Native | None = None) -> None:
        """Give inner arrays and scratch rows a place in one block: that which they have in a program `like` this one, if there is
        room for them."""
        fusion, fresh = self.fusion, set(self.fresh)
        sizes: dict[Any, int] = {
            root: size_of(fusion.shapes[root]) * BYTES[fusion.dtypes[root]]
            for root in self.produced
            if root not in fresh
        }
        sizes.update(self.table.shared)
        self.scratch_size = -(-self.linked.own.scratch // ALIGNMENT) * ALIGNMENT
        handed_on = self.outline.handed_on
        alike = all([sizes[slot] == sizes[before] for slot, before in handed_on.items()])
        if like is not None:
            if alike and fits(sizes, like.room):
                if self.table.positions is not like.table.positions:
                    self.inner = self.inner_places()
                return
            sizes = {key: size + size // SPARE for key, size in sizes.items()}
        lives: dict[Any, Lifetime] = {key: self.lifetime(key, size) for key, size in sizes.items()}
        first: dict[Any, int] = {}  # of those that lie in one place after the other
        for slot in sorted(handed_on, key=self.produced.__getitem__) if alike else ():
            before = handed_on[slot]
            first[slot] = before = first.get(before, before)
            lives[before] = lives[before]._replace(last=lives.pop(slot).last)
        offsets, size = place(list(lives.values()))
        offsets.update({slot: offsets[before] for slot, before in first.items()})
        self.room, self.offsets = sizes, offsets
        self.scratch_start = -(-size // ALIGNMENT) * ALIGNMENT
        self.inner_roots: dict[int, int] = {key: offset for key, offset in offsets.items() if type(key) is int}
        self.inner = self.inner_places()

    def lifetime(self, key: int | Shared, size: int) -> Lifetime:
        """When an inner array or scratch space is used."""
        if type(key) is Shared:
            return Lifetime(key, size, key.unit, self.table.until.get(key, key.unit))
        first = self.produced[key]  # type: ignore[index]
        return Lifetime(key, size, first, max(self.outline.last_uses.get(key, first), first))  # type: ignore[arg-type]

    def inner_places(self) -> Array:
        """Positions in the table of what lies in the block, and bytes from the block's start."""
        places, positions = self.places, self.table.positions
        found = [(at, offset + more) for root, offset in self.inner_roots.items() for at, more in places.get(root, ())]
        found += [(positions[space], self.offsets[space]) for space in self.table.shared if space in positions]
        return np.array(found, np.int64).reshape(-1, 2)

    def again(self, fusion: Fusion, linked: Linker) -> Native:
        """The program of the same units with other extents, which has calls of its own, about the same places in memory, and the
        same frames."""
        made = copy.copy(self)
        made.fusion, made.plan, made.linked, made.table = fusion, fusion.plan, linked, linked.table
        moved = made.table.positions is not self.table.positions
        if moved:
            made.places = made.noted_places()
        made.lay_out(self)
        if moved:
            made.moves = made.moved()
        if linked.primitives != self.linked.primitives:
            made.pointers = self.pointers.copy()
            made.point_to_primitives(made.pointers)
        made.runs, made.own_runs, made.patterned, made.patient, made.at_once = [0], 0, False, None, None
        made.fresh_makers = [made.maker(root) for root in made.fresh]
        return made

    # Running

    def station(self, partners: Mapping[int, int]) -> Station | None:
        """A frame for a caller who does the rest; None where some of the rest isn't as simple as that.

        `partners` are leaves by the results that would best take their memory.
        """
        if self.patient is not None:
            return self.patient.station(partners)
        if self.signed_zeros or (self.alone and len(self.calls) != 1):
            return None
        native = [root for root in self.as_they_come if root is not None]
        if len(set(native)) + len(made_by_hosts(self.fusion)) < len(self.as_they_come):
            return None
        station = Station(self, self.as_they_come, partners)
        return station if station.frame.block_size <= MOST_SPARE else None

    def simple(self) -> AtOnce | None:
        """What runs the program in one call of native code; None where a run is more than that."""
        few = self.scratch_start + self.scratch_size <= SMALL and all(
            [maker[3] < LEASED_FROM for maker in self.fresh_makers]
        )
        if not few or self.launches or not self.alone or None in self.as_they_come:
            return None
        station = self.station({})
        return None if station is None else AtOnce.of(station, [maker[1:3] for maker in self.fresh_makers])

    def run(self, leaves: list[Any], numbers: list[Any], masked: bool, donated: Collection[int] = ()) -> list[Any]:
        """The values of the outputs. The memory of the leaves at `donated` may become that of outputs: nobody may read
        those arrays afterwards, and no two leaves may share it."""
        if self.patient is None:
            self.runs[0] += 1
            self.own_runs += 1
            if self.own_runs % OFTEN == 0:
                self.was_run_often()
            if self.at_once is not None and not donated:
                results = self.at_once.run(leaves, numbers)
                if results is not None:
                    return results
            try:
                return self.run_once(leaves, numbers, donated)
            except Unended:  # nothing is written over before the last unit that may fail
                self.patient = Native(patient(self.fusion))
        return self.patient.run(leaves, numbers, masked, donated)

    def was_run_often(self) -> None:
        """Take less time from now on: `OFTEN` runs have come since the program was made, or since this was asked for last."""
        self.linked.ran(OFTEN)
        if self.own_runs == OFTEN:
            self.at_once = self.simple()

    def run_once(self, leaves: list[Any], numbers: list[Any], donated: Collection[int]) -> list[Any]:
        """The values of the outputs. Raises Unended where a loop took too long."""
        threads = pool.prepare() if self.launches else 1
        try:
            frame = self.frames.pop()
            if frame.threads != threads:
                frame = Frame(self, threads)
            elif frame.linked is not self.linked:
                frame.adopt(self)
        except IndexError:
            frame = Frame(self, threads)
        objects, env = frame.objects, frame.env
        places = self.leaf_places
        given = [leaves[k] for k in places]
        arrays = [x if x.flags.num & programs.IN_ORDER == programs.IN_ORDER else x.copy() for x in given]
        env.update(zip(places, arrays, strict=True))
        for k, x in zip(places, arrays, strict=True):
            objects[k] = named(x)
        if numbers != frame.numbers or 0 in numbers or self.signed_zeros:  # others need no writing; 0 equals -0
            for block, members in frame.number_blocks:
                block[:] = [numbers[k] for k in members]
            frame.numbers = numbers
        self.make_results(frame, leaves, donated)
        lent: Pages | None = None
        if frame.block_size:
            lent = take(frame.block_size)
            frame.use(lent.array, self)
        try:
            for (function, step), record in zip(self.calls, frame.records, strict=True):
                if function is not None:
                    function(record)
                    if frame.status.value or frame.failure[0]:
                        self.fail(frame)
                elif step is not None:
                    self.run_host(step, leaves, frame)
            results = [
                self.array(slot, leaves, frame) if root is None else env[root]
                for slot, root in zip(self.fusion.results, self.as_they_come, strict=True)
            ]
        finally:
            frame.env = {}
            frame.block = None
            if lent is not None:
                give_back(lent)
        if len(self.frames) < MAX_FRAMES:  # not after an interrupt, which may have come before a failure was dealt with
            self.frames.append(frame)
        return results

    def make_results(self, frame: Frame, leaves: list[Any], donated: Collection[int]) -> None:
        """Arrays for the results: new ones, or leaves that are donated."""
        env, empty, makers = frame.env, np.empty, self.fresh_makers
        if donated:
            free, lent = set(donated), set[int]()
            for root, _, _, _, places in makers:
                for leaf in places:
                    if leaf in free and env[leaf] is leaves[leaf] and is_lendable(leaves[leaf]):
                        free.remove(leaf)
                        lent.add(root)
                        env[root] = leaves[leaf]
                        break
            makers = [maker for maker in makers if maker[0] not in lent]
        for root, shape, dtype, nbytes, _ in makers:
            env[root] = empty(shape, dtype) if nbytes < LEASED_FROM else new_array(shape, dtype, nbytes)
        if self.own_runs == 1:  # later ones get memory that was touched before
            join_pages([env[root] for root, _, _, nbytes, _ in makers if nbytes < LEASED_FROM])
        frame.objects[len(self.plan.leaf_types) :] = array("Q", [named(env[root]) for root in self.fresh])

    def fail(self, frame: Frame) -> None:
        """Raise what a segment has noted."""
        if frame.status.value:
            if frame.status.value == 1:  # dnnl_out_of_memory
                raise MemoryError("oneDNN has no memory left")
            raise RuntimeError(f"oneDNN failed with status {frame.status.value}")
        check, noted = frame.failure
        frame.failure[0] = 0
        raise self.table.checks[check - 1].error(noted)

    def is_written_over(self, slot: int) -> bool:
        """Whether the memory of a slot's array will hold another one in this run or a later one."""
        return slot not in self.fusion.objects and self.fusion.views[slot].root in self.inner_roots

    def spent_inputs(self) -> set[int]:
        """The outputs of host steps that may write over their first input: it lies in the program's own memory, whole, and no
        later unit reads it."""
        found: set[int] = set()
        for index, unit in enumerate(self.fusion.units):
            if isinstance(unit, Host) and unit.step.op.spends and not self.fusion.objects.issuperset(unit.step.inputs):
                root = self.fusion.views[unit.step.inputs[0]].root
                if root in self.inner_roots and self.outline.last_uses.get(root) == index:
                    found.add(unit.step.output)
        return found

    def run_host(self, step: Step, leaves: list[Any], frame: Frame) -> None:
        env = frame.env
        given = [self.array(i, leaves, frame) for i in step.inputs]
        if step.op is HOST_CALL and not step.attributes[0].exact:  # it may keep them
            given = [x.copy() if self.is_written_over(i) else x for i, x in zip(step.inputs, given, strict=True)]
        slot = step.output
        if step.op.takes_out and slot not in self.fusion.objects and step.type.size > OWN_MEMORY:
            dtype = step.type.dtype.dtype  # memory that was touched before costs nothing to touch again
            out = new_array(step.type.shape, dtype, step.type.size * dtype.itemsize)
            result = step.masked(*given, out=out, spent=True) if slot in self.spent else step.masked(*given, out=out)
        else:
            result = step.masked(*given)
        if (
            step.op.view and slot not in self.lasting
        ):  # what it shares memory with may be written over before it is read
            result = tuple([np.array(x) for x in result]) if type(result) is tuple else np.array(result)
        if slot in self.fusion.objects:
            env[slot] = result
            return
        array = np.asarray(result, DTYPES[self.fusion.dtypes[slot]].dtype)
        if not array.flags.c_contiguous:
            array = array.copy()
        env[slot] = array
        self.point(frame.table, self.places.get(slot, []), address(array))

    def array(self, slot: int, leaves: list[Any], frame: Frame) -> Any:
        """The array of a slot, once it is computed."""
        found = frame.env.get(slot)
        if found is not None:
            return found
        plan = self.plan
        if slot in self.fusion.objects:
            if slot < len(plan.leaf_types):
                return leaves[slot]
            return frame.number_arrays[slot].copy() if slot in frame.number_arrays else plan.constants[slot]
        view = self.fusion.views[slot]
        root = self.root_array(view.root, frame)
        if view.offset == 0 and view.shape == root.shape and view.strides == contiguous(view.shape):
            return root
        size = root.itemsize
        result = np.ndarray(view.shape, root.dtype, root, view.offset * size, tuple([s * size for s in view.strides]))
        if 0 in view.strides:
            result.flags.writeable = False
        return result

    def root_array(self, root: int, frame: Frame) -> Array:
        found = frame.env.get(root)
        if found is None:
            if root in frame.number_arrays:
                found = frame.number_arrays[root].copy()
            elif root in self.plan.constants:
                found = self.plan.constants[root]
                if not found.flags.c_contiguous:
                    found = found.copy()
            else:
                shape, dtype = self.fusion.shapes[root], DTYPES[self.fusion.dtypes[root]].dtype
                found = np.ndarray(shape, dtype, frame.block, self.inner_roots[root])
            frame.env[root] = found
        return found
