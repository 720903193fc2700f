"""What a constructor may be given where nobody says it: sizes by their names, and configurations of the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from exportlint.analysis.torch import table
from exportlint.syntax.definitions import Class, FunctionNode, Module, dotted
from exportlint.verify.targets.command_lines import command_lines
from exportlint.verify.targets.option_classes import options_of_class
from exportlint.verify.targets.places import reference
from exportlint.verify.targets.signatures import parameters, required
from exportlint.verify.targets.tables import Table, tables

if TYPE_CHECKING:
    from exportlint.verify.targets.code import Code

_SIZES: Mapping[str, str] = {
    "64": "channel chan ch plane inplane dim ndim feature filter unit hidden latent embd embed embedding model inner ff"
    " feedforward width input output inp oup nf ngf ndf cin cout inc outc vocab",
    "10": "class label cls",
    "2": "layer block depth repeat scale factor expansion ratio",
    "4": "head nhead group",
    "3": "kernel ksize ks",
    "1": "stride padding dilation",
    "16": "len length resolution shape",
    "32": "image img",
    "0": "idx index id",
    "0.1": "dropout drop p eps momentum alpha slope",
    "True": "bias affine inplace causal first",
}
"""Numbers for parameters, by the last word of their names: what is divided by others is a multiple of these."""
_WIDTH, _WIDER = "64", "256"
_IN = re.compile(r"in(p|put)?(_.*|planes|channels|chans|features|dims?)?|.*_in")
_SILENT = frozenset({"size", "num", "rate", "prob", "in", "out", "n"})
"""Last words that say nothing if there are others."""
_NUMBER = "8"
"""A number for a parameter that is surely one, and whose name says nothing."""
_LISTS = re.compile(r"(?:typing\.)?(?:[Ll]ist|[Tt]uple|Sequence|Iterable)(?:\[int(?:, (?:int|\.\.\.))*\])?")
_LIST_READERS = frozenset({"len", "enumerate", "zip", "iter", "reversed", "sum", "map", "list", "tuple"})
_MADE = (
    "lambda made, value: [made(made, one) for one in value] if isinstance(value, list) else value"
    " if not isinstance(value, dict) or '_target_' not in value else"
    " getattr(__import__('importlib').import_module(value['_target_'].rpartition('.')[0]),"
    " value['_target_'].rpartition('.')[2])"
    "(**{name: made(made, one) for name, one in value.items() if name[:1] != '_'})"
)
"""A function that makes what data describe, as Hydra has it: `_target_` names what is called with the rest."""
_NAMING = frozenset({"type", "_target_", "_type_", "name", "NAME"})
"""Keys under which data name the class that they are for."""
_OBJECTS = re.compile(r"(.*_)?(configs?|cfgs?|conf|configuration|args?|opts?|options|h|h?params|hps?|settings)")
_WHOLE = re.compile(r"configs?|cfgs?|conf|configuration")
"""What a configuration of everything is called."""
_CONTAINERS = frozenset({"ModuleList", "ModuleDict", "Sequential"})
_DEEP = 4
"""Through how many constructors an argument is followed."""


@dataclass(frozen=True, slots=True)
class Construction:
    """An expression that makes a class, in the namespace of its file after some statements.

    `paths` are the folders that these import from. `is_guessed`: what it is given is nowhere written down.
    """

    statements: tuple[str, ...]
    model: str
    paths: tuple[Path, ...]
    is_guessed: bool


@dataclass(frozen=True, slots=True)
class _Configuration:
    """An expression for an object with such attributes, after a statement if there is one."""

    names: frozenset[str]
    module: Module | None
    code: str
    statement: str | None = None


class Constructors:
    """What can be made of classes whose constructors need arguments."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._known: list[_Configuration] | None = None

    def of(self, cls: Class) -> Iterator[Construction]:
        """How a class may be made, the likeliest first; nothing if it needs what cannot be told."""
        constructor = self._code.method(cls, "__init__")
        if "." in cls.qualname:
            return
        if constructor is None:
            sizes = {name: _size(name) for name in self._code.needs(cls)}
            if sizes and None not in sizes.values():
                given = ", ".join(f"{name}={size}" for name, size in sizes.items())
                yield Construction((), f"{cls.qualname}({given})", (), True)
            return
        needed = required(constructor, bound=True)
        needed += [name for name in _left_out(constructor) if _attributes(constructor, name)]
        arguments = [argument for argument in parameters(constructor) if argument.arg in needed]
        code = self._from_data(cls, constructor, needed)
        if code is not None:
            yield Construction((), code, (), False)
        guessed = self._guessed(cls, constructor, arguments) if arguments else None
        if guessed is not None:
            yield guessed
            # A bottleneck adds its input to four times as many channels as it is asked for.
            wide = [argument.arg for argument in arguments if _IN.fullmatch(argument.arg)]
            others = (argument.arg for argument in arguments if argument.arg not in wide)
            if wide and any(_size(name) == _WIDTH for name in others):
                wider = self._guessed(cls, constructor, arguments, wide)
                yield from () if wider is None else (wider,)

    def _from_data(self, cls: Class, constructor: FunctionNode, needed: Sequence[str]) -> str | None:
        """A call with a table of data: one that names the class, or else one that has several arguments that it needs.

        What is the configuration by its name, and not in the table, is the whole file.
        """
        own = [argument.arg for argument in parameters(constructor)]
        fitting = []
        for one in self._tables:
            if not one.keys & {*own}:
                continue
            others = {} if one.whole is None else self._wholes(cls, constructor, one.whole, one)
            if one.keys | {*others} >= {*needed}:
                fitting.append((one, others, _names(one, cls)))
        found = next((fit for fit in fitting if fit[2]), None)
        if found is None:
            found = next((fit for fit in fitting if len(fit[0].keys & {*needed}) > 1), None)
        if found is None:
            return None
        data, others, is_named = found
        if is_named and constructor.args.kwarg is not None:
            names = sorted(data.keys - (_NAMING - {*own}))
        else:
            names = [name for name in own if name in data.keys]
        given = f"{{name: made(made, given[name]) for name in {names!r}}}"
        more = "".join(f", {name}={code}" for name, code in others.items())
        return f"(lambda made, given: {cls.qualname}(**{given}{more}))({_MADE}, {data.code})"

    def _wholes(self, cls: Class, constructor: FunctionNode, whole: Table, part: Table) -> dict[str, str]:
        """The arguments that get a whole file of data: configurations by their names, whose attributes it has."""
        found = {}
        for argument in parameters(constructor):
            name = argument.arg
            if name not in part.keys and _OBJECTS.fullmatch(name):
                read = self._attributes(cls.module, constructor, name)
                if read <= whole.keys and (read or (_WHOLE.fullmatch(name) and _is_given_on(constructor, name))):
                    found[name] = whole.code
        return found

    @cached_property
    def _tables(self) -> tuple[Table, ...]:
        return tuple(tables(self._code.settings.root))

    def _guessed(
        self, cls: Class, constructor: FunctionNode, arguments: Sequence[ast.arg], wide: Sequence[str] = ()
    ) -> Construction | None:
        given: list[str] = []
        optional = frozenset(_left_out(constructor))
        is_guessed = False
        statements: list[str] = []
        paths: list[Path] = []
        for argument in arguments:
            read = self._attributes(cls.module, constructor, argument.arg)
            text = None
            if read and (_OBJECTS.fullmatch(argument.arg) or argument.annotation is not None):
                needed = self._attributes(cls.module, constructor, argument.arg, always=True)
                found = self._configuration(read, needed, cls.module)
                if found is not None:
                    text = found.code
                    if found.module is not None and found.statement is not None:
                        statements.append(found.statement)
                        paths += reference(found.module.path, "", self._code.settings.src)[1]
                    elif found.module is not None and found.module is not cls.module:
                        module, more = reference(found.module.path, "", self._code.settings.src)
                        statements.append(f"import {module.module} as configuration_of_{argument.arg}")
                        text = f"configuration_of_{argument.arg}.{text}"
                        paths += more
            elif not read and not _holds_modules(cls, constructor, argument.arg):
                is_guessed = True
                text = self._value(cls.module, argument, constructor)
                text = _WIDER if argument.arg in wide and text == _WIDTH else text
            if text is None and argument.arg in optional:
                continue
            if text is None:
                return None
            by_name = argument in constructor.args.kwonlyargs or argument.arg in optional
            given.append(f"{argument.arg}={text}" if by_name else text)
        return Construction(tuple(statements), f"{cls.qualname}({', '.join(given)})", tuple(paths), is_guessed)

    def _attributes(
        self, module: Module, constructor: FunctionNode, name: str, depth: int = 0, *, always: bool = False
    ) -> frozenset[str]:
        """What a constructor, and those of the project that it passes an argument on to, read of the argument.

        With `always`, only what it reads whatever the conditions in its code say.
        """
        found = _attributes(constructor, name, always=always)
        for owner, inner, argument in self._passed_on(module, constructor, name) if depth < _DEEP else ():
            found |= self._attributes(owner, inner, argument.arg, depth + 1, always=always)
        return found

    def _value(self, module: Module, argument: ast.arg, constructor: FunctionNode, depth: int = 0) -> str | None:
        """A number, or a list of them, for an argument: what those say that it is passed on to, or else it itself."""
        passed = self._passed_on(module, constructor, argument.arg) if depth < _DEEP else ()
        further = [self._value(owner, inner_argument, inner, depth + 1) for owner, inner, inner_argument in passed]
        lists = [value for value in further if value is not None and value.startswith("[")]
        return next(iter(lists), None) or _value(argument, constructor) or next(filter(None, further), None)

    def _passed_on(
        self, module: Module, constructor: FunctionNode, name: str
    ) -> Iterator[tuple[Module, FunctionNode, ast.arg]]:
        """The constructors of the project that a constructor passes an argument on to as it is, and as what."""
        for call in (node for node in ast.walk(constructor) if isinstance(node, ast.Call)):
            places = [i for i, value in enumerate(call.args) if isinstance(value, ast.Name) and value.id == name]
            names = [k.arg for k in call.keywords if isinstance(k.value, ast.Name) and k.value.id == name]
            if not (places or names) or any(isinstance(value, ast.Starred) for value in call.args):
                continue
            cls = self._code.definition(module, call.func)
            inner = self._code.method(cls, "__init__") if isinstance(cls, Class) else None
            if not isinstance(cls, Class) or inner is None or inner is constructor:
                continue
            positional = [*inner.args.posonlyargs, *inner.args.args][1:]
            by_place = [positional[i] for i in places if i < len(positional)]
            yield from ((cls.module, inner, one) for one in by_place)
            yield from ((cls.module, inner, one) for one in parameters(inner) if one.arg in names)

    def _configuration(self, names: frozenset[str], needed: frozenset[str], beside: Module) -> _Configuration | None:
        """An object with most of some attributes and all that are needed, from the same file if there is one."""
        if self._known is None:
            in_data = (_Configuration(one.keys, None, one.code) for one in self._tables)
            self._known = [*self._in_code(), *in_data]
        fitting = [one for one in self._known if needed <= one.names and 2 * len(names & one.names) > len(names)]
        return min(
            fitting,
            key=lambda one: (len(names - one.names), one.module is not beside, one.module is None),
            default=None,
        )

    def _in_code(self) -> Iterator[_Configuration]:
        for module in self._code.files:
            for name, binding in module.bindings.items():
                if isinstance(binding, Class) and binding.module is module:
                    names = self._fields(binding)
                    if names and not self._code.is_model(binding) and not self._needs(binding):
                        yield _Configuration(names, module, f"{name}()")
            for cls in module.classes if "add_argument(" in module.source.text else ():
                line = options_of_class(cls, self._code.methods(cls))
                if line is not None:
                    yield _Configuration(line.names, module, line.code, line.statement)
            for line in command_lines(module):
                yield _Configuration(line.names, module, line.code, line.statement)

    def _fields(self, cls: Class) -> frozenset[str]:
        constructor = cls.methods.get("__init__")
        nodes = ast.walk(constructor) if constructor is not None else ()
        stored = {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        return frozenset({*cls.attributes, *stored, *cls.methods} if cls.attributes or stored else ())

    def _needs(self, cls: Class) -> bool:
        constructor = cls.methods.get("__init__")
        if constructor is not None:
            return bool(required(constructor, bound=True))
        return any(cls.attributes.get(name) is None for name in cls.annotations)


def _attributes(constructor: FunctionNode, name: str, *, always: bool = False) -> frozenset[str]:
    walked = _without_conditions(constructor) if always else ast.walk(constructor)
    nodes = (node for node in walked if isinstance(node, ast.Attribute))
    reads = (node for node in nodes if isinstance(node.ctx, ast.Load))
    return frozenset(read.attr for read in reads if isinstance(read.value, ast.Name) and read.value.id == name)


def _without_conditions(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one that are evaluated whenever it is, as far as no condition decides about them."""
    yield node
    match node:
        case ast.If() | ast.IfExp() | ast.While():
            children: Iterable[ast.AST] = (node.test,)
        case ast.BoolOp():
            children = node.values[:1]
        case ast.Try():
            children = node.finalbody
        case ast.Lambda():
            children = ()
        case _:
            children = ast.iter_child_nodes(node)
    for child in children:
        yield from _without_conditions(child)


def _left_out(constructor: FunctionNode) -> Iterator[str]:
    """The configurations that are None by default."""
    arguments = constructor.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    for argument, default in [*reversed(defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]:
        if isinstance(default, ast.Constant) and default.value is None and _WHOLE.fullmatch(argument.arg):
            yield argument.arg


def _is_given_on(constructor: FunctionNode, name: str) -> bool:
    """Whether a constructor calls something with an argument."""
    calls = (node for node in ast.walk(constructor) if isinstance(node, ast.Call))
    given = (value for call in calls for value in (*call.args, *(keyword.value for keyword in call.keywords)))
    return any(isinstance(value, ast.Name) and value.id == name for value in given)


def _holds_modules(cls: Class, function: FunctionNode, name: str, depth: int = 0) -> bool:
    """Whether an argument is a module, or several, or a class: a container of torch's takes it, or the class calls it.

    `function` is the constructor, or a method that it passes the argument on to.
    """
    stored: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Attribute(ast.Name("self"), attribute)], value=ast.Name(id=held)):
                stored |= {attribute} if held == name else set()
            case ast.Call(func=ast.Name(id=called)) if called == name:
                return True
            case ast.Call(func=ast.Attribute(ast.Name("self"), called), args=given) if called in cls.methods:
                method = cls.methods[called]
                passed = zip(parameters(method)[1:], given, strict=False)
                held_as = [p.arg for p, value in passed if isinstance(value, ast.Name) and value.id == name]
                if depth < _DEEP and any(_holds_modules(cls, method, other, depth + 1) for other in held_as):
                    return True
            case ast.Call(func=ast.Name(id=kind) | ast.Attribute(attr=kind), args=[given]) if kind in _CONTAINERS:
                held_in = given.value if isinstance(given, ast.Starred) else given
                if isinstance(held_in, ast.Name) and held_in.id == name:
                    return True
    calls = (n.func for method in cls.methods.values() for n in ast.walk(method) if isinstance(n, ast.Call))
    own = (f for f in calls if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id == "self")
    return any(function.attr in stored for function in own)


def _names(table: Table, cls: Class) -> bool:
    """Whether data name a class: `_target_: shop.nets.Net`, `type="Net"`."""
    return any(text.rpartition(".")[2] == cls.node.name for text in table.texts)


def _value(argument: ast.arg, constructor: FunctionNode) -> str | None:
    """A number, or a list of them, for an argument: by its name and type, and by what the constructor does with it."""
    annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
    items = _items(constructor, argument.arg)
    if annotation and not (annotation in ("int", "float", "bool") or _LISTS.fullmatch(annotation)):
        return None
    role = _role(constructor, argument.arg)
    size = _size(argument.arg) or (_size(role) if role else None)
    if items is not None or _LISTS.fullmatch(annotation):
        return f"[{', '.join([size] * (items or 2))}]" if size else None
    if size is None and annotation == "bool":
        return "True"
    is_number = annotation in ("int", "float") or _is_counted_with(constructor, argument.arg)
    return size or (_NUMBER if is_number else None)


def _size(name: str) -> str | None:
    """A number for an argument, by what it is called."""
    words = re.findall(r"[a-z]+", name.lower())
    telling = [word for word in words if word not in _SILENT][-1:]
    forms = {form for word in telling for form in (word, word.removesuffix("s"), word.removesuffix("es"))}
    return next((size for size, known in _SIZES.items() if forms & set(known.split())), None)


def _items(constructor: FunctionNode, name: str) -> int | None:
    """How many items an argument has, 0 if that cannot be told; None if nothing says that it is a list."""
    found = None
    for node in ast.walk(constructor):
        match node:
            case ast.Subscript(value=ast.Name(id=held), slice=index) if held == name:
                last = index.value if isinstance(index, ast.Constant) and isinstance(index.value, int) else -1
                found = max(found or 0, last + 1)
            case ast.For(iter=ast.Name(id=held)) | ast.comprehension(iter=ast.Name(id=held)) if held == name:
                found = found or 0
            case ast.Call(func=ast.Name(id=function), args=arguments) if function in _LIST_READERS:
                if any(isinstance(one, ast.Name) and one.id == name for one in arguments):
                    found = found or 0
    return found


def _role(constructor: FunctionNode, name: str) -> str | None:
    """What a layer of torch, or a keyword of anything else, calls what an argument is passed on as."""
    keyword = None
    for call in (node for node in ast.walk(constructor) if isinstance(node, ast.Call)):
        given = {named.arg: named.value for named in call.keywords if named.arg}
        layer = dotted(call.func) or ""
        api = table.lookup(f"torch.{layer.removeprefix('torch.')}") if "nn." in layer else None
        if api is not None and api.kind == "module" and api.overloads:
            first = api.overloads[0].parameters
            given |= dict(zip(first, call.args, strict=False)) if "*args" not in first else {}
        passed = next((role for role, value in given.items() if _is_number_of(value, name)), None)
        if passed is not None and api is not None:
            return passed
        keyword = keyword or passed
    return keyword


def _is_number_of(node: ast.expr, name: str) -> bool:
    """Whether an expression is an argument, perhaps as a whole number."""
    match node:
        case ast.Call(func=ast.Name(id="int"), args=[inner]):
            return _is_number_of(inner, name)
    return isinstance(node, ast.Name) and node.id == name


def _is_counted_with(constructor: FunctionNode, name: str) -> bool:
    """Whether a constructor takes an argument for a number: it calculates with it, or makes tensors of such a size."""
    for node in ast.walk(constructor):
        match node:
            case ast.BinOp(left=left, right=right):
                parts = [left, right]
            case ast.Call(func=ast.Name(id="range"), args=parts):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=factory), args=parts):
                if factory not in ("zeros", "ones", "empty", "rand", "randn", "full", "arange", "linspace"):
                    continue
            case _:
                continue
        if any(isinstance(part, ast.Name) and part.id == name for part in parts):
            return True
    return False
