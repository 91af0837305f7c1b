"""Subclasses in a module without `from __future__ import annotations`, whose annotations are types, not strings."""

from typing import Annotated, Any, ClassVar

from pydantic import Field, PrivateAttr, field_validator

from acp_bindings.v2_draft import ContentBlock, ContentBlockResourceLink, PromptRequest
from acp_runtime import absent


class Link(ContentBlockResourceLink):
    rank: int = 1
    note: str | None = absent()
    inner: list["Link"] = Field(default_factory=list)
    shown: ClassVar[list[Any]] = []
    _seen: int = PrivateAttr(default=2)

    @field_validator("name")
    @classmethod
    def strip(cls, value: str) -> str:
        return value.strip()


class Prompt(PromptRequest):
    first: ContentBlock
    rank: Annotated[int, Field(ge=1)]
