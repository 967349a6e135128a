"""A native program's units run by the loop interpreter, in the program's order and over memory of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.compiler.excerpts import key_of
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Nest
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.tables import FAILURE, FirstCheck, Function, Shared, Start
from adjoint.compiler.units import Written, write_unit
from loop_interpreter import Pointer, Run


class NotLoops(Exception):
    """A unit that a library computes."""


class Oracle:
    """The memory of one run. `failure` is where a check of an index notes what is wrong."""

    def __init__(self, fusion: Fusion, leaves: list[Any], numbers: list[Any]) -> None:
        self.fusion = fusion
        self.memory: dict[int, Any] = {}
        self.objects: dict[int, Any] = {}
        self.failure = np.zeros(16, np.uint8)
        plan = fusion.plan
        values = dict(enumerate(leaves)) | plan.constants
        for k, (x, t) in enumerate(zip(numbers, plan.number_types, strict=True), len(leaves)):
            values[k] = np.array(x, t.dtype.dtype)
        for slot, value in values.items():
            if slot in fusion.objects:
                self.objects[slot] = value
            else:
                self.memory[slot] = np.ascontiguousarray(value).reshape(-1).view(np.uint8).copy()

    def bytes_of(self, root: int) -> Any:
        found = self.memory.get(root)
        if found is None:
            size = int(np.prod(self.fusion.shapes[root], dtype=np.int64)) * np.dtype(self.fusion.dtypes[root]).itemsize
            found = self.memory[root] = np.full(size, 0xAB, np.uint8)  # what isn't written must not be read
        return found

    def run(self) -> list[Any]:
        for unit in self.fusion.units:
            if isinstance(unit, Host):
                self.host(unit)
            elif not isinstance(unit, Nest) or unit.stored:
                key, starts = key_of(self.fusion, unit)
                self.unit(write_unit(key), starts)
        return [self.value(slot) for slot in self.fusion.results]

    def host(self, unit: Host) -> None:
        step = unit.step
        result = step.masked(*[self.value(i) for i in step.inputs])
        if step.output in self.fusion.objects:
            self.objects[step.output] = result
        else:
            made = np.ascontiguousarray(np.asarray(result, self.fusion.dtypes[step.output]))
            self.memory[step.output] = made.reshape(-1).view(np.uint8).copy()

    def value(self, slot: int) -> Any:
        if slot in self.fusion.objects:
            return self.objects[slot]
        view = self.fusion.views[slot]
        array = self.bytes_of(view.root).view(self.fusion.dtypes[view.root])
        size = array.itemsize
        strides = tuple([s * size for s in view.strides])
        return np.lib.stride_tricks.as_strided(array[view.offset :], view.shape, strides).copy()

    def unit(self, written: Written, starts: list[Start]) -> None:
        functions = {function.name: function for function in written.functions}
        shared: dict[str, Any] = {}
        arguments: dict[int, Any] = {}
        given = written.arguments
        arguments.update(enumerate(given.block()))
        for position, key in given.places():
            if isinstance(key, Start):
                root, offset = starts[key.root]
                size = np.dtype(self.fusion.dtypes[root]).itemsize
                arguments[position] = Pointer(self.bytes_of(root), offset * size)
            elif isinstance(key, Shared):
                space = shared.setdefault(key.purpose, np.zeros(given.shared[key.purpose], np.uint8))
                arguments[position] = Pointer(space, 0)
            elif isinstance(key, FirstCheck):
                arguments[position] = 0
            elif isinstance(key, Function) and key.library == "tiles":
                arguments[position] = matmul_tiles.written(key.name)
            elif isinstance(key, Function) and key.library == "C":
                arguments[position] = key.name
            else:
                raise NotLoops(str(key))
        run = Run(functions, arguments)
        block = Pointer(np.array(given.block(), np.int64).view(np.uint8), 0)
        table = {FAILURE: Pointer(self.failure, 0)}
        own = [Pointer(np.full(given.scratch, 0xCD, np.uint8), 0)]
        for one in written.first:
            for chunk in reversed(range(one.chunks)):
                run.call(functions[one.name], [table, chunk, chunk + 1, own, block])
        for chunk in reversed(range(written.chunks)):  # in any order
            run.call(functions["unit"], [table, chunk, chunk + 1, own, block])
        for name in written.last:
            run.call(functions[name], [table, 0, 1, own, block])
