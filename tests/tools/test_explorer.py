"""The explorer's page as text and its layout, and the commands `adjoint draw` and `adjoint explore`."""

import json
import re
import time

import numpy as np
import pytest

import adjoint as ad
from adjoint import _optional
from adjoint.cli import main
from adjoint.cli.expression import FUNCTIONS, assignments, compute
from adjoint.graph import PRIMITIVES
from adjoint.picture import build
from adjoint.picture.formulas import FORMULAS
from adjoint.picture.layout import layered, layout
from adjoint.picture.page import box_size
from test_picture import HOSTILE, cube, names_of, needs_graphviz, softmax, two_layers


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="graph">(.*?)</script>', page.html, re.DOTALL)[1])


def test_the_page_holds_the_graph_and_asks_for_nothing(tmp_path):
    page = ad.explore(cube(), tmp_path / "y.html")
    assert (tmp_path / "y.html").read_text() == page.html
    assert not re.search(r"""(src|href)\s*=|url\((?!#)|@import|fetch\(|XMLHttp|https?://(?!www\.w3\.org)""", page.html)
    data = data_of(page)
    assert len(data["boxes"]) == 13 and len(data["edges"]) == 16
    x = next(b for b in data["boxes"] if b["name"] == "x")
    assert x["gradient"]["numbers"] == 40
    assert sorted(e["amount"] for e in data["edges"] if e["source"] == x["key"]) == ["+0", "+12", "+12", "+12", "+4"]
    assert data["comparisons"] == [], "the page compares by itself what it moves"
    assert "Content-Security-Policy" in page.html and "default-src 'none'" in page.html
    shown = page._repr_mimebundle_()["text/html"]
    assert 'sandbox="allow-scripts"' in shown and "<script>" not in shown


def test_what_the_page_cannot_move_comes_with_its_finite_difference():
    x, w = ad.variable(2.0, name="x"), ad.variable(3.0, name="w")
    y = ad.host_call(np.cbrt, x, shape=(), dtype="float32", vjp=lambda u, x: u / (3 * ad.special.cbrt(x) ** 2)) * w
    data = data_of(ad.explore(y))
    (compared,) = data["comparisons"]
    assert next(b for b in data["boxes"] if b["key"] == compared["key"])["name"] == "x"
    assert compared["difference"]["numbers"] == pytest.approx(2 ** (-2 / 3), rel=1e-2)


def test_a_choice_by_values_is_said_to_be_one():
    x = ad.variable(np.array([1.0, -2.0, 3.0]), name="x")
    boxes = {box["operation"]: box for box in data_of(ad.explore((x[x > 0] ** 2).sum()))["boxes"]}
    assert boxes["gather"]["detail"] == "at places chosen when it was recorded"
    places = ad.variable(np.array([1.0, -2.0, 3.0])).argsort()
    boxes = {box["operation"]: box for box in data_of(ad.explore(x[places].sum()))["boxes"]}
    assert boxes["gather"]["detail"] == ""


def test_hostile_text_stays_data():
    x = ad.variable(2.0, name=HOSTILE)
    page = ad.explore(x * x)
    assert page.html.count("<script") == 2 and "alert(" in page.html and "<script>alert" not in page.html
    assert next(b for b in data_of(page)["boxes"] if b["kind"] == "variable")["name"] == HOSTILE


def test_numbers_that_json_lacks_become_text():
    x = ad.variable(0.0)
    boxes = data_of(ad.explore(1 / x))["boxes"]
    assert {b["value"]["numbers"] for b in boxes} >= {"inf"}


def test_there_is_a_layout_for_each_named_folding():
    loss, _, names = names_of(two_layers)
    data = data_of(ad.explore(loss, names=names, fold=True))
    assert set(data["layouts"]) == {"", ",".join(sorted(data["folded"])), "g0"}
    assert len(data["layouts"][""]["boxes"]) == len(data["boxes"])
    assert len(data["layouts"]["g0"]["boxes"]) < len(data["boxes"])


@pytest.mark.parametrize("own", [True, pytest.param(False, marks=needs_graphviz)])
@pytest.mark.parametrize("expression", [lambda: (cube(), 0), softmax, two_layers])
def test_boxes_do_not_overlap_and_edges_lead_upwards(own, expression):
    picture = build(expression()[0].node)
    sizes = {key: box_size(picture, box) for key, box in picture.boxes.items()}
    found = layout(picture, sizes, None if own else _optional.try_load("pygraphviz"))
    boxes = [(*found.centres[key], *sizes[key]) for key in picture.boxes]
    for i, (x, y, w, h) in enumerate(boxes):
        for X, Y, W, H in boxes[:i]:
            assert abs(x - X) >= (w + W) / 2 - 0.2 or abs(y - Y) >= (h + H) / 2 - 0.2
    for e, curve in zip(picture.edges, found.curves, strict=True):
        assert found.centres[e.source][1] > found.centres[e.target][1] and len(curve) % 3 == 1


