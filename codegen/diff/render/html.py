"""The report as one self-contained HTML page: old and new side by side, with filters by verdict, role and code."""

from __future__ import annotations

import base64
import hashlib
import re
from difflib import SequenceMatcher
from pathlib import Path

from markupsafe import Markup, escape

from codegen.diff.proposed_renames import INVITATION, proposed_text
from codegen.diff.render.grouping import (
    FLOWS,
    REPORTED_ONLY,
    WORST_FIRST,
    by_profile,
    counts,
    groups,
    headline,
    profile_title,
    unsafe_axes,
    user_code_line,
)
from codegen.diff.report import Report
from codegen.diff.verdict.failures import UNPREDICTED
from codegen.diff.verdict.findings import NOWHERE, Finding
from codegen.emit.rendering import Templates

_FOLDER = Path(__file__).parent
_TEMPLATES = Templates(_FOLDER, autoescape=True, trim_blocks=True, lstrip_blocks=True)
_TEMPLATE, _SCRIPT = "report.html.jinja", "report.js"
_VERDICTS = [each.word for each in WORST_FIRST]
_FILTERS = (
    ("verdict", "Verdict", dict(zip(_VERDICTS, _VERDICTS, strict=True))),
    ("role", "For", {"agent": "agents", "client": "clients"}),
    ("code", "Whose code", {"builds": "builds it", "reads": "reads it"}),
)
# Added if user code was checked.
_USER_CODE_FILTER = ("user", "User code", {"fails": "fails", "passes": "passes"})
# The axes that matter to code that moves to the new bindings. It builds messages for old peers and reads messages from
# them, so a wire axis belongs to each.
_CODE = {"builds": ("old_peer", "build"), "reads": ("new_peer", "read", "implement")}


def html(report: Report) -> str:
    """Render the report as an HTML page."""
    script = (_FOLDER / _SCRIPT).read_text("utf-8")
    return _TEMPLATES.render(
        _TEMPLATE,
        report=report,
        headline=headline(report),
        user_code=user_code_line(report),
        unpredicted=UNPREDICTED,
        invitation=INVITATION,
        renames=proposed_text(report),
        profiles={name: (groups(found), counts(found)) for name, found in by_profile(report).items()},
        verdicts=_VERDICTS,
        filters=(*_FILTERS, _USER_CODE_FILTER) if report.user_code else _FILTERS,
        flows=FLOWS,
        profile_title=profile_title,
        information=REPORTED_ONLY if any(each.reports_only for each in report.findings) else "",
        sides=_sides,
        axes=unsafe_axes,
        verdicts_for_code=_verdicts_for_code,
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _verdicts_for_code(finding: Finding) -> dict[str, str]:
    """Return the verdict for each role's code that builds or reads the changed object, such as `agent-reads`."""
    verdicts, does = finding.verdicts.by_axis(), {"builds": finding.writers, "reads": finding.readers}
    return {
        f"{role}-{code}": max(verdicts[axis] for axis in axes).word
        for role in ("agent", "client")
        for code, axes in _CODE.items()
        if role in does[code] or finding.flow == NOWHERE
    }


def _sides(before: str, after: str) -> tuple[Markup, Markup]:
    """Return both texts, each with the words marked that the other text lacks."""
    old, new = (re.findall(r"\w+|\s+|.", text) for text in (before, after))
    left, right = Markup(), Markup()
    for kind, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        same = kind == "equal" or not before or not after
        left += _marked("".join(old[start:end]), "" if same else "del")
        right += _marked("".join(new[first:last]), "" if same else "ins")
    return left, right


def _marked(text: str, tag: str) -> Markup:
    return Markup(f"<{tag}>{escape(text)}</{tag}>") if text and tag else escape(text)
