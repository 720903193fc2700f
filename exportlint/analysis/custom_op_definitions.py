"""Custom operators that the project defines, and which of them have a fake kernel.

Definitions and registrations are looked for in a file and in all that it imports, as running it would run them.
Nothing is evaluated: an operator that is not named by a literal is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from exportlint.analysis.project import Project
from exportlint.source.imports import imports
from exportlint.syntax.chunks import IMPORTS
from exportlint.syntax.definitions import FunctionNode, Import, Module, absolute_module, dotted, flat, imported

MAX_FILES = 200
"""Where a file imports more than these, what they register is not known."""

Kernel = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

REGISTRATIONS = frozenset({"torch.library.register_fake", "torch.library.impl_abstract"})
FAKE_METHODS = frozenset({"register_fake", "impl_abstract", "_register_fake", "register_abstract"})


@dataclass(slots=True)
class CustomOp:
    """A custom operator, as the files say that define it.

    `kernel` is what it runs, and `fake` what tells export about its result, each where that is known. `mutates` names
    the arguments that it says to write to, None if that is not known. `is_faked`: export can call it.
    """

    module: Module
    kernel: Kernel | None = None
    mutates: frozenset[str] | None = None
    fake: tuple[Module, Kernel] | None = None
    is_faked: bool = False


@dataclass(slots=True)
class CustomOps:
    """The operators by their names (`"library::name"`); `is_open` if there are registrations that cannot be told."""

    ops: dict[str, CustomOp] = field(default_factory=dict)
    is_open: bool = False


def custom_ops(project: Project, start: Module) -> CustomOps:
    """The operators that a file and its imports define."""
    found = CustomOps()
    project.asked.add((start.key, IMPORTS))
    if _imports_too_many(project, start):
        return CustomOps(is_open=True)
    modules = {start: None}
    waiting = [start]
    while waiting:
        module = waiting.pop(0)
        for name in _statements(module).imported:
            leads_to = project.find(name, module)
            if leads_to is not None and leads_to[0] not in modules:
                modules[leads_to[0]] = None
                waiting.append(leads_to[0])
        if len(modules) > MAX_FILES:
            return CustomOps(is_open=True)
    readers = [_Reader(module, found) for module in modules if b"library" in module.source.data]
    for reader in readers:
        reader.define()
    for reader in readers:
        reader.register()
    return found


class _ImportedNames:
    """The names that files import, by path. They are found without parsing: a large library has thousands of files."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def drop(self, paths: Collection[str]) -> None:
        """Forget files that have changed."""
        for path in paths:
            self._known.pop(path, None)

    def of(self, project: Project, path: str) -> tuple[str, ...]:
        """The names that running a file imports, and the packages that they lie in; none if it cannot be read."""
        package = project.resolver.qualified_name(Path(path))[1]
        project.recorder.read(path)
        known = self._known.get(path)
        if known is None:
            names: dict[str, None] = {}
            for found in imports(project.content(path), is_run=True):
                base = absolute_module(found.module, found.level, package)
                for name, _ in found.names:
                    names[f"{base}.{name}".lstrip(".") if name and name != "*" else base] = None
            known = self._known[path] = _with_packages(names)
        return known


def _imports_too_many(project: Project, start: Module) -> bool:
    """Whether a file imports more than `MAX_FILES`, as their texts tell: to parse them would take seconds."""
    names = project.shared(_ImportedNames, None)
    paths, waiting = {start.key}, [start.key]
    while waiting and len(paths) <= MAX_FILES:
        path = waiting.pop(0)
        folder = path.rpartition("/")[0]
        for name in names.of(project, path):
            for place, _ in project.resolver.places(name, folder)[:1]:
                if place not in paths:
                    paths.add(place)
                    waiting.append(place)
    return len(paths) > MAX_FILES


def _with_packages(names: Iterable[str]) -> tuple[str, ...]:
    """Qualified names and the packages that they lie in, each once, without those of torch."""
    paths = [name.split(".") for name in names]
    packages = [".".join(path[:count]) for path in paths if path[0] != "torch" for count in range(1, len(path) + 1)]
    return tuple(dict.fromkeys(packages))


