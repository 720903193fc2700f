"""The file of a finding as its fix sees it: nodes and their source, what expressions hold, and edits of it.

`Code` is all that a rewrite sees: it finds nodes, asks for values, fills templates, names things and makes edits.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from exportlint.analysis.domain.lattice import join
from exportlint.analysis.domain.trails import Site
from exportlint.analysis.domain.values import UNKNOWN, Value
from exportlint.analysis.eval.probe import NOTHING, Observation
from exportlint.analysis.facts import Place
from exportlint.findings import Applicability, Fix, TorchVersion
from exportlint.fixes.edit import names
from exportlint.fixes.edit import template as templates
from exportlint.fixes.edit.blocks import simple
from exportlint.fixes.edit.concrete import Concrete
from exportlint.fixes.edit.drafts import Draft, narrowed, one_a_place
from exportlint.fixes.edit.layout import laid_out
from exportlint.fixes.edit.parentheses import Precedence, fitted, source, spaced, without_parentheses
from exportlint.fixes.edit.statements import Statements
from exportlint.fixes.edit.text import Text
from exportlint.fixes.edit.tree import N, Tree
from exportlint.fixes.errors import DeclinedError
from exportlint.syntax.definitions import FunctionNode, Module

if TYPE_CHECKING:
    from exportlint.fixes.edit.template import Expression, Hole, Statement

    Given = Hole | ast.expr | ast.keyword

_SCOPES = (ast.JoinedStr, ast.Lambda, ast.comprehension)
SAFE, UNSAFE, DISPLAY_ONLY = Applicability.SAFE, Applicability.UNSAFE, Applicability.DISPLAY_ONLY


class Code:
    """One file, and the fact in it that a finding is about.

    Each fix gets one of its own: what `name` has to import becomes part of the fix that `fix` makes. `place` is where
    the fact is met, and `observe` tells what the variables hold at such a place.
    """

    def __init__(
        self,
        module: Module,
        site: Site,
        version: TorchVersion,
        width: int = 88,
        *,
        place: Place | None = None,
        observe: Callable[[Place], Observation] | None = None,
    ) -> None:
        self.module = module
        self.site = site
        self._place = place
        self._observe = observe
        self.version = version
        self.line_length = width
        self.statements, self._concrete = _statements(module)
        self.source = self.statements.source
        self.tree = self.statements.tree
        self.renames: Mapping[str, str] = {}
        self._imports: dict[str, None] = {}
        self._names: set[tuple[int, str]] = set()
        self.taken: dict[str, float] = {}
        """The numbers that a fix takes variables for which other code can set, by their source."""

    def anew(self) -> Code:
        """The same without the imports that were asked for, for another try."""
        return self.about(self.site, self._place)

    def about(self, site: Site, place: Place | None) -> Code:
        """The same file, for a fix of another finding."""
        return Code(self.module, site, self.version, self.line_length, place=place, observe=self._observe)

    def need(self, version: TorchVersion) -> None:
        """Raises DeclinedError if the code is exported with an older torch than the fix needs."""
        if self.version < version:
            raise DeclinedError(f"it needs torch {version[0]}.{version[1]} or later")

    # --- the finding

    def node(self, *kinds: type[N], site: Site | None = None) -> N:
        """The node of the finding, or of another place in the file, of one of the kinds. Raises DeclinedError."""
        found = self.tree.at(site or self.site, *kinds)
        if found is None:
            raise DeclinedError("the finding does not point to code that this fix can change")
        return found

    @cached_property
    def expression(self) -> ast.expr:
        """The expression that the finding is about. Raises DeclinedError if it is none."""
        return self.node(ast.expr)

    # --- what expressions hold

    @cached_property
    def observed(self) -> Observation:
        """The variables at the finding, whichever way it is reached."""
        return self._observe(self._place) if self._observe is not None and self._place is not None else NOTHING

    def value(self, node: ast.expr) -> Value:
        """What an expression holds with the variables as they are at the finding, whichever way it was reached."""
        values = [snapshot.value(node) for snapshot in self.observed.snapshots]
        return join(values) if values else UNKNOWN

    def surely(self, test: Callable[[Value], bool], *nodes: ast.expr) -> bool:
        """Whether the test holds for expressions, at the finding and in each way in which it is reached."""
        observed = self.observed
        return (
            bool(observed.snapshots)
            and observed.complete
            and all(test(snapshot.value(node)) for snapshot in observed.snapshots for node in nodes)
        )

    def after(self, statements: Sequence[ast.stmt]) -> Code:
        """The same file with the variables as they are when statements have run that follow the finding.

        What the fix imports is shared. Raises DeclinedError if they surely leave the function.
        """
        if not statements:
            return self
        snapshots = [s for one in self.observed.snapshots if (s := one.after(statements)) is not None]
        if not snapshots:
            raise DeclinedError("the variables after statements are not known")
        later = copy(self)
        later.observed = self.observed.later(snapshots)
        return later

    def under(self, test: ast.expr, *, holds: bool) -> Code:
        """The same file with the variables as they are where a condition holds, or does not.

        They are as at the finding if the condition never is what it is said to be.
        """
        leaves: ast.stmt = ast.copy_location(ast.Raise(), test)
        stays: ast.stmt = ast.copy_location(ast.Pass(), test)
        ways = ([stays], [leaves]) if holds else ([leaves], [stays])
        branch = ast.copy_location(ast.If(test, *ways), test)
        snapshots = [s for one in self.observed.snapshots if (s := one.after([branch])) is not None]
        if not snapshots:
            return self
        inside = copy(self)
        inside.observed = self.observed.later(snapshots)
        return inside

    def renamed(self, names: Mapping[str, str]) -> Code:
        """The same file for code in which variables have other names: the source of expressions has these."""
        other = copy(self)
        other.renames = {**self.renames, **names}
        return other

    # --- new code

    def concrete(self, node: ast.expr, instead: Mapping[ast.expr, Expression] | None = None) -> Expression:
        """An expression as it stands in the file, as libcst's node, with others instead of parts of it.

        Raises:
            DeclinedError: it cannot stand by itself, or it gives a variable that has another name a meaning of its own.
        """
        renamed: dict[ast.AST, Expression] = {
            name: templates.dotted(self.renames[name.id]) for name in self._renamed(node)
        }
        return self._concrete.expression(node, renamed | dict((instead or {}).items()))

    def argument(self, node: ast.AST) -> Hole:
        """An argument of a call as it stands in the file. Raises as `concrete` does."""
        if isinstance(node, ast.keyword) and node.arg is not None:
            return templates.keyword(node.arg, self.concrete(node.value))
        if isinstance(node, (ast.keyword, ast.Starred)):
            stars = "*" if isinstance(node, ast.Starred) else "**"
            return templates.starred(stars, self.concrete(node.value))
        assert isinstance(node, ast.expr)
        return self.concrete(node)

    def make(self, template: str, **holes: Given | Sequence[Given]) -> Expression:
        """A new expression: `make("{x}.sum()", x=node)`. A node of the file stands for its source.

        Raises:
            DeclinedError: as `concrete` does.
        """
        return templates.expression(template, **{name: self._hole(hole) for name, hole in holes.items()})

    def statement(self, template: str, **holes: Given | Sequence[Given]) -> Statement:
        """A new statement: `statement("{name} = {value}", name="x", value=node)`. Raises as `make` does."""
        return templates.statement(template, **{name: self._hole(hole) for name, hole in holes.items()})

    def string(self, value: str, like: ast.AST | None = None) -> Expression:
        """A string in the quotes that the file has most of, or that the source of another one begins with."""
        if like is not None:
            return templates.string(value, next((mark for mark in self.text(like) if mark in "\"'"), '"'))
        text = self.source.text
        return templates.string(value, "'" if text.count("'") > text.count('"') else '"')

    def _hole(self, given: Given | Sequence[Given]) -> Hole | Sequence[Hole]:
        if isinstance(given, (list, tuple)):
            return [self._hole(one) for one in given]  # type: ignore[misc]
        if isinstance(given, (ast.expr, ast.keyword)):
            return self.argument(given)
        return given  # type: ignore[return-value]

    # --- source

    def text(self, node: ast.AST) -> str:
        """The source of a node as it stands there, without parentheses around it."""
        return self.source.of(node)

    def _renamed(self, node: ast.AST) -> list[ast.Name]:
        """The variables in a node that have other names."""
        parts = list(ast.walk(node)) if self.renames else ()
        names = [n for n in parts if isinstance(n, ast.Name) and n.id in self.renames]
        if names and any(isinstance(part, _SCOPES) for part in parts):
            raise DeclinedError("a variable may mean something else inside")
        return names

    def name(self, qualified: str, node: ast.AST | None = None) -> str:
        """How the file calls something at a node, such as `torch.where`; the fix imports it if nothing else does.

        Raises:
            DeclinedError: the name means something else there.
        """
        found = self.spelled(qualified, node or self.node(ast.AST))
        if found is not None:
            return found
        self._imports[qualified.partition(".")[0]] = None
        return qualified

    def spelled(self, qualified: str, node: ast.AST) -> str | None:
        """How the file calls something at a node; None if no import brings it.

        Raises:
            DeclinedError: the name means something else there.
        """
        return names.spelled(qualified, self.tree, self.module.package, node, self.source.block(self.site.row)[-1])

    def import_line(self, name: str, module: str = "") -> Draft:
        """A line `import name` of its own, or `from module import name`."""
        offset, text = names.place_of_import(self.source, self.tree.root, name, self.site.row, module)
        return Draft(offset, offset, text)

    def fresh(self, name: str, node: ast.AST | None = None) -> str:
        """A name like `name` that nothing around a node uses, another one each time."""
        node = node or self.node(ast.AST)
        inside = self.tree.function(node) or self.tree.root
        taken = self.tree.used_names(inside) | set(self.module.bindings) | set(dir(builtins))
        found = names.fresh(name, taken | {given for _, given in self._names})
        self.claim(found, node)
        return found

    def claim(self, name: str, node: ast.AST) -> None:
        """Let the fix not be applied together with others that claim a variable: each knows it as it is now."""
        functions = [around for around in self.tree.ancestors(node) if isinstance(around, FunctionNode)]
        self._names.add((functions[-1].lineno if functions else 0, name))

    @cached_property
    def unit(self) -> str:
        """One level of indentation in this file."""
        return self.statements.unit

    # --- edits

    def replace(self, node: ast.expr | ast.stmt, new: Expression | ast.expr | Statement) -> Draft:
        """Another expression instead of one, in parentheses where it needs them; those around the old one stay.

        Or another simple statement instead of one, in the same line.
        """
        start, end = self.source.range(node)
        if isinstance(node, ast.stmt):
            return Draft(start, end, simple(cast("Statement", new)))
        expression = self.concrete(new) if isinstance(new, ast.expr) else cast("Expression", new)
        slicing = self._slicing(node)
        if slicing is not None:
            start, end = self.source.range(slicing)
            changed = Draft(start, end, source(self.concrete(slicing, {node: expression})))
            return narrowed(changed, self.source.text)
        if isinstance(node, ast.GeneratorExp) and self._concrete.is_only_argument(node):
            start, end = start + 1, end - 1  # the brackets are the call's
            expression = fitted(expression, Precedence.ARGUMENT)
        elif self.source.outer(node) == (start, end):
            expression = fitted(expression, self._concrete.place(node))
        else:
            expression = without_parentheses(expression, entirely=True)
        before, behind = self.source.between(max(start - 1, 0), start), self.source.between(end, end + 1)
        return narrowed(Draft(start, end, spaced(source(expression), before, behind)), self.source.text)

    def _slicing(self, node: ast.expr) -> ast.Subscript | None:
        """The subscript that an expression bounds a slice of: the blanks around its colons depend on it."""
        around = self.tree.parents.get(node)
        if not isinstance(around, ast.Slice):
            return None
        return next((n for n in self.tree.ancestors(around) if isinstance(n, ast.Subscript)), None)

    def fix(self, message: str, *edits: Draft, safe: bool | Applicability) -> Fix:
        """A fix of these edits and of the imports that they need. One that loses a comment is not safe.

        What is inserted at one place stands there in the order of `edits`.

        Raises:
            DeclinedError: two edits overlap.
        """
        drafts = sorted([*self.statements.with_comments([*one_a_place(edits)]), *map(self.import_line, self._imports)])
        if any(one.end > other.start for one, other in pairwise(drafts)):
            raise DeclinedError("the edits overlap")
        applicability = safe if isinstance(safe, Applicability) else SAFE if safe else UNSAFE
        if applicability is SAFE and self.statements.lose_comment(drafts):
            applicability = UNSAFE
        found = laid_out(self.source, drafts, self.line_length, lambda: self.unit)
        return Fix(applicability, " ".join(message.split()), self.source.edits(found), frozenset(self._names))

    def while_taken(self, message: str, *, safe: bool) -> str:
        """What a fix does that is not safe, with what it takes for granted."""
        taken = "" if safe else " and ".join(f"`{name}` stays {value!r}" for name, value in self.taken.items())
        return f"{message}, as long as {taken}" if taken else message


def _statements(module: Module) -> tuple[Statements, Concrete]:
    known = _KNOWN.get(module)
    if known is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        text, tree = Text(module.source), Tree(module.tree)
        known = _KNOWN[module] = Statements(text, tree), Concrete(text, tree)
    return known


_KNOWN: WeakKeyDictionary[Module, tuple[Statements, Concrete]] = WeakKeyDictionary()
_MOST_KNOWN = 4
"""Files for which this is kept while they are: their tokens take more memory than their trees."""
