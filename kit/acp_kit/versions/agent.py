"""The agent of version 2, which the client talks to."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from uuid import uuid4

from acp_bindings import v1, v2_draft as v2
from acp_kit.common.json_values import items_of
from acp_kit.versions.agent_connection import AgentConnection, Open, PassesExtensions, leave_out, passing_errors_on
from acp_kit.versions.capabilities import agent_capabilities_to_v2, client_capabilities_to_v1, login_methods_to_v2
from acp_kit.versions.client import ClientV1
from acp_kit.versions.json_objects import Json, params_of, same_json, without
from acp_kit.versions.session import Session, Turn
from acp_kit.versions.tool_calls import is_absolute
from acp_runtime import InternalError, InvalidParams, Model, RequestCancelled, RequestError, ResourceNotFound

_logger = logging.getLogger(__name__)

_UNKNOWN = {"name": "unknown", "version": "unknown"}

_EMPTY: list[Json] = []

# How long a prompt may be refused, in seconds. It is accepted earlier if the agent sends anything for its session.
_ACCEPT_AFTER = 0.1
# How long closing a session waits for the end of its turn, in seconds.
_CLOSE_DEADLINE = 5.0
# How many closed sessions are remembered.
_MAX_CLOSED = 1000


class AgentV2(PassesExtensions, v2.Agent):
    """Passes on what the client sends.

    Args:
        client: the proxy for the client.
        open: connects to the agent.
    """

    def __init__(self, client: v2.RemoteClient, open: Open) -> None:
        self._client = client
        self._connection = AgentConnection(client, open, self._make_client)
        self._sessions: dict[str, Session] = {}
        self._closed: deque[str] = deque(maxlen=_MAX_CLOSED)
        self._capabilities = v1.AgentCapabilities()
        self._elicits = False

    def _make_client(self, agent: v1.RemoteAgent) -> ClientV1:
        return ClientV1(self._client, agent, find_session=self._find_or_add_session, elicits=self._elicits)

    async def other_peer(self) -> v1.RemoteAgent:
        """Return the proxy for the agent."""
        return await self._connection.agent()

    # Connection.

    async def initialize(self, request: v2.InitializeRequest) -> v2.InitializeResponse:
        """Connect to the agent."""
        params = request.model_dump()
        self._elicits = request.capabilities.elicitation is not None
        old = without(params, "info", "capabilities") | {
            "protocolVersion": 1,
            "clientInfo": params["info"],
            "clientCapabilities": client_capabilities_to_v1(params.get("capabilities") or {}),
        }
        async with self._connection.calling() as agent:
            response = await agent.request(params_of(v1.InitializeRequest, old))
        self._capabilities = response.agent_capabilities
        auth = request.capabilities.auth
        result = response.model_dump()
        methods = login_methods_to_v2(result, in_terminal=auth is not None and auth.terminal is not None)
        if not methods:
            leave_out(self, v2.Agent, "auth_login", "auth_logout")
        if response.agent_capabilities.session_capabilities.delete is None:
            leave_out(self, v2.Agent, "session_delete")
        new = without(result, "agentInfo", "agentCapabilities") | {
            "protocolVersion": 2,
            "info": result.get("agentInfo") or _UNKNOWN,
            "capabilities": agent_capabilities_to_v2(result.get("agentCapabilities") or {}),
            "authMethods": methods,
        }
        return v2.InitializeResponse.model_validate(new)

    async def auth_login(self, request: v2.LoginAuthRequest) -> v2.LoginAuthResponse:
        """Log in."""
        async with self._connection.calling() as agent:
            response = await agent.request(same_json(request, v1.AuthenticateRequest))
        return same_json(response, v2.LoginAuthResponse)

    async def auth_logout(self, request: v2.LogoutAuthRequest) -> v2.LogoutAuthResponse:
        """Log out. An agent of version 1 need not be able to."""
        async with self._connection.calling() as agent:
            response = await agent.request(same_json(request, v1.LogoutRequest))
        return same_json(response, v2.LogoutAuthResponse)

    # Sessions.

    async def session_new(self, request: v2.NewSessionRequest) -> v2.NewSessionResponse:
        """Create a session."""
        async with self._connection.calling() as agent:
            response = await agent.request(params_of(v1.NewSessionRequest, _setup_params(request)))
        session = self._open_session(response.session_id, request.cwd)
        return v2.NewSessionResponse.model_validate(_with_options(session, response))

    async def session_resume(self, request: v2.ResumeSessionRequest) -> v2.ResumeSessionResponse:
        """Resume or load a session, then report its state.

        It is loaded for its history, or because the agent can't resume it.
        """
        replay = request.replay_from
        if replay is not None and replay.type != "start":
            raise InvalidParams(f"This agent can't replay from {replay.type!r}.")
        is_new = request.session_id not in self._sessions
        session = self._open_session(request.session_id, request.cwd)
        try:
            response = await self._resume(session, request, is_new=is_new)
        except BaseException:
            if is_new:
                self._sessions.pop(request.session_id, None)
            raise
        await session.send(session.state)
        return v2.ResumeSessionResponse.model_validate(_with_options(session, response))

    async def _resume(self, session: Session, request: v2.ResumeSessionRequest, *, is_new: bool) -> Model:
        """Resume or load a session. If that isn't possible, a session of this connection stays as it is."""
        params = without(_setup_params(request), "replayFrom")
        replays = request.replay_from is not None
        can_resume = self._capabilities.session_capabilities.resume is not None
        can_load = self._capabilities.load_session
        if not replays and can_resume:
            async with self._connection.calling() as agent:
                return await agent.request(params_of(v1.ResumeSessionRequest, params))
        has_turn = session.turn is not None
        if not replays and not is_new and (has_turn or not can_load):
            return v1.ResumeSessionResponse()
        if not can_load:
            raise ResourceNotFound("This agent can't load sessions", {"sessionId": session.id})
        with session.loading(is_muted=not replays):
            async with self._connection.calling() as agent:
                return await agent.request(params_of(v1.LoadSessionRequest, params))

    async def session_list(self, request: v2.ListSessionsRequest) -> v2.ListSessionsResponse:
        """Ask the agent. If it can't list sessions, list those of this connection."""
        if self._capabilities.session_capabilities.list is not None:
            async with self._connection.calling() as agent:
                response = await agent.request(same_json(request, v1.ListSessionsRequest))
            return v2.ListSessionsResponse.model_validate(_leave_out_relative(response.model_dump()))
        sessions = [session for session in self._sessions.values() if request.cwd in (None, session.cwd)]
        listed = [{"sessionId": session.id, "cwd": session.cwd, **session.info} for session in sessions]
        return v2.ListSessionsResponse.model_validate({"sessions": listed})

    async def session_close(self, request: v2.CloseSessionRequest) -> v2.CloseSessionResponse:
        """Cancel the turns of a session, and close it if the agent can."""
        response = v1.CloseSessionResponse()
        async with self._ending(request.session_id):
            if self._capabilities.session_capabilities.close is not None:
                async with self._connection.calling() as agent:
                    response = await agent.request(same_json(request, v1.CloseSessionRequest))
        return same_json(response, v2.CloseSessionResponse)

    async def session_delete(self, request: v2.DeleteSessionRequest) -> v2.DeleteSessionResponse:
        """Cancel the turns of a session, and delete it."""
        async with self._ending(request.session_id), self._connection.calling() as agent:
            response = await agent.request(same_json(request, v1.DeleteSessionRequest))
        return same_json(response, v2.DeleteSessionResponse)

    @asynccontextmanager
    async def _ending(self, id: str) -> AsyncGenerator[None]:
        """End the turns of a session. Forget it after the block: what the agent still sends for it isn't passed on."""
        session = self._sessions.get(id) or Session(id, "/", self._client)
        session.is_closing = True
        try:
            await self._end_turns(session)
            yield
        finally:
            session.is_closing = False
        session.is_closed = True
        self._sessions.pop(id, None)
        if id not in self._closed:
            self._closed.append(id)

    async def _end_turns(self, session: Session) -> None:
        tasks = [turn.task for turn in session.turns]
        await self._cancel(session)
        if not tasks:
            return
        _, running = await asyncio.wait(tasks, timeout=_CLOSE_DEADLINE)
        for task in running:
            task.cancel()
        if running:
            await session.report("idle", {"stopReason": "cancelled"})

    async def session_set_config_option(
        self, request: v2.SetSessionConfigOptionRequest
    ) -> v2.SetSessionConfigOptionResponse:
        """Set an option, or the mode."""
        session = self._find_session(request.session_id)
        params = request.model_dump()
        settings = session.updates.settings
        settings.check(request.config_id, params["value"])
        async with self._connection.calling() as agent:
            if request.config_id == settings.mode_option and request.type == "id":
                mode: str = params["value"]
                await agent.session_set_mode(session_id=session.id, mode_id=mode)
                return v2.SetSessionConfigOptionResponse.model_validate({"configOptions": settings.set_mode(mode)})
            if request.type == "id":
                value = params_of(v1.SetSessionConfigOptionRequestValueId, without(params, "type"))
                response = await agent.request(value)
            elif request.type == "boolean":
                response = await agent.request(params_of(v1.SetSessionConfigOptionRequestBoolean, params))
            else:
                raise InvalidParams(f"This agent has no options of type {request.type!r}.")
        return v2.SetSessionConfigOptionResponse.model_validate(_with_options(session, response))

    # Turns.

    async def session_prompt(self, request: v2.PromptRequest) -> v2.PromptResponse:
        """Return when the prompt is accepted. The turn goes on."""
        session = self._find_session(request.session_id)
        params = request.model_dump()
        prompt = params_of(v1.PromptRequest, params)
        if session.is_closing:
            raise RequestCancelled
        turn = Turn(params["prompt"])
        session.add_turn(turn, self._client.start_task(self._run(session, turn, prompt)))
        try:
            await turn.may_begin.wait()
            with suppress(TimeoutError):
                await asyncio.wait_for(turn.has_begun.wait(), _ACCEPT_AFTER)
            if turn.error is not None:
                raise RequestCancelled if turn.is_cancelled else turn.error
            message_id = uuid4().hex
            await session.send({"sessionUpdate": "user_message", "messageId": message_id, "content": turn.prompt})
            await session.report("running")
            turn.is_accepted = True
        except BaseException:
            turn.task.cancel()
            raise
        finally:
            turn.is_settled.set()
        return v2.PromptResponse(message_id=message_id)

    async def _run(self, session: Session, turn: Turn, request: v1.PromptRequest) -> None:
        """Wait for the end of a turn, and report it if the prompt was accepted."""
        await turn.may_begin.wait()
        end = await self._call_agent(turn, request)
        if turn.is_cancelled:
            end |= {"stopReason": "cancelled"}
        await turn.is_settled.wait()
        if turn.is_accepted:
            await session.report("idle", end)

    async def _call_agent(self, turn: Turn, request: v1.PromptRequest) -> Json:
        """Pass a prompt on. Return what the state `idle` says about the end of the turn."""
        agent = await self.other_peer()
        if turn.error is not None:
            return {}
        turn.is_sent = True
        try:
            with passing_errors_on():
                return (await agent.request(request)).model_dump()
        except RequestError as error:
            turn.error = error
        except Exception as error:
            _logger.error("Passing a prompt on has failed", exc_info=error)
            turn.error = InternalError()
        finally:
            turn.has_begun.set()
        return {} if turn.is_cancelled else _describe_error(turn.error)

    async def session_cancel(self, notification: v2.CancelSessionNotification) -> None:
        """Cancel the turn, and the prompts that wait for its end."""
        session = self._sessions.get(notification.session_id)
        if session is not None:
            await self._cancel(session)

    async def _cancel(self, session: Session) -> None:
        for turn in session.turns:
            turn.cancel()
        if session.turn is not None and session.turn.is_sent:
            await (await self.other_peer()).session_cancel(session_id=session.id)

    # Parts.

    def _find_session(self, id: str) -> Session:
        """Return an open session.

        Raises:
            ResourceNotFound: if the client has neither created nor resumed it.
        """
        try:
            return self._sessions[id]
        except KeyError:
            raise ResourceNotFound(data={"sessionId": id}) from None

    def _find_or_add_session(self, id: str) -> Session:
        """Return the session of a message of the agent, which may name one that the client doesn't know yet."""
        session = self._sessions.get(id)
        if session is None:
            session = Session(id, "/", self._client)
            session.is_closed = id in self._closed
            if not session.is_closed:
                self._sessions[id] = session
        return session

    def _open_session(self, id: str, cwd: str) -> Session:
        """Return a session that the client creates or resumes."""
        if id in self._closed:
            self._closed.remove(id)
        session = self._sessions.setdefault(id, Session(id, cwd, self._client))
        session.updates.calls.cwd = cwd
        return session


