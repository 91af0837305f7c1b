"""The agents of the Python SDK at the other end of a network: the scripted one at `/acp`, and routers, if the SDK has
them, at the versions that they have: `/1`, `/2` and `/1,2`.

It prints its host and port, and exits when stdin is closed.
"""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

from acp.http.asgi import create_asgi_app
from asgi_server import serve
from python_agent import ScriptedAgent

ENDPOINTS: dict[str, Any] = {"/acp": create_asgi_app(lambda _: ScriptedAgent())}
if importlib.util.find_spec("acp.experimental"):
    from python_versions_agent import router

    ENDPOINTS |= {f"/{version}": create_asgi_app(router(version), path=f"/{version}") for version in ("1", "2", "1,2")}

if __name__ == "__main__":
    asyncio.run(serve(ENDPOINTS))
