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
from adjoint.compiler.fuse.kinds import Host, Nest
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
    for name in ("units", *WRITTEN) if seen is None else ("units",):
        see(name, state)
    fusion: Fusion = state
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
            sys.stderr.write(f"{self.titled(name, _text(name, state))}\n")

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
    states: dict[str, Any] = {}
    made = lowered(plan, lambda name, state: states.update({name: state}))
    if stage not in states and isinstance(made, str):
        return f"no native code: {made}"
    return _text(stage, states.get(stage, made))


def _text(stage: str, state: Any) -> str:
    """What a stage gave, and what is written of its units."""
    return Listing(state).text(stage) if isinstance(state, Fusion) and stage in ("units", *WRITTEN) else str(state)


def in_order(texts: Iterable[tuple[str, str]]) -> str:
    """The texts of stages, with their names, as one."""
    printer = Printer()
    return "\n".join([printer.titled(name, text) for name, text in texts])


class Listing:
    """The code of a plan's units, to be read. `units` are those that are read: all but nests that store nothing."""

    def __init__(self, fusion: Fusion) -> None:
        self.units = [unit for unit in fusion.units if not isinstance(unit, Nest) or unit.stored]
        self.labels = Labels(fusion.plan)
        self.keys: dict[int, Key] = {}
        self.starts: dict[int, list[Start]] = {}
        for index, unit in enumerate(self.units):
            if not isinstance(unit, Host):
                self.keys[index], self.starts[index] = key_of(fusion, unit)

    def text(self, stage: str) -> str:
        """All units at a stage: units, loops, llvm or assembly."""
        return "\n\n".join([self.of(index, stage) for index in range(len(self.units))])

    def of(self, index: int, stage: str) -> str:
        """A unit at a stage, each kind of code once."""
        key, lines = self.keys.get(index), self.units[index].lines(self.labels)
        head, *rest = [f"{index + 1:3}  {lines[0]}", *[f"     {line}" for line in lines[1:]]]
        how = None if key is None else schedule_of(key)
        schedule = [] if how is None else [f"       schedule: {how}"]
        if key is None or stage == "units":
            return "\n".join([head, *rest, *schedule])
        same = next(k for k, other in self.keys.items() if other == key)
        if same < index:
            return f"{head}\n     the same code as unit {same + 1}"
        code = code_text(key, self.starts[index], self.labels, stage).splitlines()
        above = schedule if stage == "loops" else []
        return "\n".join([head, *above, *[f"     {line}" if line else "" for line in code]])
