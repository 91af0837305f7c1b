"""Reads `methods.toml`: TOML with a table for each version and side, which holds an entry for each method.

Checks the form of the file. Independent of the schema: `codegen.read.resolve` checks whether an entry fits it.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import AfterValidator, Field, with_config
from typing_extensions import TypedDict

from codegen.names import attribute_name
from codegen.pinned.profiles import TABLES
from codegen.toml import Text, checked, parse_toml, read_file

FILE = "codegen/methods.toml"
# The entries by version, side and method.
Table: TypeAlias = dict[str, dict[str, dict[str, Any]]]
# The table of a version that is about all its methods, instead of those of one side.
SHARED = "properties"
# The ends of the names of tables that go before those of a version: those of its unstable profile, and those of the
# schemas that the next upgrade brings.
UNSTABLE, NEXT = "_unstable", "_next"


def _with_python_name(wire: str) -> str:
    if attribute_name(wire) is None:
        raise ValueError(f"Expected the name of a property in camelCase, found {wire!r}")
    return wire


def _unlocked(entry: Entry) -> Entry:
    if ("offered" in entry) == bool(entry.keys() & {"baseline", "capability"}):
        raise ValueError(
            "Expected either `offered`, or `baseline` or `capability`, which say when the method may be called"
        )
    return entry


Property: TypeAlias = Annotated[str, AfterValidator(_with_python_name)]


@with_config(extra="forbid")
class Properties(TypedDict):
    """The properties that the methods of a version share."""

    session: Property
    version: Property
    agent_capabilities: Property
    agent_info: Property
    client_capabilities: Property
    client_info: Property
    lower: Literal["own", "refused"]


@with_config(extra="forbid")
class Cancelled(TypedDict):
    """The notification that cancels a request, and the result that the request then has, perhaps also by its id."""

    by: Text
    by_id: NotRequired[Literal[True]]
    result: dict[str, Any]


@with_config(extra="forbid")
class Entry(TypedDict, total=False):
    """A method of a side that advertises no capabilities."""

    baseline: Literal[True]
    offered: Text
    opens: Literal[True]
    creates: Property
    ends: Property
    exempt: Property
    gone: Annotated[int, Field(strict=True, lt=0)]
    cancels: Property
    cancelled: Cancelled
    paths: Annotated[list[Property], Field(min_length=1)]


@with_config(extra="forbid")
class EntryWithCapability(Entry, total=False):
    """A method of a side that advertises capabilities."""

    capability: Text
    content: dict[str, Text]


Entries: TypeAlias = dict[str, Annotated[Entry, AfterValidator(_unlocked)]]
EntriesWithCapability: TypeAlias = dict[str, Annotated[EntryWithCapability, AfterValidator(_unlocked)]]


@with_config(extra="forbid")
class _Sides(TypedDict, total=False):
    agent: EntriesWithCapability
    client: EntriesWithCapability
    both: Entries
    protocol: Entries
    proxy: Entries


@with_config(extra="forbid")
class _Tables(_Sides):
    properties: Properties


@with_config(extra="forbid")
class _OtherTables(_Sides, total=False):
    """The tables that go before those of a version."""

    properties: Properties


def tables_of(facts: str) -> tuple[str, ...]:
    """Return the names of the tables of a profile, the first one first. `facts`: `v1`, or `v1_unstable` for that one.

    Each can have another entry for a method than the later ones.
    """
    version = facts.removesuffix(UNSTABLE)
    return (*([facts] if facts != version else []), version + NEXT, version)


def way_out(facts: str, side: str) -> str:
    """Return the sentence that says where an entry belongs that differs from that of the version. `side`: a table."""
    return f"Correct the entry, or write the one that fits to [{tables_of(facts)[0]}.{side}]."


def read_facts_file(path: Path) -> Table:
    """Read the whole file.

    Raises:
        FileError: the file is missing or invalid.
    """
    name = f"{path.parent.name}/{path.name}"
    return parse_facts(read_file(path, name), name)


@lru_cache(maxsize=4)
def parse_facts(content: bytes, name: str) -> Table:
    """Parse the content of the file. `name` is the file's name in the error message.

    Raises:
        FileError: it is invalid.
    """
    table = parse_toml(content, name)
    others = {version: each for version, each in table.items() if version.endswith((UNSTABLE, NEXT))}
    versions = {version: each for version, each in table.items() if version not in others}
    checked(dict[Annotated[str, Field(pattern=f"^({'|'.join(TABLES)})$")], _Tables], versions, name)
    checked(
        dict[Annotated[str, Field(pattern=f"^({'|'.join(TABLES)})({UNSTABLE}|{NEXT})$")], _OtherTables], others, name
    )
    return table
