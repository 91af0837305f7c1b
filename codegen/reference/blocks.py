"""Writes the blocks of Python: the call of a method, its handler, what advertises its capability, and the members of
unions, which are made with the class of the member.
"""

from __future__ import annotations

from pathlib import Path

from codegen.emit.formatting import formatted
from codegen.emit.rendering import Templates
from codegen.ir import Method, Model, Schema
from codegen.read.resolve import ADVERTISED_IN
from codegen.reference.examples import Examples, Object
from codegen.reference.written import as_python, keywords

OTHER = {"agent": "client", "client": "agent"}
_STYLE = Path(__file__).with_name("block_style.toml")
_TEMPLATES = Templates(Path(__file__).with_name("templates"), trim_blocks=True, lstrip_blocks=True)


def is_member(model: Model) -> bool:
    """Whether a property with one fixed value tells the model apart in a union."""
    return any(each.tag is not None for each in model.fields)


class Blocks:
    """The blocks of one profile, by method, role and kind."""

    def __init__(self, profile: str, schema: Schema, examples: Examples) -> None:
        self._profile = profile
        self._schema = schema
        self._examples = examples
        stubs = [f"{prefix}{role.capitalize()}" for role in OTHER for prefix in ("", "Remote")]
        self._imports = [*stubs, *schema.definitions.keys() - schema.envelopes]  # ruff removes those that a block lacks
        sources = {
            f"{method.constant}-{role}-{kind}.py": source
            for method in schema.methods
            for role in method.handled_by
            for kind, source in self._of(method, role).items()
        }
        members = [each for each in schema.definitions.values() if isinstance(each, Model)]
        sources |= {f"{each.name}.py": self._member(each) for each in members if is_member(each)}
        self._texts = {name: text.strip() for name, text in formatted(sources, _STYLE).items()}

    def text(self, method: Method, role: str, kind: str) -> str:
        """Return a block: a `call`, a handler (`handle`), or a `capability`; empty if there is none."""
        return self._texts.get(f"{method.constant}-{role}-{kind}.py", "")

    def member(self, name: str) -> str:
        """Return the block that makes a member of a union; empty for other types."""
        return self._texts.get(f"{name}.py", "")

    def _of(self, method: Method, role: str) -> dict[str, str]:
        found = {"call": self._call(method, role), "handle": self._handle(method, role)}
        return found | ({"capability": self._capability(method, role)} if method.capability else {})

    def _call(self, method: Method, role: str) -> str:
        params = self._examples.of(method.params)
        assert isinstance(params, Object)
        return self._render("call.py.jinja", method=method, role=role, keywords=keywords(list(params.fields)))

    def _handle(self, method: Method, role: str) -> str:
        result = as_python(self._examples.of(method.result)) if method.result else ""
        cancels = any(dict(each.facts).get("cancelled", ("",))[0] == method.wire for each in self._schema.methods)
        return self._render("handle.py.jinja", method=method, role=role, result=result, keeps_default=cancels)

    def _capability(self, method: Method, role: str) -> str:
        message, path = ADVERTISED_IN[role], (method.capability or "").split(".")
        example = self._examples.with_path(message, path)
        if path[0] == self._schema.properties[f"{role}_capabilities"]:
            inner = next(each for field, each in example.fields if field.wire == path[0])
            assert isinstance(inner, Object)
            example = inner
        return self._render("capability.py.jinja", value=as_python(example), model=example.model)

    def _member(self, model: Model) -> str:
        return self._render("member.py.jinja", value=as_python(self._examples.of(model.name)))

    def _render(self, template: str, **values: object) -> str:
        return _TEMPLATES.render(template, profile=self._profile, names=self._imports, other=OTHER, **values)
