"""A client for the tests of `check-client`: a good one, or with one of `DEFECTS` a broken one.

    python checked_client.py DEFECT AGENT PROMPT [MODE]

With the mode `stays` it stays open after the turn, as an editor does, with `load` it loads the session `session-1`, and
with `version 2` it speaks that version.

It is written without the bindings, since a connection of the bindings has none of the defects.
"""

from __future__ import annotations

import codecs
import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

# The defects, each with the scenario that finds it, and part of what that says.
DEFECTS = {
    "its working directory is relative": ("messages", "not an absolute path: '.'"),
    "sends session/new at once": ("initialize-first", "has sent ['initialize', 'session/new']"),
    "can't be interrupted": ("initialize-silence", "seconds for the client to close the connection"),
    "takes any version": ("other-version", "but has sent ['session/new']"),
    "loads a session": ("unadvertised", "session/load"),
    "prompts before the session is loaded": ("load", "before the answer to session/load"),
    "sets an option to what isn't offered": ("config-options", "sets an option to 'huge'"),
    "reads whole files": ("files", "with {'line': 2}, 'ça va"),
    "forgets terminals that are killed": ("terminals", "the output of an ended command is"),
    "crashes at an early update": ("updates-before-session", "closed the connection before session/prompt"),
    "crashes at a late update": ("late-update", "exit code 1"),
    "crashes at unknown keys": ("unknown-keys", "before the answer to session/request_permission"),
    "takes what is in _meta for text": ("meta", "before the answer to session/request_permission"),
    "decodes what it reads at a time": ("split-characters", "before the answer to session/request_permission"),
    "crashes at lines that are not JSON": ("noise", "closed the connection before session/prompt"),
    "waits for the result of a prompt": ("prompt-error", "seconds for the client to exit"),
    "waits for a dead agent": ("agent-dies", "seconds for the client to exit"),
    "crashes at unknown updates": ("unknown-update", "exit code 1"),
    "answers notifications and crashes": ("unknown-notification", "closed the connection before the answer"),
    "reads 64 KiB at most": ("long-line", "before the answer to session/request_permission"),
    "ignores unknown requests": ("unknown-request", "seconds for the answer to _acp_bindings/unknown"),
    "answers unknown requests with null": ("method-not-found", "_acp_bindings/unknown was answered with null"),
    "takes ids for numbers": ("string-ids", 'with the id "31"'),
    "answers the last request only": ("parallel-requests", "with the id 1"),
    "ignores requests of other sessions": ("unknown-session", "seconds for the answer to session/request_permission"),
    "selects the option `allow`": ("permission-option", "but the answer is"),
    "selects the first option": ("permission-kind", "has chosen my-allow_once, but my-reject_always"),
    "leaves questions open": ("cancel", "seconds for the answer to session/request_permission"),
}
INITIALIZE, NEW, PROMPT = 1, 2, 3


class AgentError(Exception):
    """The agent doesn't do what the client waits for."""


