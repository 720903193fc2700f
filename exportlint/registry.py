"""The rules by code, name and family, and their catalogue pages."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from exportlint.entry_points import RULES, EntryPoint, Package, entry_points
from exportlint.findings import Applicability

F = TypeVar("F", bound=Callable[..., Iterable[Any]])

PREFIX = "EXP"
"""What every code starts with; three digits follow."""

MAX_NAME = 100
"""Longer texts are not misspelled names."""
HOME = "https://github.com/exportlint/exportlint"
"""Where exportlint lives on the web."""

CATALOGUE_URL = f"{HOME}/blob/main/rules/"
OWN_RULES_URL = f"{HOME}/blob/main/docs/own-rules.md"


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
    """What one rule is called, the module it is in, and the names of the classes of facts that it looks at.

    `entry` is that of a rule of another package, whose `fact_names` are None: only its module knows them.
    `deprecated` says why the rule is going to be removed and what replaces it, and is empty if it is not. `former` are
    the codes and names that it had before, which still stand for it.
    """

    code: str
    name: str
    module: str
    fact_names: frozenset[str] | None
    entry: EntryPoint | None = None
    is_preview: bool = False
    deprecated: str = ""
    former: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """`preview`, `deprecated` or `stable`."""
        return "preview" if self.is_preview else "deprecated" if self.deprecated else "stable"

    def __str__(self) -> str:
        return f"{self.code} {self.name}" + (f" of {self.package}" if self.package else "")

    @property
    def package(self) -> Package | None:
        """The installed package that it comes from; None if it is exportlint's own."""
        return None if self.entry is None else self.entry.package

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
        if self.code not in _checks and self.entry is None:
            importlib.import_module(self.module)
        elif self.entry is not None and self.code not in _checks:
            _checks[self.code] = _loaded_from(self.entry)
        return _checks[self.code]

    @property
    def family(self) -> str:
        """The key of its family: `EXP1`, or the letters of the codes of another package."""
        return self.code[:4] if self.entry is None else letters(self.code)

    @property
    def page_name(self) -> str:
        """The file name of its page in the catalogue."""
        return f"{self.code}-{self.name}.md"

    @property
    def url(self) -> str:
        """Where the page can be read on the web, or what there is to read about the package."""
        return CATALOGUE_URL + self.page_name if self.package is None else self.package.url or OWN_RULES_URL


