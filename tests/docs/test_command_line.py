"""The page of the command line."""

from __future__ import annotations

from tools.command_line import PAGE, render_page


def test_the_page_of_the_command_line_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == render_page(), "Run `make command-line`."
