"""What is shown of a recording, as data: rows, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, cast

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

    @property
    def is_wrong(self) -> bool:
        """Whether there is a problem, or a call that was answered with an error."""
        return any(row.problems or row.is_error for row in self.rows)


def fields_of(value: Any) -> dict[str, Any]:
    """Return the members of JSON that ought to be an object; none if it is something else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: Any) -> list[object]:
    """Return the items of JSON that ought to be a list; none if it is something else."""
    return cast("list[object]", value) if isinstance(value, list) else []


def about_call(method: str, params: dict[str, Any]) -> str:
    """Return what a call is about, in a few words of its params."""
    if method == "initialize":
        return _version(params, "clientInfo")
    if "prompt" in params:
        return " ".join(map(_about_block, map(fields_of, items_of(params["prompt"]))))
    if method == "terminal/create":
        return " ".join(map(str, [params.get("command"), *items_of(params.get("args"))]))
    if "toolCall" in params:
        call = fields_of(params["toolCall"])
        return str(call.get("title") or call.get("toolCallId"))
    if "configId" in params:
        return f"{params['configId']} = {params.get('value')}"
    names = ("path", "terminalId", "modeId", "methodId", "message", "cwd", "requestId")
    return next((str(params[name]) for name in names if name in params), "")


def about_result(given: Any, params: dict[str, Any]) -> str:
    """Return how a call ended, in a few words of its result and params."""
    result = fields_of(given)
    if outcome := fields_of(result.get("outcome")):
        id = outcome.get("optionId", outcome.get("outcome"))
        kinds = [
            option.get("kind")
            for option in map(fields_of, items_of(params.get("options")))
            if option.get("optionId") == id
        ]
        return str(kinds[0] if kinds else id)
    if "protocolVersion" in result:
        return _version(result, "agentInfo")
    for name in ("stopReason", "sessionId", "terminalId", "action"):
        if name in result:
            return str(result[name])
    status = fields_of(result.get("exitStatus")) or result
    ended = status.get("signal") or ("" if status.get("exitCode") is None else f"exit code {status['exitCode']}")
    text = result.get("content", result.get("output"))
    length = f"{len(text)} characters" if isinstance(text, str) else ""
    return ", ".join(filter(None, (length, str(ended)))) or "ok"


def about_error(given: Any) -> str:
    """Return the error in an answer in a few words, with the reason that SDKs put into `data`."""
    error = fields_of(given)
    data = error.get("data")
    reason = fields_of(data).get("details") or (data if isinstance(data, str) else "")
    return f"error {error.get('code')}: {error.get('message')}{f': {reason}' if reason else ''}"


def about_state(update: dict[str, Any]) -> str:
    """Return what an update says that sets values, in a few words."""
    if entries := items_of(update.get("entries")):
        done = [entry for entry in map(fields_of, entries) if entry.get("status") == "completed"]
        return f"{len(done)} of {len(entries)} completed"
    if commands := items_of(update.get("availableCommands")):
        return " ".join(f"/{command.get('name')}" for command in map(fields_of, commands))
    if options := items_of(update.get("configOptions")):
        return ", ".join(f"{option.get('id')} = {option.get('currentValue')}" for option in map(fields_of, options))
    return ", ".join(f"{name} {value}" for name, value in update.items() if name not in ("sessionUpdate", "_meta"))


def name_of(implementation: Any) -> str:
    """Return the name and the version of a client or an agent; "" if it has none."""
    fields = fields_of(implementation)
    return " ".join(str(fields[name]) for name in ("name", "version") if fields.get(name))


def _version(message: dict[str, Any], info: str) -> str:
    return ", ".join(filter(None, (f"version {message.get('protocolVersion')}", name_of(message.get(info)))))


def _about_block(block: dict[str, Any]) -> str:
    return str(block.get("text") or block.get("uri") or f"[{block.get('type')}]")
