"""Rules that answer a permission request by the kind of the tool call and the paths that it names.

Rules trust the kind and the paths that the agent sends. They save the user questions, but aren't a sandbox: they allow
the tool calls of an agent that sends false ones.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from acp_bindings.v1 import ToolCall, ToolCallUpdate, ToolKind
from acp_kit.common.sequences import check_sequence
from acp_kit.local.confined import InvalidPath, OutsideRoots
from acp_kit.local.confined.paths import check_text, locate

Decision: TypeAlias = Literal["allow", "reject", "ask"]
Folder: TypeAlias = str | os.PathLike[str]

_KINDS: tuple[ToolKind, ...] = get_args(ToolKind)


@dataclass(frozen=True)
class Rule:
    """Decides about the tool calls that it matches. Made by `allow`, `reject` or `ask`.

    Attributes:
        decision: the decision.
        kinds: the kinds of tool calls that it matches; None for all.
        under: the folder whose files it matches; None for all tool calls, also those without files.
        always: whether to choose "allow always", unless a rule could decide otherwise later.
    """

    decision: Decision
    kinds: frozenset[ToolKind] | None
    under: str | None
    always: bool = False

    def matches(self, call: ToolCall | ToolCallUpdate) -> bool:
        """Return whether the rule decides about a tool call. It may read symbolic links from the disk.

        `allow` only matches a known kind, and if it has a folder, at least one path with all paths inside the folder.
        `reject` and `ask` also match an unknown kind, and one path inside the folder is enough, or one that isn't
        absolute.
        """
        return self._matches_kind(call) and (self.under is None or self._matches_paths(_find_paths(call), self.under))

    def _matches_kind(self, call: ToolCall | ToolCallUpdate) -> bool:
        if self.kinds is None:
            return True
        return self.decision != "allow" if call.kind is None else call.kind in self.kinds

    def _matches_paths(self, paths: Iterable[str], under: str) -> bool:
        root = Path(os.path.realpath(under))
        verdicts = (_is_inside(path, root) for path in paths)  # lazy, because an agent may name many paths
        if self.decision == "allow":
            first = next(verdicts, False)  # False if there are no paths
            return first is True and all(verdicts)
        return any(verdict is not False for verdict in verdicts)


def allow(*, kinds: Collection[ToolKind] | None = None, under: Folder | None = None, always: bool = False) -> Rule:
    """Allow tool calls without asking.

    Args:
        kinds: the kinds to allow; by default all.
        under: only allow tool calls whose files are all inside this folder.
        always: whether to choose "allow always" if the agent offers it, so that it doesn't ask again. This has no
            effect with `under`, or in a policy with rules that reject or ask: an agent that doesn't ask evades these.

    Raises:
        ValueError: if a kind is unknown, or the folder is not an absolute path.
        TypeError: if `kinds` is a single kind.
    """
    return _make_rule("allow", kinds, under, always)


def reject(*, kinds: Collection[ToolKind] | None = None, under: Folder | None = None) -> Rule:
    """Reject tool calls without asking.

    Args:
        kinds: the kinds to reject; by default all. An unknown kind is rejected, too.
        under: only reject tool calls with a file inside this folder.

    Raises:
        ValueError: if a kind is unknown, or the folder is not an absolute path.
        TypeError: if `kinds` is a single kind.
    """
    return _make_rule("reject", kinds, under)


def ask(*, kinds: Collection[ToolKind] | None = None, under: Folder | None = None) -> Rule:
    """Ask the user about tool calls.

    Args:
        kinds: the kinds to ask about; by default all. The user is asked about an unknown kind, too.
        under: only ask about tool calls with a file inside this folder.

    Raises:
        ValueError: if a kind is unknown, or the folder is not an absolute path.
        TypeError: if `kinds` is a single kind.
    """
    return _make_rule("ask", kinds, under)


def _make_rule(
    decision: Decision, kinds: Collection[ToolKind] | None, under: Folder | None, always: bool = False
) -> Rule:
    matched_kinds = None if kinds is None else frozenset(check_sequence("kinds", kinds))
    for kind in matched_kinds or ():
        if kind not in _KINDS:
            raise ValueError(f"{kind!r} is not a kind of tool call. The kinds are {', '.join(_KINDS)}.")
    folder = None if under is None else os.fspath(under)
    if folder is not None:
        check_text(folder)
    return Rule(decision, matched_kinds, folder, always)


def _find_paths(call: ToolCall | ToolCallUpdate) -> Iterator[str]:
    for location in call.locations or ():
        yield location.path
    content: Any
    for content in call.content or ():
        if content.type == "diff":
            yield content.path


def _is_inside(path: str, root: Path) -> bool | None:
    """Return whether a path leads into a resolved folder; None if it can't be a path."""
    try:
        locate(path, [root])
    except OutsideRoots:
        return False
    except InvalidPath:
        return None
    return True
