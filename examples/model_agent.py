"""A coding agent on any OpenAI-compatible endpoint: a tool loop with permission, plan, MCP servers, commands and modes.

    pip install 'acp-bindings[history,mcp]' openai
    OPENAI_API_KEY=... OPENAI_BASE_URL=... MODEL=... python examples/model_agent.py

Sessions are kept in the SQLite file that HISTORY names, by default `model-agent.db` in the user's home folder, and can
be loaded after a restart. In the mode `ask`, the agent asks before it writes a file or runs a command.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from uuid import uuid4

from mcp import MCPError
from openai import AsyncOpenAI

from acp_bindings import v1
from acp_kit.agent import Commands, McpServers, Session, Sessions, Settings, ToolCall, Turn, select
from acp_kit.content import to_text
from acp_kit.history import SqlHistory, replay, to_openai
from acp_runtime import InternalError, RequestError

MODELS = os.environ.get("MODEL", "gpt-4.1").split(",")
MAX_REQUESTS = 50
INSTRUCTIONS = "You are a coding agent. Work in {cwd}. Make a plan for work of several steps, and keep it up to date."


def function(name: str, description: str, **parameters: Any) -> dict[str, Any]:
    """Return a tool as the endpoint wants it. All parameters are required."""
    schema = {"type": "object", "properties": parameters, "required": [*parameters]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TEXT = {"type": "string"}
ENTRY = {
    "type": "object",
    "properties": {"content": TEXT, "status": {"enum": ["pending", "in_progress", "completed"]}},
    "required": ["content", "status"],
}
TOOLS = [
    function("read_file", "Returns the text of a file", path=TEXT),
    function("write_file", "Replaces the text of a file", path=TEXT, content=TEXT),
    function("run", "Runs a shell command and returns its output", command=TEXT),
    function("plan", "Shows the plan to the user", entries={"type": "array", "items": ENTRY}),
]
KINDS: dict[str, v1.ToolKind] = {"read_file": "read", "write_file": "edit", "run": "execute"}
STOP_REASONS: dict[str | None, v1.StopReason] = {"length": "max_tokens", "content_filter": "refusal"}


class Conversation:
    """A session with what the model has seen of it."""

    def __init__(self, session: Session, mcp: McpServers) -> None:
        self.session = session
        self.mcp = mcp
        self.settings = self._settings({})
        self.messages: list[dict[str, Any]] = []
        self.clear()

    def clear(self) -> None:
        """Forget everything but the instructions."""
        self.messages = [{"role": "system", "content": INSTRUCTIONS.format(cwd=self.session.cwd)}]

    def _settings(self, current: dict[str, str | bool]) -> Settings:
        modes = {"ask": "Ask before changes", "auto": "Change without asking"}
        options = [
            select("mode", "Mode", modes, category="mode"),
            select("model", "Model", {name: name for name in MODELS}, category="model"),
        ]
        return Settings(self.session, options, current=current)

    def remember(self, history: list[v1.SessionUpdate]) -> None:
        """Continue with the messages, the tool calls and the settings of a history."""
        self.messages += to_openai(history, images=False)
        for update in history:
            if isinstance(update, v1.SessionUpdateConfigOptionUpdate):
                self.settings = self._settings({option.id: option.current_value for option in update.config_options})


class ModelAgent(v1.Agent):
    """Works on prompts with a language model."""

    def __init__(self, client: v1.RemoteClient, history: SqlHistory, model: AsyncOpenAI) -> None:
        self.client = client
        self.model = model
        self.history = history
        self.sessions = Sessions(record=self.history.append)
        self.conversations: dict[str, Conversation] = {}
        self.commands = Commands()
        self.commands.add("clear", "Lets the model forget the conversation")(self._clear)

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        """Return what this agent can do."""
        return v1.InitializeResponse(
            protocol_version=1,
            agent_info=v1.Implementation(name="model-agent", title="Model example agent", version="1.0.0"),
            agent_capabilities=v1.AgentCapabilities(
                load_session=True,
                prompt_capabilities=v1.PromptCapabilities(embedded_context=True),
                mcp_capabilities=v1.McpCapabilities(http=True),
                session_capabilities=v1.SessionCapabilities(
                    close=v1.SessionCloseCapabilities(), list=v1.SessionListCapabilities()
                ),
            ),
        )

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        """Start a session with the client's MCP servers."""
        session = self.sessions.create(self.client, cwd=request.cwd)
        talk = await self._open(session, request.mcp_servers)
        await self.history.create(session.id, cwd=request.cwd)
        return v1.NewSessionResponse(
            session_id=session.id, modes=talk.settings.modes, config_options=talk.settings.config_options
        )

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        """Continue a session, after a restart too."""
        await replay(self.history, request.session_id, self.client)
        session = self.sessions.create(self.client, cwd=request.cwd, session_id=request.session_id)
        talk = await self._open(session, request.mcp_servers)
        talk.remember([update async for update in self.history.read(session.id)])
        return v1.LoadSessionResponse(modes=talk.settings.modes, config_options=talk.settings.config_options)

    async def session_list(self, request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        """Return the sessions that can be loaded."""
        return await self.history.list(cwd=request.cwd, cursor=request.cursor)

    async def session_close(self, request: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
        """Disconnect from the session's MCP servers. Its turn has been cancelled, and its history stays."""
        await self._close(request.session_id)
        self.sessions.remove(request.session_id)
        return v1.CloseSessionResponse()

    async def session_set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        """Change whether to ask."""
        return await self._conversation(request.session_id).settings.set_mode(request)

    async def session_set_config_option(
        self, request: v1.SetSessionConfigOptionRequest
    ) -> v1.SetSessionConfigOptionResponse:
        """Change the mode or the model."""
        return await self._conversation(request.session_id).settings.set_config_option(request)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        """Run a command, or work on a prompt until the model calls no more tools."""
        async with self.sessions[request.session_id].turn(request.prompt) as turn:
            if not await self.commands.run(turn, request.prompt):
                talk = self._conversation(request.session_id)
                talk.messages.append({"role": "user", "content": to_text(request.prompt)})
                await self._work(turn, talk)
        return turn.response

    def _conversation(self, session_id: str) -> Conversation:
        return self.conversations[self.sessions[session_id].id]

    async def _open(self, session: Session, servers: list[v1.McpServer]) -> Conversation:
        await self._close(session.id)
        mcp = McpServers(http=True)
        await mcp.connect(servers)
        await self.commands.advertise(session)
        talk = self.conversations[session.id] = Conversation(session, mcp)
        return talk

    async def _close(self, session_id: str) -> None:
        if (talk := self.conversations.pop(session_id, None)) is not None:
            await talk.mcp.close()

    async def _clear(self, turn: Turn, text: str) -> None:
        self._conversation(turn.session.id).clear()
        await turn.say("The model has forgotten the conversation.")

    async def _work(self, turn: Turn, talk: Conversation) -> None:
        tools = [*TOOLS, *await mcp_tools(talk.mcp)]
        for _ in range(MAX_REQUESTS):
            calls = await self._ask_model(turn, talk, tools)
            if not calls:
                return
            # The endpoint demands a result for each call, also after a cancelled turn.
            results = ["The user cancelled this."] * len(calls)
            try:
                for place, call in enumerate(calls):
                    results[place] = await self._run(turn, talk, call["function"])
            finally:
                for call, text in zip(calls, results, strict=True):
                    talk.messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        turn.stop_reason = "max_turn_requests"

    async def _ask_model(self, turn: Turn, talk: Conversation, tools: list[Any]) -> list[dict[str, Any]]:
        """Send the conversation to the model, pass its text on, and return the tool calls that it wants."""
        texts: list[str] = []
        calls: dict[int, dict[str, Any]] = {}
        async with aclosing(self._choices(talk, tools)) as choices:
            async for choice in choices:
                if choice.delta.content:
                    texts.append(choice.delta.content)
                    await turn.say(choice.delta.content)
                add_parts(calls, choice.delta.tool_calls or [])
                turn.stop_reason = STOP_REASONS.get(choice.finish_reason, turn.stop_reason)
        wanted = [*calls.values()]
        called = {"tool_calls": wanted} if wanted else {}
        talk.messages.append({"role": "assistant", "content": "".join(texts), **called})
        return wanted

    async def _choices(self, talk: Conversation, tools: list[Any]) -> AsyncGenerator[Any]:
        """Yield the parts of the model's answer. The client is told what is wrong with the endpoint."""
        ask: Any = self.model.chat.completions.create
        try:
            stream = await ask(model=talk.settings["model"], messages=talk.messages, tools=tools, stream=True)
            async with stream:
                async for chunk in stream:
                    for choice in chunk.choices:
                        yield choice
        except Exception as error:  # those of openai, and of the HTTP library that it uses
            raise InternalError(f"The model did not answer: {error}") from error

    async def _run(self, turn: Turn, talk: Conversation, call: dict[str, str]) -> str:
        """Run a tool, and return its result or what went wrong for the model."""
        name = call["name"]
        try:
            given: dict[str, Any] = json.loads(call["arguments"] or "{}")
            if given.__class__ is not dict:
                return "Error: the arguments are not a JSON object"
            if name == "plan":
                await turn.plan(*(v1.PlanEntry(priority="medium", **entry) for entry in given["entries"]))
                return "The user sees the plan."
            paths = [given["path"]] if "path" in given else []
            title = " ".join([name, *(str(value) for key, value in given.items() if key != "content")])
            async with turn.tool_call(
                title, kind=KINDS.get(name, "other"), tool=name, raw_input=given, locations=paths
            ) as tool:
                if name == "write_file":
                    await tool.change(given["path"], given["content"])
                if name != "read_file" and talk.settings.mode == "ask":
                    await tool.ask()
                result = await self._use(turn, talk, tool, name, given)
                tool.output(raw=result)
                return result
        except (RequestError, OSError, ValueError, KeyError, TypeError, MCPError) as error:
            return f"Error: {error}"
        return "The user rejected this."

    async def _use(self, turn: Turn, talk: Conversation, tool: ToolCall, name: str, given: dict[str, Any]) -> str:
        if name == "read_file":
            text = await turn.read_text_file(given["path"])
            tool.output(text)
            return text
        if name == "write_file":
            await turn.write_text_file(given["path"], given["content"])
            return "Written."
        if name == "run":
            done = await turn.run(given["command"], shell=True, timeout=600, call=tool)
            return f"{done.output}\n[exit code {done.exit_code}, signal {done.signal}, timed out: {done.timed_out}]"
        server, _, function_name = name.removeprefix("mcp__").partition("__")
        answer: Any = await talk.mcp[server].call_tool(function_name, given)
        text = "\n".join(getattr(block, "text", f"[{block.type}]") for block in answer.content)
        tool.output(text)
        return text


async def mcp_tools(servers: McpServers) -> list[dict[str, Any]]:
    """Return the tools of MCP servers as the endpoint wants them."""
    return [
        {
            "type": "function",
            "function": {
                "name": f"mcp__{server}__{tool.name}",
                "description": tool.description or "",
                "parameters": tool.input_schema,
            },
        }
        for server, tool in await servers.tools()
    ]


def add_parts(calls: dict[int, dict[str, Any]], parts: list[Any]) -> None:
    """Add parts of streamed tool calls. Each has an id of its own, because servers of models use ids again."""
    for part in parts:
        new = {"id": uuid4().hex, "type": "function", "function": {"name": "", "arguments": ""}}
        call = calls.setdefault(part.index, new)
        call["function"]["name"] += part.function.name or ""
        call["function"]["arguments"] += part.function.arguments or ""


async def main() -> None:
    """Serve one client on stdin and stdout."""
    async with (
        SqlHistory(os.environ.get("HISTORY") or Path.home() / "model-agent.db") as history,
        AsyncOpenAI() as model,
    ):
        await v1.serve_stdio(lambda client: ModelAgent(client, history, model))


if __name__ == "__main__":
    asyncio.run(main())
