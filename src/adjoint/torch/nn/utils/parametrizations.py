"""torch.nn.utils.parametrizations: the core's, of PyTorch's modules."""

from adjoint.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
