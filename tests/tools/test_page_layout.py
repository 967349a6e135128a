"""How pages are laid out in headless Chromium: at three widths nothing overlaps, is cut off, or can't be reached."""

from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]

ActionChains = pytest.importorskip("selenium.webdriver.common.action_chains").ActionChains
FAULTS = (Path(__file__).parent / "page_layout.js").read_text()
WIDTHS = (390, 736, 800, 1400)  # 736: the documentation's figures
# What is written on what: texts whose contrast with the ground they stand on is less than 4.5 to 1 (WCAG 2.2, 1.4.3).
FAINT = """
const channels = color => color.match(/[\\d.]+/g).map(Number);
const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const light = color => channels(color).slice(0, 3).map(c => linear(c / 255))
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const opaque = color => { const c = channels(color); return c.length < 4 || c[3] === 1; };
const groundOf = e => {
  const box = e.closest('g.box');
  if (e.closest('svg') && box) return getComputedStyle(box.querySelector('rect')).fill;
  for (; e; e = e.parentElement) if (opaque(getComputedStyle(e).backgroundColor)) return getComputedStyle(e).backgroundColor;
  return getComputedStyle(document.body).backgroundColor;
};
return [...document.querySelectorAll('aside *, header *, #player *, #editor *, #canvas text, #training *')]
  .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()))
  .filter(e => e.getClientRects().length && !e.closest('[hidden], :disabled, .dim'))
  .map(e => {
    const style = getComputedStyle(e), ink = e.closest('svg') ? style.fill : style.color;
    const [low, high] = [light(ink), light(groundOf(e))].sort((a, b) => a - b);
    return [(high + 0.05) / (low + 0.05), e.outerHTML.slice(0, 80), ink, groundOf(e)];
  }).filter(([ratio]) => ratio < 4.5);"""
END = "\ue010"
SELECT = """
const box = [...document.querySelectorAll('g.box')].find(b => b.querySelector('text').textContent.startsWith(arguments[0]));
box.dispatchEvent(new MouseEvent('click', {bubbles: true}));
document.querySelectorAll('details').forEach(one => { one.open = true; });"""


@pytest.fixture
def narrow(chromium):
    """Sets the window's width and height; the usual ones come back at the end."""

    def set_size(width, height=850):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    yield set_size
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    paint(chromium, "light")


def paint(driver, theme):
    """Make this the theme that the reader's system asks for."""
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    )


def assert_laid_out(page, narrow):
    for width in WIDTHS:
        narrow(width)
        for theme in ("light", "dark"):
            paint(page.driver, theme)
            page.settle()
            page.settle()
            assert page.driver.execute_script(FAULTS) == [], (width, theme)
            assert page.driver.execute_script(FAINT) == [], (width, theme)


def scalar():
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = 3 * x * x * x + 4 * x + 1 + x * z
    asked = [
        ("x is 2. What gradient will it get?", "40.", 40),
        ("Which of the uses of x count?", "All.", ["all", "one"]),
    ]
    return ad.explore(y, names={"x": x, "z": z, "y": y}, questions=asked), "x"


def two_layers():
    ad.random.seed(0)
    net = ad.nn.Sequential(ad.nn.Linear(2, 8), ad.nn.Tanh(), ad.nn.Linear(8, 1))
    points = ad.tensor(np.random.default_rng(0).normal(size=(12, 2)).astype("float32"))
    return ad.explore((net(points) ** 2).mean(), names={"net": net}, fold=False), "net.2.weight"


def encoder():
    ad.random.seed(0)
    encoder = ad.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    tokens = ad.tensor(np.random.default_rng(1).normal(size=(1, 3, 8)).astype("float32"))
    return ad.explore((encoder(tokens) ** 2).mean(), names={"encoder": encoder}), "encoder.norm2.weight"


def long_names():
    m = ad.variable(
        np.random.default_rng(2).normal(size=(64, 64)), name="weights_of_a_very_long_name_indeed_for_a_leaf"
    )
    v = ad.variable(np.linspace(-1, 1, 64), name="v")
    return ad.explore((ad.tanh(m @ v) ** 2).sum()), "weights"


def turns():
    r = ad.variable(3.2, name="r")
    x, _ = ad.scan(lambda x, _: (r * x * (1 - x), None), 0.5, length=6)
    return ad.explore(x, names={"x": x, "r": r}, fold=False), "r"


def not_finite():
    a, b = ad.variable(-1e30, name="a"), ad.variable(0.0, name="b")
    return ad.explore(ad.log(b) * 1e-30 + a * a), "b"


def complex_numbers():
    z = ad.variable(np.array(1 + 2j), name="z")
    return ad.explore(ad.real(z * z * ad.conj(z)) + ad.abs(z)), "z"


