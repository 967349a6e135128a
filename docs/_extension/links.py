"""Whether every link in a folder of HTML pages leads somewhere: files are there, anchors too, nothing is fetched from outside.

    python docs/_extension/links.py build/docs

Prints what is wrong and exits with 1. Links to other sites are left alone; scripts, styles and images from other sites are
an error, because the pages must work without a network.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}


class Links(HTMLParser):
    """The links of a page and the anchors in it."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []  # address, whether the browser loads it with the page
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag has."""
        named = {key: value for key, value in attrs if value}
        self.anchors |= {named[key] for key in ("id", "name") if key in named}
        if tag == "a" and "href" in named:
            self.links.append((named["href"], False))
        if tag in LOADED and LOADED[tag] in named:
            self.links.append((named[LOADED[tag]], True))


def broken(site: Path) -> Iterator[str]:
    """One line for each link that leads nowhere, and for each thing that would be loaded from another site."""
    pages = {page.resolve(): Links(page) for page in site.rglob("*.html") if "_static" not in page.parts}
    for page, found in sorted(pages.items()):
        for address, loaded in found.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if loaded and parts.scheme != "data":
                    yield f"{page}: loads {address} from another site"
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if not target.is_file():
                yield f"{page}: {address} isn't there"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{page}: {address} has no such anchor"


def main() -> int:
    """Check the folder named on the command line."""
    site = Path(sys.argv[1])
    problems = list(broken(site))
    print("\n".join(problems) if problems else f"{site}: every link resolves")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
