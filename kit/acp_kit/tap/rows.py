"""What is shown of a recording, as data: rows, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from acp_kit.recording import Direction

Kind = Literal["call", "notification", "message", "tool", "state", "text"]


@dataclass(eq=False, slots=True)
class Row:
    """One row: a call with its answer, a notification, what several updates amount to, or text that is no message.

    Attributes:
        kind: "message", "tool" and "state" are made of updates.
        direction: who sent the first line of it.
        lines: which lines of the recording it is made of. The second one of a call is the answer.
        start: the time of its first line, in seconds since 1970; None if it wasn't recorded.
        end: the time of its last line.
        method: the method; "" if there is none.
        title: what it is about.
        outcome: how it ended.
        session: the session it belongs to; "" if to none.
        turn: the number of the turn of its session; 0 outside of turns.
        is_replay: whether it belongs to the replay of earlier turns.
        is_error: whether the answer is an error.
        problems: what is wrong: the line, and a sentence.
        notes: the same for what is unusual, but not wrong.
    """

    kind: Kind
    direction: Direction
    lines: list[int]
    start: float | None
    end: float | None
    method: str = ""
    title: str = ""
    outcome: str = ""
    session: str = ""
    turn: int = 0
    is_replay: bool = False
    is_error: bool = False
    problems: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    notes: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def took(self) -> float | None:
        """How many seconds passed from its first line to its last one; None if that wasn't recorded."""
        return (
            self.end - self.start if self.start is not None and self.end is not None and len(self.lines) > 1 else None
        )

    @property
    def is_turn(self) -> bool:
        """Whether it is the call that is a turn."""
        return self.kind == "call" and self.turn > 0 and self.method == "session/prompt"


@dataclass(frozen=True, slots=True)
class Analysis:
    """A recording as rows, in the order of their first lines.

    Attributes:
        name: the name of the file.
        rows: the rows.
        messages: what each line of the recording holds, by its number: the JSON, or a text.
        client: name and version of the client, and of the agent, as they say themselves.
        agent: the same of the agent.
    """

    name: str
    rows: list[Row]
    messages: dict[int, Any]
    client: str
    agent: str

    @property
    def problems(self) -> int:
        """How many problems there are."""
        return sum(len(row.problems) for row in self.rows)


def about_call(method: str, params: dict[str, Any]) -> str:
    """Return what a call is about, in a few words of its params."""
    if method == "initialize":
        return f"version {params.get('protocolVersion')}, {name_of(params.get('clientInfo'))}".removesuffix(", ")
    if isinstance(params.get("prompt"), list):
        return " ".join(_about_block(block) for block in params["prompt"])
    if method == "terminal/create":
        return " ".join(map(str, [params.get("command"), *(params.get("args") or [])]))
    tool_call = params.get("toolCall")
    if isinstance(tool_call, dict):
        return str(tool_call.get("title") or tool_call.get("toolCallId"))
    for name in ("path", "terminalId", "modeId", "configId", "methodId", "message", "cwd", "requestId"):
        if name in params:
            value = f" = {params['value']}" if name == "configId" else ""
            return f"{params[name]}{value}"
    return ""


def about_result(result: Any, params: dict[str, Any]) -> str:
    """Return how a call ended, in a few words of its result and params."""
    if not isinstance(result, dict):
        return "ok"
    outcome = result.get("outcome")
    if isinstance(outcome, dict):
        chosen = [option for option in params.get("options", []) if option.get("optionId") == outcome.get("optionId")]
        return str(chosen[0].get("kind") if chosen else outcome.get("optionId") or outcome.get("outcome"))
    for name in ("stopReason", "sessionId", "terminalId", "action"):
        if name in result:
            return str(result[name])
    if "agentInfo" in result or "protocolVersion" in result:
        return f"version {result.get('protocolVersion')}, {name_of(result.get('agentInfo'))}".removesuffix(", ")
    ended = result.get("exitStatus") or result
    status = ended.get("signal") or (f"exit code {ended['exitCode']}" if ended.get("exitCode") is not None else "")
    text = result.get("content", result.get("output"))
    length = f"{len(text)} characters" if isinstance(text, str) else ""
    return ", ".join(filter(None, (length, status))) or "ok"


def about_error(error: Any) -> str:
    """Return the error in an answer in a few words, with the reason that SDKs put into `data`."""
    if not isinstance(error, dict):
        return "error"
    data = error.get("data")
    reason = data.get("details") if isinstance(data, dict) else data
    return f"error {error.get('code')}: {error.get('message')}{f': {reason}' if reason else ''}"


def about_state(update: dict[str, Any]) -> str:
    """Return what an update says that sets values, in a few words."""
    match update:
        case {"entries": [*entries]}:
            return f"{sum(entry.get('status') == 'completed' for entry in entries)} of {len(entries)} completed"
        case {"availableCommands": [*commands]}:
            return " ".join(f"/{command.get('name')}" for command in commands)
        case {"configOptions": [*options]}:
            return ", ".join(f"{option.get('id')} = {option.get('currentValue')}" for option in options)
        case _:
            given = {name: value for name, value in update.items() if name not in ("sessionUpdate", "_meta")}
            return ", ".join(f"{name} {value}" for name, value in given.items())


def name_of(implementation: Any) -> str:
    """Return the name and the version of a client or an agent."""
    if not isinstance(implementation, dict):
        return ""
    return f"{implementation.get('name')} {implementation.get('version') or ''}".strip()


def _about_block(block: Any) -> str:
    if not isinstance(block, dict):
        return "?"
    return str(block.get("text") or block.get("uri") or f"[{block.get('type')}]")
