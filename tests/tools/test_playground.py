"""The playground without a browser: formulas are read, derived and computed in node, and compared with Python."""

import ast
import json
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.cli import main
from adjoint.graph import PRIMITIVES
from adjoint.picture.formulas import FORMULAS as FORMULAS_IN_WORDS
from adjoint.picture.page import ENGINE
from adjoint.picture.rules import rules_data
from adjoint.picture.steps import computed

node = shutil.which("node")
needs_node = pytest.mark.skipif(node is None, reason="needs node")
SCRIPTS = (*ENGINE, "program", "elements", "numbers", "view", "layout", "recording", "parser", "reversing", "gallery")

ONE = (
    "abs acos asin atan atanh ceil cos cosh erf erfc exp expm1 log1p relu sigmoid sign sin sinh asinh softplus tan tanh"
)
POSITIVE = "sqrt log log2 log10"
ROUNDED = "floor trunc round"
TRUTH = "isfinite isinf isnan logical_not signbit"
TWO = "atan2 hypot maximum minimum logaddexp copysign"
FORMULAS = [
    *(f"x = {x}\ny = x * {name}(x) + {name}(x * 0.5)" for name in f"{ONE} {ROUNDED}".split() for x in (0.4, -0.7)),
    *(f"x = 1.7\ny = x * {name}(x)" for name in POSITIVE.split()),
    *(f"x = {x}\ny = x * {name}(x) + x" for name in TRUTH.split() for x in (0, -0.7)),
    *(f"x = 0\ny = -0.7\nz = x * y + {name}(x, y)" for name in ("logical_and", "logical_or", "logical_xor")),
    *(f"a = 0.4\nb = -1.3\ny = {name}(a, b) * a" for name in TWO.split()),
    "x = 2\ny = maximum(x, 2) + minimum(x, x*1) + relu(x - 2) + abs(x - 2)",
    "x = 0\ny = sqrt(x) * x + x**2.5 + where(x > 0, log(x), x)",
    "x = 3\nn = 2\ny = x**n + 2**x + x**-1 + x**0 + x**1 + x**0.5 - -x**2",
    "x = 7\nm = 3\ny = x % m + x // m + (x + 0.5) % -m",
    "x = [0.5, -1, 2]\ny = sum(clip(x, -0.5, 1) * x) + max(x) - min(x * x)",
    "x = [1, 3, 3]\ny = max(x) * 2",
    "w = [[1, 2, 3], [4, 5, 6]]\nb = [0.1, 0.2, 0.3]\ny = mean(tanh(w * 0.1 + b)) + sum(w.T @ w) * 0.01",
    "a = [1, 2, 3]\nM = [[1, 0, 2], [0, 1, -1], [3, 1, 1]]\ny = a @ M @ a + sum(M @ a) + M[1][2] * a[-1]",
    "z = [[1, 2, 0.5], [-1, 0.3, 2]]\ny = sum(softmax(z)[0] * [1, 2, 3]) + log_softmax(z)[1][0]",
    "x = 0.3\ny = gelu(x) * silu(x + 1) + square(x) * pi - e",
    "x = 1 # a comment\n\ny = (x < 2) * x + (x >= 1) * 2*x",
    "x = 1\nx = x * 3\nx = sin(x)\n",
    "y = 3*q*q + exp(-r)",
]  # fmt: skip


