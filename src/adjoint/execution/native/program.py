"""A plan as machine code: runs in place of the interpreter's programs."""

from __future__ import annotations

import ctypes
import threading
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.execution.memory import (
    ALIGNMENT,
    DATA_FIELD,
    LEASED_FROM,
    MOST_SPARE,
    Lifetime,
    Pages,
    address,
    give_back,
    new_array,
    place,
    take,
    whole_pages,
)
from adjoint.execution.native import compiler, kernels, libraries, onednn, onednn_library
from adjoint.execution.native.donation import is_lendable, overwritable
from adjoint.execution.native.fuse import Fusion, Host, Move, Nest, Product, View, Window, contiguous
from adjoint.execution.native.joining import join
from adjoint.execution.native.pool import pool
from adjoint.execution.native.recomputing import recompute
from adjoint.execution.native.tables import FAILURE, Own, Table
from adjoint.execution.native.tape import Tape, compile_tape
from adjoint.execution.native.units import write_unit
from adjoint.execution.passes import simplified
from adjoint.execution.plan import Plan, Step
from adjoint.execution.programs import is_grouped, is_tiny
from adjoint.shapes import size_of

Array = np.ndarray[Any, Any]

MAX_FRAMES = 4  # runs of one plan at the same time that leave their frames for later ones
MAX_STEPS = 3000  # larger graphs stay with the interpreter
FOR_GOOD = 1000  # steps that are worth compiling whatever they are, where a plan is to be run again and again
TAPE_FROM = 64  # steps on tiny arrays that are better interpreted by the tape machine than compiled
UNIT_BYTES = 3000  # of Python's objects that describe what a slot became, and of frames
LONG = 1 << 16  # elements: from here on other Python threads may run meanwhile


def missing() -> str | None:
    """What native execution lacks on this machine, and the remedy; None if nothing."""
    if compiler.binding() is None:
        return "llvmlite doesn't load here (pip install llvmlite)"
    return None if kernels.available() else libraries.missing()  # somebody has to compute products


def compile_plan(plan: Plan, for_good: bool = False) -> Native | Tape | None:
    """The plan's native program; None where nothing of it can be compiled. One that is compiled `for_good` may take its
    time: the tape machine is for what is too long even then."""
    count = len(plan.steps)
    if for_good and count <= FOR_GOOD:
        return compile_nests(plan)
    if count >= TAPE_FROM and is_tiny(plan) and (count <= MAX_STEPS or not is_grouped(plan)):
        tape = compile_tape(plan)
        if tape is not None:
            return tape
    return compile_nests(plan)


def compile_nests(plan: Plan) -> Native | None:
    """The plan as loop nests and products; None where it is too long, or none of it can be compiled."""
    if not 0 < len(plan.steps) <= MAX_STEPS:
        return None
    for t in plan.types:
        if type(t) is not tuple and t.size == 0:
            return None
    fusion = Fusion(simplified(plan))
    if all(isinstance(unit, Host) for unit in fusion.units):
        return None
    recompute(fusion)
    join(fusion)
    return Native(fusion)


