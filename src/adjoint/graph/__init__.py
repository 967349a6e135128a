"""The expression graph and the walks over it."""

from adjoint.graph.known_calls import CALLS, Calls, Surface
from adjoint.graph.node import (
    MODE,
    NARROW,
    OUTERMOST,
    WIDENED,
    ArrayType,
    Kept,
    Located,
    Mode,
    Node,
    Origin,
    Scope,
    Site,
    Variable,
    array_type,
    get_mode,
    mode,
    record,
)
from adjoint.graph.primitive import PRIMITIVES, Operation, Primitive, Rule, StandIn
from adjoint.graph.walk import SEARCHES, Search, depends_on, moved, substitute, topological

__all__ = [
    "CALLS", "MODE", "NARROW", "OUTERMOST", "PRIMITIVES", "SEARCHES", "WIDENED", "ArrayType", "Calls", "Kept", "Located",
    "Mode", "Node", "Operation", "Origin", "Primitive", "Rule", "Scope", "Search", "Site", "StandIn", "Surface", "Variable",
    "array_type", "depends_on", "get_mode", "mode", "moved", "record", "substitute", "topological",
]  # fmt: skip
