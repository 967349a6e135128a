"""PyTorch's interface: small programs in its style, and what it promises of views, in-place methods, dtypes and errors."""

from __future__ import annotations

import asyncio
import copy
import gc
import importlib
import io
import math
import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
import adjoint.torch as torch
import adjoint.torch.nn as nn
import adjoint.torch.nn.functional as F
import adjoint.torch.optim as optim
from adjoint.torch.autograd import Function
from adjoint.torch.optim.lr_scheduler import LRScheduler, StepLR
from adjoint.torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    RandomSampler,
    Sampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)  # fmt: skip


def numbers(x):
    return x.detach().tolist()


# Tensors ------------------------------------------------------------------------------------------------------------------


def test_everything_made_is_a_tensor_of_this_kind():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    made = [
        x + 1, 2 - x, x @ x, x[0], x[:, None], x.t(), x.view(-1), x.sum(), torch.exp(x), x.max(1)[0], F.relu(x), -x, x == x,
        torch.cat([x, x]), torch.linalg.det(x), torch.fft.fft(x), x.detach(), x.clone(), x.double(), copy.deepcopy(x.detach()),
    ]  # fmt: skip
    assert all(isinstance(t, torch.Tensor) for t in made)
    x.sum().backward()
    assert isinstance(x.grad, torch.Tensor)
    x.grad.zero_()
    assert numbers(x.grad) == [[0, 0], [0, 0]]


def test_old_names_of_types_and_constructors():
    assert torch.ShortTensor([1, 2]).type() == "torch.ShortTensor" and torch.ones(1).half().type() == "torch.HalfTensor"
    assert (
        isinstance(torch.ones(2, dtype=torch.int8), torch.CharTensor)
        and torch.ones(2).type(torch.HalfTensor).dtype == torch.half
    )
    x = torch.ones(2, dtype=torch.int64)
    assert x.new([1.9, 2]).dtype == torch.int64 and x.new(2, 3).shape == x.new(torch.Size([2, 3])).shape == (2, 3)
    assert x.new().shape == (0,)


def test_functions_of_python_element_by_element():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    row = x[0]
    assert row.apply_(lambda t: t * 10) is row and numbers(x) == [[10, 20], [3, 4]]
    assert numbers(x.map_(torch.tensor([1.0, 2.0]), lambda a, b: a + b)) == [[11, 22], [4, 6]]
    assert numbers(x.map2_(x, x, lambda a, b, c: a - b + c)) == [[11, 22], [4, 6]]
    assert (
        torch.zeros(0).apply_(abs).shape == (0,)
        and torch.zeros(2, dtype=torch.int32).apply_(lambda n: n + 1).dtype == torch.int32
    )
    with pytest.raises(RuntimeError, match=r"x\.detach\(\)\.apply_"):
        torch.ones(1, requires_grad=True).apply_(abs)
    with pytest.raises(TypeError, match="expected 1 tensors and a function"):
        x.map_(abs)


def test_modes_under_autograd():
    with torch.autograd.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    with torch.autograd.inference_mode():
        assert not torch.is_grad_enabled()
    state = torch.random.get_rng_state()
    drawn = torch.rand(3)
    torch.random.set_rng_state(state)
    assert numbers(torch.rand(3)) == numbers(drawn)


def test_sizes_and_text():
    x = torch.zeros(2, 3)
    assert x.size() == torch.Size([2, 3]) == (2, 3) and x.size(1) == x.size(dim=-1) == 3
    assert x.shape.numel() == x.numel() == 6 and x.dim() == 2 and x.nelement() == 6
    assert repr(x.shape) == "torch.Size([2, 3])" and repr(torch.arange(3)) == "tensor([0, 1, 2])"
    assert repr(nn.Parameter(torch.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"
    assert x.type() == "torch.FloatTensor" and x.device == torch.device("cpu") and str(x.device) == "cpu"


@pytest.mark.parametrize(
    ("view", "write"),
    [
        (lambda x: x[0], [0, 1, 2]),
        (lambda x: x[:, 1], [1, 4]),
        (lambda x: x[..., -1], [2, 5]),
        (lambda x: x[1, 2], [5]),
        (lambda x: x[None, 0], [0, 1, 2]),
        (lambda x: x.view(6)[2:4], [2, 3]),
        (lambda x: x.view(3, 2)[1], [2, 3]),
        (lambda x: x.t()[0], [0, 3]),
        (lambda x: x.T[2], [2, 5]),
        (lambda x: x.permute(1, 0)[1], [1, 4]),
        (lambda x: x.transpose(0, 1)[1, 1], [4]),
        (lambda x: x.unsqueeze(0)[0, 0], [0, 1, 2]),
        (lambda x: x.view(1, 2, 3).squeeze(0)[1], [3, 4, 5]),
        (lambda x: x.reshape(-1)[:2], [0, 1]),
        (lambda x: x.flatten()[5], [5]),
        (lambda x: x.narrow(1, 1, 2)[0], [1, 2]),
        (lambda x: x.select(0, 1), [3, 4, 5]),
        (lambda x: x.chunk(3, dim=1)[2], [2, 5]),
        (lambda x: x.split([1, 2], dim=1)[1][0], [1, 2]),
        (lambda x: x.unbind(1)[0], [0, 3]),
        (lambda x: x.diagonal(), [0, 4]),
        (lambda x: x.as_strided((2,), (2,), 1), [1, 3]),
        (lambda x: x.unfold(1, 1, 2)[1, :, 0], [3, 5]),
        (lambda x: next(iter(x)), [0, 1, 2]),
        (lambda x: x.detach()[1], [3, 4, 5]),
        (lambda x: x.data[1], [3, 4, 5]),
        (lambda x: x.movedim(0, 1)[0], [0, 3]),
    ],
)
def test_what_is_written_to_a_view_reaches_the_tensor_and_the_other_way_round(view, write):
    x = torch.arange(6.0).view(2, 3).clone()
    part, other = view(x), x.view(-1)
    part.fill_(-1)
    expected = [-1.0 if i in write else float(i) for i in range(6)]
    assert numbers(other) == expected and numbers(x.view(6)) == expected
    x.mul_(2)
    assert set(np.ravel(numbers(part)).tolist()) == {-2.0}
    assert numbers(view(x)) == numbers(part)


def test_copies_are_no_views():
    x = torch.arange(6.0).view(2, 3).clone()
    copies = [
        x[[0]],
        x[torch.tensor([0])],
        x[x > -1],
        x.clone(),
        x.t().reshape(-1),
        x + 0,
        x.t().contiguous(),
        x.repeat(1, 1),
    ]
    for made in copies:
        made.fill_(-1)
    assert numbers(x.view(6)) == [0, 1, 2, 3, 4, 5]
    assert x.contiguous() is x and not x.t().is_contiguous() and x.t().stride() == (1, 3)


def test_backward_of_what_requires_no_gradient_says_what_to_write_here():
    for call in (lambda: torch.ones(2).sum().backward(), lambda: torch.autograd.backward(torch.ones(2).sum())):
        with pytest.raises(RuntimeError, match="requires_grad=True") as raised:
            call()
        assert "ad." not in str(raised.value).replace("grad.", "")


def test_derivatives_go_through_views_that_are_written_to():
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = w * 2
    x[0] = 5 * w[2]
    x.view(-1)[1:2].mul_(w[1:2])
    x.sum().backward()
    assert numbers(w.grad) == [0.0, 8.0, 7.0]  # 5c + 2b² + 2c


def test_writing_where_several_elements_are_one_is_an_error():
    x = torch.zeros(1, 3).expand(2, 3)
    with pytest.raises(RuntimeError, match="clone"):
        x[0, 0] = 1
    w = torch.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="history"):
        w[0] = 1
    with torch.no_grad():
        w[0] = 4.0
        w[1:].copy_(torch.tensor([5, 6]))
    assert numbers(w) == [4, 5, 6] and w.requires_grad and w.is_leaf


def test_in_place_methods_keep_dtype_and_shape():
    x = torch.tensor([1, 2, 3])
    with pytest.raises(TypeError, match="does not fit"):
        x.add_(0.5)
    with pytest.raises(ValueError, match="shape"):
        torch.ones(1).add_(torch.ones(3))
    y = torch.tensor([-1.0, 4.0])
    assert y.clamp_(min=0).sqrt_().add_(1) is y and numbers(y) == [1, 3]
    y += torch.tensor(1, dtype=torch.float64)
    assert y.dtype is torch.float32


def test_dtypes_follow_pytorch():
    f32, f64, i64 = torch.ones(2), torch.ones((), dtype=torch.float64), torch.tensor([1, 2])
    assert (f32 + f64).dtype is torch.float32 and (f32 + f64.view(1)).dtype is torch.float64
    assert (i64 / 2).dtype is torch.float32 and (i64 + 1.5).dtype is torch.float32 and (i64 // 2).dtype is torch.int64
    assert (i64 + f64).dtype is torch.float64 and (torch.tensor([True]) + True).dtype is torch.bool
    assert torch.tensor([True, True]).sum().dtype is torch.int64 and torch.tensor(1.5).dtype is torch.float32
    assert torch.tensor([1, 2.5]).dtype is torch.float32 and torch.from_numpy(np.ones(2)).dtype is torch.float64
    assert torch.arange(3).dtype is torch.int64 and torch.arange(3.0).dtype is torch.float32
    assert torch.result_type(i64, 1.0) is torch.float32 and (f32 > 0).dtype is torch.bool
    with pytest.raises(RuntimeError, match="floating"):
        i64.mean()
    halves = torch.zeros(2, dtype=torch.float16) + 1
    assert halves.dtype is torch.float16 and halves.float().dtype is torch.float32 and f32.half().dtype is torch.float16
    assert torch.finfo(torch.bfloat16).resolution == 0.01 and torch.finfo(torch.float16).max == 65504
    with pytest.raises(TypeError, match="16 bits a part"):
        f32.chalf()


def test_defaults_that_differ_from_numpy():
    v = torch.tensor([3.0, 1.0, 2.0, 4.0])
    values, at = v.sort()
    assert numbers(values) == [1, 2, 3, 4] and numbers(at) == [1, 2, 0, 3]
    assert v.view(2, 2).max(1).indices.tolist() == [0, 1] and v.view(2, 2).max(dim=0).values.tolist() == [3, 4]
    assert v.var().item() == pytest.approx(5 / 3) and v.std(unbiased=False).item() == pytest.approx(math.sqrt(1.25))
    assert [p.tolist() for p in v.split(3)] == [[3, 1, 2], [4]] and [p.tolist() for p in v.chunk(3)] == [[3, 1], [2, 4]]
    assert v.repeat(2).tolist() == [3, 1, 2, 4] * 2 and v.repeat_interleave(2).tolist() == [3, 3, 1, 1, 2, 2, 4, 4]
    assert torch.meshgrid(v, v[:3], indexing="ij")[0].shape == (4, 3) and v.topk(2)[1].tolist() == [3, 0]
    assert v.median().item() == 2 and torch.nonzero(v > 2).tolist() == [[0], [3]] and torch.equal(v, v.clone())
    assert v.sum(dim=0, keepdim=True).shape == (1,) and v.sum(axis=0, keepdims=True).shape == (1,)
    assert v.argmax().item() == 3 and torch.max(v, torch.zeros(4)).tolist() == v.tolist()


def test_a_maximum_along_an_axis_gives_its_gradient_to_one_element():
    x = torch.tensor([[2.0, 2.0]], requires_grad=True)
    x.max(1)[0].sum().backward()
    assert sorted(numbers(x.grad)[0]) == [0, 1]
    y = torch.tensor([2.0, 2.0], requires_grad=True)
    y.max().backward()
    assert numbers(y.grad) == [0.5, 0.5]


def test_unknown_names_and_devices_are_errors_that_name_a_way_out():
    with pytest.raises(AttributeError, match=r"nearest name is torch\.zeros"):
        torch.zeross
    with pytest.raises(AttributeError, match=r"torch\.nn\.Linear"):
        nn.Linaer
    for ask in (lambda: torch.zeros(1, device="cuda"), lambda: torch.zeros(1).cuda(), lambda: nn.Linear(1, 1).to("cuda"),
                torch.device("mps").__enter__, lambda: torch.zeros(1).to("cuda:0")):  # fmt: skip
        with pytest.raises(RuntimeError, match="adjoint computes on the CPU"):
            ask()
    assert not torch.cuda.is_available() and not torch.backends.mps.is_available()
    with pytest.raises(TypeError, match="unknown argument"):
        F.relu(torch.zeros(1), wrong=1)


def test_out_and_random_numbers():
    out = torch.empty(3)
    assert torch.add(torch.ones(3), 1, out=out) is out and numbers(out) == [2, 2, 2]
    torch.manual_seed(3)
    a = torch.randn(4), torch.rand(2, 2), torch.randint(0, 9, (3,)), torch.randperm(5)
    torch.manual_seed(3)
    b = torch.randn(4), torch.rand(2, 2), torch.randint(0, 9, (3,)), torch.randperm(5)
    assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))
    g = torch.Generator().manual_seed(7)
    first = torch.multinomial(torch.tensor([0.0, 1.0, 3.0]), 200, replacement=True, generator=g)
    assert set(first.tolist()) == {1, 2} and 100 < int((first == 2).sum()) < 190
    weights = torch.tensor([[0.0, 1.0, 3.0], [2.0, 0.0, 1e-30]])
    for count in (1, 2, 3):  # one is drawn as the first of several
        drawn = torch.multinomial(weights, count, generator=torch.Generator().manual_seed(3)).tolist()
        assert [row[0] for row in drawn] == [2, 0]
    for wrong in ([-1.0, 2.0], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]):
        with pytest.raises(RuntimeError, match="weights are finite, not negative, and not all zero"):
            torch.multinomial(torch.tensor(wrong), 1)
    for refused, said in (
        (torch.tensor([1, 2]), "int64"),
        (torch.ones(1, 1, 2), "shape"),
        (torch.tensor(1.0), "shape"),
    ):
        with pytest.raises(RuntimeError, match=f"one floating row or several.*{said}"):
            torch.multinomial(refused, 1)
    with pytest.raises(RuntimeError, match="at least one"):
        torch.multinomial(torch.ones(3), 0)
    assert sorted(torch.multinomial(torch.ones(4), 4).tolist()) == [0, 1, 2, 3]
    assert torch.empty(1000).normal_(2.0, 0.1).mean().item() == pytest.approx(2, abs=0.05)


