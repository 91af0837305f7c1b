"""The updates of a session."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from acp_kit.versions.json_objects import Json, without
from acp_kit.versions.settings import Settings, commands_to_v2
from acp_kit.versions.tool_calls import ToolCalls
from acp_kit.versions.unique_ids import UniqueIds


class Updates:
    """Translates the updates of a session.

    Args:
        cwd: the folder that relative paths are in.

    Attributes:
        calls: its tool calls.
        settings: its config options and modes.
    """

    def __init__(self, cwd: str) -> None:
        self.calls: ToolCalls = ToolCalls(cwd)
        self.settings: Settings = Settings()
        self._compactions: set[str] = set()
        # The kind and the id of the message that chunks are added to, and its id in version 2; None if something else
        # has begun since.
        self._last_message: tuple[str, str | None, str] | None = None
        self._message_ids = UniqueIds()
        self._translators: dict[str, Callable[[Json], Json | None]] = {
            "user_message_chunk": self._translate_chunk,
            "agent_message_chunk": self._translate_chunk,
            "agent_thought_chunk": self._translate_chunk,
            "tool_call": self._translate_tool_call,
            "tool_call_update": self._translate_tool_call_update,
            "compaction_update": self._translate_compaction,
            "compaction_summary_chunk": self._translate_compaction,
            "plan": self._translate_plan,
            "available_commands_update": self._translate_commands,
            "current_mode_update": self._translate_mode,
            "config_option_update": self._translate_options,
        }

    def begin_turn(self) -> None:
        """Begin a turn: the next chunk begins a message."""
        self._last_message = None
        self.calls.begin_turn()

    def begin_replay(self) -> None:
        """Begin a replay of the conversation, in which messages and tool calls have the same ids as before."""
        self.begin_turn()
        self._message_ids.clear()
        self._compactions.clear()
        self.calls.begin_replay()

    def to_v2(self, update: Json) -> Json | None:
        """Return the update of version 2; None if it has nothing that version 2 shows."""
        translate = self._translators.get(update["sessionUpdate"])
        return update if translate is None else translate(update)

    def _translate_chunk(self, update: Json) -> Json:
        """Adjacent chunks of a kind, with one id or without an id, are one message.

        In version 2, everything with one id is the same message. Some agents of version 1 give several the same.
        """
        kind = update["sessionUpdate"]
        id = update.get("messageId")
        if self._last_message is None or self._last_message[:2] != (kind, id):
            if kind == "user_message_chunk":
                self.calls.begin_turn()
            self._last_message = kind, id, uuid4().hex if id is None else self._message_ids.new(id)
        return update | {"messageId": self._last_message[2]}

    def _translate_tool_call(self, update: Json) -> Json:
        return self.start_call(update) | {"sessionUpdate": "tool_call_update"}

    def start_call(self, call: Json) -> Json:
        """Return the fields of a tool call that starts, unless it runs already."""
        if not self.calls.is_running(call["toolCallId"]):
            self._last_message = None
        return self.calls.start(call)

    def _translate_tool_call_update(self, update: Json) -> Json:
        if not self.calls.is_known(update["toolCallId"]):
            self._last_message = None
        return self.calls.update(update)

    def _translate_compaction(self, update: Json) -> Json:
        if update["compactionId"] not in self._compactions:
            self._compactions.add(update["compactionId"])
            self._last_message = None
        return update

    def _translate_plan(self, update: Json) -> Json:
        plan = {"type": "items", "planId": "plan", "entries": update["entries"]}
        return without(update, "entries") | {"sessionUpdate": "plan_update", "plan": plan}

    def _translate_commands(self, update: Json) -> Json:
        return update | {"availableCommands": commands_to_v2(update["availableCommands"])}

    def _translate_mode(self, update: Json) -> Json | None:
        options = self.settings.set_mode(update["currentModeId"])
        if self.settings.mode_option is None:
            return None  # the agent's own option says this
        return without(update, "currentModeId") | {"sessionUpdate": "config_option_update", "configOptions": options}

    def _translate_options(self, update: Json) -> Json:
        return update | {"configOptions": self.settings.update(update)}
