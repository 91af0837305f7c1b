"""A workspace reads and writes text files for the agent, and answers with the protocol's errors."""

from __future__ import annotations

import asyncio
import codecs
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from acp_bindings import v1
from acp_kit.client import Workspace
from acp_kit.local.confined import ConfinedFiles
from acp_runtime import InternalError, InvalidParams, MethodNotFound, ResourceNotFound

LINES = "one\ntwo\r\nthree\rfour\x0cstill four\u2028and still\nfive"


async def _read(workspace: Workspace, path: str | Path, line: int | None = None, limit: int | None = None) -> str:
    request = v1.ReadTextFileRequest(session_id="s", path=str(path), line=line, limit=limit)
    return (await workspace.fs_read_text_file(request)).content


async def _write(workspace: Workspace, path: str | Path, content: str) -> None:
    request = v1.WriteTextFileRequest(session_id="s", path=str(path), content=content)
    assert await workspace.fs_write_text_file(request) == v1.WriteTextFileResponse()


@pytest.mark.parametrize(
    ("line", "limit", "content"),
    [
        (None, None, LINES),
        (1, None, LINES),
        (0, None, LINES),
        (2, None, LINES[4:]),
        (1, 1, "one\n"),
        (None, 2, "one\ntwo\r\n"),
        (0, 2, "one\ntwo\r\n"),
        (2, 2, "two\r\nthree\r"),
        (4, 1, "four\x0cstill four\u2028and still\n"),
        (5, 100, "five"),
        (6, None, ""),
        (2**32 - 1, 2**32 - 1, ""),
        (1, 0, ""),
    ],
)
async def test_lines_are_counted_from_1_and_keep_their_ends(
    tmp_path: Path, line: int | None, limit: int | None, content: str
) -> None:
    (tmp_path / "file").write_bytes(LINES.encode())
    unsaved = Workspace(tmp_path, read_buffer=lambda _: LINES)
    assert await _read(Workspace(tmp_path), tmp_path / "file", line, limit) == content
    assert await _read(unsaved, tmp_path / "unsaved", line, limit) == content


async def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for text in (LINES, "", "\n", "no end", "\r\n\r\n", "\0", "é😀"):
        await _write(workspace, tmp_path / "new" / "file", text)
        assert (tmp_path / "new" / "file").read_bytes() == text.encode()
        assert await _read(workspace, tmp_path / "new" / "file") == text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (b"", "utf-8"),
    ],
)
async def test_a_file_keeps_its_encoding_and_its_byte_order_mark(tmp_path: Path, mark: bytes, encoding: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(mark + "é\n".encode(encoding))
    workspace = Workspace(tmp_path)
    assert await _read(workspace, path) == "é\n"
    await _write(workspace, path, "😀\n")
    assert path.read_bytes() == mark + "😀\n".encode(encoding)
    if mark:
        await _write(workspace, path, "\ufeffa")
        assert path.read_bytes() == mark + "a".encode(encoding)


async def test_half_of_a_character_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidParams, match=r"U\+D83D can't be stored as utf-8"):
        await _write(Workspace(tmp_path), tmp_path / "file", "\ud83d")
    assert os.listdir(tmp_path) == []


async def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    path.write_bytes(codecs.BOM_UTF8 + b"ab\xff")
    with pytest.raises(InvalidParams) as refused:
        await _read(Workspace(tmp_path), path)
    assert refused.value.message == f"'{path}' is not utf-8 text: invalid start byte at byte 5."
    assert refused.value.data == {"path": str(path)}


async def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path / "file" / "missing"):
        (tmp_path / "file").touch()
        with pytest.raises(ResourceNotFound) as missing:
            await _read(Workspace(tmp_path), path)
        assert missing.value.message == f"'{path}' doesn't exist (ENOENT: No such file or directory)."
        assert missing.value.data == {"path": str(path)}


