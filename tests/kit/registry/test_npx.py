"""The real npx starts an agent of the registry, from a package registry of the test."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from acp_kit.registry import Registry
from tests.support.programs import run_command
from tests.support.skipping import skip_or_fail

pytestmark = [pytest.mark.test_all, pytest.mark.slow]

NAME, VERSION = "@example/tiny-agent", "1.2.3"
PROGRAM = "#!/usr/bin/env node\nconsole.log(JSON.stringify([...process.argv.slice(2), process.env.TINY_MODE]));\n"
ARGS = ["--acp", "--registry=https://evil.example", "a b", "$HOME"]
SH = ["-c", "exit 1"]  # of an installed program, which must not be taken for the package of the same name


@pytest.fixture
def npm_registry(tmp_path: Path) -> Iterator[str]:
    """The address of a registry with one package, which is published under two names."""
    served = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "registry"))
    with ThreadingHTTPServer(("127.0.0.1", 0), served) as server:
        address = f"http://127.0.0.1:{server.server_port}/"
        for name in (NAME, "sh"):
            publish(tmp_path / "registry", name, address)
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield address
        server.shutdown()
        thread.join()


def publish(registry: Path, name: str, address: str) -> None:
    about = {"name": name, "version": VERSION, "bin": {"tiny-agent": "agent.js"}}
    package = registry / "package"
    package.mkdir(parents=True, exist_ok=True)
    (package / "package.json").write_text(json.dumps(about))
    (package / "agent.js").write_text(PROGRAM)
    file = f"{name.replace('/', '-')}.tgz"
    with tarfile.open(registry / file, "w:gz") as archive:
        archive.add(package, "package")
    versions = {VERSION: {**about, "dist": {"tarball": address + file}}}
    (registry / name).parent.mkdir(exist_ok=True)
    (registry / name).write_text(json.dumps({"name": name, "versions": versions}))


@pytest.mark.parametrize(("name", "args"), [(NAME, ARGS), ("sh", SH)])
def test_npx_runs_the_package_with_its_arguments_and_variables(
    name: str, args: list[str], npm_registry: str, tmp_path: Path
) -> None:
    if shutil.which("npx") is None:
        skip_or_fail("peers", "npx is needed.")
    package = {"package": f"{name}@{VERSION}", "args": args, "env": {"TINY_MODE": "acp"}}
    entry = {"id": "tiny", "version": VERSION, "distribution": {"npx": package}}
    launch = Registry.parse(json.dumps({"agents": [entry]})).resolve("tiny", allow_env=["TINY_MODE"])
    npm = {
        "npm_config_registry": npm_registry,
        "npm_config_cache": str(tmp_path / "cache"),
        "npm_config_update_notifier": "false",
    }
    printed = run_command(launch.command, *launch.args, cwd=tmp_path, **launch.env, **npm)
    assert json.loads(printed) == [*args, "acp"]
