"""Warns when a class is made that has methods with almost the names of handlers, or handlers that can't be awaited."""

from __future__ import annotations

from collections.abc import Collection
from inspect import iscoroutinefunction, isfunction, unwrap
from warnings import warn

# How similar two names have to be, from 0 to 1.
_SIMILAR = 0.85
# Single words that mean a handler. Others, such as `load` and `close`, are the names of many helpers.
_WORDS = {"cancel", "prompt", "update"}
# From `warn` through `__init_subclass__` and ABCMeta to the class statement.
_STACKLEVEL = 4


def warn_of_wrong_handlers(cls: type, handlers: Collection[str], overridden: Collection[str]) -> None:
    """Warn of handlers that are not `async`, and of `async` functions that look like a handler that isn't overridden.

    Args:
        cls: the class.
        handlers: the names of its handlers.
        overridden: the names that it overrides, or that a class of the application does for it.
    """
    for name, value in vars(cls).items():
        if not isfunction(value) or name.startswith("_") or hasattr(value, "__acp_handles__"):
            continue
        is_async = iscoroutinefunction(unwrap(value))
        if name not in handlers and is_async and value.__code__.co_argcount > 1:  # a handler takes something
            meant = _meant(name, [each for each in handlers if each not in overridden])
            if meant is not None:
                text = f"{cls.__name__}.{name} handles no message. Did you mean `{meant}`?"
                warn(text, stacklevel=_STACKLEVEL)
        elif name in handlers and not is_async:
            warn(f"{cls.__name__}.{name} is not `async def`, so its result can't be awaited.", stacklevel=_STACKLEVEL)


def _meant(name: str, handlers: Collection[str]) -> str | None:
    """Return the handler that a name looks like: `session_load` for `load_session`, `session_prompt` for `prompt`."""
    words = _words(name)
    for each in handlers:
        end = each.partition("_")[2]
        if words == _words(each) or (words == _words(end) and ("_" in end or end in _WORDS)):
            return each
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, handlers, 1, _SIMILAR)), None)


def _words(name: str) -> list[str]:
    return sorted(word.rstrip("s") for word in name.split("_"))
