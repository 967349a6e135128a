"""Live pages in headless Chromium: leaves are dragged, typed and pulled, and every number is Python's."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.display.pictures import Exploration
from adjoint.picture import build
from adjoint.picture.page import explorer_page
from live_pages import CASES, Asked, assert_same

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]

ActionChains = pytest.importorskip("selenium.webdriver.common.action_chains").ActionChains
MOVES = 20


@pytest.mark.parametrize("name", sorted({name.split("-")[0] for name, _, _ in CASES}))
def test_every_operation_moves_as_python_does(opened, name):
    for case_name, operation, case in CASES:
        if case_name.split("-")[0] != name:
            continue
        asked = Asked(operation, case, MOVES)
        question = asked.question()
        if not question["moves"]:
            continue
        page = opened(Exploration(explorer_page(build(asked.y.node, live=True), ())))
        found = page.driver.execute_script(
            "const decoded = x => typeof x === 'string' ? {inf: Infinity, '-inf': -Infinity, nan: NaN}[x] : x;"
            "const told = x => Number.isFinite(x) ? x : x !== x ? 'nan' : x > 0 ? 'inf' : '-inf';"
            "return arguments[0].map(({slot, numbers}) => { adjoint.set(slot, numbers.map(decoded));"
            "  return arguments[1].map(i => adjoint.read(i).map(told)); });",
            question["moves"],
            question["read"],
        )
        for values, theirs in zip(found, asked.answers(), strict=True):
            assert_same(values, theirs, case_name)


def cube(x, z):
    return 3 * x * x * x + 4 * x + 1 + x * z


@pytest.fixture
def cube_page(opened):
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = cube(x, z)
    return opened(ad.explore(y, names={"x": x, "z": z, "y": y}))


def shown(page, name, line=2):
    return float(page.box(name)[line].split(" = ")[-1])


def assert_cube_at(page, **at):
    """What the page shows of the cube, with x and z where they are, is Python's, to the five digits that it shows."""
    leaves = [ad.variable(value) for value in at.values()]
    y = cube(*leaves)
    page.settle()
    top = page.driver.execute_script("return document.querySelector('.box.root .value').textContent")
    assert float(top.split(" = ")[-1]) == pytest.approx(y.item(), rel=2e-5)
    for name, gradient in zip(at, ad.gradients(y, leaves), strict=True):
        assert shown(page, name) == pytest.approx(gradient.item(), rel=2e-5)


def leaf_row(page, name):
    return next(row for row in page.all("#leaves .leaf") if row.find_element("css selector", "label").text == name)


def test_typing_a_number_moves_everything(cube_page):
    field = leaf_row(cube_page, "x").find_element("css selector", "input[type=number]")
    field.clear()
    field.send_keys("3")
    assert cube_page.text("#count") == "step 18 of 18"
    assert_cube_at(cube_page, x=3.0, z=0.0)
    cube_page.one("#put-back").click()
    assert_cube_at(cube_page, x=2.0, z=0.0)
    assert field.get_attribute("value") == "2"


def test_a_field_is_dragged_sideways(cube_page):
    field = leaf_row(cube_page, "x").find_element("css selector", "input[type=number]")
    ActionChains(cube_page.driver).drag_and_drop_by_offset(field, 50, 0).perform()
    x = float(field.get_attribute("value"))
    assert 2.5 < x < 3.5
    assert_cube_at(cube_page, x=x, z=0.0)
    field.clear()
    field.send_keys("1.5")  # it still takes a number that is typed
    assert_cube_at(cube_page, x=1.5, z=0.0)


def test_dragging_a_box_sideways_moves_it(cube_page):
    before = cube_page.one("#world").get_attribute("transform")
    box = cube_page.one('.box[data-key="n1"]')
    ActionChains(cube_page.driver).drag_and_drop_by_offset(box, 50, 0).perform()
    assert cube_page.one("#world").get_attribute("transform") == before
    x = float(cube_page.box("x")[0].split(" = ")[1])
    assert 2.5 < x < 3.5
    assert_cube_at(cube_page, x=x, z=0.0)


