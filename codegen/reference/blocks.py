"""Writes the blocks of Python in the reference: a call of each method, and a handler."""

from __future__ import annotations

from pathlib import Path

from codegen.emit.formatting import format_files
from codegen.emit.rendering import Templates
from codegen.ir import OTHER_ROLE, Schema
from codegen.reference.examples import Examples, Object, to_python, write_keywords

_STYLE = Path(__file__).with_name("block_style.toml")
_TEMPLATES = Templates(Path(__file__).with_name("templates"), trim_blocks=True, lstrip_blocks=True)


def write_blocks(profile: str, schema: Schema, examples: Examples) -> dict[str, str]:
    """Return the blocks of a profile, by `<method's constant>-<role that handles it>-<call or handle>.py`."""
    stubs = [f"{prefix}{role.capitalize()}" for role in OTHER_ROLE for prefix in ("", "Remote")]
    names = [*stubs, *schema.definitions.keys() - schema.envelopes]  # ruff removes those that a block lacks
    sources: dict[str, str] = {}
    for method in schema.methods:
        params = examples.make(method.params)
        assert isinstance(params, Object)
        values = {
            "profile": profile,
            "names": names,
            "method": method,
            "keywords": write_keywords(list(params.fields)),
            "result": to_python(examples.make(method.result)) if method.result else "",
            "keeps_default": any(other.cancelled and other.cancelled.by == method.wire for other in schema.methods),
        }
        for role in method.handled_by:
            for kind in ("call", "handle"):
                source = _TEMPLATES.render(f"{kind}.py.jinja", role=role, **values)
                sources[f"{method.constant}-{role}-{kind}.py"] = source
    return format_files(sources, _STYLE)
