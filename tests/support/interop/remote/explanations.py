"""Why operations fail between some SDKs over remote transports, and whose fault it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tests.support.interop.remote.findings import Pair
from tests.support.interop.remote.operations import ORDER_OF_LOAD, ORDER_OF_PROMPT
from tests.support.interop.remote.sdks import NEXT_PYTHON, OURS, PYTHON, SDKS, TRANSPORTS, TYPESCRIPT

_PYTHONS = (PYTHON, NEXT_PYTHON)
_LOAD, _MISSING = "`session/load`", "`session/load` of a missing session"
_LOAD_AND_PROMPT = "`session/load`, then a prompt with permission"
_RESUME, _CLOSE = "`session/resume`, then a prompt", "`session/close`"
_ASKS = (
    "permission",
    "`session/cancel` during a permission",
    "files of the client",
    "terminals of the client",
    "an error of the client",
)


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
        transports=["WebSocket"],
        operations=["2 MiB in a prompt and in an update"],
        found=["Connection closed"],
        fault=_PYTHON_CLIENTS,
        fact="It takes messages of at most 1 MiB, the default of the library `websockets`, and has no option for it.",
    ),
    Explanation(
        servers=[PYTHON],
        operations=[_RESUME, _CLOSE],
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
        operations=[_LOAD, _MISSING, _LOAD_AND_PROMPT, _RESUME, _CLOSE],
        found=["HTTP 400: POST session/load failed", "HTTP 400: POST session/resume failed"],
        fault=_PYTHON_CLIENTS,
        fact="Its `session/load` and `session/resume` don't have `Acp-Session-Id`, so the agent refuses them (400).",
    ),
    Explanation(
        clients=[OURS, PYTHON, NEXT_PYTHON],
        servers=[PYTHON],
        transports=["HTTP"],
        operations=[_LOAD_AND_PROMPT, _CLOSE],
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
        operations=[_LOAD, ORDER_OF_LOAD, _MISSING, _LOAD_AND_PROMPT, _RESUME, _CLOSE],
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
        operations=[_RESUME],
        found=["no answer"],
        fault=f"client, {PYTHON}",
        fact="It never opens the stream of a session that it resumed; 1.0.0rc3 does.",
    ),
]
NOT_PROMISED = [
    Explanation(
        servers=[TYPESCRIPT],
        transports=["HTTP"],
        operations=[ORDER_OF_LOAD],
        found=["not promised"],
        fault=f"agent, {TYPESCRIPT}",
        fact="The updates are sent on the stream of the session, and the answer on that of the connection.",
    ),
    Explanation(
        clients=_PYTHONS,
        transports=["HTTP"],
        operations=[ORDER_OF_PROMPT, ORDER_OF_LOAD],
        found=["not promised"],
        fault=_PYTHON_CLIENTS,
        fact="A call returns when its answer has been read, while the updates before it wait for their handlers.",
    ),
]
