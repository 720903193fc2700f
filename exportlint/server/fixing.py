"""Fixing open documents as the command line fixes files: in rounds, and only what holds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from lsprotocol import types

from exportlint.analysis.project import SupersededError
from exportlint.findings import Applicability
from exportlint.server.documents import Document
from exportlint.server.edits import rewriting
from exportlint.server.notebooks import Opened, parts
from exportlint.server.server import Server
from exportlint.server.threads import Stopped, in_thread
from exportlint.source import Notebook, from_bytes
from exportlint.workspace import Task, Workspace


def most(server: Server, opened: Opened) -> Applicability:
    """The applicability up to which fixes of a document are applied together."""
    preferences, settings = server.session.folder(opened).preferences, server.session.settings(opened)
    return Applicability.UNSAFE if preferences.unsafe_fixes or settings.unsafe_fixes else Applicability.SAFE


async def fixed(
    server: Server, documents: Collection[Document], codes: frozenset[str] | None = None
) -> dict[Document, list[types.TextEdit]]:
    """The edits that fix documents, of which others that are open are seen as they are now; only what changes.

    A notebook is fixed as a whole. With `codes` only these rules are fixed. There are no edits if something changes
    meanwhile.
    """
    from exportlint.fixer import fix

    session = server.session
    tasks = session.tasks_of(session.opened)
    wanted = {opened for document in documents if (opened := session.whole(document.uri)) in tasks}
    limits = {tasks[opened].path: most(server, opened) for opened in wanted if _is_whole(tasks[opened], opened)}
    if codes is not None:
        tasks = {opened: _only(task, codes) for opened, task in tasks.items()}

    def is_stale() -> bool:
        return any(session.whole(part.uri) is not opened for opened in wanted for part in parts(opened))

    def work(stopped: Stopped) -> dict[Document, list[types.TextEdit]]:
        def proceed() -> None:
            if stopped() or is_stale():
                raise SupersededError

        try:
            make = partial(Workspace, proceed=proceed)
            found = fix(list(tasks.values()), lambda task: limits.get(task.path), make=make).fixed
        except SupersededError:
            return {}
        changed = {one.task.path: one.data for one in found}
        return {
            part: rewriting(part, text, session.client)
            for opened, task in tasks.items()
            if task.path in changed
            for part, text in zip(parts(opened), _texts(changed[task.path], opened, task), strict=True)
            if text != part.text
        }

    edits = await in_thread(work) if limits else {}
    return {} if is_stale() else edits


def _only(task: Task, codes: frozenset[str]) -> Task:
    policy = task.settings.fixes
    return replace(task, settings=replace(task.settings, fixes=replace(policy, fixable=policy.fixable & codes)))


def _is_whole(task: Task, opened: Opened) -> bool:
    """Whether the bytes of it are all there is of it, so that it loses nothing by being made of them."""
    return task.data is not None and _texts(task.data, opened, task) == tuple(part.text for part in parts(opened))


def _texts(data: bytes, opened: Opened, task: Task) -> tuple[str, ...]:
    """What a file holds in each of its parts."""
    source = from_bytes(data, task.path)
    if isinstance(source, Notebook):
        return source.cells.texts
    mark = "\ufeff" if isinstance(opened, Document) and opened.text.startswith("\ufeff") else ""
    return (mark + source.text,)
