"""Dictionaries whose keys hold a number that is read from a tensor, as a choice between all of their values.

`self.heads[f"task_{k.item()}"](x)` becomes
`hits = torch.tensor([int(key.removeprefix("task_")) for key in self.heads]) == k` and
`torch.stack([head(x) for head in self.heads.values()]).index_select(0, hits.int().argmax().reshape(1)).squeeze(0)`,
behind a check that there is such a key.

Never safe: all modules run, the values need one shape and dtype, and every key has to be such a text.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exportlint.analysis.domain.lattice import options
from exportlint.analysis.domain.values import Const, Dict, TorchModule
from exportlint.fixes.control_flow.bodies import is_tensor
from exportlint.fixes.edit.template import call, dotted, expression, method, string
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.numbers.operands import operand
from exportlint.fixes.proofs.called_variables import calls_of
from exportlint.fixes.proofs.liveness import assigned
from exportlint.fixes.proofs.observed_values import builtin
from exportlint.fixes.proofs.purity import is_pure, may_repeat, require_first

if TYPE_CHECKING:
    from exportlint.findings import Fix
    from exportlint.fixes.edit.code import Code
    from exportlint.fixes.edit.statements import Draft
    from exportlint.fixes.edit.template import Expression

MESSAGE = "Compare with all keys, and choose from all values"
DICTS = frozenset({"torch.nn.ModuleDict", "torch.nn.ParameterDict"})


@dataclass(frozen=True, slots=True)
class _Text:
    """A text with one number in it."""

    number: ast.expr
    before: str = ""
    behind: str = ""


def text_key_fix(code: Code) -> Fix:
    """Use all values of a dictionary, and choose one by a comparison of its keys with the number in a text.

    Raises:
        DeclinedError: the text is another one, or what there is to choose from is no tensor.
    """
    asked, table, key, default = _lookup(code)
    text = _text(code, key)
    if not (may_repeat(code, table) or (isinstance(table, ast.Dict) and is_pure(code, table))):
        raise DeclinedError("the dictionary would be evaluated more than once")
    found = operand(code, text.number)
    if found is None:
        raise DeclinedError("it is not known which tensor the key is read from")
    statement = code.tree.statement(asked)
    require_first(code, statement, text.number)
    hits = code.fresh("hits", statement)
    name = code.fresh("key", statement)
    keys = code.make("[{number} for {name} in {table}]", number=_number_in(name, text), name=name, table=table)
    made = call(code.name("torch.tensor", statement), keys)
    lines = [code.statement("{hits} = {keys} == {asked}", hits=hits, keys=made, asked=found.source)]
    if default is None:
        check, message = code.name("torch._assert_async", statement), code.string("there is no such key")
        lines.append(code.statement("{check}({hits}.any(), {message})", check=check, hits=hits, message=message))
    chosen = _Chosen(code, asked, table, code.make("{hits}.int().argmax().reshape(1)", hits=hits), hits, default)
    edits = chosen.of_values() or chosen.of_modules()
    if isinstance(edits, list):  # the modules are called further below
        return code.fix(MESSAGE, code.statements.replace([statement], lines), *edits, safe=False)
    return code.fix(MESSAGE, code.statements.insert_before(statement, lines), edits, safe=False)


def _lookup(code: Code) -> tuple[ast.expr, ast.expr, ast.expr, ast.expr | None]:
    """`table[key]` or `table.get(key, default)`: all of it, the dictionary, the key, and what stands for no key."""
    node = code.expression
    for each in (node, code.tree.parents[node]):
        match each:
            case ast.Subscript(value=table, slice=key, ctx=ast.Load()):
                return each, table, key, None
            case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[key, default], keywords=[]):
                return each, table, key, default
    raise DeclinedError("the text is not a key of a dictionary")


def _text(code: Code, node: ast.expr) -> _Text:
    match node:
        case ast.Call(args=[number], keywords=[]) if builtin(code, node) == "str":
            return _Text(number)
        case ast.JoinedStr(values=values):
            constants = [str(v.value) if isinstance(v, ast.Constant) else None for v in values]
            places = [index for index, one in enumerate(constants) if one is None]
            if len(places) == 1:
                only = values[places[0]]
                assert isinstance(only, ast.FormattedValue)
                if only.format_spec is None and only.conversion in {-1, ord("s")}:
                    before = "".join(one for one in constants[: places[0]] if one)
                    return _Text(only.value, before, "".join(one for one in constants[places[0] + 1 :] if one))
    raise DeclinedError("the text holds more than one number, or formats it")


def _number_in(key: str, text: _Text) -> Expression:
    found = dotted(key)
    if text.before:
        found = method(found, "removeprefix", string(text.before))
    if text.behind:
        found = method(found, "removesuffix", string(text.behind))
    return call("int", found)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What is looked up: `asked` gives the value of `table` at `index`, a tensor, if one of `hits` is true."""

    code: Code
    asked: ast.expr
    table: ast.expr
    index: Expression
    hits: str
    default: ast.expr | None

    def of_values(self) -> Draft | None:
        """The edit of a value that is a tensor or a number; None if it is something else."""
        code, held = self.code, self.code.value(self.table)
        values = [value for _, value in held.entries] if isinstance(held, Dict) and held.rest is None else []
        if values and all(map(is_tensor, values)):
            stack = code.name("torch.stack", self.asked)
            template = "{stack}(list({table}.values())).index_select(0, {index}).squeeze(0)"
            row = code.make(template, stack=stack, table=self.table, index=self.index)
        elif values and all(isinstance(value, Const) and type(value.value) in (int, float) for value in values):
            made = code.make("{made}(list({table}.values()))", made=code.name("torch.tensor"), table=self.table)
            row = method(call(code.name("torch.where", self.asked), self.hits, made, 0), "sum")
        else:
            return None
        if self.default is not None:
            found = code.make("{hits}.any()", hits=self.hits)
            row = call(code.name("torch.where", self.asked), found, row, code.concrete(self.default))
        return code.replace(self.asked, row)

    def of_modules(self) -> Draft | list[Draft]:
        """The edit of a call of a module, or those of the calls of a variable that holds it. Raises DeclinedError."""
        code, around = self.code, self.code.tree.parents[self.asked]
        is_known = all(isinstance(o, TorchModule) and o.name in DICTS for o in options(code.value(self.table)))
        if not is_known or self.default is not None:
            raise DeclinedError("the choices are neither modules nor tensors")
        if isinstance(around, ast.Call) and around.func is self.asked:
            return code.replace(around, self._result(around))
        match around:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is self.asked:
                block, first = code.tree.block(around), code.tree.index(around)
                names = {n.id for n in ast.walk(self.table) if isinstance(n, ast.Name)}
                calls = calls_of(code, around, name)
                if any(names & assigned(block[first + 1 : index]) for index, _ in calls):
                    raise DeclinedError("the dictionary means something else where the module is called")
                return [code.replace(made, self._result(made)) for _, made in calls]
        raise DeclinedError("the chosen module is not called there")

    def _result(self, made: ast.Call) -> Expression:
        """What the modules give for the arguments of a call, and the choice of one. Raises DeclinedError."""
        code = self.code
        given = [*made.args, *(keyword.value for keyword in made.keywords)]
        if not all(is_pure(code, argument) for argument in given):
            raise DeclinedError("an argument would be evaluated more than once")
        name, stack = code.fresh("layer", made), code.name("torch.stack", made)
        result = code.concrete(made, {made.func: expression("{name}", name=name)})
        template = "{stack}([{result} for {name} in {table}.values()]).index_select(0, {index}).squeeze(0)"
        return code.make(template, stack=stack, result=result, name=name, table=self.table, index=self.index)
