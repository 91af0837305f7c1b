"""Files of a turn are those of the client's editor if it serves files, else those on the disk inside the roots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import (
    ClientCapabilities,
    FileSystemCapabilities,
    ReadTextFileRequest,
    ReadTextFileResponse,
    RemoteAgent,
    WriteTextFileRequest,
    WriteTextFileResponse,
)
from acp_kit.agent import Turn
from acp_runtime import InvalidParams, ResourceNotFound
from tests.support.kit.turns import KeepingClient, conversation

READS = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True))
READS_AND_WRITES = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True))


class Editor(KeepingClient):
    def __init__(self, agent: RemoteAgent) -> None:
        super().__init__(agent)
        self.asked_for: list[Any] = []

    async def fs_read_text_file(self, request: ReadTextFileRequest) -> ReadTextFileResponse:
        self.asked_for.append(request)
        if request.path.endswith("missing"):
            raise ResourceNotFound
        return ReadTextFileResponse(content="unsaved")

    async def fs_write_text_file(self, request: WriteTextFileRequest) -> WriteTextFileResponse:
        self.asked_for.append(request)
        return WriteTextFileResponse()


async def test_a_client_that_serves_files_is_asked() -> None:
    read: list[str] = []

    async def act(turn: Turn) -> None:
        read.append(await turn.read_text_file("notes.txt", line=3, limit=2))
        read.append(await turn.read_text_file(Path("/elsewhere/notes.txt")))
        await turn.write_text_file("new.txt", "text")

    async with conversation(Editor, READS_AND_WRITES) as talk:
        await talk.prompt(act)
        assert isinstance(talk.client, Editor)
        first, second, third = talk.client.asked_for
        assert read == ["unsaved", "unsaved"]
        assert (first.path, first.line, first.limit) == ("/work/notes.txt", 3, 2)
        assert (second.path, second.line, second.limit) == ("/elsewhere/notes.txt", None, None)
        assert (third.path, third.content) == ("/work/new.txt", "text")


async def test_without_such_a_client_files_are_those_on_the_disk(tmp_path: Path) -> None:
    read: list[str] = []

    async def act(turn: Turn) -> None:
        await turn.write_text_file("sub/notes.txt", "one\ntwo\nthree\n")
        read.append(await turn.read_text_file("sub/notes.txt", line=2, limit=1))
        read.append(await turn.read_text_file(tmp_path / "sub" / "notes.txt"))
        with pytest.raises(ResourceNotFound):
            await turn.read_text_file("missing")

    async with conversation(cwd=tmp_path) as talk:
        await talk.prompt(act)
        assert read == ["two\n", "one\ntwo\nthree\n"]
        assert (tmp_path / "sub" / "notes.txt").read_text() == "one\ntwo\nthree\n"


async def test_the_path_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("old")

    async def act(turn: Turn) -> None:
        for path in ("notes.txt/", "notes.txt/.", "new/", ""):
            with pytest.raises(InvalidParams, match="folder, not"):
                await turn.read_text_file(path)
            with pytest.raises(InvalidParams, match="folder, not"):
                await turn.write_text_file(path, "new")

    async with conversation(cwd=tmp_path) as talk:
        await talk.prompt(act)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("notes.txt", "old")]


async def test_each_direction_is_the_clients_only_if_it_serves_that_one(tmp_path: Path) -> None:
    async def act(turn: Turn) -> None:
        assert await turn.read_text_file("notes.txt") == "unsaved"
        await turn.write_text_file("notes.txt", "saved")

    async with conversation(Editor, READS, cwd=tmp_path) as talk:
        await talk.prompt(act)
        assert (tmp_path / "notes.txt").read_text() == "saved"


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "link/hostname"])
async def test_nothing_outside_of_the_roots_is_read_or_written(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.txt").write_text("secret")
    (root / "link").symlink_to("/etc")

    async def act(turn: Turn) -> None:
        with pytest.raises(InvalidParams):
            await turn.read_text_file(path)
        with pytest.raises(InvalidParams):
            await turn.write_text_file(path, "x")

    async with conversation(cwd=root) as talk:
        assert await talk.prompt(act) == "end_turn"
    assert (tmp_path / "outside.txt").read_text() == "secret"


async def test_a_change_of_a_file_is_shown_as_a_diff_from_its_text_in_the_editor() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            await call.change("notes.txt", "new")
            await call.change("missing", "new")

    async with conversation(Editor, READS_AND_WRITES) as talk:
        await talk.prompt(act)
        diffs = [(diff.path, diff.old_text, diff.new_text) for diff in talk.updates[-1].content]
        assert diffs == [("/work/notes.txt", "unsaved", "new"), ("/work/missing", None, "new")]
