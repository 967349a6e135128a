"""Makes docs/images/explorer.png, the README's picture: the explorer at its last step, asked why x has gradient 40.

python docs/_extension/screenshot.py        (needs selenium, Chromium and its driver)
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from selenium import webdriver

import adjoint as ad

FILE = Path(__file__).resolve().parents[1] / "images" / "explorer.png"
OPTIONS = "--headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,720"


def main() -> None:
    """Open the page, go to the end, click x, and keep what is seen."""
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = 3 * x * x * x + 4 * x + 1 + x * z
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for option in OPTIONS.split():
        options.add_argument(option)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "y.html"
        ad.explore(y, page)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": 1200, "height": 720, "deviceScaleFactor": 1.5, "mobile": False},
            )
            driver.get(page.as_uri())
            driver.find_element("css selector", "body").send_keys("\ue010")  # End
            driver.find_element("css selector", ".box.variable").click()
            driver.save_screenshot(str(FILE))
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
