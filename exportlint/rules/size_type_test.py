"""EXP404 size-type-test: the type of a size is asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.values import External, Scalar
from exportlint.analysis.facts import Conversion
from exportlint.analysis.facts.sizes import SizeConversion
from exportlint.claims import WARNING, Claim, Context, Report, always
from exportlint.findings import Fix
from exportlint.fixes.edit.code import Code
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.proofs.size_values import is_size
from exportlint.registry import rule

SYMBOLIC = {"int": "torch.SymInt", "float": "torch.SymFloat", "bool": "torch.SymBool"}
PATTERN = "class pattern"
CLAIM = Claim(non_strict=always(WARNING), strict=always(None))


@rule("EXP404", "size-type-test", SizeConversion, Conversion)
def size_type_test(fact: SizeConversion | Conversion, context: Context) -> Iterator[Report]:
    """`isinstance(x.shape[0], int)`, `type(n) is int`, `isinstance(t.item(), float)`."""
    severity = context.severity(CLAIM)
    if fact.target not in {"isinstance()", "type()", PATTERN} or severity is None:
        return
    if isinstance(fact, Conversion):
        what, known = "a number read from a tensor", fact.operand.kind
    elif fact.varies:
        what, known = "a dynamic size", "int"
    else:
        return
    kind = known or "int"
    symbolic = SYMBOLIC[kind]
    is_pattern = fact.target == PATTERN
    instead = f"ask for `isinstance(n, ({kind}, {symbolic}))`"
    yield Report(
        severity,
        f"during export {what} is a `{symbolic}` and no `{kind}`: the other way is exported",
        f"write `case {kind}() | {symbolic}():`" if is_pattern else instead,
        fix=None if is_pattern else lambda code: _fix(code, known),
    )


def _fix(code: Code, kind: str | None) -> Fix:
    test: ast.expr = code.node(ast.Call, ast.Compare)
    parent = code.tree.parents[test]
    if isinstance(parent, ast.Compare) and parent.left is test:
        test = parent
    number, expected, is_negated = _asked(test)
    named = [*expected.elts] if isinstance(expected, ast.Tuple) else [expected]
    asked = {code.value(part) for part in ast.walk(expected) if isinstance(part, ast.expr)}
    kinds = [k for k in SYMBOLIC if External(f"builtins.{k}") in asked and kind in {k, None}]
    if not kinds:
        raise DeclinedError("it asks for another type")
    symbolic = [code.name(SYMBOLIC[k]) for k in kinds]
    asks = code.make("isinstance({number}, ({*kinds},))", number=number, kinds=[*named, *symbolic])
    asks = code.make("not {asks}", asks=asks) if is_negated else asks
    is_same = code.surely(lambda v: is_size(v) or (isinstance(v, Scalar) and v.kind in {"int", "float"}), number)
    return code.fix(f"Ask for `{'`, `'.join(symbolic)}` as well", code.replace(test, asks), safe=is_same)


def _asked(test: ast.expr) -> tuple[ast.expr, ast.expr, bool]:
    """A number, the type that it is asked to have, and whether it is asked not to have it. Raises DeclinedError."""
    match test:
        case ast.Call(args=[number, expected]):
            return number, expected, False
        case ast.Compare(left=ast.Call(args=[number]), ops=[ast.Is() | ast.Eq()], comparators=[expected]):
            return number, expected, False
        case ast.Compare(left=ast.Call(args=[number]), ops=[ast.IsNot() | ast.NotEq()], comparators=[expected]):
            return number, expected, True
    raise DeclinedError("it is no plain question for a type")
