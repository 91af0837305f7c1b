"""Messages take the paths through the files that docs/project/architecture.md shows, and enter no file twice."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import acp_runtime
from acp_bindings.v1 import RemoteAgent, SessionNotification
from tests.support.paths import ROOT
from tests.support.runtime.peer import LINKS, Peer, PlainClient, calling, line, update

RUNTIME = Path(acp_runtime.__file__).parent
FOLDERS = ("stubs", "jsonrpc", "connection")
# See "Files that several steps use" on the page.
SHARED = {
    "jsonrpc/messages.py",
    "jsonrpc/strict_json.py",
    *(f"connection/{name}.py" for name in ("in_flight", "calls", "backpressure", "handler_tasks", "connection")),
}
NOT_STEPS = {"Writer.has_unread_responses", "Writer.is_full", "Reader.resume_soon"}
ROW = re.compile(r"\| \d+ \| `([\w/]+\.py)` \| `([\w.]+)` \|")

Step = tuple[str, str]


def documented(start: str, end: str) -> list[Step]:
    """Return the rows of the page between two texts."""
    page = (ROOT / "docs" / "project" / "architecture.md").read_text("utf-8")
    return ROW.findall(page.split(start)[1].split(end)[0])


class Steps:
    """The calls from one file to another."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.active = False

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        file = Path(frame.f_code.co_filename)
        if event != "call" or not self.active or not file.is_relative_to(RUNTIME):
            return
        if frame.f_back is not None and frame.f_back.f_code.co_filename == frame.f_code.co_filename:
            return
        name, function = file.relative_to(RUNTIME).as_posix(), frame.f_code.co_qualname
        if name.startswith(FOLDERS) and name not in SHARED and function not in NOT_STEPS:
            self.steps.append((name, function))


@contextmanager
def profiled(found: Steps) -> Generator[None]:
    before = sys.getprofile()
    found.active = True
    sys.setprofile(found.profile)
    try:
        yield
    finally:
        sys.setprofile(before)


def assert_once_each(found: list[Step]) -> None:
    files = [file for file, _ in groupby(found, key=lambda step: step[0])]
    assert len(files) == len(set(files)), files


async def test_an_update_takes_the_documented_path_to_its_handler() -> None:
    class Watched(PlainClient):
        async def session_update(self, notification: SessionNotification, /) -> None:
            found.active = False
            handled.set()

    found, handled = Steps(), asyncio.Event()
    async with calling(LINKS["memory"], Watched) as (_, peer):
        # The first update builds models and validators.
        await peer.send(update("s", "1"))
        await peer.until_quiet()
        handled.clear()
        with profiled(found):
            peer.writer.write(line(update("s", "2")))
            await handled.wait()
    assert found.steps == documented("## The path of an incoming message", "## The path of a call")
    assert_once_each(found.steps)


async def test_a_call_and_its_response_take_the_documented_paths() -> None:
    async def prompt(agent: RemoteAgent, peer: Peer, out: Steps, back: Steps) -> None:
        with profiled(out):
            call = asyncio.ensure_future(agent.session_prompt(session_id="s", prompt=[]))
            await asyncio.sleep(0)
        response = {"id": (await peer.receive())["id"], "result": {"stopReason": "end_turn"}}
        with profiled(back):
            peer.writer.write(line(response))
            await call

    out, back = Steps(), Steps()
    async with calling(LINKS["memory"]) as (agent, peer):
        # The first call builds models and validators.
        await prompt(agent, peer, Steps(), Steps())
        await prompt(agent, peer, out, back)
    assert out.steps == documented("## The path of a call", "And back to the caller")
    assert back.steps == documented("And back to the caller", "## Files that several steps use")
    assert_once_each(out.steps)
    assert_once_each(back.steps)
