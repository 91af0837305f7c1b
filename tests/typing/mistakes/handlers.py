"""Mistakes in agents and clients."""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from acp_bindings import v1, v2_draft


class Baseline(v1.Agent):
    async def initialize(self, request: v1.InitializeRequest) -> v1.InitializeResponse:
        return v1.InitializeResponse(protocol_version=request.protocol_version)

    async def session_new(self, request: v1.NewSessionRequest) -> v1.NewSessionResponse:
        return v1.NewSessionResponse(session_id="1")


class WrongResult(Baseline):
    async def session_prompt(self, request: v1.PromptRequest) -> v1.NewSessionResponse:  # type: ignore
        return v1.NewSessionResponse(session_id="1")


class WrongResultInside(Baseline):
    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        return v1.NewSessionResponse(session_id="1")  # type: ignore


class NoResult(Baseline):
    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:  # type: ignore
        print(request)


class WrongParameter(Baseline):
    async def session_prompt(self, request: v1.NewSessionRequest) -> v1.PromptResponse:  # type: ignore
        return v1.PromptResponse(stop_reason="end_turn")


class OtherVersion(Baseline):
    async def session_prompt(self, request: v2_draft.PromptRequest) -> v1.PromptResponse:  # type: ignore
        return v1.PromptResponse(stop_reason="end_turn")


class Keywords(Baseline):
    async def session_prompt(self, session_id: str, prompt: str) -> v1.PromptResponse:  # type: ignore
        return v1.PromptResponse(stop_reason="end_turn")


class Blocking(Baseline):
    def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:  # type: ignore
        return v1.PromptResponse(stop_reason="end_turn")


class AnsweringNotification(Baseline):
    async def session_prompt(self, request: v1.PromptRequest) -> v1.PromptResponse:
        await self.session_new(request)  # type: ignore
        await self.session_nwe(request)  # type: ignore
        return v1.PromptResponse(stop_reason="end_turn")

    async def session_cancel(self, notification: v1.CancelNotification) -> bool:  # type: ignore
        return True

    async def session_load(self, request: v1.PromptRequest) -> v1.LoadSessionResponse:  # type: ignore
        return v1.LoadSessionResponse()


class NoUpdates(v1.Client):
    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        return v1.RequestPermissionResponse(outcome="selected")  # type: ignore

    async def fs_read_text_file(self, request: v1.ReadTextFileRequest) -> str:  # type: ignore
        return request.path


class WrongNotification(NoUpdates):
    async def session_update(self, notification: v1.SessionNotification) -> None:
        print(notification.params)  # type: ignore


Baseline()  # type: ignore
NoUpdates()  # type: ignore
v1.Agent()  # type: ignore
WrongNotification()
