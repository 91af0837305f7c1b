"""The error codes of the schemas and the exceptions of the runtime.

A code that upstream adds has no exception until a person adds one, and `make upgrade` says so.
"""

from __future__ import annotations

import acp_runtime
from acp_runtime import RequestError
from tests.support.models.profiles import PROFILES


def test_every_exception_is_for_an_error_code_of_a_schema() -> None:
    listed = [each for profile in PROFILES for each in profile.definitions["ErrorCode"]["anyOf"]]
    classes = [each for each in vars(acp_runtime).values() if isinstance(each, type) and issubclass(each, RequestError)]
    codes = {each.default_code for each in classes if hasattr(each, "default_code")}
    assert len(codes) > 8
    assert codes <= {each["const"] for each in listed if "const" in each}
