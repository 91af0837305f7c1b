"""What `ask` prints: the reply and what the agent does, as text or as JSON lines, and the questions to the user."""

from __future__ import annotations

import json
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

from acp_bindings import v1
from acp_kit.common.texts import join_texts
from acp_kit.content import to_text
from acp_runtime.escaping import printable, printable_lines

_MAX_TITLE = 1000


class TextOutput:
    """Prints the reply to stdout, and everything else to stderr."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}
        self._is_line_begun = False
        # The end of the reply so far, if it is only half of a line end or of a character.
        self._incomplete = ""
        self._stderr_decoder = getincrementaldecoder("utf-8")("backslashreplace")

    def begin(self, session_id: str) -> None:
        """Print that a session is open."""

    def show(self, update: v1.SessionUpdate) -> None:
        """Print an update of the turn."""
        match update:
            case v1.SessionUpdateAgentMessageChunk(content=content):
                self._write_reply(to_text([content]))
            case v1.SessionUpdateToolCall(tool_call_id=id, title=title):
                self._titles[id] = title
                self.note(f"> {title}")
            case v1.SessionUpdateToolCallUpdate(tool_call_id=id, status="completed" | "failed" as status):
                self.note(f"> {self._titles.get(id, id)}: {status}")
            case _:
                pass

    def ask(self, request: v1.RequestPermissionRequest) -> str | None:
        """Ask the user for permission. Return the id of the chosen option; None to reject the tool call."""
        call = request.tool_call
        title = call.title or call.tool_call_id
        if not sys.stdin.isatty() or not sys.stderr.isatty():
            kind = f" (kind {call.kind})" if call.kind else ""
            self.note(f"Rejected: {title}{kind}. There is no terminal to ask you on. See --allow.")
            return None
        self.note(f"? {title}")
        for line in _describe_changes(call):
            self.note(f"  {line}")
        ids = {str(number): option.option_id for number, option in enumerate(request.options, 1)}
        for number, option in enumerate(request.options, 1):
            self.note(f"  {number}. {option.name}")
        while True:
            sys.stderr.write("Which number? ")
            sys.stderr.flush()
            answer = sys.stdin.readline()
            if not answer or answer.strip() in ids:
                return ids.get(answer.strip())

    def note(self, text: str) -> None:
        """Print a line to stderr."""
        if self._is_line_begun and sys.stdout.isatty():
            self._write_stdout("\n")
        sys.stderr.write(f"{printable(text, _MAX_TITLE)}\n")
        sys.stderr.flush()

    def write_stderr(self, chunk: bytes) -> None:
        """Print what the agent wrote to stderr. It is called in another thread."""
        sys.stderr.write(printable_lines(self._stderr_decoder.decode(chunk)))
        sys.stderr.flush()

    def end(self, stop_reason: str, text: str, session_id: str | None) -> None:
        """Print how the turn ended.

        Args:
            stop_reason: its stop reason.
            text: the whole reply.
            session_id: the session; None if the agent can't go on with it later.
        """
        self._end_reply()
        if stop_reason != "end_turn":
            self.note(f"The turn ended with the stop reason {stop_reason}.")
        if session_id is not None:
            self.note(f"To go on: --session {session_id}")

    def fail(self, message: str) -> None:
        """Print why there is no reply."""
        self._end_reply()
        sys.stderr.write(f"acp-bindings ask: {printable_lines(message)}\n")

    def _write_reply(self, text: str) -> None:
        text = join_texts([self._incomplete, text])
        is_half = text[-1:] == "\r" or "\ud800" <= text[-1:] <= "\udbff"
        self._incomplete = text[-1:] if is_half else ""
        self._write_stdout(printable_lines(text.removesuffix(self._incomplete)))

    def _end_reply(self) -> None:
        self._write_stdout(printable_lines(self._incomplete))
        self._incomplete = ""
        if self._is_line_begun:
            self._write_stdout("\n")

    def _write_stdout(self, text: str) -> None:
        if text:
            self._is_line_begun = not text.endswith("\n")
            sys.stdout.write(text)
            sys.stdout.flush()


class JsonOutput(TextOutput):
    """Prints a JSON object for each event to stdout, and everything for people to stderr."""

    def begin(self, session_id: str) -> None:
        """Print that a session is open."""
        _print("session", sessionId=session_id)

    def show(self, update: v1.SessionUpdate) -> None:
        """Print an update of the turn."""
        _print("update", update=update.model_dump(mode="json"))

    def ask(self, request: v1.RequestPermissionRequest) -> str | None:
        """Ask the user for permission. Return the id of the chosen option; None to reject the tool call."""
        option_id = super().ask(request)
        fields = request.model_dump(mode="json")
        _print("permission", toolCall=fields["toolCall"], options=fields["options"], optionId=option_id)
        return option_id

    def end(self, stop_reason: str, text: str, session_id: str | None) -> None:
        """Print how the turn ended."""
        _print("end", stopReason=stop_reason, text=text)

    def fail(self, message: str) -> None:
        """Print why there is no reply."""
        super().fail(message)
        _print("error", message=message)


def _print(type: str, **keys: Any) -> None:
    # As ASCII, because the agent's texts may have control characters, or halves of characters.
    sys.stdout.write(f"{json.dumps({'type': type, **keys})}\n")
    sys.stdout.flush()


def _describe_changes(call: v1.ToolCallUpdate) -> Iterator[str]:
    """Yield lines that help to decide about a tool call: its text and its changes of files."""
    for content in call.content or []:
        match content:
            case v1.ToolCallContentContent(content=block):
                yield from to_text([block]).splitlines()
            case v1.ToolCallContentDiff(path=path, old_text=old, new_text=new):
                yield from unified_diff((old or "").splitlines(), new.splitlines(), path, path, lineterm="")
            case _:
                pass
