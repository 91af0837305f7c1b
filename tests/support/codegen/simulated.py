"""Changes that upstream may make one day, made to the pinned schemas.

What is changed follows from the schemas and from the code in this repository, so that it exists after any upgrade:
definitions and values that no code here names, because code that builds or matches them has to change with them. Only
the definition that is renamed is one that code names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from codegen.data.resolve import ADVERTISED_IN
from codegen.diff.render.markdown import markdown
from codegen.names import attribute_name
from codegen.pinned.profiles import PLACES
from tests.support.codegen.build import STRING, Schema, model, part_of, ref, tagged
from tests.support.diff.released import report_of
from tests.support.diff.repository import commit
from tests.support.paths import ROOT
from tests.support.releases import PACKAGE, REAL

Change = Callable[[Schema], None]
SCHEMA = ROOT / "schema"
REPORTS = ROOT / "docs/project/upgrade-reports"
_SENDERS = {"agent": ("Client", "Agent"), "client": ("Agent", "Client")}
_FOLDERS = ("benchmarks", "docs", "examples", "kit", "migrate", "tests")
_WORDS = (r"\w+", r'"[\w-]+"')
_NOT_COPIED = (".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "build", "dist")
# Written by commands, or about the schemas of releases.
_NOT_CODE = ("compatibility.md", "moving-names.md", "performance.md", "upgrade-reports", "protocol")


@cache
def _words() -> Counter[str]:
    """Return how often each word and each text in quotes is in the code and on the pages that people have written."""
    paths = [path for folder in _FOLDERS for path in sorted((ROOT / folder).rglob("*.*"))]
    own = [path for path in paths if path.suffix in {".md", ".py"} and not set(_NOT_CODE) & set(path.parts)]
    texts = [path.read_text("utf-8") for path in own if path != Path(__file__)]
    return Counter(word for text in texts for pattern in _WORDS for word in re.findall(pattern, text))


@cache
def _stable() -> dict[str, Any]:
    definitions: dict[str, Any] = json.loads((SCHEMA / PLACES[0]).read_text("utf-8"))["$defs"]
    return {name: each for name, each in definitions.items() if "x-docs-ignore" not in each}


def objects(schema: Any) -> Iterator[Schema]:
    """Yield all objects of a JSON value."""
    if isinstance(schema, dict):
        yield schema
    children: Any = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for each in children:
        yield from objects(each)


def target_of(schema: Any) -> str:
    """Return the name of the definition that a property or its items refer to; empty if they refer to none."""
    schema = schema.get("items", schema)
    parts = (schema, *schema.get("allOf", ()), *schema.get("anyOf", ()))
    return next((str(part["$ref"]).rsplit("/", 1)[-1] for part in parts if "$ref" in part), "")


def add_method(side: str, wire: str, name: str, *, has_result: bool) -> Change:
    """Add a method, and a capability that its description names."""
    caller, answerer = _SENDERS[side]
    capability = wire.rpartition("/")[2]

    def change(schema: Schema) -> None:
        definitions = schema["$defs"]
        advertising = definitions[ADVERTISED_IN[side]]["properties"]
        start = next(each for key, each in advertising.items() if key.lower().endswith("capabilities"))
        definitions[target_of(start)]["properties"][capability] = {"type": "boolean", "default": False}
        doc = f"Only available if `{capability}` is advertised."
        params = model(["sessionId", "label"], sessionId=ref("SessionId"), label=STRING)
        kinds = [("Request", caller, params), ("Response", answerer, model(label=STRING))]
        for kind, sender, definition in kinds if has_result else [("Notification", caller, params)]:
            definitions[name + kind] = part_of(wire, side, definition)
            member = {"title": name + kind, "description": doc, "allOf": [ref(name + kind)]}
            _payloads(definitions[sender + kind]).insert(0, member)

    return change


def _payloads(envelope: Schema) -> list[Schema]:
    """Return the members of an envelope's params or result."""
    found = next(
        each[key] for each in objects(envelope) for key in ("params", "result") if "anyOf" in each.get(key, "")
    )
    members: list[Schema] = found["anyOf"]
    return members[0].get("anyOf", members)


