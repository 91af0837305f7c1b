"""Mistakes with extension methods."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import TypedDict

from acp_bindings.v1 import Client, PromptRequest, RemoteAgent, RemoteClient
from acp_runtime import ExtNotification, ExtRequest, Model, handles


class PingParams(Model):
    text: str


class PingResult(Model):
    text: str


class Count(TypedDict):
    n: int


@dataclass
class Log:
    message: str


PING = ExtRequest("_acme/ping", PingParams, PingResult)
COUNT = ExtRequest("_acme/count", Count, Count)
LOG = ExtNotification("_acme/log", Log)


ExtRequest("_acme/ping", PingParams)  # E
ExtRequest(b"_acme/ping", PingParams, PingResult)  # E
ExtRequest("_acme/ping", PingParams(text="a"), PingResult)  # E
ExtRequest("_acme/ping", PingParams, PingResult, capability="_meta.ping")  # E
ExtRequest("_acme/ping", PingParams, PingResult, capability=("_meta", 1))  # E
ExtRequest("_acme/ping", PingParams, PingResult, True)  # E
ExtNotification("_acme/log", Log, Log)  # E
ExtNotification("_acme/log", Log, unprefixed="yes")  # E


async def calls(agent: RemoteAgent, client: RemoteClient) -> None:
    await agent.call(PING, PingParams(text=1))  # E
    await agent.call(PING, PingResult(text="a"))  # E
    await agent.call(PING, {"text": "a"})  # E
    await agent.call(PING)  # E
    await agent.call(PING, text="a")  # E
    await agent.call("_acme/ping", PingParams(text="a"))  # E
    await agent.call(LOG, Log("a"))  # E
    await client.call(COUNT, Count(n="1"))  # E
    await client.call(COUNT, Count(m=1))  # E
    await agent.notify(LOG, PingParams(text="a"))  # E
    await agent.notify(LOG)  # E
    await client.notify(PING, PingParams(text="a"))  # E
    await agent.request(PING, PingParams(text="a"))  # E
    agent.supports(LOG, Log("a"))  # E
    agent.supports(PingParams)  # E


async def results(agent: RemoteAgent) -> None:
    pong = await agent.call(PING, PingParams(text="a"))
    print(pong.colour)  # E
    count = await agent.call(COUNT, Count(n=1))
    print(count["m"])  # E
    text: str = await agent.call(PING, PingParams(text="a"))  # E
    print(text)


class Wrong(Client):
    @handles(PING)  # E
    async def other_params(self, params: Log) -> PingResult:
        raise NotImplementedError

    @handles(PING)  # E
    async def other_result(self, params: PingParams) -> str:
        raise NotImplementedError

    @handles(PING)  # E
    async def no_params(self) -> PingResult:
        raise NotImplementedError

    @handles(PING)  # E
    def not_a_coroutine(self, params: PingParams) -> PingResult:
        raise NotImplementedError

    @handles(LOG)  # E
    async def answers_a_notification(self, params: Log) -> Log:
        raise NotImplementedError

    @handles("_acme/ping")  # E
    async def by_name(self, params: PingParams) -> PingResult:
        raise NotImplementedError

    @handles(PromptRequest)  # E
    async def of_the_schema(self, params: PromptRequest) -> PingResult:
        raise NotImplementedError


class Right(Client):
    @handles(PING)
    async def ping(self, params: PingParams) -> PingResult:
        return PingResult(text=params.text)


class Override(Right):
    async def ping(self, params: Log) -> PingResult:  # E
        raise NotImplementedError


class OtherResult(Right):
    async def ping(self, params: PingParams) -> str:  # E
        raise NotImplementedError
