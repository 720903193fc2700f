"""Changes of documents as edits that the client applies."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from lsprotocol import types

from exportlint.edits import places
from exportlint.findings import Edit
from exportlint.server.client import Client
from exportlint.server.documents import Document
from exportlint.server.ranges import range_between

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def text_edits(edits: Iterable[Edit], document: Document, client: Client) -> list[types.TextEdit]:
    """Edits in the client's units, in order, each once."""
    return [
        types.TextEdit(range_between(start, end, document.lines, client.encoding), content)
        for start, end, content in places(edits, document.lines)
    ]


def rewriting(document: Document, text: str, client: Client) -> list[types.TextEdit]:
    """Edits that make `text` of a document, in whole lines and of those only which differ."""
    before, after = _LINE.findall(document.text), _LINE.findall(text)
    starts = [0]
    for line in before:
        starts.append(starts[-1] + len(line))
    # Most of a text stays as it is, and comparing takes much longer than the text is longer.
    same = _common(before, after)
    rest = min(len(before), len(after)) - same
    last = min(rest, _common(before[::-1], after[::-1]))
    matcher = difflib.SequenceMatcher(
        None, before[same : len(before) - last], after[same : len(after) - last], autojunk=False
    )
    return [
        types.TextEdit(
            range_between(starts[same + start], starts[same + end], document.lines, client.encoding),
            "".join(after[same + new : same + new_end]),
        )
        for tag, start, end, new, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines two texts begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (line, like) in pairs if line != like), min(len(one), len(other)))


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
