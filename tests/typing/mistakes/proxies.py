"""Mistakes in calls to the peer."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from acp_bindings import v1, v2_draft

TEXT = v1.ContentBlockText(text="a")


async def keywords(agent: v1.RemoteAgent, client: v1.RemoteClient) -> None:
    await agent.session_new(cwd="/work", mcp_servers=[], colour="red")  # type: ignore
    await agent.session_new(cwd="/work", mcpServers=[])  # type: ignore
    await agent.session_new(cwd="/work")  # type: ignore
    await agent.session_new("/work", [])  # type: ignore
    await agent.session_new(cwd=None, mcp_servers=[])  # type: ignore
    await agent.session_new(cwd="/work", mcp_servers=None)  # type: ignore
    await agent.session_new(cwd="/work", mcp_servers=[], additional_directories=None)  # type: ignore
    await agent.session_new(cwd="/work", mcp_servers=["files"])  # type: ignore
    await agent.session_new(cwd="/work", mcp_servers=[], _meta={})  # type: ignore
    await agent.session_prompt(session_id="1", prompt="hello")  # type: ignore
    await agent.session_prompt(session_id="1", prompt=[v2_draft.ContentBlockText(text="a")])  # type: ignore
    await agent.session_prompt(v1.PromptRequest(session_id="1", prompt=[TEXT]))  # type: ignore
    await agent.initialize(protocol_version=1, client_capabilities=None)  # type: ignore
    await agent.session_set_config_option(session_id="1", config_id="a", value=True)  # type: ignore
    await agent.session_set_config_option(session_id="1", config_id="a", type="boolean", value="yes")  # type: ignore
    await agent.session_set_config_option(session_id="1", config_id="a", type="bool", value=True)  # type: ignore
    await client.session_update(session_id="1", update=TEXT)  # type: ignore
    await client.session_update(session_id="1", update=v1.SessionUpdateAgentMessageChunk(content="a"))  # type: ignore
    await client.terminal_create(session_id="1", command="ls", args=None)  # type: ignore


async def methods(agent: v1.RemoteAgent, client: v1.RemoteClient, draft: v2_draft.RemoteAgent) -> None:
    await client.session_prompt(session_id="1", prompt=[TEXT])  # type: ignore
    await agent.session_update(session_id="1", update=v1.SessionUpdateAgentMessageChunk(content=TEXT))  # type: ignore
    await agent.fs_read_text_file(session_id="1", path="/a")  # type: ignore
    await agent.sessionPrompt(session_id="1", prompt=[TEXT])  # type: ignore
    await agent.mcp_message(connection_id="1", method="a")  # type: ignore
    await draft.session_load(session_id="1", cwd="/work", mcp_servers=[])  # type: ignore


async def ready_made(agent: v1.RemoteAgent, client: v1.RemoteClient, draft: v2_draft.RemoteAgent) -> None:
    await agent.request(v1.ReadTextFileRequest(session_id="1", path="/a"))  # type: ignore
    await client.request(v1.NewSessionRequest(cwd="/work", mcp_servers=[]))  # type: ignore
    await draft.request(v1.NewSessionRequest(cwd="/work", mcp_servers=[]))  # type: ignore
    await agent.request(v1.CancelNotification(session_id="1"))  # type: ignore
    await agent.notify(v1.NewSessionRequest(cwd="/work", mcp_servers=[]))  # type: ignore
    await agent.notify(v1.SessionNotification(session_id="1", update=v1.SessionUpdateAgentMessageChunk(content=TEXT)))  # type: ignore
    await agent.request(v1.PromptResponse(stop_reason="end_turn"))  # type: ignore
    await agent.request({"cwd": "/work"})  # type: ignore
    await agent.request("session/new")  # type: ignore
    session: v1.PromptResponse = await agent.request(v1.NewSessionRequest(cwd="/work", mcp_servers=[]))  # type: ignore
    print(session)


async def results(agent: v1.RemoteAgent, client: v1.RemoteClient) -> None:
    agent.session_cancel(session_id="1")  # type: ignore
    client.session_update(session_id="1", update=v1.SessionUpdateAgentMessageChunk(content=TEXT))  # type: ignore
    agent.session_new(cwd="/work", mcp_servers=[])  # type: ignore
    agent.request(v1.NewSessionRequest(cwd="/work", mcp_servers=[]))  # type: ignore
    forgotten = agent.session_new(cwd="/work", mcp_servers=[])
    print(forgotten.session_id)  # type: ignore
    wrong: v1.NewSessionResponse = agent.session_new(cwd="/work", mcp_servers=[])  # type: ignore
    session = await agent.session_new(cwd="/work", mcp_servers=[])
    print(wrong, session.sessionId)  # type: ignore
    print(session["session_id"])  # type: ignore
    turn = await agent.session_prompt(session_id=session, prompt=[TEXT])  # type: ignore
    print(turn.result)  # type: ignore
    if turn.stop_reason == "stop":  # type: ignore
        print(turn)
    nothing: str = await agent.session_cancel(session_id="1")  # type: ignore
    print(nothing)
