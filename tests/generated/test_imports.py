"""Importing a profile loads only the modules that it needs. Each test runs in a fork with only pydantic imported."""

from __future__ import annotations

import json

import pytest

from tests.support.models.fresh_process import run_in_fork
from tests.support.models.modules import PROFILES

pytestmark = pytest.mark.slow

REPORT = "import json, sys; print(json.dumps(sorted(sys.modules)))"

every_profile = pytest.mark.parametrize("profile", PROFILES)


def _loaded_by(statement: str) -> set[str]:
    return set(json.loads(run_in_fork(f"{statement}\n{REPORT}")))


def _profiles(modules: set[str]) -> set[str]:
    return {name.split(".")[1] for name in modules if name.startswith("acp_bindings.")}


@every_profile
def test_importing_a_profile_loads_no_models_no_asyncio_and_no_other_profile(profile: str) -> None:
    loaded = _loaded_by(f"import acp_bindings.{profile}")
    assert _profiles(loaded) == {profile}
    assert not {"asyncio", f"acp_bindings.{profile}.models"} & loaded


@every_profile
def test_using_a_model_loads_no_other_profile_and_no_stubs(profile: str) -> None:
    loaded = _loaded_by(f"from acp_bindings.{profile} import ContentBlockText\nContentBlockText(text='a')")
    assert _profiles(loaded) == {profile}
    assert f"acp_bindings.{profile}.models" in loaded
    assert not {"asyncio", f"acp_bindings.{profile}.agent", f"acp_bindings.{profile}.client"} & loaded


def test_importing_the_package_loads_no_profile() -> None:
    assert _profiles(_loaded_by("import acp_bindings")) == set()


def test_the_runtime_never_loads_generated_code() -> None:
    statement = "import acp_runtime, acp_runtime.stubs.roles, acp_runtime.models.scalars, acp_runtime.stubs.lazy"
    assert not {name for name in _loaded_by(statement) if name.startswith("acp_bindings")}
