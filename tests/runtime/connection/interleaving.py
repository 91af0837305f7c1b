"""A connection from its start to its end, with random actions by a seed, and the checks that have to hold."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import suppress
from random import Random
from typing import Any

from acp_runtime.connection import Connection, run
from acp_runtime.options import Options
from tests.runtime.connection.idle import is_idle
from tests.runtime.connection.random_peer import RandomPeer
from tests.support.event_loop import let_others_run, wait_until

SESSIONS = ("a", "b")


class Mishap(BaseException):
    """An exception that `except Exception` doesn't catch."""


class Interleaving(ABC):
    """Our side of a connection, with random handlers, and a peer that sends random messages.

    Attributes:
        end: "eof" if the peer sends EOF at a random byte, "idle" if it does so at the end, "leave" if our side closes.
        busy: scales the number of actions.
        tasks: the tasks that have not ended.
    """

    def __init__(self, seed: int) -> None:
        self.chance = chance = Random(seed)
        self.end = chance.choice(["eof", "idle", "leave"])
        self.busy = chance.choice([1, 1, 2, 4])
        self.options = Options(
            guards="off",
            high_water_messages=chance.choice([1, 2, 5, 4096]),
            high_water_bytes=chance.choice([1000, 100_000, 2**24]),
            flood_factor=100_000,
            max_held_bytes=chance.choice([300, 2**20]),
        )
        self.tasks: set[asyncio.Task[Any]] = set()
        self._ended: list[asyncio.Task[Any]] = []
        self.wire = RandomPeer(chance, self.connect)

    @abstractmethod
    def connect(self, source: Any, writer: Any) -> Connection:
        """Return our side of the connection."""

    @abstractmethod
    def actors(self) -> list[Coroutine[Any, Any, None]]:
        """Return the actions of both sides that don't react to messages."""

    @abstractmethod
    async def answer(self, request: Any) -> None:
        """Answer a request as the peer."""

    @abstractmethod
    def check(self) -> None:
        """Check the result, as far as it depends on which side is ours."""

    async def run(self) -> None:
        wire, connection = self.wire, self.wire.connection
        running = asyncio.create_task(run(connection))
        receiving = asyncio.create_task(wire.receive(self._received))
        wire.send({"method": "_begin"})
        pump = asyncio.create_task(wire.pump(self.chance.randrange(2500 * self.busy) if self.end == "eof" else None))
        actors = {self.start(actor) for actor in self.actors()}
        if self.end == "leave":
            await let_others_run(1 + self.chance.randrange(150 * self.busy))
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
        else:
            idle = asyncio.create_task(self._until_idle(actors))
            await asyncio.wait({idle, pump}, return_when=asyncio.FIRST_COMPLETED)
            if not idle.cancel():
                idle.result()
        await wire.peer.end()
        pump.cancel()
        await asyncio.wait({running})
        if actors := actors & self.tasks:
            await asyncio.wait(actors)
        await asyncio.wait({*self.tasks, pump, receiving})
        self._check(running)

    def start(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self._has_ended)
        return task

    async def random_step(self) -> None:
        """Do what a handler may do: raise, wait, cancel its task, or return."""
        match self.chance.randrange(16):
            case 0:
                raise ValueError
            case 1:
                raise self.chance.choice([asyncio.CancelledError, SystemExit, Mishap])
            case 2:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                await asyncio.sleep(0)
            case 3 | 4 | 5:
                await let_others_run(self.chance.choice([1, 3, 40]))
            case 6:
                with suppress(asyncio.CancelledError):
                    await let_others_run(20)
            case _:
                pass

    def _received(self, message: Any) -> None:
        if "method" in message and "id" in message:
            self.start(self.answer(message))

    def _has_ended(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        self._ended.append(task)

    async def _until_idle(self, actors: set[asyncio.Task[None]]) -> None:
        await asyncio.wait(actors)
        await wait_until(self._is_idle, lambda: self.tasks)

    def _is_idle(self) -> bool:
        return self.wire.is_idle and not self.tasks and is_idle(self.wire.connection)

    def _check(self, running: asyncio.Task[Any]) -> None:
        wire = self.wire
        for task in self._ended:
            if not task.cancelled():
                task.result()
        assert not wire.failures, wire.failures
        assert is_idle(wire.connection)
        assert wire.connection.lifecycle.closed.done()
        answered, owed = wire.answered(), wire.owed()
        assert not answered - owed, answered - owed
        if self.end != "leave":
            assert running.result()
            assert not owed - answered, owed - answered
        self.check()