def test_a_large_graph_is_laid_out_quickly():
    s = x = ad.variable(1.0)
    for _ in range(700):
        s = ad.sin(s) * x + s
    picture = build(s.node)
    assert len(picture.boxes) > 2000
    start = time.perf_counter()
    layered(picture, dict.fromkeys(picture.boxes, (60.0, 40.0)))
    assert time.perf_counter() - start < 20
    assert len(data_of(ad.explore(s, compare=False))["boxes"]) > 2000


def test_formulas_are_of_operations_that_exist():
    assert set(FORMULAS) <= set(PRIMITIVES)


# Commands -------------------------------------------------------------------------------------------------------------

EXPRESSION = "3*x**3 + 4*x + 1 + x*z"


def test_draw_prints_a_tree(capsys):
    assert main(["draw", EXPRESSION, "x=2", "z=0"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("y = + = 33") and "∂y/∂x = 36 + 4 + 0 = 40" in out and "∂y/∂z = 2" in out


@needs_graphviz
def test_draw_and_explore_write_files(tmp_path, capsys):
    assert main(["draw", EXPRESSION, "x=2", "z=0", "--out", str(tmp_path / "y.svg")]) == 0
    assert "+36" in (tmp_path / "y.svg").read_text()
    assert main(["explore", EXPRESSION, "x=2", "z=0", "--out", str(tmp_path / "y.html")]) == 0
    assert "<!doctype html>" in (tmp_path / "y.html").read_text()
    assert "open it in a browser" in capsys.readouterr().out


def test_expressions_know_arrays_functions_and_constants():
    y = compute("sum(relu(W @ v)) + sin(pi * t)", assignments(["W=[[1,-2],[3,4]]", "v=[1,1]", "t=-.5"]))
    assert y.item() == pytest.approx(6)
    assert compute("x**2 - -x", assignments(["x=3"])).item() == 12
    assert compute("exp(2)*x", assignments(["x=1"])).item() == pytest.approx(7.389, rel=1e-3)
    assert compute("where(x > 1, ceil(x) * copysign(2, y), clip(x, 0, 1))", assignments(["x=2.5", "y=-1"])).item() == -6
    assert compute("where(1 >= 2, x, 3 * x) * where(x != 2, 1, 2)", assignments(["x=2"])).item() == 12


def test_every_elementwise_function_is_known_in_expressions():
    """From the registry: whoever adds an operation adds no name here."""
    elementwise = [name for name in ad.__all__ if name in PRIMITIVES and PRIMITIVES[name].elementwise]
    assert len(elementwise) > 60 and set(elementwise) - {"astype"} <= set(FUNCTIONS)
    assert not set(FUNCTIONS) & {"save", "load", "host_call", "exec", "jit"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("__import__('os').system('true')", "isn't arithmetic"),
        ("x.__class__", "isn't arithmetic"),
        ("[x for x in (1,)]", "isn't arithmetic"),
        ("(lambda: x)()", "isn't arithmetic"),
        ("x if x else 1", "isn't arithmetic"),
        ("1 < x < 3", "isn't arithmetic"),
        ("x is x", "isn't arithmetic"),
        ("f'{x}'", "isn't arithmetic"),
        ("open(x)", "there is no function open"),
        ("eval(x)", "there is no function eval"),
        ("x + q", "q has no value .known: x.; add q=1"),
        ("x +", "can't read 'x \\+'"),
        ("x; x", "can't read"),
        ("'a' * x", "isn't a number"),
        ("True * x", "isn't a number"),
        ("9**9**9 * x", "too large"),
        ("1e400 * x", "too large"),
        ("1/0 * x", "division by zero"),
        ("(" * 5000 + "x" + ")" * 5000, "can't read"),
        ("x" + "+x" * 1000, "nested more than"),
        ("1 + 1", "x: given a value, but not in"),
        ("[1, 2] @ [x]", "expected a number or a list of numbers"),
    ],
)
def test_what_is_not_arithmetic_is_refused(text, complaint, capsys):
    assert main(["draw", text, "x=2"]) == 1
    message = capsys.readouterr().err
    assert re.search(complaint, message), message
    assert message.startswith("adjoint: error: ") and message.count("\n") == 1


@pytest.mark.parametrize("item", ["x", "x=", "2=x", "x=open('a')", "x=y", "sin=2", "x=[1,[2"])
def test_wrong_assignments_are_told(item, capsys):
    assert main(["draw", "x", item]) == 1
    assert capsys.readouterr().err.startswith("adjoint: error: ")
