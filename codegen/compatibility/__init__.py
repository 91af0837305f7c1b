"""Run code that was right for older releases of the schema with today's package, and write a page of the results.

The old code is generated from each release's schema. Whatever fails must be attached to a finding of `codegen.diff`.
"""
