"""Blocks of content are made from files, read as text without dropping one, and checked against capabilities."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from acp_bindings.v1 import AgentCapabilities, ContentBlock, ContentBlockResourceLink, PromptCapabilities
from acp_kit import content

PNG = b"\x89PNG\r\n\x1a\n"


class PeerWith:
    """Stands for a proxy after `initialize`."""

    def __init__(self, **prompt: bool) -> None:
        self.capabilities = AgentCapabilities(prompt_capabilities=PromptCapabilities(**prompt))


def agent(**prompt: bool) -> Any:
    return PeerWith(**prompt)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.png").write_bytes(PNG)
    (tmp_path / "a.wav").write_bytes(b"RIFF")
    (tmp_path / "a.py").write_text("print('ü')\n", "utf-8")
    (tmp_path / "a.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "a b").write_text("x")
    return tmp_path


def test_an_image_and_a_sound_have_the_bytes_and_the_type_of_the_file(folder: Path) -> None:
    picture = content.image(folder / "a.png")
    assert (base64.b64decode(picture.data), picture.mime_type) == (PNG, "image/png")
    sound = content.audio(folder / "a.wav")
    assert base64.b64decode(sound.data) == b"RIFF"
    assert sound.mime_type in ("audio/wav", "audio/x-wav")
    assert content.image(b"x", "image/webp").mime_type == "image/webp"


def test_a_type_that_cannot_be_guessed_from_the_name_has_to_be_given(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"can't be guessed from 'a\.py'\. Pass mime_type='image/"):
        content.image(folder / "a.py")
    with pytest.raises(ValueError, match=r"Pass mime_type='audio/"):
        content.audio(b"x")
    with pytest.raises(FileNotFoundError):
        content.image(folder / "missing.png")


def test_a_resource_is_text_if_it_can_be(folder: Path) -> None:
    block = content.resource(folder / "a.py")
    assert block.resource.model_dump() == {
        "mimeType": "text/x-python",
        "text": "print('ü')\n",
        "uri": (folder / "a.py").as_uri(),
    }
    blob: Any = content.resource(folder / "a.bin").resource
    assert base64.b64decode(blob.blob) == b"\xff\xfe\x00"
    assert blob.mime_type == "application/octet-stream"


def test_a_link_needs_no_file(folder: Path) -> None:
    link = content.link(folder / "a b")
    assert (link.name, link.uri, link.size) == ("a b", f"{folder.as_uri()}/a%20b", 1)
    assert content.link(folder / "later.txt", "Later").name == "Later"


def test_every_block_is_in_the_text(folder: Path) -> None:
    blocks: list[ContentBlock] = [
        content.text("Look:"),
        content.link(folder / "a.py"),
        content.resource(folder / "a.py"),
        content.resource(folder / "a.bin"),
        content.image(folder / "a.png"),
        content.audio(folder / "a.wav", "audio/wav"),
    ]
    uri = folder.as_uri()
    assert content.to_text(blocks).splitlines() == [
        "Look:",
        f"[a.py]({uri}/a.py)",
        f'<resource uri="{uri}/a.py">',
        "print('ü')",
        "",
        "</resource>",
        f"[application/octet-stream: {uri}/a.bin]",
        "[image/png]",
        "[audio/wav]",
    ]


def test_a_link_is_one_line_whatever_its_name_is() -> None:
    link = ContentBlockResourceLink(name="a\n\r\u2028b  c", uri="file:///a")
    assert content.to_text([link]) == "[a b c](file:///a)"


@pytest.mark.parametrize(
    ("uri", "path", "windows"),
    [
        ("file:///work/a%20b/%C3%A4%23.py#L10:20", "/work/a b/\u00e4#.py", False),
        ("FILE://localhost/work/a?line=3", "/work/a", False),
        ("file:/work/a%FF", "/work/a\udcff", False),
        ("file:///C:/Users/a%20b.py#L1", r"C:\Users\a b.py", True),
        ("file:///c%3A/%C3%A4", "c:\\\u00e4", True),
        ("file:///work/a", r"\work\a", True),
        ("file://server/share/a", r"\\server\share\a", True),
    ],
)
def test_a_path_is_made_from_a_uri(uri: str, path: str, windows: bool) -> None:
    assert content.path_of(uri, windows=windows) == path


def test_the_uri_of_a_link_leads_to_its_file(folder: Path) -> None:
    assert content.path_of(content.link(folder / "a b").uri) == str(folder / "a b")


@pytest.mark.parametrize("uri", ["https://host/a", "/work/a", "file:a", "file://other/a", "file://[/a", "file:"])
def test_a_uri_of_anything_but_a_local_file_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match=r"URI|machine|URL"):
        content.path_of(uri, windows=False)


def test_a_prompt_that_the_agent_supports_is_returned(folder: Path) -> None:
    blocks = [content.text("x"), content.image(folder / "a.png"), content.resource(folder / "a.py")]
    assert content.prompt_for(agent(image=True, embedded_context=True), blocks) == blocks


def test_the_error_names_the_blocks_that_the_agent_does_not_support(folder: Path) -> None:
    blocks = [content.text("x"), content.image(folder / "a.png"), content.link(folder / "a.py")]
    with pytest.raises(content.UnsupportedContent, match="doesn't support blocks of the type image") as raised:
        content.prompt_for(agent(audio=True), blocks)
    assert raised.value.blocks == [blocks[1]]


def test_a_diff_has_both_sides() -> None:
    block = content.diff("/a.txt", None, "new")
    assert (block.path, block.old_text, block.new_text, block.type) == ("/a.txt", None, "new", "diff")


def test_a_compressed_file_does_not_have_the_type_of_its_content(folder: Path) -> None:
    (folder / "notes.txt.gz").write_bytes(b"\x1f\x8b\0")
    assert content.link(folder / "notes.txt.gz").mime_type is None
    assert content.resource(folder / "notes.txt.gz").resource.mime_type == "application/octet-stream"