def test_a_slider_moves_a_number(cube_page):
    row = leaf_row(cube_page, "z")
    pull = row.find_element("css selector", "input[type=range]")
    ActionChains(cube_page.driver).click_and_hold(pull).move_by_offset(20, 0).release().perform()
    z = float(cube_page.box("z")[0].split(" = ")[1])
    assert z > 0.1
    assert_cube_at(cube_page, x=2.0, z=z)
    assert float(row.find_element("css selector", "input[type=number]").get_attribute("value")) == pytest.approx(
        z, rel=1e-4
    )


def test_constants_move_and_sums_over_paths_follow(cube_page):
    cube_page.click_box("n0")  # the 3 of 3·x³
    field = cube_page.one("#control input[type=number]")
    field.clear()
    field.send_keys("5")
    cube_page.click_box("n1")
    assert cube_page.text("#path-sum") == "sum 64"
    assert [row[2] for row in cube_page.rows("paths")] == ["+20", "+20", "+20", "+4", "+0"]


def test_elements_of_an_array_and_the_whole_of_it(opened):
    start = np.array([[1.0, 2.0], [3.0, 4.0]])
    w = ad.variable(start, dtype="float64")
    y = ad.sin(w).sum() * w.prod()
    page = opened(ad.explore(y, names={"w": w, "y": y}))
    page.click_box(page.one(".box.variable").get_attribute("data-key"))
    cells = page.all("#control .cells input")
    assert [float(cell.get_attribute("value")) for cell in cells] == [1, 2, 3, 4]
    cells[2].clear()
    cells[2].send_keys("0.5")
    slot = page.driver.execute_script("return adjoint.leaves().find(leaf => leaf.name === 'w').slot")
    now = np.array([[1.0, 2.0], [0.5, 4.0]])
    assert page.driver.execute_script(f"return adjoint.read({slot})") == now.ravel().tolist()
    pull = page.one("#control .leaf input[type=range]")
    ActionChains(page.driver).click_and_hold(pull).move_by_offset(15, 0).release().perform()
    moved = np.array(page.driver.execute_script(f"return adjoint.read({slot})")).reshape(2, 2)
    again = ad.variable(now, dtype="float64")
    (direction,) = ad.gradients(ad.sin(again).sum() * again.prod(), [again])
    step = moved - now
    unit = direction.numpy() / np.linalg.norm(direction.numpy())
    assert np.linalg.norm(step) > 0.01
    np.testing.assert_allclose(step, (step * unit).sum() * unit, atol=1e-12)


def test_what_cannot_be_computed_says_so_and_stays_still(opened):
    x, w = ad.variable(2.0), ad.variable(3.0)
    y = ad.host_call(np.cbrt, x, shape=(), dtype="float32", vjp=lambda u, x: u / 3) * w + w * w
    page = opened(ad.explore(y, names={"x": x, "w": w, "y": y}, compare=False))
    page.press("\ue010")
    x_key = page.driver.execute_script(
        "return [...document.querySelectorAll('.box.variable')].find(b => b.textContent.startsWith('x')).dataset.key"
    )
    assert "movable" not in page.one(f'.box[data-key="{x_key}"]').get_attribute("class")
    page.click_box(x_key)
    assert "It stays still: cbrt is host code" in page.text("#details")
    field = leaf_row(page, "w").find_element("css selector", "input[type=number]")
    field.clear()
    field.send_keys("1")
    page.settle()
    assert shown(page, "w") == pytest.approx(2 ** (1 / 3) + 2, rel=1e-4)


def two_layers():
    ad.random.seed(0)
    net = ad.nn.Sequential(ad.nn.Linear(2, 8), ad.nn.Tanh(), ad.nn.Linear(8, 1))
    points = ad.tensor(np.random.default_rng(0).normal(size=(12, 2)).astype("float32"))
    loss = (net(points) ** 2).mean()
    return net, loss


