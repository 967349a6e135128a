"""Networks as estimators of scikit-learn: `AdjointRegressor` and `AdjointClassifier`, for pipelines and grid searches.

>>> import adjoint as ad
>>> ad.estimators.__all__
['AdjointClassifier', 'AdjointRegressor']
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import _optional, nn, optim, random
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.jit import jit
from adjoint.transforms.modes import no_grad

__all__ = ["AdjointClassifier", "AdjointRegressor"]

_base = _optional.try_load("sklearn.base")


class _Without:
    """A base in place of scikit-learn's: the classes can be named and read, and say what is missing when one is made."""


_Estimator: Any = _Without if _base is None else _base.BaseEstimator
_Regressor: Any = type("_Regressor", (), {}) if _base is None else _base.RegressorMixin
_Classifier: Any = type("_Classifier", (), {}) if _base is None else _base.ClassifierMixin

Array = np.ndarray[Any, Any]
HIDDEN = 32


class _Network(_Estimator):  # type: ignore[misc]
    """What both have: how a module is trained."""

    def __init__(
        self,
        module: Any = None,
        loss: Callable[[Tensor, Tensor], Tensor] | None = None,
        *,
        learning_rate: float = 0.01,
        epochs: int = 200,
        batch_size: int = 64,
        weight_decay: float = 0.0,
        standardize: bool = True,
        random_state: Any = None,
    ) -> None:
        _optional.load("sklearn.base", purpose=type(self).__name__, extra="science")
        self.module = module
        self.loss = loss
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.weight_decay = weight_decay
        self.standardize = standardize
        self.random_state = random_state

    def _trained(self, x: Array, y: Array, outputs: int, loss: Callable[[Tensor, Tensor], Tensor]) -> None:
        """Fit the module to rows and targets, in float64."""
        seeds = _utils("validation").check_random_state(self.random_state)
        self.x_mean_ = x.mean(axis=0) if self.standardize else np.zeros(x.shape[1])
        spread = x.std(axis=0) if self.standardize else np.ones(x.shape[1])
        self.x_scale_ = np.where(spread > 0, spread, 1.0)
        before = random.default_generator.state
        try:
            random.default_generator.seed(int(seeds.randint(2**31 - 1)))
            self.module_ = self._made(x.shape[1], outputs)
            self.history_ = self._descended(f.asarray((x - self.x_mean_) / self.x_scale_), f.asarray(y), loss, seeds)
        finally:
            random.default_generator.state = before

    def _made(self, inputs: int, outputs: int) -> Any:
        made: Any
        if self.module is None:
            made = nn.Sequential(nn.Linear(inputs, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, outputs))
        elif isinstance(self.module, nn.Module):
            made = copy.deepcopy(self.module)
        elif callable(self.module):
            made = self.module(inputs, outputs)
        else:
            raise TypeError(
                f"{type(self).__name__}: module is an nn.Module or a function of how many numbers go in and out, got "
                f"{type(self.module).__name__}{at_user()}"
            )
        return made.to("float64")

    def _descended(self, x: Tensor, y: Tensor, loss: Callable[[Tensor, Tensor], Tensor], seeds: Any) -> list[float]:
        """The losses of the epochs of Adam, whose rate falls to zero as a cosine."""
        module = self.module_.train()
        optimizer = optim.AdamW(module.parameters(), lr=self.learning_rate, weight_decay=self.weight_decay)

        @jit
        def step(rows: Tensor, targets: Tensor) -> Tensor:
            optimizer.zero_grad()
            value = loss(module(rows), targets)
            value.backward()
            optimizer.step()
            return value

        n = x.shape[0]
        size = min(self.batch_size, n)
        history = []
        for epoch in range(self.epochs):
            for group in optimizer.param_groups:
                group["lr"] = self.learning_rate * (1 + np.cos(np.pi * epoch / self.epochs)) / 2
            order = seeds.permutation(n)
            batches = [order[k : k + size] for k in range(0, n - n % size, size)]
            values = [step(f.take(x, f.asarray(b), axis=0), f.take(y, f.asarray(b), axis=0)) for b in batches]
            history.append(float(np.mean([v.item() for v in values])))
        module.eval()
        return history

    def _raw(self, rows: Any) -> Array:
        """What the module gives for rows."""
        _utils("validation").check_is_fitted(self)
        x = _utils("validation").validate_data(self, rows, dtype=np.float64, reset=False)
        with no_grad():
            return np.array(self.module_(f.asarray((x - self.x_mean_) / self.x_scale_)))


