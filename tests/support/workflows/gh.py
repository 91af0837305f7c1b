"""A fake `gh`: the commands that the workflows use, on a GitHub whose state is a JSON file. Others are errors.

The file has `pulls`, `issues`, `labels`, `runs` and `settings`, and `writes`: the commands that changed something.
"""

from __future__ import annotations

import json
import os
import sys
from types import SimpleNamespace

# The workflows start this program many times, so it imports little.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Hub = dict[str, Any]
    Options = SimpleNamespace

STATE = os.environ["FAKE_GITHUB"]


def main() -> None:
    words = sys.argv[1:]
    command = " ".join(words[: 1 if words[0] == "api" else 2])
    if command not in COMMANDS:
        sys.exit(f"The fake gh has no command {command!r}.")
    assert os.environ["GH_TOKEN"]
    flags, run = COMMANDS[command]
    given = parse(words[len(command.split()) :], flags.split())
    hub = json.loads(read(STATE))
    run(hub, given)
    if command.split()[-1] in ("create", "edit", "run", "comment", "close"):
        hub["writes"].append(command)
    write(STATE, json.dumps(hub, indent=1))


def parse(words: list[str], flags: list[str]) -> Options:
    """Return the values of flags by name: None for a flag that is missing, False for a missing one with `!`."""
    values: dict[str, Any] = {each.strip("-!").replace("-", "_"): False if "!" in each else None for each in flags}
    left = iter(words)
    for word in left:
        name = word.removeprefix("--").replace("-", "_")
        if f"{word}!" in flags:
            values[name] = True
        elif word.startswith("--") and word in flags:
            values[name] = next(left)
        elif "which" in flags and values["which"] is None and not word.startswith("--"):
            values["which"] = word
        else:
            sys.exit(f"The fake gh doesn't know {word!r} here.")
    assert "which" not in flags or values["which"] is not None, words
    return SimpleNamespace(**values)


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def print_jq(found: object, jq: str) -> NoReturn:
    """Become jq, which prints a part of what was found."""
    write(f"{STATE}.found", json.dumps(found))
    os.dup2(os.open(f"{STATE}.found", os.O_RDONLY), 0)
    os.execvp("jq", ["jq", "--raw-output", jq])


def find(kind: str, hub: Hub, given: Options) -> dict[str, Any]:
    (found,) = [each for each in hub[kind] if given.which in (each["url"], str(each["number"]))]
    return found


def list_of(kind: str) -> Callable[[Hub, Options], None]:
    def run(hub: Hub, given: Options) -> None:
        wanted = {"state": given.state, "head": getattr(given, "head", None), "base": getattr(given, "base", None)}
        found = [each for each in hub[kind] if all(each.get(key) == value for key, value in wanted.items() if value)]
        label, app = getattr(given, "label", None), getattr(given, "app", None)
        found = [each for each in found if label is None or {"name": label} in each["labels"]]
        print_jq([each for each in found if app is None or each["author"] == app], given.jq)

    return run


def create(kind: str) -> Callable[[Hub, Options], None]:
    def run(hub: Hub, given: Options) -> None:
        number = len(hub[kind]) + 1
        texts = {"title": given.title, "body": read(given.body_file)}
        label = getattr(given, "label", None)
        assert label is None or label in hub["labels"]
        branches = {key: getattr(given, key, None) for key in ("head", "base")}
        url = f"https://github.test/{kind}/{number}"
        rest = {"state": "open", "labels": [{"name": label}] if label else [], "isCrossRepository": False}
        rest["author"] = APP
        hub[kind].append({"number": number, "url": url, **texts, **branches, **rest})
        sys.stdout.write(f"{url}\n")

    return run


def edit(kind: str) -> Callable[[Hub, Options], None]:
    def run(hub: Hub, given: Options) -> None:
        found = find(kind, hub, given)
        if given.body_file:
            found["body"] = read(given.body_file)
        if given.title:
            found["title"] = given.title
        if given.add_label:
            assert given.add_label in hub["labels"]
            found["labels"] += [{"name": given.add_label}] if {"name": given.add_label} not in found["labels"] else []
        if given.remove_label:
            found["labels"].remove({"name": given.remove_label})

    return run


def view(hub: Hub, given: Options) -> None:
    print_jq(find("pulls", hub, given), given.jq)


def comment(hub: Hub, given: Options) -> None:
    hub["comments"].append(
        {
            "id": len(hub["comments"]),
            "pull": given.which,
            "user": {"login": f"{APP}[bot]"},
            "body": read(given.body_file),
        }
    )


def close(hub: Hub, given: Options) -> None:
    found = find("issues", hub, given)
    found["state"], found["comment"] = "closed", given.comment


def repository(hub: Hub, given: Options) -> None:
    print_jq({"hasIssuesEnabled": hub["settings"]["issues"]}, given.jq)


def workflows(hub: Hub, given: Options) -> None:
    paths = {"active": ".github/workflows/weekly.yml", "dynamic": "dynamic/dependabot/dependabot-updates"}
    states = hub["settings"]["workflows"].items()
    print_jq([{"id": id, "path": paths[state]} for id, state in states if state in paths], given.jq)


def api(hub: Hub, given: Options) -> None:
    """Call the REST API: the comments of a pull request, one comment, a workflow, or the site."""
    path = given.which.removeprefix(f"repos/{os.environ['GH_REPO']}/").split("/")
    match given.method, path:
        case None, ["issues", number, "comments"]:
            print_jq([each for each in hub["comments"] if each["pull"] == number], given.jq)
        case "PATCH", ["issues", "comments", number]:
            (found,) = [each for each in hub["comments"] if str(each["id"]) == number]
            found["body"] = read(given.field.removeprefix("body=@"))
        case "PUT", ["actions", "workflows", number, "enable"]:
            hub["writes"].append(f"enable {number}")
        case None, ["pages"]:
            if not hub["settings"]["pages"]:
                sys.exit("gh: Not Found (HTTP 404)")
        case _:
            sys.exit(f"The fake gh doesn't know {given.method} {given.which}.")


def create_label(hub: Hub, given: Options) -> None:
    assert given.force
    hub["labels"][given.which] = given.color


def run_workflow(hub: Hub, given: Options) -> None:
    hub["runs"].append([given.which, given.ref])


def ignore(_hub: Hub, _given: Options) -> None:
    """Do nothing: the command only affects the local machine."""


APP = "github-actions"

COMMANDS: dict[str, tuple[str, Callable[[Hub, Options], None]]] = {
    "api": ("which --method --paginate! --silent! --field --jq", api),
    "auth setup-git": ("", ignore),
    "pr list": ("--head --base --state --json --jq", list_of("pulls")),
    "pr create": ("--base --head --title --body-file", create("pulls")),
    "pr edit": ("which --title --body-file --add-label --remove-label", edit("pulls")),
    "pr view": ("which --json --jq", view),
    "pr comment": ("which --body-file", comment),
    "label create": ("which --force! --color", create_label),
    "repo view": ("which --json --jq", repository),
    "workflow list": ("--json --jq", workflows),
    "workflow run": ("which --ref", run_workflow),
    "issue list": ("--app --label --state --limit --json --jq", list_of("issues")),
    "issue create": ("--title --label --body-file", create("issues")),
    "issue close": ("which --comment", close),
    "issue edit": ("which --title --body-file --add-label --remove-label", edit("issues")),
}

if __name__ == "__main__":
    main()
