"""Names that both sides of a connection over HTTP use."""

from __future__ import annotations

CONNECTION_ID = "Acp-Connection-Id"
SESSION_ID = "Acp-Session-Id"
ENDS_SESSION = ("session/close", "session/delete")
