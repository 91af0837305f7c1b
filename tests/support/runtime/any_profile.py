"""An agent and a client of a given profile."""

from __future__ import annotations

from typing import Any

PROFILES = ["v1", "v1_unstable", "v2_draft", "v2_draft_unstable"]


def agent_of(acp: Any) -> Any:
    """Return an agent class of a profile."""

    class Echo(acp.Agent):  # type: ignore[misc]
        def __init__(self, client: Any) -> None:
            self.client = client

        async def initialize(self, request: Any, /) -> Any:
            if acp.PROTOCOL_VERSION == 1:
                return acp.InitializeResponse(protocol_version=1)
            info = acp.Implementation(name="echo", version="1")
            capabilities = acp.AgentCapabilities(session=acp.SessionCapabilities())
            return acp.InitializeResponse(protocol_version=2, info=info, capabilities=capabilities)

        async def session_new(self, request: Any, /) -> Any:
            return acp.NewSessionResponse(session_id="s1")

        async def session_prompt(self, request: Any, /) -> Any:
            await self.client.ext_notification("_note", {"sessionId": request.session_id, "n": 1})
            if acp.PROTOCOL_VERSION == 1:
                return acp.PromptResponse(stop_reason="end_turn")
            return acp.PromptResponse(message_id="m")

    return Echo


def client_of(acp: Any, notes: list[Any]) -> Any:
    """Return a client class of a profile. It adds the params of extension notifications to `notes`."""

    class Quiet(acp.Client):  # type: ignore[misc]
        def __init__(self, agent: Any) -> None:
            self.agent = agent

        async def session_update(self, notification: Any, /) -> None:
            raise AssertionError

        async def session_request_permission(self, request: Any, /) -> Any:
            raise AssertionError

        async def ext_notification(self, method: str, params: Any) -> None:
            notes.append(params)

    return Quiet


def opening(acp: Any) -> dict[str, Any]:
    """Return the keywords of `initialize` in a profile."""
    if acp.PROTOCOL_VERSION == 1:
        return {"protocol_version": 1}
    return {"protocol_version": 2, "info": acp.Implementation(name="c", version="1")}