# Derivatives ----------------------------------------------------------------------------------------------------------------


def test_gradients_of_computed_tensors():
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert first.item() == 12 and second.item() == 12 and not second.requires_grad
    z = torch.tensor(1.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="allow_unused"):
        torch.autograd.grad(y, z)
    assert torch.autograd.grad(y, z, allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="grad_outputs"):
        torch.autograd.grad(torch.ones(2, requires_grad=True) * 2, x)
    assert y.grad_fn.name() and y.grad_fn.next_functions and x.grad_fn is None
    assert torch.autograd.gradcheck(torch.sin, (torch.tensor([0.3], dtype=torch.float64, requires_grad=True),))


def test_a_function_with_a_derivative_of_its_own():
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.factor = 3
            return x.pow(3)

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            assert type(x) is torch.Tensor
            factor = ctx.factor
            del ctx.factor  # as programs that save memory do
            assert not hasattr(ctx, "factor")
            return gradient * factor * x.pow(2)

    x = torch.tensor([2.0], requires_grad=True)
    Cube.apply(x).backward()
    assert numbers(x.grad) == [12]


def test_hooks_get_tensors_of_this_kind():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    x.register_hook(lambda g: (seen.append(type(g)), g * 2)[1])
    (x * x).sum().backward()
    assert numbers(x.grad) == [4, 8] and seen == [torch.Tensor]
    layer = nn.Linear(2, 1)
    layer.register_forward_hook(lambda module, given, out: seen.append((type(given[0]), type(out))))
    layer.register_full_backward_hook(lambda module, given, out: seen.append(type(out[0])))
    layer(torch.ones(2)).sum().backward()
    assert seen[-2:] == [(torch.Tensor, torch.Tensor), torch.Tensor]


def test_transformations_of_functions():
    def f(x):
        return x.pow(2).sum(dim=-1)

    x = torch.tensor([1.0, 2.0])
    assert numbers(torch.func.grad(f)(x)) == [2, 4]
    assert numbers(torch.func.vmap(torch.func.grad(f))(x.view(2, 1))) == [[2], [4]]
    assert numbers(torch.func.hessian(f)(x)) == [[2, 0], [0, 2]]
    gradient, value = torch.func.grad_and_value(f)(x)
    assert value.item() == 5 and type(gradient) is torch.Tensor
    out, pull = torch.func.vjp(f, x)
    assert numbers(pull(torch.ones_like(out))[0]) == [2, 4]
    model = nn.Linear(2, 1)
    state = {k: torch.ones_like(v) for k, v in model.named_parameters()}
    assert torch.func.functional_call(model, state, (x,)).item() == 4


def test_a_functional_call_keeps_what_the_module_assigns():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(()))
            self.register_buffer("other", torch.zeros(()))
            self.calls, self.layer = 0, nn.Linear(1, 1)

        def forward(self, x):
            self.calls += 1
            self.count = self.count + 1
            self.other = self.other + 1
            self.layer.seen, self.last = x.shape, self.layer
            return self.layer(x) * self.count

    model, x = Counting(), torch.ones(1, 1)
    state = {"layer.weight": torch.ones(1, 1), "layer.bias": torch.zeros(1), "other": torch.tensor(5.0)}
    weight = model.layer.weight
    assert [torch.func.functional_call(model, state, (x,)).item() for _ in range(3)] == [1, 2, 3]
    assert (model.calls, model.count.item(), model.layer.seen) == (3, 3, (1, 1))
    assert model.layer.weight is weight and model.last is model.layer
    assert model.other.item() == 0  # was given, so the module's own is as it was
    assert list(dict(model.named_buffers())) == ["count", "other"]


def test_modes():
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
    with torch.no_grad():
        torch.set_grad_enabled(True)
        assert torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad and torch.is_grad_enabled()

    @torch.no_grad()
    def f():
        return x * 2

    @torch.inference_mode()
    def g():
        return x * 2

    assert not f().requires_grad and not g().requires_grad


def test_calls_that_are_inferences_at_the_same_time():
    """In threads and tasks, of which the first to begin is the first to end."""
    both = threading.Barrier(2)
    ended = threading.Event()

    @torch.inference_mode()
    def call(first):
        both.wait(10)
        if not first:
            ended.wait(10)
        return torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    @torch.inference_mode()
    async def task(rounds):
        for _ in range(rounds):
            await asyncio.sleep(0)
        return torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    async def tasks():
        return await asyncio.gather(task(1), task(3))

    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(call, first) for first in (True, False)]
        found = [calls[0].result(10)]
        ended.set()
        found.append(calls[1].result(10))
    assert found == asyncio.run(tasks()) == [(True, False)] * 2
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()


# Networks -------------------------------------------------------------------------------------------------------------------


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.act = nn.ReLU(inplace=True)
        self.fc = nn.Linear(4 * 3 * 3, 3)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("offset", torch.zeros(1))
        self.extra = [torch.ones(1), nn.Linear(1, 1)]  # no part of the module, as in PyTorch

    def forward(self, x):
        x = F.max_pool2d(self.act(self.norm(self.conv(x))), 2)
        x = x.view(x.size(0), -1)
        return F.log_softmax(self.fc(x) * self.scale + self.offset, dim=1)


