"""Loads the registry, and keeps a copy of it on the disk."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from logging import getLogger
from pathlib import Path
from tempfile import TemporaryDirectory

from acp_kit.common.blocking import refuse_event_loop
from acp_kit.common.sequences import check_sequence
from acp_kit.registry.document import Launch, Registry
from acp_kit.registry.errors import InvalidRegistry, RegistryUnavailable, shown
from acp_kit.registry.fetching import fetch_https

REGISTRY_URL = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"
"""Where upstream publishes the registry."""

_SNAPSHOT = Path(__file__).with_name("snapshot.json")  # `make registry-snapshot` writes it
_logger = getLogger(__name__)


def resolve(agent_id: str, *, allow_env: Collection[str] = ()) -> Launch:
    """Return how to start an agent, by its id in upstream's registry.

    The registry is loaded as by `load_registry()`, whose result also has `find_binary`.

    Args:
        agent_id: the id of the agent.
        allow_env: variables that its entry may set, besides those that agents were known to set.

    Raises:
        RuntimeError: in a thread that runs an event loop. Write `await asyncio.to_thread(resolve, agent_id)` there.
        UnknownAgent: if the registry has no agent with this id.
        InvalidEntry: if its entry can't be used, or sets a variable that isn't allowed.
        BinaryOnly: if it is published neither for npx nor for uvx.
        RegistryUnavailable: if the registry can't be fetched, there is no copy of it on the disk, and the snapshot
            doesn't have the agent.
    """
    refuse_event_loop("Write `await asyncio.to_thread(resolve, agent_id)`.")
    allow_env = check_sequence("allow_env", allow_env)  # before the registry is fetched
    return load_registry().resolve(agent_id, allow_env=allow_env)


def load_registry(
    url: str = REGISTRY_URL, *, fetch: Callable[[str], bytes] = fetch_https, max_age: float = 24 * 3600
) -> Registry:
    """Load the registry from a copy on the disk, or from the network if that is too old.

    If it can't be fetched or isn't valid, an older copy is used, which is logged at WARNING. The copies are in the
    folder `acp-bindings` of `XDG_CACHE_HOME` (by default `~/.cache`; on Windows, of `LOCALAPPDATA`). Without a copy of
    upstream's registry, the snapshot in this package is used, also logged at WARNING. It has the agents that npx or uvx
    runs; for another one, the result raises `RegistryUnavailable`.

    Args:
        url: the address of `registry.json`.
        fetch: called with the address, returns the document. Whatever it raises means that there is none.
        max_age: how old the copy may be, in seconds; 0 fetches the registry each time.

    Raises:
        RuntimeError: in a thread that runs an event loop. Write `await asyncio.to_thread(load_registry)` there.
        RegistryUnavailable: if a registry at another address can't be fetched or isn't valid, and there is no copy of
            it on the disk.
    """
    refuse_event_loop("Write `await asyncio.to_thread(load_registry)`.")
    path = _cache_folder() / f"registry-{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"
    copy, changed = _read(path)
    if copy is not None and 0 <= time.time() - changed < max_age:
        return copy
    try:
        document = fetch(url)
        registry = Registry.parse(document)
    except Exception as error:
        if copy is not None:
            date = time.strftime("%Y-%m-%d %H:%M", time.localtime(changed))
            _logger.warning("The registry can't be fetched, so a copy of %s is used: %s", date, shown(error))
            return copy
        if url != REGISTRY_URL:
            raise RegistryUnavailable(f"The registry at {shown(url)} can't be fetched: {shown(error)}") from error
        date = json.loads(_SNAPSHOT.read_bytes())["date"]
        _logger.warning("The registry can't be fetched, so the snapshot of %s is used: %s", date, shown(error))
        return Registry.parse(_SNAPSHOT, snapshot_date=date)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=path.parent) as folder:
            # Replaced atomically, so that no other process reads half a file.
            Path(folder, "registry.json").write_bytes(document)
            Path(folder, "registry.json").replace(path)
    except OSError as error:
        _logger.warning("The registry can't be kept on the disk: %s", error)
    return registry


def _cache_folder() -> Path:
    given = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME", "")
    # The specification of XDG says to ignore relative paths.
    root = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    return root / "acp-bindings"


def _read(path: Path) -> tuple[Registry | None, float]:
    """Return the copy, None if there is none that is valid, and when it was written, in seconds since 1970."""
    with suppress(OSError, InvalidRegistry):
        if path.is_file():  # reading something else may block
            return Registry.parse(path), path.stat().st_mtime
    return None, 0
