"""A report as text: one module a format, each with one function from a report to a string."""
