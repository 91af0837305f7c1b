"""Rules 1 to 5: bytes in any pieces, and lines."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import Any

import pytest

from acp_bindings.v1 import ContentBlockText, PromptRequest, PromptResponse, SessionUpdateAgentMessageChunk, methods
from acp_runtime import MessageTooLarge
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.jsonrpc.framing import LineSplitter
from tests.support.runtime.peer import Link, PlainAgent, calling, line, prompt, serving, update

pytestmark = pytest.mark.every_link

INVALID_REQUEST = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid request"}}


async def test_rule_1_a_sent_message_is_one_line_even_if_its_text_has_newlines(link: Link) -> None:
    class Verse(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            content = ContentBlockText(text="one\ntwo\r\n\u2028three")
            await self.client.session_update(session_id="s1", update=SessionUpdateAgentMessageChunk(content=content))
            return PromptResponse(stop_reason="end_turn")

    async with serving(link, Verse) as peer:
        await peer.send(prompt(1))
        sent = await peer.receive_line()
        assert b"\r" not in sent
        assert json.loads(sent)["params"]["update"]["content"]["text"] == "one\ntwo\r\n\u2028three"
        assert (await peer.receive())["id"] == 1


async def test_rule_1_messages_of_concurrent_senders_do_not_interleave(link: Link) -> None:
    class Chatty(PlainAgent):
        async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
            async def say(letter: str) -> None:
                for _ in range(20):
                    content = ContentBlockText(text=letter * 30_000)
                    await self.client.session_update(
                        session_id="s1", update=SessionUpdateAgentMessageChunk(content=content)
                    )

            await asyncio.gather(*map(say, "abcde"))
            return PromptResponse(stop_reason="end_turn")

    async with serving(link, Chatty) as peer:
        await peer.send(prompt(1))
        texts = [(await peer.receive())["params"]["update"]["content"]["text"] for _ in range(100)]
        assert all(len(set(text)) == 1 for text in texts)
        assert (await peer.receive())["id"] == 1


@pytest.mark.parametrize("before", [b"\n", b"   \t \n", b"\r\n", b"\n\n\n"])
async def test_rule_2_blank_lines_are_ignored(link: Link, before: bytes) -> None:
    async with serving(link) as peer:
        await peer.send(before + line(prompt(1)))
        assert (await peer.receive())["id"] == 1


@pytest.mark.parametrize(
    "raw",
    [
        line(prompt(1)).strip() + b"\r\n",
        b"  \t" + line(prompt(1)),
        b"\xef\xbb\xbf" + line(prompt(1)),
        b" \xef\xbb\xbf " + line(prompt(1)),
    ],
)
async def test_rule_2_carriage_returns_leading_space_and_a_bom_are_accepted(link: Link, raw: bytes) -> None:
    async with serving(link) as peer:
        await peer.send(raw)
        assert (await peer.receive())["result"] == {"stopReason": "end_turn"}


async def test_rule_2_a_last_line_without_a_newline_is_handled(link: Link) -> None:
    async with serving(link) as peer:
        await peer.send(line(prompt(7)).strip())
        await peer.end()
        assert [message["id"] for message in await peer.rest()] == [7]


async def test_rule_2_a_message_may_arrive_byte_by_byte(link: Link) -> None:
    async with serving(link) as peer:
        for byte in line(prompt(1)):
            await peer.send(bytes([byte]))
            await asyncio.sleep(0)
        assert (await peer.receive())["id"] == 1


async def test_rule_3_a_request_with_duplicate_keys_gets_one_response(link: Link) -> None:
    async with serving(link) as peer:
        await peer.send(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"quiet","method":"silence"}\n')
        assert (await peer.receive())["error"]["code"] == -32601
        assert await peer.until_quiet() == []


async def test_rule_3_an_infinite_id_is_not_echoed(link: Link) -> None:
    async with serving(link) as peer:
        await peer.send(b'{"jsonrpc":"2.0","id":1e999,"method":"session/prompt"}\n')
        assert await peer.receive() == INVALID_REQUEST


async def test_rule_5_a_line_over_the_limit_closes_the_connection_with_message_too_large(link: Link) -> None:
    async with calling(link, max_message_bytes=100_000) as (agent, peer):
        calls = [asyncio.create_task(agent.session_new(cwd="/", mcp_servers=[])) for _ in range(2)]
        await peer.receive()
        await peer.receive()
        # The connection must not wait for the newline.
        peer.writer.write(b"x" * 100_001)
        for call in calls:
            with pytest.raises(MessageTooLarge, match="100000"):
                await call


async def test_rule_5_messages_before_one_that_is_too_large_are_handled(link: Link) -> None:
    async with serving(link, max_message_bytes=1000) as peer:
        await peer.send(line(prompt(1)) + b"x" * 2000 + b"\n")
        assert [message["id"] for message in await peer.rest()] == [1]


async def test_rule_5_a_line_of_30_megabytes_needs_at_most_three_times_its_size() -> None:
    decoder = Decoder(methods.CLIENT_REQUESTS, methods.CLIENT_NOTIFICATIONS)
    decoder.decode(line(update("s1", "x")))
    size = 30_000_000
    tracemalloc.start()
    splitter = LineSplitter(64 * 1024 * 1024)
    whole = line(update("s1", "x" * size))
    chunks = [whole[start : start + 65_536] for start in range(0, len(whole), 65_536)]
    del whole
    tracemalloc.reset_peak()
    lines: list[bytes] = []
    while chunks:
        lines += splitter.feed(chunks.pop(0))
    message: Any = decoder.decode(lines.pop())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(message.params.update.content.text) == size
    assert peak < 3.2 * size


def test_rule_5_no_line_after_one_that_is_too_large_is_returned() -> None:
    splitter = LineSplitter(10)
    assert splitter.feed(b"first\nsecon") == [b"first"]
    assert splitter.feed(b"d, too long\nthird\n") == []
    assert splitter.too_large is not None
    # A process that exits is read to its end, although reading has paused.
    assert splitter.feed(b"fourth") == []
    assert splitter.end() == []


@pytest.mark.parametrize("chunks", [[b"0123456789\nrest"], [b"01234", b"56789\n"], [b"01234", b"56789", b"\n"]])
def test_rule_5_a_line_of_exactly_the_limit_is_returned(chunks: list[bytes]) -> None:
    splitter = LineSplitter(10)
    assert [line for chunk in chunks for line in splitter.feed(chunk)] == [b"0123456789"]
    assert splitter.too_large is None
