"""The settings of Sphinx. `make docs` builds the site into build/docs."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

metadata = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"]
project = metadata["name"]
release = version = metadata["version"]
copyright = "the authors of acp-bindings, Apache-2.0"
html_title = f"{project} {release}"
repository_url = metadata["urls"]["Repository"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_llm.txt",
    "repository_links",
    "markdown_docstrings",
    "short_signatures",
    "code_blocks",
    "for_readers",
    "check_site",
]
exclude_patterns = ["_ext"]

# Links to headings work as on GitHub.
myst_heading_anchors = 4
myst_html_meta = {"description": metadata["description"]}
# The protocol reference lists fields as definitions.
myst_enable_extensions = ["deflist"]

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_display_short_literal_types = True
maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

# No request goes to another host: Furo brings its styles and scripts, and uses the fonts of the system.
html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(DOCS / "search_scorer.js")
html_copy_source = False
html_show_sphinx = False
# Both have a contrast of 4.5:1 or more.
pygments_style = "a11y-light"
pygments_dark_style = "github-dark"

# The repository has no public address yet (docs/project/releasing.md).
linkcheck_ignore = [rf"{re.escape(repository_url)}/.*"]

# The pages in project/ are for maintainers, as in for_readers.py.
# llms.txt lists the pages, llms-full.txt has them in one file, and each page is there as Markdown.
llms_txt_description = metadata["description"]
llms_txt_full_build = True
llms_txt_exclude = ["project/**"]
llms_txt_suppress_unknown_node_warnings = True
llms_txt_nested_enabled = False
llms_txt_suffix_mode = "replace"
