"""Logistic regression by Newton's method, with a Hessian of the engine's."""

import numpy as np

import adjoint as ad


def newton_logistic(x, y, strength):
    """Weights and intercept that minimise the logistic loss plus strength/2 |w|², by Newton's method."""
    x, y = ad.tensor(x), ad.tensor(y)

    def loss(p):
        margin = x @ p[:-1] + p[-1]
        return (ad.softplus(margin) - y * margin).sum() + strength / 2 * (p[:-1] ** 2).sum()

    p = np.zeros(x.shape[1] + 1)
    for _ in range(20):
        at = ad.tensor(p)
        p = p - np.linalg.solve(ad.hessian(loss)(at).numpy(), ad.grad(loss)(at).numpy())
    return p, np.abs(ad.grad(loss)(ad.tensor(p)).numpy()).max()


def logistic_data():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(200, 4))
    return x, (x @ [1.5, -2.0, 0.5, 0.0] + 0.3 + generator.logistic(size=200) > 0).astype(float)
