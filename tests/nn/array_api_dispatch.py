"""Run by a test, with SCIPY_ARRAY_API=1: what scikit-learn lists as taking arrays of the Array API, with tensors, against NumPy.

Prints what differs, and how many estimators and functions there are.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import (
    base,
    calibration,
    config_context,
    decomposition,
    discriminant_analysis,
    kernel_approximation,
    linear_model,
    metrics,
    mixture,
    model_selection,
    naive_bayes,
    pipeline,
    preprocessing,
    utils,
)
from sklearn.metrics import pairwise
from sklearn.utils.extmath import randomized_svd

import adjoint as ad

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
SCORES = X @ RNG.normal(size=5)
TWO, THREE = (SCORES > 0).astype(int), np.digitize(SCORES, [-1, 1])
REAL, COUNTS = SCORES + 0.1 * RNG.normal(size=60), RNG.poisson(np.exp(0.3 * X[:, 0])).astype(float)

RIDGE = linear_model.Ridge(solver="svd")
LDA = discriminant_analysis.LinearDiscriminantAnalysis()
STEPS = [preprocessing.StandardScaler(), decomposition.PCA(3, svd_solver="full"), RIDGE]
SEARCH = {"alpha": [0.1, 1.0, 10.0]}
MIXTURES = [("random", "full"), *[("random_from_data", kind) for kind in ("diag", "tied", "spherical")]]
ESTIMATORS: list[tuple[Any, ...]] = [
    (preprocessing.Binarizer(), X), (preprocessing.KernelCenterer(), X @ X.T), (preprocessing.MaxAbsScaler(), X),
    (preprocessing.MinMaxScaler(), X), *[(preprocessing.Normalizer(norm), X) for norm in ("l1", "l2", "max")],
    (preprocessing.PolynomialFeatures(3), X), (preprocessing.PolynomialFeatures(2, interaction_only=True), X),
    (preprocessing.StandardScaler(), X), (preprocessing.LabelEncoder(), THREE), (preprocessing.LabelBinarizer(), THREE),
    *[(decomposition.PCA(n, svd_solver="full", whiten=w), X) for n, w in ((3, False), (3, True), (0.9, False), ("mle", False))],
    (decomposition.PCA(3, svd_solver="covariance_eigh"), X),
    (decomposition.PCA(3, svd_solver="randomized", power_iteration_normalizer="QR", random_state=0), X),
    (LDA, X, THREE), (kernel_approximation.Nystroem(n_components=20, random_state=0), X),
    (linear_model.LogisticRegression(), X, TWO), (linear_model.LogisticRegression(), X, THREE),
    (linear_model.PoissonRegressor(), X, COUNTS), (RIDGE, X, REAL), (linear_model.RidgeCV(), X, REAL),
    (linear_model.RidgeClassifier(solver="svd"), X, TWO), (linear_model.RidgeClassifierCV(), X, THREE),
    *[(mixture.GaussianMixture(2, covariance_type=c, init_params=i, random_state=0, tol=1e-9, max_iter=500), X)
      for i, c in MIXTURES],
    (naive_bayes.GaussianNB(), X, THREE), (calibration.CalibratedClassifierCV(LDA, method="temperature"), X, THREE),
    (model_selection.GridSearchCV(RIDGE, SEARCH, cv=3), X, REAL),
    (model_selection.RandomizedSearchCV(RIDGE, SEARCH, n_iter=2, random_state=0, cv=3), X, REAL),
    (pipeline.make_pipeline(*STEPS), X, REAL),
    (pipeline.FeatureUnion([("a", preprocessing.StandardScaler()), ("b", preprocessing.MinMaxScaler())]), X),
]  # fmt: skip
METHODS = ("transform", "predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples")

B, WEIGHTS, P = RNG.integers(0, 2, 40), RNG.random(40), RNG.random(40)
B2 = np.where(RNG.random(40) < 0.8, B, 1 - B)
C = RNG.integers(0, 3, 40)
C2, P3 = np.where(RNG.random(40) < 0.7, C, (C + 1) % 3), RNG.dirichlet(np.ones(3), 40)
M = RNG.integers(0, 2, (40, 3))
M2 = np.where(RNG.random((40, 3)) < 0.7, M, 1 - M)
R, A, A2 = RNG.random((40, 2)) + 0.5, RNG.random((6, 4)), RNG.random((5, 4))
R2 = R + 0.1 * RNG.random((40, 2))


def calls() -> Iterator[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """Each metric and function, with arguments."""
    m, p = metrics, pairwise
    for f in (m.accuracy_score, m.zero_one_loss, m.hamming_loss):
        yield from [(f, (B, B2), {}), (f, (C, C2), {"sample_weight": WEIGHTS}), (f, (M, M2), {})]
    for f in (m.balanced_accuracy_score, m.cohen_kappa_score, m.confusion_matrix):
        yield from [(f, (C, C2), {}), (f, (B, B2), {"sample_weight": WEIGHTS})]
    for f in (m.f1_score, m.precision_score, m.recall_score, m.jaccard_score, m.precision_recall_fscore_support):
        yield f, (B, B2), {}
        for average in ("micro", "macro", "weighted", None):
            yield from [(f, (C, C2), {"average": average}), (f, (M, M2), {"average": average})]
    yield m.fbeta_score, (C, C2), {"beta": 2.0, "average": "macro"}
    yield m.multilabel_confusion_matrix, (M, M2), {"samplewise": True}
    for f in (m.det_curve, m.precision_recall_curve, m.roc_curve, m.roc_auc_score):
        yield f, (B, P), {}
    yield m.roc_auc_score, (C, P3), {"multi_class": "ovr"}
    for f in (m.brier_score_loss, m.log_loss, m.d2_brier_score, m.d2_log_loss_score, m.average_precision_score):
        yield from [(f, (B, P), {}), (f, (C, P3), {})]
    for f in (m.mean_absolute_error, m.mean_squared_error, m.root_mean_squared_error, m.mean_squared_log_error,
              m.root_mean_squared_log_error, m.median_absolute_error, m.mean_absolute_percentage_error, m.mean_pinball_loss,
              m.r2_score, m.explained_variance_score, m.d2_absolute_error_score, m.d2_pinball_score):  # fmt: skip
        yield from [(f, (R[:, 0], R2[:, 0]), {"sample_weight": WEIGHTS}), (f, (R, R2), {"multioutput": "raw_values"})]
    for f in (m.max_error, m.mean_tweedie_deviance, m.mean_poisson_deviance, m.mean_gamma_deviance, m.d2_tweedie_score):
        yield f, (R[:, 0], R2[:, 0]), {}
    for f in (p.cosine_similarity, p.cosine_distances, p.euclidean_distances, p.manhattan_distances, p.additive_chi2_kernel,
              p.chi2_kernel, p.laplacian_kernel, p.linear_kernel, p.polynomial_kernel, p.rbf_kernel,
              p.sigmoid_kernel):  # fmt: skip
        yield from [(f, (A, A2), {}), (f, (A,), {})]
    for f in (p.paired_cosine_distances, p.paired_euclidean_distances, p.paired_manhattan_distances):
        yield f, (A, A[::-1]), {}
    for metric in ("cosine", "euclidean", "manhattan"):
        yield p.pairwise_distances, (A, A2), {"metric": metric}
    for metric in ("linear", "rbf", "poly", "sigmoid", "cosine", "chi2", "additive_chi2", "laplacian"):
        yield p.pairwise_kernels, (A, A2), {"metric": metric}
    yield m.cluster.entropy, (C,), {}
    yield model_selection.train_test_split, (X, TWO), {"random_state": 0}
    for f in (model_selection.cross_val_predict, model_selection.cross_val_score):
        yield f, (RIDGE, X, REAL), {}
    yield utils.check_consistent_length, (X, REAL), {}
    yield randomized_svd, (X,), {"n_components": 3, "power_iteration_normalizer": "QR", "random_state": 0}


def tensors(x: Any) -> Any:
    return ad.tensor(x) if isinstance(x, np.ndarray) else x


def used(estimator: Any, x: Any, *y: Any) -> dict[str, Any]:
    """What an estimator gives, and what it has learned."""
    e = base.clone(estimator).fit(x, *y)
    found = {name: getattr(e, name)(x) for name in METHODS if hasattr(e, name)}
    if "transform" in found and hasattr(e, "inverse_transform"):
        found["inverse_transform"] = e.inverse_transform(found["transform"])
    learned = {
        k: v for k, v in vars(e).items() if k.endswith("_") and isinstance(v, (np.ndarray, ad.Tensor, float, int))
    }
    return found | {k: v for k, v in learned.items() if not k.endswith("time_")}


def arrays(result: Any) -> list[Any]:
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [x for part in result for x in arrays(part)]
    return [] if result is None else [result.numpy() if isinstance(result, ad.Tensor) else np.asarray(result)]


def same(name: str, found: Any, expected: Any, tolerance: float) -> bool:
    for x, y in zip(arrays(found), arrays(expected), strict=True):
        if x.shape != y.shape or not np.allclose(
            x, y, tolerance, tolerance * max(1.0, float(np.max(np.abs(y), initial=0)))
        ):
            print("DIFFERS", name, x, y)
            return False
    return True


def main() -> None:
    warnings.simplefilter("ignore")
    ad.set_default_dtype("float64")
    estimators, functions, good = set(), set(), True
    for estimator, *data in ESTIMATORS:
        expected = used(estimator, *data)
        with config_context(array_api_dispatch=True):
            found = used(estimator, *map(tensors, data))
        name = type(estimator).__name__
        apart = [k for k in METHODS if k in found and not isinstance(found[k], ad.Tensor)]
        good &= same(name, {k: found[k] for k in expected}, expected, 1e-5) and not apart
        estimators.add(name)
    for f, arguments, keywords in calls():
        expected = f(*arguments, **keywords)
        with config_context(array_api_dispatch=True):
            found = f(*map(tensors, arguments), **{k: tensors(v) for k, v in keywords.items()})
        good &= same(f"{f.__name__} {list(keywords)}", found, expected, 1e-9)
        functions.add(f.__name__)
    print(f"{len(estimators)} estimators and {len(functions)} functions", "agree" if good else "with differences")


if __name__ == "__main__":
    main()