def rename_definition(schema: Schema) -> None:
    """Rename an object that code names in a few places, without those of methods."""
    own = {name: each for name, each in _stable().items() if "properties" in each and "x-method" not in each}
    old = min((name for name in own if _words()[name]), key=_words().__getitem__)
    new = f"{old}Renamed"
    schema["$defs"] = {new if name == old else name: each for name, each in schema["$defs"].items()}
    for each in objects(schema):
        if each.get("$ref") == f"#/$defs/{old}":
            each["$ref"] = f"#/$defs/{new}"


def _unnamed() -> str:
    """Return the object that no code names, and whose properties code writes as JSON least often.

    Without empty ones and those that a member of a union derives from.
    """
    members = (member for each in _stable().values() for key in ("anyOf", "oneOf") for member in each.get(key, ()))
    wrapped = set(map(target_of, members))
    unnamed = {name: each for name, each in _stable().items() if not _words()[name] and name not in wrapped}
    written = {
        name: min(_words()[f'"{key}"'] for key in each["required"])
        for name, each in unnamed.items()
        if "required" in each
    }
    return min(written, key=written.__getitem__)


def require_property(schema: Schema) -> None:
    """Add a required property to an object."""
    if found := schema["$defs"].get(_unnamed()):
        found["properties"]["added"] = STRING
        found["required"] = [*found.get("required", ()), "added"]


def remove_value(schema: Schema) -> None:
    """Remove a value of a closed enum."""
    for name, each in _stable().items():
        for value in (member.get("const") for member in each.get("oneOf", ())):
            if value and not _words()[f'"{value}"']:
                found = schema["$defs"].get(name, {})
                if "oneOf" in found:
                    found["oneOf"] = [member for member in found["oneOf"] if member.get("const") != value]
                return
    raise AssertionError("People have written all values.")


def forbid_null(schema: Schema) -> None:
    """Forbid null as the value of a property."""
    for name, each in _stable().items():
        for key, value in each.get("properties", {}).items():
            if "null" in value.get("type", ()) and not {key, str(attribute_name(key))} & _words().keys():
                if found := schema["$defs"].get(name):
                    found["properties"][key]["type"] = next(kind for kind in value["type"] if kind != "null")
                return
    raise AssertionError("People have written all names.")


def add_member(schema: Schema) -> None:
    """Add a member to the first closed union that has a tag."""
    _add_member(schema, next(name for name, each in _stable().items() if "discriminator" in each), _unnamed())


def add_update(schema: Schema) -> None:
    """Add a kind of update that agents may send, as upstream does most often."""
    _add_member(schema, "SessionUpdate")


def _add_member(schema: Schema, name: str, *bases: str) -> None:
    found = schema["$defs"].get(name, {})
    if "discriminator" in found:
        found["oneOf"].append(tagged(found["discriminator"]["propertyName"], "added", *bases))


def add_recursion(schema: Schema) -> None:
    """Add a property to a part of an object that holds this object again."""
    objects = {name: each for name, each in _stable().items() if "properties" in each and "x-method" not in each}
    inside = ((name, target_of(part)) for name, each in objects.items() for part in each["properties"].values())
    whole, part = next((name, part) for name, part in inside if part in objects and part != name)
    if found := schema["$defs"].get(part):
        found["properties"]["whole"] = {"type": "array", "items": ref(whole)}


def add_error_code(schema: Schema) -> None:
    """Add an error code, first in the list."""
    code = {"title": "Busy", "type": "integer", "format": "int32", "const": -32097}
    schema["$defs"]["ErrorCode"]["anyOf"].insert(0, code | {"description": "The agent is busy."})


def add_names_of_pydantic(schema: Schema) -> None:
    """Add an object and an enum with names that pydantic and typing have, too."""
    values = [{"type": "string", "const": each} for each in ("once", "twice")]
    schema["$defs"] |= {"RootModel": model(["label"], label=STRING), "Optional": {"oneOf": values}}
    if found := schema["$defs"].get(_unnamed()):
        found["properties"] |= {"root": ref("RootModel"), "option": {"anyOf": [ref("Optional"), {"type": "null"}]}}


