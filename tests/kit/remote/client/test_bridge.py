"""`acp-bindings connect`: a process that an editor starts in place of the agent."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.kit.remote.client.http_agent import INITIALIZE, INITIALIZED, NEVER, call, http_agent, result
from tests.support.programs import Program
from tests.support.runtime.peer import line

PROMPT = call(2, "session/prompt", sessionId="s", prompt=[])
pytestmark = [
    pytest.mark.test_all,
    pytest.mark.slow,
    pytest.mark.xdist_group("acp_kit.remote"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX"),
]


@dataclass
class Bridge:
    """A bridge that is running."""

    process: Program

    def send(self, *lines: bytes) -> None:
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def close_stdin(self) -> None:
        self.process.stdin.close()

    async def line(self) -> bytes:
        return await asyncio.to_thread(self.process.stdout.readline)

    async def receive(self) -> Any:
        return json.loads(await self.line())

    async def end(self) -> tuple[int, str]:
        """Wait for the end, and return the exit code and the stderr. Nothing more is on stdout."""
        assert await asyncio.to_thread(self.process.stdout.read) == b""
        stderr = await asyncio.to_thread(self.process.stderr.read)
        return await asyncio.to_thread(self.process.wait), stderr.decode()


@asynccontextmanager
async def bridge(*arguments: str, **environment: str) -> AsyncGenerator[Bridge]:
    process = Program("-m", "acp_kit", "connect", *arguments, env=environment)
    try:
        yield Bridge(process)
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


async def test_messages_are_passed_on_as_they_are() -> None:
    odd = b'{"jsonrpc":"2.0", "id" : 1,"method":"_odd","params":{"n":1.50,"n":1e2,"text":"\\u00e9\xc3\xa9\\ud83d"}}'
    async with http_agent() as agent, bridge(agent.url) as process:
        process.send(line(INITIALIZE), b"\r\n\n", odd.replace(b', "id"', b',\r"id"') + b"\r\n")
        assert await process.receive() == INITIALIZED
        stream = await agent.stream()
        received = (await agent.request("POST _odd")).body
        assert received.rstrip() == odd
        await stream.write(b"data: " + odd + b"\n\n")
        assert (await process.line()).rstrip() == odd
        process.close_stdin()
        assert await process.end() == (0, "")
        assert agent.places()[-1] == "DELETE"


async def test_headers_come_from_arguments_and_from_the_environment() -> None:
    options = ["--header", "X-One: 1: 2", "--header-from-env", "Authorization=TOKEN"]
    async with http_agent() as agent, bridge(agent.url, *options, TOKEN="Bearer secret") as process:
        process.send(line(INITIALIZE))
        assert await process.receive() == INITIALIZED
        await agent.stream()
        assert agent.requests[0].headers["x-one"] == "1: 2"
        assert agent.requests[0].headers["authorization"] == "Bearer secret"


async def test_at_the_end_of_stdin_the_last_messages_are_sent_and_answered() -> None:
    async with http_agent() as agent, bridge(agent.url) as process:
        process.send(line(INITIALIZE), PROMPT.rstrip())
        process.close_stdin()
        assert await process.receive() == INITIALIZED
        session = await agent.stream("s")
        await agent.request("POST session/prompt")
        await session.say(result(2))
        assert await process.receive() == result(2)
        assert await process.end() == (0, "")
        assert agent.places()[-1] == "DELETE"


async def test_the_end_of_stdin_does_not_wait_for_answers_for_ever() -> None:
    async with http_agent() as agent, bridge(agent.url) as process:
        process.send(line(INITIALIZE), PROMPT)
        process.close_stdin()
        assert await process.receive() == INITIALIZED
        assert await process.end() == (0, "")


async def test_the_end_of_stdin_does_not_wait_for_an_agent_that_takes_nothing() -> None:
    async with http_agent() as agent, bridge(agent.url) as process:
        agent.answer("POST initialize", NEVER)
        process.send(line(INITIALIZE))
        await agent.request("POST initialize")
        process.close_stdin()
        assert await process.end() == (0, "")


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_requests_fail_when_the_agent_cannot_be_reached(scheme: str) -> None:
    async with http_agent() as agent:
        url = agent.url.replace("http", scheme)
    url = url.replace("//", "//user:secret@") + "?token=secret"
    async with bridge(url) as process:
        process.send(line(INITIALIZE))
        answer = await process.receive()
        assert answer["id"] == 0
        code, stderr = await process.end()
        assert code == 1
        assert stderr == f"acp-bindings: {answer['error']['message']}\n"
        assert "secret" not in stderr


async def test_requests_fail_when_the_package_for_a_proxy_is_not_installed() -> None:
    async with bridge("http://agents.example.org/acp", ALL_PROXY="socks5://127.0.0.1:1") as process:
        process.send(line(INITIALIZE))
        assert "socksio" in (await process.receive())["error"]["message"]
        code, stderr = await process.end()
        assert (code, stderr.count("\n")) == (1, 1)


async def test_requests_fail_when_the_agent_is_lost() -> None:
    async with http_agent() as agent, bridge(agent.url) as process:
        process.send(line(INITIALIZE), PROMPT)
        assert await process.receive() == INITIALIZED
        stream, session = await agent.stream(), await agent.stream("s")
        await agent.request("POST session/prompt")
        await session.end()
        await stream.end()
        answer = await process.receive()
        assert answer["id"] == 2
        assert answer["error"]["code"] == -32603
        code, stderr = await process.end()
        assert code == 1
        assert stderr == "acp-bindings: The agent has ended the connection.\n"


@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
async def test_a_signal_ends_the_connection(number: str) -> None:
    async with http_agent() as agent, bridge(agent.url) as process:
        process.send(line(INITIALIZE))
        assert await process.receive() == INITIALIZED
        await agent.stream()
        agent.answer("POST _next", NEVER)
        process.send(call(1, "_next"))
        await agent.request("POST _next")
        process.process.send_signal(getattr(signal, number))
        assert await process.end() == (0, "")
        assert agent.places()[-1] == "DELETE"


async def test_control_characters_of_the_agent_do_not_reach_the_terminal() -> None:
    async with http_agent() as agent, bridge(agent.url) as process:
        process.send(line(INITIALIZE))
        assert await process.receive() == INITIALIZED
        stream = await agent.stream()
        await stream.write('data: {"text":\t"\x7f\x9b2Jé"}\n\n'.encode())
        await stream.write(b"data: \x1b]0;owned\x07\n\n")
        shown = await process.line()
        assert shown == '{"text":\t"\\u007f\\u009b2Jé"}\n'.encode()
        assert json.loads(shown) == {"text": "\x7f\x9b2Jé"}
        assert await process.line() == b"\\u001b]0;owned\\u0007\n"
