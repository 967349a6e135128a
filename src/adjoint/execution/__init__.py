"""Execution: graphs to numbers."""

from adjoint.execution.canonical import ValueNeededError
from adjoint.execution.evaluate import evaluate
from adjoint.execution.replay import Replay

__all__ = ["Replay", "ValueNeededError", "evaluate"]
