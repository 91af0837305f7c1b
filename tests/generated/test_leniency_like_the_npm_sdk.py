"""We parse every message with an invalid value to the same result as upstream's TypeScript SDK."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.generated.agreement import differences
from tests.generated.lenient_corpus import Case, lenient_corpus
from tests.support.models.profiles import TESTED
from tests.support.programs import run_command
from tests.support.skipping import skip_without
from tools.paths import ROOT
from tools.third_party import UnavailableError, typescript_sdk


def _is_outside_64_bits(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 2**64


def _is_not_a_uri(value: Any) -> bool:
    return isinstance(value, str) and "://" not in value


def _is_not_a_date_time(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is None
    except ValueError:
        return True


# The npm SDK takes any whole `number` for int64 and uint64, because JavaScript has no such integers. It only refuses
# negative values for uint64. For us, values out of range are invalid and fall back.
# It checks `format: uri` and `format: date-time`. In JSON Schema 2020-12, a format is documentation by default.
# Upstream's Rust types are plain strings, and dropping the value would lose data.
KNOWN_DIFFERENCES: dict[str, Callable[[Any], bool]] = {
    "int64": _is_outside_64_bits,
    "uint64": _is_outside_64_bits,
    "uri": _is_not_a_uri,
    "date-time": _is_not_a_date_time,
}
# The npm SDK refuses an MCP server without it, as the schema says. Upstream's pages don't require it.
_REQUIRED_LIST = "env"


@dataclass(frozen=True)
class Verdict:
    """A case, and the differences between the results of the two parsers."""

    case: Case
    differences: tuple[str, ...]

    @property
    def explanation(self) -> str:
        """The format whose values the npm SDK treats differently, or the list that it requires; empty if neither."""
        if self.case.key not in self.case.input and self._requires_the_list:
            return _REQUIRED_LIST
        schema, value = self.case.schema, self.case.input.get(self.case.key)
        formats = (option.get("format") for option in (schema, *schema.get("anyOf", ())))
        return next(
            (format_ for format_ in formats if format_ in KNOWN_DIFFERENCES and KNOWN_DIFFERENCES[format_](value)), ""
        )

    @property
    def _requires_the_list(self) -> bool:
        is_server = self.case.definition in ("McpServer", "McpServerStdio")
        return is_server and self.case.key == _REQUIRED_LIST and self.case.profile.package.startswith("v1")

    def __str__(self) -> str:
        return f"{self.case.profile.package}.{self.case.definition} {json.dumps(self.case.input)}: {self.differences}"


PARSER = ROOT / "tests/generated/parse_with_npm_sdk.mjs"

pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.stress, pytest.mark.xdist_group("npm")]


def _pinned_package() -> str:
    """Return the npm package of the pinned schema, with its version."""
    source: str = json.loads((ROOT / "schema" / "PINNED.json").read_text("utf-8"))["source"]
    if not source.startswith("npm:@agentclientprotocol/sdk@"):
        raise UnavailableError(f"the schema is pinned from {source}, which isn't the npm package")
    return source.removeprefix("npm:")


@pytest.fixture(scope="module")
def sdk() -> Path:
    try:
        return typescript_sdk(_pinned_package())
    except UnavailableError as reason:
        skip_without("Not compared with the npm SDK", reason)


@pytest.fixture(scope="module")
def verdicts(sdk: Path) -> list[Verdict]:
    cases = [case for profile in TESTED for case in lenient_corpus(profile)]
    lines = (
        json.dumps({"profile": case.profile.package, "definition": case.definition, "input": case.input})
        for case in cases
    )
    printed = run_command("node", str(PARSER), str(sdk), input="\n".join(lines))
    answers = map(json.loads, printed.splitlines())
    return [_verdict(case, answer) for case, answer in zip(cases, answers, strict=True)]


def _verdict(case: Case, theirs: dict[str, Any]) -> Verdict:
    if "missing" in theirs:
        return Verdict(case, ("the npm SDK has no parser for this definition",))
    try:
        ours = case.profile.adapter(case.definition).validate_json(json.dumps(case.input))
    except ValidationError:
        return Verdict(case, ("only we refuse it",) if theirs["ok"] else ())
    return Verdict(
        case, tuple(differences(ours, theirs["value"])) if theirs["ok"] else ("only the npm SDK refuses it",)
    )


def test_both_parsers_agree_on_every_message_without_a_known_difference(verdicts: list[Verdict]) -> None:
    unexplained = [verdict for verdict in verdicts if bool(verdict.differences) != bool(verdict.explanation)]
    assert not unexplained, "\n".join(map(str, unexplained[:10]))


def test_every_known_difference_occurs(verdicts: list[Verdict]) -> None:
    assert {verdict.explanation for verdict in verdicts if verdict.differences} == {
        *KNOWN_DIFFERENCES,
        _REQUIRED_LIST,
    }
