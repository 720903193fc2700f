"""Which paths git ignores: the `.gitignore` files of a repository, its `info/exclude`, the user's excludes file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from exportlint.source.bounded import read_bounded
from exportlint.source.gitconfig import exclude_files, is_repository
from exportlint.source.globs import Part, assembled
from exportlint.source.patterns import one_of

_MAX_BYTES = 1 << 22

_TRAILING_BLANKS = re.compile(r"(?<!\\) +\Z")
_TOKEN = re.compile(
    r"""
    (?P<directories> (?: (?<![^/]) \*\*/ )+ )
    | (?P<below> (?<![^/]) \*\* \Z )
    | (?P<name> \*+ )
    | (?P<letter> \? )
    | \[ (?P<negated> [!^]? ) (?P<chars> \]? (?: \\. | [^\]\\] )* ) \]
    | \\? (?P<char> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_MEANING = {"directories": "(?:.*?/)??", "below": ".+", "name": "[^/]*?", "letter": "[^/]"}


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line of an ignore file: whether it ignores or includes again, and what.

    `expression` is about the name alone, or about the whole path relative to the file's directory.
    """

    ignores: bool
    only_directories: bool
    name_alone: bool
    expression: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one ignore file for what lies under `base`, the last first; `above` are those that yield to them."""

    base: str
    rules: tuple[_Rule, ...]
    above: IgnoreRules | None

    def ignores(self, path: str, is_directory: bool) -> bool:
        """Whether a real path under `base`, `/` between its names, is ignored, its parents left aside."""
        name = path.rpartition("/")[2]
        layer: IgnoreRules | None = self
        while layer is not None:
            relative = path[len(layer.base) :].lstrip("/")
            for rule in layer.rules:
                if rule.expression.fullmatch(name if rule.name_alone else relative) is None:
                    continue
                if is_directory or not rule.only_directories:
                    return rule.ignores
            layer = layer.above
        return False


def rules_within(directory: Path, above: IgnoreRules | None) -> IgnoreRules | None:
    """The rules inside of a directory that may have a `.gitignore` and a `.git`; `above` are its parent's.

    A directory with a `.git` is a repository of its own, for which rules from outside do not count.
    """
    if is_repository(directory):
        own, users = exclude_files(directory)
        above = _read(own, directory, None if users is None else _read(users, directory, None))
    return _read(directory / ".gitignore", directory, above)


def rules_at(directory: Path) -> IgnoreRules | None:
    """The rules that the parents of a real directory have for it, up to the root of its repository.

    None outside of a repository, and None where they ignore the directory itself: who names it, means it.
    """
    line = [directory, *directory.parents]
    root = next((depth for depth, place in enumerate(line) if is_repository(place)), 0)
    rules: IgnoreRules | None = None
    for depth in range(root, 0, -1):
        rules = rules_within(line[depth], rules)
        if rules is not None and rules.ignores(line[depth - 1].as_posix(), is_directory=True):
            return None
    return rules


def _read(path: Path, base: Path, above: IgnoreRules | None) -> IgnoreRules | None:
    try:
        data = read_bounded(path, _MAX_BYTES)
    except OSError:
        return above
    # Decoded as file names are. Git, too, skips a byte order mark.
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    rules = [rule for line in reversed(lines) if (rule := _rule(line)) is not None]
    return IgnoreRules(base.as_posix(), tuple(rules), above) if rules else above


def _rule(line: str) -> _Rule | None:
    """The rule of a line, None for blank lines, comments and what git passes over."""
    line = _TRAILING_BLANKS.sub("", line.removesuffix("\r"))
    ignores = not line.startswith("!")
    pattern = line.removeprefix("!")
    if line.startswith("#") or not pattern.strip("/"):
        return None
    only_directories = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    expression = _expression(pattern.removeprefix("/"))
    try:
        return _Rule(ignores, only_directories, "/" not in pattern, re.compile(expression, re.DOTALL))
    except re.error:
        return None


def _expression(pattern: str) -> str:
    # `*` stays within a name, so what comes before the next `**/` is put together by itself.
    blocks: list[list[Part]] = [[]]
    for token in _TOKEN.finditer(pattern):
        if token.lastgroup == "directories":
            blocks.append([])
        blocks[-1].append(Part(_translate(token), token.lastgroup == "name"))
    first, *others = blocks
    return assembled([Part(assembled(first)), *(Part(assembled(block), is_wildcard=True) for block in others)])


def _translate(token: re.Match[str]) -> str:
    if token.lastgroup == "chars":
        return "(?!/)" + one_of(token["chars"], negated=token["negated"] != "")
    return _MEANING.get(token.lastgroup or "") or re.escape(token["char"])
