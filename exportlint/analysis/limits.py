"""How far the analysis of one class goes, in work and in time, and what is said where it goes no further."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from exportlint.analysis.domain.trails import Site
from exportlint.analysis.facts import Fact
from exportlint.syntax.definitions import Class, Module

MAX_STEPS = 400_000
"""Expressions evaluated for one exported class, besides those that its length grants."""
MAX_STEPS_PER_LINE = 50
MAX_CONSTRUCTOR_STEPS = 50_000
"""Expressions evaluated for one call in a constructor: that is not what is exported."""
MAX_GLOBAL_STEPS = 20_000
"""Expressions evaluated for one assignment of a module."""
MAX_SCRIPT_STEPS = 60_000
"""Expressions evaluated for the code of one file that calls torch.export."""
MAX_DEPTH = 100
"""Calls inside each other."""
MAX_BASES = 200
"""Classes that a class inherits from."""
MAX_KEPT = 2_000_000
"""Variables that a probe keeps for fixes, summed up over its snapshots."""
MAX_SECONDS = 20
"""Processor time for one exported class."""
MAX_FILE_SECONDS = 60
"""Processor time for all classes of a file."""

MAX_PASSES = 64
"""Passes over the body of a loop, of which those behind the first few are widened."""
MAX_RUNS = 16
"""Runs of a recursive function with one set of arguments, until its result grows no more."""
MAX_CONSTRUCTORS = 40
"""Constructors inside each other."""

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
    """The limits of an analysis, by what people call them."""
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

    `inside` is the function in which the limit was reached, if it was one.
    """

    limit: Limit
    name: str = ""
    inside: Reached | None = None


@dataclass(frozen=True, slots=True)
class Reached:
    """A limit that was reached in a function or, of module level, a variable: its name, its module, its line."""

    limit: Limit
    symbol: str = ""
    module: str = ""
    row: int = 0


def limited(cls: Class, reached: Reached) -> AnalysisLimit:
    """What is said at the header of a class."""
    node = cls.node
    end = node.col_offset + len(f"class {node.name}".encode())
    site = Site(cls.module.filename, node.lineno, node.col_offset, node.lineno, end)
    inside = reached if reached.symbol else None
    return AnalysisLimit(site, cls.qualname, False, None, reached.limit, node.name, inside)


def limited_script(module: Module) -> AnalysisLimit:
    """What is said of the statements of a file that call torch.export."""
    first = next((node for node in module.tree.body if not isinstance(node, ast.Expr)), module.tree.body[0])
    site = Site(module.filename, first.lineno, first.col_offset, first.lineno, first.col_offset + 1)
    return AnalysisLimit(site, "", False, None, "script")


def steps_of(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, least: int) -> int:
    """The expressions that may be evaluated for code: `least`, and more where it is long."""
    return least + MAX_STEPS_PER_LINE * ((node.end_lineno or node.lineno) - node.lineno)
