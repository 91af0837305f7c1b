"""`python -m codegen upgrade` does everything up to the commit, or nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from codegen.data.renames import Rename, to_toml
from tests.codegen.upgrade.upgrading import Repository
from tests.support.codegen.build import STRING, model, part_of, tree
from tests.support.codegen.refusal_base import BASE, changed

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upgrade command")]

SAFE = changed(Text=model(["text"], text=STRING, note={"type": ["string", "null"]}, more=STRING))
BREAKING = changed(NewRequest=part_of("session/new", "agent", model(["cwd", "label"], cwd=STRING, label=STRING)))
UNKNOWN = changed(Text={**model(["text"], text=STRING), "x-new-keyword": True})


def released(repository: Repository, version: str) -> None:
    """Release the present state under a version."""
    repository.write("CHANGELOG.md", repository.text("CHANGELOG.md").replace("0.1.0 (unreleased)", version))
    repository.write(
        "pyproject.toml", repository.text("pyproject.toml").replace('version = "0.1.0"', f'version = "{version}"')
    )
    repository.commit(f"v{version}")


def test_it_pins_generates_reports_and_notes_the_change(repository: Repository) -> None:
    out = repository.upgrade("1.1.0", SAFE)
    assert repository.pins["source"] == "folder:@acp/sdk@1.1.0"
    assert "    more: " in repository.text("generated/acp_bindings/v1/models/other.py")
    assert repository.copy.run("check").code == 0
    assert (
        repository.text("CHANGELOG.md")
        == """\
# Changelog

What changed for users.

## 0.1.0 (unreleased)

The first version.

### Models

- They are typed.

### Schema

- The schema is that of `@acp/sdk` 1.1.0. Before, it was that of `@acp/sdk` 1.0.0.
  - Safe: `Text.more`. The property is new and optional.
