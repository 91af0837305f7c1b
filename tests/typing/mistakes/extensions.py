"""Mistakes with extension methods."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from acp_bindings.v1 import Client, PromptRequest, RemoteAgent, RemoteClient
from acp_runtime import ExtNotification, ExtRequest, Model, handles


class PingParams(Model):
    text: str


class PingResult(Model):
    text: str


class Count(BaseModel):
    n: int


class Log(BaseModel):
    message: str


@dataclass
class NoModel:
    message: str


PING = ExtRequest("_acme/ping", PingParams, PingResult)
COUNT = ExtRequest("_acme/count", Count, Count)
LOG = ExtNotification("_acme/log", Log)


ExtRequest("_acme/ping", PingParams)  # type: ignore
ExtRequest(b"_acme/ping", PingParams, PingResult)  # type: ignore
ExtRequest("_acme/ping", PingParams(text="a"), PingResult)  # type: ignore
ExtRequest("_acme/ping", PingParams, PingResult, capability="_meta.ping")  # type: ignore
ExtRequest("_acme/ping", PingParams, PingResult, capability=("_meta", 1))  # type: ignore
ExtRequest("_acme/ping", PingParams, PingResult, True)  # type: ignore
ExtRequest("_acme/ping", NoModel, PingResult)  # type: ignore
ExtRequest("_acme/ping", PingParams, dict[str, int])  # type: ignore
ExtNotification("_acme/log", NoModel)  # type: ignore
ExtNotification("_acme/log", Log, Log)  # type: ignore
ExtNotification("_acme/log", Log, unprefixed="yes")  # type: ignore


async def calls(agent: RemoteAgent, client: RemoteClient) -> None:
    await agent.call(PING, PingParams(text=1))  # type: ignore
    await agent.call(PING, PingResult(text="a"))  # type: ignore
    await agent.call(PING, {"text": "a"})  # type: ignore
    await agent.call(PING)  # type: ignore
    await agent.call(PING, text="a")  # type: ignore
    await agent.call("_acme/ping", PingParams(text="a"))  # type: ignore
    await agent.call(LOG, Log(message="a"))  # type: ignore
    await client.call(COUNT, Count(n="1"))  # type: ignore
    await client.call(COUNT, Count(m=1))  # type: ignore
    await agent.notify(LOG, PingParams(text="a"))  # type: ignore
    await agent.notify(LOG)  # type: ignore
    await client.notify(PING, PingParams(text="a"))  # type: ignore
    await agent.request(PING, PingParams(text="a"))  # type: ignore
    agent.supports(LOG, Log(message="a"))  # type: ignore
    agent.supports(PingParams)  # type: ignore


async def results(agent: RemoteAgent) -> None:
    pong = await agent.call(PING, PingParams(text="a"))
    print(pong.colour)  # type: ignore
    count = await agent.call(COUNT, Count(n=1))
    print(count.m)  # type: ignore
    text: str = await agent.call(PING, PingParams(text="a"))  # type: ignore
    print(text)


class Wrong(Client):
    @handles(PING)  # type: ignore
    async def other_params(self, params: Log) -> PingResult:
        raise NotImplementedError

    @handles(PING)  # type: ignore
    async def other_result(self, params: PingParams) -> str:
        raise NotImplementedError

    @handles(PING)  # type: ignore
    async def no_params(self) -> PingResult:
        raise NotImplementedError

    @handles(PING)  # type: ignore
    def not_a_coroutine(self, params: PingParams) -> PingResult:
        raise NotImplementedError

    @handles(LOG)  # type: ignore
    async def answers_a_notification(self, params: Log) -> Log:
        raise NotImplementedError

    @handles("_acme/ping")  # type: ignore
    async def by_name(self, params: PingParams) -> PingResult:
        raise NotImplementedError

    @handles(PromptRequest)  # type: ignore
    async def of_the_schema(self, params: PromptRequest) -> PingResult:
        raise NotImplementedError


class Right(Client):
    @handles(PING)
    async def ping(self, params: PingParams) -> PingResult:
        return PingResult(text=params.text)


class Override(Right):
    async def ping(self, params: Log) -> PingResult:  # type: ignore
        raise NotImplementedError


class OtherResult(Right):
    async def ping(self, params: PingParams) -> str:  # type: ignore
        raise NotImplementedError
