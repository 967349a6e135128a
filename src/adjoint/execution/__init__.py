"""Execution: graphs to numbers."""

from adjoint.execution import stages
from adjoint.execution.evaluate import evaluate, evaluation_lock
from adjoint.execution.explanation import Explanation, explain
from adjoint.execution.replay import Replay, apart, located_anew, own
from adjoint.plan.canonical import ValueNeededError
from adjoint.plan.donation import is_ours

__all__ = [
    "Explanation",
    "Replay",
    "ValueNeededError",
    "apart",
    "evaluate",
    "evaluation_lock",
    "explain",
    "is_ours",
    "located_anew",
    "own",
    "stages",
]