"""
    )
    assert out.splitlines() == [
        "folder:@acp/sdk@1.0.0 -> folder:@acp/sdk@1.1.0",
        "",
        "changed   v1/schema.json",
        "changed   PINNED.json",
        "changed   generated/ (2 files)",
        "changed   CHANGELOG.md",
        "",
        "Nobody has to act: all changes in the stable profile are safe. Recommended version bump: minor, because "
        "nothing stable",
        "breaks, but something changed.",
        "The next version of this package is 0.1.0, as before, because that is high enough.",
        "",
        "Left to do:",
        "1. Complete the new lines of CHANGELOG.md.",
        "2. Enter the new sentences with MUST, SHOULD or MAY as statements. This prints them:",
        "   .venv/bin/python -m tools.specification.changes .@HEAD:schema schema",
        "3. Review `git diff`, run `make test lint`, and commit everything together.",
        "",
        "Nothing was committed. `make diff BASE=HEAD` prints the whole report.",
    ]


def test_it_neither_commits_nor_stages_nor_tags(repository: Repository) -> None:
    repository.upgrade("1.1.0", SAFE)
    assert repository.git("rev-list", "--count", "--all") == "1"
    assert repository.git("diff", "--name-only", "--cached") == ""
    assert repository.git("tag") == ""
    names = {"CHANGELOG.md", "generated/acp_bindings/v1/__init__.py", "generated/acp_bindings/v1/models/other.py"}
    assert set(repository.git("diff", "--name-only").splitlines()) == names | {
        "schema/PINNED.json",
        "schema/v1/schema.json",
    }


def test_each_finding_that_is_not_safe_is_left_to_read(repository: Repository) -> None:
    out = repository.upgrade("2.0.0", BREAKING)
    assert re.search(
        r"1\. Read 1 finding\. Prepare users, or accept each in schema/accepted\.toml:\n"
        r"   breaking NewRequest\.label: The property is new and required\.\n"
        r" +\+ label: str\n +#[0-9a-f]{12}\n2\. ",
        out,
    )
    assert "  - Breaking: `NewRequest.label`. The property is new and required.\n" in repository.text("CHANGELOG.md")


def test_nothing_is_to_write_if_only_the_order_of_keys_changed(repository: Repository) -> None:
    out = repository.upgrade("1.1.0", {**BASE, "$defs": dict(reversed(BASE["$defs"].items()))})
    assert "1. Review `git diff`" in out
    assert "CHANGELOG.md" not in out


# Nothing to do, or nothing done


def test_an_error_code_without_an_exception_is_left_to_add(repository: Repository, tmp_path: Path) -> None:
    codes = [{"type": "integer", "format": "int32", "const": code} for code in (-32602, -32097)]
    other = {"title": "Other", "type": "integer", "format": "int32"}
    out = repository.upgrade("1.1.0", changed(ErrorCode={"anyOf": [*codes, other]}), "--report", str(tmp_path))
    assert re.search(r"class for each .* runtime/acp_runtime/errors.py, .*\n   -32097 \(v1\)\n\d", out)
    assert "have no exception in the runtime" in (tmp_path / "report.md").read_text("utf-8")


def test_the_pinned_release_changes_nothing(repository: Repository) -> None:
    before = tree(repository.root)
    out = repository.upgrade("1.0.0", BASE)
    assert out == "The schemas of folder:@acp/sdk@1.0.0 are the pinned ones. There is nothing to do.\n"
    assert tree(repository.root) == before


def test_another_release_of_the_same_schema_changes_only_its_name(repository: Repository, tmp_path: Path) -> None:
    released(repository, "0.1.0")
    out = repository.upgrade("1.0.1", BASE, "--report", str(tmp_path / "report"))
    assert out.startswith("The schemas of folder:@acp/sdk@1.0.1 are those of folder:@acp/sdk@1.0.0.")
    changes = [line for line in repository.git("diff", "--unified=0").splitlines() if re.match(r"[-+][^-+]", line)]
    assert len(changes) == 8
    assert all("1.0." in change for change in changes)
    assert repository.git("diff", "--name-only").splitlines() == [
        "generated/acp_bindings/v1/__init__.py",
        "schema/PINNED.json",
    ]
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize(
    "name", ["schema/v1/schema.json", "schema/more.json", "generated/acp_bindings/v1/models/other.py"]
)
def test_uncommitted_changes_are_refused(repository: Repository, name: str) -> None:
    repository.write(name, "mine")
    error = repository.refused(repository.package("1.1.0", SAFE), 2)
    assert f"Files have uncommitted changes: {name}. Commit or stash them" in error


def test_a_schema_without_a_rule_is_refused(repository: Repository) -> None:
    error = repository.refused(repository.package("3.0.0", UNKNOWN), 1)
    assert "v1/schema.json#/$defs/Text/x-new-keyword: The keyword 'x-new-keyword' has no rule." in error


def test_a_schema_without_a_name_from_codegens_files_is_refused(repository: Repository) -> None:
    without = changed(CancelNotification=part_of("session/cancel", "agent", model()))
    assert "`session` is 'sessionId'" in repository.refused(repository.package("3.0.0", without), 1)


def test_a_broken_file_of_codegen_is_refused_as_broken(repository: Repository) -> None:
    repository.write("codegen/renames.toml", "[[renamed]]\n]\n")
    assert "codegen/renames.toml" in repository.refused(repository.package("1.1.0", SAFE), 2)


def test_a_missing_source_is_refused(repository: Repository) -> None:
    assert "is not a source" in repository.refused(repository.packages / "gone", 2)


# Running it again


@pytest.mark.parametrize("left", [["schema"], ["schema", "generated"]])
def test_after_a_kill_another_run_completes_it(repository: Repository, left: list[str]) -> None:
    """A killed run leaves the first replacements."""
    released(repository, "0.1.0")
    out = repository.upgrade("2.0.0", BREAKING)
    complete = tree(repository.root)
    repository.git("add", "--all", *left)
    repository.git("stash", "--quiet", "--keep-index", "--include-untracked")
    repository.git("reset", "--quiet")
    assert tree(repository.root) != complete
    again = repository.run(repository.packages / "2.0.0")
    assert (again.code, again.err) == (0, "")
    assert tree(repository.root).items() >= {file for file in complete.items() if not file[0].startswith(".git/")}
    assert out.splitlines()[-6:] == again.out.splitlines()[-6:]


def test_a_name_that_is_kept_makes_the_upgrade_a_smaller_one(repository: Repository) -> None:
    released(repository, "1.4.0")
    schema = json.loads(json.dumps(BASE).replace('"Holder"', '"Container"'))
    out = repository.upgrade("2.0.0", schema)
    assert repository.version == "2.0.0"
    proposal = re.search(r"Add the old names .* to codegen/renames\.toml.*:\n((?:   .*\n|\n)+)", out)
    assert proposal is not None
    entry = re.sub(r"^   ", "", proposal[1], flags=re.MULTILINE)
    assert 'old = "Holder"\nnew = "Container"\nuntil = "2.0.0"' in entry
    repository.write("codegen/renames.toml", f"{repository.text('codegen/renames.toml')}\n{entry}")
    out = repository.upgrade("2.0.0", schema)
    assert "The next version of this package is 1.5.0 instead of 1.4.0." in out
    assert "renames.toml" not in out
    assert repository.version == "1.5.0"
    assert repository.copy.run("check").code == 0
    changelog = repository.text("CHANGELOG.md")
    assert (changelog.count("The schema is that of"), changelog.count("unreleased")) == (1, 1)
    assert "Breaking" not in changelog


def test_an_old_name_without_effect_is_left_to_remove(repository: Repository) -> None:
    entry = Rename(("v1",), "Old", "Gone", "9.0.0")
    repository.write("codegen/renames.toml", to_toml(entry))
    out = repository.upgrade("1.1.0", SAFE)
    assert "codegen/renames.toml, definition 'Old': In v1, there is no definition 'Gone'.\n" in out


# Accepted findings


def accept(repository: Repository, fingerprint: str) -> None:
    repository.write(
        "schema/accepted.toml", f'[[accepted]]\nfingerprint = "{fingerprint}"\nreason = "nobody uses it"\n'
    )


def test_accepted_findings_of_the_last_upgrade_are_removed(repository: Repository) -> None:
    accept(repository, "0123456789ab")
    repository.commit()
    assert "removed   accepted.toml\n" in repository.upgrade("1.1.0", SAFE)
    assert not (repository.root / "schema/accepted.toml").exists()


def test_an_accepted_finding_is_not_left_to_read(repository: Repository) -> None:
    accept(repository, "0123456789ab")
    repository.commit()
    out = repository.upgrade("2.0.0", BREAKING)
    fingerprint = re.search(r"#([0-9a-f]{12})", out)
    assert fingerprint is not None
    accept(repository, fingerprint[1])
    out = repository.upgrade("2.0.0", BREAKING)
    assert "Read 1 finding" not in out
    assert fingerprint[1] in repository.text("schema/accepted.toml")


def test_an_acceptance_of_no_finding_is_left_to_remove(repository: Repository) -> None:
    accept(repository, "0123456789ab")
    out = repository.upgrade("2.0.0", BREAKING)
    assert "Remove the entries of schema/accepted.toml that match no finding: 0123456789ab." in out


# Versions


def test_upgrades_between_two_releases_raise_the_version_once_for_each_part(repository: Repository) -> None:
    released(repository, "0.1.0")
    versions: list[str] = []
    for number, schema in enumerate((SAFE, BREAKING, BASE), 1):
        repository.upgrade(f"1.{number}.0", schema)
        versions.append(repository.version)
        assert f"\n## {repository.version} (unreleased)\n\n### Schema\n\n" in repository.text("CHANGELOG.md")
        repository.commit()
    assert versions == ["0.1.1", "0.2.0", "0.2.0"]
    assert repository.text("CHANGELOG.md").count("- The schema is that of") == 3
    assert repository.text("CHANGELOG.md").count("\n## ") == 2


# The report


def test_the_report_is_written_to_a_folder_in_two_formats(repository: Repository, tmp_path: Path) -> None:
    repository.upgrade("2.0.0", BREAKING, "--report", str(tmp_path / "report"))
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == ["report.json", "report.md"]
    text = (tmp_path / "report/report.md").read_text("utf-8")
    assert text.startswith("**Clients have to act on 1 breaking change.**\n\nSchema: main (1.0.0) → schema/ (2.0.0)\n")
    assert json.loads((tmp_path / "report/report.json").read_text("utf-8"))["worst"] == "breaking"
