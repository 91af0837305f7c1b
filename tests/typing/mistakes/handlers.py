"""Mistakes in agents and clients."""

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
    async def session_prompt(self, request: PromptRequest) -> NewSessionResponse:  # E
        return NewSessionResponse(session_id="1")


class WrongResultInside(Baseline):
    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        return NewSessionResponse(session_id="1")  # E


class NoResult(Baseline):
    async def session_prompt(self, request: PromptRequest) -> PromptResponse:  # E
        print(request)


class WrongParameter(Baseline):
    async def session_prompt(self, request: NewSessionRequest) -> PromptResponse:  # E
        return PromptResponse(stop_reason="end_turn")


class OtherVersion(Baseline):
    async def session_prompt(self, request: v2_draft.PromptRequest) -> PromptResponse:  # E
        return PromptResponse(stop_reason="end_turn")


class Keywords(Baseline):
    async def session_prompt(self, session_id: str, prompt: str) -> PromptResponse:  # E
        return PromptResponse(stop_reason="end_turn")


class Blocking(Baseline):
    def session_prompt(self, request: PromptRequest) -> PromptResponse:  # E
        return PromptResponse(stop_reason="end_turn")


class AnsweringNotification(Baseline):
    async def session_prompt(self, request: PromptRequest) -> PromptResponse:
        await self.session_new(request)  # E
        await self.session_nwe(request)  # E
        return PromptResponse(stop_reason="end_turn")

    async def session_cancel(self, notification: CancelNotification) -> bool:  # E
        return True

    async def session_load(self, request: PromptRequest) -> LoadSessionResponse:  # E
        return LoadSessionResponse()


class NoUpdates(Client):
    async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome="selected")  # E

    async def fs_read_text_file(self, request: ReadTextFileRequest) -> str:  # E
        return request.path


class WrongNotification(NoUpdates):
    async def session_update(self, notification: SessionNotification) -> None:
        print(notification.params)  # E


Baseline()  # E
NoUpdates()  # E
Agent()  # E
WrongNotification()
