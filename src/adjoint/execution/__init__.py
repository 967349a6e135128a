"""Execution: graphs to numbers."""

from adjoint.execution.canonical import ValueNeededError
from adjoint.execution.evaluate import evaluate, evaluation_lock
from adjoint.execution.replay import Replay, own

__all__ = ["Replay", "ValueNeededError", "evaluate", "evaluation_lock", "own"]
