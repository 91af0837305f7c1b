"""Imports pydantic, which takes most of the time of a small program on our models, and nothing of ours."""

from __future__ import annotations

from pydantic import BaseModel


class Plain(BaseModel):
    """Makes pydantic import what it needs to build a class."""

    field: int | None = None
