"""What the code of a project makes of its classes, and what it calls them with: read from the source, nothing runs."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from exportlint.analysis.domain.values import ClassValue, Function, Value
from exportlint.analysis.eval.classes import find_method, is_module, lineage
from exportlint.analysis.eval.engine import Engine
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.names import named_value, top_level_value
from exportlint.syntax.definitions import Class, FunctionNode, Module, dotted, imported
from exportlint.verify.targets.conftests import Conftests
from exportlint.verify.targets.registries import Registries, entries_of, look_up
from exportlint.verify.targets.replacing import replaced
from exportlint.verify.targets.signatures import parameters
from exportlint.verify.targets.slices import Scope, own_expressions, scopes, slice_of

Made: TypeAlias = "Class | tuple[Made, ...] | Choice | ast.Dict | Maker | None"
"""What a call returns: an instance of a class, or several; a dictionary, as it is written; what makes something."""

_SAME = frozenset({"to", "cuda", "cpu", "eval", "train", "float", "double", "half", "requires_grad_", "apply"})
"""Methods of a model that return it."""
_MOST_CALLS = 8
"""How many calls deep it is looked for what a function returns."""
_MOST_ENTRIES = 32
"""How many entries of a registry are looked at."""
_NOTHING: Mapping[str, Made] = {}
"""No variables."""

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
class Maker:
    """A class or a function, or a module: `made` is what a call returns.

    What an import inside of a function binds has its qualified `name`.
    """

    made: Made
    name: str | None = None


class Usages:
    """What modules make and call. `files` are all that may register models."""

    def __init__(self, engine: Engine, files: Callable[[], Iterable[Module]]) -> None:
        self._engine = engine
        self._conftests = Conftests(engine.project, files)
        self._registries = Registries(engine.project, files)
        self._returned: dict[tuple[FunctionNode, Class | None], Made] = {}
        self._attributes: dict[Class, dict[str, Made]] = {}

    def returned(
        self,
        module: Module,
        function: FunctionNode,
        depth: int = 0,
        around: Mapping[str, Made] = _NOTHING,
        of: Class | None = None,
    ) -> Made:
        """What a function returns, if it is always the same. `around` it stand variables that it may see.

        A method is one `of` a class, perhaps one that inherits it.
        """
        key = (function, of)
        if key not in self._returned:
            self._returned[key] = None  # what a function that calls itself sees
            if depth < _MOST_CALLS:
                statements = list(Scope(module, function.body, function).statements())
                own = {argument.arg for argument in parameters(function)}
                seen = {name: made for name, made in around.items() if name not in own}
                seen |= {} if of is None else _self_of(function, of)
                names = self._names(module, [s for s, _ in statements], depth, seen)
                values = (s.value for s, _ in statements if isinstance(s, ast.Return) and s.value is not None)
                found = (_for_callers(self._made(module, value, names, depth), function) for value in values)
                self._returned[key] = next((made for made in found if made is not None), None)
        return self._returned[key]

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
                held = self._held(module, node, names)
                for model, inputs in itertools.chain(self._calls(node, imports), ((one, None) for one in held)):
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

    def _names(
        self, module: Module, statements: list[ast.stmt], depth: int, around: Mapping[str, Made] = _NOTHING
    ) -> dict[str, Made]:
        """What local variables hold, and those around."""
        names = dict(around)
        for statement in statements:
            if isinstance(statement, FunctionNode) and statement.name not in module.bindings:
                names[statement.name] = Maker(self.returned(module, statement, depth + 1, names))
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                frame = Frame(self._engine.for_root(), module)
                for name, target in imported(statement, module.package):
                    if name != "*" and name not in module.bindings:
                        names[name] = Maker(self._made_by(named_value(frame, target, module), depth), target)
            elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                made = self._made(module, statement.value, names, depth)
                match statement.targets[0]:
                    case ast.Name(id=name) if made is not None:
                        names[name] = made
                    case ast.Tuple(elts=parts) if isinstance(made, tuple) and len(made) == len(parts):
                        pairs = zip(parts, made, strict=True)
                        names |= {part.id: one for part, one in pairs if isinstance(part, ast.Name)}
        return names

    def _made(self, module: Module, node: ast.expr, names: Mapping[str, Made], depth: int) -> Made:
        match node:
            case ast.Name(id=name) if name in names:
                return names[name]
            case ast.Name() | ast.Attribute():
                made = self._of_call(module, node, names, depth)
                if made is None and isinstance(node, ast.Attribute):
                    return self._member(self._made(module, node.value, names, depth), node.attr, depth)
                return None if made is None else Maker(made)
            case ast.Tuple(elts=parts):
                return tuple(self._made(module, part, names, depth) for part in parts)
            case ast.Lambda(body=body):
                made = self._made(module, body, names, depth)
                return None if made is None else Maker(made)
            case ast.IfExp(body=body):
                return self._made(module, body, names, depth)
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if method in _SAME:
                return self._made(module, receiver, names, depth)
            case ast.Dict():
                return node
            case ast.Call(func=(ast.Subscript() | ast.Call()) as function):
                held = self._made(module, function, names, depth)
                return _given(held.made, node) if isinstance(held, Maker) else None
            case ast.Call(func=function, args=[first, *_]) if ast.unparse(function).rpartition(".")[2] == "partial":
                return self._made(module, first, names, depth)
            case ast.Call(func=(ast.Name() | ast.Attribute()) as function):
                made = self._of_call(module, function, names, depth)
                if made is None and isinstance(function, ast.Attribute):
                    member = self._member(self._made(module, function.value, names, depth), function.attr, depth)
                    made = member.made if isinstance(member, Maker) else None
                if made is None:
                    return self._chosen(module, node, names, depth)
                return _given(made, node)
            case ast.Subscript():
                return self._chosen(module, node, names, depth)
        return None

    def _of_call(self, module: Module, function: ast.expr, names: Mapping[str, Made], depth: int) -> Made:
        """What a call of a name returns."""
        first, dot, rest = (dotted(function) or "").partition(".")
        held = names.get(first)
        if held is None:
            return self._made_by(top_level_value(self._engine, module, function), depth)
        if not isinstance(held, Maker):
            return None
        if not dot:
            return held.made
        if held.name is None:
            return None
        return self._made_by(named_value(Frame(self._engine.for_root(), module), f"{held.name}.{rest}", module), depth)

    def _member(self, holder: Made, name: str, depth: int) -> Made:
        """What an instance of a class has by a name, or the class itself: a method is what makes what it returns."""
        cls = holder.made if isinstance(holder, Maker) else holder
        if not isinstance(cls, Class) or depth >= _MOST_CALLS:
            return None
        found = find_method(Frame(self._engine.for_root(), cls.module), cls, name)
        if found is not None and isinstance(found[1], FunctionNode):
            made = self.returned(found[0].module, found[1], depth + 1, of=cls)
            return made if made is None or "property" in _decorators(found[1]) else Maker(made)
        return None if isinstance(holder, Maker) else self._attributes_of(cls, depth).get(name)

    def _attributes_of(self, cls: Class, depth: int) -> Mapping[str, Made]:
        """What the methods of a class store in `self`, the constructor first."""
        if cls not in self._attributes:
            found = self._attributes[cls] = {}  # as far as it is known while methods are looked at
            for owner in lineage(Frame(self._engine.for_root(), cls.module), cls):
                for method in sorted(owner.methods.values(), key=lambda method: method.name != "__init__"):
                    own = _self_of(method, cls)
                    statements = [statement for statement, _ in Scope(owner.module, method.body, method).statements()]
                    names = self._names(owner.module, statements, depth + 1, own)
                    for statement in statements:
                        match statement:
                            case ast.Assign(
                                targets=[ast.Attribute(value=ast.Name(id=first), attr=name)], value=value
                            ) if first in own and name not in found:
                                made = self._made(owner.module, value, names, depth + 1)
                                found |= {} if made is None else {name: made}
        return self._attributes[cls]

    def _held(self, module: Module, node: ast.expr, names: Mapping[str, Made]) -> Iterator[ast.expr]:
        """The models that an object has which a call makes and which is no model: `Trainer(options).net`."""
        cls = self._made(module, node, names, 0)
        if isinstance(cls, Class) and not is_module(Frame(self._engine.for_root(), cls.module), cls):
            for name, made in self._attributes_of(cls, 0).items():
                if isinstance(made, Class) and is_module(Frame(self._engine.for_root(), made.module), made):
                    yield ast.copy_location(ast.Attribute(node, name, ast.Load()), node)

    def _chosen(self, module: Module, node: ast.expr, names: Mapping[str, Made], depth: int) -> Made:
        """What a registry has where an expression looks into it."""
        found = look_up(node)
        if found is None:
            return None
        table, key = found
        local = names.get(table.id) if isinstance(table, ast.Name) else None
        entries = entries_of(module, local) if isinstance(local, ast.Dict) else self._registries.entries(module, table)
        if isinstance(key, ast.Constant):
            entries = (entry for entry in entries if entry.key == key.value)
        made: dict[object, Made] = {}
        classes: dict[object, Made] = {}
        for entry in itertools.islice(entries, _MOST_ENTRIES):
            seen = names if isinstance(local, ast.Dict) else {}
            one = None if isinstance(entry.value, ast.Dict) else self._made(entry.module, entry.value, seen, depth)
            if isinstance(one, Class):
                made[entry.key] = one
            elif isinstance(one, Maker) and isinstance(one.made, Class):
                classes[entry.key] = one.made
        if classes and not made:
            return Maker(Choice(key, classes).of(key))
        return Choice(key, made).of(key) if made else None

    def _made_by(self, value: Value, depth: int) -> Made:
        """What a call of a value returns."""
        if isinstance(value, ClassValue):
            return value.definition
        if isinstance(value, Function) and isinstance(value.node, FunctionNode) and value.owner is None:
            return self.returned(value.module, value.node, depth + 1)
        return None


def _self_of(method: FunctionNode, cls: Class) -> dict[str, Made]:
    """The first parameter of a method, with what it stands for."""
    decorators, arguments = _decorators(method), [*method.args.posonlyargs, *method.args.args]
    if "staticmethod" in decorators or not arguments:
        return {}
    return {arguments[0].arg: Maker(cls) if "classmethod" in decorators else cls}


def _decorators(function: FunctionNode) -> set[str]:
    return {ast.unparse(decorator) for decorator in function.decorator_list}


def _for_callers(made: Made, function: FunctionNode) -> Made:
    """What a function returns, to who calls it: only its parameters can be known there."""
    if isinstance(made, Maker):
        return replace(made, made=_for_callers(made.made, function))
    if not isinstance(made, Choice):
        return made
    is_parameter = ast.unparse(made.key) in {argument.arg for argument in parameters(function)}
    return replace(made, function=function) if is_parameter else None


def _given(made: Made, call: ast.Call) -> Made:
    """What a call of a function returns, which chooses by its arguments."""
    if isinstance(made, Maker):
        return replace(made, made=_given(made.made, call))
    return made.given_by(call) if isinstance(made, Choice) else made


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
