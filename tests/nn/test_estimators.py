"""Networks as scikit-learn's estimators: its own checks, pipelines, searches, tensors as data."""

import os
import subprocess
import sys
import unittest
import warnings
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("sklearn")
from sklearn import datasets, model_selection, pipeline, preprocessing
from sklearn.utils.estimator_checks import estimator_checks_generator

QUICK = {"epochs": 60, "random_state": 0}


@pytest.mark.parametrize("kind", [ad.estimators.AdjointRegressor, ad.estimators.AdjointClassifier])
def test_scikit_learns_checks_pass(kind):
    failed = []
    for estimator, check in estimator_checks_generator(kind(epochs=40)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(estimator)
            except unittest.SkipTest:
                continue  # the array API's, without its environment variable
            except Exception as error:  # all of them are told
                failed.append((getattr(check, "func", check).__name__, repr(error)[:200]))
    assert failed == []


def test_in_a_pipeline_and_a_grid_search():
    x, y = datasets.make_moons(200, noise=0.15, random_state=0)
    steps = pipeline.make_pipeline(preprocessing.StandardScaler(), ad.estimators.AdjointClassifier(**QUICK))
    search = model_selection.GridSearchCV(steps, {"adjointclassifier__learning_rate": [1e-5, 0.03]}, cv=2)
    search.fit(x, y)
    assert search.best_params_["adjointclassifier__learning_rate"] == 0.03 and search.best_score_ > 0.85


def test_any_module_and_any_loss():
    x = np.linspace(-1, 1, 120)[:, None]
    y = 3 * x[:, 0] + np.where(np.arange(120) % 10 == 0, 20.0, 0.0)
    robust = ad.estimators.AdjointRegressor(
        lambda i, o: ad.nn.Linear(i, o), lambda p, t: abs(p - t).mean(), epochs=400, random_state=0
    )
    assert abs(robust.fit(x, y).predict([[1.0]])[0] - 3) < 0.3
    given = ad.estimators.AdjointRegressor(ad.nn.Linear(1, 1), **QUICK).fit(x, y)
    assert given.module is not given.module_ and len(given.history_) == 60
    with pytest.raises(TypeError, match=r"nn\.Module or a function"):
        ad.estimators.AdjointRegressor("network").fit(x, y)


def test_tensors_are_data():
    x = np.random.default_rng(0).normal(size=(80, 3))
    y = x @ [1.0, 2.0, -1.0]
    ours = ad.estimators.AdjointRegressor(**QUICK).fit(ad.tensor(x), ad.tensor(y))
    theirs = ad.estimators.AdjointRegressor(**QUICK).fit(x, y)
    np.testing.assert_allclose(ours.predict(ad.tensor(x)), theirs.predict(x))
    both = ad.estimators.AdjointRegressor(**QUICK).fit(x, np.stack([y, -y], 1))
    assert both.predict(x).shape == (80, 2)


def test_the_array_api_dispatch_takes_tensors():
    """All that scikit-learn lists, as it is asked for there: SCIPY_ARRAY_API=1 and array_api_dispatch."""
    script = Path(__file__).with_name("array_api_dispatch.py")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env=os.environ | {"SCIPY_ARRAY_API": "1"}
    )
    assert done.stdout.strip().endswith("agree"), done.stdout + done.stderr
