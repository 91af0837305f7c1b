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

pytestmark = pytest.mark.slow


def test_an_agent_is_started_with_its_arguments_and_variables(tmp_path: Path) -> None:
    if shutil.which("npx") is None:
        skip_or_fail("peers", "npx is needed.")
    args = ["--acp", "--registry=https://evil.example", "a b", "$HOME"]
    package = {"package": f"{NAME}@{VERSION}", "args": args, "env": {"TINY_MODE": "acp", "NODE_OPTIONS": "--evil"}}
    entry = {"id": "tiny", "version": VERSION, "distribution": {"npx": package}}
    launch = Registry.parse(json.dumps({"agents": [entry]})).resolve("tiny")
    with npm_registry() as address:
        npm = {"npm_config_registry": address, "npm_config_cache": str(tmp_path), "npm_config_update_notifier": "false"}
        options = Options(stderr="capture")
        command = launch.command, *launch.args
        with spawn_agent(*command, env={**launch.env, **npm}, cwd=tmp_path, options=options) as agent:
            assert json.loads(agent.open_session().ask("hello")) == [*args, "acp"]


def test_a_package_is_not_taken_for_an_installed_program_of_the_same_name(tmp_path: Path) -> None:
    if shutil.which("npx") is None:
        skip_or_fail("peers", "npx is needed.")
    args = ["-c", "exit 1"]
    entry = {"id": "sh", "version": VERSION, "distribution": {"npx": {"package": "sh", "args": args}}}
    launch = Registry.parse(json.dumps({"agents": [entry]})).resolve("sh")
    with npm_registry() as address:  # where the agent has any name
        npm = {"npm_config_registry": address, "npm_config_cache": str(tmp_path), "npm_config_update_notifier": "false"}
        command = launch.command, *launch.args
        with spawn_agent(*command, env=npm, cwd=tmp_path, options=Options(stderr="capture")) as agent:
            assert json.loads(agent.open_session().ask("hello"))[:2] == args
