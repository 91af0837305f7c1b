"""The programs of the guide: the commands `serve` and `connect`, and the client of a served agent."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.docs.blocks import DOCS, blocks

PAGE = DOCS / "guides" / "remote-agents.md"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="ends the server with SIGTERM")]
INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs of the guide."""
    folder = tmp_path_factory.mktemp("remote")
    for block in blocks(PAGE):
        if block.file_name:
            (folder / block.file_name).write_text(block.text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The host and port of the guide's agent, started by the command."""
    command = [sys.executable, "-u", "-m", "acp_kit.remote", "serve", "remote_agent:EchoAgent", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            line = server.stderr.readline()
            yield line.partition("http://")[2].split()[0]
        finally:
            server.terminate()
            server.stderr.read()


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_the_client_of_the_guide(folder: Path, address: str, scheme: str) -> None:
    command = [sys.executable, "remote_client.py", f"{scheme}://{address}/acp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "agent: Hello\n"


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_the_bridge_answers_what_comes_on_stdin(address: str, scheme: str) -> None:
    command = [sys.executable, "-m", "acp_kit.remote", "connect", f"{scheme}://{address}/acp"]
    done = subprocess.run(command, input=INITIALIZE, capture_output=True, text=True, timeout=60, check=True)
    assert '"protocolVersion":1' in done.stdout
    assert done.stderr == ""


def test_the_bridge_says_why_it_ends_if_nobody_listens() -> None:
    command = [sys.executable, "-m", "acp_kit.remote", "connect", "ws://127.0.0.1:1/acp"]
    done = subprocess.run(command, input=INITIALIZE, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("acp_kit.remote: ")
    assert done.stderr.count("\n") == 1
    assert '"error"' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["remote_agent"], "write module:Class"),
        (["no_such_module:Agent"], "No module named"),
        (["remote_agent:app"], "not a class derived from an Agent"),
        (["remote_agent:EchoAgent", "--host", "0.0.0.0"], "--allow-host"),
    ],
)
def test_the_server_says_what_is_wrong_with_its_arguments(folder: Path, arguments: list[str], reason: str) -> None:
    command = [sys.executable, "-m", "acp_kit.remote", "serve", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
