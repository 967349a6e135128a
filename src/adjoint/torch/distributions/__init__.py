"""torch.distributions: PyTorch's distributions. Densities, divergences and draws are those of `ad.stats`, where it has them.

>>> import adjoint.torch as torch
>>> from adjoint.torch.distributions import Categorical, Normal, kl_divergence
>>> torch.manual_seed(0).initial_seed()
0
>>> logits = torch.zeros(3, requires_grad=True)
>>> policy = Categorical(logits=logits)
>>> (-policy.log_prob(torch.tensor(1))).backward()
>>> logits.grad
tensor([ 0.3333, -0.6667,  0.3333])
>>> round(kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0)).item(), 4)
0.5
"""

from __future__ import annotations

from .._files import add_files
from .._missing import getter
from . import constraint_registry, constraints, kl, transforms, utils
from ._base import Distribution, ExponentialFamily
from ._compound import (
    Independent,
    LogisticNormal,
    MixtureSameFamily,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    TransformedDistribution,
)  # fmt: skip
from ._counts import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)  # fmt: skip
from ._formulas import ContinuousBernoulli, FisherSnedecor, GeneralizedPareto, Kumaraswamy, Pareto
from ._numbers import (
    Beta,
    Cauchy,
    Chi2,
    Exponential,
    Gamma,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Laplace,
    LogNormal,
    Normal,
    StudentT,
    Uniform,
    VonMises,
    Weibull,
)  # fmt: skip
from ._vectors import Dirichlet, LKJCholesky, LowRankMultivariateNormal, MultivariateNormal, Wishart
from .constraint_registry import biject_to, transform_to
from .kl import kl_divergence, register_kl
from .transforms import *  # noqa: F403
from .transforms import __all__ as _transforms

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet", "Distribution",
    "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy",
    "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal",
    "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal",
    "OneHotCategorical", "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli",
    "RelaxedOneHotCategorical", "StudentT", "TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart",
    "biject_to", "constraint_registry", "constraints", "kl", "kl_divergence", "register_kl", "transform_to", "transforms",
    "utils", *_transforms,
]  # fmt: skip

add_files(
    __name__,
    """bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet distribution exp_family exponential
    fishersnedecor gamma generalized_pareto geometric gumbel half_cauchy half_normal independent inverse_gamma kumaraswamy laplace
    lkj_cholesky log_normal logistic_normal lowrank_multivariate_normal mixture_same_family multinomial multivariate_normal
    negative_binomial normal one_hot_categorical pareto poisson relaxed_bernoulli relaxed_categorical studentT
    transformed_distribution uniform von_mises weibull wishart""",
)
__getattr__ = getter("torch.distributions", globals())