class Client:
    def __init__(self, defect: str, agent: str, mode: str) -> None:
        assert not defect or defect in DEFECTS
        self.defect = defect
        self.mode = mode
        self.version = 2 if mode == "version 2" else 1
        self.is_accepted = False
        self.is_idle = False
        self.terminals: dict[str, Any] = {}
        self.agent = subprocess.Popen([agent], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.unread = ""
        self.session = ""
        self.questions: list[Any] = []

    def send(self, **message: Any) -> None:
        assert self.agent.stdin is not None
        self.agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def read_line(self) -> str:
        assert self.agent.stdout is not None
        while "\n" not in self.unread:
            data = os.read(self.agent.stdout.fileno(), 65536)
            if not data and self.defect == "waits for a dead agent":
                select.select([], [], [])
            if not data:
                raise AgentError("it has ended")
            at_once = self.defect == "decodes what it reads at a time"
            self.unread += data.decode() if at_once else self.decoder.decode(data)
            if self.defect == "reads 64 KiB at most" and len(self.unread) > 65536:
                raise AgentError("it sends a long line")
        line, _, self.unread = self.unread.partition("\n")
        return line

    def wait(self, id: int) -> Any:
        """Handle messages until the answer to a request has come, and return its result."""
        while True:
            message = self.read_message()
            if "method" in message:
                self.handle(message)
            elif message.get("id") == id and ("result" in message or self.defect != "waits for the result of a prompt"):
                if "error" in message:
                    raise AgentError(message["error"]["message"])
                return message["result"]

    def read_message(self) -> Any:
        while True:
            line = self.read_line()
            try:
                return json.loads(line)
            except ValueError:
                if self.defect == "crashes at lines that are not JSON":
                    raise

    def wait_for_turn(self) -> None:
        if not self.is_accepted:
            self.wait(PROMPT)
            self.is_accepted = True
        while self.version == 2 and not self.is_idle:
            message = self.read_message()
            if "method" in message:
                self.handle(message)

    def handle(self, message: dict[str, Any]) -> None:
        params = message["params"]
        if self.defect == "crashes at unknown keys" and "weather" in params:
            raise AgentError("there is a key that it doesn't know")
        if self.defect == "takes what is in _meta for text":
            assert all(isinstance(value, str) for value in params.get("_meta", {}).values())
        if "id" in message:
            self.answer(message["id"], message["method"], params)
        elif message["method"] == "session/update":
            kind = params["update"]["sessionUpdate"]
            self.is_idle = params["update"].get("state") == "idle"
            if self.defect == "crashes at unknown updates":
                assert kind != "weather_update"
            if self.defect == "crashes at an early update":
                assert params["sessionId"] == self.session
        elif self.defect == "answers notifications and crashes":
            self.answer(message["id"], message["method"], params)

    def answer(self, id: Any, method: str, params: dict[str, Any]) -> None:
        if method == "session/request_permission":
            self.permit(id, params)
        elif method.startswith("fs/"):
            self.serve_file(id, Path(params["path"]), params)
        elif method.startswith("terminal/"):
            self.serve_terminal(id, method, params)
        elif self.defect == "answers unknown requests with null":
            self.send(id=id, result=None)
        elif self.defect != "ignores unknown requests":
            self.send(id=id, error={"code": -32601, "message": "Method not found"})

    def permit(self, id: Any, params: dict[str, Any]) -> None:
        if self.defect == "ignores requests of other sessions" and params["sessionId"] != self.session:
            return
        if self.defect == "answers the last request only" and '"session/request_permission"' in self.unread:
            return
        if self.defect == "takes ids for numbers" and str(id).isdecimal():
            id = int(id)
        if not select.select([sys.stdin], [], [], 0)[0]:  # there is a user, who thinks about it
            self.questions.append(id)
            return
        allowed = [option for option in params["options"] if option["kind"].startswith("allow")]
        option = (params["options"] if self.defect == "selects the first option" else allowed)[0]["optionId"]
        if self.defect == "selects the option `allow`":
            option = "allow"
        self.send(id=id, result={"outcome": {"outcome": "selected", "optionId": option}})

    def serve_file(self, id: Any, path: Path, params: dict[str, Any]) -> None:
        if "content" in params:
            path.write_text(params["content"], "utf-8")
            self.send(id=id, result={})
        elif not path.exists():
            self.send(id=id, error={"code": -32002, "message": "There is no such file"})
        else:
            lines = path.read_text("utf-8").splitlines(keepends=True)
            if self.defect != "reads whole files":
                lines = lines[params.get("line", 1) - 1 :][: params.get("limit")]
            self.send(id=id, result={"content": "".join(lines)})

    def serve_terminal(self, id: Any, method: str, params: dict[str, Any]) -> None:
        if method == "terminal/create":
            command = [params["command"], *params["args"]]
            terminal = f"terminal-{len(self.terminals)}"
            self.terminals[terminal] = subprocess.Popen(command, cwd=params["cwd"], stdout=subprocess.PIPE)
            self.send(id=id, result={"terminalId": terminal})
            return
        terminal = self.terminals[params["terminalId"]]
        result: dict[str, Any] = {}
        if method == "terminal/kill":
            terminal.kill()
        elif method == "terminal/wait_for_exit":
            terminal.wait()
            result = {"exitCode": None if terminal.returncode < 0 else terminal.returncode}
        elif method == "terminal/output":
            output = terminal.stdout.read()
            status = {"exitCode": max(terminal.returncode, 0)}
            result = {"output": output[-20:].decode(), "truncated": len(output) > 20, "exitStatus": status}
            if self.defect == "forgets terminals that are killed" and terminal.returncode < 0:
                result = {}
        self.send(id=id, result=result)

    def cancel(self) -> None:
        self.send(method="session/cancel", params={"sessionId": self.session})
        if self.defect != "leaves questions open":
            for id in self.questions:
                self.send(id=id, result={"outcome": {"outcome": "cancelled"}})

    def open_session(self, cwd: str) -> None:
        if self.mode == "load":
            self.session = "session-1"
            self.send(id=NEW, method="session/load", params={"sessionId": "session-1", "cwd": cwd, "mcpServers": []})
            if self.defect != "prompts before the session is loaded":
                self.wait(NEW)
        else:
            if self.defect != "sends session/new at once":
                self.send(id=NEW, method="session/new", params={"cwd": cwd, "mcpServers": []})
            opened = self.wait(NEW)
            self.session = opened["sessionId"]
            if self.defect == "sets an option to what isn't offered" and "configOptions" in opened:
                option = {"sessionId": self.session, "configId": "model", "value": "huge"}
                self.send(id=8, method="session/set_config_option", params=option)

    def converse(self, text: str) -> None:
        cwd = "." if self.defect == "its working directory is relative" else str(Path.cwd())
        capabilities = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
        params: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": capabilities}
        if self.version == 2:
            params = {"protocolVersion": 2, "info": {"name": "checked", "version": "1"}, "capabilities": {}}
        self.send(id=INITIALIZE, method="initialize", params=params)
        if self.defect == "sends session/new at once" and self.mode != "load":
            self.send(id=NEW, method="session/new", params={"cwd": cwd, "mcpServers": []})
        while True:
            try:
                initialized = self.wait(INITIALIZE)
                break
            except KeyboardInterrupt:
                if self.defect != "can't be interrupted":
                    raise
        if initialized["protocolVersion"] != self.version and self.defect != "takes any version":
            raise AgentError("it has another version")
        if self.defect == "loads a session" and self.mode != "load":
            self.send(id=9, method="session/load", params={"sessionId": "old", "cwd": cwd, "mcpServers": []})
        self.open_session(cwd)
        prompt = [{"type": "text", "text": text}]
        self.send(id=PROMPT, method="session/prompt", params={"sessionId": self.session, "prompt": prompt})
        try:
            self.wait_for_turn()
        except KeyboardInterrupt:
            self.cancel()
            self.wait_for_turn()
        if self.defect == "crashes at a late update":
            assert not self.unread


def main(defect: str, agent: str, text: str, mode: str = "") -> int:
    client = Client(defect, agent, mode)
    try:
        client.converse(text)
        while mode == "stays":
            client.wait(0)
    except AgentError as error:
        print(f"The agent fails: {error}")
        return 1
    finally:
        client.agent.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
