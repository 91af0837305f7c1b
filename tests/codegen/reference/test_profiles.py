"""The pages about the other profiles list every method and every type in which they differ from the profile before."""

from __future__ import annotations

import importlib
import re

import pytest

from acp_runtime.models.json_values import wire_name
from tests.support.codegen.reference import pages

# The group shares the pages.
pytestmark = pytest.mark.xdist_group("reference")

BASES = {"v1_unstable": "v1", "v2_draft": "v1", "v2_draft_unstable": "v2_draft"}


@pytest.mark.parametrize(("profile", "base"), BASES.items())
def test_the_page_of_a_profile_lists_its_new_and_missing_types(profile: str, base: str) -> None:
    own, others = _types(profile), _types(base)
    assert (_listed(profile, "New types"), _listed(profile, "Types that it does not have")) == (
        own - others,
        others - own,
    )


@pytest.mark.parametrize(("profile", "base"), BASES.items())
def test_the_page_of_a_profile_lists_its_new_and_missing_methods(profile: str, base: str) -> None:
    own, others = _methods(profile), _methods(base)
    new, missing = (_listed(profile, title) for title in ("New methods", "Methods that it does not have"))
    assert (new, missing) == (own - others, others - own)


@pytest.mark.parametrize(("profile", "base"), BASES.items())
def test_the_page_of_a_profile_names_the_fields_that_types_have_gained(profile: str, base: str) -> None:
    described = set(re.findall(r"^`\w+\.(\w+)`$", _section(profile, "What differs"), flags=re.MULTILINE))
    gained = {
        wire_name(field)
        for name in _types(profile) & _types(base)
        for field in _fields(profile, name) - _fields(base, name)
    }
    assert gained
    assert gained - {"type"} <= described  # a new tag is described at its union


def _fields(profile: str, name: str) -> set[str]:
    value = getattr(importlib.import_module(f"acp_bindings.{profile}"), name)
    return set(getattr(value, "model_fields", ()))


def _section(profile: str, title: str) -> str:
    """Return a section of a page; empty if the page doesn't have it."""
    sections = re.split(r"^## ", pages()[f"profile_{profile}.md"], flags=re.MULTILINE)
    return next((section for section in sections if section.startswith(f"{title}\n")), "")


def _listed(profile: str, title: str) -> set[str]:
    return set(re.findall(r"^(?:- )?`([^`]+)`,?$", _section(profile, title), flags=re.MULTILINE))


def _types(profile: str) -> set[str]:
    module = importlib.import_module(f"acp_bindings.{profile}")
    stubs = {"Agent", "Client", "RemoteAgent", "RemoteClient"}
    return {name for name in module.__all__ if name[0].isupper() and not name.isupper()} - stubs


def _methods(profile: str) -> set[str]:
    tables = importlib.import_module(f"acp_bindings.{profile}.methods")
    names = ("AGENT_REQUESTS", "AGENT_NOTIFICATIONS", "CLIENT_REQUESTS", "CLIENT_NOTIFICATIONS")
    return {wire for name in names for wire in getattr(tables, name)}
