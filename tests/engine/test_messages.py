"""What somebody meets in the first hour: each mistake gets a message that says what to do, with the line."""

from __future__ import annotations

import importlib
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

X = ad.tensor([1.0, -2.0, 3.0])
HERE = Path(__file__).name


def says(mistake: Callable[[], Any], error: type[Exception], *fragments: str, line: bool = True) -> str:
    with pytest.raises(error) as caught:
        mistake()
    text = str(caught.value)
    for fragment in fragments:
        assert re.search(fragment, text), f"{fragment!r} is not in {text!r}"
    assert not line or re.search(rf"{HERE}:\d+\)$", text), f"no line in {text!r}"
    return text


# ---- under jit -------------------------------------------------------------------------------------------------------

SELECTIONS: dict[str, Callable[[ad.Tensor], Any]] = {
    "mask": lambda x: x[x > 0].sum(), "mask of one axis": lambda x: ad.stack([x, x])[:, x > 0],
    "nonzero": lambda x: ad.nonzero(x)[0], "counts": lambda x: ad.repeat(x, (x > 0).astype("int64")),
}  # fmt: skip


@pytest.mark.parametrize("transform", [ad.jit, lambda f: lambda x: ad.vmap(f)(x[None])])
@pytest.mark.parametrize("name", SELECTIONS)
def test_shapes_that_depend_on_values(name: str, transform: Any) -> None:
    text = says(
        lambda: transform(SELECTIONS[name])(X),
        RuntimeError,
        "shape of this depends on values",
        r"ad\.where\(mask, x, 0\)",
    )
    assert "if" not in text.split("outside")[0].replace("shift", "").split()


def test_an_if_on_a_value_is_told_of_where() -> None:
    says(lambda: ad.jit(lambda x: x if x.sum() > 0 else -x)(X), RuntimeError, r"ad\.where .*instead of `if`")


@pytest.mark.parametrize(
    "use", [lambda t: t.numpy(), lambda t: (t + 1).item(), lambda t: bool(t > 0), lambda t: ad.evaluate(t)]
)
def test_a_tensor_that_leaked_from_a_trace(use: Callable[[ad.Tensor], Any]) -> None:
    kept = []

    def step(x: ad.Tensor) -> ad.Tensor:
        kept.append(x * 1)
        return x * 2

    ad.vmap(step)(X)
    says(
        lambda: use(kept[0]),
        RuntimeError,
        "made while a function was traced",
        "under vmap",
        "Return it from",
        line=False,
    )


# ---- random numbers --------------------------------------------------------------------------------------------------


def test_the_order_of_arguments_of_random_numbers() -> None:
    says(
        lambda: ad.random.integers((2,), 0, 3),
        TypeError,
        r"ints, not \(2,\)",
        r"ad\.random\.integers\(low, high, shape\)",
    )
    says(lambda: ad.random.integers(0, (2,)), TypeError, r"ints, not \(2,\)")
    says(
        lambda: ad.random.normal(0.0, 1.0, (2,)), TypeError, "it comes first", r"ad\.random\.normal\(shape, mean, std\)"
    )
    says(
        lambda: ad.random.uniform(-1.0, 1.0, (2,)),
        TypeError,
        "it comes first",
        r"ad\.random\.uniform\(shape, low, high\)",
    )


@pytest.mark.parametrize("name", ["normal", "uniform", "integers"])
def test_size_of_random_numbers(name: str) -> None:
    says(
        lambda: getattr(ad.random, name)(3, size=(2,)),
        TypeError,
        rf"random\.{name}: there is no argument 'size'; here it is `shape`",
    )


def test_a_direction_of_sorting_that_is_none() -> None:
    for sort in (ad.sort, ad.argsort):
        says(lambda sort=sort: sort([2.0, 1.0], descending="yes"), TypeError, "descending is True or False, not 'yes'")
    assert ad.sort([1.0, 2.0], descending=np.bool_(True)).tolist() == [2.0, 1.0]


# ---- modules ---------------------------------------------------------------------------------------------------------


def test_sizes_of_a_layer_that_are_no_integers() -> None:
    says(lambda: nn.Linear(4.0, 2), TypeError, "Linear: in_features is an int, not 4.0")
    says(lambda: nn.Linear(4, "2"), TypeError, "Linear: out_features is an int, not '2'")
    assert nn.Linear(np.int64(4), 2).weight.shape == (2, 4)


