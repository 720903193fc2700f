"""From the Markdown that GitHub reads to the one that Python-Markdown reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_FENCE = re.compile(r"^ *(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?:(?!\1).)+?\1", re.DOTALL)
_ITEM = re.compile(r"^( *)((?:[-*+]|\d+[.)]) +)(?=\S)")


def outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """A text with its prose changed, and with its blocks and spans of code as they were."""
    parts: list[str] = []
    for is_code, lines in _by_fences(text):
        block = "".join(lines)
        parts.append(block if is_code else _prose(block, change))
    return "".join(parts)


def _prose(text: str, change: Callable[[str], str]) -> str:
    # A label may be code, so a link is changed behind it; spans are only hidden meanwhile.
    spans: list[str] = []

    def hide(span: re.Match[str]) -> str:
        spans.append(span[0])
        return f"\0{len(spans) - 1}\0"

    changed = change(_CODE.sub(hide, text))
    return re.sub("\0(\\d+)\0", lambda mark: spans[int(mark[1])], changed)


def indented_by_four(text: str) -> str:
    """A text whose lists are indented by four blanks a level, with a blank line before each list."""
    return "".join(_reindented(text))


def _reindented(text: str) -> Iterator[str]:
    levels: list[int] = []  # the column where the text of each open item begins
    is_after_blank = True
    for is_code, lines in _by_fences(text):
        for at, line in enumerate(lines):
            if not line.strip():
                is_after_blank = True
                yield line
                continue
            indent = len(line) - len(line.lstrip(" "))
            item = None if is_code else _ITEM.match(line)
            is_lazy = not item and not is_after_blank and not is_code
            was_list = bool(levels)
            while levels and indent < levels[-1] and not is_lazy and (not is_code or not at):
                levels.pop()
            outer = levels[-1] if levels else 0
            margin = " " * (4 * len(levels))
            if item:
                if not was_list and not is_after_blank:
                    yield "\n"
                yield f"{margin}{item[2].rstrip()} {line[item.end() :]}"
                levels.append(item.end())
            else:
                yield margin + line[min(indent, outer) :]
            is_after_blank = False


def _by_fences(text: str) -> Iterator[tuple[bool, list[str]]]:
    """The lines of a text in runs, each either prose or one block of code with its fences."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if not fence and found:
            if lines:
                yield False, lines
            lines, fence = [line], found[1]
        elif fence and found and found[1].startswith(fence) and not line.strip(" `~\n"):
            yield True, [*lines, line]
            lines, fence = [], ""
        else:
            lines.append(line)
    if lines:
        yield bool(fence), lines
