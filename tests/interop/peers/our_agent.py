"""The agent of the contract, written with this package. Those written with other SDKs do the same.

`contract.py` says what prompts make it do, and `script.json` contains the data.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from acp_bindings import v1
from acp_bindings.v1.methods import CLIENT_REQUESTS
from acp_runtime import AuthenticationRequired, InvalidParams, RequestError, ResourceNotFound

SCRIPT: dict[str, Any] = json.loads(Path(__file__).with_name("..").joinpath("script.json").read_text("utf-8"))


class ScriptedAgent(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.authenticated = False
        self.notifications: list[Any] = []
        self.options: dict[str, Any] = {option["id"]: option["currentValue"] for option in SCRIPT["configOptions"]}
        self.known = {session["sessionId"] for session in SCRIPT["sessions"]}

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(
            protocol_version=request.protocol_version,
            agent_info=v1.Implementation.model_validate(SCRIPT["agentInfo"]),
            agent_capabilities=v1.AgentCapabilities.model_validate(SCRIPT["agentCapabilities"]),
            auth_methods=[v1.AuthMethodAgent.model_validate(method) for method in SCRIPT["authMethods"]],
            meta={"received": _plain(request)},
        )

    async def authenticate(self, request: v1.AuthenticateRequest) -> v1.AuthenticateResponse:
        if request.method_id != "login":
            raise InvalidParams(data={"methodId": request.method_id})
        self.authenticated = True
        return v1.AuthenticateResponse()

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        if request.cwd == "/locked" and not self.authenticated:
            raise AuthenticationRequired(data={"methods": ["login"]})
        return v1.NewSessionResponse.model_validate(
            {
                "sessionId": "new",
                "modes": SCRIPT["modes"],
                "configOptions": self._config_options(),
                "_meta": {"received": _plain(request)},
            }
        )

    async def session_load(self, request: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        self._check_known(request.session_id)
        for update in SCRIPT["history"]:
            await self._update(request.session_id, update)
        return v1.LoadSessionResponse.model_validate({"modes": SCRIPT["modes"]})

    async def session_list(self, request: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        sessions = [
            v1.SessionInfo.model_validate(session)
            for session in SCRIPT["sessions"]
            if session["sessionId"] in self.known
        ]
        if request.cursor is None:
            return v1.ListSessionsResponse(sessions=sessions[:1], next_cursor="more")
        return v1.ListSessionsResponse(sessions=sessions[1:])

    async def session_resume(self, request: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
        self._check_known(request.session_id)
        return v1.ResumeSessionResponse.model_validate({"modes": SCRIPT["modes"]})

    async def session_close(self, request: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
        self._check_known(request.session_id)
        return v1.CloseSessionResponse()

    async def session_delete(self, request: v1.DeleteSessionRequest) -> v1.DeleteSessionResponse:
        self._check_known(request.session_id)
        self.known.remove(request.session_id)
        return v1.DeleteSessionResponse()

    async def session_set_mode(self, request: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
        update = v1.SessionUpdateCurrentModeUpdate(current_mode_id=request.mode_id)
        await self.client.session_update(session_id=request.session_id, update=update)
        return v1.SetSessionModeResponse()

    async def session_set_config_option(
        self, request: v1.SetSessionConfigOptionRequest
    ) -> v1.SetSessionConfigOptionResponse:
        expected = bool if isinstance(request, v1.SetSessionConfigOptionRequestBoolean) else str
        if not isinstance(self.options.get(request.config_id), expected):
            raise InvalidParams(data={"configId": request.config_id})
        self.options[request.config_id] = request.value
        return v1.SetSessionConfigOptionResponse.model_validate({"configOptions": self._config_options()})

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        assert isinstance(request.prompt[0], v1.ContentBlockText)
        self.terminal, results = "", []
        for action in json.loads(request.prompt[0].text):
            if (result := await self._act(action, request)) is not None:
                results.append(result)
        if results:
            content = {"type": "text", "text": json.dumps(results)}
            await self._update(request.session_id, {"sessionUpdate": "agent_message_chunk", "content": content})
        return v1.PromptResponse.model_validate({"stopReason": "end_turn", "future": {"deep": [1, None]}})

    async def _act(self, action: dict[str, Any], request: v1.PromptRequest) -> Any:
        match action:
            case {"call": method, "params": params}:
                return await self._call(method, params, request.session_id)
            case {"notify": "session/update", "params": params}:
                await self._update(request.session_id, params["update"])
            case {"notify": method, "params": params}:
                await self.client.ext_notification(method, params)
            case {"dump": _}:
                return _plain(request)["prompt"]
            case {"wait": _}:
                await asyncio.Event().wait()
            case {"raise": error}:
                raise RequestError(**error)
            case {"crash": text}:
                raise RuntimeError(text)
        return None

    async def _call(self, method: str, params: Any, session_id: str) -> Any:
        try:
            if method not in CLIENT_REQUESTS:
                return {"result": await self.client.ext_request(method, params)}
            own = {key: self.terminal if value == "$terminal" else value for key, value in params.items()}
            model = TypeAdapter(CLIENT_REQUESTS[method].params_type)
            result = await self.client.request(model.validate_python({"sessionId": session_id, **own}))
        except RequestError as error:
            return {"error": {"code": error.code, "message": error.message, "data": error.data}}
        if isinstance(result, v1.CreateTerminalResponse):
            self.terminal = result.terminal_id
        return {"result": _plain(result)}

    async def ext_request(self, method: str, params: Any) -> Any:
        if method != "_interop/echo":
            return await super().ext_request(method, params)
        return {"method": method, "params": params, "notifications": self.notifications}

    async def ext_notification(self, method: str, params: Any) -> None:
        self.notifications.append([method, params])

    async def _update(self, session_id: str, update: Any) -> None:
        await self.client.notify(v1.SessionNotification.model_validate({"sessionId": session_id, "update": update}))

    def _config_options(self) -> list[Any]:
        return [{**option, "currentValue": self.options[option["id"]]} for option in SCRIPT["configOptions"]]

    def _check_known(self, session_id: str) -> None:
        if session_id not in self.known:
            raise ResourceNotFound(data={"sessionId": session_id})


def _plain(model: Any) -> Any:
    return json.loads(model.model_dump_json())


if __name__ == "__main__":
    asyncio.run(v1.serve_stdio(ScriptedAgent))
