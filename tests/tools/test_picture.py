"""Pictures: what they show is what the graph says, number by number."""

import importlib
import math
import runpy
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint import _optional
from adjoint.picture import build
from adjoint.picture.folding import auto_folded, fold
from adjoint.picture.model import Edge, quantity

ROOT = Path(__file__).parents[2]
pygraphviz = _optional.try_load("pygraphviz")
needs_graphviz = pytest.mark.skipif(pygraphviz is None, reason="needs pygraphviz (the extra draw)")


def amounts(picture, name):
    """What the red edges into a box carry, as numbers."""
    return sorted(sum(q.numbers for q in e.carried) for e in picture.contributions(picture.find(name).key))


def gradient(picture, name):
    return picture.find(name).gradient.numbers


def assert_adds_up(picture):
    """At every box but the root, what arrives adds up to its gradient; each amount is arriving times slope."""
    for box in picture.boxes.values():
        arriving = picture.contributions(box.key)
        if box.key == picture.root or not arriving or box.gradient is None:
            continue
        if any(q.numbers is None for e in arriving for q in e.carried):
            continue
        total = sum(np.array(q.numbers) for e in arriving for q in e.carried)
        np.testing.assert_allclose(total, box.gradient.numbers, rtol=1e-5, atol=1e-7)
        for e in arriving:
            if e.local is not None:
                u = picture.boxes[e.target].gradient.numbers
                assert math.isclose(e.carried[0].numbers, u * e.local, rel_tol=1e-5, abs_tol=1e-7)


def cube():
    x, z = ad.variable(2.0, name="x"), ad.variable(0.0, name="z")
    return 3 * x * x * x + 4 * x + 1 + x * z


def test_the_textbook_figure():
    picture = ad.draw(cube()).model
    root = picture.boxes[picture.root]
    assert root.symbol == "+" and root.value.numbers == 33 and root.gradient.numbers == 1
    assert amounts(picture, "x") == [0, 4, 12, 12, 12] and gradient(picture, "x") == 40
    assert amounts(picture, "z") == [2] and gradient(picture, "z") == 2
    assert [e.local for e in picture.contributions(picture.find("x").key)] == [3, 6, 12, 4, 0]
    values = {(b.symbol, b.value.numbers) for b in picture.boxes.values() if b.kind == "operation"}
    assert values == {("×", 6), ("×", 12), ("×", 24), ("×", 8), ("×", 0), ("+", 32), ("+", 33)}
    assert sorted(b.value.numbers for b in picture.boxes.values() if b.kind == "constant") == [1, 3, 4]
    assert_adds_up(picture)


def test_a_power_carries_it_all_at_once():
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = 3 * x**3 + 4 * x + 1 + x * z
    picture = ad.draw(y).model
    assert amounts(picture, "x") == [0, 4, 36] and gradient(picture, "x") == 40
    assert picture.title == "y"
    assert "∂y/∂x = 36 + 4 + 0 = 40" in str(ad.draw(y))


def repeated_input():
    a = ad.variable(3.0)
    return a + a, {"a": 2.0}


def shared_node():
    a = ad.variable(2.0)
    s = ad.sin(a)
    return s * s + s, {"a": (2 * math.sin(2) + 1) * math.cos(2)}


def square():
    a = ad.variable(-3.0)
    return a * a, {"a": -6.0}


def quotient():
    a, b = ad.variable(6.0), ad.variable(2.0)
    return a / b - b, {"a": 0.5, "b": -2.5}


def three_weights():
    a, w1, w2, w3 = ad.variable(2.0), ad.variable(0.5), ad.variable(-0.25), ad.variable(1.0)
    b = ad.relu(w1 * a + w3)
    c = ad.relu(w2 * a + w3)
    slope = 4 * math.cos(2.5)
    return 4 * ad.sin(b + c), {"a": slope * 0.25, "w1": slope * 2, "w2": slope * 2, "w3": slope * 2}


def dead_relu():
    a = ad.variable(-2.0)
    return ad.relu(a) + 3 * a, {"a": 3.0}


