"""Asks the user for information, with a form that the client shows or at an address that it opens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar, overload
from uuid import uuid4

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from acp_bindings.v1 import ElicitationSchema, RemoteClient
from acp_kit.common.forms import form_schema, read_values
from acp_kit.common.profiles import convert
from acp_runtime import ABSENT, InvalidResponse
from acp_runtime.escaping import printable

T_co = TypeVar("T_co", covariant=True)
M = TypeVar("M", bound=BaseModel)

ElicitationAction: TypeAlias = Literal["accept", "decline", "cancel"] | str


@dataclass(frozen=True)
class ElicitationResult(Generic[T_co]):
    """The user's answer to a form.

    Attributes:
        action: `accept` if the user sent it, `decline` if they refused, `cancel` if they closed it without a decision.
            Clients may have others.
        values: the values of the form; None unless the action is `accept`.
    """

    action: ElicitationAction
    values: T_co | None


@overload
async def elicit(
    client: RemoteClient, session_id: str, message: str, form: type[M], *, tool_call_id: str | None = None
) -> ElicitationResult[M]: ...
@overload
async def elicit(
    client: RemoteClient,
    session_id: str,
    message: str,
    form: ElicitationSchema | Mapping[str, Any],
    *,
    tool_call_id: str | None = None,
) -> ElicitationResult[dict[str, Any]]: ...
async def elicit(
    client: RemoteClient,
    session_id: str,
    message: str,
    form: type[BaseModel] | ElicitationSchema | Mapping[str, Any],
    *,
    tool_call_id: str | None = None,
) -> ElicitationResult[Any]:
    """Let the user fill in a form. Don't ask for passwords or keys: the protocol forbids that.

    Args:
        client: the client that shows the form.
        session_id: the session that it belongs to.
        message: what the user should enter, and why.
        form: the fields, as a pydantic model or a JSON Schema. The protocol has strings, numbers, booleans, choices
            (`Literal` or `Enum` of strings) and lists of choices, without nesting.
        tool_call_id: the id of the tool call that needs the values, if there is one.

    Returns:
        The user's answer. Its values are an instance of the model, or a dict for a JSON Schema.

    Raises:
        CapabilityError: if the client can't show forms.
        InvalidResponse: if the values that the client sent don't fit the form.
        ValueError: if the form has a field that the protocol doesn't have.
        RemoteError: if the client answers with an error.
    """
    response = await client.elicitation_create(
        mode="form",
        session_id=session_id,
        message=message,
        requested_schema=convert(client, form_schema(form)),
        tool_call_id=ABSENT if tool_call_id is None else tool_call_id,
    )
    if response.action != "accept":
        return ElicitationResult(response.action, None)
    try:
        return ElicitationResult("accept", read_values(form, getattr(response, "content", None) or {}))
    except ValidationError as error:
        reasons = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
        raise InvalidResponse("elicitation/create", printable("; ".join(reasons))) from None
    except PydanticSerializationError as error:  # a text with a lone surrogate
        raise InvalidResponse("elicitation/create", str(error)) from None


async def elicit_url(
    client: RemoteClient,
    session_id: str,
    message: str,
    url: str,
    *,
    elicitation_id: str | None = None,
    tool_call_id: str | None = None,
) -> ElicitationAction:
    """Ask the user to open a URL, for example to log in.

    Args:
        client: the client that opens it.
        session_id: the session that it belongs to.
        message: what the user will do there, and why.
        url: the URL.
        elicitation_id: its id, if you will tell the client that the user has finished there:
            `await client.elicitation_complete(elicitation_id=...)`.
        tool_call_id: the id of the tool call that needs this, if there is one.

    Returns:
        `accept` if the user agreed to open it, though they may not have finished there; `decline` if they refused,
        `cancel` if they closed the question without a decision. Clients may have others.

    Raises:
        CapabilityError: if the client can't open URLs.
        RemoteError: if the client answers with an error.
    """
    response = await client.elicitation_create(
        mode="url",
        session_id=session_id,
        message=message,
        url=url,
        elicitation_id=uuid4().hex if elicitation_id is None else elicitation_id,
        tool_call_id=ABSENT if tool_call_id is None else tool_call_id,
    )
    return response.action
