"""What the code of a project makes of its classes, and what it calls them with: read from the source, nothing runs."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from exportlint.analysis.domain.values import ClassValue, Function, Value
from exportlint.analysis.eval.engine import Engine
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.names import named_value, top_level_value
from exportlint.syntax.definitions import Class, FunctionNode, Module, dotted, imported
from exportlint.verify.targets.conftests import Conftests
from exportlint.verify.targets.registries import Registries, entries_of, look_up
from exportlint.verify.targets.replacing import replaced
from exportlint.verify.targets.signatures import parameters
from exportlint.verify.targets.slices import Scope, own_expressions, scopes, slice_of

Made: TypeAlias = "Class | tuple[Made, ...] | Choice | ast.Dict | Imported | None"
"""What a call returns: an instance of a class, or several; or a dictionary, as it is written; or an import."""

_SAME = frozenset({"to", "cuda", "cpu", "eval", "train", "float", "double", "half", "requires_grad_", "apply"})
"""Methods of a model that return it."""
_MOST_CALLS = 8
"""How many calls deep it is looked for what a function returns."""
_MOST_ENTRIES = 32
"""How many entries of a registry are looked at."""

_TRACERS: Mapping[str, tuple[int, tuple[str, ...], str]] = {
    "torch.jit.trace": (1, ("example_inputs",), "{}"),
    "torch.onnx.export": (1, ("args",), "{}"),
    "torch.export.export": (1, ("args",), "{}"),
    "thop.profile": (1, ("inputs",), "{}"),
    "fvcore.nn.FlopCountAnalysis": (1, ("inputs",), "{}"),
    "fvcore.nn.flop_count": (1, ("inputs",), "{}"),
    "torchinfo.summary": (1, ("input_data", "input_size"), "__import__('torch').rand({})"),
    "torchsummary.summary": (1, ("input_size",), "__import__('torch').rand(2, *{})"),
    "ptflops.get_model_complexity_info": (1, ("input_res",), "__import__('torch').rand(2, *{})"),
}
"""Functions that call the model that they are given first: where the inputs stand, by position and by name, and what
they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """Code that makes a model, in a file. `statements` run first, `model` and `inputs` are expressions then."""

    cls: Class
    module: Module
    statements: tuple[ast.stmt, ...]
    model: str
    inputs: str | None
    is_imported: bool


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several, by the value of an expression: `MODELS[name]()`.

    `function` is the one that `key` is a parameter of, if it is one.
    """

    key: ast.expr
    entries: Mapping[object, Made]
    function: FunctionNode | None = None

    def given_by(self, call: ast.Call) -> Made:
        """What a call of the function chooses."""
        if self.function is None:
            return self
        arguments = self.function.args
        positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        given = dict(zip(positional, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
        defaults = zip(reversed(positional), reversed(arguments.defaults), strict=False)
        key = given.get(ast.unparse(self.key), dict(defaults).get(ast.unparse(self.key)))
        return self.of(key) if key is not None and not isinstance(key, ast.Starred) else None

    def of(self, key: ast.expr) -> Made:
        """What an expression chooses."""
        if isinstance(key, ast.Constant):
            return self.entries.get(key.value)
        return Choice(key, self.entries)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import inside of a function binds, by its qualified name."""

    name: str


