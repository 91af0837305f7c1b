"""An agent for tests that need a process of their own: `python -m tests.support.runtime.obedient_agent [<text>]`.

The text of a prompt names the method of `ObedientAgent` to call, and its argument. The text on the command line is
printed before the agent serves.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
from contextlib import suppress
from typing import Any

from acp_bindings.v1 import PromptRequest, PromptResponse, serve_stdio
from acp_runtime import Options
from tests.support.runtime.peer import PlainAgent, chunk

OPTIONS = Options(eof_grace=0.2, handler_deadline=0.5, flush_deadline=0.5)


class ObedientAgent(PlainAgent):
    """Calls the method that the text of a prompt names."""

    async def session_prompt(self, request: PromptRequest, /) -> PromptResponse:
        block: Any = request.prompt[0]
        name, _, argument = block.text.partition(" ")
        await getattr(self, name)(request.session_id, argument)
        return PromptResponse(stop_reason="end_turn")

    async def update(self, session: str, text: str) -> None:
        await self.client.session_update(session_id=session, update=chunk(text))

    async def wait(self, session: str, _: str) -> None:
        await self.update(session, "started")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            os.write(2, b"cancelled\n")
            raise

    async def ignore_one_cancellation(self, session: str, _: str) -> None:
        await self.update(session, "started")
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    async def ignore_cancellations(self, session: str, _: str) -> None:
        await self.update(session, "started")
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    async def stream(self, session: str, count: str) -> None:
        for number in range(int(count)):
            await self.update(session, str(number))

    async def print(self, session: str, _: str) -> None:
        """Write to stdout in every possible way, also from a child process, and let a child read stdin."""
        print("from print")
        os.write(1, b"from os.write\n")
        for code in ("print('from a child')", "import sys; print(repr(sys.stdin.read()))"):
            subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)
        await self.update(session, "printed")

    async def leave_a_child(self, session: str, _: str) -> None:
        """Start a child that inherits the standard descriptors and may outlive this process."""
        subprocess.Popen([sys.executable, "-S", "-c", "import sys; sys.stdout.write('late\\n'); sys.stdin.read()"])

    async def wait_quietly(self, session: str, _: str) -> None:
        await asyncio.Event().wait()

    async def ext_request(self, method: str, params: Any) -> Any:
        match method:
            case "_left":
                return [len(asyncio.all_tasks()), sorted(os.listdir("/dev/fd"))]
            case "_peak_memory":
                return peak_memory()
            case "_large":
                return "x" * int(params)
            case _:
                return params


def peak_memory() -> int:
    """Return the peak memory of this process, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    print(*sys.argv[1:], end="")
    asyncio.run(serve_stdio(ObedientAgent, options=OPTIONS))
