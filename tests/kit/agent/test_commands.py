"""Slash commands are advertised, recognised at the beginning of a prompt, and run with the text after the name."""

from __future__ import annotations

import pytest

from acp_bindings.v1 import ContentBlock, ContentBlockResourceLink, ContentBlockText
from acp_kit.agent import Commands, Turn
from tests.support.kit.turns import conversation


@pytest.fixture
def commands() -> Commands:
    commands = Commands()

    @commands.add("compact", "Shortens the conversation", hint="what to keep")
    async def compact(turn: Turn, text: str) -> None:
        await turn.say(f"compacted: {text}")

    @commands.add("help", "Lists the commands")
    async def list_them(turn: Turn, text: str) -> None:
        await turn.say(", ".join(command.name for command in commands))

    return commands


def find_command(commands: Commands, *blocks: ContentBlock) -> tuple[str, str] | None:
    match = commands.find(blocks)
    return None if match is None else (match[0].name, match[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/help", ("help", "")),
        ("/compact  the last two ", ("compact", "the last two")),
        ("/compact\nline one\nline two", ("compact", "line one\nline two")),
        ("  /help", ("help", "")),
        ("/helpme", None),
        ("/etc/hosts is a file", None),
        ("please /help", None),
        ("/", None),
        ("", None),
        ("  ", None),
    ],
)
def test_a_command_is_recognised_by_its_whole_name_at_the_beginning(
    commands: Commands, text: str, expected: tuple[str, str] | None
) -> None:
    assert find_command(commands, ContentBlockText(text=text)) == expected


def test_a_prompt_without_text_is_no_command(commands: Commands) -> None:
    assert find_command(commands) is None
    assert find_command(commands, ContentBlockResourceLink(name="/help", uri="file:///help")) is None


def test_the_other_blocks_of_a_prompt_are_part_of_the_text(commands: Commands) -> None:
    link = ContentBlockResourceLink(name="a.py", uri="file:///a.py")
    expected = ("compact", "keep\n[a.py](file:///a.py)\nand this")
    blocks = ContentBlockText(text="/compact keep"), link, ContentBlockText(text="and this")
    assert find_command(commands, *blocks) == expected
    blank = ContentBlockText(text="\n")
    text = "keep\n[a.py](file:///a.py)\n\n\n" + expected[1][5:]
    assert find_command(commands, link, blank, *blocks) == (expected[0], text)
    assert find_command(commands, link, ContentBlockText(text="please"), ContentBlockText(text="/help")) is None


async def test_advertised_commands_say_whether_they_take_input(commands: Commands) -> None:
    async def act(turn: Turn) -> None:
        await commands.advertise(turn.session)

    async with conversation() as talk:
        await talk.prompt(act)
        (update,) = talk.updates
        assert [(command.name, command.description) for command in update.available_commands] == [
            ("compact", "Shortens the conversation"),
            ("help", "Lists the commands"),
        ]
        with_input, without = update.available_commands
        assert with_input.input.hint == "what to keep"
        assert "input" not in without.model_dump()
        assert len(talk.recorded) == 1  # the user's message: commands are no part of the history


async def test_a_command_is_run_in_the_turn(commands: Commands) -> None:
    ran: list[bool] = []

    async def act(turn: Turn) -> None:
        ran.append(await commands.run(turn, [ContentBlockText(text="/compact all")]))
        ran.append(await commands.run(turn, [ContentBlockText(text="hello")]))

    async with conversation() as talk:
        await talk.prompt(act)
        assert ran == [True, False]
        assert [update.content.text for update in talk.updates] == ["compacted: all"]


@pytest.mark.parametrize("name", ["", "/help", "two words", " x", "help"])
def test_a_name_that_no_user_could_type_or_that_is_taken_is_refused(commands: Commands, name: str) -> None:
    with pytest.raises(ValueError, match=r"can't be the name|already"):
        commands.add(name, "x")
