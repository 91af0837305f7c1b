"""How bad a change is for its readers: which peers exchange the messages that it breaks."""

from __future__ import annotations

import pytest

from codegen.diff.report import Report, compare
from codegen.diff.verdict.verdicts import Severity
from tests.support.codegen.build import STRING, Schema, model, request
from tests.support.diff.cases import holds
from tests.support.diff.sides import side

EMPTY, FULL = model(), holds(STRING)


def schema(changed: str, definition: Schema) -> Schema:
    """Return methods of each kind. The params of one of them are this definition."""
    result = {
        name: request(wire, name, definition if wire == changed else EMPTY)
        for wire, name in (("initialize", "Init"), ("session/prompt", "Prompt"), ("session/set_mode", "Mode"))
    }
    return {key: method for methods in result.values() for key, method in methods.items()}


def severity(report: Report) -> list[Severity]:
    return [finding.severity for finding in report.findings]


@pytest.mark.parametrize(
    ("method", "expected"),
    [("initialize", Severity.EVERY_PEER), ("session/prompt", Severity.BASELINE), ("session/set_mode", Severity.WIRE)],
)
def test_a_change_that_breaks_messages_is_as_bad_as_its_method_is_common(method: str, expected: Severity) -> None:
    assert severity(compare(side(schema(method, EMPTY)), side(schema(method, FULL)))) == [expected]


def test_a_change_of_the_envelope_breaks_messages_that_every_peer_exchanges() -> None:
    error = {"Error": model(["code", "message"], code={"type": "integer", "format": "int32"}, message=STRING)}
    report = compare(side({}), side(error))
    assert severity(report) == [Severity.EVERY_PEER]
    assert [finding.methods for finding in report.findings] == [()]


def test_a_change_that_breaks_no_messages_breaks_only_python_code() -> None:
    assert severity(compare(side({"Alone": EMPTY}), side({}))) == [Severity.PYTHON]
