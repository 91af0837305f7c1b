"""The floor of a round trip, the client's side: `ping.py <task as JSON> <agent> [<argument> ...]` awaits each echo."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE
from typing import Any

LINE = (
    b'{"jsonrpc":"2.0","id":1000,"method":"session/prompt","params":{"sessionId":'
    b'"8f14e45f-ceea-467f-a0d1-000000000001","prompt":[{"type":"text","text":"0 0"}]}}\n'
)


async def main(task: dict[str, Any], command: list[str]) -> None:
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None

    async def ping(count: int, writer: asyncio.StreamWriter, reader: asyncio.StreamReader) -> None:
        for _ in range(count):
            writer.write(LINE)
            await writer.drain()
            await reader.readline()

    await ping(task["warm"], process.stdin, process.stdout)
    started = time.perf_counter()
    await ping(task["count"], process.stdin, process.stdout)
    seconds = time.perf_counter() - started
    process.stdin.close()
    await process.wait()
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2:]))