def test_no_label_covers_another_or_a_box(opened):
    inputs = [ad.variable(0.3 * i - 0.4, name=f"x{i}") for i in range(3)]
    hidden = [ad.tanh(sum(x * (0.37 * (i + 2) - 0.5 * j) for j, x in enumerate(inputs))) for i in range(3)]
    y = sum(h * (0.21 * i - 0.5) for i, h in enumerate(hidden))
    page = opened(ad.explore(y, names={"y": y}, fold=False))
    page.press("\ue010")
    covered = page.driver.execute_script("""
        const rects = selector => [...document.querySelectorAll(selector)].filter(e => e.textContent || e.tagName === 'rect')
          .map(e => e.getBoundingClientRect());
        const labels = rects('.edge text'), boxes = rects('.box > rect'), found = [];
        const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
          && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
        labels.forEach((a, i) => [...labels.slice(0, i), ...boxes].forEach(b => { if (over(a, b)) found.push([a, b]); }));
        return [labels.length, found.length];""")
    assert covered[0] > 30 and covered[1] == 0


def test_arrays_are_shown_in_colours_and_their_gradient_on_hovering(opened):
    net, loss = two_layers()
    page = opened(ad.explore(loss, names={"net": net, "loss": loss}, fold=False, compare=False))
    page.press("\ue010", "0")
    weight = page.driver.execute_script(
        "return [...document.querySelectorAll('.box.variable')].find(b => b.textContent.includes('net.0.weight'))"
    )

    def colours():
        return [
            (-1 if cell.get_attribute("class") == "negative" else 1) * float(cell.get_attribute("fill-opacity"))
            for cell in weight.find_elements("css selector", ".heat rect:not(.around)")
        ]

    def expected(array):
        return (array / np.abs(array).max()).ravel()

    w = net[0].weight
    np.testing.assert_allclose(colours(), expected(w.numpy()), atol=0.006)
    ActionChains(page.driver).move_to_element(weight.find_element("css selector", "rect")).perform()
    (gradient,) = ad.gradients(loss, [w])
    np.testing.assert_allclose(colours(), expected(gradient.numpy()), atol=0.006)


def test_a_long_loop_is_one_box_and_opens(opened):
    ws = [ad.variable(0.002 * i) for i in range(400)]
    s = x = ad.variable(1.0)
    for w in ws:
        s = ad.tanh(s * w + x)
    page = opened(ad.explore(s, names={"ws": ws, "x": x, "s": s}, compare=False))
    assert len(page.all(".box")) == 2 and page.text("#count") == "step 0 of 4"
    page.press("\ue010")
    page.click_box(page.one(".box.group").get_attribute("data-key"))
    page.press("\ue007")
    shown_now = page.driver.execute_script("return adjoint.boxes()")
    assert sum(box["kind"] == "group" for box in shown_now) == 400


def test_what_is_unfolded_is_in_sight(opened):
    h = ad.variable(0.3)
    for i in range(400):
        h = ad.tanh(ad.variable(0.9 + 0.0003 * i) * h) + 0.1
    page = opened(ad.explore(h, names={"h": h}, compare=False))
    page.click_box(page.one(".box.group").get_attribute("data-key"))
    page.one("#unfold-selected").click()
    page.settle()
    within = page.driver.execute_script(
        "const r = document.getElementById('canvas').getBoundingClientRect();"
        "return [...document.querySelectorAll('.box > rect')].map(b => b.getBoundingClientRect())"
        ".filter(b => b.left >= r.left && b.right <= r.right && b.top >= r.top && b.bottom <= r.bottom).length"
    )
    assert within > 1


def select(page, text):
    page.driver.execute_script(
        "[...document.querySelectorAll('g.box')].find(b => b.textContent.includes(arguments[0]))"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))",
        text,
    )


