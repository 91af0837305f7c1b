"""Writes docs/reference/specification.md, and the links to tests in docs/project/protocol-rules.md."""

from __future__ import annotations

import sys

from tools.specification import page, rules
from tools.specification.statements import problems, read

if __name__ == "__main__":
    statements = read()
    wrong = [f"{entry.page}: {entry.text} {problem}" for entry in statements for problem in problems(entry)]
    if wrong:
        sys.exit("\n".join(wrong))
    page.PAGE.write_text(page.render_page(statements), "utf-8")
    rules.PAGE.write_text(rules.render_page(), "utf-8")
