"""The error codes of the schemas and the exceptions of the runtime.

A code that upstream adds has no exception until a person adds one, and `make upgrade` says so.
"""

from __future__ import annotations

from acp_runtime import RequestError
from tests.runtime.connection.test_remote_errors import CLASSES
from tests.support.models.profiles import PROFILES


def test_every_exception_is_for_an_error_code_of_a_schema() -> None:
    listed = [each for profile in PROFILES for each in profile.definitions["ErrorCode"]["anyOf"]]
    codes = {each["const"] for each in listed if "const" in each}
    assert CLASSES.keys() <= codes
    assert [code for code in CLASSES if type(RequestError.of(code, "")) is RequestError] == []
