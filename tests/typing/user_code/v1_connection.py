"""A client that uses the attributes of the agent's proxy, and catches errors."""

from __future__ import annotations

from logging import getLogger
from pathlib import Path
from typing import Any, assert_type

from acp_bindings import v1
from acp_runtime import (
    ABSENT,
    AuthenticationRequired,
    CapabilityError,
    ConnectionClosed,
    InternalError,
    InvalidResponse,
    MessageTooLarge,
    Options,
    RemoteError,
    RequestError,
    ResourceNotFound,
)

logger = getLogger(__name__)


class Window(v1.Client):
    def __init__(self, agent: v1.RemoteAgent) -> None:
        self.agent = agent
        self.title = ""

    async def session_update(self, notification: v1.SessionNotification) -> None:
        self.title = notification.session_id

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        raise RequestError(-32603, "no window")

    async def invalid_notification(self, method: str, params: Any, error: Exception) -> None:
        self.title = f"{method}: {error}"


def describe(agent: v1.RemoteAgent) -> str:
    """The agent's capabilities are typed, and None before `initialize` was answered."""
    assert_type(agent.capabilities, v1.AgentCapabilities | None)
    assert_type(agent.peer_info, v1.Implementation | None)
    if agent.capabilities is None or agent.peer_info is None:
        return "not known yet"
    can_load: bool = agent.capabilities.load_session
    images: bool = agent.capabilities.prompt_capabilities.image
    return f"{agent.peer_info.name} {agent.peer_info.version} {can_load} {images} {agent.supports('session/load')}"


def describe_client(client: v1.RemoteClient) -> bool:
    """Check the types of a client's capabilities."""
    assert_type(client.capabilities, v1.ClientCapabilities | None)
    return client.capabilities is not None and client.capabilities.fs.read_text_file


def window_of(agent: v1.RemoteAgent) -> Window:
    """The handler is the object that the factory has made."""
    assert_type(agent.handler, v1.Client)
    assert isinstance(agent.handler, Window)
    return agent.handler


async def run(command: str, *args: str, folder: Path | None = None) -> int | None:
    """Start an agent's process, and return its exit code."""
    options = Options(stderr="capture", exit_deadline=1.0, inherit_env=["PATH"])
    environment = {"LANG": "C"}
    async with v1.spawn_agent(Window, command, *args, cwd=folder, env=environment, options=options) as agent:
        assert_type(agent, v1.RemoteAgent)
        await agent.initialize(protocol_version=1, client_info=ABSENT, client_capabilities=ABSENT)
        logger.info("%s in %s", describe(agent), window_of(agent).title)
        if agent.process is not None:
            pid: int = agent.process.pid
            logger.info("%d %s", pid, agent.process.returncode)
    end = await agent.wait_closed()
    assert_type(end, ConnectionClosed)
    logger.info("%s %s", end.reason, end.stderr.splitlines()[-1:])
    return end.exit_code


async def ask(agent: v1.RemoteAgent, session_id: str) -> v1.PromptResponse | None:
    """Errors of the peer are caught by the class of their code or by `RemoteError`."""
    try:
        return await agent.session_prompt(session_id=session_id, prompt=[v1.ContentBlockText(text="hi")])
    except AuthenticationRequired as error:
        if isinstance(error, RemoteError):
            logger.info("%d %s %s %s", error.code, error.message, error.data, error.hint)
        return None
    except (ResourceNotFound, InternalError) as error:
        raise RequestError(error.code, error.message, {"session": session_id}) from error
    except RemoteError as error:
        code: int = error.code
        raise SystemExit(code) from error
    except CapabilityError as error:
        logger.info("%s %s", error.method, error.capability)
        return None
    except MessageTooLarge as error:
        logger.info("%s", error.reason)
        return None
    except (ConnectionClosed, InvalidResponse) as error:
        raise SystemExit(error.reason) from error
