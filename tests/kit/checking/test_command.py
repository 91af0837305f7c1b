"""The command `check-client`: its report in three forms, its exit codes, and its errors for wrong commands."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from acp_kit.__main__ import main
from acp_kit.checking.client_scenarios import CLIENT_SCENARIOS as SCENARIOS
from tests.kit.checking import checked_client

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the client needs POSIX")
CLIENT = checked_client.__file__
IDS = ["messages", "method-not-found", "unknown-request"]
SCHEMA_KEYS = {"id", "level", "rule", "page", "status", "reason", "seconds", "exitCode", "messages", "output"}


def check(defect: str, *options: str) -> int:
    only = [word for id in IDS for word in ("--only", id)]
    client = [sys.executable, "-I", "-S", CLIENT, defect, "{agent}", "{prompt}"]
    return main(["check-client", *only, "--deadline", "6", *options, "--", *client])


def test_the_text_has_a_line_for_what_passed_and_the_conversation_for_what_failed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert check("answers unknown requests with null") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "ok    MUST    messages",
        "FAIL  SHOULD  method-not-found: _acp_bindings/unknown was answered with null",
        "      The response to an unknown request is the error -32601.",
        "      https://agentclientprotocol.com/protocol/v1/extensibility#custom-requests",
    ]
    assert '      <- {"id": 1000, "method": "_acp_bindings/unknown", "params": {}}' in lines
    assert '      -> {"id": 1000, "result": null}' in lines
    assert lines[-2:] == [
        "ok    MUST    unknown-request",
        "2 passed, 0 MUST failed, 1 SHOULD failed, 0 skipped",
    ]


def test_json_has_what_passed_on_the_wire_as_a_recording(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("its working directory is relative", "--format", "json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is False
    assert report["command"][-2:] == ["{agent}", "{prompt}"]
    statuses = {scenario["id"]: scenario["status"] for scenario in report["scenarios"]}
    assert statuses == dict(zip(IDS, ("failed", "passed", "passed"), strict=True))
    assert {*report["scenarios"][0]} == SCHEMA_KEYS
    first = report["scenarios"][0]["messages"][0]
    assert (first["direction"], first["message"]["method"]) == ("c2a", "initialize")


@pytest.mark.slow
def test_junit_fails_for_must_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("ignores unknown requests", "--deadline", "2", "--format", "junit") == 1
    suite = ElementTree.fromstring(capsys.readouterr().out)
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["3", "1", "1"]
    assert [[part.tag for part in case] for case in suite] == [[], ["skipped"], ["failure"]]


def test_a_client_that_sends_no_prompt_is_checked_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "client.sh"
    program.write_text("echo usage: client PROMPT; exit 3")
    assert main(["check-client", "--", "sh", str(program), "{agent}"]) == 1
    printed = capsys.readouterr()
    assert "ended with exit code 3 and started no agent before session/prompt" in printed.out
    assert "usage: client PROMPT" in printed.out
    assert printed.out.count("FAIL") == 1
    assert "--prompt-args" in printed.err


def test_prompt_args_are_the_last_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "client.sh"
    program.write_text('printf "%s|" "$@"')
    options = ["--only", "messages", "--prompt-args", "exec '{prompt} {prompt}'"]
    main(["check-client", *options, "--", "sh", str(program), "{agent}"])
    (arguments,) = [line for line in capsys.readouterr().out.splitlines() if "|" in line]
    assert arguments.split("|")[1:] == ["exec", "Say hello, please: ça va? 👋 Say hello, please: ça va? 👋", ""]


def test_load_args_make_the_client_load_a_session(capsys: pytest.CaptureFixture[str]) -> None:
    client = [sys.executable, "-I", "-S", CLIENT, "", "{agent}", "{prompt}"]
    assert main(["check-client", "--only", "load", "--load-args", "load", "--", *client]) == 0
    assert capsys.readouterr().out.startswith("ok    MUST    load\n")


def test_a_client_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-client", "--", "no-such-client", "{agent}"]) == 2
    assert "Can't start 'no-such-client': No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"), [(["client"], "has no {agent}"), (["--only", "nothing", "{agent}"], "invalid choice")]
)
def test_wrong_arguments_are_explained(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["check-client", *arguments])
    assert problem in capsys.readouterr().err


def test_the_help_lists_the_scenarios(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["check-client", "--help"])
    printed = capsys.readouterr().out
    for scenario in SCENARIOS.values():
        assert f"  {scenario.id} " in printed
        assert scenario.rule in printed
