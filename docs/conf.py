"""The documentation site: `make docs` writes it to build/docs/html.

The source directory is the checkout, so that every link of a guide is what it is on disk. What the build makes itself
is in build/docs: the pictures and text of the gallery (`tools.documentation.site`), and the options of each verb
(`tools.documentation.manual`).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx

import parshall

ROOT = Path(__file__).parents[1]

project = "Parshall"
author = "The Parshall developers"
version = release = parshall.__version__
html_title = "Parshall"

root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "benches/README.md", "fuzz/README.md"]
exclude_patterns = [".venv", "target", "build", "dist", "runs", "crates", "fuzz/target", ".*"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]

# --- text ---

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 4
copybutton_exclude = ".linenos, .gp, .go"
myst_html_meta = {
    "description": (
        "How do transport protocols share a bottleneck? Predicted, simulated, emulated with real Linux TCP, or "
        "observed in a capture."
    ),
    "property=og:type": "website",
    "property=og:site_name": "Parshall",
}
"""The description that a link to a guide shows where it is pasted, beside the guide's title."""

suppress_warnings = ["myst.header"]
"""Headings in the changelog skip a level where a release has one part only."""

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
add_module_names = False

# --- pages ---

html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "logo": {"text": "Parshall"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": {"docs/index": [], "**": ["page-toc"]},
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"docs/index": [], "docs/getting-started": [], "docs/gallery": []}
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["site/static"]
html_extra_path = ["site/root"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "site/static/icon.svg"
project_copyright = "the Parshall developers, Apache-2.0"


def _prepare(_: Sphinx) -> None:
    made = ROOT / "build/docs"
    subprocess.run([sys.executable, "-m", "tools.documentation.site", made], check=True)

    subprocess.run([sys.executable, "-m", "tools.documentation.manual", made / "commands.md"], check=True)


def _add_playground(app: Sphinx, error: Exception | None) -> None:
    """Put the page with the simulator in it beside the guides."""
    if error is None:
        shutil.copy(ROOT / "build/docs/playground.html", app.outdir)


def setup(app: Sphinx) -> None:
    """Have the gallery and the options written before the pages are read."""
    app.connect("builder-inited", _prepare)
    app.connect("build-finished", _add_playground)
