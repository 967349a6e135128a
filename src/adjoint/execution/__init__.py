"""Execution: graphs to numbers."""

from adjoint.execution import stages
from adjoint.execution.canonical import ValueNeededError
from adjoint.execution.donation import is_ours
from adjoint.execution.evaluate import evaluate, evaluation_lock
from adjoint.execution.explanation import Explanation, explain
from adjoint.execution.replay import Replay, located_anew, own

__all__ = [
    "Explanation",
    "Replay",
    "ValueNeededError",
    "evaluate",
    "evaluation_lock",
    "explain",
    "is_ours",
    "located_anew",
    "own",
    "stages",
]
