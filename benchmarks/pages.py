"""Frame times of explorer pages and playgrounds with 200 and 2,000 boxes: `python -m benchmarks.pages` (needs selenium and
Chromium).

For each page: zooming over the whole of it, panning at reading size, and dragging the number that everything depends on,
seen near and from far. The first figures are the time from frame to frame; the last one is the processor time of the
page's own thread for a frame, which other work on the machine changes least. Without a graphics card the browser paints
on the processor too.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

import adjoint as ad

FRAMES = 90
OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking --window-size=1300,850"
)

# Each gives the number of a frame to what a user does in it.
ACTIONS = {
    "zoom, all": "canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: n % 20 < 10 ? -40 : 40, clientX: 400, clientY: 300,"
    " cancelable: true}))",
    "pan, near": "document.dispatchEvent(new KeyboardEvent('keydown', {key: n % 40 < 20 ? 'ArrowDown' : 'ArrowUp', shiftKey:"
    " true}))",
    "drag, near": "adjoint.set(slot, [1 + 0.001 * (n % 50)])",
    "drag, all": "adjoint.set(slot, [1 + 0.001 * (n % 50)])",
}
RUN = """
const done = arguments[1], canvas = document.getElementById('canvas'), times = [];
const slot = adjoint.leaves().find((leaf) => leaf.name === 'x').slot, act = new Function('n', 'canvas', 'slot', arguments[0]);
let last = performance.now(), n = 0;
const frame = (now) => {
  times.push(now - last);
  last = now;
  act(n, canvas, slot);
  if (++n < %d) requestAnimationFrame(frame);
  else done(times.slice(5));
};
requestAnimationFrame(frame);
""" % (FRAMES + 5)  # noqa: UP031  (the script has braces of its own)


def chain(operations: int) -> ad.Exploration:
    """A page of a formula with so many operations, each of which depends on x, nothing folded."""
    s = x = ad.variable(1.0, name="x")
    for _ in range(operations // 3):
        s = ad.sin(s) * x + s
    return ad.explore(s, compare=False, fold=False, code=False)


def typed(operations: int) -> ad.Exploration:
    """The playground with that formula, a line for each sum."""
    lines = [f"s{i + 1} = sin(s{i})*x + s{i}" for i in range(operations // 3)]
    return ad.playground(formula="\n".join(["x = 1", "s0 = x", *lines]))


def measured(driver: Any, exploration: ad.Exploration) -> dict[str, tuple[float, float, float]]:
    """For each action the median and the 95th percentile from frame to frame, and the processor time, in ms."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        exploration.save(path)
        driver.get(path.as_uri())
        driver.execute_script("document.querySelector(arguments[0]).click()", "#last")
        found = {}
        for name, action in ACTIONS.items():
            driver.execute_script("document.querySelector(arguments[0]).click()", "#fit")
            if "near" in name:
                driver.execute_script("adjoint.look(1)")
            before = busy(driver)
            times = driver.execute_async_script(RUN, action)
            found[name] = (
                statistics.median(times),
                statistics.quantiles(times, n=20)[-1],
                1000 * (busy(driver) - before) / (FRAMES + 5),
            )
        return found


def busy(driver: Any) -> float:
    """Processor time of the page's thread so far, in seconds."""
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))


def main() -> None:
    """Print a table."""
    from selenium import webdriver  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for option in OPTIONS.split():
        options.add_argument(option)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        driver.set_script_timeout(120)
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        print(f"{'boxes':>7}  {'':24}{'median':>9}{'95 %':>9}{'own time':>10}   (ms a frame)")
        for operations in (200, 2000):
            for kind, page in (("explorer", chain(operations)), ("playground", typed(operations - 10))):
                for name, (median, late, own) in measured(driver, page).items():
                    print(f"{operations:>7}  {kind:12}{name:12}{median:9.1f}{late:9.1f}{own:10.1f}")
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
