"""An agent of the registry is started by the real npx, from a package registry of the test."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from acp_kit.registry import Registry
from acp_kit.sync import spawn_agent
from acp_runtime import Options
from tests.support.kit.npm_registry import NAME, VERSION, npm_registry
from tests.support.skipping import skip_or_fail

pytestmark = [pytest.mark.test_all, pytest.mark.slow]


ARGS = ["--acp", "--registry=https://evil.example", "a b", "$HOME"]
SH = ["-c", "exit 1"]  # of an installed program, which must not be taken for the package of the same name


@pytest.mark.parametrize(("name", "args"), [(NAME, ARGS), ("sh", SH)])
def test_an_agent_is_started_with_its_arguments_and_variables(name: str, args: list[str], tmp_path: Path) -> None:
    if shutil.which("npx") is None:
        skip_or_fail("peers", "npx is needed.")
    package = {"package": f"{name}@{VERSION}", "args": args, "env": {"TINY_MODE": "acp"}}
    entry = {"id": "tiny", "version": VERSION, "distribution": {"npx": package}}
    launch = Registry.parse(json.dumps({"agents": [entry]})).resolve("tiny", allow_env=["TINY_MODE"])
    with npm_registry() as address:
        npm = {"npm_config_registry": address, "npm_config_cache": str(tmp_path), "npm_config_update_notifier": "false"}
        options = Options(stderr="capture")
        command = launch.command, *launch.args
        with spawn_agent(*command, env={**launch.env, **npm}, cwd=tmp_path, options=options) as agent:
            assert json.loads(agent.open_session().ask("hello")) == [*args, "acp"]
