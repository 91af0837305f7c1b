"""The agent of the contract (`contract.py`), written with the official Python SDK."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import acp
from acp import RequestError, schema

SCRIPT: dict[str, Any] = json.loads(Path(__file__).with_name("..").joinpath("script.json").read_text("utf-8"))

# By method: its name in the SDK, and the model of its params.
CALLS: dict[str, tuple[str, type[Any]]] = {
    "fs/read_text_file": ("read_text_file", schema.ReadTextFileRequest),
    "fs/write_text_file": ("write_text_file", schema.WriteTextFileRequest),
    "session/request_permission": ("request_permission", schema.RequestPermissionRequest),
    "terminal/create": ("create_terminal", schema.CreateTerminalRequest),
    "terminal/output": ("terminal_output", schema.TerminalOutputRequest),
    "terminal/wait_for_exit": ("wait_for_terminal_exit", schema.WaitForTerminalExitRequest),
    "terminal/kill": ("kill_terminal", schema.KillTerminalRequest),
    "terminal/release": ("release_terminal", schema.ReleaseTerminalRequest),
}


class ScriptedAgent(acp.Agent):
    client: acp.Client

    def __init__(self) -> None:
        self.authenticated = False
        self.notifications: list[Any] = []
        self.options: dict[str, Any] = {option["id"]: option["currentValue"] for option in SCRIPT["configOptions"]}
        self.known = {session["sessionId"] for session in SCRIPT["sessions"]}
        self.cancelled: dict[str, asyncio.Event] = {}

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: Any = None, client_info: Any = None, **meta: Any
    ) -> schema.InitializeResponse:
        capabilities = copy.deepcopy(SCRIPT["agentCapabilities"])
        if not hasattr(acp.Agent, "delete_session"):
            del capabilities["sessionCapabilities"]["delete"]  # version 0.12.1 has no handler for it
        received = {"clientCapabilities": _plain(client_capabilities), "clientInfo": _plain(client_info)}
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_info=schema.Implementation.model_validate(SCRIPT["agentInfo"]),
            agent_capabilities=schema.AgentCapabilities.model_validate(capabilities),
            auth_methods=[schema.AuthMethodAgent.model_validate(method) for method in SCRIPT["authMethods"]],
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
        if cwd == "/locked" and not self.authenticated:
            raise RequestError.auth_required({"methods": ["login"]})
        return schema.NewSessionResponse.model_validate(
            {
                "sessionId": "new",
                "modes": SCRIPT["modes"],
                "configOptions": self._config_options(),
                "_meta": {"received": {"cwd": cwd, "mcpServers": [_plain(server) for server in mcp_servers or []]}},
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
        sessions = [
            schema.SessionInfo.model_validate(session)
            for session in SCRIPT["sessions"]
            if session["sessionId"] in self.known
        ]
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

    async def delete_session(self, session_id: str, **meta: Any) -> Any:
        self._check_known(session_id)
        self.known.remove(session_id)

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
        cancelled = self.cancelled[session_id] = asyncio.Event()
        self.terminal, results = "", []
        for action in json.loads(prompt[0].text):
            if (result := await self._act(action, session_id, prompt)) is not None:
                results.append(result)
        if results:
            content = {"type": "text", "text": json.dumps(results)}
            await self._update(session_id, {"sessionUpdate": "agent_message_chunk", "content": content})
        return {"stopReason": "cancelled" if cancelled.is_set() else "end_turn", "future": {"deep": [1, None]}}

    async def _act(self, action: dict[str, Any], session_id: str, prompt: list[Any]) -> Any:
        match action:
            case {"call": method, "params": params}:
                try:
                    return {"result": await self._call(method, params, session_id)}
                except RequestError as error:
                    return {"error": {"code": error.code, "message": str(error), "data": error.data}}
            case {"notify": "session/update", "params": params}:
                await self._update(session_id, params["update"])
            case {"notify": method, "params": params}:
                await self.client.ext_notification(method[1:], params)
            case {"dump": _}:
                return [_plain(block) for block in prompt]
            case {"wait": _}:
                await self.cancelled[session_id].wait()
            case {"raise": error}:
                raise RequestError(**error)
            case {"crash": text}:
                raise RuntimeError(text)
        return None

    async def _call(self, method: str, params: Any, session_id: str) -> Any:
        if method.startswith("_"):
            return await self.client.ext_method(method[1:], params)
        if method == "elicitation/create":
            form = {"sessionId": session_id, "requestedSchema": params["requestedSchema"]}
            mode = schema.ElicitationFormSessionMode.model_validate(form)
            return _plain(await self.client.create_elicitation(params["message"], mode))
        own = {key: self.terminal if value == "$terminal" else value for key, value in params.items()}
        name, model = CALLS[method]
        request = model.model_validate({"sessionId": session_id, **own})
        given = {field: getattr(request, field) for field in request.model_fields_set}
        result = _plain(await getattr(self.client, name)(**given) or {})
        self.terminal = result.get("terminalId", self.terminal)
        return result

    async def cancel(self, session_id: str, **meta: Any) -> None:
        self.cancelled[session_id].set()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method != "interop/echo":
            raise RequestError.method_not_found(f"_{method}")
        return {"method": f"_{method}", "params": params, "notifications": self.notifications}

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.notifications.append([f"_{method}", params])

    async def _update(self, session_id: str, update: Any) -> None:
        built = schema.SessionNotification.model_validate({"sessionId": session_id, "update": update})
        await self.client.session_update(session_id, built.update)

    def _config_options(self) -> list[Any]:
        return [{**option, "currentValue": self.options[option["id"]]} for option in SCRIPT["configOptions"]]

    def _check_known(self, session_id: str) -> None:
        if session_id not in self.known:
            raise RequestError(-32002, "Resource not found", {"sessionId": session_id})


def _plain(model: Any) -> Any:
    return model and model.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)


if __name__ == "__main__":
    asyncio.run(acp.run_agent(ScriptedAgent(), use_unstable_protocol=True))
