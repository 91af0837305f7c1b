"""All sessions of an agent are listed, page by page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import list_sessions
from acp_runtime import CapabilityError
from tests.support.kit.turns import Viewer
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import PlainAgent


class Listing(PlainAgent):
    """Answers with these cursors, and a session for each page. Keeps the requests."""

    def __init__(self, client: v1.RemoteClient, *cursors: str | None) -> None:
        super().__init__(client)
        self.cursors = cursors
        self.requests: list[v1.ListSessionsRequest] = []

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        sessions = v1.SessionCapabilities(list=v1.SessionListCapabilities())
        capabilities = v1.AgentCapabilities(session_capabilities=sessions)
        return v1.InitializeResponse(protocol_version=1, agent_capabilities=capabilities)

    async def session_list(self, request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        self.requests.append(request)
        page = len(self.requests)
        session = v1.SessionInfo(session_id=str(page), cwd="/a")
        return v1.ListSessionsResponse(sessions=[session], next_cursor=self.cursors[page - 1])


@pytest.mark.parametrize(
    ("cursors", "asked"),
    [
        ([None], [None]),
        (["b", "c", None], [None, "b", "c"]),
        (["", None], [None, ""]),
        (["b", "b"], [None, "b"]),
        (["b", "c", "b"], [None, "b", "c"]),
    ],
)
async def test_pages_are_requested_until_there_is_no_cursor_or_it_is_repeated(
    cursors: list[Any], asked: list[Any]
) -> None:
    factory = RecordingFactory(lambda client: Listing(client, *cursors))
    async with v1.connect_in_process(factory, Viewer) as agent:
        await agent.initialize(protocol_version=1)
        sessions = [info.session_id async for info in list_sessions(agent, cwd=Path("/a"))]
    requests = factory.handler.requests
    assert sessions == [str(page + 1) for page in range(len(asked))]
    assert [request.cursor for request in requests] == asked
    assert {request.cwd for request in requests} == {"/a"}
    assert "cursor" not in requests[0].model_fields_set


async def test_an_agent_that_lists_no_sessions_is_not_asked() -> None:
    async with v1.connect_in_process(PlainAgent, Viewer) as agent:
        await agent.initialize(protocol_version=1)
        with pytest.raises(CapabilityError, match="list"):
            await anext(list_sessions(agent))
