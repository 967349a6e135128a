"""Native execution: a plan as one function of machine code, with NumPy steps where an operation has no lowering.

`fuse` groups a plan's steps into loop nests, matrix products and host steps; `emit` writes the loop nests as LLVM IR over
explicit vectors, with `lowering` and `vector_math` for the operations; `memory` places what lives between the units;
`compiler` makes machine code of it, and `program` runs it in place of the interpreter.
"""

from adjoint.execution.native.program import compile_plan, missing
from adjoint.execution.native.scalars import loop_of
from adjoint.execution.native.stepping import stepper_of
from adjoint.execution.native.sweeps import pieces_of, sweep

__all__ = ["compile_plan", "loop_of", "missing", "pieces_of", "stepper_of", "sweep"]
