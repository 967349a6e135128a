"""What notebooks show: pages, explanations, histories; and the widget whose leaves go both ways."""

import importlib.util
import json
import sys
from importlib import resources

import numpy as np
import pytest

import adjoint as ad


def test_an_explanation_and_a_history_are_shown_as_html(capsys):
    x = ad.variable(2.0, name="<x>")
    found = ad.explain(3 * x * x, x)
    bundle = found._repr_mimebundle_()
    assert bundle["text/plain"] == str(found) == capsys.readouterr().out.rstrip("\n")
    assert "= 12, the sum over 2 paths" in bundle["text/html"] and "<x>" not in bundle["text/html"]
    history = ad.train.History([1.0, 0.5, float("nan"), 0.25], [0.1] * 4, [ad.train.history.Epoch(1, 0.5, {}, 2.0)])
    shown = history._repr_mimebundle_()
    assert (
        "4 steps in 2.0 s" in shown["text/plain"]
        and "polyline" in shown["text/html"]
        and "nan" not in shown["text/html"]
    )
    assert "svg" not in ad.train.History()._repr_mimebundle_()["text/html"]


def test_without_anywidget_the_widget_says_what_is_missing(monkeypatch):
    from adjoint.display import notebooks

    notebooks._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    x = ad.variable(1.0)
    with pytest.raises(ImportError, match=r"adjoint\[notebook\]"):
        ad.explore(x * x).widget()


def test_a_widget_sets_variables_and_moves_the_page():
    pytest.importorskip("anywidget")
    x, w = ad.variable(2.0), ad.variable([[1.0, 2.0], [3.0, 4.0]])
    y = (x * w).sum()
    page = ad.explore(y, names={"x": x, "w": w})
    widget = page.widget()
    assert widget.page == page.html and widget["x"] is x
    slots = {name: slot for name, (slot, _) in widget._leaves.items()}
    widget.moved = {"slot": slots["w"], "numbers": [5.0, 6.0, 7.0, 8.0]}
    np.testing.assert_array_equal(w.numpy(), [[5, 6], [7, 8]])
    widget.moved = {"slot": slots["x"], "numbers": [0.5]}
    assert x.item() == 0.5 and (x * w).sum().item() == 13 and y.item() == 20
    widget["x"] = 3.0
    assert x.item() == 3 and widget.placed == {"slot": slots["x"], "numbers": [3.0]}
    with pytest.raises(KeyError):
        widget["z"]


CELLS = [
    "import adjoint as ad\nx, z = ad.variable(2.0), ad.variable(0.0)\ny = 3 * x * x * x + 4 * x + 1 + x * z\ny",
    "ad.draw(y)",
    "ad.explore(y)",
    "ad.explain(y, x)",
    "ad.playground()",
    "w = ad.explore(y).widget()\nw",
    "w.moved = {'slot': w._leaves['x'][0], 'numbers': [5.0]}\nprint(x.item())",
]


def test_a_notebook_runs_and_shows_them(tmp_path):
    pytest.importorskip("anywidget"), pytest.importorskip("ipykernel")
    nbformat, preprocessors = pytest.importorskip("nbformat"), pytest.importorskip("nbconvert.preprocessors")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    run = preprocessors.ExecutePreprocessor(
        timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    run.preprocess(notebook)
    shown = [{kind for output in cell.outputs for kind in output.get("data", {})} for cell in notebook.cells]
    assert "text/plain" in shown[0] and "text/plain" in shown[1]
    assert all("text/html" in shown[i] for i in (2, 3, 4))
    assert "application/vnd.jupyter.widget-view+json" in shown[5]
    assert notebook.cells[6].outputs[0]["text"] == "5.0\n"


SHOWN = {
    "y": ("Tensor", "text/plain"),
    "ad.draw(y)": ("Drawing", "image/svg+xml"),
    "ad.explore(y)": ("Exploration", "text/html"),
    "ad.explain(y, x)": ("Explanation", "text/html"),
    "ad.playground()": ("Exploration", "text/html"),
    "ad.explore(y).widget()": ("ExplorerWidget", "text/html"),
}


def test_marimo_runs_and_shows_them(tmp_path):
    pytest.importorskip("anywidget"), pytest.importorskip("marimo"), pytest.importorskip("pygraphviz")
    formatting = pytest.importorskip("marimo._output.formatting")
    lines = ["import marimo", "app = marimo.App()"]
    first = "import adjoint as ad\n    x = ad.variable(2.0, name='x')\n    y = x * x + ad.sin(x)"
    for given, body, result in [("", first, "ad, x, y"), *[("ad, x, y", shown, "") for shown in SHOWN]]:
        lines += ["@app.cell", f"def _({given}):", f"    {body}", f"    return {result}"]
    path = tmp_path / "app.py"
    path.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location("app", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outputs, _ = module.app.run()
    for output, (kind, mime) in zip(outputs[1:], SHOWN.values(), strict=True):
        assert type(output).__name__ == kind
        found, data = formatting.get_formatter(output)(output)
        assert mime in data if "mimebundle" in found else found == mime


HOST = """<!doctype html><meta charset="utf-8"><div id="here"></div><script type="module">
const source = SOURCE, values = {page: PAGE}, heard = {};
const {default: widget} = await import(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
window.sent = [];
window.model = {get: name => values[name], set: (name, value) => { values[name] = value; window.sent.push(value); },
  save_changes() {}, on: (name, f) => { heard[name] = f; }, off() {},
  place(value) { values.placed = value; heard["change:placed"](); }};
widget.render({model: window.model, el: document.getElementById("here")});
document.title = "ready";
</script>"""


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_widget_in_a_browser(chromium, tmp_path):
    x = ad.variable(2.0)
    page = ad.explore(x * x * x, names={"x": x})
    (slot,) = [slot for slot, _ in page._leaves.values()]
    script = resources.files("adjoint.picture").joinpath("scripts/widget.js").read_text()
    embedded = json.dumps(page.html).replace("<", "\\u003c")
    (tmp_path / "host.html").write_text(HOST.replace("SOURCE", json.dumps(script)).replace("PAGE", embedded))
    chromium.get((tmp_path / "host.html").as_uri())
    frame = chromium.find_element("css selector", "iframe")
    chromium.switch_to.frame(frame)
    field = chromium.find_element("css selector", "#leaves input[type=number]")
    field.clear()
    field.send_keys("3")
    chromium.switch_to.default_content()
    sent = chromium.execute_async_script("setTimeout(() => arguments[0](window.sent), 200)")
    assert sent[-1] == {"slot": slot, "numbers": [3]}
    chromium.execute_script(f"window.model.place({{slot: {slot}, numbers: [-1.5]}})")
    chromium.switch_to.frame(frame)
    shown = chromium.execute_async_script(
        "setTimeout(() => arguments[0](document.querySelector('.box.variable').textContent), 200)"
    )
    chromium.switch_to.default_content()
    assert shown.startswith("x = -1.5") and shown.endswith("= 6.75")
