"""Fetching with npm: the real one, or a script that behaves like it."""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.__main__ import SCHEMA, main
from tests.support.codegen.build import tree
from tests.support.codegen.pinning import Refused

NpmDoes = Callable[[str], str]
PACKAGE = b'{"name": "@acp/sdk", "version": "9"}'


@pytest.fixture
def npm_does(tmp_path: Path, target: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> NpmDoes:
    """Runs a fetch with a Python script as npm, and returns the message."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(script: str) -> str:
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/npm").write_text(f"#!{sys.executable}\nimport sys\n{script}", "utf-8")
        (tmp_path / "bin/npm").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        return refused("npm:@acp/sdk@9", target)

    return run


NPM_FAILS = {
    "could not get @acp/sdk@9 (ENOTFOUND)": "sys.exit('npm error code ENOTFOUND')",
    "npm has no @acp/sdk@9": "sys.exit('npm error code ETARGET')",
    "could not get @acp/sdk@9 (EINTEGRITY)": "sys.exit('npm error code EINTEGRITY')",
    "0 archives": "pass",
    "2 archives": "open('a.tgz', 'w'); open('b.tgz', 'w')",
    "can't be unpacked": "open('a.tgz', 'wb').write(b'no archive')",
}


@pytest.mark.parametrize(("words", "script"), NPM_FAILS.items(), ids=NPM_FAILS)
def test_a_failure_of_npm_gives_one_line(npm_does: NpmDoes, words: str, script: str) -> None:
    assert words in npm_does(script)


BAD_PACKAGES = {
    "the package '@acp/other'": {"package.json": b'{"name": "@acp/other", "version": "9"}'},
    "package.json is not JSON": {"package.json": b'{"name": "@acp'},
    "There is no schema": {"package.json": PACKAGE, "schema/README.md": b""},
}


@pytest.mark.parametrize(("words", "files"), BAD_PACKAGES.items(), ids=BAD_PACKAGES)
def test_an_invalid_package_gives_one_line(
    tmp_path: Path, npm_does: NpmDoes, words: str, files: dict[str, bytes]
) -> None:
    archived(tmp_path / "bad.tgz", {f"package/{name}": content for name, content in files.items()})
    assert words in npm_does("import shutil; shutil.copy('../bad.tgz', 'a.tgz')")


def test_a_truncated_package_gives_one_line(tmp_path: Path, npm_does: NpmDoes) -> None:
    archived(tmp_path / "whole.tgz", {"package/package.json": PACKAGE, "package/schema/x": os.urandom(9000)})
    copy = "open('a.tgz', 'wb').write(open('../whole.tgz', 'rb').read()[:-4000])"
    assert "can't be unpacked" in npm_does(copy)


def test_npm_is_stopped_at_the_deadline(npm_does: NpmDoes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.pinned.npm.SECONDS", 0.1)
    assert "within 0.1 seconds" in npm_does("import signal; signal.pause()")


@pytest.mark.test_all
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")
def test_npm_without_a_network_gives_one_line(
    tmp_path: Path, target: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{closed.getsockname()[1]}/")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_noproxy", "127.0.0.1")
    closed.close()
    assert "npm could not get @acp/sdk@9 (ECONNREFUSED)" in refused("npm:@acp/sdk@9", target)


def test_a_missing_npm_gives_one_line(
    tmp_path: Path, target: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert "npm is not installed" in refused("npm:@acp/sdk@9", target)


def test_an_archive_with_paths_outside_is_refused(tmp_path: Path, npm_does: NpmDoes) -> None:
    archived(tmp_path / "evil.tgz", {"package/schema/../../../evil": b""})
    assert "can't be unpacked" in npm_does("import shutil; shutil.copy('../evil.tgz', 'a.tgz')")
    assert not (tmp_path / "evil").exists()


def test_a_package_with_too_many_bytes_is_refused(npm_does: NpmDoes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codegen.pinned.npm.MAX_BYTES", 1_000)
    assert "The packed package has more than 1000 bytes" in npm_does("open('a.tgz', 'wb').write(bytes(1001))")


def test_a_package_that_unpacks_to_too_many_bytes_is_refused(
    tmp_path: Path, npm_does: NpmDoes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codegen.pinned.npm.MAX_UNPACKED", 100_000)
    archived(tmp_path / "bomb.tgz", {"package/package.json": PACKAGE, "package/dist/x": bytes(100_000)})
    assert (tmp_path / "bomb.tgz").stat().st_size < 1_000
    assert "unpacked package has more than 100000 bytes" in npm_does("import os; os.rename('../bomb.tgz', 'a.tgz')")


NOT_UTF8 = "sys.stdout.buffer.write(bytes(range(256))); sys.stderr.buffer.write(bytes(range(256)))"


def test_output_of_npm_that_is_not_utf_8_is_a_failure_of_npm(npm_does: NpmDoes) -> None:
    assert "could not get @acp/sdk@9 (no code)" in npm_does(f"{NOT_UTF8}; sys.exit(1)")


BAD_NAMES = ("9`{include}`", "9\n::error::x", "9<script>", "9\u202e", "9" * 300)


@pytest.mark.parametrize("version", BAD_NAMES, ids=ascii)
def test_a_version_with_other_characters_is_refused(tmp_path: Path, npm_does: NpmDoes, version: str) -> None:
    package = json.dumps({"name": "@acp/sdk", "version": version}).encode()
    archived(tmp_path / "bad.tgz", {"package/package.json": package})
    assert "doesn't describe a package" in npm_does("import shutil; shutil.copy('../bad.tgz', 'a.tgz')")


@pytest.mark.test_all
@pytest.mark.slow
@pytest.mark.usefixtures("npm")
@pytest.mark.xdist_group("releases")
def test_npm_has_the_pinned_release(tmp_path: Path) -> None:
    target = tmp_path / "schema"
    source = json.loads((SCHEMA / "PINNED.json").read_bytes())["source"]
    if not source.startswith("npm:"):
        pytest.skip(f"the schema is pinned from {source}")
    assert main(["fetch", source, "--schema", str(target)]) == 0
    assert tree(target) == {name: content for name, content in tree(SCHEMA).items() if name != "README.md"}


@pytest.mark.test_all
@pytest.mark.slow
@pytest.mark.usefixtures("npm")
@pytest.mark.xdist_group("releases")
def test_a_version_that_npm_does_not_have_gives_one_line(target: Path, refused: Refused) -> None:
    assert "npm has no" in refused("npm:@agentclientprotocol/sdk@999.0.0", target)


def archived(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
