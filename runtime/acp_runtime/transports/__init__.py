"""Where bytes come from and go to: stdio, subprocesses, memory, asyncio streams, descriptors, threads."""
