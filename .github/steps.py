"""The steps of the workflows that decide something: `python3 .github/steps.py <step>`.

Jobs whose token can write run them too, from `main`. This file therefore needs only Python, git and gh, and imports
nothing of the project. A step's input are environment variables; its docstring lists those that GitHub doesn't set.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPORT_MARK = "<!-- report of CI -->"
NAME, EMAIL = "github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com"
COLORS = {"breaking": "b60205", "risky": "fbca04"}
NO_PULL_REQUESTS = (
    "The branch {} was pushed, but no pull request could be opened. Allow it in Settings, Actions, General: "
    "Allow GitHub Actions to create and approve pull requests."
)
UPDATED = "This issue is updated by each run that fails, and closed by the next one that works."


def main(step: str) -> int:
    """Run a step, and return the exit code."""
    try:
        return STEPS[step]() or 0
    except subprocess.CalledProcessError as error:
        print(error, error.stderr, sep="\n", file=sys.stderr)
        return 1


def git(*words: str) -> str:
    """Run git, and return what it prints."""
    return _run("git", *words)


def gh(*words: str) -> str:
    """Run gh with the job's token, and return what it prints."""
    return _run("gh", *words)


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def summarize(text: str) -> None:
    """Add to the summary of the run, and to the log."""
    print(text)
    _append("GITHUB_STEP_SUMMARY", text)


def set_output(**values: str) -> None:
    """Set outputs of the step, of one line each."""
    for name, value in values.items():
        _append("GITHUB_OUTPUT", f"{name}={value}")