def small_arrays():
    x, w = ad.variable(np.ones((1, 1, 2)), name="x"), ad.variable(np.ones((2, 1)), name="w")
    return ad.explore(((x @ w) * np.linspace(0, 1, 4)).sum()), "x"


def matrices():
    a = ad.variable(np.arange(16.0).reshape(4, 4) / 7 - 1, name="a")
    b = ad.variable(np.eye(4) * 1.5 + 0.1, name="b")
    return ad.explore(ad.tanh(a @ b).sum()), "a"


def many_boxes():
    values = [ad.variable(0.1 * i, name=f"x{i}") for i in range(8)]
    random = np.random.default_rng(0)
    for _ in range(1000):
        i, j = random.integers(len(values) - 8, len(values), 2)
        values.append(ad.sin(values[i]) + values[j])
    return ad.explore(values[-1] + values[-2], fold=False), "+"  # a box that is in sight


def second_derivative():
    x = ad.variable(1.3, name="x")
    (gradient,) = ad.gradients(ad.sin(x) * x * x, [x])
    return ad.explore(gradient), "x"


def random_draw():
    x = ad.variable(2.0, name="x")
    return ad.explore(x * ad.random.normal(()) + ad.exp(x)), "x"


def empty_arrays():
    x, w = ad.variable(np.zeros((0, 3)), name="x"), ad.variable(np.ones((3, 2)), name="w")
    return ad.explore((x @ w).sum() + w.sum()), "x"


EXAMPLES = [scalar, two_layers, encoder, long_names, turns, not_finite, complex_numbers, small_arrays]
EXAMPLES += [matrices, many_boxes, second_derivative, random_draw, empty_arrays]


@pytest.mark.parametrize("example", EXAMPLES)
def test_nothing_overlaps_or_is_cut_off_in_an_explorer(opened, narrow, example):
    exploration, leaf = example()
    page = opened(exploration)
    page.press(END)
    assert_laid_out(page, narrow)
    page.driver.execute_script(SELECT, leaf)
    assert_laid_out(page, narrow)


def test_the_cells_of_a_small_matrix_stand_beside_each_other_without_scrolling(opened, narrow):
    page = opened(matrices()[0])
    page.press(END)
    page.driver.execute_script(SELECT, "a")
    for width in (390, 800, 1400):
        narrow(width)
        page.settle()
        room, needed = page.driver.execute_script(
            "const cells = document.querySelector('.cells'); return [cells.clientWidth, cells.scrollWidth];"
        )
        assert needed <= room, width


def test_edges_from_one_box_into_another_are_bent_apart(opened):
    x = ad.variable(1.1, name="x")
    page = opened(ad.explore(x * x))
    page.press(END)
    first, second = (path.get_attribute("d") for path in page.all("g.edge > path"))
    assert first != second
    assert page.driver.execute_script(FAULTS) == []


def test_a_label_beside_the_outermost_edge_is_in_sight(opened, narrow):
    page = opened(complex_numbers()[0])
    page.press(END)
    for width in WIDTHS:
        narrow(width)
        page.settle()
        page.one("#fit").click()
        page.driver.execute_script("document.getElementById('canvas').dataset.whole = 'yes'")
        assert page.driver.execute_script(FAULTS) == [], width


def test_nothing_overlaps_or_is_cut_off_in_the_playground(opened, narrow):
    page = opened(ad.playground())
    for width in WIDTHS:
        narrow(width)
        for option in page.all("#gallery option:not([hidden])"):
            option.click()
            page.one("#last").click()
            page.settle()
            assert page.driver.execute_script(FAULTS) == [], (width, option.text)
    page.one("#formula").clear()
    page.one("#formula").send_keys("x = 1e300\ny = x*x - 1e-300*x + sin(x +* an_unknown_name_that_is_long)")
    assert_laid_out(page, narrow)


@pytest.mark.parametrize("task", ["weights", "line", "moons"])
def test_nothing_overlaps_or_is_cut_off_while_training(opened, narrow, task):
    page = opened(ad.playground(training=task))
    for rate in ("-2", "1.5"):
        page.driver.execute_script(
            "const rate = document.getElementById('rate'); rate.value = arguments[0];"
            "rate.dispatchEvent(new Event('input'));"
            "for (let i = 0; i < 50; i++) document.getElementById('learn-step').click();",
            rate,
        )
        assert_laid_out(page, narrow)


