"""User code as of the base, checked with the head's package: what fails is listed beside what predicts it.

In the user code below a line that is to fail says so at its end: the rule of the finding that predicts it, or
`unpredicted`. Every other line is to pass, or failed at the base already.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest

from codegen.__main__ import main
from codegen.diff.failures import UNPREDICTED
from codegen.diff.render.github import github
from codegen.diff.render.html import html
from codegen.diff.render.machine import machine
from codegen.diff.render.markdown import markdown
from codegen.diff.render.terminal import terminal
from codegen.diff.report import Report, compare
from codegen.diff.sources import read_side
from codegen.diff.user_code import check_user_code
from tests.codegen.build import STRING, Schema, acp_schema, model, part_of, ref, tagged, write_schema
from tests.diff.cases.case import INT, MAYBE, enum
from tests.diff.cases.methods import request
from tests.diff.cases.unions import TEXT, union
from tests.diff.repository import DRAFT, USER_CODE, repository
from tests.diff.test_output import SCHEMA


def definitions(params: Schema, result: Schema, option: Schema, **others: Schema) -> Schema:
    either = {"anyOf": [{"title": "One", **option}, {"title": "Two", **model(["two"], two=STRING)}]}
    return {
        "NewSessionRequest": part_of("session/new", "agent", params),
        "NewSessionResponse": part_of("session/new", "agent", result),
        "SessionNotification": part_of("session/update", "client", model(["update"], update=ref("Block"))),
        **request("session/set_config_option", "Set", params=either),
        **TEXT,
        **others,
    }


BEFORE = definitions(
    model(["cwd"], cwd=STRING, label=STRING),
    model(
        ["note", "kind", "tone", "title", "size"],
        note=STRING,
        kind=ref("Kind"),
        tone=ref("Tone"),
        title=STRING,
        size=INT,
    ),
    model(["one"], one=STRING),
    Block=union("a"),
    Kind=enum("x", "y"),
    Tone=enum("low", opened=True),
    Mood=enum("good", "bad"),
    **request("session/set_mode", "SetMode"),
)
AFTER = definitions(
    model(["cwd", "label"], cwd=STRING, label=STRING, more=STRING),
    model(["kind", "tone", "title", "size"], kind=ref("Sort"), tone=ref("Tone"), title=MAYBE, size=STRING, more=STRING),
    model(["one", "three"], one=STRING, three=STRING),
    Block={**union("a"), "oneOf": [*union("a")["oneOf"], tagged("type", "b")]},
    Sort=enum("x", "y"),
    Tone=enum("low", "high", opened=True),
    Mood=enum("good", "bad", "odd"),
    AskRequest=part_of("session/request_permission", "client", model(["what"], what=STRING)),
    AskResponse=part_of("session/request_permission", "client", model(["answer"], answer=STRING)),
)

CODE = {
    "build.py": """
from collections.abc import Callable
from acp_bindings.v1 import NewSessionRequest, RemoteAgent

def build() -> NewSessionRequest:
    return NewSessionRequest(cwd="/work")  # property-became-required

async def call(agent: RemoteAgent) -> None:
    await agent.session_new(cwd="/work")  # property-became-required
    await agent.session_new(cwd="/work", label="a")
    await agent.session_set_config_option(one="1")  # property-required-added
    await agent.session_set_config_option(two="2")

def register(request: NewSessionRequest) -> Callable[[type], type]:
    return lambda each: each

@register(NewSessionRequest(cwd="/work"))  # property-became-required
class Registered:
    pass
""",
    "read.py": """
from acp_bindings.v1 import NewSessionResponse

def read(session: NewSessionResponse) -> str:
    return session.note.upper()  # property-required-removed

def shout(session: NewSessionResponse) -> str:
    title = session.title
    return title.upper()  # nullable-added

def size(session: NewSessionResponse) -> int:
    return session.size  # type-changed
""",
    "exhaust.py": """
from typing import assert_never
from acp_bindings.v1 import Block, BlockA, BlockK, Mood, SessionNotification

def by_class(notification: SessionNotification) -> str:
    match notification.update:  # union-closed-member-added
        case BlockA(text=text):
            return text
        case BlockK():
            pass
    return ""

