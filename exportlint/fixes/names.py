"""How a file calls what is not its own, and names that are still free in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import count

from exportlint.analysis.outline import FunctionNode, dotted, imported
from exportlint.fixes.errors import DeclinedError
from exportlint.fixes.statements import is_docstring
from exportlint.fixes.tree import Scope, Tree
from exportlint.source import SourceFile


def spelled(name: str, tree: Tree, package: str, node: ast.AST) -> str | None:
    """How a qualified name, such as `torch.nn.functional.pad`, is written at a node; None if no import brings it.

    Raises:
        DeclinedError: the variables around the node hide every import of it.
    """
    taken = {bound for scope in tree.ancestors(node) if isinstance(scope, Scope) for bound in bound_names(scope)}
    known = {local: target for statement in imports(tree.root) for local, target in imported(statement, package)}
    parts = name.split(".")
    hidden = False
    for length in range(len(parts), 0, -1):
        for local, target in known.items():
            if target == ".".join(parts[:length]):
                if local not in taken and not is_rebound(tree.root, local):
                    return ".".join([local, *parts[length:]])
                hidden = True
    if hidden or parts[0] in taken or is_rebound(tree.root, parts[0]):
        raise DeclinedError(f"`{parts[0]}` is another name here")
    return None


def qualified(node: ast.expr, module: ast.Module, package: str) -> str | None:
    """The qualified name of what `a.b.c` stands for where `a` is a name of the file; None for anything else."""
    first, _, rest = (dotted(node) or "").partition(".")
    if not first or is_rebound(module, first):
        return None
    known = {local: target for statement in imports(module) for local, target in imported(statement, package)}
    return ".".join(filter(None, [known.get(first, first), rest]))


def imports(module: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that surely run when the file is: not in a `try`, nor under a condition."""
    for statement in module.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement


def is_rebound(module: ast.Module, name: str) -> bool:
    """Whether the file itself gives a name that imports bring another meaning, at its top level."""
    for statement in module.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(statement, (FunctionNode, ast.ClassDef)):
            if statement.name == name:
                return True
        elif name in _stored(statement):
            return True
    return False


def _stored(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def bound_names(scope: Scope) -> set[str]:
    """The names that a function binds: its parameters, and what its body assigns, imports and defines."""
    arguments = scope.args
    found = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    found |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    waiting: list[ast.AST] = list(scope.body) if isinstance(scope.body, list) else [scope.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        if isinstance(node, (FunctionNode, ast.ClassDef)):
            found.add(node.name)
        elif not isinstance(node, ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def used_names(node: ast.AST) -> set[str]:
    """All names that stand somewhere in a node, bound or read."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    found |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    return found | {
        n.name for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }


def fresh(name: str, taken: set[str]) -> str:
    """`name`, or the first of `name_1`, `name_2` … that is not taken."""
    if name not in taken:
        return name
    return next(candidate for number in count(1) if (candidate := f"{name}_{number}") not in taken)


def place_of_import(source: SourceFile, module: ast.Module, name: str) -> tuple[int, bool]:
    """Where `import name` goes: an offset, and whether that is in front of the line there or at the end of one.

    It goes in front of the first import from the same package, else behind the first block of imports, else behind the
    docstring.
    """
    package = name.partition(".")[0]
    last: ast.stmt | None = None
    for index, statement in enumerate(module.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            if _package(statement) == package:
                return source.lines.line_start(statement.lineno), True
            last = statement
        elif not (index == 0 and is_docstring(statement)):
            break
        else:
            last = statement
    if last is not None:
        return source.lines.line_end(last.end_lineno or last.lineno), False
    if not module.body:
        return len(source.text), False
    first = module.body[0]
    rows = [first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))]
    return source.lines.line_start(min(rows)), True


def _package(statement: ast.Import | ast.ImportFrom) -> str:
    if isinstance(statement, ast.ImportFrom):
        return "" if statement.level else (statement.module or "").partition(".")[0]
    return statement.names[0].name.partition(".")[0]