def matrix_product():
    A = ad.variable([[1.0, 2.0], [3.0, 4.0]])
    B = ad.variable([[1.0, 0.0], [0.0, 2.0]])
    return (A @ B).sum(), {"A": [[1, 2], [1, 2]], "B": [[4, 4], [6, 6]]}


def broadcast():
    v, b = ad.variable([1.0, 2.0, 3.0]), ad.variable(10.0)
    return (v * b).sum(), {"v": [10, 10, 10], "b": 6.0}


def doublings():
    x = ad.variable(1.0)
    s = x + x
    for _ in range(19):
        s = s + s
    return s, {"x": 2.0**20}


def softmax():
    v = ad.variable([0.0, 0.0])
    return ad.softmax(v)[0], {"v": [0.25, -0.25]}


def two_layers():
    net = ad.nn.Sequential(ad.nn.Linear(2, 3), ad.nn.Tanh(), ad.nn.Linear(3, 1))
    loss = (net(ad.tensor([[1.0, -1.0]])) ** 2).sum()
    named = dict(net.named_parameters())
    found = ad.gradients(loss, list(named.values()))
    return loss, {f"net.{name}": g.tolist() for name, g in zip(named, found, strict=True)}, net


EXPRESSIONS = [
    repeated_input, shared_node, square, quotient, three_weights, dead_relu, matrix_product, broadcast, doublings,
    softmax, two_layers,
]  # fmt: skip


def names_of(build_expression):
    """An expression with its gradients, drawn where its local variables are known."""
    captured = {}

    def profile(frame, event, argument):
        if event == "return" and frame.f_code is build_expression.__code__:
            captured.update(frame.f_locals)

    import sys

    outer = sys.getprofile()
    sys.setprofile(profile)
    try:
        result = build_expression()
    finally:
        sys.setprofile(outer)
    return result[0], result[1], captured


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("choice", [None, False, True], ids=["auto", "unfolded", "folded"])
def test_gradients_in_the_picture_are_the_engines(expression, choice):
    y, expected, names = names_of(expression)
    picture = ad.draw(y, names=names, fold=choice).model
    for name, value in expected.items():
        np.testing.assert_allclose(gradient(picture, name), value, rtol=1e-5, err_msg=name)
    assert_adds_up(picture)
    assert picture.boxes[picture.root].value.numbers == pytest.approx(y.item())


def test_a_repeated_input_has_two_edges():
    a = ad.variable(3.0)
    picture = ad.draw(a + a).model
    assert len(picture.boxes) == 2
    assert [(e.position, e.amount) for e in picture.edges] == [(0, "+1"), (1, "+1")]
    assert "∂y/∂a = 1 + 1 = 2" in ad.draw(a + a).text


def test_shared_nodes_are_one_box_and_drawn_at_once():
    y, _, names = names_of(doublings)
    drawing = ad.draw(y, names=names, fold=False)
    assert len(drawing.model.boxes) == 21 and len(drawing.model.edges) == 40
    assert drawing.text.count("\n") < 60


def test_modules_and_composites_fold_and_unfold():
    loss, _, names = names_of(two_layers)
    unfolded = ad.draw(loss, names=names, fold=False).model
    assert [g.name for g in unfolded.groups.values()] == ["Sequential", "Linear", "Linear"]
    assert {b.symbol for b in unfolded.boxes.values()} >= {"@", "tanh", "+"}
    folded = ad.draw(loss, names=names, fold="Linear").model
    layers = [b for b in folded.boxes.values() if b.kind == "group"]
    assert [b.symbol for b in layers] == ["Linear", "Linear"]
    assert [g.name for g in folded.groups.values()] == ["Sequential"]
    whole = ad.draw(loss, names=names, fold=True).model
    assert sum(b.kind == "operation" for b in whole.boxes.values()) == 2
    for picture in (unfolded, folded, whole):
        assert_adds_up(picture)
    with pytest.raises(ValueError, match="no scope Conv in this picture, only Linear, Sequential"):
        ad.draw(loss, fold=["Conv"])


