"""Unknown variants of open unions take and keep their payload as keywords."""

from __future__ import annotations

from acp_bindings import v1, v2_draft


def test_an_open_variant_keeps_the_payload_it_is_built_with() -> None:
    payload = {"points": [1, 2]}
    block = v2_draft.ContentBlockOther(type="_example.com/chart", **payload)
    assert block.model_extra == payload
    assert block.model_dump_json() == '{"type":"_example.com/chart","points":[1,2]}'


def test_an_open_variant_that_wraps_a_definition_keeps_its_payload_too() -> None:
    payload = {"language": "en"}
    request = v1.CreateElicitationRequestOtherSession(session_id="1", mode="voice", message="Say it", **payload)
    assert request.model_extra == payload
    assert '"language":"en"' in request.model_dump_json()
