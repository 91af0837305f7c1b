"""A backend for a page in the browser, with FastAPI: `uvicorn backend:app --timeout-graceful-shutdown 1`."""

import asyncio
import os
import shlex
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

from fastapi import Body, Depends, FastAPI, HTTPException
from fastapi.sse import EventSourceResponse, ServerSentEvent

from acp_bindings import v1
from acp_kit.client import AgentChange, ClientSession, PermissionHandlers, PermissionPolicy, Supervised, UpdateHandlers
from acp_runtime import CapabilityError, ConnectionClosed, RemoteError

COMMAND = shlex.split(os.environ.get("AGENT", "gemini --acp"))
FOLDER = Path(os.environ.get("FOLDER", ".")).resolve()


class Chat:
    """A session, the browsers that watch it, and its open questions."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session
        self.watchers: set[asyncio.Queue[ServerSentEvent]] = set()
        self.questions: dict[str, tuple[v1.RequestPermissionRequest, asyncio.Future[str]]] = {}
        self.turn: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        return self.turn is not None and not self.turn.done()

    def tell(self, kind: str, data: Any) -> None:
        for watcher in self.watchers:
            watcher.put_nowait(ServerSentEvent(event=kind, data=data))

    def history(self) -> dict[str, Any]:
        messages = [{"role": message.role, "text": message.text} for message in self.session.state.messages]
        questions = [{"id": id_, **request.model_dump()} for id_, (request, _) in self.questions.items()]
        return {"messages": messages, "questions": questions, "busy": self.is_busy}

    async def run(self, text: str) -> None:
        """Run one turn, whether or not a browser is connected."""
        try:
            async with self.session.prompt(text) as turn:
                response = await turn.wait()
        except RemoteError as error:
            self.tell("failed", error.message)
        except ConnectionClosed:
            self.tell("failed", "The agent has stopped working. Please send your message again.")
        else:
            self.tell("end", response.stop_reason)

    async def ask(self, request: v1.RequestPermissionRequest) -> str:
        """Wait until a browser posts the answer."""
        question = uuid4().hex
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.questions[question] = request, answer
        self.tell("question", {"id": question, **request.model_dump()})
        try:
            return await answer
        finally:
            self.questions.pop(question, None)


class WebClient(UpdateHandlers, PermissionHandlers, v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.permissions = PermissionPolicy(ask=lambda request: chats[request.session_id].ask(request))

    async def session_update(self, notification: v1.SessionNotification) -> None:
        await super().session_update(notification)
        chat = chats.get(notification.session_id)
        if chat and chat.is_busy:
            chat.tell("update", notification.update.model_dump())


@asynccontextmanager
async def start() -> AsyncGenerator[v1.RemoteAgent]:
    async with v1.spawn_agent(WebClient, *COMMAND) as agent:
        async with asyncio.timeout(60):
            await agent.initialize(protocol_version=1)
        yield agent


def on_change(change: AgentChange) -> None:
    for chat in chats.values():
        chat.tell("agent", change.status)
    for lost in change.lost:
        chats.pop(lost, None)


chats: dict[str, Chat] = {}
agents = Supervised(start, on_change=on_change)
sessions = AsyncExitStack()
opening = asyncio.Lock()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    async with agents, sessions:
        yield


app = FastAPI(lifespan=lifespan)


async def open_chat(load: str | None = None) -> Chat:
    session = await sessions.enter_async_context(agents.open_session(cwd=FOLDER, load=load))
    return chats.setdefault(session.id, Chat(session))


async def find_chat(chat_id: str) -> Chat:
    """Return a chat. Its session is loaded if the backend has restarted."""
    async with opening:
        try:
            return chats.get(chat_id) or await open_chat(load=chat_id)
        except (CapabilityError, RemoteError) as error:
            raise HTTPException(404, "There is no such chat.") from error


Found = Annotated[Chat, Depends(find_chat)]


@app.post("/chats")
async def create() -> str:
    return (await open_chat()).session.id


@app.get("/chats/{chat_id}/events", response_class=EventSourceResponse)
async def events(chat: Found) -> AsyncIterator[ServerSentEvent]:
    watcher: asyncio.Queue[ServerSentEvent] = asyncio.Queue()
    chat.watchers.add(watcher)
    try:
        yield ServerSentEvent(event="history", data=chat.history())
        while True:
            yield await watcher.get()
    finally:
        chat.watchers.discard(watcher)


@app.post("/chats/{chat_id}/messages", status_code=202)
async def send(chat: Found, text: Annotated[str, Body(embed=True)]) -> None:
    if chat.is_busy:
        raise HTTPException(409, "The agent is still working.")
    chat.turn = asyncio.create_task(chat.run(text))


@app.post("/chats/{chat_id}/questions/{question}", status_code=204)
async def answer(chat: Found, question: str, option_id: Annotated[str, Body(embed=True)]) -> None:
    if question not in chat.questions:
        raise HTTPException(404, "This question is no longer open.")
    _, waiting = chat.questions.pop(question)
    if not waiting.done():
        waiting.set_result(option_id)


@app.post("/chats/{chat_id}/cancel", status_code=204)
async def cancel(chat: Found) -> None:
    if chat.is_busy:
        await chat.session.cancel()