def test_a_loop_opens_into_its_turns_with_their_values(opened):
    ad.set_default_dtype("float64")
    w, xs = ad.variable(0.5, name="w"), ad.tensor([1.0, 2.0, 3.0])
    y = ad.scan(lambda c, x: (ad.tanh(c * w + x), None), 0.1, xs)[0]
    page = opened(ad.explore(y, names={"w": w, "y": y}))
    page.press("\ue010")
    select(page, "scan: 3 ×")
    values, c = [], 0.1
    for x in (1.0, 2.0, 3.0):
        c = np.tanh(c * 0.5 + x)
        values.append(c)
    rows = page.rows("turns")
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert [float(row[1]) for row in rows] == pytest.approx(values, rel=1e-4)
    assert float(rows[2][2]) == 1
    page.press("\ue007")
    assert [b["kind"] for b in page.driver.execute_script("return adjoint.boxes()")].count("group") == 3
    page.driver.execute_script("adjoint.set(adjoint.leaves().find(leaf => leaf.name === 'w').slot, [0.8])")
    page.settle()
    again = ad.variable(0.8)
    (g,) = ad.gradients(ad.scan(lambda c, x: (ad.tanh(c * again + x), None), 0.1, xs)[0], [again])
    assert shown(page, "w") == pytest.approx(g.item(), rel=1e-4) and page.text("#astray") == ""


def test_a_while_loop_that_would_turn_otherwise_says_so(opened):
    x = ad.variable(20.0, name="x")
    y = ad.while_loop(lambda v: v > 1, lambda v: v / 2, x)
    page = opened(ad.explore(y, names={"x": x, "y": y}))
    for value, says in ((24.0, False), (40.0, True), (20.0, False)):
        page.driver.execute_script(
            "adjoint.set(adjoint.leaves().find(l => l.name === 'x').slot, [arguments[0]])", value
        )
        page.settle()
        assert page.text("#astray").startswith("while_loop took 5 turns when this was recorded.") == says


@pytest.mark.parametrize("start", [2.0, -3.0])
def test_a_branch_of_pythons_that_it_would_leave_says_so(opened, start):
    x = ad.variable(start, name="x")
    y = x * x if x > 1 else -x
    page = opened(ad.explore(y))
    for value in (5.0, 0.5, 1.5, -7.0, start):
        page.driver.execute_script("adjoint.set(adjoint.leaves()[0].slot, [arguments[0]])", value)
        page.settle()
        assert ("Python asked whether x > 1" in page.text("#astray")) == ((value > 1) != (start > 1))


def test_a_box_tells_its_line_its_step_its_loop_and_its_machine_code(opened):
    x = ad.variable(np.linspace(0, 1, 40), name="x")
    y = (ad.tanh(x) * x).sum()
    page = opened(ad.explore(y, names={"y": y}))
    select(page, "tanh")
    for summary in page.all(".stage:not([open]) summary"):
        summary.click()
    texts = {s.text: s.find_element("xpath", "../pre").text for s in page.all(".stage summary")}
    assert "y = (ad.tanh(x) * x).sum()" in texts["your line"]
    assert "tanh(" in texts["the step of the plan"] and "float64[40]" in texts["the step of the plan"]
    if ad.execution.explain(ad.tanh(x)).backend == "native":
        assert "tanh" in texts["the unit: steps in one loop"] and "for " in texts["loops"]
        assert "define " in texts["LLVM"] and "$nest" in texts["machine code"]
    page.press("\ue00c")
    assert not page.all(".stage")


# The playground -------------------------------------------------------------------------------------------------------


def typed(page, text):
    page.one("#formula").clear()
    page.one("#formula").send_keys(text)


def test_a_formula_is_drawn_while_one_types(opened):
    page = opened(ad.playground())
    assert len(page.all(".box")) == 13
    typed(page, "w = 0.5\nx = 2\nb = -1\ny = tanh(w*x + b)")
    assert len(page.all(".box")) == 6 and page.text("#formula-error") == ""
    assert shown(page, "w") == 2 and shown(page, "x") == 0.5 and shown(page, "b") == 1
    page.one("#formula").send_keys(" + sn(x)")
    assert page.text("#formula-error").endswith("line 4, character 21: there is no function sn; there is sin")
    assert page.text("#formula-error mark") == "sn" and len(page.all(".box")) == 8
    assert page.one("#formula").get_attribute("aria-invalid") == "true"


