"""Host steps for a caller that does the rest of a run itself: what a program does up to its last host step, prepared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host
from adjoint.runtime.memory import compact

if TYPE_CHECKING:
    from adjoint.execution.native.frames import Frame
    from adjoint.execution.native.program import Native

__all__ = ["Hosts", "made_by_hosts"]

Array = np.ndarray[Any, Any]


def made_by_hosts(fusion: Fusion) -> set[int]:
    """The results that are arrays of host steps, or views of them."""
    made = {unit.step.output for unit in fusion.units if isinstance(unit, Host)}
    return {slot for slot in fusion.results if _root(fusion, slot) in made}


def _root(fusion: Fusion, slot: int) -> int:
    return slot if slot in fusion.objects else fusion.views[slot].root


class Hosts:
    """A program up to its last host step, in a frame that keeps its memory.

    leaves, fresh  the positions of leaves and of fresh results whose arrays `run` takes, in this order
    made           for each result, its position among those that `run` gives; None for one that native code makes
    """

    def __init__(self, program: Native, frame: Frame) -> None:
        self.program, self.frame = program, frame
        fusion, plan = program.fusion, program.plan
        last = max(k for k, (_, step) in enumerate(program.calls) if step is not None)
        self.calls = [(*call, record) for call, record in zip(program.calls, frame.records, strict=True)][: last + 1]
        inputs = dict.fromkeys(slot for _, step, _ in self.calls if step is not None for slot in step.inputs)
        roots = {slot: _root(fusion, slot) for slot in inputs}
        count, places = len(plan.leaf_types), {root: k for k, root in enumerate(program.fresh)}
        read = dict.fromkeys(roots.values())
        self.leaves = [root for root in read if root < count]
        self.fresh = [places[root] for root in read if root in places]
        kept = program.inner_roots.keys() | plan.constants.keys()
        self.lasting = {slot: program.array(slot, [], frame) for slot, root in roots.items() if root in kept}
        frame.env = {}
        own = made_by_hosts(fusion)
        self.results = [slot for slot in fusion.results if slot in own]
        self.made = [self.results.index(slot) if slot in own else None for slot in fusion.results]

    @property
    def taken(self) -> list[int]:
        """The slots of the arrays that `run` takes."""
        return [*self.leaves, *[self.program.fresh[k] for k in self.fresh]]

    def hold(self, constants: Mapping[int, Any]) -> None:
        """Take the arrays of leaves that are the same in every call."""
        self.lasting |= {k: constants[k] for k in self.leaves if k in constants}
        self.leaves = [k for k in self.leaves if k not in constants]

    def run(self, arrays: Sequence[Array]) -> list[Any] | None:
        """The results that host steps make, and behind them what must stay for what comes next. None where native code failed
        before any host step has run; raises what a host step raises, and what native code notes after one."""
        program, frame, env = self.program, self.frame, dict(self.lasting)
        taken = self.taken
        env.update(zip(taken, arrays, strict=True))
        frame.env = env
        quiet = True
        try:
            for function, step, record in self.calls:
                if step is not None:
                    program.run_host(step, [], frame)
                    quiet = False
                elif function is not None:
                    function(record)
                    if frame.status.value or frame.failure[0]:
                        if quiet:
                            return None
                        program.fail(frame)
            results = [compact(program.array(slot, [], frame)) for slot in self.results]
            for slot in taken:
                env.pop(slot, None)
            return [*results, env]
        finally:
            frame.env = {}
