"""Values in files: nested ones, bfloat16, models in parts, and what PyTorch wrote."""

from __future__ import annotations

import json
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.interop import torch_files
from support import equal


def test_any_nesting(tmp_path):
    value = {
        "epoch": 3,
        "loss": [0.5, float("inf"), None, True],
        "names": ("a", "b"),
        7: {"x": ad.tensor([1.0, 2.0]), "more": [ad.ones((2, 0)), (ad.tensor(3),)]},
        "array": np.arange(3),
        "": {},
    }
    ad.save(tmp_path / "a", value)
    found = ad.load(tmp_path / "a")
    assert {k: v for k, v in found.items() if k not in (7, "array")} == {
        k: v for k, v in value.items() if k not in (7, "array")
    }
    equal(found[7]["x"], [1.0, 2.0])
    assert found[7]["more"][0].shape == (2, 0)
    assert found[7]["more"][1][0].dtype == "int64"
    equal(found["array"], [0, 1, 2])
    for plain in (3, [1, [2, [3]]], ad.ones(2), (), None):
        ad.save(tmp_path / "b", plain)
        again = ad.load(tmp_path / "b")
        assert again == plain if not isinstance(plain, ad.Tensor) else again.shape == (2,)


@pytest.mark.parametrize(
    "value",
    (
        {"a": {"b": 1}, "a.b": 2},
        {1: 1, "1": 2, "True": 4},
        {None: 1, "None": 2, 1.5: 3, "1.5": 4, "1.5'": 5},
        {"": {"a": 1}, "a": 2},
        {"a": [1, {"0": 2}], "a.0": 3, "a.1.0": 4},
    ),
)
def test_two_tensors_whose_paths_read_alike(value, tmp_path):
    ad.save(tmp_path / "a", {"of tensors": ad.tree.map(lambda x: ad.tensor([float(x)]), value), "epoch": 1})
    found = ad.load(tmp_path / "a")["of tensors"]
    assert ad.tree.map(lambda x: x.item(), found) == value


def test_a_training_state(tmp_path):
    model = nn.Linear(2, 1)
    optimizer = ad.optim.Adam(model.parameters())
    model(ad.ones((1, 2))).sum().backward()
    optimizer.step()
    ad.save(tmp_path / "run", {"model": model, "optimizer": optimizer.state_dict(), "step": 1})
    found = ad.load(tmp_path / "run")
    other = nn.Linear(2, 1)
    other.load_state_dict(found["model"])
    again = ad.optim.Adam(other.parameters())
    again.load_state_dict(found["optimizer"])
    for m, o in ((model, optimizer), (other, again)):
        o.zero_grad()
        m(ad.ones((1, 2))).sum().backward()
        o.step()
    equal(other.weight, model.weight.numpy())


def test_tensors_by_name_are_a_plain_file(tmp_path):
    ad.save(tmp_path / "a", {"x": ad.ones(2), "y": np.float64(3)})
    assert "structure" not in str(ad.interop.load_metadata(tmp_path / "a"))
    assert sorted(ad.load(tmp_path / "a")) == ["x", "y"]


def test_what_cannot_be_saved(tmp_path):
    knot = []
    knot.append(knot)
    for value, error, message in (
        ({"f": print}, TypeError, "f is a builtin"),
        ({"a": [1, {(1, 2): 3}]}, TypeError, r"a\.1 has a key \(1, 2\)"),
        (knot, ValueError, "contains itself"),
    ):
        with pytest.raises(error, match=message):
            ad.save(tmp_path / "a", value)
    assert not (tmp_path / "a").exists()


def test_a_damaged_structure(tmp_path):
    for structure in ("[", '{"tensor": "b", "array": false}', '{"items": 3}', "[" * 10_000 + "]" * 10_000):
        ad.save(tmp_path / "a", {"x": ad.ones(1)}, metadata={"adjoint structure": structure})
        with pytest.raises(ValueError, match="is damaged"):
            ad.load(tmp_path / "a")


def header(entries, data=b"", length=None):
    text = json.dumps(entries).encode()
    text += b" " * ((length or len(text)) - len(text))
    return struct.pack("<Q", len(text)) + text + data


def test_bfloat16_and_parts(tmp_path):
    bits = np.array([1.0, -2.5, 3e38, np.inf, 1e-40], "f4").view("u4") >> 16
    raw = bits.astype("<u2").tobytes()
    entry = {"dtype": "BF16", "shape": [5], "data_offsets": [0, 10]}
    (tmp_path / "one.safetensors").write_bytes(header({"x": entry}, raw))
    found = ad.load(tmp_path / "one.safetensors")["x"]
    equal(found, (bits << 16).astype("u4").view("f4"))
    ad.save(tmp_path / "two.safetensors", {"y": ad.ones(1)})
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"x": "one.safetensors", "y": "two.safetensors"}}))
    assert sorted(ad.load(index)) == ["x", "y"]
    for weights, message in (
        ({"x": "one.safetensors", "z": "one.safetensors"}, "have no z"),
        ({"x": "../one.safetensors"}, "in other folders"),
        ([], "is no index"),
    ):
        index.write_text(json.dumps({"weight_map": weights}))
        with pytest.raises(ValueError, match=message):
            ad.load(index)