def by_instance(block: Block) -> str:  # union-closed-member-added
    if isinstance(block, BlockA):
        return block.text
    elif isinstance(block, BlockK):
        return block.type

def without_asking(block: Block) -> str:
    return block.text  # union-closed-member-added

def by_value(mood: Mood) -> str:
    if mood == "good":
        return "+"
    if mood == "bad":
        return "-"
    assert_never(mood)  # enum-closed-value-added
""",
    "subclass.py": """
from acp_bindings.v1 import Agent, Client, NewSessionRequest, NewSessionResponse, RemoteAgent, SessionNotification
from acp_bindings.v1 import SetModeRequest  # definition-removed
from acp_bindings.v1 import SetModeResponse  # definition-removed

class Mine(Agent):
    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        raise NotImplementedError(request.label)

    async def session_set_mode(self, request: SetModeRequest) -> SetModeResponse:
        return await super().session_set_mode(request)  # method-removed

class Editor(Client):
    async def session_update(self, notification: SessionNotification) -> None:
        pass

EDITOR = Editor()  # method-added-baseline

async def call(agent: RemoteAgent) -> None:
    await agent.session_set_mode()  # method-removed
""",
    "rename.py": """
from acp_bindings import v1
from acp_bindings.v1 import Kind  # definition-renamed

def first(session: v1.NewSessionResponse) -> str:
    kind: Kind = session.kind
    return kind

def again(kind: v1.Kind) -> str:  # definition-renamed
    return kind
""",
    "safe.py": """
from acp_bindings.v1 import NewSessionResponse, Text, Tone

def tones(session: NewSessionResponse) -> dict[Tone, str]:
    return {"low": Text(text="a").text, session.tone: session.kind}
""",
    "mistakes.py": """
from acp_bindings.v1 import NewSessionRequest

WRONG: int = "text"
REQUEST = NewSessionRequest(nothing=1)
""",
    "draft.py": """
from acp_bindings.v2_draft import Alone  # profile-removed

ALONE = Alone()
""",
    "runtime.py": """
from acp_runtime import RequestError
from acp_runtime import GONE  # unpredicted

def error() -> RequestError:
    return RequestError(GONE, "text")
