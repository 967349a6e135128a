"""torch.utils.checkpoint: compute again in the reverse pass what need not be kept."""

from __future__ import annotations

from typing import Any

from adjoint.transforms.checkpoint import checkpoint as core_checkpoint

from .._names import refuse
from .._tensor import as_torch

__all__ = ["checkpoint", "checkpoint_sequential"]


def checkpoint(
    function: Any, *args: Any, use_reentrant: Any = None, preserve_rng_state: bool = True, context_fn: Any = None,
    determinism_check: str = "default", debug: bool = False, early_stop: bool = True, **keywords: Any,
) -> Any:  # fmt: skip
    """A function's value; what it computes on the way is computed again when derivatives need it, with the same random numbers.

    How that is done is the engine's: `use_reentrant`, `determinism_check` and `early_stop` change nothing.
    """
    refuse("checkpoint", "context_fn", context_fn)
    refuse("checkpoint", "debug", debug, False)

    def called(*values: Any) -> Any:
        return function(*as_torch(values), **keywords)

    return as_torch(core_checkpoint(called)(*args))


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: Any = None, *, preserve_rng_state: bool = True
) -> Any:
    """Modules one after the other, in so many checkpoints."""
    steps = list(functions)
    size = -(-len(steps) // segments)
    for start in range(0, len(steps), size):
        part = steps[start : start + size]

        def run(x: Any, part: Any = part) -> Any:
            for f in part:
                x = f(x)
            return x

        input = checkpoint(run, input)
    return input
