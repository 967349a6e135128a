"""Interrupts at every bytecode: a signal that comes at the k-th instruction of adjoint's own code, for every k.

`Interrupter` traces the instructions that an action runs inside the package (and in `contextlib`, for it), and sends the
process SIGINT before the k-th. So what is put off by taking the signal's handler away is put off here too.

CPython runs handlers of signals only after a call of C code, where a function starts, and at jumps backwards. With
`possible` only those instructions count: there nothing at all may be left behind. At all others results must be right
all the same.
"""

from __future__ import annotations

import contextlib
import dis
import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from types import CodeType, FrameType
from typing import Any

import adjoint as ad

WHERE = (*ad.__path__, contextlib.__file__, "<adjoint")
# Where most of a compilation's instructions are, and what there of runs.
WRITING_CODE = tuple(
    os.path.join(ad.__path__[0], *part.split("/")) + os.sep
    for part in ("compiler", "machine", "runtime", "execution/native")
)
RUNNING_CODE = (
    "program.py",
    "tape.py",
    "machine.py",
    "stepping.py",
    "pool.py",
    "interrupts.py",
    "blas.py",
    "memory.py",
)
CALLS = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX"})


class Interrupter:
    """Runs an action with an interrupt before the instruction number `at`, counted from 0.

    came    whether there were so many
    raised  whether the interrupt came out of the action
    place   where it came
    """

    def __init__(self, at: int, possible: bool) -> None:
        self.at = at
        self.possible = possible
        self.count = 0
        self.came = self.raised = False
        self.place = ""
        # Where each frame was last, after how many instructions, and the names of its operations.
        self.before: dict[FrameType, tuple[int, str, int, dict[int, str]]] = {}
        self.events = 0

    def __call__(self, action: Callable[[], Any]) -> None:
        before = sys.gettrace()
        try:
            sys.settrace(self.enter)
            action()
        except KeyboardInterrupt:
            self.raised = True
        finally:
            sys.settrace(before)
            self.before.clear()

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(WHERE) or (name.startswith(WRITING_CODE) and not name.endswith(RUNNING_CODE)):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self.instruction

    def instruction(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event != "opcode":
            return self.instruction
        self.events += 1
        if self.possible and not self.handlers_run(frame):
            return self.instruction
        self.count += 1
        if self.count == self.at + 1:
            self.came = True
            self.place = f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}, byte {frame.f_lasti}"
            signal.raise_signal(signal.SIGINT)
        return self.instruction

    def handlers_run(self, frame: FrameType) -> bool:
        """Whether CPython looks for signals right before this instruction."""
        at = frame.f_lasti
        last = self.before.get(frame)
        if last is None:  # to look them up by the code hashes all of it: once for each frame
            names = operations(frame.f_code)
            self.before[frame] = at, names[at], self.events, names
            return True
        offset, name, events, names = last
        self.before[frame] = at, names[at], self.events, names
        return at <= offset or name == "RESUME" or (name in CALLS and events == self.events - 1)


@cache
def operations(code: CodeType) -> dict[int, str]:
    """The name of the operation at each offset."""
    return {x.offset: x.opname for x in dis.get_instructions(code)}
