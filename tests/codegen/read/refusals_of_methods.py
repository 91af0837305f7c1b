"""Methods and messages that stop the generator, each with the pointer and words of its error."""

from __future__ import annotations

from tests.support.codegen.build import STRING, model, part_of, ref, request, wraps
from tests.support.codegen.refusal_base import BASE, Case, at, batch, changed, put, with_batches, without

NEW, TOGETHER = "/$defs/NewRequest", "Expected `x-method` and `x-side` together"
CANCEL = part_of("$/cancel_request", "protocol", model())
PROTOCOL = changed(CancelRequestNotification=CANCEL)["anyOf"][-1]
METHODS: dict[str, Case] = {
    "an unknown side": (changed(NewRequest=part_of("session/new", "server", model())), f"{NEW}/x-side", "'server'"),
    "a method without a side": (without(f"{NEW}/x-side"), NEW, TOGETHER),
    "a side without a method": (without(f"{NEW}/x-method"), NEW, TOGETHER),
    "a request without a response": (without("/$defs/NewResponse/x-side"), "/$defs/NewResponse", TOGETHER),
    "a request whose response has another method": (
        changed(NewResponse=part_of("session/load", "agent", model())),
        NEW,
        "no response",
    ),
    "a payload that no method claims": (changed(NewResponse=model()) | {"anyOf": BASE["anyOf"]}, NEW, "no response"),
    "a payload without a method": (
        put("/$defs/CancelNotification", model()),
        "/$defs/CancelNotification",
        "`x-method` doesn't say which method",
    ),
    "a method with a space": (at(NEW, **{"x-method": "session new"}), f"{NEW}/x-method", "can't be the name"),
    "a notification that the wrong side sends": (
        at("/$defs/CancelNotification", **{"x-side": "client"}),
        "/$defs/CancelNotification",
        "is sent by Agent, but it is in messages of Client",
    ),
    "a method in no message": (
        at("/$defs/Text", **{"x-side": "agent", "x-method": "session/load"}),
        "/$defs/Text",
        "found it in none",
    ),
    "two requests of one method": (
        changed(OtherRequest=part_of("session/new", "agent", model())),
        "/$defs/OtherRequest",
        "already the request",
    ),
    "a method without an entry in methods.toml whose description names two capabilities": (
        changed(
            **request("session/teleport", "A1", {**model(), "description": "It needs `text` or `note`."}),
            InitializeResponse=model(agentCapabilities=ref("Text")),
        ),
        "/$defs/A1Request/x-method",
        "fit its name or its description: agentCapabilities.text, agentCapabilities.note.",
    ),
    "a capability that is not in the schema": (
        changed(
            **request("fs/read_text_file", "Read", on="client"), InitializeRequest=model(clientCapabilities=ref("Text"))
        ),
        "/$defs/Text",
        "no 'fs' here",
    ),
    "another dialect": (at("", **{"$schema": "http://json-schema.org/draft-07/schema#"}), "/$schema", "2020-12"),
    "another title": (at("", title="Some Other Protocol"), "/title", "Agent Client Protocol"),
    "a message of an unknown sender": (at("/anyOf/0", title="Server"), "/anyOf/0/title", "'Server'"),
    "a message without its version": (without("/anyOf/0/required"), "/anyOf/0/required", "jsonrpc"),
    "an envelope without its version": (
        changed(CancelRequestNotification=CANCEL) | {"anyOf": [*BASE["anyOf"], {**PROTOCOL, "required": ["method"]}]},
        "/anyOf/2/required",
        "Expected `jsonrpc` to be required",
    ),
    "a message whose version is any string": (
        put("/anyOf/0/properties/jsonrpc", STRING),
        "/anyOf/0",
        "Expected the property `jsonrpc`",
    ),
    "a part that refers to another part": (
        put("/anyOf/0/anyOf/0", {"title": "Request", **wraps("AgentNotification")}),
        "/anyOf/0/anyOf/0",
        "Expected a reference to the definition 'AgentRequest'",
    ),
    "a part that is not in the response": (
        put("/anyOf/0/anyOf/1", {"title": "Response", **model(["id"], id=STRING)}),
        "/anyOf/0/anyOf/1",
        "Expected the same schema as one of the members of AgentResponse",
    ),
    "a request that doesn't require its id": (
        at("/$defs/ClientRequest", required=["method"]),
        "/$defs/ClientRequest/required",
        "a JSON-RPC request requires: id, method",
    ),
    "a message with its parts in another order": (
        at("/anyOf/0", anyOf=BASE["anyOf"][0]["anyOf"][::-1]),
        "/anyOf/0/anyOf",
        "Expected the parts Request, Response, Notification",
    ),
    "a batch that may be empty": (
        with_batches({**batch("ClientBatchCall", "Request", "Notification"), "minItems": 0}),
        "/anyOf/2",
        "Expected a batch to be an array",
    ),
    "a batch without one of its parts": (
        with_batches(batch("ClientBatchCall", "Request")),
        "/anyOf/2/items/anyOf",
        "Expected the parts Request, Notification",
    ),
    "an envelope that is not JSON-RPC": (
        at("/$defs/ClientRequest/properties", extra=STRING),
        "/$defs/ClientRequest",
        "not a JSON-RPC message",
    ),
}
