"""Compare the speed of this package with bare pydantic and asyncio, and with the official SDKs: `make bench`.

`make which-sdk` compares what this package and the official Python SDK do.
"""
