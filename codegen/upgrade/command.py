"""`python -m codegen upgrade`: prepare everything, replace it, and print a summary. Nothing is committed.

Everything is made from the last commit. The command can therefore be run again, because it was killed or because
codegen has changed since, and then makes everything anew.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from codegen.console import write_output
from codegen.diff.render.grouping import number
from codegen.errors import FileError, SchemaError
from codegen.files.folders import read_files, write_files
from codegen.files.replacing import Replacement, replace_all
from codegen.regen import PACKAGE, differing_files, encoded, render
from codegen.upgrade.report import report_files, report_since_commit
from codegen.upgrade.schemas import GENERATED, SCHEMA, Schemas, fetch_schemas
from codegen.upgrade.summary import Upgrade, nothing_to_do, summarise
from codegen.upgrade.texts import new_texts, version_after, version_before

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def run(options: argparse.Namespace) -> int:
    """Upgrade, and print the summary.

    Raises:
        FetchError: the source is not available or is not a schema. Nothing was changed.
        SchemaError: the generator has no rule for something in the schema. Nothing was changed.
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
        return nothing_to_do(schemas.source)
    before = version_before(repository, again=schemas.again)
    package = _render(schemas, before)
    report, capabilities = None, list[str]()
    if not schemas.is_same:
        report, capabilities = report_since_commit(schemas.head, repository)
    after = version_after(repository, before, report.bump if report else "none")
    texts = new_texts(repository, schemas, report, after)
    changed = len(differing_files(package, repository / GENERATED))
    if report and report_folder:
        write_files(report_folder, report_files(report))
    lines = [
        *schemas.lines,
        "changed   PINNED.json",
        f"changed   generated/ ({number(changed, 'file')})",
        *(f"changed   {each}" for each in texts),
    ]
    # Before the replacement, because proposed entries of renames.toml depend on the present version.
    summary = summarise(Upgrade(schemas.old_source, schemas.source, lines, (before, after), report, capabilities))
    replace_all(
        [
            Replacement(repository / SCHEMA, read_files(schemas.head)),
            Replacement(repository / GENERATED / PACKAGE, encoded(package), repository / GENERATED),
            *(Replacement(repository / name, text.encode("utf-8")) for name, text in texts.items()),
        ]
    )
    return summary


def _render(schemas: Schemas, version: str) -> dict[str, str]:
    """Generate the package from the new schemas."""
    try:
        return render(schemas.head, pinned=True, version=version)
    except FileError as error:
        if _is_generated(schemas.base, version):
            # A file of codegen names something that the new schemas no longer have.
            error.exit_code = SchemaError.exit_code
        raise


def _is_generated(schema: Path, version: str) -> bool:
    try:
        render(schema, pinned=True, version=version)
    except SchemaError:
        return False
    return True