def _describe_error(error: RequestError) -> Json:
    """Return the fields of the state `idle` after an error."""
    described: Json = {"code": error.code, "message": error.message}
    if error.data is not None:
        described["data"] = error.data
    return {"stopReason": "error", "error": described}


def _setup_params(request: Model) -> Json:
    """Return the params of a request that creates, resumes or loads a session."""
    params = request.model_dump()
    return params | {"mcpServers": [_mcp_server_to_v1(server) for server in params.get("mcpServers") or ()]}


def _mcp_server_to_v1(server: Json) -> Json:
    match server["type"]:
        case "stdio":
            return {"args": _EMPTY, "env": _EMPTY} | without(server, "type")
        case "http":
            return {"headers": _EMPTY} | server
        case unknown:
            raise InvalidParams(f"This agent can't connect to MCP servers of type {unknown!r}.")


def _leave_out_relative(result: Json) -> Json:
    """Leave out listed sessions whose folder isn't absolute: some agents list such, and version 2 allows none."""
    sessions = items_of(result, "sessions")
    kept = [session for session in sessions if is_absolute(session["cwd"])]
    if len(kept) < len(sessions):
        _logger.warning("Left out %s listed sessions whose folder isn't an absolute path", len(sessions) - len(kept))
    return result | {"sessions": kept}


def _with_options(session: Session, response: Model) -> Json:
    """Return a response with the options of version 2, which include the modes."""
    result = response.model_dump()
    return without(result, "modes") | {"configOptions": session.updates.settings.update(result)}
