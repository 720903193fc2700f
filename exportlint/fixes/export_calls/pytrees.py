"""Classes that torch.export can take apart once they are registered.

`torch.export.register_dataclass(Output)` is inserted behind `class Output`.

Needs: a dataclass at the top of the file whose objects are no more than their fields. Never safe: what maps over trees
of tensors looks into its objects then.
"""

from __future__ import annotations

import ast

from exportlint.analysis.domain.trails import Site, site_of
from exportlint.analysis.domain.values import ClassValue, External
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.observed_values import is_named
from exportlint.syntax.definitions import Class

BASES = frozenset({"builtins.object", "typing.Generic", "abc.ABC"})
BUILDS = frozenset({"__init__", "__new__", "__post_init__"})
"""Methods that run once more when the program makes an object of its fields."""


def register(code: Code, definition: Site) -> Fix:
    """Registers a dataclass of the file. Not safe: what maps over trees of tensors then looks into its objects.

    Raises:
        DeclinedError: the class is no dataclass, or its objects are more than their fields.
    """
    cls = next((cls for cls in code.module.classes if site_of(code.module, cls.node) == definition), None)
    if cls is None or "." in cls.qualname:
        raise DeclinedError("the class does not stand at the top of this file")
    if not _is_made_of_fields(code, cls):
        raise DeclinedError("an object of the class is more than the fields of a dataclass")
    function = code.name("torch.export.register_dataclass", cls.node)
    call = code.statement("{f}({cls})", f=function, cls=cls.node.name)
    insertion = code.statements.insert_after(cls.node, [call], blank_lines=2)
    return code.fix(f"Register `{cls.node.name}`", insertion, safe=False)


def _is_made_of_fields(code: Code, cls: Class) -> bool:
    decorators = (d.func if isinstance(d, ast.Call) else d for d in cls.node.decorator_list)
    return (
        any(is_named(code.value(decorator), "dataclasses.dataclass") for decorator in decorators)
        and not BUILDS & cls.methods.keys()
        and not any(_is_no_field(code, statement) for statement in cls.node.body)
        and all(_is_base(code, base) for base in cls.node.bases)
    )


def _is_no_field(code: Code, statement: ast.stmt) -> bool:
    """Whether a line of a dataclass is about a value that the constructor does not take, or does not keep."""
    if not isinstance(statement, ast.AnnAssign):
        return False
    options = statement.value.keywords if isinstance(statement.value, ast.Call) else ()
    kind = statement.annotation.value if isinstance(statement.annotation, ast.Subscript) else statement.annotation
    return any(option.arg == "init" for option in options) or is_named(code.value(kind), "dataclasses.InitVar")


def _is_base(code: Code, base: ast.expr) -> bool:
    value = code.value(base.value if isinstance(base, ast.Subscript) else base)
    if isinstance(value, ClassValue):
        return _is_made_of_fields(code, value.definition)
    return isinstance(value, External) and value.name in BASES
