"""Turns work with a client of `v1_unstable`, also with models of v1, such as those that `acp_kit.content` makes."""

from __future__ import annotations

from typing import Any

from acp_bindings import v1, v1_unstable
from acp_kit import content
from acp_kit.agent import Sessions


class Agent(v1_unstable.Agent):
    def __init__(self, client: v1_unstable.RemoteClient) -> None:
        self.client: Any = client
        self.sessions = Sessions()

    async def initialize(self, request: v1_unstable.InitializeRequest) -> v1_unstable.InitializeResponse:
        return v1_unstable.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1_unstable.NewSessionRequest) -> v1_unstable.NewSessionResponse:
        return v1_unstable.NewSessionResponse(session_id=self.sessions.create(self.client, cwd=request.cwd).id)

    async def session_prompt(self, request: v1_unstable.PromptRequest) -> v1_unstable.PromptResponse:
        prompt: Any = request.prompt
        async with self.sessions[request.session_id].turn(prompt) as turn:
            await turn.say(content.text("a"))
            await turn.plan(v1.PlanEntry(content="b", priority="low", status="pending"))
            async with turn.tool_call("c", locations=[v1.ToolCallLocation(path="/d")]) as call:
                await call.ask([v1.PermissionOption(option_id="e", name="E", kind="allow_once")])
                call.output(content.text("f"), content.diff("/g", None, "h"))
            await turn.send(v1.SessionUpdateAgentMessageChunk(content=content.text("i")))
        response: Any = turn.response
        return response


class Client(v1_unstable.Client):
    def __init__(self, agent: v1_unstable.RemoteAgent) -> None:
        self.updates: list[str] = []

    async def session_update(self, notification: v1_unstable.SessionNotification) -> None:
        self.updates.append(notification.update.session_update)

    async def session_request_permission(
        self, request: v1_unstable.RequestPermissionRequest
    ) -> v1_unstable.RequestPermissionResponse:
        outcome = v1_unstable.RequestPermissionOutcomeSelected(option_id=request.options[0].option_id)
        return v1_unstable.RequestPermissionResponse(outcome=outcome)


async def test_a_turn_with_a_client_of_the_unstable_profile() -> None:
    async with v1_unstable.connect_in_process(Agent, Client) as agent:
        await agent.initialize(protocol_version=1)
        session = await agent.session_new(cwd="/work", mcp_servers=[])
        peer: Any = agent
        prompt: Any = content.prompt_for(peer, [content.text("hi")])
        assert (await agent.session_prompt(session_id=session.session_id, prompt=prompt)).stop_reason == "end_turn"
        client: Any = agent.handler
        assert client.updates == [
            "agent_message_chunk",
            "plan",
            "tool_call",
            "tool_call_update",
            "tool_call_update",
            "agent_message_chunk",
        ]
