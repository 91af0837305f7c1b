"""An agent of the kit creates and replaces a file under every client, also under those that refuse to read it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from tests.support.interop.writing import PEERS, under_acpx, under_sdk, under_terminal_client, written
from tests.support.third_party import (
    NEXT_PYTHON_SDK,
    PYTHON_SDK,
    UnavailableError,
    acpx,
    python_in,
    python_sdk,
    skip_without,
    typescript_sdk,
)

pytestmark = pytest.mark.xdist_group("their clients")


def _python(requirement: str) -> Callable[..., Awaitable[None]]:
    return partial(under_sdk, [str(python_in(python_sdk(requirement))), str(PEERS / "python_client.py")])


def _typescript() -> Callable[..., Awaitable[None]]:
    return partial(under_sdk, ["node", str(PEERS / "typescript_client.mjs"), str(typescript_sdk())])


CLIENTS: dict[str, Callable[[], Callable[..., Awaitable[None]]]] = {
    "acpx": lambda: partial(under_acpx, acpx("acpx")),
    "acpx before": lambda: partial(under_acpx, acpx("acpx-before")),
    "Python SDK": lambda: _python(PYTHON_SDK),
    "next Python SDK": lambda: _python(NEXT_PYTHON_SDK),
    "TypeScript SDK": _typescript,
    "terminal client": lambda: under_terminal_client,
}
# How each client answers the read of a missing file, how a read that it refuses, and what the user sees then.
TABLE: dict[str, tuple[int, int, str]] = {
    "acpx": (-32002, -32603, "can't be shown: Internal error (-32603): EACCES: permission denied"),
    "acpx before": (-32603, -32603, "can't be shown: Internal error (-32603): EACCES: permission denied"),
    "Python SDK": (-32603, -32603, "old\n"),
    "next Python SDK": (-32603, -32603, "old\n"),
    "TypeScript SDK": (-32603, -32603, "old\n"),
    "terminal client": (-32002, -32602, "is not utf-8 text"),
}


@pytest.mark.parametrize("case", ["new file", "overwrite", "refused read"])
@pytest.mark.parametrize("client", CLIENTS)
async def test_an_agent_writes_a_file_after_asking_once(client: str, case: str, tmp_path: Path) -> None:
    try:
        write = CLIENTS[client]()
    except UnavailableError as reason:
        skip_without(f"{client} can't be installed", reason)
    log, file = tmp_path / "messages.jsonl", tmp_path / "project" / "notes.txt"
    file.parent.mkdir()
    if case != "new file":
        file.write_text("old\n", "utf-8")

    await write(file, log, refused=case == "refused read")

    found = written(log, file)
    print(f"| {client} | {case} | {found} |")  # noqa: T201
    missing, refused, shown = TABLE[client]
    assert found.read == {"new file": missing, "overwrite": None, "refused read": refused}[case]
    assert (found.asked, found.status, found.content) == (1, "completed", "new\n")
    if case == "refused read":
        assert found.shown is not None
        assert shown in found.shown
    else:
        assert found.shown == {"new file": None, "overwrite": "old\n"}[case]
