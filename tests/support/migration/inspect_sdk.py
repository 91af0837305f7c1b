"""Prints the public names of the official SDK as JSON. Runs in the SDK's environment, without this repository."""

import ast
import importlib
import inspect
import json
import pkgutil
import sys
import types
import typing
import warnings
from pathlib import Path

# Some modules need an extra, without which the SDK is inspected, whatever is installed.
sys.modules["starlette"] = None

import acp  # noqa: E402
import pydantic  # noqa: E402


def modules():
    """Yield the names of the public modules."""
    yield "acp"
    for each in pkgutil.walk_packages(acp.__path__, "acp.", onerror=lambda name: None):
        if not any(step.startswith("_") or step == "experimental" for step in each.name.split(".")):
            yield each.name


def public_names(name):
    """Return what a module defines or exports."""
    try:
        module = importlib.import_module(name)
    except ImportError:  # it needs an extra
        source = Path(importlib.util.find_spec(name).origin).read_text("utf-8")
        body = ast.parse(source).body
        lists = [each.value for each in body if is_all(each)]
        defined = [
            each.name for each in body if isinstance(each, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        return sorted(ast.literal_eval(lists[0]) if lists else [each for each in defined if not each.startswith("_")])
    names = [each for each, value in vars(module).items() if is_own(each, value, name)]
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    assigned = [
        each.targets[0].id for each in tree.body if isinstance(each, ast.Assign) and hasattr(each.targets[0], "id")
    ]
    aliases = [
        each for each in assigned if not each.startswith("_") and not isinstance(vars(module)[each], typing.TypeVar)
    ]
    return sorted({*names, *aliases, *getattr(module, "__all__", [])})


def is_all(node):
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"


def is_own(name, value, module):
    if name.startswith("_") or not name.isidentifier() or name in ("annotations", "TYPE_CHECKING"):
        return False
    if isinstance(value, (types.ModuleType, typing.TypeVar)):
        return False
    return getattr(value, "__module__", None) == module


def methods(cls):
    """Return the public methods of a class but those in camel case, with the names of their parameters."""
    found = {}
    for name, value in vars(cls).items():
        if not name.startswith("_") and name.islower() and inspect.isfunction(value):
            params = [*inspect.signature(value).parameters.values()][1:]
            found[name] = [each.name for each in params if each.kind is not each.VAR_KEYWORD]
    return found


def models():
    """Return the fields of the models: names in Python and on the wire, and constants."""
    from acp import schema

    found = {}
    for name, value in vars(schema).items():
        own = isinstance(value, type) and issubclass(value, pydantic.BaseModel) and value.__module__ == schema.__name__
        if own and not name.startswith("_") and name != "BaseModel" and "root" not in value.model_fields:
            found[name] = {
                field: [info.alias or field, constant(info.annotation)] for field, info in value.model_fields.items()
            }
    return found


def helpers():
    """Return the helper functions and their parameters; 1.0 has none."""
    try:
        from acp import helpers as module
    except ImportError:
        return {}
    return {name: [*inspect.signature(getattr(module, name)).parameters] for name in module.__all__}


def constant(annotation):
    values = typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()
    return values[0] if len(values) == 1 else None


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    from acp.core import AgentSideConnection, ClientSideConnection
    from acp.exceptions import RequestError

    classmethods = [name for name, value in vars(RequestError).items() if isinstance(value, classmethod)]
    json.dump(
        {
            "modules": {name: public_names(name) for name in modules()},
            "agent": methods(acp.Agent),
            "client": methods(acp.Client),
            "ClientSideConnection": methods(ClientSideConnection),
            "AgentSideConnection": methods(AgentSideConnection),
            "errors": classmethods,
            "helpers": helpers(),
            "models": models(),
        },
        sys.stdout,
    )
