"""What a user can have done about findings: one file a kind of action, each with its `offer`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lsprotocol import types

from exportlint.findings import Finding
from exportlint.server.analyses import Analysis
from exportlint.server.diagnostics import diagnostic
from exportlint.server.documents import Document
from exportlint.server.notebooks import NotebookDocument
from exportlint.server.preferences import Preferences
from exportlint.server.ranges import range_of, span_of
from exportlint.server.server import Server

QUICK_FIX = types.CodeActionKind.QuickFix.value
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.exportlint"
FIX_NOTEBOOK = f"notebook.{FIX_ALL}"
"""All fixes of a notebook. Editors ask its first cell for it, and `FIX_ALL` of each of its cells."""
VERIFY = "source.verify.exportlint"
"""Of a kind that editors neither apply by themselves nor show among what mends something."""


@dataclass(frozen=True)
class Asked:
    """A request for actions on a part of a document.

    `analysis` is None if nothing is known of the version at hand, which is so while only what is saved is looked at.
    """

    server: Server
    document: Document
    place: types.Range
    context: types.CodeActionContext
    analysis: Analysis | None

    @property
    def preferences(self) -> Preferences:
        """What the user prefers there."""
        return self.server.session.folder(self.document).preferences

    @property
    def fix_all(self) -> str:
        """The kind of the action that fixes everything there; in a notebook, in the cell where that is asked for."""
        opened = self.server.session.whole(self.document.uri)
        is_of_notebook = isinstance(opened, NotebookDocument) and (not self.names(FIX_ALL) or self.names(FIX_NOTEBOOK))
        return FIX_NOTEBOOK if is_of_notebook else FIX_ALL

    def wants(self, kind: str) -> bool:
        """Whether actions of a kind are asked for; without any filter, all are."""
        return not self.context.only or self.names(kind)

    def names(self, kind: str) -> bool:
        """Whether a kind is asked for by its name, or by that of a kind that it belongs to."""
        asked = [str(getattr(wanted, "value", wanted)) for wanted in self.context.only or ()]
        return any(not wanted or f"{kind}.".startswith(f"{wanted}.") for wanted in asked)

    @property
    def may_cost(self) -> bool:
        """Whether to offer what takes long to work out: it is when it is chosen, or somebody asked for actions."""
        by_itself = self.context.trigger_kind is types.CodeActionTriggerKind.Automatic
        return self.resolves or bool(self.context.only) or not by_itself

    @property
    def resolves(self) -> bool:
        """Whether the client asks for the edit of an action when it is chosen."""
        client = self.server.session.client
        return client.resolves_edits and client.code_action_data

    @property
    def needs_fixes(self) -> bool:
        """Whether what is asked for depends on fixes that nobody has worked out yet."""
        wants_some = self.wants(QUICK_FIX) or self.wants(self.fix_all)
        return wants_some and any(finding.fix_pending for finding in self.findings)

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings in that part, and those that the client names."""
        if self.analysis is None:
            return []
        lines, encoding = self.document.lines, self.server.session.client.encoding
        asked = span_of(self.place, lines, encoding)
        named = [(shown.code, shown.range) for shown in self.context.diagnostics]
        return [
            finding
            for finding in self.analysis.findings
            if (finding.span.start <= asked.end and asked.start <= finding.span.end)
            or (finding.code, range_of(finding.span, lines, encoding)) in named
        ]

    def shown(self, findings: Sequence[Finding]) -> list[types.Diagnostic]:
        """Findings as the client knows them."""
        assert self.analysis is not None
        client, opened = self.server.session.client, self.server.session.uris
        return [diagnostic(finding, self.analysis, client, opened) for finding in findings]