def _utils(name: str) -> Any:
    return _optional.load(f"sklearn.utils.{name}", purpose="an estimator of scikit-learn", extra="science")


class AdjointRegressor(_Regressor, _Network):  # type: ignore[misc]
    """A network as a regressor of scikit-learn: `fit(X, y)`, `predict(X)`, `score(X, y)`; in pipelines and grid searches.

    module         an `nn.Module`, which is copied, or a function (inputs, outputs) that makes one; 32 tanh units by default
    loss           a function (prediction, target) that gives one number, both (n, outputs); the mean square by default
    learning_rate  of AdamW, falling to zero as a cosine over the epochs; weight_decay is its other argument
    epochs, batch_size, random_state
    standardize    whether inputs and targets are scaled to mean 0 and deviation 1 inside

    X and y are arrays or tensors, y of shape (n,) or (n, outputs). Computed in float64. After `fit`: module_, history_ (the
    losses). Raises what scikit-learn raises for wrong data, ImportError without it (`adjoint[science]`).

    >>> import adjoint as ad, numpy as np
    >>> x = np.linspace(-2, 2, 80)[:, None]
    >>> try:
    ...     fitted = ad.estimators.AdjointRegressor(random_state=0).fit(x, np.sin(x[:, 0]))
    ...     good = fitted.score(x, np.sin(x[:, 0])) > 0.95
    ... except ImportError:
    ...     good = True  # scikit-learn isn't installed
    >>> bool(good)
    True
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def fit(self, X: Any, y: Any) -> AdjointRegressor:
        """Train a new copy of the module."""
        x, target = _utils("validation").validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=1
        )
        target = np.asarray(target, np.float64)
        self._flat = target.ndim == 1
        rows = target.reshape(len(target), -1)
        self.y_mean_ = rows.mean(axis=0) if self.standardize else np.zeros(rows.shape[1])
        spread = rows.std(axis=0) if self.standardize else np.ones(rows.shape[1])
        self.y_scale_ = np.where(spread > 0, spread, 1.0)
        loss = self.loss or (lambda p, t: ((p - t) ** 2).mean())
        self._trained(x, (rows - self.y_mean_) / self.y_scale_, rows.shape[1], loss)
        return self

    def predict(self, X: Any) -> Array:
        """The predictions, (n,) or (n, outputs) as y was."""
        found = self._raw(X) * self.y_scale_ + self.y_mean_
        return found[:, 0] if self._flat else found


class AdjointClassifier(_Classifier, _Network):  # type: ignore[misc]
    """A network as a classifier of scikit-learn: `fit(X, y)`, `predict(X)`, `predict_proba(X)`, `score(X, y)`.

    The arguments are those of `AdjointRegressor`; the module gives one logit for each class, and `loss` is a function (logits,
    numbers of the classes), cross entropy by default. After `fit`: classes_, module_, history_.

    >>> import adjoint as ad, numpy as np
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> try:
    ...     fitted = ad.estimators.AdjointClassifier(random_state=0).fit(x, np.where(x[:, 0] > 0, "right", "left"))
    ...     good = fitted.predict([[2.0, 0.0]])[0] == "right"
    ... except ImportError:
    ...     good = True  # scikit-learn isn't installed
    >>> bool(good)
    True
    """

    def fit(self, X: Any, y: Any) -> AdjointClassifier:
        """Train a new copy of the module."""
        x, target = _utils("validation").validate_data(self, X, y, dtype=np.float64)
        _utils("multiclass").check_classification_targets(target)
        self.classes_, numbers = np.unique(target, return_inverse=True)
        loss = self.loss or nn.functional.cross_entropy
        self._trained(x, numbers.astype(np.int64), len(self.classes_), loss)
        return self

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, (n, classes)."""
        logits = self._raw(X)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Array:
        """The likeliest class of each row."""
        numbers = self._raw(X).argmax(axis=1)
        found: Array = self.classes_[numbers]
        return found
