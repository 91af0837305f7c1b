"""`python -m codegen upgrade`: prepares all changes, writes them, and prints a summary. Nothing is committed.

All changes are made from the last commit, so the command can be run again: if it was killed, or after a change of
codegen.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from codegen.data.facts_file import FILE as METHODS, UPDATES, parse_facts
from codegen.diff import git
from codegen.diff.render.json import write_json
from codegen.diff.render.markdown import write_markdown
from codegen.diff.render.sentences import count_noun
from codegen.diff.report import compare
from codegen.diff.sources import read_side
from codegen.diff.user_code.check import check_user_code
from codegen.errors import SourceError
from codegen.files import (
    GENERATED_FOLDER,
    SCHEMA_FOLDER,
    ignoring_ctrl_c,
    read_files,
    replace_folders,
    replacing,
    write_files,
    write_output,
)
from codegen.regen import PACKAGE, encode_files, find_differing_files
from codegen.toml import read_file
from codegen.upgrade import changelog, data_files
from codegen.upgrade.changelog import CHANGELOG, PYPROJECT
from codegen.upgrade.schemas import COMMIT, Schemas, fetch_schemas
from codegen.upgrade.summary import Changes, say_nothing_to_do, summarise

REPOSITORY = Path(__file__).resolve().parent.parent.parent
USER_CODE = "tests/typing/user_code"
EDITED = (PYPROJECT, CHANGELOG, METHODS)
_NO_EXCEPTION = "These error codes have no exception in the runtime, so they raise `RemoteError`"
_ADD_EXCEPTION = "Add a class for each of these error codes to runtime/acp_runtime/errors.py, and export it"
_UNCONFIRMED = f"The entries of new methods and updates in {METHODS} are derived from the schema, and must be confirmed"
_CONFIRM = (
    f"Confirm these entries, which are derived from the schema: remove the marks in {METHODS}, and edit "
    "docs/guides/capabilities.md"
)
_DESCRIBE = f"Say in {METHODS} what these updates do to the state of their session, and remove the marks"
_CAPABILITIES = (
    f"Find out which methods require these new capabilities, add them to {METHODS}, and run this command again"
)
_UNUSED = "Remove or correct these entries, which have no effect"


def run(options: argparse.Namespace) -> int:
    """Upgrade, and print the summary.

    Raises:
        FetchError: the source is not available, or not a schema. Nothing was changed.
        SchemaError: the generator has no rule for something in the stable profile. Nothing was changed.
        SourceError: there is no commit, or files have uncommitted changes. Nothing was changed.
    """
    with tempfile.TemporaryDirectory(prefix="acp-upgrade-") as folder:
        text = _upgrade(options.source, options.report, Path(folder))
    write_output(text)
    return 0


def _upgrade(source: str, report_folder: Path | None, temporary: Path) -> str:
    """Upgrade, and return the summary."""
    schemas = fetch_schemas(source, REPOSITORY, temporary)
    if schemas.is_pinned:
        return say_nothing_to_do(schemas)
    changes = None if schemas.is_same else _find_changes(schemas)
    texts = changes.texts if changes else {}
    if changes and report_folder:
        formats = {"report.md": write_markdown(changes.report), "report.json": write_json(changes.report)}
        write_files(report_folder, encode_files(formats))
    differing = find_differing_files(schemas.package, REPOSITORY / GENERATED_FOLDER)
    generated = [f"generated/ ({count_noun(len(differing), 'file')})"] if differing else []
    lines = [f"changed   {name}" for name in ("PINNED.json", *generated, *texts)]
    # Before files are replaced, because proposed entries of renames.toml depend on the current version.
    summary = summarise(schemas, changes, [*schemas.lines, *lines])
    package = encode_files(schemas.package)
    with ignoring_ctrl_c():
        replace_folders(
            {REPOSITORY / SCHEMA_FOLDER: read_files(schemas.head), REPOSITORY / GENERATED_FOLDER / PACKAGE: package}
        )
        with replacing():
            write_files(REPOSITORY, encode_files(texts))
    return summary


def _find_changes(schemas: Schemas) -> Changes:
    """Compare the schemas with the last commit, check its user code, and make the new texts of other files."""
    tables = parse_facts(schemas.methods.encode("utf-8"), METHODS)
    base = read_side(COMMIT, REPOSITORY)
    head = schemas.to_side()
    report = compare(replace(base, label=git.branch(REPOSITORY)), head)
    if not report.has_stable:
        raise SourceError(" ".join(report.notes))
    if git.has(COMMIT, REPOSITORY, USER_CODE):
        report = check_user_code(USER_CODE, report, base, head, REPOSITORY)
    before = {name: read_file(REPOSITORY / name, name).decode("utf-8") for name in EDITED}
    methods = data_files.add_proposed_entries(schemas.methods, head)
    unconfirmed = data_files.find_unconfirmed(methods)
    codes = data_files.find_codes_without_exception(head)
    names_by_note = {
        _UNCONFIRMED: dict.fromkeys(entry.split('"')[1] for entry in unconfirmed),
        _NO_EXCEPTION: dict.fromkeys(codes),
    }
    notes = [f"{note}: {', '.join(names)}." for note, names in names_by_note.items() if names]
    report = replace(report, notes=(*schemas.notes, *notes, *report.notes))
    tasks = {
        _UNUSED: data_files.find_unused_entries(head, tables),
        _CONFIRM: [entry for entry in unconfirmed if not _is_update(entry)],
        _DESCRIBE: [entry for entry in unconfirmed if _is_update(entry)],
        _CAPABILITIES: data_files.find_unused_capabilities(base, head),
        _ADD_EXCEPTION: codes,
    }
    tags = [tag.removeprefix("v") for tag in git.tags(REPOSITORY) if tag.startswith("v")]
    log = before[CHANGELOG]
    version = changelog.next_version(schemas.version, [*tags, *changelog.find_released_versions(log)], report.bump)
    if report.bump != "none":
        log = changelog.add_entry(log, version, changelog.write_entry(report, schemas.old_source, schemas.source))
    after = {PYPROJECT: changelog.set_version(before[PYPROJECT], version), CHANGELOG: log, METHODS: methods}
    return Changes(report, version, {name: text for name, text in after.items() if text != before[name]}, tasks)


def _is_update(entry: str) -> bool:
    return entry.partition("]")[0].endswith(f".{UPDATES}")
