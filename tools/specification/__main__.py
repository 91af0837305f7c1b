"""Writes docs/reference/specification.md."""

from __future__ import annotations

import sys

from tools.specification import page
from tools.specification.statements import problems, read

if __name__ == "__main__":
    statements = read()
    wrong = [f"{entry.page}: {entry.text} {problem}" for entry in statements for problem in problems(entry)]
    if wrong:
        sys.exit("\n".join(wrong))
    page.PAGE.write_text(page.render_page(statements), "utf-8")
