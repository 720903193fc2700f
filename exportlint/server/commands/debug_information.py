"""`exportlint.debugInformation`: what to tell those who are to help."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from dataclasses import fields

from exportlint import __version__
from exportlint.server.documents import Document
from exportlint.server.preferences import Preferences
from exportlint.server.server import Server

NAME = "exportlint.debugInformation"

_PACKAGES = ("libcst", "pygls", "lsprotocol", "torch")


def run(server: Server, document: object = None, *others: object) -> str:
    """The state of the server as text, with the settings that hold for a document, by its URI."""
    uri = document.get("uri") if isinstance(document, dict) else document
    return "\n".join(_lines(server, uri if isinstance(uri, str) else None)) + "\n"


def _lines(server: Server, uri: str | None) -> Iterator[str]:
    session = server.session
    yield f"exportlint {__version__}"
    yield f"Python {platform.python_version()}, {platform.platform()}"
    yield f"executable: {sys.executable}"
    yield f"packages: {', '.join(f'{name} {_version(name)}' for name in _PACKAGES)}"
    yield f"client: {session.client.name or 'unnamed'}"
    yield f"position encoding: {session.client.encoding.value}"
    yield f"diagnostics: {'pulled' if session.client.pulls else 'pushed'}"
    yield ""
    yield "Folders:"
    for folder in session.folders.values():
        yield f"  {folder.root}"
    yield ""
    yield "Open documents:"
    tasks = session.tasks()
    for document in session.documents:
        analysis, opened = server.known(document.uri), session.whole(document.uri)
        known = "not linted" if opened is None or session.linted(opened) not in tasks else "being looked at"
        found = known if analysis is None else f"{len(analysis.findings)} findings"
        yield f"  {document.uri} version {document.version}, {document.language or 'no language'}: {found}"
    yield ""
    yield "Problems:"
    for file, problem in session.problems.items():
        yield f"  {file}: {problem}"
    for root, preferences in _preferences(server):
        for text in preferences.problems:
            yield f"  {root}: {text}"
    asked = session.document(uri) if uri is not None else next(iter(session.documents), None)
    if asked is not None:
        yield ""
        yield from _settings(server, asked)


def _preferences(server: Server) -> Iterator[tuple[str, Preferences]]:
    for folder in server.session.all_folders:
        yield str(folder.root), folder.preferences


def _settings(server: Server, document: Document) -> Iterator[str]:
    session = server.session
    settings, preferences = session.settings(document), session.folder(document).preferences
    yield f"Settings of {document.uri}:"
    yield f"  from {settings.file or 'no file'}"
    for key, value in settings.described():
        yield f"  {key} = {value}"
    yield "Preferences of the editor there:"
    for field in fields(preferences):
        if field.name not in ("layers", "problems"):
            yield f"  {field.name} = {getattr(preferences, field.name)}"


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # not with the start of each server

    try:
        return version(package)
    except PackageNotFoundError:
        return "is not installed"
