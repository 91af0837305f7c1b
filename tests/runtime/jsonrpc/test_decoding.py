"""Rules 4, 9, 11 and 12: decoding a line into a request, a notification, a response or an error."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from acp_bindings.v1 import methods
from acp_bindings.v2_draft import methods as v2
from acp_runtime import ExtRequest, Model
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.jsonrpc.messages import (
    Ignored,
    IncomingNotification,
    IncomingRequest,
    IncomingResponse,
    InvalidNotification,
    Refused,
)
from acp_runtime.jsonrpc.strict_json import parse
from tests.support.programs import run_command
from tests.support.runtime.odd_json import message
from tests.support.runtime.peer import Link, serving, update

CUT = "cut \ud83d"


def _agent() -> Decoder:
    return Decoder(methods.AGENT_REQUESTS, methods.AGENT_NOTIFICATIONS)


def _client() -> Decoder:
    return Decoder(methods.CLIENT_REQUESTS, methods.CLIENT_NOTIFICATIONS)


INVALID = {
    "a missing field": {"sessionId": "s"},
    "a wrong type": {"sessionId": 5, "update": update("s", "x")["params"]["update"]},
    "an unknown kind of update": {"sessionId": "s", "update": {"sessionUpdate": "hunter2", "text": "hunter2"}},
    "a surrogate": {"sessionId": CUT, "update": {"sessionUpdate": CUT}},
    "an array": [1, "hunter2"],
    "a text": "hunter2",
    "nothing": None,
}


@pytest.mark.parametrize("name", INVALID)
def test_rule_12_an_invalid_notification_is_decoded_with_its_json_and_its_errors(name: str) -> None:
    decoder = _client()
    for _ in range(2):  # the first message takes a different path, because the schema is not built yet
        decoded = decoder.decode(message(method="session/update", params=INVALID[name]))
        assert isinstance(decoded, InvalidNotification)
        assert (decoded.method, decoded.params) == ("session/update", INVALID[name])
        assert decoded.error.code == -32602
        assert all(fault.keys() == {"path", "message"} for fault in decoded.error.data["errors"])
        assert decoded.error.data["errors"]
        assert "hunter2" not in json.dumps(decoded.error.data)


def test_rule_12_an_invalid_notification_of_the_protocol_itself_is_ignored() -> None:
    assert isinstance(_agent().decode(message(method="$/cancel_request", params={})), Ignored)


def test_rule_11_a_message_is_a_request_or_a_notification_as_the_schema_says() -> None:
    agent, client = _agent(), _client()
    for _ in range(2):  # the first message takes a different path, because the schema is not built yet
        sent = update("s", "x")["params"]
        assert isinstance(client.decode(message(method="session/update", params=sent)), IncomingNotification)
        refused = client.decode(message(id=1, method="session/update", params=sent))
        assert isinstance(refused, Refused)
        assert (refused.id, refused.error.code) == (1, -32601)
        new = {"cwd": "/", "mcpServers": []}
        assert isinstance(agent.decode(message(id=1, method="session/new", params=new)), IncomingRequest)
        assert not isinstance(agent.decode(message(method="session/new", params=new)), IncomingNotification)


# Frames without a method are responses, valid or not, unless they have params and no result or error.
FRAMES: dict[str, tuple[dict[str, Any], type]] = {
    "a result": ({"id": 1, "result": {}}, IncomingResponse),
    "an error": ({"id": 1, "error": {}}, IncomingResponse),
    "an id alone": ({"id": 1}, IncomingResponse),
    "an id and something": ({"id": 1, "something": 1}, IncomingResponse),
    "an id and params": ({"id": 1, "params": {}}, Refused),
    "a null id and params": ({"id": None, "params": {}}, Refused),
    "params alone": ({"params": {}}, Refused),
    "a result and params": ({"id": 1, "result": {}, "params": {}}, IncomingResponse),
    "a result without an id": ({"result": {}}, IncomingResponse),
    "a null method and a result": ({"id": 1, "method": None, "result": {}}, IncomingResponse),
    "a null method and params": ({"id": 1, "method": None, "params": {}}, Refused),
    "a null method": ({"id": 1, "method": None}, Refused),
    "an invalid id": ({"id": 1.5}, Refused),
    "a result and an invalid id": ({"id": 1.5, "result": {}}, IncomingResponse),
    "a method and a result": ({"id": 1, "method": "unknown", "result": {}}, Refused),
}


@pytest.mark.parametrize("name", FRAMES)
def test_rule_4_a_frame_without_a_method_is_a_response_or_is_refused(name: str) -> None:
    members, expected = FRAMES[name]
    for extra in ({}, {"x": "cut \ud83d"}):
        decoded = _agent().decode(message(**members, **extra))
        assert type(decoded) is expected
        if isinstance(decoded, Refused):
            assert (decoded.error.code, decoded.id) == (-32600, None)


NOT_A_MESSAGE = [
    "[]",
    '[{"jsonrpc":"2.0","id":1,"method":"a"}]',
    "17",
    "null",
    '"hello"',
    "{}",
    '{"id":1}',
    '{"id":1,"method":"session/prompt"}',
    '{"jsonrpc":"1.0","id":1,"method":"a"}',
    '{"jsonrpc":2.0,"method":"a"}',
    '{"jsonrpc":"2.0","id":1,"method":5}',
    '{"jsonrpc":"2.0","id":1.5,"method":"a"}',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":{},"method":"a"}',
    '{"jsonrpc":"2.0","id":1e999,"method":"_x"}',
    '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":""},"result":1}',
    '{"jsonrpc":"2.0","id":1,"method":"logout","params":{},"error":null}',
]


async def test_rule_4_json_that_is_not_a_message_is_refused_without_closing(link: Link) -> None:
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid request"}}
    async with serving(link) as peer:
        for sent in NOT_A_MESSAGE:
            await peer.send(sent.encode() + b"\n")
            assert await peer.receive() == refusal, sent
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("name", ["result", "error"])
@pytest.mark.parametrize("spaced", [False, True])
def test_rule_9_an_unreadable_line_that_begins_like_a_response_names_its_call(name: str, spaced: bool) -> None:
    content = {"code": 1, "message": 'a "quoted" text', "data": [1, {"id": 4, "method": "x"}]}
    separators = (", ", " : ") if spaced else (",", ":")
    for head in ({"jsonrpc": "2.0", "id": 31}, {"id": 31, "jsonrpc": "2.0"}, {"id": 31}):
        line = json.dumps({**head, name: content}, separators=separators).encode()
        shown = line.index(name.encode()) + len(name) + 1
        for end in range(len(line)):
            decoded = _client().decode(line[:end])
            assert isinstance(decoded, Refused)
            assert (decoded.id, decoded.error.code) == (None, -32700)
            assert decoded.response_to == (31 if end >= shown else None), line[:end]


@pytest.mark.parametrize(
    "head",
    [
        b'{"jsonrpc":"2.0","id":31,"method":"x","result":',
        b'{"jsonrpc":"2.0","method":"x","id":31,"result":',
        b'{"jsonrpc":"2.0","id":31,"params":{},"result":',
        b'{"jsonrpc":"2.0","result":{"id":31,"result":',
        b'{"jsonrpc":"2.0","id":"31","result":',
        b'{"jsonrpc":"2.0","id":31.0,"result":',
        b'{"jsonrpc":"2.0","id":%b,"result":' % (b"3" * 5000),
        b'[{"jsonrpc":"2.0","id":31,"result":',
    ],
)
def test_rule_3_any_other_unreadable_line_names_no_call(head: bytes) -> None:
    decoded = _client().decode(head + b"NaN}")
    assert isinstance(decoded, Refused)
    assert (decoded.id, decoded.error.code, decoded.response_to) == (None, -32700, None)


@pytest.mark.parametrize("id", ["1.0", "1.5", "true", "[]", "-1e0"])
def test_rule_7_ids_are_judged_alike_in_requests_and_responses(id: str) -> None:
    decoder = _agent()
    for _ in range(2):  # the schema of a method is built when its first message arrives
        request = decoder.decode(message(id=id.encode(), method="session/prompt", params={}))
        assert isinstance(request, Refused)
        assert (request.id, request.error.code) == (None, -32600)
        response = decoder.decode(message(id=id.encode(), result={}))
        assert isinstance(response, IncomingResponse)
        assert response.id is None


@pytest.mark.parametrize("method", ["session/prompt", "_extension", "unknown"])
@pytest.mark.parametrize("cut", [{}, {"x": CUT}])
def test_rule_4_a_null_id_is_an_id_only_where_the_schema_says_so(method: str, cut: dict[str, Any]) -> None:
    line = message(id=None, method=method, params={"sessionId": "s", "prompt": [{"type": "text", "text": "x"}]}, **cut)
    decoder, draft = _agent(), Decoder(v2.AGENT_REQUESTS, v2.AGENT_NOTIFICATIONS)
    for _ in range(2):
        decoded = decoder.decode(line)
        assert isinstance(decoded, IncomingRequest) or (isinstance(decoded, Refused) and decoded.error.code == -32601)
        refused = draft.decode(line)
        assert isinstance(refused, Refused)
        assert (refused.id, refused.error.code) == (None, -32600)
    assert isinstance(draft.decode(message(id=None, error={"code": 1, "message": "x"})), IncomingResponse)


def test_rule_12_a_mapping_of_invalid_values_is_refused_at_the_first_one() -> None:
    # Collecting an error for each value would take seven seconds and a gigabyte.
    bad = b",".join(b'"key %d":1' % number for number in range(100_000))
    params = (
        b'{"mode":"form","sessionId":"s","message":"x","requestedSchema":{"type":"object","properties":{%b}}}' % bad
    )
    decoded = _client().decode(message(id=1, method="elicitation/create", params=params))
    assert isinstance(decoded, Refused)
    paths = [fault["path"] for fault in decoded.error.data["errors"]]
    assert "form.requestedSchema.properties.key 0" in paths
    assert not any("key 1" in path for path in paths)


def test_rule_12_paths_do_not_contain_labels_of_union_members() -> None:
    server = {"name": "x", "command": "/x", "args": "hunter2", "env": []}
    decoded = _agent().decode(message(id=1, method="session/new", params={"cwd": "/", "mcpServers": [server]}))
    assert isinstance(decoded, Refused)
    errors = decoded.error.data["errors"]
    assert {"path": "mcpServers.0.args", "message": "Input should be a valid array"} in errors
    assert not any("<" in fault["path"] or "null" in fault["message"] for fault in errors)


def test_rule_12_paths_contain_the_received_keys() -> None:
    values = {CUT: 5, "\ud800" * 400: 5}
    params = {"cwd": "/", "mcpServers": [{"type": "http", "name": values, "url": 1, "headers": [values]}]}
    decoded = _agent().decode(message(id=1, method="session/new", params=params))
    assert isinstance(decoded, Refused)
    paths = [fault["path"] for fault in decoded.error.data["errors"]]
    assert "mcpServers.0.http.url" in paths
    assert not any("\ufdd0" in path for path in paths)


def test_rule_3_a_long_line_with_many_surrogates_is_read_as_by_another_parser() -> None:
    text = rb'["%b"]' % (rb"\\ud83d \\\ud83d\ud83d\ude00\n" * 4_999)
    assert parse(text) == json.loads(text)
    with pytest.raises(ValueError, match="escape"):  # it would take long
        parse(b'"%b"' % (rb"\ud83d" * 20_000))


# Prints the memory that decoding a long message took at most, after as many short ones of its method as it is told.
PEAK = """
import sys
from resource import RUSAGE_SELF, getrusage
from acp_bindings.v1 import methods
from acp_runtime.jsonrpc.decoding import Decoder

