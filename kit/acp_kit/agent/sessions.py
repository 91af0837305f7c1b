"""The sessions of an agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload
from uuid import uuid4

from acp_bindings.v1 import ContentBlock, RemoteClient
from acp_kit.agent.session_base import Record, SessionBase
from acp_kit.agent.turns import Turn
from acp_runtime import Model, ResourceNotFound

if TYPE_CHECKING:
    from acp_bindings import v1_unstable


class Session(SessionBase):
    """One session of an agent: its folders, its files, and the user's permissions.

    Attributes:
        id: its id.
        client: the proxy of the client that it belongs to.
        cwd: its working directory.
        roots: its working directory and the additional ones. Tools should not touch files elsewhere.
        permissions: the user's decisions for the rest of the session.
        files: its text files, in the client's editor or on the disk.
    """

    @overload
    def turn(self, prompt: Sequence[ContentBlock] = ()) -> Turn: ...
    @overload
    def turn(self, prompt: Sequence[v1_unstable.ContentBlock]) -> Turn[v1_unstable.PromptResponse]: ...
    def turn(self, prompt: Sequence[Any] = ()) -> Turn[Any]:
        """Begin a turn. For example, in `session_prompt`:

            async with self.sessions[request.session_id].turn(request.prompt) as turn:
                await turn.say("Hello")
            return turn.response

        Args:
            prompt: the user's message, for the history. It is not sent.
        """
        if isinstance(cast("object", prompt), (str, Model)):
            raise TypeError(f"Pass the blocks of the prompt, `turn(request.prompt)`, not {type(prompt).__name__}.")
        return Turn(self, prompt)


class Sessions(dict[str, Session]):
    """The sessions of an agent, by id.

    Looking up an unknown id raises `ResourceNotFound`, which is the error that the client should get.
    """

    def __init__(self, *, record: Record | None = None) -> None:
        """Make an empty collection.

        Args:
            record: is awaited with a session's id and each update before that is sent, to keep a history.
        """
        super().__init__()
        self._record = record

    def create(
        self,
        client: RemoteClient | v1_unstable.RemoteClient,
        *,
        cwd: str | Path,
        additional_directories: Sequence[str | Path] = (),
        session_id: str | None = None,
    ) -> Session:
        """Make a session and add it.

        Args:
            client: the proxy of the client.
            cwd: its working directory.
            additional_directories: additional directories that its tools may use.
            session_id: the id of an earlier session that is loaded or resumed; by default a new id. It replaces a
                session with this id.

        Raises:
            TypeError: the client speaks version 2.
        """
        session = Session(
            cast("RemoteClient", client),
            uuid4().hex if session_id is None else session_id,
            cwd=cwd,
            additional_directories=additional_directories,
            record=self._record,
            continued=session_id is not None,
        )
        self[session.id] = session
        return session

    def remove(self, session_id: str) -> None:
        """Forget a session. Unknown ids are ignored."""
        self.pop(session_id, None)

    def __missing__(self, session_id: str) -> Session:
        raise ResourceNotFound(f"There is no session {session_id!r}", data={"sessionId": session_id})
