"""The Taylor coefficients of every node of a graph along a curve, from those of its inputs.

Linear operations act on each coefficient, bilinear ones by convolution, and a quotient solves for its own, as systems do
(`systems`). What holds a graph, a loop or a branch, has its coefficients by the same of that graph (`held`). Everything else
follows from its derivative rule: y' = Dφ(x)·x' is a graph whose coefficient k - 1, divided by k, is coefficient k of y. The graph
of y' reads y and x again, and equal nodes of such graphs are one, so that sin and cos, say, feed each other: the work grows with
the square of the order (A. Griewank and A. Walther, "Evaluating Derivatives", 2008, chapter 13).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.derive import expand, forward
from adjoint.graph import Node, mode, record, substitute, topological
from adjoint.primitives.core import FULL, LEAF, ops, placeholder, select, zeros
from adjoint.primitives.custom import CUSTOM, direct_of
from adjoint.primitives.normalized import NORMALIZED
from adjoint.series.held import held_coefficients, holds_graph, inputs_of
from adjoint.series.systems import RULES, WRITTEN_OUT, matrix_function_coefficients

__all__ = ["Series"]

Coefficient = Node | None  # None: zero

MATRIX_FUNCTIONS = frozenset(("matrix_function", "matrix_function_derivative"))


def _below(node: Node) -> tuple[Node, ...]:
    """What a node's coefficients are made of: of a scan its inputs, not what it keeps for a reverse pass."""
    return inputs_of(node) if holds_graph(node) else node.inputs


