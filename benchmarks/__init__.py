"""Compare the speed of this package with bare pydantic and asyncio, and with the official SDKs: `make bench`."""
