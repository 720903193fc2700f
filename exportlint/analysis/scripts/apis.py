"""Which APIs of torch's export, compilers and custom operators a file refers to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from exportlint.analysis.domain.trails import site_of
from exportlint.analysis.facts.exports import ApiUse
from exportlint.syntax.definitions import TRIES, Module, dotted, imported

NAMESPACES = (
    "functorch.", "torch.export.", "torch._export.", "torch._dynamo.", "torch._inductor.", "torch.library.",
    "torch.ao.quantization.", "torch._custom_op", "torch.onnx.", "torch._constrain_",
)  # fmt: skip
HINTS_OF_A_VERSION = ("version", "hasattr", "TORCH_", "torch_greater", "torch_less", "is_available")
"""What a condition has in it that looks which torch is there."""


def api_uses(module: Module) -> Iterator[ApiUse]:
    """Each place, in the order of the text.

    `guarded` are those that run only where the API is there: below a look at the version of torch, or where its absence
    is caught.
    """
    names = {
        name: target
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name, target in imported(node, module.package)
        if f"{target}.".startswith((*NAMESPACES, "torch."))
    }
    yield from _uses(module, module.tree, names, "", guarded=False)


def _uses(module: Module, node: ast.AST, names: dict[str, str], symbol: str, *, guarded: bool) -> Iterator[ApiUse]:
    if isinstance(node, ast.ImportFrom):
        for _, target in imported(node, module.package):
            yield from _use(module, node, target, symbol, guarded, imported=True)
        return
    if isinstance(node, ast.Attribute) and (name := _qualified(node, names)) is not None:
        yield from _use(module, node, name, symbol, guarded, imported=False)
        return
    if isinstance(node, ast.If) and any(hint in ast.unparse(node.test) for hint in HINTS_OF_A_VERSION):
        guarded = True
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        symbol = f"{symbol}.{node.name}".lstrip(".")
    catches = isinstance(node, TRIES) and any(_catches(handler) for handler in node.handlers)
    for field, value in ast.iter_fields(node):
        inner = guarded or (catches and field in {"body", "handlers"})
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _uses(module, child, names, symbol, guarded=inner)


def _use(module: Module, node: ast.AST, name: str, symbol: str, guarded: bool, *, imported: bool) -> Iterator[ApiUse]:
    if name.startswith(NAMESPACES):
        yield ApiUse(site_of(module, node), symbol, guarded, None, name=name, imported=imported)


def _qualified(node: ast.Attribute, names: dict[str, str]) -> str | None:
    written = dotted(node)
    if written is None:
        return None
    first, _, rest = written.partition(".")
    return f"{names[first]}.{rest}" if first in names else None


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = {name.id for name in ast.walk(handler.type) if isinstance(name, ast.Name)}
    return bool(caught & {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception"})
