"""Pages for everybody: axe-core finds nothing, keys reach everything, every number is text, nothing moves unasked."""

from pathlib import Path

import pytest

import adjoint as ad

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]

TAB, END, DOWN = "\ue004", "\ue010", "\ue015"
QUESTIONS = [
    ("How many arrows reach x?", "Five.", 5),
    ("Why?", "One for each use.", ["one for each use", "by chance"]),
    ("Now?", "So."),
]


@pytest.fixture(scope="module")
def axe():
    return Path(pytest.importorskip("axe_core_python").__file__).with_name("axe.min.js").read_text()


def explorer():
    x, z = ad.variable(2.0, name="x"), ad.variable(0.0, name="z")
    y = 3 * x * x * x + 4 * x + 1 + x * z
    return ad.explore(y, names={"y": y}, questions=QUESTIONS)


def arrays():
    ad.random.seed(0)
    net = ad.nn.Sequential(ad.nn.Linear(2, 8), ad.nn.Tanh(), ad.nn.Linear(8, 1))
    loss = (net(ad.random.normal((12, 2))) ** 2).mean()
    return ad.explore(loss, names={"net": net, "loss": loss})


PAGES = {
    "explorer": explorer,
    "arrays": arrays,
    "playground": ad.playground,
    "training": lambda: ad.playground(training="moons"),
}


def windows(page, width, dark=False, reduced=False):
    size = {"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = {
        "prefers-color-scheme": "dark" if dark else "light",
        "prefers-reduced-motion": "reduce" if reduced else "no-preference",
    }
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": k, "value": v} for k, v in features.items()]}
    )


@pytest.fixture
def usual(chromium):
    yield
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(opened, usual, axe, name, dark):
    page = opened(PAGES[name]())
    page.driver.execute_script(axe)
    for width in (1300, 390):
        windows(page, width, dark)
        if name != "training":
            page.one("#last").click()
            page.driver.execute_script(
                "document.querySelector('g.box.variable').dispatchEvent(new MouseEvent('click', {bubbles: true}));"
                "document.querySelectorAll('details').forEach(one => { one.open = true; })"
            )
        found = page.driver.execute_async_script(
            "const done = arguments[0]; axe.run().then(found => done(found.violations))"
        )
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []


def test_the_keyboard_reaches_everything_and_shows_where_it_is(opened, usual):
    page = opened(explorer())
    windows(page, 1300, reduced=True)
    seen = []
    for _ in range(60):
        page.press(TAB)
        told = page.driver.execute_script(
            "const e = document.activeElement, s = getComputedStyle(e), r = e.matches('g.box') && getComputedStyle(e.firstChild);"
            "return e === document.body ? null : [e.id || e.getAttribute('aria-label') || e.textContent,"
            " r ? parseFloat(r.strokeWidth) >= 3 : s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]"
        )
        if told is None:
            break
        assert told[1], f"{told[0]} doesn't show that it has the focus"
        seen.append(told[0])
    parts = [
        "search",
        "fit",
        "theme",
        "y",
        "first",
        "slider",
        "your prediction",
        "check",
        "show me",
        "z",
        "move z",
        "put-back",
    ]
    missing = [part for part in parts if not any(have.startswith(part) for have in seen)]
    assert missing == [], seen
    assert len(seen) == len(set(seen)) or seen.count("z") == 1


def test_every_number_of_the_graph_is_text(opened):
    page = opened(explorer())
    page.one("h1").click()
    page.press(END)
    labels = [box.get_attribute("aria-label") for box in page.all("g.box")]
    assert "x, value 2, gradient 40" in labels and "y, value 33, gradient 1" in labels
    assert all("value" in label for label in labels)
    for key in [box["key"] for box in page.driver.execute_script("return adjoint.boxes()")]:
        page.driver.execute_script("adjoint.select(arguments[0])", key)
        red = page.driver.execute_script("return adjoint.arrows(arguments[0])", key)
        told = [row[1] for row in page.rows("contributions")] if red else []
        assert told == red, "the amounts on the arrows into the box stand in the panel"


def test_nothing_moves_for_those_who_asked_for_that(opened, usual):
    page = opened(explorer())
    for reduced in (False, True):
        windows(page, 1300, reduced=reduced)
        seconds = page.driver.execute_script(
            "return Math.max(...[...document.querySelectorAll('*')].map(e => { const s = getComputedStyle(e);"
            " return Math.max(parseFloat(s.transitionDuration), s.animationName === 'none' ? 0 : 1); }))"
        )
        assert seconds == 0 if reduced else seconds < 0.2
