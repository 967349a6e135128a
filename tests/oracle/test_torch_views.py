"""Random programs of views and writes in place, line by line in PyTorch and in adjoint.torch: values, shapes and gradients."""

import random

import numpy as np
import pytest

import adjoint.torch as own

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle

VIEWS = """x[0]; x[-1]; x[1:]; x[::2]; x[None]; x[..., 0]; x[..., 1:]; x.narrow(0, 0, 1); x.select(0, 0); x.unsqueeze(-1)
    x.squeeze(); x.view(x.shape); x.expand_as(x); x.swapaxes(0, -1); x.movedim(0, -1); x.view_as(x); x.unfold(0, 1, 1); x.mT
    x.diagonal(); x[:, 0]; x[:, ::2]; x.t(); x.transpose(0, 1); x.permute(2, 0, 1); x[:, :, 0]; x.diagonal(dim1=0, dim2=1)
    x.expand(2, -1, -1)"""
VALUES = """x * 2; x.sin(); x - 0.3; x.tanh(); x.sum(); x.clone(); x / (1 + x * x); torch.cat([x, x]); torch.stack([x, x * 2])
    x[[0]]; x.cumsum(0); x + y; x * y; torch.where(x > 0, x, y); x.sort(0)[0]; x.index_select(0, torch.tensor([0]))"""
WRITES = """x.mul_(2); x.add_(1); x.zero_(); x.fill_(0.5); x.clamp_(-1, 1); x.tanh_(); x += 1; x *= 0.5; x[...] = 2.0; x.square_()
    x.masked_fill_(x > 0, 0.3); x[x > 0] = 0.1; x[x < 0] *= 2; x[0] = 1.5; x[-1] += 1; x[1:] *= 2; x[::2] = 3.0; x[0].mul_(2)
    x[-1] = x[0]; x.index_fill_(0, torch.tensor([0]), 2.0); x.select(0, 0).add_(1); x[:-1] += x[1:].clone(); x.cumsum_(0)
    x[0] = y; x.unsqueeze_(0); x.squeeze_(); x.transpose_(0, -1); x.swapaxes_(0, -1); x.add_(y); x.mul_(y); x.copy_(y)
    x[...] = y; x += y; x.scatter_(0, torch.zeros(x.shape, dtype=torch.int64)[:1], 5.0); x.mT.mul_(2); x.fill_diagonal_(1.0)
    x.lerp_(y, 0.3)"""
LINES = [[line.strip() for row in text.splitlines() for line in row.split(";")] for text in (VIEWS, VALUES, WRITES)]


def run(world, line, tensors, i, j, kind):
    """One line, on the tensors of one of the two; the error that it raises."""
    names = {"torch": world, "x": tensors[i], "y": tensors[j].clone() if kind == 2 else tensors[j]}
    if kind < 2:
        tensors.append(eval(line, names))
    else:
        exec(line, names)


def compare(worlds, program):
    for number, (expected, found) in enumerate(zip(*worlds, strict=True)):
        assert tuple(found.shape) == tuple(expected.shape), (number, program)
        np.testing.assert_allclose(
            found.detach().numpy(), expected.detach().numpy(), atol=1e-12, err_msg=f"{number}: {program}"
        )


def gradients(tensors, leaf):
    total = sum([(x * x * (k + 1)).sum() + (x * 0.3).sum() for k, x in enumerate(tensors)])
    if total.requires_grad:  # not all is overwritten with constants
        total.backward()
    return np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy()


@pytest.mark.filterwarnings("ignore:Tensor.mT is deprecated", "ignore:Use of (index_put_|masked_fill_) on expanded")
@pytest.mark.parametrize("tracked", [False, True])
def test_random_programs_of_views(tracked):
    """What raises in either ends a program: PyTorch refuses more. Of 150 programs, many run to their end."""
    ended = 0
    for seed in range(150):
        rng = random.Random(2 * seed + tracked)
        shape = rng.choice([(3, 4), (4,), (2, 3, 2), (6,), (2, 2, 3)])
        data = np.random.default_rng(seed).normal(size=shape).tolist()
        leaves = [world.tensor(data, dtype=world.float64, requires_grad=tracked) for world in (torch, own)]
        worlds = [[x * 1.0] for x in leaves]
        program = [f"shape {shape}"]
        for _ in range(12):
            kind = rng.choices([0, 1, 2], [4, 2, 5])[0]
            line, i, j = rng.choice(LINES[kind]), rng.randrange(len(worlds[0])), rng.randrange(len(worlds[0]))
            program.append(f"x, y = {i}, {j}: {line}")
            try:
                for world, tensors in zip((torch, own), worlds, strict=True):
                    run(world, line, tensors, i, j, kind)
                compare(worlds, program)
            except (RuntimeError, ValueError, IndexError, TypeError):
                break
        else:
            try:
                expected = gradients(worlds[0], leaves[0]) if tracked else None
            except RuntimeError:  # PyTorch would need a value that was written over
                continue
            ended += 1
            if tracked:
                found = gradients(worlds[1], leaves[1])
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=str(program))
    assert ended > 5
