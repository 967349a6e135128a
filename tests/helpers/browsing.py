"""Headless Chromium for the tests that are marked `browser`: an opened page, and what a user does and sees."""

import json
import shutil
import tempfile

import pytest

OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1300,850"
).split()


@pytest.fixture(scope="module")
def chromium():
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for option in [*OPTIONS, f"--user-data-dir={profile}"]:
            options.add_argument(option)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        yield driver
        driver.quit()


class Page:
    """An opened explorer, and what a user does and sees."""

    def __init__(self, driver, exploration, folder):
        self.driver = driver
        driver.get_log("browser"), driver.get_log("performance")
        path = folder / "page.html"
        exploration.save(path)
        self.url = path.as_uri()
        driver.get(self.url)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.one(selector).text

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def settle(self):
        """Wait until what moved has been drawn."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def box(self, name):
        """The texts of the box whose first line starts with this name."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll('g.box')].map(b => [...b.querySelectorAll('text')].map(t => t.textContent))"
            ".find(lines => lines[0] === arguments[0] || lines[0].startsWith(arguments[0] + ' = '))",
            name,
        )

    def click_box(self, key):
        self.one(f'.box[data-key="{key}"]').click()

    def red_labels(self):
        return self.driver.execute_script(
            "return [...document.querySelectorAll('.edge text')].map(t => t.textContent).filter(t => t)"
        )

    def rows(self, table):
        return [[cell.text for cell in row.find_elements("css selector", "td")] for row in self.all(f"#{table} tr")[1:]]

    def assert_quiet(self):
        logged = self.driver.get_log("browser")
        assert logged == [], logged
        sent = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        requests = [m["params"] for m in sent if m["method"] == "Network.requestWillBeSent"]
        # the browser's own start page is none of ours
        assert [r["request"]["url"] for r in requests if r["documentURL"] == self.url] == [self.url]


@pytest.fixture
def opened(chromium, tmp_path):
    pages = []

    def open_page(exploration):
        if pages:
            pages[-1].assert_quiet()
        pages.append(Page(chromium, exploration, tmp_path))
        return pages[-1]

    yield open_page
    if pages:
        pages[-1].assert_quiet()
