"""Answers `session/request_permission` by rules, by asking the user, or by earlier decisions of the user.

For example:

    class MyClient(Client):
        def __init__(self, agent: RemoteAgent) -> None:
            self.permissions = PermissionPolicy(
                reject(under="/path/to/project/secrets"),
                allow(kinds={"read", "search"}, under="/path/to/project"),
                ask=self.show_dialog,
            )

        async def session_request_permission(self, request: RequestPermissionRequest) -> RequestPermissionResponse:
            return await self.permissions.session_request_permission(request)
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, ItemsView, Sequence
from logging import getLogger
from typing import TypeAlias, cast
from weakref import WeakValueDictionary

from acp_bindings import v1
from acp_kit.client.dialogs import DialogCancelled, wait_for_answer
from acp_kit.client.permission_rules import Rule
from acp_kit.common.profiles import like
from acp_runtime.escaping import printable

Ask: TypeAlias = Callable[[v1.RequestPermissionRequest], Awaitable[str | None]]

_ALLOW: Sequence[v1.PermissionOptionKind] = ("allow_once",)
_ALLOW_ALWAYS: Sequence[v1.PermissionOptionKind] = ("allow_always", "allow_once")
_ALLOW_AGAIN: Sequence[v1.PermissionOptionKind] = ("allow_once", "allow_always")
_REJECT: Sequence[v1.PermissionOptionKind] = ("reject_once", "reject_always")

# For how many kinds a rejection is logged. An agent may send any text as a kind.
_MAX_LOGGED_KINDS = 20

_logger = getLogger(__name__)


def choose_option(
    request: v1.RequestPermissionRequest, *kinds: v1.PermissionOptionKind
) -> v1.RequestPermissionResponse:
    """Return the response to a permission request that chooses an option by its kind.

    Args:
        request: the request.
        *kinds: such as `allow_once`. The first option of the first offered kind is chosen. If no kind is offered, the
            outcome is `cancelled`.
    """
    for kind in kinds:
        for option in request.options:
            if option.kind == kind:
                return _select(request, option)
    return _cancelled(request)


class PermissionPolicy:
    """Answers permission requests by rules and by asking the user, and rejects all other tool calls.

    The first rule that matches a tool call decides. If none does, the user is asked. Without `ask`, the tool call is
    rejected, which is logged once for each kind of tool. "Allow always" is chosen only if the user or a rule with
    `always=True` chooses it, or if the user has chosen it before and the agent offers nothing else that allows. If the
    agent offers no option for the decision, the tool call is rejected, which is logged once. If it offers no option to
    reject, the outcome is `cancelled`.

    If the user chooses "always", the decision holds for the tool in this session, and the user is not asked again. A
    tool is identified by its name, or else by its kind and title. Without these, nothing is remembered. Rules have
    precedence: a decision about tool calls that no rule matches doesn't apply to those that an `ask` rule matches.

    An agent that gets "always" stops asking, and so evades the rules. Therefore it gets "always" only if all rules
    allow. Otherwise the policy remembers "always" itself, and chooses "allow once". If the agent doesn't offer exactly
    one such option, this is logged and the tool call is rejected.

    Cancelling the turn (`agent.session_cancel`) cancels the callback, and the runtime answers `cancelled`.

    Args:
        rules: the rules, in their order.
        ask: shows the request to the user, and returns the id of the chosen option; None rejects the tool call.
            Questions about the same tool are asked one after the other. If it raises, this is logged and the tool call
            is rejected. If something else than the agent cancels it, the outcome is `cancelled`.

    Raises:
        ValueError: if a rule asks, but there is no `ask`.
        TypeError: if a rule is not what `allow()`, `ask()` or `reject()` returns.
    """

    def __init__(self, *rules: Rule, ask: Ask | None = None) -> None:
        for rule in cast("tuple[object, ...]", rules):
            if not isinstance(rule, Rule):
                raise TypeError(
                    f"{rule!r} is not a rule. Pass allow(...), ask(...) or reject(...), or a callback as ask=."
                )
        if ask is None and any(rule.decision == "ask" for rule in rules):
            raise ValueError("A rule asks the user. Pass ask=..., the function that does it.")
        self._rules = rules
        self._ask = ask
        self._all_allow = all(rule.decision == "allow" for rule in rules)
        self._always: dict[str, dict[str, bool]] = {}
        self._rejected_kinds: set[str | None] = set()
        self._has_logged_options = False
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def items(self, session_id: str) -> ItemsView[str, bool]:
        """Return the decisions for the rest of a session, to show or store them: whether each tool is allowed.

        A tool is a text such as "name shell". If a rule asked, the text has its number among the rules, because the
        decision holds only if this rule asks again.
        """
        return self._always.get(session_id, {}).items()

    def remember(self, session_id: str, tool: str, *, allowed: bool) -> None:
        """Allow or reject a tool for the rest of a session, for example to restore what `items` returned."""
        self._always.setdefault(session_id, {})[tool] = allowed

    def forget(self, session_id: str) -> None:
        """Forget the decisions of a session. Call it when the session has ended."""
        self._always.pop(session_id, None)

    async def session_request_permission(self, request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        """Return the decision about a tool call.

        Many agents send only the id of the tool call. `PermissionHandlers` completes it; so does
        `SessionState.update_tool_call`.
        """
        if any(rule.under is not None for rule in self._rules):
            rule = await asyncio.to_thread(self._first_match, request.tool_call)  # it may look at the disk
        else:
            rule = self._first_match(request.tool_call)
        if rule is None or rule.decision == "ask":
            return await self._ask_user(request, _tool(request.tool_call), rule)
        if rule.decision == "reject":
            return choose_option(request, *_REJECT)
        is_always = rule.always and rule.under is None and self._all_allow
        return self._allow(request, _ALLOW_ALWAYS if is_always else _ALLOW)

    def _first_match(self, call: v1.ToolCallUpdate) -> Rule | None:
        return next((rule for rule in self._rules if rule.matches(call)), None)

    async def _ask_user(
        self, request: v1.RequestPermissionRequest, tool: str | None, rule: Rule | None
    ) -> v1.RequestPermissionResponse:
        if self._ask is None:
            self._log_rejection(request.tool_call)
            return choose_option(request, *_REJECT)
        key = request.session_id, tool or f"id {request.tool_call.tool_call_id}"
        async with self._locks.setdefault(key, asyncio.Lock()):
            remembered_tool = self._remembered_tool(tool, rule)
            allowed = self._always.get(request.session_id, {}).get(remembered_tool or "")
            if allowed is not None:
                kinds = _ALLOW_AGAIN if self._all_allow else _ALLOW
                return self._allow(request, kinds) if allowed else choose_option(request, *_REJECT)
            try:
                chosen = await wait_for_answer(self._ask, request)
            except DialogCancelled:
                return _cancelled(request)
            except EOFError:  # from `input`, if stdin is a pipe or a file
                _logger.warning("The input ended before the user chose an option. The tool call is rejected.")
                return choose_option(request, *_REJECT)
            except Exception:
                _logger.exception("Asking the user for permission failed. The tool call is rejected.")
                return choose_option(request, *_REJECT)
            return self._answer(request, chosen, remembered_tool)

    def _remembered_tool(self, tool: str | None, rule: Rule | None) -> str | None:
        """Return the text under which an answer for "always" is remembered; None if it isn't."""
        if tool is None or rule is None:
            return tool
        return f"{tool}, asked by rule {self._rules.index(rule) + 1}"

    def _allow(
        self, request: v1.RequestPermissionRequest, kinds: Sequence[v1.PermissionOptionKind]
    ) -> v1.RequestPermissionResponse:
        """Choose an option of one of these kinds. If the agent offers none, reject, and log that once."""
        offered = [option.kind for option in request.options]
        if not self._has_logged_options and not any(kind in kinds for kind in offered):
            self._has_logged_options = True
            _logger.warning(
                "Rejected %s, although it is allowed: the agent only offers %s. A PermissionPolicy chooses "
                "allow_always only if all its rules are allow(always=True) without `under`.",
                _describe(request.tool_call),
                printable(", ".join(offered)) or "nothing",
            )
        return choose_option(request, *kinds, *_REJECT)

    def _log_rejection(self, call: v1.ToolCallUpdate) -> None:
        """Log, once for each kind of tool, that no rule decides about a tool call."""
        if call.kind not in self._rejected_kinds and len(self._rejected_kinds) < _MAX_LOGGED_KINDS:
            self._rejected_kinds.add(call.kind)
            _logger.warning(
                "Rejected %s: no rule of the PermissionPolicy matches it, and it has no `ask`", _describe(call)
            )

    def _answer(
        self, request: v1.RequestPermissionRequest, chosen: str | None, remembered_tool: str | None
    ) -> v1.RequestPermissionResponse:
        """Answer with the option that the user chose, and remember "always"."""
        option = next((option for option in request.options if option.option_id == chosen), None)
        if option is None:
            if chosen is not None:
                _logger.error("The agent did not offer the option %.200r. The tool call is rejected.", chosen)
            return choose_option(request, *_REJECT)
        answer = option if self._all_allow else _once(request, option)
        if answer is None:
            _logger.error(
                "The user chose %.200r, but the agent offers no single option that allows it once, and the rules must "
                "also hold later. The tool call is rejected.",
                option.name,
            )
            return choose_option(request, *_REJECT)
        if remembered_tool is not None and option.kind in ("allow_always", "reject_always"):
            self.remember(request.session_id, remembered_tool, allowed=option.kind == "allow_always")
        return _select(request, answer)


def _describe(call: v1.ToolCallUpdate) -> str:
    return printable(f"{call.title} (kind {call.kind})")


def _tool(call: v1.ToolCallUpdate) -> str | None:
    """Return the tool that an answer for "always" holds for; None if it is unknown."""
    if call.name:
        return f"name {call.name}"
    return f"kind {call.kind} {call.title}" if call.title else None


def _once(request: v1.RequestPermissionRequest, option: v1.PermissionOption) -> v1.PermissionOption | None:
    """Return the option, but "allow once" instead of "allow always"; None if that isn't offered exactly once."""
    if option.kind != "allow_always":
        return option
    once = [option for option in request.options if option.kind == "allow_once"]
    return once[0] if len(once) == 1 else None


def _select(request: v1.RequestPermissionRequest, option: v1.PermissionOption) -> v1.RequestPermissionResponse:
    outcome = like(request, v1.RequestPermissionOutcomeSelected)(option_id=option.option_id)
    return like(request, v1.RequestPermissionResponse)(outcome=outcome)


def _cancelled(request: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
    outcome = like(request, v1.RequestPermissionOutcomeCancelled)()
    return like(request, v1.RequestPermissionResponse)(outcome=outcome)
