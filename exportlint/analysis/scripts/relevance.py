"""Which parts of a file have anything to do with torch.export: the rest is not run."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from exportlint.syntax.definitions import FunctionNode, Module, imported
from exportlint.syntax.walk import once_a_node, walk

CALLS = (
    b"torch.export", b"torch import export", b"torch.jit.script", b"torch.jit.trace", b"torch.jit.freeze",
    b"torch import jit", b"torch.jit.optimize_for_inference", b"aot_compile",
)  # fmt: skip
"""What a file has in it somewhere, if there is anything to run."""
APIS = (
    b"functorch.experimental", b"impl_abstract", b"torch._export", b"aot_compile", b"aot_load", b"quantize_pt2e",
    b"dynamo.export", b"dynamo_export", b"export_for_", b"dynamic_dim", b"capture_pre_autograd_graph",
)  # fmt: skip
"""The same for APIs that are worth a look by their name alone."""
WORDS = frozenset({"export", "draft_export", "jit", "ExportedProgram", "aot_compile"})
"""What code has in it, if it is to be run, besides what the file imports from torch.export and torch.jit."""
SOURCES = ("torch.export", "torch.jit")


class Words:
    """The names in a file, and those by which it gets at torch.export, its own functions included."""

    def __init__(self, module: Module) -> None:
        found = [_names_in(statement) for statement in module.tree.body]
        targets = (target for names in found for target in names.imported)
        functions = [function for names in found for function in names.functions]
        self._names = frozenset[str]().union(*(names.used for names in found))
        self._wanted = set(WORDS) | {name for name, target in targets if target.startswith(SOURCES)}
        while more := {f.name for f in functions if f.name not in self._wanted and not self._wanted.isdisjoint(f.used)}:
            self._wanted |= more

    def __bool__(self) -> bool:
        return not self._wanted.isdisjoint(self._names)

    def are_in(self, node: FunctionNode) -> bool:
        """Whether a function gets at torch.export."""
        return not self._wanted.isdisjoint(_used_by(node))


@dataclass(frozen=True, slots=True)
class _FunctionNames:
    """The name of a function, and the names and attributes that its code reads or binds."""

    name: str
    used: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names and attributes in a statement, what its absolute imports bind, and its functions, but methods."""

    used: frozenset[str]
    imported: tuple[tuple[str, str], ...]
    functions: tuple[_FunctionNames, ...]


@once_a_node
def _names_in(statement: ast.stmt) -> _Names:
    bound: list[tuple[str, str]] = []
    functions: list[FunctionNode] = []
    methods: set[ast.AST] = set()
    for node in walk(statement):
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level):
            bound += imported(node, "")
        elif isinstance(node, ast.ClassDef):
            methods.update(node.body)
        elif isinstance(node, FunctionNode):
            functions.append(node)
    named = (_FunctionNames(function.name, _used_by(function)) for function in functions if function not in methods)
    return _Names(_used_by(statement), tuple(bound), tuple(named))


@once_a_node
def _used_by(node: ast.stmt) -> frozenset[str]:
    """The names and attributes in a statement."""
    found: set[str] = set()
    for child in walk(node):
        if isinstance(child, ast.Name):
            found.add(child.id)
        elif isinstance(child, ast.Attribute):
            found.add(child.attr)
    return frozenset(found)


def is_one_in(data: bytes, texts: tuple[bytes, ...]) -> bool:
    """Whether a file has one of these texts in it."""
    return any(text in data for text in texts)
