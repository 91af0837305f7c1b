"""What would break is followed or marked: at least three ways of writing each kind."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from acp_migrate.files import File
from acp_migrate.migration import migrate
from acp_migrate.names import load

# The group shares the import of libcst.
pytestmark = pytest.mark.xdist_group("libcst")


def rewritten(**files: str) -> dict[str, str]:
    given = [File(Path(f"{name}.py"), text.encode()) for name, text in files.items()]
    results = {each.file.path.stem: each for each in migrate(given, load())}
    assert not [each.problem for each in results.values() if each.problem]
    return {**files, **{name: each.content.decode() for name, each in results.items()}}


def marks(text: str) -> list[str]:
    """Return the statements below marks."""
    lines = [each.strip() for each in text.splitlines()]
    return [
        below for line, below in pairwise(lines) if line.startswith("# acp-migrate: ") and not below.startswith("# acp")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import acp\n    HAVE = True\nexcept ImportError:\n    HAVE = False\n",
        "def main():\n    try:\n        import acp  # noqa: F401\n    except ImportError:\n        return 1\n",
        "def need():\n    import acp\n\n\ntry:\n    need()\nexcept ImportError:\n    raise SystemExit(1)\n",
        "try:\n    import acp.schema\nexcept ModuleNotFoundError:\n    pass\n",
        "import contextlib\n\nwith contextlib.suppress(ImportError):\n    import acp\n",
    ],
)
def test_an_import_that_asks_for_the_package_still_asks(text: str) -> None:
    new = rewritten(program=text)["program"]
    assert "acp_bindings" in new
    assert "pass\n    HAVE" not in new
    assert marks(new) == []


@pytest.mark.parametrize(
    "text",
    [
        "def note(text):\n    try:\n        from acp import text_block, update_agent_message\n    except ImportError:\n"
        "        return None\n    return update_agent_message(text_block(text))\n",
        "def one():\n    from acp import Agent\n\n    class Mine(Agent):\n"
        "        async def cancel(self, session_id, **kwargs):\n"
        "            print(session_id)\n\n    return Mine\n\n\ndef two():\n"
        "    from acp.schema import Plan\n    return Plan\n",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import acp\n\n\n"
        "def show(block: 'acp.schema.TextContentBlock'):\n"
        "    return block.text\n",
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
        "    from acp import Client\n\n\n"
        "async def say(conn: Client):\n    await conn.session_update('1', None)\n",
        "class Lazy:\n    def get(self):\n        import acp\n        return acp.text_block('a'), acp.schema.Plan\n",
    ],
)
def test_a_module_that_loads_without_the_package_still_does(text: str) -> None:
    new = rewritten(program=text)["program"]
    exec(compile(new.replace("acp_bindings", "missing").replace("acp_runtime", "missing"), "program", "exec"), {})
    assert "import acp\n" not in new


FOLLOWED = """\
from __future__ import annotations
from contextlib import AsyncExitStack, asynccontextmanager
from typing import AsyncIterator
from acp.core import ClientSideConnection
from acp import spawn_agent_process


class Pool:
    conns: dict[str, ClientSideConnection]

    def __init__(self) -> None:
        self.all: list[ClientSideConnection] = []

    def find(self, name: str) -> ClientSideConnection | None: ...


def pair() -> tuple[ClientSideConnection, int]: ...


@asynccontextmanager
async def opened() -> AsyncIterator[ClientSideConnection]: ...


