"""A program that prints which messages the bindings on its path can read, as one JSON value per line."""

from __future__ import annotations

import json
import sys

from pydantic import TypeAdapter, ValidationError

import acp_bindings.v1 as bindings


def reads(definition: str, message: object) -> bool:
    """Return whether a definition of the bindings accepts a message."""
    try:
        TypeAdapter(getattr(bindings, definition)).validate_json(json.dumps(message))
    except ValidationError:
        return False
    return True


for line in sys.stdin:
    sys.stdout.write(f"{json.dumps(reads(*json.loads(line)))}\n")
