"""Finds the facts about places in messages: in the schema's descriptions, and in `methods.toml`.

A description belongs to a definition, so its facts hold wherever a message contains the definition. Only sentences that
can't mean anything else are read. All other facts are in `methods.toml`, whose capabilities take precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic.alias_generators import to_camel

from codegen.data.facts_file import FILE, PLACES, Entries, next_step_for_entry
from codegen.data.places import UNLISTED, Place, Places
from codegen.errors import SchemaError
from codegen.facts import PlaceFact
from codegen.ir import OTHER_ROLE, Method, Schema
from codegen.read.docs import split_sentences

# "Agents MUST only send this update when the Client advertised the `session.notices` Client capability."
# "Agents MUST only send this update when the Client advertised [`ClientSessionCapabilities::compaction`]."
# "Only available when the Agent capabilities indicate `mcp_capabilities.http` is `true`."
_NEEDS = re.compile(
    r"(?:(?:Agents|Clients) MUST only (?:send|use) (?:this(?: \w+)?|it)|Only (?:send this|available)) (?:when|if) the "
    r"(Agent|Client)(?: capabilities)? (?:advertised|advertises|supports|include|indicate) (?:the )?"
    r"\[?`([A-Za-z_.:]+)`\]?(?: is `true`)?(?: (?:Agent|Client))?(?: capability)?(?:, and SHOULD .*)?\.?"
)
# "Must be an absolute path." "Each path must be absolute." "The absolute file path being modified."
_ABSOLUTE = re.compile(
    r"must be an absolute path\b|(?:(?:each|the) path |paths )must be absolute\b"
    r"|(?:an? |the )?absolute (?:file |filesystem |working )?(?:path|directory)\b",
    re.I,
)
_NOT_ALWAYS_ABSOLUTE = re.compile(r"\b(?:relative|UR[IL]s?|not|if|when|unless|otherwise|or an?)\b", re.I)
# "Agents MUST reject a `session/prompt` request with a content block type they do not support with `-32602`."
_REJECTS = re.compile(r"\b(Agents|Clients)\b[^.]*\bMUST reject (?:a|the)(?: `([a-z/_]+)`)? request\b[^.]*`-32602`")


@dataclass(frozen=True)
class Message:
    """The params or the result of a method.

    Attributes:
        definition: its definition.
        receiver: the side that receives it: `agent` or `client`.
        is_request: whether it is the params of a request, which the receiver can answer with an error.
    """

    method: Method
    definition: str
    receiver: str
    is_request: bool


def find_messages(method: Method) -> Iterator[Message]:
    """Yield the params and the result of a method, if it belongs to one side."""
    if method.side in OTHER_ROLE:
        yield Message(method, method.params, method.side, method.result is not None)
        if method.result:
            yield Message(method, method.result, OTHER_ROLE[method.side], False)


def find_place_keys(schema: Schema, places: Places) -> set[str]:
    """Return the names of all places in the messages of a schema."""
    messages = (message for method in schema.methods for message in find_messages(method))
    return {key for message in messages for place in places.find(message.definition) for key in place.keys}


@dataclass(frozen=True)
class PlaceFactFinder:
    """Finds the facts about the places of one schema.

    Attributes:
        places: the places in its messages.
        entries: the entries about places in `methods.toml`, by key.
        advertised: the paths of everything that each side can advertise, with their definitions and properties.
        starts: the property with each side's capabilities, the first step of their paths.
        own_tables: the name of the profile's own tables in `methods.toml`.
        checked: whether the schema must have every capability.
    """

    places: Places
    entries: dict[str, Entries]
    advertised: dict[str, dict[str, str]]
    starts: dict[str, str]
    own_tables: str
    checked: bool

    def find(self, message: Message) -> tuple[PlaceFact, ...]:
        """Return the facts about a message.

        Raises:
            SchemaError: a capability is missing, or the facts about a place contradict each other.
        """
        facts: dict[tuple[str, ...], tuple[PlaceFact, ...]] = {}
        for place in self.places.find(message.definition):
            new = tuple(dict.fromkeys(self._find_at(place, message)))
            if facts.setdefault(place.path, new) != new:
                text = f"The facts about {'.'.join(place.path)} in {message.method.wire} differ between members."
                raise SchemaError(f"/$defs/{message.definition}", text, next_step=self._next_step)
        return tuple(_add_rejections([fact for at_place in facts.values() for fact in at_place]))

    @property
    def _next_step(self) -> str:
        return next_step_for_entry(self.own_tables, PLACES)

    def _find_at(self, place: Place, message: Message) -> Iterator[PlaceFact]:
        path, sentences = ".".join(place.path), [sentence for text in place.texts for sentence in split_sentences(text)]
        needs = list(self._find_listed(place, message))
        for capability in needs or self._find_stated(sentences, message):
            yield PlaceFact("Needs", path, capability)
        is_listed = any(entry.get("absolute") for entry in self._find_entries(place))
        if is_listed and not place.is_text:
            text = f"{FILE} says that {path} in {message.method.wire} is an absolute path, but it is not a string."
            raise SchemaError(f"/$defs/{message.definition}", text, next_step=self._next_step)
        if is_listed or (place.is_text and any(map(_is_absolute, sentences))):
            yield PlaceFact("Absolute", path, rejects=message.is_request and len(place.path) == 1)
        if place.path[-1] == UNLISTED and any(_is_rejected(sentence, message) for sentence in sentences):
            yield PlaceFact("Unsupported", path)

    def _find_stated(self, sentences: list[str], message: Message) -> Iterator[str]:
        """Yield the capabilities that the descriptions of a place name."""
        for match in filter(None, map(_NEEDS.fullmatch, sentences)):
            side, name = match.groups()
            if side.lower() != message.receiver:
                continue
            if paths := self._find_paths(message.receiver, name):
                yield from paths
            elif self.checked:
                raise SchemaError(
                    f"/$defs/{message.definition}",
                    f"A description in {message.method.wire} says that it needs {name}, which is not a capability "
                    f"here: {match[0]}",
                    next_step=f"Add an entry with the right capability to [{self.own_tables}.{PLACES}] of {FILE}.",
                )

    def _find_paths(self, side: str, name: str) -> list[str]:
        """Return the path of a capability that a description names: by its path, or by its definition and property."""
        definition, _, wire = name.rpartition("::")
        path = ".".join(to_camel(step) for step in (self.starts[side], *wire.split(".")))
        target = f"{definition}::{to_camel(wire)}"
        advertised = self.advertised[side].items()
        return [known for known, owner in advertised if (owner == target if definition else known == path)]

    def _find_listed(self, place: Place, message: Message) -> Iterator[str]:
        """Yield the capabilities that `methods.toml` names for a place."""
        for entry in self._find_entries(place):
            path = entry.get("needs")
            if path is None:
                continue
            if self.checked and path.removesuffix(f".{UNLISTED}") not in self.advertised[message.receiver]:
                raise SchemaError(
                    f"/$defs/{message.definition}",
                    f"{FILE} says that {'.'.join(place.path)} in {message.method.wire} needs {path}, but there is no "
                    "such capability here.",
                    next_step=self._next_step,
                )
            yield path

    def _find_entries(self, place: Place) -> Iterator[dict[str, Any]]:
        for key in place.keys:
            if entries := self.entries.get(key):
                yield self._choose_entry(entries)

    def _choose_entry(self, entries: Entries) -> dict[str, Any]:
        """Return the first entry whose capability the schema has. An empty one is for schemas without the place."""
        known = {"", *(path for paths in self.advertised.values() for path in paths)}
        candidates = [entry for _, entry in entries if entry]
        fitting = (entry for entry in candidates if entry.get("needs", "").removesuffix(f".{UNLISTED}") in known)
        return next(fitting, candidates[0] if candidates else {})


def _is_absolute(sentence: str) -> bool:
    """Return whether a sentence says that a text is an absolute path."""
    return bool(_ABSOLUTE.match(sentence)) and not _NOT_ALWAYS_ABSOLUTE.search(sentence)


def _is_rejected(text: str, message: Message) -> bool:
    """Return whether a text says that receivers answer such a request with an error."""
    return message.is_request and any(
        side == f"{message.receiver.capitalize()}s" and wire in ("", message.method.wire)
        for side, wire in _REJECTS.findall(text)
    )


def _add_rejections(facts: list[PlaceFact]) -> Iterator[PlaceFact]:
    """Yield the facts. If a union's unlisted tags are rejected, so are tags whose capability isn't advertised."""
    rejected = {fact.place.removesuffix(UNLISTED) for fact in facts if fact.kind == "Unsupported"}
    for fact in facts:
        parent = f"{fact.place.rpartition('.')[0]}."
        yield replace(fact, rejects=True) if fact.kind == "Needs" and parent in rejected else fact
