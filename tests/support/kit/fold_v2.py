"""What a client of version 2 shows, from the updates of a session."""

from __future__ import annotations

from typing import Any

_ROLES = {
    "user_message_chunk": "user",
    "agent_message_chunk": "agent",
    "agent_thought_chunk": "thought",
}


class Shown:
    """The state of a session.

    Attributes:
        messages: each with its role and its text, or the types of its content, in order.
        calls: the fields of tool calls, by id, in order.
        plan: the entries of the plan.
        options: the config options.
        commands: the commands.
    """

    def __init__(self) -> None:
        self.messages: dict[str, tuple[str, list[Any]]] = {}
        self.calls: dict[str, dict[str, Any]] = {}
        self.plan: list[Any] = []
        self.options: list[Any] = []
        self.commands: list[Any] = []

    def apply(self, update: Any) -> None:
        kind = update["sessionUpdate"]
        if kind in _ROLES:
            role, content = self.messages.setdefault(update["messageId"], (_ROLES[kind], []))
            assert role == _ROLES[kind]
            content.append(update["content"])
        elif kind == "user_message":
            self.messages[update["messageId"]] = "user", update["content"]
        elif kind == "tool_call_update":
            call = self.calls.setdefault(update["toolCallId"], {})
            for name in ("title", "kind", "status", "content", "locations", "rawInput", "rawOutput"):
                if name in update:
                    call[name] = update[name]
        elif kind == "plan_update":
            self.plan = update["plan"]["entries"]
        elif kind == "config_option_update":
            self.options = update["configOptions"]
        elif kind == "available_commands_update":
            self.commands = update["availableCommands"]

    def texts(self) -> list[tuple[str, str]]:
        """Return the role and the text of each message."""
        return [(role, "".join(item.get("text", "") for item in content)) for role, content in self.messages.values()]
