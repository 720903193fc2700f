"""The places that tracebacks name, in the forms of Python, torch, pytest and IPython."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Origin = Literal["project", "installed", "tool"]
"""Whose code it is: the user's, that of an installed package which may be a model, or torch's and the like."""


@dataclass(frozen=True, slots=True)
class LoggedFrame:
    """A place in a traceback: the file as the log has it, the row from 1, and the line of code if it is shown."""

    file: str
    row: int
    function: str = ""
    code: str = ""

    @property
    def origin(self) -> Origin:
        """Whose code it is, by the path."""
        return _origin(self.file)

    @property
    def exports(self) -> bool:
        """Whether this is torch's code that exports: what is called above it is not traced."""
        return _EXPORTS.search(self.file.replace("\\", "/")) is not None


_TOOLS = re.compile(
    r"(?:^|/)(?:torch(?!/fb/)|torchgen|functorch|sympy|mpmath|onnxscript|onnx_ir|torch_xla|triton|networkx|torchao|nncf)/"
    r"|(?:^|/)executorch/(?:exir|backends|devtools|runtime)/"
    r"|(?:^|/)exir/(?:passes|program|capture|_serialize|emit|pass)"
    r"|(?:^|/)(?:_pytest|pluggy|pytest|IPython|ipykernel|traitlets|unittest|optimum/export|runpy|exportlint)/"
    r"|/lib(?:64)?/python\d(?:\.\d+)?/(?!site-packages|dist-packages)"
    r"|/(?:Python\d+|python-\d[^/]*|anaconda3|miniconda3)/[Ll]ib/(?!site-packages|python)"
    r"|^<|(?:^|/)bin/[\w-]+$"
)
_INSTALLED = re.compile(r"(?:^|/)(?:site|dist)-packages/")
_EXPORTS = re.compile(
    r"(?:^|/)torch/(?:export|_export|_dynamo|onnx|_inductor|compiler)/|(?:^|/)executorch/exir/|(?:^|/)exir/"
)

_PYTHON = re.compile(r'^\s*(?:in )?File "?(?P<file>[^"]+?)"?, line(?:no)? (?P<row>\d+)(?:,? in (?P<function>[^\s(]+))?')
_PYTEST = re.compile(r"^(?P<file>(?:[A-Za-z]:)?[^\s:]+\.py):(?P<row>\d+):(?: in (?P<function>\S+)| [A-Z]\w+)?\s*$")
_IPYTHON = re.compile(
    r"^(?:File )?(?P<file>(?:[A-Za-z]:)?[^\s:]\S*?\.py)(?::(?P<row>\d+))?,? in (?P<function>[\w.<>]+)\(|"
    r"^File (?P<file2>(?:[A-Za-z]:)?\S+?\.py):(?P<row2>\d+)\s*$|"
    r"^(?P<cell>Cell In\[\d+\]|Input In \[\d+\]), (?:line|in) (?P<row3>\d+)"
)
_ARROW = re.compile(r"^-+> ?(?P<row>\d+) (?P<code>.*)$")
_GUARD = re.compile(
    r"\[guard added\]\s*(?:for )?(?P<code>.*?)\s*#\s(?P<file>[^\s:]+\.py):(?P<row>\d+) in (?P<function>\S+)"
)
_CARETS = re.compile(r"^[\s^~]*$")


def frames_in(lines: Sequence[str]) -> list[LoggedFrame]:
    """The places that lines name, in their order."""
    return list(_frames(lines))


def starts_frame(line: str) -> bool:
    """Whether a line names a place."""
    return bool(_PYTHON.match(line) or _PYTEST.match(line) or _IPYTHON.match(line))


def guarded_in(line: str) -> LoggedFrame | None:
    """The place that a guard was added for, in a line of `TORCH_LOGS="+dynamic"`."""
    found = _GUARD.search(line)
    return None if found is None else LoggedFrame(found["file"], int(found["row"]), found["function"], found["code"])


def _frames(lines: Sequence[str]) -> Iterator[LoggedFrame]:
    for index, line in enumerate(lines):
        if (found := _PYTHON.match(line)) is not None:
            code = _code_below(lines, index, len(line) - len(line.lstrip()))
            yield LoggedFrame(found["file"], int(found["row"]), found["function"] or "", code)
        elif (found := _PYTEST.match(line)) is not None:
            above = next((row[1:].strip() for row in reversed(lines[max(0, index - 12) : index]) if row[:1] == ">"), "")
            code = _code_below(lines, index, 0) if found["function"] else above
            yield LoggedFrame(found["file"], int(found["row"]), found["function"] or "", code)
        elif (found := _IPYTHON.match(line)) is not None:
            file = found["file"] or found["file2"] or found["cell"]
            row, code = _at_arrow(lines, index)
            number = found["row"] or found["row2"] or found["row3"] or row
            if number is not None:
                yield LoggedFrame(file, int(number), found["function"] or "", code)


def _code_below(lines: Sequence[str], index: int, indentation: int) -> str:
    """The line of code that stands below a place, further in."""
    for line in lines[index + 1 : index + 3]:
        if not line.strip():
            continue
        further = len(line) - len(line.lstrip()) > indentation or (indentation == 0 and line[:1] == " ")
        return line.strip().strip("`") if further and not _CARETS.match(line) and not starts_frame(line) else ""
    return ""


def _at_arrow(lines: Sequence[str], index: int) -> tuple[int | None, str]:
    """The row and the code at the arrow of IPython."""
    for line in lines[index + 1 : index + 14]:
        if (found := _ARROW.match(line)) is not None:
            return int(found["row"]), found["code"].strip()
        if starts_frame(line):
            break
    return None, ""


def _origin(file: str) -> Origin:
    path = file.replace("\\", "/")
    below = _INSTALLED.split(path)[-1]
    if _TOOLS.search(below if below != path else path):
        return "tool"
    return "installed" if below != path else "project"


def users_line(frames: Iterable[LoggedFrame]) -> LoggedFrame | None:
    """The innermost frame of the project, or else of an installed package; None if all are of tools."""
    ordered = [frame for frame in frames if frame.origin != "tool"]
    for origin in ("project", "installed"):
        found = [frame for frame in ordered if frame.origin == origin]
        if found:
            return found[-1]
    return None
