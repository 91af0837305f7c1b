"""The backend of the examples, used as a browser does. Run by test_frameworks.py, where FastAPI is."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.docs.frameworks.framework_pages import BACKEND
from tools.paths import ROOT

AGENT = f"{sys.executable} -S -m tests.support.kit.mortal_agent load"


class Browser:
    """Posts to a backend, and reads the events of one chat."""

    def __init__(self, http: httpx2.Client, chat: str, lines: Iterator[str]) -> None:
        self.http = http
        self.chat = chat
        self.lines = lines

    def post(self, path: str, **body: str) -> int:
        return self.http.post(f"/chats/{self.chat}/{path}", json=body).status_code

    def send(self, text: str) -> None:
        assert self.post("messages", text=text) == 202

    def until(self, kind: str) -> Any:
        """Return the data of the next event of a kind."""
        return next(data for found, data in self.events() if found == kind)

    def events(self) -> Iterator[tuple[str, Any]]:
        kind = ""
        for line in self.lines:
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                yield kind, json.loads(value)


@contextmanager
def backend(folder: Path) -> Iterator[httpx2.Client]:
    """Run the backend with uvicorn in a folder."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-m", "uvicorn", "backend:app", "--app-dir", str(BACKEND.parent)]
        environment = {**os.environ, "AGENT": AGENT, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [*command, "--fd", str(listener.fileno()), "--timeout-graceful-shutdown", "1"],
            cwd=folder,
            env=environment,
            pass_fds=[listener.fileno()],
        )
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        with httpx2.Client(base_url=url, timeout=60, trust_env=False) as http:
            yield http
    finally:
        process.terminate()
        process.wait(60)


@contextmanager
def browser(http: httpx2.Client, chat: str) -> Iterator[Browser]:
    with http.stream("GET", f"/chats/{chat}/events") as response:
        yield Browser(http, chat, response.iter_lines())


@pytest.fixture
def http(tmp_path: Path) -> Iterator[httpx2.Client]:
    with backend(tmp_path) as client:
        yield client


@pytest.fixture
def chat(http: httpx2.Client) -> str:
    return str(http.post("/chats").json())


def test_a_turn_is_seen_as_events(http: httpx2.Client, chat: str) -> None:
    with browser(http, chat) as page:
        assert page.until("history") == {"messages": [], "questions": [], "busy": False}
        page.send("Hello")
        assert page.until("update")["content"]["text"].startswith("prompt 1 ")
        assert page.until("end") == "end_turn"


def test_a_browser_that_connects_again_finds_the_open_question(http: httpx2.Client, chat: str) -> None:
    with browser(http, chat) as page:
        page.send("ask")
        asked = page.until("question")
    with browser(http, chat) as page:
        history = page.until("history")
        assert [question["id"] for question in history["questions"]] == [asked["id"]]
        assert history["busy"]
        assert page.post("messages", text="more") == 409
        assert page.post(f"questions/{asked['id']}", option_id=asked["options"][0]["optionId"]) == 204
        assert page.until("end") == "end_turn"
        assert page.post(f"questions/{asked['id']}", option_id=asked["options"][0]["optionId"]) == 404
    with browser(http, chat) as page:
        assert page.until("history")["messages"][-1] == {"role": "agent", "text": "yes"}


def test_a_turn_can_be_cancelled(http: httpx2.Client, chat: str) -> None:
    with browser(http, chat) as page:
        page.send("hang")
        page.until("update")
        assert page.post("cancel") == 204
        assert page.until("end") == "cancelled"


def test_an_agent_that_dies_is_started_again_with_its_sessions(http: httpx2.Client, chat: str) -> None:
    with browser(http, chat) as page:
        page.send("first")
        page.until("end")
        page.send("die")
        assert "has stopped working" in page.until("failed")
        page.send("second")
        assert page.until("end") == "end_turn"
    with browser(http, chat) as page:
        texts = [message["text"].partition(" of process")[0] for message in page.until("history")["messages"]]
        assert texts == ["first", "prompt 1", "die", "second", "prompt 3"]


def test_a_chat_is_found_after_the_backend_was_started_again(tmp_path: Path) -> None:
    with backend(tmp_path) as http:
        chat = str(http.post("/chats").json())
        with browser(http, chat) as page:
            page.send("Hello")
            page.until("end")
    with backend(tmp_path) as http, browser(http, chat) as page:
        assert [message["text"] for message in page.until("history")["messages"]] == ["Hello"]


def test_an_unknown_chat_is_not_found(http: httpx2.Client) -> None:
    assert http.get("/chats/unknown/events").status_code == 404
