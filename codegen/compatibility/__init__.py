"""Run code that was right for older schemas with the bindings of newer ones, and attach each failure to a finding.

The old code is somebody's, as a commit has it (`user_code`), or it is generated from the old schema (`uses`). A failure
that no finding of `codegen.diff` predicts shows that the report is incomplete. `page` shows the results of all
releases.
"""
