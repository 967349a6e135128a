"""The stages of the compiler, in the order in which they run: read this list like a table of contents.

A plan's steps are simplified and fused into units, and the units moved beside each other. Each unit for which no kernel is
known is then written as loops (`units`, from its key alone), of which LLVM makes machine code. Whoever reports on a program
goes through the same list. `ADJOINT_SHOW` prints stages as they run, by their names: `ADJOINT_SHOW=simplify,units`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import Key, key_of
from adjoint.compiler.fuse.channels_last import channels_last
from adjoint.compiler.fuse.epilogues import join
from adjoint.compiler.fuse.fuse import fused
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Nest
from adjoint.compiler.fuse.pieces import in_place
from adjoint.compiler.fuse.rematerialize import recompute
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.text import functions_text
from adjoint.compiler.tables import Start
from adjoint.compiler.units import write_unit
from adjoint.plan.plan import Plan
from adjoint.plan.restrict import restricted
from adjoint.plan.simplify import simplified
from adjoint.plan.text import Labels
from adjoint.plan.together import together
from adjoint.runtime import code, llvm

# Lines of assembly that say nothing about what is computed.
DIRECTIVES = tuple(
    [f"\t.{name}" for name in ("text", "file", "globl", "p2align", "type", "size", "cfi", "section", "ident")]
)


class Stage(NamedTuple):
    """One stage: its name, what it does, and the function of what the stage before it gave."""

    name: str
    about: str
    run: Callable[[Any], Any]


STAGES = (
    Stage("together", "products over the steps of a recorded loop become one", together),
    Stage("simplify", "small exact rules on steps", simplified),
    Stage("restrict", "of each array the part that is read", restricted),
    Stage("channels_last", "images with their channels last, from one convolution to the next", channels_last),
    Stage("fuse", "steps become loop nests, products, windows, moves and host steps", fused),
    Stage("rematerialize", "cheap values are made again where they are read", recompute),
    Stage("tiles", "products join the loops beside them, tile by tile", join),
    Stage("pieces", "parts of an array are stored where they belong", in_place),
)
# What is printed of each unit once it is written: of these, `linking` and `compiler` make the texts.
WRITTEN = ("loops", "llvm", "assembly")
NAMES = ("plan", *[stage.name for stage in STAGES], "units", *WRITTEN)

Seen = Callable[[str, Any], None]  # told the name of a stage, and what it gave


def lowered(plan: Plan, seen: Seen | None = None) -> Fusion | str:
    """The plan as units, through all stages; or why nothing of it can be native."""
    if not plan.steps:
        return "nothing is computed"
    for t in plan.types:
        if type(t) is not tuple and t.size == 0:
            return "an array without elements is among its steps"
    see = seen or print_stage
    state: Any = plan
    see("plan", state)
    for stage in STAGES:
        state = stage.run(state)
        see(stage.name, state)
        if isinstance(state, Fusion) and all(isinstance(unit, Host) for unit in state.units):
            return "none of its operations has native code for these dtypes"
    see("units", state)
    fusion: Fusion = state
    if seen is None and "ADJOINT_SHOW" in os.environ:
        _show_code(fusion)
    return fusion


def patient(fusion: Fusion) -> Fusion:
    """The units of a plan whose loops that might not end are host steps."""
    names = [stage.name for stage in STAGES]
    state: Any = fused(fusion.plan, patient=True)
    for stage in STAGES[names.index("fuse") + 1 :]:
        state = stage.run(state)
    found: Fusion = state
    return found


def code_text(key: Key, starts: Sequence[Start], labels: Labels, stage: str) -> str:
    """The code of all units with a key: its loops with the arrays of the unit that has these starts, LLVM's text or machine
    code."""
    written = write_unit(key)
    if stage != "loops":
        return source_text(written.source, stage)

    def name(number: int) -> str:
        root, offset = starts[number]
        return f"({labels.name(root)} + {offset})" if offset else labels.name(root)

    tiles = dict.fromkeys([f.name for f in written.arguments.functions if f.library == "tiles"])
    functions = [*written.functions, *[matmul_tiles.written(tile)._replace(name=str(tile)) for tile in tiles]]
    return functions_text(functions, written.arguments, name)


def source_text(source: code.Source, stage: str) -> str:
    """LLVM's text of a source, or the machine code that becomes of it."""
    if stage == "llvm":
        return source.text
    ending = llvm.attributes(llvm.vector_bits())
    text = llvm.assembly("\n".join([*sorted(source.declarations), source.text, ending]))
    return "\n".join([line.expandtabs(8) for line in text.splitlines() if not line.startswith(DIRECTIVES)])


def shown() -> frozenset[str]:
    """The stages that `ADJOINT_SHOW` names. Raises ValueError where it names none that exists."""
    names = frozenset(filter(None, os.environ.get("ADJOINT_SHOW", "").replace(" ", "").split(",")))
    if not names <= set(NAMES):
        raise ValueError(
            f"ADJOINT_SHOW names stages of {', '.join(NAMES)}; got {', '.join(sorted(names - set(NAMES)))}"
        )
    return names


def print_stage(name: str, state: Any) -> None:
    """Print what a stage gave, if `ADJOINT_SHOW` names it."""
    if "ADJOINT_SHOW" in os.environ and name in shown():
        show(name, str(state))


def _show_code(fusion: Fusion) -> None:
    """Print the code of the units, each kind once."""
    labels, wanted = Labels(fusion.plan), [name for name in WRITTEN if name in shown()]
    heads: dict[Key, tuple[list[Start], str]] = {}
    for number, unit in enumerate(fusion.units if wanted else (), 1):
        if not isinstance(unit, Host) and not (isinstance(unit, Nest) and not unit.stored):
            key, starts = key_of(fusion, unit)
            heads.setdefault(key, (starts, f"{number:3}  {unit.lines(labels)[0]}"))
    for name in wanted:
        texts = [f"{head}\n{code_text(key, starts, labels, name)}" for key, (starts, head) in heads.items()]
        show(name, "\n\n".join(texts))


def show(name: str, text: str) -> None:
    """Print a stage's text to the standard error stream, under its name."""
    sys.stderr.write(f"-- {name} {'-' * max(100 - len(name), 3)}\n{text.rstrip()}\n\n")
