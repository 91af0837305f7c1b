"""Why operations fail between some SDKs and whose fault it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tests.support.interop import contract
from tests.support.interop.findings import Pair
from tests.support.interop.sdks import NEXT_PYTHON, OURS, PYTHON, SDKS, TRANSPORTS, TYPESCRIPT

_MISSING = "unknown fields missing"
_PYTHONS = (PYTHON, NEXT_PYTHON)
_ASKS = (
    "permission",
    "`session/cancel` during a permission",
    "files of the client",
    "terminals of the client",
    "an error of the client",
)
_LOADED = (contract.LOAD, contract.LOAD_OF_MISSING, contract.LOAD_AND_PROMPT, contract.RESUME, contract.CLOSE)


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why operations fail.

    Attributes:
        clients: the SDKs of the clients.
        servers: the SDKs of the agents.
        transports: the transports.
        operations: what fails.
        found: how it fails, the typical way first.
        fault: whose fault it is.
        fact: why it fails.
    """

    clients: Collection[str] = SDKS
    servers: Collection[str] = SDKS
    transports: Collection[str] = tuple(TRANSPORTS)
    operations: Collection[str]
    found: Sequence[str]
    fault: str
    fact: str

    def explains(self, pair: Pair, operation: str, found: str) -> bool:
        """Whether this is why an operation fails with a pair."""
        client, server, transport = pair
        return (
            client in self.clients
            and server in self.servers
            and transport in self.transports
            and operation in self.operations
            and found in self.found
        )


_PYTHON_CLIENTS, _PYTHON_AGENT = "client, Python", f"agent, {PYTHON}"

EXPLANATIONS = [
    Explanation(
        clients=_PYTHONS,
        operations=[contract.UNKNOWN_TO_AGENT, contract.UNKNOWN_TO_CLIENT],
        found=[_MISSING],
        fault=_PYTHON_CLIENTS,
        fact="Its models can't hold fields that its schema doesn't have.",
    ),
    Explanation(
        servers=_PYTHONS,
        operations=[contract.UNKNOWN_TO_AGENT, contract.UNKNOWN_TO_CLIENT],
        found=[_MISSING],
        fault="agent, Python",
        fact="Its models can't hold fields that its schema doesn't have.",
    ),
    Explanation(
        clients=[TYPESCRIPT],
        operations=[contract.UNKNOWN_TO_CLIENT],
        found=[_MISSING],
        fault=f"client, {TYPESCRIPT}",
        fact="It drops fields of messages from the agent that its schema doesn't have.",
    ),
    Explanation(
        servers=[TYPESCRIPT],
        operations=[contract.UNKNOWN_TO_AGENT],
        found=[_MISSING],
        fault=f"agent, {TYPESCRIPT}",
        fact="It drops fields of messages from the client that its schema doesn't have.",
    ),
    Explanation(
        clients=[PYTHON],
        operations=[contract.CANCEL_CALL, contract.DELETE],
        found=["the client can't cancel a call", "the client has no session/delete"],
        fault=f"client, {PYTHON}",
        fact="It can't send `$/cancel_request` and `session/delete`; 1.0.0rc3 can.",
    ),
    Explanation(
        servers=[PYTHON],
        operations=[contract.DELETE, contract.CANCEL_CALL],
        found=[
            "Method not found (-32601)",
            "no answer",
            "session/delete needs 'agentCapabilities.sessionCapabilities.delete', which the peer did not advertise in "
            "its initialize message",
        ],
        fault=_PYTHON_AGENT,
        fact="It has no handlers for `session/delete` and `$/cancel_request`; 1.0.0rc3 has them.",
    ),
    Explanation(
        clients=_PYTHONS,
        transports=["WebSocket"],
        operations=[contract.LARGE_MESSAGE],
        found=["Connection closed"],
        fault=_PYTHON_CLIENTS,
        fact="It takes messages of at most 1 MiB, the default of the library `websockets`, and has no option for it.",
    ),
    Explanation(
        servers=[PYTHON],
        operations=[contract.RESUME, contract.CLOSE],
        found=["Method not found (-32601)"],
        fault=_PYTHON_AGENT,
        fact="Over a network it can't be told to serve `session/resume` and `session/close`; 1.0.0rc3 serves them.",
    ),
    Explanation(
        clients=_PYTHONS,
        servers=[TYPESCRIPT],
        transports=["HTTP"],
        operations=_ASKS,
        found=["no answer"],
        fault=_PYTHON_CLIENTS,
        fact="Its answers to requests of the agent don't have `Acp-Session-Id`, so the agent refuses them (400).",
    ),
    Explanation(
        clients=_PYTHONS,
        servers=[TYPESCRIPT],
        transports=["HTTP"],
        operations=_LOADED,
        found=["HTTP 400: POST session/load failed", "HTTP 400: POST session/resume failed"],
        fault=_PYTHON_CLIENTS,
        fact="Its `session/load` and `session/resume` don't have `Acp-Session-Id`, so the agent refuses them (400).",
    ),
    Explanation(
        clients=[OURS, PYTHON, NEXT_PYTHON],
        servers=[PYTHON],
        transports=["HTTP"],
        operations=[contract.LOAD_AND_PROMPT, contract.CLOSE],
        found=[
            'The agent answered POST the agent with HTTP 404 Not Found: {"error": "Unknown session id"} (-32603)',
            "HTTP 404: POST session/prompt failed",
            "HTTP 404: POST session/close failed",
        ],
        fault=_PYTHON_AGENT,
        fact="It doesn't know a session that was loaded, and refuses everything for it (404).",
    ),
    Explanation(
        clients=[TYPESCRIPT],
        servers=_PYTHONS,
        transports=["HTTP"],
        operations=[*_LOADED, contract.ORDER_OF_LOAD],
        found=[
            'ACP SSE connection failed: 404 Not Found: {"error": "Unknown session id"}',
            'ACP SSE connection failed: 404 Not Found: {"error":"Unknown session id"}',
        ],
        fault=f"client, {TYPESCRIPT}",
        fact="It opens the stream of a session before it loads it. That the agent doesn't know the session yet (404) "
        "ends its connection.",
    ),
    Explanation(
        clients=[PYTHON],
        transports=["HTTP"],
        operations=[contract.RESUME],
        found=["no answer"],
        fault=f"client, {PYTHON}",
        fact="It never opens the stream of a session that it resumed; 1.0.0rc3 does.",
    ),
]
NOT_PROMISED = [
    Explanation(
        servers=[TYPESCRIPT],
        transports=["HTTP"],
        operations=[contract.ORDER_OF_LOAD],
        found=["not promised"],
        fault=f"agent, {TYPESCRIPT}",
        fact="The updates are sent on the stream of the session, and the answer on that of the connection.",
    ),
    Explanation(
        clients=_PYTHONS,
        transports=["HTTP"],
        operations=[contract.ORDER_OF_PROMPT, contract.ORDER_OF_LOAD],
        found=["not promised"],
        fault=_PYTHON_CLIENTS,
        fact="A call returns when its answer has been read, while the updates before it wait for their handlers.",
    ),
]
