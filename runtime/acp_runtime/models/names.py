"""The names of fields in Python and in JSON."""

from __future__ import annotations

from pydantic.alias_generators import to_camel


def wire_name(name: str) -> str:
    """Return the JSON key of a Python attribute: `session_id` is `sessionId`, `meta` is `_meta`, `from_` is `from`.

    There are no exceptions. The generator refuses a schema key that doesn't result from this rule.
    """
    return "_meta" if name == "meta" else to_camel(name.removesuffix("_"))