def test_a_network_is_trained():
    torch.manual_seed(0)
    model = Net()
    assert [n for n, _ in model.named_parameters()] == [
        "scale", "conv.weight", "conv.bias", "norm.weight", "norm.bias", "fc.weight", "fc.bias",
    ]  # fmt: skip
    assert all(isinstance(p, nn.Parameter) for p in model.parameters())
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
    scheduler = StepLR(optimizer, step_size=10, gamma=0.5)
    labels = torch.arange(30) % 3
    images = torch.randn(30, 1, 8, 8) * 0.1
    for i, label in enumerate(labels):
        images[i, 0, int(label) * 2] += 1
    loader = DataLoader(TensorDataset(images, labels), batch_size=10, shuffle=True)
    for _ in range(15):
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = F.nll_loss(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        scheduler.step()
    model.eval()
    with torch.no_grad():
        right = model(images).argmax(dim=1, keepdim=True).eq(labels.view(-1, 1)).sum().item()
    assert right == 30 and optimizer.param_groups[0]["lr"] == 0.05


def test_state_is_saved_and_given_back(tmp_path):
    torch.manual_seed(0)
    model = Net()
    checkpoint = {
        "model": model.state_dict(),
        "epoch": 3,
        "best": math.inf,
        "shape": (1, [2, torch.Size([3])]),
        "name": "a",
    }
    for place in (tmp_path / "a.pt", io.BytesIO()):
        torch.save(checkpoint, place)
        if isinstance(place, io.BytesIO):
            place.seek(0)
        found = torch.load(place, map_location="cpu", weights_only=True)
        assert (
            found["epoch"] == 3
            and found["best"] == math.inf
            and found["shape"] == (1, [2, (3,)])
            and found["name"] == "a"
        )
        other = Net()
        other.load_state_dict(found["model"])
        assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))
    with pytest.raises(RuntimeError, match="unexpected"):
        nn.Linear(1, 1).load_state_dict(found["model"])
    torch.save(nn.Sequential(nn.Linear(2, 1)), tmp_path / "whole.pt")
    whole = torch.load(tmp_path / "whole.pt", weights_only=False)
    assert isinstance(whole[0], nn.Linear) and isinstance(whole[0].weight, nn.Parameter)
    with pytest.raises(RuntimeError, match="weights_only"):
        torch.load(tmp_path / "whole.pt", weights_only=True)
    with pytest.raises(TypeError, match="pickle"):
        torch.save({"f": lambda x: x}, tmp_path / "b.pt")


def test_a_state_shares_memory_with_its_module():
    model = nn.Linear(2, 1)
    state = model.state_dict()
    with torch.no_grad():
        model.weight.fill_(3.0)
        state["bias"].copy_(torch.tensor([7.0]))
    assert numbers(state["weight"]) == [[3, 3]] and numbers(model.bias) == [7]


def test_modules_hold_what_pytorchs_hold():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.plain = torch.ones(1, requires_grad=True)
            self.frozen = nn.Parameter(torch.ones(1), requires_grad=False)
            self.none = None
            self.layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(2)])

    odd = Odd()
    assert [n for n, _ in odd.named_parameters()][:1] == ["frozen"] and "plain" not in odd.state_dict()
    with pytest.raises(TypeError, match="cannot assign"):
        odd.frozen = torch.ones(1)
    odd.layers.insert(0, nn.ReLU())
    assert [type(m).__name__ for m in odd.layers] == ["ReLU", "Linear", "Linear"]
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    assert isinstance(layer.self_attn.out_proj, nn.Linear) and all(
        isinstance(p, nn.Parameter) for p in layer.parameters()
    )
    count = []
    layer.apply(lambda m: count.append(isinstance(m, nn.Linear)))
    assert sum(count) == 3
    nn.init.xavier_uniform_(layer.linear1.weight[:4])
    x = torch.tensor([-1.0, 1.0])
    assert nn.ReLU(inplace=True)(x) is x and numbers(x) == [0, 1]


def test_a_compiled_function_gives_what_it_gives():
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    fast = torch.compile(model)
    x = torch.randn(5, 3)
    assert torch.allclose(fast(x), model(x)) and len(list(fast.parameters())) == 4
    fast(x).sum().backward()
    assert model[0].weight.grad is not None

    @torch.compile
    def f(x):
        return x.sin() + 1 if x.sum() > 0 else x

    with pytest.warns(UserWarning, match="uncompiled"):
        assert torch.equal(f(-torch.ones(2)), -torch.ones(2))


def test_an_optimizer_and_a_schedule_of_ones_own():
    class Plain(optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["steps"] = self.state[p].get("steps", 0) + 1
                    p.add_(p.grad, alpha=-group["lr"])

    w = nn.Parameter(torch.tensor([1.0]))
    mine = Plain([w], 0.5)
    (w * w).sum().backward()
    mine.step()
    assert numbers(w) == [0] and isinstance(optim.Adam([w]), optim.Optimizer)

    class Halving(LRScheduler):
        def get_lr(self):
            return [base / 2**self.last_epoch for base in self.base_lrs]

    sgd = optim.SGD([w], lr=1.0)
    halving = Halving(sgd)
    halving.step()
    assert halving.get_last_lr() == [0.5] and sgd.param_groups[0]["lr"] == 0.5


def test_loaders():
    class Squares(Dataset):
        def __len__(self):
            return 7

        def __getitem__(self, i):
            return torch.tensor([float(i)]), i * i, {"half": i / 2}

    x, y, named = next(iter(DataLoader(Squares(), batch_size=3)))
    assert x.shape == (3, 1) and numbers(y) == [0, 1, 4] and named["half"].dtype is torch.float64
    endless = RandomSampler(Squares(), replacement=True, num_samples=10**10)
    assert next(iter(DataLoader(Squares(), sampler=endless, batch_size=4)))[1].shape == (4,)

    class Backwards(Sampler):
        def __iter__(self):
            return iter([3, 2, 1])

        def __len__(self):
            return 3

    assert [b[1].tolist() for b in DataLoader(Squares(), sampler=Backwards(), batch_size=2)] == [[9, 4], [1]]
    batches = BatchSampler(Backwards(), 2, drop_last=True)
    assert [b[1].tolist() for b in DataLoader(Squares(), batch_sampler=batches)] == [[9, 4]]
    assert DataLoader(Squares(), batch_sampler=batches).batch_size is None
    for keywords in ({"prefetch_factor": 2}, {"persistent_workers": True}, {"num_workers": 1, "prefetch_factor": -1}):
        with pytest.raises(ValueError, match=r"prefetch_factor|persistent_workers"):
            DataLoader(Squares(), **keywords)
    loader = DataLoader(Squares(), num_workers=1, persistent_workers=True)
    assert (loader.prefetch_factor, loader.persistent_workers) == (2, True)
    assert set(WeightedRandomSampler([0.0, 1.0], 5)) == {1}
    parts = random_split(Squares(), [0.5, 0.5], generator=torch.Generator().manual_seed(1))
    assert sorted(len(p) for p in parts) == [3, 4] and isinstance(parts[0][0][0], torch.Tensor)
    torch.manual_seed(0)
    first = [b[0].tolist() for b in DataLoader(TensorDataset(torch.arange(9)), batch_size=9, shuffle=True)]
    second = [b[0].tolist() for b in DataLoader(TensorDataset(torch.arange(9)), batch_size=9, shuffle=True)]
    torch.manual_seed(0)
    again = [b[0].tolist() for b in DataLoader(TensorDataset(torch.arange(9)), batch_size=9, shuffle=True)]
    assert first == again != second and sorted(first[0]) == list(range(9))


def test_the_core_knows_nothing_of_it():
    x = torch.ones(2)
    assert isinstance(x, ad.Tensor) and isinstance(ad.exp(x), ad.Tensor) and type(ad.exp(x)) is ad.Tensor
    assert type(ad.tensor([1.0])) is ad.Tensor and not hasattr(ad.Tensor, "view")


def test_parametrized_layers_hold_parameters_of_pytorchs_kind() -> None:
    utils = torch.nn.utils
    layer = utils.parametrizations.weight_norm(torch.nn.Linear(3, 4))
    model = torch.nn.Sequential(layer, torch.nn.ReLU())
    model(torch.ones(2, 3)).sum().backward()
    assert {type(p) for p in model.parameters()} == {torch.nn.Parameter}
    assert all(p.grad is not None for p in model.parameters())
    layer.weight = torch.ones(4, 3)
    np.testing.assert_allclose(layer.weight.detach().numpy(), np.ones((4, 3)), rtol=1e-6)
    utils.parametrize.remove_parametrizations(layer, "weight")
    assert type(layer.weight) is torch.nn.Parameter and type(layer) is torch.nn.Linear


def test_a_parametrization_of_ones_own_gets_tensors_of_pytorchs_kind() -> None:
    class Symmetric(torch.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, x):
            return x.triu()

    layer = torch.nn.Linear(3, 3)
    torch.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    assert torch.equal(layer.weight, layer.weight.T)
    layer.weight = torch.eye(3)
    assert torch.equal(layer.weight, torch.eye(3))


def test_lazy_layers_become_ordinary_ones_and_keep_their_parameters() -> None:
    layer = torch.nn.LazyLinear(4)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    layer(torch.ones(2, 3)).sum().backward()
    before = layer.weight.detach().numpy().copy()
    optimizer.step()
    assert type(layer) is torch.nn.Linear and type(layer.weight) is torch.nn.Parameter
    np.testing.assert_allclose(layer.weight.detach().numpy(), before - 1.0, rtol=1e-5)


def test_maximize_goes_up_the_gradient() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.25, maximize=True, foreach=False)
    weight.sum().backward()
    optimizer.step()
    assert weight.tolist() == [1.25, 1.25]


