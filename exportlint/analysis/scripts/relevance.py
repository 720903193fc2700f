"""Which parts of a file have anything to do with torch.export: the rest is not run."""

from __future__ import annotations

import ast
from collections import defaultdict

from exportlint.syntax.definitions import FunctionNode, Module, imported

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
        self._rows: defaultdict[str, list[int]] = defaultdict(list)
        functions = []
        methods = {child for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef) for child in node.body}
        self._wanted = set(WORDS)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name):
                self._rows[node.id].append(node.lineno)
            elif isinstance(node, ast.Attribute):
                self._rows[node.attr].append(node.lineno)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._wanted |= {name for name, to in imported(node, module.package) if to.startswith(SOURCES)}
            elif isinstance(node, FunctionNode) and node not in methods:
                functions.append(node)
        while more := {f.name for f in functions if f.name not in self._wanted and self.are_in(f)}:
            self._wanted |= more

    def __bool__(self) -> bool:
        return any(name in self._rows for name in self._wanted)

    def are_in(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether a function gets at torch.export."""
        end = node.end_lineno or node.lineno
        return any(node.lineno <= row <= end for name in self._wanted for row in self._rows.get(name, ()))


def is_one_in(data: bytes, texts: tuple[bytes, ...]) -> bool:
    """Whether a file has one of these texts in it."""
    return any(text in data for text in texts)
