"""The rules by code, name and family, and their catalogue pages."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from exportlint.findings import Applicability

F = TypeVar("F", bound=Callable[..., Iterable[Any]])

PREFIX = "EXP"
"""What every code starts with; three digits follow."""

MAX_NAME = 100
"""Longer texts are no misspelled names."""
HOME = "https://github.com/exportlint/exportlint"
"""Where exportlint lives on the web."""

CATALOGUE_URL = f"{HOME}/blob/main/rules/"


class Family(NamedTuple):
    """Rules whose codes share the first digit."""

    name: str
    description: str


FAMILIES = {
    "EXP0": Family("linter", "The linter itself: syntax errors, unused suppressions, files it cannot read"),
    "EXP1": Family("control-flow", "Python control flow on the data of tensors"),
    "EXP2": Family("leaving-graph", "Values that leave the graph: `.item()`, `int()`, numpy, formatting, copies"),
    "EXP3": Family("mutation", "Mutation and state: `.data`, inputs written in place, attributes, buffers, globals"),
    "EXP4": Family("shapes", "Shapes that get baked into the program"),
    "EXP5": Family("environment", "Device, dtype, randomness, time and environment baked as constants"),
    "EXP6": Family("untraceable", "Python that tracing cannot see: identity, exceptions, types, logging"),
    "EXP7": Family("inputs-outputs", "Inputs and outputs that a program cannot take or give"),
    "EXP8": Family("export-call", "The call of `torch.export` and its kin"),
    "EXP9": Family("operators", "Control-flow operators and custom operators"),
}


class UnknownSelector(ValueError):  # noqa: N818 - it names what was wrong, as `KeyError` does not
    """No rule, prefix or family is called that; the message names those that are `near`."""

    def __init__(self, selector: str, near: list[str]) -> None:
        super().__init__(f"unknown rule selector `{selector}`" + (f", did you mean {_or(near)}?" if near else ""))
        self.near = near


@dataclass(frozen=True, slots=True)
class Rule:
    """What one rule is called, the module it is in, and the names of the classes of facts that it looks at."""

    code: str
    name: str
    module: str
    fact_names: frozenset[str]

    @property
    def facts(self) -> tuple[type, ...]:
        """The classes of facts that it looks at; imports its module."""
        return self._loaded[0]

    @property
    def check(self) -> Callable[..., Iterable[Any]]:
        """The function that turns a fact into findings; imports its module."""
        return self._loaded[1]

    @property
    def _loaded(self) -> _Loaded:
        if self.code not in _checks:
            importlib.import_module(self.module)
        return _checks[self.code]

    @property
    def family(self) -> str:
        """The key of its family in `FAMILIES`, such as `EXP1`."""
        return self.code[:4]

    @property
    def page_name(self) -> str:
        """The file name of its page in the catalogue."""
        return f"{self.code}-{self.name}.md"

    @property
    def url(self) -> str:
        """Where the page can be read on the web."""
        return CATALOGUE_URL + self.page_name


_FIX = re.compile(r"^<!-- fix: ([a-z-]+) -->$", re.MULTILINE)

_Loaded = tuple[tuple[type, ...], Callable[..., Iterable[Any]]]

_registered: dict[str, Rule] = {}
_checks: dict[str, _Loaded] = {}
"""The facts and the functions of the rules whose modules are imported, by code."""

_DECORATOR = re.compile(r'^@rule\(\s*"(EXP\d{3})",\s*"([a-z0-9-]+)"([\w\s,]*)\)', re.MULTILINE)


def rule(code: str, name: str, *facts: type) -> Callable[[F], F]:
    """Register the decorated function as the rule `code`, called for each fact of the classes `facts`."""

    def register(check: F) -> F:
        _register(Rule(code, name, check.__module__, frozenset(kind.__name__ for kind in facts)))
        _checks[code] = facts, check
        return check

    return register


def _register(new: Rule) -> None:
    known = next((r for r in _registered.values() if new.code == r.code or new.name == r.name), None)
    if known is not None and (known.module, known.code) != (new.module, new.code):
        raise ValueError(f"{new.code} {new.name} collides with {known.code} {known.name} of {known.module}")
    _registered[new.code] = new


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule there is, by code.

    Their decorators are read, and their modules not imported: with the fixes, that takes longer than linting a file.
    """
    import pkgutil

    import exportlint.rules

    folder = Path(exportlint.rules.__path__[0])
    for found in pkgutil.iter_modules(exportlint.rules.__path__):
        module = f"{exportlint.rules.__name__}.{found.name}"
        try:
            text = (folder / f"{found.name}.py").read_text(encoding="utf-8")
        except OSError:  # imported from somewhere else than a folder of sources
            text = ""
        decorators = _DECORATOR.findall(text)
        for code, name, facts in decorators:
            _register(Rule(code, name, module, frozenset(re.findall(r"\w+", facts))))
        if not decorators:
            importlib.import_module(module)
    return tuple(sorted(_registered.values(), key=lambda r: r.code))


