"""A turn reads and writes files through the client if it serves files, else on the disk inside the roots.

A change is shown before the user is asked, whatever the client answers when the text of the file is read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.agent import Session, Turn
from acp_kit.content import link
from acp_runtime import InternalError, InvalidParams, RemoteError, RequestError, ResourceNotFound
from tests.support.kit.turns import Conversation, KeepingClient, conversation

SERVES_FILES = v1.ClientCapabilities(fs=v1.FileSystemCapabilities(read_text_file=True, write_text_file=True))
READS = v1.ClientCapabilities(fs=v1.FileSystemCapabilities(read_text_file=True))
NO_FILES = v1.ClientCapabilities()
ENOENT = InternalError(data={"details": "ENOENT: no such file or directory"})
ANSWERS = [
    ENOENT,
    InternalError(data="No such file"),
    InvalidParams(),
    ResourceNotFound(),
    RequestError(-32010, "Gone"),
]
REFUSED = InternalError(data={"details": "The user hides this file"})


class Refusing(KeepingClient):
    """Answers reads, and writes unless `written` takes them, with an error."""

    def __init__(self, agent: v1.RemoteAgent, error: RequestError, written: dict[str, str] | None) -> None:
        super().__init__(agent)
        self.error = error
        self.written = written

    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        raise self.error

    async def fs_write_text_file(self, request: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        if self.written is None:
            raise self.error
        self.written[request.path] = request.content
        return v1.WriteTextFileResponse()


def refusing(error: RequestError, written: dict[str, str] | None = None) -> Callable[[v1.RemoteAgent], KeepingClient]:
    return lambda agent: Refusing(agent, error, written)


def write(path: str | Path) -> Callable[[Turn], Any]:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Write it", kind="edit") as call:
            await call.change(path, "new")
            await call.ask()
            await turn.write_text_file(path, "new")

    return act


def question(talk: Conversation) -> Any:
    """Return the content of the only tool call that the user was asked about."""
    [asked] = talk.client.asked
    [content] = asked.tool_call.content or []
    return content


@pytest.mark.parametrize("error", ANSWERS)
async def test_a_missing_file_is_not_found_and_shown_as_new_after_any_error(
    error: RequestError, tmp_path: Path
) -> None:
    written: dict[str, str] = {}

    async def read(turn: Turn) -> None:
        with pytest.raises(ResourceNotFound, match=r"missing' doesn't exist \(ENOENT: No such file") as caught:
            await turn.read_text_file("missing")
        assert isinstance(caught.value, RemoteError)  # so that it is never sent as the answer to the prompt

    async with conversation(refusing(error, written), SERVES_FILES, tmp_path) as talk:
        assert await talk.prompt(read) == "end_turn"
        await talk.prompt(write("new.txt"), "allow_once")
        diff = question(talk)
        assert (diff.path, diff.old_text, diff.new_text) == (str(tmp_path / "new.txt"), None, "new")
        assert talk.updates[-1].status == "completed"
    assert written == {str(tmp_path / "new.txt"): "new"}


@pytest.mark.parametrize("error", ANSWERS)
async def test_a_file_that_the_client_refuses_is_compared_with_the_disk(error: RequestError, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("on the disk")
    async with conversation(refusing(error, {}), SERVES_FILES, tmp_path) as talk:
        await talk.prompt(write("notes.txt"), "allow_once")
        assert (question(talk).old_text, question(talk).new_text) == ("on the disk", "new")
        assert talk.updates[-1].status == "completed"


@pytest.mark.parametrize("error", [REFUSED, ResourceNotFound("Secret (-1): The user hides this file")])
@pytest.mark.parametrize("name", ["binary", "folder", "../outside.txt"])
async def test_without_a_text_the_question_to_the_user_says_why(error: RequestError, name: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "binary").write_bytes(b"\xff\xfe\xfa")
    (tmp_path / "outside.txt").write_text("x")
    async with conversation(refusing(error, {}), SERVES_FILES, root) as talk:
        await talk.prompt(write(name), "allow_once")
        shown = question(talk).content.text
        assert shown.startswith("The change can't be shown: ")
        assert "The user hides this file" in shown
        assert talk.updates[-1].status == "completed"


async def test_only_the_client_knows_files_of_folders_that_are_not_on_this_disk(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    async with conversation(refusing(ResourceNotFound(), {}), SERVES_FILES, elsewhere) as talk:
        await talk.prompt(write("new.txt"), "allow_once")
        assert question(talk).old_text is None
    async with conversation(refusing(REFUSED, {}), SERVES_FILES, elsewhere) as talk:
        await talk.prompt(write("new.txt"), "allow_once")
        assert "The user hides this file" in question(talk).content.text


@pytest.mark.parametrize(("content", "old"), [(None, None), (b"old", "old")])
async def test_without_a_client_that_serves_files_the_disk_is_shown(
    content: bytes | None, old: str | None, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "notes.txt").write_bytes(content)
    async with conversation(capabilities=NO_FILES, cwd=tmp_path) as talk:
        await talk.prompt(write("notes.txt"), "allow_once")
        assert (question(talk).old_text, question(talk).new_text) == (old, "new")
        assert talk.updates[-1].status == "completed"
    assert (tmp_path / "notes.txt").read_text() == "new"


async def test_a_refused_write_is_the_reason_that_the_tool_call_failed(tmp_path: Path) -> None:
    async with conversation(refusing(REFUSED), SERVES_FILES, tmp_path) as talk:
        with pytest.raises(RemoteError):
            await talk.prompt(write("new.txt"), "allow_once")
        diff, reason = talk.updates[-1].content
        assert (talk.updates[-1].status, diff.type) == ("failed", "diff")
        assert reason.content.text == "Internal error (-32603): The user hides this file"


class Editor(KeepingClient):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        super().__init__(agent)
        self.asked_for: list[Any] = []

    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        self.asked_for.append(request)
        if request.path.endswith("missing"):
            raise ResourceNotFound
        return v1.ReadTextFileResponse(content="unsaved")

    async def fs_write_text_file(self, request: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        self.asked_for.append(request)
        return v1.WriteTextFileResponse()


async def test_a_client_that_serves_files_is_asked() -> None:
    read: list[str] = []

    async def act(turn: Turn) -> None:
        read.append(await turn.read_text_file("notes.txt", line=3, limit=2))
        read.append(await turn.read_text_file(Path("/elsewhere/notes.txt")))
        await turn.write_text_file("new.txt", "text")

    async with conversation(Editor, SERVES_FILES) as talk:
        await talk.prompt(act)
        assert isinstance(talk.client, Editor)
        first, second, third = talk.client.asked_for
        assert read == ["unsaved", "unsaved"]
        assert (first.path, first.line, first.limit) == ("/work/notes.txt", 3, 2)
        assert (second.path, second.line, second.limit) == ("/elsewhere/notes.txt", None, None)
        assert (third.path, third.content) == ("/work/new.txt", "text")


async def test_without_such_a_client_files_are_on_the_disk(tmp_path: Path) -> None:
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


async def test_a_file_is_found_by_the_uri_of_a_link(tmp_path: Path) -> None:
    uri = link(tmp_path / "some notes.txt").uri
    changes: list[Any] = []

    async def act(turn: Turn) -> None:
        async with turn.tool_call("Write", kind="edit", locations=[uri]) as call:
            await call.change(uri, "new")
            await turn.write_text_file(uri, "new")
        assert await turn.read_text_file(f"{uri}#L1") == "new"
        with pytest.raises(InvalidParams, match="on another machine"):
            await turn.read_text_file("file://other/notes.txt")

    async with conversation(cwd=tmp_path) as talk:
        await talk.prompt(act)
        changes += [content for update in talk.updates for content in update.content or ()]
        assert talk.updates[0].locations[0].path == str(tmp_path / "some notes.txt")
    assert (tmp_path / "some notes.txt").read_text() == "new"
    assert [change.path for change in changes] == [str(tmp_path / "some notes.txt")]


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
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("notes.txt", "old")]


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


async def test_the_additional_directories_of_a_session_are_roots_as_well(tmp_path: Path) -> None:
    a, b, c = (tmp_path / name for name in "abc")
    for folder in a, b, c:
        folder.mkdir()
        (folder / "notes.txt").write_text(f"of {folder.name}")

    async def act(turn: Turn) -> None:
        session = Session(turn.session.client, "s", cwd=a, additional_directories=[b])
        texts = [await session.files.read("notes.txt"), await session.files.read(b / "notes.txt")]
        assert texts == ["of a", "of b"]
        with pytest.raises(InvalidParams):
            await session.files.read(c / "notes.txt")

    async with conversation() as talk:
        assert await talk.prompt(act) == "end_turn"


async def test_a_change_is_shown_as_a_diff_from_the_editors_text() -> None:
    async def act(turn: Turn) -> None:
        async with turn.tool_call("Edit", kind="edit") as call:
            await call.change("notes.txt", "new")
            await call.change("missing", "new")

    async with conversation(Editor, SERVES_FILES) as talk:
        await talk.prompt(act)
        diffs = [(diff.path, diff.old_text, diff.new_text) for diff in talk.updates[-1].content]
        assert diffs == [("/work/notes.txt", "unsaved", "new"), ("/work/missing", None, "new")]
