"""Small changes with what the report is to say of each, written by hand: a file a theme.

A verdict is five letters: old peer, new peer, build, read, implement; (B)reaking, (R)isky or (S)afe. The two JSON
values are what each side may send at its worst: whether the other side's bindings read it is the proof of the first
two letters.
"""

from __future__ import annotations

from tests.codegen.diff.cases import definitions, enums, facts, methods, properties, types, unions

CASES = [*properties.CASES, *types.CASES, *enums.CASES, *unions.CASES, *definitions.CASES]
METHOD_CASES = [*methods.CASES, *facts.CASES]