def test_a_header_that_begins_like_a_pickle(tmp_path):
    entry = {"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    for length in (128, 640):  # 0x80, and 0x80 0x02
        (tmp_path / "a").write_bytes(header(entry, np.float32(3).tobytes(), length))
        assert ad.load(tmp_path / "a")["x"].item() == 3.0


# ---------------------------------------------------------------- files of PyTorch


def name(text):
    return b"c" + text.replace(" ", "\n").encode() + b"\n"


def string(text):
    return b"X" + struct.pack("<I", len(text)) + text.encode()


def number(n):
    return b"J" + struct.pack("<i", n)


def stored_tensor(key="0", kind="FloatStorage", count=6, offset=0, shape=(2, 3), strides=(3, 1)):
    """The pickle's instructions for a tensor."""
    pid = b"(" + string("storage") + name(f"torch {kind}") + string(key) + string("cpu") + number(count) + b"tQ"
    sizes = b"".join(b"(" + b"".join(map(number, x)) + b"t" for x in (shape, strides))
    return name("torch._utils _rebuild_tensor_v2") + b"(" + pid + number(offset) + sizes + b"\x89}tR"


def archive(path, instructions, data=None, compressed=False):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as file:
        file.writestr("a/data.pkl", b"\x80\x02" + instructions + b".")
        file.writestr("a/data/0", np.arange(6, dtype="<f4").tobytes() if data is None else data)
    return path


def test_a_file_of_pytorch(tmp_path):
    whole = (
        b"}(" + string("w") + stored_tensor() + string("v") + stored_tensor(offset=1, shape=(2,), strides=(2,)) + b"u"
    )
    found = ad.load(archive(tmp_path / "a.pt", whole))
    equal(found["w"], np.arange(6).reshape(2, 3))
    equal(found["v"], [1, 3])
    assert not found["w"].requires_grad
    half = np.array([0x3F80, 0xC020], "<u2").tobytes()
    tensor = stored_tensor(kind="BFloat16Storage", count=2, shape=(2,), strides=(1,))
    equal(ad.load(archive(tmp_path / "b.pt", tensor, half)), [1.0, -2.5])
    trained = name("torch._utils _rebuild_parameter") + b"(" + stored_tensor() + b"\x88}tR"
    assert ad.load(archive(tmp_path / "c.pt", trained)).requires_grad
    negative = stored_tensor().removesuffix(b"\x89}tR") + b"\x89}}" + string("neg") + b"\x88stR"
    equal(ad.load(archive(tmp_path / "d.pt", negative)), -np.arange(6).reshape(2, 3))
    with pytest.raises(ValueError, match="a tensor that is twisted"):
        ad.load(archive(tmp_path / "e.pt", negative.replace(string("neg"), string("twisted"))))


class Evil:
    def __init__(self, what):
        self.what = what

    def __reduce__(self):
        return self.what


@pytest.mark.parametrize(
    "instructions",
    (
        pickle.dumps(Evil((os.system, ("touch hacked",))), 2)[2:-1],
        pickle.dumps(Evil((exec, ("open('hacked', 'w')",))), 4)[2:-1],
        pickle.dumps(Evil((getattr, (os, "system"))), 0)[:-1] if False else name("builtins eval") + b"(" + string("1") + b"tR",
        name("torch.nn.modules.linear Linear") + b")\x81",
        name("torch load"),
        name("torch._utils _rebuild_tensor_v2") + b"}" + string("__defaults__") + b")sb",  # sets an attribute of a function
        name("torch._utils _rebuild_tensor_v2"),
        name("torch FloatStorage") + b"Q",
        stored_tensor(shape=(2, 4)),
        stored_tensor(offset=-1),
        stored_tensor(shape=(1 << 30, 1 << 30), strides=(0, 0)),
        stored_tensor(shape=(2,), strides=(-1,)),
        stored_tensor(key="1"),
        stored_tensor(kind="QuantStorage"),
        b"(" + string("storage") + b"tQ",
        b"",
        b"]" * 50_000,
        b"]r\xff\xff\xff\x01",  # remembered as number 33,554,431, for which Python would take half a gigabyte
        b"]p33554431\n",
    ),
    ids=range(19),
)  # fmt: skip
def test_nothing_in_a_file_is_run(instructions, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = archive(tmp_path / "a.pt", instructions)
    if instructions == b"]" * 50_000:
        ad.load(path)  # lists that nothing refers to
        return
    with pytest.raises(ValueError, match=r"a\.pt (can't be read|is no file)"):
        ad.load(path)
    assert not os.path.exists("hacked")


def numpy_kind(code="f8"):
    return name("numpy dtype") + string(code) + b"\x89\x88\x87R"


EMPTY = name("numpy._core.multiarray _reconstruct") + name("numpy ndarray") + b"K\x00\x85" + string("b") + b"\x87R"
EIGHT = name("_codecs encode") + string("\0" * 8) + string("latin1") + b"\x86R"


def numpy_array(sizes, kind=None, data=EIGHT):
    return EMPTY + b"(K\x01" + sizes + (numpy_kind() if kind is None else kind) + b"\x89" + data + b"tb"


def test_an_array_of_numpy_in_a_file_of_pytorch(tmp_path):
    equal(ad.load(archive(tmp_path / "a.pt", numpy_array(number(1) + b"\x85"))), [0.0])


@pytest.mark.parametrize(
    "instructions",
    (
        EMPTY, EMPTY + b"Nb", EMPTY + b"K\x01K\x02\x86b",
        numpy_array(b"\x8a\x06\x00\x00\x00\x00\x00\x01\x85"), numpy_array(number(-1) + b"\x85"), numpy_array(b"]K\x01a"),
        numpy_array(b"\x88\x85"), numpy_array(number(1) + b"\x85", kind=b"N"), numpy_array(number(1) + b"\x85", data=b"]"),
        numpy_kind("O8"), numpy_kind(), numpy_kind() + b"K\x03b", numpy_kind() + b"(K\x03" + string("x") + b"tb",
        name("numpy dtype") + b"]\x85R", name("numpy dtype") + b")R", name("numpy ndarray") + b")R",
        name("numpy dtype") + b"}" + string("a") + b"K\x01sb",
        name("numpy._core.multiarray scalar") + numpy_kind() + string("a") + b"\x86R",
        b"}" + numpy_array(number(1) + b"\x85") + b"K\x01s",
    ),
    ids=range(19),
)  # fmt: skip
def test_arrays_of_numpy_that_are_none(instructions, tmp_path):
    with pytest.raises(ValueError, match=r"a\.pt (can't be read|is no file)"):
        ad.load(archive(tmp_path / "a.pt", instructions))


def test_tensors_that_repeat_their_numbers_are_limited_together(tmp_path, monkeypatch):
    monkeypatch.setattr(torch_files, "LARGEST", 100)
    row = stored_tensor(shape=(4, 6), strides=(0, 1))
    assert ad.load(archive(tmp_path / "one.pt", row)).shape == (4, 6)
    with pytest.raises(ValueError, match="repeats a storage of 6 numbers"):
        ad.load(archive(tmp_path / "two.pt", b"(" + row + row + b"t"))


def test_damaged_files_of_pytorch(tmp_path):
    path = archive(tmp_path / "a.pt", stored_tensor())
    whole = path.read_bytes()
    for part in (whole[: len(whole) // 2], whole[:40], b"\x80\x02" + whole[40:]):
        path.write_bytes(part)
        with pytest.raises(ValueError, match=r"a\.pt"):
            ad.load(path)
    with pytest.raises(ValueError, match="compressed"):
        ad.load(archive(path, stored_tensor(), compressed=True))
    doubled = (
        b"]" + b"q\x00" + b"".join(b"](h" + bytes([k]) + b"h" + bytes([k]) + b"eq" + bytes([k + 1]) for k in range(60))
    )
    assert len(ad.load(archive(path, doubled))) == 2  # 2⁶⁰ references, 60 lists


def test_renaming():
    tensors = {"h.0.w": ad.ones((2, 3)), "h.1.w": ad.ones((4, 3)), "h.0.mask": ad.ones(1)}
    found = ad.interop.rename(tensors, {"mask": None, r"h\.(\d)": r"blocks.\1"}, transpose=r"0\.w$")
    assert {key: tensor.shape for key, tensor in found.items()} == {"blocks.0.w": (3, 2), "blocks.1.w": (4, 3)}
    with pytest.raises(ValueError, match=r"h\.0\.w and h\.1\.w both become h\.w"):
        ad.interop.rename(tensors, {r"\d\.": ""})
    with pytest.raises(ValueError, match=r"transpose='c_fc' fits no name, such as h"):
        ad.interop.rename(tensors, {}, transpose="c_fc")


def test_keys_that_would_take_forever(tmp_path):
    def doubled(make, start):  # each is made of two of the one before
        steps = [b"h" + bytes([k]) + b"h" + bytes([k]) + make + b"q" + bytes([k + 1]) for k in range(60)]
        return start + b"q\x00" + b"".join(steps)

    size = name("torch Size")
    path = tmp_path / "a.pt"
    for key in (
        doubled(b"\x86", b")"),
        doubled(b"\x86" + b"q\xff0" + size + b"h\xff" + b"\x85R", b")"),  # tuples of tuples
        doubled(b"\x86q\xff0](h\xffeq\xfe0" + size + b"h\xfe" + b"\x85R", b")"),  # tuples of lists
        name("builtins frozenset") + b"(](" + doubled(b"\x86", b")") + b"etR",
    ):
        with pytest.raises(ValueError, match="refer to each other too often"):
            ad.load(archive(path, b"}(" + key + string("value") + b"u"))
    several = b"}(" + number(1) + number(2) + b"\x86" + string("value") + b"u"
    assert ad.load(archive(path, several)) == {(1, 2): "value"}
