"""The results of checking old code: which uses fail, and which findings predict that."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.diff.user_code.type_checker import Problem
from codegen.diff.verdict.findings import Finding

# The kind of a problem that occurred when the program was run. The others have mypy's codes.
RUN = "run"


@dataclass(frozen=True)
class Failure:
    """An error of a use, from the type checker or from running it, and the findings that predict it."""

    use: str
    problem: Problem
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Result:
    """The result for one profile of one release.

    Attributes:
        release: the label of the release.
        profile: the profile.
        uses: the number of uses of the bindings in its program.
        failures: the errors of those that fail; one use can have several.
        breaking: the findings that are breaking for Python code.
    """

    release: str
    profile: str
    uses: int
    failures: tuple[Failure, ...]
    breaking: tuple[Finding, ...]

    @property
    def failed(self) -> set[str]:
        return {each.use for each in self.failures}

    @property
    def unpredicted(self) -> list[Failure]:
        return [each for each in self.failures if not each.findings]

    @property
    def only_type_checked(self) -> set[str]:
        """The uses that fail only in the type checker: they still run."""
        return self.failed - {each.use for each in self.failures if each.problem.kind == RUN}

    @property
    def harmless(self) -> list[Finding]:
        """The breaking findings that predict no failure."""
        predicting = {each.fingerprint for failure in self.failures for each in failure.findings}
        return [each for each in self.breaking if each.fingerprint not in predicting]