def test_running_logsumexp_of_far_apart_numbers():
    x = torch.tensor([0.0, 1000.0, -5.0])
    assert torch.logcumsumexp(x, 0).tolist() == [0.0, 1000.0, 1000.0]
    assert torch.logcumsumexp(torch.tensor(3.0), 0).item() == 3.0


# Distributions --------------------------------------------------------------------------------------------------------------


def test_a_policy_learns_by_log_probabilities():
    torch.manual_seed(0)
    logits = nn.Parameter(torch.zeros(3))
    policy = torch.distributions.Categorical(logits=logits)
    action = policy.sample((1000,))
    assert action.dtype == torch.int64 and set(action.unique().tolist()) == {0, 1, 2}
    loss = -(policy.log_prob(action) * (action == 1).float()).mean()
    loss.backward()
    assert logits.grad[1] < 0 < logits.grad[0]


def test_a_draw_differentiates_and_divergences_are_there():
    D = torch.distributions
    mu, log_sigma = torch.zeros(4, requires_grad=True), torch.zeros(4, requires_grad=True)
    q = D.Independent(D.Normal(mu, log_sigma.exp()), 1)
    z = q.rsample()
    z.sum().backward()
    assert numbers(mu.grad) == [1, 1, 1, 1] and q.log_prob(z).shape == ()
    prior = D.Independent(D.Normal(torch.ones(4), 1.0), 1)
    assert D.kl_divergence(q, prior).item() == pytest.approx(2.0)
    with pytest.raises(NotImplementedError, match="average"):
        D.kl_divergence(q, D.Dirichlet(torch.ones(4)))


def test_parameters_and_values_are_checked():
    with pytest.raises(ValueError, match="scale"):
        torch.distributions.Normal(0.0, -1.0)
    with pytest.raises(ValueError, match="must lie in"):
        torch.distributions.Bernoulli(0.5).log_prob(torch.tensor(2.0))
    with pytest.raises(AttributeError, match="nearest name is torch\\.distributions\\.Normal"):
        torch.distributions.Norml
    assert torch.distributions.Uniform(0, 1, validate_args=False).log_prob(torch.tensor(2.0)) == -math.inf


def test_second_derivatives_by_functional():
    x = torch.tensor([1.0, 2.0])
    assert numbers(torch.autograd.functional.hessian(lambda x: (x**3).sum(), x)) == [[6, 0], [0, 12]]
    value, product = torch.autograd.functional.vhp(lambda x: (x**3).sum(), x, torch.ones(2))
    assert value.item() == 9 and numbers(product) == [6, 12]


# Signals, histograms, layouts ---------------------------------------------------------------------------------------------


def test_a_signal_comes_back_from_its_short_time_transform():
    torch.manual_seed(0)
    x = torch.randn(2, 50).requires_grad_(True)
    window = torch.hann_window(16)
    spectrum = torch.stft(x, 16, hop_length=4, window=window, return_complex=True)
    assert spectrum.shape == (2, 9, 13) and spectrum.dtype == torch.complex64
    back = torch.istft(spectrum, 16, hop_length=4, window=window, length=50)
    assert torch.allclose(back, x, atol=1e-5)
    back[0, 3].backward()
    assert x.grad[0, 3].item() == pytest.approx(1.0, abs=1e-5) and abs(x.grad.sum().item() - 1) < 1e-4
    with pytest.raises(RuntimeError, match="return_complex"):
        torch.stft(x, 16)
    with pytest.raises(RuntimeError, match="cover"):
        torch.istft(spectrum, 16, hop_length=4, window=torch.zeros(16))


def test_histograms_of_numbers_and_points():
    counts, edges = torch.histogram(torch.tensor([1.0, 2.0, 2.5, 4.0]), 3)
    assert numbers(counts) == [1, 2, 1] and numbers(edges) == [1, 2, 3, 4]
    found = torch.histogramdd(
        torch.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 0.2]]), [2, 2], weight=torch.tensor([1.0, 2.0, 3.0])
    )
    assert numbers(found.hist) == [[1, 0], [3, 2]]


def test_running_extremes_under_transformations():
    x = torch.tensor([[1.0, 3.0, 2.0], [4.0, 0.0, 5.0]])
    found = torch.func.vmap(lambda r: r.cummax(0))(x)
    assert numbers(found[0]) == [[1, 3, 3], [4, 4, 5]] and numbers(found[1]) == [[0, 1, 1], [0, 0, 2]]
    assert numbers(torch.tensor([2.0, 1.0, 1.0]).cummin(0)[1]) == [0, 1, 2]


def test_layouts_and_memory_formats():
    x = torch.zeros(2, 3, 4, 4, layout=torch.strided)
    assert x.layout is torch.strided and x.contiguous(memory_format=torch.channels_last).shape == x.shape
    with pytest.raises(RuntimeError, match="strided"):
        torch.zeros(2, layout="sparse")


# What random comparison with PyTorch has found ------------------------------------------------------------------------------


def test_quotients_of_integers_are_floating_before_they_are_aligned():
    small = torch.tensor([4, 2], dtype=torch.uint8)
    number = torch.tensor(-4)
    assert numbers(number / small) == [-1, -2] and numbers(small / number) == [-1, -0.5]
    assert numbers(torch.div(number, small)) == [-1, -2]
    assert numbers(torch.xlogy(number, small)) == pytest.approx([-4 * math.log(4), -4 * math.log(2)])
    assert numbers(torch.atan2(number, small)) == pytest.approx([-math.pi / 4, math.atan2(-4, 2)])


def test_fmod_keeps_digits_and_goes_with_infinity():
    x = torch.tensor([5.3, -5.3, 0.0], dtype=torch.float64, requires_grad=True)
    assert numbers(torch.fmod(x, math.inf)) == [5.3, -5.3, 0]
    found = torch.fmod(x, 0.1)
    assert numbers(found) == [math.fmod(5.3, 0.1), math.fmod(-5.3, 0.1), 0]
    found.sum().backward()
    assert numbers(x.grad) == [1, 1, 1]
    divisor = torch.tensor(-2.0, dtype=torch.float64, requires_grad=True)
    torch.fmod(x.detach(), divisor).sum().backward()
    assert divisor.grad.item() == 0.0  # 2 and -2 whole quotients
    torch.fmod(torch.tensor([7.0]), divisor).sum().backward()
    assert divisor.grad.item() == 3.0


def test_small_ones():
    assert numbers(torch.sign(torch.tensor([4, 0], dtype=torch.uint8))) == [1, 0]
    assert numbers(torch.sign(torch.tensor([math.nan, -2.0]))) == [0, -1]
    x = torch.tensor([1.0, 0.0])
    assert numbers(x.all(dim=())) == numbers(x.any(dim=())) == [True, False] and x.sum(dim=()).item() == 1
    assert torch.var(torch.tensor(2.0), 0, keepdim=True).shape == ()
    assert torch.nextafter(torch.tensor([1.0]), torch.tensor([2])).dtype == torch.float32
    assert torch.gcd(torch.tensor([4], dtype=torch.uint8), torch.tensor(6)).dtype == torch.uint8


# Arguments ----------------------------------------------------------------------------------------------------------------


class _Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2.01 * x


def test_gradcheck_takes_its_tolerances_at_their_word():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([1.0 + 2.0j], dtype=torch.complex128, requires_grad=True)
    check = torch.autograd.gradcheck
    assert check(lambda x, z: (x.sin().sum() * z, x**2), (x, z), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x, z: (x.sin().sum() * z * z, x**3), (x, z), check_fwd_over_rev=True)
    with pytest.raises(torch.autograd.GradcheckError, match=r"is 4\.02, the difference 4 "):
        check(_Wrong.apply, x)
    assert check(_Wrong.apply, x, rtol=0.02) and check(_Wrong.apply, x, atol=0.1)
    assert not check(_Wrong.apply, x, raise_exception=False)
    assert check(lambda x: x.abs(), torch.tensor([1e-3], dtype=torch.float64, requires_grad=True))
    assert not check(
        torch.abs, torch.tensor([1e-3], dtype=torch.float64, requires_grad=True), eps=1e-2, raise_exception=False
    )
    with pytest.raises(TypeError, match="check_batched_grad=True isn't here"):
        check(torch.sin, x, check_batched_grad=True)
    with pytest.raises(torch.autograd.GradcheckError, match="not the same when it is computed twice"):
        check(lambda x: torch.nn.functional.dropout(x, 0.5) * torch.rand(2).double(), x)


def test_func_gives_what_comes_beside():
    x = torch.tensor([1.0, 2.0])

    def f(v):
        return v**2, v.sum()

    assert torch.func.jvp(f, (x,), (x,), has_aux=True)[2].item() == 3
    assert torch.func.vjp(f, x, has_aux=True)[2].item() == 3
    assert torch.func.jacrev(f, has_aux=True)(x)[1].item() == torch.func.jacfwd(f, has_aux=True)(x)[1].item() == 3
    (a, b), aux = torch.func.grad(lambda a, b: ((a * b).sum(), a), argnums=(0, 1), has_aux=True)(x, 2 * x)
    assert (a.tolist(), b.tolist(), aux.tolist()) == ([2.0, 4.0], [1.0, 2.0], [1.0, 2.0])
    assert torch.func.vmap(torch.sin, chunk_size=1)(x).tolist() == torch.sin(x).tolist()


