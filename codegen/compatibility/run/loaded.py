"""An imported program: its functions, and a value of each definition."""

from __future__ import annotations

import importlib
from typing import Any, TypeAlias

# How to run one function; `codegen/compatibility/old_code/program.py` writes it.
Step: TypeAlias = dict[str, Any]


class NoValueError(Exception):
    """There is no value of a definition."""

    def __init__(self, name: str) -> None:
        super().__init__(f'There is no value of "{name}"')


class Loaded:
    """An imported program, with its plan.

    Args:
        name: its module.
        plan: how to run it.
        newer: the program that is right for the bindings. It has the values that this one can't build any more, so
            that each function of this one fails only through its own fault.
    """

    def __init__(self, name: str, plan: dict[str, Any], newer: Loaded | None = None) -> None:
        self.module: Any = importlib.import_module(name)
        self.plan = plan
        self._steps: dict[str, Step] = {step["name"]: step for step in plan["functions"]}
        self._newer = newer
        self._values: dict[str, Any] = {}
        self._building: set[str] = set()

    def calls(self, role: str) -> list[Step]:
        """Return the calls of a role's methods."""
        return [step for step in self.plan["functions"] if step["kind"] == "call" and step["role"] == role]

    def call(self, step: Step, *arguments: Any) -> Any:
        """Call a function with values for its keywords."""
        keywords = {name: self._value(expression) for name, expression in step["arguments"].items()}
        return getattr(self.module, step["name"])(*arguments, **keywords)

    def given(self, name: str) -> Any:
        """Return a value of a definition. One that contains itself contains a value with only the required fields.

        Raises:
            NoValueError: neither program can make one.
        """
        if name in self._building:
            return self.call(self._steps.get(f"build_{name}_with_required") or self._steps[f"build_{name}"])
        if name not in self._values:
            try:
                self._values[name] = self._made(name)
            except Exception as error:
                self._values[name] = error
        if isinstance(self._values[name], Exception):
            raise self._values[name]
        return self._values[name]

    def _made(self, name: str) -> Any:
        self._building.add(name)
        try:
            if name in self.plan["values"]:
                return self._value(self.plan["values"][name])
            if f"build_{name}" not in self._steps:
                raise NoValueError(name)
            return self.call(self._steps[f"build_{name}"])
        except Exception:
            if self._newer is None:
                raise
            return self._newer.given(name)
        finally:
            self._building.discard(name)

    def _value(self, expression: str) -> Any:
        return eval(expression, {"given": self.given, "ACP": self.module.ACP})
