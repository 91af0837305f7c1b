"""Similar names: the condition for a rename if the structure alone isn't distinctive."""

from __future__ import annotations

import pytest

from codegen.diff.match.renames import similar

RENAMED = [
    ("workingDir", "workDir"),
    ("id", "sessionId"),
    ("sessionId", "sessionIdentifier"),
    ("SetModeRequest", "SetSessionModeRequest"),
    ("color", "colour"),
    ("mimeType", "mimetype"),
]
OTHERS = [
    ("maxTokens", "minTokens"),
    ("startLine", "endLine"),
    ("SetModeResponse", "AskResponse"),
    ("CloseSessionRequest", "DeleteSessionRequest"),
    ("AskRequest", "AskResponse"),
    ("oldText", "newText"),
]


@pytest.mark.parametrize(("old", "new"), RENAMED)
def test_a_similar_name_can_be_a_new_name(old: str, new: str) -> None:
    assert similar(old, new)
    assert similar(new, old)


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_a_name_that_only_shares_words_is_not_a_new_name(old: str, new: str) -> None:
    assert not similar(old, new)
    assert not similar(new, old)
