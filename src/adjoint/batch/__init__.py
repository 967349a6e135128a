"""Batching: a graph with one more axis in front, made from a graph by one rule for each primitive."""

from adjoint.batch.rules import Batch, rule_of

__all__ = ["Batch", "rule_of"]
