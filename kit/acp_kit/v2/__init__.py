"""For agents and clients that are written for version 2: the turns of an agent's session, and the state of a client's.

The models are those of `acp_bindings.v2_draft`, or of `v2_draft_unstable`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acp_kit.common.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from acp_kit.v2.session import Session as Session
    from acp_kit.v2.snapshots import (
        Entry as Entry,
        Message as Message,
        SessionTerminal as SessionTerminal,
        Snapshot as Snapshot,
    )
    from acp_kit.v2.state import SessionState as SessionState
else:
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        {
            "session": ("Session",),
            "snapshots": ("Entry", "Message", "SessionTerminal", "Snapshot"),
            "state": ("SessionState",),
        },
    )