@pytest.mark.parametrize(("call", "name"), [
    (lambda x: torch.func.jvp(torch.sin, (x,), (x,), strict=True), "strict"),
    (lambda x: torch.gather(x, 0, torch.tensor([0]), sparse_grad=True), "sparse_grad"),
    (lambda x: torch.zeros(2, names=("a",)), "names"),
    (lambda x: torch.linalg.svd(x.reshape(1, 2), driver="gesvd"), "driver"),
    (lambda x: torch.autograd.grad(x.sum(), x, only_inputs=False), "only_inputs"),
    (lambda x: torch.optim.SGD([x], lr=0.1, differentiable=True), "differentiable"),
    (lambda x: torch.nn.Linear(2, 3, foo=1), "foo"),
    (lambda x: torch.nn.Tanh(inplace=True), "inplace"),
    (lambda x: torch.utils.checkpoint.checkpoint(torch.sin, x, context_fn=lambda: None, use_reentrant=False), "context_fn"),
    (lambda x: torch.compile(torch.sin, backend=lambda graph, inputs: graph), "backend"),
    (lambda x: torch.nn.DataParallel(torch.nn.Linear(2, 2), dim=1), "dim"),
])  # fmt: skip
def test_an_argument_without_a_meaning_is_refused_by_name(call, name):
    with pytest.raises(TypeError, match=name):
        call(torch.tensor([1.0, 2.0], requires_grad=True))


def test_arguments_that_used_to_be_ignored():
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(2)).sum().backward()
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad.tolist() == [[0.0, 0.0]] * 2
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0, weight_decay=0.5)
    before = layer.weight.detach().clone()
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()  # a gradient of zeros still decays
    assert torch.allclose(layer.weight, before / 2)
    optimizer.zero_grad()
    assert layer.weight.grad is None
    state = {k: v.double() for k, v in layer.state_dict().items()}
    layer.load_state_dict(state)
    assert layer.weight.dtype == torch.float32
    layer.load_state_dict(state, assign=True)
    assert layer.weight.dtype == torch.float64 and isinstance(layer.weight, torch.nn.Parameter)
    with pytest.warns(UserWarning, match="dim"):
        assert torch.allclose(torch.nn.Softmax()(torch.ones(2, 3, 4)).sum(0), torch.ones(3, 4))
    x = torch.ones(3)
    assert x.to(torch.float32, False, True) is not x and x.to(torch.float32) is x
    assert torch.nn.Embedding(3, 2, _freeze=True).weight.requires_grad is False
    assert torch.nn.MSELoss()(input=x, target=2 * x).item() == 1.0
    tall = torch.zeros(7, 3).fill_diagonal_(1.0, wrap=True)
    assert tall.sum(1).tolist() == [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(torch.optim.SGD([layer.weight], lr=1.0), 10)
    schedule.step(2.5)
    assert schedule.get_last_lr()[0] == pytest.approx((1 + np.cos(np.pi / 4)) / 2)
    with pytest.raises(RuntimeError):
        torch.geqrf(torch.ones(2, 2, requires_grad=True))
    A = torch.diag(torch.tensor([1.0, 1e-3], dtype=torch.float64))
    found = torch.linalg.lstsq(A, torch.ones(2, 1, dtype=torch.float64), rcond=1e-2)
    assert found.rank.item() == 1 and found.solution.tolist() == [[1.0], [0.0]]


def test_functions_of_torch_have_their_own_places():
    x = torch.arange(12.0).reshape(2, 2, 3)
    mean, variance, weight, bias = torch.zeros(2), torch.ones(2), torch.tensor([2.0, 2.0]), torch.ones(2)
    found = torch.batch_norm(x, weight, bias, mean, variance, False, 0.1, 0.0, True)
    assert torch.allclose(found, 2 * x + 1)
    table = torch.arange(6.0).reshape(3, 2)
    assert torch.embedding(table, torch.tensor([2])).tolist() == [[4.0, 5.0]]
    assert torch.kl_div(torch.zeros(2), torch.ones(2)).shape == (2,)
    assert torch.kl_div(torch.zeros(2), torch.ones(2), 2).item() == 0.0
    _, places = torch.adaptive_max_pool1d(x, 1)
    assert places.flatten().tolist() == [2, 2, 2, 2]
    with pytest.raises(RuntimeError, match=r"nn\.functional\.embedding_bag"):
        torch.embedding_bag(table, torch.tensor([1]), torch.tensor([0]))


def symmetric(n, kind):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(2, n, n)) + (1j * rng.normal(size=(2, n, n)) if kind != "real" else 0.0)
    A[..., range(n), range(n)] *= 0.01  # so that blocks of two are needed
    return A + (A.conj() if kind == "hermitian" else A).swapaxes(-1, -2)


@pytest.mark.parametrize("kind", ["real", "complex", "hermitian"])
def test_ldl_factors_give_back_the_matrix_and_solve_with_it(kind):
    for n in (0, 1, 2, 5, 17):
        A = symmetric(n, kind)
        hermitian = kind == "hermitian"
        LD, pivots = torch.linalg.ldl_factor(torch.tensor(A), hermitian=hermitian)
        assert pivots.dtype == torch.int32 and LD.shape == A.shape and not np.triu(LD.numpy(), 1).any()
        B = np.random.default_rng(1).normal(size=(2, n, 3)).astype(A.dtype)
        X = torch.linalg.ldl_solve(LD, pivots, torch.tensor(B), hermitian=hermitian)
        np.testing.assert_allclose(A @ X.numpy(), B, atol=1e-10)


def test_ldl_factors_as_lapack_lays_them_out():
    _, pivots = torch.linalg.ldl_factor(torch.tensor([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 4.0]]))
    assert pivots.tolist() == [-2, -2, 3]
    info = torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info
    assert info.item() == 1
    with pytest.raises(RuntimeError, match="no derivative"):
        torch.linalg.ldl_factor(torch.eye(2, requires_grad=True))
    with pytest.raises(np.linalg.LinAlgError, match=r"zero on its diagonal.*test_torch"):
        torch.linalg.ldl_factor(torch.zeros(2, 2))


def test_integers_to_negative_powers_are_whole_as_in_pytorch():
    powers = torch.tensor([-1, 0, 2, -3])
    assert (2**powers).tolist() == [0, 1, 4, 0]
    assert ((-1) ** powers).tolist() == [-1, 1, 1, -1]
    assert (torch.tensor([2, 1, -1, 0]) ** torch.tensor([-1, -1, -3, 2])).tolist() == [0, 1, -1, 0]


def test_replicated_padding_repeats_what_negative_widths_leave_out():
    x = torch.arange(4.0).reshape(1, 1, 4)
    assert F.pad(x, (-4, 5), mode="replicate").flatten().tolist() == [3.0] * 5
    assert F.pad(x, (-1, 2), mode="replicate").flatten().tolist() == [1.0, 2.0, 3.0, 3.0, 3.0]
    assert F.pad(x, (2, -5), mode="replicate").flatten().tolist() == [0.0]


def test_complex_numbers_where_pytorch_takes_them():
    z = torch.tensor([1 + 2j, -0.5j])
    silu = torch.nn.functional.silu(z).numpy()
    np.testing.assert_allclose(silu, z.numpy() / (1 + np.exp(-z.numpy())), rtol=1e-6)
    np.testing.assert_allclose(torch.sinc(z).numpy(), np.sinc(z.numpy()), rtol=1e-5)
    np.testing.assert_allclose(torch.logsumexp(z, 0).numpy(), np.log(np.exp(z.numpy()).sum()), rtol=1e-6)
    np.testing.assert_allclose(torch.logaddexp(z, z).numpy(), z.numpy() + np.log(2), rtol=1e-6)


@pytest.mark.parametrize("write", [
    lambda x, z: x.__setitem__(slice(0, 2), z), lambda x, z: x.__setitem__(0, z[0]), lambda x, z: x.copy_(z),
    lambda x, z: x.fill_(z[0]),
    lambda x, z: x.view(1, 2)[0].copy_(z),
])  # fmt: skip
def test_imaginary_parts_that_are_lost_are_told_of(write):
    x, z = torch.zeros(2), torch.tensor([1j, 2j])
    with pytest.warns(UserWarning, match=r"complex values are written into a float32 tensor.*test_torch"):
        write(x, z)
    with pytest.raises(RuntimeError, match="1j doesn't fit a float32 tensor"):
        x.fill_(1j)
    assert torch.tensor([1j, 0]).bool().tolist() == [True, False]


def test_texts_of_numpy_and_arrays_of_other_shapes_in_a_batch():
    assert next(iter(DataLoader([np.str_("a"), np.str_("b")], 2))) == ["a", "b"]
    with pytest.raises(RuntimeError, match=r"shapes \[\(1,\), \(2,\)\]; give a collate_fn"):
        next(iter(DataLoader([np.ones(1), np.ones(2)], 2)))


def test_low_rank_parts_of_a_matrix():
    torch.manual_seed(0)
    x = torch.randn(40, 3) @ torch.randn(3, 20)
    U, S, V = torch.svd_lowrank(x, q=3)
    np.testing.assert_allclose((U * S @ V.mT).numpy(), x.numpy(), atol=1e-4)
    U, S, V = torch.pca_lowrank(x, q=3)
    np.testing.assert_allclose((U * S @ V.mT).numpy(), (x - x.mean(0)).numpy(), atol=1e-4)
    with pytest.raises(ValueError, match="q is at most"):
        torch.svd_lowrank(x, q=21)


