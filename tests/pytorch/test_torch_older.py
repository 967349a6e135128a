"""What programs written for PyTorch's first releases say, and what they ask of devices that aren't there."""

import argparse
import dataclasses

import numpy as np
import pytest
from adjoint.torch.optim.optimizer import Optimizer, required

import adjoint.torch as torch
from adjoint.interop import load_with_metadata
from adjoint.interop import save as save_tensors


def test_a_size_is_a_shape_and_any_other_sequence_is_data():
    x = torch.ones(2, 3)
    assert torch.FloatTensor(x.size()).shape == torch.Tensor(x.shape).shape == x.new(x.size()).shape == (2, 3)
    assert torch.FloatTensor((2, 3)).tolist() == torch.Tensor([2, 3]).tolist() == x.new((2, 3)).tolist() == [2.0, 3.0]
    assert torch.Tensor(np.int64(4), 1).shape == torch.LongTensor(4, 1).shape == (4, 1)
    assert torch.Tensor().shape == torch.Tensor([]).shape == x.new().shape == (0,)
    assert torch.Tensor(size=(2,), device="cpu").shape == (2,)


@pytest.mark.parametrize("kind", ["Float", "Double", "Half", "Long", "Int", "Short", "Char", "Byte", "Bool"])
def test_types_of_tensors_from_before_dtypes(kind):
    made = getattr(torch, f"{kind}Tensor")([1, 0])
    assert made.type() == f"torch.{kind}Tensor"
    assert isinstance(made, getattr(torch, f"{kind}Tensor")) and not isinstance(
        made, getattr(torch.cuda, f"{kind}Tensor")
    )
    assert made.new([1, 1]).dtype is made.new(2).dtype is torch.ones(2).type(f"torch.{kind}Tensor").dtype is made.dtype


def test_tensor_makes_the_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.Tensor([1, 2]).dtype is torch.Tensor(2).dtype is torch.float64
        assert torch.FloatTensor([1]).dtype is torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_tensor_made_of_a_tensor_is_that_memory_and_needs_its_dtype():
    x = torch.zeros(2)
    torch.Tensor(x)[0] = 5.0
    x.new(x)[1] = 7.0
    assert x.tolist() == [5.0, 7.0] and torch.Tensor(x.detach()).data_ptr() == x.data_ptr()
    w = torch.ones(2, requires_grad=True)
    (torch.Tensor(w) * 3).sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]
    for make in (lambda: torch.FloatTensor(torch.arange(2)), lambda: torch.arange(2).new(x)):
        with pytest.raises(TypeError, match="cast it by"):
            make()


@pytest.mark.parametrize("data", [(1.5,), (True,), (2.0, 3), ([1], [2])])
def test_what_is_neither_sizes_nor_data(data):
    with pytest.raises(TypeError, match="the sizes of the axes, or one sequence"):
        torch.Tensor(*data)
    with pytest.raises(RuntimeError, match="doesn't fit uint8"):
        torch.ByteTensor([300])


def test_devices_that_arent_there_can_be_named_and_compared():
    gpu = torch.device("cuda:1")
    assert (gpu.type, gpu.index, str(gpu), repr(gpu)) == ("cuda", 1, "cuda:1", "device(type='cuda', index=1)")
    assert torch.zeros(1).device != gpu and torch.device("cuda", 1) == torch.device(gpu) == gpu != torch.device("cuda")
    assert len({gpu, torch.device("cuda", 1), torch.device("cpu")}) == 2
    for use in (lambda: torch.zeros(1, device=gpu), lambda: torch.ones(1).to(gpu), lambda: torch.nn.Linear(1, 1).to(gpu),
                lambda: torch.nn.Linear(1, 1, device=gpu), lambda: torch.Generator(gpu), lambda: torch.set_default_device(gpu),
                lambda: torch.cuda.FloatTensor(2), lambda: torch.Tensor(2, device=gpu), gpu.__enter__,
                lambda: torch.set_default_tensor_type(torch.cuda.FloatTensor), lambda: torch.device("nonsense")):  # fmt: skip
        with pytest.raises(RuntimeError, match="adjoint computes on the CPU"):
            use()


def test_data_parallel_without_a_gpu_is_the_module_alone():
    layer = torch.nn.Linear(2, 2)
    x = torch.randn(3, 2)
    assert torch.equal(torch.nn.DataParallel(layer, device_ids=[0, 1], output_device=0)(x), layer(x))


def test_autocast_of_a_device_that_isnt_there_is_disabled_with_a_warning():
    for cast in (lambda: torch.autocast("cuda", dtype=torch.float16), lambda: torch.cuda.amp.autocast()):
        with pytest.warns(UserWarning, match="disabled"), cast():
            assert torch.ones(2, 2).mm(torch.ones(2, 2)).dtype is torch.float32
    with pytest.warns(UserWarning, match="bfloat16 or float16; with float64 it is disabled"):
        torch.autocast("cpu", torch.float64)


def test_a_name_for_a_profile_that_nobody_takes():
    @torch.profiler.record_function("double")
    def double(x):
        return 2 * x

    with torch.autograd.profiler.record_function("label"):
        assert double(torch.ones(1)).item() == 2.0


