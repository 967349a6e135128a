"""One small operation on what has values: its kernel is called, which takes less than to look for its graph's plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.execution.interpreter import constant
from adjoint.execution.silence import quietly
from adjoint.graph import Node
from adjoint.plan.canonical import begin_walk
from adjoint.primitives.core import FULL, VERSION, WATCHED
from adjoint.unknown import Unknown

SMALL = 32  # elements
FEW = 3  # operands, and watched constants


def compute_single(node: Node) -> bool:
    """Whether a node was small, with an operation that is elementwise or moves elements, on nothing but values: it has its own
    then. NumPy's kernel gives the bits that its plan would. Where anything is unusual nothing was done; so an operation that
    fails does so again where its line is known."""
    arrays: list[Any] = []
    for x in node.inputs:
        value = x.value
        if type(value) is np.ndarray and value.size <= SMALL:
            arrays.append(value)
        elif value is None and x.op is FULL and type(x.attributes) is not Unknown:
            arrays.append(constant(x))
        else:
            return False
    op, kind = node.op, node.type
    if not (op.elementwise or op.moves) or not 0 < len(arrays) <= FEW:
        return False
    if op.masked is not None or op.opaque or op.reads is not None or type(kind) is tuple or kind.size > SMALL:
        return False
    if WATCHED and (len(WATCHED) > FEW or any([x is node or node in x.inputs for x in WATCHED])):  # cut from this one
        return False
    try:
        array = quietly(op.kernel(node.attributes, kind), *arrays)
    except Exception:
        return False
    if type(array) is not np.ndarray or array.base is not None or any([array is x for x in arrays]):
        array = np.array(array, order="C")  # as its plan lays it out: sums go through memory in order
    if node.value is None:
        begin_walk()  # whoever is interrupted by this numbers its graph anew: there are new values in it
        node.value = array
        if not node.tracked or node.op is VERSION:  # to every derivative a version is a leaf
            node.inputs = ()
    return True