PRINTED = {
    "tensor([1., 2.])": lambda: torch.tensor([1.0, 2.0]),
    "tensor(1.5000)": lambda: torch.tensor(1.5),
    "tensor([1.0000e-05, 1.0000e+05])": lambda: torch.tensor([1e-5, 1e5]),
    "tensor([ 1.5000,     nan,     inf, -1.0000])": lambda: torch.tensor([1.5, math.nan, math.inf, -1.0]),
    "tensor([123456.7891])": lambda: torch.tensor([123456.789]),
    "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])": lambda: torch.arange(2000),
    "tensor([], size=(2, 0))": lambda: torch.zeros(2, 0),
    "tensor([1.0000+2.j, 0.5000+0.j])": lambda: torch.tensor([1 + 2j, 0.5]),
    "tensor([1.], dtype=torch.float64)": lambda: torch.tensor([1.0], dtype=torch.float64),
    "tensor([2., 4.], grad_fn=<MulBackward0>)": lambda: torch.tensor([1.0, 2.0], requires_grad=True) * 2,
    "torch.return_types.max(\nvalues=tensor([3.]),\nindices=tensor([1]))": lambda: torch.tensor([[1.0, 3.0]]).max(1),
}


@pytest.mark.parametrize("text", PRINTED)
def test_print_is_laid_out_as_in_pytorch(text):
    assert repr(PRINTED[text]()) == text


def test_print_options():
    torch.set_printoptions(precision=2, linewidth=30)
    try:
        assert repr(torch.linspace(0, 1, 8)) == (
            "tensor([0.00, 0.14, 0.29,\n        0.43, 0.57, 0.71,\n        0.86, 1.00])"
        )
        torch.set_printoptions(sci_mode=True)
        assert repr(torch.tensor(12.5)) == "tensor(1.25e+01)"
    finally:
        torch.set_printoptions(profile="default")
    assert repr(torch.tensor(12.5)) == "tensor(12.5000)" and f"{torch.tensor(12.5)}" == "12.5"


def test_errors_are_of_pytorchs_classes_and_of_the_cores():
    x = torch.ones(2, 3)
    for mistake, kind in [
        (lambda: x + torch.ones(2), ValueError),
        (lambda: -(x > 0), TypeError),
        (lambda: bool(x), ValueError),
    ]:
        for caught in (RuntimeError, kind):
            with pytest.raises(caught, match=r"test_torch.py:\d+\)") as error:
                mistake()
        assert (
            type(error.value).__name__ == "RuntimeError"
            and type(pickle.loads(pickle.dumps(error.value))) is RuntimeError
        )

    class Fussy(nn.Module):
        def forward(self, x):
            raise ValueError("of the user's own")

    with pytest.raises(ValueError, match="own") as error:
        nn.Sequential(Fussy())(x)
    assert type(error.value) is ValueError


def test_calls_that_must_raise():
    x, i = torch.ones(2, 3), torch.tensor([1, 2, 3])
    for mistake in (
        lambda: torch.tensor([300], dtype=torch.uint8), lambda: torch.zeros(2.5), lambda: x[::-1], lambda: i // 0,
        lambda: x @ i, lambda: torch.linalg.solve(torch.eye(2).double(), torch.ones(2)), lambda: nn.Linear(3, 2)(x.double()),
        lambda: torch.bernoulli(torch.full((2,), 2.0)), lambda: x.requires_grad_().numpy(), lambda: optim.SGD(x, lr=0.1),
    ):  # fmt: skip
        with pytest.raises((RuntimeError, TypeError, ValueError), match=r"test_torch.py:\d+\)"):
            mistake()


def test_where_a_matrix_is_singular_is_the_users_line():
    with pytest.raises(np.linalg.LinAlgError, match=r"singular .*test_torch.py:\d+\)"):
        print(torch.linalg.inv(torch.zeros(2, 2)))


def test_numpys_functions_of_tensors():
    x = torch.tensor([1.0, 2.0])
    assert type(np.float64(2) * x) is torch.Tensor and type(np.sin(x)) is torch.Tensor
    assert type(np.stack([x, x])) is np.ndarray and (torch.ones(1, dtype=torch.uint8) + 300).tolist() == [45]
    assert torch.pow(2, x).tolist() == [2.0, 4.0] and torch.add(1, 2).item() == 3


def test_where_a_view_begins_in_memory():
    x = torch.zeros(2, 3)
    assert [t.storage_offset() for t in (x, x[1], x[:, 1], x[1, 2], x.t()[2:])] == [0, 3, 1, 5, 2]
    assert x[None].stride() == (6, 3, 1)


def test_a_module_and_its_state_in_print():
    layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU()])
    assert (
        repr(layers) == "ModuleList(\n  (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)\n  (2): ReLU()\n)"
    )
    assert repr(layers.load_state_dict(layers.state_dict())) == "<All keys matched successfully>"
    assert repr(optim.SGD(layers.parameters(), lr=0.1)).startswith("SGD (\nParameter Group 0\n    dampening: ")


@pytest.mark.usefixtures("equal_bits")
def test_weights_that_are_computed():
    torch.manual_seed(0)
    layer = nn.utils.weight_norm(nn.Linear(3, 2))
    before = layer(torch.ones(1, 3))
    assert sorted(layer.state_dict()) == ["bias", "weight_g", "weight_v"] and "weight" not in dict(
        layer.named_parameters()
    )
    twin = copy.deepcopy(layer)
    with torch.no_grad():
        layer.weight_g *= 2
    assert not torch.equal(layer(torch.ones(1, 3)), before) and torch.equal(twin(torch.ones(1, 3)), before)
    nn.utils.remove_weight_norm(twin)
    assert torch.allclose(twin(torch.ones(1, 3)), before) and sorted(twin.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="has no weight_norm of 'weight'"):
        nn.utils.remove_weight_norm(twin)
    spectral = nn.utils.spectral_norm(nn.Linear(4, 4), n_power_iterations=30)
    spectral(torch.ones(1, 4))
    assert torch.linalg.matrix_norm(spectral.weight, 2).item() == pytest.approx(1, abs=1e-3)


