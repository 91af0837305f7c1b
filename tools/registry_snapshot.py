"""Writes the snapshot of the registry that the kit ships: `make registry-snapshot [FROM=<a fetched registry.json>]`.

It has the facts that start an agent by npx or uvx, and none of upstream's texts. Agents that can't be used are listed
with the reason. If one sets a variable of its own that is harmless, add it to `_VARIABLES` in `document.py`.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp_kit.registry import REGISTRY_URL, BinaryOnly, InvalidEntry, Registry, RegistryError, fetch_https
from tools.paths import ROOT

SNAPSHOT = ROOT / "kit" / "acp_kit" / "registry" / "snapshot.json"


def write(source: str, target: Path = SNAPSHOT) -> None:
    """Write the snapshot.

    Args:
        source: the path of a registry.json, fetched on the day on which the file was written; empty to fetch it now.
        target: the snapshot.

    Raises:
        OSError: if the source can't be read or fetched.
        RegistryError: if it is no registry.
    """
    document = Path(source).read_bytes() if source else fetch_https(REGISTRY_URL)
    fetched = datetime.fromtimestamp(Path(source).stat().st_mtime, UTC) if source else datetime.now(UTC)
    registry = Registry.parse(document)
    usable = {agent_id for agent_id in registry.ids if _is_usable(registry, agent_id)}
    kept = [_facts(agent) for agent in json.loads(document)["agents"] if _id(agent) in usable]
    snapshot = {"date": f"{fetched:%Y-%m-%d}", "source": REGISTRY_URL, "agents": kept}
    target.write_text(f"{json.dumps(snapshot, indent=2, ensure_ascii=False)}\n", "utf-8")
    sys.stdout.write(f"{len(kept)} of {len(registry.ids)} agents are in {target.name}.\n")


def _is_usable(registry: Registry, agent_id: str) -> bool:
    try:
        registry.resolve(agent_id)
    except (BinaryOnly, InvalidEntry) as error:
        sys.stdout.write(f"left out: {error}\n")
        return False
    return True


def _id(agent: Any) -> str | None:
    match agent:
        case {"id": str(agent_id)}:
            return agent_id
        case _:
            return None


def _facts(agent: dict[str, Any]) -> dict[str, Any]:
    ways = {kind: way for kind, way in agent["distribution"].items() if kind in ("npx", "uvx")}
    return {
        **{key: agent[key] for key in ("id", "name", "version") if key in agent},
        "distribution": {
            kind: {key: way[key] for key in ("package", "args", "env") if key in way} for kind, way in ways.items()
        },
    }


if __name__ == "__main__":
    try:
        write(sys.argv[1])
    except (OSError, RegistryError) as error:
        sys.exit(f"The snapshot was not written: {error}")
