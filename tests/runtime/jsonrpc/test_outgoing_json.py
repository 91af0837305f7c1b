"""Rules 3 and 13: NaN and Infinity raise where they are passed or returned. Sent messages are strict JSON."""

from __future__ import annotations

import json
import math
import traceback
from dataclasses import dataclass
from typing import Any

import pydantic
import pytest
from pydantic import BaseModel, ConfigDict

from acp_bindings.v1 import ContentBlockText, NewSessionRequest, NewSessionResponse
from acp_runtime import RequestError
from acp_runtime.jsonrpc.encoding import dump
from acp_runtime.jsonrpc.error_responses import safe_error_line
from tests.support.runtime.peer import Link, PlainAgent, calling, serving


class Measure(BaseModel):
    value: float
    note: str | None = None


class HasAny(BaseModel):
    value: Any


class WithConstants(Measure):
    model_config = ConfigDict(ser_json_inf_nan="constants")


@pydantic.dataclasses.dataclass
class Validated:
    value: float
    note: str | None = None


@dataclass
class Plain:
    value: float


def _not_finite(number: float) -> dict[str, Any]:
    return {
        "itself": number,
        "in a list": [1.5, [number]],
        "in an object": {"x": {"y": number}, "z": None},
        "in a tuple": (number,),
        "in a set": {number},
        "in a generator": (value for value in [number]),
        "in a dataclass": Plain(number),
        "in a dataclass of pydantic": Validated(number),
        "in a model": Measure(value=number),
        "in a list of models": [Measure(value=1), Measure(value=number, note="x")],
        "in a model that writes constants": WithConstants(value=number),
        "in the meta of a model": ContentBlockText(text="x", meta={"x": [number]}),
        "in a model in the meta of a model": ContentBlockText(text="x", meta={"x": Measure(value=number)}),
        "in a field of any type of a model": HasAny(value={"x": [number]}),
        "in an unknown field of a model": BaseModel.model_copy(
            ContentBlockText.model_validate({"type": "text", "text": "x"}), update={"_meta": {"a": {"b": number}}}
        ),
        "beside a lone surrogate": ["\ud83d", number],
        "nested deeply": json.loads("[" * 150 + "NaN" + "]" * 150),
    }


NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
NOT_FINITE = {f"{name} {where}": v for name, n in NUMBERS.items() for where, v in _not_finite(n).items()}


@pytest.mark.parametrize("name", NOT_FINITE)
def test_rule_3_numbers_that_are_not_finite_are_never_dumped(name: str) -> None:
    with pytest.raises(ValueError, match="NaN"):
        dump(NOT_FINITE[name])


@pytest.mark.parametrize(
    "value",
    [
        "NaN",
        "null, NaN and -Infinity",
        {"NaN": None, "Infinity": "\ud83d"},
        [1e308, -1.5, None, "Infinity"],
        ContentBlockText(text="NaN null Infinity", meta={"Infinity": 1.5}),
        Measure(value=1.5),
        (None, {"x"}, frozenset({"NaN"})),
    ],
    ids=repr,
)
def test_rule_3_values_with_the_words_nan_and_null_are_dumped(value: Any) -> None:
    json.loads(dump(value), parse_constant=pytest.fail)


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
async def test_rule_3_nan_returned_by_a_handler_is_an_internal_error(link: Link, number: float) -> None:
    class Agent(PlainAgent):
        async def session_new(self, request: NewSessionRequest, /) -> NewSessionResponse:
            return NewSessionResponse(session_id="s", meta={"x": number})

        async def ext_request(self, method: str, params: Any) -> Any:
            if method == "_raise":
                raise RequestError(1, "x", {"x": number})
            return {"x": [number]}

    async with serving(link, Agent) as peer:
        for method in ("session/new", "_return", "_raise"):
            response = await peer.call(method, {"cwd": "/", "mcpServers": []})
            assert response["error"] == {"code": -32603, "message": "Internal error"}


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
async def test_rule_3_nan_passed_by_a_caller_raises_and_nothing_is_sent(link: Link, number: float) -> None:
    async with calling(link) as (agent, peer):
        for call in (
            agent.ext_request("_x", {"x": number}),
            agent.ext_notification("_x", [number]),
            agent.ext_notification("_x", Measure(value=number)),
            agent.session_new(cwd="/", mcp_servers=[], meta={"x": number}),
            agent.session_cancel(session_id="s", meta={"x": {"y": number}}),
        ):
            with pytest.raises(ValueError, match="NaN"):
                await call
        await agent.ext_notification("_last")
        assert (await peer.receive())["method"] == "_last"


def test_rule_13_an_error_that_is_not_json_becomes_an_internal_error() -> None:
    line = safe_error_line(1, RequestError(1, "m", data=object()))
    assert json.loads(line)["error"] == {"code": -32603, "message": "Internal error"}


def test_rule_30_the_error_for_a_value_that_cannot_be_dumped_omits_it() -> None:
    changed = ContentBlockText(text="x")
    vars(changed)["text"] = {"secret": "hunter2"}
    for wrong in (changed, ContentBlockText.model_construct(text=["hunter2, input_type=", "hunter2"])):
        with pytest.raises(ValueError, match="input_type") as caught:
            dump(wrong)
        assert "hunter2" not in "".join(traceback.format_exception(caught.value))