def test_a_wide_formula_is_legible_on_a_phone_and_spreads_out_in_a_wide_window(opened, narrow):
    narrow(390)
    page = opened(ad.playground())
    next(option for option in page.all("#gallery option") if option.text.startswith("attention")).click()
    page.one("#last").click()
    page.settle()

    def widths():
        return page.driver.execute_script(
            "return [...document.querySelectorAll('.box > rect')].map(r => r.getBBox().width)"
        )

    def letters():
        return float(page.one("#world").get_attribute("transform").split("scale(")[1].rstrip(")")) * 12

    lefts, rights = zip(
        *page.driver.execute_script(
            "return [...document.querySelectorAll('.box > rect')].map(r => r.getBoundingClientRect()).map(r => [r.left, r.right])"
        ),
        strict=True,
    )
    assert min(lefts) >= 0 and max(rights) <= 390 and letters() >= 6
    before = widths()
    narrow(1400)
    page.settle(), page.settle()
    assert max(widths()) > max(before) + 40
    narrow(390)
    page.settle(), page.settle()
    assert widths() == before


def seen(page, selector):
    """How many pixels of an element's height are in the window."""
    return page.driver.execute_script(
        "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return Math.max(0, Math.min(innerHeight, r.bottom) - Math.max(0, r.top));",
        selector,
    )


def test_on_a_small_phone_the_whole_panel_is_reached_and_the_graph_stays(opened, narrow):
    narrow(390, 600)
    page = opened(ad.playground())
    page.one("#gallery option:nth-child(8)").click()
    page.one("#last").click()
    for part in ("#questions .reveal", "#put-back", "#help"):
        page.driver.execute_script("document.querySelector(arguments[0]).scrollIntoView({block: 'end'})", part)
        assert seen(page, part) > 20 and seen(page, "#canvas") > 250, part
        page.driver.execute_script("window.scrollTo(0, 0)")


def in_sight(page, key):
    return page.driver.execute_script(
        "const a = document.getElementById('canvas').getBoundingClientRect();"
        'const r = document.querySelector(`.box[data-key="${arguments[0]}"] > rect`).getBoundingClientRect();'
        "return r.left >= a.left - 1 && r.right <= a.right + 1 && r.top >= a.top - 1 && r.bottom <= a.bottom + 1;",
        key,
    )


def test_the_view_follows_the_steps_of_a_graph_that_is_higher_than_the_window(opened, narrow):
    narrow(800)
    x = ad.variable(0.5, name="x")
    h = x
    for _ in range(7):
        h = ad.tanh(ad.sin(h) + 0.1)
    page = opened(ad.explore(h, fold=False))
    (key,) = [box["key"] for box in page.driver.execute_script("return adjoint.boxes()") if box["name"] == "x"]
    assert not in_sight(page, key)
    seen_now = []
    for _ in range(40):
        page.one("#forward").click()
        now = page.all(".box.now")
        seen_now += [any(in_sight(page, box.get_attribute("data-key")) for box in now)] if now else []
    assert len(seen_now) > 30 and all(seen_now)


def test_a_graph_that_nobody_moved_stays_whole_when_its_room_changes(opened, narrow):
    narrow(1400)
    page = opened(ad.playground())
    keys = [box["key"] for box in page.driver.execute_script("return adjoint.boxes()")]
    page.one("#formula").send_keys(" +* 3\n\n\n\n")  # an error: the editor takes a line more, the graph stays
    page.settle(), page.settle()
    assert page.text("#formula-error") and all(in_sight(page, key) for key in keys)
    narrow(1000, 720)
    page.settle(), page.settle()
    assert all(in_sight(page, key) for key in keys)


def test_questions_leave_with_the_formula_that_they_are_about(opened):
    page = opened(ad.playground())
    page.one("#formula").send_keys("5")  # z*x becomes x*z5: another formula
    assert not page.one("#questions").is_displayed() and page.one("#gallery").get_attribute("value") == ""
    page.press("\ue003")
    assert page.one("#questions").is_displayed() and page.one("#gallery").get_attribute("value") == "0"
    page.driver.execute_script(
        "const f = document.getElementById('formula'); f.value = f.value.replace('x = 2', 'x = -3.5e-1');"
        "f.dispatchEvent(new Event('input'));"
    )
    assert page.one("#questions").is_displayed()


def test_two_fingers_zoom(opened):
    page = opened(ad.playground())

    def scale():
        return float(page.one("#world").get_attribute("transform").split("scale(")[1].rstrip(")"))

    before = scale()
    page.driver.execute_script("""
        const canvas = document.getElementById('canvas'), r = canvas.getBoundingClientRect();
        const send = (target, type, pointerId, x, y) => target.dispatchEvent(
          new PointerEvent(type, {pointerId, pointerType: 'touch', bubbles: true, clientX: r.left + x, clientY: r.top + y}));
        send(canvas, 'pointerdown', 1, 100, 100); send(canvas, 'pointerdown', 2, 200, 100);
        send(canvas, 'pointermove', 2, 300, 100);
        send(canvas, 'pointerup', 1, 100, 100); send(canvas, 'pointerup', 2, 300, 100);""")
    assert scale() == pytest.approx(2 * before)