def test_a_users_module_is_a_scope_and_keeps_the_users_lines():
    class Doubler(ad.nn.Module):
        def forward(self, x):
            return x + x

    x = ad.variable(2.0)
    y = Doubler()(x) * 3
    picture = ad.draw(y, fold=False).model
    box = next(b for b in picture.boxes.values() if b.symbol == "+")
    assert box.source == "return x + x" and box.place.startswith("test_picture.py:")
    assert str(ROOT) not in ad.explore(y).html + ad.draw(y).dot
    folded = ad.draw(ad.softmax(y * ad.tensor([1.0, 2.0]))[0]).model
    assert "softmax" in {b.symbol for b in folded.boxes.values() if b.kind == "group"}


def test_softmax_folds_by_itself():
    v = ad.variable([0.0, 1.0])
    y = ad.softmax(v).sum()
    assert "softmax" in [b.symbol for b in ad.draw(y).model.boxes.values()]
    assert "exp" in [b.symbol for b in ad.draw(y, fold=False).model.boxes.values()]


def test_variables_only():
    y, _, names = names_of(three_weights)
    picture = ad.draw(y, names=names, variables_only=True).model
    assert {b.name for b in picture.boxes.values()} == {"a", "w1", "w2", "w3", "b", "c", "y"}
    assert_adds_up(picture)
    assert gradient(picture, "w3") == pytest.approx(8 * math.cos(2.5), rel=1e-5)
    assert all(b.name or b.key == picture.root for b in picture.boxes.values())


def test_names_come_from_the_user():
    weight = ad.variable(2.0)
    given = ad.variable(3.0, name="given")
    parts = [ad.variable(4.0)]
    inner = weight * given
    picture = ad.draw(inner + parts[0]).model
    assert {b.name for b in picture.boxes.values()} == {"weight", "given", "parts[0]", "inner", None}

    class Unwilling:
        def __getattr__(self, name):
            raise RuntimeError("nobody asks me")

    unwilling = Unwilling()
    assert ad.draw(inner) and unwilling
    total = inner + 1
    total.name = "chosen"
    assert ad.draw(total * 2).model.find("chosen").symbol == "+"


def test_drawing_changes_nothing():
    x = ad.variable(2.0)
    y = x * x
    u = ad.tensor(3.0) * 2
    ad.draw(y * u)
    assert y.node.value is None and x.grad is None and u.node.value is None and len(u.node.inputs) == 2


def test_wrt_cotangent_and_no_gradients():
    x, z = ad.variable(2.0), ad.variable(5.0)
    y = x * z
    picture = ad.draw(y, wrt=x).model
    assert gradient(picture, "x") == 5 and picture.find("z").gradient is None
    plain = ad.draw(y, gradients=False).model
    assert not any(e.carried for e in plain.edges)
    v = ad.variable([1.0, 2.0])
    w = v * v
    assert "needs a cotangent" in ad.draw(w).model.notes[0]
    assert gradient(ad.draw(w, cotangent=[1.0, 10.0]).model, "v") == [2, 40]
    with pytest.raises(ValueError, match="cotangent of shape"):
        ad.draw(w, cotangent=[1.0])
    with pytest.raises(ValueError, match="wrt takes tensors that require gradients"):
        ad.draw(w, wrt=ad.tensor(1.0))
    with pytest.raises(TypeError, match="draw: expected a tensor, got float"):
        ad.draw(2.0)


def test_derivatives_custom_rules_and_updates_draw():
    x = ad.variable(2.0)
    (dx,) = ad.gradients(x**3, [x])
    assert gradient(ad.draw(dx).model, "x") == 12
    (x**2).backward()
    assert ad.draw(x.grad).model.boxes[ad.draw(x.grad).model.root].value.numbers == 4

    @ad.custom_vjp
    def twice(a):
        return a * 2

    twice.def_vjp(lambda a: (a * 2, None), lambda residuals, u: (u * 7,))
    picture = ad.draw(twice(x)).model
    assert picture.boxes[picture.root].symbol == "twice" and gradient(picture, "x") == 7
    with ad.no_grad():
        x -= 0.5
    assert gradient(ad.draw(x * x).model, "x") == 3
    first, second = ad.split(ad.variable([1.0, 2.0]), 2, axis=0)
    assert_adds_up(ad.draw((first * second).sum()).model)


