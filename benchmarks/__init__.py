"""How fast this package is, beside bare pydantic and asyncio and beside the official SDKs. `make bench` runs it."""
