"""The limits of the analysis, in evaluations and in time, and the fact that reports that one was reached."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from exportlint.analysis.domain.trails import Site
from exportlint.analysis.facts import Fact
from exportlint.syntax.definitions import Class, Module

MAX_STEPS = 400_000
"""The most expressions evaluated for one exported class, in addition to those granted for its length."""
MAX_STEPS_PER_LINE = 50
MAX_CONSTRUCTOR_STEPS = 50_000
"""The most expressions evaluated for one call in a constructor, which is not exported."""
MAX_GLOBAL_STEPS = 20_000
"""The most expressions evaluated for one assignment at the top level of a module."""
MAX_SCRIPT_STEPS = 60_000
"""The most expressions evaluated for the code of one file that calls torch.export."""
MAX_DEPTH = 100
"""The most levels of nested calls."""
MAX_BASES = 200
"""The most classes that one class inherits from."""
MAX_KEPT = 2_000_000
"""The most variables that a probe keeps for fixes, summed over its snapshots."""
MAX_SECONDS = 20
"""The most seconds of processor time for one exported class."""
MAX_FILE_SECONDS = 60
"""The most seconds of processor time for all classes of a file."""

MAX_PASSES = 64
"""The most passes over the body of a loop; after the first few, variables are widened."""
MAX_RUNS = 16
"""The most runs of a recursive function with the same arguments; usually its result stops growing earlier."""
MAX_CONSTRUCTORS = 40
"""The most levels of nested constructor calls."""

Limit = Literal[
    "recursion", "bases", "depth", "evaluations", "constructor", "constructors", "global", "loop", "runs", "seconds",
    "file", "script",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Bound:
    """What a limit allows: `value` of `unit` for one `scope`."""

    value: int
    unit: str
    scope: str


def bounds() -> dict[str, Bound]:
    """The limits by the names that `--show-limits` prints."""
    return {
        "evaluations": Bound(MAX_STEPS, "evaluations", "exported class"),
        "evaluations-per-line": Bound(
            MAX_STEPS_PER_LINE,
            "evaluations, in addition to `evaluations`",
            "line of the class and of the functions that it calls",
        ),
        "constructor": Bound(MAX_CONSTRUCTOR_STEPS, "evaluations", "call in a constructor"),
        "global": Bound(MAX_GLOBAL_STEPS, "evaluations", "value of a global variable"),
        "script": Bound(MAX_SCRIPT_STEPS, "evaluations", "file, for its code that calls torch.export"),
        "loop": Bound(MAX_PASSES, "passes", "loop"),
        "runs": Bound(MAX_RUNS, "runs", "recursive function and its arguments"),
        "constructors": Bound(MAX_CONSTRUCTORS, "constructors inside each other", "exported class"),
        "depth": Bound(MAX_DEPTH, "calls inside each other", "exported class"),
        "bases": Bound(MAX_BASES, "base classes", "class"),
        "seconds": Bound(MAX_SECONDS, "seconds of processor time", "exported class"),
        "file": Bound(MAX_FILE_SECONDS, "seconds of processor time", "file"),
    }


@dataclass(frozen=True, slots=True)
class AnalysisLimit(Fact):
    """The analysis of a class is cut short. `name` is the class, empty for the script in a file.

    `inside` is the function in which the limit was reached, if it was reached in a function.
    """

    limit: Limit
    name: str = ""
    inside: Reached | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a limit was reached: the name of the function or module-level variable, its module, and the line."""

    limit: Limit
    symbol: str = ""
    module: str = ""
    row: int = 0


def limited(cls: Class, reached: Reached) -> AnalysisLimit:
    """The fact that the analysis of a class stopped at a limit, at the header of the class."""
    node = cls.node
    end = node.col_offset + len(f"class {node.name}".encode())
    site = Site(cls.module.filename, node.lineno, node.col_offset, node.lineno, end)
    inside = reached if reached.symbol else None
    return AnalysisLimit(site, cls.qualname, False, None, reached.limit, node.name, inside)


def limited_script(module: Module) -> AnalysisLimit:
    """The fact that the analysis of the statements that call torch.export stopped at a limit."""
    first = next((node for node in module.tree.body if not isinstance(node, ast.Expr)), module.tree.body[0])
    site = Site(module.filename, first.lineno, first.col_offset, first.lineno, first.col_offset + 1)
    return AnalysisLimit(site, "", False, None, "script")


def steps_of(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, least: int) -> int:
    """The number of expressions that may be evaluated for a definition: `least`, plus some for each of its lines."""
    return least + MAX_STEPS_PER_LINE * ((node.end_lineno or node.lineno) - node.lineno)
