"""EXP701 unregistered-output: a module returns what torch.export cannot take apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from exportlint.analysis.domain.values import Dict, Distribution, Tuple, Value
from exportlint.analysis.facts.boundary import Output
from exportlint.analysis.facts.plain import ObjectOf
from exportlint.claims import ERROR, WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.edit.statements import Draft, is_docstring
from exportlint.fixes.edit.template import call, of_generator
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.export_calls.distributions import register_distributions
from exportlint.fixes.export_calls.pytrees import register
from exportlint.registry import rule

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression

OBJECT = Claim(non_strict=always(ERROR), strict=always(ERROR))
SIZES = Claim(non_strict=always(WARNING), strict=always(WARNING))
ARRAY = Claim(non_strict=always(ERROR), strict=always(WARNING))


@rule("EXP701", "unregistered-output", Output)
def unregistered_output(fact: Output, context: Context) -> Iterator[Report]:
    """`return Result(y)`, `return y, y.dtype`, `return {y}`, `return np.ones(3)`."""
    claim = ARRAY if fact.is_array else SIZES if fact.name == "torch.Size" else OBJECT
    severity = context.severity(claim)
    if severity is WARNING:
        yield Report(
            severity,
            f"a `{fact.name}` in the output of `{fact.symbol}`: the exported program returns a "
            f"{'tensor' if fact.is_array else 'tuple'} in its place",
            "return a tensor: `torch.as_tensor(...)`" if fact.is_array else "return a tuple: `tuple(x.shape)`",
            fix=lambda code: _fix(code, fact),
        )
    elif severity is not None:
        place = "made here is in the output" if fact.is_made else "in the output"
        yield Report(
            severity,
            f"a `{fact.name}` {place} of `{fact.symbol}`: torch.export does not know this type",
            "return tensors, numbers, strings, tuples, lists and dicts, or register the class with "
            "`torch.export.register_dataclass`",
            fix=lambda code: _fix(code, fact),
        )


ITERATED = {
    "set": "tuple", "generator": "tuple", "range": "tuple",
    "dict_keys": "list", "dict_values": "list", "dict_items": "list",
}  # fmt: skip


def _fix(code: Code, fact: Output) -> Fix:
    """Callers get another type, so none of it is safe."""
    first = fact.parts[0][0]
    if isinstance(first, ObjectOf):
        return register(code, first.type.definition)
    if all(isinstance(part, Distribution) for part, _ in fact.parts):
        return register_distributions(code, [name for _, name in fact.parts])
    given = code.tree.at(code.site, ast.Yield, ast.YieldFrom)
    if given is not None:
        return _collected(code, given)
    returned = code.node(ast.Return).value
    edits: list[Draft] = []
    for part, name in fact.parts:
        node = _place(returned, fact.returned, part) if returned is not None else None
        if node is None:
            raise DeclinedError("the returned value is built elsewhere")
        edits.append(code.replace(node, _instead(code, node, name)))
    return code.fix("Return values that a program can", *edits, safe=False)


def _collected(code: Code, given: ast.expr) -> Fix:
    """A list of what a generator gives. Raises DeclinedError if it is sent something, or returns something besides."""
    function = code.tree.function(given)
    if not isinstance(function, ast.FunctionDef):
        raise DeclinedError("a generator yields its values one by one")
    own = [node for node in ast.walk(function) if code.tree.function(node) is function]
    name = code.fresh("outputs", given)
    drafts = []
    for node in own:
        statement = code.tree.parents[node]
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            if not isinstance(statement, ast.Expr) or node.value is None:
                raise DeclinedError("the caller sends values to the generator")
            template = "{name}.append({value})" if isinstance(node, ast.Yield) else "{name}.extend({value})"
            drafts.append(code.replace(statement, code.statement(template, name=name, value=node.value)))
        elif isinstance(node, ast.Return):
            if node.value is not None:
                raise DeclinedError("the generator also has a return value")
            drafts.append(code.replace(node, code.statement("return {name}", name=name)))
    first = next(s for s in function.body if not is_docstring(s))
    last = function.body[-1]
    end = code.statement("return {name}", name=name)
    if not code.statements.have_lines([first]) or not code.statements.have_lines([last]):
        raise DeclinedError("statements share their lines with others")
    drafts.append(code.statements.insert_before(first, [code.statement("{name} = []", name=name)]))
    if not isinstance(last, ast.Return):
        drafts.append(code.statements.insert_after(last, [end]))
    return code.fix("Return a list", *drafts, safe=False)


def _instead(code: Code, node: ast.expr, name: str) -> Expression:
    if name == "numpy.ndarray":
        return code.make("{as_tensor}({x})", as_tensor=code.name("torch.as_tensor", node), x=node)
    if name == "torch.Size":
        return code.make("tuple({sizes})", sizes=node)
    kind = ITERATED.get(name)
    if kind is None:
        raise DeclinedError("an exported program cannot return it in any form")
    if isinstance(node, ast.Set):
        return code.make("({*items},)", items=node.elts)
    items = code.concrete(node)
    return of_generator(kind, items) if isinstance(node, ast.GeneratorExp) else call(kind, items)


def _place(node: ast.expr, value: Value, part: Value) -> ast.expr | None:
    """The expression of a part of what an expression holds, if it stands in it."""
    if value is part:
        return node
    pairs: Iterator[tuple[ast.expr, Value]] = iter(())
    if isinstance(node, (ast.Tuple, ast.List)) and isinstance(value, Tuple) and len(node.elts) == len(value.items):
        pairs = zip(node.elts, value.items, strict=True)
    elif isinstance(node, ast.Dict) and isinstance(value, Dict):
        entries = ((k.value, v) for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant))
        pairs = ((v, held) for key, v in entries if (held := value.get(key)) is not None)
    return next((found for one, held in pairs if (found := _place(one, held, part)) is not None), None)
