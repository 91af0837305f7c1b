"""Serves `fs/read_text_file` and `fs/write_text_file` for files inside given folders.

    class MyClient(Client):
        def __init__(self, agent: RemoteAgent) -> None:
            self.workspace = Workspace("/path/to/project")

        async def fs_read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
            return await self.workspace.fs_read_text_file(request)

        async def fs_write_text_file(self, request: WriteTextFileRequest) -> WriteTextFileResponse:
            return await self.workspace.fs_write_text_file(request)

Pass `workspace.capabilities()` to `initialize`, or use `FileHandlers` and `client_capabilities`.

With these handlers, each session can use all files. `FileHandlers` keeps each session of `open_session` to its own
folders, and so do handlers that pass `session_roots`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TypeAlias
from weakref import WeakValueDictionary

from acp_bindings import v1
from acp_kit.common.profiles import like
from acp_kit.common.sequences import check_sequence
from acp_kit.common.shielded_tasks import run_to_end
from acp_kit.local.confined import ConfinedFiles
from acp_kit.local.file_errors import answering_file_errors
from acp_kit.local.text_format import MARK_BYTES, decode, encode
from acp_runtime import MethodNotFound

ReadBuffer: TypeAlias = Callable[[Path], str | Awaitable[str | None] | None]
OnWrite: TypeAlias = Callable[[Path, str], Awaitable[None] | None]
_Roots: TypeAlias = Sequence[str | os.PathLike[str]] | None


class Workspace:
    """The text files that the agent may read and write.

    Requests for the same path are handled in order, one after the other. A write that has begun is finished even if the
    agent cancels it.

    Args:
        roots: absolute paths of existing folders. Only files inside them can be reached, in all sessions. Symbolic
            links may lead from one root to another.
        read_only: whether to refuse writes and not to advertise them.
        write_only: whether to refuse reads and not to advertise them; agents then read from the disk themselves.
        encoding: the encoding of files that have no byte order mark.
        max_bytes: the size of the largest file that is read or written, in bytes, even if only some lines are read.
        read_buffer: called with the path, in which symbolic links are resolved. Returns the unsaved text of an editor,
            or None to read the file. It may be a coroutine function.
        on_write: called with the resolved path and the text after a file was written. It may be a coroutine function.
            If it raises, the request is answered with an error, although the file was written.

    Raises:
        ValueError: if there is no root, one is not an absolute path, or both `read_only` and `write_only` are true.
        OSError: if a root is not an existing folder.
        LookupError: if the encoding doesn't exist.
    """

    def __init__(
        self,
        *roots: str | os.PathLike[str],
        read_only: bool = False,
        write_only: bool = False,
        encoding: str = "utf-8",
        max_bytes: int = 16 * 1024 * 1024,
        read_buffer: ReadBuffer | None = None,
        on_write: OnWrite | None = None,
    ) -> None:
        if read_only and write_only:
            raise ValueError("Pass `read_only` or `write_only`, not both.")
        "".encode(encoding)
        self._files = ConfinedFiles(*roots, max_bytes=max_bytes)
        self._can_read = not write_only
        self._can_write = not read_only
        self._encoding = encoding
        self._read_buffer = read_buffer
        self._on_write = on_write
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def roots(self) -> tuple[Path, ...]:
        """The roots with symbolic links resolved, without those that are inside others."""
        return self._files.roots

    def capabilities(self, agent: object = None) -> v1.FileSystemCapabilities:
        """Return what to advertise in `initialize`, as `client_capabilities.fs`.

        Args:
            agent: the proxy of the agent. Needed only if its profile is not `acp_bindings.v1`.
        """
        return like(agent, v1.FileSystemCapabilities)(read_text_file=self._can_read, write_text_file=self._can_write)

    async def fs_read_text_file(
        self, request: v1.ReadTextFileRequest, *, session_roots: Sequence[str | os.PathLike[str]] | None = None
    ) -> v1.ReadTextFileResponse:
        """Return the text of a file, or some lines of it, without its byte order mark.

        Lines end with LF, CRLF or CR, and keep these ends. Line 0, which some agents send, means the first line. Beyond
        the last line, the text is empty.

        Args:
            request: the request.
            session_roots: the folders of its session: `ClientSession.roots`. Only files inside them are read; by
                default, those of all sessions.

        Raises:
            MethodNotFound: if the workspace is write-only.
            ResourceNotFound: if the file doesn't exist.
            InvalidParams: if the path is not absolute or leads outside the roots, or if the file is not a text file or
                is too large.
            InternalError: if the system refuses to read it.
        """
        if not self._can_read:
            raise MethodNotFound("fs/read_text_file")
        path = request.path
        line = request.line
        limit = request.limit
        async with self._lock(path):
            text = await self._unsaved_text(path, session_roots)
            if text is not None:
                content = _lines(text, line, limit)
            else:
                with answering_file_errors(path):
                    content = await asyncio.to_thread(
                        lambda: _lines(decode(self._files_of(session_roots).read(path), self._encoding), line, limit)
                    )
        return like(request, v1.ReadTextFileResponse)(content=content)

    async def fs_write_text_file(
        self, request: v1.WriteTextFileRequest, *, session_roots: Sequence[str | os.PathLike[str]] | None = None
    ) -> v1.WriteTextFileResponse:
        """Replace the text of a file, or create the file and its missing folders.

        A file keeps its permissions, and its encoding and byte order mark if it has one. Line ends are not changed.

        Args:
            request: the request.
            session_roots: as for `fs_read_text_file`.

        Raises:
            MethodNotFound: if the workspace is read-only.
            InvalidParams: if the path is not absolute, leads outside the roots or isn't a file's, or if the text is too
                large or has a character that the encoding lacks.
            InternalError: if the system refuses to write it. The file is unchanged then.
        """
        if not self._can_write:
            raise MethodNotFound("fs/write_text_file")
        async with self._lock(request.path):
            await run_to_end(self._write(request.path, request.content, session_roots))
        return like(request, v1.WriteTextFileResponse)()

    def _lock(self, path: str) -> asyncio.Lock:
        return self._locks.setdefault(path, asyncio.Lock())

    def _files_of(self, session_roots: _Roots) -> ConfinedFiles:
        if session_roots is None:
            return self._files
        return self._files.within(*check_sequence("session_roots", session_roots))

    async def _unsaved_text(self, path: str, session_roots: _Roots) -> str | None:
        if self._read_buffer is None:
            return None
        with answering_file_errors(path):
            resolved = await asyncio.to_thread(lambda: self._files_of(session_roots).resolve(path))
        text = self._read_buffer(resolved)
        return await text if isawaitable(text) else text

    async def _write(self, path: str, text: str, session_roots: _Roots) -> None:
        with answering_file_errors(path):
            resolved = await asyncio.to_thread(self._replace, path, text, session_roots)
        if self._on_write is not None:
            result = self._on_write(resolved, text)
            if isawaitable(result):
                await result

    def _replace(self, path: str, text: str, session_roots: _Roots) -> Path:
        files = self._files_of(session_roots)
        resolved = files.resolve(path)
        try:
            start = files.read(path, first=MARK_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            start = b""
        files.write(path, encode(text, start, self._encoding))
        return resolved


def _lines(text: str, line: int | None, limit: int | None) -> str:
    if not line and limit is None:
        return text
    first = max((line or 1) - 1, 0)
    last = None if limit is None else first + limit
    # `splitlines` would also split at a form feed and other characters.
    return "".join(islice(StringIO(text, newline=""), first, last))
