"""What a test needs and this machine may lack: the test is skipped, or fails where `.ci/run` says that it is needed."""

from __future__ import annotations

import os
from typing import Literal, NoReturn

import pytest


def skip_or_fail(kind: Literal["peers", "browser", "tools"], sentence: str) -> NoReturn:
    """End the test: skipped, or failed if the variable of the kind (`ACP_PEERS`, ...) is `required`."""
    variable = f"ACP_{kind.upper()}"
    if os.environ.get(variable) == "required":
        pytest.fail(f"{sentence} {variable}=required allows no skipping.", pytrace=False)
    pytest.skip(sentence)
