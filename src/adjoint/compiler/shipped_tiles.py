"""Kernels of matrix products and convolutions that come with the package as machine code, for any x86-64 with AVX2.

Nearly every network calls some of these, and LLVM takes a fifth of its time over them. `make native` makes `tiles.avx2` of the
texts that would be compiled, so results are the same bits; what isn't in there, or is wanted for another processor or with
another tuning, is compiled.
"""

from __future__ import annotations

import functools

from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.matmul_tiles import Kernel
from adjoint.compiler.loops.winograd_tiles import kernel_name
from adjoint.compiler.targets.target import PROCESSORS, TUNING, Target
from adjoint.runtime import llvm, shipped
from adjoint.runtime.code import Code

__all__ = ["KERNELS", "find", "text"]

FILE = "tiles.avx2"
PROCESSOR = "avx2"  # what they are written for
KINDS = ("avx2", "zen2")  # of processors that would get the same texts
F32 = "float32"
# Of convolutions with steps of one, "strided" ones of two, and the gradient of these by the image, which is "spread"; and of the
# gradients by the weights.
FORWARD = [(part, form) for form in ("", "strided") for part in ("definition", "pixels", "results", "taps")]
FORWARD += [(part, "spread") for part in ("definition", "pixels", "results")]
OF_WEIGHTS = [(part, form) for form in ("", "strided") for part in ("cotangents", "weights_definition")]
# What networks call: tiles of the usual heights, and what packs for them. One more is 1 to 2 kB.
KERNELS = (
    *[Kernel(name, F32) for name in ("tiles", "turn", "turns", "gathers")],
    *[Kernel("gather", F32, rows) for rows in (4, 5, 6, 16)],
    *[Kernel("tile", F32, rows, 2, together=how) for rows in (4, 5, 6) for how in ("", "steps", "rows")],
    *[Kernel("tile", F32, rows, 2, masked=True, together="steps") for rows in (5, 6)],
    *[Kernel("tile", F32, 10, 1, masked=True, together=how) for how in ("", "steps")],
    *[Kernel(kernel_name(part, form), F32) for part, form in FORWARD + OF_WEIGHTS],
    *[Kernel(kernel_name("taps", form), F32, together="turned") for form in ("", "spread")],
)
_KNOWN = frozenset(KERNELS)


def find(kernel: Kernel, target: Target) -> Code | None:
    """A kernel's code; None where it isn't there for this processor."""
    if kernel not in _KNOWN or target.name not in KINDS or target.tuning != TUNING[target.name] or not _fits():
        return None
    held = shipped.held(FILE)
    return None if held is None else Code(held, str(kernel), ("tile",), None)


def text() -> str:
    """The text of all of them as one module, for the processor that is written for."""
    sources = {str(kernel): matmul_tiles.source(kernel) for kernel in KERNELS}
    declarations = sorted(frozenset().union(*[source.declarations for source in sources.values()]))
    functions = [source.text.replace("@$", f"@{name}.") for name, source in sources.items()]
    return "\n".join([*declarations, *functions, llvm.attributes(llvm.vector_bits())])


def _fits() -> bool:
    """Whether the processor has all that the code asks for."""
    facts = llvm.facts()
    return facts is not None and not llvm.is_other() and _has(facts.features)


@functools.lru_cache(4)
def _has(features: str) -> bool:
    return set(PROCESSORS[PROCESSOR][1].split(",")) <= set(features.split(","))
