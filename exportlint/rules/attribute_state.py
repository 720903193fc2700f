"""EXP306 attribute-state: a Python attribute that one call leaves behind for the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.facts.state import StateChange
from exportlint.claims import ERROR, INFO, WARNING, Claim, Context, Report, always, before
from exportlint.findings import Fix
from exportlint.fixes.eager_only.reports import asks_exporting, eager_only
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft
from exportlint.fixes.errors import DeclinedError, InapplicableError
from exportlint.fixes.state.constructor import Constructor, class_that_assigns
from exportlint.fixes.state.first_values import late_attribute
from exportlint.fixes.state.hoist_to_init import attribute_made_once
from exportlint.fixes.state.places import (
    class_attribute,
    class_of_object,
    first_value,
    keep,
    keep_object,
    own_attribute,
)
from exportlint.fixes.state.windows import keep_window
from exportlint.registry import rule

CHECKED = {(2, 4): ERROR, (2, 13): WARNING}
CHECKED_UNUSED = {(2, 4): ERROR, (2, 13): INFO}
USED = Claim(non_strict=always(WARNING), strict=always(WARNING))
USED_TENSOR = Claim(non_strict=CHECKED, strict=CHECKED)
USED_NEW = Claim(non_strict=CHECKED, strict=always(WARNING))
USED_LAZY = Claim(non_strict=always(WARNING), strict=CHECKED)
UNUSED = Claim(non_strict=always(INFO), strict=always(INFO))
UNUSED_TENSOR = Claim(non_strict=CHECKED_UNUSED, strict=CHECKED_UNUSED)
UNUSED_NEW = Claim(non_strict=CHECKED_UNUSED, strict=always(INFO))
UNUSED_LAZY = Claim(non_strict=always(INFO), strict=CHECKED_UNUSED)
REPLACED = Claim(non_strict=before((2, 13)), strict=before((2, 13)))
REPLACED_MODULE = Claim(non_strict=always(None), strict=before((2, 13)))


@rule("EXP306", "attribute-state", StateChange)
def attribute_state(fact: StateChange, context: Context) -> Iterator[Report]:
    """`self.calls += 1`, `self.previous = x`, `if self.first is None: self.first = x.mean()`."""
    if fact.holder not in {"module", "object", "class"} or fact.contents:
        return
    severity = context.severity(_claim(fact), guarded=fact.guarded)
    if severity is None:
        return
    if fact.is_module:
        message = f"`{fact.name}` is bound to a module in forward, which torch.export rejects up to torch 2.9"
        instead = "create it in `__init__`"
    elif fact.carried:
        message = (
            f"state written to `{fact.name}` is lost: each run of the exported program sees the value it had at export"
        )
        instead = "keep it in a buffer (`register_buffer`) and update the buffer in place"
    else:
        message = f"`{fact.name}` is assigned only while exporting; the exported program does not assign it"
        instead = f"use a local variable, or skip the assignment with `if not {asks_exporting(context.version)}():`"
    yield Report(severity, message, instead, fix=lambda code: _fix(code, fact, context))


def _fix(code: Code, fact: StateChange, context: Context) -> Fix:
    if fact.is_module:
        raise DeclinedError("it may depend on the call")
    target = code.node(ast.Attribute)
    if not fact.carried:
        if fact.holder != "module":
            raise DeclinedError("other code may read it")
        if fact.before == "none":
            return code.fix(
                "Register a buffer", *attribute_made_once(code, target, is_buffer=fact.is_tensor), safe=False
            )
        return _forgotten(code, target, context)
    message = f"Keep it in a buffer{', if the sizes agree' if fact.is_tensor else ''}"
    return code.fix(message, *_kept(code, target, fact), safe=False)


def _kept(code: Code, target: ast.Attribute, fact: StateChange) -> list[Draft]:
    """What becomes of an attribute that later calls read. Raises DeclinedError."""
    name = target.attr
    if fact.holder == "object":
        made = class_of_object(code, target)
        return keep_object(code, made, name)
    constructor = class_that_assigns(code, target, name)
    if fact.holder == "class" or not constructor.assigns(name):
        try:
            place = late_attribute(constructor, name)
        except InapplicableError:
            place = class_attribute(constructor, name)
        return keep(code, constructor, place)
    try:
        return keep_window(code, constructor, name)
    except InapplicableError:
        place = own_attribute(constructor, name)
    return first_value(code, constructor, place) or keep(code, constructor, place)


def _forgotten(code: Code, target: ast.Attribute, context: Context) -> Fix:
    """What no later call needs is a variable if this one reads it; else the program does not need it at all."""
    constructor = Constructor(code, target)
    constructor.require_private(target.attr)
    uses = constructor.uses(target.attr)
    if not any(isinstance(use.ctx, ast.Load) for use in uses):
        statement = code.tree.statement(target)
        return code.fix("Skip it during export", eager_only(code, [statement], context.version), safe=False)
    if any(code.tree.function(use) is not code.tree.function(target) for use in uses):
        raise DeclinedError("other code reads it")
    variable = code.fresh(target.attr.lstrip("_"), target)
    return code.fix(
        "Use a local variable", *(code.replace(use, code.make("{name}", name=variable)) for use in uses), safe=False
    )


def _claim(fact: StateChange) -> Claim:
    if fact.is_module:
        return REPLACED_MODULE if fact.before == "module" else REPLACED
    if fact.holder == "class":  # a new value of any kind, as of tensors
        return USED_LAZY if fact.carried else UNUSED_LAZY
    if fact.holder != "module":
        return USED if fact.carried else UNUSED
    if fact.is_tensor and fact.before in {"tensor", "nothing"}:
        return USED_TENSOR if fact.carried else UNUSED_TENSOR
    if fact.before == "nothing" and fact.beside_tensors:
        return USED_TENSOR if fact.carried else UNUSED_TENSOR
    if fact.before == "nothing":
        return USED_NEW if fact.carried else UNUSED_NEW
    if fact.is_tensor or fact.beside_tensors:
        return USED_LAZY if fact.carried else UNUSED_LAZY
    return USED if fact.carried else UNUSED
