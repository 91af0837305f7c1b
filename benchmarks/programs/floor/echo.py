"""The floor of a round trip, the agent's side: echoes each line with asyncio's streams."""

from __future__ import annotations

import asyncio
import sys


async def main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()


if __name__ == "__main__":
    asyncio.run(main())
