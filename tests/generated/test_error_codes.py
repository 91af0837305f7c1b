"""Every error code in the schemas has an exception in the runtime."""

from __future__ import annotations

import pytest

from acp_runtime import RequestError
from tests.support.models.profiles import PROFILES, Profile


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.package)
def test_every_error_code_of_a_schema_has_an_exception(profile: Profile) -> None:
    codes = [each["const"] for each in profile.definitions["ErrorCode"]["anyOf"] if "const" in each]
    assert len(codes) > 5
    assert [code for code in codes if type(RequestError.of(code, "")) is RequestError] == []