def test_layers_in_a_plain_dict() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.parts = {"a": nn.Linear(2, 2)}

    says(Net, TypeError, "Net.parts: parameters inside a plain dict would be overlooked", "nn.ModuleDict")


class Later(nn.Module):
    def __init__(self, kind: type) -> None:
        self.parts: Any = kind()
        for i in range(2):
            layer = nn.Linear(2, 2)
            self.parts.append(layer) if kind is list else self.parts.update({i: layer})


@pytest.mark.parametrize("kind", [list, dict])
@pytest.mark.parametrize(
    "use",
    [
        lambda m: ad.optim.SGD(m.parameters(), lr=0.1),
        lambda m: list(nn.Sequential(m).parameters()),
        lambda m: dict(m.named_parameters()),
    ],
)
def test_layers_put_into_a_list_later(kind: type, use: Callable[[nn.Module], Any]) -> None:
    says(
        lambda: use(Later(kind)),
        TypeError,
        rf"Later\.parts: parameters inside a plain {kind.__name__}",
        "nn.Module(List|Dict)",
    )


def test_lists_of_other_things_stay_lists() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            self.sizes, self.names, self.weight = [1, 2], {"a": X}, ad.variable(1.0)

    assert [name for name, _ in Net().named_parameters()] == ["weight"]


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_path_where_a_state_is_expected() -> None:
    says(
        lambda: nn.Linear(2, 2).load_state_dict("a.safetensors"),
        TypeError,
        r"load_state_dict\(ad\.load\('a\.safetensors'\)\)",
    )
    says(lambda: nn.Linear(2, 2).load_state_dict([X]), TypeError, "expected tensors by name, got list")


def test_save_the_other_way_round() -> None:
    says(
        lambda: ad.save({"x": X}, "a.safetensors"),
        TypeError,
        r"the path comes first: ad\.save\('a\.safetensors', tensors\)",
    )


