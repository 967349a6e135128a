"""What a model makes of data: its outputs, how many of them are right, and which classes it takes for which."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.nn import Module
from adjoint.tensors.functions import tensor
from adjoint.transforms.modes import no_grad

__all__ = ["accuracy", "confusion_matrix", "predict"]


def predict(model: Module, inputs: Any, batch_size: int = 1000) -> np.ndarray:
    """The model's outputs (N, ...) for N inputs, computed in batches in evaluation mode and without recording."""
    if len(inputs) == 0:
        raise ValueError("predict: there are no inputs")
    training = model.training
    model.eval()
    try:
        with no_grad():
            starts = range(0, len(inputs), batch_size)
            return np.concatenate([model(tensor(inputs[start : start + batch_size])).numpy() for start in starts])
    finally:
        model.train(training)


def accuracy(model: Module, inputs: Any, labels: Any, batch_size: int = 1000) -> float:
    """The share of N inputs for which the largest of the model's outputs (N, C) is at the label's place."""
    return float((predict(model, inputs, batch_size).argmax(axis=1) == np.asarray(labels)).mean())


def confusion_matrix(labels: Any, predicted: Any, classes: int | None = None) -> np.ndarray:
    """How many of each class were taken for each: (C, C) int64, a row for each true class, a column for each predicted.

    `labels` are N class numbers; `predicted` N class numbers or scores (N, C). Without `classes` there are as many as
    the numbers and scores show. Raises ValueError where lengths differ or a class number is out of range.
    """
    labels, predicted = np.asarray(labels), np.asarray(predicted)
    known = classes
    if predicted.ndim == 2:
        known = predicted.shape[1] if classes is None else classes
        predicted = predicted.argmax(axis=1)
    if labels.ndim != 1 or labels.shape != predicted.shape:
        raise ValueError(f"confusion_matrix: labels {labels.shape} and predictions {predicted.shape} don't match")
    both = np.concatenate([labels, predicted])
    count = known if known is not None else int(both.max(initial=-1)) + 1
    if both.size and not 0 <= both.min() <= both.max() < count:
        raise ValueError(f"confusion_matrix: class numbers from {both.min()} to {both.max()} of {count} classes")
    table: np.ndarray = np.bincount(labels * count + predicted, minlength=count * count).reshape(count, count)
    return table
