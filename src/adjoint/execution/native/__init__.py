"""Native execution: a plan as a list of calls of machine code, with NumPy steps where an operation has none.

`program` runs the calls in place of the interpreter, `frames` has what one run at a time may use, `stepping` and `sweeps` run a
program for one step of a loop after the other, `inner` has loops and choices within other programs, and `report` reads a
program unit by unit.
"""

from adjoint.execution.native.inner import choice_part_of, loop_part_of
from adjoint.execution.native.kindred import executable_of_kin
from adjoint.execution.native.program import missing
from adjoint.execution.native.relatives import compile_plan
from adjoint.execution.native.stepping import stepper_of
from adjoint.execution.native.sweeps import pieces_of, sweep
from adjoint.machine.scalars import SmallStep, loop_of
from adjoint.machine.scans import part_of

__all__ = [
    "SmallStep", "choice_part_of", "compile_plan", "executable_of_kin", "loop_of", "loop_part_of", "missing", "part_of",
    "pieces_of", "stepper_of", "sweep",
]  # fmt: skip
