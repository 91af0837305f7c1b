"""The errors of the runtime are those of the schemas."""

from __future__ import annotations

import pytest

from acp_runtime import RequestError
from tests.support.models.profiles import PROFILES, Profile


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.package)
def test_every_code_that_a_schema_names_has_its_exception(profile: Profile) -> None:
    named = [each["const"] for each in profile.definitions["ErrorCode"]["anyOf"] if "const" in each]
    assert len(named) > 5
    assert [code for code in named if type(RequestError.of(code, "")) is RequestError] == []