class Series:
    """The coefficients of nodes along a curve: `given` has those of the nodes that it is a curve of, from the first order on."""

    def __init__(self, given: dict[Node, Sequence[Coefficient]]) -> None:
        self.given = given
        self.found: dict[Node, list[Coefficient]] = {}
        self.moving: dict[Node, bool] = dict.fromkeys(given, True)
        self.rates: dict[Node, Node] = {}  # what stands for the derivative of a node, by the node
        self.rate_of: dict[Node, Node] = {}  # the node, by what stands for its derivative
        self.tangents: dict[Node, Coefficient] = {}
        self.same: dict[Any, Node] = {}  # by what they compute, and by node: addresses are used again
        self.order = 0
        self.own: set[Node] = set()  # the nodes of the graph itself; others belong to derivatives
        self.begun: dict[Node, Node] = {}
        self.instead: dict[Node, Node] = {}
        self.of_rates: dict[tuple[Node, int], Node] = {}
        self.held: dict[tuple[Node, int], list[list[Coefficient]]] = {}

    def run(self, outputs: Sequence[Node], order: int) -> list[list[Coefficient]]:
        """The coefficients of the outputs up to an order; those of order 0 are the outputs themselves."""
        outputs = expand(outputs)
        self.order, found = order, topological(outputs, below=_below)
        self.own.update(found)
        nodes = [self.merged(x) for x in found if x.type.__class__ is not tuple]
        for k in range(1, order + 1):
            for node in nodes:
                self.coefficient(node, k)
        final = [self.merged(y) for y in outputs]
        return [
            [y, *[self.coefficient(z, k) for k in range(1, order + 1)]] for y, z in zip(outputs, final, strict=True)
        ]

    # Which nodes are equal

    def merged(self, node: Node) -> Node:
        """The node that stands for all that compute the same; its inputs were merged before."""
        if node in self.given or node in self.rate_of:
            return node
        key_of = node.op.key
        inputs = tuple([self.same.get(x, x) for x in node.inputs])
        try:
            key: Any
            if inputs:
                # of a rule of somebody's own the key says nothing of its derivative
                attributes = node.attributes if key_of is None or node.op is CUSTOM else key_of(node.attributes)
                key = (node.op, attributes, inputs, node.type)
            elif node.op is LEAF and node.attributes is None:
                key = (LEAF, id(node.value), node.type)
            elif node.op is FULL and type(node.attributes) is float:
                key = (FULL, node.attributes.hex(), node.type)
            else:
                return node
            first = self.same.setdefault(key, node)
        except TypeError:  # attributes that have no hash
            first = node
        self.same[node] = first
        return first

    def moves(self, node: Node) -> bool:
        """Whether a node depends on the curve."""
        known = self.moving.get(node)
        if known is None:
            for x in topological([node], lambda x: x not in self.moving):
                if x not in self.moving:
                    self.moving[x] = x in self.rate_of or any([self.moving[y] for y in x.inputs])
            known = self.moving[node]
        return known

    # Coefficients

    def coefficient(self, node: Node, k: int) -> Coefficient:
        """Coefficient k of a node."""
        node = self.same.get(node, node)
        while node.op in NORMALIZED:  # through what made it
            node = node.inputs[0]
        if node in self.rate_of:
            if (node, k) not in self.of_rates:
                c = self.coefficient(self.rate_of[node], k + 1)
                if c is None:
                    return None
                self.of_rates[node, k] = ops.multiply(c, float(k + 1))
            return self.of_rates[node, k]
        if k == 0:
            return self.start(node)
        if node in self.given:
            return self.given[node][k - 1] if k <= len(self.given[node]) else None
        if (
            not self.moves(node)
            or node.type.__class__ is tuple
            or not node.dtype.inexact
            or node.op.name == "stop_gradient"
        ):
            return None
        found = self.found.setdefault(node, [])
        while len(found) < k:
            found.append(self.worked_out(node, len(found) + 1))
        return found[k - 1]

    def start(self, node: Node) -> Node:
        """A node where the curve begins: with coefficient 0 in place of derivatives. Each node has one, however it is reached."""
        begun = self.begun
        if node not in begun:
            for x in topological([node], lambda x: x not in begun):
                if x in begun:
                    continue
                if x in self.rate_of:
                    c = self.coefficient(x, 0)
                    begun[x] = zeros(x.type) if c is None else c
                else:
                    changed = {y: begun[y] for y in x.inputs if begun[y] is not y}
                    begun[x] = substitute([x], changed)[0] if changed else x
        return begun[node]

    def worked_out(self, node: Node, k: int) -> Coefficient:
        """Coefficient k of a node, those below it being there."""
        name = node.op.name
        if node.op.linear or (name == "astype" and node.inputs[0].dtype.inexact):
            return self.linear(node, k)
        if node.op.bilinear:
            return self.convolved(node, k)
        if node.op.quotient:
            return self.quotient(node, k)
        if name == "where":
            return self.selected(node, k)
        if name in RULES:
            return RULES[name](self, node, k)
        if name in WRITTEN_OUT or direct_of(node) is not None:
            return self.coefficient(self.written_out(node), k)
        if name in MATRIX_FUNCTIONS:
            return self.all_orders(node, k)[0][k - 1]
        if name == "select_output" and holds_graph(node.inputs[0]):
            found: Coefficient = self.all_orders(node.inputs[0], k)[node.attributes][k - 1]
            return found
        return self.by_derivative(node, k)

    def all_orders(self, whole: Node, k: int) -> list[list[Coefficient]]:
        """Of what has all coefficients at once, by result: those that are asked for, or, in a derivative, those so far."""
        order = self.order if whole in self.own else k
        if (whole, order) not in self.held:
            inputs = _below(whole)
            series = [[self.coefficient(x, j) for j in range(1, order + 1)] if self.moves(x) and x.dtype.inexact else None
                      for x in inputs]  # fmt: skip
            start = [self.start(x) for x in inputs]
            if holds_graph(whole):
                found = held_coefficients(whole, start, series, order, lambda g, y, n: Series(g).run(y, n))
            else:
                found = [matrix_function_coefficients(whole, start, series, order)]
            self.held[whole, order] = found
        return self.held[whole, order]

    def written_out(self, node: Node) -> Node:
        """The same by other operations, whose coefficients cost less."""
        if node not in self.instead:
            with mode(grad=True):
                direct = direct_of(node) or WRITTEN_OUT[node.op.name]
                self.instead[node] = direct(node)
        return self.instead[node]

    def linear(self, node: Node, k: int) -> Coefficient:
        """By the operation itself."""
        parts = [self.coefficient(x, k) for x in node.inputs]
        if all([p is None for p in parts]):
            return None
        filled = [
            p if p is not None else zeros(x.type) if x.dtype.inexact else x
            for p, x in zip(parts, node.inputs, strict=True)
        ]
        return record(node.op, tuple(filled), node.attributes, node.type)

    def convolved(self, node: Node, k: int) -> Coefficient:
        """The sum of op(aⱼ, bₖ₋ⱼ). Zero times infinity is zero at first order, as it is elsewhere."""
        a, b = node.inputs
        plain = node.op.name == "scale" and k > 1
        total: Coefficient = None
        for j in range(k + 1):
            x, y = self.coefficient(a, j), self.coefficient(b, k - j)
            if x is not None and y is not None:
                term = ops.multiply(x, y) if plain else record(node.op, (x, y), node.attributes, node.type)
                total = term if total is None else ops.add(total, term)
        return total

    def quotient(self, node: Node, k: int) -> Coefficient:
        """c = a/b: bₒ cₖ = aₖ - Σ bⱼ cₖ₋ⱼ."""
        a, b = node.inputs
        left = self.coefficient(a, k)
        for j in range(1, k + 1):
            x, y = self.coefficient(b, j), self.coefficient(node, k - j)
            if x is not None and y is not None:
                term = ops.scale(y, x)
                left = ops.negative(term) if left is None else ops.subtract(left, term)
        below = self.start(b)
        return None if left is None else record(node.op, (left, below), node.attributes, node.type)

    def selected(self, node: Node, k: int) -> Coefficient:
        """By the branch that is taken where the curve begins."""
        condition, *branches = node.inputs
        parts = [self.coefficient(x, k) for x in branches]
        if all([p is None for p in parts]):
            return None
        filled = [zeros(node.type) if p is None else p for p in parts]
        return record(node.op, (self.start(condition), *filled), node.attributes, node.type)

    # By the derivative rule

    def by_derivative(self, node: Node, k: int) -> Coefficient:
        """By the coefficients of y'."""
        if node not in self.tangents:
            self.tangents[node] = self.tangent(node)
        rate = self.tangents[node]
        c = None if rate is None else self.coefficient(rate, k - 1)
        return None if c is None else ops.multiply(c, 1.0 / k)

    def tangent(self, node: Node) -> Coefficient:
        """The derivative of a node along the curve, in terms of the node, its inputs, and what stands for their derivatives."""
        whole = node.inputs[0] if node.op.name == "select_output" else node
        behind = whole.attributes[0] if whole.op is CUSTOM else 0  # its own results, by which it has no derivative
        moving = [x for x in dict.fromkeys(whole.inputs[behind:]) if self.moves(x) and x.dtype.inexact]
        stand_ins = {x: placeholder(x.type, "an input", True) for x in moving}
        with mode(grad=True):
            copy = record(whole.op, tuple([stand_ins.get(x, x) for x in whole.inputs]), whole.attributes, whole.type)
            outputs = [copy] if node is whole else [select(copy, i) for i in range(len(whole.type))]
            result = outputs[0 if node is whole else node.attributes]
            rates = [self.rate(x) for x in moving]
            (found,) = forward([result], list(stand_ins.values()), rates)
        if found is None:
            return None
        known = {p: x for x, p in stand_ins.items()} | {copy: whole, result: node}
        (there,) = substitute([found], known)
        for x in topological([there], lambda x: x not in self.given):
            if x.type.__class__ is not tuple:
                self.merged(x)
        return self.same.get(there, there)

    def rate(self, x: Node) -> Node:
        """What stands for the derivative of a node."""
        if x not in self.rates:
            made = self.rates[x] = placeholder(x.type, "a derivative along the curve", True)
            self.rate_of[made] = x
            self.moving[made] = True
        return self.rates[x]
