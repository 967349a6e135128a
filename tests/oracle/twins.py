"""The same layer in both libraries, and what must be equal: outputs, gradients, state."""

from __future__ import annotations

import numpy as np

import adjoint as ad
from adjoint import nn

try:
    import torch
except ImportError:  # the tests that import this file skip themselves
    torch = None

TOLERANCE = {"float64": 1e-10, "float32": 1e-5}


def drawn(shape, seed=0, dtype="float64"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def close(ours, theirs, dtype, what=""):
    """Relative to the result's scale."""
    one = ours.numpy() if isinstance(ours, ad.Tensor) else ours
    other = theirs.detach().numpy()
    assert one.shape == other.shape, what
    assert one.dtype == other.dtype, what
    scale = np.abs(other[np.isfinite(other)]).max(initial=0) or 1
    np.testing.assert_allclose(one, other, 0, TOLERANCE[dtype] * scale, err_msg=what)


def agree(ours, theirs, shapes, dtype, calls=1, rest=(), keywords=None):
    """Outputs of several calls, then gradients of inputs and parameters, and what the modules keep."""
    keywords = keywords or {}
    for call in range(calls):
        arrays = [drawn(shape, call * 10 + i, dtype) for i, shape in enumerate(shapes)]
        inputs = [ad.variable(a) for a in arrays]
        twins = [torch.tensor(a, requires_grad=True) for a in arrays]
        out = ours(*inputs, *rest, **keywords)
        out_torch = theirs(*twins, *(torch.tensor(r) for r in rest), **{k: as_torch(v) for k, v in keywords.items()})
        outputs = [y for y in (out if isinstance(out, tuple) else (out,)) if y is not None]
        outputs_torch = [y for y in (out_torch if isinstance(out_torch, tuple) else (out_torch,)) if y is not None]
        assert len(outputs) == len(outputs_torch)
        weights = [drawn(tuple(y.shape), 99, dtype) for y in outputs_torch]
        for module in (ours, theirs):
            module.zero_grad()
        sum((y * ad.tensor(w)).sum() for y, w in zip(outputs, weights, strict=True)).backward()
        sum((y * torch.tensor(w)).sum() for y, w in zip(outputs_torch, weights, strict=True)).backward()
        for number, (y, y_torch) in enumerate(zip(outputs, outputs_torch, strict=True)):
            close(y, y_torch, dtype, f"output {number}")
        for x, x_torch in zip(inputs, twins, strict=True):
            close(x.grad, x_torch.grad, dtype, "input gradient")
        named = dict(theirs.named_parameters())
        assert [name for name, _ in ours.named_parameters()] == list(named)
        for name, parameter in ours.named_parameters():
            close(parameter.grad, named[name].grad, dtype, f"gradient of {name}")
        state = theirs.state_dict()
        assert list(ours.state_dict()) == list(state)
        for name, value in ours.state_dict().items():
            close(value, state[name], dtype, name)


def as_torch(value):
    return torch.tensor(value.numpy()) if isinstance(value, ad.Tensor) else value


def pair_of(name, *arguments, dtype="float64", train=True, **options):
    """The same layer in both libraries, with its weights drawn alike and loaded through files."""
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    theirs = getattr(torch.nn, name)(*arguments, **options).to(kind).train(train)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(torch.tensor(drawn(tuple(parameter.shape), 7, dtype)))
    ours = getattr(nn, name)(*arguments, **options).to(dtype).train(train)
    ours.load_state_dict({key: value.numpy() for key, value in theirs.state_dict().items()})
    return ours, theirs
