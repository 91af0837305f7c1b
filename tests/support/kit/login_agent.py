"""An agent that needs a login in a terminal: `python -S login_agent.py [--login]`. It uses nothing of ours.

It reads the token when it starts.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

TOKEN = Path("token")
METHOD = {"type": "terminal", "id": "t", "name": "Log in", "args": ["--login"], "env": {"GREETING": "Hello"}}


def log_in() -> None:
    token = input(f"{os.environ['GREETING']}, is this a terminal? {sys.stdin.isatty()}. Token: ")
    if not token:
        sys.exit(7)
    TOKEN.write_text(token)


def answer(method: str, token: str) -> dict[str, Any]:
    if method == "initialize":
        return {"result": {"protocolVersion": 1, "authMethods": [METHOD]}}
    if not token:
        return {"error": {"code": -32000, "message": "Authentication required"}}
    return {"result": {"sessionId": token}}


if __name__ == "__main__":
    if "--login" in sys.argv:
        log_in()
    else:
        token = TOKEN.read_text() if TOKEN.exists() else ""
        for line in sys.stdin:
            request = json.loads(line)
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request["method"], token)}), flush=True)
