"""Typed extension methods that our scripted client calls and handles. The agents of other SDKs know plain JSON."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from acp_runtime import ExtNotification, ExtRequest, Model


class Note(BaseModel):
    n: int | None


class EchoParams(Model):
    x: list[Any]


class EchoResult(BaseModel):
    method: str
    params: dict[str, Any]
    notifications: list[tuple[str, Note]]


class Numbers(BaseModel):
    sessionId: str  # noqa: N815 - a name on the wire
    numbers: list[int]


class Sum(Model):
    total: int


NOTE = ExtNotification("_interop/note", Note)
ECHO = ExtRequest("_interop/echo", EchoParams, EchoResult)
WRONG_ECHO = ExtRequest("_interop/echo", EchoParams, Sum)
ADD = ExtRequest("_interop/add", Numbers, Sum)
ADDING = ExtNotification("_interop/adding", Numbers)
