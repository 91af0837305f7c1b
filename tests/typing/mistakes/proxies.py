"""Mistakes in calls to the peer."""

from __future__ import annotations

from acp_bindings import v2_draft
from acp_bindings.v1 import (
    CancelNotification,
    ContentBlockText,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    ReadTextFileRequest,
    RemoteAgent,
    RemoteClient,
    SessionNotification,
    SessionUpdateAgentMessageChunk,
)

TEXT = ContentBlockText(text="a")


async def keywords(agent: RemoteAgent, client: RemoteClient) -> None:
    await agent.session_new(cwd="/work", mcp_servers=[], colour="red")  # E
    await agent.session_new(cwd="/work", mcpServers=[])  # E
    await agent.session_new(cwd="/work")  # E
    await agent.session_new("/work", [])  # E
    await agent.session_new(cwd=None, mcp_servers=[])  # E
    await agent.session_new(cwd="/work", mcp_servers=None)  # E
    await agent.session_new(cwd="/work", mcp_servers=[], additional_directories=None)  # E
    await agent.session_new(cwd="/work", mcp_servers=["files"])  # E
    await agent.session_new(cwd="/work", mcp_servers=[], _meta={})  # E
    await agent.session_prompt(session_id="1", prompt="hello")  # E
    await agent.session_prompt(session_id="1", prompt=[v2_draft.ContentBlockText(text="a")])  # E
    await agent.session_prompt(PromptRequest(session_id="1", prompt=[TEXT]))  # E
    await agent.initialize(protocol_version=1, client_capabilities=None)  # E
    await agent.session_set_config_option(session_id="1", config_id="a", value=True)  # E
    await agent.session_set_config_option(session_id="1", config_id="a", type="boolean", value="yes")  # E
    await agent.session_set_config_option(session_id="1", config_id="a", type="bool", value=True)  # E
    await client.session_update(session_id="1", update=TEXT)  # E
    await client.session_update(session_id="1", update=SessionUpdateAgentMessageChunk(content="a"))  # E
    await client.terminal_create(session_id="1", command="ls", args=None)  # E


async def methods(agent: RemoteAgent, client: RemoteClient, draft: v2_draft.RemoteAgent) -> None:
    await client.session_prompt(session_id="1", prompt=[TEXT])  # E
    await agent.session_update(session_id="1", update=SessionUpdateAgentMessageChunk(content=TEXT))  # E
    await agent.fs_read_text_file(session_id="1", path="/a")  # E
    await agent.sessionPrompt(session_id="1", prompt=[TEXT])  # E
    await agent.mcp_message(connection_id="1", method="a")  # E
    await draft.session_load(session_id="1", cwd="/work", mcp_servers=[])  # E


async def ready_made(agent: RemoteAgent, client: RemoteClient, draft: v2_draft.RemoteAgent) -> None:
    await agent.request(ReadTextFileRequest(session_id="1", path="/a"))  # E
    await client.request(NewSessionRequest(cwd="/work", mcp_servers=[]))  # E
    await draft.request(NewSessionRequest(cwd="/work", mcp_servers=[]))  # E
    await agent.request(CancelNotification(session_id="1"))  # E
    await agent.notify(NewSessionRequest(cwd="/work", mcp_servers=[]))  # E
    await agent.notify(SessionNotification(session_id="1", update=SessionUpdateAgentMessageChunk(content=TEXT)))  # E
    await agent.request(PromptResponse(stop_reason="end_turn"))  # E
    await agent.request({"cwd": "/work"})  # E
    await agent.request("session/new")  # E
    session: PromptResponse = await agent.request(NewSessionRequest(cwd="/work", mcp_servers=[]))  # E
    print(session)


async def results(agent: RemoteAgent, client: RemoteClient) -> None:
    agent.session_cancel(session_id="1")  # E
    client.session_update(session_id="1", update=SessionUpdateAgentMessageChunk(content=TEXT))  # E
    agent.session_new(cwd="/work", mcp_servers=[])  # E
    agent.request(NewSessionRequest(cwd="/work", mcp_servers=[]))  # E
    forgotten = agent.session_new(cwd="/work", mcp_servers=[])
    print(forgotten.session_id)  # E
    wrong: NewSessionResponse = agent.session_new(cwd="/work", mcp_servers=[])  # E
    session = await agent.session_new(cwd="/work", mcp_servers=[])
    print(wrong, session.sessionId)  # E
    print(session["session_id"])  # E
    turn = await agent.session_prompt(session_id=session, prompt=[TEXT])  # E
    print(turn.result)  # E
    if turn.stop_reason == "stop":  # E
        print(turn)
    nothing = await agent.session_cancel(session_id="1")  # E: mypy
    print(nothing)