def test_dragging_writes_the_number_back_and_steps_go_through_both_passes(opened):
    page = opened(ad.playground(formula="x = 2\nw = [1, 2]\ny = x*x*x + sum(w) # a cube"))
    page.one("h1").click()
    page.press("\ue014")
    assert page.text("#count") == "step 1 of 10" and page.text("#now .big") == "2 × 2 = 4"
    page.press("\ue010")
    box = next(b for b in page.all(".box.variable") if b.text.startswith("x"))
    ActionChains(page.driver).drag_and_drop_by_offset(box.find_element("css selector", "rect"), 40, 0).perform()
    page.settle()
    first, second, third = page.one("#formula").get_property("value").split("\n")
    x = float(first.removeprefix("x = "))
    assert x > 2.2 and second == "w = [1, 2]" and third == "y = x*x*x + sum(w) # a cube"
    assert shown(page, "x") == pytest.approx(3 * x * x, rel=1e-4)


def test_every_starting_point_opens_with_its_questions(opened):
    page = opened(ad.playground())
    options = len(page.all("#gallery option:not([hidden])"))
    for i in range(options):
        page.all("#gallery option")[i].click()
        assert page.text("#formula-error") == ""
        (first,) = [form for form in page.all("#questions form") if form.is_displayed()]
        assert not first.find_element("css selector", ".answer").is_displayed() and not page.all(".edge.flowing")
        first.find_element("css selector", ".reveal").click()
        assert first.find_element("css selector", ".answer").text and page.all(".edge.flowing")


def predict(page, i, guess):
    """Type or choose what one thinks is the answer of a question; what the page says to it, and the answer if it is told."""
    form = page.all("#questions form")[i]
    number = form.find_elements("css selector", "input[type=number]")
    if number:
        number[0].clear()
        number[0].send_keys(str(guess))
    else:
        next(c for c in form.find_elements("css selector", ".choice") if c.text.strip().startswith(guess)).click()
    form.find_element("css selector", "button[type=submit]").click()
    return form.find_element("css selector", ".verdict").text, form.find_element("css selector", ".answer").text


def test_the_page_asks_why_x_gets_40_until_one_can_say(opened):
    page = opened(ad.playground())
    assert [form.is_displayed() for form in page.all("#questions form")] == [True] + [False] * 5
    assert predict(page, 0, 4) == ("Not 4. Try again, step through the figure, or let it be shown.", "")
    assert page.text("#count").startswith("step 0 of")
    verdict, answer = predict(page, 0, 5)
    assert (
        verdict == "Right." and answer.startswith("Five: one for each use.") and page.text("#count") == "step 18 of 18"
    )
    assert predict(page, 1, 0.4)[0] == predict(page, 2, 12)[0] == predict(page, 3, 40)[0] == "Right."
    assert predict(page, 4, "40 is the largest")[0].startswith("Not that.")
    assert predict(page, 4, "each use of x sends")[0] == "Right."
    page.driver.execute_script("adjoint.set(adjoint.leaves().find(leaf => leaf.name === 'z').slot, [3])")
    page.settle()
    assert predict(page, 5, page.box("x")[2].split(" = ")[1]) == (
        "Right.",
        "43: the arrow through x·z carries the value of z. Drag z on the graph sideways, or with its slider, and see.",
    )
    assert page.text("#tally") == "6 of 6 answered, 6 by you"


def test_every_answer_that_is_a_number_is_the_engines(opened):
    """The gallery's predictions hold for the numbers that its formulas start with, where they ask for a gradient."""
    page = opened(ad.playground())
    gradients = {
        "two neurons (relu)": [("w2 = -0.25", "w2 = -0.6", "w2", 0.0)],
        "Newton's method for √a": [("", "", "a", 0.35355), ("", "", "x0", 0.0)],
    }
    for i, option in enumerate(page.all("#gallery option")):
        for old, new, name, expected in gradients.get(option.text, []):
            page.all("#gallery option")[i].click()
            typed(
                page,
                page.one("#formula").get_property("value").replace(old, new)
                if old
                else page.one("#formula").get_property("value"),
            )
            page.one("#last").click()
            assert shown(page, name) == pytest.approx(expected, abs=5e-3)


