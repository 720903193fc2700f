"""Where a string literal ends, f-strings by the grammar of Python 3.12 (PEP 701), which older ones obey too."""

from __future__ import annotations

import re

_PREFIX = frozenset("rRbBuUfFtT")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_PLAIN_BODY = {
    "'": re.compile(r"(?:[^'\\\r\n]+|\\(?:\r\n|[\s\S]))*"),
    '"': re.compile(r'(?:[^"\\\r\n]+|\\(?:\r\n|[\s\S]))*'),
    "'''": re.compile(r"(?:[^'\\]+|\\[\s\S]|'(?!''))*"),
    '"""': re.compile(r'(?:[^"\\]+|\\[\s\S]|"(?!""))*'),
}
_LITERAL = re.compile(r"[\"'\\{}\r\n]")
_FIELD = re.compile(r"[#\"'()\[\]{}:\\\r\n]")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_MAX_NESTING = 50


class _BrokenError(Exception):
    """An f-string that does not end as one; `offset` is where that was seen."""

    def __init__(self, offset: int) -> None:
        self.offset = offset


class StringScanner:
    """Finds ends of string literals in one text. Never raises; a broken literal ends where a reader would end it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._wasted = 0
        self.comments: list[tuple[int, int]] = []
        """Comments inside replacement fields, as start and end offsets, in order."""

    def end(self, quote: int, floor: int) -> int:
        """The offset after the literal whose first quote is at `quote`; no prefix begins before `floor`.

        An unterminated literal ends with its line, with three quotes at the end of the text.
        """
        kind = self._prefix(quote, floor)
        # A broken f-string is read twice. That must not make the time quadratic in their number.
        if ("f" in kind or "t" in kind) and self._wasted <= len(self._text):
            known = len(self.comments)
            try:
                return self._formatted(quote, "r" in kind, 0)
            except _BrokenError as broken:
                del self.comments[known:]
                self._wasted += broken.offset - quote
        return self._plain(quote)[0]

    def _prefix(self, quote: int, floor: int) -> str:
        start = quote
        while start > max(floor, quote - 2) and self._text[start - 1] in _PREFIX:
            start -= 1
        if start > floor and (self._text[start - 1].isalnum() or self._text[start - 1] == "_"):
            return ""
        return self._text[start:quote].lower()

    def _delimiter(self, quote: int) -> str:
        char = self._text[quote]
        return char * 3 if self._text.startswith(char * 3, quote) else char

    def _plain(self, quote: int) -> tuple[int, bool]:
        """The end of a literal, and whether it is terminated."""
        delimiter = self._delimiter(quote)
        body = _PLAIN_BODY[delimiter].match(self._text, quote + len(delimiter))
        assert body is not None
        if self._text.startswith(delimiter, body.end()):
            return body.end() + len(delimiter), True
        return len(self._text) if len(delimiter) == 3 else body.end(), False

    def _formatted(self, quote: int, raw: bool, level: int) -> int:
        if level > _MAX_NESTING:
            raise _BrokenError(quote)
        delimiter = self._delimiter(quote)
        return self._literal(quote + len(delimiter), delimiter, raw, level, in_spec=False)

    def _literal(self, at: int, delimiter: str, raw: bool, level: int, in_spec: bool) -> int:
        """The end of literal text: after the closing quote, or in a format spec after the field's `}`."""
        text = self._text
        while found := _LITERAL.search(text, at):
            at = found.start()
            char = text[at]
            if char == "\\":
                at = self._after_backslash(at, raw)
            elif char == "{":
                doubled = text.startswith("{", at + 1) and not in_spec
                at = at + 2 if doubled else self._field(at + 1, delimiter, raw, level + 1)
            elif char == "}":
                if in_spec:
                    return at + 1
                at += 1
            elif char in "\r\n":
                if len(delimiter) == 1:
                    raise _BrokenError(at)
                at += 1
            elif text.startswith(delimiter, at):
                if in_spec:
                    raise _BrokenError(at)
                return at + len(delimiter)
            else:
                at += 1
        raise _BrokenError(len(text))

    def _after_backslash(self, at: int, raw: bool) -> int:
        text = self._text
        if text.startswith("N{", at + 1) and not raw:
            close = text.find("}", at)
            if close < 0:
                raise _BrokenError(len(text))
            return close + 1
        if text.startswith(("{", "}"), at + 1):
            return at + 1
        return at + 3 if text.startswith("\r\n", at + 1) else at + 2

    def _field(self, at: int, delimiter: str, raw: bool, level: int) -> int:
        """The end of a replacement field, after its `}`."""
        if level > _MAX_NESTING:
            raise _BrokenError(at)
        text = self._text
        floor = at
        expected: list[str] = []
        while found := _FIELD.search(text, at):
            at = found.start()
            char = text[at]
            if char in "\"'":
                at = self._nested(at, floor, level)
                floor = at
                continue
            if char == "#":
                end = rest_of_line(text, at)
                self.comments.append((at, end))
                at = end
                continue
            if char in _CLOSING:
                expected.append(_CLOSING[char])
            elif expected and char == expected[-1]:
                expected.pop()
            elif char == "}" and not expected:
                return at + 1
            elif char in ")]}":
                raise _BrokenError(at)
            elif char == ":" and not expected:
                return self._literal(at + 1, delimiter, raw, level, in_spec=True)
            at += 1
        raise _BrokenError(len(text))

    def _nested(self, quote: int, floor: int, level: int) -> int:
        kind = self._prefix(quote, floor)
        if "f" in kind or "t" in kind:
            return self._formatted(quote, "r" in kind, level + 1)
        end, terminated = self._plain(quote)
        if not terminated:
            raise _BrokenError(end)
        return end


def rest_of_line(text: str, at: int) -> int:
    """The offset of the line end at or after `at`, or of the text's end."""
    rest = _REST_OF_LINE.match(text, at)
    assert rest is not None
    return rest.end()