def _append(variable: str, text: str) -> None:
    with open(os.environ[variable], "a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def _artifact(name: str) -> Path:
    """Return the folder of an artifact: a `report.md`, and the `bundle` with the commit that it describes."""
    return Path(os.environ["RUNNER_TEMP"], name)


def _write_report(name: str, text: str) -> None:
    _artifact(name).mkdir()
    (_artifact(name) / "report.md").write_text(text, "utf-8")


# The report of CI


def report() -> int:
    """Compare the schema and the generated code with the base, and fail on breaking changes that aren't accepted.

    These are also annotations on the lines that cause them.

    `INTO` is the branch of the base. `USER_CODE` is a folder to check, if the base has it.
    """
    base = git("rev-parse", "--short", git("merge-base", "HEAD", f"origin/{os.environ['INTO']}"))
    if not git("diff", "--name-only", base, "HEAD", "--", "schema", "generated"):
        return 0
    checked = os.environ["USER_CODE"] if git("ls-tree", base, os.environ["USER_CODE"]) else ""
    command = ["make", "diff", f"BASE={base}", "FAIL_ON=breaking", f"USER_CODE={checked}"]
    compared = subprocess.run([*command, "FORMAT=markdown"], stdout=subprocess.PIPE, text=True, check=False)
    _write_report("report", compared.stdout)
    summarize(compared.stdout)
    set_output(base=base)
    if compared.returncode:
        subprocess.run([*command, "FORMAT=github"], check=False)
    return compared.returncode


def comment() -> None:
    """Write the report as a comment on the pull request `NUMBER`, or update this comment."""
    repository, number = os.environ["GH_REPO"], os.environ["NUMBER"]
    text = f"{REPORT_MARK}\n{(_artifact('report') / 'report.md').read_text('utf-8')}"
    lines = gh("api", "--paginate", f"repos/{repository}/issues/{number}/comments", "--jq", ".[]").splitlines()
    # Other workflows comment as the same bot.
    mine = [found["id"] for found in map(json.loads, lines) if _is_report(found)]
    if mine:
        path = f"repos/{repository}/issues/comments/{mine[0]}"
        gh("api", "--silent", "--method", "PATCH", path, "--raw-field", f"body={text}")
    else:
        gh("pr", "comment", number, "--body", text)


def _is_report(comment: Any) -> bool:
    return comment["user"]["login"] == NAME and str(comment["body"]).startswith(REPORT_MARK)


# Proposing a commit


def upgrade() -> int:
    """Upgrade the schema to that of `FROM`, and commit it with the report. Without a change, there is no commit."""
    folder = _artifact("schema-upgrade")
    command = [".venv/bin/python", "-m", "codegen", "upgrade", os.environ["FROM"], "--report", str(folder)]
    upgraded = subprocess.run(command, capture_output=True, text=True, check=False)
    print(upgraded.stdout, upgraded.stderr)
    if upgraded.returncode:
        return _report_error(upgraded)
    summarize(f"```\n{upgraded.stdout}```\n")
    if (folder / "report.md").exists():
        text = (folder / "report.md").read_text("utf-8")
        summarize(text)
        source = json.loads(Path("schema/PINNED.json").read_text("utf-8"))["source"]
        _bundle("schema-upgrade", f"Upgrade the schema to {source}\n\n{text}")
        set_output(verdict=json.loads((folder / "report.json").read_text("utf-8"))["worst"])
    return 0


def _report_error(upgraded: subprocess.CompletedProcess[str]) -> int:
    error = next((line for line in upgraded.stderr.splitlines() if line.startswith("codegen: ")), "See the log.")
    summarize(f"No upgrade:\n\n    {error}")  # indented as code, because the error may quote the schema
    set_output(error=error, without_rule="true" if upgraded.returncode == 1 else "")
    return upgraded.returncode


def lock() -> None:
    """Commit the new versions in requirements/, if there are any."""
    if lines := git("diff", "--unified=0").splitlines():
        # Several files have the same line.
        changed = dict.fromkeys(line.removesuffix(" \\") for line in lines if re.match("[-+][a-z]", line))
        _write_report("dependencies", "\n".join(["```diff", *changed, "```", ""]))
        _bundle("dependencies", "Update requirements")
        set_output(changed="true")


def _bundle(branch: str, message: str) -> None:
    """Commit everything on a new branch, and add the commit to its artifact. `propose` checks what it changes."""
    git("switch", "--quiet", "--create", branch)
    git("add", "--all")
    git("-c", f"user.name={NAME}", "-c", f"user.email={EMAIL}", "commit", "--quiet", "--message", message)
    git("bundle", "create", "--quiet", str(_artifact(branch) / "bundle"), f"main..{branch}")


def propose() -> int:
    """Push the commit in the artifact of `BRANCH`, open or update its pull request, and start CI.

    `PATHS` are all that the commit may change. `LABEL` replaces labels that begin with `schema-`.
    """
    branch = os.environ["BRANCH"]
    git("fetch", "--quiet", str(_artifact(branch) / "bundle"), f"{branch}:{branch}")
    if refused := _refusal(branch, os.environ["PATHS"].split()):
        summarize(f"Refused: {refused}")
        return 1
    shown = ("--json", "url,isCrossRepository", "--jq", ".[] | select(.isCrossRepository | not).url")
    url = gh("pr", "list", "--head", branch, "--base", "main", "--state", "open", *shown)
    if url and (reason := _left_alone(branch, url)):
        summarize(reason)
        return 0
    gh("auth", "setup-git")
    git("push", "--quiet", "--force-with-lease", "origin", branch)
    url = _open(branch, url)
    if not url:
        summarize(NO_PULL_REQUESTS.format(branch))
        return 1
    _label(url, os.environ["LABEL"])
    summarize(f"{url}: {os.environ['LABEL']}")
    # Runs on a pull request that GITHUB_TOKEN opened need an approval. Runs started like this don't.
    gh("workflow", "run", "ci.yml", "--ref", branch)
    return 0


def _refusal(branch: str, paths: list[str]) -> str:
    """Return why a commit may not be proposed, or ""."""
    if len(git("rev-list", "--parents", f"main..{branch}").split()) != 2:
        return "the bundle is not one commit on top of main."
    changes = git("diff", "--no-renames", "--raw", "-z", f"{branch}^", branch).split("\0")
    others = [
        path
        for change, path in zip(changes[::2], changes[1::2], strict=False)
        if change.split()[1] not in ("100644", "000000") or not any(f"{path}/".startswith(f"{each}/") for each in paths)
    ]
    allowed = f"the commit may change only files, and only in {' '.join(paths)}"
    return "\n".join([f"{allowed}:", "```", *others, "```"]) if others else ""


def _left_alone(branch: str, url: str) -> str:
    """Return why the branch of an open pull request is not pushed, or ""."""
    old, new = f"origin/{branch}", branch
    if git("show", "--no-patch", "--format=%ce", old) != EMAIL:
        return f"A person has pushed to {url}, so it is left alone. Merge or close it first."
    content = ("show", "--no-patch", "--format=%T %P")
    return f"{url} is already up to date." if git(*content, old) == git(*content, new) else ""


def _open(branch: str, url: str) -> str:
    """Open a pull request, or update the one with this URL. Return its URL, or "" if it can't be opened."""
    title = git("show", "--no-patch", "--format=%s", branch)
    text = ("--title", title, "--body-file", str(_artifact(branch) / "report.md"))
    if url:
        gh("pr", "edit", url, *text)
        return url
    try:
        return gh("pr", "create", "--base", "main", "--head", branch, *text)
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)
        return ""


