"""One session of an agent: where it works, and what the user permitted in it."""

from __future__ import annotations

from collections.abc import Sequence

from acp_bindings.v1 import ContentBlock
from acp_kit.agent.session_base import SessionBase
from acp_kit.agent.turns import Turn


class Session(SessionBase):
    """One session of an agent: where it works, and what the user permitted in it.

    Attributes:
        id: its id.
        client: the proxy of the client that it belongs to.
        cwd: its working directory.
        roots: its working directory and the additional ones. Tools should not touch files elsewhere.
        permissions: what the user decided for the rest of the session.
        files: its text files, in the client's editor or on the disk.
    """

    def turn(self, prompt: Sequence[ContentBlock] = ()) -> Turn:
        """Begin a turn: `async with session.turn(request.prompt) as turn`.

        Args:
            prompt: the user's message, for the history. It is not sent.
        """
        return Turn(self, prompt)