@dataclass(frozen=True, slots=True)
class _Statements:
    """What of a file's text matters here: all of it that does not depend on other files.

    `imported` are the names that are imported and the packages that they lie in, each once. `calls` are what is called
    or decorates something, with the call, and with the function that it decorates. `assigned` are variables and the
    calls whose result they hold.
    """

    imported: tuple[str, ...]
    functions: dict[str, Kernel]
    calls: tuple[tuple[ast.expr, ast.Call | None, Kernel | None], ...]
    assigned: tuple[tuple[str, ast.Call], ...]


_KNOWN: WeakKeyDictionary[Module, _Statements] = WeakKeyDictionary()


def _statements(module: Module) -> _Statements:
    """What matters in a file. Many files import it, and many classes are run: it is read once."""
    known = _KNOWN.get(module)
    if known is None:
        known = _KNOWN[module] = _read(module)
    return known


def _read(module: Module) -> _Statements:
    names: list[str] = []
    for statement in flat(module.tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            names += [target for _, target in imported(statement, module.package)]
            if isinstance(statement, ast.Import):
                names += [alias.name for alias in statement.names]
    functions: dict[str, Kernel] = {}
    calls: list[tuple[ast.expr, ast.Call | None, Kernel | None]] = []
    assigned: list[tuple[str, ast.Call]] = []
    for node in ast.walk(module.tree) if b"library" in module.source.data else ():
        if isinstance(node, FunctionNode):
            functions[node.name] = node
            for decorator in node.decorator_list:
                call = decorator if isinstance(decorator, ast.Call) else None
                calls.append((call.func if call else decorator, call, node))
        elif isinstance(node, ast.Call):
            calls.append((node.func, node, None))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            target = dotted(node.targets[0])
            if target:
                assigned.append((target, node.value))
    return _Statements(_with_packages(names), functions, tuple(calls), tuple(assigned))


class _Reader:
    """What one file says about custom operators."""

    def __init__(self, module: Module, found: CustomOps) -> None:
        known = _statements(module)
        self.module = module
        self.found = found
        self.libraries: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.functions = known.functions
        self.calls = known.calls
        self.assigned = known.assigned

    def define(self) -> None:
        """Note the operators, and the variables that hold them."""
        for target, made in self.assigned:
            name = _text(_argument(made, 0, "name"))
            called = self._qualified(made.func) if name else None
            if name and called == "torch.library.Library":
                self.libraries[target] = name
            elif name and called == "torch.library.custom_op":
                self.names[target] = name
        for callee, call, function in self.calls:
            name = self._qualified(callee)
            if call is None or name is None:
                continue
            if name in {"torch.library.custom_op", "torch.library.triton_op"}:
                self._custom_op(name, call, function)
            elif name == "torch.library.define":
                self._declare(_text(_argument(call, 0, "qualname")))
            elif name.endswith(".define") and name.removesuffix(".define") in self.libraries:
                schema = _text(_argument(call, 0, "schema")) or ""
                self._declare(f"{self.libraries[name.removesuffix('.define')]}::{schema.partition('(')[0]}")

    def _custom_op(self, called: str, call: ast.Call, function: Kernel | None) -> None:
        name = _text(_argument(call, 0, "name"))
        if name is None:
            return
        kernel = function or self._kernel(_argument(call, 1, "fn"))
        if kernel is None:
            return  # the call that is the decorator of a function is met with it
        op = CustomOp(self.module, kernel, _strings(_argument(call, 1 if function else 2, "mutates_args")))
        returns_nothing = isinstance(kernel, FunctionNode) and _is_none(kernel.returns)
        op.is_faked = called.endswith("triton_op") or (returns_nothing and op.mutates != frozenset())
        self.found.ops[name] = op
        if isinstance(kernel, FunctionNode) and function is not None:
            self.names[kernel.name] = name

    def _declare(self, name: str | None) -> None:
        if name is not None:
            self.found.ops.setdefault(name, CustomOp(self.module))

    def register(self) -> None:
        """Note what the operators are given besides."""
        for callee, call, function in self.calls:
            name = self._qualified(callee) or ""
            owner, _, method = name.rpartition(".")
            if name in REGISTRATIONS:
                self._fake(self._op(call), call, 1, function)
            elif method in FAKE_METHODS and owner in self.libraries:
                self._fake(self._named(owner, _argument(call, 0, "op_name")), call, 1, function)
            elif method in FAKE_METHODS:
                self._fake(self.names.get(owner) or self._imported(owner), call, 0, function)
            elif name == "torch.library.impl":
                self._implement(call)
            elif method == "impl" and owner in self.libraries:
                self._keyed(self._named(owner, _argument(call, 0, "op_name")), _argument(call, 2, "dispatch_key"))
            elif method == "impl":
                self._keyed(None, _argument(call, 2, "dispatch_key"))
            elif name == "torch.library.register_torch_dispatch":
                self._fake(self._op(call), call, 2, function)

    def _implement(self, call: ast.Call | None) -> None:
        """`torch.library.impl("library::name", keys)` or `torch.library.impl(library, "name", key)`."""
        first = _argument(call, 0, "qualname")
        library = dotted(first) if first is not None else None
        if library in self.libraries:
            self._keyed(self._named(str(library), _argument(call, 1, "name")), _argument(call, 2, "dispatch_key"))
        else:
            self._keyed(_text(first), _argument(call, 1, "types"))

    def _keyed(self, name: str | None, key: ast.expr | None) -> None:
        """A kernel for a dispatch key: what is composite is its own fake kernel."""
        keys = frozenset({""}) if key is None else _strings(key)
        is_fake = keys is None or any(k in {"", "default"} or k.lower() == "meta" or "Composite" in k for k in keys)
        op = self.found.ops.get(name) if name is not None else None
        if op is None:
            self.found.is_open = self.found.is_open or (name is None and is_fake)
        elif is_fake:
            op.is_faked = True

    def _fake(self, name: str | None, call: ast.Call | None, index: int, function: Kernel | None) -> None:
        op = self.found.ops.get(name) if name is not None else None
        if op is None:
            self.found.is_open = self.found.is_open or name is None
            return
        op.is_faked = True
        kernel = function or self._kernel(_argument(call, index, "func"))
        if kernel is not None:
            op.fake = self.module, kernel

    def _op(self, call: ast.Call | None) -> str | None:
        """The operator that is the first argument: by its name, by itself, or as `torch.ops.library.name`."""
        first = _argument(call, 0, "op")
        path = dotted(first) if first is not None else None
        if path is None:
            return _text(first)
        return self.names.get(path) or self._imported(path)

    def _imported(self, path: str) -> str | None:
        """The operator that a name of another file stands for."""
        if path.startswith("torch.ops."):
            return "::".join(path.split(".")[2:4])
        short = path.rpartition(".")[2]
        found = [name for name in self.found.ops if name.endswith(f"::{short}")]
        return found[0] if len(found) == 1 else None

    def _named(self, library: str, name: ast.expr | None) -> str | None:
        text = _text(name)
        return None if text is None else f"{self.libraries[library]}::{text}"

    def _kernel(self, node: ast.expr | None) -> Kernel | None:
        if isinstance(node, ast.Lambda):
            return node
        return self.functions.get(node.id) if isinstance(node, ast.Name) else None

    def _qualified(self, node: ast.expr) -> str | None:
        path = dotted(node)
        if path is None:
            return None
        root, dot, rest = path.partition(".")
        binding = self.module.bindings.get(root)
        return binding.target + dot + rest if isinstance(binding, Import) else path


def _argument(call: ast.Call | None, index: int, name: str) -> ast.expr | None:
    if call is None:
        return None
    if index < len(call.args):
        return call.args[index]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _strings(node: ast.expr | None) -> frozenset[str] | None:
    """The strings of a literal: of one, or of a tuple, list or set of them."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        texts = [_text(element) for element in node.elts]
        return None if None in texts else frozenset(text for text in texts if text is not None)
    if isinstance(node, ast.Dict):
        return None if node.keys else frozenset()
    text = _text(node)
    return None if text in {None, "unknown"} else frozenset({str(text)})


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
