"""The stages of the compiler, in the order in which they run: read this list like a table of contents.

A plan's steps are simplified and fused into units, and the units moved beside each other. Each unit for which no kernel is
known is then written as loops (`units`, from its key alone), of which LLVM makes machine code. Whoever reports on a program
goes through the same list. `ADJOINT_SHOW` prints stages as they run, by their names: `ADJOINT_SHOW=simplify,units`, or `all`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import Key, key_of
from adjoint.compiler.fuse.channels_last import channels_last
from adjoint.compiler.fuse.epilogues import join
from adjoint.compiler.fuse.fuse import fused
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Nest, Unit
from adjoint.compiler.fuse.pieces import in_place
from adjoint.compiler.fuse.rematerialize import recompute
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.text import functions_text
from adjoint.compiler.tables import Start
from adjoint.compiler.units import schedule_of, write_unit
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
ABOUT = {
    "plan": "the steps as recorded",
    **{stage.name: stage.about for stage in STAGES},
    "units": "what is compiled, and how it is scheduled",
    "loops": "each unit as statements over vectors",
    "llvm": "the same in LLVM's language",
    "assembly": "the processor's instructions",
}
NAMES = tuple(ABOUT)
ALL = "all"  # in place of names

Seen = Callable[[str, Any], None]  # told the name of a stage, and what it gave


def lowered(plan: Plan, seen: Seen | None = None) -> Fusion | str:
    """The plan as units, through all stages; or why nothing of it can be native."""
    if not plan.steps:
        return "nothing is computed"
    for t in plan.types:
        if type(t) is not tuple and t.size == 0:
            return "an array without elements is among its steps"
    see = seen or Printer().stage
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
    if ALL in names:
        return frozenset(NAMES)
    if not names <= set(NAMES):
        raise ValueError(
            f"ADJOINT_SHOW names stages of {', '.join(NAMES)}, or {ALL}; got {', '.join(sorted(names - set(NAMES)))}"
        )
    return names


class Printer:
    """Prints the stages of one program that `ADJOINT_SHOW` names, to the standard error stream, as they run."""

    def __init__(self) -> None:
        self.last = ("", "")  # the stage that was printed in full, and its text

    def stage(self, name: str, state: Any) -> None:
        """Print what a stage gave, if that is asked for."""
        if "ADJOINT_SHOW" in os.environ and name in shown():
            text = units_text(state) if name == "units" and isinstance(state, Fusion) else str(state)
            sys.stderr.write(f"{self.titled(name, text)}\n")

    def titled(self, name: str, text: str) -> str:
        """A stage's text under its name. Of one that changed nothing the text would be the one before."""
        text, (before, last) = text.rstrip(), self.last
        if text == last:
            text = f"as after {before}"
        else:
            self.last = (name, text)
        head = f"{name}: {ABOUT[name]}"
        return f"-- {head} {'-' * max(100 - len(head), 3)}\n{text}\n"


def as_text(plan: Plan, stage: str) -> str:
    """What a plan is at a stage, of which nothing is compiled."""
    texts: dict[str, str] = {}
    fusion = lowered(plan, lambda name, state: texts.update({name: str(state)}))
    if stage in texts and stage != "units":
        return texts[stage]
    if isinstance(fusion, str):
        return f"no native code: {fusion}"
    return units_text(fusion) if stage == "units" else _codes(fusion, [stage])[0]


def in_order(texts: Iterable[tuple[str, str]]) -> str:
    """The texts of stages, with their names, as one."""
    printer = Printer()
    return "\n".join([printer.titled(name, text) for name, text in texts])


def computing(fusion: Fusion) -> list[Unit]:
    """The units that are read: all but nests that store nothing."""
    return [unit for unit in fusion.units if not isinstance(unit, Nest) or unit.stored]


def units_text(fusion: Fusion) -> str:
    """The units, each with its schedule."""
    labels, texts = Labels(fusion.plan), []
    for number, unit in enumerate(computing(fusion), 1):
        key = None if isinstance(unit, Host) else key_of(fusion, unit)[0]
        texts.append("\n".join([*numbered(number, unit, labels), *scheduled(key)]))
    return "\n\n".join(texts)


def numbered(number: int, unit: Unit, labels: Labels) -> list[str]:
    """The lines of a unit, the first of which begins with its number."""
    first, *rest = unit.lines(labels)
    return [f"{number:3}  {first}", *[f"     {line}" for line in rest]]


def scheduled(key: Key | None) -> list[str]:
    """A line on how a unit of a key is scheduled, if it is a nest, product or window."""
    how = None if key is None else schedule_of(key)
    return [] if how is None else [f"       schedule: {how}"]


def _show_code(fusion: Fusion) -> None:
    """Print the code of the units, each kind once."""
    printer, wanted = Printer(), [name for name in WRITTEN if name in shown()]
    for name, text in zip(wanted, _codes(fusion, wanted), strict=True):
        printer.stage(name, text)


def _codes(fusion: Fusion, stages: Sequence[str]) -> list[str]:
    """The code of the units at these stages, each kind once."""
    labels, heads = Labels(fusion.plan), dict[Key, tuple[list[Start], list[str]]]()
    for number, unit in enumerate(computing(fusion) if stages else (), 1):
        if not isinstance(unit, Host):
            key, starts = key_of(fusion, unit)
            heads.setdefault(key, (starts, numbered(number, unit, labels)[:1]))
    found = []
    for stage in stages:
        texts = []
        for key, (starts, head) in heads.items():
            above = scheduled(key) if stage == "loops" else []
            lines = code_text(key, starts, labels, stage).splitlines()
            texts.append("\n".join([*head, *above, *[f"     {line}" if line else "" for line in lines]]))
        found.append("\n\n".join(texts))
    return found
