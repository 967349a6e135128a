"""The explorer in headless Chromium: stepping, folding, search, keys; its numbers are the engine's; it asks for nothing."""

import numpy as np
import pytest

import adjoint as ad
from test_picture import EXPRESSIONS, HOSTILE, names_of, two_layers

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def cube_page(**options):
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = 3 * x * x * x + 4 * x + 1 + x * z
    return ad.explore(y, names={"x": x, "z": z, "y": y}, **options)


RIGHT, LEFT, UP, DOWN, HOME, END, ENTER, ESCAPE, SPACE = (
    "\ue014", "\ue012", "\ue013", "\ue015", "\ue011", "\ue010", "\ue007", "\ue00c", " ",
)  # fmt: skip


def test_stepping_shows_values_then_gradients(opened):
    page = opened(cube_page())
    assert page.text("#count") == "step 0 of 18"
    assert page.box("x")[0] == "x = 2" and page.red_labels() == []
    values = []
    for _ in range(8):
        page.press(RIGHT)
        values.append(page.text("#now .big"))
    assert values == [
        "3 × 2 = 6", "6 × 2 = 12", "12 × 2 = 24", "4 × 2 = 8", "24 + 8 = 32", "32 + 1 = 33", "2 × 0 = 0", "33 + 0 = 33",
    ]  # fmt: skip
    assert "r = a + b" in page.text("#now .formula")
    assert "y = 3 * x * x * x + 4 * x + 1 + x * z" in page.text("#now .source")
    page.press(RIGHT)
    assert page.text("#now .big") == "∂y/∂y = 1"
    page.press(RIGHT, RIGHT)
    assert page.rows("products") == [["x", "0", "1 × 0 = 0", "0"], ["z", "2", "1 × 2 = 2", "2"]]
    page.press(RIGHT, RIGHT, RIGHT)
    assert page.rows("products") == [["x", "4", "1 × 4 = 4", "0 + 4 = 4"]]
    page.press(LEFT)
    assert page.text("#count") == "step 13 of 18"
    page.press(END)
    assert page.text("#count") == "step 18 of 18"
    assert sorted(page.red_labels()) == sorted(["+12"] * 3 + ["+4"] * 2 + ["+2"] * 2 + ["+1"] * 5 + ["+0"])
    assert page.box("x")[2] == "∂y/∂x = 40" and page.box("z")[2] == "∂y/∂z = 2"
    page.press(HOME)
    assert page.text("#count") == "step 0 of 18" and page.red_labels() == []


def test_a_leaf_tells_its_paths_and_finite_differences(opened):
    page = opened(cube_page())
    page.press(END)
    page.click_box("n1")
    assert page.rows("contributions") == [
        ["× = 6", "+12"],
        ["× = 12", "+12"],
        ["× = 24", "+12"],
        ["× = 8", "+4"],
        ["× = 0", "+0"],
    ]
    paths = page.rows("paths")
    assert paths[0] == ["× → × → × → + → + → y", "3 · 2 · 2 · 1 · 1 · 1", "+12"]
    assert [row[2] for row in paths] == ["+12", "+12", "+12", "+4", "+0"]
    assert page.text("#path-sum") == "sum 40"
    assert page.text("#difference") == "40, by the reverse pass 40"


def test_the_largest_of_many_paths_come_first(opened):
    x = ad.variable(1.0)
    slopes = [(k * 37 % 61) - 30.0 for k in range(61)]
    y = sum(slope * x for slope in slopes)
    page = opened(ad.explore(y, names={"x": x}))
    page.press(END)
    page.click_box(page.one(".box.variable").get_attribute("data-key"))
    products = [float(row[2].replace("−", "-")) for row in page.rows("paths")]
    assert [abs(v) for v in products] == sorted(map(abs, slopes), reverse=True)[:40]
    assert "the 40 largest of them, together" in page.text("#details")


def test_the_largest_products_of_slopes_are_found_among_720(opened):
    x = ad.variable(1.0)
    slopes = [[0.1 * (k + 1) * (-1) ** k for k in range(n)] for n in (8, 9, 10)]
    y = x
    for level in slopes:
        y = sum(slope * y for slope in level)
    page = opened(ad.explore(y, names={"x": x}))
    page.press(END)
    page.click_box(page.one(".box.variable").get_attribute("data-key"))
    products = [abs(float(row[2].replace("−", "-"))) for row in page.rows("paths")]
    every = sorted((abs(a * b * c) for a in slopes[0] for b in slopes[1] for c in slopes[2]), reverse=True)
    assert products == pytest.approx(every[:40], rel=1e-4)


