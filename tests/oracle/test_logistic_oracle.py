"""Newton's method with our Hessian against scikit-learn."""

import numpy as np
import pytest

from logistic import logistic_data, newton_logistic


@pytest.mark.oracle
def test_logistic_regression_is_scikit_learns():
    from sklearn.linear_model import LogisticRegression

    x, y = logistic_data()
    p, _ = newton_logistic(x, y, 1.0)
    model = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(x, y)
    np.testing.assert_allclose(p, [*model.coef_[0], model.intercept_[0]], 1e-8)
