"""Redacts recordings, also the secrets that are streamed in pieces.

A stream is the texts at one place of messages of one kind: the chunks of a message, the output of a terminal, the lines
of stderr. Secrets are searched for in its joined texts, and removed from the pieces.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, cast

from acp_kit.common.json_values import members_of
from acp_kit.recording.file_format import OPPOSITE, Recorded
from acp_kit.recording.redaction import redact_recorded
from acp_kit.recording.secrets_in_texts import REDACTED, find_secrets

_Path: TypeAlias = tuple[str | int, ...]

_VISITED = (dict, list, str)
# Where messages of version 2 have the output of a terminal, in base64.
_TERMINAL_OUTPUT = (("params", "update"), ("params", "update", "output"))


class _Piece(NamedTuple):
    """A text of a stream.

    Attributes:
        entry: the index of the recorded line.
        path: where the text is in the message; () if it is the line.
        is_base64: whether it is encoded, as the output of terminals in version 2.
        text: the text, as it is in JSON, without quotes.
    """

    entry: int
    path: _Path
    is_base64: bool
    text: bytes


def redact_recording(recording: Iterable[Recorded]) -> list[Recorded]:
    """Return a recording without secrets, to share it."""
    entries = [*recording]
    changed: dict[int, Recorded] = {}
    for is_appended, pieces in _streams(entries):
        for piece, text in _redact_pieces(pieces, is_appended=is_appended):
            if piece.entry not in changed:
                entry = entries[piece.entry]
                changed[piece.entry] = entry._replace(message=deepcopy(entry.message))
            changed[piece.entry] = _with_text(changed[piece.entry], piece, text)
    return [redact_recorded(changed.get(index, entry)) for index, entry in enumerate(entries)]


def _streams(entries: Sequence[Recorded]) -> Iterator[tuple[bool, list[_Piece]]]:
    """Yield the streams of a recording, and whether each piece is appended to the ones before it."""
    streams: defaultdict[tuple[object, ...], list[_Piece]] = defaultdict(list)
    calls: dict[tuple[str, str], tuple[object, ...]] = {}  # the kinds of the calls without a response
    for index, entry in enumerate(entries):
        if entry.line is not None:
            streams["line", entry.direction].append(_Piece(index, (), is_base64=False, text=_escape(f"{entry.line}\n")))
            continue
        message = members_of(entry.message)
        if "method" in message:
            kind = (entry.direction, *_kind(message))
            if "id" in message:
                calls[entry.direction, json.dumps(message["id"])] = kind
        else:
            call = OPPOSITE[entry.direction], json.dumps(message.get("id"))
            kind = (entry.direction, *calls.pop(call, ()))
        for path, text, is_base64 in _texts(message):
            streams[(*kind, path)].append(_Piece(index, path, is_base64, _escape(text)))
    for key, pieces in streams.items():
        if len(pieces) > 1 or pieces[0].is_base64:
            yield key[0] == "line" or key[-2] is True, pieces


def _kind(message: dict[str, Any]) -> tuple[object, ...]:
    """Return the method of a message, the ids in its params, and whether it appends to a text."""
    params = members_of(message, "params")
    update = members_of(params, "update")
    members = [*params.items(), *update.items()]
    ids = [f"{key}={value}" for key, value in members if key.endswith("Id") or key == "sessionUpdate"]
    is_chunk = not update or str(update.get("sessionUpdate")).endswith("_chunk")
    return str(message["method"]), *ids, "id" not in message and is_chunk


def _texts(message: object) -> Iterator[tuple[_Path, str, bool]]:
    """Yield the texts in a message with their paths, and whether they are encoded."""
    unvisited: list[tuple[_Path, object]] = [((), message)]
    while unvisited:
        path, node = unvisited.pop()
        if isinstance(node, dict):
            fields = cast("dict[str, object]", node)
            data = fields.get("data") if path in _TERMINAL_OUTPUT else None
            if isinstance(data, str) and (text := _decode(data)) is not None:
                yield (*path, "data"), text, True
                fields = dict[str, object]((key, value) for key, value in fields.items() if key != "data")
            unvisited += [((*path, key), value) for key, value in fields.items() if value.__class__ in _VISITED]
        elif isinstance(node, list):
            unvisited += [((*path, index), item) for index, item in enumerate(cast("list[object]", node))]
        elif isinstance(node, str) and node:
            yield path, node, False


def _redact_pieces(pieces: Sequence[_Piece], *, is_appended: bool) -> Iterator[tuple[_Piece, bytes]]:
    """Yield the pieces of a stream that have a part of a secret, and their texts without it.

    Args:
        pieces: the pieces.
        is_appended: whether each is appended to the ones before it. Otherwise, one that begins with the one before it
            is a newer state of it.
    """
    offsets: list[int] = []
    joined: list[bytes] = []
    end = 0
    for index, piece in enumerate(pieces):
        offsets.append(end)
        following = pieces[index + 1].text if index + 1 < len(pieces) else b""
        if is_appended or not following.startswith(piece.text):
            joined.append(piece.text)
            end += len(piece.text)
    spans = find_secrets(b"".join(joined), to_share=True)
    first = 0  # of the spans that don't end before the piece
    for piece, offset in zip(pieces, offsets, strict=True):
        while first < len(spans) and spans[first][1] <= offset:
            first += 1
        text = b""
        position = 0
        for start, stop in islice(spans, first, None):
            if start >= offset + len(piece.text):
                break
            if start >= offset:
                text += piece.text[position : start - offset] + REDACTED
            position = min(stop - offset, len(piece.text))
        if position:
            yield piece, text + piece.text[position:]


def _with_text(entry: Recorded, piece: _Piece, escaped: bytes) -> Recorded:
    text: str = json.loads(f'"{escaped.decode(errors="surrogatepass")}"', strict=False)
    if not piece.path:
        return entry._replace(line=text.removesuffix("\n"))
    parent = entry.message
    for key in piece.path[:-1]:
        parent = parent[key]
    parent[piece.path[-1]] = b64encode(text.encode(errors="surrogateescape")).decode() if piece.is_base64 else text
    return entry


def _escape(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode(errors="surrogatepass")


def _decode(data: str) -> str | None:
    try:
        return b64decode(data, validate=True).decode(errors="surrogateescape")
    except ValueError:
        return None
