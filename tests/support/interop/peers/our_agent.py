"""The scripted agent, written with this package. The agents written with other SDKs do the same.

The first word of a prompt names the method to run (`do_...`), and `script.json` contains the data.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from acp_bindings.v1 import (
    Agent,
    AgentCapabilities,
    AuthenticateRequest,
    AuthenticateResponse,
    AuthMethodAgent,
    CloseSessionRequest,
    CloseSessionResponse,
    ContentBlockText,
    CreateElicitationRequestFormSession,
    CreateTerminalRequest,
    DeleteSessionRequest,
    DeleteSessionResponse,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    ListSessionsRequest,
    ListSessionsResponse,
    LoadSessionRequest,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    RemoteClient,
    RequestPermissionOutcomeSelected,
    RequestPermissionRequest,
    ResumeSessionRequest,
    ResumeSessionResponse,
    SessionInfo,
    SessionNotification,
    SessionUpdateAgentMessageChunk,
    SessionUpdateCurrentModeUpdate,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionRequestBoolean,
    SetSessionConfigOptionResponse,
    SetSessionModeRequest,
    SetSessionModeResponse,
    serve_stdio,
)
from acp_runtime import (
    AuthenticationRequired,
    ExtNotification,
    ExtRequest,
    InvalidParams,
    Model,
    RequestError,
    ResourceNotFound,
    handles,
)

SCRIPT: dict[str, Any] = json.loads(Path(__file__).with_name("..").joinpath("script.json").read_text("utf-8"))


class Numbers(Model):
    session_id: str
    numbers: list[int]


class Sum(Model):
    total: int


class AskParams(Model):
    x: list[int | None]


class AskResult(Model):
    asked: bool


class Note(Model):
    n: int


ADD = ExtRequest("_interop/add", Numbers, Sum)
ADDING = ExtNotification("_interop/adding", Numbers)
ASK = ExtRequest("_interop/ask", AskParams, AskResult)
NOTE = ExtNotification("_interop/note", Note)


class ScriptedAgent(Agent):
    def __init__(self, client: RemoteClient) -> None:
        self.client = client
        self.authenticated = "--auth" not in sys.argv
        self.notifications: list[Any] = []
        self.options: dict[str, Any] = {each["id"]: each["currentValue"] for each in SCRIPT["configOptions"]}
        self.known = {each["sessionId"] for each in SCRIPT["sessions"]}

    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=request.protocol_version,
            agent_info=Implementation.model_validate(SCRIPT["agentInfo"]),
            agent_capabilities=AgentCapabilities.model_validate(SCRIPT["agentCapabilities"]),
            auth_methods=[AuthMethodAgent.model_validate(each) for each in SCRIPT["authMethods"]],
            meta={"received": _plain(request)},
        )

    async def authenticate(self, request: AuthenticateRequest) -> AuthenticateResponse:
        if request.method_id != "login":
            raise InvalidParams(data={"methodId": request.method_id})
        self.authenticated = True
        return AuthenticateResponse()

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        if not self.authenticated:
            raise AuthenticationRequired(data={"methods": ["login"]})
        return NewSessionResponse.model_validate(
            {
                "sessionId": "new",
                "modes": SCRIPT["modes"],
                "configOptions": self._config_options(),
                "_meta": {"received": _plain(request)},
            }
        )

    async def session_load(self, request: LoadSessionRequest) -> LoadSessionResponse:
        self._check_known(request.session_id)
        for update in SCRIPT["history"]:
            await self._update(request.session_id, update)
        return LoadSessionResponse.model_validate({"modes": SCRIPT["modes"]})

    async def session_list(self, request: ListSessionsRequest) -> ListSessionsResponse:
        sessions = [SessionInfo.model_validate(each) for each in SCRIPT["sessions"] if each["sessionId"] in self.known]
        if request.cursor is None:
            return ListSessionsResponse(sessions=sessions[:1], next_cursor="more")
        return ListSessionsResponse(sessions=sessions[1:])

    async def session_resume(self, request: ResumeSessionRequest) -> ResumeSessionResponse:
        self._check_known(request.session_id)
        return ResumeSessionResponse.model_validate({"modes": SCRIPT["modes"]})

    async def session_close(self, request: CloseSessionRequest) -> CloseSessionResponse:
        self._check_known(request.session_id)
        return CloseSessionResponse()

    async def session_delete(self, request: DeleteSessionRequest) -> DeleteSessionResponse:
        self._check_known(request.session_id)
        self.known.remove(request.session_id)
        return DeleteSessionResponse()

    async def session_set_mode(self, request: SetSessionModeRequest) -> SetSessionModeResponse:
        update = SessionUpdateCurrentModeUpdate(current_mode_id=request.mode_id)
        await self.client.session_update(session_id=request.session_id, update=update)
        return SetSessionModeResponse()

    async def session_set_config_option(self, request: SetSessionConfigOptionRequest) -> SetSessionConfigOptionResponse:
        expected = bool if isinstance(request, SetSessionConfigOptionRequestBoolean) else str
        if not isinstance(self.options.get(request.config_id), expected):
            raise InvalidParams(data={"configId": request.config_id})
        self.options[request.config_id] = request.value
        return SetSessionConfigOptionResponse.model_validate({"configOptions": self._config_options()})

    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        assert isinstance(request.prompt[0], ContentBlockText)
        command, *words = request.prompt[0].text.split()
        await getattr(self, f"do_{command}")(request, *words)
        return PromptResponse.model_validate({"stopReason": "end_turn", "future": {"deep": [1, None]}})

    async def ext_request(self, method: str, params: Any) -> Any:
        if method != "_interop/echo":
            return await super().ext_request(method, params)
        return {"method": method, "params": params, "notifications": self.notifications}

    async def ext_notification(self, method: str, params: Any) -> None:
        self.notifications.append([method, params])

    @handles(ADD)
    async def add(self, params: Numbers) -> Sum:
        return Sum(total=sum(params.numbers))

    @handles(ADDING)
    async def adding(self, params: Numbers) -> None:
        self.notifications.append([ADDING.wire, params.numbers])

    async def do_stream(self, request: PromptRequest, number: str) -> None:
        for each in range(int(number)):
            text = {"type": "text", "text": str(each), "future": each}
            update = {"sessionUpdate": "agent_message_chunk", "content": text, "_meta": {"n": each}, "tomorrow": [each]}
            await self._update(request.session_id, update)

    async def do_dump(self, request: PromptRequest) -> None:
        await self._say(request, _plain(request)["prompt"])

    async def do_wait(self, request: PromptRequest) -> None:
        await self._say(request, "waiting")
        await asyncio.Event().wait()

    async def do_permission(self, request: PromptRequest) -> None:
        await self._update(request.session_id, SCRIPT["toolCall"])
        params = {"sessionId": request.session_id, **SCRIPT["permission"]}
        outcome = (await self.client.request(RequestPermissionRequest.model_validate(params))).outcome
        allowed = isinstance(outcome, RequestPermissionOutcomeSelected) and outcome.option_id == "allow"
        ended = {"toolCallId": "call-1", "status": "completed" if allowed else "failed"}
        await self._update(request.session_id, {"sessionUpdate": "tool_call_update", **ended})
        await self._say(request, _plain(outcome))

    async def do_read(self, request: PromptRequest, path: str) -> None:
        try:
            file = await self.client.fs_read_text_file(session_id=request.session_id, path=path, line=2, limit=1)
            await self._say(request, file.content)
        except RequestError as error:
            await self._say(request, {"code": error.code, "message": error.message, "data": error.data})

    async def do_write(self, request: PromptRequest, path: str, text: str) -> None:
        await self.client.fs_write_text_file(session_id=request.session_id, path=path, content=text)
        await self._say(request, "written")

    async def do_terminal(self, request: PromptRequest) -> None:
        params = {"sessionId": request.session_id, **SCRIPT["terminal"]}
        id = (await self.client.request(CreateTerminalRequest.model_validate(params))).terminal_id
        terminal = {"session_id": request.session_id, "terminal_id": id}
        output = await self.client.terminal_output(**terminal)
        await self.client.terminal_kill(**terminal)
        status = await self.client.terminal_wait_for_exit(**terminal)
        await self.client.terminal_release(**terminal)
        await self._say(request, [id, _plain(output), _plain(status)])

    async def do_elicit(self, request: PromptRequest) -> None:
        form = {"sessionId": request.session_id, "mode": "form", **SCRIPT["form"]}
        response = await self.client.request(CreateElicitationRequestFormSession.model_validate(form))
        await self._say(request, _plain(response))

    async def do_ext(self, request: PromptRequest) -> None:
        await self.client.ext_notification("_interop/note", {"n": 1})
        await self._say(request, await self.client.ext_request("_interop/ask", {"x": [1, None]}))

    async def do_typed(self, request: PromptRequest) -> None:
        await self.client.notify(NOTE, Note(n=1))
        response = await self.client.call(ASK, AskParams(x=[1, None]))
        await self._say(request, {"asked": response.asked})

    async def do_unknown(self, request: PromptRequest) -> None:
        try:
            await self.client.ext_request("_interop/unknown", {})
        except RequestError as error:
            await self._say(request, error.code)

    async def do_error(self, request: PromptRequest) -> None:
        raise RequestError(**SCRIPT["error"])

    async def do_crash(self, request: PromptRequest) -> None:
        raise RuntimeError(SCRIPT["secret"])

    async def _say(self, request: PromptRequest, content: Any) -> None:
        text = content if isinstance(content, str) else json.dumps(content, sort_keys=True)
        update = SessionUpdateAgentMessageChunk(content=ContentBlockText(text=text))
        await self.client.session_update(session_id=request.session_id, update=update)

    async def _update(self, session_id: str, update: Any) -> None:
        await self.client.notify(SessionNotification.model_validate({"sessionId": session_id, "update": update}))

    def _config_options(self) -> list[Any]:
        return [{**each, "currentValue": self.options[each["id"]]} for each in SCRIPT["configOptions"]]

    def _check_known(self, session_id: str) -> None:
        if session_id not in self.known:
            raise ResourceNotFound(data={"sessionId": session_id})


def _plain(model: Any) -> Any:
    return json.loads(model.model_dump_json())


if __name__ == "__main__":
    asyncio.run(serve_stdio(ScriptedAgent))
