"""Changes of documents as edits that the client applies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from lsprotocol import types

from exportlint.findings import Edit
from exportlint.server.client import Client
from exportlint.server.documents import Document
from exportlint.server.line_differences import differences
from exportlint.server.ranges import range_between, text_edit

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def text_edits(edits: Iterable[Edit], document: Document, client: Client) -> list[types.TextEdit]:
    """Edits in the client's units, in order, each once."""
    return [text_edit(edit, document.lines, client.encoding) for edit in sorted(set(edits))]


def rewriting(document: Document, text: str, client: Client) -> list[types.TextEdit]:
    """Edits that make `text` of a document, in whole lines and of those only which differ."""
    before, after = _LINE.findall(document.text), _LINE.findall(text)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    return [
        types.TextEdit(
            range_between(starts[start], starts[end], document.lines, client.encoding), "".join(after[new:new_end])
        )
        for start, end, new, new_end in differences(before, after)
    ]


def workspace_edit(edits: Mapping[Document, Sequence[types.TextEdit]], client: Client) -> types.WorkspaceEdit:
    """Edits of documents, which a client that can tell refuses for any version of a document but the one at hand."""
    if not client.document_changes:
        return types.WorkspaceEdit(changes={document.uri: list(wanted) for document, wanted in edits.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version), list(wanted)
            )
            for document, wanted in edits.items()
        ]
    )