""",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = repository(tmp_path_factory.mktemp("repository"), BEFORE, CODE, draft={"Alone": model()})
    (folder / "schema" / DRAFT).unlink()
    write_schema(folder / "schema", acp_schema(AFTER))
    base, head = read_side("HEAD", folder), read_side(str(folder / "schema"), folder)
    return check_user_code(USER_CODE, compare(base, head, []), base, head, folder)


def marked() -> set[tuple[str, int, str]]:
    lines = [(name, number, line) for name, text in CODE.items() for number, line in enumerate(text.split("\n"), 1)]
    marks = [(f"{USER_CODE}/{name}", number, re.search(r"  # ([a-z-]+)$", line)) for name, number, line in lines]
    return {(file, number, mark[1]) for file, number, mark in marks if mark}


def test_every_failure_stands_beside_the_finding_that_predicts_it_and_nothing_else_fails(report: Report) -> None:
    found = {(each.file, each.line, finding.rule) for finding in report.findings for each in finding.failures}
    found |= {(each.file, each.line, "unpredicted") for each in report.unpredicted}
    assert found == marked()
    assert report.user_code is not None
    assert (report.user_code.folder, report.user_code.files) == (USER_CODE, len(CODE))
    assert report.user_code.failures == len(marked())


def test_a_failure_is_beside_the_finding_about_what_it_names(report: Report) -> None:
    subjects = {each.source: finding.subject for finding in report.findings for each in finding.failures}
    assert subjects["from acp_bindings.v1 import SetModeRequest  # definition-removed"] == "SetModeRequest"
    assert subjects["from acp_bindings.v1 import SetModeResponse  # definition-removed"] == "SetModeResponse"
    assert subjects["await agent.session_set_mode()  # method-removed"] == "agent session/set_mode request"
    assert subjects["assert_never(mood)  # enum-closed-value-added"] == "Mood"


def test_every_output_has_each_failure_with_its_line(report: Report) -> None:
    failures = [*report.unpredicted, *(each for finding in report.findings for each in finding.failures)]
    shown = {
        "terminal": terminal(report, colour=False),
        "markdown": unescape(markdown(report)).replace("\\|", "|"),
        "json": machine(report).replace('\\"', '"'),
        "html": unescape(html(report)),
        "github": github(report),
    }
    for name, text in shown.items():
        for each in failures:
            assert each.message in text, name
            assert (each.source in text) is (name != "github"), name
        assert ("userCode" if name == "json" else UNPREDICTED) in unquote(text), name


def test_the_json_is_as_its_schema_says(report: Report) -> None:
    found = json.loads(machine(report))
    jsonschema.validate(found, SCHEMA)
    (alarm,) = found["userCode"]["unpredicted"]
    assert alarm["source"] == "from acp_runtime import GONE  # unpredicted"
    (removed,) = [each for each in found["findings"] if each["rule"] == "property-required-removed"]
    assert [(each["file"], each["line"]) for each in removed["failures"]] == [(f"{USER_CODE}/read.py", 5)]


def test_an_annotation_is_a_warning_where_it_was_predicted_and_else_an_error(report: Report) -> None:
    lines = [line for line in github(report).splitlines() if USER_CODE in line]
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(lines) == len(marked())
    assert len(errors) == 1
    assert errors[0].startswith(f"::error file={USER_CODE}/runtime.py,line=3,title=")


def test_a_report_without_user_code_says_nothing_of_it(report: Report) -> None:
    findings = tuple(replace(each, failures=()) for each in report.findings)
    plain = replace(report, findings=findings, user_code=None)
    assert json.loads(machine(plain))["userCode"] is None
    jsonschema.validate(json.loads(machine(plain)), SCHEMA)
    assert "User code" not in terminal(plain, colour=False) + markdown(plain) + html(plain) + github(plain)


# The command


def test_an_unpredicted_failure_fails_though_nothing_changed_in_the_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = repository(tmp_path, BEFORE, {"runtime.py": CODE["runtime.py"]})
    monkeypatch.setattr("codegen.diff.command.REPOSITORY", folder)
    arguments = ["diff", "--base", "HEAD", "--head", str(folder / "schema"), "--fail-on", "breaking"]
    assert main(arguments) == 0
    assert "User code" not in capsys.readouterr().out
    assert main([*arguments, "--user-code", f"{USER_CODE}/"]) == 1
    out = capsys.readouterr().out
    assert UNPREDICTED in out
    assert f"{USER_CODE}/runtime.py:3: " in out
    assert "User code: 1 failures in 1 files, 1 of them not predicted by any finding." in out


BAD: dict[str, tuple[str, str, str]] = {
    "a folder that isn't there": ("nowhere", "x.py", "doesn't have all of"),
    "a folder without Python": ("schema", "x.py", "no folder with Python files"),
    "a file": (f"{USER_CODE}/x.py", "x.py", "no folder with Python files"),
    "code that is no Python": (USER_CODE, "broken.py", "user/code/broken.py of HEAD"),
    "code that no type checker takes": (USER_CODE, "typing.py", "mypy can't check user/code"),
}


@pytest.mark.parametrize(("folder", "name", "expected"), BAD.values(), ids=BAD)
def test_user_code_that_cannot_be_checked_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: str,
    name: str,
    expected: str,
) -> None:
    home = repository(tmp_path, BEFORE, {name: "def" if name == "broken.py" else "X = 1\n"})
    monkeypatch.setattr("codegen.diff.command.REPOSITORY", home)
    code = main(["diff", "--base", "HEAD", "--head", str(home / "schema"), "--user-code", folder])
    out, err = capsys.readouterr()
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert expected in err


def test_a_folder_has_no_user_code_as_of_the_base(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(write_schema(tmp_path, acp_schema(BEFORE)))
    assert main(["diff", "--base", folder, "--head", folder, "--user-code", USER_CODE]) == 2
    assert "Give a git ref as base." in capsys.readouterr().err
