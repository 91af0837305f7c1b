"""Finds the command that starts an agent by its id in the ACP registry.

For example:

    launch = resolve("claude-acp")
    with spawn_agent(launch.command, *launch.args, env=launch.env) as agent:
        ...

In an event loop:

    launch = await asyncio.to_thread(resolve, "claude-acp")
    async with v1.spawn_agent(MyClient, launch.command, *launch.args, env=launch.env) as agent:
        ...

What the registry names is downloaded by `npx` or `uvx` and runs with the rights of this process.
"""

from acp_kit.registry.document import Binary as Binary, Launch as Launch, Registry as Registry
from acp_kit.registry.errors import (
    BinaryOnly as BinaryOnly,
    InvalidEntry as InvalidEntry,
    InvalidRegistry as InvalidRegistry,
    RegistryError as RegistryError,
    RegistryUnavailable as RegistryUnavailable,
    UnknownAgent as UnknownAgent,
)
from acp_kit.registry.fetching import fetch_https as fetch_https
from acp_kit.registry.loading import REGISTRY_URL as REGISTRY_URL, load_registry as load_registry, resolve as resolve
