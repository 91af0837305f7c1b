"""Random lines, and the checks that each of them has to pass."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic_core import from_json

from acp_bindings.v1 import methods
from acp_kit.frame_log import redact
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.jsonrpc.encoding import dump
from acp_runtime.jsonrpc.error_responses import safe_error_line
from acp_runtime.jsonrpc.messages import (
    Ignored,
    IncomingNotification,
    IncomingRequest,
    IncomingResponse,
    InvalidNotification,
    Refused,
)
from tests.support.runtime.odd_json import message
from tests.support.runtime.peer import line, prompt, update

MAX_DEPTH = 200
MAX_DIGITS = 4300
NOT_JSON = object()
DECODERS = [
    Decoder(methods.AGENT_REQUESTS, methods.AGENT_NOTIFICATIONS),
    Decoder(methods.CLIENT_REQUESTS, methods.CLIENT_NOTIFICATIONS),
]

# As in JSONTestSuite: valid JSON, invalid JSON, and JSON that parsers disagree about.
TEXT_VALUES = rb"""
[] {} null true false 0 -0 1 -1 1.5 -0.0 1e5 1E+5 1e-5 1.5e300 123456789012345678901234567890 [[]] [{}] {"":0}
{"a":1,"a":2} {"a":{"a":{}}} [1,[2,[3]]] 1e999 -1e999 1e-999 0.1e0000001 [1,"a",null,true,{}]
"" "a" "\u0000" "\"\\\/\b\f\n\r\t" "\ud83d\ude00" "\ud83d" "\ude00\ud83d" "\uDFFF" "\u00e9" "\uffff" "\u2028"
"\ud83d\ud83d\ude00" {"\ud83d":1} "\\ud83d" "\\\ud83d"
NaN -NaN Infinity -Infinity +1 01 -01 1. .5 1e 1e+ 0x1 1_0 -- - + 1a nul tru falsey None True undefined
'a' "a "\x" "\u12" "\u12g4" "\ud83d\u" "\U0010fffd" [1,] [,1] [1,,2] [1 2] [1 [1,2 ]] [ ] { } {"a":1,} {,} {"a"}
{"a":} {"a" 1} {a:1} {1:1} {'a':1} {"a":1 "b":2} {"a":1}} {{}} // /**/ # [1]# ["\a"] [1]x {"a":b} * & <x> "a"b
] } : , [} {] [" {" {"a":"
"""
BYTE_VALUES = [
    b" 1 ",
    b"\t[ ]\t",
    b"\x00",
    b"\xef\xbb\xbf1",
    b"\xff\xfe",
    b"1\x00",
    b"\xc2\xa01",
    b"\x0b1",
    b"\x0c",
    b'"\x7f"',
    b'"\xc3\xa9"',
    b'"\xf0\x9f\x98\x80"',
    b'"\xe2\x80\xa8"',
    b'"\x00"',
    b'"\x1f"',
    b'"\t"',
    b'"\xff"',
    b'"\xc3("',
    b'"\xed\xa0\x80"',
    b'"\xf4\x90\x80\x80"',
    b'"\xef\xb7\x90"',
    b'["\xef\xb7\x90d83d"]',
    b'{"\xef\xb7\x90d83d":"\\ufdd0d83d"}',
    b"9" * 4300,
    b"9" * 4301,
    b"-" + b"9" * 6000,
    b"1." + b"3" * 5000,
    b"[" * 150 + b"]" * 150,
    b"[" * 600 + b"]" * 600,
    b'{"a":' * 400 + b"1" + b"}" * 400,
    b"[" * 3000,
]
VALUES = [*TEXT_VALUES.split(), *BYTE_VALUES]

MESSAGES = [
    line({"id": 0, "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": {}}}).strip(),
    line(prompt(7)).strip(),
    line(update("s1", "The text \ud83d of an update")).strip(),
    message(id="x", method="_ext", params={"a": [1, 2.5, None, "é", {"b": []}]}),
    message(method="_ext", params=[1]),
    message(id=3, result={"sessionId": "s", "_meta": {"x": [1, {"y": None}]}}),
    message(id=3, error={"code": -32000, "message": "sign in", "data": [1]}),
    message(method="session/cancel", params={"sessionId": "s1"}),
    message(method="$/cancel_request", params={"requestId": 3}),
    message(id=4, method="fs/read_text_file", params={"sessionId": "s", "path": "/x", "line": 1}),
]
ALPHABET = b'{}[]",:\\u0123456789abcdeftrun-+.E \t\r\x00\xff\xc3\xed\xa0\xf0NIy'


def mutations(seed: int, lines: list[bytes]) -> Iterator[bytes]:
    """Yield mutated lines endlessly."""
    chance = random.Random(seed)
    while True:
        yield _mutated(chance, chance.choice(lines), lines)


def generated() -> Iterator[bytes]:
    """Yield each value of the table in every place of a message, and alone."""
    for value in VALUES:
        yield value
        for name in ("jsonrpc", "id", "method", "params", "result", "error", "x"):
            yield _with(b'"%b":%b' % (name.encode(), value), prompt(1))
            yield b'{"jsonrpc":"2.0","id":1,"%b":%b}' % (name.encode(), value)
        yield b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%b,"update":%b}}' % (value, value)
        yield b'{"jsonrpc":"2.0","id":1,"method":"_x","params":{"a":%b,"b":[%b]}}' % (value, value)


def check(line: bytes) -> None:
    """Decode a line as either side does, and compare the result with a reference parser."""
    value = reference(line)
    for decoder in DECODERS:
        decoded = decoder.decode(line)
        kind = type(decoded)
        assert kind in (IncomingRequest, IncomingNotification, IncomingResponse, InvalidNotification, Refused, Ignored)
        is_refused_as_json = isinstance(decoded, Refused) and decoded.error.code == -32700
        assert is_refused_as_json == (value is NOT_JSON), (line[:200], decoded if kind is Refused else kind)
        if isinstance(decoded, Refused):
            _check_refused(decoded, value)
        elif value is not NOT_JSON:
            _check_content(decoded, value)
        if isinstance(value, dict) and value:
            _check_same(decoded, decoder.decode(line.rstrip(b" \t\r")[:-1] + rb',"extra":"\ud83d"}'))
    redact(line)


def reference(line: bytes) -> Any:
    """Return the value of a line by a strict parser, or NOT_JSON."""
    try:
        value = json.loads(line.decode(), parse_constant=_refuse, parse_int=_integer, parse_float=_float)
    except (ValueError, RecursionError):
        return NOT_JSON
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for container in level for item in _items(container)]
    return NOT_JSON if level else value


def _check_same(decoded: Any, odd: Any) -> None:
    """Check that a line that pydantic-core can't read gives the same message."""
    assert type(odd) is type(decoded)
    if isinstance(decoded, (IncomingRequest, IncomingNotification)):
        assert (odd.method, odd.params) == (decoded.method, decoded.params)
    elif isinstance(decoded, Refused):
        assert (odd.id, odd.error.code, odd.error.data) == (decoded.id, decoded.error.code, decoded.error.data)
    elif isinstance(decoded, InvalidNotification):
        assert (odd.params, odd.error.data) == (decoded.params, decoded.error.data)
    elif isinstance(decoded, IncomingResponse):
        assert (odd.id, odd.is_error, odd.error, odd.fault) == (
            decoded.id,
            decoded.is_error,
            decoded.error,
            decoded.fault,
        )


def _check_refused(refused: Refused, value: Any) -> None:
    answer = json.loads(safe_error_line(refused.id, refused.error), parse_constant=_refuse)
    assert (answer["id"], answer["error"]["code"]) == (refused.id, refused.error.code)
    assert refused.description or refused.error.code in (-32601, -32602)
    if value is not NOT_JSON:
        is_call = isinstance(value, dict) and isinstance(value.get("method"), str) and value.get("jsonrpc") == "2.0"
        is_call = is_call and not {"result", "error"} & value.keys()
        assert (refused.error.code == -32600) == (not is_call or not _is_id(value.get("id")))
        assert refused.id == (None if refused.error.code == -32600 else value["id"])


def _check_content(decoded: Any, value: Any) -> None:
    if isinstance(decoded, IncomingResponse):
        assert not isinstance(value.get("method"), str)
        assert "result" in value or "error" in value or decoded.fault
        return
    assert isinstance(value["method"], str)
    if isinstance(decoded, (IncomingRequest, IncomingNotification)):
        assert decoded.method == value["method"]
        assert ("id" in value) == isinstance(decoded, IncomingRequest)
        if isinstance(decoded, IncomingRequest):
            assert (decoded.id, type(decoded.id)) == (value["id"], type(value["id"]))
        if decoded.method.startswith("_"):
            assert decoded.params == value.get("params")
        _check_dumped(decoded)
    elif isinstance(decoded, InvalidNotification):
        assert decoded.params == value.get("params")


def _check_dumped(decoded: Any) -> None:
    """Check that received params can be sent, unless a number in them became infinite."""
    try:
        dumped = dump(decoded.params)
    except ValueError as refused:
        if "NaN" in str(refused):
            return
        raise
    again = reference(dumped)
    assert again is not NOT_JSON
    if decoded.method.startswith("_"):
        assert again == decoded.params


def _mutated(chance: random.Random, line: bytes, lines: list[bytes]) -> bytes:
    changed = bytearray(line)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        start = chance.randrange(len(changed) + 1)
        end = min(len(changed), start + chance.choice([0, 1, 1, 2, 5, 40]))
        other = chance.choice(lines)
        piece = chance.randrange(len(other))
        changed[start:end] = chance.choice(
            [
                b"",
                bytes([chance.choice(ALPHABET)]),
                bytes([chance.randrange(256)]),
                chance.choice(VALUES),
                bytes(changed[start:end]) * 2,
                other[piece : piece + 20],
                rb"\ud83d",
            ]
        )
    return bytes(changed).replace(b"\n", b" ")


def _with(member: bytes, object: dict[str, Any]) -> bytes:
    return b"%b,%b}" % (json.dumps({"jsonrpc": "2.0", **object}).encode()[:-1], member)


def _items(value: Any) -> Iterable[Any]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in items if isinstance(item, (dict, list))]


def _is_id(value: Any) -> bool:
    return value is None or (isinstance(value, (int, str)) and not isinstance(value, bool))


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int:
    if len(digits.removeprefix("-")) > MAX_DIGITS:
        raise ValueError("too many digits")
    return int(digits)


def _float(digits: str) -> Any:
    """Read a number. Only pydantic-core knows how many digits it can have, and rule 3 asks for no more."""
    return from_json(digits)
