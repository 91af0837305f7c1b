"""Answers `elicitation/create` by asking the user.

For example:

    class MyClient(Client):
        def __init__(self, agent: RemoteAgent) -> None:
            self.elicitations = Elicitations(fill_in=self.show_form)

        async def elicitation_create(self, request: CreateElicitationRequest) -> CreateElicitationResponse:
            return await self.elicitations.elicitation_create(request)
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from logging import getLogger
from typing import Any, Literal, TypeAlias, cast

from acp_bindings import v1
from acp_kit.client.dialogs import DialogCancelled, wait_for_answer
from acp_kit.common.forms import check_entered
from acp_kit.common.profiles import like
from acp_runtime import ABSENT, InvalidParams
from acp_runtime.escaping import printable

Refusal: TypeAlias = Literal["decline", "cancel"]
ShowForm: TypeAlias = Callable[[v1.CreateElicitationRequestForm], Awaitable[Mapping[str, Any] | Refusal]]
OpenUrl: TypeAlias = Callable[[v1.CreateElicitationRequestUrl], Awaitable[Literal["accept"] | Refusal]]

# An address with a host, and without the name of a user, which could be taken for the host.
_ADDRESS = re.compile(r"https?://[^\s/?#@\\]+([/?#]\S*)?", re.IGNORECASE)

_logger = getLogger(__name__)


class Elicitations:
    """Asks the user for the information that the agent wants.

    If a callback raises, or something else than the agent cancels it, this is logged and the agent gets the answer
    `cancel`. If the agent cancels its request, as it does when the turn is cancelled, the callback is cancelled.

    Args:
        fill_in: shows a form to the user. It returns the values by the names of the fields; empty fields are missing or
            None. It returns `decline` if the user refuses, and `cancel` if they close the form without a decision. The
            user must see who asks, and must be able to change the values before they are sent. Begin with
            `form_defaults`, and let the user correct what `form_problems` finds: values that don't fit the form are not
            sent, and the agent gets `cancel`. Without it, forms are not advertised, and are refused.
        open_url: shows the whole URL to the user, and opens it if they agree. It returns `accept`, `decline` or
            `cancel`. It gets only `https` and `http` URLs; others are refused. Without it, URLs are not advertised, and
            are refused.
        on_complete: called with the `elicitation_id` when the agent says that the user has finished at a URL that they
            agreed to open. Other ids are ignored.
    """

    def __init__(
        self,
        *,
        fill_in: ShowForm | None = None,
        open_url: OpenUrl | None = None,
        on_complete: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._fill_in = fill_in
        self._open_url = open_url
        self._on_complete = on_complete
        self._open_ids: set[str] = set()

    def capabilities(self) -> v1.ElicitationCapabilities:
        """Return what to advertise in `initialize`, as `client_capabilities.elicitation`."""
        return v1.ElicitationCapabilities(
            form=v1.ElicitationFormCapabilities() if self._fill_in else ABSENT,
            url=v1.ElicitationUrlCapabilities() if self._open_url else ABSENT,
        )

    async def elicitation_create(self, request: v1.CreateElicitationRequest) -> v1.CreateElicitationResponse:
        """Return the user's answer.

        Raises:
            InvalidParams: if there is no callback for this kind of request, or the URL is refused.
        """
        callbacks: dict[str, Callable[[Any], Awaitable[Any]] | None] = {"form": self._fill_in, "url": self._open_url}
        ask = callbacks.get(request.mode)
        if ask is None:
            raise InvalidParams(f"This client doesn't support the mode {printable(request.mode)!r}.")
        return await (self._open(ask, request) if request.mode == "url" else self._ask(ask, request))

    async def elicitation_complete(self, notification: v1.CompleteElicitationNotification) -> None:
        """Call `on_complete`, unless the id is unknown or completed."""
        if notification.elicitation_id in self._open_ids:
            self._open_ids.remove(notification.elicitation_id)
            self._on_complete(notification.elicitation_id)

    async def _open(self, ask: Callable[[Any], Awaitable[Any]], request: Any) -> v1.CreateElicitationResponse:
        url: str = request.url
        if not _ADDRESS.fullmatch(url) or not url.isprintable():
            raise InvalidParams("This client opens only https and http addresses, without the name of a user.")
        # Before the user agrees, because they may have finished there before `open_url` returns.
        self._open_ids.add(request.elicitation_id)
        is_accepted = False
        try:
            response = await self._ask(ask, request)
            is_accepted = response.action == "accept"
            return response
        finally:
            if not is_accepted:
                self._open_ids.discard(request.elicitation_id)

    async def _ask(self, ask: Callable[[Any], Awaitable[Any]], request: Any) -> v1.CreateElicitationResponse:
        try:
            return _response(request, await wait_for_answer(ask, request))
        except DialogCancelled:
            _logger.warning("The question to the user was cancelled. The agent is told that the user cancelled.")
        except Exception:
            _logger.exception("Asking the user failed. The agent is told that the user cancelled.")
        return _response(request, "cancel")


def _response(request: Any, answer: object) -> v1.CreateElicitationResponse:
    match answer:
        case "accept" if request.mode == "url":
            return like(request, v1.CreateElicitationResponseAccept)()
        case "decline":
            return like(request, v1.CreateElicitationResponseDecline)()
        case "cancel":
            return like(request, v1.CreateElicitationResponseCancel)()
        case Mapping() if request.mode == "form":
            content, problems = check_entered(request.requested_schema, cast("Mapping[str, Any]", answer))
            if problems:
                raise ValueError(f"The values don't fit the form: {printable(str(problems))}.")
            return like(request, v1.CreateElicitationResponseAccept)(content=content)
        case _:
            raise TypeError(f"Return the values of the form, 'decline' or 'cancel', not {type(answer).__name__}.")
