"""The scripted agent, written with the official Python SDK. It does the same as `our_agent.py`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import acp
from acp import RequestError, schema

SCRIPT: dict[str, Any] = json.loads(Path(__file__).with_name("..").joinpath("script.json").read_text("utf-8"))


class ScriptedAgent(acp.Agent):
    client: acp.Client

    def __init__(self) -> None:
        self.authenticated = "--auth" not in sys.argv
        self.notifications: list[Any] = []
        self.options: dict[str, Any] = {each["id"]: each["currentValue"] for each in SCRIPT["configOptions"]}
        self.known = {each["sessionId"] for each in SCRIPT["sessions"]}
        self.cancelled: dict[str, asyncio.Event] = {}

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: Any = None, client_info: Any = None, **meta: Any
    ) -> schema.InitializeResponse:
        capabilities = {**SCRIPT["agentCapabilities"]}
        capabilities["sessionCapabilities"] = {**capabilities["sessionCapabilities"]}
        del capabilities["sessionCapabilities"]["delete"]  # the SDK has no handler for it
        received = {"clientCapabilities": _plain(client_capabilities), "clientInfo": _plain(client_info)}
        return schema.InitializeResponse(
            protocol_version=7 if "--version-7" in sys.argv else protocol_version,
            agent_info=schema.Implementation.model_validate(SCRIPT["agentInfo"]),
            agent_capabilities=schema.AgentCapabilities.model_validate(capabilities),
            auth_methods=[schema.AuthMethodAgent.model_validate(each) for each in SCRIPT["authMethods"]],
            field_meta={"received": received},
        )

    async def authenticate(self, method_id: str, **meta: Any) -> schema.AuthenticateResponse | None:
        if method_id != "login":
            raise RequestError.invalid_params({"methodId": method_id})
        self.authenticated = True
        return None

    async def new_session(
        self, cwd: str, additional_directories: Any = None, mcp_servers: Any = None, **meta: Any
    ) -> schema.NewSessionResponse:
        if not self.authenticated:
            raise RequestError.auth_required({"methods": ["login"]})
        return schema.NewSessionResponse.model_validate(
            {
                "sessionId": "new",
                "modes": SCRIPT["modes"],
                "configOptions": self._config_options(),
                "_meta": {"received": {"cwd": cwd, "mcpServers": [_plain(each) for each in mcp_servers or []]}},
            }
        )

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, additional_directories: Any = None, **meta: Any
    ) -> schema.LoadSessionResponse | None:
        self._check_known(session_id)
        for update in SCRIPT["history"]:
            await self._update(session_id, update)
        return schema.LoadSessionResponse.model_validate({"modes": SCRIPT["modes"]})

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **meta: Any
    ) -> schema.ListSessionsResponse:
        sessions = [schema.SessionInfo.model_validate(each) for each in SCRIPT["sessions"]]
        if cursor is None:
            return schema.ListSessionsResponse(sessions=sessions[:1], next_cursor="more")
        return schema.ListSessionsResponse(sessions=sessions[1:])

    async def resume_session(
        self, session_id: str, cwd: str, additional_directories: Any = None, mcp_servers: Any = None, **meta: Any
    ) -> schema.ResumeSessionResponse:
        self._check_known(session_id)
        return schema.ResumeSessionResponse.model_validate({"modes": SCRIPT["modes"]})

    async def close_session(self, session_id: str, **meta: Any) -> schema.CloseSessionResponse | None:
        self._check_known(session_id)
        return None

    async def set_session_mode(
        self, session_id: str, mode_id: str, **meta: Any
    ) -> schema.SetSessionModeResponse | None:
        await self._update(session_id, {"sessionUpdate": "current_mode_update", "currentModeId": mode_id})
        return None

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **meta: Any
    ) -> schema.SetSessionConfigOptionResponse | None:
        if type(self.options.get(config_id)) is not type(value):
            raise RequestError.invalid_params({"configId": config_id})
        self.options[config_id] = value
        return schema.SetSessionConfigOptionResponse.model_validate({"configOptions": self._config_options()})

    async def prompt(self, session_id: str, prompt: list[Any], **meta: Any) -> Any:
        command, *words = prompt[0].text.split()
        cancelled = self.cancelled[session_id] = asyncio.Event()
        if command == "dump":
            await self._say(session_id, [_plain(block) for block in prompt])
        else:
            await getattr(self, f"do_{command}")(session_id, *words)
        return {"stopReason": "cancelled" if cancelled.is_set() else "end_turn", "future": {"deep": [1, None]}}

    async def cancel(self, session_id: str, **meta: Any) -> None:
        self.cancelled[session_id].set()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method != "interop/echo":
            raise RequestError.method_not_found(f"_{method}")
        return {"method": f"_{method}", "params": params, "notifications": self.notifications}

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.notifications.append([f"_{method}", params])

    async def do_stream(self, session_id: str, number: str) -> None:
        for each in range(int(number)):
            text = {"type": "text", "text": str(each)}
            await self._update(
                session_id, {"sessionUpdate": "agent_message_chunk", "content": text, "_meta": {"n": each}}
            )

    async def do_wait(self, session_id: str) -> None:
        await self._say(session_id, "waiting")
        await self.cancelled[session_id].wait()

    async def do_permission(self, session_id: str) -> None:
        await self._update(session_id, SCRIPT["toolCall"])
        request = schema.RequestPermissionRequest.model_validate({"sessionId": session_id, **SCRIPT["permission"]})
        response = await self.client.request_permission(
            session_id=session_id, tool_call=request.tool_call, options=request.options
        )
        allowed = isinstance(response.outcome, schema.AllowedOutcome) and response.outcome.option_id == "allow"
        ended = {"toolCallId": "call-1", "status": "completed" if allowed else "failed"}
        await self._update(session_id, {"sessionUpdate": "tool_call_update", **ended})
        await self._say(session_id, _plain(response.outcome))

    async def do_read(self, session_id: str, path: str) -> None:
        try:
            file = await self.client.read_text_file(session_id=session_id, path=path, line=2, limit=1)
            await self._say(session_id, file.content)
        except RequestError as error:
            await self._say(session_id, {"code": error.code, "message": str(error), "data": error.data})

    async def do_write(self, session_id: str, path: str, text: str) -> None:
        await self.client.write_text_file(session_id=session_id, path=path, content=text)
        await self._say(session_id, "written")

    async def do_terminal(self, session_id: str) -> None:
        request = schema.CreateTerminalRequest.model_validate({"sessionId": session_id, **SCRIPT["terminal"]})
        created = await self.client.create_terminal(
            session_id=session_id,
            command=request.command,
            args=request.args,
            env=request.env,
            cwd=request.cwd,
            output_byte_limit=request.output_byte_limit,
        )
        terminal = {"session_id": session_id, "terminal_id": created.terminal_id}
        output = await self.client.terminal_output(**terminal)
        await self.client.kill_terminal(**terminal)
        status = await self.client.wait_for_terminal_exit(**terminal)
        await self.client.release_terminal(**terminal)
        await self._say(session_id, [created.terminal_id, _plain(output), _plain(status)])

    async def do_elicit(self, session_id: str) -> None:
        form = {"sessionId": session_id, "requestedSchema": SCRIPT["form"]["requestedSchema"]}
        mode = schema.ElicitationFormSessionMode.model_validate(form)
        await self._say(session_id, _plain(await self.client.create_elicitation(SCRIPT["form"]["message"], mode)))

    async def do_ext(self, session_id: str) -> None:
        await self.client.ext_notification("interop/note", {"n": 1})
        await self._say(session_id, await self.client.ext_method("interop/ask", {"x": [1, None]}))

    async def do_typed(self, session_id: str) -> None:
        params = {"sessionId": session_id, "numbers": [1, 2, 3]}
        await self.client.ext_notification("interop/adding", params)
        total = await self.client.ext_method("interop/add", params)
        try:
            await self.client.ext_method("interop/add", {**params, "numbers": [1, "two"]})
        except RequestError as error:
            await self._say(session_id, [total, error.code, error.data])

    async def do_unknown(self, session_id: str) -> None:
        try:
            await self.client.ext_method("interop/unknown", {})
        except RequestError as error:
            await self._say(session_id, error.code)

    async def do_error(self, session_id: str) -> None:
        raise RequestError(**SCRIPT["error"])

    async def do_crash(self, session_id: str) -> None:
        raise RuntimeError(SCRIPT["secret"])

    async def _say(self, session_id: str, content: Any) -> None:
        text = content if isinstance(content, str) else json.dumps(content, sort_keys=True)
        content = {"type": "text", "text": text}
        await self._update(session_id, {"sessionUpdate": "agent_message_chunk", "content": content})

    async def _update(self, session_id: str, update: Any) -> None:
        built = schema.SessionNotification.model_validate({"sessionId": session_id, "update": update})
        await self.client.session_update(session_id, built.update)

    def _config_options(self) -> list[Any]:
        return [{**each, "currentValue": self.options[each["id"]]} for each in SCRIPT["configOptions"]]

    def _check_known(self, session_id: str) -> None:
        if session_id not in self.known:
            raise RequestError(-32002, "Resource not found", {"sessionId": session_id})


def _plain(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


if __name__ == "__main__":
    asyncio.run(acp.run_agent(ScriptedAgent(), use_unstable_protocol=True))
