"""Mistakes in agents and clients."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from acp_bindings import v2_draft
from acp_bindings.v1 import (
    Agent,
    CancelNotification,
    Client,
    InitializeRequest,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionRequest,
    NewSessionResponse,
    PromptRequest,
    PromptResponse,
    ReadTextFileRequest,
    RequestPermissionRequest,
    RequestPermissionResponse,
    SessionNotification,
)


class Baseline(Agent):
    async def initialize(self, request: InitializeRequest) -> InitializeResponse:
        return InitializeResponse(protocol_version=request.protocol_version)

    async def session_new(self, request: NewSessionRequest) -> NewSessionResponse:
        return NewSessionResponse(session_id="1")


class WrongResult(Baseline):
    async def session_prompt(self, request: PromptRequest) -> NewSessionResponse:  # type: ignore
        return NewSessionResponse(session_id="1")


class WrongResultInside(Baseline):
    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        return NewSessionResponse(session_id="1")  # type: ignore


class NoResult(Baseline):
    async def session_prompt(self, request: PromptRequest) -> PromptResponse:  # type: ignore
        print(request)


class WrongParameter(Baseline):
    async def session_prompt(self, request: NewSessionRequest) -> PromptResponse:  # type: ignore
        return PromptResponse(stop_reason="end_turn")


class OtherVersion(Baseline):
    async def session_prompt(self, request: v2_draft.PromptRequest) -> PromptResponse:  # type: ignore
        return PromptResponse(stop_reason="end_turn")


class Keywords(Baseline):
    async def session_prompt(self, session_id: str, prompt: str) -> PromptResponse:  # type: ignore
        return PromptResponse(stop_reason="end_turn")


class Blocking(Baseline):
    def session_prompt(self, request: PromptRequest) -> PromptResponse:  # type: ignore
        return PromptResponse(stop_reason="end_turn")


class AnsweringNotification(Baseline):
    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        await self.session_new(request)  # type: ignore
        await self.session_nwe(request)  # type: ignore
        return PromptResponse(stop_reason="end_turn")

    async def session_cancel(self, notification: CancelNotification) -> bool:  # type: ignore
        return True

    async def session_load(self, request: PromptRequest) -> LoadSessionResponse:  # type: ignore
        return LoadSessionResponse()


class NoUpdates(Client):
    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome="selected")  # type: ignore

    async def fs_read_text_file(self, request: ReadTextFileRequest) -> str:  # type: ignore
        return request.path


class WrongNotification(NoUpdates):
    async def session_update(self, notification: SessionNotification) -> None:
        print(notification.params)  # type: ignore


Baseline()  # type: ignore
NoUpdates()  # type: ignore
Agent()  # type: ignore
WrongNotification()
