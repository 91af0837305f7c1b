"""Makes blocks of content from text and files, converts them to text, and checks whether an agent supports them."""

from __future__ import annotations

import os
import sys
from base64 import b64encode
from collections.abc import Iterable, Sequence
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from acp_bindings import v1
from acp_kit.common.profiles import convert

if TYPE_CHECKING:
    from acp_bindings import v1_unstable

_UNKNOWN_TYPE = "application/octet-stream"


class UnsupportedContent(ValueError):
    """An agent doesn't support some blocks of a prompt.

    Attributes:
        blocks: the unsupported blocks.
    """

    def __init__(self, blocks: Sequence[v1.ContentBlock], reason: str) -> None:
        super().__init__(reason)
        self.blocks: list[v1.ContentBlock] = [*blocks]


def text(value: str) -> v1.ContentBlockText:
    """Return a block of text."""
    return v1.ContentBlockText(text=value)


def image(source: str | Path | bytes, mime_type: str | None = None) -> v1.ContentBlockImage:
    """Return an image.

    Args:
        source: a file, or the bytes of one.
        mime_type: such as `image/png`; by default, guessed from the name of the file.

    Raises:
        OSError: if the file can't be read.
        ValueError: if the type can't be guessed.
    """
    return v1.ContentBlockImage(data=_encode(source), mime_type=mime_type or _media_type(source, "image"))


def audio(source: str | Path | bytes, mime_type: str | None = None) -> v1.ContentBlockAudio:
    """Return audio.

    Args:
        source: a file, or the bytes of one.
        mime_type: such as `audio/wav`; by default, guessed from the name of the file.

    Raises:
        OSError: if the file can't be read.
        ValueError: if the type can't be guessed.
    """
    return v1.ContentBlockAudio(data=_encode(source), mime_type=mime_type or _media_type(source, "audio"))


def resource(path: str | Path, mime_type: str | None = None) -> v1.ContentBlockResource:
    """Return a file with its content: as text if it is UTF-8 without NUL, else as bytes.

    Args:
        path: the file.
        mime_type: such as `text/x-python`; by default, guessed from the name of the file.

    Raises:
        OSError: if the file can't be read.
    """
    file = Path(path).absolute()
    data = file.read_bytes()
    mime_type = mime_type or _guess_type(file)
    try:
        decoded = None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        decoded = None
    if decoded is None:
        contents: v1.TextResourceContents | v1.BlobResourceContents = v1.BlobResourceContents(
            uri=file.as_uri(), blob=b64encode(data).decode(), mime_type=mime_type or _UNKNOWN_TYPE
        )
    else:
        contents = v1.TextResourceContents(uri=file.as_uri(), text=decoded, mime_type=mime_type)
    return v1.ContentBlockResource(resource=contents)


def link(path: str | Path, name: str | None = None) -> v1.ContentBlockResourceLink:
    """Return a link to a file, which every agent supports. The file need not exist.

    Args:
        path: the file.
        name: the name that the user sees; by default, the name of the file.
    """
    file = Path(path).absolute()
    return v1.ContentBlockResourceLink(
        uri=file.as_uri(),
        name=name or file.name or str(file),
        mime_type=_guess_type(file),
        size=file.stat().st_size if file.is_file() else None,
    )


def path_of(uri: str, *, windows: bool | None = None) -> str:
    """Return the path of a file from its `file:` URI, such as that of a link.

    A fragment or a query, such as the line number that some editors add, is left out.

    Args:
        uri: the URI.
        windows: whether it is a Windows path; by default, whether this is Windows.

    Raises:
        ValueError: if it isn't a `file:` URI with an absolute path, or if the file is on another machine.
    """
    parts = urlsplit(uri)
    host = "" if parts.netloc == "localhost" else parts.netloc
    if parts.scheme != "file" or not parts.path.startswith("/"):
        raise ValueError(f"{uri!r} isn't a file: URI with an absolute path.")
    if sys.platform == "win32" if windows is None else windows:
        path = unquote(parts.path).replace("/", "\\")
        if host:
            return f"\\\\{host}{path}"
        return path[1:] if path[2:3] == ":" else path
    if host:
        raise ValueError(f"{uri!r} is a file on another machine, {host!r}.")
    return os.fsdecode(unquote_to_bytes(parts.path))


def diff(path: str | Path, old: str | None, new: str) -> v1.ToolCallContentDiff:
    """Return a change of a file, for a tool call.

    Args:
        path: the file, absolute.
        old: its content before; None for a new file.
        new: its content after.
    """
    return v1.ToolCallContentDiff(path=str(path), old_text=old, new_text=new)


def to_text(blocks: Iterable[v1.ContentBlock | v1_unstable.ContentBlock]) -> str:
    """Return blocks as one text, for models that accept only text. No block is dropped.

    Links become `[name](uri)` on one line, embedded text is put between tags with its URI, and images, audio and other
    data become their MIME type and URI.
    """
    return "\n".join(map(_as_text, blocks))


def prompt_for(agent: v1.RemoteAgent, blocks: Iterable[v1.ContentBlock]) -> list[v1.ContentBlock]:
    """Return the blocks of a prompt as blocks of the agent's profile, if the agent supports all of them.

    Raises:
        UnsupportedContent: if it doesn't. Use `link` instead, which every agent supports.
    """
    converted = [convert(agent, block) for block in blocks]
    capabilities = (agent.capabilities and agent.capabilities.prompt_capabilities) or v1.PromptCapabilities()
    supported = {
        "image": capabilities.image,
        "audio": capabilities.audio,
        "resource": capabilities.embedded_context,
    }
    unsupported = [block for block in converted if not supported.get(block.type, True)]
    if unsupported:
        types = ", ".join(dict.fromkeys(block.type for block in unsupported))
        raise UnsupportedContent(
            unsupported,
            f"This agent doesn't support blocks of the type {types} in a prompt. Send text, or a link to the resource.",
        )
    return converted


def _as_text(block: v1.ContentBlock | v1_unstable.ContentBlock) -> str:
    if block.type == "text":
        return block.text
    if block.type == "resource_link":
        name = " ".join((block.title or block.name).split())
        return f"[{name}]({block.uri})"
    if block.type == "resource":
        contents = block.resource
        body = getattr(contents, "text", None)
        if body is None:
            return f"[{contents.mime_type or _UNKNOWN_TYPE}: {contents.uri}]"
        return f'<resource uri="{contents.uri}">\n{body}\n</resource>'
    uri = getattr(block, "uri", None)
    return f"[{block.mime_type}: {uri}]" if uri else f"[{block.mime_type}]"


def _guess_type(file: Path) -> str | None:
    """Guess the type of a file from its name. None for a compressed file, because its name has the type inside."""
    mime_type, compression = guess_type(file.name)
    return None if compression else mime_type


def _encode(source: str | Path | bytes) -> str:
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    return b64encode(data).decode()


def _media_type(source: str | Path | bytes, kind: str) -> str:
    if isinstance(source, bytes):
        raise ValueError(f"The type of bytes can't be guessed. Pass mime_type='{kind}/...'.")
    guessed = _guess_type(Path(source))
    if guessed is None or not guessed.startswith(f"{kind}/"):
        raise ValueError(f"The type can't be guessed from {Path(source).name!r}. Pass mime_type='{kind}/...'.")
    return guessed
