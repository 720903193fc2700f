"""Source that was put together, as one logical line: where it has several lines, brackets hold them together."""

from __future__ import annotations

import io
import tokenize

from exportlint.fixes.errors import DeclinedError

_COMPOUND = frozenset(
    {"if", "for", "while", "with", "def", "class", "try", "async", "match", "case", "@", "else", "elif"}
)
_COMPARISONS = frozenset({"==", "!=", "<=", ">=", ":="})
_LEADING = frozenset({"return", "raise", "assert", "yield", "await"})
_LAYOUT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER})


def held_together(statement: str) -> str:
    r"""The source of a statement; a simple one of several lines that nothing joins gets parentheses.

    So `x = x.t\n()` becomes `x = (x.t\n())`. Compound statements stay as they are.

    Raises:
        DeclinedError: Python's tokenizer refuses it.
    """
    if "\n" not in statement:
        return statement
    try:
        # Within brackets, indentation means nothing.
        found = list(tokenize.generate_tokens(io.StringIO(f"({statement}\n)").readline))[1:]
    except (tokenize.TokenError, SyntaxError):
        raise DeclinedError("a statement of several lines cannot be split into tokens") from None
    starts = [0]
    for line in f"({statement}".split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    depth, place, is_broken, is_open = 0, 0, False, False
    code = [token for token in found if token.type not in _LAYOUT - {tokenize.NL}][:-1]
    first = next((token for token in code if token.type != tokenize.NL), None)
    if first is None or first.string in _COMPOUND:
        return statement
    for token in code:
        if token.type == tokenize.NL:
            is_broken |= depth == 0
            continue
        is_open |= is_broken
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        is_assignment = token.type == tokenize.OP and token.string.endswith("=") and token.string not in _COMPARISONS
        if depth == 0 and (is_assignment or (token is first and token.string in _LEADING)):
            place = starts[token.end[0] - 1] + token.end[1] - 1
    if not is_open:
        return statement
    head, value = statement[:place], statement[place:]
    blanks = value[: len(value) - len(value.lstrip())]
    end = "\n" if "#" in value.rpartition("\n")[2] else ""
    return f"{head}{blanks}({value[len(blanks) :]}{end})"
