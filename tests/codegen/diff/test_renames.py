"""What counts as another name for the same thing where the shape alone says too little."""

from __future__ import annotations

import pytest

from codegen.diff.match.matching import alike

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
def test_a_name_may_become_one_that_is_alike(old: str, new: str) -> None:
    assert alike(old, new)
    assert alike(new, old)


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_a_name_that_shares_words_with_another_is_not_its_new_name(old: str, new: str) -> None:
    assert not alike(old, new)
    assert not alike(new, old)