_FIX = re.compile(r"^<!-- fix: ([a-z-]+) -->$", re.MULTILINE)
_FIX_SAFETY = re.compile(r"^## Fix safety$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_APPLICABILITY = re.compile(r"(?<!never )\b(?:safe|unsafe|display-only)\b", re.IGNORECASE)

_Loaded = tuple[tuple[type, ...], Callable[..., Iterable[Any]]]

_registered: dict[str, Rule] = {}
_checks: dict[str, _Loaded] = {}
"""The facts and the functions of the rules whose modules are imported, by code."""

_ENTRY_NAME = re.compile(r"([A-Z]{2,}[0-9]{3})-([a-z][a-z0-9]*(?:-[a-z0-9]+)+)")
_DECORATOR = re.compile(r'^@rule\(\s*"(EXP\d{3})",\s*"([a-z0-9-]+)"((?:[\w\s,=]|"[^"]*")*)\)', re.MULTILINE)
_KEYWORD = re.compile(r'(preview|deprecated|former)\s*=\s*(?:True|"([^"]*)")')


def rule(
    code: str, name: str, *facts: type, preview: bool = False, deprecated: str = "", former: str = ""
) -> Callable[[F], F]:
    """Register the decorated function as the rule `code`, called for each fact of the classes `facts`.

    `preview`: only the setting `preview` turns it on. `deprecated`: what to use instead of it, in one clause. `former`:
    the codes and names that it had before, with blanks between them. These three have to be written as they are,
    without computing them: they are read, and not run.
    """

    def register(check: F) -> F:
        names = frozenset(kind.__name__ for kind in facts)
        former_names = tuple(former.split())
        _register(
            Rule(
                code,
                name,
                check.__module__,
                names,
                is_preview=preview,
                deprecated=deprecated,
                former=former_names,
            )
        )
        _checks[code] = facts, check
        return check

    return register


def letters(text: str) -> str:
    """What a code or the start of one begins with, up to its digits."""
    return text.rstrip("0123456789")


def family_of(rule: Rule) -> Family:
    """The family of a rule: that of another package is called like its codes."""
    if rule.package is None:
        return FAMILIES[rule.family]
    return Family(rule.family.lower(), f"Rules of {rule.package.name}")


def load_plugins() -> None:
    """Import the rules of other packages, which is otherwise done when the first fact is met.

    Raises:
        PluginError: one of them cannot be used.
    """
    for found in all_rules():
        if found.entry is not None:
            _ = found.check


def _loaded_from(entry: EntryPoint) -> _Loaded:
    found = entry.load()
    facts = getattr(found, "facts", None)
    if not callable(found) or not isinstance(facts, tuple):
        raise entry.package.error(f"`{entry.value}` is not a rule: decorate it with `exportlint.plugin.rule`")
    return facts, found


def _add(entry: EntryPoint) -> None:
    """Register the rule of another package."""
    named = _ENTRY_NAME.fullmatch(entry.name)
    if named is None:
        raise entry.package.error(f"the rule `{entry.name}` is not named as in `ACME001-no-gather`")
    if named[1].startswith(PREFIX):
        raise entry.package.error(f"{named[1]} is a code of exportlint's own: choose other letters than {PREFIX}")
    known = next((r for r in _registered.values() if named[1] == r.code or named[2] == r.name), None)
    if known is not None and known.entry != entry:
        raise entry.package.error(f"its rule {named[1]} {named[2]} collides with {known}")
    _registered[named[1]] = Rule(named[1], named[2], entry.module, None, entry)


def _register(new: Rule) -> None:
    known = next((r for r in _registered.values() if new.code == r.code or new.name == r.name), None)
    if known is not None and (known.module, known.code) != (new.module, new.code):
        raise ValueError(f"{new.code} {new.name} collides with {known.code} {known.name} of {known.module}")
    _registered[new.code] = new


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule there is, by code.

    Their decorators are read, and their modules not imported: with the fixes, that takes longer than linting a file.
    Those of other packages are known by their entry points.

    Raises:
        PluginError: another package adds what cannot be a rule.
    """
    import pkgutil

    import exportlint.rules

    for found in pkgutil.iter_modules(exportlint.rules.__path__):
        module = f"{exportlint.rules.__name__}.{found.name}"
        folder = Path(getattr(found.module_finder, "path", exportlint.rules.__path__[0]))
        try:
            text = (folder / f"{found.name}.py").read_text(encoding="utf-8")
        except OSError:  # imported from somewhere else than a folder of sources
            text = ""
        decorators = _DECORATOR.findall(text)
        for code, name, arguments in decorators:
            _register(_as_written(code, name, module, arguments))
        if not decorators:
            importlib.import_module(module)
    for entry in entry_points(RULES):
        _add(entry)
    return tuple(sorted(_registered.values(), key=lambda r: r.code))


def _as_written(code: str, name: str, module: str, arguments: str) -> Rule:
    """The rule of a decorator, of which the text of its other arguments is given."""
    said = dict(_KEYWORD.findall(arguments))
    return Rule(
        code,
        name,
        module,
        frozenset(re.findall(r"\w+", _KEYWORD.sub("", arguments))),
        is_preview="preview" in said,
        deprecated=said.get("deprecated", ""),
        former=tuple(said.get("former", "").split()),
    )


def rules_for(fact: type) -> tuple[Rule, ...]:
    """The rules that look at a class of facts, by code. Only their modules are imported."""
    if fact not in _by_fact:
        _by_fact[fact] = tuple(
            r for r in all_rules() if (r.fact_names is None or fact.__name__ in r.fact_names) and fact in r.facts
        )
    return _by_fact[fact]


_by_fact: dict[type, tuple[Rule, ...]] = {}


@functools.cache
def _by_text() -> dict[str, Rule]:
    return {text: r for r in all_rules() for text in (*r.former, r.code, r.name)}


def find_rule(text: str) -> Rule | None:
    """The rule with this code or name, which may be one that it had before."""
    return _by_text().get(text)


@functools.cache
def preview_codes() -> frozenset[str]:
    """The codes of the rules that only the setting `preview` turns on."""
    return frozenset(r.code for r in all_rules() if r.is_preview)


@functools.cache
def expand(selector: str) -> frozenset[str]:
    """The codes that a selector stands for: `ALL`, a code, the start of one (`EXP`, `EXP1`), a rule's or family's name.

    Raises:
        UnknownSelector: it stands for nothing.
    """
    if (found := find_rule(selector)) is not None:
        return frozenset({found.code})
    prefix = _prefix(selector)
    codes = frozenset(r.code for r in all_rules() if prefix is not None and _begins(r.code, prefix))
    if codes or prefix in FAMILIES:
        return codes
    shown = selector if len(selector) <= MAX_NAME else selector[: MAX_NAME - 1] + "…"
    raise UnknownSelector(shown, near(selector, selectors()))


def specificity(selector: str) -> int:
    """How narrow a selector is; the narrower of two that disagree about a rule decides."""
    if find_rule(selector) is not None:
        return len("EXP000")
    prefix = _prefix(selector) or ""
    return len(prefix) and len(PREFIX) + len(prefix) - len(letters(prefix))


def _begins(code: str, prefix: str) -> bool:
    return not prefix or (code.startswith(prefix) and letters(code) == letters(prefix))


@functools.cache
def prefixes() -> frozenset[str]:
    """The letters that the codes of rules begin with."""
    return frozenset({PREFIX, *(letters(r.code) for r in all_rules())})


def _prefix(selector: str) -> str | None:
    if selector == "ALL":
        return ""
    if letters(selector) in prefixes():
        return selector
    return next((prefix for prefix, family in FAMILIES.items() if family.name == selector), None)


def selectors() -> list[str]:
    """Everything that can be written where rules are chosen, for suggestions."""
    families = [text for prefix, family in FAMILIES.items() for text in (prefix, family.name)]
    return ["ALL", *sorted(prefixes()), *families, *_by_text()]


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
        FileNotFoundError: the installation lacks the page. The message says what to do.
        PluginError: the package of the rule cannot be imported.
    """
    if rule.entry is not None:
        return _page_of(rule, rule.entry)
    package = Path(__file__).parent
    places = (package / "catalogue", package.parent / "rules")
    found = next((p / rule.page_name for p in places if (p / rule.page_name).is_file()), None)
    if found is None:
        missing = f"{rule.page_name} is missing from {' and '.join(map(str, places))}"
        raise FileNotFoundError(f"{missing}: install exportlint again")
    return found.read_text(encoding="utf-8")


def _page_of(rule: Rule, entry: EntryPoint) -> str:
    """The page of a rule of another package, which lies beside its module."""
    from importlib.util import find_spec

    try:
        spec = find_spec(entry.module)
    except (Exception, SystemExit) as error:
        raise entry.package.error(f"`{entry.module}` cannot be loaded: {type(error).__name__}: {error}") from None
    place = None if spec is None or spec.origin is None else Path(spec.origin).parent / rule.page_name
    if place is None or not place.is_file():
        raise FileNotFoundError(f"{entry.package} has no page {rule.page_name} beside `{entry.module}`")
    return place.read_text(encoding="utf-8")


def applicabilities(page: str) -> list[str]:
    """How safe the fixes of a rule are, the safest first: those its page shows, and those it only describes."""
    shown = set(_FIX.findall(page))
    section = _FIX_SAFETY.search(page)
    if section is not None:
        shown.update(word.lower() for word in _APPLICABILITY.findall(section[1]))
    return [applicability.value for applicability in Applicability if applicability.value in shown]
