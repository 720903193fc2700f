"""Fixes files: what is fixed is linted again, together with all files whose code it is used by, before it counts.

Nothing is written while files are being fixed, so whoever ends that early finds all of them as they were. Then each is
replaced as a whole, unless it is no longer what was read.
"""

from __future__ import annotations

from exportlint.fixer.edited import EditError, edited
from exportlint.fixer.file import MAX_ROUNDS, repair, wanted
from exportlint.fixer.job import Job, Repair
from exportlint.fixer.project import Fixed, FixResult, fix
from exportlint.fixer.verdict import Mark
from exportlint.fixer.write import write, write_all

__all__ = [
    "MAX_ROUNDS",
    "EditError",
    "FixResult",
    "Fixed",
    "Job",
    "Mark",
    "Repair",
    "edited",
    "fix",
    "repair",
    "wanted",
    "write",
    "write_all",
]
