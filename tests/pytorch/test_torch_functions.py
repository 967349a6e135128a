"""Functions with a derivative of their own under PyTorch's names."""

import gc
import weakref

import pytest

import adjoint.torch as torch


class _Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class _TwiceInPlace(_Twice):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x.mul_(2))
        return x


class _WithNumber(_Twice):
    @staticmethod
    def forward(ctx, x):
        return x * 2, 5

    @staticmethod
    def backward(ctx, g, none):
        assert none is None
        return g * 2


@pytest.mark.parametrize("kind", [_Twice, _TwiceInPlace, _WithNumber])
def test_what_a_function_has_computed_is_freed_without_the_collector(kind):
    leaf = torch.ones(3, requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        x = leaf * 1
        found = kind.apply(x)
        y = found[0] if isinstance(found, tuple) else found
        y.sum().backward()
        held = [weakref.ref(x), weakref.ref(y)]
        del x, y, found
        assert [ref() for ref in held] == [None, None]
    finally:
        gc.enable()
    assert leaf.grad.tolist() == [2.0, 2.0, 2.0]
