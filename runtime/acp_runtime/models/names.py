"""Names of fields: in Python, and on the wire."""

from __future__ import annotations

from pydantic.alias_generators import to_camel


def wire_name(name: str) -> str:
    """The JSON key of a Python attribute: `session_id` is `sessionId`, `meta` is `_meta`, `from_` is `from`.

    This is the whole rule. The generator refuses a schema key that it can't reach this way.
    """
    return "_meta" if name == "meta" else to_camel(name.removesuffix("_"))
