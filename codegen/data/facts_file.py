"""Reads `methods.toml`, which has a table for each version and side, with an entry for each method.

Only the form of the file is checked here. `codegen.data.resolve` checks whether an entry fits a schema.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, get_args

from pydantic import AfterValidator, Field, with_config
from typing_extensions import TypedDict

from codegen.errors import FileError
from codegen.pinned.profiles import TABLES
from codegen.toml import SEE_TOP_OF_FILE, Text, parse_toml, read_file, validate

FILE = "codegen/methods.toml"
METHODS_TOML = Path(__file__).parents[1] / "methods.toml"
# The entries of a method, the most specific one first, after the name of the table.
Entries: TypeAlias = list[tuple[str, dict[str, Any]]]
# The whole file: entries by version, side and method.
Table: TypeAlias = dict[str, dict[str, dict[str, Any]]]
# The table with what all methods of a version share.
SHARED = "properties"
# The table with required lists that a peer may leave out.
MAY_BE_MISSING = "may_be_missing"
# The table about opening requests for newer versions.
NEWER = "newer"
# The table about places in messages.
PLACES = "places"
# The table about the kinds of updates of a session.
UPDATES = "updates"
# Who says a message.
Role: TypeAlias = Literal["user", "agent", "thought"]
# Suffixes of tables that take precedence over those of a version: for its unstable profile, and for schemas that the
# next upgrade brings.
UNSTABLE = "_unstable"
NEXT = "_next"


def _check_access(entry: Entry) -> Entry:
    if ("offered" in entry) == bool(entry.keys() & {"baseline", "capability"}):
        raise ValueError(
            "Expected either `offered`, or `baseline` or `capability`, which say when the method may be called"
        )
    return entry


def _check_effect(entry: UpdateEntry) -> UpdateEntry:
    effects = [key for key in EFFECTS if key in entry]
    if len(effects) > 1 or (entry and not effects):
        raise ValueError(f"Expected one of {', '.join(f'`{key}`' for key in EFFECTS)}, or an empty table")
    allowed = {*effects, *(key for effect in effects for key in EFFECTS[effect])}
    if unfit := sorted(entry.keys() - allowed):
        raise ValueError(f"`{unfit[0]}` doesn't belong to `{effects[0]}`")
    if "id" in allowed and "id" not in entry:
        raise ValueError(f"`{effects[0]}` needs the `id` of what it is about")
    if "to" in entry and "appends" not in entry:
        raise ValueError("`to` says where something is appended, but `appends` is missing")
    if (thing := entry.get("changes")) in get_args(Role):
        raise ValueError(f"`changes` is {thing!r}, which stands for messages")
    if invalid := [name for name in (*entry.get("sets", ()), entry.get("adds_to", "a")) if not name.isidentifier()]:
        raise ValueError(f"{invalid[0]!r} is not a Python name")
    if "appends" in entry and (other := sorted(entry.keys() & {"null", "meta", "new", "starts"})):
        raise ValueError(f"`{other[0]}` doesn't belong to `appends`")
    return entry


@with_config(extra="forbid")
class Properties(TypedDict):
    """The properties that all methods of a version share."""

    session: Text
    version: Text
    agent_capabilities: Text
    agent_info: Text
    client_capabilities: Text
    client_info: Text
    lower: Literal["own", "refused"]
    batches: NotRequired[Literal["received"]]


@with_config(extra="forbid")
class Newer(TypedDict, total=False):
    """How an agent of a version reads the opening request for a newer one."""

    advertised: Annotated[list[Text], Field(min_length=2, max_length=2)]
    without: dict[str, Any]
    unknown_info: dict[str, Any]


@with_config(extra="forbid")
class Cancelled(TypedDict):
    """The notification that cancels a request, and its result then; also if it is cancelled by its id, with `by_id`."""

    by: Text
    by_id: NotRequired[Literal[True]]
    result: NotRequired[dict[str, Any]]


@with_config(extra="forbid")
class Accepted(TypedDict):
    """The notification that shows that a request was accepted: its parts, and the id there and in the result."""

    by: Text
    parts: Annotated[list[Text], Field(min_length=1)]
    id: Text


@with_config(extra="forbid")
class Entry(TypedDict, total=False):
    """A method of a side that advertises no capabilities."""

    baseline: Literal[True]
    offered: Text
    opens: Literal[True]
    creates: Text
    ends: Text
    exempt: Text
    gone: Annotated[int, Field(strict=True, lt=0)]
    cancels: Text
    cancelled: Cancelled
    interactive: Literal[True]
    accepted: Accepted


@with_config(extra="forbid")
class EntryWithCapability(Entry, total=False):
    """A method of a side that advertises capabilities."""

    capability: Text


@with_config(extra="forbid")
class PlaceEntry(TypedDict, total=False):
    """What is said about a place in messages."""

    needs: Text
    absolute: Literal[True]


_MERGING = ("null", "meta")
# What an update can do, and the other keys of such an entry.
EFFECTS: dict[str, tuple[str, ...]] = {
    "says": ("id", "appends", *_MERGING),
    "changes": ("id", "appends", "to", "starts", "new", *_MERGING),
    "removes": ("id",),
    "sets": _MERGING,
    "adds_to": (),
}


@with_config(extra="forbid")
class UpdateEntry(TypedDict, total=False):
    """What a kind of update does to the state of its session."""

    says: Role
    changes: Text
    removes: Text
    sets: Annotated[dict[str, Text], Field(min_length=1)]
    adds_to: Text
    id: Text
    appends: Text
    to: Text
    starts: Literal[True]
    new: dict[str, Any]
    null: Literal["clears", "keeps"]
    meta: Literal["patched"]


_Side: TypeAlias = dict[str, Annotated[Entry, AfterValidator(_check_access)]]
_SideWithCapability: TypeAlias = dict[str, Annotated[EntryWithCapability, AfterValidator(_check_access)]]


@with_config(extra="forbid")
class _Tables(TypedDict, total=False):
    """The tables of a version, or those that take precedence over them."""

    properties: Properties
    newer: Newer
    may_be_missing: dict[Annotated[str, Field(pattern=r"^\w+\.\w+$")], Text]
    places: dict[str, PlaceEntry]
    updates: dict[str, Annotated[UpdateEntry, AfterValidator(_check_effect)]]
    agent: _SideWithCapability
    client: _SideWithCapability
    both: _Side
    protocol: _Side
    proxy: _Side


def table_names(facts: str) -> tuple[str, ...]:
    """Return the names of a profile's tables, in order of precedence. `facts` is the first, such as `v1_unstable`."""
    version = facts.removesuffix(UNSTABLE)
    return (*([facts] if facts != version else []), version + NEXT, version)


