"""Slash commands: advertised to the client, recognised in prompts, and run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from acp_bindings import v1
from acp_kit.common.profiles import like
from acp_kit.content import to_text
from acp_runtime import ABSENT

if TYPE_CHECKING:
    from acp_kit.agent.session_base import SessionBase
    from acp_kit.agent.turns import Turn

Run: TypeAlias = "Callable[[Turn, str], Awaitable[None]]"
F = TypeVar("F", bound="Run")


@dataclass(frozen=True)
class Command:
    """One slash command.

    Attributes:
        name: its name, without the slash.
        description: what it does, for the user.
        run: runs it with the turn and the text after its name.
        hint: what the user should type after its name; None if it takes no input.
    """

    name: str
    description: str
    run: Run
    hint: str | None = None


class Commands:
    """The slash commands of an agent.

        commands = Commands()

        @commands.add("compact", "Shortens the conversation", hint="what to keep")
        async def compact(turn: Turn, text: str) -> None: ...

    Call `await commands.advertise(session)` in `session_new`. In `session_prompt`, `await commands.run(turn, prompt)`
    returns whether the prompt was a command.
    """

    def __init__(self) -> None:
        self._commands: dict[str, Command] = {}

    def add(self, name: str, description: str, *, hint: str | None = None) -> Callable[[F], F]:
        """Add a command: `@commands.add(...)` on a function, or `commands.add(...)(self.method)`.

        Args:
            name: its name, without the slash.
            description: what it does, for the user.
            hint: what the user should type after its name; None if it takes no input.

        Raises:
            ValueError: if the name is empty, begins with a slash, has a space, or is taken.
        """
        if not name or name.startswith("/") or name.split() != [name]:
            raise ValueError(f"{name!r} can't be the name of a command. Write it without the slash and without spaces.")
        if name in self._commands:
            raise ValueError(f"There is a command {name!r} already.")

        def add_function(run: F) -> F:
            self._commands[name] = Command(name, description, run, hint)
            return run

        return add_function

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    async def advertise(self, session: SessionBase) -> None:
        """Tell the client which commands there are. May be called in `session_new`, before the response."""
        client = session.client
        command_class = like(client, v1.AvailableCommand)
        input_class = like(client, v1.UnstructuredCommandInput)
        update = like(client, v1.SessionUpdateAvailableCommandsUpdate)(
            available_commands=[
                command_class(
                    name=command.name,
                    description=command.description,
                    input=ABSENT if command.hint is None else input_class(hint=command.hint),
                )
                for command in self._commands.values()
            ]
        )
        await client.session_update(session_id=session.id, update=update)

    def find(self, prompt: Sequence[v1.ContentBlock]) -> tuple[Command, str] | None:
        """Return the command at the start of a prompt, and the text after its name; None if there is none.

        The other blocks of the prompt follow in that text, as `acp_kit.content.to_text` writes them, because some
        clients send files and links before the text that the user typed. Only known commands count, so a prompt that
        begins with `/etc/hosts` reaches the model.
        """
        for index, block in enumerate(prompt):
            if block.type == "text" and block.text.strip():
                first_word, *rest = block.text.split(maxsplit=1)
                command = self._commands.get(first_word[1:]) if first_word.startswith("/") else None
                others = to_text([*prompt[:index], *prompt[index + 1 :]])
                return None if command is None else (command, "\n".join([*rest, others]).strip())
        return None

    async def run(self, turn: Turn, prompt: Sequence[v1.ContentBlock]) -> bool:
        """Run the command at the start of a prompt.

        Returns:
            Whether it was a command.
        """
        match = self.find(prompt)
        if match is None:
            return False
        command, text = match
        await command.run(turn, text)
        return True
