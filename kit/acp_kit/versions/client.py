"""The client of version 1, which the agent talks to."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter

from acp_bindings import v1, v2_draft as v2
from acp_kit.versions.agent_connection import PassesExtensions, leave_out, passing_errors_on
from acp_kit.versions.json_objects import Json, same_json, without
from acp_kit.versions.session import Session
from acp_runtime import InvalidParams, Model

_logger = logging.getLogger(__name__)


class ClientV1(PassesExtensions, v1.Client):
    """Passes on what the agent sends.

    Args:
        client: the proxy for the client.
        agent: the proxy for the agent.
        find_session: returns a session by its id.
        elicits: whether the client shows forms or pages.
    """

    def __init__(
        self,
        client: v2.RemoteClient,
        agent: v1.RemoteAgent,
        *,
        find_session: Callable[[str], Session],
        elicits: bool,
    ) -> None:
        self._client = client
        self._agent = agent
        self._find_session = find_session
        if not elicits:
            leave_out(self, v1.Client, "elicitation_create")

    async def other_peer(self) -> v2.RemoteClient:
        """Return the proxy for the client."""
        return self._client

    async def session_update(self, notification: v1.SessionNotification) -> None:
        """Pass on an update."""
        await self._find_session(notification.session_id).receive(notification.model_dump())

    async def invalid_notification(self, method: str, params: Any, error: InvalidParams) -> None:
        """Pass on an update of a kind that version 1 doesn't have. Clients of version 2 take any kind."""
        match params:
            case {"sessionId": str(id), "update": {"sessionUpdate": str(kind)}} if kind not in _kinds():
                await self._find_session(id).receive(params)
            case _:
                pass  # the connection has logged it

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        """Ask the client, with the tool call as the subject. Its title is the title of the question."""
        session = self._find_session(request.session_id)
        params = request.model_dump()
        if session.is_closed or not request.options:
            _logger.warning("The agent has asked for a permission without options, or after the end of its session.")
            return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())
        call = session.updates.start_call(params["toolCall"])
        title = session.updates.calls.title(request.tool_call.tool_call_id) or "The agent asks for permission"
        subject = {"type": "tool_call", "toolCall": call}
        question = without(params, "toolCall") | {"title": title, "subject": subject}
        async with session.asking():
            with passing_errors_on():
                response = await self._client.request(v2.RequestPermissionRequest.model_validate(question))
        outcome = response.outcome
        match outcome:
            case v2.RequestPermissionOutcomeCancelled():
                pass
            case v2.RequestPermissionOutcomeSelected() if outcome.option_id in {o.option_id for o in request.options}:
                return same_json(response, v1.RequestPermissionResponse)
            case _:
                _logger.warning("The client has chosen something that isn't one of the options. It permits nothing.")
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())

    async def elicitation_create(self, request: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
        """Show the user a form or a page."""
        params: Json = request.model_dump()
        if "requestedSchema" in params:
            params["requestedSchema"] = {"type": "object", "properties": {}} | params["requestedSchema"]
        session_id: str | None = params.get("sessionId")
        if session_id is None:
            # The agent names a call by its id, which isn't the id of the client's request that the call passes on.
            call = self._agent.find_call(params["requestId"])
            if call is None or call.request is None:
                raise InvalidParams("No request of the client is being handled")
            return await self._elicit(params | {"requestId": call.request.id})
        session = self._find_session(session_id)
        if session.is_closed:
            return v1.CreateElicitationResponseCancel()
        async with session.asking():
            return await self._elicit(params)

    async def _elicit(self, params: Json) -> v1.CreateElicitationResponse:
        ask: Any = self._client.request
        with passing_errors_on():
            response: Model = await ask(_of_type(v2.CreateElicitationRequest, params))
        answer: v1.CreateElicitationResponse = _of_type(v1.CreateElicitationResponse, response.model_dump())
        return answer

    async def elicitation_complete(self, notification: v1.CompleteElicitationNotification) -> None:
        """Tell the client that the user has finished with a page."""
        await self._client.notify(same_json(notification, v2.CompleteElicitationNotification))


def _of_type(union: Any, value: Json) -> Any:
    return _adapter(union).validate_python(value)


@cache
def _adapter(union: Any) -> TypeAdapter[Any]:
    return TypeAdapter(union)


@cache
def _kinds() -> frozenset[str]:
    """Return the kinds of updates in version 1."""
    members: tuple[type[Model], ...] = get_args(get_args(v1.SessionUpdate)[0])
    return frozenset(kind for cls in members for kind in get_args(cls.model_fields["session_update"].annotation))
