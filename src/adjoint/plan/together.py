"""Products over the steps of a recorded loop, computed together.

A loop in Python leaves one product for each step. Where the same matrix multiplies what is known before the loop, or what is
only read after it, one product of all rows does it; and a sum of products over the steps, the gradient of a weight, is one
product whose sum is as much longer (J. Appleyard, T. Kočiský and P. Blunsom, "Optimizing performance of recurrent neural
networks on GPUs", 2016). These sum in another order, and are left out under `set_deterministic`.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

from adjoint.graph import PRIMITIVES, array_type
from adjoint.plan.order import first_ready
from adjoint.plan.plan import Plan, Step
from adjoint.plan.rewriting import Rewriting, needed_steps
from adjoint.primitives.contraction import MATMUL

FEWEST = 8  # products
NARROWEST = 8  # rows and columns of a result
MOST = 32  # matrices that have many products
ROWS = 256  # of a product that gains by being one of many: larger ones run as fast alone
LEFT, RIGHT = 0, 1


def together(plan: Plan) -> Plan:
    """The plan with such products joined; itself where there are none. The given plan stays as it is."""
    products = [step for step in plan.steps if step.op is MATMUL and len(step.type.shape) == 2]
    if plan.ordered or len(products) < FEWEST or any([step.op.name == "host_call" for step in plan.steps]):
        return plan
    if not _may_join(plan, products):
        return plan
    joining = Joining(plan)
    joining.sums()
    joining.rows()
    return joining.plan._replace(types=joining.types) if joining.steps else plan


def _may_join(plan: Plan, products: list[Step]) -> bool:
    """Whether one matrix has many products, or many of one type are terms of sums: an add has two terms."""
    if max(Counter([step.inputs[RIGHT] for step in products]).values()) >= FEWEST:
        return True
    terms = {step.output for step in products}
    terms.update([x.output for x in plan.steps if x.op.name == "permute_dims" and x.inputs[0] in terms])
    adds = [id(x.type) for x in plan.steps if x.op.name == "add" and not terms.isdisjoint(x.inputs)]
    return any([2 * count >= FEWEST for count in Counter(adds).values()])


class Joining(Rewriting):
    """A plan whose products are being joined. `gone` are slots that new steps compute now."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.plan = plan
        self.producer = {step.output: step for step in plan.steps}
        self.reads = Counter([i for step in plan.steps for i in step.inputs])
        self.reads.update([slot for _, _, slot, _ in plan.outputs])
        self.joined: dict[tuple[frozenset[int], int], tuple[list[int], int]] = {}
        self.gone: set[int] = set()

    # Sums of products -------------------------------------------------------------------------------------------------

    def sums(self) -> None:
        """Every sum of many products becomes one product."""
        inner: set[int] = set()  # sums that are terms of another one
        for step in reversed(self.plan.steps):
            if step.op.name == "add" and step.output not in inner and _is_matrix(step):
                for turned in (False, True):
                    terms, rest, adds = self.terms(step, turned)
                    inner.update(adds)
                    if len(terms) >= FEWEST:
                        self.one_sum(step, terms, rest, turned)
                        break
        if self.steps:
            self.settle()

    def terms(self, top: Step, turned: bool) -> tuple[list[Step], list[int], list[int]]:
        """The products that a sum adds up, what else it does, and the sums on the way. Of `turned` ones, the transposes."""
        products: list[Step] = []
        rest: list[int] = []
        adds: list[int] = []
        pending = list(top.inputs)
        while pending:
            slot = pending.pop()
            step = self.producer.get(slot)
            if step is None or self.reads[slot] != 1 or step.type is not top.type:
                rest.append(slot)
            elif step.op.name == "add":
                adds.append(slot)
                pending += step.inputs
            else:
                product: Step | None = step
                if turned:
                    again = step.op.name == "permute_dims" and self.reads[step.inputs[0]] == 1
                    product = self.producer.get(step.inputs[0]) if again else None
                if product is not None and product.op is MATMUL and self.single.isdisjoint(product.inputs):
                    products.append(product)
                else:
                    rest.append(slot)
        return products, rest, adds

    def one_sum(self, top: Step, products: list[Step], rest: list[int], turned: bool) -> None:
        """The sum of products as one product, and what else was added."""
        products.sort(
            key=lambda step: min(map(self.behind_transpose, step.inputs))
        )  # in the order of the steps of the loop
        left = self.beside([step.inputs[LEFT] for step in products], 1)
        right = self.beside([step.inputs[RIGHT] for step in products], 0)
        total = self.emit("matmul", None, (left, right), products[0].type.shape, top.type.dtype)
        if turned:
            total = self.emit("permute_dims", (1, 0), (total,), top.type.shape, top.type.dtype)
        for slot in rest:
            total = self.emit("add", None, (total, slot), top.type.shape, top.type.dtype)
        self.take_place(top.output, total)

    def behind_transpose(self, slot: int) -> int:
        step = self.producer.get(slot)
        return step.inputs[0] if step is not None and step.op.name == "permute_dims" else slot

    # Products with one matrix -----------------------------------------------------------------------------------------

    def rows(self) -> None:
        """Products of many matrices with the same one, none of which depends on another, become one."""
        groups: list[list[Step]] = []
        alike: dict[
            int, list[tuple[int, list[Step]]]
        ] = {}  # by the right matrix: the rows of the left ones, and the products
        for step in self.plan.steps:
            if step.op is MATMUL and len(step.type.shape) == 2 and step.output not in self.gone:
                left, right = step.inputs
                if (
                    self.single.isdisjoint(step.inputs)
                    and step.type.shape[0] <= ROWS
                    and step.type.shape[1] >= NARROWEST
                ):
                    rows, known = self.types[left].shape[0], alike.setdefault(right, [])
                    group = next((group for n, group in known if n == rows), None)
                    if group is None:
                        known.append((rows, group := []))
                        groups.append(group)
                    group.append(step)
        for group in heapq.nlargest(MOST, groups, key=len):
            lefts = list(dict.fromkeys([step.inputs[LEFT] for step in group]))
            if len(lefts) == len(group) >= FEWEST and not self.depend(group, set(lefts)):
                self.one_product(group)
                self.settle()

    def depend(self, group: list[Step], lefts: set[int]) -> bool:
        """Whether one of the matrices is computed from one of the products."""
        reached = {step.output for step in group}
        for step in self.plan.steps:
            if not reached.isdisjoint(step.inputs):
                if step.output in lefts:
                    return True
                reached.add(step.output)
        return not reached.isdisjoint(lefts)

    def one_product(self, group: list[Step]) -> None:
        """One product of all rows, and its parts."""
        order = [step.inputs[LEFT] for step in group]
        found = self.joined.get((frozenset(order), 0))
        if found is not None and len(found[0]) == len(
            order
        ):  # they lie beside each other already, maybe in another order
            order = found[0]
        whole = self.beside(order, 0)
        (count, width), dtype = group[0].type.shape, group[0].type.dtype
        product = self.emit("matmul", None, (whole, group[0].inputs[RIGHT]), (count * len(order), width), dtype)
        place = {slot: k for k, slot in enumerate(order)}
        for step in group:
            rows = ((place[step.inputs[LEFT]] * count, count, 1), (0, width, 1))
            self.take_place(step.output, self.emit("slice", rows, (product,), (count, width), dtype))

    # Matrices beside each other ---------------------------------------------------------------------------------------

    def beside(self, slots: Sequence[int], axis: int) -> int:
        """The slot of all these matrices along an axis."""
        key = frozenset(slots), axis
        found = self.joined.get(key)
        if found is not None and found[0] == list(slots):
            return found[1]
        turned = [self.producer.get(slot) for slot in slots]
        if all([step is not None and step.op.name == "permute_dims" for step in turned]):
            whole = self.beside([step.inputs[0] for step in turned if step is not None], 1 - axis)
            n, m = self.types[whole].shape
            joined = self.emit("permute_dims", (1, 0), (whole,), (m, n), self.types[whole].dtype)
        else:
            joined = self.neighbours(slots, axis)
            if joined < 0:
                shapes = [self.types[slot].shape for slot in slots]
                length = sum([shape[axis] for shape in shapes])
                shape = (length, shapes[0][1]) if axis == 0 else (shapes[0][0], length)
                joined = self.emit("concat", axis, tuple(slots), shape, self.types[slots[0]].dtype)
        if found is None:
            self.joined[key] = list(slots), joined
        return joined

    def neighbours(self, slots: Sequence[int], axis: int) -> int:
        """Matrices that are `x[0]`, `x[1]`, ... of one array, as a reshape of it; -1 where they aren't."""
        source = -1
        for k, slot in enumerate(slots):
            step = self.producer.get(slot)
            cut = None if step is None or step.op.name != "reshape" else self.producer.get(step.inputs[0])
            if cut is None or cut.op.name != "slice" or axis != 0 or (source >= 0 and cut.inputs[0] != source):
                return -1
            source = cut.inputs[0]
            shape = self.types[source].shape
            whole = tuple([(0, n, 1) for n in shape[1:]])
            if cut.attributes != ((k, 1, 1), *whole) or self.types[slot].shape != shape[1:] or source in self.single:
                return -1
        if self.types[source].shape[0] != len(slots):
            return -1
        n, m, w = self.types[source].shape
        return self.emit("reshape", (n * m, w), (source,), (n * m, w), self.types[source].dtype)

    # Steps ------------------------------------------------------------------------------------------------------------

    def emit(
        self, name: str, attributes: object, inputs: tuple[int, ...], shape: tuple[int, ...], dtype: object
    ) -> int:
        """The slot of a new step."""
        slot = self.new(PRIMITIVES[name], attributes, inputs, array_type(shape, dtype))  # type: ignore[arg-type]
        self.producer[slot] = self.steps[-1]
        return slot

    def take_place(self, slot: int, new: int) -> None:
        """Let a new step compute what another one did."""
        self.gone.add(slot)
        at = next(k for k in range(len(self.steps) - 1, -1, -1) if self.steps[k].output == new)
        self.steps[at] = self.producer[slot] = self.steps[at]._replace(output=slot)

    def settle(self) -> None:
        """The steps with those added so far, each behind what it reads, and otherwise in their order."""
        kept = [step for step in self.plan.steps if step.output not in self.gone]
        known = {step.output for step in kept}
        steps = [*kept, *[step for step in self.steps if step.output not in known]]
        outputs = [slot for _, _, slot, _ in self.plan.outputs]
        self.plan = self.plan.with_steps(needed_steps(_in_order(steps), outputs))
        self.producer = {step.output: step for step in self.plan.steps}
        self.gone = set()


def _is_matrix(step: Step) -> bool:
    shape = step.type.shape if type(step.type) is not tuple else ()
    return len(shape) == 2 and min(shape) >= NARROWEST


def _in_order(steps: list[Step]) -> list[Step]:
    """The steps, each behind what it reads; of those that may come next, the first."""
    made = {step.output: k for k, step in enumerate(steps)}
    reads = [{made[i] for i in step.inputs if i in made} for step in steps]
    readers: list[list[int]] = [[] for _ in steps]
    for k, own in enumerate(reads):
        for j in own:
            readers[j].append(k)
    return [steps[k] for k in first_ready(list(map(len, reads)), readers, range(len(steps)))]
