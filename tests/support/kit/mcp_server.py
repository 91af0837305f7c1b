"""An MCP server on stdio, for tests: `python mcp_server.py [pid <file>] [fail | silent | noisy] [pages | circle]`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

TOOL = {"description": "Returns its argument", "inputSchema": {"type": "object"}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"},
        }
    if method == "tools/list":
        is_second = bool(params and params.get("cursor"))
        has_more = "circle" in sys.argv or ("pages" in sys.argv and not is_second)
        name = "second" if is_second else "echo"
        return {"tools": [{"name": name, **TOOL}], **({"nextCursor": "2"} if has_more else {})}
    if method == "tools/call":
        text = f"{params['arguments'].get('text')} {os.environ.get('GREETING', '')}".strip()
        return {"content": [{"type": "text", "text": text}]}
    return None


def main() -> None:
    if "fail" in sys.argv:
        sys.exit(3)
    if len(sys.argv) > 2 and sys.argv[1] == "pid":
        Path(sys.argv[2]).write_text(str(os.getpid()))
    if "noisy" in sys.argv:
        sys.stdout.buffer.write(b"Starting \xff\n{no JSON\n")
        sys.stdout.buffer.flush()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "silent" in sys.argv:
            continue
        result = answer(message["method"], message.get("params") or {})
        unknown = {"error": {"code": -32601, "message": "Method not found"}}
        reply = unknown if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