async def main(pool: Pool, stack: AsyncExitStack, one: tuple[int, ClientSideConnection]):
"""


@pytest.mark.parametrize(
    "line",
    [
        "await pool.conns['a'].cancel('1')",
        "conn = pool.conns.get('a')\n    await conn.cancel('1')",
        "conn = pool.conns.pop('a', None)\n    await conn.cancel('1')",
        "for conn in pool.conns.values():\n        await conn.cancel('1')",
        "for name, conn in pool.conns.items():\n        await conn.cancel('1')",
        "for conn in pool.all:\n        await conn.cancel('1')",
        "conn = pool.find('a')\n    await conn.cancel('1')",
        "if conn := pool.find('a'):\n        await conn.cancel('1')",
        "conn, number = pair()\n    await conn.cancel('1')",
        "number, conn = one\n    await conn.cancel('1')",
        "async with opened() as conn:\n        await conn.cancel('1')",
        "conn = await stack.enter_async_context(opened())\n    await conn.cancel('1')",
        "conn, _ = await stack.enter_async_context(spawn_agent_process(lambda _: None, 'a'))\n"
        "    await conn.cancel('1')",
    ],
)
def test_written_types_are_followed(line: str) -> None:
    assert ".session_cancel(session_id='1')" in rewritten(program=f"{FOLLOWED}    {line}\n")["program"]


@pytest.mark.parametrize(
    "call",
    [
        "self.conn.prompt([], session_id)",
        "self.conn.cancel(session_id)",
        "self.conn.initialize(1)",
        "self.conn.session_update(session_id, update)",
        "self.conn.new_session('/')",
        "self.state.conn.authenticate('key')",
        "(await self.get()).prompt(prompt=[], session_id=session_id)",
    ],
)
def test_a_call_on_an_object_of_unknown_class_is_marked(call: str) -> None:
    text = (
        "from typing import Any\nimport acp\n\n\nclass Host:\n    conn: Any\n\n"
        f"    async def run(self, session_id, update):\n        await {call}\n"
        "        print(acp.PROTOCOL_VERSION)\n"
    )
    assert marks(rewritten(program=text)["program"]) == [f"await {call}"]


@pytest.mark.parametrize(
    "call", ["task.cancel()", "self.task.cancel('late')", "screen.prompt('Name?')", "log.initialize()"]
)
def test_a_call_with_a_name_of_other_libraries_is_not_marked(call: str) -> None:
    text = f"import acp\n\n\ndef run(self, task, screen, log):\n    {call}\n    print(acp.PROTOCOL_VERSION)\n"
    assert marks(rewritten(program=text)["program"]) == []


@pytest.mark.parametrize(
    "method",
    [
        "initialize(self, **kwargs):\n        return kwargs['protocol_version']",
        "initialize(self, *, protocol_version, client_capabilities=None):\n        return protocol_version",
        "initialize(self, protocol_version, **kwargs):\n        return protocol_version",
    ],
)
def test_a_fake_connection_is_marked_and_keeps_its_keywords(method: str) -> None:
    text = (
        f"from acp.schema import Plan\n\n\nclass Conn:\n    async def {method}\n\n"
        "    async def new_session(self, *, cwd, mcp_servers): ...\n\n"
        "    async def prompt(self, *, session_id, prompt): ...\n\n\nprint(Plan)\n"
    )
    new = rewritten(program=text)["program"]
    assert marks(new) == ["class Conn:"]
    assert "async def session_prompt(self, *, session_id, prompt, meta:" in new


@pytest.mark.parametrize(
    ("first", "other", "new"),
    [
        (
            "from acp import text_block\n\n__all__ = ['text_block']\n",
            "from support import *\n",
            "ContentBlockText(text='x')",
        ),
        (
            "from acp import text_block\nprint(text_block('a'))\n",
            "from support import text_block\n",
            "ContentBlockText(text='x')",
        ),
        (
            "from acp import text_block as t\nprint(t('a'))\n",
            "from support import t as text_block\n",
            "ContentBlockText(text='x')",
        ),
        (
            "from acp.helpers import text_block\n",
            "import support\n\ntext_block = support.text_block\n",
            "support.text_block",
        ),
    ],
)
def test_a_helper_that_another_file_passes_on_keeps_its_meaning(first: str, other: str, new: str) -> None:
    files = rewritten(support=first, program=f"{other}print(text_block('x'))\n")
    assert new in files["program"]
    assert "import text_block" in files["support"], "it stays, with a mark"
    assert marks(files["support"])


@pytest.mark.parametrize("name", ["PermissionOption", "Plan", "TextContentBlock"])
def test_a_name_that_another_file_imports_is_kept(name: str) -> None:
    files = rewritten(
        support=f"from acp.schema import {name}\n\n\ndef use(x: {name}): ...\n",
        program=f"from support import {name}\n\nprint({name})\n",
    )
    scope: dict[str, object] = {}
    exec(files["support"], scope)
    assert name in scope


@pytest.mark.parametrize(
    "call",
    [
        "await client.request_permission(session_id='1', tool_call=None, options=[])",
        "await client.request_permission(options=[], session_id='1')",
        "RequestPermissionResponse(outcome=None)",
        "ToolCallStart(tool_call_id='1')",
        "start_tool_call(None, 'Read')",
        "PermissionOption(option_id='a', name=None, kind='allow_once')",
    ],
)
def test_a_required_field_without_a_value_is_marked(call: str) -> None:
    text = (
        "from acp import Client, start_tool_call\n"
        "from acp.schema import PermissionOption, RequestPermissionResponse, ToolCallStart\n\n\n"
        "class Mine(Client):\n    async def request_permission(self, session_id, tool_call, options, **kwargs): ...\n\n"
        "    async def session_update(self, session_id, update, **kwargs): ...\n\n\nasync def test():\n"
        f"    client = Mine()\n    {call}\n"
    )
    assert len([each for each in marks(rewritten(program=text)["program"]) if "import" not in each]) == 1


@pytest.mark.parametrize(
    "code",
    [
        "@pytest.mark.parametrize('name', ['new_session', 'prompt'])\ndef test(name): ...",
        "for name in ('load_session', 'cancel'):\n    print(name)",
        "fake = AsyncMock(spec=['prompt'])",
        "fake = AsyncMock(new_session=1)",
        "fake = SimpleNamespace(prompt=1)",
        "call = operator.methodcaller('cancel', 'a')",
        "fake.prompt = AsyncMock(return_value=None)",
        "fake.prompt.assert_awaited_once()",
        "fake.cancel.return_value = None",
        "client = Mine()\nmethod = getattr(client, name)",
    ],
)
def test_a_name_of_a_method_that_is_not_called_is_marked(code: str) -> None:
    text = f"import operator\nimport pytest\nfrom acp import Client\n\n\nclass Mine(Client): ...\n\n\n{code}\n"
    new = rewritten(program=text)["program"]
    assert [each for each in marks(new) if "class Mine" not in each]


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        ("del session_id, kwargs\n        print(update)", "print(notification.update)"),
        ("del session_id, update, kwargs", "pass"),
        ('"""Nothing."""\n        del kwargs\n        print(session_id)', "print(notification.session_id)"),
    ],
)
def test_no_parameter_is_read_only_to_be_deleted(body: str, rest: str) -> None:
    text = (
        "from acp import Client\n\n\nclass Mine(Client):\n"
        f"    async def session_update(self, session_id, update, **kwargs):\n        {body}\n"
    )
    new = rewritten(program=text)["program"]
    assert "del " not in new
    assert new.rstrip().endswith(rest)


@pytest.mark.parametrize("annotation", ["ToolCall", "ToolCall | None", "'list[ToolCall]'"])
def test_a_tool_call_in_an_annotation_is_what_is_received(annotation: str) -> None:
    text = f"from acp.schema import ToolCall\n\n\ndef show(call: {annotation}): ...\n"
    assert annotation.replace("ToolCall", "ToolCallUpdate") in rewritten(program=text)["program"]


@pytest.mark.parametrize(
    "value",
    ["found() if ready else None", "result.content if result is not None else None", "found()", "result.content"],
)
def test_what_annotations_allow_to_be_none_is_left_out_or_marked(value: str) -> None:
    text = (
        "from acp.schema import ToolCallStart\n\n\nclass Result:\n    content: list | None = None\n\n\n"
        f"def found() -> list | None: ...\n\n\ndef make(result: Result | None, ready: bool):\n"
        f"    return ToolCallStart(tool_call_id='1', title='a', content={value})\n"
    )
    new = rewritten(program=text)["program"]
    assert "ABSENT if result.content is None" in new or "may return None" in new


@pytest.mark.parametrize(
    "line", ["update.status = 'failed'", "update.title += '!'", "update = make()\n    update.title = 'b'"]
)
def test_a_model_that_a_function_returns_can_not_be_changed(line: str) -> None:
    files = rewritten(
        maker="from acp.schema import ToolCallStart\n\n\ndef make() -> ToolCallStart | None: ...\n",
        program=f"from maker import make\n\n\ndef change():\n    update = make()\n    {line}\n",
    )
    assert marks(files["program"])


@pytest.mark.parametrize(
    "given",
    ["Backend(client=Fake())", "fake = Fake()\nBackend(fake)", "Backend(client=cast(Client, Fake()))", "use(Fake())"],
)
def test_what_is_given_in_place_of_a_connection_takes_keywords(given: str) -> None:
    text = (
        "from dataclasses import dataclass\nfrom typing import cast\nfrom acp import Client\n\n\n"
        "@dataclass\nclass Backend:\n    client: Client\n\n\ndef use(client: Client): ...\n\n\n"
        "class Fake(Client):\n    async def read_text_file(self, path, session_id, **kwargs):\n"
        f"        return path\n\n\n{given}\n"
    )
    assert "def fs_read_text_file(self, *, path, session_id, meta:" in rewritten(program=text)["program"]


@pytest.mark.parametrize(
    "given",
    ["cast(Agent, Mine())", "await run_agent(cast(Agent, Mine()))", "mine = Mine()\n    host.run(cast(Agent, mine))"],
)
@pytest.mark.parametrize("first", ["(Agent)", ""])
def test_an_agent_that_is_cast_is_still_one(given: str, first: str) -> None:
    text = (
        f"from typing import cast\nfrom acp import Agent, run_agent\n\n\nclass Mine{first}:\n"
        "    def on_connect(self, conn):\n        self.conn = conn\n\n"
        "    async def initialize(self, protocol_version, **kwargs): ...\n\n"
        "    async def new_session(self, cwd, mcp_servers, **kwargs): ...\n\n"
        "    async def prompt(self, prompt, session_id, **kwargs): ...\n\n\n"
        f"async def main(host):\n    {given}\n"
    )
    assert "def session_new(self, request: NewSessionRequest" in rewritten(program=text)["program"]
