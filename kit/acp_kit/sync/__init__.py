"""For clients without `await`: scripts, notebooks, and frameworks whose code isn't asynchronous.

For example:

    with spawn_agent("gemini", "--acp") as agent, agent.open_session() as session:
        print(session.ask("What is in this folder?"))

        with session.prompt("And what is missing?") as turn:
            for update in turn:
                ...
        print(turn.stop_reason, session.state.plan)

Each agent has an event loop in a thread of its own. These classes call the asynchronous ones there, and wait.
"""

from acp_kit.sync.agents import SyncAgent as SyncAgent, spawn_agent as spawn_agent
from acp_kit.sync.callbacks import in_waiting_thread as in_waiting_thread
from acp_kit.sync.sessions import SyncSession as SyncSession
from acp_kit.sync.turns import SyncTurn as SyncTurn
