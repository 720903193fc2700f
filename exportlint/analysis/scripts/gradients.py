"""Which classes code exports without recording gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from exportlint.analysis.domain.script_values import Model
from exportlint.analysis.facts import Fact
from exportlint.analysis.facts.exports import ExportCall
from exportlint.syntax.definitions import FunctionNode, Module, dotted
from exportlint.syntax.walk import once_a_node, walk

SWITCHES = ("requires_grad", "set_grad_enabled", "freeze")
"""What the text of a file holds that switches gradients off for parameters, or for all code."""
CONTEXTS = frozenset({"no_grad", "inference_mode"})


def exported_without_gradients(module: Module, facts: Iterable[Fact]) -> frozenset[str]:
    """The full names of the classes of a file that may be exported without recording gradients.

    These are all if the file switches gradients of a tensor, module or thread; else those that it only exports under
    `torch.no_grad` or `torch.inference_mode`.
    """
    if any(word in module.source.text for word in SWITCHES) and any(map(_switches, module.tree.body)):
        return frozenset(cls.full_name for cls in module.classes)
    calls = [fact for fact in facts if isinstance(fact, ExportCall) and isinstance(fact.target, Model)]
    places = _without_gradients(module) if calls else ()
    found: dict[str, bool] = {}
    for fact in calls:
        assert isinstance(fact.target, Model)
        if fact.target.definition is not None:
            name = fact.target.definition.full_name
            found[name] = found.get(name, True) and any(fact.site.row in rows for rows in places)
    return frozenset(name for name, is_without in found.items() if is_without)


@once_a_node
def _switches(statement: ast.stmt) -> bool:
    """Whether a statement switches gradients anywhere."""
    return any(map(_is_switch, walk(statement)))


def _is_switch(node: ast.AST) -> bool:
    """Whether code sets a `requires_grad`, or calls what does: `requires_grad_`, `freeze_backbone`."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr == "requires_grad"
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in {"requires_grad_", "set_grad_enabled"} or "freeze" in name


def _without_gradients(module: Module) -> Sequence[range]:
    """The rows of `with torch.no_grad():` and of functions under `@torch.no_grad()`."""
    found: list[range] = []
    for node in walk(module.tree):
        if isinstance(node, FunctionNode):
            contexts = node.decorator_list
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            contexts = [item.context_expr for item in node.items]
        else:
            continue
        named = [dotted(context.func if isinstance(context, ast.Call) else context) or "" for context in contexts]
        if any(name.rpartition(".")[2] in CONTEXTS for name in named):
            found.append(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found
