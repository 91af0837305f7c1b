"""Extension methods of a vendor: declared once, handled by an agent and a client, called by both."""

from __future__ import annotations

from typing import assert_type

from pydantic import BaseModel, Field

from acp_bindings import v1, v2_draft
from acp_runtime import ExtNotification, ExtRequest, Model, absent, handles


class PingParams(Model):
    text: str
    session_id: str | None = absent()


class PingResult(Model):
    text: str


class IndexParams(BaseModel):
    session_id: str = Field(alias="sessionId")
    depth: int = 1


class IndexResult(BaseModel):
    files: list[str]


class Log(BaseModel, frozen=True):
    message: str
    level: int = 0


PING = ExtRequest("_acme/ping", PingParams, PingResult)
INDEX = ExtRequest("_acme/index", IndexParams, IndexResult, capability=("_meta", "acme.dev", "index"))
LOG = ExtNotification("_acme/log", Log)
DRAIN = ExtRequest("craft/drain", PingParams, PingResult, unprefixed=True)

assert_type(PING, ExtRequest[PingParams, PingResult])
assert_type(LOG, ExtNotification[Log])


class MyAgent(v1.Agent):
    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="1")

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        if self.client.supports(PING):
            answer = await self.client.call(PING, PingParams(text="a", session_id=request.session_id))
            await self.client.notify(LOG, Log(message=answer.text))
        return v1.PromptResponse(stop_reason="end_turn")

    @handles(PING)
    async def ping(self, params: PingParams) -> PingResult:
        return PingResult(text=params.text)

    @handles(INDEX)
    async def index(self, params: IndexParams) -> IndexResult:
        return IndexResult(files=[params.session_id] * params.depth)

    @handles(DRAIN)
    async def drain(self, params: PingParams) -> PingResult:
        return PingResult(text=params.text)


class LoudAgent(MyAgent):
    async def ping(self, params: PingParams) -> PingResult:
        answer = await super().ping(params)
        return PingResult(text=answer.text.upper())


class MyClient(v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.logged: list[Log] = []

    async def session_update(self, notification: v1.SessionNotification) -> None:
        pass

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        return v1.RequestPermissionResponse(outcome=v1.RequestPermissionOutcomeCancelled())

    @handles(LOG)
    async def log(self, params: Log) -> None:
        self.logged.append(params)


async def call(agent: v1.RemoteAgent, draft: v2_draft.RemoteAgent) -> None:
    pong = await agent.call(PING, PingParams(text="a"))
    assert_type(pong, PingResult)
    index = await draft.call(INDEX, IndexParams(sessionId="1"))
    assert_type(index, IndexResult)
    drained = await agent.call(DRAIN, PingParams(text="queue"))
    assert_type(drained, PingResult)
    print((await agent.call(PING, PingParams(text="a"))).text, await agent.call(PING, PingParams(text="b")))
    await agent.notify(LOG, Log(message="ready"))
    assert_type(agent.supports(INDEX), bool)
