"""Reads and writes files inside given folders only, whatever path the peer sends."""

from acp_kit.local.confined.errors import FileTooLarge, InvalidPath, NotARegularFile, OutsideRoots
from acp_kit.local.confined.files import ConfinedFiles

__all__ = ["ConfinedFiles", "FileTooLarge", "InvalidPath", "NotARegularFile", "OutsideRoots"]