def test_weights_that_are_computed_are_trained_and_compiled():
    torch.manual_seed(0)
    layer = nn.utils.spectral_norm(nn.Linear(3, 1))
    optimizer = optim.SGD(layer.parameters(), lr=0.1)
    x, y = torch.randn(8, 3), torch.zeros(8, 1)

    def step():
        optimizer.zero_grad()
        loss = F.mse_loss(layer(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    losses = [step() for _ in range(5)]
    assert losses[-1] < losses[0] and layer.weight_orig.grad is not None
    frozen = layer.eval()
    assert torch.allclose(torch.compile(frozen)(x), frozen(x))


def test_windows_of_a_text_are_one_graph(monkeypatch):
    evaluation = importlib.import_module("adjoint.execution.evaluate")
    keys, plain = set(), evaluation.key_of
    monkeypatch.setattr(evaluation, "key_of", lambda c: keys.add(plain(c)) or plain(c))
    text, table = torch.tensor([i % 7 for i in range(40)]), torch.randn(7, 3)
    for i in range(0, 30, 5):
        window = text[i : i + 4]
        grown = torch.cat((window, text[i : i + 1]))
        np.testing.assert_array_equal(
            table[grown].sum(0).numpy(), table.numpy()[[*window.tolist(), window[0].item()]].sum(0)
        )
    assert len(keys) == 1
    row = text[3:9]
    text[4] = 100  # what is written to the text reaches what was read of it, and the other way round
    row[0] = -1
    assert row.tolist() == [-1, 100, 5, 6, 0, 1] and text[3].item() == -1
    with pytest.raises(IndexError):
        text[40]
    with pytest.raises((ValueError, RuntimeError), match=r"cat"):
        torch.cat((torch.ones(2, 3), torch.ones(2, 4)))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 16, 17, 33, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_few_random_numbers_are_those_that_the_core_draws(dtype, count):
    torch.manual_seed(3)
    found, after = torch.randn(count, dtype=getattr(torch, dtype)), torch.rand(5)
    torch.manual_seed(3)
    expected = ad.random.normal((count,), dtype=dtype).numpy()
    np.testing.assert_allclose(found.numpy(), expected, 1e-5 if dtype == "float32" else 1e-12, 1e-6)
    np.testing.assert_array_equal(after.numpy(), ad.random.uniform((5,)).numpy())


@pytest.mark.parametrize("count", [0, 3, 32, 33, 64, 512, 1024])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_drawn_in_a_row_are_those_drawn_from_there(dtype, count):
    generator, other = torch.Generator().manual_seed(5), ad.random.Generator(5)
    rows, states = [], []
    for i in range(40):  # computed several at a time, but for the draw of another kind between them
        states.append(generator.get_state())
        rows.append(torch.randn(count, generator=generator, dtype=getattr(torch, dtype)).numpy())
        expected = other.normal((count,), dtype=dtype).numpy()
        np.testing.assert_allclose(rows[-1], expected, 1e-5 if dtype == "float32" else 1e-12, 1e-6)
        if i == 17:
            np.testing.assert_array_equal(torch.rand(3, generator=generator).numpy(), other.uniform((3,)).numpy())
    for state, row in list(zip(states, rows, strict=True))[::-1]:  # each alone, to the last bit
        generator.set_state(state)
        again = torch.randn(count, generator=generator, dtype=getattr(torch, dtype)).numpy()
        assert again.tobytes() == row.tobytes() and not (count and np.shares_memory(again, row))


def test_several_roots_are_one_reverse_pass():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, calls = x * x, []
    y.register_hook(lambda g: calls.append(g.tolist()))
    torch.autograd.backward([y.sum(), (3 * y).mean()])
    assert calls == [[2.5, 2.5]] and x.grad.tolist() == [5.0, 10.0]
    x.grad = None
    with pytest.raises(RuntimeError, match="requires a gradient"):
        torch.autograd.backward([y.sum(), torch.ones(2).mean()])
    assert x.grad is None


def test_gradients_go_to_chosen_inputs_and_through_hooks():
    x, w = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    calls = []
    w.register_hook(lambda g: calls.append("w"))
    y = x * w
    (y * y).sum().backward(inputs=[y, x])
    assert y.retains_grad and y.grad.tolist() == [6.0, 16.0] and x.grad.tolist() == [18.0, 64.0]
    assert w.grad is None and w.requires_grad and not calls
    x.register_hook(lambda g: g * 10)
    first, second = torch.autograd.grad((x * w).sum(), [x, x])
    assert first.tolist() == second.tolist() == [30.0, 40.0]


def test_what_is_frozen_or_cast_keeps_its_gradient_and_its_hooks():
    layer = torch.nn.Linear(2, 1)
    layer.weight.register_hook(lambda g: g * 2)
    layer(torch.ones(1, 2)).sum().backward()
    layer.double()
    assert layer.weight.grad.dtype == torch.float64 and layer.weight.grad.tolist() == [[2.0, 2.0]]
    layer(torch.ones(1, 2, dtype=torch.float64)).sum().backward()
    assert layer.weight.grad.tolist() == [[4.0, 4.0]]
    layer.weight.requires_grad_(False)
    for _ in range(2):
        with torch.no_grad():
            layer.weight -= 0.1 * layer.weight.grad
        layer.weight.data.mul_(2)
    assert layer.weight.grad.tolist() == [[4.0, 4.0]] and not layer.weight.requires_grad
    torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    assert layer.weight.grad.norm() < 1.0
    layer.float()
    layer.requires_grad_(True)
    assert layer.weight.grad.dtype == torch.float32
    torch.optim.SGD(layer.parameters(), lr=0.1).zero_grad(set_to_none=False)
    assert layer.weight.grad.tolist() == [[0.0, 0.0]]


def test_states_of_old_batch_norms_lack_a_count():
    layer = torch.nn.BatchNorm1d(2)
    state = {k: v for k, v in layer.state_dict().items() if k != "num_batches_tracked"}
    assert not layer.load_state_dict(state).missing_keys and layer.num_batches_tracked == 0


def test_compiled_functions_scatter() -> None:
    """Positions that only a run knows: nothing asks for their values while the function is traced."""
    x, s, i = torch.zeros(3, 4), torch.arange(1.0, 5.0).reshape(1, 4), torch.tensor([[0, 2, 0, 1]])
    functions = [
        lambda x, i, s: x.scatter_add(1, i, s), lambda x, i, s: x.scatter(0, i, s),
        lambda x, i, s: x.index_add(0, i[0], s.expand(4, 4)), lambda x, i, s: x.scatter_reduce(1, i, s, "amax"),
        lambda x, i, s: x.scatter_reduce(1, i, s, "mean"), lambda x, i, s: x.scatter_reduce(1, i, s, "prod", include_self=False),
    ]  # fmt: skip
    for f in functions:
        compiled = torch.compile(f, fullgraph=True)
        assert compiled(x, i, s).tolist() == f(x, i, s).tolist()
        for outside in (i - 1, i + 4):  # never an element of the next row
            with pytest.raises((RuntimeError, IndexError), match=r"outside|out of bounds"):
                f(x, outside, s)
            with pytest.raises((RuntimeError, IndexError), match=r"outside|out of bounds"):
                compiled(x, outside, s).tolist()


def test_elements_are_read_at_no_position_from_the_end() -> None:
    """As in PyTorch, where -1 is out of range for these, be the positions known, computed or a compiled function's argument."""
    x, i = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), torch.tensor([[0, 2], [1, 0]])
    functions = [
        (lambda x, i: x.gather(1, i), [[1.0, 3.0], [5.0, 4.0]]),
        (lambda x, i: x.index_select(1, i[0]), [[1.0, 3.0], [4.0, 6.0]]),
    ]
    for f, wanted in functions:
        compiled = torch.compile(f, fullgraph=True)
        ways = (f, lambda x, i, f=f: f(x, i * 1), compiled, lambda x, i, c=compiled: c(x.clone().requires_grad_(), i))
        for way in ways:
            assert way(x, i).tolist() == wanted
            for outside in (i - 1, i + 1):
                with pytest.raises((RuntimeError, IndexError), match=r"outside|out of bounds"):
                    way(x, outside).tolist()


@pytest.mark.parametrize(
    ("file", "name"),
    [("distributions.categorical", "Categorical"), ("distributions.studentT", "StudentT"), ("optim.optimizer", "Optimizer"),
     ("optim.adam", "Adam"), ("utils.data.sampler", "SubsetRandomSampler"), ("autograd.function", "Function"),
     ("autograd.variable", "Variable"), ("nn.utils.clip_grad", "clip_grad_norm_"), ("nn.utils.weight_norm", "weight_norm")],
)  # fmt: skip
def test_pytorchs_files_may_be_imported_from(file, name):
    package = importlib.import_module(f"adjoint.torch.{file.rpartition('.')[0]}")
    found = importlib.import_module(f"adjoint.torch.{file}")
    assert getattr(found, name) is getattr(package, name) and callable(getattr(package, name))
    with pytest.raises(AttributeError):
        getattr(found, "nothing_of_this_name")  # noqa: B009


def test_which_tensors_a_transformed_function_gets_is_said():
    for transformed in (ad.jit, ad.grad, ad.vmap):
        with pytest.raises(AttributeError, match=r"torch\.compile and torch\.func PyTorch's"):
            transformed(lambda x: x.unsqueeze(0).sum())(torch.ones(3))
    assert torch.compile(lambda x: x.unsqueeze(0).sum())(torch.ones(3)).item() == 3.0


def test_bases_of_layers_answer_what_a_layer_is() -> None:
    from adjoint.torch.nn.modules.batchnorm import _BatchNorm, _NormBase
    from adjoint.torch.nn.modules.conv import _ConvNd, _ConvTransposeNd
    from adjoint.torch.nn.modules.dropout import _DropoutNd
    from adjoint.torch.nn.modules.loss import _Loss, _WeightedLoss
    from adjoint.torch.nn.modules.utils import _ntuple, _pair, _reverse_repeat_tuple, _triple

    nn = torch.nn
    assert isinstance(nn.BatchNorm2d(3), _BatchNorm) and not isinstance(nn.LayerNorm(3), _BatchNorm)
    assert isinstance(nn.InstanceNorm1d(3), _NormBase) and not isinstance(nn.InstanceNorm1d(3), _BatchNorm)
    assert (
        issubclass(nn.Conv1d, _ConvNd)
        and not issubclass(nn.Conv1d, _ConvTransposeNd)
        and not issubclass(nn.Linear, _ConvNd)
    )
    assert issubclass(nn.ConvTranspose2d, _ConvTransposeNd) and isinstance(nn.Dropout2d(), _DropoutNd)
    assert (
        isinstance(nn.MSELoss(), _Loss)
        and isinstance(nn.NLLLoss(), _WeightedLoss)
        and not isinstance(nn.L1Loss(), _WeightedLoss)
    )
    with pytest.raises(TypeError, match=r"derive from nn\.Conv1d"):
        _ConvNd(3, 4)
    assert (_pair(2), _triple((1, 2, 3)), _ntuple(4)(0), _reverse_repeat_tuple((1, 2), 2)) == (
        (2, 2),
        (1, 2, 3),
        (0,) * 4,
        (2, 2, 1, 1),
    )

    class Dice(_Loss):
        def forward(self, input, target):
            overlap = 1 - 2 * (input * target).sum(1) / (input + target).sum(1)
            return overlap.mean() if self.reduction == "mean" else overlap.sum()

    class Weighted(_WeightedLoss):
        pass

    given, target = torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    assert Dice()(given, target).item() == 0.25 and Dice(reduction="sum")(given, target).item() == 0.5
    assert Dice(False).reduction == "sum" and Dice(None, False).reduction == "none" and isinstance(Dice(), _Loss)
    assert not isinstance(nn.MSELoss(), Dice) and not isinstance(Dice(), _WeightedLoss)
    assert "weight" in Weighted(torch.ones(2)).state_dict()


def test_numbers_for_tensorboard(tmp_path: Path) -> None:
    from adjoint.torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss/train", torch.tensor(0.5, requires_grad=True), 1)
        writer.add_scalars("accuracy", {"train": 0.25, "test": 2}, 3)
        with pytest.raises(RuntimeError, match="'a' is no number"):
            writer.add_scalar("a", "b", 1)
        with pytest.raises(AttributeError, match="numbers alone"):
            writer.add_histogram("a", torch.ones(3))
    SummaryWriter(tmp_path).close()
    found = list(ad.train.read_events(tmp_path))
    assert found == [(1, {"loss/train": 0.5}), (3, {"accuracy/train": 0.25, "accuracy/test": 2.0})]


def test_shares_of_the_samples() -> None:
    from adjoint.torch.types import Number
    from adjoint.torch.utils.data.distributed import DistributedSampler

    samplers = [DistributedSampler(range(10), num_replicas=3, rank=k, seed=5) for k in range(3)]
    assert isinstance(1.0, Number) and [len(s) for s in samplers] == [4, 4, 4]
    first = [list(s) for s in samplers]
    assert sorted({x for s in first for x in s}) == list(range(10))
    for s in samplers:
        s.set_epoch(1)
    assert [list(s) for s in samplers] != first and list(DistributedSampler(range(3), shuffle=False)) == [0, 1, 2]
    loader = torch.utils.data.DataLoader(list(range(10)), batch_size=2, sampler=samplers[0])
    assert sum(len(batch) for batch in loader) == 4


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])", "ad.execution.explain"),
        ("torch.jit.trace(len, 1)", "torch.compile"),
        ("torch.jit.save(1, 'a.pt')", "safetensors"),
        ("torch.fx.symbolic_trace(len)", "ad.draw"),
        ("torch.export.export(len, ())", "safetensors"),
        ("torch.ao.quantization.quantize_dynamic(1)", "half"),
        ("torch.multiprocessing.spawn(len)", "ad.distributed"),
        ("torch.autograd.graph.saved_tensors_hooks(len, len)", "checkpoint"),
        ("torch.nn.attention.flex_attention.flex_attention(1)", "attn_mask"),
        ("torch.utils.benchmark.Timer('1')", "timeit"),
        ("torch.utils.cpp_extension.load('add', ['add.cpp'])", "autograd.Function"),
        ("torch.hub.get_dir()", "torch.load"),
        ("torch.cuda.Stream()", "CPU"),
        ("torch.distributed.init_process_group('gloo')", "ad.distributed"),
        ("torch.nn.Linear(1, 1).register_backward_hook(len)", "register_full_backward_hook"),
        ("torch._foreach_add([torch.ones(1)], [1.0, 2.0])", "1 tensors and a list of 2"),
        ("torch.set_float32_matmul_precision('low')", "highest"),
        ("torch.nn.utils.clip_grad_norm_(torch.nn.Linear(1, 1).parameters(), 1.0, foreach=None, typo=1)", "typo"),
    ],
)
def test_what_is_not_here_says_what_to_do(call, said):
    with pytest.raises((RuntimeError, AttributeError, TypeError), match=said):
        eval(call)


