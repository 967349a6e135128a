"""Sphinx: every document's Python blocks are executed as it is read, and what they print and show stands below them.

A block that fails, or prints something else than the document says, ends the build. ``{names}`` blocks become reference
entries (`reference.py`), and where a page writes a public name as code, it is linked to its entry.
"""

from __future__ import annotations

import hashlib
import html
import re
import time
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

import pages
import reference

FIGURES = "_figures"
TEXT = "\n\n```{code-block} text\n:class: output\n\n%s\n```\n"
NAME = re.compile(r"(ad\.[A-Za-z_][\w.]*)(?:\(.*\))?", re.DOTALL)

logger = logging.getLogger(__name__)


def execute(app: Sphinx, docname: str, source: list[str]) -> None:
    """Run a document's blocks and put their results below them (event ``source-read``)."""
    path = Path(app.env.doc2path(docname))
    start = time.perf_counter()
    try:
        with pages.fresh_engine():
            text = _with_results(app, docname, path, source[0])
            source[0] = reference.expand(text, lambda figures: _figures(app, docname, figures, ""))
    except pages.BlockError as error:
        raise ExtensionError(str(error)) from error
    logger.info("  %s: blocks ran in %.1f s", docname, time.perf_counter() - start)


def _with_results(app: Sphinx, docname: str, path: Path, text: str) -> str:
    page, parts, position = pages.Page(path), [], 0
    for match, code, line in pages.blocks(text):
        language = match["language"]
        result = page.run(code, line, language)
        shown = pages.without_answers(code) if language == "python" and ">>>" not in code else code
        parts += [text[position : match.start()], f"```{language}\n{shown}```"]
        if result.text:
            parts.append(TEXT % result.text.rstrip("\n"))
        if result.figures:
            parts.append(_figures(app, docname, result.figures, match["caption"] or ""))
        position = match.end()
    return "".join([*parts, text[position:]])


def _figures(app: Sphinx, docname: str, figures: list[pages.Figure], caption: str) -> str:
    folder = Path(app.outdir) / FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    shown, alternative = [], html.escape(caption or "What the block shows", quote=True)
    for figure in figures:
        digest = hashlib.sha256(figure.content).hexdigest()[:12]
        name = f"{docname.replace('/', '-')}-{digest}.{figure.suffix}"
        (folder / name).write_bytes(figure.content)
        url = "../" * docname.count("/") + f"{FIGURES}/{name}"
        if figure.suffix == "html":
            shown.append(
                f'<iframe src="{url}" title="{alternative}" loading="lazy"></iframe>\n'
                f'<a href="{url}">Open it in a window of its own</a>'
            )
        else:
            shown.append(f'<a href="{url}"><img src="{url}" alt="{alternative}"></a>')
    kind = "explorer" if figures[0].suffix == "html" else "picture"
    label = f"\n<figcaption>{html.escape(caption)}</figcaption>" if caption else ""
    body = "\n".join(shown)
    return f'\n\n```{{raw}} html\n<figure class="{kind}">\n{body}{label}\n</figure>\n```\n'


def link_names(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link every public name that stands as code in the text to its entry (event ``doctree-resolved``)."""
    objects = app.env.get_domain("py").objects
    for literal in list(doctree.findall(nodes.literal)):
        match = NAME.fullmatch(literal.astext())
        found = objects.get(match[1]) if match else None
        if found is None or _inside_link(literal):
            continue
        url = app.builder.get_relative_uri(docname, found.docname) + "#" + found.node_id
        link = nodes.reference("", "", internal=True, refuri=url)
        literal.replace_self(link)
        link += literal


def _inside_link(node: Any) -> bool:
    while node is not None:
        if isinstance(node, (nodes.reference, nodes.title)):
            return True
        node = node.parent
    return False


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("source-read", execute)
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
