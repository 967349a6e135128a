"""What stands around modules: gradient clipping, parameters as one vector, packed sequences."""

from adjoint.hints import hinted_module

from . import parametrizations, parametrize, rnn
from .gradients import clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector",
    "parametrizations", "parametrize", "rnn", "vector_to_parameters",
]  # fmt: skip

__getattr__ = hinted_module("adjoint.nn.utils")
