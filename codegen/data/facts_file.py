"""Reads `methods.toml`, which has a table for each version and side, with an entry for each method.

Only the form of the file is checked here. `codegen.data.resolve` checks whether an entry fits a schema.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, get_args

from pydantic import AfterValidator, Field, StringConstraints, with_config
from typing_extensions import TypedDict

from codegen.errors import FileError
from codegen.pinned.profiles import PROFILES, find_version_tables
from codegen.toml import SEE_TOP_OF_FILE, Text, parse_toml, read_file, validate

FILE = "codegen/methods.toml"
METHODS_TOML = Path(__file__).parents[1] / "methods.toml"
# The entries of a method, the most specific one first, after the name of the table.
Entries: TypeAlias = list[tuple[str, dict[str, Any]]]
# The whole file: entries by version, side and method.
Tables: TypeAlias = dict[str, dict[str, dict[str, Any]]]
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
# Suffixes of tables that take precedence over a version's own: for its unstable profile, and for the next upgrade.
UNSTABLE = "_unstable"
NEXT = "_next"
_VERSIONS = list(dict.fromkeys(map(find_version_tables, PROFILES)))


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
class _VersionTables(TypedDict, total=False):
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


def find_table_names(own_tables: str) -> tuple[str, ...]:
    """Return the names of all tables of a profile, in order of precedence. `own_tables` is the first."""
    version = own_tables.removesuffix(UNSTABLE)
    return (*([own_tables] if own_tables != version else []), version + NEXT, version)


def next_step_for_entry(own_tables: str, side: str) -> str:
    """Return the next step after a mistake in an entry. `side` is the name of the table in the version."""
    return f"Correct the entry, or add one that fits to [{find_table_names(own_tables)[0]}.{side}]."


@lru_cache(maxsize=4)
def parse_facts(content: bytes, name: str) -> Tables:
    """Parse the file. `name` is the file's name in the error message.

    Raises:
        FileError: it is invalid.
    """
    tables = parse_toml(content, name)
    pattern = f"^({'|'.join(_VERSIONS)})({UNSTABLE}|{NEXT})?$"
    validate(dict[Annotated[str, StringConstraints(pattern=pattern)], _VersionTables], tables, name)
    return tables


def _find_tables(own_tables: str, part: str, tables: Tables | None) -> list[tuple[str, dict[str, Any]]]:
    """Return the tables of a profile whose name ends in `part`, in order of precedence, each after its name."""
    tables = tables or parse_facts(read_file(METHODS_TOML, FILE), FILE)
    names = (name for name in find_table_names(own_tables) if part in tables.get(name, {}))
    return [(f"{name}.{part}", tables[name][part]) for name in names]


def find_shared_properties(own_tables: str, tables: Tables | None = None) -> dict[str, str]:
    """Return the properties that all methods of a profile share.

    Args:
        own_tables: the name of the profile's own tables.
        tables: the content of `methods.toml`; by default it is read from the file.
    """
    for _, properties in _find_tables(own_tables, SHARED, tables):
        return properties
    place = f"{FILE} [{find_table_names(own_tables)[-1]}.{SHARED}]"
    raise FileError("", f"{place}: The table is missing. Add it. {SEE_TOP_OF_FILE}")


def find_newer(own_tables: str, tables: Tables | None = None) -> dict[str, Any]:
    """Return how an agent of a profile reads the opening request for a newer version."""
    listed = next((newer for _, newer in _find_tables(own_tables, NEWER, tables) if newer), dict[str, Any]())
    version = find_table_names(own_tables)[-1]
    later = [name for name in _VERSIONS if name > version and _find_tables(name, SHARED, tables)]
    own_names, *later_names = [_name_client_properties(name, tables) for name in (own_tables, *later)]
    advertised = {"advertised": later_names[0]} if later_names and later_names[0] != own_names else {}
    return advertised | listed


def _name_client_properties(own_tables: str, tables: Tables | None) -> list[str]:
    """Return the names of the properties with the client's capabilities and with its name."""
    properties = find_shared_properties(own_tables, tables)
    return [properties["client_capabilities"], properties["client_info"]]


def find_may_be_missing(own_tables: str, tables: Tables | None = None) -> dict[str, str]:
    """Return the required lists that a peer of a profile may leave out, and where upstream says so."""
    lowest_first = reversed(_find_tables(own_tables, MAY_BE_MISSING, tables))
    return {name: source for _, sources in lowest_first for name, source in sources.items()}


def find_entries(own_tables: str, side: str, wire: str, tables: Tables | None = None) -> Entries:
    """Return a method's entries in the tables of a profile, in order of precedence."""
    return [(name, entries[wire]) for name, entries in _find_tables(own_tables, side, tables) if wire in entries]


def find_place_entries(own_tables: str, tables: Tables | None = None) -> dict[str, Entries]:
    """Return the entries about places in the tables of a profile, by key, in order of precedence."""
    return _find_entries_by_key(own_tables, PLACES, tables)


def find_update_entries(own_tables: str, tables: Tables | None = None) -> dict[str, Entries]:
    """Return the entries about updates in the tables of a profile, by kind, in order of precedence."""
    return _find_entries_by_key(own_tables, UPDATES, tables)


def _find_entries_by_key(own_tables: str, part: str, tables: Tables | None) -> dict[str, Entries]:
    by_key: dict[str, Entries] = {}
    for name, entries in _find_tables(own_tables, part, tables):
        for key, entry in entries.items():
            by_key.setdefault(key, []).append((name, entry))
    return by_key
