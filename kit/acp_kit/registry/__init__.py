"""Finds the command that starts an agent by its id in the ACP registry.

For example, with the document that is at `REGISTRY_URL`:

    launch = Registry.parse(document).resolve("claude-acp")
    with spawn_agent(launch.command, *launch.args, env=launch.env) as agent:
        ...

The agent is downloaded by `npx` or `uvx` and runs with the rights of this process.
"""

from acp_kit.registry.document import (
    REGISTRY_URL as REGISTRY_URL,
    Binary as Binary,
    Launch as Launch,
    Registry as Registry,
)
from acp_kit.registry.errors import (
    BinaryOnly as BinaryOnly,
    InvalidEntry as InvalidEntry,
    InvalidRegistry as InvalidRegistry,
    RegistryError as RegistryError,
    UnknownAgent as UnknownAgent,
)
