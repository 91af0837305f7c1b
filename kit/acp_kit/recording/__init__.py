"""Recordings of the messages between a client and an agent: their format, and the redaction of secrets."""

from acp_kit.recording.file_format import Recorded, read_recording

__all__ = ["Recorded", "read_recording"]
