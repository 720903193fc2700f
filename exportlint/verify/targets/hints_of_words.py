"""What people write of arguments: docstrings of all styles, and comments such as `# x: (B, C, H, W)`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

Shape: TypeAlias = tuple[int | str, ...]

_DIM = r"(?:\*|\.\.\.|[A-Za-z_]\w*(?:\s*[-+*/]{1,2}\s*\w+)*|\d+(?:\s*[-+*]\s*\w+)*)"
_BRACKETED = re.compile(rf"[(\[]\s*({_DIM}(?:\s*(?:,|\sx\s)\s*{_DIM})*)\s*(,?)\s*[)\]]")
_BARE = re.compile(r"(?<!\w)([A-Za-z]\d?|\d+)((?:\s*(?:[,x*]\s*)([A-Za-z]\d?|\d+|\.\.\.))+)(?!\w)")
_BATCH = {"b", "bs", "bsz", "batch", "batch_size", "batchsize", "nb", "n", "num_batch", "n_batch"}
_NO_SIZE = {
    "optional", "tensor", "torch", "int", "float", "bool", "str", "none", "list", "tuple", "dict", "default", "true",
    "false", "or", "and", "if", "of", "longtensor", "floattensor", "booltensor", "bytetensor", "required", "variable",
    "see", "ie", "eg", "type", "in", "is", "the", "a", "to", "array", "ndarray", "module", "any", "not",
}  # fmt: skip
_DTYPES = (
    (r"LongTensor|\bint64\b|\blong\b|\binteger tensor", "int64"),
    (r"BoolTensor|ByteTensor|\bbool(?:ean)? (?:tensor|mask)|torch\.bool", "bool"),
    (r"IntTensor|\bint32\b", "int64"),
)
_BODY_ROWS = 6
"""In how many rows of the body comments still are about the arguments."""


def said_of(
    forward: ast.FunctionDef, names: Sequence[str], lines: Sequence[str], of_class: str = ""
) -> Mapping[str, tuple[tuple[Shape, ...], str | None]]:
    """The shapes that are told of each argument, and its dtype if that is told. `of_class` is its docstring."""
    texts: dict[str, list[str]] = {name: [] for name in names}
    own = _entries(ast.get_docstring(forward) or "", names)
    for name, text in (*own, *_comments(forward, names, lines), *_entries(of_class, names)):
        texts[name].append(text)
    said = {}
    for name, written in texts.items():
        shapes = [shape for text in written if (shape := shape_in(text)) is not None]
        dtype = next((dtype for text in written for pattern, dtype in _DTYPES if re.search(pattern, text)), None)
        if shapes or dtype:
            said[name] = (tuple(dict.fromkeys(shapes)), dtype)
    return said


def shape_in(text: str) -> Shape | None:
    """The first shape in a text on one argument, if there is any."""
    text = re.sub(r":math:|`|\\text|\\|[{}]", "", text).replace("\N{MULTIPLICATION SIGN}", " x ")
    for match in _BRACKETED.finditer(text):
        parts = re.split(r"\s*,\s*|\s+x\s+", match.group(1))
        told = len(parts) > 1 or match.group(2) or re.search(r"shape|size\b", text[: match.start()], re.IGNORECASE)
        if told and not any(part.lower() in _NO_SIZE for part in parts):
            return tuple(as_size(part, index) for index, part in enumerate(parts))
    if bare := _BARE.search(text):
        parts = [part for part in re.split(r"[\s,x*]+", bare.group()) if part]
        return tuple(as_size(part, index) for index, part in enumerate(parts))
    return None


def as_size(text: str, index: int) -> int | str:
    """A size as specs have it: a number, a name in small letters, an expression, or `...`."""
    text = text.strip().lower().strip("_") or f"any_{index}"
    if text in ("*", "..."):
        return "..."
    if text.isdigit():
        return int(text)
    if index == 0 and text in _BATCH:
        return "batch"
    return re.sub(r"/+", "//", re.sub(r"\s+", "", text))


def _entries(docstring: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What a docstring says of each argument: its line, and those that follow further to the right."""
    rows = docstring.expandtabs().splitlines()
    starts = {row: name for row, line in enumerate(rows) if (name := _begins(line, names)) is not None}
    for row, name in starts.items():
        text = [rows[row]]
        for following in range(row + 1, len(rows)):
            line = rows[following]
            if following in starts or (line.strip() and _indent(line) <= _indent(rows[row])):
                break
            text.append(line.strip())
        yield name, re.sub(rf"^\W*(?:param\w*\s+(?:[\w.\[\]]+\s+)?)?{name}\b", "", " ".join(text).strip())


def _begins(line: str, names: Sequence[str]) -> str | None:
    """Which argument a line begins to tell of."""
    match = re.match(
        r"\s*(?:[-*•]+\s*|[:@]param(?:eter)?\s+(?:[\w.\[\]]+\s+)?)?[`*\"']*(\w+)(?:\.shape|\.size\(\))?[`*\"']*\s*(?=[:(\[=,-]|is\b|of\b)",
        line,
    )
    return match.group(1) if match and match.group(1) in names else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _comments(forward: ast.FunctionDef, names: Sequence[str], lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What comments next to the arguments, and at the top of the body, say of an argument."""
    body = forward.body[1:] if ast.get_docstring(forward) is not None else forward.body
    begin = (body or forward.body)[0].lineno
    arguments = forward.args.posonlyargs + forward.args.args + forward.args.kwonlyargs
    required = [a.arg for a in arguments if a.arg in names][: max(1, len(names) - len(forward.args.defaults))]
    for row, text in _comments_in(lines, forward.lineno, begin + _BODY_ROWS):
        named = [
            name for name in names if (found := re.search(rf"(?<![\w.]){name}(?:\.shape|\.size\(\))?\s*[:=(\[]", text))
        ]
        here = [a.arg for a in arguments if a.lineno == row and a.arg in names]
        for name in named:
            found = re.search(rf"(?<![\w.]){name}(?:\.shape|\.size\(\))?\s*(?=[:=(\[])", text)
            yield name, text[found.end() if found else 0 :]
        if not named and row < begin and len(here or required) == 1:
            yield (here or required)[0], text


def _comments_in(lines: Sequence[str], first: int, last: int) -> Iterator[tuple[int, str]]:
    """The comments in some rows of a file, each with its row."""
    text = "\n".join(line.rstrip("\r\n") for line in lines[first - 1 : last])
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield first - 1 + token.start[0], token.string.lstrip("# ")
    except (tokenize.TokenError, IndentationError):  # the rows end in the middle of something
        return