def test_paths_whose_products_differ_by_rounding_alone_come_at_once(opened):
    """2**40 paths of one product: a search that took each rounding for an order would not end."""
    x = y = ad.variable(1.0, dtype="float64")
    slopes = 1 + np.random.default_rng(0).uniform(-0.5, 0.5, 40)
    for slope in slopes:
        y = float(slope) * y + float(slope) * y
    page = opened(ad.explore(y, names={"x": x, "y": y}, fold=False))
    page.press(END)
    page.driver.execute_script("adjoint.select(adjoint.boxes().find(box => box.name === 'x').key)")
    assert "1,099,511,627,776 paths" in page.text("#details")
    assert len(page.rows("paths")) == 40


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda f: f.__name__)
def test_the_numbers_are_the_engines(opened, expression):
    y, expected, names = names_of(expression)
    page = opened(ad.explore(y, names=names, fold=False))
    page.press(END)
    drawing = ad.draw(y, names=names, fold=False).model
    for name in expected:
        lines = page.box(name)
        text = drawing.find(name).gradient.text
        told = lines[2].removeprefix(f"{drawing.derivative_name(drawing.find(name))} = ").removeprefix("gradient = ")
        assert told.rstrip("…")[:12] == text[:12], name


def test_folding_by_key_button_and_double_click(opened):
    loss, _, names = names_of(two_layers)
    page = opened(ad.explore(loss, names=names, fold=False))
    shown = len(page.all(".box"))
    assert len(page.all(".frame")) == 3
    page.one("#fold-all").click()
    assert len(page.all(".box.group")) == 1 and page.all(".frame") == []
    page.press(END)
    assert page.box("Sequential")[2]
    page.click_box("g0")
    page.press(ENTER)
    assert len(page.all(".box")) == shown
    page.all(".frame text")[1].click()  # one Linear: a folding that no layout was made for
    assert len(page.all(".box.group")) == 1
    page.press(END)
    for name in ("net.0.weight", "net.2.bias"):
        assert page.box(name)[2].startswith(("∂", "gradient"))
    page.click_box(page.one(".box.group").get_attribute("data-key"))
    page.one("#unfold-selected").click()
    assert len(page.all(".box")) == shown


def test_search_finds_and_dims(opened):
    page = opened(cube_page())
    page.press("/")
    assert page.driver.switch_to.active_element.get_attribute("id") == "search"
    page.press("z")
    assert page.text("#found") == "4 found" or page.text("#found").endswith(" found")
    assert len(page.all(".box.dim")) + int(page.text("#found").split()[0]) == 13
    page.press(ENTER)
    assert len(page.all(".box.selected")) == 1
    page.press(ESCAPE)
    assert page.all(".box.dim") == []


def test_keys_select_zoom_move_and_play(opened):
    page = opened(cube_page())
    transform = page.one("#world").get_attribute("transform")
    page.press("+")
    assert page.one("#world").get_attribute("transform") != transform
    page.press("0")
    assert page.one("#world").get_attribute("transform") == transform
    page.press(DOWN)
    assert page.one(".box.selected").get_attribute("aria-label").startswith("y, value") or page.all(".box.selected")
    assert page.driver.switch_to.active_element.get_attribute("class").startswith("box")
    page.press(DOWN, DOWN, UP, ESCAPE)
    assert page.all(".box.selected") == []
    page.press(SPACE)
    assert page.text("#play") == "❚❚ pause"
    page.press(SPACE)
    assert page.text("#play") == "▶ play"


def test_dark_and_light_both_have_contrast(opened):
    page = opened(cube_page())
    page.press(END)

    def contrast():
        return page.driver.execute_script("""
            const channel = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
            const luminance = color => {
              const [r, g, b] = color.match(/\\d+/g).map(Number);
              return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
            };
            const ratio = (a, b) => {
              const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
              return (x + 0.05) / (y + 0.05);
            };
            const worst = [...document.querySelectorAll('.box')].flatMap(box => {
              const fill = getComputedStyle(box.querySelector('rect')).fill;
              return [...box.querySelectorAll('text')].map(text => ratio(getComputedStyle(text).fill, fill));
            });
            const panel = getComputedStyle(document.querySelector('aside')).backgroundColor;
            worst.push(...[...document.querySelectorAll('aside p')].map(p => ratio(getComputedStyle(p).color, panel)));
            return Math.min(...worst);""")

    assert contrast() > 4.5
    before = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    page.one("#theme").click()
    assert page.driver.execute_script("return getComputedStyle(document.body).backgroundColor") != before
    assert contrast() > 4.5


