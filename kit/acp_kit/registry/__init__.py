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

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_kit.lazy import lazy_exports

if TYPE_CHECKING:
    from acp_kit.registry.document import Registry
    from acp_kit.registry.errors import (
        BinaryOnly,
        InvalidEntry,
        InvalidRegistry,
        RegistryError,
        RegistryUnavailable,
        UnknownAgent,
    )
    from acp_kit.registry.fetching import fetch_https
    from acp_kit.registry.launching import Binary, Launch
    from acp_kit.registry.loading import REGISTRY_URL, load_registry, resolve
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "document": ("Registry",),
            "errors": (
                "BinaryOnly",
                "InvalidEntry",
                "InvalidRegistry",
                "RegistryError",
                "RegistryUnavailable",
                "UnknownAgent",
            ),
            "fetching": ("fetch_https",),
            "launching": ("Binary", "Launch"),
            "loading": ("REGISTRY_URL", "load_registry", "resolve"),
        },
    )

__all__ = [
    "REGISTRY_URL",
    "Binary",
    "BinaryOnly",
    "InvalidEntry",
    "InvalidRegistry",
    "Launch",
    "Registry",
    "RegistryError",
    "RegistryUnavailable",
    "UnknownAgent",
    "fetch_https",
    "load_registry",
    "resolve",
]
