"""From an error in hand to the line, the rule and what to write instead."""

from exportlint.diagnosis.explanation import Explainer, Explanation, explained
from exportlint.diagnosis.lines import NotTextError, read_lines
from exportlint.diagnosis.log import LoggedError, read_errors

__all__ = ["Explainer", "Explanation", "LoggedError", "NotTextError", "explained", "read_errors", "read_lines"]
