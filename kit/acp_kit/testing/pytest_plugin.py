"""The option `--acp-record DIR` of pytest: records the messages of each `connect`.

Name it in `conftest.py`, `pytest_plugins = ["acp_kit.testing.pytest_plugin"]`, or with `pytest -p`. Tests can use
`acp_kit.testing` without it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_kit.testing.connecting import RECORD


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption("--acp-record", metavar="DIR", help="record the messages of each acp_kit.testing.connect in DIR")


def pytest_configure(config: pytest.Config) -> None:
    """Let `connect` write recordings."""
    if folder := config.getoption("--acp-record"):
        os.environ[RECORD] = str(Path(folder).absolute())