def test_hostile_names_are_text(opened):
    x = ad.variable(2.0, name=HOSTILE)
    quoted = ad.variable(3.0, name="\"'><img src=x onerror=alert(1)>")
    page = opened(ad.explore(x * quoted + x))
    page.press(END)
    for box in page.all(".box.variable"):
        box.click()
    assert page.all("img") == [] and len(page.all("script")) == 2
    assert page.driver.execute_script("return document.querySelector('#details h2').textContent").startswith(
        ("<script>", "\"'><img")
    )


def frames(page, act, n=30):
    """Do something in each of n frames; what was made and written in each, as the page counts it."""
    page.driver.set_script_timeout(60)
    return page.driver.execute_async_script(
        """
        const done = arguments[arguments.length - 1], act = new Function('n', arguments[0]), counts = [];
        let n = 0, before = adjoint.work();
        const frame = () => {
          const now = adjoint.work();
          counts.push([now.made - before.made, now.written - before.written]);
          before = now;
          act(n);
          if (++n < arguments[1]) requestAnimationFrame(frame); else done(counts.slice(2));
        };
        requestAnimationFrame(frame);""",
        act,
        n,
    )


ZOOM = (
    "document.getElementById('canvas').dispatchEvent(new WheelEvent('wheel', {deltaY: n % 20 < 10 ? -40 : 40,"
    " clientX: 400, clientY: 300, cancelable: true}))"
)
PAN = "document.dispatchEvent(new KeyboardEvent('keydown', {key: n % 2 ? 'ArrowUp' : 'ArrowDown', shiftKey: true}))"
MOVE = "adjoint.set(adjoint.leaves().find((leaf) => leaf.name === 'x').slot, [1 + 0.001 * n])"


def test_a_frame_of_two_thousand_boxes_costs_what_is_in_sight(opened):
    """Times are `python -m benchmarks.pages`'s; here the work is counted that a frame takes."""
    s = x = ad.variable(1.0, name="x")
    for _ in range(680):
        s = ad.sin(s) * x + s
    page = opened(ad.explore(s, compare=False, fold=False, code=False))
    assert page.driver.execute_script("return adjoint.boxes().length") > 2000
    page.press(END)
    page.press("0")
    page.settle()
    assert page.all("g.box") == [] and page.one("#overview").is_displayed()
    assert sum(made + written for made, written in frames(page, ZOOM)) < 5, "from far, one bitmap is scaled"
    assert frames(page, MOVE) == [[0, 0]] * 28, "no number is seen from far"
    page.driver.execute_script("adjoint.look(1)")
    page.settle()
    near = len(page.all("g.box"))
    assert not page.one("#overview").is_displayed()
    assert 2 < near < 60 and page.all("g.box.root")
    assert sum(made for made, _ in frames(page, PAN)) < 60, "what came into sight once is kept"
    assert all(not made and written < 300 for made, written in frames(page, MOVE))
    step = page.text("#count")
    page.press(LEFT)
    assert page.text("#count") != step and len(page.all("g.box")) < 60


def test_from_far_a_click_selects_the_box_below_it(opened):
    terms = [ad.variable(1.0, name=f"x{i}") for i in range(128)]
    while len(terms) > 1:
        terms = [a * b for a, b in zip(terms[::2], terms[1::2], strict=True)]
    page = opened(ad.explore(terms[0], compare=False, fold=False))
    page.press("0")
    page.settle()
    key, left, top = page.driver.execute_script("return adjoint.placeOf('x17')")
    page.driver.execute_script(
        "document.getElementById('canvas').dispatchEvent(new MouseEvent('click', {clientX: arguments[0], clientY: arguments[1],"
        " bubbles: true}))",
        left,
        top,
    )
    assert page.all("g.box") == [] and page.text("#details h2") == "x17"
    assert page.driver.execute_script("return adjoint.boxes().find(box => box.name === 'x17').key") == key
