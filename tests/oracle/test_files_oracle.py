"""Files that PyTorch wrote, read without it; states of networks both ways."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import adjoint as ad
import adjoint.torch as own

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("zipped", (True, False))
def test_what_pytorch_saved(zipped, tmp_path):
    base = torch.arange(24, dtype=torch.float64).reshape(4, 6)
    dtypes = ["float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool", "complex64", "complex128"]
    value = {
        "base": base,
        "view": base[1::2, 2:5].mT,
        "expanded": base[0, :1].expand(5),
        "empty": base[:0],
        "scalar": torch.tensor(3.0),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "kinds": [torch.tensor([0, 1, 3]).to(getattr(torch, name)) for name in dtypes],
        "plain": (1, 2.5, "text", None, True, torch.Size([2, 3]), b"bytes", 1j, {1, 2}, Counter([3, 3])),
        "trained": torch.ones(2).requires_grad_(),
        "conjugate": torch.tensor([1 + 2j, 3 - 1j]).conj(),
        "negative": torch.tensor([1 + 2j, 3 - 1j]).conj().imag,
    }
    if zipped:  # what PyTorch itself can't read from the other form
        value["unsigned"] = torch.tensor([1, 2, 40_000]).to(torch.uint16)[1:]
        value["long"] = torch.tensor([1, 2**62]).to(torch.uint64)
        value["buffer"] = torch.nn.Buffer(torch.ones(2))
        value["attributes"] = torch.nn.Parameter(torch.ones(2))
        value["attributes"].more = value["buffer"].more = 3
    torch.save(value, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    found = ad.load(tmp_path / "a.pt")
    assert list(found) == list(value)
    for key in set(value) - {"kinds", "plain"}:
        expected = value[key].detach().resolve_conj().resolve_neg().numpy()
        assert found[key].dtype == expected.dtype.name
        np.testing.assert_array_equal(found[key].numpy(), expected)
    assert [found[key].requires_grad for key in ("parameter", "trained", "base")] == [True, True, False]
    for name, ours, theirs in zip(dtypes, found["kinds"], value["kinds"], strict=True):
        assert ours.dtype == name
        if name == "bfloat16":  # which PyTorch gives NumPy in no form
            ours, theirs = ours.astype("float32"), theirs.float()
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    assert found["plain"] == value["plain"]


@pytest.mark.parametrize("zipped", (True, False))
def test_tensors_that_share_memory_share_it_once_read(zipped, tmp_path):
    base, weight = torch.arange(12.0), torch.nn.Parameter(torch.ones(2, 2))
    held = {"part": base[2:4], "base": base, "turned": base.view(3, 4).T, "steps": base[::3], "weight": weight}
    held |= {"its": weight.detach(), "tied": torch.nn.Parameter(weight), "minus": base.to(torch.complex64).conj()}
    torch.save(held, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    read = torch.load(tmp_path / "a.pt"), own.load(tmp_path / "a.pt")
    for found in read:
        found["part"][1] = 50.0
        found["turned"][3, 1] = 70.0
        found["steps"].mul_(3)
        found["its"][0] = 5.0
        found["base"][0] = 9.0
    for name in set(held) - {"tied", "minus"}:  # a second parameter of one memory, and conjugates, are by themselves
        np.testing.assert_array_equal(read[0][name].detach().numpy(), read[1][name].detach().numpy(), name)
        assert tuple(read[0][name].stride()) == tuple(read[1][name].stride())


@pytest.mark.parametrize("zipped", (True, False))
def test_states_of_networks_and_optimizers(zipped, tmp_path):
    theirs = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(64, 3)
    )
    optimizer = torch.optim.Adam(theirs.parameters())
    x = np.random.default_rng(0).normal(size=(2, 1, 6, 6)).astype("f4")
    theirs(torch.tensor(x)).sum().backward()
    optimizer.step()
    state = {"model": theirs.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}
    torch.save(state, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    found = ad.load(tmp_path / "a.pt")
    ours = ad.nn.Sequential(
        ad.nn.Conv2d(1, 4, 3), ad.nn.BatchNorm2d(4), ad.nn.ReLU(), ad.nn.Flatten(), ad.nn.Linear(64, 3)
    )
    ours.load_state_dict(found["model"])
    ad.optim.Adam(ours.parameters()).load_state_dict(found["optimizer"])
    expected = theirs.eval()(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(ours.eval()(ad.tensor(x)).numpy(), expected, 1e-5, 1e-6)
    assert found["epoch"] == 3
    again = {name: torch.from_dlpack(tensor) for name, tensor in ours.state_dict().items()}
    theirs.load_state_dict(again)


@pytest.mark.parametrize("name", ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu"))
def test_floats_of_eight_bits(name, tmp_path):
    value = torch.arange(256, dtype=torch.uint8).view(getattr(torch, f"float8_{name}"))
    torch.save({"all": value, "view": value[3:9:2], "fixed": torch.nn.Parameter(value, False)}, tmp_path / "a.pt")
    found = ad.load(tmp_path / "a.pt")
    equal = np.testing.assert_array_equal
    equal(found["all"].numpy(), value.float().numpy())
    equal(found["fixed"].numpy(), value.float().numpy())
    equal(found["view"].numpy(), value[3:9:2].float().numpy())
    numbers = value.float().isfinite().numpy()
    equal(np.signbit(found["all"].numpy())[numbers], np.signbit(value.float().numpy())[numbers])
    if not name.endswith("uz"):  # which the format lacks
        pytest.importorskip("safetensors.torch").save_file({"all": value}, tmp_path / "a.safetensors")
        equal(ad.load(tmp_path / "a.safetensors")["all"].numpy(), value.float().numpy())


@pytest.mark.filterwarnings("ignore:Sparse:UserWarning", "ignore:ComplexHalf:UserWarning")
def test_sparse_tensors_become_dense(tmp_path):
    dense = torch.tensor(np.random.default_rng(0).normal(size=(6, 4)).round() * 2.5)
    twice = torch.sparse_coo_tensor([[0, 2, 0], [1, 1, 1]], torch.tensor([1.0, 2.0, 4.0]), (3, 2))
    value = {
        "coo": dense.to_sparse(),
        "csr": dense.to_sparse_csr(),
        "csc": dense.to_sparse_csc(),
        "bsr": dense.to_sparse_bsr((3, 2)),
        "bsc": dense.to_sparse_bsc((2, 4)),
        "twice": twice,
        "rows": dense.to_sparse(1),
        "empty": torch.zeros(3, 2).to_sparse(),
    }
    torch.save(value, tmp_path / "a.pt")
    for name, found in ad.load(tmp_path / "a.pt").items():
        np.testing.assert_array_equal(found.numpy(), value[name].to_dense().numpy())
    torch.save(torch.stack([dense, dense]).to_sparse_csr(), tmp_path / "b.pt")
    with pytest.raises(ValueError, match="a stack of sparse tensors of the layout csr"):
        ad.load(tmp_path / "b.pt")
    torch.save(torch.sparse_coo_tensor([[0]], [1.0], (1 << 40,)), tmp_path / "b.pt")
    with pytest.raises(ValueError, match="would be too large"):
        ad.load(tmp_path / "b.pt")
    told = {"dtype": torch.bfloat16, "device": torch.device("cpu"), "half": torch.tensor([1 + 2j]).to(torch.complex32)}
    torch.save(told, tmp_path / "b.pt")
    found = ad.load(tmp_path / "b.pt")
    assert (found["dtype"], found["device"], found["half"].item()) == ("bfloat16", "cpu", 1 + 2j)


def test_a_whole_module_is_refused(tmp_path):
    torch.save(torch.nn.Linear(2, 2), tmp_path / "a.pt")
    with pytest.raises(ValueError, match=r"holds an object of torch\.nn\.modules\.linear\.Linear"):
        ad.load(tmp_path / "a.pt")


@pytest.mark.parametrize("protocol", (2, 3, 4, 5))
def test_numpys_numbers_and_arrays_in_checkpoints(protocol, tmp_path):
    value = {
        "best": np.float64(0.93), "half": np.float16(2.5), "step": np.int64(7), "flag": np.bool_(True),
        "turned": np.array(3 + 1j), "rows": np.arange(6.0).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "stepped": np.arange(10)[::2], "empty": np.zeros((0, 3), "f2"), "swapped": np.arange(3).astype(">i4"), "twice": None,
        "state": np.random.RandomState(0).get_state(), "tensor": torch.ones(2),
    }  # fmt: skip
    value["twice"] = [value["rows"]] * 2
    torch.save(value, tmp_path / "a.pt", pickle_protocol=protocol)
    found = ad.load(tmp_path / "a.pt")
    for name in ("best", "half", "step", "flag", "turned", "rows", "columns", "stepped", "empty", "swapped"):
        assert type(found[name]) is type(value[name]) and np.array_equal(found[name], value[name]), name
        assert np.asarray(found[name]).dtype == np.asarray(value[name]).dtype.newbyteorder("="), name
    assert found["twice"][0] is found["twice"][1] is found["rows"] and found["state"][0] == "MT19937"
    np.testing.assert_array_equal(found["state"][1], value["state"][1])
    assert found["tensor"].tolist() == [1, 1]


@pytest.mark.parametrize(
    "array", [np.array(["a"]), np.array([{}], object), np.zeros(1, "M8[D]"), np.zeros(1, [("a", "f4")])]
)
def test_numpys_arrays_of_anything_else_are_refused(array, tmp_path):
    torch.save(array, tmp_path / "a.pt")
    with pytest.raises(ValueError, match="NumPy arrays of the kind"):
        ad.load(tmp_path / "a.pt")
