"""Small changes, each with the finding that the report should have, written by hand: one file for each topic.

The verdicts are five letters: old peer, new peer, build, read, implement; (B)reaking, (R)isky or (S)afe. The two JSON
values are those that the other side is most likely to refuse. Whether its bindings read them proves the first two
letters.
"""

from __future__ import annotations

from tests.codegen.diff.cases import definitions, enums, facts, methods, properties, types, unions

CASES = [*properties.CASES, *types.CASES, *enums.CASES, *unions.CASES, *definitions.CASES]
METHOD_CASES = [*methods.CASES, *facts.CASES]