async def test_a_path_outside_of_the_roots_is_invalid(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    workspace, path = Workspace(tmp_path / "a", tmp_path / "b"), f"{tmp_path}/a/../c"
    for act in (_read(workspace, path), _write(workspace, path, "")):
        with pytest.raises(InvalidParams) as refused:
            await act
        assert refused.value.message == f"'{path}' is outside of {tmp_path}/a, {tmp_path}/b."
        assert refused.value.data == {"path": path, "roots": [f"{tmp_path}/a", f"{tmp_path}/b"]}
    assert workspace.roots == (tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize("path", ["relative", "{root}", "{root}/\0", "{root}/" + "a/" * 50_000])
async def test_what_is_no_file_is_invalid(tmp_path: Path, path: str) -> None:
    workspace = Workspace(tmp_path)
    for act in (_read(workspace, path), _write(workspace, path.replace("{root}", str(tmp_path)), "")):
        with pytest.raises(InvalidParams) as refused:
            await act
        assert len(str(refused.value.data)) < 5000


async def test_a_file_over_the_limit_is_invalid(tmp_path: Path) -> None:
    workspace, path = Workspace(tmp_path, max_bytes=4), tmp_path / "file"
    path.write_text("12345")
    for act in (_read(workspace, path, 1, 1), _write(workspace, path, "éé!")):
        with pytest.raises(InvalidParams, match="is larger than the limit of 4 bytes"):
            await act
    await _write(workspace, path, "éé")
    assert await _read(workspace, path) == "éé"


async def test_a_file_of_16_mib_is_written_and_read_by_default(tmp_path: Path) -> None:
    workspace, path, text = Workspace(tmp_path), tmp_path / "file", "x" * (16 * 1024 * 1024)
    await _write(workspace, path, text)
    assert await _read(workspace, path) == text
    with pytest.raises(InvalidParams, match="is larger than the limit"):
        await _write(workspace, path, f"{text}x")


async def test_a_refusal_of_the_system_is_an_internal_error(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 200)
    with pytest.raises(InternalError, match="File name too long") as refused:
        await _read(Workspace(tmp_path), path)
    assert refused.value.data == {"path": str(path)}


async def test_unsaved_text_is_read_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "saved").write_text("saved")
    (tmp_path / "link").symlink_to("open")
    asked: list[Path] = []

    async def read_buffer(path: Path) -> str | None:
        asked.append(path)
        return "unsaved" if path.name == "open" else None

    workspace = Workspace(tmp_path, read_buffer=read_buffer)
    assert await _read(workspace, tmp_path / "link") == "unsaved"
    assert await _read(workspace, tmp_path / "saved") == "saved"
    with pytest.raises(InvalidParams):
        await _read(workspace, tmp_path / ".." / "open")
    assert asked == [tmp_path / "open", tmp_path / "saved"]


@pytest.mark.parametrize("is_async", [False, True])
async def test_an_editor_is_informed_of_writes(tmp_path: Path, is_async: bool) -> None:
    (tmp_path / "link").symlink_to("file")
    results: list[tuple[Path, str, str]] = []

    def on_write(path: Path, text: str) -> None:
        results.append((path, text, path.read_text()))

    async def on_write_later(path: Path, text: str) -> None:
        await asyncio.sleep(0)
        on_write(path, text)

    workspace = Workspace(tmp_path, on_write=on_write_later if is_async else on_write)
    await _write(workspace, tmp_path / "link", "new")
    with pytest.raises(InvalidParams):
        await _write(workspace, tmp_path, "")
    assert results == [(tmp_path / "file", "new", "new")]


async def test_what_a_function_of_the_editor_raises_is_not_the_answer_about_the_file(tmp_path: Path) -> None:
    def on_write(path: Path, text: str) -> None:
        raise FileNotFoundError(f"no formatter for {path.name} with {text}")

    def read_buffer(path: Path) -> str:
        raise FileNotFoundError(f"no editor for {path.name}")

    workspace = Workspace(tmp_path, on_write=on_write, read_buffer=read_buffer)
    with pytest.raises(FileNotFoundError, match="no formatter for file with new"):
        await _write(workspace, tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "new"
    with pytest.raises(FileNotFoundError, match="no editor for file"):
        await _read(workspace, tmp_path / "file")


async def test_what_a_function_of_the_editor_returns_is_ignored(tmp_path: Path) -> None:
    result: dict[Path, str] = {}
    on_write: Any = result.setdefault
    await _write(Workspace(tmp_path, on_write=on_write), tmp_path / "file", "new")
    assert result == {tmp_path / "file": "new"}


async def test_a_read_only_workspace_has_no_writes(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, read_only=True)
    with pytest.raises(MethodNotFound):
        await _write(workspace, tmp_path / "file", "")
    assert workspace.capabilities() == v1.FileSystemCapabilities(read_text_file=True, write_text_file=False)
    assert Workspace(tmp_path).capabilities() == v1.FileSystemCapabilities(read_text_file=True, write_text_file=True)


async def test_a_write_only_workspace_has_no_reads(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, write_only=True)
    await _write(workspace, tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "new"
    with pytest.raises(MethodNotFound):
        await _read(workspace, tmp_path / "file")
    assert workspace.capabilities() == v1.FileSystemCapabilities(read_text_file=False, write_text_file=True)
    with pytest.raises(ValueError, match="not both"):
        Workspace(tmp_path, read_only=True, write_only=True)


async def test_requests_for_a_file_are_handled_in_their_order(tmp_path: Path) -> None:
    workspace, path = Workspace(tmp_path), tmp_path / "file"
    acts: list[Any] = []
    for number in range(100):
        acts += [_write(workspace, path, str(number)), _read(workspace, path)]
    assert (await asyncio.gather(*acts))[1::2] == [str(number) for number in range(100)]


async def test_a_cancelled_write_is_finished_before_the_next_one(tmp_path: Path) -> None:
    results: list[str] = []
    is_written, may_end = asyncio.Event(), asyncio.Event()

    async def on_write(path: Path, text: str) -> None:
        is_written.set()
        await may_end.wait()
        results.append(f"{text} {path.read_text()}")

    workspace, path = Workspace(tmp_path, on_write=on_write), tmp_path / "file"
    first = asyncio.create_task(_write(workspace, path, "first"))
    await is_written.wait()
    second = asyncio.create_task(_write(workspace, path, "second"))
    for _ in range(3):
        first.cancel()
        await asyncio.sleep(0)
    assert not first.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await first
    await second
    assert results == ["first first", "second second"]


async def test_a_slow_file_does_not_block_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = threading.Event()

    def read(files: ConfinedFiles, path: object) -> bytes:
        assert is_over.wait(30)
        return b"a"

    monkeypatch.setattr(ConfinedFiles, "read", read)
    reading = asyncio.create_task(_read(Workspace(tmp_path), tmp_path / "file"))
    await asyncio.sleep(0)  # in which the reading begins
    is_over.set()
    assert await reading == "a"
