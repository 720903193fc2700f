"""How the files of a project call torch.export, as far as the calls themselves say it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from exportlint.source import SourceError, SyntaxProblem, parse, read
from exportlint.syntax.definitions import dotted

_CALLS = frozenset(
    ("torch.export.export", "torch.export.draft_export", "torch.export.export_for_training", "torch.onnx.export")
)
_SHAPES = ("dynamic_shapes", "dynamic_axes")


@dataclass(frozen=True, slots=True)
class Exports:
    """What the calls of torch.export in a project have in common.

    `strict` is the place of a call with `strict=True`, if there is one. `dims` are the dimensions that vary according
    to any call, `dims_from` the place of the first that says so; None without calls, or where one cannot be read.
    """

    imports_torch: bool = False
    strict: str | None = None
    dims: tuple[int, ...] | None = None
    dims_from: str = ""


def exports_in(files: Iterable[Path], root: Path) -> Exports:
    """What the calls in these files have in common. Places are named from `root`. What cannot be read says nothing."""
    imports_torch, strict, dims_from = False, None, ""
    dims: set[int] = set()
    are_known, calls = True, 0
    for file in files:
        try:
            source = read(file)
            imports_torch |= "import torch" in source.text or "from torch" in source.text
            if "torch" not in source.text or "export" not in source.text:
                continue
            tree = parse(source)
        except (SourceError, SyntaxProblem):
            continue
        values = _assigned(tree)
        for call in _calls(tree):
            calls += 1
            place = f"{file.relative_to(root).as_posix()}:{source.lines.span_of(call).start.row}"
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            if strict is None and isinstance(passed := keywords.get("strict"), ast.Constant) and passed.value is True:
                strict = place
            shapes = next((keywords[name] for name in _SHAPES if name in keywords), None)
            found = frozenset[int]() if shapes is None and None not in keywords else _dims(shapes, values)
            if found is None:
                are_known = False
            elif found:
                dims |= found
                dims_from = dims_from or place
    return Exports(imports_torch, strict, tuple(sorted(dims)) if calls and are_known else None, dims_from)


def _assigned(tree: ast.Module) -> dict[str, ast.expr | None]:
    """What is assigned to names, None where several things are."""
    values: dict[str, ast.expr | None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values[target.id] = None if target.id in values else node.value
    return values


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            head, dot, rest = (dotted(node.func) or "").partition(".")
            if names.get(head, head) + dot + rest in _CALLS:
                yield node


def _dims(shapes: ast.expr | None, values: dict[str, ast.expr | None]) -> frozenset[int] | None:
    """The dimensions that an argument says vary; None where it does not spell them out."""
    if isinstance(shapes, ast.Name):
        name = shapes.id
        shapes, values = values.get(name), {**values, name: None}  # which may hold itself
    match shapes:
        case None:
            return None
        case ast.Constant(value=None):
            return frozenset()
        case ast.Dict(keys=keys, values=inner) if keys and all(_index(key) is not None for key in keys):
            pairs = zip(map(_index, keys), inner, strict=True)
            return frozenset(index for index, value in pairs if index is not None and _varies(value))
        case ast.Dict(values=inner):
            return _together(inner, values)
        case ast.List(elts=inner) | ast.Tuple(elts=inner):
            if inner and not any(isinstance(each, ast.Dict | ast.List | ast.Tuple) for each in inner):
                if isinstance(shapes, ast.List) and all(_index(each) is not None for each in inner):
                    return frozenset(index for each in inner if (index := _index(each)) is not None)  # dynamic_axes
                return frozenset(index for index, each in enumerate(inner) if _varies(each))
            return _together(inner, values)
    return None


def _together(inner: Iterable[ast.expr], values: dict[str, ast.expr | None]) -> frozenset[int] | None:
    found = [_dims(each, values) for each in inner]
    known = [each for each in found if each is not None]
    return frozenset[int]().union(*known) if len(known) == len(found) else None


def _index(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value >= 0:
        return node.value
    return None


def _varies(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)  # an axis by its name
    return not (dotted(node) or "").endswith("STATIC")
