"""Native execution: a plan as a list of calls of machine code, with NumPy steps where an operation has none.

`pipeline` is the list of stages: `fuse` groups a plan's steps into loop nests, matrix products, windows, moves and host steps;
`units` has them written as `loops`, by `emit` (nests, with formulas from `lowering` and `vector_math`), `tiled`, `windows` and
`moves`; `loop_llvm` renders these for LLVM, `compiler` makes machine code, `linking` finds it again by what it depends on, and
`program` runs the calls in place of the interpreter. `docs/compiler.md` has each stage as printed.
"""

from adjoint.execution.native.program import compile_plan, missing
from adjoint.execution.native.scalars import loop_of
from adjoint.execution.native.stepping import stepper_of
from adjoint.execution.native.sweeps import pieces_of, sweep

__all__ = ["compile_plan", "loop_of", "missing", "pieces_of", "stepper_of", "sweep"]
