"""EXP309 parameter-in-forward: parameters that a call makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.state import ParametersMade
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.state.hoist_to_init import attribute_made_once, value_made_once
from exportlint.registry import rule

CLAIM = Claim(non_strict=always(WARNING), strict=always(ERROR))
OF_MODULE = Claim(non_strict={(2, 4): ERROR, (2, 9): WARNING}, strict=always(ERROR))
"""Modules initialize their parameters in place, which torch 2.6 cannot trace."""
FROZEN = Claim(non_strict=always(None), strict=always(ERROR))


@rule("EXP309", "parameter-in-forward", ParametersMade)
def parameter_in_forward(fact: ParametersMade, context: Context) -> Iterator[Report]:
    """`nn.Parameter(torch.ones(4))`, `nn.Linear(4, 4)(x)` in `forward`."""
    name = fact.api.rpartition(".")[2]
    severity = context.severity(_claim(name) if fact.trained else FROZEN, guarded=fact.guarded)
    if severity is None:
        return
    made = "a parameter" if name == "Parameter" else f"the parameters of `{name}`"
    if severity is ERROR:
        message = f"forward creates {made}, which torch.export rejects"
    else:
        message = f"forward creates {made}: in the exported program they are constants without gradients"
    yield Report(severity, message, "create it in `__init__` and assign it to an attribute of the module", fix=_fix)


def _claim(name: str) -> Claim:
    return CLAIM if name == "Parameter" else OF_MODULE


def _fix(code: Code) -> Fix:
    """Its first values are drawn once, and it keeps what training makes of it."""
    made = code.node(ast.Call)
    statement = code.tree.parents[made]
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(target, ast.Attribute):
        drafts = attribute_made_once(code, target, is_buffer=False)
    else:
        name = target.id if isinstance(target, ast.Name) else code.text(made.func).rpartition(".")[2].lower()
        drafts = value_made_once(code, made, name)
    return code.fix("Create it in `__init__`", *drafts, safe=False)
