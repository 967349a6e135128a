"""`torch.testing`, storages, and names that programs import and mostly don't use."""

import copy

import adjoint.torch.utils.dlpack
import adjoint.torch.utils.model_zoo as model_zoo
import numpy as np
import pytest

import adjoint.torch as torch
from adjoint.torch import nn
from adjoint.torch.testing import assert_close

X = torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("one", "other", "keywords"),
    [
        (X, X + 1e-6, {}), (X, X.double(), {"check_dtype": False}), (1, 1.0, {}), ([X, {"a": 2.0}], [X, {"a": 2.0}], {}),
        (torch.tensor([np.nan]), torch.tensor([np.nan]), {"equal_nan": True}), (None, None, {}), (np.ones(2), np.ones(2), {}),
        (X, X + 0.5, {"rtol": 0.0, "atol": 0.6}), (torch.tensor([np.inf]), torch.tensor([np.inf]), {}), (X > 2, X > 2, {}),
        (torch.tensor([1 + 1j]), torch.tensor([1 + 1j]), {}), (X.bfloat16(), X.bfloat16() * 1.01, {}),
        (torch.zeros(0), torch.zeros(0), {}),
    ],
)  # fmt: skip
def test_what_is_close(one, other, keywords):
    assert_close(one, other, **keywords)


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (X, X + 1e-3, r"not close![\s\S]*Mismatched elements: 6 / 6 \(100.0%\)[\s\S]*absolute difference: 0.00100"),
        (X, X.double(), "dtype' do not match: torch.float32 != torch.float64"),
        (X, X[0], r"shape' do not match: torch.Size\(\[2, 3\]\) != torch.Size\(\[3\]\)"),
        (1.0, 1.1, r"Scalars are not close![\s\S]*Expected 1.1 but got 1.0"), ([X], [X, X], "1 != 2"),
        ({"a": 1}, {"b": 1}, "keys"),
        ({"a": [X]}, {"a": [X + 1]}, r"for item \['a'\]\[0\]"), (torch.tensor([np.nan]), torch.tensor([np.nan]), "not close"),
        (torch.tensor([np.inf]), torch.tensor([-np.inf]), "not close"), (torch.tensor([3]), torch.tensor([4]), "not close"),
        (torch.tensor([0], dtype=torch.uint8), torch.tensor([255], dtype=torch.uint8), "difference: 255"), (None, 1, "None"),
    ],
)  # fmt: skip
def test_what_is_not_close(one, other, message):
    with pytest.raises(AssertionError, match=message):
        assert_close(one, other)


def test_messages_and_what_cannot_be_compared():
    with pytest.raises(AssertionError, match=r"^mine: Tensor-likes"):
        assert_close(X, X + 1, msg=lambda text: f"mine: {text}")
    for one, other in ((X, 3), (X.numpy(), X), ("a", "a")):
        with pytest.raises(TypeError, match="assert_close"):
            assert_close(one, other)
    with pytest.raises(ValueError, match="both or neither"):
        assert_close(X, X, rtol=1.0)


def test_a_storage_is_the_memory_of_all_views():
    x = torch.arange(6.0).reshape(2, 3)
    memory = x.t()[1:].storage()
    assert (len(memory), memory[4], list(memory), memory.nbytes()) == (6, 4.0, [0, 1, 2, 3, 4, 5], 24)
    memory[0] = 9.0
    assert x[0, 0].item() == 9.0
    assert (
        x.untyped_storage().data_ptr()
        == x.view(-1).untyped_storage().data_ptr()
        != x.clone().untyped_storage().data_ptr()
    )
    assert x.untyped_storage().size() == 24 and repr(memory).endswith("dtype=torch.float32, device=cpu) of size 6]")
    with pytest.raises(AttributeError, match="a storage has no 'resize_'"):
        memory.resize_(3)


def test_a_storage_is_written_to_past_derivatives():
    weight = nn.Parameter(torch.ones(2))
    weight.storage()[1] = 3.0
    weight.square().sum().backward()
    assert weight.grad.tolist() == [2.0, 6.0]


def test_names_that_programs_import():
    with pytest.raises(RuntimeError, match=r"model_zoo\.load_url isn.t here; torch\.load"):
        model_zoo.load_url("http://example.org/a.pth")
    with pytest.raises(RuntimeError, match="all_reduce: there is no process group"):
        torch.distributed.all_reduce(X, op=torch.distributed.ReduceOp.SUM)
    with pytest.raises(RuntimeError, match="masked_fill"):
        torch.masked.masked_tensor(X, X > 1)
    with pytest.raises(AssertionError, match="too small"):
        torch._assert(X.shape[0] > 2, "too small")
    torch._assert(True, "")
    assert torch.jit.isinstance([1], list) and not torch.distributed.is_nccl_available()
    assert adjoint.torch.utils.dlpack.from_dlpack(np.ones(2)).tolist() == [1.0, 1.0]
    with pytest.raises(AttributeError, match="index_add"):
        torch.segment_reduce(X[0], "sum", lengths=torch.tensor([1, 2]))


@pytest.mark.parametrize("transform", [torch.func.jacfwd, torch.func.hessian])
@pytest.mark.parametrize(
    "draw", [lambda: torch.rand(2), lambda: nn.functional.dropout(torch.ones(2)), lambda: torch.randint(0, 3, (2,))]
)
def test_forward_jacobians_refuse_draws(transform, draw):
    def f(x):
        return (x * x * draw()).sum()

    with pytest.raises(RuntimeError, match="the function draws random numbers"):
        transform(f)(torch.ones(2))
    assert torch.func.jacrev(f)(torch.ones(2)).shape == (2,)
    assert torch.func.jacfwd(f, randomness="different")(torch.ones(2)).shape == (2,)


def test_draws_of_positions_are_refused_for_batches():
    with pytest.raises(RuntimeError, match="the function draws random numbers"):
        torch.func.vmap(lambda row: torch.multinomial(row, 1))(torch.ones(2, 3))


def test_a_shallow_copy_of_a_module_has_places_of_its_own():
    model = nn.Sequential(nn.Linear(2, 2))
    copied = copy.copy(model)
    copied.extra = nn.Linear(1, 1)
    copied.register_buffer("seen", torch.zeros(1))
    assert [name for name, _ in model.named_parameters()] == ["0.weight", "0.bias"] and not list(model.buffers())
    assert (
        copied[0] is model[0] and len(list(copied.parameters())) == 4 and list(copied.state_dict())[-1] == "extra.bias"
    )