class Native:
    """A compiled plan. Zero times infinity is always treated as zero. Each run takes a frame of its own."""

    masks = True

    def __init__(self, fusion: Fusion, apart: bool = False) -> None:
        self.fusion = fusion
        self.apart = apart  # whether every unit is a function of its own, to be timed
        self.plan = plan = fusion.plan
        self.table = Table()
        self.own = Own()
        self.launches = False
        self.pieces = self.compile()
        self.produced = self.producers()
        fresh = dict.fromkeys(fusion.views[s].root for s in fusion.results if s not in fusion.objects)
        self.fresh = [root for root in fresh if root in self.produced]
        self.shares = overwritable(fusion, self.fresh)
        self.lay_out()
        leaves = len(plan.leaf_types)
        positions = self.table.positions
        self.pointers: list[int | None] = [None] * max(len(positions), 1)  # those that are the same in every run
        self.leaf_places = [(k, positions.get(k, -1)) for k in range(leaves) if k not in fusion.objects]
        self.keep: list[Any] = []
        ours = kernels.addresses([key[1] for key in positions if type(key) is tuple and key[0] == "kernel"])
        for key, at in positions.items():
            if type(key) is tuple and key[0] == "libm":
                self.pointers[at] = libraries.mathematics(key[1])
            elif type(key) is tuple and key[0] == "kernel":
                self.pointers[at] = ours[key[1]]
            elif type(key) is tuple and key[0] == "blas":
                self.pointers[at] = libraries.product(key[1])
            elif type(key) is tuple and key[0] == "onednn" and key[1] != "status":
                self.pointers[at] = onednn_library.stream() if key[1] == "stream" else onednn_library.address(key[1])
            elif type(key) is tuple and key[0] == "pool" and key[1] != "limit":
                self.pointers[at] = pool.pointer(key[1])
            elif type(key) is tuple and key[0] == "primitive":
                self.pointers[at] = self.table.primitives[key[1]].handle.value
            elif key in plan.constants:
                array = np.array(plan.constants[key], order="C")
                self.keep.append(array)
                self.pointers[at] = array.ctypes.data
        self.alone = all(step is None for _, step in self.pieces)
        self.whole = self.whole_results()
        self.frames: list[Frame] = []
        # equal complex numbers may differ in the sign of one part that is zero
        self.signed_zeros = any(t.dtype.kind == "c" for t in plan.number_types)
        self.fresh_makers = []
        for root in self.fresh:
            shape, dtype = fusion.shapes[root], np.dtype(fusion.dtypes[root])
            nbytes = size_of(shape) * dtype.itemsize
            self.fresh_makers.append((root, shape, dtype, nbytes, positions[root], self.shares.get(root, ())))
        work = max(size_of(u.domain) for u in fusion.units if isinstance(u, Nest)) if any(
            isinstance(u, Nest) for u in fusion.units) else LONG  # fmt: skip
        long = self.plan.has_products or any(isinstance(u, Window) for u in fusion.units)
        self.long = work >= LONG or long
        prototype = ctypes.CFUNCTYPE if self.long else ctypes.PYFUNCTYPE
        signature = prototype(None, ctypes.c_void_p)
        self.calls: list[tuple[Callable[..., Any] | None, Step | None]] = [
            (signature(self.library.address(f"segment{k}")), None) if step is None else (None, step)
            for k, step in self.pieces
        ]

    @property
    def nbytes(self) -> int:
        """About the bytes that it takes: machine code, constants, and what describes its units."""
        constants = sum([int(array.nbytes) for array in self.keep])
        return self.library.nbytes + constants + UNIT_BYTES * len(self.plan.types)

    # Preparation

    def compile(self) -> list[tuple[int, Step | None]]:
        """Machine code of all units, in stretches between the host's steps."""
        bits = compiler.vector_bits()
        declarations: set[str] = {"declare i64 @llvm.umin.i64(i64, i64)"}
        functions: list[str] = []
        pieces: list[tuple[int, Step | None]] = []
        calls: list[str] = []
        segments = 0

        def close() -> None:
            nonlocal segments
            if calls:
                functions.append(self.segment(segments, calls))
                pieces.append((segments, None))
                segments += 1
                calls.clear()

        for index, unit in enumerate(self.fusion.units):
            if isinstance(unit, Host):
                close()
                pieces.append((-1, unit.step))
                continue
            if isinstance(unit, Nest) and not unit.stored:
                continue
            code = write_unit(self.fusion, unit, index, self.table, self.own, declarations, bits)
            functions += code.functions
            calls += code.first
            calls += self.launch(index, code.chunks, code.shared) + code.last
            if isinstance(unit, Move) and unit.indices:
                calls += self.end_on_failure(index)
            if self.apart:
                close()
        close()
        if len(pieces) == segments == 1 and DATA_FIELD is not None:
            functions.append(self.entry(DATA_FIELD))
        text = "\n".join([*sorted(declarations), *functions, compiler.attributes(bits)])
        self.library = compiler.compile_text(text)
        return pieces

    def launch(self, index: int, chunks: int, shared: bool) -> list[str]:
        """Run all chunks of a unit, here or on the pool."""
        if not shared:
            return [f"  call void @unit{index}(ptr %table, i64 0, i64 {chunks}, ptr %own)"]
        self.launches = True
        lines, values = [], []
        for key in ("launch", "memory", "functions", "limit"):
            name, kind = f"%{key}{index}", "i64" if key == "limit" else "ptr"
            lines += [f"  {name}.at = getelementptr ptr, ptr %table, i64 {self.table.at(('pool', key))}",
                      f"  {name} = load {kind}, ptr {name}.at"]  # fmt: skip
            values.append(name)
        launch, memory, functions, limit = values
        lines.append(f"  call void {launch}(ptr {memory}, ptr {functions}, ptr @unit{index}, ptr %table, i64 {chunks}, "
                     f"i64 {limit})")  # fmt: skip
        return lines

    def end_on_failure(self, index: int) -> list[str]:
        """Go no further if an index was out of bounds: leaves that were donated must not be written over."""
        at = self.table.at(FAILURE)
        return [
            f"  %failure{index}.at = getelementptr ptr, ptr %table, i64 {at}",
            f"  %failure{index} = load ptr, ptr %failure{index}.at",
            f"  %code{index} = load i64, ptr %failure{index}",
            f"  %failed{index} = icmp ne i64 %code{index}, 0",
            f"  br i1 %failed{index}, label %end, label %after{index}",
            f"after{index}:",
        ]

    def entry(self, field: int) -> str:
        """A function that finds the leaves and results in array objects, leaves first, before it runs the one segment. A
        place without an object is null; Python would take longer to read where an array's data is."""
        lines = []
        for k, at in self.entries():
            lines += [f"  %o{k}.at = getelementptr ptr, ptr %objects, i64 {k}", f"  %o{k} = load ptr, ptr %o{k}.at",
                      f"  %d{k}.at = getelementptr i8, ptr %o{k}, i64 {field}", f"  %d{k} = load ptr, ptr %d{k}.at",
                      f"  %t{k}.at = getelementptr ptr, ptr %table, i64 {at}", f"  store ptr %d{k}, ptr %t{k}.at"]  # fmt: skip
        return "\n".join(
            [
                "define void @entry(ptr %table, ptr %objects) #0 {",
                *lines,
                "  call void @segment0(ptr %table)",
                "  ret void",
                "}",
            ]
        )

    def entries(self) -> list[tuple[int, int]]:
        """The places among a caller's array objects that the program needs, and in the table."""
        leaves, fusion, positions = len(self.plan.leaf_types), self.fusion, self.table.positions
        found = [(k, positions[k]) for k in range(leaves) if k in positions]
        roots = [fusion.views[s].root if s not in fusion.objects else -1 for s in fusion.results]
        return found + [
            (leaves + r, positions[root]) for r, root in enumerate(roots) if root >= leaves and root in positions
        ]

    def segment(self, number: int, calls: list[str]) -> str:
        """A function that runs units in order, on one thread of oneDNN's OpenMP if they call it."""
        lines = ["  %owns = load ptr, ptr %table", "  %own = load ptr, ptr %owns"]
        ending = []
        if self.own.calls:
            for name in ("omp_get_max_threads", "omp_set_num_threads"):
                at = self.table.at(("onednn", name))
                lines += [f"  %{name}.at = getelementptr ptr, ptr %table, i64 {at}",
                          f"  %{name} = load ptr, ptr %{name}.at"]  # fmt: skip
            lines += ["  %threads = call i32 %omp_get_max_threads()", "  call void %omp_set_num_threads(i32 1)"]
            ending = ["  call void %omp_set_num_threads(i32 %threads)"]
        return "\n".join(
            [f"define void @segment{number}(ptr %table) #0 {{", *lines, *calls, "  br label %end", "end:", *ending,
             "  ret void", "}"]
        )  # fmt: skip

    def producers(self) -> dict[int, int]:
        """The unit that makes each array, for those that native code makes."""
        produced: dict[int, int] = {}
        for index, unit in enumerate(self.fusion.units):
            made = unit.made if isinstance(unit, Nest) else [unit]
            produced.update({w.positions.output: index for w in made if isinstance(w, Window) and w.positions})
            if isinstance(unit, Nest):
                outputs = [*unit.stored, *[p.step.output for p in unit.made]]
                produced.update(dict.fromkeys([s for s in outputs if s not in unit.tiles], index))
            elif isinstance(unit, Product | Window | Move):
                produced[unit.step.output] = index
        return produced

    def lay_out(self) -> None:
        """Give inner arrays and scratch rows a place in one block."""
        fusion = self.fusion
        last: dict[Any, int] = {}
        for index, unit in enumerate(fusion.units):
            if isinstance(unit, Nest):
                read = [i for step in unit.steps for i in step.inputs]
            else:
                read = list(unit.step.inputs)
            for slot in read:
                if slot in fusion.views:
                    last[fusion.views[slot].root] = index
            made = unit.made if isinstance(unit, Nest) else [] if isinstance(unit, Host) else [unit]
            last.update({view.root: index for one in made for view in one.reads})
        fresh = set(self.fresh)
        lifetimes = [
            Lifetime(
                root,
                size_of(fusion.shapes[root]) * np.dtype(fusion.dtypes[root]).itemsize,
                index,
                max(last.get(root, index), index),
            )
            for root, index in self.produced.items()
            if root not in fresh
        ]
        lifetimes += [
            Lifetime(key, size, key[0], self.table.until.get(key, key[0])) for key, size in self.table.shared.items()
        ]
        offsets, size = place(lifetimes)
        self.scratch_start = -(-size // ALIGNMENT) * ALIGNMENT
        self.scratch_size = -(-self.own.scratch // ALIGNMENT) * ALIGNMENT
        self.inner = [(self.table.at(key), offset) for key, offset in offsets.items()]
        self.inner_roots = {key: offset for key, offset in offsets.items() if type(key) is int}

    # Running

    def station(self, partners: Mapping[int, int]) -> Station | None:
        """A frame for a caller who does the rest; None where some of the rest isn't as simple as that.

        `partners` are leaves by the results that would best take their memory.
        """
        if not self.alone or len(self.calls) != 1 or self.signed_zeros:
            return None
        if self.whole is None or len(set(self.whole)) < len(self.whole):
            return None
        station = Station(self, self.whole, partners)
        return station if station.frame.block_size <= MOST_SPARE else None

    def whole_results(self) -> list[int] | None:
        """The arrays that are the results as they come; None where a result is a view of one, or is made by no native
        code."""
        fusion = self.fusion
        roots = []
        for slot in fusion.results:
            if slot in fusion.objects:
                return None
            view = fusion.views[slot]
            root = view.root
            if root not in self.produced or view != View(root, 0, fusion.shapes[root], contiguous(fusion.shapes[root])):
                return None
            roots.append(root)
        return roots

    def run(self, leaves: list[Any], numbers: list[Any], masked: bool, donated: Collection[int] = ()) -> list[Any]:
        """The values of the outputs. The memory of the leaves at `donated` may become that of outputs: nobody may read
        those arrays afterwards, and no two leaves may share it."""
        threads = pool.prepare() if self.launches else 1
        try:
            frame = self.frames.pop()
            if frame.threads != threads:
                frame = Frame(self, threads)
        except IndexError:
            frame = Frame(self, threads)
        pointers, env = frame.pointers, frame.env
        for k, at in self.leaf_places:
            x = leaves[k]
            flags = x.flags
            if not flags.c_contiguous or not flags.aligned:
                x = x.copy()
            env[k] = x
            if at >= 0:
                pointers[at] = address(x)
        if numbers != frame.numbers or 0 in numbers or self.signed_zeros:  # others need no writing; 0 equals -0
            for block, members in frame.number_blocks:
                block[:] = [numbers[k] for k in members]
            frame.numbers = numbers
        free, empty = set(donated), np.empty
        for root, shape, dtype, nbytes, at, places in self.fresh_makers:
            x = None
            if free:
                for leaf in places:
                    if leaf in free and env[leaf] is leaves[leaf] and is_lendable(leaves[leaf]):
                        free.remove(leaf)
                        x = leaves[leaf]
                        break
            if x is None:
                x = empty(shape, dtype) if nbytes < LEASED_FROM else new_array(shape, dtype, nbytes)
            env[root] = x
            pointers[at] = address(x)
        lent: Array | None = None
        if frame.block_size:
            lent = take(frame.block_size)
            if lent is not frame.block:
                frame.use(lent, self)
        try:
            for function, step in self.calls:
                if function is not None:
                    function(frame.argument)
                    if frame.status.value or frame.failure[0]:
                        self.fail(frame)
                elif step is not None:
                    self.run_host(step, leaves, frame)
            if self.whole is not None:
                results = [env[root] for root in self.whole]
            else:
                results = [self.array(slot, leaves, frame) for slot in self.fusion.results]
        finally:
            frame.env = {}
            frame.block = None
            if lent is not None:
                give_back(lent)
        if len(self.frames) < MAX_FRAMES:  # not after an interrupt, which may have come before a failure was dealt with
            self.frames.append(frame)
        return results

    def fail(self, frame: Frame) -> None:
        """Raise what a segment has noted."""
        if frame.status.value:
            if frame.status.value == 1:  # dnnl_out_of_memory
                raise MemoryError("oneDNN has no memory left")
            raise RuntimeError(f"oneDNN failed with status {frame.status.value}")
        check, index = frame.failure
        frame.failure[0] = 0
        axis, n = self.table.checks[check - 1]
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")

    def run_host(self, step: Step, leaves: list[Any], frame: Frame) -> None:
        env = frame.env
        result = step.masked(*[self.array(i, leaves, frame) for i in step.inputs])
        slot = step.output
        if step.op.view:  # what it shares memory with may be written over before it is read
            result = tuple([np.array(x) for x in result]) if type(result) is tuple else np.array(result)
        if slot in self.fusion.objects:
            env[slot] = result
            return
        array = np.asarray(result, self.fusion.dtypes[slot])
        if not array.flags.c_contiguous:
            array = array.copy()
        env[slot] = array
        at = self.table.positions.get(slot)
        if at is not None:
            frame.pointers[at] = address(array)

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
                shape, dtype = self.fusion.shapes[root], np.dtype(self.fusion.dtypes[root])
                found = np.ndarray(shape, dtype, frame.block, self.inner_roots[root])
            frame.env[root] = found
        return found


class Station:
    """A frame with memory of its own for a caller that names the arrays itself, in every call, under `lock`.

    leaf, result  a line of Python that names the array of a leaf or result; empty for a leaf that isn't read
    names         what these lines refer to
    shares        for each result, whether it may take its partner's memory
    function      runs the program, given `arguments`; afterwards `failure[0]` or `status.value` isn't 0 if an index was out
                  of bounds or a library failed
    """

    def __init__(self, program: Native, roots: list[int], partners: Mapping[int, int]) -> None:
        self.launches = bool(program.launches)
        self.threads = pool.prepare() if self.launches else 1
        self.frame = frame = Frame(program, self.threads)
        self.block = Pages(whole_pages(max(frame.block_size, 1))).array
        if frame.block_size:
            frame.use(self.block, program)
        self.lock = threading.Lock()
        self.count = len(program.plan.leaf_types)
        self.places = dict(program.entries())
        # the addresses of array objects, or else of their data
        self.objects = array("Q", [0] * (self.count + len(roots)))
        self.pointers = frame.pointers
        self.names = {"objects": self.objects, "pointers": self.pointers, "address": address}
        self.shares = [partners.get(k) in program.shares.get(root, ()) for k, root in enumerate(roots)]
        self.blocks = frame.number_blocks
        ((function, _),) = program.calls
        assert function is not None
        self.arguments: tuple[int, ...] = (frame.argument,)
        if DATA_FIELD is not None:
            prototype = ctypes.CFUNCTYPE if program.long else ctypes.PYFUNCTYPE
            function = prototype(None, ctypes.c_void_p, ctypes.c_void_p)(program.library.address("entry"))
            self.arguments = (frame.argument, self.objects.buffer_info()[0])
        self.function, self.status, self.failure = function, frame.status, frame.failure

    def leaf(self, k: int, name: str) -> str:
        return self.line(k, name)

    def result(self, k: int, name: str) -> str:
        return self.line(self.count + k, name)

    def line(self, k: int, name: str) -> str:
        if k not in self.places:
            return ""
        return f"pointers[{self.places[k]}] = address({name})" if DATA_FIELD is None else f"objects[{k}] = id({name})"

    def hold(self, constants: Sequence[tuple[int, Any]]) -> None:
        """Name the arrays of leaves that are the same in every call."""
        self.constants = [np.ascontiguousarray(value) for _, value in constants]
        for (k, _), value in zip(constants, self.constants, strict=True):
            if DATA_FIELD is not None:
                self.objects[k] = id(value)
            elif k in self.places:
                self.pointers[self.places[k]] = address(value)

    @property
    def is_outdated(self) -> bool:
        """Whether the number of threads is another one now, so that another station is needed."""
        return self.launches and pool.prepare() != self.threads

    def forget_failure(self) -> None:
        """Get ready for the next run after one that failed. `Native.run`, with the same leaves, says what was wrong."""
        self.failure[0] = self.status.value = 0


class Frame:
    """What one run at a time may use: the table of pointers, the block for inner arrays, the free numbers."""

    def __init__(self, program: Native, threads: int) -> None:
        plan, positions = program.plan, program.table.positions
        self.pointers = (ctypes.c_void_p * len(program.pointers))(*program.pointers)
        self.argument = ctypes.addressof(self.pointers)
        self.status = ctypes.c_int(0)
        if ("onednn", "status") in positions:
            self.pointers[positions["onednn", "status"]] = ctypes.addressof(self.status)
        self.failure = (ctypes.c_int64 * 2)(
            0, 0
        )  # the number of the check of an index that failed, from 1, and the index
        if FAILURE in positions:
            self.pointers[positions[FAILURE]] = ctypes.addressof(self.failure)
        self.threads = threads
        self.block_size = program.scratch_start + threads * program.scratch_size
        self.arguments: list[onednn.Arguments] = []
        self.owns: list[Any] = []  # the table of each thread
        for _ in range(threads):
            addresses: list[int | None] = [None]
            for primitive in program.own.calls:
                call = onednn.Arguments(primitive)
                self.arguments.append(call)
                addresses += [call.address, *[memory.value for memory in call.memories]]
            self.owns.append((ctypes.c_void_p * len(addresses))(*addresses))
        self.tables = (ctypes.c_void_p * threads)(*[ctypes.addressof(own) for own in self.owns])
        self.pointers[0] = ctypes.addressof(self.tables)
        if ("pool", "limit") in positions:
            self.pointers[positions["pool", "limit"]] = threads
        self.block: Array | None = None
        self.base = 0
        self.number_blocks: list[tuple[Array, list[int]]] = []
        self.number_arrays: dict[int, Array] = {}
        self.env: dict[int, Any] = {}
        self.numbers: list[Any] = []
        base = len(plan.leaf_types)
        by_dtype: dict[Any, list[int]] = {}
        for k, t in enumerate(plan.number_types):
            by_dtype.setdefault(t.dtype.dtype, []).append(k)
        for dtype, members in by_dtype.items():
            block = np.zeros(len(members), dtype)
            self.number_blocks.append((block, members))
            for position, k in enumerate(members):
                self.number_arrays[base + k] = block[position : position + 1].reshape(())
                if base + k in positions:
                    self.pointers[positions[base + k]] = block.ctypes.data + position * block.itemsize

    def use(self, block: Array, program: Native) -> None:
        """Lay the inner arrays into a block."""
        self.block = block
        base = address(block)
        if base != self.base:
            self.base = base
            for k, own in enumerate(self.owns):
                own[0] = base + program.scratch_start + k * program.scratch_size
            for at, offset in program.inner:
                self.pointers[at] = base + offset