def answers(folder, formulas):
    files = resources.files("adjoint.picture")
    scripts, asked = folder / "scripts.js", folder / "questions.json"
    scripts.write_text("".join(files.joinpath(f"scripts/{name}.js").read_text() for name in SCRIPTS))
    asked.write_text(json.dumps({"rules": rules_data(), "formulas": formulas}, allow_nan=False))
    program = Path(__file__).with_name("page_playground.js")
    done = subprocess.run([node, program, scripts, asked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_python(text):
    """The value of a formula, and the gradients of the leaves that it has, as adjoint computes them in 64 bits."""
    names = {name: getattr(ad, name) for name in ad.__all__}
    leaves = {}
    result = None
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, sign, right = line.partition("=")
        if not sign or not name.strip().isidentifier() or right.startswith("="):
            name, right = "_", line
        for free in {n.id for n in ast.walk(ast.parse(right.strip())) if isinstance(n, ast.Name)} - set(names):
            leaves[free] = names[free] = ad.variable(1.0, dtype="float64")
        try:
            literal = ast.literal_eval(right.strip())
        except ValueError:
            code = compile(as_arrays(ast.parse(right.strip(), mode="eval")), "formula", "eval")
            result = eval(code, {"__builtins__": {}}, names)
        else:
            result = ad.variable(literal, dtype="float64")
            leaves[name.strip()] = result
        names[name.strip()] = result
    order = list(leaves)
    return result.numpy(), dict(
        zip(order, (g.numpy() for g in ad.gradients(result, [leaves[n] for n in order])), strict=True)
    )


class as_array(ast.NodeTransformer):
    def visit_List(self, node):
        return ast.Call(ast.Name("asarray", ast.Load()), [node], [])


def as_arrays(tree):
    return ast.fix_missing_locations(as_array().visit(tree))


@needs_node
def test_formulas_are_what_python_says(tmp_path):
    ad.set_default_dtype("float64")
    gallery = answers(tmp_path, [])["gallery"]
    assert len(gallery) >= 10
    texts = FORMULAS + gallery
    for text, found in zip(texts, answers(tmp_path, texts)["answers"], strict=True):
        value, gradients = in_python(text)
        assert "error" not in found, (text, found)
        np.testing.assert_allclose(np.array(found["value"], float), value.ravel(), 1e-12, 1e-14, err_msg=text)
        assert set(found["leaves"]) <= set(gradients)
        for name, mine in found["leaves"].items():
            mine = np.zeros(gradients[name].size) if mine is None else mine  # nothing flows there
            np.testing.assert_allclose(
                np.array(mine, float), gradients[name].ravel(), 1e-12, 1e-12, err_msg=f"{name} in {text}"
            )


ERRORS = {
    "y = tahn(x)": (4, 4, "there is no function tahn; there is tanh"),
    "y = ln(x)": (4, 2, "there is no function ln; there is log"),
    "y = x ^ 2": (6, 1, "a power is written **"),
    "y = (x + 1": (10, 1, "a ( has no )"),
    "y = x +": (7, 1, "something is missing here"),
    "x = 1\ny = x $ 2": (12, 1, "$ means nothing here"),
    "y = atan2(x)": (4, 5, "atan2 takes 2 arguments, got 1"),
    "y = sin": (4, 3, "sin is a function: sin(…)"),
    "sin = 3": (0, 3, "sin is the name of a function; call it something else"),
    "y = x x": (6, 1, "x wasn't expected here"),
    "a = [1, 2]\nb = [1, 2, 3]\ny = a + b": (31, 1, "add: shapes (2,) and (3,) don't fit"),
    "a = [[1, 2]]\ny = a @ a": (19, 1, "@: the inner axes of (1, 2) and (1, 2) differ"),
    "a = [[1, 2], [3]]": (17, 1, "the rows of a list are equally long"),
    "a = [1, 2]\ny = a[2]": (17, 1, "there is no element 2"),
    "": (0, 1, "write a formula, such as y = tanh(w*x + b)"),
    "y = hasOwnProperty + constructor(2)": (21, 11, "there is no function constructor"),
    "y = foo(x)": (4, 3, "there is no function foo"),
    "x = 2\ny = x(3)": (10, 1, "x is no function; a product is written x*(…)"),
    "y = 2x": (5, 1, "a product is written 2*x"),
    "y = inf": (4, 3, "inf means nothing here"),
    "None = 2": (0, 4, "None means nothing here"),
    "y = (1, 2)": (6, 1, "a list is written [1, 2]"),
    "y = 3 > x > 1": (10, 1, "comparisons aren't chained: multiply two of them"),
    "y = x × 2": (6, 1, "a product is written *"),
    "y = 🙂": (4, 2, "🙂 means nothing here"),
    "y = " + "[" * 9000: (12, 1, "a list has at most 8 axes"),
    "y = " + "x" * 10**6: (20_000, 1, "a formula has at most 20,000 characters"),
    "y = 1" + "+x" * 4100: (0, 8205, "the formula has more than 2,000 operations"),
    f"a = {[1] * 1200}\nb = {[[1]] * 1200}\ny = sum(a * b)": (
        9620,
        1,
        "the arrays of this formula are too large for a page",
    ),
    "y = " + "(" * 300 + "x" + ")" * 300: (204, 1, "too deeply nested"),
}


@needs_node
def test_errors_are_told_at_the_character(tmp_path):
    found = answers(tmp_path, list(ERRORS))["answers"]
    assert [(e.get("at"), e.get("length"), e.get("error")) for e in found] == list(ERRORS.values())


@needs_node
def test_a_number_alone_is_a_formula(tmp_path):
    one, many = answers(tmp_path, ["3", "[1, 2]"])["answers"]
    assert one["value"] == [3] and many["value"] == [1, 2]


def test_what_has_a_derivative_is_said_in_words():
    operations = [PRIMITIVES[name] for name in computed().elementary if name in PRIMITIVES]
    derived = sorted(op.name for op in operations if op.elementwise and any(op.vjp))
    lines = [f'"{name}": ("r = ...", ("∂r/∂a = ...",)),' for name in derived if name not in FORMULAS_IN_WORDS]
    assert lines == [], "write these lines in picture/formulas.py"


@needs_node
def test_what_is_no_number_has_no_gradients_and_says_so(tmp_path):
    (found,) = answers(tmp_path, ["x = [1, 2]\ny = x * 3"])["answers"]
    assert found["value"] == [3, 6] and found["leaves"] == {"x": None}
    assert found["notes"] == ["no gradients: the result has shape (2,); take its sum"]


def test_the_rules_are_the_engines():
    rules = rules_data()["rules"]
    assert rules["tanh"] == [
        [["multiply", ["r", "r"], None], ["subtract", [["number", 1.0], ["step", 0]], None], ["scale", ["u", ["step", 1]], None]]
    ]  # fmt: skip
    assert rules["add"] == [[["marker", ["u"], None]], [["marker", ["u"], None]]]
    assert rules["floor"] == [None] and rules["where"][0] is None


def test_the_page_and_the_command(tmp_path, capsys):
    page = ad.playground(tmp_path / "a.html", formula="y = a</script><b>")
    assert (tmp_path / "a.html").read_text() == page.html and "a</script>" not in page.html
    assert len(page.html) < 300_000 and "default-src 'none'" in page.html
    assert main(["playground", "y = x*x", "--out", str(tmp_path / "b.html")]) == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'b.html'}; open it in a browser\n"
    assert '"formula":"y = x*x"' in (tmp_path / "b.html").read_text()


def test_a_fresh_process_writes_the_page():
    """Whose primitives are those alone that `import adjoint` loads."""
    code = "import adjoint as ad; print(len(ad.playground().html), len(ad.explore(ad.variable(2.0) * 3.0).html))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(int(size) > 100_000 for size in done.stdout.split())