def next_step_for_entry(facts: str, side: str) -> str:
    """Return the next step after a mistake in an entry. `side` is the name of the table in the version."""
    return f"Correct the entry, or add one that fits to [{table_names(facts)[0]}.{side}]."


@lru_cache(maxsize=4)
def parse_facts(content: bytes, name: str) -> Table:
    """Parse the file. `name` is the file's name in the error message.

    Raises:
        FileError: it is invalid.
    """
    table = parse_toml(content, name)
    pattern = f"^({'|'.join(TABLES)})({UNSTABLE}|{NEXT})?$"
    validate(dict[Annotated[str, Field(pattern=pattern)], _Tables], table, name)
    return table


def _read_facts() -> Table:
    return parse_facts(read_file(METHODS_TOML, FILE), FILE)


def find_shared_properties(facts: str, table: Table | None = None) -> dict[str, str]:
    """Return the properties that all methods of a profile share.

    Args:
        facts: the name of the profile's own tables.
        table: the content of `methods.toml`; by default it is read from the file.
    """
    table = table or _read_facts()
    for name in table_names(facts):
        if properties := table.get(name, {}).get(SHARED):
            return properties
    raise FileError("", f"{FILE} [{table_names(facts)[-1]}.{SHARED}]: The table is missing. Add it. {SEE_TOP_OF_FILE}")


def find_newer(facts: str, table: Table | None = None) -> dict[str, Any]:
    """Return how an agent of a profile reads the opening request for a newer version."""
    table = table or _read_facts()
    tables = [table.get(name, {}).get(NEWER, {}) for name in table_names(facts)]
    return next(filter(None, tables), dict[str, Any]())


def find_may_be_missing(facts: str, table: Table | None = None) -> dict[str, str]:
    """Return the required lists that a peer of a profile may leave out, and where upstream says so."""
    table = table or _read_facts()
    tables = [table.get(name, {}).get(MAY_BE_MISSING, {}) for name in table_names(facts)]
    return {name: source for entries in reversed(tables) for name, source in entries.items()}


def find_entries(facts: str, side: str, wire: str, table: Table | None = None) -> Entries:
    """Return a method's entries in the tables of a profile, in order of precedence."""
    table = table or _read_facts()
    entries = ((name, table.get(name, {}).get(side, {}).get(wire)) for name in table_names(facts))
    return [(f"{name}.{side}", entry) for name, entry in entries if entry is not None]


def find_place_entries(facts: str, table: Table | None = None) -> dict[str, Entries]:
    """Return the entries about places in the tables of a profile, by key, in order of precedence."""
    return _entries_by_key(facts, PLACES, table)


def find_update_entries(facts: str, table: Table | None = None) -> dict[str, Entries]:
    """Return the entries about updates in the tables of a profile, by kind, in order of precedence."""
    return _entries_by_key(facts, UPDATES, table)


def _entries_by_key(facts: str, part: str, table: Table | None) -> dict[str, Entries]:
    table = table or _read_facts()
    entries: dict[str, Entries] = {}
    for name in table_names(facts):
        for key, entry in table.get(name, {}).get(part, {}).items():
            entries.setdefault(key, []).append((f"{name}.{part}", entry))
    return entries
