"""An agent for the tests of `check-agent`: a good one, or with one of `DEFECTS` a broken one.

    python checked_agent.py DEFECT

It is written without the bindings, since a connection of the bindings has none of the defects.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
from typing import Any

# The defects, each with the scenario that finds it, and part of what that says.
DEFECTS = {
    "writes what it thinks": ("messages", "a line is not valid: 12 bytes that are not JSON"),
    "opens sessions before initialize": ("initialize-first", "session/new before initialize was answered with"),
    "takes any version": ("other-version", '"protocolVersion": 65535'),
    "reads files": ("unadvertised", "the agent uses fs/read_text_file"),
    "stays": ("exit", "seconds for the agent to exit"),
    "refuses unknown keys": ("unknown-keys", "was answered with"),
    "takes what is in _meta for text": ("meta", "closed the connection"),
    "decodes what it reads at a time": ("split-characters", "closed the connection"),
    "reads 64 KiB at most": ("long-line", "closed the connection"),
    "crashes at lines that are not JSON": ("noise", "closed the connection"),
    "answers notifications": ("unknown-notification", "a notification was answered"),
    "ignores unknown requests": ("unknown-request", "seconds for the answer to _acp_bindings/unknown"),
    "answers unknown requests with null": ("method-not-found", "_acp_bindings/unknown was answered with null"),
    "answers anything": ("invalid-params", "session/prompt was answered with"),
    "takes ids for numbers": ("string-ids", 'with the id "31"'),
    "has one session": ("parallel-requests", "the sessions have the ids"),
    "knows any session": ("unknown-session", "session/prompt was answered with"),
    "refuses links": ("resource-link", "session/prompt was answered with"),
    "refuses images": ("prompt-content", "session/prompt was answered with"),
    "answers cancelled turns with an error": ("cancel", "the cancelled prompt was answered with"),
    "is in an unknown mode": ("modes", "the mode 'none' is none of"),
    "answers with the changed option only as it was": ("config-options", "was set to 'large', but"),
    "lists other folders": ("list-sessions", "a directory without sessions has"),
    "loads unknown sessions": ("load", "session/load was answered with"),
    "replays when it resumes": ("resume", "the agent has sent history"),
    "forgets the prompt of a closed session": ("close", "seconds for the answer to session/prompt"),
    "lists deleted sessions": ("delete", "the deleted session is listed"),
}
CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
}
INVALID, NOT_FOUND, UNKNOWN, REFUSED = -32602, -32002, -32601, -32600


class RequestError(Exception):
    """Answers a request with an error."""


class Agent:
    def __init__(self, defect: str) -> None:
        assert not defect or defect in DEFECTS
        self.defect = defect
        self.is_initialized = False
        self.sessions: dict[str, str] = {}  # the folders of the sessions
        self.pending: dict[str, Any] = {}  # the ids of prompts in flight, by session
        self.values = {"model": "small", "web": "on"}

    def send(self, **message: Any) -> None:
        os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def say(self, session: str, text: str, kind: str = "agent_message_chunk") -> None:
        update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
        self.send(method="session/update", params={"sessionId": session, "update": update})

    def serve(self) -> None:
        decoder, unread = codecs.getincrementaldecoder("utf-8")(), ""
        while data := os.read(0, 65536):
            at_once = self.defect == "decodes what it reads at a time"
            unread += data.decode() if at_once else decoder.decode(data)
            assert self.defect != "reads 64 KiB at most" or len(unread) <= 65536
            *lines, unread = unread.split("\n")
            for line in lines:
                try:
                    self.receive(json.loads(line))
                except ValueError:
                    if self.defect == "crashes at lines that are not JSON":
                        raise
        while self.defect == "stays":
            os.read(sys.stderr.fileno(), 1)

    def receive(self, message: dict[str, Any]) -> None:
        method, params, id = message.get("method"), message.get("params", {}), message.get("id")
        if self.defect == "takes what is in _meta for text":
            assert all(isinstance(value, str) for value in params.get("_meta", {}).values())
        if "id" not in message:
            if method == "session/cancel":
                self.end(params["sessionId"], is_error=self.defect == "answers cancelled turns with an error")
            elif self.defect == "answers notifications":
                self.send(id=None, error={"code": UNKNOWN, "message": "Method not found"})
            return
        if method is None:
            return
        if self.defect == "takes ids for numbers" and str(id).isdecimal():
            id = int(id)
        try:
            if self.defect == "refuses unknown keys" and "weather" in params:
                raise RequestError(INVALID, "weather")
            result = self.answer(id, method, params)
        except RequestError as error:
            code, text = error.args
            self.send(id=id, error={"code": code, "message": text})
        else:
            if result is not None:
                self.send(id=id, result=result)

    def answer(self, id: Any, method: str, params: dict[str, Any]) -> Any:
        """Return the result; None if there is none yet."""
        if method == "initialize":
            self.is_initialized = True
            version = params["protocolVersion"] if self.defect == "takes any version" else 1
            return {"protocolVersion": version, "agentCapabilities": CAPABILITIES}
        if not self.is_initialized and self.defect != "opens sessions before initialize":
            raise RequestError(REFUSED, "There was no initialize")
        handler = getattr(self, method.replace("/", "_"), None)
        if handler is not None:
            return handler(id, params)
        if self.defect == "answers unknown requests with null":
            self.send(id=id, result=None)
        elif self.defect != "ignores unknown requests":
            raise RequestError(UNKNOWN, "Method not found")
        return None

    def known(self, params: dict[str, Any]) -> str:
        session = params.get("sessionId")
        if not isinstance(session, str):
            if self.defect == "answers anything":
                return ""
            raise RequestError(INVALID, "sessionId is not a string")
        if session not in self.sessions and self.defect != "knows any session":
            raise RequestError(NOT_FOUND, "There is no such session")
        return session

    def options(self) -> list[Any]:
        values = {"model": ["small", "large"], "web": ["on", "off"]}
        return [
            {
                "id": id,
                "type": "select",
                "name": id,
                "currentValue": self.values[id],
                "options": [{"value": value, "name": value} for value in values[id]],
            }
            for id in self.values
        ]

    def session_new(self, id: Any, params: dict[str, Any]) -> Any:
        session = "s0" if self.defect == "has one session" else f"s{len(self.sessions)}"
        self.sessions[session] = params["cwd"]
        current = "none" if self.defect == "is in an unknown mode" else "ask"
        modes = [{"id": mode, "name": mode} for mode in ("ask", "code")]
        state = {"currentModeId": current, "availableModes": modes}
        return {"sessionId": session, "modes": state, "configOptions": self.options()}

    def session_prompt(self, id: Any, params: dict[str, Any]) -> Any:
        session = self.known(params)
        kinds = [] if not session else [block["type"] for block in params["prompt"]]
        if self.defect == "refuses links" and "resource_link" in kinds:
            raise RequestError(INVALID, "There is a link")
        if self.defect == "refuses images" and "image" in kinds:
            raise RequestError(INVALID, "There is an image")
        if self.defect == "reads files":
            self.send(id="read", method="fs/read_text_file", params={"sessionId": session, "path": "/a.txt"})
        if self.defect == "writes what it thinks":
            os.write(1, b"Let me think\n")
        self.say(session, "Hello")
        if kinds and "slowly" in params["prompt"][0]["text"]:
            self.pending[session] = id
            return None
        return {"stopReason": "end_turn"}

    def end(self, session: str, *, is_error: bool = False) -> None:
        if session not in self.pending:
            return
        id = self.pending.pop(session)
        if is_error:
            self.send(id=id, error={"code": -32603, "message": "cancelled"})
        else:
            self.send(id=id, result={"stopReason": "cancelled"})

    def session_set_mode(self, id: Any, params: dict[str, Any]) -> Any:
        return {}

    def session_set_config_option(self, id: Any, params: dict[str, Any]) -> Any:
        if self.defect != "answers with the changed option only as it was":
            self.values[params["configId"]] = params["value"]
        return {"configOptions": self.options()}

    def session_list(self, id: Any, params: dict[str, Any]) -> Any:
        wanted = None if self.defect == "lists other folders" else params.get("cwd")
        infos = [{"sessionId": session, "cwd": cwd} for session, cwd in self.sessions.items()]
        return {"sessions": [info for info in infos if wanted in (None, info["cwd"])]}

    def session_load(self, id: Any, params: dict[str, Any]) -> Any:
        session = params["sessionId"]
        if session not in self.sessions and self.defect != "loads unknown sessions":
            raise RequestError(NOT_FOUND, "There is no such session")
        self.say(session, "hi", "user_message_chunk")
        return {}

    def session_resume(self, id: Any, params: dict[str, Any]) -> Any:
        if self.defect == "replays when it resumes":
            self.say(params["sessionId"], "hi", "user_message_chunk")
        return {}

    def session_close(self, id: Any, params: dict[str, Any]) -> Any:
        if self.defect != "forgets the prompt of a closed session":
            self.end(params["sessionId"])
        return {}

    def session_delete(self, id: Any, params: dict[str, Any]) -> Any:
        if self.defect != "lists deleted sessions":
            del self.sessions[params["sessionId"]]
        return {}


if __name__ == "__main__":
    Agent(sys.argv[1]).serve()