class Usages:
    """What modules make and call. `files` are all that may register models."""

    def __init__(self, engine: Engine, files: Callable[[], Iterable[Module]]) -> None:
        self._engine = engine
        self._conftests = Conftests(engine.project, files)
        self._registries = Registries(engine.project, files)
        self._returned: dict[FunctionNode, Made] = {}

    def returned(self, module: Module, function: FunctionNode, depth: int = 0) -> Made:
        """What a function returns, if it is always the same."""
        if function not in self._returned:
            self._returned[function] = None  # what a function that calls itself sees
            if depth < _MOST_CALLS:
                statements = list(Scope(module, function.body, function).statements())
                names = self._names(module, [s for s, _ in statements], depth)
                values = (s.value for s, _ in statements if isinstance(s, ast.Return) and s.value is not None)
                found = (_for_callers(self._made(module, value, names, depth), function) for value in values)
                self._returned[function] = next((made for made in found if made is not None), None)
        return self._returned[function]

    def in_module(self, module: Module) -> Iterator[Usage]:
        """The usages in a file, what is the main program first."""
        for scope in scopes(module, self._conftests.seen_by(module)):
            yield from self._in_scope(scope)

    def _in_scope(self, scope: Scope, chosen: ast.Constant | None = None) -> Iterator[Usage]:
        """The usages in a piece of code, or only those that a key of a registry, which is written there, leads to."""
        module, statements = scope.module, list(scope.statements())
        names = self._names(module, [statement for statement, _ in statements], 0)
        imports = _imports(module)
        choices: dict[str, Choice] = {}
        for statement, trail in statements:
            for node in own_expressions(statement):
                if not isinstance(node, ast.Call):
                    continue
                for model, inputs in self._calls(node, imports):
                    cls = self._made(module, model, names, 0)
                    if isinstance(cls, Choice) and chosen is None:
                        choices.setdefault(ast.unparse(cls.key), cls)
                    if not isinstance(cls, Class):
                        continue
                    is_imported = cls.module is module
                    wanted = [model] if inputs is None else [model, inputs]
                    picked = slice_of(scope, trail, wanted, is_imported=is_imported)
                    if picked is not None and (chosen is None or _holds([*picked, *wanted], chosen)):
                        text = None if inputs is None else ast.unparse(inputs)
                        yield Usage(cls, module, tuple(picked), ast.unparse(model), text, is_imported)
        for choice in choices.values():
            for key in itertools.islice(choice.entries, _MOST_ENTRIES):
                written = ast.copy_location(ast.Constant(key), choice.key)  # type: ignore[arg-type]
                yield from self._in_scope(_with(scope, choice.key, written), written)

    def _calls(self, node: ast.Call, imports: Mapping[str, str]) -> Iterator[tuple[ast.expr, ast.expr | None]]:
        """What may be a model in a call, and what it is called with, if anything."""
        yield node.func, _arguments(node)
        yield node, None
        name = dotted(node.func) or ""
        first, dot, rest = name.partition(".")
        known = _TRACERS.get(imports.get(first, first) + dot + rest)
        if known is not None and node.args:
            index, keywords, form = known
            named = next((k for name in keywords for k in node.keywords if k.arg == name), None)
            given = named.value if named else node.args[index] if len(node.args) > index else None
            if given is not None:
                form = "{}" if named and named.arg == "input_data" else form
                yield node.args[0], ast.parse(form.format(f"({ast.unparse(given)})"), mode="eval").body

    def _names(self, module: Module, statements: list[ast.stmt], depth: int) -> dict[str, Made]:
        """What local variables hold."""
        names: dict[str, Made] = {}
        for statement in statements:
            if isinstance(statement, FunctionNode) and statement.name not in module.bindings:
                names[f"{statement.name}()"] = self.returned(module, statement, depth + 1)
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                frame = Frame(self._engine.for_root(), module)
                for name, target in imported(statement, module.package):
                    if name != "*" and name not in module.bindings:
                        names[name] = Imported(target)
                        names[f"{name}()"] = self._made_by(named_value(frame, target, module), depth)
            elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                made = self._made(module, statement.value, names, depth)
                made_by_it = self._chosen(module, statement.value, names, depth, is_called=True)
                if made_by_it is None and isinstance(statement.value, ast.Name | ast.Attribute):
                    made_by_it = self._made(module, ast.Call(statement.value, [], []), names, depth)
                match statement.targets[0]:
                    case ast.Name(id=name) if made is not None:
                        names[name] = made
                    case ast.Name(id=name) if made_by_it is not None:
                        names[f"{name}()"] = made_by_it
                    case ast.Tuple(elts=parts) if isinstance(made, tuple) and len(made) == len(parts):
                        pairs = zip(parts, made, strict=True)
                        names |= {part.id: one for part, one in pairs if isinstance(part, ast.Name)}
        return names

    def _made(self, module: Module, node: ast.expr, names: Mapping[str, Made], depth: int) -> Made:
        match node:
            case ast.Name(id=name):
                return names.get(name)
            case ast.Tuple(elts=parts):
                return tuple(self._made(module, part, names, depth) for part in parts)
            case ast.IfExp(body=body):
                return self._made(module, body, names, depth)
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if method in _SAME:
                return self._made(module, receiver, names, depth)
            case ast.Dict():
                return node
            case ast.Call(func=ast.Name(id=name)) if f"{name}()" in names:
                made = names[f"{name}()"]
                return made.given_by(node) if isinstance(made, Choice) else made
            case ast.Call(func=(ast.Subscript() | ast.Call()) as function):
                return self._chosen(module, function, names, depth, is_called=True)
            case ast.Call(func=(ast.Name() | ast.Attribute()) as function):
                first, dot, rest = (dotted(function) or "").partition(".")
                held = names.get(first) if dot else None
                if isinstance(held, Imported):
                    value = named_value(Frame(self._engine.for_root(), module), f"{held.name}.{rest}", module)
                else:
                    value = top_level_value(self._engine, module, function)
                made = self._made_by(value, depth)
                if made is None:
                    return self._chosen(module, node, names, depth, is_called=False)
                return made.given_by(node) if isinstance(made, Choice) else made
            case ast.Subscript():
                return self._chosen(module, node, names, depth, is_called=False)
        return None

    def _chosen(
        self, module: Module, node: ast.expr, names: Mapping[str, Made], depth: int, *, is_called: bool
    ) -> Made:
        """What a registry has where an expression looks into it, or what a call of that returns."""
        found = look_up(node)
        if found is None:
            return None
        table, key = found
        local = names.get(table.id) if isinstance(table, ast.Name) else None
        entries = entries_of(module, local) if isinstance(local, ast.Dict) else self._registries.entries(module, table)
        if isinstance(key, ast.Constant):
            entries = (entry for entry in entries if entry.key == key.value)
        made: dict[object, Made] = {}
        for entry in itertools.islice(entries, _MOST_ENTRIES):
            seen = names if isinstance(local, ast.Dict) else {}
            value = _called(entry.value) if is_called else entry.value
            one = None if isinstance(value, ast.Dict) else self._made(entry.module, value, seen, depth)
            if isinstance(one, Class):
                made[entry.key] = one
        return Choice(key, made).of(key) if made else None

    def _made_by(self, value: Value, depth: int) -> Made:
        """What a call of a value returns."""
        if isinstance(value, ClassValue):
            return value.definition
        if isinstance(value, Function) and isinstance(value.node, FunctionNode) and value.owner is None:
            return self.returned(value.module, value.node, depth + 1)
        return None


