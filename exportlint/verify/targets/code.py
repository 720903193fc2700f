"""The code of a project as verify looks at it: which classes are models, and whether they can be made and called."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

# It registers what evaluates the bases of classes.
from exportlint.analysis.domain.values import ClassValue, External, Function
from exportlint.analysis.eval.classes import bases, find_method, is_module, lineage
from exportlint.analysis.eval.engine import Engine, Options
from exportlint.analysis.eval.frame import Frame
from exportlint.analysis.eval.names import top_level_value
from exportlint.analysis.facts.exports import ExportCall
from exportlint.analysis.handlers import load_interpreter
from exportlint.analysis.project import Project
from exportlint.analysis.scripts import export_facts
from exportlint.analysis.torch import table
from exportlint.config import Settings
from exportlint.source import SourceError, SyntaxProblem, discover, read
from exportlint.syntax.definitions import Assignment, Class, FunctionNode, Import, Module
from exportlint.verify.specs import Spec
from exportlint.verify.targets.constructors import Constructors
from exportlint.verify.targets.documents import documents
from exportlint.verify.targets.hints import hints_of
from exportlint.verify.targets.signatures import required
from exportlint.verify.targets.sources import Sources
from exportlint.verify.targets.usages import Usages

NO_FORWARD = frozenset({"torch.nn.Module", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
"""Classes of torch that cannot be called."""


_MOST_ENTRIES = 5000
_MOST_FILES = 500
"""How much of a project is looked at for what makes and calls a model."""


class Code:
    """The files that the settings of one configuration hold for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._project = Project(settings.src)
        load_interpreter()
        self._engine = Engine(self._project, Options(module_bases=settings.module_bases))
        self._modules: dict[Path, Module] = {}

    def module(self, file: Path) -> Module:
        """What a file defines.

        Raises:
            SourceError: it cannot be read.
            SyntaxProblem: it is not Python.
        """
        if file not in self._modules:
            self._modules[file] = self._project.add(read(file))
        return self._modules[file]

    @cached_property
    def files(self) -> tuple[Module, ...]:
        """The files of the project that can be read and parsed, as many as can be looked at while somebody waits."""
        found = discover([self.settings.root], lambda _: self.settings.discovery, _MOST_ENTRIES).files
        modules = []
        for file in found[:_MOST_FILES]:
            if file.suffix == ".py":
                with contextlib.suppress(SourceError, SyntaxProblem):
                    modules.append(self.module(file))
        return tuple(modules)

    @cached_property
    def documents(self) -> tuple[Module, ...]:
        """The examples in the project's documents, each as if it were a file."""
        modules = []
        for source in documents(self.settings.root):
            with contextlib.suppress(SourceError, SyntaxProblem):
                modules.append(self._project.add(source))
        return tuple(modules)

    @cached_property
    def usages(self) -> Usages:
        """What the files make and call."""
        return Usages(self._engine, lambda: self.files)

    @cached_property
    def sources(self) -> Sources:
        """The ways to models and their inputs that the files show."""
        return Sources(self)

    @cached_property
    def constructors(self) -> Constructors:
        """What classes may be made of where nobody says it."""
        return Constructors(self)

    def is_model(self, cls: Class) -> bool:
        """Whether a class is an `nn.Module`."""
        return bool(cls.node.bases) and is_module(self._frame(cls), cls)

    def definition(self, module: Module, node: ast.expr) -> Class | tuple[Module, FunctionNode] | None:
        """The class or the function of the project that an expression at the top level of a file names."""
        match top_level_value(self._engine, module, node):
            case ClassValue(definition):
                return definition
            case Function(module=owner, node=(ast.FunctionDef() | ast.AsyncFunctionDef()) as function):
                return owner, function
        return None

    def models(self, module: Module) -> Iterator[Class]:
        """The classes of a file that are `nn.Module`s, in order."""
        for cls in module.classes:
            known = module.bindings.get(cls.qualname)
            is_hidden = isinstance(known, Class) and known is not cls  # by a later definition
            if not is_hidden and self.is_model(cls):
                yield cls

    def why_not(self, cls: Class) -> str | None:
        """Why a model cannot be made and called whatever it is given, in a few words."""
        if "<locals>" in cls.qualname:
            return "is defined inside of a function, so it cannot be imported"
        missing = [name for name, node in self.methods(cls).items() if _is_abstract(node)]
        if missing:
            return f"is abstract: `{missing[0]}` is left to subclasses"
        forward = self.method(cls, "forward")
        if forward is None:
            if self.method(cls, "__call__") is not None:
                return None
            if all("forward" not in owner.attributes for owner in self._lineage(cls)) and self._is_plain(cls):
                return "has no `forward`"
        elif _is_left_open(forward):
            return "is abstract: `forward` is left to subclasses"
        return None

    def needs(self, cls: Class) -> list[str]:
        """The arguments that the constructor of a class needs, as far as that can be told."""
        constructor = self.method(cls, "__init__")
        if constructor is not None:
            return required(constructor, bound=True)
        for base in self._outside(cls):
            api = table.lookup(base)
            if api is not None and api.kind == "module" and api.overloads:
                return min((sorted(overload.required) for overload in api.overloads), key=len)
        return []

    def method(self, cls: Class, name: str) -> FunctionNode | None:
        """A method of a class, perhaps inherited from another class of the project."""
        found = find_method(self._frame(cls), cls, name)
        return found[1] if found is not None and isinstance(found[1], FunctionNode) else None

    def hints(self, cls: Class) -> Mapping[str, tuple[Spec, ...]]:
        """What the code says of the arguments of a model."""
        frame = self._frame(cls)
        found = find_method(frame, cls, "forward") or find_method(frame, cls, "__call__")
        if found is None or not isinstance(found[1], ast.FunctionDef):
            return {}
        lines = re.split(r"\r\n?|\n", found[0].module.source.text)  # as Python counts them
        return hints_of(found[1], lines, ast.get_docstring(cls.node) or "")

    def offers(self, cls: Class, name: str) -> bool:
        """Whether a class has such a method without arguments, or sets such an attribute."""
        method = self.method(cls, name)
        if method is not None:
            return not required(method, bound=True)
        constructor = self.method(cls, "__init__")
        stored = () if constructor is None else ast.walk(constructor)
        values = (owner.attributes.get(name) for owner in self._lineage(cls))
        return any(value is not None and ast.unparse(value) != "None" for value in values) or any(
            isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr == name for node in stored
        )

    def names(self, module: Module) -> list[str]:
        """What a file has that could be a model, or make one."""
        models = [cls.qualname for cls in self.models(module)]
        others = (name for name, binding in module.bindings.items() if not isinstance(binding, Import))
        return [*(name for name in others if name not in models), *models]

    def may_have(self, module: Module, name: str) -> bool:
        """Whether a file has something of that name, as far as that can be told."""
        first, _, rest = name.partition(".")
        binding = module.bindings.get(first)
        if isinstance(binding, Class) and rest:
            return any(cls.qualname == name for cls in module.classes) or rest in binding.methods
        return binding is not None or bool(module.stars) or _is_open(module, first)

    def export_rows(self, module: Module) -> list[int]:
        """The rows on which calls of torch.export begin."""
        facts = export_facts(module, self._project, self._engine.options)
        calls = (fact for fact in facts if isinstance(fact, ExportCall) and fact.api == "torch.export.export")
        return sorted({fact.site.row for fact in calls if fact.site.filename == module.filename})

    def _frame(self, cls: Class) -> Frame:
        return Frame(self._engine.for_root(), cls.module)

    def _lineage(self, cls: Class) -> tuple[Class, ...]:
        return lineage(self._frame(cls), cls)

    def methods(self, cls: Class) -> dict[str, FunctionNode]:
        """The methods of a class by name, also those that it inherits from classes of the project."""
        found: dict[str, FunctionNode] = {}
        for owner in reversed(self._lineage(cls)):
            found |= owner.methods
        return found

    def _outside(self, cls: Class) -> Iterator[str]:
        """The classes outside of the project that a class inherits from."""
        for owner in self._lineage(cls):
            for base in bases(self._frame(owner), owner):
                if isinstance(base, External):
                    yield table.resolve(base.name)

    def _is_plain(self, cls: Class) -> bool:
        """Whether all that a class inherits is known not to have a `forward`."""
        others = (base for base in self._outside(cls) if base not in NO_FORWARD)
        return all(base.partition(".")[0] in {"abc", "builtins", "typing"} for base in others)


def _is_open(module: Module, name: str) -> bool:
    """Whether a file may bind a name by other means than its top-level statements: in loops, or as globals."""
    stored = (n.id for n in ast.walk(module.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return name in stored or any(way in module.source.text for way in ("__getattr__", "globals()", "exec("))


def is_offer(binding: object) -> bool:
    """Whether a module binds a name to a value, or to something that can be called without arguments."""
    return isinstance(binding, Assignment | Import) or (isinstance(binding, FunctionNode) and not required(binding))


def row_of(binding: object) -> int:
    """The row on which a name of a module is bound, as far as that is known."""
    if isinstance(binding, Class):
        return binding.node.lineno
    node = getattr(binding, "value", binding)
    return getattr(node, "lineno", 1)


def _is_abstract(node: FunctionNode) -> bool:
    return any(ast.unparse(decorator).rpartition(".")[2] == "abstractmethod" for decorator in node.decorator_list)


def _is_left_open(node: FunctionNode) -> bool:
    """Whether a method does nothing but say that it is for subclasses."""
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return not body or (isinstance(body[0], ast.Raise) and "NotImplemented" in ast.unparse(body[0]))
