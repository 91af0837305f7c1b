"""The command: its output in each format, its exit code, and its errors for input that can't be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from codegen.__main__ import main
from codegen.diff.render.json import write_json
from codegen.diff.report import Report, UserCode
from codegen.diff.verdict.findings import Failure
from codegen.diff.verdict.rules import RULES
from codegen.pinned.pins import sha256
from tests.codegen.diff.report_schema import SCHEMA
from tests.support.codegen.build import STRING, Schema, acp_schema, model, write_schema
from tests.support.diff.cases import around, holds, may
from tests.support.diff.repository import commit

BEFORE, AFTER = around("request", model()), around("request", holds(STRING))
STALE = "000000000000"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command on two folders of schemas in `tmp_path`, and return the exit code, stdout and stderr."""

    def compare(*options: str, base: str = "base", head: str = "head") -> tuple[int, str, str]:
        sides = ["--base", str(tmp_path / base), "--head", str(tmp_path / head)]
        code = main(["diff", *sides, *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return compare


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    write(tmp_path, BEFORE, AFTER)
    return tmp_path


def write(folder: Path, before: Schema, after: Schema, file: str = "v1/schema.json") -> None:
    write_schema(folder / "base", acp_schema(before), file)
    write_schema(folder / "head", acp_schema(after), file)


def report(run: Run) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(run("--format", "json")[1])
    return data


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize(("threshold", "code"), [("wire", 1), ("breaking", 1), ("risky", 1), ("never", 0)])
def test_a_finding_at_the_threshold_gives_exit_code_1(run: Run, threshold: str, code: int) -> None:
    assert run("--fail-on", threshold)[0] == code


def test_a_risky_change_fails_only_at_the_threshold_risky(run: Run, tmp_path: Path) -> None:
    boolean: Schema = {"type": "boolean"}
    write(tmp_path, around("request", may(boolean)), around("request", may(boolean, default=True)))
    assert [run("--fail-on", kind)[0] for kind in ("breaking", "risky")] == [0, 1]


def test_a_change_that_breaks_only_python_code_does_not_fail_at_the_threshold_wire(run: Run, tmp_path: Path) -> None:
    write(tmp_path, BEFORE | {"Alone": model()}, BEFORE)
    assert [run("--fail-on", kind)[0] for kind in ("wire", "breaking")] == [0, 1]


@pytest.mark.parametrize("file", ["v1/schema.unstable.json", "v2/schema.json", "v2/schema.unstable.json"])
def test_unstable_and_draft_profiles_are_reported_but_never_fail(run: Run, tmp_path: Path, file: str) -> None:
    write(tmp_path, {"Alone": model()}, {"Alone": holds(STRING)}, file)
    code, out, _ = run("--fail-on", "risky")
    assert code == 0
    assert "Alone.x" in out


@pytest.mark.parametrize(
    ("after", "bump"),
    [
        (BEFORE, "none"),
        (around("request", {**model(), "description": "More words."}), "patch"),
        (around("request", may(STRING)), "minor"),
        (AFTER, "major"),
    ],
)
def test_the_recommended_bump_follows_from_the_findings(run: Run, tmp_path: Path, after: Schema, bump: str) -> None:
    write(tmp_path, BEFORE, after)
    assert report(run)["bump"] == bump


@pytest.mark.usefixtures("folders")
def test_the_json_matches_its_schema(run: Run) -> None:
    comparison = report(run)
    jsonschema.validate(comparison, SCHEMA)
    (finding,) = comparison["findings"]
    assert finding["rule"] == "property-required-added"
    assert finding["pointer"] == {"old": None, "new": "/$defs/NewSessionRequest/properties/x"}
    assert finding["symbols"] == ["acp_bindings.v1.NewSessionRequest.x"]
    assert (finding["writers"], finding["readers"]) == (["client"], ["agent"])


def test_the_json_has_the_failures_of_user_code() -> None:
    failure = Failure("user/code/use.py", 1, "import x", "No module")
    user_code = UserCode("user/code", files=7, failures=1, unpredicted=(failure,))
    values = json.loads(write_json(Report("base", "head", (), {"v1": 0}, ("v1",), user_code=user_code)))
    jsonschema.validate(values, SCHEMA)
    assert values["userCode"] == {
        "folder": "user/code",
        "files": 7,
        "failures": 1,
        "unpredicted": [{"file": "user/code/use.py", "line": 1, "source": "import x", "message": "No module"}],
    }


@pytest.mark.usefixtures("folders")
def test_the_report_is_markdown_without_colour_if_no_format_is_named(run: Run) -> None:
    _, out, _ = run()
    assert "\x1b" not in out
    assert out.startswith("**Clients have to act on 1 breaking change.**\n")
    assert "session/new" in out
    assert "Recommended version bump: major, because" in out


# Acceptances


@pytest.mark.usefixtures("folders")
def test_an_accepted_finding_no_longer_fails_and_shows_its_reason(run: Run, tmp_path: Path) -> None:
    fingerprint = report(run)["findings"][0]["fingerprint"]
    accept(tmp_path / "head", fingerprint)
    code, out, _ = run("--fail-on", "risky")
    assert code == 0
    assert "accepted: unused so far" in out


def accept(folder: Path, fingerprint: str) -> None:
    text = f'[[accepted]]\nfingerprint = "{fingerprint}"\nreason = "unused so far"\n'
    (folder / "accepted.toml").write_text(text, "utf-8")


BAD_ACCEPTANCES = {
    "without a reason": '[[accepted]]\nfingerprint = "000000000000"\n',
    "with an empty reason": '[[accepted]]\nfingerprint = "000000000000"\nreason = " "\n',
    "with other keys": "accept = 1\n",
    "not TOML": "[[accepted\n",
    "not text": "\x00",
}


@pytest.mark.usefixtures("folders")
@pytest.mark.parametrize("text", BAD_ACCEPTANCES.values(), ids=BAD_ACCEPTANCES)
def test_acceptances_that_cannot_be_read_give_one_error_line(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "head/accepted.toml").write_text(text)
    code, out, err = run()
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "accepted.toml" in err


@pytest.mark.parametrize("after", [AFTER, around("request", {**model(), "description": "More words."})])
@pytest.mark.parametrize("threshold", ["breaking", "never"])
def test_a_stale_acceptance_is_an_error_after_the_report(
    run: Run, tmp_path: Path, after: Schema, threshold: str
) -> None:
    write(tmp_path, BEFORE, after)
    accept(tmp_path / "head", STALE)
    code, out, err = run("--fail-on", threshold)
    assert (code, len(err.splitlines())) == (2, 1)
    assert f"accepted.toml accepts {STALE}" in err
    assert "Recommended version bump" in out


def test_if_nothing_changed_acceptances_of_the_last_upgrade_are_ignored(run: Run, tmp_path: Path) -> None:
    write(tmp_path, BEFORE, BEFORE)
    accept(tmp_path / "head", STALE)
    assert run("--fail-on", "breaking")[0] == 0


@pytest.mark.usefixtures("folders")
def test_acceptances_are_read_from_the_head(run: Run, tmp_path: Path) -> None:
    accept(tmp_path / "base", STALE)
    code, _, err = run()
    assert (code, err) == (0, "")


def test_a_fingerprint_does_not_depend_on_other_definitions(run: Run, tmp_path: Path) -> None:
    write(tmp_path, BEFORE, AFTER)
    first = report(run)["findings"][0]["fingerprint"]
    more = {"Zero": model()}
    write(tmp_path, more | BEFORE, more | AFTER)
    assert report(run)["findings"][0]["fingerprint"] == first


# Input that can't be read

GOOD = json.dumps(acp_schema(BEFORE)).encode()
BAD: dict[str, tuple[bytes, str]] = {
    "truncated JSON": (GOOD[: len(GOOD) // 2], "Not JSON"),
    "a page of HTML": (b"<!doctype html><title>502</title>", "Not JSON"),
    "another JSON": (b'{"name": "x"}', "Not an ACP schema"),
    "an unknown keyword": (GOOD.replace(b'"x-side"', b'"x-sides"', 1), "x-sides"),
    "only definitions": (b'{"$defs": {}}', "$schema"),
}


@pytest.mark.parametrize(("content", "expected"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("which", ["base", "head"])
def test_a_schema_that_cannot_be_read_gives_one_error_line(
    run: Run, folders: Path, content: bytes, expected: str, which: str
) -> None:
    (folders / which / "v1/schema.json").write_bytes(content)
    code, out, err = run()
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert expected in err
    assert which in err


@pytest.mark.parametrize("which", ["base", "head"])
def test_an_unstable_schema_that_cannot_be_read_leaves_out_only_its_profile(
    run: Run, folders: Path, which: str
) -> None:
    write(folders, BEFORE, AFTER, "v1/schema.unstable.json")
    draft = folders / which / "v1/schema.unstable.json"
    draft.write_bytes(draft.read_bytes().replace(b'"x-side"', b'"x-sides"', 1))
    values = report(run)
    assert values["profiles"] == ["v1"]
    assert values["findings"]
    assert "v1_unstable is not compared, because its schema in " in values["notes"][0]
    assert "x-sides" in values["notes"][0]


@pytest.mark.parametrize("which", ["base", "head"])
@pytest.mark.parametrize("content", [b"<!doctype html>", GOOD.replace(b'"x-side"', b'"x-sides"', 1)])
def test_a_stable_schema_that_cannot_be_read_leaves_out_only_its_profile_and_fails(
    run: Run, folders: Path, which: str, content: bytes
) -> None:
    write(folders, BEFORE, AFTER, "v1/schema.unstable.json")
    (folders / which / "v1/schema.json").write_bytes(content)
    code, out, err = run("--format", "json")
    values = json.loads(out)
    assert (code, values["profiles"], values["bump"]) == (2, ["v1_unstable"], "unknown")
    assert "v1 is not compared, because its schema in " in values["notes"][0]
    assert values["findings"]
    assert "The stable profile is not compared." in err
    assert run()[1].startswith("**The stable profile is not compared, because it can't be read.**")


def test_a_wrong_hash_an_empty_folder_and_a_file_give_one_error_line_each(run: Run, folders: Path) -> None:
    pins = {"source": "", "version": "1", "files": {"v1/schema.json": {"sha256": sha256(b"other")}}}
    (folders / "head/PINNED.json").write_text(json.dumps(pins))
    (folders / "empty").mkdir()
    for head, expected in (("head", "SHA-256"), ("empty", "no schema"), ("base/v1/schema.json", "is a file")):
        code, out, err = run(head=head)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert expected in err


def test_an_unknown_ref_gives_one_error_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    commit(tmp_path)
    monkeypatch.setattr("codegen.diff_command.REPOSITORY", tmp_path)
    for side in ("--base=no-such-branch", "--base=--upload-pack=x", "--base=schema --head=no-such-branch"):
        assert main(["diff", *side.split()]) == 2
        captured = capsys.readouterr()
        assert (captured.out, captured.err.count("\n")) == ("", 1)
        assert "neither a folder nor a git ref" in captured.err


def test_the_error_for_an_empty_base_shows_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    """`make diff` without BASE passes an empty base."""
    assert main(["diff", "--base", ""]) == 2
    assert "make diff BASE=main" in capsys.readouterr().err


WRONG_USAGE = {
    "no base": ([], "--base"),
    "an unknown format": (["--base", "schema", "--format", "pdf"], "'pdf' (choose from"),
    "an unknown verdict": (["--base", "schema", "--fail-on", "safe"], "'safe' (choose from"),
    "an unknown option": (["--base", "schema", "--colour"], "--colour"),
}


@pytest.mark.parametrize(("options", "words"), WRONG_USAGE.values(), ids=WRONG_USAGE)
def test_wrong_usage_gives_one_error_line(capsys: pytest.CaptureFixture[str], options: list[str], words: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["diff", *options])
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert captured.err.startswith("codegen: ")
    assert words in captured.err


# Git


def test_without_git_the_error_says_that_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert main(["diff", "--base", "HEAD"]) == 2
    assert "git is needed" in capsys.readouterr().err


def test_every_rule_has_a_sentence_and_an_id_of_lowercase_words() -> None:
    for rule, about in RULES.items():
        assert rule.replace("-", "").isalpha()
        assert about.sentence.endswith(".")
        assert len(about.letters) == 5
