"""The docstrings of the stubs: upstream's words about a method, what it needs, what its default does, its keywords."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from codegen.ir import Field, Method, Schema
from codegen.names import attribute_name

_WIDTH = 92
_META = "Data for extensions, `_meta` on the wire."
_OTHER = {"agent": "client", "client": "agent"}
# Where each side says what it can do.
_YOURS = {"agent": "your `initialize` response", "client": "your `initialize` request"}


class StubDocs:
    """The docstrings of one schema's stubs."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def handler(self, method: Method, role: str) -> str:
        """For those who implement a method in a subclass."""
        needs = [f"Every {role} implements it."] if method.baseline else []
        if method.capability:
            without = f"without it {_OTHER[role]}s don't {_verb(method)} it"
            needs.append(f"Advertise `{method.capability}` in {_YOURS[role]}: {without}.")
        if method.content:
            needs.append(f"Advertise which parts you take: {_parts(method)}.")
        if method.offered:
            needs.append(f"It needs no capability: {_OTHER[role]}s {_verb(method)} it if {method.offered}.")
        default = "" if method.baseline else self._default(method, role)
        return _joined(f"Handle `{method.wire}`.", method.doc, " ".join(needs), default)

    def caller(self, method: Method, role: str) -> str:
        """For those who call a method of the peer."""
        first = f"Call `{method.wire}` and wait for its result." if method.result else f"Send `{method.wire}`."
        facts = dict(method.facts)
        ended = self._ended_by(method, _OTHER[role])
        also = [f"The session's pending `{each.wire}` is answered with `{result}`." for each, result in ended]
        if "cancelled" in facts:
            also.append(f"If the task that awaits it is cancelled, `{facts['cancelled'][0]}` is sent.")
        if "gone" in facts:
            also.append(f"The error {facts['gone']} counts as success: there was nothing left to end.")
        if method.offered:
            also.insert(0, f"It needs no capability: {_verb(method)} it if {method.offered}.")
        return _joined(first, method.doc, " ".join(also), self._arguments(method), _raises(method, role))

    def _default(self, method: Method, role: str) -> str:
        """What the base class does."""
        if method.result:
            return "The default answers that there is no such method (-32601)."
        if "cancels" in dict(method.facts):
            return "The default does nothing: the handler of that request has been cancelled already."
        ended = list(self._ended_by(method, role))
        if not ended:
            return "The default ignores it."
        each, result = ended[0]
        what = f"cancels the session's `{each.wire}`, which is then answered with `{result}`"
        return f"The default works without an override: it {what}."

    def _ended_by(self, method: Method, role: str) -> Iterator[tuple[Method, str]]:
        """The methods of a role that a notification cancels, and the result that is then their answer."""
        for each in self._schema.methods:
            by, result = dict(each.facts).get("cancelled", ("", ""))
            if by == method.wire and role in each.handled_by:
                yield each, json.dumps(json.loads(result))

    def _arguments(self, method: Method) -> str:
        """The keywords of a proxy's method, those of every kind of params it takes."""
        fields: dict[str, list[Field]] = {}
        for variant in self._schema.parameter_sets(method):
            for field in variant:
                fields.setdefault(field.name, []).append(field)
        lines = [_entry(name, self._about(found)) for name, found in fields.items()]
        return "\n".join(["Args:", *lines]) if lines else ""

    def _about(self, fields: list[Field]) -> str:
        """One keyword, which may mean something else in each kind of params."""
        tags = [f"`{each.tag}`" for each in fields if each.tag is not None]
        if tags:
            return f"Which kind it is: {', '.join(tags)}{', or another' if len(tags) < len(fields) else ''}."
        said = dict.fromkeys(filter(None, (self._first_words(each) for each in fields)))
        return " Or: ".join(said) or f"`{fields[0].wire}` on the wire."

    def _first_words(self, field: Field) -> str:
        if field.wire == "_meta":
            return _META
        definition = self._schema.definitions.get(field.type.text)
        text = field.doc or (definition.doc if definition else "")
        return " ".join(text.strip().split("\n\n")[0].split())


def _verb(method: Method) -> str:
    return "call" if method.result else "send"


def _raises(method: Method, role: str) -> str:
    """The errors of a call that sends nothing."""
    needed = [f"`{method.capability}`"] if method.capability else []
    needed += [f"what the arguments need: {_parts(method)}"] if method.content else []
    if not needed:
        return ""
    return "\n".join(["Raises:", _entry("CapabilityError", f"the {role} did not advertise {', or '.join(needed)}.")])


def _parts(method: Method) -> str:
    """The capabilities that parts of the params need."""
    return ", ".join(f"`{path}` for {_part(part)}" for part, path in method.content)


def _part(part: str) -> str:
    """A part of the params in words: a property, or what in it has a tag."""
    key, _, tag = part.partition(".")
    name = attribute_name(key) or key
    return f"`{tag}` in `{name}`" if tag else f"`{name}`"


def _entry(name: str, text: str) -> str:
    return textwrap.fill(
        f"{name}: {text}",
        _WIDTH,
        initial_indent="    ",
        subsequent_indent="        ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _joined(*parts: str) -> str:
    return "\n\n".join(_wrapped(part) for part in parts if part)


def _wrapped(part: str) -> str:
    """Our own sentences on lines that aren't too long. What upstream wrote has its own lines."""
    is_ours = "\n" not in part and len(part) > _WIDTH
    return textwrap.fill(part, _WIDTH, break_long_words=False, break_on_hyphens=False) if is_ours else part
