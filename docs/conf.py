"""How Sphinx makes the documentation: `make docs`. Blocks are executed and entries made by the modules in `_extension`."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_extension"))

import adjoint  # noqa: E402

project = "adjoint"
author = "The adjoint authors"
copyright = author
release = adjoint.__version__

extensions = ["myst_parser", "executed"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_*"]
nitpicky = True
add_module_names = False
python_maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "adjoint"
html_static_path = ["_static"]
html_css_files = ["adjoint.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "friendly"
