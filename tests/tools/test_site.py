"""The documentation in headless Chromium: every page in a narrow and a wide window, offline, without a word on the console.

`make test-browser` builds the pages first, if they aren't there.
"""

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]

SITE = Path(__file__).resolve().parents[2] / "build" / "docs"
PAGES = sorted(str(page.relative_to(SITE)) for page in SITE.rglob("*.html") if "_static" not in page.parts)
WIDTHS = (390, 1400)


def resize(driver, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def test_the_site_is_built():
    assert {"index.html", "start.html", "design.html", "reference/elementwise.html"} <= set(PAGES), (
        "make docs builds it"
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_page(chromium, page, width):
    resize(chromium, width)
    try:
        chromium.get_log("browser"), chromium.get_log("performance")
        url = (SITE / page).as_uri()
        chromium.get(url)
        wide = chromium.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width, "the page scrolls sideways"
        broken = chromium.execute_script(
            "return [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        )
        assert broken == []
        assert chromium.get_log("browser") == []
        sent = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"]
        outside = [address for address in asked if not address.startswith((SITE.as_uri(), "data:", "blob:", "chrome:"))]
        assert outside == [], "the page must work without a network"
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_search_finds_a_name(chromium):
    chromium.get((SITE / "search.html").as_uri() + "?q=softplus")
    chromium.implicitly_wait(5)
    assert chromium.find_element("css selector", "ul.search li a").text