decoder = Decoder(methods.AGENT_REQUESTS, methods.AGENT_NOTIFICATIONS)
line = '{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[],"_meta":{"a":[%s0]}}}'
for count in [0] * int(sys.argv[1]) + [3_000_000]:
    message = decoder.decode((line % ("1," * count)).encode())
assert len(message.params.meta["a"]) == 3_000_001
print(getrusage(RUSAGE_SELF).ru_maxrss)
"""


def _peak(messages_before: int) -> int:
    return int(run_command(sys.executable, "-c", PEAK, str(messages_before)))


def test_the_first_message_of_a_method_takes_no_more_memory_than_the_next() -> None:
    assert _peak(0) < 1.15 * _peak(1)


def test_lines_and_their_params_share_a_validator() -> None:
    class Params(Model):
        text: str

    decoder = Decoder({"_acme/x": ExtRequest("_acme/x", Params, Params)}, {})
    decoded = decoder.decode(message(id=1, method="_acme/x", params={"text": "a"}))
    assert isinstance(decoded, IncomingRequest)
    assert Params.__pydantic_complete__  # otherwise, the decoder would have a validator of its own


@pytest.mark.parametrize("profile", [methods, v2], ids=["v1", "v2"])
def test_a_valid_message_is_decoded_in_one_step(profile: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def explain(_: Decoder, line: bytes) -> Any:
        raise AssertionError(line)

    monkeypatch.setattr(Decoder, "_explain", explain)
    agent = Decoder(profile.AGENT_REQUESTS, profile.AGENT_NOTIFICATIONS)
    for text in ("a", CUT):
        params = {"sessionId": text}
        assert isinstance(agent.decode(message(id=1, method="session/close", params=params)), IncomingRequest)
        assert isinstance(agent.decode(message(method="session/cancel", params=params)), IncomingNotification)
    assert isinstance(agent.decode(message(id=1, result={})), IncomingResponse)


def test_rule_12_threads_that_share_a_decoder_decode_the_first_messages_of_all_methods() -> None:
    decoder, lines = _agent(), [message(id=1, method=wire) for wire in methods.AGENT_REQUESTS]
    expected = [type(message) for message in map(_agent().decode, lines)]
    with ThreadPoolExecutor(8) as threads:
        for decoded in [threads.submit(lambda: [type(decoder.decode(sent)) for sent in lines]) for _ in range(8)]:
            assert decoded.result(30) == expected