def test_plumbing_is_hidden_unless_asked_for():
    y, _, names = names_of(broadcast)
    assert "broadcast_to" not in {b.operation for b in ad.draw(y, names=names).model.boxes.values()}
    picture = ad.draw(y, names=names, plumbing=True).model
    assert "broadcast_to" in {b.operation for b in picture.boxes.values()}
    assert_adds_up(picture)


def test_finite_differences_agree():
    for expression in EXPRESSIONS[:-2]:
        y, _, _ = names_of(expression)
        picture = build(y.node, compare=True)
        assert picture.comparisons
        for comparison in picture.comparisons:
            np.testing.assert_allclose(comparison.difference.numbers, comparison.reverse.numbers, rtol=1e-4, atol=1e-6)
    x = ad.variable(2.0)
    (scaled,) = build((x**3).node, cotangent=ad.tensor(-2.0).node, compare=True).comparisons
    assert scaled.reverse.numbers == -24 and scaled.difference.numbers == pytest.approx(-24)
    many = ad.variable(np.linspace(-1, 1, 50))
    (comparison,) = build(ad.sum(many**3).node, compare=True).comparisons
    assert "along the gradient" in comparison.how
    assert comparison.difference.numbers == pytest.approx(comparison.reverse.numbers, rel=1e-6)


def test_a_huge_graph_folds_by_itself_and_says_so():
    s = x = ad.variable(2.0)
    for even in np.random.default_rng(0).random(3000) < 0.5:
        s = ad.sin(s) * 1.01 if even else ad.tanh(s)
    drawing = ad.draw(s)
    assert len(drawing.model.boxes) < 40
    assert "nodes are folded into" in drawing.model.notes[-1] and drawing.model.notes[-1] in drawing.text
    x_box = drawing.model.find("x")
    assert x_box.gradient.numbers == pytest.approx(ad.gradients(s, [x])[0].item(), abs=1e-30)
    wide = ad.add(*[ad.sum(ad.stack([ad.variable(float(i)) * 2 for i in range(300)]))] * 2)
    assert len(ad.draw(wide).model.boxes) < 120


def test_a_traced_function_draws_without_values():
    picture = fold(build(cube().node, gradients=False), set())
    assert all(b.gradient is None for b in picture.boxes.values())
    assert auto_folded(picture) == set()


# Output ---------------------------------------------------------------------------------------------------------------

HOSTILE = '<script>alert("x")</script>&\\"\n\0]]>' + "long" * 100


def test_text_and_dot_need_no_extra(monkeypatch, tmp_path):
    monkeypatch.setattr(_optional.importlib, "import_module", refuse_pygraphviz)
    drawing = cube().draw()
    assert drawing.text.startswith("+ = 33") and drawing.dot.startswith("digraph")
    drawing.save(tmp_path / "y.dot")
    drawing.save(tmp_path / "y.txt")
    assert (tmp_path / "y.txt").read_text() == drawing.text + "\n"
    with pytest.raises(
        ImportError, match=r"drawing as SVG needs the package pygraphviz.*pip install 'adjoint\[draw\]'"
    ):
        ad.draw(cube(), tmp_path / "y.svg")
    assert not (tmp_path / "y.svg").exists()
    assert list(drawing._repr_mimebundle_()) == ["text/plain"]
    with pytest.raises(ValueError, match="no format 'gif'; choose one of svg, png, pdf, dot, txt"):
        ad.draw(cube(), "y.gif")


real_import = importlib.import_module


def refuse_pygraphviz(name, *arguments):
    if name == "pygraphviz":
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return real_import(name, *arguments)


