"""The scenarios that clients and agents have in common: what any peer may send."""

from __future__ import annotations

import asyncio

from acp_kit.checking.peer import Json, Peer, Violation, encode, short
from acp_kit.checking.scenario import Scenarios
from acp_kit.common.json_values import member

COMMON_SCENARIOS = Scenarios()
_scenario = COMMON_SCENARIOS.add

_UNKNOWN = ("_acp_bindings/unknown", "session/paint")


@_scenario("MUST", "transports")
async def split_characters(peer: Peer) -> None:
    """The system may split messages anywhere. Here it splits one inside a character."""
    question = peer.question("ça")
    line = encode(question)
    cut = line.index("ç".encode()) + 1
    peer.send(line[:cut])
    await asyncio.sleep(peer.quiet_time / 4)  # so that this part is read alone
    peer.send(line[cut:])
    await peer.response_to(question)


@_scenario("MUST", "transports#stdio")
async def long_line(peer: Peer) -> None:
    """Messages may have any length. This one has 1 MiB."""
    question = peer.question(1000)
    question["params"]["_meta"] = {"text": "x" * 2**20}
    await peer.ask(question)


@_scenario("SHOULD", "extensibility#custom-notifications")
async def unknown_notification(peer: Peer) -> None:
    """An unknown notification is ignored. Notifications get no response."""
    for method in _UNKNOWN:
        peer.send({"method": method, "params": {}})
    await peer.ask(peer.question(1000))
    if any("method" not in message and message.get("id") is None for message in peer.messages):
        raise Violation("a notification was answered")


@_scenario("MUST", "extensibility#custom-requests")
async def unknown_request(peer: Peer) -> None:
    """An unknown request gets a response, and the connection stays usable."""
    requests = _unknown_requests()
    peer.send(*requests)
    for request in requests:
        await peer.response_to(request)


@_scenario("SHOULD", "extensibility#custom-requests")
async def method_not_found(peer: Peer) -> None:
    """The response to an unknown request is the error -32601."""
    for request in _unknown_requests():
        answer = await peer.request(request)
        if member(answer, "error", "code") != -32601:
            raise Violation(f"{request['method']} was answered with {short(answer)}")


@_scenario("MUST", "schema#requestid")
async def string_ids(peer: Peer) -> None:
    """A response has the id of its request. An id that is a string stays a string."""
    for id in ("31", "a b", 0, 2**40):
        await peer.ask(peer.question(id))


def _unknown_requests() -> list[Json]:
    return [{"id": id, "method": method, "params": {}} for id, method in enumerate(_UNKNOWN, 1000)]
