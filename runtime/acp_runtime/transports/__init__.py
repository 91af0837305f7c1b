"""Byte streams for connections: stdio, subprocesses, memory, asyncio streams, descriptors, threads."""
