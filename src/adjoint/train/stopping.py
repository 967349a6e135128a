"""Ending training when it no longer helps, with the best weights that there were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adjoint.nn import Module

__all__ = ["EarlyStopping"]


class EarlyStopping:
    """Ends training when a metric hasn't improved for `patience` epochs, and gives the model its best weights back.

    `metric` is one that `validate` measures, or `"loss"`. An improvement is one by more than `min_delta`; a metric whose
    name ends in "accuracy" should rise, others fall, unless `mode` (`"max"` or `"min"`) says otherwise. With
    `restore_best=False` the model keeps its last weights. Raises ValueError for another mode or a patience below 1.
    """

    def __init__(
        self,
        metric: str = "loss",
        patience: int = 3,
        mode: str | None = None,
        min_delta: float = 0.0,
        restore_best: bool = True,
    ) -> None:
        if mode not in (None, "max", "min") or patience < 1:
            raise ValueError(
                f"EarlyStopping: mode is 'max' or 'min', patience at least 1; they are {mode!r} and {patience}"
            )
        self.metric = metric
        self.patience = patience
        self.mode = mode or ("max" if metric.endswith("accuracy") else "min")
        self.min_delta = min_delta
        self.restore_best = restore_best
        self.best: float | None = None
        self.best_epoch = 0
        self.weights: dict[str, Any] = {}

    def update(self, epoch: int, metrics: Mapping[str, float], model: Module) -> bool:
        """Take note of an epoch's metrics; whether it's time to stop. Raises ValueError when the metric isn't there."""
        if self.metric not in metrics:
            raise ValueError(f"EarlyStopping: nothing measures {self.metric!r}; there are {', '.join(metrics)}")
        value, sign = metrics[self.metric], 1 if self.mode == "max" else -1
        if self.best is None or sign * (value - self.best) > self.min_delta:
            self.best, self.best_epoch = value, epoch
            self.weights = model.state_dict() if self.restore_best else {}
        return epoch - self.best_epoch >= self.patience

    def restore(self, model: Module) -> None:
        """Give the model the weights of its best epoch."""
        if self.weights:
            model.load_state_dict(self.weights)

    def state_dict(self) -> dict[str, Any]:
        """The best so far: its value, its epoch, its weights."""
        return {"best": self.best, "best_epoch": self.best_epoch, "weights": self.weights}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict()`."""
        self.best, self.best_epoch, self.weights = state["best"], state["best_epoch"], dict(state["weights"])
