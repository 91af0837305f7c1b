"""Writes the docstrings of stubs: upstream's description, arguments, capabilities, default behaviour and errors."""

from __future__ import annotations

import json
from collections.abc import Iterator

from codegen.chosen_names import find_attribute
from codegen.data.places import UNLISTED
from codegen.escaping import wrap
from codegen.facts import PlaceFact
from codegen.ir import OTHER_ROLE, Field, Method, Schema
from codegen.read.docs import drop_unstable_notice

_WIDTH = 112
_META = "Data for extensions, `_meta` on the wire."
# Where an implementation of each role advertises its capabilities.
_YOUR_MESSAGE = {"agent": "your `initialize` response", "client": "your `initialize` request"}


class StubDocs:
    """The docstrings of one schema's stubs."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def write_handler_doc(self, method: Method, role: str) -> str:
        """Return the docstring of a handler, for users who implement the method."""
        return _join_parts(
            f"Handle `{method.wire}`.",
            method.doc,
            " ".join(self.list_handler_needs(method, role)),
            self.list_accepted_parts(method),
            self.list_restricted_results(method, role),
            self.explain_default(method, role),
        )

    def list_handler_needs(self, method: Method, role: str) -> list[str]:
        """Return sentences about when a role handles a method."""
        needs = [f"Every {role} must implement this method."] if method.baseline else []
        if method.capability:
            without = f"without it, {OTHER_ROLE[role]}s don't {_verb(method)} {_this(method)}"
            needs.append(f"Advertise `{method.capability}` in {_YOUR_MESSAGE[role]}; {without}.")
        if method.offered:
            needs.append(
                f"Needs no capability; {OTHER_ROLE[role]}s {_verb(method)} {_this(method)} if {method.offered}."
            )
        if "interactive" in method.facts:
            needs.append("The notifications of its session that were received before it are handled first.")
        return needs

    def write_caller_doc(self, method: Method, role: str) -> str:
        """Return the docstring of a proxy's method, for users who call it."""
        raises = [_write_entry(name, text) for name, text in self.list_errors(method, role)]
        return _join_parts(
            f"Call `{method.wire}` and wait for its result." if method.result else f"Send `{method.wire}`.",
            method.doc,
            " ".join(self.list_caller_notes(method, role)),
            self._write_arguments(method),
            "\n".join(["Raises:", *raises]) if raises else "",
        )

    def list_caller_notes(self, method: Method, role: str) -> list[str]:
        """Return sentences about when to call a method of a role, and about the call's side effects."""
        notes: list[str] = []
        if method.offered:
            notes.append(f"Needs no capability; {_verb(method)} it only if {method.offered}.")
        for ended, answer in self._find_cancelled(method, OTHER_ROLE[role]):
            notes.append(f"The session's pending `{ended.wire}` requests are answered with {answer}.")
        cancelled = method.cancelled
        if cancelled and cancelled.result and self._is_handled_by(role, cancelled.by):
            notes.append(f"If the task that awaits the result is cancelled, `{cancelled.by}` is sent.")
        if "gone" in method.facts:
            notes.append(f"The error {method.facts['gone']} counts as success, because nothing was left to end.")
        return notes

    def list_accepted_parts(self, method: Method) -> str:
        """Return the capabilities that a handler may advertise for parts of its params, as a list."""
        needs = self._list_needs(method.params_facts, method)
        return "\n".join(["Advertise a capability for each of these that you accept:", *needs]) if needs else ""

    def list_restricted_results(self, method: Method, role: str) -> str:
        """Return the capabilities that the peer must have advertised for parts of a handler's result, as a list."""
        needs = self._list_needs(method.result_facts, method)
        return "\n".join([f"Return these only to {OTHER_ROLE[role]}s that advertise:", *needs]) if needs else ""

    def _list_needs(self, facts: tuple[PlaceFact, ...], method: Method) -> list[str]:
        needs = {fact.place: fact.capability for fact in facts if fact.capability and UNLISTED not in fact.capability}
        return [f"- {self._describe_part(method, place)}: `{capability}`" for place, capability in needs.items()]

    def explain_default(self, method: Method, role: str) -> str:
        """Return a sentence about a default that differs from the one in the class's docstring; otherwise empty."""
        if method.baseline or method.result:
            return ""
        if "cancels" in method.facts:
            return "The default does nothing, because the connection has cancelled the request already."
        cancelled = list(self._find_cancelled(method, role))
        if not cancelled:
            return ""
        request, answer = cancelled[0]
        if request.cancelled and request.cancelled.result:
            effect = f"it cancels the session's `{request.wire}`, which is then answered with {answer}"
            return f"You need not override the default: {effect}."
        effect = f"cancels the session's `{request.wire}` requests in flight, which are then answered with {answer}"
        return f"The default only {effect}. Override it to end the work that continues after their response as well."

    def _find_cancelled(self, notification: Method, role: str) -> Iterator[tuple[Method, str]]:
        """Yield the methods of a role that a notification cancels, and what answers a cancelled request."""
        for method in self._schema.methods:
            cancelled = method.cancelled
            if cancelled and cancelled.by == notification.wire and role in method.handled_by:
                result = cancelled.result
                yield method, f"`{json.dumps(json.loads(result))}`" if result else "the error -32800"

    def _is_handled_by(self, role: str, wire: str) -> bool:
        return any(method.wire == wire and role in method.handled_by for method in self._schema.methods)

    def _write_arguments(self, method: Method) -> str:
        """Return the section about the keywords of a proxy's method. A union has the keywords of all its members."""
        parameter_sets = self._schema.parameter_sets(method)
        by_name: dict[str, list[Field]] = {}
        for field in (field for parameters in parameter_sets for field in parameters):
            by_name.setdefault(field.name, []).append(field)
        lines = [
            _write_entry(name, self._describe_argument(fields, len(parameter_sets))) for name, fields in by_name.items()
        ]
        return "\n".join(["Args:", *lines]) if lines else ""

    def _describe_argument(self, fields: list[Field], members: int) -> str:
        """Return the description of a keyword, from its fields in the `members` members of a union."""
        tags = [f"`{field.tag}`" for field in fields if field.tag is not None]
        if tags:
            choices = list(dict.fromkeys(tags))
            if len(tags) < len(fields):
                choices.append("another string")
            if len(fields) < members:
                choices.append("left out")
            return f"Selects the variant: {_join_alternatives(choices)}."
        descriptions = dict.fromkeys(filter(None, (self._summarise(field) for field in fields)))
        return " Or: ".join(descriptions) or f"`{fields[0].wire}` on the wire."

    def _summarise(self, field: Field) -> str:
        """Return the first paragraph of a field's description, or of its type's, as a sentence on one line."""
        if field.wire == "_meta":
            return _META
        definition = self._schema.definitions.get(field.type.non_null.name)
        text = field.doc or (definition.doc if definition else "")
        line = " ".join(drop_unstable_notice(text).strip().split("\n\n")[0].split())
        return f"{line}." if line and line[-1] not in ".!?:" else line

    def list_errors(self, method: Method, role: str) -> list[tuple[str, str]]:
        """Return the exceptions of a call that not every call can raise, with their reasons."""
        facts = method.facts
        errors: list[tuple[str, str]] = []
        if needs := self._write_needs(method):
            exempt = f" Not raised for a `{facts['exempt']}` that the {role} created." if "exempt" in facts else ""
            errors.append(("CapabilityError", f"The {role} did not advertise {needs}.{exempt}"))
        paths = [fact.place.split(".") for fact in method.params_facts if fact.kind == "Absolute"]
        if paths:
            names = {(find_attribute(path[0]), len(path) > 1): None for path in paths}
            fields = [f"a path in `{name}`" if is_inside else f"`{name}`" for name, is_inside in names]
            text = f"{_join_alternatives(fields)} is a relative path."
            errors.append(("RelativePath", text[0].upper() + text[1:]))
        if "opens" in facts:
            errors.append(("ProtocolVersionMismatch", f"The {role} answered with another protocol version."))
        return errors

    def _write_needs(self, method: Method) -> str:
        own = f"`{method.capability}`" if method.capability else ""
        needs = {fact.place: fact.capability for fact in method.params_facts if fact.capability}
        parts = ", ".join(f"`{path}` for {self._describe_part(method, place)}" for place, path in needs.items())
        return ", or ".join(filter(None, (own, parts and f"a capability that an argument needs: {parts}")))

    def _describe_part(self, method: Method, place: str) -> str:
        """Describe a place in the params or the result: an argument, a tag of the whole, or anything inside."""
        first, _, inside = place.partition(".")
        name = find_attribute(first)
        if not inside:
            return f"`{name}`"
        is_tag = any(
            field.name == name and field.tag
            for parameters in self._schema.parameter_sets(method)
            for field in parameters
        )
        if not is_tag:
            return f"`{place}`"
        return f"another `{name}`" if inside == UNLISTED else f'`{name}="{inside}"`'


def _verb(method: Method) -> str:
    return "call" if method.result else "send"


def _this(method: Method) -> str:
    return "this method" if method.result else "this notification"


def _join_alternatives(texts: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def _write_entry(name: str, text: str) -> str:
    return wrap(f"{name}: {text}", _WIDTH, "    ", "        ")


def _join_parts(*parts: str) -> str:
    return "\n\n".join(_wrap_paragraph(part) for part in parts if part)


def _wrap_paragraph(part: str) -> str:
    """Wrap a paragraph of one line. Text with line breaks, such as most of upstream's, is kept."""
    return wrap(part, _WIDTH) if "\n" not in part and len(part) > _WIDTH else part
