"""Products of complex matrices: OpenBLAS's, of one pair after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.compiler.loops.build_products import leading
from adjoint.compiler.tables import Function
from adjoint.primitives.lapack import LETTERS, ROW_MAJOR

if TYPE_CHECKING:
    from adjoint.compiler.loops.build_lapack import LapackWriter


def product(w: LapackWriter) -> None:
    """The product of the operands, each of which lies by rows or by columns."""
    (m, k), n = w.unit.reads[0].shape[-2:], w.right
    modes, steps = zip(*[leading(view) for view in w.unit.reads], strict=True)
    sizes = [w.narrow(w.number(x, role)) for role, x in (("m", m), ("n", n), ("k", k))]
    a, b = [("ptr", x) for x in w.operands]
    a_step, b_step = [("i32", w.narrow(w.number(x, "leading", role))) for role, x in enumerate(steps)]
    (_, one), zero = w.one(), w.reserve(16)
    with w.inputs.at_the_beginning():
        for part in range(2):
            w.e.note("i64", "0", w.e.at(zero, part, "i64"))
    function = w.inputs.pointer(Function("OpenBLAS", f"cblas_{LETTERS[w.dtype]}gemm"))
    w.e.call(function, (
        *[("i32", str(x)) for x in (ROW_MAJOR, *modes)], *[("i32", x) for x in sizes], ("ptr", one), a, a_step, b, b_step,
        ("ptr", zero), ("ptr", w.result()), ("i32", sizes[1]),
    ))  # fmt: skip