@pytest.mark.parametrize(
    ("name", "content"), [("a.pt", b"PK\x03\x04rest"), ("a.bin", b"\x80\x02}q"), ("a.ckpt", b"PK\x03\x04")]
)
def test_what_looks_like_a_file_of_pytorch(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    says(
        lambda: ad.load(tmp_path / name),
        ValueError,
        f"{name} can't be read as a file of tensors|is no file of PyTorch's",
    )


def test_files_of_numpy(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.ones(2))
    np.save(tmp_path / "a.npy", np.ones(2))
    says(lambda: ad.load(tmp_path / "a.npz"), ValueError, "a file of NumPy's", r"np\.load")
    says(lambda: ad.load(tmp_path / "a.npy"), ValueError, "a file of NumPy's", r"np\.load")


# ---- arrays of others ------------------------------------------------------------------------------------------------


@pytest.fixture
def foreign() -> Any:
    """An array of another framework, as far as an operator sees it."""
    cls = types.new_class(
        "Tensor", exec_body=lambda body: body.update(__module__="torch", __array__=lambda self: np.ones(3))
    )
    return cls()


def test_arrays_of_other_frameworks(foreign: Any) -> None:
    for mistake in (lambda: X + foreign, lambda: foreign * X, lambda: X @ foreign, lambda: foreign - X):
        says(mistake, TypeError, "an array of torch do not go together", r"ad\.tensor\(a\)")
    assert ad.tensor(foreign).shape == (3,)


def test_bars_of_tensors() -> None:
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    bars = axes.bar(ad.arange(3.0), ad.tensor([1.0, 2.0, 3.0]), width=ad.tensor(0.5))
    axes.barh(ad.arange(3.0), ad.tensor([1.0, 2.0, 3.0]))
    assert [float(b.get_height()) for b in bars] == [1.0, 2.0, 3.0]
    figure.canvas.draw()
    plt.close(figure)


def test_what_is_differentiated_is_plotted_as_it_is() -> None:
    figures = pytest.importorskip("matplotlib.figure")
    axes, v = figures.Figure().subplots(), ad.variable([1.0, 2.0])
    for bars in (axes.bar(v, v * 2), axes.barh(ad.tensor([0.0, 1.0]), v * 2)):
        assert [max(bar.get_height(), bar.get_width()) for bar in bars] == [2.0, 4.0]


def test_lists_of_tensors_are_broadcast_as_stacks() -> None:
    x = ad.variable(2.0)
    a, b = np.broadcast_arrays([x, x * 2], ad.ones((3, 2)))
    assert a.shape == b.shape == (3, 2) and ad.gradients(a.sum(), [x])[0].item() == 9


# ---- reports and functions of one's own ------------------------------------------------------------------------------


def test_explain_nan_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    print(ad.explain_nan(ad.log(ad.variable([1.0, -1.0])).sum()))
    assert capsys.readouterr().out.count("The first NaN") == 1


def test_custom_jvp_with_python_floats() -> None:
    @ad.custom_jvp
    def double(x: Any) -> Any:
        return x * 2.0

    double.def_jvp(lambda primals, tangents: (primals[0] * 2.0, tangents[0] * 2.0))
    assert double(3.0).item() == 6.0 and ad.grad(double)(3.0).item() == 2.0
    assert [t.item() for t in ad.jvp(double, (3.0,), (1.0,))] == [6.0, 2.0]


def test_an_error_of_a_host_function_names_its_call() -> None:
    def host(a: np.ndarray) -> np.ndarray:
        raise ValueError("no such thing")

    here = sys._getframe().f_lineno + 1
    y = ad.host_call(host, X, shape=(3,), dtype="float32")
    text = says(lambda: (y * 2).numpy(), ValueError, "no such thing")
    assert text.endswith(f"{HERE}:{here})")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ad.nn.Conv2d(3.0, 4, 3), "Conv2d: in_channels is an int, not 3.0"),
        (lambda: ad.nn.Embedding(10, 2.5), "Embedding: embedding_dim is an int, not 2.5"),
        (lambda: ad.nn.LSTM(4.0, 2), "LSTM: input_size is an int, not 4.0"),
        (lambda: ad.nn.GRUCell(4, 2.0), "GRUCell: hidden_size is an int, not 2.0"),
        (lambda: ad.nn.BatchNorm1d(4.0), "BatchNorm1d: num_features is an int, not 4.0"),
        (lambda: ad.nn.GroupNorm(2.0, 4), "GroupNorm: num_groups is an int, not 2.0"),
        (lambda: ad.nn.MultiheadAttention(8.0, 2), "MultiheadAttention: embed_dim is an int, not 8.0"),
        (lambda: ad.nn.Bilinear(2, 2.0, 2), "Bilinear: in2_features is an int, not 2.0"),
    ],
)
def test_sizes_of_layers_that_are_no_integers_are_named(make, text) -> None:
    with pytest.raises(TypeError, match=f"{re.escape(text)}.*test_messages"):
        make()


def test_a_forward_rule_whose_tangent_is_not_made_of_the_given_ones_is_an_error() -> None:
    for wrong in (lambda p, t: (p[0] ** 2, 2 * p[0]), lambda p, t: (9.0, 6.0)):
        squared = ad.custom_jvp(lambda x: x**2)
        squared.def_jvp(wrong)
        for derivative in (ad.grad(squared), lambda x, f=squared: ad.jvp(f, (x,), (1.0,))):
            with pytest.raises(RuntimeError, match=r"isn't made of the given tangents.*test_messages"):
                derivative(3.0)
    flat = ad.custom_jvp(lambda x: ad.floor(x))
    flat.def_jvp(lambda p, t: (ad.floor(p[0]), 0.0))
    assert ad.grad(flat)(3.5).item() == 0.0


# ---- what was typed in another way ----------------------------------------------------------------------------------------

