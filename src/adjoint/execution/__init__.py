"""Execution: graphs to numbers."""

from adjoint.execution.canonical import ValueNeededError
from adjoint.execution.donation import is_ours
from adjoint.execution.evaluate import evaluate, evaluation_lock
from adjoint.execution.replay import Replay, located_anew, own

__all__ = ["Replay", "ValueNeededError", "evaluate", "evaluation_lock", "is_ours", "located_anew", "own"]
