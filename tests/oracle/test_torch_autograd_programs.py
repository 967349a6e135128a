"""Random uses of autograd, line by line in PyTorch and in adjoint.torch: values, gradients, what is a leaf, and what raises.

Left out is what differs on purpose: a value that is changed by `.data` after something was computed from it (here the derivative
is that of the value it was computed from, so such lines come first), and what is written to computed tensors under no_grad, which
raises here."""

import random

import numpy as np
import pytest

import adjoint.torch as own

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle

EARLY = """setattr(x, 'data', y.data * 2); out.append(x.data); setattr(x, 'data', x.data + 1); x.data.add_(1)
    out.append(x.detach().view(-1)[1:3]); x.requires_grad or x.mul_(2); kept.update({id(x): x.data}); out.append(x[0].data)
    id(x) in kept and setattr(x, 'data', kept.pop(id(x))); x.requires_grad_(not x.requires_grad)"""
COMPUTED = """x * y; x + y; x - 2 * y; torch.sin(x) * y; torch.exp(x * 0.3); x**2 + y; torch.tanh(x); torch.relu(x) + y
    x / (1 + y**2); (x @ y.t()) @ x; torch.where(x > 0, x, y); x.softmax(1); torch.maximum(x, y); x.abs(); x.clamp(-1, 1)
    x.detach(); x.detach().clone().requires_grad_(); x.clone(); Product.apply(x, y); Thrice.apply(x)
    torch.autograd.grad((x**3 + y).sum(), x, create_graph=True)[0]; torch.func.grad(lambda u: (u * y).sum() ** 2)(x)
    torch.func.vmap(lambda u: u * u.sum())(x)
    torch.utils.checkpoint.checkpoint(lambda u, v: torch.sin(u) * v, x, y, use_reentrant=False)"""
DONE = """x.sum().backward(retain_graph=True); (x * y).sum().backward(retain_graph=True)
    x.backward(y.detach(), retain_graph=True)
    out.append(torch.autograd.grad((x * x).sum(), [x, y], allow_unused=True, retain_graph=True)); setattr(x, 'grad', None)
    hooks.append(x.register_hook(lambda g: g * 0.7)); hooks.append(x.register_hook(lambda g: out.append(g.ndim == 2)))
    hooks and hooks.pop().remove(); hooks or x.requires_grad_(not x.requires_grad)
    torch.autograd.backward([x.sum(), y.mean()], retain_graph=True)
    torch.autograd.backward([(x * x).sum()], inputs=[y] if y.is_leaf else None, retain_graph=True)
    out.append((x.requires_grad, x.is_leaf))
    out.append(torch.autograd.functional.jacobian(lambda u: (u**2).sum(1), x)); out.append(x.grad_fn is None)
    out.append(torch.autograd.functional.hessian(lambda u: (u**3 * y.detach()).sum(), x))"""
LINES = [[line.strip() for row in text.splitlines() for line in row.split(";")] for text in (COMPUTED, DONE, EARLY)]


def functions(world):
    class Product(world.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b, g * a

    class Thrice(world.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, g):
            assert ctx.needs_input_grad[0]
            return 3 * g * ctx.saved_tensors[0]

    return {"torch": world, "Product": Product, "Thrice": Thrice, "out": [], "hooks": [], "kept": {}}


def plain(value):
    """What a program left, as lists of numbers."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    return np.asarray(value.detach().numpy(), float).tolist()


def same(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-8, abs=1e-8, nan_ok=True)
    return a is b


def state(names, tensors):
    seen = [[plain(t), t.requires_grad, t.is_leaf, plain(t.grad) if t.is_leaf else None] for t in tensors]
    return [*seen, plain(names["out"])]


@pytest.mark.filterwarnings("ignore")
def test_random_programs_of_autograd():
    """What raises in either ends a program: both refuse, and not always the same. Many run to their end."""
    ended = 0
    for seed in range(250):
        rng = random.Random(seed)
        worlds = [(functions(world), []) for world in (torch, own)]
        for _ in range(rng.randrange(2, 4)):
            values, tracked = [[rng.uniform(-2, 2) for _ in range(3)] for _ in range(2)], rng.random() < 0.75
            for names, tensors in worlds:
                made = names["torch"].tensor(values, dtype=names["torch"].float64)
                tensors.append(made.requires_grad_(tracked))
        program = []
        for k in range(rng.randrange(4, 18)):
            kind = 2 if k < 4 else int(rng.random() < 0.6)
            line, i, j = rng.choice(LINES[kind]), *rng.choices(range(len(worlds[0][1])), k=2)
            program.append((line, i, j))
            raised = 0
            for names, tensors in worlds:
                try:
                    found = eval(line, {**names, "x": tensors[i], "y": tensors[j]})
                except RuntimeError:
                    raised += 1
                else:
                    if kind == 0:
                        tensors.append(found)
            if raised:
                break
        else:
            ended += 1
        if raised != 1:
            expected, got = (state(*world) for world in worlds)
            assert same(expected, got), (seed, program, expected, got)
    assert ended > 60
