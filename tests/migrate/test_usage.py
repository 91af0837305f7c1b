"""Which files have to be parsed."""

from __future__ import annotations

import pytest

from acp_migrate.usage import may_use_acp

# The group shares the import of libcst.
pytestmark = pytest.mark.xdist_group("libcst")


@pytest.mark.parametrize(
    "text",
    [
        "import acp",
        "if checking: import os, acp as protocol",
        "import os, \\\n    acp",
        "from acp.schema import Plan",
        "from app.acp import server",
        "from app import (\n    acp as protocol,\n)",
        'patch("acp.schema.Plan")',
        'import_module("acp")',
        "sys.modules['acp'] = None",
        'f"acp.{name}"',
    ],
)
def test_a_file_that_imports_or_names_acp_is_read(text: str) -> None:
    assert may_use_acp(text.encode())


@pytest.mark.parametrize("text", ['kind = "acp"', "# speaks acp.\n", "args.acp", "acp_mode = True", "acp = 1"])
def test_a_file_that_only_has_the_word_is_not_read(text: str) -> None:
    assert not may_use_acp(text.encode())
