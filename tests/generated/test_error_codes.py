"""The error codes of the schemas and the exceptions of the runtime.

A code that upstream adds has no exception until a person adds one, and `make upgrade` says so.
"""

from __future__ import annotations

import acp_runtime
from acp_runtime import RequestError
from tests.support.models.profiles import PROFILES


def test_every_exception_is_for_an_error_code_of_a_schema() -> None:
    listed = [member for profile in PROFILES for member in profile.definitions["ErrorCode"]["anyOf"]]
    classes = [
        value for value in vars(acp_runtime).values() if isinstance(value, type) and issubclass(value, RequestError)
    ]
    codes = {cls.default_code for cls in classes if hasattr(cls, "default_code")}
    assert len(codes) > 8
    assert codes <= {session["const"] for session in listed if "const" in session}
