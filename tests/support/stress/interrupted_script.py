"""A script that a test interrupts, with an agent that ignores EOF, signals and prompts: `python -m <this module>`."""

from __future__ import annotations

import os
import signal
import sys

from acp_kit.sync import spawn_agent
from acp_runtime import Options

IMMORTAL = """
import json, signal, sys
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
RESULTS = {"initialize": {"protocolVersion": 1}, "session/new": {"sessionId": "session-1"}}
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] in RESULTS:
        result = RESULTS[request["method"]]
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
while True:
    signal.pause()
"""


def main() -> None:
    options = Options(exit_deadline=0.3, terminate_deadline=0.3)
    with (
        spawn_agent(sys.executable, "-S", "-c", IMMORTAL, options=options) as agent,
        agent.open_session() as session,
    ):
        os.write(1, b"entered\n")
        session.ask("hello", cancel_deadline=0.5)


if __name__ == "__main__":
    # A shell makes background commands ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.write(1, b"loaded\n")
    main()
