"""What a finding about a capability for a part of params predicts, with the packages of both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_runtime import CapabilityError
from codegen.data.facts_file import METHODS_TOML
from tests.codegen.diff.cases.methods import PROMPT
from tests.support.codegen.generating import Generate

_REQUIRED = '"PromptRequest.prompt.image" = { needs = "agentCapabilities.promptCapabilities.image" }\n'


@pytest.mark.parametrize("required", [False, True], ids=["before", "after"])
async def test_code_that_sends_a_part_without_its_capability_fails_once_the_part_requires_it(
    generate: Generate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, required: bool
) -> None:
    facts = METHODS_TOML.read_text("utf-8")
    assert _REQUIRED in facts
    (tmp_path / "methods.toml").write_text(facts if required else facts.replace(_REQUIRED, "", 1), "utf-8")
    monkeypatch.setattr("codegen.data.facts_file.METHODS_TOML", tmp_path / "methods.toml")
    package: Any = generate(PROMPT)
    received: list[Any] = []

    class Agent(package.Agent):  # type: ignore[misc]
        async def initialize(self, request: Any, /) -> Any:
            return package.InitializeResponse(protocol_version=1)

        async def session_prompt(self, request: Any, /) -> Any:
            received.append(request.prompt)
            return package.PromptResponse()

    image = package.ContentBlockImage()
    async with package.connect_in_process(lambda _: Agent(), lambda _: package.Client()) as agent:
        await agent.initialize(protocol_version=1)
        if required:
            with pytest.raises(CapabilityError, match=r"session/prompt with prompt\.image"):
                await agent.session_prompt(prompt=[image])
        else:
            await agent.session_prompt(prompt=[image])
    assert received == ([] if required else [[image]])