@needs_graphviz
def test_svg_png_and_pdf(tmp_path):
    for suffix, start in [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]:
        path = tmp_path / f"y.{suffix}"
        ad.draw(cube(), path)
        assert path.read_bytes().startswith(start)
    texts = svg_texts((tmp_path / "y.svg").read_text())
    assert texts.count("+12") == 3 and "= 12 + 12 + 12 + 4 + 0 = 40" in texts and "= 2" in texts


def svg_texts(svg):
    return [e.text for e in xml.etree.ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@needs_graphviz
def test_hostile_names_are_text():
    x = ad.variable(2.0, name=HOSTILE)
    drawing = ad.draw(x * x)
    assert "\n" not in drawing.text.splitlines()[0]
    root = xml.etree.ElementTree.fromstring(drawing.svg())
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    assert any('<script>alert("x")' in (t or "") for t in svg_texts(drawing.svg()))


@needs_graphviz
def test_notebooks_show_pictures_on_request():
    y = cube()
    assert y._repr_mimebundle_() == {"text/plain": repr(y)}
    assert "image/svg+xml" in y.draw()._repr_mimebundle_()
    ad.show_pictures()
    try:
        bundle = y._repr_mimebundle_()
        assert bundle["text/plain"] == repr(y) and "+12" in bundle["image/svg+xml"]
    finally:
        ad.show_pictures(False)
    assert y._repr_mimebundle_() == {"text/plain": repr(y)}


# The example's pictures -----------------------------------------------------------------------------------------------


EXAMPLE = runpy.run_path(str(ROOT / "examples" / "pictures.py"))


@pytest.mark.parametrize("picture", EXAMPLE["PICTURES"], ids=lambda f: f.__name__)
def test_an_example_picture_shows_what_the_engine_says(picture):
    """The same boxes, edges and texts; where Graphviz puts them is its own affair."""
    drawing = picture()
    model, svg = drawing.model, drawing.svg()
    assert_adds_up(model)
    root = xml.etree.ElementTree.fromstring(svg)
    classes = [g.get("class") for g in root.iter("{http://www.w3.org/2000/svg}g")]
    assert classes.count("node") == len(model.boxes)
    assert classes.count("edge") == len(model.edges) + sum(bool(e.carried) for e in model.edges)
    assert classes.count("cluster") == len(model.groups)
    shown = "".join(t or "" for t in svg_texts(svg)).replace("\xa0", "")
    for e in model.edges:
        assert e.amount.split("], [")[0] in shown
    for box in model.boxes.values():
        assert (box.name or "") in shown
        if box.gradient is not None:
            assert box.gradient.text.split("], [")[0] in shown
    assert len(svg) < 40_000


def test_transformations_draw(capsys):
    x = ad.variable([1.0, 2.0, 3.0])
    checkpointed = ad.checkpoint(lambda a: (ad.exp(ad.sin(a)), a * a))
    first, second = checkpointed(x)
    picture = ad.draw((first * second).sum(), fold=False).model
    assert "checkpoint" not in {b.operation for b in picture.boxes.values()}
    np.testing.assert_allclose(gradient(picture, "x"), ad.gradients((first * second).sum(), [x])[0], rtol=1e-5)
    assert_adds_up(picture)
    one = ad.checkpoint(lambda a: ad.exp(ad.sin(a)))
    assert {b.symbol for b in ad.draw(one(x).sum(), fold=False).model.boxes.values()} == {"Σ", "exp", "sin", "variable"}

    @ad.custom_jvp
    def square(a):
        return a * a

    square.def_jvp(lambda primals, tangents: (primals[0] * primals[0], 5 * primals[0] * tangents[0]))
    assert gradient(ad.draw(square(x).sum()).model, "x") == [5, 10, 15]
    ad.grad(lambda a: (print(ad.draw(a * a, names={"a": a})), a * a)[1])(2.0)
    assert "∂y/∂a = 2 + 2 = 4" in capsys.readouterr().out
    ad.vmap(lambda a: (print(ad.draw(a * 2, names={"a": a})), a * 2)[1])(x)
    assert "├─ a\n" in capsys.readouterr().out
    assert gradient(ad.draw(ad.vmap(lambda a: ad.sin(a) * a)(x).sum()).model, "x") == pytest.approx(
        (np.cos(x.numpy()) * x.numpy() + np.sin(x.numpy())).tolist(), rel=1e-5
    )


def test_odd_values_draw():
    z = ad.variable(1 + 2j)
    assert gradient(ad.draw(ad.real(z * ad.conj(z))).model, "z") == 2 + 4j
    flags = ad.tensor([1, 2]) > 1
    assert ad.draw(flags).model.find("flags").value.text == "[False, True]"
    for t in (ad.tensor(3.0), ad.variable([]) * 2, ad.variable(float("nan")) * 2, z * z, flags):
        assert str(ad.draw(t)) and ad.explore(t).html
    w = ad.variable(2.0)
    w.data = w * 3  # a version whose value is pending
    assert gradient(ad.draw(w * w).model, "w") == 12
    assert build((w * w).node, compare=True).comparisons[0].difference.numbers == pytest.approx(12)


# What repeats ---------------------------------------------------------------------------------------------------------


def chain(turns):
    ws = [ad.variable(0.01 * i + 0.5) for i in range(turns)]
    s = x = ad.variable(1.0)
    for w in ws:
        s = ad.tanh(s * w + x)
    return s, ws, x


def test_equal_turns_are_one_box_that_opens():
    y, _, x = chain(40)
    drawing = ad.draw(y)
    loop = drawing.model.boxes[drawing.model.root]
    assert len(drawing.model.boxes) == 2 and loop.symbol == "40 × (× + tanh)" and loop.detail == "120 operations"
    assert loop.value.numbers == y.item()
    assert gradient(drawing.model, "x") == pytest.approx(ad.gradients(y, [x])[0].item(), rel=1e-6)
    whole = ad.draw(y, fold=False).model
    outer = next(group for group in whole.groups.values() if group.turns)
    assert outer.turns == 40 and len([g for g in whole.groups.values() if g.parent == outer.key]) == 40
    opened = fold(whole, [key for key, group in whole.groups.items() if not group.turns], None)
    assert len(opened.boxes) == 41 and opened.boxes[opened.root].symbol == "turn 40 of 40"
    assert_adds_up(opened)


def test_a_weight_that_one_turn_uses_is_inside_it_and_has_its_name():
    y, ws, _ = chain(10)
    weight = ad.draw(y, fold=False).model.find("ws[7]")
    assert len(weight.groups) == 2 and weight.value.numbers == ws[7].item()


def test_composites_and_modules_inside_turns_and_around_them():
    class Deep(ad.nn.Module):
        def forward(self, x):
            for _ in range(9):
                x = ad.softmax(x) * 2.0
            return x

    y = Deep()(ad.variable([1.0, 2.0])).sum()
    model = ad.draw(y, fold=False).model
    parents = {group.name.split(" ")[0]: group.parent for group in model.groups.values()}
    names = {key: group.name for key, group in model.groups.items()}
    assert names[parents["softmax"]].startswith("turn") and names[parents["9"]] == "Deep"
    assert_adds_up(ad.draw(y).model)


def test_names_of_nested_containers():
    layers = [{"w": ad.variable(1.0), "b": [ad.variable(2.0)]} for _ in range(2)]
    y = layers[0]["w"] * layers[1]["b"][0]
    model = ad.draw(y).model
    assert model.find("layers[0]['w']").value.numbers == 1 and model.find("layers[1]['b'][0]").value.numbers == 2


def test_an_edge_that_carries_arrays_of_several_shapes_says_how_many():
    """As from a folded loop to what it reads as a whole and row by row."""
    matrix, rows = quantity(np.ones((2, 3))), quantity(np.ones(2))
    assert Edge("a", "b", 0, (matrix, rows)).amount == "2 flows"
    assert Edge("a", "b", 0, (rows, rows)).amount == quantity(np.full(2, 2.0)).text
