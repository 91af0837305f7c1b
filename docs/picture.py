"""Draws docs/_static/turn.svg: the messages of one turn, recorded from a real run, and the code that sends them.

    python docs/picture.py

docs/_static/turn-phone.svg is the same for narrow screens. A test checks that both are what this draws.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from acp_bindings import v1
from acp_kit.agent import Sessions
from acp_kit.client import (
    FileHandlers,
    PermissionHandlers,
    PermissionPolicy,
    UpdateHandlers,
    Workspace,
    allow,
    client_capabilities,
)
from acp_kit.content import diff
from acp_runtime import Options

STATIC = Path(__file__).parent / "_static"
STYLE = """
.card { fill: #fff; stroke: #d8dee4 } .line { stroke: #8c959f; stroke-dasharray: 3 4 }
.call, .answer { fill: none; stroke: #0969da; stroke-width: 1.5 } .answer { stroke: #8c959f }
text { fill: #1f2328; font: 12px ui-sans-serif, system-ui, sans-serif } .head { font-size: 14px; font-weight: 600 }
.code { font: SIZE ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  paint-order: stroke; stroke: #fff; stroke-width: 4px }
@media (prefers-color-scheme: dark) {
  .card { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 } .call { stroke: #4493f8 } .code { stroke: #0d1117 }
}
"""


class PoetAgent(v1.Agent):
    """Adds a line to a poem, with the user's permission."""

    def __init__(self, client: v1.RemoteClient) -> None:
        self.client = client
        self.sessions = Sessions()

    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        """Answer with the version of the protocol."""
        return v1.InitializeResponse(protocol_version=1)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        """Create a session."""
        return v1.NewSessionResponse(session_id=self.sessions.create(self.client, cwd=request.cwd).id)

    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        """Edit the poem."""
        session = self.sessions[request.session_id]
        async with session.turn(request.prompt) as turn:
            path = f"{session.cwd}/poem.txt"
            await turn.say("I'll add a line.")
            async with turn.tool_call("Edit poem.txt") as call:
                await call.ask()
                poem = await turn.read_text_file(path)
                await turn.write_text_file(path, poem + VIOLETS)
                call.output(diff(path, poem, poem + VIOLETS))
        return turn.response


class EditorClient(UpdateHandlers, FileHandlers, PermissionHandlers, v1.Client):
    """Serves the files of a folder, and permits everything."""

    def __init__(self, agent: v1.RemoteAgent, folder: Path) -> None:
        self.agent = agent
        self.workspace = Workspace(folder)
        self.permissions = PermissionPolicy(allow())


VIOLETS = "violets are blue\n"
# The code for the agent's messages, in their order, and their indentation in `session_prompt`.
CODE = {
    "session/prompt": (0, "async with session.turn(request.prompt) as turn:"),
    "agent_message_chunk": (1, 'await turn.say("I\'ll add a line.")'),
    "tool_call": (1, 'async with turn.tool_call("Edit poem.txt") as call:'),
    "session/request_permission": (2, "await call.ask()"),
    "fs/read_text_file": (2, "poem = await turn.read_text_file(path)"),
    "fs/write_text_file": (2, "await turn.write_text_file(path, poem + VIOLETS)"),
    "tool_call_update: completed": (2, "call.output(diff(path, poem, poem + VIOLETS))"),
    "result: end_turn": (0, "return turn.response"),
}


@dataclass(frozen=True)
class Layout:
    """Where things are, in pixels: code is on the right of its arrow, or below."""

    width: int
    left: int
    right: int
    code_x: int
    code_y: int
    """How far the code is below its arrow."""
    indent: int
    font: str


PICTURES = {
    STATIC / "turn.svg": Layout(880, left=60, right=330, code_x=354, code_y=4, indent=22, font="12.5px"),
    STATIC / "turn-phone.svg": Layout(330, left=40, right=275, code_x=8, code_y=18, indent=10, font="10px"),
}
TOP, ROW = 66, 30


@dataclass(frozen=True)
class Arrow:
    """A message: its sender, and what the picture calls it."""

    from_agent: bool
    label: str


async def record(folder: Path) -> list[Arrow]:
    """Run one turn, and return its messages."""
    sent: list[dict[str, Any]] = []
    (folder / "poem.txt").write_text("roses are red\n", "utf-8")

    def on_frame(direction: str, line: bytes, _time: float) -> None:
        if direction == "out":
            sent.append(json.loads(line))

    def client(agent: v1.RemoteAgent) -> EditorClient:
        return EditorClient(agent, folder)

    async with v1.connect_in_process(PoetAgent, client, options=Options(on_frame=on_frame)) as agent:
        await agent.initialize(protocol_version=1, client_capabilities=client_capabilities(agent.handler))
        session = await agent.session_new(cwd=str(folder), mcp_servers=[])
        sent.clear()
        prompt = v1.ContentBlockText(text="Finish poem.txt")
        await agent.session_prompt(session_id=session.session_id, prompt=[prompt])
    return [arrow(message) for message in sent]


def arrow(message: dict[str, Any]) -> Arrow:
    """Name a message of the turn. The client sends only `session/prompt` and the results of the agent's requests."""
    if "method" in message:
        update = message["params"].get("update", {})
        label = update.get("sessionUpdate", message["method"])
        status = f": {update['status']}" if label == "tool_call_update" else ""
        return Arrow(message["method"] != "session/prompt", label + status)
    result = message["result"]
    if "stopReason" in result:
        return Arrow(True, f"result: {result['stopReason']}")
    outcome = result.get("outcome", {}).get("optionId")
    return Arrow(False, f"result: {outcome}" if outcome else "result")


def draw(arrows: list[Arrow], layout: Layout) -> str:
    """Return the picture: a sequence diagram, with the code of the agent."""
    missing = set(CODE) - {each.label for each in arrows}
    if missing:
        raise ValueError(f"The turn has no messages for {sorted(missing)}")
    rows: list[str] = []
    y = TOP
    for each in arrows:
        rows += row(each, y, layout)
        y += ROW + (layout.code_y if layout.code_y > ROW // 2 and each.label in CODE else 0)
    width, height = layout.width, y + 18
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            "<title>The messages of one turn between an editor and an agent, and the agent's code for each</title>",
            f"<style>{STYLE.replace('SIZE', layout.font)}</style>",
            f'<rect class="card" width="{width}" height="{height}" rx="8"/>',
            f'<text class="head" x="{layout.left}" y="28" text-anchor="middle">editor</text>',
            f'<text class="head" x="{layout.right}" y="28" text-anchor="middle">your agent</text>',
            *(f'<path class="line" d="M{x} 40V{height - 14}"/>' for x in (layout.left, layout.right)),
            *rows,
            "</svg>\n",
        ]
    )


def row(each: Arrow, y: int, layout: Layout) -> Iterator[str]:
    """Yield the arrow of a message, its name, and its code."""
    left, right = layout.left, layout.right
    start, end, back = (right, left, 7) if each.from_agent else (left, right, -7)
    kind = "answer" if each.label.startswith("result") else "call"
    yield f'<path class="{kind}" d="M{start} {y}H{end}m{back} -4l{-back} 4l{back} 4"/>'
    yield f'<text class="name" x="{(left + right) // 2}" y="{y - 5}" text-anchor="middle">{escape(each.label)}</text>'
    if each.label in CODE:
        indent, code = CODE[each.label]
        x = layout.code_x + layout.indent * indent
        yield f'<text class="code" x="{x}" y="{y + layout.code_y}">{escape(code)}</text>'


async def main() -> None:
    """Write the pictures."""
    with TemporaryDirectory() as folder:
        arrows = await record(Path(folder))
    for picture, layout in PICTURES.items():
        picture.write_text(draw(arrows, layout), "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
