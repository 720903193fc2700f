"""What torch says of `dynamic_shapes` that do not hold: which dimensions, of which inputs, and what would hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from exportlint.findings import Applicability, Edit, Fix
from exportlint.source import SourceFile, SyntaxProblem, parse
from exportlint.verify.results import Failure, Frame, Run

GUARD = "ConstraintViolation"
"""What `draft_export` says of a line that restricts a size: that is a failure only where the size was to vary."""

_VIOLATED = "Constraints violated"
_DIMENSIONS = re.compile(r"(?:You marked|values of) (\w+)\b(?! ?\[)|\band (\w+) = L\[|\((\w+(?:, \w+)*)\)!")
_INPUT = re.compile(r"L\['(\w+)'\]")
_SIZE = re.compile(r"L\['(\w+)'\]([^\s,]*)\.size\(\)\[(\d+)\]")
_REASON = re.compile(r"^  - (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Violation:
    """The names of the dimensions that are not as `dynamic_shapes` has them, and of the inputs that have them."""

    dimensions: frozenset[str]
    inputs: frozenset[str]


def violation(failure: Failure) -> Violation | None:
    """What a failure says of dynamic shapes, if it is about them."""
    if _VIOLATED not in failure.message:
        return None
    groups = (name for found in _DIMENSIONS.findall(failure.message) for name in found if name)
    names = {name for group in groups for name in group.split(", ")}
    return Violation(frozenset(names - {"L"}), frozenset(_INPUT.findall(failure.message)))


def restrictions(failure: Failure, run: Run) -> tuple[Frame, ...]:
    """The lines that restrict the sizes of which a failure says that they were to vary, as far as they are known."""
    violated = violation(failure)
    if violated is None:
        return ()
    named = _sizes_of(violated.dimensions, run.inputs)
    found = list(failure.frames[-1:])  # which strict mode may tell
    for guard in run.failures:
        sizes = {(f"{name}{path}", int(place)) for name, path, place in _SIZE.findall(guard.message)}
        same = sizes & named if named else not violated.inputs or violated.inputs & set(_INPUT.findall(guard.message))
        if guard.type == GUARD and same:
            found += [frame for frame in guard.frames[-1:] if frame not in found]
    return tuple(found)


def _sizes_of(dimensions: Collection[str], inputs: Iterable[str]) -> set[tuple[str, int]]:
    """Where dimensions are, by the inputs as a run has them: `x: float32[batch=2, 3]`."""
    found = set()
    for text in inputs:
        path, _, described = text.partition(": ")
        sizes = described.partition("[")[2].rstrip("]").split(", ")
        found |= {(path, i) for i, size in enumerate(sizes) if size.partition("=")[0] in dimensions}
    return found


def in_short(message: str) -> str:
    """A message with what matters of it in its first line: of constraints, why they do not hold, and what would."""
    if not message.startswith(_VIOLATED):
        return message
    reason, suggestions = _REASON.search(message), suggestions_in(message)
    first = message.partition("!")[0] + (f": {reason[1].rstrip('.')}" if reason else "")
    shown = ", ".join(f"`{suggestion}`" for suggestion in suggestions)
    return f"{first}; torch suggests {shown}" if shown else first


def suggestions_in(message: str) -> tuple[str, ...]:
    """The definitions of dimensions that torch lists under `Suggested fixes`."""
    _, found, rest = message.partition("Suggested fixes:\n")
    lines = rest.split("\n\n", 1)[0].splitlines() if found else []
    return tuple(line.strip() for line in lines if re.fullmatch(r"\s+\w+ = .+", line))


def as_fix(failure: Failure, source: SourceFile) -> Fix | None:
    """What torch suggests, as a fix of the definitions of the dimensions in a file.

    None if it suggests nothing, or the file does not define each of them in one place, or uses it before it could be
    defined so.
    """
    suggestions = dict(suggestion.split(" = ", 1) for suggestion in suggestions_in(failure.message))
    try:
        tree = parse(source)
    except SyntaxProblem:
        return None
    known = {name: calls[0] for name, calls in _dimensions(tree).items() if len(calls) == 1}
    wanted = [name for name in suggestions if name in known]
    if not wanted or any(name not in known and "Dim(" not in text for name, text in suggestions.items()):
        return None
    edits: list[Edit] = []
    for name in wanted:
        dim = known[name]
        text = suggestions[name]
        for other in sorted(set(re.findall(r"[A-Za-z_]\w*", text))):
            if other in suggestions and other not in known:  # torch's own helper
                text = re.sub(rf"\b{other}\b", _as_written(suggestions[other], dim), text)
            elif other in known and other != name and "Dim(" not in text:
                variable = known[other].variable
                if variable is None or known[other].row >= dim.row:
                    return None
                text = re.sub(rf"\b{other}\b", variable, text)
        edits.append(Edit(source.lines.span_of(dim.call), _as_written(text, dim)))
    said = ", ".join(f"{name} = {text}" for name, text in suggestions.items())
    ordered = tuple(sorted(edits, key=lambda edit: edit.span.start))
    return Fix(Applicability.DISPLAY_ONLY, f"Vary as torch suggests: `{said}`", ordered)


@dataclass(frozen=True, slots=True)
class _Dimension:
    call: ast.Call
    row: int
    variable: str | None


def _dimensions(tree: ast.Module) -> Mapping[str, Sequence[_Dimension]]:
    """The calls of `Dim` by the names that they give."""
    found: dict[str, list[_Dimension]] = {}
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt):
            continue
        for call in _calls_of(statement):
            name = call.args[0] if call.args else None
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                assigns = isinstance(statement, ast.Assign) and statement.value is call
                target = statement.targets[0] if isinstance(statement, ast.Assign) and assigns else None
                variable = target.id if isinstance(target, ast.Name) else None
                found.setdefault(name.value, []).append(_Dimension(call, statement.lineno, variable))
    return found


def _calls_of(statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls of `Dim` in a statement, but not in those that are part of it."""
    waiting: list[ast.AST] = [n for n in ast.iter_child_nodes(statement) if not isinstance(n, ast.stmt)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Dim":
            yield node
        waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]


def _as_written(text: str, dim: _Dimension) -> str:
    """The text of torch, which calls `Dim`, as the file calls it."""
    return re.sub(r"\bDim\(", f"{ast.unparse(dim.call.func)}(", text)