def _for_callers(made: Made, function: FunctionNode) -> Made:
    """What a function returns, to who calls it: only its parameters can be known there."""
    if not isinstance(made, Choice):
        return made
    is_parameter = ast.unparse(made.key) in {argument.arg for argument in parameters(function)}
    return replace(made, function=function) if is_parameter else None


def _called(value: ast.expr) -> ast.expr:
    """An entry of a registry as what a call of it gives."""
    match value:
        case ast.Lambda(body=body):
            return body
        case ast.Call(func=(ast.Name() | ast.Attribute()) as function, args=[first, *_]):
            if ast.unparse(function).rpartition(".")[2] == "partial":
                return ast.Call(first, [], [])
    return ast.Call(value, [], [])


def _with(scope: Scope, old: ast.expr, new: ast.expr) -> Scope:
    """A piece of code in which another expression stands for one."""
    body = replaced(scope.body, old, new)
    function = copy.copy(scope.function)
    if function is not None:
        function.body = body
    return replace(scope, body=body, function=function)


def _holds(nodes: Iterable[ast.AST], part: ast.AST) -> bool:
    return any(node is part for one in nodes for node in ast.walk(one))


def _arguments(call: ast.Call) -> ast.expr | None:
    """What a call gives, as `(arguments, keywords)`."""
    if not call.args and not call.keywords:
        return None
    named = ast.Dict(
        [None if k.arg is None else ast.Constant(k.arg) for k in call.keywords], [k.value for k in call.keywords]
    )
    return ast.Tuple([ast.Tuple(call.args, ast.Load()), named], ast.Load())


def _imports(module: Module) -> dict[str, str]:
    """The names that imports anywhere in a file bind."""
    found: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return found