def test_an_explorer_asks_its_makers_questions(opened):
    x = ad.variable(2.0)
    y = x * x * x
    asked = [
        ("How many arrows reach x?", "Three.", 3),
        ("Why?", "One for each factor."),
        ("Which?", "All.", ["all", "one"]),
    ]
    page = opened(ad.explore(y, names={"x": x, "y": y}, questions=asked))
    assert predict(page, 0, 3) == ("Right.", "Three.")
    page.all("#questions .reveal")[1].click()
    assert predict(page, 2, "all") == ("Right.", "All.") and page.text("#tally") == "3 of 3 answered, 2 by you"
    for wrong in (["no answer"], [("q", "a", True)], [("q", "a", ["only one"])], [("q", 3)], ["text"]):
        with pytest.raises(TypeError, match=r"explore: a question is \(question, answer\)"):
            ad.explore(y, questions=wrong)


@pytest.mark.parametrize("width", [390, 800, 1400])
@pytest.mark.parametrize("name", ["explorer", "playground"])
def test_nothing_is_wider_than_the_window(opened, name, width):
    net, loss = two_layers()
    page = opened(ad.playground() if name == "playground" else ad.explore(loss, names={"net": net, "loss": loss}))
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.press("\ue010")
        page.driver.execute_script(
            "document.querySelector('.box.variable').dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        )
        wide = page.driver.execute_script("""
            const width = document.documentElement.clientWidth;
            return [...document.querySelectorAll('header *, #player *, aside *, #editor *')].filter(e => !e.closest('svg'))
              .filter(e => e.getBoundingClientRect().right > width + 1).map(e => e.outerHTML.slice(0, 80));""")
        assert wide == []
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_forward_mode_carries_tangents_up_and_counts(opened):
    page = opened(ad.playground(formula="x = 2\nz = 0.5\ny = x*x*x + x*z"))
    assert "reverse mode 8 for all 2 leaves; forward mode 7 + 2 = 9" in page.text("#direction")
    page.all("#mode option")[1].click()
    page.one("h1").click()
    page.press("\ue014")
    assert page.text("#count") == "step 1 of 4" and page.rows("tangents") == [
        ["x", "2", "1 × 2 = 2"],
        ["x", "2", "1 × 2 = 2"],
    ]
    page.press("\ue010")
    assert (
        page.box("×")[2] == "tangent = 4"
        and page.driver.execute_script("return document.querySelector('.box.root .tangent').textContent")
        == "∂y/∂x = 12.5"
    )
    page.driver.execute_script("adjoint.set(adjoint.leaves().find(leaf => leaf.name === 'z').slot, [3])")
    page.settle()
    assert page.driver.execute_script("return document.querySelector('.box.root .tangent').textContent") == "∂y/∂x = 15"


# Training -------------------------------------------------------------------------------------------------------------


def choose(page, selector, value, event="change"):
    page.driver.execute_script(
        "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
        "field.dispatchEvent(new Event('input')); field.dispatchEvent(new Event(arguments[2]));",
        selector, value, event,
    )  # fmt: skip


def trained_in_python(start, steps, rate, momentum):
    """The same descent on the same formulas, data and first weights, in 64 bits."""
    names = {name: getattr(ad, name) for name in ("sin", "mean", "tanh", "relu", "sigmoid", "softplus")}
    names |= {k: np.array(a["data"]).reshape(a["shape"]) for k, a in start["data"].items()}
    weights = {k: np.array(w).reshape(start["shapes"][k]) for k, w in start["weights"].items()}
    velocity = {k: np.zeros_like(w) for k, w in weights.items()}
    losses = []
    for _ in range(steps + 1):
        variables = {k: ad.variable(w, dtype="float64") for k, w in weights.items()}
        values = names | variables
        for line in start["lines"]:
            name, _, formula = line.partition(" = ")
            values[name] = eval(formula, {"__builtins__": {}}, values)
        losses.append(values["loss"].item())
        for (k, w), g in zip(weights.items(), ad.gradients(values["loss"], list(variables.values())), strict=True):
            velocity[k] = momentum * velocity[k] + g.numpy()
            weights[k] = w - rate * velocity[k]
    return losses[-1]


@pytest.mark.parametrize(
    ("task", "depth", "activation"),
    [("weights", 2, "tanh"), ("line", 2, "tanh"), ("moons", 2, "tanh"), ("moons", 4, "relu"), ("moons", 8, "sigmoid")],
)
def test_training_in_the_page_is_pythons(opened, task, depth, activation):
    ad.set_default_dtype("float64")
    page = opened(ad.playground())
    page.one("#train").click()
    choose(page, "#task", task)
    choose(page, "#depth", str(depth))
    choose(page, "#activation", activation)
    choose(page, "#rate", "-1.5")
    choose(page, "#momentum", "0.5")
    start = page.driver.execute_script("return adjoint.learner()")
    for _ in range(6):
        page.one("#learn-step").click()
    now = page.driver.execute_script("return adjoint.learner()")
    assert page.text("#loss-text").startswith("step 6, loss")
    assert now["loss"] == pytest.approx(trained_in_python(start, 6, 10**-1.5, 0.5), rel=1e-10)
    assert now["loss"] != start["loss"]


SEEN = [
    ("line", {"#rate": "0.5"}, 40, "It diverges"),
    ("moons", {"#depth": "8", "#activation": "sigmoid"}, 1, "The gradient vanishes"),
    ("moons", {"#activation": "relu", "#depth": "8", "#spread": "6"}, 1, "The gradient explodes"),
    ("moons", {"#activation": "relu", "#rate": "1"}, 40, "A whole layer of relus is dead"),
    ("moons", {}, 60, "It learns"),
]


@pytest.mark.parametrize(("task", "choices", "steps", "sentence"), SEEN, ids=lambda x: x if isinstance(x, str) else "")
def test_what_goes_wrong_is_seen_and_said(opened, task, choices, steps, sentence):
    page = opened(ad.playground())
    page.one("#train").click()
    choose(page, "#task", task)
    for selector, value in choices.items():
        choose(page, selector, value)
    page.driver.execute_script(
        "for (let i = 0; i < arguments[0]; i++) document.querySelector('#learn-step').click()", steps
    )
    assert page.text("#said").startswith(sentence)


def test_training_plays_and_pauses(opened):
    page = opened(ad.playground())
    page.one("#train").click()
    page.one("#learn").click()
    page.driver.execute_async_script(
        "let n = 0; const done = arguments[0]; const wait = () => ++n > 5 ? done() : requestAnimationFrame(wait); wait()"
    )
    page.one("#learn").click()
    step = page.text("#loss-text").split(",")[0]
    assert int(step.removeprefix("step ")) >= 4 and page.text("#learn") == "▶ play"
    page.one("#train").click()
    assert page.all(".box") and not page.one("#training").is_displayed()


def test_a_long_formula_takes_what_was_dragged_when_it_rests(opened):
    lines = "\n".join(f"s{i + 1} = sin(s{i})*x + s{i}*z" for i in range(400))
    page = opened(ad.playground(formula=f"x = 1\nz = 1\ns0 = x\n{lines}"))
    assert len(page.driver.execute_script("return adjoint.boxes()")) > 1200
    page.driver.execute_async_script("""const done = arguments[0];
        for (const {slot, name} of adjoint.leaves()) adjoint.set(slot, [name === 'x' ? 0.5 : 0.25]);
        setTimeout(done, 400);""")
    assert page.one("#formula").get_attribute("value").startswith("x = 0.5\nz = 0.25\ns0 = x\n")
    s = ad.variable(0.5, dtype="float64")
    x, z = s, ad.variable(0.25, dtype="float64")
    for _ in range(400):
        s = ad.sin(s) * x + s * z
    shown = page.driver.execute_script("return document.querySelector('.box.root .value').textContent")
    assert float(shown.split(" = ")[1]) == pytest.approx(s.item(), rel=2e-5)


# What is much ---------------------------------------------------------------------------------------------------------


def test_four_hundred_leaves_without_names_are_told_apart_largest_first(opened):
    ad.set_default_dtype("float64")
    total = 0.0
    for i in range(400):
        total = total + ad.variable(0.001 * i) * float((i * 37) % 400)
    page = opened(ad.explore(total, names={}))
    page.press("\ue010")
    lines = page.text("#now").splitlines()
    expected = [
        f"gradient at test_live_browser.py:{lines[2].split(':')[1].split(' ')[0]} ({i + 1})" for i in range(400)
    ]
    order = sorted(range(400), key=lambda i: -((i * 37) % 400))
    assert [line.split(" = ")[0] for line in lines[2:14]] == [expected[i] for i in order[:12]]
    assert lines[14] == "388 more, none larger; 1 of them zero"
    names = [label.get_attribute("title") for label in page.all("#leaves .leaf label")]
    assert names == [f"{expected[i].removeprefix('gradient at ')}" for i in order[:8]]


def sine_page(opened):
    x = ad.variable(0.7, dtype="float64")
    y = ad.sin(x * x)
    page = opened(ad.explore(y, names={"x": x, "y": y}))
    page.driver.execute_script("adjoint.select(adjoint.leaves().find(leaf => leaf.name === 'x').key)")
    return page


def pull(page, selector, value):
    page.driver.execute_script(
        "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
        "field.dispatchEvent(new Event('input', {bubbles: true}))",
        selector,
        str(value),
    )


def test_the_step_of_two_evaluations_is_dragged_from_rounding_to_curvature(opened):
    page, slope = sine_page(opened), 1.4 * np.cos(0.49)
    reasons = {-15: "rounding", -12: "rounding", -5: "neither", -1: "the curve bends", 0: "the curve bends"}
    for exponent, reason in reasons.items():
        pull(page, "#difference-step", exponent)
        h = 10.0**exponent
        python = (np.sin((0.7 + h) ** 2) - np.sin((0.7 - h) ** 2)) / (2 * h)
        found, reverse = page.text("#difference").split(", by the reverse pass ")
        assert float(reverse) == pytest.approx(slope, rel=1e-4)
        assert float(found) == pytest.approx(python, rel=1e-4, abs=3e-16 / h)
        assert reason in page.text("#difference + p")


def test_the_second_derivative_is_plotted_when_asked_for(opened):
    page = sine_page(opened)
    assert not page.all("#bend path")
    page.one("#second").click()
    bend = 2 * np.cos(0.49) - 4 * 0.49 * np.sin(0.49)
    assert float(page.text("#bend figcaption").split("here it is ")[1]) == pytest.approx(bend, rel=1e-3)
    assert len(page.all("#bend path.bend")) == 1
    page.driver.execute_script("adjoint.set(adjoint.leaves().find(leaf => leaf.name === 'x').slot, [0.0])")
    page.settle()
    assert float(page.text("#bend figcaption").split("here it is ")[1]) == pytest.approx(2, rel=1e-3)
    page.one("#second").click()
    assert not page.all("#bend path")


def test_no_error_is_drawn_where_there_is_none(opened):
    x, y = ad.variable(np.array([np.nan, 1.0]), dtype="float64"), ad.variable(2.0, dtype="float64")
    z = (x * y).sum()
    page = opened(ad.explore(z, names={"x": x, "y": y, "z": z}))
    page.driver.execute_script("adjoint.select(adjoint.leaves().find(leaf => leaf.name === 'x').key)")
    assert "isn't finite" in page.text("#difference + p")
    assert page.one("#error-curve path.curve").get_attribute("d") == "M0 0"
    assert [field.get_attribute("placeholder") for field in page.all(".cells input")] == ["nan", ""]


def test_boxes_of_arrays_tell_their_shapes(opened):
    a, b = ad.variable(np.ones((2, 3)), name="a"), ad.variable(np.ones((3, 4)), name="b")
    y = (a @ b).sum()
    page = opened(ad.explore(y, names={"a": a, "b": b, "y": y}))
    shapes = [[t.text for t in box.find_elements("css selector", "text.shape")][0] for box in page.all("g.box")]
    assert sorted(shapes) == ["", "[2, 3]", "[2, 4]", "[3, 4]"]
    assert ", shape [2, 3]" in next(
        label for box in page.all("g.box") if (label := box.get_attribute("aria-label")).startswith("a,")
    )