def _label(url: str, label: str) -> None:
    gh("label", "create", label, "--force", "--color", COLORS.get(label.rpartition("-")[2], "0e8a16"))
    for old in gh("pr", "view", url, "--json", "labels", "--jq", ".labels[].name").splitlines():
        if old.startswith("schema-") and old != label:
            gh("pr", "edit", url, "--remove-label", old)
    gh("pr", "edit", url, "--add-label", label)


# Others


def issue() -> None:
    """Open or update the issue with the label `LABEL` if `FAILED` is `true`, otherwise close it.

    `TITLE` and `TEXT` are the issue's, `RUN` is the URL of the run.
    """
    if gh("repo", "view", os.environ["GH_REPO"], "--json", "hasIssuesEnabled", "--jq", ".hasIssuesEnabled") == "false":
        return summarize("This repository has no issues, so no issue says whether this works.")
    label, run = os.environ["LABEL"], os.environ["RUN"]
    filters = ("--app", "github-actions", "--label", label, "--state", "open", "--limit", "1")
    number = gh("issue", "list", *filters, "--json", "number", "--jq", ".[].number")
    if os.environ["FAILED"] == "true":
        _open_issue(number, label, f"{os.environ['TEXT']}\n\nSee [the run]({run}). {UPDATED}\n")
    elif number:
        gh("issue", "close", number, "--comment", f"It works again: {run}")
    return None


def _open_issue(number: str, label: str, text: str) -> None:
    if number:
        gh("issue", "edit", number, "--body", text)
    else:
        gh("label", "create", label, "--force", "--color", "d93f0b")
        gh("issue", "create", "--title", os.environ["TITLE"], "--label", label, "--body", text)


def site() -> int:
    """Find out whether the repository has a site, which a fork mostly hasn't."""
    try:
        gh("api", "--silent", f"repos/{os.environ['GH_REPO']}/pages")
    except subprocess.CalledProcessError as error:
        if "HTTP 404" not in error.stderr:
            raise
        summarize("Not published: choose GitHub Actions as the source in Settings, Pages.")
    else:
        set_output(exists="true")
    return 0


def schedules() -> None:
    """Enable the enabled workflows, but not those that GitHub adds, as for Dependabot."""
    ours = '.[] | select(.path | startswith(".github/")).id'
    for number in gh("workflow", "list", "--json", "id,path", "--jq", ours).split():
        gh("api", "--silent", "--method", "PUT", f"repos/{os.environ['GH_REPO']}/actions/workflows/{number}/enable")


STEPS: dict[str, Callable[[], int | None]] = {
    step.__name__: step for step in (report, comment, upgrade, lock, propose, issue, site, schedules)
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
