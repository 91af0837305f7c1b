"""The blocks of a page are found, joined into files, and none escapes the checks."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.docs.blocks import blocks
from tests.support.docs.files import steps, versions, with_unique_modules


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(
        dedent(
            """\
            ```python
            # one.py
            A = 1
            ```

            More.

            ```python
            print(A)
            ```

            ```text
            1
            ```

            <!-- not run: it never ends -->
            ```sh
            yes
            ```

            - ```python
              # one.py
              A = 2
              ```

            A paragraph.

                import indented
            """
        ),
        "utf-8",
    )
    return path


def test_a_block_without_a_name_continues_the_file_before(page: Path) -> None:
    assert steps(page)[1].files == {"one.py": "# one.py\nA = 1\n\n\nprint(A)\n"}


def test_text_directly_below_is_the_output(page: Path) -> None:
    assert [step.output for step in steps(page)] == [None, "1\n", None, None]


def test_a_comment_says_why_a_block_is_not_run(page: Path) -> None:
    assert [block.not_run for block in blocks(page) if block.language == "sh"] == ["it never ends"]


def test_a_file_can_begin_anew_and_each_version_is_checked(page: Path) -> None:
    assert [files["one.py"] for files in versions(page)] == ["# one.py\nA = 1\n\n\nprint(A)\n", "# one.py\nA = 2\n"]


def test_a_page_can_go_on_with_the_files_of_another_one(page: Path) -> None:
    next_page = page.with_name("next.md")
    next_page.write_text("<!-- files: page.md -->\n\n```python\n# two.py\nimport one\n```\n", "utf-8")
    assert steps(next_page)[0].files == {"one.py": "# one.py\nA = 2\n", "two.py": "# two.py\nimport one\n"}


def test_indented_code_is_a_block_too(page: Path) -> None:
    assert blocks(page)[-1].language == "indented"


def test_the_files_of_different_pages_do_not_import_each_other() -> None:
    files = {"agent.py": "import client\nfrom client import A\nimport clients\n", "client.py": ""}
    assert with_unique_modules(files, "x_")["x_agent.py"] == "import x_client\nfrom x_client import A\nimport clients\n"
