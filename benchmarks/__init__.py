"""Compare the speed of this package with bare pydantic and asyncio, and with the official SDKs: `make bench`.

`python -m benchmarks.behaviour` compares what this package and the official Python SDK do.
"""
