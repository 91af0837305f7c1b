"""Prints what reading a megabyte costs by what is in it, which a peer chooses: `python -m benchmarks.contents`.

Each line is read and checked as a connection does it, and read by `json.loads`. A row that is far above the others of
its kind is work that a peer can cause with few bytes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from acp_bindings.v1.connecting import AGENT_SIDE, CLIENT_SIDE
from acp_runtime import Options
from acp_runtime.connection.state import ProtocolState
from acp_runtime.jsonrpc.decoding import decoder_of
from acp_runtime.jsonrpc.messages import IncomingNotification, IncomingRequest
from acp_runtime.stubs.sides import Side

SIZE = 1_000_000
LEVELS = 150


def main() -> int:
    """Measure each content and print a row for it."""
    print("| content | CPU, ms | json.loads, ms |\n| --- | --- | --- |")
    for side, contents in ((AGENT_SIDE, prompts()), (CLIENT_SIDE, updates())):
        read = _reader_of(side)
        for name, line in contents.items():
            read(line)  # the validator of a method is built when it is first used
            ours, parsed = _cpu(read, line), _cpu(_parse, line)
            print(f"| {name} | {ours:.1f} | {parsed:.1f} |", flush=True)
    return 0


def prompts() -> dict[str, bytes]:
    """Return lines with a prompt, by what is in it."""
    numbers = repeated(b"0", b",")
    keys = b",".join(b'"%d":0' % number for number in range(SIZE // 10))
    return {
        "text": prompt(repeated(b"a")),
        "text with newlines": prompt(repeated(rb"\n")),
        "text with escapes": prompt(repeated(rb"\u00e9")),
        "text with surrogate pairs": prompt(repeated(rb"\ud83d\ude00")),
        "lone surrogates": prompt(repeated(rb"\ud83d")),
        "surrogate pairs and a lone one": prompt(repeated(rb"\ud83d\ude00") + rb"\ud83d"),
        "backslashes and a lone surrogate": prompt(b"\\" * SIZE + rb"\ud83d"),
        "lone surrogates and what hides them": prompt(rb"\ud83d" + repeated("\ufdd0".encode())),
        "numbers": with_meta(b'"x":[%b]' % numbers),
        "numbers and a lone surrogate": with_meta(rb'"x":["\ud83d",%b]' % numbers),
        "long numbers": with_meta(b'"x":[%b]' % repeated(b"9" * 4000, b",")),
        "keys": with_meta(keys),
        "keys and a lone surrogate": with_meta(rb'"x":"\ud83d",' + keys),
        "empty arrays": with_meta(b'"x":[%b]' % repeated(b"[]", b",")),
        "deep arrays": with_meta(b'"x":[%b]' % repeated(b"[" * LEVELS + b"]" * LEVELS, b",")),
        "unknown fields": request(b'"prompt":[],' + keys),
        "blocks": with_blocks(b'{"type":"text","text":""}'),
        "blocks, and an invalid one": with_blocks(b'{"type":"text","text":""}', last=b",1"),
        "invalid blocks": with_blocks(b"1"),
        "blocks of an unknown type": with_blocks(b'{"type":"x"}'),
        "images, not advertised": with_blocks(b'{"type":"image","data":"","mimeType":""}'),
        "relative directories": with_directories(b'""'),
        "an unknown method": b'{"jsonrpc":"2.0","id":1,"method":"x","params":[%b]}' % numbers,
        "not JSON": b"[" * SIZE,
    }


def updates() -> dict[str, bytes]:
    """Return lines with an update, by what is in it."""
    return {
        "locations": update("tool_call_update", "locations", b'{"path":"/"}'),
        "relative locations": update("tool_call_update", "locations", b'{"path":""}'),
        "commands": update("available_commands_update", "availableCommands", b'{"name":"","description":""}'),
        "invalid commands, dropped": update("available_commands_update", "availableCommands", b"1"),
        "entries of a plan, dropped": update("plan", "entries", b'{"content":"","priority":"x","status":"x"}'),
        "an unknown update": update("x", "items", b"0"),
    }


def repeated(item: bytes, separator: bytes = b"") -> bytes:
    """Return a megabyte of an item."""
    return separator.join([item] * (SIZE // len(item + separator)))


def request(members: bytes) -> bytes:
    """Return a prompt with these members beside its session."""
    return b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s",%b}}' % members


def prompt(text: bytes) -> bytes:
    """Return a prompt with a text, given as it is in JSON."""
    return request(b'"prompt":[{"type":"text","text":"%b"}]' % text)


def with_meta(members: bytes) -> bytes:
    """Return a prompt with these members in `_meta`."""
    return request(b'"prompt":[],"_meta":{%b}' % members)


def with_blocks(block: bytes, last: bytes = b"") -> bytes:
    """Return a prompt with a megabyte of content blocks."""
    return request(b'"prompt":[%b%b]' % (repeated(block, b","), last))


def with_directories(directory: bytes) -> bytes:
    """Return a new session with a megabyte of directories."""
    params = b'{"cwd":"/","mcpServers":[],"additionalDirectories":[%b]}' % repeated(directory, b",")
    return b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":%b}' % params


def update(kind: str, field: str, item: bytes) -> bytes:
    """Return an update with a megabyte of items in a field."""
    given = b'"sessionUpdate":"%b","toolCallId":"t","%b":[%b]' % (kind.encode(), field.encode(), repeated(item, b","))
    return b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{%b}}}' % given


def _reader_of(side: Side[Any]) -> Callable[[bytes], None]:
    """Return a function that decodes a line and checks whether it may be handled. This side advertised nothing."""
    decoder, state = decoder_of(side), ProtocolState(side, Options())
    state.is_open = True

    def read(line: bytes) -> None:
        message = decoder.decode(line)
        if isinstance(message, (IncomingRequest, IncomingNotification)):
            method = side.requests.get(message.method) or side.notifications.get(message.method)
            if method is not None:
                state.check_incoming(method, message.params)

    return read


def _parse(line: bytes) -> None:
    with suppress(ValueError, RecursionError):
        json.loads(line)


def _cpu(read: Callable[[bytes], object], line: bytes) -> float:
    """Return the milliseconds of CPU that reading a line takes for a megabyte, at least."""
    seconds: list[float] = []
    for _ in range(3):
        began = time.process_time()
        read(line)
        seconds.append(time.process_time() - began)
    return 1000 * min(seconds) * SIZE / len(line)


if __name__ == "__main__":
    sys.exit(main())
