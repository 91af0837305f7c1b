"""The parser of server-sent events: any ends of lines, any chunks."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from acp_kit.remote.client.events import EventParser


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        pytest.param("data: 1\n\n", ["1"], id="LF"),
        pytest.param("data: 1\r\n\r\n", ["1"], id="CRLF"),
        pytest.param("data: 1\r\r", ["1"], id="CR, and nothing behind it"),
        pytest.param("data: 1\r\n\rdata: 2\n\r\n", ["1", "2"], id="mixed"),
        pytest.param("\ufeffdata: 1\n\n", ["1"], id="byte order mark"),
        pytest.param("data: 1\n\n\ufeffdata: 2\n\n", ["1"], id="only the first line has a byte order mark"),
        pytest.param("data:1\n\n", ["1"], id="no space"),
        pytest.param("data:  1\n\n", [" 1"], id="only one space is left out"),
        pytest.param("data: 1\ndata: 2\n\n", ["1\n2"], id="several lines"),
        pytest.param(": keep-alive\n\n:\n\ndata: 1\n: note\n\n", ["1"], id="comments"),
        pytest.param("id: 7\nretry: 10\nevent: message\ndata: 1\n\n", ["1"], id="other fields"),
        pytest.param("event: ping\ndata: {}\n\ndata: 1\n\n", ["1"], id="events that are no messages"),
        pytest.param("data\n\ndata:\n\n\n\n", [], id="no data"),
        pytest.param("data: 1\n\ndata: 2\n", ["1"], id="an event without its end"),
        pytest.param("data: \u2028\x85é😀\n\n", ["\u2028\x85é😀"], id="what isn't the end of a line"),
    ],
)
def test_an_event_is_read_whole_or_byte_by_byte(text: str, messages: list[str]) -> None:
    encoded = text.encode()
    expected = [message.encode() for message in messages]
    assert EventParser(1000).feed(encoded) == expected
    parser = EventParser(1000)
    assert [event for byte in encoded for event in parser.feed(bytes([byte]))] == expected


def test_broken_utf_8_is_left_to_the_decoder_of_messages() -> None:
    assert EventParser(1000).feed(b"data: \xff\n\n") == [b"\xff"]


@given(st.text(alphabet="data:é x\r\n\ufeff"), st.lists(st.integers(0, 30)))
def test_chunks_make_no_difference(text: str, sizes: list[int]) -> None:
    encoded = text.encode()
    whole, parser, start = EventParser(1000), EventParser(1000), 0
    results: list[bytes] = []
    for size in (*sizes, len(encoded)):
        results += parser.feed(encoded[start : start + size])
        start += size
    assert results == whole.feed(encoded)


@given(st.lists(st.text(alphabet="data:é😀\0\x85\u2028\ufeff", min_size=1), min_size=1))
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_each_message_arrives(end: str, messages: list[str]) -> None:
    stream = "".join(f"data: {message}{end}{end}" for message in messages)
    assert EventParser(10_000).feed(stream.encode()) == [message.encode() for message in messages]


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(b"data: " + b"x" * 101 + b"\n\n", id="one line"),
        pytest.param(b"data: " + b"x" * 101, id="a line that doesn't end"),
        pytest.param(b"data: xxxxxxxxxx\n" * 11, id="many lines"),
        pytest.param(b":" + b"x" * 200, id="a comment that doesn't end"),
    ],
)
def test_an_event_that_is_too_large_is_refused(stream: bytes) -> None:
    parser = EventParser(100)
    with pytest.raises(ValueError, match="more than 100 bytes"):
        for byte in stream:
            parser.feed(bytes([byte]))


def test_the_largest_event_arrives_again_and_again() -> None:
    largest = b"x" * 100
    assert EventParser(100).feed(b"data: %b\n\n: comment\n\n" % largest * 5) == [largest] * 5