@pytest.mark.parametrize(("older", "now"), [
    (lambda x, a, b: x.add_(2, a), lambda x, a, b: x.add_(a, alpha=2)),
    (lambda x, a, b: torch.add(x, 2, a), lambda x, a, b: x + 2 * a),
    (lambda x, a, b: x.sub(2, a), lambda x, a, b: x - 2 * a),
    (lambda x, a, b: x.addcmul_(0.5, a, b), lambda x, a, b: x + 0.5 * a * b),
    (lambda x, a, b: torch.addcdiv(x, -0.5, a, b), lambda x, a, b: x - 0.5 * a / b),
    (lambda x, a, b: x.addmm_(0.5, 3, a, b), lambda x, a, b: 0.5 * x + 3 * a @ b),
    (lambda x, a, b: x.addmm(0.5, a, b), lambda x, a, b: 0.5 * x + a @ b),
    (lambda x, a, b: x[None].baddbmm(2, 3, a[None], b[None])[0], lambda x, a, b: 2 * x + 3 * a @ b),
])  # fmt: skip
def test_numbers_between_tensors(older, now):
    x, a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 1.0], [2.0, 3.0]]), torch.full((2, 2), 4.0)
    assert torch.allclose(older(x.clone(), a, b), now(x.clone(), a, b))
    for wrong in (
        lambda: x.add(1, 2),
        lambda: x.add(1, 2, a),
        lambda: x.add(a, 2),
        lambda: torch.addcmul(x, a, 2, b),
        lambda: x.addcmul(1, 2, a, b),
        lambda: x.addmm(1, 2, 3, a, b),
    ):
        with pytest.raises(TypeError):
            wrong()


def test_an_optimizer_as_they_used_to_be_written():
    class Decaying(Optimizer):
        def __init__(self, params, lr=required, beta=0.9):
            super().__init__(params, {"lr": lr, "beta": beta})

        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if len(state) == 0:
                        state["mean"] = p.data.new(p.size()).zero_()
                    state["mean"].mul_(group["beta"]).add_(1 - group["beta"], p.grad.data)
                    p.data.add_(-group["lr"], state["mean"])

    w = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    with pytest.raises(ValueError, match="a value of lr"):
        Decaying([w])
    optimizer = Decaying([w], lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        (w**2).sum().backward()
        with pytest.warns(FutureWarning, match="clip_grad_norm_"):
            torch.nn.utils.clip_grad_norm([w], 1e9)
        optimizer.step()
    # means 0.1 g, then 0.09 g + 0.1 g' with g = 2 w
    first = 1 - 0.5 * 0.2
    assert torch.allclose(w, torch.tensor([1.0, -2.0]) * (first - 0.5 * (0.18 + 0.2 * first)))


@dataclasses.dataclass
class Config:
    width: int
    weights: object = None


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    rate: float


def test_settings_are_saved_with_a_checkpoint(tmp_path):
    x = torch.ones(2)
    saved = {
        "config": Config(3, {"x": x}),
        "rate": Slotted(0.5),
        "args": argparse.Namespace(a=[1], dtype=torch.float32),
        "x": x,
    }
    torch.save(saved, tmp_path / "a.pt")
    found = torch.load(tmp_path / "a.pt", weights_only=False)
    assert found["rate"] == Slotted(0.5) and found["args"] == saved["args"] and type(found["config"]) is Config
    assert (
        found["config"].width == 3 and found["config"].weights["x"] is found["x"] and found["x"].tolist() == [1.0, 1.0]
    )
    with pytest.raises(RuntimeError, match="weights_only=False"):
        torch.load(tmp_path / "a.pt", weights_only=True)
    for wrong in (object(), Closing()):
        with pytest.raises(TypeError, match="pickle"):
            torch.save({"a": wrong}, tmp_path / "b.pt")
    with pytest.raises(RuntimeError, match="adjoint computes on the CPU"):
        torch.load(tmp_path / "a.pt", map_location="cuda")
    torch.save(torch.device("cuda:1"), tmp_path / "c.pt")
    assert torch.load(tmp_path / "c.pt") == torch.device("cuda", 1)


@dataclasses.dataclass
class Closing:
    def __del__(self):
        pass


def test_a_file_makes_no_object_that_is_more_than_its_attributes(tmp_path):
    torch.save(Config(1), tmp_path / "a.pt")
    for name in (f"{Config.__module__}:Closing", "builtins:object"):
        tensors, metadata = load_with_metadata(tmp_path / "a.pt")
        changed = {k: v.replace(f"{Config.__module__}:Config", name) for k, v in metadata.items()}
        save_tensors(tmp_path / "b.pt", tensors, metadata=changed)
        with pytest.raises(RuntimeError, match="neither a dataclass nor a namespace"):
            torch.load(tmp_path / "b.pt")


def test_a_histogram_has_a_hundred_bins():
    found = torch.histogram(torch.arange(200.0))
    assert found.hist.tolist() == [2.0] * 100 and found.bin_edges[-1].item() == 199.0