MODEL = nn.Linear(3, 2)
MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "arrays side by side": (lambda: ad.concat(X, X), TypeError, r"in one list: ad\.concat\(\[x, y\]"),  # type: ignore[arg-type]
    "stacked side by side": (lambda: ad.stack(X, X), TypeError, r"in one list: ad\.stack"),  # type: ignore[arg-type]
    "half a where": (lambda: ad.where(X > 0, X), TypeError, r"ad\.where\(mask, x, 0\)"),  # type: ignore[call-overload]
    "None in a list": (lambda: ad.tensor([1, None]), TypeError, "an array of None"),
    "text in a list": (lambda: ad.tensor([1, "a"]), TypeError, r"text \(a str\)"),
    "a negative deviation": (lambda: ad.random.normal(2, 0.0, -1.0), ValueError, "isn't negative; got -1.0"),
    "a negative length": (lambda: ad.random.normal(-2), ValueError, r"negative size in shape \(-2,\)"),
    "a length that is none": (lambda: ad.zeros((2, -1)), ValueError, r"zeros: negative size in shape \(2, -1\)"),
    "a length from values": (lambda: ad.jit(lambda x: ad.zeros(x.sum()))(X), TypeError, "shapes are known .* give a number"),
    "a number under jit": (lambda: ad.jit(lambda x: float(x.sum()))(X), RuntimeError, "take its number .* from the result"),
    "a method not called": (lambda: ad.optim.SGD(MODEL.parameters), TypeError, r"call it: model\.parameters\(\)"),
    "no parameters": (lambda: ad.optim.SGD([]), ValueError, "got no parameters; has the model any"),
    "a rate in quotes": (lambda: ad.optim.SGD(MODEL.parameters(), lr="0.1"), TypeError, "lr must be a number; it is '0.1'"),
    "a schedule of a number": (lambda: ad.optim.StepLR(0.1, 3), TypeError, "StepLR schedules an optimizer, not float"),
    "a function among modules": (lambda: nn.Sequential(MODEL, ad.relu), TypeError, r"nn\.ReLU\(\) for ad\.relu"),  # type: ignore[arg-type]
    "a list of modules": (lambda: nn.Sequential([MODEL]), TypeError, r"Sequential\(\*modules\)"),  # type: ignore[arg-type]
    "a class among modules": (lambda: nn.Sequential(nn.ReLU), TypeError, r"make one: ReLU\(\.\.\.\)"),  # type: ignore[arg-type]
    "a layer as a function": (lambda: nn.ReLU(X), TypeError, r"made first and called then: ReLU\(\)\(x\)"),  # type: ignore[arg-type]
    "a loss as a function": (lambda: nn.CrossEntropyLoss(X, X), TypeError, r"CrossEntropyLoss\(\)\(x, y\)"),  # type: ignore[misc]
    "a parameter set to a number": (lambda: setattr(MODEL, "weight", 3), TypeError, r"module\.weight\.data = "),
    "a batch of none": (lambda: ad.data.DataLoader([1, 2], batch_size=0), ValueError, "at least 1, not 0"),
    "rows of other lengths": (
        lambda: ad.data.DataLoader((np.ones(3), np.ones(4)), shuffle=False), ValueError, "one length; they have"
    ),
    "one beta": (lambda: ad.optim.Adam([ad.variable(1.0)], 1e-3, 0.9), TypeError, r"two numbers, such as \(0.9, 0.999\)"),
    "branches that differ": (
        lambda: ad.cond(X[0] > 0, lambda t: t, lambda t: t.sum(), X), TypeError, "make shapes and dtypes the same"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_say_what_to_do(name: str) -> None:
    mistake, error, fragment = MISTAKES[name]
    says(mistake, error, fragment)


def test_structures_that_differ_are_shown_as_they_are_written() -> None:
    says(
        lambda: ad.tree.map(max, {"a": 1}, {"b": [1, (2,)]}),
        ValueError,
        r"\{'a': \*\} and \{'b': \[\*, \(\*\)\]\}",
        line=False,
    )


def test_losses_still_take_weights() -> None:
    assert nn.CrossEntropyLoss(ad.ones(3)).weight is not None and nn.BCEWithLogitsLoss(pos_weight=X).reduction == "mean"


def said(call: Callable[[], Any]) -> str:
    with pytest.raises(Exception) as caught:
        call()
    return str(caught.value)


def test_what_newcomers_to_networks_meet() -> None:
    model = ad.nn.Linear(3, 2)
    wrapped = {f"module.{name}": tensor for name, tensor in model.state_dict().items()}
    assert "names begin with 'module.'; leave that out: {name[7:]: t for" in said(
        lambda: model.load_state_dict(wrapped)
    )
    assert HERE in said(lambda: model.load_state_dict({}))
    assert "begin with" not in said(lambda: model.load_state_dict({"module.weight": ad.ones((2, 3))}))
    for given in (model, model.parameters):
        assert "give model.parameters()" in said(lambda given=given: ad.nn.utils.clip_grad_norm_(given, 1.0))
    assert "ad.tensor(data)" in said(lambda: ad.Tensor([1.0, 2.0]))
    assert "Flatten()(x)" in said(lambda: ad.nn.Flatten(ad.ones((2, 3))))
    assert "here it is ad.nn.functional.relu" in said(lambda: ad.nn.functional.relu_)
    assert "max_pool2d(x, ..., return_indices=True)" in said(lambda: ad.nn.functional.max_pool2d_with_indices)


def test_messages_are_spelled_as_their_users_write() -> None:
    torch = importlib.import_module("adjoint.torch")
    scores = torch.ones(2, 3)
    assert "target.long()" in said(lambda: torch.nn.functional.cross_entropy(scores, torch.tensor([0.0, 1.0])))
    assert "target.squeeze(-1)" in said(lambda: torch.nn.functional.cross_entropy(scores, torch.tensor([[0], [1]])))
    assert "target.astype('int64')" in said(lambda: ad.nn.functional.cross_entropy(ad.ones((2, 3)), ad.ones(2)))


def test_a_power_with_a_modulus_names_the_method() -> None:
    with pytest.raises(TypeError, match=r"^Tensor\.__pow__\(\) takes 2 positional arguments"):
        pow(ad.tensor(2), 2, 3)
    assert ad.Tensor.__iadd__.__qualname__ == "Tensor.__iadd__" and ad.Tensor.__neg__.__name__ == "__neg__"


def test_keywords_of_other_libraries_say_what_is_here():
    says(lambda: ad.jit(donate_argnums=0), TypeError, "used again by itself")
    says(lambda: ad.vmap(ad.sin, axis_name="i"), TypeError, "vmap: there is no argument 'axis_name'")
    solvers = {
        ad.root: (ad.sin, 1.0),
        ad.fixed_point: (ad.cos, 1.0),
        ad.minimize: (ad.cos, 1.0),
        ad.least_squares: (ad.sin, 1.0),
        ad.odeint: (ad.sin, 1.0, [0.0, 1.0]),
    }
    for solver, given in solvers.items():
        says(lambda solver=solver, given=given: solver(*given, args=(2.0,)), TypeError, "one after the other")


def test_what_is_no_function_tensor_or_shape():
    says(lambda: ad.checkpoint(3), TypeError, "expected a function, got an int")
    says(lambda: ad.explain(X.sum(), 3), TypeError, "got an int")
    says(lambda: ad.explain_nan(3), TypeError, "expected a tensor, got an int")
    says(lambda: ad.gradient_flow(X), TypeError, "expected a model")
    says(lambda: ad.grad(lambda x: None)(3.0), ValueError, "return missing")
    says(lambda: ad.random.choice(ad.random.key(0), 5), TypeError, "a key comes by name")
    says(lambda: ad.random.normal(ad.random.key(0), (3,)), TypeError, "a key by name")


def test_a_line_of_scipys_is_not_the_users():
    pytest.importorskip("scipy")
    with pytest.raises(ValueError, match=r"not one number \(.*test_messages\.py:\d+\)"):
        ad.scipy.minimize(lambda x: x, ad.ones(2))


def test_what_a_first_training_gets_wrong(tmp_path):
    model = nn.Linear(2, 2)
    optimizer, data = ad.optim.SGD(model.parameters(), lr=0.1), [(X, X)]
    says(lambda: ad.train.fit(model, "mse_loss", optimizer, data), TypeError, "the loss is a function")
    says(lambda: ad.train.fit(model, nn.functional.mse_loss, optimizer, data, epochs="3"), TypeError, "a whole number")
    says(lambda: ad.tensor(np.array(["cat", "dog"])), TypeError, "return_inverse")
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    with pytest.warns(UserWarning, match="write delimiter=';'"):
        ad.data.read_csv(tmp_path / "a.csv")
    assert list(ad.data.read_csv(tmp_path / "a.csv", ";")) == ["a", "b"]