@pytest.mark.parametrize(
    ("name", "arguments", "shape"),
    [
        ("GroupNorm", (2, 4), (2, 4, 6)), ("LayerNorm", (4,), (2, 4)), ("BatchNorm1d", (4,), (3, 4)), ("Linear", (4, 3), (2, 4)),
        ("Conv1d", (4, 2, 1), (2, 4, 6)), ("Conv2d", (4, 2, 1), (2, 4, 6, 6)), ("ConvTranspose2d", (4, 2, 1), (2, 4, 6, 6)),
        ("MaxPool2d", (2,), (2, 4, 6, 6)), ("AvgPool1d", (2,), (2, 4, 6)), ("AdaptiveAvgPool2d", (2,), (2, 4, 6, 6)),
        ("ReLU", (), (2, 4)), ("GELU", (), (2, 4)), ("Softmax", (1,), (2, 4)), ("PReLU", (), (2, 4)), ("Identity", (), (2, 4)),
        ("Upsample", (None, 2), (2, 4, 6)), ("PixelShuffle", (2,), (2, 4, 6, 6)), ("LSTM", (4, 4), (3, 2, 4)),
        ("GRUCell", (4, 4), (2, 4)), ("TransformerEncoderLayer", (4, 2), (3, 2, 4)), ("Bilinear", (4, 4, 3), (2, 4)),
        ("MSELoss", (), (2, 4)), ("CosineSimilarity", (), (2, 4)), ("MultiheadAttention", (4, 2), (3, 2, 4)),
    ],
)  # fmt: skip
def test_what_a_subclass_gets_from_forward_is_of_this_kind(name, arguments, shape):
    base, found = getattr(torch.nn, name), []

    class Own(base):
        def forward(self, *inputs):
            found.append(super().forward(*inputs))
            return found[-1]

    x = torch.rand(*shape)
    Own(*arguments)(*[x] * {"Bilinear": 2, "MSELoss": 2, "CosineSimilarity": 2, "MultiheadAttention": 3}.get(name, 1))
    results = found[0] if isinstance(found[0], tuple) else found
    assert all(isinstance(t, torch.Tensor) for part in results for t in (part if isinstance(part, tuple) else [part]))


def test_marks_that_programs_put_on_tensors():
    weight, row = torch.nn.Parameter(torch.ones(2)), torch.ones(2, 2)[0]
    weight._no_weight_decay = True
    weight._optim = {"lr": 0.1}
    row.require_grad = False
    assert weight._no_weight_decay and not row.require_grad and not hasattr(row, "_no_weight_decay")
    decayed = [p for p in [weight, torch.nn.Parameter(torch.ones(2))] if not getattr(p, "_no_weight_decay", False)]
    assert len(decayed) == 1
    assert copy.copy(weight)._optim is weight._optim and not hasattr(copy.deepcopy(weight), "_optim")
    assert copy.deepcopy(row).require_grad is False
    del weight._optim
    with pytest.raises(AttributeError, match="_optim"):
        weight._optim
    with pytest.raises(AttributeError):
        weight._no_weight_decai = True
    weight._optim, alive = {"p": weight}, weakref.ref(weight)
    del weight, decayed
    gc.collect()
    assert alive() is None  # what refers to its own tensor is freed with it
    row.lr = 2.0
    with pytest.raises(RuntimeError, match="compiled functions"):
        torch.compile(lambda x: x * row.lr)(torch.ones(2))


def test_a_scripted_module_is_a_module():
    class Double(torch.jit.ScriptModule):
        @torch.jit.script_method
        def forward(self, x):
            return self.times(x, 2)

        @torch.jit.ignore()
        def times(self, x, n):
            return x * n

    assert Double()(torch.ones(2)).tolist() == [2.0, 2.0]
    assert torch.jit.annotations.List[int] == list[int]
    assert not isinstance(torch.nn.Linear(1, 1), torch.jit.ScriptModule)


def test_tensors_made_flat_are_what_they_were():
    tensors = [torch.arange(6.0).view(2, 3), torch.tensor(7.0), torch.ones(0, 2), torch.arange(2.0)]
    flat = torch._utils._flatten_dense_tensors(tensors)
    assert flat.tolist() == [0, 1, 2, 3, 4, 5, 7, 0, 1]
    found = torch._utils._unflatten_dense_tensors(flat, tensors)
    assert [x.tolist() for x in found] == [x.tolist() for x in tensors]
    assert torch.hub.HASH_REGEX.search("resnet18-f37072fd.pth").group(1) == "f37072fd"


def test_a_norm_that_is_not_finite_is_a_runtime_error():
    p = torch.ones(2, requires_grad=True)
    (p * float("nan")).sum().backward()
    with pytest.raises(RuntimeError, match="nan"):
        torch.nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)


def loaded(loader):
    return [row for batch in loader for row in batch.tolist()]


@pytest.mark.parametrize("workers", [0, 1])
def test_the_order_of_a_loader_comes_from_the_state_of_its_generator(workers):
    generator = torch.Generator().manual_seed(3)
    loader = torch.utils.data.DataLoader(range(20), 4, shuffle=True, generator=generator, num_workers=workers)
    first = loaded(loader)
    state = generator.get_state()
    second = loaded(loader)
    assert first != second and sorted(first) == list(range(20))
    other = torch.utils.data.DataLoader(range(20), 4, shuffle=True, generator=generator)  # draws nothing yet
    generator.set_state(state)
    assert loaded(other) == second


def test_a_run_that_goes_on_with_the_random_state_that_was_saved_sees_the_same_batches():
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(range(20), 4, shuffle=True)
    loaded(loader)
    state = torch.get_rng_state()
    expected = loaded(loader), torch.randn(2).tolist()
    torch.manual_seed(9)
    loader = torch.utils.data.DataLoader(range(20), 4, shuffle=True)
    torch.set_rng_state(state)
    assert (loaded(loader), torch.randn(2).tolist()) == expected


def test_a_loader_that_is_left_in_the_middle_goes_on_from_its_state():
    loader = torch.utils.data.DataLoader(range(20), 4, shuffle=True)
    batches = iter(loader)
    seen = [*next(batches).tolist(), *next(batches).tolist()]
    other = torch.utils.data.DataLoader(range(20), 4, shuffle=True)
    other.load_state_dict(loader.state_dict())
    assert sorted(seen + loaded(other)) == list(range(20))
    pairs = list(zip(loader, loader, strict=True))  # each has an order of its own
    assert [a.tolist() for a, _ in pairs] != [b.tolist() for _, b in pairs]


def test_sparse_matrices_take_other_floating_dtypes():
    values = torch.tensor([1.5, 2.5], requires_grad=True)
    s = torch.sparse_coo_tensor([[0, 1], [1, 0]], values, (2, 2))
    for other, name in ((s.double(), "float64"), (s.double().float(), "float32")):
        dense = other.to_dense()
        assert (dense.dtype.name, dense.tolist()) == (name, [[0.0, 1.5], [2.5, 0.0]])
    (s.double() @ torch.ones(2, 1, dtype=torch.float64)).sum().backward()
    assert values.grad.tolist() == [1.0, 1.0]


def test_steps_that_are_zero_as_integers_raise():
    with pytest.raises(RuntimeError, match=r"steps of 0\.5 are 0 as int64"):
        torch.arange(0, 2, 0.5, dtype=torch.int64)
    assert torch.arange(1.9, 5.2, 2.9, dtype=torch.int64).tolist() == [1, 3]


def test_cat_is_named_as_it_was_called():
    with pytest.raises(RuntimeError, match=r"^cat: shapes \(2, 3\), \(2,\)"):
        torch.cat([torch.ones(2, 3), torch.ones(2)])


def test_a_compiled_function_that_writes_a_history_to_its_argument_says_so():
    def doubled(x):
        x.mul_(2)
        return x.sum()

    w = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"doubled: a tensor from outside .* a history"):
        torch.compile(doubled)(w * 1)
    assert torch.compile(doubled)(torch.ones(3)).item() == 6


def test_complex_numbers_in_double_precision_are_saved():
    z = torch.tensor([[1 + 2j, -0.5j], [1e-300 + 1j, 0]], dtype=torch.complex128)
    value = {
        "z": z,
        "same": z,
        "one": torch.tensor(2 - 3j, dtype=torch.complex128),
        "none": z[:0],
        "turned": z.t(),
        "array": z.numpy(),
    }
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    found = torch.load(buffer)
    for name, x in value.items():
        assert str(found[name].dtype).endswith("complex128") and found[name].shape == x.shape, name
        assert found[name].tolist() == x.tolist(), name
    assert found["z"] is found["same"]
