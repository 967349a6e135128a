"""From steps to units: loop nests that compute many steps at once, matrix products, and host steps that NumPy runs.

Movements cost nothing where they can be views of what lies in memory: a slot's `View` says where its elements are. Units, of the
kinds that `kinds` lists, run in order, and a step joins a unit only if everything it reads is computed by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.compiler.fuse import lines, scans
from adjoint.compiler.fuse.fusion import Fusion, Slots, readers_of
from adjoint.compiler.fuse.images import ChannelsLast
from adjoint.compiler.fuse.indices import stays
from adjoint.compiler.fuse.kinds import (
    Host,
    Line,
    Matrices,
    Move,
    Product,
    Scan,
    Unit,
    View,
    Window,
    broadcast,
    fills_regions,
    is_contiguous,
    is_movement,
    moved,
    repeats,
    stack_stride,
    transposed,
)
from adjoint.compiler.fuse.open_nest import OpenNest
from adjoint.compiler.fuse.padded import PADDED, Padded, read_in_place
from adjoint.compiler.fuse.transposes import is_matrix, turned_products
from adjoint.compiler.loops.build import BYTES, HALVES
from adjoint.compiler.loops.formulas import is_lowered, reduces
from adjoint.compiler.loops.matrix_formulas import FORMULAS, LOWERED, formula_name
from adjoint.compiler.loops.routines import ROUTINES, Routine
from adjoint.compiler.targets.llvm import PART
from adjoint.compiler.targets.target import tuning
from adjoint.graph import ArrayType, StandIn
from adjoint.plan.assemble import PIECES
from adjoint.plan.plan import Plan, Step, step_of
from adjoint.primitives.lapack import LETTERS
from adjoint.runtime import libraries
from adjoint.shapes import Shape, size_of
from adjoint.shapes import contiguous as contiguous

SMALL_PART = 1 << 14  # elements of a part of an array that is copied where it is a result


class Fusing(Slots):
    """A plan that becomes units, step by step. Slots of host steps may hold anything. If it is `patient`, loops that might not
    end are host steps."""

    def __init__(self, plan: Plan, patient: bool = False) -> None:
        self.plan = plan
        self.patient = patient
        self.tuning = tuning()
        self.most_steps, self.look_back = self.tuning.most_steps, self.tuning.look_back
        self.lowered: dict[Any, bool] = {}  # which operations of which dtypes have a formula, of those met
        self.strides: dict[ArrayType, Shape] = {}  # of arrays of a type, of those met
        self.placed: list[Unit | OpenNest] = []
        self.views: dict[int, View] = {}
        self.ready: dict[int, int] = {}  # the first unit that may read a slot from memory
        self.home: dict[int, int] = {}  # the nest that computes a slot
        self.rows: set[int] = set()  # slots of which a nest computes one value for each row
        self.copies: dict[int, int] = {}
        self.shapes: dict[int, Shape] = {}
        self.dtypes: dict[int, str] = {}
        self.objects: set[int] = set()  # slots that hold what native code can't read
        self.parts: dict[int, list[int]] = {}  # the slots of what steps give that give several arrays
        self.asked = {slot for _, _, slot, _ in plan.outputs}
        steps = plan.steps
        self.slots = len(plan.types)
        fixed = len(plan.leaf_types) + len(plan.number_types)
        for slot in [*range(fixed), *plan.constants]:
            t = plan.types[slot]
            if type(t) is tuple or t.dtype.name not in BYTES:
                self.objects.add(slot)
                continue
            single = len(plan.leaf_types) <= slot < fixed or (slot in plan.constants and plan.constants[slot].ndim == 0)
            self.root(slot, () if single else t.shape, t.dtype.name, 0)
        self.turned = turned_products(steps, self.asked)
        self.in_place = read_in_place(plan)
        self.padded: dict[int, Padded] = {}  # arrays in the midst of zeros that aren't written down
        for step in steps:
            self.place(step)

    def place(self, step: Step) -> None:
        op, attributes, _, _, inputs, out, t = step
        known, plain = self.dtypes, t.__class__ is ArrayType and not self.objects
        if plain and attributes is None and op.elementwise:  # by far the most
            dtype = t.dtype.name
            kind: tuple[Any, ...] = (op, dtype)
            for i in inputs:
                if known[i] != dtype:
                    kind = (op, dtype, *[known[i] for i in inputs])
                    break
            found = self.lowered.get(kind)
            if found is None:
                dtypes = [known[i] for i in inputs]
                found = self.lowered[kind] = dtype in BYTES and is_lowered(op.name, None, dtype, dtypes)
            if found:
                known[out], self.shapes[out] = dtype, t.shape
                self.elementwise(step)
                return
        elif plain and not self.in_place and t.dtype.name in BYTES and is_movement(step):
            known[out], self.shapes[out] = t.dtype.name, t.shape
            self.movement(step)
            return
        name = op.name
        if name in LOWERED and self.is_small(step):
            self.matrices(step, FORMULAS[formula_name(name, attributes)])
            return
        if name in ROUTINES and self.is_for_lapack(step):
            self.matrices(step, ROUTINES[name])
            return
        if type(t) is tuple:
            if scans.place(self, step) or scans.hand_on(self, step):
                return
            self.host(step, "" if op.view or op.graphs is not None else "it gives several arrays")
            return
        if name == "select_output" and step.inputs[0] in self.parts:
            part = self.parts[step.inputs[0]][step.attributes]
            self.views[step.output], self.ready[step.output] = self.views[part], self.ready[part]
            self.dtypes[step.output], self.shapes[step.output] = self.dtypes[part], self.shapes[part]
            return
        dtype = t.dtype.name
        if dtype not in BYTES or not self.objects.isdisjoint(inputs):
            self.host(
                step, "" if name == "select_output" else f"native code has no {dtype}, or can't read what it is made of"
            )
            return
        dtypes = [known[i] for i in inputs]
        known[out], self.shapes[out] = dtype, t.shape
        if self.in_place and self.pad(step):
            return
        if is_movement(step):
            self.movement(step)
        elif op.elementwise and is_lowered(name, attributes, dtype, dtypes):
            self.elementwise(step)
        elif (
            dtype in HALVES and not fills_regions(step) and not (name in ("gather", "scatter") and self.may_index(step))
        ):
            self.host(step, f"native code has no arithmetic of {dtype}")
        elif dtypes and step.attributes and reduces(name, dtype, dtypes[0]):
            self.reduction(step)
        elif isinstance(step.op, ChannelsLast):
            slots = [i if is_contiguous(self.views[i]) else self.copy(i) for i in inputs]
            self.window(step, tuple([self.views[i] for i in slots]), tuple([self.dtypes[i] for i in slots]))
        elif name == "matmul" and dtype in ("float32", "float64"):
            self.product(step)
        elif lines.place(self, step):
            return
        elif fills_regions(step) or self.may_index(step):
            self.move(step)
        else:
            self.host(step, f"{name} has no native code for {', '.join(dict.fromkeys([*dtypes, dtype]))}")

    def host(self, step: Step, reason: str) -> None:
        t = step.type
        self.placed.append(Host(step, reason))
        if type(t) is tuple or t.dtype.name not in BYTES:
            self.objects.add(step.output)
        else:
            self.root(step.output, t.shape, t.dtype.name, len(self.placed))

    def add(self, unit: Matrices | Scan | Move | Window | Line, outputs: Sequence[int] = ()) -> None:
        """Place a unit, which makes these slots, or that of its step."""
        self.placed.append(unit)
        types = unit.step.type if type(unit.step.type) is tuple else (unit.step.type,)
        for slot, t in zip(outputs or [unit.step.output], types, strict=True):
            self.root(slot, t.shape, t.dtype.name, len(self.placed))

    # Movements

    def movement(self, step: Step) -> None:
        slot, out = step.inputs[0], step.output
        if step.op.waits:  # what is computed anew for a checkpoint must not be computed early
            self.views[out] = self.views[slot]
            self.ready[out] = max([self.ready[i] for i in step.inputs])
            return
        nest = self.nest_of(slot)
        inside = False
        if nest is not None:
            name, level = step.op.name, nest.level[slot]
            if step.op.passes_on and level != "total":
                inside = True
            elif name == "reshape" and level == "row":
                inside = nest.row_shape(step.type.shape) or nest.bare_shape(step.type.shape)
            elif name == "broadcast_to" and level == "row" and nest.row_shape(self.shapes[slot]):
                inside = step.type.shape == nest.domain
        view = self.views[slot]
        changed = moved(view, step)
        if changed is None:
            source = self.copy(slot)
            changed = moved(self.views[source], step)
            if changed is None:
                raise AssertionError(f"{step.op.name} of a contiguous array is no view")
            self.views[out], self.ready[out] = changed, self.ready[source]
            return
        self.views[out] = changed
        self.ready[out] = self.ready[slot]
        if inside and nest is not None:
            # the nest computes it too, so that its steps needn't read it from memory: what is the same as its first input reads
            # no others, which may be of any shape
            nest.steps.append(step if len(step.inputs) == 1 else step._replace(inputs=step.inputs[:1]))
            level = nest.level[out] = "element" if step.op.name == "broadcast_to" else nest.level[slot]
            if level == "row":
                self.rows.add(out)
            self.home[out] = self.home[slot]

    def copy(self, slot: int) -> int:
        """A slot with a contiguous copy of another's elements."""
        view = self.views[slot]
        if is_contiguous(view) and view.offset == 0 and self.shapes[view.root] == view.shape:
            return slot
        found = self.copies.get(slot)
        if found is None:
            found = self.copies[slot] = self.new_slot()
            shape = view.shape
            t = self.plan.types[slot]
            index = self.home[found] = self.nest_for(shape, [slot])
            nest = self.nest_at(index)
            nest.steps.append(step_of(COPY, None, (slot,), found, t))
            nest.level[found] = "element"
            self.root(found, shape, self.dtypes[slot], index + 1)
        return found

    def pad(self, step: Step) -> bool:
        """Let what reads an array in the midst of zeros, or a part of it, read the array itself; whether this is such a step."""
        slot, out, shape = step.inputs[0] if step.inputs else -1, step.output, step.type.shape
        if step.op.name == "slice" and slot in self.padded:
            found = self.padded[slot].part(tuple([start for start, _, _ in step.attributes]))
        elif step.op.name == "embed" and out in self.in_place and not repeats(self.views[slot]):
            found = Padded(slot, tuple([start for start, _, _ in step.attributes[1]]))
        else:
            return False
        self.padded[out] = found
        if self.in_place.get(out, True):
            read, view = self.new_slot(), self.views[found.slot]
            self.views[read], self.ready[read] = found.view(view, shape), self.ready[found.slot]
            self.dtypes[read], self.shapes[read] = self.dtypes[out], shape
            limits = found.limits(view.shape, shape)
            self.elementwise(step_of(PADDED, limits, (read,), out, step.type))
        return True

    # Nests

    def nest_of(self, slot: int) -> OpenNest | None:
        index = self.home.get(slot)
        unit = None if index is None else self.placed[index]
        return unit if isinstance(unit, OpenNest) else None

    def nest_at(self, index: int) -> OpenNest:
        """The nest that is this unit."""
        unit = self.placed[index]
        assert isinstance(unit, OpenNest)
        return unit

    def readable(self, slot: int, nest: OpenNest, index: int, shape: Shape, level: str) -> bool:
        """Whether a step of this shape and level in a nest may read a slot, inside the nest or from memory."""
        if self.home.get(slot) == index and slot in nest.level:
            own, of = nest.level[slot], self.shapes[slot]
            if own == "total":
                return False
            if level == "element":
                return (own == "element" and of == shape) or (own == "row" and (nest.row_shape(of) or of == ()))
            return own == "row" and (of == shape or of == ())
        return self.ready[slot] <= index

    def nest_for(self, shape: Shape, slots: Sequence[int]) -> int:
        """The last nest over a domain that may read the slots, or a new one at the end: which unit it is."""
        units, home, ready, shapes = self.placed, self.home, self.ready, self.shapes
        count, most = len(units), self.most_steps
        first = count - self.look_back if count > self.look_back else 0
        for index in range(count - 1, first - 1, -1):
            unit = units[index]
            if unit.__class__ is OpenNest and unit.domain == shape and len(unit.steps) < most:
                level = unit.level
                for s in slots:
                    if home.get(s) == index:
                        if level.get(s) == "element" and shapes[s] == shape:  # as mostly
                            continue
                    elif ready[s] <= index:
                        continue
                    if not self.readable(s, unit, index, shape, "element"):
                        break
                else:
                    return index
        earlier = {home[s] for s in slots if s in home and home[s] < first}
        for index in sorted(earlier, reverse=True):
            unit = units[index]
            fits = isinstance(unit, OpenNest) and unit.domain == shape and len(unit.steps) < most
            if fits and all([self.readable(s, unit, index, shape, "element") for s in slots]):  # type: ignore[arg-type]
                return index
        units.append(OpenNest(shape))
        return count

    def elementwise(self, step: Step) -> None:
        _, _, _, _, inputs, out, t = step
        rows, shape = self.rows, t.shape
        if rows and not rows.isdisjoint(inputs) and self.by_row(step):
            return
        index = self.nest_for(shape, inputs)
        nest: OpenNest = self.placed[index]  # type: ignore[assignment]
        self.home[out] = index
        nest.steps.append(step)
        nest.level[out] = "element"
        strides = self.strides.get(t)
        if strides is None:
            strides = self.strides[t] = contiguous(shape)
        self.views[out] = _new(View, (out, 0, shape, strides))
        self.ready[out] = index + 1

    def by_row(self, step: Step) -> bool:
        """Put a step at the level of rows, beside the reduction that it reads, if it can be there."""
        shape, out = step.type.shape, step.output
        for slot in step.inputs:
            if slot not in self.rows:
                continue
            index = self.home[slot]
            nest = self.nest_at(index)
            if nest.domain == shape or len(nest.steps) >= self.most_steps:
                continue
            if (nest.row_shape(shape) or nest.bare_shape(shape)) and all(
                self.readable(s, nest, index, shape, "row") for s in step.inputs
            ):
                nest.steps.append(step)
                nest.level[out] = "row"
                self.rows.add(out)
                self.home[out] = index
                self.root(out, shape, step.type.dtype.name, index + 1)
                return True
        return False

    def reduction(self, step: Step) -> None:
        (slot,), out, axes = step.inputs, step.output, step.attributes
        shape = self.shapes[slot]
        index = self.nest_for(shape, [slot])
        nest = self.nest_at(index)
        split = len(shape) - len(axes)
        trailing = axes == tuple(range(split, len(shape)))
        nest.steps.append(step)
        nest.level[out] = "total"
        if trailing and nest.split in (None, split):
            nest.split = split
            nest.by_row.add(out)
            if size_of(shape[split:]) <= self.tuning.longest_row:
                nest.level[out] = "row"
                self.rows.add(out)
        self.home[out] = index
        self.root(out, step.type.shape, step.type.dtype.name, index + 1)

    def product(self, step: Step) -> None:
        slots = []
        for slot in step.inputs:
            slots.append(slot if is_matrix(self.views[slot]) else self.copy(slot))
        a, b = self.views[slots[0]], self.views[slots[1]]
        product, out = Product(step, a, b, step.type.shape), step.output
        product = product.turned() if out in self.turned else product
        self.placed.append(product)
        self.root(out, product.shape, step.type.dtype.name, len(self.placed))
        if out in self.turned:
            self.views[out] = transposed(self.views[out])

    def may_index(self, step: Step) -> bool:
        """Whether the indices are of a kind that native code reads."""
        first = step.op.indices_from
        return 0 < first < len(step.inputs) and all(
            self.dtypes[i][0] in "iu" and self.dtypes[i] != "uint64" for i in step.inputs[first:]
        )

    def is_plain(self, slot: int) -> bool:
        """Whether a slot's elements are all of an array in memory, in order."""
        view = self.views[slot]
        return is_contiguous(view) and view.offset == 0 and size_of(view.shape) == size_of(self.shapes[view.root])

    def move(self, step: Step) -> None:
        """A unit of its own. Indices and what is moved by them lie in order; what is copied may be any view."""
        indexed = step.op.indices_from > 0
        given = [self.views[i] for i in step.inputs]
        slots = [
            i if not indexed or self.is_plain(i) or stays(step, k, given) else self.copy(i)
            for k, i in enumerate(step.inputs)
        ]
        views = [self.views[i] for i in slots]
        if step.op.name == PIECES.name:  # a part may be one number
            views = [broadcast(v, place.sizes) for v, place in zip(views, step.attributes.placements, strict=True)]
        self.add(Move(step, tuple(views), tuple([self.dtypes[i] for i in slots])))

    def window(self, step: Step, reads: tuple[View, ...], dtypes: tuple[str, ...]) -> None:
        t = step.type
        if step.op.name == "max_pool_positions":  # found on the way to the maximum itself
            for index, unit in enumerate(self.placed):
                if (
                    isinstance(unit, Window) and unit.step.op.name == "max_pool" and unit.positions is None
                    and unit.reads == reads and unit.step.attributes == step.attributes
                ):  # fmt: skip
                    self.placed[index] = unit._replace(positions=step)
                    self.root(step.output, t.shape, t.dtype.name, index + 1)
                    return
        self.add(Window(step, reads, dtypes))

    # Matrices: small ones by formulas, larger ones by LAPACK

    def is_small(self, step: Step) -> bool:
        """Whether there is a formula for a step on small matrices, which native code can read."""
        if step.op.name == "matmul" and size_of(step.type.shape[:-2]) < self.tuning.small_stack:
            return False
        if formula_name(step.op.name, step.attributes) not in FORMULAS:
            return False
        if any(i in self.objects or self.dtypes[i] not in ("float32", "float64") for i in step.inputs):
            return False
        if step.op.name == "matmul":
            n, m = step.type.shape[-2:]
            return bool(n * m * self.shapes[step.inputs[0]][-1] <= self.tuning.small_product)
        if type(step.type) is tuple and step.output in self.asked:  # somebody asks for it as a tuple
            return False
        stacked = size_of(self.shapes[step.inputs[0]][:-2]) >= self.tuning.small_stack
        most = self.tuning.stacked_matrix if stacked else self.tuning.small_matrix
        return all(max(self.shapes[i][-2:]) <= most for i in step.inputs)

    def matrices(self, step: Step, routine: Routine) -> None:
        """A unit of stacks of matrices, of which each lies as who computes it reads it."""
        views = []
        for k, slot in enumerate(step.inputs[routine.first :]):
            column = k == 1 and routine.pivots
            view = self.stack(slot, column)
            core = View(view.root, 0, view.shape[-2:], view.strides[-2:])
            lies = routine.formula or (is_matrix(core) if routine.either_way else is_contiguous(core))
            if not lies or stack_stride(view) is None:
                view = self.stack(self.copy(slot), column)
            views.append(view)
        outputs = self.outputs_of(step)
        self.add(Matrices(step, tuple(views), tuple(outputs), routine), outputs)

    def stack(self, slot: int, column: bool) -> View:
        """The matrices of a slot, or lists as matrices of one column."""
        view = self.views[slot]
        return view._replace(shape=(*view.shape, 1), strides=(*view.strides, 1)) if column else view

    def outputs_of(self, step: Step) -> list[int]:
        """The slots of what a step gives: new ones if it gives several arrays."""
        if type(step.type) is not tuple:
            return [step.output]
        found = self.parts[step.output] = [self.new_slot() for _ in step.type]
        return found

    def is_for_lapack(self, step: Step) -> bool:
        """Whether LAPACK is there for a step on matrices, which native code can read."""
        name, routine = step.op.name, ROUTINES[step.op.name]
        inputs = step.inputs[routine.first :]  # the matrix first
        if name == "matmul" and self.dtypes.get(inputs[0]) not in PART:
            return False
        if libraries.missing() is not None or any(i in self.objects for i in inputs):
            return False
        if self.dtypes[inputs[0]] not in LETTERS or (type(step.type) is tuple and step.output in self.asked):
            return False
        first = self.shapes[inputs[0]]
        alone = routine.alone and size_of(first[:-2]) == 1 and self.dtypes[inputs[0]] not in PART
        most = routine.alone if alone else routine.most
        lengths = [*first[-2:], self.shapes[inputs[-1]][-1]]
        batches = [self.shapes[i][: -1 if k == 1 and routine.pivots else -2] for k, i in enumerate(inputs)]
        return all(0 < n <= most for n in lengths) and all(batch == batches[0] for batch in batches)

    # What must lie in memory

    def contiguous_result(self, slot: int) -> int:
        """A result as an array in order. A small part of an array is an array of its own: a caller gets that sooner, and the rest
        needn't stay."""
        if slot in self.objects:
            return slot
        view = self.views[slot]
        if not is_contiguous(view) or (self.is_part(view) and size_of(view.shape) <= SMALL_PART):
            return self.copy(slot)
        return slot

    def is_part(self, view: View) -> bool:
        """Whether a view has some elements of an array that this program makes, and not all."""
        made = view.root >= len(self.plan.leaf_types) + len(self.plan.number_types)
        return made and (view.offset != 0 or size_of(view.shape) != size_of(self.shapes[view.root]))

    def fusion(self) -> Fusion:
        """The units, of which no nest is open any more, and what is read elsewhere goes to memory."""
        results = [self.contiguous_result(slot) for _, _, slot, _ in self.plan.outputs]
        found = Fusion(
            self.plan,
            (),
            results,
            self.views,
            self.shapes,
            self.dtypes,
            self.ready,
            frozenset(self.objects),
            self.slots,
            self.tuning,
        )
        views, nothing = self.views, frozenset[int]()
        reads = [unit.read() if isinstance(unit, OpenNest) else nothing for unit in self.placed]
        both = list(zip(self.placed, reads, strict=True))
        readers = readers_of(
            [{views[i].root for i in read} if isinstance(one, OpenNest) else found.roots(one) for one, read in both]
        )
        needed = {*readers, *found.kept()}
        found = found.with_units([x.closed(read, needed) if isinstance(x, OpenNest) else x for x, read in both])
        vars(found)["readers"] = readers  # found on the way
        return found


def fused(plan: Plan, patient: bool = False) -> Fusion:
    """The plan as units. If a loop doesn't end, all is done anew: so beside host steps it is one, as in a `patient` one."""
    found = Fusing(plan, patient).fusion()
    may_stop = not patient and any([isinstance(unit, Scan) and unit.part.may_stop for unit in found.units])
    return fused(plan, patient=True) if may_stop and any([isinstance(u, Host) for u in found.units]) else found


COPY = StandIn("copy", light=True)  # the identity that puts a view's elements in order
_new = tuple.__new__  # named tuples by their own constructor take twice as long