CHANGES: dict[str, Change] = {
    "a request to agents": add_method("agent", "session/rewind", "RewindSession", has_result=True),
    "a notification to agents": add_method("agent", "session/hint", "SessionHint", has_result=False),
    "a request to clients": add_method("client", "editor/open", "OpenEditor", has_result=True),
    "a notification to clients": add_method("client", "editor/show", "ShowEditor", has_result=False),
    "a renamed definition": rename_definition,
    "a required property": require_property,
    "a removed value": remove_value,
    "no null": forbid_null,
    "a new member": add_member,
    "a new update": add_update,
    "a recursive property": add_recursion,
    "a new error code": add_error_code,
    "names of pydantic": add_names_of_pydantic,
}
ALL = "all at once"
ROWS: dict[str, tuple[Change, ...]] = {
    **{name: (change,) for name, change in CHANGES.items()},
    ALL: tuple(CHANGES.values()),
}


def upgrade(row: str, folder: Path) -> Path:
    """Copy the repository to a new folder, upgrade it to the schemas of a row as the documentation says, and return it.

    The reports are in the folder `reports` beside the copy.
    """
    copy = folder / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*_NOT_COPIED))
    commit(copy)
    (copy / ".venv").symlink_to(ROOT / ".venv")  # holds the releases that tests download
    source = _write_changed(folder / "changed", row)
    printed = run(copy, "codegen", "upgrade", str(source), "--report", str(folder / "reports"))
    if found := re.search(r"^\d+\. Add to codegen/renames\.toml .*\n((?:   .*\n|\n)+)", printed, re.MULTILINE):
        with (copy / "codegen/renames.toml").open("a", encoding="utf-8") as file:
            file.write(f"\n{textwrap.dedent(found[1]).strip()}\n")
        run(copy, "codegen", "upgrade", str(source), "--report", str(folder / "reports"))
    if found := re.search(
        r"^\d+\. Say what these updates do.* in TABLE of (\S+):\n((?:   .*\n)+)", printed, re.MULTILINE
    ):
        table = copy / found[1]
        lines = "".join(f'    "{tag}": Notifies(),\n' for tag in found[2].split())
        table.write_text(
            table.read_text("utf-8").replace('    "notice": Notifies(),\n', f'    "notice": Notifies(),\n{lines}')
        )
    return copy


def run(copy: Path, *module: str) -> str:
    """Run a module in a copy of the repository, which must succeed, and return what it prints."""
    path = os.pathsep.join(str(copy / each) for each in ("generated", "kit", "migrate", "runtime", ""))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("ACP_", "PYTEST_"))}
    command = [sys.executable, "-m", *module]
    done = subprocess.run(
        command, cwd=copy, env=environment | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _write_changed(folder: Path, row: str) -> Path:
    """Write the pinned schemas with the changes of a row to a folder, which is a source."""
    for place in PLACES:
        if (SCHEMA / place).is_file():
            schema = json.loads((SCHEMA / place).read_text("utf-8"))
            for change in ROWS[row]:
                change(schema)
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(json.dumps(schema, indent=2), "utf-8")
    return folder


def real_report() -> str:
    """Return the report of an upgrade that was made, as its page shows it."""
    base, head = (f"{PACKAGE} {release}" for release in REAL)
    title = f"# A real upgrade: {REAL[0]} to {REAL[1]}\n\nWritten by `python -m tests.support.codegen.simulated`.\n\n"
    return title + markdown(replace(report_of(*REAL), base=base, head=head))


def write_reports() -> None:
    """Write the reports of a real upgrade and of three simulated ones for reading."""
    REPORTS.mkdir(exist_ok=True)
    (REPORTS / "real.md").write_text(real_report(), "utf-8")
    for row in ("a request to agents", "a renamed definition", ALL):
        with tempfile.TemporaryDirectory() as temporary:
            upgrade(row, Path(temporary))
            report = (Path(temporary) / "reports/report.md").read_text("utf-8")
        title = f"# A simulated upgrade: {row}\n\nWritten by `python -m tests.support.codegen.simulated`.\n\n"
        (REPORTS / f"{row.replace(' ', '-')}.md").write_text(title + report, "utf-8")


if __name__ == "__main__":
    write_reports()
