"""Rules 3 and 4 for generated and mutated lines: decoding never raises and agrees with a strict parser."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import islice
from typing import Any

import pytest

from acp_bindings.v1 import methods
from acp_runtime.jsonrpc.decoding import Decoder
from acp_runtime.jsonrpc.framing import LineSplitter
from acp_runtime.jsonrpc.messages import IncomingRequest, Refused
from tests.support.runtime.fuzzing import MESSAGES, check, generated, mutations
from tests.support.runtime.peer import Link, Peer, serving
from tests.support.scale import count

# The kinds of message that are answered.
ANSWERED = (IncomingRequest, Refused)


@pytest.mark.slow
def test_rule_3_every_kind_of_json_in_every_place_is_decoded_as_by_a_strict_parser() -> None:
    for each in generated():
        check(each)


@pytest.mark.slow
@pytest.mark.stress
@pytest.mark.parametrize("seed", range(count(2, 200)))
def test_rule_3_mutated_messages_are_decoded_as_by_a_strict_parser(seed: int) -> None:
    for each in islice(mutations(seed, MESSAGES), 1500):
        check(each)


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(count(2, 100)))
async def test_rule_3_every_request_among_mutated_messages_gets_one_response(link: Link, seed: int) -> None:
    decoder = Decoder(methods.AGENT_REQUESTS, methods.AGENT_NOTIFICATIONS)
    sent = list(islice(mutations(seed, MESSAGES), 1000))
    expected: Counter[Any] = Counter()
    async with serving(link) as peer:
        counts: Counter[Any] = Counter()
        counting = asyncio.create_task(_count_responses(peer, counts))
        for each in sent:
            framed = LineSplitter(2**20).feed(each + b"\n")
            expected.update(found.id for found in map(decoder.decode, framed) if isinstance(found, ANSWERED))
            await peer.send(each + b"\n")
        while counts.total() < expected.total():
            await asyncio.sleep(0)
        counting.cancel()
        await asyncio.wait({counting})
        assert await peer.until_quiet() == []
        assert counts == expected


async def _count_responses(peer: Peer, counts: Counter[Any]) -> None:
    while True:
        response = await peer.receive()
        assert ("result" in response) != ("error" in response)
        counts[response["id"]] += 1
