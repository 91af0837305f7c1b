"""A client that starts an agent and asks it something: the other side of a project's agent in `make crater`."""

from __future__ import annotations

import sys

from acp_kit.sync import spawn_agent

if __name__ == "__main__":
    with spawn_agent(*sys.argv[1:]) as agent, agent.open_session() as session:
        sys.stdout.write(session.ask("hello"))
