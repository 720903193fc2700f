"""What a constructor may be given where nobody says it: sizes by their names, and configurations of the project."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from exportlint.syntax.definitions import Class, FunctionNode, Module
from exportlint.verify.targets.places import reference
from exportlint.verify.targets.signatures import parameters, required

if TYPE_CHECKING:
    from exportlint.verify.targets.code import Code

_SIZES: Mapping[str, str] = {
    "64": "channels channel chans chan ch planes plane inplanes dim dims ndim features feature filters units hidden"
    " embd embed embedding model inner ff feedforward width inputs outputs inp oup nf ngf ndf cin cout inc outc vocab",
    "10": "classes class labels cls",
    "2": "layers layer blocks block depth repeats scale factor expansion ratio",
    "4": "heads head nhead groups group",
    "3": "kernel ksize",
    "1": "stride padding dilation",
    "16": "len length resolution",
    "0.1": "dropout drop eps momentum",
    "True": "bias affine inplace causal",
}
"""Numbers for parameters, by the last word of their names: what is divided by others is a multiple of these."""
_SILENT = frozenset({"size", "num", "rate", "prob", "in", "out", "n"})
"""Last words that say nothing if there are others."""
_OBJECTS = re.compile(r"(.*_)?(config|cfg|conf|args?|opts?|options|h|h?params|hps?|settings)")
_MOST_CONFIGURATIONS = 40
"""How many files of data are looked at for a configuration."""
_LONGEST = 20_000
"""Characters of such a file."""
_WITH_ATTRIBUTES = "type('Configuration', (dict,), {'__getattr__': dict.__getitem__})"


@dataclass(frozen=True, slots=True)
class Construction:
    """An expression that makes a class, in the namespace of its file after some statements.

    `paths` are the folders that these import from.
    """

    statements: tuple[str, ...]
    model: str
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class _Configuration:
    """An expression for an object with such attributes."""

    names: frozenset[str]
    module: Module | None
    code: str


class Constructors:
    """What can be made of classes whose constructors need arguments."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._known: list[_Configuration] | None = None

    def of(self, cls: Class) -> Construction | None:
        """How a class may be made; None if it needs what cannot be told."""
        constructor = self._code.method(cls, "__init__")
        if constructor is None or "." in cls.qualname:
            return None
        given: list[str] = []
        statements: list[str] = []
        paths: list[Path] = []
        needed = required(constructor, bound=True)
        for argument in (argument for argument in parameters(constructor) if argument.arg in needed):
            read = _attributes(constructor, argument.arg)
            text = None
            if read and (_OBJECTS.fullmatch(argument.arg) or argument.annotation is not None):
                found = self._configuration(read, cls.module)
                if found is not None:
                    text = found.code
                    if found.module is not None and found.module is not cls.module:
                        module, more = reference(found.module.path, "", self._code.settings.src)
                        statements.append(f"import {module.module} as configuration_of_{argument.arg}")
                        text = f"configuration_of_{argument.arg}.{text}"
                        paths += more
            elif not read:
                text = _size(argument)
            if text is None:
                return None
            given.append(f"{argument.arg}={text}" if argument in constructor.args.kwonlyargs else text)
        return Construction(tuple(statements), f"{cls.qualname}({', '.join(given)})", tuple(paths)) if given else None

    def _configuration(self, names: frozenset[str], beside: Module) -> _Configuration | None:
        """An object with all of some attributes, from the same file if there is one."""
        if self._known is None:
            self._known = [*self._in_code(), *_in_data(self._code.settings.root)]
        fitting = [one for one in self._known if names <= one.names]
        return min(fitting, key=lambda one: (one.module is not beside, one.module is None), default=None)

    def _in_code(self) -> Iterator[_Configuration]:
        for module in self._code.files:
            for name, binding in module.bindings.items():
                if isinstance(binding, Class) and binding.module is module:
                    names = self._fields(binding)
                    if names and not self._code.is_model(binding) and not self._needs(binding):
                        yield _Configuration(names, module, f"{name}()")
                elif isinstance(binding, FunctionNode) and not required(binding):
                    options = _options(binding)
                    if options:
                        makes_parser = ".parse_args(" not in ast.unparse(binding)
                        yield _Configuration(options, module, f"{name}(){'.parse_args([])' if makes_parser else ''}")

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


def _attributes(constructor: FunctionNode, name: str) -> frozenset[str]:
    """What a constructor reads of an argument."""
    nodes = (node for node in ast.walk(constructor) if isinstance(node, ast.Attribute))
    reads = (node for node in nodes if isinstance(node.ctx, ast.Load))
    return frozenset(read.attr for read in reads if isinstance(read.value, ast.Name) and read.value.id == name)


def _size(argument: ast.arg) -> str | None:
    """A number for an argument, by what it is called."""
    if argument.annotation is not None and ast.unparse(argument.annotation) not in ("int", "float", "bool"):
        return None
    words = re.findall(r"[a-z]+", argument.arg.lower())
    telling = [word for word in words if word not in _SILENT][-1:]
    return next((size for size, known in _SIZES.items() for word in telling if word in known.split()), None)


def _options(function: FunctionNode) -> frozenset[str]:
    """The options of the parser of command lines that a function makes."""
    if "ArgumentParser(" not in ast.unparse(function):
        return frozenset()
    calls = (n for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
    found: set[str] = set()
    for call in calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
            flags = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
            found.add(long.lstrip("-").replace("-", "_"))
            named = (keyword.value for keyword in call.keywords if keyword.arg == "dest")
            found |= {str(value.value) for value in named if isinstance(value, ast.Constant)}
    return frozenset(found)


def _in_data(root: Path) -> Iterator[_Configuration]:
    """Configurations that stand in files of JSON and YAML, as dictionaries that have their keys as attributes, too."""
    patterns = (f"{folder}*.{suffix}" for folder in ("", "*/", "*/*/") for suffix in ("json", "yaml", "yml"))
    files = (file for pattern in patterns for file in sorted(root.glob(pattern)))
    for file, _ in zip(files, range(_MOST_CONFIGURATIONS), strict=False):
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        if len(text) <= _LONGEST:
            names, document = _document(text, is_json=file.suffix == ".json")
            if names:
                yield _Configuration(
                    names, None, f"__import__('json').loads({document}, object_hook={_WITH_ATTRIBUTES})"
                )


def _document(text: str, *, is_json: bool) -> tuple[frozenset[str], str]:
    """The keys of a document, and an expression for it as JSON."""
    if not is_json:
        names = frozenset(re.findall(r"^([A-Za-z_]\w*)\s*:", text, re.MULTILINE))
        return names, f"__import__('json').dumps(__import__('yaml').safe_load({text!r}), default=str)"
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return frozenset(), ""
    return frozenset(map(str, document)) if isinstance(document, Mapping) else frozenset(), repr(text)
