"""The text files of a session, in the client's editor or on the disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from acp_bindings import v1
from acp_kit.common.sequences import check_sequence
from acp_runtime import ABSENT, InvalidParams, RemoteError, RequestError, ResourceNotFound

if TYPE_CHECKING:
    from acp_kit.local.workspace import Workspace


def as_path(path: str | Path) -> str | Path:
    """Return the path of a `file:` URI. A path stays as it is.

    Raises:
        InvalidParams: if it is a URI of a file on another machine.
    """
    if not isinstance(path, str) or path[:6].lower() != "file:/":
        return path
    from acp_kit.content import path_of

    try:
        return path_of(path)
    except ValueError as error:
        raise InvalidParams(str(error)) from error


class SessionFiles:
    """The text files of a session.

    A client that serves files returns the text in the user's editor, with unsaved changes. For other clients, files on
    the disk are read and written, inside the session's roots only.
    """

    def __init__(self, client: v1.RemoteClient, session_id: str, roots: Sequence[Path]) -> None:
        self._client = client
        self._session_id = session_id
        self._roots = check_sequence("roots", roots)

    async def read(self, path: str | Path, *, line: int | None = None, limit: int | None = None) -> str:
        """Return the text of a file, or some lines of it.

        Args:
            path: the file, absolute or relative to the session's working directory, or its `file:` URI, such as that of
                a link.
            line: the first line, counted from 1.
            limit: how many lines.

        Raises:
            ResourceNotFound: if it doesn't exist. Clients report a missing file with various errors, so the disk is
                checked after any error.
            InvalidParams: if it is outside the roots or on another machine, isn't text, or is too large.
            RemoteError: if the client answers with an error. It is also an instance of the class of its code.
        """
        file = self._absolute(path)
        if not self._client.supports("fs/read_text_file"):
            return await self._read_from_disk(file, line, limit)
        try:
            response = await self._client.fs_read_text_file(
                session_id=self._session_id,
                path=file,
                line=ABSENT if line is None else line,
                limit=ABSENT if limit is None else limit,
            )
        except RemoteError as error:
            missing = await self._missing_on_disk(file)
            if missing is None:
                raise
            raise RemoteError.of(missing.code, missing.message, missing.data) from error
        return response.content

    async def read_before_change(self, path: str | Path) -> str | None:
        """Return the text of a file that will be replaced; None if the file doesn't exist.

        The text comes from the client or, if that fails, from the disk.

        Raises:
            RequestError: if the file may exist, and neither the client nor the disk has its text.
        """
        try:
            return await self.read(path)
        except RequestError as error:
            client_error = error
        try:
            return await self._read_from_disk(self._absolute(path))
        except ResourceNotFound:
            return None
        except (OSError, ValueError):  # the roots are not on this disk, so only the client knows
            if isinstance(client_error, ResourceNotFound):
                return None
        except RequestError:
            pass
        raise client_error

    async def write(self, path: str | Path, content: str) -> None:
        """Replace the text of a file, or create it.

        Args:
            path: the file, as for `read`.
            content: its text.

        Raises:
            InvalidParams: if it is outside the roots, or isn't a file.
            RemoteError: if the client answers with an error.
        """
        file = self._absolute(path)
        if self._client.supports("fs/write_text_file"):
            await self._client.fs_write_text_file(session_id=self._session_id, path=file, content=content)
            return
        request = v1.WriteTextFileRequest(session_id=self._session_id, path=file, content=content)
        await self._disk.fs_write_text_file(request)

    async def _missing_on_disk(self, file: str) -> ResourceNotFound | None:
        """Return the error for a file that doesn't exist; None if it exists or can't be checked."""
        try:
            await self._read_from_disk(file)
        except ResourceNotFound as missing:
            return missing
        except (RequestError, OSError, ValueError):
            pass
        return None

    async def _read_from_disk(self, file: str, line: int | None = None, limit: int | None = None) -> str:
        request = v1.ReadTextFileRequest(session_id=self._session_id, path=file, line=line, limit=limit)
        return (await self._disk.fs_read_text_file(request)).content

    def _absolute(self, path: str | Path) -> str:
        path = as_path(path)
        file = str(self._roots[0] / path)
        # `Path` drops the end of "name/" and "name/.", which makes them the path of a file.
        return os.path.join(file, "") if os.path.basename(path) in ("", ".") else file

    @cached_property
    def _disk(self) -> Workspace:
        from acp_kit.local.workspace import Workspace

        return Workspace(*self._roots)
