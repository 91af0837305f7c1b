"""Skips tests that need something this machine doesn't have, or fails them where `.ci/run` requires it."""

from __future__ import annotations

import os
from typing import Literal, NoReturn

import pytest

from tools.third_party import UnavailableError


def skip_or_fail(kind: Literal["peers", "tools"], sentence: str) -> NoReturn:
    """Skip the test, or fail it if the environment variable of the kind (`ACP_PEERS`, ...) is `required`."""
    if os.environ.get("ACP_PEERS") == "refused":
        pytest.fail(f"{sentence} `make test` refuses this: mark the test `test_all`.", pytrace=False)
    variable = f"ACP_{kind.upper()}"
    if os.environ.get(variable) == "required":
        pytest.fail(f"{sentence} The test can't be skipped because {variable}=required is set.", pytrace=False)
    pytest.skip(sentence)


def skip_without(what: str, reason: UnavailableError) -> NoReturn:
    """Skip a test that needs a package; fail it where all packages are required (`.ci/run`)."""
    skip_or_fail("peers", f"{what}: {reason}.")
