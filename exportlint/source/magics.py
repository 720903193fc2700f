r"""What IPython does not take as Python in a cell: magics, shell commands, questions.

They are told by IPython's own rules (`IPython.core.inputtransformer2`): a logical line is for IPython where its first
character says so, or its last one is `?`, or a magic or a command follows its first `=`. What continues a logical line,
such as the `% b` of a modulo, is Python, and so is everything inside of brackets and strings.

A cell of a single line may leave out the `%` of a line magic (`IPython.core.prefilter.AutoMagicChecker`), unless there
is a variable of that name. Which variables there are is not known here, so what can be Python is Python.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from exportlint.source.strings import StringScanner, rest_of_line

_CELL_MAGIC = re.compile(r"(?:[ \t\f]*(?:\r\n?|\n))*[ \t\f]*(%%(?!\w+\?)(\S*)[^\r\n]*(?:\r\n?|\n)?)")
_OF_PYTHON = frozenset(
    ("capture", "debug", "ipytest", "memit", "prun", "pyinstrument", "snakeviz", "time", "timeit", "wandb")
)
"""The cell magics whose cell is Python that runs in the notebook."""

_POSSIBLE = re.compile(r"^[ \t\f]*[%!?,;/]|\r[ \t\f]*[%!?,;/]|=[ \t]*[%!]|\?", re.MULTILINE)
_LINE = re.compile(r"[ \t\f]*(?=([^\r\n]?))")
_ESCAPES = frozenset("%!?,;/")
_CONTINUED = re.compile(r"(?:[^\r\n]*\\(?:\r\n?|\n))*[^\r\n]*")
_ASSIGNED = re.compile(r"[ \t]*((?:%[ \t]*(?=[^\W\d])|!)[\s\S]*)")
_SPECIAL = re.compile(r"[#\"'()\[\]{}\\\r\n]|(?<![=<>!:+\-*/%&|^@~])=(?!=)")
_ANY = re.compile(r"[^\r\n]")
_ALONE = re.compile(r"\s*([a-z_0-9]+)(?![\w.*])(?![ \t]*[=,])[^\r\n]*\s*\Z")
_NAMES = """
    alias alias_magic autoawait autocall automagic autosave bookmark cat cd clear code_wrap colors conda config
    connect_info cp debug dhist dirs doctest_mode ed edit env gui hist history killbgscripts ldir less lf lk ll load
    load_ext loadpy logoff logon logstart logstate logstop ls lsmagic lx macro magic mamba man matplotlib micromamba
    mkdir more mv notebook page pastebin pdb pdef pdoc pfile pinfo pinfo2 pip popd pprint precision prun psearch psource
    pushd pwd pycat pylab qtconsole quickref recall rehashx reload_ext rep rerun reset reset_selective rm rmdir run save
    sc set_env store sx system tb time timeit unalias unload_ext uv who who_ls whos xdel xmode
"""
_LINE_MAGICS = frozenset(_NAMES.split())
"""What `%lsmagic` lists in a notebook under IPython 9, with the aliases of commands that it has on POSIX."""
_UNKNOWN = "__"
"""An expression of which nothing is known, and a statement that does nothing."""


@dataclass(frozen=True, slots=True)
class Masked:
    r"""The Python of a cell, with blanks for all else: as many characters, and the same rows.

    `gaps` are the offsets from where to where something else stands, in whole lines without the last line end.
    """

    text: str
    gaps: tuple[tuple[int, int], ...] = ()


def mask(text: str) -> Masked:
    """The Python of a cell."""
    if _is_automagic(text):
        return Masked(blank(text), ((0, _before_line_end(text, len(text))),))
    if _POSSIBLE.search(text) is None:
        return Masked(text)
    magic = _CELL_MAGIC.match(text)
    if magic is not None:
        end = magic.end() if magic[2] in _OF_PYTHON else len(text)
        rest = mask(text[end:])  # another cell magic may follow
        gaps = tuple((start + end, stop + end) for start, stop in rest.gaps)
        return Masked(blank(text[:end]) + rest.text, ((0, max(0, _before_line_end(text, end))), *gaps))
    return _Scan(text).run()


def _is_automagic(text: str) -> bool:
    """Whether a cell is a line magic without its `%`."""
    found = _ALONE.match(text)
    if found is None or found[1] not in _LINE_MAGICS:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return False


def blank(text: str) -> str:
    """Blanks instead of a text, line ends apart."""
    return _ANY.sub(" ", text)


def _before_line_end(text: str, end: int) -> int:
    return len(text[:end].removesuffix("\n").removesuffix("\r"))


class _Scan:
    """A walk through the logical lines of a cell."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._strings = StringScanner(text)
        self._parts: list[str] = []
        self._gaps: list[tuple[int, int]] = []
        self._done = 0

    def run(self) -> Masked:
        text, at = self._text, 0
        while at < len(text):
            line = _LINE.match(text, at)
            assert line is not None
            if line[1] in _ESCAPES and line[1]:
                end = self._continued(at)
                self._hide(at, line.end(), end, _UNKNOWN if line.end() > at else "")
            else:
                end = self._python(at, line.end())
            at = end + (2 if text.startswith("\r\n", end) else 1)
        return Masked("".join([*self._parts, text[self._done :]]), tuple(self._gaps))

    def _python(self, line: int, start: int) -> int:
        """The end of a logical line of Python, in which what IPython assigns or answers is hidden."""
        text, at, depth = self._text, start, 0
        assigned = False
        last = start  # behind the last character that is neither blank nor comment
        while found := _SPECIAL.search(text, at):
            floor, at = at, found.start()
            last = floor + len(text[floor:at].rstrip(" \t\f")) if text[floor:at].strip(" \t\f") else last
            char = text[at]
            if char in "\r\n":
                if depth == 0:
                    break
                at += 1
            elif char == "#":
                at = rest_of_line(text, at)
            elif char in "\"'":
                at = last = self._strings.end(at, floor)
            elif char == "\\":
                at += 3 if text.startswith("\r\n", at + 1) else 2
            elif char == "=":
                at = last = at + 1
                value = None if assigned or depth else _ASSIGNED.match(text, at)
                assigned = assigned or not depth
                if value is not None:
                    end = self._continued(at)
                    self._hide(line, value.start(1), end, _UNKNOWN)
                    return end
            else:
                depth = depth + 1 if char in "([{" else max(depth - 1, 0)
                at = last = at + 1
        else:
            last = at + len(text[at:].rstrip(" \t\f")) if text[at:].strip(" \t\f") else last
            at = len(text)
        if last > start and text[last - 1] == "?":
            self._hide(line, start, at, _UNKNOWN if start > line else "")
        return at

    def _continued(self, at: int) -> int:
        lines = _CONTINUED.match(self._text, at)
        assert lines is not None
        return lines.end()

    def _hide(self, line: int, start: int, end: int, instead: str) -> None:
        """Puts blanks, or first something else, where a gap from `start` to `end` begins in a line."""
        hidden = self._text[start:end]
        shown = instead[: rest_of_line(hidden, 0)]
        self._parts += [self._text[self._done : start], shown, blank(hidden[len(shown) :])]
        self._gaps.append((line, end))
        self._done = end
