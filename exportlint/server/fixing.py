"""Fixing open documents as the command line fixes files: in rounds, and only what holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from lsprotocol import types

from exportlint.findings import Applicability
from exportlint.fixer import fix
from exportlint.server.documents import Document
from exportlint.server.edits import rewriting
from exportlint.server.server import Server
from exportlint.server.threads import Stopped, in_thread
from exportlint.source import from_bytes
from exportlint.workspace import Task, Unit, Workspace


class _SupersededError(Exception):
    """Nobody wants the outcome any more."""


class _Interruptible(Workspace):
    """Looks at no further file once that is in vain."""

    def __init__(self, in_vain: Callable[[], bool], unsaved: Mapping[Path, bytes]) -> None:
        super().__init__(unsaved)
        self._in_vain = in_vain

    def lint(self, task: Task) -> Unit:
        if self._in_vain():
            raise _SupersededError
        return super().lint(task)


def most(server: Server, document: Document) -> Applicability:
    """The applicability up to which fixes of a document are applied together."""
    preferences, settings = server.session.folder(document).preferences, server.session.settings(document)
    return Applicability.UNSAFE if preferences.unsafe_fixes or settings.unsafe_fixes else Applicability.SAFE


async def fixed(
    server: Server, documents: Collection[Document], codes: frozenset[str] | None = None
) -> dict[Document, list[types.TextEdit]]:
    """The edits that fix documents, of which others that are open are seen as they are now; only what changes.

    With `codes` only these rules are fixed. There are no edits if a document changes meanwhile.
    """
    session = server.session
    tasks = session.tasks_of(session.documents)
    limits = {
        tasks[document].path: most(server, document)
        for document in documents
        if document in tasks and _is_whole(tasks[document], document)
    }
    if codes is not None:
        tasks = {document: _only(task, codes) for document, task in tasks.items()}
    current = {document.uri: document for document in documents}

    def is_stale() -> bool:
        return any(session.document(uri) is not document for uri, document in current.items())

    def work(stopped: Stopped) -> dict[Document, list[types.TextEdit]]:
        make = partial(_Interruptible, lambda: stopped() or is_stale())
        try:
            found = fix(list(tasks.values()), lambda task: limits.get(task.path), make=make).fixed
        except _SupersededError:
            return {}
        changed = {one.task.path: one.data for one in found}
        return {
            document: rewriting(document, _text(changed[task.path], document, task), session.client)
            for document, task in tasks.items()
            if task.path in changed
        }

    edits = await in_thread(work) if limits else {}
    return {} if is_stale() else edits


def _only(task: Task, codes: frozenset[str]) -> Task:
    policy = task.settings.fixes
    return replace(task, settings=replace(task.settings, fixes=replace(policy, fixable=policy.fixable & codes)))


def _is_whole(task: Task, document: Document) -> bool:
    """Whether the bytes of a document are all there is of it, so that it loses nothing by being made of them."""
    return task.data is not None and _text(task.data, document, task) == document.text


def _text(data: bytes, document: Document, task: Task) -> str:
    mark = "\ufeff" if document.text.startswith("\ufeff") else ""
    return mark + from_bytes(data, task.path).text