def rules_for(fact: type) -> tuple[Rule, ...]:
    """The rules that look at a class of facts, by code. Only their modules are imported."""
    if fact not in _by_fact:
        _by_fact[fact] = tuple(r for r in all_rules() if fact.__name__ in r.fact_names and fact in r.facts)
    return _by_fact[fact]


_by_fact: dict[type, tuple[Rule, ...]] = {}


@functools.cache
def _by_text() -> dict[str, Rule]:
    return {text: r for r in all_rules() for text in (r.code, r.name)}


def find_rule(text: str) -> Rule | None:
    """The rule with this code or name."""
    return _by_text().get(text)


@functools.cache
def expand(selector: str) -> frozenset[str]:
    """The codes that a selector stands for: `ALL`, a code, the start of one (`EXP`, `EXP1`), a rule's or family's name.

    Raises:
        UnknownSelector: it stands for nothing.
    """
    if (found := find_rule(selector)) is not None:
        return frozenset({found.code})
    prefix = _prefix(selector)
    codes = frozenset(r.code for r in all_rules() if prefix is not None and r.code.startswith(prefix))
    if codes or prefix in FAMILIES:
        return codes
    shown = selector if len(selector) <= MAX_NAME else selector[: MAX_NAME - 1] + "…"
    raise UnknownSelector(shown, near(selector, selectors()))


def specificity(selector: str) -> int:
    """How narrow a selector is; the narrower of two that disagree about a rule decides."""
    if find_rule(selector) is not None:
        return len("EXP000")
    return len(_prefix(selector) or "")


def _prefix(selector: str) -> str | None:
    if selector == "ALL":
        return ""
    if selector.startswith(PREFIX):
        return selector
    return next((prefix for prefix, family in FAMILIES.items() if family.name == selector), None)


def selectors() -> list[str]:
    """Everything that can be written where rules are chosen, for suggestions."""
    families = [text for prefix, family in FAMILIES.items() for text in (prefix, family.name)]
    return ["ALL", PREFIX, *families, *_by_text()]


def near(text: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The names nearest to a mistyped one, the nearest first."""
    import difflib

    if len(text) > MAX_NAME:
        return []
    by_folded = {name.casefold(): name for name in known}
    return [by_folded[name] for name in difflib.get_close_matches(text.casefold(), by_folded, n=count, cutoff=0.7)]


def nearest(text: str, known: Iterable[str], count: int = 3) -> str:
    """The names nearest to a mistyped one, for a message: "`a`", "`a` or `b`", or "" when none is near."""
    return _or(near(text, known, count))


def _or(names: Iterable[str]) -> str:
    return " or ".join(f"`{name}`" for name in names)


def page(rule: Rule) -> str:
    """The Markdown of a rule's catalogue page.

    Raises:
        FileNotFoundError: the installation lacks the page.
    """
    package = Path(__file__).parent
    places = (package / "catalogue", package.parent / "rules")
    found = next((p / rule.page_name for p in places if (p / rule.page_name).is_file()), None)
    if found is None:
        raise FileNotFoundError(f"{rule.page_name} is missing from {' and '.join(map(str, places))}")
    return found.read_text(encoding="utf-8")


def applicabilities(page: str) -> list[str]:
    """How safe the fixes are that the Markdown of a page shows, the safest first."""
    shown = set(_FIX.findall(page))
    return [applicability.value for applicability in Applicability if applicability.value in shown]
