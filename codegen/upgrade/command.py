"""`python -m codegen upgrade`: prepare everything, replace it, and print a summary. Nothing is committed.

Everything is made from the last commit. The command can therefore be run again, because it was killed or because
codegen has changed since, and then makes everything anew.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from codegen.compatibility.user_code import check_user_code, check_uses
from codegen.data.facts_file import parse_facts
from codegen.diff import git
from codegen.diff.method_facts import METHODS
from codegen.diff.render.grouping import number
from codegen.diff.render.json import json_text
from codegen.diff.render.markdown import markdown
from codegen.diff.report import Report, compare
from codegen.diff.sources import Side, read_side
from codegen.diff.verdict.accepted import read_accepted
from codegen.files import read_files, replace_folders, replacing, write_files, write_output
from codegen.regen import PACKAGE, differing_files, encoded
from codegen.upgrade.changelog import FILE as CHANGELOG, entry, release_name, released_versions, with_entry
from codegen.upgrade.data_files import (
    codes_without_exception,
    unconfirmed,
    unused_capabilities,
    unused_entries,
    with_proposed,
)
from codegen.upgrade.schemas import COMMIT, GENERATED, SCHEMA, Schemas, fetch_schemas, read_text
from codegen.upgrade.summary import Changes, nothing_to_do, summarise
from codegen.upgrade.versions import FILE as VERSION, next_version, with_version

REPOSITORY = Path(__file__).resolve().parent.parent.parent
USER_CODE = "tests/typing/user_code"
EDITED = (VERSION, CHANGELOG, METHODS)
_NO_EXCEPTION = "These error codes have no exception in the runtime, so they raise `RemoteError`: {}."
_UNCONFIRMED = f"What {METHODS} says about new methods follows from the schema and is to be confirmed: {{}}."


def run(options: argparse.Namespace) -> int:
    """Upgrade, and print the summary.

    Raises:
        FetchError: the source is not available or is not a schema. Nothing was changed.
        SchemaError: the generator has no rule for something in the stable profile. Nothing was changed.
        SourceError: the working tree or the last commit is not fit for an upgrade. Nothing was changed.
    """
    with tempfile.TemporaryDirectory(prefix="acp-upgrade-") as folder:
        text = _upgrade(options.source, options.report, REPOSITORY, Path(folder))
    write_output(text)
    return 0


def _upgrade(source: str, report_folder: Path | None, repository: Path, temporary: Path) -> str:
    """Upgrade, and return the summary."""
    schemas = fetch_schemas(source, repository, temporary)
    if schemas.is_pinned:
        return nothing_to_do(schemas)
    changes = None if schemas.is_same else _changes(schemas, repository)
    texts = changes.texts if changes else {}
    if changes and report_folder:
        formats = {"report.md": markdown(changes.report), "report.json": json_text(changes.report)}
        write_files(report_folder, encoded(formats))
    generated = number(len(differing_files(schemas.package, repository / GENERATED)), "file")
    names = ["PINNED.json", f"generated/ ({generated})", *texts]
    lines = [*schemas.lines, *(f"changed   {each}" for each in names)]
    # Before the replacement, because proposed entries of renames.toml depend on the present version.
    summary = summarise(schemas, changes, lines)
    package = encoded(schemas.package)
    replace_folders({repository / SCHEMA: read_files(schemas.head), repository / GENERATED / PACKAGE: package})
    with replacing():
        write_files(repository, encoded(texts))
    return summary


def _changes(schemas: Schemas, repository: Path) -> Changes:
    """Compare the schemas with the last commit, and edit the other files accordingly."""
    table = parse_facts(schemas.methods.encode("utf-8"), METHODS)
    head = replace(read_side(str(schemas.head), repository, table), label=f"{SCHEMA}/")
    base, before = read_side(COMMIT, repository), {name: read_text(repository, name) for name in EDITED}
    methods = with_proposed(schemas.methods, head)
    facts = unconfirmed(methods)
    new_methods = dict.fromkeys(each.split('"')[1] for each in facts)  # the same ones in several versions
    notes = [_UNCONFIRMED.format(", ".join(new_methods))] if facts else []
    codes = codes_without_exception(head)
    notes += [_NO_EXCEPTION.format(", ".join(codes))] if codes else []
    report = _report(base, head, repository, [*schemas.held, *notes])
    tags = [tag.removeprefix("v") for tag in git.tags(repository) if tag.startswith("v")]
    version = next_version(schemas.version, [*tags, *released_versions(before[CHANGELOG])], report.bump)
    log = before[CHANGELOG]
    if report.bump != "none":
        log = with_entry(log, version, entry(report, release_name(schemas.old_source), release_name(schemas.source)))
    after = {VERSION: with_version(before[VERSION], version), CHANGELOG: log, METHODS: methods}
    texts = {name: text for name, text in after.items() if text != before[name]}
    return Changes(report, version, texts, facts, unused_entries(head, table), unused_capabilities(base, head), codes)


def _report(base: Side, head: Side, repository: Path, notes: list[str]) -> Report:
    """Return the report from the last commit to new schemas, which begins with the notes.

    Raises:
        SourceError: the commit's user code can't be checked.
    """
    report = compare(replace(base, label=git.branch(repository)), head, read_accepted(head.accepted))
    report = replace(report, notes=(*notes, *report.notes))
    if git.has(COMMIT, repository, USER_CODE):
        report = check_user_code(USER_CODE, report, base, head, repository)
        report = check_uses(report, base, head, repository)
    return report
