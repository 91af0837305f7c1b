"""A small pair of schemas, and user code that fails where they differ.

A line that should fail ends with a comment: the rule of the finding that predicts it, or `unpredicted`. All other lines
should pass, or fail with the base too.
"""

from __future__ import annotations

from tests.codegen.diff.cases.unions import TEXT, union
from tests.support.codegen.build import STRING, Schema, enum, model, part_of, ref, request, tagged
from tests.support.diff.cases import INT, MAYBE


def _around(params: Schema, result: Schema, option: Schema) -> Schema:
    """Return three methods. The params of one are a union of two objects."""
    either = {"anyOf": [{"title": "One", **option}, {"title": "Two", **model(["two"], two=STRING)}]}
    return {
        **request("session/new", "NewSession", params, result),
        "SessionNotification": part_of("session/update", "client", model(["update"], update=ref("Block"))),
        **request("session/set_config_option", "Set", either),
        **TEXT,
    }


# A union whose first member derives from a definition.
_PIECE = {"oneOf": [tagged("type", "p", "Part"), tagged("type", "q")], "discriminator": {"propertyName": "type"}}
_RESULT = {"level": ref("Level"), "tone": ref("Tone")}
BEFORE = {
    **_around(
        model(["cwd"], cwd=STRING, label=STRING),
        model(
            ["kind", "note", "size", "title", *_RESULT],
            kind=ref("Kind"),
            note=STRING,
            size=INT,
            title=STRING,
            **_RESULT,
        ),
        model(["one"], one=STRING),
    ),
    "Block": union("a"),
    "Kind": enum("x", "y"),
    "Level": INT,
    "Mood": enum("good", "bad"),
    "Moods": model(),
    "Pace": enum("fast", "slow"),
    "Part": model(["text"], text=STRING),
    "Piece": _PIECE,
    "Tone": enum("low", opened=True),
    **request("session/set_mode", "SetMode"),
}
AFTER = {
    **_around(
        model(["cwd", "label"], cwd=STRING, label=STRING, more=STRING),
        model(["kind", "size", "title", *_RESULT], kind=ref("Sort"), size=STRING, title=MAYBE, more=STRING, **_RESULT),
        model(["one", "label"], one=STRING, label=STRING),
    ),
    "Block": {**union("a"), "oneOf": [*union("a")["oneOf"], tagged("type", "b")]},
    "Sort": enum("x", "y"),
    "Level": STRING,
    "Mood": enum("good", "bad", "odd"),
    "Pace": enum("fast", "slow", opened=True),
    "Part": {
        "anyOf": [{"title": "One", **model(["text"], text=STRING)}, {"title": "Two", **model(["text"], text=INT)}]
    },
    "Piece": _PIECE,
    "Tone": enum("low", "high", opened=True),
    **request("session/request_permission", "Ask", on="client"),
}
# The definitions of another profile, which the head doesn't have.
DRAFT = {"Alone": model()}

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
from typing import cast
from acp_bindings.v1 import NewSessionResponse

def read(session: NewSessionResponse) -> str:
    return session.note.upper()  # property-required-removed

def shout(session: NewSessionResponse) -> str:
    title = session.title
    return title.upper()  # nullable-added

def match(session: NewSessionResponse) -> str:
    match session:
        case NewSessionResponse(title=found):
            return found  # nullable-added

def size(session: NewSessionResponse) -> int:
    return session.size  # type-changed

def level(session: NewSessionResponse) -> int:
    return session.level  # type-changed

def text(session: NewSessionResponse) -> str:
    return cast(str, session.size)
""",
    "exhaust.py": """
from typing import assert_never
from acp_bindings.v1 import Block, BlockA, BlockK, Mood, Pace, SessionNotification

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

def by_value_again(pace: Pace) -> str:
    if pace == "fast":
        return "+"
    if pace == "slow":
        return "-"
    assert_never(pace)  # enum-opened
""",
    "subclass.py": """
from acp_bindings.v1 import Agent, Client, NewSessionRequest, NewSessionResponse, RemoteAgent, SessionNotification
from acp_bindings.v1 import SetModeRequest  # method-removed-unannounced
from acp_bindings.v1 import SetModeResponse  # method-removed-unannounced

class Mine(Agent):
    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        raise NotImplementedError(request.label)

    async def session_set_mode(self, request: SetModeRequest) -> SetModeResponse:
        return await super().session_set_mode(request)  # method-removed-unannounced

class Editor(Client):
    async def session_update(self, notification: SessionNotification) -> None:
        pass

EDITOR = Editor()  # method-added-baseline

async def call(agent: RemoteAgent) -> None:
    await agent.session_set_mode()  # method-removed-unannounced
""",
    "rename.py": """
from acp_bindings import v1
from acp_bindings.v1 import Kind  # definition-renamed
from acp_bindings.v1 import Moods  # definition-removed

def first(session: v1.NewSessionResponse) -> str:
    kind: Kind = session.kind
    return kind

def again(kind: v1.Kind) -> str:  # definition-renamed
    return kind
""",
    "module.py": """
from acp_bindings import v1

def text(piece: v1.PieceP) -> str:
    return piece.text  # definition-kind-changed
""",
    "safe.py": """
from acp_bindings.v1 import NewSessionRequest, NewSessionResponse, Text, Tone

def build() -> NewSessionRequest:
    return NewSessionRequest(cwd="/work", label="a", more="b")  # type: ignore[call-arg]

def tones(session: NewSessionResponse) -> dict[Tone, str]:
    return {"low": Text(text="a").text, session.tone: session.kind}
""",
    "mistakes.py": """
from acp_bindings.v1 import NewSessionRequest

WRONG: int = "text"
REQUEST = NewSessionRequest()
""",
    "draft.py": """
from acp_bindings.v2_draft import PROTOCOL_VERSION  # profile-removed
from acp_bindings.v2_draft import Alone  # profile-removed

class Mine(Alone):
    pass

def label(alone: Alone) -> str:  # profile-removed
    match alone:  # profile-removed
        case Alone():
            return str(PROTOCOL_VERSION)
""",
    "two.py": """
from acp_bindings import v1, v2_draft

def both(session: v1.NewSessionResponse) -> tuple[str, object]:
    return session.kind, v2_draft.Alone()  # profile-removed
""",
    "more/runtime.py": """
from acp_bindings.v1 import NewSessionResponse
from rename import first
import acp_runtime

def tone(session: NewSessionResponse) -> str:
    return first(session) + session.tone * acp_runtime.GONE  # unpredicted
""",
    "runtime.py": """
from acp_runtime import RequestError
from acp_runtime import GONE  # unpredicted

def error() -> RequestError:
    return RequestError(GONE, "text")
""",
}
