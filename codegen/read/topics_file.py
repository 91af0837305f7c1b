"""Reads `topics.toml`: the modules that generated models are divided into.

Checks the form of the file. Independent of the schema: `codegen.read.topics` finds the topic of each definition.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from codegen.errors import FileError
from codegen.nodes import is_array, is_object
from codegen.toml import parse_toml

FILE = "codegen/topics.toml"
TOPICS_TOML = Path(__file__).parents[1] / "topics.toml"
_MEANING = "The top of the file describes every key."
_LISTS = ("types", "methods")


@dataclass(frozen=True)
class Topic:
    """A module of models.

    Attributes:
        name: the name of the module.
        title: the title of its page in the reference.
        text: what it is about.
        types: the definitions that it starts from.
        methods: the methods whose params and results it starts from. One that ends in a slash stands for all methods
            that begin like this.
    """

    name: str
    title: str
    text: str
    types: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


@cache
def read_topics() -> tuple[Topic, ...]:
    """Return the topics in order.

    Raises:
        FileError: the file is missing or invalid.
    """
    try:
        content = TOPICS_TOML.read_bytes()
    except OSError as error:
        raise FileError("", f"{FILE}: The file can't be read: {error.strerror}. Restore it with git.") from error
    return parse_topics(content)


def parse_topics(content: bytes) -> tuple[Topic, ...]:
    """Parse the content of the file.

    Raises:
        FileError: it is invalid.
    """
    table = parse_toml(content, FILE)
    entries: Any = table.get("topics")
    if set(table) != {"topics"} or not is_array(entries) or not entries:
        raise FileError("", f"{FILE}: The file must have [[topics]] tables and nothing else. {_MEANING}")
    topics = tuple(_topic(each, number) for number, each in enumerate(entries, 1))
    _check_unique(topics)
    return topics


def _topic(entry: Any, number: int) -> Topic:
    if problem := _problem(entry):
        raise FileError("", f"{FILE}, topic {number}: {problem} {_MEANING}")
    values: dict[str, Any] = {**entry, **{key: tuple(entry[key]) for key in _LISTS}}
    return Topic(**values)


def _problem(entry: Any) -> str:
    """Return a sentence about what is wrong with an entry; empty if nothing is."""
    if not is_object(entry):
        return f"Expected a table, found {entry!r}."
    keys = [each.name for each in fields(Topic)]
    for key in (*keys, *entry):
        if key not in keys:
            return f"Unknown key {key!r}; the keys are {', '.join(keys)}."
        if key not in entry:
            return f"`{key}` is missing."
        if key in _LISTS and not (is_array(entry[key]) and all(_is_text(each) for each in entry[key])):
            return f"`{key}` must be a list of names, found {entry[key]!r}."
        if key not in _LISTS and not _is_text(entry[key]):
            return f"`{key}` must be a text, found {entry[key]!r}."
    return _problem_of_name(entry["name"])


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _problem_of_name(name: str) -> str:
    if not name.isidentifier() or not name.islower() or keyword.iskeyword(name) or name.startswith("_"):
        return f"{name!r} can't be the name of a module; expected small letters and underscores."
    return ""


def _check_unique(topics: tuple[Topic, ...]) -> None:
    """Check that no topic, definition or method is listed twice."""
    _check_once("name", [topic.name for topic in topics])
    _check_once("type", [name for topic in topics for name in topic.types])
    _check_once("method", [name for topic in topics for name in topic.methods])


def _check_once(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise FileError("", f"{FILE}: The {what} {name!r} is listed twice. Remove one of the entries.")
